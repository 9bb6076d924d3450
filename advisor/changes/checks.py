"""What is looked at before a plan is reviewed, and again before it is applied: one line each, good or bad.

A check that is not ``ok`` stands in the way; one that only ``warns`` is told to the reviewers and left to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from advisor.changes import check_values
from advisor.changes.live import LiveFacts, from_snapshot, same_server
from advisor.changes.models import ChangeRequest, WantedChange
from advisor.changes.planning import BadPlan, Part, Wanted, rendered
from advisor.changes.policies import of_request
from advisor.changes.reading import Unreadable
from advisor.changes.refusing import Refused
from advisor.changes.said import Said
from advisor.changes.said import said as _made
from advisor.changes.states import PLANNED, UNDER_WAY
from advisor.mysql.statements import Rendered
from advisor.mysql.values import same
from collector import snapshots
from collector.models import Server


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. ``who`` must act where it is not ok: author, admin, or nobody.

    ``server`` is the id of the server that it is about, empty for the request as a whole.
    """

    id: str
    ok: bool
    message: Said
    who: str = "author"
    warns: bool = False
    server: str = ""

    def document(self) -> dict[str, Any]:
        """As plain values: what a plan holds and the API answers."""
        return {
            "id": self.id,
            "ok": self.ok,
            "warns": self.warns,
            "message": self.message,
            "who": self.who,
            "server": self.server,
        }


class NotReady(Refused):
    """No plan can be made: some checks are not ok. ``checks`` are all of them."""

    code = "not-ready"

    def __init__(self, checks: Sequence[Check]) -> None:
        super().__init__(next(one.message for one in checks if not one.ok))
        self.checks = list(checks)


def parts(request: ChangeRequest, facts: Mapping[str, LiveFacts | Unreadable]) -> list[Part]:
    """What is wanted of each server that could be read, in the order in which people named them."""
    wanted: dict[str, list[Wanted]] = {}
    servers: dict[str, Server] = {}
    for row in WantedChange.objects.filter(request=request).select_related("server", "recommendation").order_by("pk"):
        servers[row.server_id] = row.server
        rule = row.recommendation.rule if row.recommendation is not None else ""
        wanted.setdefault(row.server_id, []).append(
            Wanted(row.variable, row.value, row.recommendation_id or "", rule, _rule_version(rule))
        )
    found = []
    for server_id, several in wanted.items():
        read = facts.get(server_id)
        if isinstance(read, LiveFacts):
            server = servers[server_id]
            found.append(Part(server_id, server.name, server.address, read, tuple(several)))
    return found


def _rule_version(rule: str) -> str:
    """The version of Tidemark that the rule is a part of: rules have none of their own."""
    from django.conf import settings

    return settings.VERSION if rule else ""


def checks(request: ChangeRequest, facts: Mapping[str, LiveFacts | Unreadable]) -> list[Check]:
    """All checks of a request against its servers as they were just read."""
    found: list[Check] = []
    for server in Server.objects.filter(pk__in=request.wanted.values("server_id")).order_by("folded"):
        read = facts.get(server.pk)
        if isinstance(read, LiveFacts):
            found.append(Check("readable", True, _made("{server} was read just now.", server=server.name), "nobody",
                               server=server.pk))  # fmt: skip
            found.append(_identity(server, read))
        else:
            why = str(read) if read is not None else "–"
            message = _made("{server} cannot be read now: {why}", server=server.name, why=why)
            found.append(Check("readable", False, message, "admin", server=server.pk))
    several = parts(request, facts)
    found += _one_server_twice(several)
    plans: list[tuple[Part, Rendered]] = []
    for part in several:
        try:
            plans.append((part, rendered(part)))
        except BadPlan as bad:
            message = _made("{server}: {why}", server=part.name, why=str(bad))
            found.append(Check("values", False, message, server=part.server))
    for part, plan in plans:
        found += _values(part, plan)
    found += [*_others(request, plans), *_allowed(request, plans), *_emergency(request, plans)]
    return found


