"""The settings of a server at any moment, and what changed between two: a first full set, and each change after it.

A set of some 600 variables is 8 KiB; a change is a row that names what changed. So a year of a server is a few dozen
KiB, where a set with every snapshot would be gigabytes. Values are as the server prints them, secrets redacted where
they were read (``collector.redaction``).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import zstandard
from django.db import transaction

from advisor.mysql.snapshot import Snapshot
from advisor.mysql.values import same
from collector import snapshots
from collector.models import SettingsBase, SettingsChange, StoredSnapshot

log = logging.getLogger(__name__)

_LEVEL = 9
#: System variables that the server itself moves while it works, or that tell of a moment or of a session: their change
#: is nobody's doing. What is set (gtid_mode, wsrep_slave_threads, ...) is not among them.
_MOVING = re.compile(
    r"gtid_(?:executed|purged|owned|next|binlog_pos|binlog_state|current_pos|slave_pos|seq_no)$|last_gtid$"
    r"|wsrep_(?:start_position|gtid_seq_no|patch_version|last_\w+)$"
    r"|innodb_buffer_pool_(?:load|dump)_(?:now|abort)$|innodb_\w+_now$"
    r"|(?:\w+_)?timestamp$|rand_seed\d$|(?:last_)?insert_id$|identity$|pseudo_\w+$|(?:error|warning)_count$"
    r"|in_transaction$|skip_replication$|debug$|debug_\w+$|(?:original|immediate)_server_version$|external_user$"
    r"|proxy_user$|statement_id$"
)


@dataclass(frozen=True)
class Change:
    """One system variable that changed: ``at`` is the slot (unix seconds) of the snapshot that first shows it.

    ``old`` and ``new`` are None where the server had, or has, no variable of that name.
    """

    at: float
    name: str
    old: str | None
    new: str | None


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """What changed between two sets of variables, by name: two spellings of one value are no change."""
    found = {}
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old == new or _MOVING.match(name):
            continue
        if old is None or new is None or not same(old, new):
            found[name] = (old, new)
    return found


def record(
    *, server_id: str, slot: int, snapshot: Snapshot, previous: Snapshot | None
) -> dict[str, tuple[str | None, str | None]]:
    """Notes what is different from ``previous``; returns it. Call it in the transaction that stores the snapshot.

    The first set that is known becomes the base. Where there is a base but no snapshot before (it was damaged, or of a
    newer program), the set that the history itself knows takes its place.
    """
    variables = _settings(snapshot.variables)
    based = SettingsBase.objects.filter(server_id=server_id).exists()
    if previous is not None:
        before: Mapping[str, str] = previous.variables
    else:
        before = (variables_at(server_id, slot) if based else None) or variables
    changed = differences(before, variables)
    with transaction.atomic():
        if not based:
            SettingsBase.objects.create(server_id=server_id, at=slot, payload=_packed(variables))
        elif changed:
            SettingsChange.objects.get_or_create(
                server_id=server_id, at=slot, defaults={"changes": {name: list(pair) for name, pair in changed.items()}}
            )
    return changed


def variables_at(server_id: str, instant: float) -> dict[str, str] | None:
    """All system variables as they were known at ``instant`` (unix seconds); None where nothing was known yet.

    Before the history begins, the newest snapshot that is still kept from before the instant tells them.
    """
    base = SettingsBase.objects.filter(server_id=server_id).first()
    if base is None or base.at > instant:
        return _from_snapshot(server_id, instant)
    variables = _unpacked(bytes(base.payload))
    later = SettingsChange.objects.filter(server_id=server_id, at__gt=base.at, at__lte=instant).order_by("at")
    return _with(variables, later.values_list("changes", flat=True))


def changes(server_id: str, start: float, end: float) -> list[Change]:
    """What changed from ``start`` to before ``end`` (unix seconds), oldest first, by name within one snapshot."""
    rows = SettingsChange.objects.filter(server_id=server_id, at__gte=start, at__lt=end).order_by("at")
    return [
        Change(float(at), name, old, new)
        for at, changed in rows.values_list("at", "changes")
        for name, (old, new) in sorted(changed.items())
    ]


def delete_older_than(instant: float, *, limit: int = 100) -> int:
    """Folds changes from before ``instant`` into their server's base, for at most ``limit`` servers; how many changes.

    So the settings of every later moment stay known.
    """
    folded = 0
    servers = (
        SettingsChange.objects.filter(at__lt=instant)
        .order_by("server_id")
        .values_list("server_id", flat=True)
        .distinct()
    )
    for server_id in list(servers[:limit]):
        with transaction.atomic():
            base = SettingsBase.objects.select_for_update().get(server_id=server_id)
            old = SettingsChange.objects.filter(server_id=server_id, at__lt=instant).order_by("at")
            rows = list(old.values_list("pk", "at", "changes"))
            if rows:
                variables = _with(_unpacked(bytes(base.payload)), [changed for _, _, changed in rows])
                base.payload, base.at = _packed(variables), rows[-1][1]
                base.save()
                folded += SettingsChange.objects.filter(pk__in=[pk for pk, _, _ in rows]).delete()[0]
    return folded


def _with(variables: dict[str, str], changed: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    for one in changed:
        for name, (_, new) in one.items():
            if new is None:
                variables.pop(name, None)
            else:
                variables[name] = new
    return variables


def _settings(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not _MOVING.match(name)}


def _from_snapshot(server_id: str, instant: float) -> dict[str, str] | None:
    row = StoredSnapshot.objects.filter(server_id=server_id, slot__lte=instant).order_by("-slot").first()
    if row is None:
        return None
    try:
        return _settings(snapshots.unpack(bytes(row.payload)).variables)
    except (ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        log.warning("A stored snapshot of %s cannot be read and is left out: %s", server_id, error)
        return None


def _packed(variables: Mapping[str, str]) -> bytes:
    text = json.dumps(variables, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=_LEVEL).compress(text.encode("utf-8", errors="replace"))


def _unpacked(payload: bytes) -> dict[str, str]:
    variables: dict[str, str] = json.loads(zstandard.ZstdDecompressor().decompress(payload))
    return variables
