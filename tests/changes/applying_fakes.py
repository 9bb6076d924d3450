"""A server and a journal of the step machine in memory, and a death that can be put anywhere between their calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from advisor.changes.applying.grammar import Statement, parse
from advisor.changes.applying.machine import LinkLost, Refused, Row, Step
from advisor.mysql.values import same


class Killed(BaseException):
    """The end of the process: nothing may catch it."""


def _as_given(value: str) -> str:
    return value


@dataclass
class Fake:
    """A server of a few variables. ``made_of`` says what it makes of a value, ``refuses`` what it does not take."""

    values: dict[str, str]
    kept: dict[str, str] = field(default_factory=dict)
    made_of: dict[str, Callable[[str], str]] = field(default_factory=dict)
    refuses: dict[str, str] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    identity: list[str] = field(default_factory=list)
    before_read: Callable[[str], None] = lambda variable: None
    ticks: Callable[[], None] = lambda: None
    links: list[bool] = field(default_factory=list)

    def differences(self) -> Sequence[str]:
        self.ticks()
        return self.identity

    def same_link(self) -> bool:
        return self.links.pop(0) if self.links else True

    def read(self, variable: str) -> str:
        self.before_read(variable)
        self.ticks()
        return self.values[variable]

    def read_back(self, statement: Statement) -> str:
        return self.read(statement.variable)

    def persisted(self, variable: str) -> str | None:
        return self.kept.get(variable)

    def execute(self, statement: str) -> Sequence[str]:
        self.ticks()
        told = parse(statement)
        self.sent.append(statement)
        if told.variable in self.refuses and not same(told.value, self.refuses[told.variable]):
            raise Refused("Error 1231: Variable can't be set to the value.")
        if told.scope == "RESET":
            self.kept.pop(told.variable, None)
        else:
            made = self.made_of.get(told.variable, _as_given)(told.value)
            self.values[told.variable] = made
            if told.scope == "PERSIST":
                self.kept[told.variable] = made
        self.ticks()
        return []


@dataclass
class Kept:
    """A journal in memory."""

    rows: list[Row] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    windows: list[float | None] = field(default_factory=list)
    marks: dict[int, str] = field(default_factory=dict)
    ticks: Callable[[], None] = lambda: None
    holds: int = 0

    def hold(self) -> None:
        self.ticks()
        self.holds += 1

    def write(self, row: Row) -> int:
        self.ticks()
        self.rows.append(row)
        self.states.append("written")
        self.found.append("")
        self.windows.append(None)
        self.ticks()
        return len(self.rows)

    def finish(
        self, number: int, state: str, *, found: str = "", warnings: Sequence[str] = (), window: float | None = None
    ) -> None:
        self.ticks()
        self.states[number - 1] = state
        self.found[number - 1] = found
        self.windows[number - 1] = window

    def mark(self, step: int, state: str, found: str) -> None:
        self.ticks()
        self.marks[step] = state


class DiesAt:
    """Raises at its ``number``-th call (0 never does)."""

    def __init__(self, number: int, what: type[BaseException] = Killed) -> None:
        self.number, self.calls, self.what = number, 0, what

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == self.number:
            raise self.what("the end")


def steps(persist: bool = False, count: int = 6) -> list[Step]:
    """Changes of ``v1`` to ``v<count>``, from 100·n to 200·n."""
    made = []
    for n in range(1, count + 1):
        old, new, name = str(100 * n), str(200 * n), f"v{n}"
        scope = "PERSIST" if persist else "GLOBAL"
        undo = [f"SET GLOBAL `{name}` = {old}"] + ([f"RESET PERSIST IF EXISTS `{name}`"] if persist else [])
        made.append(Step(name, f"SET {scope} `{name}` = {new}", old, new, tuple(undo)))
    return made


def server(count: int = 6) -> Fake:
    return Fake({f"v{n}": str(100 * n) for n in range(1, count + 1)})


__all__ = ["DiesAt", "Fake", "Kept", "Killed", "LinkLost", "Refused", "replace", "server", "steps"]
