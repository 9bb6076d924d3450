"""The step machine: works off one server's part of an approved plan, or takes it back.

It knows neither the database nor the driver: a ``Session`` reads and sends, a ``Journal`` writes down. Two rules carry
everything else. A row is committed *before* its statement is sent, so that whatever dies afterwards, somebody knows
what may have happened. And nothing is overwritten that is not what was approved, or what we wrote ourselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from advisor.changes.applying import wording
from advisor.changes.applying.grammar import Statement, parse
from advisor.mysql.values import same

Said = dict[str, Any]


class Refused(Exception):
    """The server refused one statement; the connection is still good. The text is a sentence."""


class LinkLost(Exception):
    """The connection broke: what the last statement did is for the live values to tell."""


class LeaseLost(Exception):
    """Somebody else may send statements to this server now: this process sends no more."""


class Session(Protocol):
    """One connection to one server, by the apply account. All of it raises LinkLost where the connection breaks."""

    def differences(self) -> Sequence[str]:
        """What of the server's identity is not as it was approved, as sentences; empty where it is that server."""

    def same_link(self) -> bool:
        """Whether the same connection to the same server answers as at the first question."""

    def read(self, variable: str) -> str:
        """The global value now. Raises Refused where the server has no such variable."""

    def read_back(self, statement: Statement) -> str:
        """The global value after a SET, waited for where the server takes its time to get there."""

    def persisted(self, variable: str) -> str | None:
        """What SET PERSIST keeps for the variable; None for nothing. Raises Refused where that is not readable."""

    def execute(self, statement: str) -> Sequence[str]:
        """Sends a statement; the warnings. Raises Refused."""


@dataclass(frozen=True)
class Row:
    """What is written down before a statement is sent. ``undoes`` is the number of the step that it takes back."""

    variable: str
    statement: str
    old: str
    wanted: str
    persisted_before: str | None = None
    undoes: int | None = None


class Journal(Protocol):
    """Where the truth is kept. Each call is committed before it returns."""

    def hold(self) -> None:
        """Renews the right to send. Raises LeaseLost."""

    def write(self, row: Row) -> int:
        """Writes a row; its number."""

    def finish(
        self, number: int, state: str, *, found: str = "", warnings: Sequence[str] = (), window: float | None = None
    ) -> None:
        """What became of a row: done, refused, different, left."""

    def mark(self, step: int, state: str, found: str) -> None:
        """What became of an applied step that is being taken back: undone, left."""


@dataclass(frozen=True)
class Step:
    """One approved statement with its way back. ``old`` and ``new`` as the server prints them."""

    variable: str
    statement: str
    old: str
    new: str
    undo: tuple[str, ...]

    @classmethod
    def of(cls, document: dict[str, Any]) -> Step:
        """From the plan's document."""
        return cls(
            document["variable"], document["statement"], document["old"], document["new"], tuple(document["undo"])
        )

    @property
    def persists(self) -> bool:
        return parse(self.statement).scope == "PERSIST"

    @property
    def restored(self) -> str:
        """The running value that the way back ends with. It differs from ``old`` where a server shows another one."""
        return next((one.value for one in map(parse, reversed(self.undo)) if one.sets), self.old)

    @property
    def persisted_before(self) -> str | None:
        """What SET PERSIST had kept when the plan was made, as its way back says."""
        return next((one.value for one in map(parse, self.undo) if one.scope == "PERSIST"), None)


@dataclass(frozen=True)
class Done:
    """A step that was carried out: ``found`` is the value that it led to: ours, whether or not it was wanted."""

    number: int
    step: Step
    found: str


@dataclass(frozen=True)
class End:
    """How it ended: applied, undone, failed (nothing of it remains), or needs_attention; and the exact truth."""

    state: str
    said: Said
    left: tuple[str, ...] = ()


