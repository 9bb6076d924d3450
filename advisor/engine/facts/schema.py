"""Facts about tables and indexes, read when a person has the server inspected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import inspected, number
from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Unit
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.values import BadValue, parse_boolean
from advisor.mysql.version import Distribution

#: How many tables, indexes or schemas one finding names; more are counted.
NAMED = 10


@dataclass(frozen=True)
class Table:
    """One table of people's schemas. Sizes are bytes by the server's own estimates; ``partitions`` 0 where it has none.

    ``engine``, ``row_format`` and ``collation`` are empty where the server did not tell.
    """

    schema: str
    name: str
    engine: str
    row_format: str
    rows: float
    data_bytes: float
    index_bytes: float
    free_bytes: float
    collation: str
    partitions: int

    @property
    def place(self) -> str:
        """``schema.table``."""
        return f"{self.schema}.{self.name}"

    @property
    def bytes(self) -> float:
        """Rows and indexes together."""
        return self.data_bytes + self.index_bytes

    def measured(self) -> Measured:
        """Its size, as evidence."""
        return Measured(self.place, self.bytes, Unit.BYTES, None, "information_schema.TABLES")


@dataclass(frozen=True)
class Tables(Fact):
    """All tables that an inspection read."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("information_schema.TABLES",)

    tables: tuple[Table, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(_tables(seen))

    def of_engine(self, *engines: str) -> tuple[Table, ...]:
        """Those of the engines, named in lower case."""
        return tuple(table for table in self.tables if table.engine.lower() in engines)

    def measured(self) -> tuple[Measured, ...]:
        """How many there are, as evidence."""
        return (Measured("tables", len(self.tables), Unit.COUNT, None, "information_schema.TABLES"),)


def _tables(seen: Observation) -> tuple[Table, ...]:
    return tuple(
        Table(
            schema=row.get("schema") or "",
            name=row.get("name") or "",
            engine=row.get("engine") or "",
            row_format=row.get("row_format") or "",
            rows=number(row, "rows"),
            data_bytes=number(row, "data_bytes"),
            index_bytes=number(row, "index_bytes"),
            free_bytes=number(row, "free_bytes"),
            collation=row.get("collation") or "",
            partitions=int(number(row, "partitions")),
        )
        for row in inspected(seen, "tables")
    )


def _sizes(seen: Observation) -> dict[str, Table]:
    """The tables by place; empty where they could not be read: then nothing is known of their sizes."""
    try:
        return {table.place: table for table in _tables(seen)}
    except (Missing, Inapplicable):
        return {}


@dataclass(frozen=True)
class Keyless:
    """A table without a primary key. ``rows`` None where its size was not read."""

    place: str
    rows: float | None

    def measured(self) -> Measured:
        if self.rows is None:
            return Measured(self.place, "no primary key", Unit.TEXT, None, "INNODB_TABLES and INNODB_INDEXES")
        return Measured(f"rows of {self.place}", self.rows, Unit.COUNT, None, "information_schema.TABLES")


@dataclass(frozen=True)
class KeylessTables(Fact):
    """InnoDB tables whose rows are clustered by a hidden row id."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("information_schema.INNODB_(SYS_)TABLES and INNODB_(SYS_)INDEXES",)

    tables: tuple[Keyless, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = inspected(seen, "keyless_tables")
        sizes = _sizes(seen)
        places = sorted({f"{row.get('schema')}.{row.get('name')}" for row in rows})
        found = [Keyless(place, sizes[place].rows if place in sizes else None) for place in places]
        return cls(tuple(sorted(found, key=lambda one: (-(one.rows or 0), one.place))))


@dataclass(frozen=True)
class AutoIncrement:
    """One auto-increment column, its next value and the largest its type holds."""

    place: str
    column: str
    type: str
    next_value: float
    maximum: float

    @property
    def used_ratio(self) -> float:
        return self.next_value / self.maximum if self.maximum else 0.0


@dataclass(frozen=True)
class AutoIncrements(Fact):
    """All auto-increment columns."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("information_schema.TABLES.AUTO_INCREMENT and COLUMNS",)

    columns: tuple[AutoIncrement, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        return cls(
            tuple(
                AutoIncrement(
                    f"{row.get('schema')}.{row.get('table')}",
                    row.get("column") or "",
                    row.get("type") or "",
                    number(row, "next_value"),
                    number(row, "maximum"),
                )
                for row in inspected(seen, "auto_increments")
            )
        )


@dataclass(frozen=True)
class Index:
    """One index. ``columns`` in order, prefix lengths as ``name(10)``; ``reads`` and ``counted_seconds`` (for how long
    they were counted) None where the server does not count them. ``index_bytes`` are those of all indexes of its table.
    """

    place: str
    name: str
    columns: tuple[str, ...]
    is_unique: bool
    is_visible: bool
    kind: str
    reads: float | None
    counted_seconds: float | None
    rows: float
    index_bytes: float

    @property
    def is_primary(self) -> bool:
        return self.name.upper() == "PRIMARY"

    @property
    def is_sorted(self) -> bool:
        """A B-tree over plain columns: neither full text, nor spatial, nor over expressions that were not told."""
        return self.kind.upper() in ("BTREE", "") and bool(self.columns) and all(map(_PLAIN_COLUMN.match, self.columns))

    def begins(self, other: Index) -> bool:
        """Whether its columns are the first ones of the other, or all of them."""
        return self.columns == other.columns[: len(self.columns)]


#: A column as an inspection writes it: its name, with the length of a prefix or without.
_PLAIN_COLUMN = re.compile(r"^[^()]+(\(\d+\))?$")


@dataclass(frozen=True)
class Indexes(Fact):
    """All indexes that an inspection read."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = (
        "information_schema.STATISTICS",
        "performance_schema.table_io_waits_summary_by_index_usage",
    )

    indexes: tuple[Index, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        rows = inspected(seen, "indexes")
        sizes = _sizes(seen)
        found = []
        for row in rows:
            place = f"{row.get('schema')}.{row.get('table')}"
            table = sizes.get(place)
            found.append(
                Index(
                    place=place,
                    name=row.get("index") or "",
                    columns=_columns(row.get("columns") or ""),
                    is_unique=row.get("is_unique") == "1",
                    is_visible=row.get("is_visible") != "0",
                    kind=row.get("kind") or "",
                    reads=None if row.get("reads") is None else number(row, "reads"),
                    counted_seconds=None if row.get("counted_seconds") is None else number(row, "counted_seconds"),
                    rows=table.rows if table is not None else 0.0,
                    index_bytes=table.index_bytes if table is not None else 0.0,
                )
            )
        return cls(tuple(found))

    def redundant(self) -> tuple[tuple[Index, Index], ...]:
        """Indexes that say nothing that another one of their table does not say, each with the one that covers it.

        Unique ones are constraints and stay, unless another unique one has the very same columns. Of two that are equal
        the one with the later name goes. What an index over one column says that is the prefix of another is the same
        for a foreign key, too: the server takes the longer one for it, and refuses the drop where it could not.
        """
        by_table: dict[str, list[Index]] = {}
        for index in self.indexes:
            if index.is_sorted:
                by_table.setdefault(index.place, []).append(index)
        found = []
        for own in by_table.values():
            for index in own:
                covers = [other for other in own if other is not index and _covers(other, index)]
                if covers:
                    found.append((index, min(covers, key=lambda one: (-len(one.columns), one.name))))
        return tuple(sorted(found, key=lambda pair: (-pair[0].rows, pair[0].place, pair[0].name)))

    def measured(self) -> tuple[Measured, ...]:
        """How many there are, as evidence."""
        return (Measured("indexes", len(self.indexes), Unit.COUNT, None, "information_schema.STATISTICS"),)


def _columns(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _covers(other: Index, index: Index) -> bool:
    """Whether ``index`` can go because of ``other``."""
    if index.is_primary or not other.is_visible or not index.begins(other):
        return False
    if index.columns != other.columns:
        return not index.is_unique
    if index.is_unique != other.is_unique:
        return other.is_unique
    return other.is_primary or (index.is_visible, other.name) <= (other.is_visible, index.name)


@dataclass(frozen=True)
class IndexReads(Fact):
    """Indexes and how often each was read while the server counted. Raises Missing where that was for under a week."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("performance_schema.table_io_waits_summary_by_index_usage",)

    indexes: tuple[Index, ...]
    redundant: frozenset[tuple[str, str]]
    counted_seconds: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = Indexes.read(seen)
        counted = [one for one in found.indexes if one.reads is not None and one.counted_seconds is not None]
        if found.indexes and not counted:
            raise Missing(
                Remedy(
                    RemedyKind.ENABLE,
                    "reads by index",
                    "Start the server with performance_schema = ON, let the instrument wait/io/table/sql/handler be on "
                    "and inspect it again after a week: it counts reads by index from then on.",
                )
            )
        seconds = min((one.counted_seconds or 0.0 for one in counted), default=0.0)
        return cls(
            tuple(counted),
            frozenset((index.place, index.name) for index, _ in found.redundant()),
            seconds,
        )


@dataclass(frozen=True)
class Replicated(Fact):
    """Whether others have to make the same changes to the same rows, and how: a word each, empty where nobody does."""

    reads: ClassVar[tuple[str, ...]] = ("the role in replication", "wsrep_on", "group_replication_group_name")

    how: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if _on(reading.variable(seen, "wsrep_on")):
            return cls("a Galera cluster")
        if reading.variable(seen, "group_replication_group_name"):
            return cls("group replication")
        role = seen.snapshot.identity.role
        return cls({"source": "a source of replicas", "replica": "a replica"}.get(role, ""))

    def measured(self) -> tuple[Measured, ...]:
        """As evidence."""
        return (Measured("this server is part of", self.how or "no replication", Unit.TEXT, None, "replication"),)


def _on(text: str | None) -> bool:
    try:
        return text is not None and parse_boolean(text)
    except BadValue:
        return False


@dataclass(frozen=True)
class RecordsInRange(Fact):
    """Whether this distribution has variables that keep the optimizer from asking every partition for an estimate."""

    reads: ClassVar[tuple[str, ...]] = ("version_comment", "innodb_records_in_range")

    can_be_forced: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not seen.snapshot.variables:
            raise Inapplicable(Message("Nothing is known of this server's variables."))
        return cls(
            seen.server.distribution is Distribution.PERCONA
            and reading.variable(seen, "innodb_force_index_records_in_range") is not None
        )


@dataclass(frozen=True)
class Partitioned:
    """A table and how many partitions it has, subpartitions counted."""

    schema: str
    name: str
    partitions: int

    @property
    def place(self) -> str:
        """``schema.table``."""
        return f"{self.schema}.{self.name}"


@dataclass(frozen=True)
class PartitionedTables(Fact):
    """InnoDB tables with partitions, the most first."""

    basis: ClassVar[Basis] = Basis.INSPECTED
    reads: ClassVar[tuple[str, ...]] = ("information_schema.INNODB_(SYS_)TABLES",)

    tables: tuple[Partitioned, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = [
            Partitioned(row.get("schema") or "", row.get("name") or "", int(number(row, "partitions")))
            for row in inspected(seen, "partitioned_tables")
        ]
        return cls(tuple(sorted(found, key=lambda one: (-one.partitions, one.place))))

    def measured(self) -> tuple[Measured, ...]:
        """The most that one table has, as evidence."""
        most = max((one.partitions for one in self.tables), default=0)
        return (Measured("most partitions of one table", most, Unit.COUNT, None, "InnoDB's dictionary"),)