def _identity(server: Server, facts: LiveFacts) -> Check:
    """Whether the server that answers is the one that was watched last."""
    newest = snapshots.latest(server.pk)
    if newest is not None:
        seen = from_snapshot(newest, tls=facts.tls, trust=facts.trust)
        hard, _ = same_server(seen, facts)
        if hard:
            message = _made("Another server than before answers at {address}: {parts} changed.",
                            address=server.address, parts=", ".join(hard))  # fmt: skip
            return Check("identity", False, message, "admin", server=server.pk)
    return Check("identity", True, _made("{server} is the server that is watched.", server=server.name), "nobody",
                 server=server.pk)  # fmt: skip


def _one_server_twice(several: Sequence[Part]) -> Iterable[Check]:
    """One server under two names would be changed twice, and its second plan would hold old values that are gone."""
    seen: dict[tuple[str, str, int], str] = {}
    for part in several:
        who = (part.facts.unique_id, part.facts.hostname, part.facts.port)
        if who in seen:
            message = _made("{one} and {other} are one and the same server.", one=seen[who], other=part.name)
            yield Check("identity", False, message, server=part.server)
        seen[who] = part.name


def _values(part: Part, plan: Rendered) -> Iterable[Check]:
    names = [change.name for change in plan.changes]
    if not names:
        message = _made("{server} has all of these values already.", server=part.name)
        yield Check("values", False, message, server=part.server)
        return
    message = _made("{server} has these variables and takes these values.", server=part.name)
    yield Check("values", True, message, "nobody", server=part.server)
    by_name = {change.name: change.proposed for change in plan.changes}
    for one in part.wanted:
        if one.variable not in by_name:
            message = _made("{variable} of {server} is {value} already.",
                            variable=one.variable, server=part.name, value=one.value)  # fmt: skip
            yield Check("values", True, message, warns=True, server=part.server)
        elif one.variable != "optimizer_switch" and not same(one.value, by_name[one.variable]):
            message = _made("{server} keeps {variable} as {kept}, not as {typed}.", server=part.name,
                            variable=one.variable, kept=by_name[one.variable], typed=one.value)  # fmt: skip
            yield Check("rounded", True, message, warns=True, server=part.server)
    for told in check_values.all_of(part, plan):
        yield Check(told.id, told.ok, told.message, told.who, told.warns, part.server)


def _others(request: ChangeRequest, plans: Sequence[tuple[Part, Rendered]]) -> Iterable[Check]:
    """Two plans for one variable: whichever is applied second would find another value than it was approved with."""
    clean = True
    for part, plan in plans:
        rows = WantedChange.objects.filter(
            server_id=part.server,
            variable__in=[change.name for change in plan.changes],
            request__state__in=PLANNED | UNDER_WAY,
        ).exclude(request=request)
        for row in rows.select_related("request").order_by("request__number"):
            clean = False
            message = _made("Change {number} is open for {variable} of {server}, too: withdraw one of them.",
                            number=str(row.request.number), variable=row.variable, server=part.name)  # fmt: skip
            yield Check("others", False, message, server=part.server)
    if clean:
        yield Check("others", True, _made("No other change is open for these variables."), "nobody")


def _allowed(request: ChangeRequest, plans: Sequence[tuple[Part, Rendered]]) -> Iterable[Check]:
    allowed = of_request(request)["allowed_variables"]
    if allowed is None:
        return
    refused = sorted({change.name for _, plan in plans for change in plan.changes} - set(allowed))
    if refused:
        message = _made("The policies of these servers do not allow {variables}.", variables=", ".join(refused))
        yield Check("policy", False, message, "admin")
    else:
        yield Check("policy", True, _made("The policies allow these variables."), "nobody")


def _emergency(request: ChangeRequest, plans: Sequence[tuple[Part, Rendered]]) -> Iterable[Check]:
    """An emergency change counts at once and expires by itself, so that all of it has to go both ways at run time."""
    if not request.emergency:
        return
    if not of_request(request)["emergency_allowed"]:
        message = _made("No policy of a tag of these servers allows emergency changes.")
        yield Check("emergency", False, message, "admin")
    still = sorted({change.name for _, plan in plans for change in plan.changes if change.needs_restart})
    managed = any(plan.parameters for _, plan in plans)
    if still or managed:
        message = _made("An emergency change is made at run time only: {variables} cannot be.",
                        variables=", ".join(still) or "–")  # fmt: skip
        yield Check("emergency", False, message)
