"""performance_schema leaves out what it has no room for.

Why it matters
    performance_schema sets its memory aside by limits: so many tables, threads, accounts, prepared statements. What is
    beyond a limit is not counted at all, silently: sums are too small, and the table or session that is looked for
    is not there.

How it is computed
    One of the counters Performance_schema_..._lost grew between full snapshots (1 in 100 s or more). Digests have a
    rule of their own; classes are counted once at the start and say nothing later. The limit behind each counter is
    named in the advice: most are sized by themselves unless the option file says otherwise.

When to dismiss it
    What is left out is not looked at by anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.facts.observability import PerformanceSchema
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Lost(Rates):
    """What found no room, per second."""

    performance_schema_accounts_lost: float
    performance_schema_users_lost: float = 0.0
    performance_schema_hosts_lost: float = 0.0
    performance_schema_thread_instances_lost: float = 0.0
    performance_schema_table_instances_lost: float = 0.0
    performance_schema_table_handles_lost: float = 0.0
    performance_schema_table_lock_stat_lost: float = 0.0
    performance_schema_index_stat_lost: float = 0.0
    performance_schema_file_instances_lost: float = 0.0
    performance_schema_file_handles_lost: float = 0.0
    performance_schema_mutex_instances_lost: float = 0.0
    performance_schema_rwlock_instances_lost: float = 0.0
    performance_schema_cond_instances_lost: float = 0.0
    performance_schema_socket_instances_lost: float = 0.0
    performance_schema_metadata_lock_lost: float = 0.0
    performance_schema_prepared_statements_lost: float = 0.0
    performance_schema_nested_statement_lost: float = 0.0
    performance_schema_program_lost: float = 0.0

    def above(self, per_second: float) -> tuple[str, ...]:
        """The counters that grew by as much or more, the fastest first."""
        names = [name for name in self.__dataclass_fields__ if getattr(self, name) >= per_second]
        return tuple(sorted(names, key=lambda name: -getattr(self, name)))


#: The limit behind each counter, by both manuals.
_LIMITS: Mapping[str, str] = {
    "accounts": "performance_schema_accounts_size",
    "users": "performance_schema_users_size",
    "hosts": "performance_schema_hosts_size",
    "thread_instances": "performance_schema_max_thread_instances",
    "table_instances": "performance_schema_max_table_instances",
    "table_handles": "performance_schema_max_table_handles",
    "table_lock_stat": "performance_schema_max_table_lock_stat",
    "index_stat": "performance_schema_max_index_stat",
    "file_instances": "performance_schema_max_file_instances",
    "file_handles": "performance_schema_max_file_handles",
    "mutex_instances": "performance_schema_max_mutex_instances",
    "rwlock_instances": "performance_schema_max_rwlock_instances",
    "cond_instances": "performance_schema_max_cond_instances",
    "socket_instances": "performance_schema_max_socket_instances",
    "metadata_lock": "performance_schema_max_metadata_locks",
    "prepared_statements": "performance_schema_max_prepared_statements_instances",
    "nested_statement": "performance_schema_max_statement_stack",
    "program": "performance_schema_max_program_instances",
}


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How much is too much."""

    lost_per_second: float = threshold(0.01, unit=Unit.PER_SECOND, meaning="things that found no room", leave_at=0.005)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/performance-schema-status-variables.html",
        "https://mariadb.com/docs/server/reference/system-tables/performance-schema/performance-schema-status-variables",
    ],
)


@rule.check
def check(_schema: PerformanceSchema, lost: Lost, p: Parameters) -> Finding | Passed:
    names = lost.above(p.lost_per_second)
    if not names:
        return Passed(lost.measured("performance_schema_accounts_lost", "performance_schema_thread_instances_lost"))
    short = [name.removeprefix("performance_schema_").removesuffix("_lost") for name in names]
    return Finding(
        (
            Item(
                message=Message(
                    "performance_schema left out {rate} {what} a second for want of room",
                    {
                        "rate": Quantity(getattr(lost, names[0]), Unit.COUNT),
                        "what": Quantity(short[0].replace("_", " "), Unit.TEXT),
                    },
                ),
                evidence=lost.measured(*names),
                proposal=(
                    Investigate(
                        "Raise "
                        + ", ".join(_LIMITS[name] for name in short)
                        + " in the option file, or take the line out: -1, the default of most, grows with the need "
                        "(MySQL 5.7 and later; MariaDB sizes it at the start)."
                    ),
                ),
                expected=Message("Sums are whole, and what is looked for is there."),
                would_change_our_mind=Message("Figures that nobody looks at."),
            ),
        )
    )


_ON = {"enabled": True, "consumers": {"global_instrumentation": True}}
rule.fires(
    "More accounts than it has room for",
    scene(
        "mysql 8.0.33",
        counters={"Performance_schema_accounts_lost": 3, "Performance_schema_hosts_lost": 1},
        performance_schema=_ON,
        deliberate=True,
    ),
)
rule.fires(
    "More prepared statements on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        counters={"Performance_schema_accounts_lost": 0, "Performance_schema_prepared_statements_lost": 12},
        performance_schema=_ON,
        deliberate=True,
    ),
)
rule.passes(
    "Room enough",
    scene(
        "mysql 8.0.33",
        counters={"Performance_schema_accounts_lost": 0, "Performance_schema_hosts_lost": 0},
        performance_schema=_ON,
        deliberate=True,
    ),
)
rule.passes(
    "Room enough on MariaDB",
    scene(
        "mariadb 10.11.18",
        {"performance_schema": "ON"},
        counters={"Performance_schema_accounts_lost": 0, "Performance_schema_prepared_statements_lost": 0},
        performance_schema=_ON,
        deliberate=True,
    ),
)
