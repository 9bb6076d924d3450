"""What a redo log of another size would do on one server: its history, asked of the model of ``advisor.whatif``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from advisor.engine.evidence import HIGH_COVERAGE
from advisor.engine.facts.redo import AT_LIMIT
from advisor.engine.statistics import weighted_percentile
from advisor.engine.units import DAY, HOUR
from advisor.mysql import redo, series
from advisor.mysql.digest import PRESSURE_STEP, HourlyDigest
from advisor.mysql.proposal import SetVariable
from advisor.mysql.snapshot import Snapshot
from advisor.recommendations.judging import host_facts
from advisor.recommendations.models import Recommendation
from advisor.recommendations.states import PENDING
from advisor.whatif import history
from advisor.whatif.flushing import FlushSettings
from advisor.whatif.redo import candidate_sizes, require, size_redo
from advisor.whatif.sizing import Candidate, CannotTell, Objective, Point, Sizing
from collector.models import Server
from collector.store import store
from collector.store.interface import PressureTimes

#: Up to this long a range is replayed poll by poll; longer ones by their hourly digests.
LONGEST_BY_POLLS = 25 * HOUR
#: For how long before the end of a long range polls are read to calibrate on.
_CALIBRATED_SECONDS = DAY
#: Where the busiest hour is looked for that a window should not have missed.
_PEAK_SECONDS = 7 * DAY
#: The rule whose proposal stands in the table, and the variables that hold a capacity.
RULE_TOPIC = "redo."
_CAPACITY = ("innodb_redo_log_capacity", "innodb_log_file_size")

_PAGES_FLUSHED, _PAGES_DIRTY = "Innodb_buffer_pool_pages_flushed", "Innodb_buffer_pool_pages_dirty"
_NAMES = (
    series.LSN,
    series.CHECKPOINT_LSN,
    series.CHECKPOINT_AGE,
    series.EFFECTIVE_SYNC_POINT,
    series.EFFECTIVE_ASYNC_POINT,
    series.CAPACITY,
    _PAGES_FLUSHED,
    _PAGES_DIRTY,
)


@dataclass(frozen=True)
class Proposed:
    """The recommendation that proposes a capacity, and which."""

    recommendation: Recommendation
    capacity_bytes: int


@dataclass(frozen=True)
class Read:
    """Everything that was read for a range: its digests, the samples that were replayed or calibrated on, what was
    measured with the present size (as ``size_redo`` takes it), and the table or the reason why there is none.
    """

    samples: history.Samples
    digests: tuple[HourlyDigest, ...]
    recorded: history.Recorded
    sizing: Sizing | None
    refusal: CannotTell | None
    proposed: Proposed | None
    measured: tuple[float, float, float] | None


@dataclass(frozen=True)
class Recording:
    """What is known of a range before anything is simulated. ``polled`` is what the model is calibrated on where the
    range itself is known by its hours only. ``refusal``: too little was recorded, so that no simulation would help.
    """

    server: Server
    snapshot: Snapshot
    samples: history.Samples
    digests: tuple[HourlyDigest, ...]
    recorded: history.Recorded
    polled: history.Recorded
    known_peak_bytes_per_second: float
    proposed: Proposed | None
    measured: tuple[float, float, float] | None
    refusal: CannotTell | None

    @property
    def settings(self) -> FlushSettings:
        pages = float(self.snapshot.status.get("Innodb_buffer_pool_pages_total", 0) or 0)
        return FlushSettings.read(self.snapshot.identity.version, self.snapshot.variables, pages)


def read(server: Server, snapshot: Snapshot, start: float, end: float, objective: Objective | None = None) -> Read:
    """The sizing of a server for a range (unix seconds). ``objective`` None takes the default for this server.

    Raises redo.RedoUnknown where the capacity in force is not known, as on a server that has no redo log of its own.
    """
    found = record(server, snapshot, start, end)
    sizing, refusal = None, found.refusal
    if refusal is None:
        try:
            sizing = size(found, objective)
        except CannotTell as reason:
            refusal = reason
    return Read(found.samples, found.digests, found.recorded, sizing, refusal, found.proposed, found.measured)


def record(server: Server, snapshot: Snapshot, start: float, end: float) -> Recording:
    """Reads a range (unix seconds) and simulates nothing. Raises redo.RedoUnknown as ``read`` does."""
    version, variables, status = snapshot.identity.version, snapshot.variables, snapshot.status
    if not redo.has_redo_log(version):
        raise redo.RedoUnknown("This server has no redo log of its own.")
    present = redo.capacity_in_force(version, variables, status)
    digests = store().digests(server.pk, start, end)
    by_polls = end - start <= LONGEST_BY_POLLS
    polled_from = start if by_polls else max(start, end - _CALIBRATED_SECONDS)
    samples = read_samples(server, polled_from, end)
    polled = history.from_samples(samples, start=polled_from, end=end)
    polled = replace(polled, capacity_bytes=present)
    recorded = polled if by_polls else history.from_digests(digests, start=start, end=end, capacity_bytes=present)
    peak = _known_peak(server, end)
    refusal = None
    try:
        require(recorded, polled, known_peak_bytes_per_second=peak)
    except CannotTell as reason:
        refusal = reason
    return Recording(
        server=server,
        snapshot=snapshot,
        samples=samples,
        digests=tuple(digests),
        recorded=recorded,
        polled=polled,
        known_peak_bytes_per_second=peak,
        proposed=proposed_capacity(server, snapshot),
        measured=_measured(server, start, end) if not recorded.excluded.resizes else None,
        refusal=refusal,
    )


def size(found: Recording, objective: Objective | None = None) -> Sizing:
    """Simulates every size of the table. Raises CannotTell."""
    host = host_facts(found.server.host_facts)
    return size_redo(
        found.recorded,
        found.settings,
        candidates(found.snapshot, found.recorded.capacity_bytes, found.proposed),
        objective=objective or default_objective(found.settings),
        calibrated_on=None if found.polled is found.recorded else found.polled,
        known_peak_bytes_per_second=found.known_peak_bytes_per_second,
        storage=None if host.storage is None else str(host.storage.value),
        free_disk_bytes=None if host.free_disk_bytes is None else float(host.free_disk_bytes.value),
        measured=found.measured,
    )


def default_objective(settings: FlushSettings) -> Objective:
    """Below the async point for 99.9 % of the time; where the age rises there by design, that writers do not wait."""
    return Objective(Point.SYNC if settings.ignores_age else Point.ASYNC)


def read_samples(server: Server, start: float, end: float) -> history.Samples:
    """Every poll of a range as arrays."""
    points = max(int((end - start) / max(server.fast_interval_seconds, 1)) + 2, 2)
    buckets = store().buckets(server.pk, _NAMES, start, end, points)

    def values(name: str) -> history.F64:
        return np.asarray(buckets.series[name].last, dtype=np.float64)

    # A point without any value only breaks a line.
    kept = ~np.all(np.isnan(np.array([values(name) for name in _NAMES])), axis=0)
    return history.Samples(
        at=buckets.at[kept].astype(np.float64) / 1000,
        written=values(series.LSN)[kept],
        advanced=values(series.CHECKPOINT_LSN)[kept],
        age=values(series.CHECKPOINT_AGE)[kept],
        limit=values(series.EFFECTIVE_SYNC_POINT)[kept],
        async_point=values(series.EFFECTIVE_ASYNC_POINT)[kept],
        capacity=values(series.CAPACITY)[kept],
        pages_flushed=values(_PAGES_FLUSHED)[kept],
        dirty_pages=values(_PAGES_DIRTY)[kept],
    )


def candidates(snapshot: Snapshot, present: int, proposed: Proposed | None) -> list[Candidate]:
    """The sizes of the table, as this server would take them."""
    version, variables, status = snapshot.identity.version, snapshot.variables, snapshot.status
    smallest, largest = redo.capacity_bounds(version, variables)
    metrics = {name: one.count for name, one in snapshot.metrics.items() if one.enabled}
    found: dict[int, Candidate] = {
        present: Candidate(present, redo.limits_in_force(version, variables, status, metrics))
    }
    also = [] if proposed is None else [proposed.capacity_bytes]
    for wanted in candidate_sizes(present, smallest=smallest, largest=largest, also=also):
        if wanted == present:
            continue
        changes = redo.variable_changes_for_capacity(version, variables, wanted)
        capacity = redo.capacity_after(version, variables, status, changes)
        try:
            limits = redo.limits_in_force(version, variables, capacity_bytes=capacity)
        except redo.RedoUnknown:
            continue  # So small that the server would refuse to start.
        found.setdefault(capacity, Candidate(capacity, limits))
    return [found[capacity] for capacity in sorted(found)]


def proposed_capacity(server: Server, snapshot: Snapshot) -> Proposed | None:
    """What a recommendation that is open proposes for the redo log's size; None where none does."""
    rows = Recommendation.objects.filter(server=server, state__in=PENDING, rule__startswith=RULE_TOPIC)
    for row in rows:
        changes = _changes(row)
        if changes:
            capacity = redo.capacity_after(snapshot.identity.version, snapshot.variables, snapshot.status, changes)
            return Proposed(row, capacity)
    return None


