"""What a team makes of the rules: some switched off, some judged by thresholds of its own, each with a reason."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction

from advisor.engine.outcome import Message
from advisor.engine.rule import Rule
from advisor.engine.thresholds import Thresholds
from advisor.engine.units import Quantity, Unit
from advisor.engine.wording import quantity_text
from advisor.journal.services import record
from advisor.recommendations.models import RuleSetting
from advisor.rules import all_rules, rule_by_id
from advisor.teams import audit
from advisor.teams.models import Team
from collector.models import Server

LONGEST_REASON = 1000


class BadSetting(ValueError):
    """The setting cannot be kept; the message says why and what would do."""


@dataclass(frozen=True)
class Effective:
    """What counts on one server: rules that are off with their reason, thresholds by rule, and where they come from."""

    off: Mapping[str, Message] = field(default_factory=dict)
    thresholds: Mapping[str, Thresholds] = field(default_factory=dict)
    settings: Mapping[str, RuleSetting] = field(default_factory=dict)

    def notes(self, rules: Iterable[str]) -> list[str]:
        """A sentence for each of these rules that is judged by thresholds of the team's own."""
        return [told for rule in rules if (told := self._note(rule))]

    def _note(self, rule_id: str) -> str:
        if rule_id not in self.thresholds:
            return ""
        setting, rule = self.settings[rule_id], rule_by_id(rule_id)
        parts = [
            f"{name} {_text(rule, name, value)} instead of {_text(rule, name, _declared(rule, name))}"
            for name, value in sorted(setting.thresholds.items())
            if _declared(rule, name) is not None
        ]
        return f"{rule_id} is judged by your team's thresholds: {', '.join(parts)}. {setting.reason}"


def effective(server: Server) -> Effective:
    """What counts on this server: a tag's setting before the one for all servers, the first tag of the alphabet first.

    A setting for a rule or a threshold that this version does not have counts for nothing.
    """
    rows = RuleSetting.objects.filter(team_id=server.team_id).select_related("changed_by")
    return chosen(rows, server.tags)


def chosen(rows: Iterable[RuleSetting], tags: Collection[str]) -> Effective:
    """As ``effective``, of settings that were read already."""
    mine = {tag.casefold() for tag in tags}
    fitting = [row for row in rows if not row.tag or row.tag.casefold() in mine]
    known = {rule.id: rule for rule in all_rules()}
    settings: dict[str, RuleSetting] = {}
    for row in sorted(fitting, key=lambda row: (not row.tag, row.tag.casefold())):
        if row.rule in known:
            settings.setdefault(row.rule, row)
    thresholds = {
        rule_id: known[rule_id].with_thresholds(**usable)
        for rule_id, row in settings.items()
        if not row.off and (usable := _usable(known[rule_id], row.thresholds))
    }
    return Effective({rule: _why(row) for rule, row in settings.items() if row.off}, thresholds, settings)


def _why(row: RuleSetting) -> Message:
    """Why a rule says nothing: the outcome's words."""
    where = {"tag": Quantity(row.tag, Unit.TEXT), "reason": Quantity(row.reason, Unit.TEXT)}
    if row.tag:
        return Message("Switched off by your team for servers tagged {tag}: {reason}", where)
    return Message("Switched off by your team: {reason}", {"reason": where["reason"]})


def _usable(rule: Rule, thresholds: Mapping[str, object]) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in thresholds.items()
        if _declared(rule, name) is not None and isinstance(value, int | float) and math.isfinite(value)
    }


def _declared(rule: Rule, name: str) -> float | None:
    if not isinstance(rule.parameters, Thresholds):
        return None
    return next((one.value for one in rule.parameters.described() if one.name == name), None)


def _text(rule: Rule, name: str, value: float | None) -> str:
    assert isinstance(rule.parameters, Thresholds)
    unit = next(one.unit for one in rule.parameters.described() if one.name == name)
    return quantity_text(Quantity(value if value is not None else 0, unit))


@transaction.atomic
def set_rule(
    *,
    team: Team,
    rule_id: str,
    tag: str = "",
    off: bool = False,
    thresholds: Mapping[str, float] | None = None,
    reason: str,
    actor: AbstractBaseUser,
    now: datetime,
) -> RuleSetting:
    """Switches a rule off, or gives it thresholds, for the team's servers (with that tag). Raises BadSetting."""
    try:
        rule = rule_by_id(rule_id)
    except KeyError:
        raise BadSetting(f"There is no rule {rule_id}.") from None
    reason, tag = reason.strip(), tag.strip()
    if not reason:
        raise BadSetting("Say why: whoever comes next will want to know.")
    if len(reason) > LONGEST_REASON:
        raise BadSetting(f"The reason is longer than {LONGEST_REASON} characters.")
    if len(tag) > 60:
        raise BadSetting("A tag has at most 60 characters.")
    kept = _checked(rule, thresholds or {})
    if not off and not kept:
        raise BadSetting("Switch the rule off, or change one of its thresholds.")
    row, _ = RuleSetting.objects.update_or_create(
        team=team,
        rule=rule.id,
        tag=tag,
        defaults={
            "off": off,
            "thresholds": {} if off else kept,
            "reason": reason,
            "changed_by": cast(User, actor),
            "changed_at": now,
        },
    )
    data = {"rule": rule.id, "tag": tag, "thresholds": row.thresholds, "reason": reason}
    _decided(team.pk, "rule.switched_off" if off else "rule.thresholds_changed", actor, now, data)
    return row


def _checked(rule: Rule, thresholds: Mapping[str, float]) -> dict[str, float]:
    """The thresholds that differ from what the rule declares. Raises BadSetting for a name or number that cannot be."""
    kept = {}
    for name, value in thresholds.items():
        declared = _declared(rule, name)
        if declared is None:
            raise BadSetting(f"{rule.id} has no threshold {name}.")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            raise BadSetting(f"{name} has to be a number from 0 up.")
        if value != declared:
            kept[name] = value
    return kept


@transaction.atomic
def clear_rule(*, setting: RuleSetting, actor: AbstractBaseUser, now: datetime) -> None:
    """The rule counts again as it is declared."""
    _decided(setting.team_id, "rule.setting_cleared", actor, now, {"rule": setting.rule, "tag": setting.tag})
    setting.delete()


def _decided(team_id: str, action: str, actor: AbstractBaseUser, now: datetime, data: dict[str, Any]) -> None:
    """What a person decided stands in both records: beside the charts, and in the audit."""
    record(team_id=team_id, kind=action, at=now, actor=actor, data=data)
    audit.record(team_id=team_id, actor=actor, action=action, subject=str(data["rule"]), data=data, at=now)
