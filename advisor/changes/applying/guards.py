"""What forbids to begin on a server at this moment: load, lag, a state transfer, a backup or DDL, a full disk.

Nobody overrides these. What the account may not see is noted as unknown and forbids nothing: the change was approved,
and a missing right to look at other people's statements is no reason to refuse it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from advisor.changes.applying import grammar, wording
from advisor.changes.applying import wording_around as around
from advisor.changes.applying.machine import Said, Step
from advisor.changes.applying.session import LiveSession
from advisor.mysql.grants import RESET_PERSIST, has_privilege, parse_grants, remedy_for
from advisor.mysql.values import human_size, same
from collector import snapshots
from collector.models import Server


@dataclass(frozen=True)
class Limits:
    """The thresholds, in one place. Threads_running counts our own one, too."""

    threads_running_per_cpu: int = 4
    threads_running_least: int = 32
    lag_seconds: int = 60
    #: The share of the free disk that a redo log may grow by.
    disk_ratio: float = 0.5


LIMITS = Limits()

#: Statements beside which nothing is changed: they hold locks for long, or copy files that a resize would change.
_BUSY = re.compile(
    r"\s*(alter\s+table|optimize\s+table|repair\s+table|create\s+(unique\s+|fulltext\s+|spatial\s+)?index|drop\s+index"
    r"|lock\s+instance\s+for\s+backup|backup\s+stage|flush\s+tables\s+.*with\s+read\s+lock|clone\s+|shutdown)",
    re.IGNORECASE,
)
_STATEMENTS = "SELECT LEFT(INFO, 80) FROM information_schema.PROCESSLIST WHERE INFO IS NOT NULL AND COMMAND <> 'Sleep'"


def why_not(
    session: LiveSession,
    server: Server,
    steps: Sequence[Step],
    waiting: Sequence[Mapping[str, Any]],
    noted: dict[str, Any],
) -> Said | None:
    """Why nothing may be sent now, None where nothing speaks against it.

    ``waiting`` are the plan's changes that only count after a restart: they are held against the live values, too.
    What was measured is put into ``noted``.
    """
    for change in waiting:
        live = session.read(change["variable"])
        if not same(live, change["current"]) and not same(live, change["proposed"]):
            return wording.moved(change["variable"], change["current"], change["proposed"], live)
    if (no_way := _no_way_back(session, steps)) is not None:
        return no_way
    status = session.status("Threads_running", "wsrep_local_state_comment", "wsrep_ready")
    return (
        _load(status, server, noted)
        or _galera(status, noted)
        or _lag(server, noted)
        or _busy(session, noted)
        or _disk(session, server, steps, noted)
    )


def _no_way_back(session: LiveSession, steps: Sequence[Step]) -> Said | None:
    """What can be persisted can not always be taken back by the same account: that is looked at before, not after."""
    if not any(grammar.parse(text).scope == "RESET" for step in steps for text in step.undo):
        return None
    rows = session.ask("SHOW GRANTS")
    if rows is None:
        return None
    lines = [row[0] or "" for row in rows.rows]
    # What comes through a role is not shown here.
    if any(" ON " not in line for line in lines):
        return None
    have = parse_grants(lines)
    if has_privilege(have, RESET_PERSIST) or has_privilege(have, "SUPER"):
        return None
    with suppress(ValueError):
        return around.no_way_back(remedy_for(RESET_PERSIST, session.facts.version, session.connection.account))
    return around.no_way_back(RESET_PERSIST)


def _load(status: Mapping[str, str], server: Server, noted: dict[str, Any]) -> Said | None:
    running = int(status.get("Threads_running") or 0)
    cpus = int((server.host_facts.get("cpus") or {}).get("value") or 0)
    most = max(LIMITS.threads_running_least, LIMITS.threads_running_per_cpu * cpus)
    noted.update(threads_running=running, threads_running_most=most)
    return around.guard_load(running, most) if running > most else None


def _galera(status: Mapping[str, str], noted: dict[str, Any]) -> Said | None:
    state = status.get("wsrep_local_state_comment", "")
    noted["galera"] = state
    away = status.get("wsrep_ready", "OFF") != "ON" and state in ("", "Disconnected")
    return around.guard_galera(state) if state and state != "Synced" and not away else None


def _lag(server: Server, noted: dict[str, Any]) -> Said | None:
    behind = lag_of(server)
    noted["lag_seconds"] = behind
    return around.guard_lag(behind, LIMITS.lag_seconds) if behind is not None and behind > LIMITS.lag_seconds else None


def lag_of(server: Server) -> int | None:
    """How far the worst channel is behind, by the newest snapshot: the apply account need not see replication."""
    newest = snapshots.latest(server.pk)
    told = [] if newest is None else [_seconds(channel) for channel in newest.replication]
    return max((one for one in told if one is not None), default=None)


def _seconds(channel: Mapping[str, str | None]) -> int | None:
    """Beyond the delay that a person asked for."""
    behind = channel.get("seconds_behind_source") or channel.get("seconds_behind_master") or ""
    delay = channel.get("sql_delay") or ""
    if not behind.isdigit():
        return None
    return max(0, int(behind) - (int(delay) if delay.isdigit() else 0))


def _busy(session: LiveSession, noted: dict[str, Any]) -> Said | None:
    rows = session.ask(_STATEMENTS)
    if rows is None:
        noted["statements"] = "unknown"
        return None
    found = next((row[0] for row in rows.rows if row[0] and _BUSY.match(row[0])), None)
    # Only the words that were looked for are told: the rest of a statement may hold people's data.
    match = _BUSY.match(found) if found else None
    noted["statements"] = "busy" if match else "free"
    return around.guard_busy(" ".join(match[1].upper().split())) if match else None


def _disk(session: LiveSession, server: Server, steps: Sequence[Step], noted: dict[str, Any]) -> Said | None:
    free = (server.host_facts.get("free_disk_bytes") or {}).get("value")
    noted["free_disk_bytes"] = free
    for step in steps:
        if step.variable not in ("innodb_redo_log_capacity", "innodb_log_file_size") or not isinstance(free, int):
            continue
        files = 1
        if step.variable == "innodb_log_file_size":
            told = session.facts.variables.get("innodb_log_files_in_group", "1")
            files = int(told) if told.isdigit() else 1
        more = (int(step.new) - int(step.old)) * files
        if more > free * LIMITS.disk_ratio:
            return around.guard_disk(step.variable, human_size(more), human_size(free))
    return None
