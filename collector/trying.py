"""Trying many connections side by side, for a bounded time: whoever adds servers wants to know before, not after."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

from collector.importing import Plan
from collector.reports import ConnectionReport, check_connection
from collector.target import Target

#: All of them together. What was not reached by then is told as not tried.
SECONDS = 20.0
AT_ONCE = 16
#: One connection: who needs longer is not refused, only not waited for here.
_DEADLINE_SECONDS = 6.0


def try_all(
    targets: Mapping[int, Target], *, seconds: float = SECONDS, at_once: int = AT_ONCE
) -> dict[int, ConnectionReport]:
    """The reports of those that were tried in time, by the keys of ``targets``. Never more than ``at_once`` are open.

    Each is connected to once, read once and closed, as when a single server is tried.
    """
    found: dict[int, ConnectionReport] = {}

    def one(key: int, target: Target) -> None:
        found[key] = check_connection(target, deadline_seconds=_DEADLINE_SECONDS)

    pool = ThreadPoolExecutor(at_once, thread_name_prefix="try")
    try:
        wait([pool.submit(one, key, target) for key, target in targets.items()], timeout=seconds)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return dict(found)


def tested(plan: Plan) -> Plan:
    """The plan with what connecting to each of its good lines said."""
    reports = try_all({line.number: line.target for line in plan.good})
    return replace(plan, lines=tuple(replace(line, report=reports.get(line.number)) for line in plan.lines))
