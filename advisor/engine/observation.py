"""Everything that is known of one server when it is judged. Facts are read from it; rules never see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from advisor.engine.outcome import Window
from advisor.mysql.proposal import Value
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Snapshot
from advisor.mysql.version import ServerVersion


@dataclass(frozen=True)
class HostFact:
    """Something about the machine below the server. ``origin`` is stated (by a person) or read; an unknown one is absent."""

    value: int | str
    origin: str


@dataclass(frozen=True)
class HostFacts:
    """Memory and free disk in bytes, CPUs, storage kind ("ssd" or "hdd"); None is unknown and is never guessed."""

    memory_bytes: HostFact | None = None
    cpus: HostFact | None = None
    storage: HostFact | None = None
    free_disk_bytes: HostFact | None = None


@dataclass(frozen=True)
class HourlyDigest:
    """One hour of a server, condensed when the hour is over: what long windows are judged from.

    ``hour_at`` is the unix second at which the hour began, ``seconds`` how much of it was observed. ``pressure_histogram``
    counts seconds by pressure in steps of 0.05 from 0 to 1.5, the last cell taking everything above. ``busiest_minute_bytes``
    is the most redo written in any minute of it. ``pages_flushed_per_second`` holds the hour's median and 95th percentile.
    """

    hour_at: int
    seconds: float
    redo_written_bytes: int
    busiest_minute_bytes: int
    pressure_histogram: tuple[float, ...]
    seconds_above_async: float
    seconds_at_limit: float
    pages_flushed_median: float
    pages_flushed_p95: float
    capacity_bytes: int
    free_pages_ratio_min: float | None = None


@dataclass(frozen=True)
class Observation:
    """One server as it was seen: its latest snapshot, recent intervals between polls, and digests of longer history.

    ``deliberate`` is true where a person chose the window (the ``advise`` command): then harm seen in it is judged if the
    window was loaded enough. ``proposed`` holds values that are tried in place of the present ones when the engine asks
    whether a proposal satisfies its own rule; facts then recompute what follows from them.
    """

    snapshot: Snapshot
    intervals: tuple[Interval, ...] = ()
    digests: tuple[HourlyDigest, ...] = ()
    host: HostFacts = field(default_factory=HostFacts)
    deliberate: bool = False
    today: str = ""  # ISO date by the caller's clock: this room has none.
    proposed: Mapping[str, Value] = field(default_factory=dict)
    proposed_metrics: frozenset[str] = frozenset()

    @property
    def server(self) -> ServerVersion:
        return self.snapshot.identity.version

    @property
    def window(self) -> Window | None:
        """The time the intervals cover, None without any."""
        if not self.intervals:
            return None
        return Window(self.intervals[0].started_at, self.intervals[-1].ended_at, len(self.intervals))

    def with_proposed(self, values: Mapping[str, Value], metrics: frozenset[str] = frozenset()) -> Observation:
        """The same server as if it had these values already."""
        return replace(self, proposed={**self.proposed, **values}, proposed_metrics=self.proposed_metrics | metrics)
