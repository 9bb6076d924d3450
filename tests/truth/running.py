"""Running a scenario on one real server: started, prepared, loaded, observed, judged, and its advice carried out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from resource import RLIMIT_NOFILE, getrlimit

from MySQLdb import Error

from advisor.engine.advice import prepare
from advisor.engine.evaluation import Judged, Judgement, judge
from advisor.engine.observation import HostFact, HostFacts, Observation
from advisor.engine.outcome import Finding, NotEvaluated, Passed
from advisor.engine.recommendation import proposed_variables
from advisor.mysql.grants import observe_privileges
from advisor.mysql.proposal import Value
from advisor.mysql.values import same
from advisor.mysql.version import ServerVersion, identify
from advisor.recommendations.observing import observation
from advisor.rules import all_rules
from collector import resolve
from collector.observe import observe
from tests.servers import RunningServer, start_server
from tests.truth.longer import carried_on
from tests.truth.scenario import OBSERVER, Scenario


@dataclass
class Said:
    """What was said of one server, and what was wrong with it by the scenario: empty where all is as it must be."""

    scenario: Scenario
    server: str
    seen: Observation
    judgement: Judgement
    executed: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def of(self, kind: type) -> frozenset[str]:
        """The rules whose outcome is of that kind."""
        return frozenset(one.rule.id for one in self.judgement.outcomes if isinstance(one.outcome, kind))


def run(scenario: Scenario, name: str) -> Said:
    """One cell of the table. Faults are collected, so that one run tells them all."""
    with start_server(name, options=scenario.options_for(name)) as server:
        _prepare(scenario, server)
        watcher = server.client_user("observer", _grants(scenario, server))
        with scenario.load(server):
            time.sleep(scenario.warm_seconds)
            observed = observe(
                resolve.target(watcher.url, password_file=str(watcher.password_file), defaults_group=""),
                seconds=scenario.seconds,
                interval=scenario.interval,
                inspect=scenario.inspect,
            )
            host = HostFacts(**{fact: HostFact(value, "stated") for fact, value in scenario.host.items()})
            seen = observation(observed, host)
            if scenario.hours:
                seen = carried_on(seen, scenario.hours)
            if scenario.uptime_seconds:
                seen = replace(seen, snapshot=replace(seen.snapshot, uptime_seconds=scenario.uptime_seconds))
        said = Said(scenario, name, seen, judge(seen, all_rules()))
        said.faults += [f"{defect.rule} is faulty: {defect.what}\n{defect.where}" for defect in said.judgement.defects]
        _compare(said)
        if scenario.applied:
            _carry_out(said, server)
    return said


def _prepare(scenario: Scenario, server: RunningServer) -> None:
    if callable(scenario.setup):
        scenario.setup(server)
        return
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        for statement in scenario.setup:
            cursor.execute(statement)


def _grants(scenario: Scenario, server: RunningServer) -> str:
    """The privileges of the observing account, as ``client_user`` takes them."""
    if scenario.grants != OBSERVER:
        return "" if scenario.grants == "USAGE" else scenario.grants
    version = version_of(server)
    wanted = [*observe_privileges(version), "SELECT ON performance_schema.*"]
    if scenario.inspect:
        wanted += ["SELECT ON mysql.*", "REFERENCES"]
    return ";".join(wanted)


def version_of(server: RunningServer) -> ServerVersion:
    """The version as the product reads it."""
    variables = {str(name): str(value) for name, value in server.sql("SHOW GLOBAL VARIABLES")}
    return identify(variables["version"], variables.get("version_comment", ""), variables=variables)


def _compare(said: Said) -> None:
    """Holds what was said against what the scenario asks for on this server."""
    scenario, fired = said.scenario, said.of(Finding)
    outcomes = {one.rule.id: one for one in said.judgement.outcomes}
    for rule in sorted(scenario.expected_on(said.server, scenario.fires) - fired):
        said.faults.append(f"{rule} must fire and says {_told(outcomes, rule)}")
    for rule in sorted(scenario.expected_on(said.server, scenario.passes) - said.of(Passed)):
        said.faults.append(f"{rule} must pass and says {_told(outcomes, rule)}")
    for rule in sorted(scenario.silent & fired):
        said.faults.append(f"{rule} must not fire and says {_told(outcomes, rule)}")
    if scenario.nothing_else:
        for rule in sorted(fired - scenario.fires - scenario.may):
            said.faults.append(f"{rule} must not fire here and says {_told(outcomes, rule)}")
    for rule, word in scenario.not_evaluated.items():
        if rule in scenario.but.get(said.server, {}):
            continue
        outcome = outcomes[rule].outcome
        told = [f"{one.what} {one.text}" for one in outcome.missing] if isinstance(outcome, NotEvaluated) else []
        if not any(word.lower() in one.lower() for one in told):
            said.faults.append(f"{rule} must say that {word!r} is missing and says {_told(outcomes, rule)}")
    for rule, severity in scenario.severity.items():
        found = outcomes[rule].severity
        if rule in fired and (found is None or found.value != severity):
            said.faults.append(f"{rule} must be {severity} and is {found}")


def _told(outcomes: Mapping[str, Judged], rule: str) -> str:
    return repr(outcomes[rule].outcome)[:2500] if rule in outcomes else "nothing: there is no such rule"


def _carry_out(said: Said, server: RunningServer) -> None:
    """Executes every proposed statement, reads every value back and undoes it; then starts with the option-file lines.

    A statement that is refused, a value that the server made something else of and an undo that does not restore what
    was there are faults.
    """
    advice = prepare(said.seen, said.judgement)
    lines: list[str] = []
    for one in advice.recommendations:
        rules = "+".join(one.recommendation.rules)
        if one.refused:
            said.faults.append(f"{rules}: its proposal cannot be written: {one.refused}")
            continue
        wanted = proposed_variables(one.recommendation.proposal)
        before = _values(server, wanted)
        if "innodb_redo_log_capacity" in before:
            # A server started with the old names works with another capacity than it shows; that one is restored.
            before["innodb_redo_log_capacity"] = server.status("Innodb_redo_log_capacity_resized").popitem()[1]
        if one.rendered.needs_restart:
            lines += one.rendered.option_file
        if not one.rendered.sql:
            continue
        if fault := execute(server, one.rendered.sql):
            said.faults.append(f"{rules}: {fault}")
            continue
        said.executed += one.rendered.sql
        after = _settled(server, wanted) if not one.rendered.needs_restart else {}
        said.faults += [
            f"{rules}: {name} was to become {value} and is {after[name]}"
            for name, value in wanted.items()
            if name in after and not same(value, after[name])
        ]
        if fault := execute(server, one.rendered.undo):
            said.faults.append(f"{rules}, undo: {fault}")
            continue
        restored = _settled(server, before)
        said.faults += [
            f"{rules}: {name} was {value} and the undo left {restored[name]}"
            for name, value in before.items()
            if not same(value, restored[name])
        ]
    if lines:
        _start_with(said, server, lines)


def _start_with(said: Said, server: RunningServer, lines: Sequence[str]) -> None:
    """Starts the server with the option-file lines of all that needs a restart and reads the values back."""
    options: dict[str, str | None] = {**said.scenario.options_for(said.server)}
    given = option_lines(lines)
    for name, value in given.items():
        options.pop(f"loose_{name}", None)
        options[name] = value
    server.restart(options)
    for name, value in given.items():
        rows = server.sql(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
        told = str(rows[0][1]) if rows else None
        if name == "open_files_limit" and told == str(getrlimit(RLIMIT_NOFILE)[1]):
            continue  # No server goes beyond what the machine allows, as the price of that proposal says.
        if told is not None and value and not same(value, told):
            said.faults.append(f"the option-file line {name} = {value} gave {told}")
    said.executed += [f"[mysqld] {name} = {value}" for name, value in given.items()]


def option_lines(lines: Iterable[str]) -> dict[str, str | None]:
    """Lines of an option file as names (with underscores) and values; None for a bare name. Comments are left out."""
    found: dict[str, str | None] = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not line.lstrip().startswith("#"):
            found[name.strip().replace("-", "_")] = value.strip() if equals else None
    return found


def execute(server: RunningServer, statements: Sequence[str]) -> str:
    """Runs the statements as an administrator under strict mode; why one was refused, or an empty text."""
    with closing(server.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES'")
        for statement in statements:
            try:
                cursor.execute(statement)
            except Error as refused:
                return f"{statement}: {refused}"
    return ""


def _values(server: RunningServer, names: Iterable[str]) -> dict[str, str]:
    shown = {}
    for name in names:
        rows = server.sql(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
        if rows:
            shown[name] = str(rows[0][1])
    return shown


def _settled(server: RunningServer, wanted: Mapping[str, Value]) -> dict[str, str]:
    """The values once they are what was wanted, or after some seconds: a buffer pool takes its time to resize."""
    until = time.monotonic() + 15
    while True:
        shown = _values(server, wanted)
        as_wanted = all(same(value, shown[name]) for name, value in wanted.items() if name in shown)
        # MySQL 5.7 shows the new size at once, and mixes both up where the next one comes while it still resizes.
        if as_wanted and not ("innodb_buffer_pool_size" in wanted and _resizing(server)):
            return shown
        if time.monotonic() > until:
            return shown
        time.sleep(0.2)


def _resizing(server: RunningServer) -> bool:
    status = server.status("Innodb_buffer_pool_resize_status").get("Innodb_buffer_pool_resize_status", "")
    return bool(status) and not status.startswith(("Completed", "Size did not change", "OK"))
