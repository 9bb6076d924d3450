"""The sizing model against real servers: what it says of a larger log under a small one, and what that log then does.

One size for a minute and more, then the same load under three times as much; the table of docs/whatif.md is made of
such runs. What it tells depends on how even the machine is meanwhile, so that no test asks for it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.mysql import redo
from advisor.whatif import history
from advisor.whatif.calibration import percentile
from advisor.whatif.flushing import FlushSettings
from advisor.whatif.redo import size_redo
from advisor.whatif.sizing import Candidate, CannotTell, Evidence, Objective, Range
from tests.servers import DISTRIBUTION_SERVER, start_server
from tests.whatif.on_servers import MIB, Poll, capacity_variable, changing, options_for, samples, watch

DEFAULT_SERVERS = (DISTRIBUTION_SERVER, "mysql-9.7")
SMALL, LARGE = 64 * MIB, 192 * MIB
ROWS = 60_000
WARM_SECONDS, SETTLE_SECONDS, WATCHED_POLLS, POLL_SECONDS = 30.0, 30.0, 40, 2.0
#: A minute under a log of this size is a handful of saw-teeth: the back-test may be off by more than it may be on a
#: page, and the band is the wider for it.
EVIDENCE = Evidence(loaded_seconds=WATCHED_POLLS * POLL_SECONDS / 2, p95_error=0.3, mape=2.0)


@dataclass(frozen=True)
class Tried:
    """One server's row: 95th percentiles of the age as shares of the limit. ``refused`` where the model gave none."""

    name: str
    small: float
    predicted: Range | None
    measured: float
    back_test: float
    refused: str = ""

    @property
    def within(self) -> bool:
        return self.predicted is not None and self.predicted.low <= self.measured <= self.predicted.high


def larger_log_as_predicted(folder: Path, names: Sequence[str] = DEFAULT_SERVERS) -> str:
    """The table over these servers, one after the other; about three and a half minutes each."""
    tried = []
    for name in names:
        print(f"... a larger log on {name}", file=sys.stderr)
        tried.append(_try(name))
    return "\n".join(["| server | with 64 MiB | predicted for 192 MiB | measured | within | back-test off by |",
                      "|---|---|---|---|---|---|", *map(_line, tried)])  # fmt: skip


def _try(name: str) -> Tried:
    with start_server(name, options=options_for(name, SMALL)) as server, changing(server, rows=ROWS):
        time.sleep(WARM_SECONDS)
        before = watch(server, polls=WATCHED_POLLS, every_seconds=POLL_SECONDS)
        server.sql(f"SET GLOBAL {capacity_variable(name)} = {LARGE}")
        time.sleep(SETTLE_SECONDS)
        after = watch(server, polls=WATCHED_POLLS, every_seconds=POLL_SECONDS)
    recorded, done = _recorded(before), _recorded(after)
    if done.capacity_bytes != LARGE:
        raise RuntimeError(f"{name} did not resize its log within {SETTLE_SECONDS:.0f} s")
    small, measured = (percentile(one.known_shares(), 0.95) for one in (recorded, done))
    last = before[-1]
    settings = FlushSettings.read(last.version, last.variables, last.numbers["Innodb_buffer_pool_pages_total"])
    candidates = [
        Candidate(size, redo.limits_in_force(last.version, last.variables, capacity_bytes=size))
        for size in (SMALL, LARGE)
    ]
    try:
        sizing = size_redo(recorded, settings, candidates, objective=Objective(), evidence=EVIDENCE)
    except CannotTell as reason:
        return Tried(name, small, None, measured, reason.seen, str(reason.why))
    return Tried(name, small, sizing.sizes[-1].p95, measured, sizing.back_test.p95_error)


def _recorded(polls: list[Poll]) -> history.Recorded:
    polled = samples(polls)
    return history.from_samples(polled, start=polled.at[0], end=polled.at[-1])


def _line(one: Tried) -> str:
    if one.predicted is None:
        return (
            f"| {one.name} | {one.small:.2f} | refused: {one.refused} | {one.measured:.2f} |  | {one.back_test:.2f} |"
        )
    band = f"{one.predicted.low:.2f} – {one.predicted.high:.2f}"
    within = "yes" if one.within else "**no**"
    return f"| {one.name} | {one.small:.2f} | {band} | {one.measured:.2f} | {within} | {one.back_test:.2f} |"