@dataclass
class Machine:
    """Works on one server with one session. ``guard`` says what forbids to begin, as a sentence; "" for nothing."""

    session: Session
    journal: Journal
    guard: Callable[[], Said | None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    _done: list[Done] = field(default_factory=list)

    # --- there ------------------------------------------------------------------------------------------------------

    def apply(self, steps: Sequence[Step]) -> End:
        """Carries out all steps, or none: what was done before a failure is taken back in reverse order.

        Raises LinkLost and LeaseLost; what has happened then stands in the journal and on the server.
        """
        refusal = self._refusal(steps)
        if refusal is not None:
            return End("failed", refusal)
        for step in steps:
            failure = self._forward(step)
            if failure is not None:
                return self._fail(failure)
        if not self.session.same_link() or self.session.differences():
            return End("needs_attention", wording.another_server_at_the_end())
        return End("applied", wording.applied(len(steps)))

    def _refusal(self, steps: Sequence[Step]) -> Said | None:
        """Why nothing is sent at all, None where all is as it was approved."""
        differences = self.session.differences()
        if differences:
            return wording.another_server(differences)
        if not all(self.session.same_link() for _ in range(3)):
            return wording.several_servers()
        for step in steps:
            if (moved := self._moved(step)) is not None:
                return moved
        return self.guard()

    def _moved(self, step: Step) -> Said | None:
        try:
            live = self.session.read(step.variable)
        except Refused as error:
            return wording.refused(step.variable, str(error))
        if not same(live, step.old):
            return wording.moved(step.variable, step.old, step.new, live)
        if step.persists:
            try:
                kept = self.session.persisted(step.variable)
            except Refused as error:
                return wording.persisted_unreadable(step.variable, str(error))
            if not _same_or_none(kept, step.persisted_before):
                return wording.persisted_moved(step.variable, step.persisted_before, kept)
        return None

    def _forward(self, step: Step) -> Said | None:
        """One step; why it failed, None where it did what was approved."""
        session, journal = self.session, self.journal
        statement = parse(step.statement)
        journal.hold()
        number = journal.write(
            Row(step.variable, step.statement, step.old, step.new, step.persisted_before if step.persists else None)
        )
        asked = self.clock()
        # The last look before the write: no server compares and sets in one, so what is between is made short and told.
        live = session.read(step.variable)
        if not same(live, step.old):
            journal.finish(number, "refused", found=live)
            return wording.moved(step.variable, step.old, step.new, live)
        try:
            warnings = session.execute(step.statement)
        except Refused as error:
            found = session.read(step.variable)
            if same(found, step.old):
                journal.finish(number, "refused", found=found, warnings=[str(error)])
            else:
                # An error was told and yet the value moved: it is ours to take back.
                journal.finish(number, "different", found=found, warnings=[str(error)])
                self._done.append(Done(number, step, found))
            return wording.refused(step.variable, str(error))
        window = (self.clock() - asked) * 1000
        found = session.read_back(statement)
        as_wanted = same(found, step.new)
        self._done.append(Done(number, step, found))
        state = "done" if as_wanted else "different"
        journal.finish(number, state, found=found, warnings=warnings, window=window)
        return None if as_wanted else wording.clamped(step.variable, step.new, found)

    def _fail(self, failure: Said) -> End:
        left = self._take_back(self._done)
        if left:
            return End("needs_attention", wording.failed_and_left(failure, left), left)
        return End("failed", wording.failed_and_undone(failure, len(self._done)))

    # --- and back ---------------------------------------------------------------------------------------------------

    def roll_back(self, done: Sequence[Done]) -> End:
        """Takes back what was applied, in reverse order; where somebody else set a value since, it stays."""
        differences = self.session.differences()
        if differences:
            return End("failed", wording.another_server(differences))
        if not all(self.session.same_link() for _ in range(3)):
            return End("failed", wording.several_servers())
        left = self._take_back(done)
        if left:
            return End("needs_attention", wording.left(left), left)
        if not self.session.same_link() or self.session.differences():
            return End("needs_attention", wording.another_server_at_the_end())
        return End("undone", wording.undone(len(done)))

    def _take_back(self, done: Sequence[Done]) -> tuple[str, ...]:
        """Undoes these, last first. -> the variables that are not as before: ``name = value``."""
        left: list[str] = []
        for one in reversed(done):
            found, restored = self._backward(one)
            self.journal.mark(one.number, "undone" if restored else "left", found)
            if not restored:
                left.append(f"{one.step.variable} = {found}")
        return tuple(left)

    def _backward(self, one: Done) -> tuple[str, bool]:
        """One step back. -> the value found at the end, and whether all is as before."""
        session, step = self.session, one.step
        live = session.read(step.variable)
        try:
            kept = session.persisted(step.variable) if step.persists else None
        except Refused:
            return live, False
        ours_kept = not step.persists or _same_or_none(kept, one.found) or _same_or_none(kept, step.new)
        before_kept = not step.persists or _same_or_none(kept, step.persisted_before)
        if same(live, step.restored) and before_kept:
            return live, True
        if not (same(live, one.found) or same(live, step.restored)) or not (ours_kept or before_kept):
            return live, False
        for text in step.undo:
            statement = parse(text)
            live = session.read(step.variable)
            if not self._send_back(one, statement, live, kept):
                return session.read(step.variable), False
        live = session.read(step.variable)
        return live, same(live, step.restored) and self._kept_as_before(step)

    def _send_back(self, one: Done, statement: Statement, live: str, kept: str | None) -> bool:
        session, journal = self.session, self.journal
        journal.hold()
        number = journal.write(Row(statement.variable, statement.text, live, statement.value, kept, undoes=one.number))
        try:
            warnings = session.execute(statement.text)
        except Refused as error:
            journal.finish(number, "refused", found=session.read(statement.variable), warnings=[str(error)])
            return False
        found = session.read_back(statement) if statement.sets else session.read(statement.variable)
        as_wanted = not statement.sets or same(found, statement.value)
        journal.finish(number, "done" if as_wanted else "different", found=found, warnings=warnings)
        return as_wanted

    def _kept_as_before(self, step: Step) -> bool:
        return not step.persists or _same_or_none(self.session.persisted(step.variable), step.persisted_before)


def _same_or_none(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return one is other
    return same(one, other)
