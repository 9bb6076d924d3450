"""How often a rule was right here: what became of the changes that were made from its recommendations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from advisor.changes.models import Application, Verification, WantedChange


@dataclass(frozen=True)
class TrackRecord:
    """Servers that were changed for a rule, by the latest verdict on each change. A change that was made for several
    rules counts for each of them.
    """

    improved: int = 0
    no_difference: int = 0
    worse: int = 0
    cannot_tell: int = 0

    @property
    def judged(self) -> int:
        return self.improved + self.no_difference + self.worse + self.cannot_tell


def of_rule(rule_id: str, team_ids: Iterable[str]) -> TrackRecord:
    """What is known of one rule in these teams."""
    return of_rules([rule_id], team_ids).get(rule_id, TrackRecord())


def of_rules(rule_ids: Iterable[str] | None, team_ids: Iterable[str]) -> dict[str, TrackRecord]:
    """Rule -> its record, for those with any; ``rule_ids`` None takes all."""
    wanted = WantedChange.objects.filter(request__team__in=list(team_ids), recommendation__isnull=False)
    if rule_ids is not None:
        wanted = wanted.filter(recommendation__rule__in=list(rule_ids))
    reasons: dict[tuple[str, str], set[str]] = {}
    for request_id, server_id, rule in wanted.values_list("request_id", "server_id", "recommendation__rule"):
        reasons.setdefault((request_id, server_id), set()).add(rule)
    told = (
        Verification.objects.filter(
            application__direction=Application.Direction.APPLY, application__request__in=wanted.values("request_id")
        )
        .exclude(verdict="")
        .order_by("judged_at", "pk")
        .values_list("application__request_id", "application__server_id", "verdict")
    )
    latest = {(request_id, server_id): verdict for request_id, server_id, verdict in told}
    counted: dict[str, Counter[str]] = {}
    for where, verdict in latest.items():
        for rule in reasons.get(where, ()):
            counted.setdefault(rule, Counter())[verdict] += 1
    return {rule: TrackRecord(**{str(name): count for name, count in found.items()}) for rule, found in counted.items()}
