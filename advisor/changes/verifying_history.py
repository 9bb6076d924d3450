"""What the sample history says of an applied change: the two windows, read, and everything that lies in their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from advisor.changes.models import Application, Verification, WantedChange
from advisor.engine.units import DAY, HOUR, MINUTE
from advisor.engine.verdict import Judgement, judge
from advisor.engine.verdict_metrics import aims_of
from advisor.engine.verdict_windows import Settle, settled_at, windows
from collector import settings_history
from collector.models import Server
from collector.store import store

#: How long the windows of each stage are at most, and how far before the change the history is read: earlier windows
#: tell how much windows differ by themselves.
LONGEST = {Verification.Stage.EARLY: 15 * MINUTE, Verification.Stage.HOUR: HOUR, Verification.Stage.DAY: DAY}
_READ_BEFORE = {Verification.Stage.EARLY: 3.5 * HOUR, Verification.Stage.HOUR: 6 * HOUR, Verification.Stage.DAY: DAY}
#: How long a server is left alone after a change.
SETTLE = Settle()
#: Variables that a server moves by itself when another one is set.
MOVE_ALONG = frozenset({"innodb_io_capacity_max"})


@dataclass(frozen=True)
class Applied:
    """What was done to one server, when (unix seconds), and with whose advice. ``restart``: it took one."""

    server: Server
    began_at: float
    ended_at: float
    variables: tuple[str, ...]
    rules: tuple[str, ...]
    restart: bool


def applied(application: Application) -> Applied:
    """What the application did. Where somebody else ran the statements, nobody knows better than two full snapshots
    when that was.
    """
    server = application.server
    ended = _unix(application.ended_at or application.due_at)
    steps = list(application.steps.order_by("number").values_list("written_at", flat=True))
    began = _unix(steps[0]) if steps else _unix(application.started_at or application.due_at)
    if not steps:
        began = min(began, ended) - 2 * server.full_interval_seconds
    part = next((one for one in application.plan.document["servers"] if one["server"] == server.pk), {"changes": ()})
    wanted = WantedChange.objects.filter(request=application.request_id, server=server)
    rules = {row.recommendation.rule for row in wanted.select_related("recommendation") if row.recommendation}
    return Applied(
        server=server,
        began_at=began,
        ended_at=ended,
        variables=tuple(sorted({one["variable"] for one in part["changes"]})),
        rules=tuple(sorted(rules)),
        restart=bool(part.get("needs_restart")),
    )


def judged(done: Applied, stage: str, now: float) -> tuple[Judgement, float | None]:
    """The verdict of the stage with what is known at ``now`` (unix seconds), and from when on the server had settled
    (None: not yet).
    """
    kind = Verification.Stage(stage)
    read = store().intervals(done.server.pk, done.began_at - _READ_BEFORE[kind], now + 1)
    settled = settled_at(read, done.ended_at, SETTLE)
    if settled is None:
        return judge(None), None
    chosen = windows(read, began_at=done.began_at, settled_at=settled, until=now, longest=LONGEST[kind])
    others: Sequence[str] = ()
    if chosen is not None:
        others = changed_besides(done, chosen.before.started_at, chosen.after.ended_at)
    return judge(chosen, aims=aims_of(done.variables, done.rules), restart=done.restart, settings=others), settled


def changed_besides(done: Applied, start: float, end: float) -> list[str]:
    """Other system variables that changed between two instants, whoever changed them.

    A change is known by the first full snapshot that shows it, which may come after the window.
    """
    ours = {name.lower() for name in done.variables} | MOVE_ALONG
    found = settings_history.changes(done.server.pk, start, end + done.server.full_interval_seconds)
    if done.restart:
        # A restart takes over whatever stands in the option file; what lies inside the windows counts all the same.
        reach = done.ended_at + 2 * done.server.full_interval_seconds
        found = [one for one in found if not done.began_at <= one.at <= reach]
    return sorted({one.name for one in found if one.name.lower() not in ours})


def _unix(instant: datetime) -> float:
    return instant.timestamp()
