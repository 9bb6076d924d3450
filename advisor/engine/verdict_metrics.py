"""What is looked at to say whether a change helped: each metric, which way is better, and what a change is meant to do.

A metric is a quotient of two sums over the intervals of a window, or a percentile over its time, so that it can be
drawn again by a bootstrap over pieces of the window. Those about speed are per unit of work (a transaction, a MiB of
redo), since twice the load does twice of everything and no setting is to blame for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from advisor.engine.units import MIB, Unit
from advisor.engine.verdict_course import Cells, Course, Parts
from advisor.mysql import series
from advisor.mysql.counters import FLUSHED_BY_REASON

#: From this share of the limit on writers are held up (the facts of the redo rules use the same).
AT_LIMIT = 0.99
#: Below this a log has room left, and how much of it is filled harms nobody.
_ROOM_LEFT = 0.7
#: The first one that a server counts tells how often user threads waited for redo space or for clean pages.
_REDO_WAITS = ("log_on_file_space_waits", "buffer_flush_sync_waits")


class Scale(StrEnum):
    """How two figures are held against each other: an amount by its factor, a share by its difference."""

    AMOUNT = "amount"
    SHARE = "share"


@dataclass(frozen=True)
class Metric:
    """``least`` is what smaller changes mean nothing: a share of the figure for amounts, absolute for shares. An amount
    that stays below ``negligible`` in both windows is no difference however it moved.

    ``better`` is -1 where less is better, +1 where more is, 0 where neither is. ``with_load`` is +1 where the metric
    rises by itself as the load does, -1 where it falls, 0 where the load does not touch it. A ``guard`` is watched
    whatever was changed.
    """

    id: str
    title: str
    unit: Unit
    scale: Scale
    least: float
    better: int
    with_load: int
    guard: bool = False
    negligible: float = 0.0


def parts_of(metric: Metric, course: Course) -> Parts | Cells | None:
    """The sums behind the metric over the pieces of a window; None where the server does not tell it."""
    return _READ[metric.id](course)


def _share_above(course: Course, limit: str) -> Parts | None:
    age, point = course.last(series.CHECKPOINT_AGE), course.last(limit)
    if age is None or point is None:
        return None
    return course.parts((age >= point) * course.seconds, course.seconds)


def _at_limit(course: Course) -> Parts | None:
    pressure = course.last(series.PRESSURE)
    return None if pressure is None else course.parts((pressure >= AT_LIMIT) * course.seconds, course.seconds)


def _pressure(course: Course) -> Cells | None:
    pressure = course.last(series.PRESSURE)
    return None if pressure is None else course.cells(pressure, 0.95)


def _grown(course: Course, name: str, per: str, unit: float = 1.0) -> Parts | None:
    """By how much one counter grew for each ``unit`` of another."""
    amount, whole = course.grown(name), course.work if per == "work" else course.grown(per)
    return None if amount is None or whole is None else course.parts(amount, whole / unit)


def _rate(course: Course, name: str) -> Parts | None:
    amount = course.work if name == "work" else course.grown(name)
    return None if amount is None else course.parts(amount, course.seconds)


def _first_grown(course: Course, names: Iterable[str], per: str, unit: float = 1.0) -> Parts | None:
    return next((found for name in names if (found := _grown(course, name, per, unit)) is not None), None)


def _running(course: Course) -> Parts | None:
    """Threads at work but our own, which asks."""
    running = course.last("Threads_running")
    return None if running is None else course.parts((running - 1).clip(0) * course.seconds, course.seconds)


def _time_per_work(course: Course) -> Parts | None:
    """Little's law: threads at work divided by what they complete in a second is how long one takes."""
    running, work = course.last("Threads_running"), course.work
    if running is None or work is None:
        return None
    return course.parts((running - 1).clip(0) * course.seconds, work)


def _mean(course: Course, name: str) -> Parts | None:
    value = course.last(name)
    return None if value is None else course.parts(value * course.seconds, course.seconds)


