"""The series that are derived from one reading of a server, under the names of ``advisor.mysql.series``.

Both tiers use it, so that a chart and a rule can never disagree about what the age or the pressure was.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.mysql import redo, series
from advisor.mysql.counters import transactions_method
from advisor.mysql.snapshot import Number
from advisor.mysql.version import ServerVersion


def derive(
    server: ServerVersion,
    *,
    variables: Mapping[str, str],
    status: Mapping[str, Number],
    metrics: Mapping[str, Number] | None = None,
    innodb_status: str | None = None,
) -> dict[str, Number]:
    """Checkpoint age, its limits, pressure, capacity, transactions and dirty pages, as far as they can be told.

    ``status`` holds numbers only, ``metrics`` enabled innodb_metrics counters only; ``variables`` may be some seconds
    older than both. What cannot be told is left out.
    """
    metrics = metrics or {}
    result: dict[str, Number] = {}
    limits: redo.RedoLimits | None = None
    if redo.has_redo_log(server):
        try:
            result[series.CAPACITY] = redo.capacity_in_force(server, variables, status)
            limits = redo.limits_in_force(server, variables, status, metrics)
        except redo.RedoUnknown:
            limits = None
    if limits is not None:
        result[series.ASYNC_POINT] = limits.async_point_bytes
        if limits.sync_point_bytes is not None:
            result[series.SYNC_POINT] = limits.sync_point_bytes
        result[series.MAXIMUM_AGE] = limits.maximum_bytes
        result[series.EFFECTIVE_ASYNC_POINT] = limits.effective_async_bytes
        result[series.EFFECTIVE_SYNC_POINT] = limits.effective_sync_bytes
        result[series.LIMITS_REPORTED] = 1.0 if limits.origin == "reported" else 0.0
    reading = redo.reading(server, status=status, metrics=metrics, variables=variables, innodb_status=innodb_status)
    if reading is not None:
        result[series.LSN] = reading.lsn
        result[series.CHECKPOINT_LSN] = reading.checkpoint_lsn
        result[series.CHECKPOINT_AGE] = reading.age_bytes
        if limits is not None:
            result[series.PRESSURE] = limits.pressure(reading.age_bytes)
    method = transactions_method(
        {**status, **metrics},
        enabled_metrics=metrics.keys(),
        log_bin=variables.get("log_bin", "").upper() in {"ON", "1"},
    )
    transactions = method.total({**status, **metrics})
    if transactions is not None:
        result[series.TRANSACTIONS] = transactions
        result[series.TRANSACTIONS_METHOD] = method.code
    dirty_percent = _dirty_percent(status)
    if dirty_percent is not None:
        result[series.DIRTY_PERCENT] = dirty_percent
    return result


def _dirty_percent(status: Mapping[str, Number]) -> float | None:
    """Dirty pages in percent of data and free pages: what InnoDB compares with innodb_max_dirty_pages_pct and _lwm."""
    dirty = status.get("Innodb_buffer_pool_pages_dirty")
    data = status.get("Innodb_buffer_pool_pages_data")
    free = status.get("Innodb_buffer_pool_pages_free")
    if dirty is None or data is None or free is None or data + free <= 0:
        return None
    return 100.0 * dirty / (data + free)
