"""A proposal as text for one very server: statements for the running server, option-file lines, and both ways back.

Names come from the catalogue and values from a typed parser, so that nothing a server or a person said is ever spliced
into a statement. What a statement will do was found on real servers: which values are rounded, which variables drag
others along, what is refused at run time although a server starts with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from advisor.mysql import quirks, values
from advisor.mysql.proposal import (
    Change,
    Investigate,
    SchemaAdvice,
    SetConsumers,
    SetInstruments,
    SetMetricCounters,
    SetVariable,
    UpgradeAdvice,
)
from advisor.mysql.snapshot import Origin
from advisor.mysql.values import Value
from advisor.mysql.version import ServerVersion

Text = str | int | float


class BadProposal(ValueError):
    """A proposal that cannot be written for this server; the message says why, in one sentence."""


class VariableKnowledge(Protocol):
    """What rendering needs of the catalogue's facts about one variable on one server."""

    @property
    def name(self) -> str: ...
    @property
    def dynamic(self) -> bool: ...
    @property
    def scope(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def choices(self) -> tuple[str, ...]: ...
    @property
    def minimum(self) -> int | float | None: ...
    @property
    def maximum(self) -> int | float | None: ...
    @property
    def step(self) -> int | None: ...
    @property
    def effect(self) -> str: ...
    @property
    def ignored_when(self) -> str | None: ...
    @property
    def replaced_by(self) -> str | None: ...


class Knowledge(Protocol):
    """The catalogue, as far as rendering needs it."""

    def find(self, name: str, server: ServerVersion) -> VariableKnowledge | None: ...


@dataclass(frozen=True)
class RenderedChange:
    """One change of a proposal. ``current`` and ``proposed`` are spelled as ``SELECT @@GLOBAL`` prints them.

    ``kind`` and ``effect`` are the words of the advice schema: variable, instrument, consumer, metric, schema, upgrade,
    investigate; at_once, new_connections, restart.
    """

    kind: str
    name: str = ""
    current: str = ""
    proposed: str = ""
    needs_restart: bool = False
    effect: str = "at_once"
    advice: str = ""


@dataclass(frozen=True)
class Rendered:
    """A proposal's text. ``sql`` is the run-time part, in order; ``undo`` takes back exactly what ``sql`` did.

    ``option_file`` are lines for the server's section of an option file, complete by themselves; ``undo_option_file``
    are the lines with which a start gives the old values. On a managed server all four are empty, and ``parameters``
    and ``undo_parameters`` are what its parameter group has to say, values as the server prints them; else those are
    empty.
    ``notes`` are sentences that whoever applies it has to know.
    """

    sql: tuple[str, ...] = ()
    option_file: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    undo_option_file: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    undo_parameters: tuple[str, ...] = ()
    needs_restart: bool = False
    effect: str = "at_once"
    changes: tuple[RenderedChange, ...] = ()
    notes: tuple[str, ...] = ()


#: Never written, whatever a catalogue or a rule says: variables by which a server loads code, writes files elsewhere,
#: opens up, or changes what data mean; and the switches of counters, which hold no state that an undo could restore.
_FORBIDDEN = re.compile(
    r"init_(connect|slave|replica|file)|plugin_.*|wsrep_(provider|notify_cmd|sst_.*|cluster_address)"
    r"|log_bin_trust_function_creators|automatic_sp_privileges|event_scheduler|local_infile"
    r"|(general|slow_query)_log_file|log_error(?!_verbosity).*|.*_(dir|file|path|basename)|secure_file_priv|tmpdir"
    r"|slave_load_tmpdir"
    r"|(ssl|tls|keyring|authentication|validate_password|audit_log|server_audit)_?.*|character_sets_dir|lc_messages_dir"
    r"|default_authentication_plugin|old_passwords|secure_auth|mandatory_roles|partial_revokes|proxy_protocol_networks"
    r"|bind_address|port|skip_networking|require_secure_transport|(super_)?read_only|offline_mode|server_(id|uuid)|gtid_.*"
    r"|enforce_gtid_consistency|sql_log_bin|binlog_(format|row_image)|replicate_.*|sql_mode|foreign_key_checks|unique_checks|autocommit"
    r"|(tx|transaction)_isolation|character_set_.*|collation_.*|time_zone|lower_case_table_names|default_storage_engine"
    r"|innodb_(force_recovery|fast_shutdown|read_only|monitor_.*)|(.*_)?debug"
)


def is_never_written(name: str) -> bool:
    """Whether no statement ever sets this variable, by the list that holds whatever the catalogue says."""
    return _FORBIDDEN.fullmatch(name) is not None


def is_forbidden(name: str) -> bool:
    """Whether the variable is one that is never written, by any road."""
    return _FORBIDDEN.fullmatch(name) is not None


_NAME = re.compile(r"[a-z][a-z0-9_]*")
_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
#: Names of instruments have spaces and parentheses; what could end or escape a quoted word is refused.
_INSTRUMENT = re.compile(r"[^\x00-\x1f\x7f'\"\\`]+")
_CONSUMER = re.compile(r"[a-z_]+")

#: Pairs in which the first may not be above the second: servers clamp one or drag the other along, some without a word.
_BOUND_PAIRS = (
    ("innodb_io_capacity", "innodb_io_capacity_max"),
    ("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"),
)


@dataclass(frozen=True)
class _Set:
    """One variable on its way from ``old`` to ``new``.

    ``runtime`` says that it can be set on the running server; ``why_not`` and ``why_no_undo`` say why a dynamic
    variable cannot be set, or be set back, while the server runs.
    """

    facts: VariableKnowledge
    old: Value
    new: Value
    runtime: bool
    undo_value: Value
    why_not: str | None = None
    why_no_undo: str | None = None

    @property
    def name(self) -> str:
        return self.facts.name


@dataclass
class _Parts:
    """What rendering gathers, change by change."""

    sql: list[str] = field(default_factory=list)
    option_file: list[str] = field(default_factory=list)
    undo: list[str] = field(default_factory=list)
    undo_option_file: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    undo_parameters: list[str] = field(default_factory=list)
    changes: list[RenderedChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def render(
    proposal: Iterable[Change],
    server: ServerVersion,
    variables: Mapping[str, str],
    origins: Mapping[str, Origin] | None = None,
    *,
    status: Mapping[str, Text] | None = None,
    persisted: Mapping[str, str] | None = None,
    enabled_metrics: Collection[str] | None = None,
    instruments: Mapping[str, tuple[bool, bool | None]] | None = None,
    consumers: Mapping[str, bool] | None = None,
    catalogue: Knowledge | None = None,
) -> Rendered:
    """Writes a proposal for one server.

    ``variables`` are the present values as SHOW GLOBAL VARIABLES prints them. ``persisted`` is MySQL's
    performance_schema.persisted_variables: where it is given the change is made to last by SET PERSIST, and the undo
    restores what was persisted before; where it is None (not readable) the statements are SET GLOBAL and the option
    file makes the change last. ``enabled_metrics``, ``instruments`` (name -> enabled, timed) and ``consumers`` are the
    present state, so that the undo can be exact; without them nothing is skipped, and instruments and consumers are
    refused. Raises BadProposal for a variable the server does not have or that is never touched, and for values it
    would not take.
    """
    if catalogue is None:
        from advisor.mysql.catalogue import CATALOGUE

        catalogue = CATALOGUE
    parts = _Parts()
    proposed: dict[str, Value] = {}
    others: list[Change] = []
    for change in proposal:
        if isinstance(change, SetVariable):
            proposed[change.name] = change.value
        else:
            others.append(change)
    _complete_pairs(proposed, variables)
    sets = [_set(name, value, server, variables, status or {}, catalogue) for name, value in proposed.items()]
    _variables(parts, [one for one in sets if not values.same(one.old, one.new)], server, variables, persisted)
    for change in others:
        if isinstance(change, SetMetricCounters):
            _metrics(parts, change, enabled_metrics)
        elif isinstance(change, SetInstruments):
            _instruments(parts, change, instruments)
        elif isinstance(change, SetConsumers):
            _consumers(parts, change, consumers)
        elif isinstance(change, SchemaAdvice):
            parts.changes.append(RenderedChange("schema", name=change.subject, advice=change.advice))
        elif isinstance(change, UpgradeAdvice):
            parts.changes.append(RenderedChange("upgrade", proposed=change.to_version, advice=change.advice))
        elif isinstance(change, Investigate):
            parts.changes.append(RenderedChange("investigate", advice=change.advice))
    if server.distribution.managed and (parts.sql or parts.option_file):
        _to_parameter_group(parts)
    effects = {change.effect for change in parts.changes}
    return Rendered(
        sql=tuple(parts.sql),
        option_file=tuple(parts.option_file),
        undo=tuple(parts.undo),
        undo_option_file=tuple(parts.undo_option_file),
        parameters=tuple(parts.parameters),
        undo_parameters=tuple(parts.undo_parameters),
        needs_restart=any(change.needs_restart for change in parts.changes),
        effect=next((effect for effect in ("restart", "new_connections") if effect in effects), "at_once"),
        changes=tuple(parts.changes),
        notes=tuple(parts.notes),
    )


#: What is said of statements and option files, neither of which a managed server's people have.
_OF_STATEMENTS = ("SET GLOBAL is lost", "Counters switched at run time are lost")


def _to_parameter_group(parts: _Parts) -> None:
    """The same proposal as a managed server takes it: names and values of its parameter group, and nothing else."""
    for change in parts.changes:
        if change.kind == "variable":
            parts.parameters.append(f"{change.name} = {change.proposed}")
            parts.undo_parameters.append(f"{change.name} = {change.current}")
    counters = [line.replace("'", "") for line in parts.option_file if line.startswith("innodb_monitor_")]
    parts.parameters += counters
    for lines in (parts.sql, parts.undo, parts.option_file, parts.undo_option_file):
        lines.clear()
    parts.notes[:] = [note for note in parts.notes if not note.startswith(_OF_STATEMENTS)]
    parts.notes.append(
        "This is a managed server: set the values in its parameter group (Azure: server parameters; Cloud SQL: "
        "database flags), not by statements."
    )


def _number(value: Value) -> Decimal:
    number = values.normalised(value)
    if isinstance(number, Decimal):
        return number
    try:
        return Decimal(values.parse_integer(str(value)))
    except values.BadValue as error:
        raise BadProposal(str(error)) from error


def _complete_pairs(proposed: dict[str, Value], variables: Mapping[str, str]) -> None:
    """Adds the other one of a pair where the server would move it by itself, so that it is seen and can be undone."""
    for lower, upper in _BOUND_PAIRS:
        if not ({lower, upper} & proposed.keys()) or lower not in variables or upper not in variables:
            continue
        low = _number(proposed.get(lower, variables[lower]))
        high = _number(proposed.get(upper, variables[upper]))
        if low <= high:
            continue
        if lower in proposed and upper in proposed:
            raise BadProposal(f"{lower} = {low} is above {upper} = {high}: no server takes that.")
        if lower not in proposed:
            proposed[lower] = proposed[upper]
        elif lower == "innodb_io_capacity":
            proposed[upper] = int(low) * 2
        else:
            raise BadProposal(f"{lower} = {low} is above {upper} = {high}: raise {upper} with it.")


def _set(
    name: str,
    value: Value,
    server: ServerVersion,
    variables: Mapping[str, str],
    status: Mapping[str, Text],
    catalogue: Knowledge,
) -> _Set:
    """Checks one value against what is known of the variable, and rounds it as the server will."""
    if _NAME.fullmatch(name) is None or _FORBIDDEN.fullmatch(name):
        raise BadProposal(f"{name!r} is a variable that Tidemark never sets.")
    facts = catalogue.find(name, server)
    if facts is None or name not in variables:
        raise BadProposal(f"{server} has no system variable {name}.")
    if facts.read_only:
        raise BadProposal(f"{name} only informs on {server}: nothing sets it.")
    if facts.ignored_when:
        instead = f": set {facts.replaced_by}" if facts.replaced_by and facts.replaced_by != "-" else ""
        raise BadProposal(f"{name} cannot be set to any use on {server}, ignored {facts.ignored_when}{instead}.")
    never = quirks.why_never(server, name, variables)
    if never is not None:
        raise BadProposal(f"{name} cannot be set to any use on {server}: {never}.")
    try:
        old = _typed(variables[name], facts)
    except BadProposal:
        # What a server shows may lie outside of what it takes (an empty or a former word); the change is still right.
        old = variables[name]
    if name == "optimizer_switch":
        value = _merged_flags(variables[name], str(value))
    new = _within(_typed(value, facts), facts, server, variables)
    undo_value: Value = old
    if name == "innodb_redo_log_capacity":
        # A server started with the old names works with another capacity than this variable shows.
        undo_value = int(status.get("Innodb_redo_log_capacity_resized", 0)) or old
    why = why_no_undo = None
    if facts.dynamic:
        why = quirks.why_not_at_run_time(server, name, old, new, variables, running_with=old)
        why_no_undo = quirks.why_not_at_run_time(server, name, new, undo_value, variables, running_with=old)
    # What could be set but not set back is not offered as a statement: the undo has to take back all that the SQL did.
    runtime = facts.dynamic and why is None and why_no_undo is None
    return _Set(facts, old, new, runtime, undo_value, why, why_no_undo)


def _typed(value: Value, facts: VariableKnowledge) -> Value:
    """A value of the type in which it is written; numbers in the text of a variable are numbers in a statement."""
    try:
        if facts.kind == "boolean":
            return value if isinstance(value, bool) else values.parse_boolean(str(value))
        if facts.kind == "integer":
            return int(value) if isinstance(value, (bool, int)) else values.parse_integer(_whole(value))
        if facts.kind == "real":
            return values.parse_real(str(value)) if isinstance(value, str) else float(value)
        text = "ON" if value is True else "OFF" if value is False else str(value)
        if facts.choices and text and facts.kind == "enum":
            text = values.parse_enum(text, facts.choices)
        if facts.choices and text and facts.kind == "set" and "=" not in text:
            text = ",".join(values.parse_set(text, facts.choices))
    except values.BadValue as error:
        raise BadProposal(f"{facts.name}: {error}") from error
    # Some choices are digits (innodb_flush_neighbors), and servers take digits without quotes only.
    return int(text) if text.isascii() and text.isdigit() else text


def _merged_flags(present: str, wanted: str) -> str:
    """All flags with the wanted ones changed: a server takes a few of them, but shows and restores all."""
    try:
        flags, changed = values.parse_flags(present), values.parse_flags(wanted)
    except values.BadValue as error:
        raise BadProposal(str(error)) from error
    unknown = sorted(changed.keys() - flags.keys())
    if unknown:
        raise BadProposal(f"This server's optimizer_switch has no flag {', '.join(unknown)}.")
    return values.print_flags({**flags, **changed})


def _whole(value: str | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _within(value: Value, facts: VariableKnowledge, server: ServerVersion, variables: Mapping[str, str]) -> Value:
    """The value as the server will read it back, or BadProposal where it would cut it off at a bound."""
    if isinstance(value, (bool, str)):
        return value
    for bound, word in ((facts.minimum, "smallest"), (facts.maximum, "largest")):
        if bound is not None and (value < bound if word == "smallest" else value > bound):
            raise BadProposal(f"{facts.name} = {value} is beyond the {word} value that {server} takes, {bound}.")
    return quirks.as_kept(server, facts, value, variables) if isinstance(value, int) else value


def _ordered(sets: list[_Set], *, undo: bool) -> list[_Set]:
    """The order in which no server clamps one value at the other's: upper bounds rise first and fall last."""
    by_name = {one.name: one for one in sets}
    order = list(reversed(sets)) if undo else list(sets)
    for lower, upper in _BOUND_PAIRS:
        if lower in by_name and upper in by_name:
            pair = by_name[upper]
            before, after = (pair.new, pair.undo_value) if undo else (pair.old, pair.new)
            first, second = (upper, lower) if _number(after) >= _number(before) else (lower, upper)
            at = min(order.index(by_name[lower]), order.index(by_name[upper]))
            order = [one for one in order if one.name not in (lower, upper)]
            order[at:at] = [by_name[first], by_name[second]]
    return order


def _variables(
    parts: _Parts,
    sets: list[_Set],
    server: ServerVersion,
    variables: Mapping[str, str],
    persisted: Mapping[str, str] | None,
) -> None:
    can_persist = (
        server.is_mysql
        and server.number >= (8, 0, 0)
        and persisted is not None
        and variables.get("persisted_globals_load", "ON").upper() in {"ON", "1"}
    )
    runtime = [one for one in sets if one.runtime]
    kept = {one.name for one in runtime if can_persist and quirks.persistable(server, one.facts)}
    for one in _ordered(runtime, undo=False):
        parts.sql.append(_statement("PERSIST" if one.name in kept else "GLOBAL", one.name, one.new))
    for one in _ordered(runtime, undo=True):
        parts.undo += _undo(one, persisted if one.name in kept else None)
    for one in sets:
        if one.why_not is not None:
            parts.notes.append(f"{one.name} needs a restart here: {one.why_not}.")
        elif one.why_no_undo is not None:
            parts.notes.append(
                f"{one.name} could be set while the server runs, but not set back: {one.why_no_undo}. "
                "With a restart both ways are open."
            )
        parts.option_file.append(_line(one, one.new))
        parts.undo_option_file.append(_line(one, one.undo_value))
        real = one.facts.kind == "real"
        parts.changes.append(
            RenderedChange(
                "variable",
                name=one.name,
                current=values.as_printed(one.old, real=real),
                proposed=values.as_printed(one.new, real=real),
                needs_restart=not one.runtime,
                effect=str(one.facts.effect) if one.runtime else "restart",
            )
        )
    if len(kept) < len(runtime):
        parts.notes.append("SET GLOBAL is lost at the next restart: add the option-file lines, too.")


def _statement(scope: str, name: str, value: Value) -> str:
    return f"SET {scope} `{name}` = {_literal(value)}"


def _literal(value: Value) -> str:
    if isinstance(value, float):
        number = f"{Decimal(str(value)):f}"
        return number.rstrip("0").rstrip(".") if "." in number else number
    try:
        return values.literal(value)
    except values.BadValue as error:
        raise BadProposal(str(error)) from error


def _undo(one: _Set, persisted: Mapping[str, str] | None) -> list[str]:
    """The statements that restore the running value, and on MySQL 8+ what was persisted before."""
    if persisted is None:
        return [_statement("GLOBAL", one.name, one.undo_value)]
    if one.name not in persisted:
        return [_statement("GLOBAL", one.name, one.undo_value), f"RESET PERSIST IF EXISTS `{one.name}`"]
    before = _typed(persisted[one.name], one.facts)
    statements = [_statement("PERSIST", one.name, before)]
    if not values.same(before, one.undo_value):
        statements.append(_statement("GLOBAL", one.name, one.undo_value))
    return statements


def _line(one: _Set, value: Value) -> str:
    """A line of an option file. An empty value cannot be written as one: 5.7 refuses to start with it."""
    if value == "":
        return f"# {one.name} was not set: remove its line"
    if one.facts.unit == "bytes" and isinstance(value, int) and not isinstance(value, bool):
        return f"{one.name} = {values.option_size(value)}"
    text = _literal(value)
    return f"{one.name} = {text[1:-1] if text.startswith(chr(39)) else text}"


def _metrics(parts: _Parts, change: SetMetricCounters, enabled: Collection[str] | None) -> None:
    """Switches of innodb_metrics counters, name by name: switching by module or pattern could not be undone exactly."""
    for names, verb, opposite, wanted in (
        (change.enable, "enable", "disable", True),
        (change.disable, "disable", "enable", False),
    ):
        chosen = [name for name in names if enabled is None or (name in enabled) is not wanted]
        for name in chosen:
            if _METRIC.fullmatch(name) is None:
                raise BadProposal(f"{name!r} is no name of an innodb_metrics counter.")
            parts.sql.append(f"SET GLOBAL `innodb_monitor_{verb}` = '{name}'")
            parts.undo.append(f"SET GLOBAL `innodb_monitor_{opposite}` = '{name}'")
            parts.changes.append(
                RenderedChange("metric", name=name, current=str(not wanted).lower(), proposed=str(wanted).lower())
            )
        if chosen:
            # One line for all: of several lines a server takes the last one only (MySQL 8.0.33, MariaDB 10.11.19).
            parts.option_file.append(f"innodb_monitor_{verb} = '{','.join(chosen)}'")
            parts.notes.append(
                "Counters switched at run time are lost at the next restart: add the option-file line, too, and merge "
                f"it with an innodb_monitor_{verb} line that may be there, since only the last one counts."
            )


def _instruments(parts: _Parts, change: SetInstruments, present: Mapping[str, tuple[bool, bool | None]] | None) -> None:
    if present is None:
        raise BadProposal("Instruments cannot be changed reversibly without having read which are switched on.")
    groups: dict[tuple[bool, bool | None], list[str]] = {}
    undo: dict[tuple[bool, bool | None], list[str]] = {}
    for name, enabled, timed in change.instruments:
        if name not in present or _INSTRUMENT.fullmatch(name) is None:
            raise BadProposal(f"This server has no performance_schema instrument {name[:80]!r}.")
        was_enabled, was_timed = present[name]
        wanted = None if was_timed is None else timed
        if (was_enabled, was_timed if wanted is not None else None) == (enabled, wanted):
            continue
        groups.setdefault((enabled, wanted), []).append(name)
        undo.setdefault((was_enabled, was_timed if wanted is not None else None), []).append(name)
        state = "OFF" if not enabled else "COUNTED" if wanted is False else "ON"
        parts.option_file.append(f"performance-schema-instrument = '{name}={state}'")
        parts.changes.append(
            RenderedChange(
                "instrument", name=name, current=_state(was_enabled, was_timed), proposed=_state(enabled, wanted)
            )
        )
    parts.sql += [_update_instruments(state, names) for state, names in groups.items()]
    parts.undo += [_update_instruments(state, names) for state, names in undo.items()]


def _state(enabled: bool, timed: bool | None) -> str:
    return "off" if not enabled else "on, timed" if timed else "on"


def _update_instruments(state: tuple[bool, bool | None], names: list[str]) -> str:
    enabled, timed = state
    columns = f"ENABLED = '{_yes(enabled)}'" + ("" if timed is None else f", TIMED = '{_yes(timed)}'")
    listed = ", ".join(f"'{name}'" for name in names)
    # Only names that this server listed itself come here, and only of characters that cannot end a quoted word.
    return f"UPDATE performance_schema.setup_instruments SET {columns} WHERE NAME IN ({listed})"  # noqa: S608


def _consumers(parts: _Parts, change: SetConsumers, present: Mapping[str, bool] | None) -> None:
    if present is None:
        raise BadProposal("Consumers cannot be changed reversibly without having read which are switched on.")
    for name, enabled in change.consumers:
        if name not in present or _CONSUMER.fullmatch(name) is None:
            raise BadProposal(f"This server has no performance_schema consumer {name[:80]!r}.")
        if present[name] is enabled:
            continue
        statement = "UPDATE performance_schema.setup_consumers SET ENABLED = '{}' WHERE NAME = '{}'"
        parts.sql.append(statement.format(_yes(enabled), name))
        parts.undo.append(statement.format(_yes(not enabled), name))
        dashed = name.replace("_", "-")
        parts.option_file.append(f"performance-schema-consumer-{dashed} = {'ON' if enabled else 'OFF'}")
        parts.changes.append(
            RenderedChange("consumer", name=name, current=str(not enabled).lower(), proposed=str(enabled).lower())
        )


def _yes(state: bool) -> str:
    return "YES" if state else "NO"