def changes_for(snapshot: Snapshot, capacity_bytes: int) -> tuple[SetVariable, ...]:
    """The variables to set for a capacity, as a proposal."""
    changes = redo.variable_changes_for_capacity(snapshot.identity.version, snapshot.variables, capacity_bytes)
    return tuple(SetVariable(name, value) for name, value in changes.items())


def hour_rates(digests: Sequence[HourlyDigest]) -> list[float]:
    """Redo bytes of each hour that was observed but for a twentieth of it, as of a whole hour."""
    whole = [one for one in digests if one.seconds >= HIGH_COVERAGE * HOUR]
    return [one.redo_written_bytes * HOUR / one.seconds for one in whole]


def _changes(row: Recommendation) -> dict[str, int]:
    document: Mapping[str, Any] = row.document if isinstance(row.document, dict) else {}
    return {
        str(change["name"]): int(change["proposed"])
        for change in document.get("changes", ())
        if change.get("name") in _CAPACITY and str(change.get("proposed", "")).isdigit()
    }


def _known_peak(server: Server, end: float) -> float:
    """The busiest hour of the week before ``end``, in bytes per second; 0 where no hour is known."""
    return max(hour_rates(store().digests(server.pk, end - _PEAK_SECONDS, end)), default=0.0) / HOUR


def _measured(server: Server, start: float, end: float) -> tuple[float, float, float] | None:
    """95th percentile of the pressure, share of time above async and at the limit, from every poll of the range: the
    figures of the occupancy chart. None where no pressure is known.
    """
    times = store().pressure_times(server.pk, start, end)
    if not times.seconds:
        return None
    return pressure_p95(times), times.above_async_seconds / times.seconds, times.at_limit_seconds / times.seconds


def pressure_p95(times: PressureTimes) -> float:
    """The 95th percentile of the pressure, at most 1. A cell's middle may lie below the limit at which writers stood
    for more than a twentieth of the time: that share is exact, so that it decides.
    """
    p95 = weighted_percentile(times.histogram, PRESSURE_STEP, 0.95)
    return min(max(p95, AT_LIMIT if times.at_limit_seconds > 0.05 * times.seconds else 0.0), 1.0)
