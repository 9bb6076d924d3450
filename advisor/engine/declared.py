"""Facts that say by their fields what they hold: system variables, status variables, rates of counters, rows.

    @dataclass(frozen=True)
    class Sorting(Settings):
        sort_buffer_size: int

    @dataclass(frozen=True)
    class SortRates(HarmRates):
        sort_merge_passes: float

A field is named as the server names the variable, in lower case. A field with a default value is optional: servers that
do not have the variable give the default. One without is necessary: where the server does not have it, the question
does not arise on that server (NotApplicable); where nothing was read at all, it cannot be told (NotEvaluated).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, replace
from functools import cache
from typing import Any, ClassVar, Self, get_type_hints

from advisor.engine import reading
from advisor.engine.evidence import HIGH_COVERAGE, covered_seconds, window_of
from advisor.engine.fact import Basis, Fact, Harm
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing, Window
from advisor.engine.units import HOUR, Quantity, Unit
from advisor.engine.wording import seconds_text
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.inspection import Row
from advisor.mysql.snapshot import ProbeState, Remedy, RemedyKind
from advisor.mysql.values import BadValue, parse_boolean, parse_integer, parse_real

#: How long counters are watched before rates are spoken of; who runs ``advise`` chose the window.
COUNTED_SECONDS = HOUR
DELIBERATE_COUNTED_SECONDS = 10

_UNITS = {
    "bytes": Unit.BYTES,
    "seconds": Unit.SECONDS,
    "pages/s": Unit.PAGES_PER_SECOND,
}


def _whole(text: str) -> int:
    try:
        return parse_integer(text)
    except BadValue:
        return int(parse_real(text))


_PARSERS: Mapping[type, Callable[[str], Any]] = {int: _whole, float: parse_real, bool: parse_boolean, str: str}


@cache
def _declared(kind: type[Fact]) -> tuple[tuple[str, type, Field[Any]], ...]:
    """Name, type and field of what a fact declares; fields that begin with an underscore are its own."""
    hints = get_type_hints(kind)
    return tuple((one.name, hints[one.name], one) for one in fields(kind) if not one.name.startswith("_"))  # type: ignore[arg-type]


def _has_default(one: Field[Any]) -> bool:
    return one.default is not MISSING


def _absent(name: str, what: str, seen: Observation) -> Inapplicable:
    return Inapplicable(
        Message(
            "{server} has no {what} {name}.",
            {
                "server": Quantity(str(seen.server), Unit.TEXT),
                "what": Quantity(what, Unit.TEXT),
                "name": Quantity(name, Unit.TEXT),
            },
        )
    )


class Settings(Fact):
    """System variables with the values on trial in place: one field each, of type int, float, bool or str.

    ``also_called`` maps a field to other spellings that versions use for the same thing (replica_x, slave_x): the first
    that the server has is read, and ``called`` tells which, so that a proposal names the right one.
    """

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @classmethod
    def read(cls, seen: Observation) -> Self:
        values: dict[str, Any] = {}
        spelled: dict[str, str] = {}
        for name, kind, one in _declared(cls):
            spelling = next(
                (each for each in (name, *cls.also_called.get(name, ())) if reading.variable(seen, each) is not None),
                None,
            )
            if spelling is None:
                if _has_default(one):
                    continue
                if not seen.snapshot.variables:
                    reading.text(seen, name)
                raise _absent(name, "system variable", seen)
            spelled[name] = spelling
            try:
                values[name] = _PARSERS[kind](reading.variable(seen, spelling) or "")
            except BadValue as reason:
                raise Missing(Remedy(RemedyKind.VERSION, f"system variable {spelling}", str(reason))) from reason
        found = cls(**values)
        # Not a field: what the server calls it is no part of what is known, and two facts compare by their values.
        object.__setattr__(found, "_spelled", spelled)
        object.__setattr__(found, "_server", seen.server)
        return found

    def called(self, name: str) -> str:
        """What the server calls this variable."""
        spelled: Mapping[str, str] = getattr(self, "_spelled", {})
        return spelled.get(name, name)

    def exists(self, name: str) -> bool:
        """Whether the server has this variable at all, where the field is optional."""
        return name in getattr(self, "_spelled", {})

    def measured(self, *names: str) -> tuple[Measured, ...]:
        """The variables (default: all that the server has) as evidence, in the units of the catalogue."""
        server = getattr(self, "_server", None)
        figures = []
        for name, kind, _ in _declared(type(self)):
            if (names and name not in names) or not self.exists(name):
                continue
            value, spelling = getattr(self, name), self.called(name)
            known = CATALOGUE.find(spelling, server) if server is not None else None
            unit = _UNITS.get(known.unit or "", Unit.COUNT) if known is not None else Unit.COUNT
            if kind in (bool, str):
                value, unit = ("ON" if value else "OFF") if kind is bool else (value or "empty"), Unit.TEXT
            figures.append(Measured(spelling, value, unit, None, "system variable"))
        return tuple(figures)


class Status(Fact):
    """Status variables of the newest snapshot as they stand: gauges, high-water marks and texts, never since-boot sums.

    One field each, of type int, float or str. Sums since the server's start say nothing of today: take ``Rates``.
    """

    @classmethod
    def read(cls, seen: Observation) -> Self:
        values: dict[str, Any] = {}
        present = []
        for name, kind, one in _declared(cls):
            spelling = seen.status_names.get(name)
            if spelling is None:
                if _has_default(one):
                    continue
                if not seen.snapshot.status:
                    raise Missing(
                        Remedy(
                            RemedyKind.VERSION, f"status variable {name}", f"{seen.server} does not show its status."
                        )
                    )
                raise _absent(name, "status variable", seen)
            try:
                text = seen.snapshot.status[spelling]
                values[name] = text if kind is str else kind(float(text))
            except ValueError as reason:
                raise Missing(
                    Remedy(RemedyKind.VERSION, f"status variable {spelling}", f"{text!r} is no number.")
                ) from reason
            present.append(name)
        found = cls(**values)
        object.__setattr__(found, "_present", frozenset(present))
        return found

    def exists(self, name: str) -> bool:
        """Whether the server has this status variable at all, where the field is optional."""
        return name in getattr(self, "_present", ())

    def measured(self, *names: str, unit: Unit = Unit.COUNT) -> tuple[Measured, ...]:
        """The status variables (default: all that the server has) as evidence."""
        return tuple(
            Measured(
                name.capitalize() if not name.startswith("wsrep") else name,
                getattr(self, name),
                Unit.TEXT if kind is str else unit,
                None,
                "status variable",
            )
            for name, kind, _ in _declared(type(self))
            if (not names or name in names) and self.exists(name)
        )


class Rates(Fact):
    """Counters' growth per second between full snapshots: one field of type float each, the mean over ``window``.

    ``uptime_seconds``: a server that is up for less is not judged (caches fill up first). Raises Missing(window) before
    an hour was watched (for ``advise``: ten seconds).
    """

    basis: ClassVar[Basis] = Basis.COUNTED
    uptime_seconds: ClassVar[int] = 0

    @classmethod
    def read(cls, seen: Observation) -> Self:
        wanted = DELIBERATE_COUNTED_SECONDS if seen.deliberate else COUNTED_SECONDS
        covered = covered_seconds(seen.counted)
        if not seen.counted or covered < HIGH_COVERAGE * wanted:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "rates of counters",
                    f"Needs {seconds_text(wanted)} between full snapshots; so far {seconds_text(covered)}.",
                )
            )
        uptime = seen.snapshot.uptime_seconds
        if uptime < cls.uptime_seconds:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "a server that has warmed up",
                    f"The server is up for {seconds_text(uptime)}; this is judged after "
                    f"{seconds_text(cls.uptime_seconds)}.",
                )
            )
        values: dict[str, float] = {}
        for name, _, one in _declared(cls):
            spelling = seen.counter_names.get(name)
            if spelling is None:
                if _has_default(one):
                    continue
                raise _absent(name, "status variable", seen)
            told = [
                (grown, interval.seconds)
                for interval in seen.counted
                if (grown := interval.delta(spelling)) is not None
            ]
            if not told:
                raise Missing(
                    Remedy(RemedyKind.WINDOW, spelling, f"{spelling} was set back meanwhile (FLUSH STATUS); wait.")
                )
            values[name] = sum(grown for grown, _ in told) / sum(seconds for _, seconds in told)
        found = cls(**values)
        object.__setattr__(found, "_window", window_of(seen.counted))
        object.__setattr__(found, "_spelled", {name: seen.counter_names[name] for name in values})
        return found

    @property
    def window(self) -> Window:
        """The time that was watched."""
        window: Window = self._window  # type: ignore[attr-defined]
        return window

    def exists(self, name: str) -> bool:
        """Whether the server has this counter at all, where the field is optional."""
        return name in getattr(self, "_spelled", {})

    def measured(self, *names: str) -> tuple[Measured, ...]:
        """The rates (default: all that the server has) as evidence."""
        spelled: Mapping[str, str] = getattr(self, "_spelled", {})
        return tuple(
            Measured(f"{spelled[name]} per second", getattr(self, name), Unit.PER_SECOND, self.window, spelled[name])
            for name, _, _ in _declared(type(self))
            if (not names or name in names) and name in spelled
        )


class HarmRates(Rates, Harm):
    """Rates that tell of harm which some variable's present value does: nothing of it is left when that is changed."""

    def withheld(self) -> Self:
        calm = replace(self, **{name: 0.0 for name, _, _ in _declared(type(self))})  # type: ignore[type-var]
        for name in ("_window", "_spelled"):
            object.__setattr__(calm, name, getattr(self, name))
        return calm


