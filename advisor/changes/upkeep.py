"""Plans that wait are held against what is known of their servers: a day, a moved value or another identity ends them.

A tick calls ``hold``. No server is read for it: the collector's newest snapshots tell enough, and whoever approves or
applies reads the server itself anyway.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from advisor.changes import staleness, states
from advisor.changes.live import LiveFacts, from_snapshot
from advisor.changes.models import ChangeRequest
from advisor.changes.states import CameLate, WrongState
from collector import snapshots

log = logging.getLogger(__name__)

#: So many in one round; the rest waits for the next.
_A_ROUND = 200


def hold(now: datetime) -> int:
    """Lets the approvals of plans fall that do not hold any more; how many."""
    return staleness.expire(now=now) + _against_snapshots(now)


def _against_snapshots(now: datetime) -> int:
    count = 0
    waiting = ChangeRequest.objects.filter(state__in=states.PLANNED, plan__expires_at__gt=now).order_by("changed_at")
    for request in waiting.select_related("team", "plan", "author", "last_editor")[:_A_ROUND]:
        try:
            why = staleness.why_stale_for(request, _seen(request), now)
            if why is not None:
                staleness.make_stale(request=request, why=why, now=now)
                count += 1
        except (CameLate, WrongState):
            continue  # Somebody took a step with it in this moment.
        except Exception:
            # One damaged snapshot must not keep the plans of all others alive.
            log.exception("Change request %s could not be held against its servers.", request.pk)
    return count


def _seen(request: ChangeRequest) -> dict[str, LiveFacts]:
    """The servers as their newest snapshots show them, those that were taken since the plan was made."""
    assert request.plan is not None
    found = {}
    for server in request.plan.document["servers"]:
        newest = snapshots.latest(server["server"])
        if newest is None or datetime.fromtimestamp(newest.taken_at, UTC) <= request.plan.made_at:
            continue
        # How the connection was trusted is not in a snapshot: the plan's own word stands in for it.
        print_ = server["fingerprint"]
        found[server["server"]] = from_snapshot(newest, tls=print_["tls"], trust=print_["trust"])
    return found
