"""A rule: metadata as arguments, documentation as the module's docstring, one check over declared facts, executed
examples.

    rule = Rule(__name__, severity=Severity.WARNING, applies_to=["mysql>=5.7", "mariadb>=10.2"],
    parameters=Parameters(), ...)

    @rule.check
    def check(redo: RedoLog, load: RedoLoad, p: Parameters) -> Finding | Passed: ...

The id is the module's place: ``advisor.rules.redo.redo_log_undersized`` is ``redo.redo-log-undersized``. A rule of
another package is called by the last two parts of its module: ``acme_rules.too_many_schemas`` is
``acme-rules.too-many-schemas``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

from advisor.engine.fact import Fact, Harm
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Outcome, Passed, Severity
from advisor.engine.thresholds import Thresholds
from advisor.mysql.proposal import Value
from advisor.mysql.version import VersionSet

HEADINGS = ("Why it matters", "How it is computed", "When to dismiss it")
_PREFIX = "advisor.rules."

Check = Callable[..., Finding | Passed | NotApplicable | NotEvaluated]


@dataclass(frozen=True)
class Example:
    """A recorded or made observation and what the rule must say of it; ``proposes`` maps variables to proposed
    values.
    """

    title: str
    seen: Observation
    outcome: type[Outcome]
    proposes: dict[str, Value] = field(default_factory=dict)


class Rule:
    """One static check. Instances are made once, at import of a rule's module, and are then immutable but for
    ``check``.
    """

    def __init__(
        self,
        module: str,
        *,
        severity: Severity,
        applies_to: Sequence[str],
        since: str,
        references: Sequence[str],
        parameters: Thresholds | None = None,
        caused_by: Sequence[type[Harm]] = (),
        raises: Sequence[str] = (),
    ) -> None:
        """``caused_by`` is the harm that the proposed variables' present values do: it is withheld when the
        proposal is tried.

        ``raises`` names the variables that this rule only ever raises: the engine lets no lower value through.
        """
        self.module = module
        self.is_ours = module.startswith(_PREFIX)
        place = module.removeprefix(_PREFIX) if self.is_ours else ".".join(module.split(".")[-2:])
        if place.count(".") != 1:
            raise ValueError(f"{module}: a rule is a module in the package of its topic")
        self.id = place.replace("_", "-")
        self.severity = severity
        self.applies_to_text = tuple(applies_to)
        self.applies_to = VersionSet.parse(applies_to)
        self.since = since
        self.references = tuple(references)
        self.parameters = parameters
        self.caused_by = tuple(caused_by)
        self.raises = frozenset(raises)
        self.examples: list[Example] = []
        self._check: Check | None = None
        self.needs: dict[str, type[Fact]] = {}
        self._parameter_name: str | None = None
        #: Thresholds of another rule that the check asks by, by the check's parameter: it gets those in force.
        self.asks_by: dict[str, type[Thresholds]] = {}

    @property
    def topic(self) -> str:
        return self.id.split(".")[0]

    @property
    def documentation(self) -> str:
        """The module's docstring, cleaned: the rule's page."""
        return inspect.cleandoc(sys.modules[self.module].__doc__ or "")

    @property
    def title(self) -> str:
        """The docstring's first line, without its full stop."""
        return self.documentation.split("\n", 1)[0].rstrip(".")

    def section(self, heading: str) -> str:
        """The text under one of HEADINGS. Raises ValueError where the docstring lacks it."""
        lines = self.documentation.split("\n")
        if heading not in lines:
            raise ValueError(f"{self.id}: the docstring has no section {heading!r}")
        start = lines.index(heading) + 1
        end = next((i for i in range(start, len(lines)) if lines[i] in HEADINGS), len(lines))
        return inspect.cleandoc("\n".join(lines[start:end])).strip()

    def check(self, function: Check) -> Check:
        """Registers the check and learns from its annotations which facts it needs, and by which thresholds it asks."""
        for name, kind in get_type_hints(function).items():
            if name == "return":
                continue
            if isinstance(kind, type) and issubclass(kind, Fact):
                self.needs[name] = kind
            elif self.parameters is not None and kind is type(self.parameters):
                self._parameter_name = name
            elif isinstance(kind, type) and issubclass(kind, Thresholds):
                self.asks_by[name] = kind
            else:
                raise TypeError(f"{self.id}: the check's parameter {name!r} is neither a Fact nor thresholds of a rule")
        self._check = function
        return function

    def call(
        self,
        facts: dict[str, Fact],
        parameters: object | None = None,
        in_force: Mapping[type[Thresholds], Thresholds] | None = None,
    ) -> Outcome:
        """Runs the check over facts that are all there. ``parameters`` replaces the declared thresholds (a team
        may). ``in_force`` holds the thresholds of other rules that this one asks by; those left out are as declared.
        """
        if self._check is None:
            raise RuntimeError(f"{self.id} has no check")
        arguments: dict[str, Any] = dict(facts)
        if self._parameter_name is not None:
            arguments[self._parameter_name] = parameters if parameters is not None else self.parameters
        for name, kind in self.asks_by.items():
            arguments[name] = (in_force or {}).get(kind) or kind()
        return self._check(**arguments)

    def fires(self, title: str, seen: Observation, proposes: dict[str, Value] | None = None) -> None:
        """An example in which the rule fires."""
        self.examples.append(Example(title, seen, Finding, proposes or {}))

    def passes(self, title: str, seen: Observation) -> None:
        """An example in which the rule passes."""
        self.examples.append(Example(title, seen, Passed))

    def with_thresholds(self, **values: float) -> Thresholds:
        """The rule's parameters with some thresholds changed. Raises ValueError for a name that it does not declare."""
        parameters = self.parameters
        if parameters is None:
            raise ValueError(f"{self.id} has no thresholds")
        unknown = set(values) - {one.name for one in parameters.described()}
        if unknown:
            raise ValueError(f"{self.id} has no threshold {', '.join(sorted(unknown))}")
        return replace(parameters, **values)
