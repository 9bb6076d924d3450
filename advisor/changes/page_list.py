"""The list of change requests: which there are, which wait for whom, and which of them somebody looks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.changes import page_words
from advisor.changes.models import ChangeRequest, Review, State, WantedChange
from advisor.changes.page_words import Standing
from advisor.changes.states import LIVING
from advisor.teams import access
from advisor.teams.models import Membership
from advisor.teams.roles import ALLOWED, Action
from collector.models import Server

PER_PAGE = 50
#: What the tabs show, the first one unless another is asked for.
SHOWS: dict[str, str] = {
    "open": gettext_noop("open"),
    "waiting": gettext_noop("wait for me"),
    "mine": gettext_noop("mine"),
    "done": gettext_noop("done"),
    "all": gettext_noop("all"),
}
#: Approvals fall and reviews end with these: the author has to do something before anybody else can.
_BACK_AT_THE_AUTHOR = (State.CHANGES_REQUESTED, State.STALE)
#: Somebody who applies has to decide.
_AT_WHO_APPLIES = (State.APPROVED, State.NEEDS_ATTENTION)

Anybody = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True)
class Asked:
    """What the address asks for."""

    show: str = "open"
    state: str = ""
    server: str = ""
    text: str = ""
    page: int = 1

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Asked:
        """What cannot be read counts as not asked for."""
        show, state, page = (parameters.get(name, "") for name in ("show", "state", "page"))
        return cls(
            show if show in SHOWS else "open",
            state if state in set(State) else "",
            parameters.get("server", "")[:16],
            parameters.get("q", "").replace("\0", "").strip()[:100],
            min(int(page), 10_000) if page.isascii() and page.isdigit() else 1,
        )

    def query(self, **other: Any) -> str:
        """The address' query with some of it replaced, without what is not asked for."""
        parts = {"show": self.show, "state": self.state, "server": self.server, "q": self.text} | other
        return urlencode({name: value for name, value in parts.items() if value and (name, value) != ("show", "open")})

    @property
    def is_filtered(self) -> bool:
        return bool(self.state or self.server or self.text)


@dataclass(frozen=True)
class Row:
    """One line of the list. ``summary`` is as in ``~3 ↻1 ⚠1``, in signs and in words; empty before there is a plan."""

    request: ChangeRequest
    standing: Standing
    servers: Sequence[str]
    summary: Sequence[tuple[str, int, str]]
    who: str


@dataclass(frozen=True)
class Listing:
    """``counts`` is by tab, ``any`` whether the person's teams ever had one."""

    rows: Sequence[Row]
    counts: Mapping[str, int]
    page: Any
    any: bool


def requests_of(user: Anybody) -> QuerySet[ChangeRequest]:
    """Those of the person's teams."""
    return access.visible(user, ChangeRequest.objects.all())


def _teams_where(user: Anybody, action: Action) -> Any:
    roles = [role.value for role, allowed in ALLOWED.items() if action in allowed]
    return Membership.objects.filter(user=cast(User, user), role__in=roles).values("team_id")


def waits_for(user: Anybody) -> Q:
    """Which requests cannot go on before this person does something.

    A review waits for everybody who may give one and has not yet, except who wrote the request; an approved one for
    those who may apply; one that came back for its author.
    """
    if not access.is_known(user):
        return Q(pk__in=[])
    approved = Review.objects.filter(
        plan_id=OuterRef("plan_id"), person_id=user.pk, verdict=Review.Verdict.APPROVE, fallen_at=None
    )
    own = Q(author_id=user.pk) | Q(last_editor_id=user.pk)
    review = Q(state=State.IN_REVIEW, team_id__in=_teams_where(user, Action.REVIEW_CHANGE)) & ~own & ~Exists(approved)
    apply = Q(state__in=_AT_WHO_APPLIES, team_id__in=_teams_where(user, Action.APPLY_CHANGE))
    return review | apply | Q(state__in=_BACK_AT_THE_AUTHOR, author_id=user.pk)


def count_waiting(user: Anybody) -> int:
    """How many wait for this person."""
    return requests_of(user).filter(waits_for(user)).count() if access.is_known(user) else 0


