"""What was observed on purpose, as the engine judges it: for ``advise``, for recordings, and for tests on servers."""

from __future__ import annotations

from datetime import UTC, datetime

from advisor.engine.observation import HostFacts, Observation
from advisor.mysql.rates import Interval, intervals
from collector import snapshots
from collector.observe import Observed


def observation(observed: Observed, host: HostFacts) -> Observation:
    """What the engine judges: a person chose the window, so that harm seen in it counts."""
    return Observation(
        snapshot=observed.last,
        intervals=tuple(one for one in intervals(observed.polls) if isinstance(one, Interval)),
        counted=snapshots.counted([snapshots.as_poll(observed.first), snapshots.as_poll(observed.last)]),
        inspection=observed.inspection,
        host=host,
        deliberate=True,
        today=datetime.fromtimestamp(observed.ended_at, UTC).date().isoformat(),
    )