def reads_of(kind: type[Fact]) -> tuple[str, ...]:
    """Where a fact's figures come from: what it says itself, else the variables that its fields name."""
    if kind.reads or not issubclass(kind, Settings | Status | Rates):
        return kind.reads
    names = [name for name, _, _ in _declared(kind)]
    if issubclass(kind, Settings):
        return (", ".join(names),)
    spelled = [name if name.startswith("wsrep") else name.capitalize() for name in names]
    return (", ".join(spelled) + (" (change per second)" if issubclass(kind, Rates) else ""),)


def inspected(seen: Observation, rowset: str) -> tuple[Row, ...]:
    """The rows that an inspection read under that name of ``inspection.ROWSETS``.

    Rows of which only a part was read are told to the observation (``Observation.partial``): what is found in them
    is found, and nothing passes by them. Raises Missing: nobody had the server inspected, or the probe was refused
    (with the GRANT) or skipped; Inapplicable where the probe itself says that there is nothing to ask (no remedy).
    """
    inspection = seen.inspection
    if inspection is None:
        raise Missing(
            Remedy(
                RemedyKind.ENABLE,
                "an inspection of accounts, tables and statements",
                "Inspect the server from its page, or run the advise command without --no-inspect: it is read only on "
                "request.",
            )
        )
    probe = inspection.probe(rowset)
    if probe is not None and probe.state is not ProbeState.OK:
        if probe.remedy is not None:
            raise Missing(probe.remedy)
        if probe.state is ProbeState.SKIPPED:
            raise Inapplicable(Message("{why}", {"why": Quantity(probe.reason, Unit.TEXT)}))
        raise Missing(Remedy(RemedyKind.ENABLE, rowset, probe.reason or "It could not be read; inspect it again."))
    if rowset not in inspection.rowsets:
        raise Missing(Remedy(RemedyKind.ENABLE, rowset, "The last inspection did not read it; inspect it again."))
    if probe is not None and probe.reason:
        seen.note_partial(Remedy(RemedyKind.ENABLE, f"the rest of {rowset.replace('_', ' ')}", probe.reason))
    return inspection.rowsets[rowset]


def number(row: Row, column: str) -> float:
    """A column of an inspected row as a number; 0 where the server told NULL or no number."""
    try:
        return float(row.get(column) or 0)
    except ValueError:
        return 0.0