def _tab(user: Anybody, show: str) -> Q:
    if show == "waiting":
        return waits_for(user)
    if show == "mine":
        return Q(author_id=user.pk)
    if show == "all":
        return Q()
    living = Q(state__in=LIVING)
    return living if show == "open" else ~living


def read(user: Anybody, asked: Asked) -> Listing:
    """One page of the list, and how many each tab has."""
    mine = requests_of(user)
    found = mine.filter(_tab(user, asked.show))
    if asked.state:
        found = found.filter(state=asked.state)
    if asked.server:
        found = found.filter(Exists(WantedChange.objects.filter(request=OuterRef("pk"), server_id=asked.server)))
    if asked.text:
        found = found.filter(_says(asked.text))
    page = Paginator(found.select_related("plan", "team").order_by("-changed_at", "-pk"), PER_PAGE).get_page(asked.page)
    requests = list(page.object_list)
    names = _names(requests)
    counts = mine.aggregate(**{show: Count("pk", filter=_tab(user, show)) for show in SHOWS if show != "all"})
    total = mine.count()
    return Listing([_row(one, names.get(one.pk, [])) for one in requests], {**counts, "all": total}, page, total > 0)


def _says(text: str) -> Q:
    """All words, each anywhere in the title, the reason, the author's name, a variable or a server's name."""
    asked = Q()
    for word in text.split()[:8]:
        wanted = WantedChange.objects.filter(request=OuterRef("pk")).filter(
            Q(variable__icontains=word) | Q(server__name__icontains=word)
        )
        said = Q(title__icontains=word) | Q(reason__icontains=word) | Q(author_name__icontains=word) | Exists(wanted)
        asked &= said | (Q(number=int(word)) if word.isascii() and word.isdigit() and len(word) < 9 else Q(pk__in=[]))
    return asked


def _names(requests: Sequence[ChangeRequest]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    wanted = WantedChange.objects.filter(request__in=requests).values_list("request_id", "server__name").order_by("pk")
    for request_id, name in wanted:
        if name not in found.setdefault(request_id, []):
            found[request_id].append(name)
    return found


def _row(request: ChangeRequest, servers: Sequence[str]) -> Row:
    return Row(request, page_words.standing(request.state), servers, signs(request), who_must_act(request))


def signs(request: ChangeRequest) -> list[tuple[str, int, str]]:
    """The plan in signs, each with its count and its words: what is dynamic, needs a restart, touches durability."""
    if request.plan is None:
        return []
    document = request.plan.document
    summary = document.get("summary", {})
    risky = sum(bool(change.get("durability")) for one in document["servers"] for change in one.get("changes", ()))
    found = [
        ("~", summary.get("in_place", 0), _(page_words.SYMBOLS["~"])),
        ("→", summary.get("new_connections", 0), _(page_words.SYMBOLS["→"])),
        ("↻", summary.get("restarts", 0), _(page_words.SYMBOLS["↻"])),
        ("⚠", risky, _(page_words.SYMBOLS["⚠"])),
    ]
    return [one for one in found if one[1] or one[0] == "~"]


def who_must_act(request: ChangeRequest) -> str:
    """Who is to do something next, in a word or two."""
    state = request.state
    if state in (*_BACK_AT_THE_AUTHOR, State.DRAFT):
        return request.author_name
    words = {
        State.IN_REVIEW: _("an approver"),
        State.APPROVED: _("an operator"),
        State.NEEDS_ATTENTION: _("an operator"),
        State.AWAITING_RESTART: _("whoever restarts the server"),
        State.SCHEDULED: _("nobody: it begins by itself"),
        State.APPLYING: _("nobody: it is under way"),
        State.VERIFYING: _("nobody yet: it is measured"),
    }
    return words.get(State(state), "") if state in set(State) else ""


def servers_to_choose(user: Anybody) -> QuerySet[Server]:
    """Servers that some change request of the person's teams speaks of, by name."""
    wanted = WantedChange.objects.filter(request__in=requests_of(user).values("pk")).values("server_id")
    return Server.objects.filter(pk__in=wanted).order_by("folded")[:200]
