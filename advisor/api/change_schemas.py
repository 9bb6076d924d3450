"""What the API takes and gives of change requests."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

ChangeRequestState = Literal[
    "draft", "in_review", "changes_requested", "approved", "stale", "scheduled", "applying", "awaiting_restart",
    "verifying", "kept", "rolled_back", "failed", "needs_attention", "withdrawn",
]  # fmt: skip

Text = Annotated[str, Field(max_length=20_000)]


class Strict(Schema):
    """A body in which an unknown word is an error: a misspelt one must not be taken for a wish that was heard."""

    model_config = ConfigDict(extra="forbid")


class EmptyIn(Strict):
    """An empty object."""


class ChangeIn(Strict):
    """One variable of one server, and the value it is wanted to have: as in an option file (``"8G"``) or a number."""

    server: Annotated[str, Field(max_length=64)]
    variable: Annotated[str, Field(max_length=200)]
    value: StrictStr | StrictBool | StrictInt | StrictFloat

    @property
    def text(self) -> str:
        """The value as a person would type it."""
        if isinstance(self.value, bool):
            return "ON" if self.value else "OFF"
        return str(self.value)


class ChangeRequestIn(Strict):
    """What somebody wants to change. Texts are for the people who review it."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    reason: Text = ""
    expected_effect: Text = ""
    price: Text = ""
    test_plan: Text = ""
    changes: Annotated[list[ChangeIn], Field(max_length=200)] = []
    recommendation: Annotated[str, Field(max_length=64)] | None = Field(None, description="id of what it is made of")
    first_server: Annotated[str, Field(max_length=64)] | None = Field(None, description="changed before all others")
    wait_seconds: Annotated[int, Field(ge=0, le=604_800)] = Field(0, description="between the first and the others")
    emergency: bool = Field(False, description="applied first and reviewed after, where a policy allows that")


class ChangeRequestUpdateIn(ChangeRequestIn):
    """The whole request anew."""

    version: int | None = Field(None, description="the one you saw; 409 where somebody changed it meanwhile")


class ReviewIn(Strict):
    """A verdict. ``plan_hash`` says which plan was looked at: any other than the present one is refused."""

    verdict: Literal["approve", "request_changes", "comment"]
    text: Text = ""
    plan_hash: Annotated[str, Field(max_length=64)]
    line: Annotated[str, Field(max_length=90)] = Field("", description="<server id>/<variable> of the plan")


class ScheduleIn(Strict):
    """When it begins by itself; null takes that back."""

    at: Annotated[str, Field(max_length=40)] | None = Field(description="ISO 8601, or unix seconds")


class WantedOut(Schema):
    """One wanted value, as typed."""

    server: str
    variable: str
    value: str
    recommendation: str | None


class ReviewOut(Schema):
    """What somebody said of a plan. An approval with ``fallen_at`` does not count any more."""

    person: str
    verdict: Literal["approve", "request_changes", "comment"]
    text: str
    line: str
    plan_hash: str
    at: datetime
    fallen_at: datetime | None


class ApplicationOut(Schema):
    """How the plan goes on one server: to apply it or to roll it back."""

    server: str
    direction: Literal["apply", "roll_back"]
    state: str
    due_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    text: str = Field(description="the exact truth at the end, in words")
    steps: list[dict[str, Any]]


class ConditionOut(Schema):
    """One condition of applying, met or not, and who must act."""

    id: str
    met: bool
    text: str
    who: str


class VerificationOut(Schema):
    """Whether it helped, on one server, by one stage; ``verdict`` is null until that is known."""

    server: str
    stage: Literal["early", "hour", "day"]
    due_at: datetime
    judged_at: datetime | None
    verdict: Literal["improved", "no_difference", "worse", "cannot_tell"] | None
    document: dict[str, Any]


class ChangeRequestShort(Schema):
    """A change request in a list."""

    id: str
    number: int
    team: str
    title: str
    state: ChangeRequestState
    why: str | None = Field(description="why it is in that state, where there is a reason to tell")
    version: int
    emergency: bool
    author: str
    servers: list[str]
    plan_hash: str | None
    created_at: datetime
    changed_at: datetime
    submitted_at: datetime | None
    applied_at: datetime | None


class ChangeRequestOut(ChangeRequestShort):
    """A change request with everything that is known of it. ``plan`` is what is reviewed, approved and applied."""

    reason: str
    expected_effect: str
    price: str
    test_plan: str
    changes: list[WantedOut]
    first_server: str | None
    wait_seconds: int
    scheduled_at: datetime | None
    expires_at: datetime | None
    plan_expires_at: datetime | None
    plan: dict[str, Any] | None
    reviews: list[ReviewOut]
    conditions: list[ConditionOut]
    applications: list[ApplicationOut]
    verifications: list[VerificationOut]


class ChangeRequestList(Schema):
    """A page of change requests, the newest first."""

    items: list[ChangeRequestShort]
    next: str | None = Field(description="send it as ?cursor= to get the next page")
