"""Defaults that this server runs on are others in the next version.

Why it matters
    What was never set changes by itself on the day of the upgrade: character sets, the isolation of reads, how much is
    flushed, whether a binary log is written. Writing down today's value, or deciding for the new one, before the
    upgrade takes a minute; finding out afterwards takes a day.

How it is computed
    The variables of a list that matter (character set and collation, sql_mode, time stamps, binary log, GTIDs,
    isolation, flushing, logs, authentication) which nobody set here and whose default is another in the next long-term
    version. It is said from a year before the support of this version ends.

When to dismiss it
    The changes were looked at and the new defaults are wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.upgrade import NextVersion, named
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import DAY, Quantity, Unit
from advisor.mysql.proposal import UpgradeAdvice
from advisor.mysql.upgrade import UpgradeKind

#: Whose new default changes results, safety or speed for somebody who never set it.
MATTER = frozenset(
    {
        "authentication_policy",
        "binlog_expire_logs_seconds",
        "binlog_format",
        "binlog_row_metadata",
        "character_set_server",
        "collation_server",
        "default_authentication_plugin",
        "enforce_gtid_consistency",
        "event_scheduler",
        "explicit_defaults_for_timestamp",
        "gtid_mode",
        "innodb_adaptive_hash_index",
        "innodb_autoinc_lock_mode",
        "innodb_change_buffering",
        "innodb_doublewrite_pages",
        "innodb_flush_method",
        "innodb_flush_neighbors",
        "innodb_io_capacity",
        "innodb_io_capacity_max",
        "innodb_log_buffer_size",
        "innodb_max_dirty_pages_pct",
        "innodb_max_dirty_pages_pct_lwm",
        "innodb_snapshot_isolation",
        "innodb_undo_log_truncate",
        "local_infile",
        "log_bin",
        "max_allowed_packet",
        "optimizer_switch",
        "replica_parallel_workers",
        "replica_preserve_commit_order",
        "slave_parallel_mode",
        "slave_parallel_workers",
        "sql_mode",
        "table_open_cache",
        "transaction_write_set_extraction",
        "use_stat_tables",
    }
)


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When an upgrade has to be planned."""

    planning_seconds: float = threshold(
        365 * DAY, unit=Unit.SECONDS, meaning="time before the end of support from which an upgrade is planned"
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/upgrading-from-previous-series.html",
        "https://mariadb.com/docs/server/server-management/install-and-upgrade-mariadb/upgrading",
    ],
)


@rule.check
def check(following: NextVersion, p: Parameters) -> Finding | Passed:
    changed = [one for one in following.changes(UpgradeKind.DEFAULT_CHANGED) if one.variable in MATTER]
    figures = (
        Measured("next long-term version", following.name, Unit.TEXT, None, "vendor's calendar"),
        Measured("defaults that change and matter", len(changed), Unit.COUNT, None, "catalogue"),
    )
    if not changed or following.days_left * DAY > p.planning_seconds:
        return Passed(figures)
    told = named([f"{one.variable} {_short(one.old_default)} → {_short(one.new_default)}" for one in changed])
    return Finding(
        (
            Item(
                message=Message(
                    "{count} defaults that this server runs on are others in {version}",
                    {
                        "count": Quantity(len(changed), Unit.COUNT),
                        "version": Quantity(following.name, Unit.TEXT),
                    },
                ),
                evidence=(*figures, Measured("which ones", told, Unit.TEXT, None, "catalogue")),
                proposal=(
                    UpgradeAdvice(
                        following.name, f"decide on these before it, and write today's value where it must stay: {told}"
                    ),
                ),
            ),
        )
    )


def _short(value: str | None) -> str:
    """A value in a list: long ones cut, and what depends on the machine called so."""
    if value is None:
        return "by the machine"
    return (value if len(value) <= 40 else f"{value[:39]}…") or "empty"


rule.fires("MySQL 5.7 on its defaults", scene("mysql 5.7.22", today="2026-11-01"))
rule.fires("MariaDB 10.5 on its defaults", scene("mariadb 10.5.23", today="2026-11-01"))
rule.passes("MariaDB 10.11, supported for more than a year", scene("mariadb 10.11.18", today="2026-11-01"))
