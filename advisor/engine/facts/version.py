"""Facts about the version itself: how long it is supported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Self

from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Quantity, Unit
from advisor.mysql.lifecycle import support_ends_on
from advisor.mysql.snapshot import Remedy, RemedyKind


@dataclass(frozen=True)
class VersionLife(Fact):
    """When the community ends support of this release series, and how many days that is away (negative: over)."""

    reads: ClassVar[tuple[str, ...]] = ("version", "version_comment", "the date")

    series: str
    ends_on: date
    days_left: int
    flavor: str

    @classmethod
    def read(cls, seen: Observation) -> Self:
        server = seen.server
        if server.distribution.managed:
            raise Inapplicable(
                Message(
                    "{server} is supported by who runs it, by dates of their own.",
                    {"server": Quantity(str(server), Unit.TEXT)},
                )
            )
        ends_on = support_ends_on(server)
        if ends_on is None or not seen.today:
            raise Missing(
                Remedy(
                    RemedyKind.VERSION,
                    "end of support",
                    f"This release of Tidemark knows no date for {server}: see the vendor's calendar.",
                )
            )
        return cls(server.series, ends_on, (ends_on - date.fromisoformat(seen.today)).days, server.flavor.value)

    def measured(self) -> tuple[Measured, ...]:
        """Series and date, as evidence."""
        return (
            Measured("release series", self.series, Unit.TEXT, None, "version"),
            Measured("community support ends on", self.ends_on.isoformat(), Unit.TEXT, None, "vendor's calendar"),
        )
