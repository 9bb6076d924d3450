"""Every proposal that a rule's examples make, written for each version that the rule holds for, and executed there.

A firing example is moved to the version of a real server, the settings that it begins with are set there as far as they
can be set at run time, and what it proposes is executed under strict mode, read back and undone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from MySQLdb import Error

from advisor.engine.evaluation import judge
from advisor.engine.outcome import Finding
from advisor.engine.recommendation import proposed_variables
from advisor.engine.rule import Example, Rule
from advisor.engine.scene import arguments_of, scene
from advisor.mysql.catalogue import CATALOGUE
from advisor.mysql.proposal import Proposal, SetVariable
from advisor.mysql.statements import BadProposal, render
from advisor.mysql.values import literal, parse_real, same
from advisor.rules import all_rules
from tests.servers import RunningServer
from tests.servers.fixtures import each_server
from tests.truth.running import execute, version_of

server = each_server()

#: What a test may allocate of memory or disk for one value.
LARGEST_BYTES = 2 << 30
#: A resize goes on for a while after SET.
SETTLE_SECONDS = 20.0


def _moved(example: Example, named: str) -> Any:
    """The example on another version of the same flavor."""
    return scene(**{**arguments_of(example.seen), "named": named})


def _proposals(rule: Rule, named: str) -> Iterator[tuple[Example, Mapping[str, object], Proposal]]:
    """What the rule proposes in those of its examples that fire on this version."""
    flavor = named.split()[0]
    for example in rule.examples:
        made = arguments_of(example.seen)
        if made["named"].split()[0] != flavor:
            continue
        seen = _moved(example, named)
        outcome = judge(seen, [rule], strict=True).outcome(rule.id)
        for item in outcome.items if isinstance(outcome, Finding) else ():
            if any(isinstance(change, SetVariable) for change in item.proposal):
                yield example, made["variables"] or {}, item.proposal


def _variables(server: RunningServer) -> dict[str, str]:
    return {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}


def _too_large(proposal: Proposal, before: Mapping[str, object], version: Any) -> bool:
    for name, value in [*proposed_variables(proposal).items(), *before.items()]:
        known = CATALOGUE.find(name, version)
        if known is not None and known.unit == "bytes":
            try:
                if parse_real(str(value)) > LARGEST_BYTES:
                    return True
            except ValueError:
                continue
    return False


@contextmanager
def _beginning_with(server: RunningServer, wanted: Mapping[str, object], version: Any) -> Iterator[None]:
    """The example's own settings, as far as this server takes them at run time; put back afterwards."""
    present = _variables(server)
    changed: list[str] = []
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        for name, value in wanted.items():
            known = CATALOGUE.find(name, version)
            if known is None or not known.dynamic or name not in present or same(str(value), present[name]):
                continue
            try:
                cursor.execute(f"SET GLOBAL `{name}` = {literal(value)}")  # type: ignore[arg-type]
                changed.append(name)
            except (Error, TypeError, ValueError):
                continue
        yield
        for name in reversed(changed):
            try:
                number = parse_real(present[name])
                text = str(int(number)) if number == int(number) else str(number)
            except ValueError:
                text = literal(present[name])
            try:
                cursor.execute(f"SET GLOBAL `{name}` = {text}")
            except Error:
                continue


def _possible_here(wanted: Mapping[str, object], present: Mapping[str, str], version: Any) -> bool:
    """Whether this server can be as the example is: it has the settings, and none of them takes another start.

    Examples that do are proven where a server is started with them: in the truth table.
    """
    for name, value in wanted.items():
        known = CATALOGUE.find(name, version)
        if name not in present or known is None:
            return False
        if not known.dynamic and not same(str(value), present[name]):
            return False
    return True


def _at_rest(server: RunningServer) -> dict[str, str]:
    """The variables once no resize goes on any more."""
    until = time.monotonic() + SETTLE_SECONDS
    before = _variables(server)
    while True:
        time.sleep(0.2)
        shown, status = _variables(server), server.status()
        resized = status.get("Innodb_redo_log_capacity_resized")
        done = resized is None or resized == shown.get("innodb_redo_log_capacity")
        told = status.get("Innodb_buffer_pool_resize_status", "")
        done = done and (told == "" or any(word in told for word in ("Completed", "not change", "ailed", "same")))
        if (shown["innodb_buffer_pool_size"] == before["innodb_buffer_pool_size"] and done) or time.monotonic() > until:
            return shown
        before = shown


def _settled(server: RunningServer, wanted: Mapping[str, object]) -> dict[str, str]:
    until = time.monotonic() + SETTLE_SECONDS
    while True:
        shown = _variables(server)
        if all(same(value, shown[name]) for name, value in wanted.items() if name in shown):  # type: ignore[arg-type]
            return shown
        if time.monotonic() > until:
            return shown
        time.sleep(0.1)


def test_every_proposal_is_accepted_kept_and_undone(server: RunningServer) -> None:
    version = version_of(server)
    named = f"{'mariadb' if version.is_mariadb else 'mysql'} {version.number_text}"
    faults: list[str] = []
    executed = written = 0
    for rule in all_rules():
        if not rule.applies_to.contains(version) or rule.topic == "galera":
            # What a node of a cluster is told is executed on real nodes, in the truth table.
            continue
        for example, before, proposal in _proposals(rule, named):
            if _too_large(proposal, before, version):
                continue
            where = f"{rule.id} ({example.title})"
            if not _possible_here(before, _variables(server), version):
                continue
            with _beginning_with(server, before, version):
                present = _at_rest(server)
                try:
                    text = render(proposal, version, present, status=server.status())
                except BadProposal as refused:
                    faults.append(f"{where}: cannot be written: {refused}")
                    continue
                written += 1
                if not text.sql or text.needs_restart:
                    continue
                if fault := execute(server, text.sql):
                    faults.append(f"{where}: {fault}")
                    continue
                executed += 1
                wanted = proposed_variables(proposal)
                shown = _settled(server, wanted)
                faults += [
                    f"{where}: {name} was to become {value} and is {shown[name]}"
                    for name, value in wanted.items()
                    if name in shown and not same(value, shown[name])
                ]
                _at_rest(server)
                if fault := execute(server, text.undo):
                    faults.append(f"{where}: undo: {fault}")
                    continue
                restored = _settled(server, {name: present[name] for name in wanted if name in present})
                faults += [
                    f"{where}: {name} was {present[name]} and the undo left {restored[name]}"
                    for name in wanted
                    if name in present and not same(present[name], restored[name])
                ]
    assert not faults, "\n".join(faults)
    assert executed > 50, f"{executed} of {written} were executed"
