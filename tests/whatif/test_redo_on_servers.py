"""The sizing model on the polls of real servers whose log is resized under load: what is left out, which ages count,
and whether the limits it reckons with are those that the server then has.

How near its figures come is measured by `benchmarks/run --sizing`: that depends on how calm the machine is.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from advisor.mysql import redo
from advisor.whatif import history
from advisor.whatif.flushing import FlushSettings
from advisor.whatif.redo import size_redo
from advisor.whatif.sizing import Candidate, CannotTell, Evidence, Objective, Sizing, Verdict, Why
from tests.mysql.test_redo_on_servers import assert_equal_to_the_byte, resize
from tests.servers import DISTRIBUTION_SERVER, start_server
from tests.servers.fixtures import server_params
from tests.whatif.on_servers import MIB, capacity_variable, changing, options_for, samples, watch

SMALL, LARGE, LARGER = 64 * MIB, 192 * MIB, 512 * MIB
SETTLE_SECONDS = 3.0
#: Seconds of load are asked for and not an hour: it is the paths that are tried here.
LITTLE = Evidence(loaded_seconds=1.0, gap_ratio=0.9, p95_error=0.5, mape=3.0)

pytestmark = pytest.mark.ci


@pytest.mark.parametrize("name", server_params([DISTRIBUTION_SERVER, "mysql-9.7"]))
def test_polls_across_a_resize_are_sized_by_the_limits_the_server_then_has(name: str) -> None:
    with start_server(name, options=options_for(name, SMALL)) as server, changing(server, rows=20_000):
        before = watch(server, polls=10, every_seconds=0.5)
        variables, version = before[-1].variables, before[-1].version
        resize(server, capacity_variable(name), LARGE)
        in_force = assert_equal_to_the_byte(server)
        after = watch(server, polls=20, every_seconds=0.5)

    # What the model says of a larger log while it is still small is what the server works with after the resize.
    predicted = redo.limits_in_force(version, variables, capacity_bytes=LARGE)
    assert predicted == in_force
    polled = samples([*before, *after])
    assert set(polled.limit[-5:]) == {float(predicted.effective_sync_bytes)}

    recorded = history.from_samples(
        polled, start=polled.at[0], end=polled.at[-1], settle_seconds=SETTLE_SECONDS, most_steps=len(polled.at)
    )
    resized_at = after[0].at
    kept = [
        index
        for index in range(1, len(polled.at))
        if not resized_at <= polled.at[index] < resized_at + SETTLE_SECONDS and np.isfinite(polled.written[index])
    ]
    assert recorded.capacity_bytes == LARGE
    assert recorded.excluded.resizes == 1
    assert recorded.excluded.resize_seconds > 0
    # Writes are the workload's and count all along; ages count from the settled log of the present size on.
    assert [step.written for step in recorded.steps] == pytest.approx([polled.written[index] for index in kept])
    assert [step.share for step in recorded.steps] == [
        None if polled.at[index] < resized_at else pytest.approx(polled.age[index] / predicted.effective_sync_bytes)
        for index in kept
    ]

    pool = after[-1].numbers["Innodb_buffer_pool_pages_total"]
    settings = FlushSettings.read(version, after[-1].variables, pool)
    candidates = [
        Candidate(size, redo.limits_in_force(version, variables, capacity_bytes=size))
        for size in (SMALL, LARGE, LARGER)
    ]
    with pytest.raises(CannotTell) as refused:
        size_redo(recorded, settings, candidates, objective=Objective())
    assert refused.value.why is Why.LITTLE_LOAD
    assert refused.value.seen == recorded.loaded_seconds < refused.value.wanted
    told = sized_or_refused(recorded, settings, candidates)
    if isinstance(told, Sizing):
        assert_in_order(told)
    else:
        # A load that came and went with the machine's other work is refused, by the figure that was too far off.
        assert told.why in {Why.LITTLE_LOAD, Why.BACK_TEST, Why.AGES}
        assert (told.seen < told.wanted) is (told.why is Why.LITTLE_LOAD)


def sized_or_refused(
    recorded: history.Recorded, settings: FlushSettings, candidates: list[Candidate]
) -> Sizing | CannotTell:
    try:
        return size_redo(recorded, settings, candidates, objective=Objective(), evidence=LITTLE)
    except CannotTell as reason:
        return reason


def assert_in_order(sizing: Sizing) -> None:
    """Each figure has its better end first; one size at most is the smallest, larger ones follow it."""
    assert [one.measured for one in sizing.sizes] == [False, True, False]
    assert [one.disk_bytes for one in sizing.sizes] == [SMALL - LARGE, 0, LARGER - LARGE]
    for row in sizing.sizes:
        for band in (row.p95, row.above_async, row.waiting):
            assert 0.0 <= band.low <= band.high <= 1.0
        assert 0.0 <= row.recovery_seconds.low <= row.recovery_seconds.high < math.inf
    found = [row.verdict for row in sizing.sizes]
    assert Verdict.MORE not in found or Verdict.SMALLEST in found[: found.index(Verdict.MORE)]
    assert all(later is Verdict.MORE for one, later in pairwise(found) if one is Verdict.SMALLEST)
