"""Judging one server: every rule says exactly one thing, findings are tried against their own proposals, and joined.

A rule that breaks never takes the others with it: its outcome says that it could not be judged, and
``Judgement.defects`` holds what went wrong, for the caller to log. With ``strict`` (tests) a defect is raised
instead.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from advisor.engine.evidence import confidence_in
from advisor.engine.fact import Fact, Harm
from advisor.engine.joining import join
from advisor.engine.observation import Observation
from advisor.engine.outcome import (
    Confidence,
    Finding,
    Inapplicable,
    Item,
    Message,
    Missing,
    NotApplicable,
    NotEvaluated,
    Outcome,
    Passed,
    Severity,
)
from advisor.engine.recommendation import Recommendation, key_of, proposed_metrics, proposed_variables, recommend
from advisor.engine.rule import Rule
from advisor.engine.thresholds import Thresholds
from advisor.engine.units import Quantity, Unit
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.proposal import Investigate, SchemaAdvice, UpgradeAdvice
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.values import BadValue, parse_real, same
from advisor.mysql.version import Distribution

#: Thresholds by their type.
InForce = Mapping[type[Thresholds], Thresholds]

#: Told to a person and changing nothing by themselves, so that there is no value to try.
_EXEMPT = (Investigate, UpgradeAdvice, SchemaAdvice)


@dataclass(frozen=True)
class Judged:
    """What one rule said. ``confidence`` and ``severity`` only where it fired."""

    rule: Rule
    outcome: Outcome
    confidence: Confidence | None = None

    @property
    def severity(self) -> Severity | None:
        """The worst of its items."""
        if not isinstance(self.outcome, Finding):
            return None
        return max((item.severity or self.rule.severity for item in self.outcome.items), key=lambda one: one.rank)


@dataclass(frozen=True)
class Defect:
    """A fault of ours, found while judging: which rule, what is wrong, where (a traceback, or empty)."""

    rule: str
    what: str
    where: str = ""


class BrokenRule(AssertionError):
    """Raised with ``strict``: the defect of a rule, so that a test fails."""


@dataclass(frozen=True)
class Judgement:
    """All rules' outcomes in the order of the rules, the joined recommendations most severe first, and our own
    defects.
    """

    outcomes: tuple[Judged, ...]
    recommendations: tuple[Recommendation, ...]
    defects: tuple[Defect, ...] = ()

    def outcome(self, rule_id: str) -> Outcome:
        """What the rule said. Raises KeyError for a rule that was not asked."""
        for judged in self.outcomes:
            if judged.rule.id == rule_id:
                return judged.outcome
        raise KeyError(rule_id)

    @property
    def missing(self) -> tuple[Remedy, ...]:
        """Everything that kept rules from being evaluated, each once."""
        found: dict[Remedy, None] = {}
        for judged in self.outcomes:
            if isinstance(judged.outcome, NotEvaluated):
                found.update(dict.fromkeys(judged.outcome.missing))
        return tuple(found)


class Facts:
    """Reads each fact of one observation once. Kinds in ``withheld`` are harm that belongs to a value no longer
    there. ``in_force`` are the thresholds by which rules ask about what another rule judges.
    """

    def __init__(
        self, seen: Observation, withheld: Collection[type[Harm]] = (), in_force: InForce | None = None
    ) -> None:
        self.seen = seen
        self.in_force: InForce = in_force or {}
        self._withheld = tuple(withheld)
        self._known: dict[type[Fact], Fact | Missing | Inapplicable] = {}
        self._partial: dict[type[Fact], tuple[Remedy, ...]] = {}

    def of(self, kind: type[Fact]) -> Fact:
        """The fact. Raises Missing or Inapplicable as its ``read`` does."""
        if kind not in self._known:
            before = len(self.seen.partial)
            try:
                fact = kind.read(self.seen)
                if isinstance(fact, Harm) and kind in self._withheld:
                    fact = fact.withheld()
                self._known[kind] = fact
            except (Missing, Inapplicable) as reason:
                self._known[kind] = reason
            self._partial[kind] = tuple(self.seen.partial[before:])
        known = self._known[kind]
        if not isinstance(known, Exception):
            return known
        try:
            # Raised again and again, an exception would gather the frames of everybody who asked.
            raise known.with_traceback(None)
        finally:
            # A frame that holds the exception which holds the frame: only the collector of cycles would end that.
            del known

    def partial(self, kind: type[Fact]) -> tuple[Remedy, ...]:
        """Why a fact that was read knows only a part of what is there; empty where it knows all."""
        return self._partial.get(kind, ())


def judge(
    seen: Observation,
    rules: Iterable[Rule],
    *,
    thresholds: Mapping[str, object] | None = None,
    off: Mapping[str, Message] | None = None,
    holding: Collection[str] | Mapping[str, Severity] = (),
    strict: bool = False,
) -> Judgement:
    """Judges one server by all ``rules``.

    ``thresholds`` maps rule ids to the parameters a team chose instead of the declared ones, ``off`` those that it
    switched off to the reason, which is their outcome. ``holding`` are the
    keys of recommendations that are open: their findings are kept until the figures pass the thresholds'
    ``leave_at``, so that a figure near a threshold does not open and close them. A mapping of them to their
    severities keeps a severity in the same way.
    """
    rules = tuple(rules)
    facts = Facts(seen, in_force=_in_force(rules, thresholds or {}, holding))
    judged: list[Judged] = []
    found: list[Recommendation] = []
    defects: list[Defect] = []
    for rule in rules:
        if off and rule.id in off:
            judged.append(Judged(rule, NotApplicable(off[rule.id])))
            continue
        parameters = (thresholds or {}).get(rule.id, rule.parameters)
        outcome, confidence = _outcome(rule, seen, facts, parameters, holding, defects), None
        if isinstance(outcome, Finding):
            kinds = rule.needs.values()
            doubt = _UNKNOWN_VERSION if any(getattr(facts.of(kind), "unverified", False) for kind in kinds) else None
            each = [
                confidence_in(seen, kinds, unverified=_why_unverified(item, seen) or doubt) for item in outcome.items
            ]
            confidence = min((one.confidence for one in each), key=lambda one: one.rank)
            found += [recommend(rule, item, sure) for item, sure in zip(outcome.items, each, strict=True)]
        judged.append(Judged(rule, outcome, confidence))
    if strict and defects:
        raise BrokenRule("\n".join(f"{defect.rule}: {defect.what}\n{defect.where}" for defect in defects))
    return Judgement(tuple(judged), join(found), tuple(defects))


def _in_force(rules: Iterable[Rule], thresholds: Mapping[str, object], holding: Collection[str]) -> InForce:
    """The thresholds by which each rule judges now, by their type: a team's, and relaxed where a finding is open.

    A rule that asks whether another one's fault is there gets the same answer as that rule by them.
    """
    found: dict[type[Thresholds], Thresholds] = {}
    for rule in rules:
        parameters = thresholds.get(rule.id, rule.parameters)
        if isinstance(parameters, Thresholds):
            found[type(parameters)] = parameters.while_open() if _mine(rule, holding) else parameters
    return found


def _mine(rule: Rule, holding: Collection[str]) -> set[str]:
    """The keys of this rule's open findings."""
    return {key for key in holding if key == rule.id or key.startswith(f"{rule.id}:")}


