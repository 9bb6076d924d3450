"""Made-up histories of a server's redo and load: what a change does to them is known, since it was put in.

The server is the small model that the words of the product describe: work writes redo, flushing advances the checkpoint
the faster the fuller the log is, a page that is changed twice before it is flushed is written once (so that a longer
log writes fewer pages), and at the limit writers wait for the checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from advisor.engine.units import MIB
from advisor.engine.verdict import Judgement, judge
from advisor.engine.verdict_metrics import aims_of
from advisor.engine.verdict_windows import Settle, settled_at, windows
from advisor.mysql import series
from advisor.mysql.rates import Interval, intervals
from advisor.mysql.snapshot import Poll

#: When the change is made, and how far apart polls are.
CHANGED_AT, SPACING = 1_700_000_000.0, 10
BEFORE_SECONDS, AFTER_SECONDS = 3600, 1800


@dataclass(frozen=True)
class Server:
    """``limit`` is the most that the age may become, ``pages`` how many pages a second flushing writes at most.

    ``demand`` is transactions a second as a function of the seconds since the change; ``noise`` how its level wanders
    (standard deviation of the logarithm; a level lasts about a minute), ``bursts`` the chance of a second to be a batch
    of eight times as much.
    """

    limit: float = 160.0 * MIB
    pages: float = 900.0
    demand: Callable[[float], float] = lambda since: 40.0
    noise: float = 0.08
    bursts: float = 0.01
    redo_per_transaction: float = 100.0 * 1024


def swinging(since: float) -> float:
    """A load that rises and falls by a third within five minutes, as the demo's does."""
    return 40.0 * (1 + 0.35 * math.sin(2 * math.pi * since / 300))


def history(
    server: Server,
    *,
    after: Server | None = None,
    seed: int,
    restart_at: float | None = None,
) -> list[Interval]:
    """An hour before the change and half an hour after it. ``restart_at`` is seconds since the change."""
    dice = np.random.default_rng(seed)
    level, age, lsn, work, flushed, up = 0.0, 0.3 * server.limit, 10e9, 0.0, 0.0, 500_000
    polls = []
    present = server
    for since in range(-BEFORE_SECONDS, AFTER_SECONDS + 1):
        if since == 0 and after is not None:
            # A resize leaves nearly nothing in the log; another change leaves the age as it is.
            age = 1000.0 if after.limit != present.limit else age
            present = after
        level = 0.98 * level + math.sqrt(1 - 0.98**2) * present.noise * float(dice.normal())
        wanted = present.demand(since) * math.exp(level) * (8.0 if dice.random() < present.bursts else 1.0)
        written = float(dice.poisson(wanted)) * present.redo_per_transaction
        fill = age / present.limit
        speed = present.pages * min(max((fill - 0.1) / 0.8, 0.0), 1.0) ** 2
        # What a page saves by waiting: changed again before it is flushed.
        per_page = 16_384 * (1 + age / (48 * MIB)) * (0.4 + 0.6 * float(dice.random()))
        room = present.limit - age + speed * per_page
        written = min(written, max(room, 0.2 * present.redo_per_transaction))
        running = 1 + float(dice.poisson(0.05 * written / present.redo_per_transaction)) + (8 if fill > 0.99 else 0)
        advanced = min(speed * per_page, age + written)
        age = age + written - advanced
        lsn, work, flushed = lsn + written, work + written / present.redo_per_transaction, flushed + speed
        up = 5 if restart_at is not None and since == restart_at else up + 1
        if since % SPACING:
            continue
        at = CHANGED_AT + since
        values = {
            series.TRANSACTIONS: int(work), series.TRANSACTIONS_METHOD: 4, "Questions": int(work * 12),
            series.LSN: int(lsn), series.CHECKPOINT_LSN: int(lsn - age), series.CHECKPOINT_AGE: int(age),
            series.EFFECTIVE_ASYNC_POINT: 0.875 * present.limit, series.PRESSURE: age / present.limit,
            series.CAPACITY: int(1.25 * present.limit), "Threads_running": running,
            "Innodb_buffer_pool_pages_flushed": int(flushed), "Com_rollback": int(work / 500),
        }  # fmt: skip
        polls.append(Poll(at, at, up, values, "server"))
    return [one for one in intervals(polls) if isinstance(one, Interval)]


def judged(
    found: list[Interval],
    *,
    variable: str = "innodb_redo_log_capacity",
    until: float = AFTER_SECONDS,
    longest: float = 900,
    restart: bool = False,
) -> Judgement:
    """The verdict on the change, as it is reached at ``until`` seconds after it."""
    seen = [one for one in found if one.ended_at <= CHANGED_AT + until]
    settled = settled_at(seen, CHANGED_AT, Settle())
    if settled is None:
        return judge(None)
    chosen = windows(seen, began_at=CHANGED_AT, settled_at=settled, until=CHANGED_AT + until, longest=longest)
    return judge(chosen, aims=aims_of([variable]), restart=restart)


__all__ = ["AFTER_SECONDS", "CHANGED_AT", "Server", "history", "judged", "replace", "swinging"]
