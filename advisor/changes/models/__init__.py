"""What this room stores. Only its services write."""

from advisor.changes.models.application import Application, ApplyLease, Step
from advisor.changes.models.notice import Notice
from advisor.changes.models.plan import Plan
from advisor.changes.models.policy import Policy
from advisor.changes.models.request import ChangeRequest, State, WantedChange
from advisor.changes.models.review import Review
from advisor.changes.models.verification import Verification
from advisor.changes.models.webhook import Delivery, Webhook

__all__ = [
    "Application",
    "ApplyLease",
    "ChangeRequest",
    "Delivery",
    "Notice",
    "Plan",
    "Policy",
    "Review",
    "State",
    "Step",
    "Verification",
    "WantedChange",
    "Webhook",
]