def _outcome(
    rule: Rule,
    seen: Observation,
    facts: Facts,
    parameters: object | None,
    holding: Collection[str],
    defects: list[Defect],
) -> Outcome:
    """What a rule says, after its findings were tried against their own proposals."""
    try:
        outcome = ask(rule, seen, facts, parameters)
        items = outcome.items if isinstance(outcome, Finding) else ()
        tried = [(_as_severe(item, rule, facts, parameters, holding), parameters) for item in items]
        held = _held(rule, seen, facts, parameters, holding, {key_of(rule.id, item.subject) for item, _ in tried})
        tried += held
        if not tried:
            return outcome
        kept = []
        for item, used in tried:
            wrong = unsatisfied(rule, item, seen, used, facts.in_force)
            if wrong is None:
                kept.append(item)
            else:
                defects.append(Defect(rule.id, wrong))
        return Finding(tuple(kept)) if kept else _broken(rule)
    except Exception as error:  # One broken rule must not cost a server its other advice; the defect is reported.
        defects.append(Defect(rule.id, f"{type(error).__name__}: {error}", traceback.format_exc()))
        return _broken(rule)


def ask(rule: Rule, seen: Observation, facts: Facts, parameters: object | None) -> Outcome:
    """What the rule itself says, nothing tried: by version, by the facts that are missing, or by its check."""
    if not rule.applies_to.contains(seen.server):
        return NotApplicable(
            Message(
                "This rule holds for {versions}; this server is {server}.",
                {
                    "versions": Quantity(str(rule.applies_to), Unit.TEXT),
                    "server": Quantity(str(seen.server), Unit.TEXT),
                },
            )
        )
    there: dict[str, Fact] = {}
    missing: dict[Remedy, None] = {}
    for name, kind in rule.needs.items():
        try:
            there[name] = facts.of(kind)
        except Missing as reason:
            missing.update(dict.fromkeys(reason.remedies))
        except Inapplicable as reason:
            return NotApplicable(reason.why)
    if missing:
        return NotEvaluated(tuple(missing))
    outcome = rule.call(there, parameters, facts.in_force)
    if isinstance(outcome, Passed):
        parts = dict.fromkeys(remedy for kind in rule.needs.values() for remedy in facts.partial(kind))
        if parts:
            # Nothing was found in the part that was read: that is not the same as nothing being there.
            return NotEvaluated(tuple(parts))
    return outcome


