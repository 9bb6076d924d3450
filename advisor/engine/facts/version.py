"""Facts about the version itself: how long it is supported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Self

from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Quantity, Unit
from advisor.mysql.lifecycle import next_long_term_series, support_ends_on
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.version import Distribution


@dataclass(frozen=True)
class VersionLife(Fact):
    """When the community ends support of this release series, and how many days that is away (negative: over).

    ``successor`` is the long-term series that the server can be upgraded to in one step, ``successor_ends_on`` the
    end of that one's support; both None where there is no newer one.
    """

    reads: ClassVar[tuple[str, ...]] = ("version", "version_comment", "the date")

    series: str
    ends_on: date
    days_left: int
    successor: str | None
    successor_ends_on: date | None
    successor_is_over: bool

    @classmethod
    def read(cls, seen: Observation) -> Self:
        server = seen.server
        if server.distribution.managed or server.distribution is Distribution.PERCONA:
            raise Inapplicable(
                Message(
                    "{server} is supported by who builds or runs it, by dates of their own.",
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
        following = next_long_term_series(server)
        today = date.fromisoformat(seen.today)
        return cls(
            series=f"{'MariaDB' if server.is_mariadb else 'MySQL'} {server.series}",
            ends_on=ends_on,
            days_left=(ends_on - today).days,
            successor=None if following is None else following.name,
            successor_ends_on=None if following is None else following.ends_on,
            successor_is_over=following is not None and following.ends_on is not None and following.ends_on < today,
        )

    def measured(self) -> tuple[Measured, ...]:
        """Series and date, as evidence."""
        return (
            Measured("release series", self.series, Unit.TEXT, None, "version"),
            Measured("community support ends on", self.ends_on.isoformat(), Unit.TEXT, None, "vendor's calendar"),
        )
