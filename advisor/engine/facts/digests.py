"""Facts about statements: what the server's own digest statistics say of each since it was first seen."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine.declared import inspected, number
from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import DAY, HOUR, Quantity, Unit
from advisor.engine.wording import seconds_text
from advisor.mysql.inspection import Row
from advisor.mysql.snapshot import Remedy, RemedyKind

#: A statement is spoken of once it was seen for so long, and no more when it was not run since a day.
SEEN_SECONDS = HOUR
IDLE_SECONDS = DAY
#: Who runs ``advise`` chose the moment: then this is enough; of what keeps a tenth of a session busy, a few executions.
DELIBERATE_SEEN_SECONDS = 10
DELIBERATE_COUNT = 100
DELIBERATE_HEAVY_COUNT = 10
DELIBERATE_HEAVY_LOAD = 0.1

#: How many statements one finding names; more are counted.
NAMED = 5

_SOURCE = "events_statements_summary_by_digest"
_OWN_SCHEMAS = frozenset({"mysql", "information_schema", "performance_schema", "sys"})
_READS = ("SELECT", "WITH", "TABLE")
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")
_AGGREGATES = re.compile(r"\b(COUNT|SUM|MIN|MAX|AVG|GROUP_CONCAT|JSON_ARRAYAGG|STD\w*|VAR\w*)\s*\(|GROUP BY|DISTINCT")
_JOIN = re.compile(r"JOIN\b|\bFROM [^()]*? ,", re.IGNORECASE)
_OFFSET = re.compile(r"\bLIMIT \? ?, ?(\?|\.\.\.)|\bOFFSET \?", re.IGNORECASE)
_LENGTH = 300
_SHORT = 120


@dataclass(frozen=True)
class Statement:
    """One normalised statement. Sums are since it was first seen, ``seen_seconds`` ago."""

    schema: str
    digest: str
    text: str
    count: float
    total_seconds: float
    lock_seconds: float
    rows_examined: float
    rows_sent: float
    rows_affected: float
    no_index_used: float
    no_good_index_used: float
    full_joins: float
    range_selects: float
    tmp_tables: float
    tmp_disk_tables: float
    sort_rows: float
    sort_merge_passes: float
    errors: float
    seen_seconds: float
    idle_seconds: float

    @property
    def verb(self) -> str:
        """Its first word, in upper case."""
        return self.text.lstrip("( ").split(" ", 1)[0].upper()

    @property
    def is_read(self) -> bool:
        return self.verb in _READS

    @property
    def aggregates(self) -> bool:
        """Few rows come out of it by intention: it counts, sums or groups."""
        return _AGGREGATES.search(self.text.upper()) is not None

    @property
    def is_paged(self) -> bool:
        """It skips rows before it sends some: LIMIT with an offset."""
        return self.is_read and _OFFSET.search(self.text) is not None

    @property
    def joins(self) -> bool:
        """It reads several tables at once."""
        return _JOIN.search(self.text) is not None

    @property
    def load(self) -> float:
        """Sessions that it keeps busy on average, from 0 up: seconds of work per second since it was first seen."""
        return self.total_seconds / max(self.seen_seconds, 1.0)

    def each(self, amount: float) -> float:
        """A sum of it per execution."""
        return amount / max(self.count, 1.0)

    def per_second(self, amount: float) -> float:
        """A sum of it per second since it was first seen."""
        return amount / max(self.seen_seconds, 1.0)

    @property
    def useful_rows(self) -> float:
        """Rows that came of it: sent to the client, or changed."""
        return self.rows_sent + self.rows_affected

    @property
    def place(self) -> str:
        """Its schema and the beginning of its text."""
        return self._begin(_LENGTH)

    @property
    def brief(self) -> str:
        """Its schema and the very beginning of its text, for a title."""
        return self._begin(_SHORT)

    def _begin(self, length: int) -> str:
        shown = self.text if len(self.text) <= length else f"{self.text[:length]} ..."
        return f"{self.schema}: {shown}" if self.schema else shown

    def reads_table(self, schema: str, table: str) -> bool:
        """Whether its text names the table, in this schema or with it."""
        text = self.text.lower()
        if table.lower() not in text:
            return False
        named = re.search(rf"(?<![\w$]){re.escape(table.lower())}(?![\w$])", text) is not None
        return named and (self.schema.lower() == schema.lower() or schema.lower() in text)

    def figure(self, what: str, value: float, unit: Unit) -> Measured:
        """A figure of it, as evidence."""
        return Measured(f"{what} of {self.brief}", round(value, 6), unit, None, _SOURCE)

    def span(self) -> Measured:
        """For how long it was counted, as evidence."""
        return Measured("counted for", round(self.seen_seconds), Unit.SECONDS, None, _SOURCE)


@dataclass(frozen=True)
class Statements(Fact):
    """The statements that were seen for long enough and are still run, the longest total time first.

    Only what reads or writes rows of people's tables; ``total_seconds`` is the time of all of these. Raises Missing
    where the server does not gather digests, or has none that old.
    """

    basis: ClassVar[Basis] = Basis.STATISTICS
    reads: ClassVar[tuple[str, ...]] = ("performance_schema.events_statements_summary_by_digest",)

    statements: tuple[Statement, ...]
    total_seconds: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        everything = [_statement(row) for row in inspected(seen, "digests") if row.get("digest") is not None]
        found = [one for one in everything if _is_of_people(one) and _is_known(one, seen.deliberate)]
        if not found:
            wanted = (
                f"Needs statements that ran {DELIBERATE_COUNT} times within {DELIBERATE_SEEN_SECONDS} s or more"
                if seen.deliberate
                else f"Needs statements that were first seen {seconds_text(SEEN_SECONDS)} ago and still run"
            )
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "statistics of statements",
                    f"{wanted}; none of the {len(everything)} digests that were read is one.",
                )
            )
        found.sort(key=lambda one: (-one.total_seconds, one.digest))
        return cls(tuple(found), sum(one.total_seconds for one in found))

    def share(self, one: Statement) -> float:
        """Its part of the time of all of them, 0 to 1."""
        return one.total_seconds / self.total_seconds if self.total_seconds else 0.0

    def where(self, condition: Callable[[Statement], bool]) -> tuple[Statement, ...]:
        """Those that meet the condition, the longest total time first."""
        return tuple(one for one in self.statements if condition(one))

    def measured(self) -> tuple[Measured, ...]:
        """How many were looked at and since when, as evidence."""
        longest = max(one.seen_seconds for one in self.statements)
        return (
            Measured("statements looked at", len(self.statements), Unit.COUNT, None, _SOURCE),
            Measured("counted for up to", round(longest), Unit.SECONDS, None, _SOURCE),
        )


@dataclass(frozen=True)
class ExaminedStatements(Statements):
    """The same where the server counts the rows that each statement examines.

    MariaDB 10.2.11 tells none for any statement (seen on that server), which is no proof of few. Raises Inapplicable
    there.
    """

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = super().read(seen)
        told = [one for one in found.statements if one.is_read and one.rows_sent > 0]
        if told and not any(one.rows_examined for one in told):
            raise Inapplicable(
                Message(
                    "{server} does not count the rows that statements examine.",
                    {"server": Quantity(str(seen.server), Unit.TEXT)},
                )
            )
        return found


def evidence_of(
    found: Iterable[Statement], figures: Sequence[tuple[str, Callable[[Statement], float], Unit]]
) -> tuple[Measured, ...]:
    """The named figures of the first statements, and for how long the first was counted."""
    shown = list(found)[:NAMED]
    return (
        *(one.figure(what, value(one), unit) for one in shown for what, value, unit in figures),
        *(one.span() for one in shown[:1]),
    )


def _is_of_people(one: Statement) -> bool:
    if one.schema.lower() in _OWN_SCHEMAS or one.verb not in (*_READS, *_WRITES):
        return False
    text = one.text.lower()
    return not any(own in text for own in ("information_schema", "performance_schema"))


def _is_known(one: Statement, deliberate: bool) -> bool:
    if one.idle_seconds > IDLE_SECONDS:
        return False
    if one.seen_seconds >= SEEN_SECONDS:
        return True
    if not deliberate or one.seen_seconds < DELIBERATE_SEEN_SECONDS:
        return False
    enough = DELIBERATE_HEAVY_COUNT if one.load >= DELIBERATE_HEAVY_LOAD else DELIBERATE_COUNT
    return one.count >= enough


def _statement(row: Row) -> Statement:
    return Statement(
        schema=row.get("schema") or "",
        digest=row.get("digest") or "",
        text=" ".join((row.get("text") or "").split()),
        count=number(row, "count"),
        total_seconds=number(row, "total_seconds"),
        lock_seconds=number(row, "lock_seconds"),
        rows_examined=number(row, "rows_examined"),
        rows_sent=number(row, "rows_sent"),
        rows_affected=number(row, "rows_affected"),
        no_index_used=number(row, "no_index_used"),
        no_good_index_used=number(row, "no_good_index_used"),
        full_joins=number(row, "full_joins"),
        range_selects=number(row, "range_selects"),
        tmp_tables=number(row, "tmp_tables"),
        tmp_disk_tables=number(row, "tmp_disk_tables"),
        sort_rows=number(row, "sort_rows"),
        sort_merge_passes=number(row, "sort_merge_passes"),
        errors=number(row, "errors"),
        seen_seconds=number(row, "seen_seconds"),
        idle_seconds=number(row, "idle_seconds"),
    )


def made_row(text: str, **figures: float) -> Row:
    """A row of digests as an inspection reads it, for the examples of rules: 36,000 executions within an hour.

    ``figures`` are columns by name; those that are left out are 0. Sums are given as they are, not per execution.
    """
    columns: dict[str, float] = {"count": 36_000, "total_seconds": 36.0, "seen_seconds": HOUR, "idle_seconds": 1}
    columns |= figures
    return {
        "schema": "shop",
        "digest": f"{zlib.crc32(text.encode()):08x}",
        "text": text,
        **{name: f"{value:.6f}".rstrip("0").rstrip(".") for name, value in columns.items()},
    }
