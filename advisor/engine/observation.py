"""Everything that is known of one server when it is judged. Facts are read from it; rules never see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from advisor.engine.outcome import Window
from advisor.mysql.digest import HourlyDigest
from advisor.mysql.inspection import Inspection
from advisor.mysql.proposal import Value
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Remedy, Snapshot
from advisor.mysql.version import ServerVersion


@dataclass(frozen=True)
class HostFact:
    """Something about the machine below the server. ``origin`` is stated (by a person) or read; an unknown one is
    absent.
    """

    value: int | str
    origin: str


@dataclass(frozen=True)
class HostFacts:
    """Memory and free disk in bytes, CPUs, storage kind ("ssd" or "hdd"), and how long a write to the data device takes
    under load; None is unknown and is never guessed.

    The latency has to come from the machine (iostat's w_await, a volume's metrics): performance_schema times only the
    hand-over of asynchronous writes (0.02 ms on MySQL 5.7 and 9.7, 0.01 ms on MariaDB 10.11, whatever the device is).
    """

    memory_bytes: HostFact | None = None
    cpus: HostFact | None = None
    storage: HostFact | None = None
    free_disk_bytes: HostFact | None = None
    write_latency_microseconds: HostFact | None = None


@dataclass(frozen=True)
class Observation:
    """One server as it was seen: its latest snapshot, recent intervals between polls, and digests of longer history.

    ``counted`` are the intervals between full snapshots (some minutes each, an hour in all; in ``advise`` the whole
    observation is one): only they know every counter of SHOW GLOBAL STATUS. ``inspection`` is what a person had read of
    accounts, tables and statements; None where nobody asked.

    ``deliberate`` is true where a person chose the window (the ``advise`` command): then harm seen in it is judged
    if the window was loaded enough. ``proposed`` holds values that are tried in place of the present ones when the
    engine asks whether a proposal satisfies its own rule; facts then recompute what follows from them.
    ``configured_at`` (unix seconds) is since when the settings that judging depends on are the present ones: harm that
    digests tell of from before belongs to other values. How much was written is the workload's, and counts all along.
    """

    snapshot: Snapshot
    intervals: tuple[Interval, ...] = ()
    digests: tuple[HourlyDigest, ...] = ()
    counted: tuple[Interval, ...] = ()
    inspection: Inspection | None = None
    host: HostFacts = field(default_factory=HostFacts)
    deliberate: bool = False
    configured_at: float = 0.0
    today: str = ""  # ISO date by the caller's clock: this room has none.
    proposed: Mapping[str, Value] = field(default_factory=dict)
    proposed_metrics: frozenset[str] = frozenset()

    @cached_property
    def counter_names(self) -> Mapping[str, str]:
        """The server's spelling of every counter in ``counted``, by its name in lower case."""
        return {name.lower(): name for name in self.counted[-1].current.values} if self.counted else {}

    @cached_property
    def status_names(self) -> Mapping[str, str]:
        """The server's spelling of every status variable of the snapshot, by its name in lower case."""
        return {name.lower(): name for name in self.snapshot.status}

    @property
    def server(self) -> ServerVersion:
        return self.snapshot.identity.version

    @property
    def window(self) -> Window | None:
        """The time the intervals cover, None without any."""
        if not self.intervals:
            return None
        return Window(self.intervals[0].started_at, self.intervals[-1].ended_at, len(self.intervals))

    @cached_property
    def partial(self) -> list[Remedy]:
        """What the facts that were read so far know only a part of; the engine looks at it around each fact."""
        return []

    def note_partial(self, remedy: Remedy) -> None:
        """Says that what was just read is only a part, and why."""
        self.partial.append(remedy)

    def with_proposed(self, values: Mapping[str, Value], metrics: frozenset[str] = frozenset()) -> Observation:
        """The same server as if it had these values already."""
        return replace(self, proposed={**self.proposed, **values}, proposed_metrics=self.proposed_metrics | metrics)