_SHARE, _AMOUNT = Scale.SHARE, Scale.AMOUNT
ABOVE_ASYNC = Metric("above_async", "time above the async point", Unit.RATIO, _SHARE, 0.10, -1, +1, guard=True)
WAITING = Metric("at_limit", "time at the limit, where writers wait", Unit.RATIO, _SHARE, 0.05, -1, +1, guard=True)
PRESSURE = Metric(
    "pressure_p95", "checkpoint age against its limit, 95th percentile", Unit.RATIO, _AMOUNT, 0.10, -1, +1,
    guard=True, negligible=_ROOM_LEFT,
)  # fmt: skip
REDO_WAITS = Metric(
    "redo_waits", "waits for redo space or clean pages, per transaction", Unit.COUNT, _AMOUNT, 0.5, -1, +1,
    guard=True, negligible=0.01,
)  # fmt: skip
TIME_PER_WORK = Metric(
    "time_per_work", "time in the server per transaction", Unit.SECONDS, _AMOUNT, 0.35, -1, +1,
    guard=True, negligible=0.0005,
)  # fmt: skip
RUNNING = Metric(
    "threads_running", "threads running", Unit.COUNT, _AMOUNT, 0.5, -1, +1, guard=True, negligible=2.0
)  # fmt: skip
ROLLED_BACK = Metric(
    "rolled_back", "transactions rolled back, share", Unit.RATIO, _SHARE, 0.01, -1, +1, guard=True
)  # fmt: skip
PAGES_PER_REDO = Metric(
    "pages_per_redo", "pages written per MiB of redo", Unit.COUNT, _AMOUNT, 0.15, -1, -1, negligible=0.5
)  # fmt: skip
SYNC_PAGES = Metric(
    "sync_pages", "pages flushed synchronously, per MiB of redo", Unit.COUNT, _AMOUNT, 0.5, -1, +1, negligible=0.5
)
FREE_WAITS = Metric(
    "free_waits", "waits for a free page, per transaction", Unit.COUNT, _AMOUNT, 0.5, -1, +1, negligible=0.01
)  # fmt: skip
BUFFER_WAITS = Metric(
    "log_buffer_waits", "waits for the log buffer, per transaction", Unit.COUNT, _AMOUNT, 0.5, -1, +1, negligible=0.001
)  # fmt: skip
HISTORY = Metric(
    "history_length", "history list length", Unit.COUNT, _AMOUNT, 0.3, -1, +1, negligible=10_000
)  # fmt: skip
FSYNCS = Metric("fsyncs", "fsyncs per transaction", Unit.COUNT, _AMOUNT, 0.2, -1, -1, negligible=0.05)
WORK = Metric("work", "transactions per second", Unit.PER_SECOND, _AMOUNT, 0.25, 0, +1)
REDO = Metric("redo", "redo written per second", Unit.BYTES_PER_SECOND, _AMOUNT, 0.25, 0, +1)
ADVANCE = Metric("advance", "checkpoint advance for each byte of redo", Unit.RATIO, _AMOUNT, 0.2, 0, 0)
DIRTY = Metric("dirty", "dirty pages of the buffer pool, percent", Unit.COUNT, _AMOUNT, 0.3, 0, +1)

METRICS: tuple[Metric, ...] = (
    ABOVE_ASYNC, WAITING, PRESSURE, REDO_WAITS, TIME_PER_WORK, RUNNING, ROLLED_BACK, PAGES_PER_REDO, SYNC_PAGES,
    FREE_WAITS, BUFFER_WAITS, HISTORY, FSYNCS, ADVANCE, DIRTY,
)  # fmt: skip

