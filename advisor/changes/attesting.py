"""What the audit says of approvals: a row that somebody wrote past the services is in no signed entry.

Whoever can write the database can make a review or give a plan another hash; without the audit's key he cannot sign
that a person approved that hash.
"""

from __future__ import annotations

import hmac
import json

from advisor.changes.models import ChangeRequest, Plan
from advisor.teams.audit import AuditEntry
from advisor.teams.audit_chain import SIGNED, canonical, keys

_APPROVALS = ("change.approve", "change.endorse")


def approvers_of(request: ChangeRequest, plan: Plan) -> frozenset[str]:
    """The ids of the accounts of which a signed entry says that they approved the plan with this very hash."""
    entries = AuditEntry.objects.filter(team_id=request.team_id, at__gte=plan.made_at, action__in=_APPROVALS)
    return frozenset(entry.actor_id for entry in entries if _says(entry, request, plan) and _is_signed(entry))


def _says(entry: AuditEntry, request: ChangeRequest, plan: Plan) -> bool:
    data = json.loads(entry.data)
    said = (data.get("change"), data.get("plan_hash"), data.get("verdict"))
    return bool(entry.actor_id) and said == (request.pk, plan.hash, "approve")


def _is_signed(entry: AuditEntry) -> bool:
    key = next((one for one in keys() if one.id == entry.key_id), None)
    if key is None:
        return False
    return hmac.compare_digest(key.sign(canonical({name: getattr(entry, name) for name in SIGNED})), entry.digest)
