"""The rules, one module each, found by walking this package: a rule exists as soon as its file does."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from advisor.engine.rule import Rule


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of their ids. A module below a topic that holds no ``rule`` is a mistake and raises."""
    found = []
    for module in walk_packages(__path__, f"{__name__}."):
        if not module.ispkg:
            found.append(import_module(module.name).rule)
    return tuple(sorted(found, key=lambda rule: rule.id))


def rule_by_id(rule_id: str) -> Rule:
    """The rule of that id. Raises KeyError where there is none."""
    for rule in all_rules():
        if rule.id == rule_id:
            return rule
    raise KeyError(rule_id)
