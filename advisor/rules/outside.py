"""Rules that other installed packages add, through the entry-point group ``tidemark.rules``.

An entry point names a package; each module in it that is not called with a leading underscore holds one ``rule``, as
ours do. A rule from outside that cannot be imported, is not documented or has an example that does not hold is left out
and named: it takes nothing else with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

from advisor.engine.evaluation import judge
from advisor.engine.rule import HEADINGS, Rule

GROUP = "tidemark.rules"


@dataclass(frozen=True)
class Outside:
    """The rules of other packages that can be used, and why others cannot (by module or entry point)."""

    rules: tuple[Rule, ...]
    refused: dict[str, str]


@cache
def from_packages() -> Outside:
    """What the installed packages add."""
    return collect(entry_points(group=GROUP))


def collect(points: Iterable[EntryPoint]) -> Outside:
    """The rules of these entry points. Nothing that they raise gets out."""
    rules: dict[str, Rule] = {}
    refused: dict[str, str] = {}
    for point in points:
        try:
            modules = list(_modules(point))
        except Exception as error:  # A package of somebody else's must not keep the product from starting.
            refused[point.value] = f"it cannot be imported: {type(error).__name__}: {error}"
            continue
        for name in modules:
            try:
                rule = import_module(name).rule
                why = _unfit(rule)
            except Exception as error:  # As above.
                why = f"it cannot be used: {type(error).__name__}: {error}"
            if why is None and rule.id in rules:
                why = f"there is a rule {rule.id} already"
            if why is None:
                rules[rule.id] = rule
            else:
                refused[name] = why
    return Outside(tuple(rules.values()), refused)


def _modules(point: EntryPoint) -> Iterator[str]:
    package = import_module(point.value)
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            yield module.name


def _unfit(rule: object) -> str | None:
    """Why this is no rule that can be shown and trusted; None where it is one."""
    if not isinstance(rule, Rule):
        return "its module holds no rule"
    for heading in HEADINGS:
        rule.section(heading)
    if not {one.outcome.__name__ for one in rule.examples} >= {"Finding", "Passed"}:
        return "it needs an example in which it fires and one in which it passes"
    for example in rule.examples:
        outcome = judge(example.seen, [rule], strict=True).outcome(rule.id)
        if not isinstance(outcome, example.outcome):
            return f"its example {example.title!r} does not hold"
    return None
