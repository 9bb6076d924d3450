"""How one server's fast poll is asked: made from its newest snapshot, so that the poll asks for nothing twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from advisor.mysql import redo
from advisor.mysql.counters import FAST_METRIC_NAMES, FLUSHED_BY_REASON, enabled_counts, fast_status_names
from advisor.mysql.snapshot import Snapshot
from advisor.mysql.version import ServerVersion
from collector.connection import Connection
from collector.numbers import numbers


class Second(StrEnum):
    """The one statement that a fast poll may need beside SHOW GLOBAL STATUS."""

    NONE = "none"
    METRICS = "metrics"
    INNODB_STATUS = "innodb_status"


#: Worth a second statement of their own where they are on: nothing else tells these. (The counter of LRU flushing
#: is on by
#: default on MariaDB, and alone it is not worth doubling the poll.)
_WORTH_ASKING = frozenset(FLUSHED_BY_REASON[reason] for reason in ("adaptive", "background", "sync")) | {
    "trx_rw_commits",
    "log_on_file_space_waits",
}

#: What the redo limits are computed from, and the method of counting transactions is chosen by.
_VARIABLES = (
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_redo_log_capacity",
    "innodb_page_size",
    "innodb_thread_concurrency",
    "log_bin",
)


@dataclass(frozen=True)
class FastPlan:
    """What to ask, and what is known from the snapshot. Kept for as long as the server's snapshots stay alike."""

    server: ServerVersion
    identity: str
    hostname: str
    port: int
    names: tuple[str, ...]
    metrics: tuple[str, ...]
    second: Second
    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot) -> FastPlan:
        """The plan for the server that the snapshot was taken of."""
        server = snapshot.identity.version
        enabled = enabled_counts(snapshot.metrics)
        metrics = tuple(name for name in FAST_METRIC_NAMES if name in enabled)
        age_in_status = redo.reading(server, status=numbers(snapshot.status)) is not None
        if not age_in_status and redo.has_redo_log(server):
            # The age is worth more than flushing by reason, and a third statement is not asked.
            if redo.reading(server, metrics={name: enabled[name] for name in metrics}) is not None:
                second = Second.METRICS
            elif _readable(snapshot):
                second = Second.INNODB_STATUS
            else:
                second = Second.METRICS if _WORTH_ASKING & set(metrics) else Second.NONE
        else:
            second = Second.METRICS if _WORTH_ASKING & set(metrics) else Second.NONE
        return cls(
            server=server,
            identity=snapshot.identity.fingerprint,
            hostname=snapshot.variables.get("hostname", ""),
            port=snapshot.identity.port,
            names=fast_status_names(server),
            metrics=metrics if second is Second.METRICS else (),
            second=second,
            variables={name: snapshot.variables[name] for name in _VARIABLES if name in snapshot.variables},
        )

    def fits(self, connection: Connection) -> bool:
        """Whether the connection leads to the server that the plan was made for, as far as its greeting tells."""
        return (connection.hostname, connection.port, connection.version_text) == (
            self.hostname,
            self.port,
            self.server.text,
        )

    @property
    def status_sql(self) -> str:
        quoted = ", ".join(f"'{name}'" for name in self.names)
        return f"SHOW GLOBAL STATUS WHERE Variable_name IN ({quoted})"

    @property
    def metrics_sql(self) -> str:
        quoted = ", ".join(f"'{name}'" for name in self.metrics)
        newer = self.server.is_mariadb and self.server.number >= (10, 5, 0)
        state = "ENABLED" if newer else "STATUS = 'enabled'"
        # Nothing of it comes from outside: names are ours, and the state is one of two.
        return f"SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ({quoted}) AND {state}"  # noqa: S608


def _readable(snapshot: Snapshot) -> bool:
    """Whether SHOW ENGINE INNODB STATUS was answered, so that asking again is worth the while."""
    probe = snapshot.probe("innodb_status")
    return probe is not None and probe.state.value == "ok"
