"""The rules, one module each, found by walking this package: a rule exists as soon as its file does.

Installed packages may add rules of their own: see ``outside`` and docs/own-rules.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import walk_packages

from advisor.engine.rule import Rule
from advisor.rules.outside import from_packages


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of their ids. A module below a topic that holds no ``rule`` is a mistake and raises.

    A rule of another package that cannot be used is left out; ``outside.from_packages`` tells why.
    """
    ours = list(_ours())
    known = {rule.id for rule in ours}
    others = [rule for rule in from_packages().rules if rule.id not in known]
    return tuple(sorted([*ours, *others], key=lambda rule: rule.id))


def _ours() -> Iterator[Rule]:
    for module in walk_packages(__path__, f"{__name__}."):
        if not module.ispkg and module.name != from_packages.__module__:
            yield import_module(module.name).rule


def rule_by_id(rule_id: str) -> Rule:
    """The rule of that id. Raises KeyError where there is none."""
    for rule in all_rules():
        if rule.id == rule_id:
            return rule
    raise KeyError(rule_id)