_READ: dict[str, Callable[[Course], Parts | Cells | None]] = {
    "above_async": lambda course: _share_above(course, series.EFFECTIVE_ASYNC_POINT),
    "at_limit": _at_limit,
    "pressure_p95": _pressure,
    "redo_waits": lambda course: _first_grown(course, _REDO_WAITS, "work"),
    "time_per_work": _time_per_work,
    "threads_running": _running,
    "rolled_back": lambda course: _grown(course, "Com_rollback", "work"),
    "pages_per_redo": lambda course: _grown(course, "Innodb_buffer_pool_pages_flushed", series.LSN, MIB),
    "sync_pages": lambda course: _grown(course, FLUSHED_BY_REASON["sync"], series.LSN, MIB),
    "free_waits": lambda course: _grown(course, "Innodb_buffer_pool_wait_free", "work"),
    "log_buffer_waits": lambda course: _grown(course, "Innodb_log_waits", "work"),
    "history_length": lambda course: _mean(course, "trx_rseg_history_len"),
    "fsyncs": lambda course: _grown(course, "Innodb_data_fsyncs", "work"),
    "work": lambda course: _rate(course, "work"),
    "redo": lambda course: _rate(course, series.LSN),
    "advance": lambda course: _grown(course, series.CHECKPOINT_LSN, series.LSN),
    "dirty": lambda course: _mean(course, series.DIRTY_PERCENT),
}

#: What a change of each system variable is meant to make better. What is not here is judged by the guards alone.
_REDO_SIZE = (ABOVE_ASYNC, WAITING, PRESSURE, REDO_WAITS, SYNC_PAGES, PAGES_PER_REDO)
_FLUSHING = (ABOVE_ASYNC, WAITING, PRESSURE, REDO_WAITS, SYNC_PAGES, FREE_WAITS)
AIMS: dict[str, tuple[Metric, ...]] = {
    "innodb_redo_log_capacity": _REDO_SIZE,
    "innodb_log_file_size": _REDO_SIZE,
    "innodb_log_files_in_group": _REDO_SIZE,
    "innodb_io_capacity": _FLUSHING,
    "innodb_io_capacity_max": _FLUSHING,
    "innodb_adaptive_flushing": _FLUSHING,
    "innodb_adaptive_flushing_lwm": _FLUSHING,
    "innodb_flushing_avg_loops": _FLUSHING,
    "innodb_flush_sync": _FLUSHING,
    "innodb_page_cleaners": _FLUSHING,
    "innodb_lru_scan_depth": (FREE_WAITS,),
    "innodb_flush_neighbors": (PAGES_PER_REDO,),
    "innodb_max_dirty_pages_pct": (*_FLUSHING, PAGES_PER_REDO),
    "innodb_max_dirty_pages_pct_lwm": (*_FLUSHING, PAGES_PER_REDO),
    "innodb_log_buffer_size": (BUFFER_WAITS,),
    "innodb_buffer_pool_size": (FREE_WAITS, TIME_PER_WORK),
    "innodb_purge_threads": (HISTORY,),
    "innodb_max_purge_lag": (HISTORY,),
    "innodb_purge_batch_size": (HISTORY,),
    "innodb_flush_log_at_trx_commit": (FSYNCS, TIME_PER_WORK),
    "sync_binlog": (FSYNCS, TIME_PER_WORK),
}
#: Rules whose proposal is not about speed: a log that is made smaller, or a commit that is made safe, is right if
#: nothing got worse.
AIMLESS_RULES = frozenset(
    {
        "redo.redo-log-oversized",
        "redo.log-buffer-oversized",
        "durability.commit-not-durable",
        "flushing.io-capacity-above-device",
        "flushing.io-capacity-max-too-high",
        "flushing.lru-scan-depth-excessive",
    }
)


def aims_of(variables: Iterable[str], rules: Iterable[str] = ()) -> tuple[Metric, ...]:
    """What a change of these variables, proposed by these rules, is meant to make better; each metric once."""
    rules = tuple(rules)
    if rules and all(rule in AIMLESS_RULES for rule in rules):
        return ()
    found = {metric.id: metric for name in variables for metric in AIMS.get(name.lower(), ())}
    return tuple(found.values())
