"""Settings that differ between two moments or two servers: normalised, so that two spellings of one value are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.mysql.own_variables import is_own
from advisor.mysql.values import same

#: Variables that every server or every moment has its own of: clocks, positions, and what belongs to a session.
_MOMENTARY = frozenset(
    {
        "error_count",
        "gtid_binlog_pos",
        "gtid_binlog_state",
        "gtid_current_pos",
        "gtid_executed",
        "gtid_purged",
        "gtid_slave_pos",
        "identity",
        "in_transaction",
        "innodb_buffer_pool_load_abort",
        "insert_id",
        "last_gtid",
        "last_insert_id",
        "pseudo_thread_id",
        "rand_seed1",
        "rand_seed2",
        "statement_id",
        "timestamp",
        "warning_count",
    }
)
#: The version is told apart from the settings.
_VERSION = frozenset({"innodb_version", "version", "version_source_revision"})


@dataclass(frozen=True)
class SettingDifference:
    """A system variable before and after; None where that side does not have it."""

    name: str
    before: str | None
    after: str | None


def differing(before: Mapping[str, str], after: Mapping[str, str], *, one_server: bool) -> list[SettingDifference]:
    """By name. ``one_server``: whether both are of the same server, so that its places count as settings, too."""
    names = {*before, *after} - _MOMENTARY - _VERSION
    found = []
    for name in sorted(names if one_server else (name for name in names if not is_own(name))):
        left, right = before.get(name), after.get(name)
        if left is None or right is None or not same(left, right):
            found.append(SettingDifference(name, left, right))
    return found
