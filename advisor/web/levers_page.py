"""Safe levers of one server at this moment, as its page and their own page show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from advisor.engine.lever import Lever, Situation, Trouble, Withheld
from advisor.engine.levers import levers
from advisor.mysql.snapshot import Snapshot
from advisor.recommendations.models import FleetRow
from advisor.recommendations.recently import Recently
from advisor.recommendations.vitals import Condition
from collector.models import Server

_TROUBLES = {
    Condition.CRITICAL: Trouble.WAITING,
    Condition.WARNING: Trouble.NEAR,
    Condition.WATCH: Trouble.NEAR,
}


@dataclass(frozen=True)
class Offered:
    """A lever and when it is to be put back, if it is pulled now."""

    lever: Lever
    until: datetime


@dataclass(frozen=True)
class LeversShown:
    """``troubled`` is false where redo and flushing are not the trouble, ``known`` where nothing is known now."""

    troubled: bool
    known: bool
    offered: Sequence[Offered] = ()
    withheld: Sequence[Withheld] = ()


def read(
    server: Server, row: FleetRow, snapshot: Snapshot | None, recently: Recently | None, now: datetime
) -> LeversShown:
    """The levers for what is measured now; nothing is asked of the server for it, and nothing is applied."""
    condition = Condition(row.condition)
    trouble = _TROUBLES.get(condition, Trouble.NONE)
    if condition in (Condition.NEW, Condition.STALE) or snapshot is None:
        return LeversShown(troubled=False, known=False)
    if trouble is Trouble.NONE:
        return LeversShown(troubled=False, known=True)
    found = levers(_situation(server, row, snapshot, recently, trouble))
    return LeversShown(
        troubled=True,
        known=True,
        offered=[Offered(one, now + timedelta(seconds=one.expires_seconds)) for one in found.offered],
        withheld=found.withheld,
    )


def _situation(
    server: Server, row: FleetRow, snapshot: Snapshot, recently: Recently | None, trouble: Trouble
) -> Situation:
    flushed = recently.now.get("flushed") if recently is not None else None
    storage, free = _host(server, "storage"), _host(server, "free_disk_bytes")
    return Situation(
        server=snapshot.identity.version,
        variables=snapshot.variables,
        status=snapshot.status,
        trouble=trouble,
        pressure=row.pressure,
        dirty_percent=row.dirty_percent,
        flushed_pages_per_second=flushed.value if flushed is not None else None,
        storage=storage if isinstance(storage, str) else None,
        free_disk_bytes=free if isinstance(free, int) else None,
    )


def _host(server: Server, name: str) -> object:
    facts = server.host_facts if isinstance(server.host_facts, dict) else {}
    entry = facts.get(name)
    return entry.get("value") if isinstance(entry, dict) else None