def _as_severe(item: Item, rule: Rule, facts: Facts, parameters: object | None, holding: Collection[str]) -> Item:
    """The item with the severity it is open with, where the relaxed thresholds still find it that severe."""
    known = holding.get(key_of(rule.id, item.subject)) if isinstance(holding, Mapping) else None
    severity = item.severity or rule.severity
    if known is None or known.rank <= severity.rank or not isinstance(parameters, Thresholds):
        return item
    outcome = ask(rule, facts.seen, facts, parameters.while_open())
    for one in outcome.items if isinstance(outcome, Finding) else ():
        relaxed = one.severity or rule.severity
        if one.subject == item.subject and relaxed.rank > severity.rank:
            return replace(item, severity=min(known, relaxed, key=lambda each: each.rank))
    return item


def _held(
    rule: Rule,
    seen: Observation,
    facts: Facts,
    parameters: object | None,
    holding: Collection[str],
    already: Collection[str],
) -> list[tuple[Item, object | None]]:
    """Items of open recommendations that the relaxed thresholds still find, and the thresholds they were found with."""
    mine = _mine(rule, holding) - set(already)
    if not mine or not isinstance(parameters, Thresholds):
        return []
    relaxed = parameters.while_open()
    outcome = ask(rule, seen, facts, relaxed)
    if not isinstance(outcome, Finding):
        return []
    return [(item, relaxed) for item in outcome.items if key_of(rule.id, item.subject) in mine]


def unsatisfied(
    rule: Rule, item: Item, seen: Observation, parameters: object | None, in_force: InForce | None = None
) -> str | None:
    """Why an item must not be shown: its own proposal does not end it, changes nothing, or lowers what it should raise.

    None where all is well. What only a person can do is exempt.
    """
    if all(isinstance(change, _EXEMPT) for change in item.proposal):
        return None if item.proposal else "a finding has to propose something"
    values, metrics = proposed_variables(item.proposal), proposed_metrics(item.proposal)
    present = seen.snapshot.variables
    for name, value in values.items():
        if name in rule.raises and name in present:
            try:
                if float(value) < parse_real(present[name]):
                    return f"proposes {name} = {value}, below the present {present[name]}, though it should raise it"
            except (BadValue, ValueError):
                return f"proposes {name} = {value} in place of {present[name]!r}, which cannot be compared"
    if values and not metrics and all(name in present and same(value, present[name]) for name, value in values.items()):
        return f"proposes what is there already: {values}"
    trial = seen.with_proposed(values, metrics)
    again = ask(rule, trial, Facts(trial, rule.caused_by, in_force), parameters)
    if isinstance(again, Finding) and any(one.subject == item.subject for one in again.items):
        return f"still fires with its own proposal in place: {values or sorted(metrics)}"
    return None


#: The reasons for which nothing is more than low, whatever was observed.
_UNKNOWN_VERSION = Message("What is known of this version was confirmed on no server of it.")
_UNKNOWN_DISTRIBUTION = Message("What is known of this distribution was confirmed on no server of it.")


def _why_unverified(item: Item, seen: Observation) -> Message | None:
    """Why what is proposed rests on facts that no server of this version or distribution confirmed; None where one
    did.
    """
    names = proposed_variables(item.proposal)
    server = seen.server
    if names and (server.distribution.managed or server.distribution is Distribution.PERCONA):
        return _UNKNOWN_DISTRIBUTION
    known = (CATALOGUE.find(name, server) for name in names)
    return _UNKNOWN_VERSION if any(facts is None or not facts.verified for facts in known) else None


def _broken(rule: Rule) -> NotEvaluated:
    return NotEvaluated(
        (
            Remedy(
                RemedyKind.VERSION,
                f"rule {rule.id}",
                "This rule could not be judged because of a fault in Tidemark; the log holds the details to report.",
            ),
        )
    )
