"""Facts about the next long-term version: what it makes of this server's settings, and whether going there is due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.evidence import window_of
from advisor.engine.fact import Basis, Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing, Window
from advisor.engine.statistics import percentile
from advisor.engine.units import HOUR, Quantity, Unit
from advisor.engine.wording import seconds_text
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.lifecycle import next_long_term_series, support_ends_on
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.upgrade import UpgradeChange, UpgradeKind, UpgradePreview, is_set, preview, target_version

#: So many variables are named; how many there are stands beside them.
NAMED = 8


@dataclass(frozen=True)
class NextVersion(Fact):
    """What the next long-term version of the same flavor would do with the settings of this server.

    ``name`` is the series, ``days_left`` how long this one is supported (negative: its support is over).
    """

    reads: ClassVar[tuple[str, ...]] = ("all system variables and where they were set", "version", "the date")

    name: str
    days_left: int
    preview: UpgradePreview = field(repr=False)

    @classmethod
    def read(cls, seen: Observation) -> Self:
        following = next_long_term_series(seen.server)
        if following is None:
            raise Inapplicable(
                Message(
                    "{server} is of the newest long-term series.", {"server": Quantity(str(seen.server), Unit.TEXT)}
                )
            )
        if not seen.snapshot.variables:
            reading.text(seen, "version")
        ends_on = support_ends_on(seen.server)
        if ends_on is None or not seen.today:
            raise Missing(
                Remedy(RemedyKind.VERSION, "end of support", f"No date is known for {seen.server}: see the vendor's.")
            )
        flavor = "mariadb" if seen.server.is_mariadb else "mysql"
        return cls(
            name=f"{'MariaDB' if seen.server.is_mariadb else 'MySQL'} {following.name}",
            days_left=(ends_on - date.fromisoformat(seen.today)).days,
            preview=preview(
                reading.variables(seen),
                seen.snapshot.origins,
                seen.server,
                target_version(f"{flavor} {following.name}"),
            ),
        )

    def changes(self, *kinds: UpgradeKind) -> tuple[UpgradeChange, ...]:
        """The changes of these kinds, in the order of their names."""
        return tuple(sorted(self.preview.of_kind(*kinds), key=lambda one: one.variable))


@dataclass(frozen=True)
class SettingsHere(Fact):
    """Variables that somebody set on this server although this very version ignores or deprecates them."""

    reads: ClassVar[tuple[str, ...]] = ("all system variables and where they were set",)

    ignored: Mapping[str, str]
    deprecated: Mapping[str, str]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not seen.snapshot.variables:
            reading.text(seen, "version")
        ignored: dict[str, str] = {}
        deprecated: dict[str, str] = {}
        for name, value in reading.variables(seen).items():
            known = CATALOGUE.find(name, seen.server)
            if known is None or not is_set(name, value, known, seen.snapshot.origins):
                continue
            if known.ignored_when and known.ignored_when.startswith("always"):
                ignored[name] = known.replaced_by or ""
            elif known.deprecated:
                deprecated[name] = known.replaced_by or ""
        return cls(ignored, deprecated)


@dataclass(frozen=True)
class Concurrency(Fact):
    """How many threads ran at once under load: the 95th percentile of Threads_running over the polls, our own left out.

    ``questions_per_second`` tells that there was a load at all.
    """

    basis: ClassVar[Basis] = Basis.WINDOW
    reads: ClassVar[tuple[str, ...]] = ("Threads_running, Questions",)

    window: Window
    p95_running: float
    questions_per_second: float

    @classmethod
    def read(cls, seen: Observation) -> Self:
        running = [max(0.0, one - 1) for one in reading.gauges(seen.intervals, "Threads_running")]
        questions = reading.rates(seen.intervals, "Questions")
        seconds = sum(one.seconds for one in seen.intervals)
        wanted = 10 if seen.deliberate else HOUR
        if not running or not questions or seconds < 0.95 * wanted:
            raise Missing(
                Remedy(
                    RemedyKind.WINDOW,
                    "threads that run at once",
                    f"Needs {seconds_text(wanted)} of polls; so far {seconds_text(seconds)}.",
                )
            )
        return cls(window_of(seen.intervals), percentile(running, 0.95), sum(questions) / len(questions))

    def measured(self) -> tuple[Measured, ...]:
        """Threads and statements, as evidence."""
        return (
            Measured(
                "threads running at once, 95th percentile", self.p95_running, Unit.COUNT, self.window, "Threads_running"
            ),
            Measured("statements per second", self.questions_per_second, Unit.PER_SECOND, self.window, "Questions"),
        )


def named(names: list[str]) -> str:
    """Some of the names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
