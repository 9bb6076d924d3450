"""How long a release series is supported by its community, and which long-term series comes next.

Dates are those of the vendors' own calendars (``data/lifecycle.tsv``); managed services and Percona have others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from advisor.mysql.version import Flavor, ServerVersion


@dataclass(frozen=True)
class Series:
    """A release series. ``ends_on``: the last day of community support, None while it is not known.

    ``successor``: the series to upgrade to, None for the newest; ``long_term``: maintained for years.
    """

    flavor: Flavor
    name: str
    long_term: bool
    ends_on: date | None
    successor: str | None

    @property
    def number(self) -> tuple[int, int]:
        major, minor = self.name.split(".")
        return int(major), int(minor)


def series_of(server: ServerVersion) -> Series | None:
    """What is known of the server's release series; None for one this release of Tidemark does not know."""
    return _series().get((server.flavor, server.series))


def support_ends_on(server: ServerVersion) -> date | None:
    """The last day of community support of the server's series; None where no date is known.

    A managed service supports its servers by dates of its own: ask only for the others.
    """
    series = series_of(server)
    return series.ends_on if series is not None else None


def is_long_term(server: ServerVersion) -> bool | None:
    """Whether the series is maintained for years; None for a series that is not known. The number never tells."""
    series = series_of(server)
    return series.long_term if series is not None else None


def next_long_term_series(server: ServerVersion) -> Series | None:
    """The long-term series that the server can be upgraded to in one step; None if it is on the newest one."""
    series = series_of(server)
    if series is None or series.successor is None:
        return None
    return _series()[server.flavor, series.successor]


def latest_support_release(flavor: Flavor) -> Series:
    """The newest long-term series of a flavor."""
    return max(
        (one for one in _series().values() if one.flavor is flavor and one.long_term), key=lambda one: one.number
    )


@cache
def _series() -> Mapping[tuple[Flavor, str], Series]:
    text = (files("advisor.mysql") / "data" / "lifecycle.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    known = {}
    for flavor, name, term, ends, successor in lines[1:]:
        known[Flavor(flavor), name] = Series(
            flavor=Flavor(flavor),
            name=name,
            long_term=term == "lts",
            ends_on=None if ends == "-" else date.fromisoformat(ends),
            successor=None if successor == "-" else successor,
        )
    return known
