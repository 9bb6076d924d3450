"""All probes, in the order in which they are asked: one file each, its query first.

None of them walks over the metadata of tables, and none locks or waits for anything of the server's users.
"""

from __future__ import annotations

from collector.probes import (
    grants,
    innodb_metrics,
    innodb_status,
    performance_schema,
    plugins,
    replication,
    status,
    variable_origins,
    variables,
)
from collector.probes.probe import Found, Probe

#: Variables first, since they tell the version; replication last, since it may block.
PROBES: tuple[Probe, ...] = (
    variables.PROBE,
    status.PROBE,
    innodb_metrics.PROBE,
    innodb_status.PROBE,
    variable_origins.PROBE,
    performance_schema.PROBE,
    plugins.PROBE,
    grants.PROBE,
    replication.PROBE,
)

__all__ = ["PROBES", "Found", "Probe"]
