"""What the catalogue answers for one very server: exists? changeable? what becomes of a value? what goes with it?

Where the catalogue knows a variable, its facts and the server's other values decide; where it does not (a plugin's
variable, a server newer than any that was asked), what the server itself reports is all there is, and that is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from advisor.mysql import buffer_pool, quirks
from advisor.mysql.catalogue import (
    CATALOGUE,
    Catalogue,
    ChangeClass,
    Effect,
    Kind,
    UnknownVariable,
    Value,
    ValueRefused,
    VariableFacts,
)
from advisor.mysql.change_class import reason
from advisor.mysql.snapshot import Origin
from advisor.mysql.values import BadValue, normalised, parse_boolean, parse_integer, parse_real, same
from advisor.mysql.version import ServerVersion


@dataclass(frozen=True)
class Presence:
    """Whether the server has the variable, and whether the catalogue knows it there. ``note`` says what is uncertain,
    in one sentence; empty where nothing is.
    """

    exists: bool
    known: bool
    note: str = ""


@dataclass(frozen=True)
class Changeability:
    """Whether the variable can be changed while the server runs, and when that is felt; ``why`` is half a sentence.

    ``effect`` is None where nothing changes it. ``change_class`` says whether it may be changed from here.
    """

    now: bool
    effect: Effect | None
    change_class: ChangeClass
    why: str


@dataclass(frozen=True)
class Kept:
    """What SET GLOBAL makes of a value. ``value`` is None where the server refuses it, ``why`` then says what it takes.

    ``adjusted``: it keeps another value than it was given (within its bounds, whole blocks, or a limit of another
    variable); it says so in a warning at most. ``moves``: other variables that it changes along by itself.
    """

    value: Value | None
    adjusted: bool
    why: str = ""
    moves: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Companion:
    """Another variable that has to change with one; ``value`` is what it needs at least (``bound`` "least"), at most
    ("most") or exactly ("equal"). ``first``: it has to be set before.
    """

    name: str
    value: Value
    bound: Literal["least", "most", "equal"]
    first: bool
    why: str


@dataclass(frozen=True)
class Persistence:
    """How a change outlives a restart, and how that is undone. ``why`` says why it is not another way."""

    how: Literal["set_persist", "option_file", "parameter_group", "none"]
    undo: str
    why: str = ""


class ServerAnswers:
    """Answers for one server, by what it says of itself.

    ``variables`` as SHOW GLOBAL VARIABLES prints them, by lower-case names; ``origins`` and ``persisted`` as a snapshot
    has them (``persisted`` None: not readable).
    """

    def __init__(
        self,
        server: ServerVersion,
        variables: Mapping[str, str],
        origins: Mapping[str, Origin] | None = None,
        persisted: Mapping[str, str] | None = None,
        *,
        catalogue: Catalogue = CATALOGUE,
    ) -> None:
        self.server = server
        self.variables = variables
        self.origins = origins or {}
        self.persisted = persisted
        self._catalogue = catalogue

    def presence(self, name: str) -> Presence:
        """Whether the server has it: by what it shows, and by the catalogue for what only sessions have."""
        facts = self._catalogue.find(name, self.server)
        shown = name in self.variables
        session_only = facts is not None and facts.scope == "session"
        if shown and facts is None:
            return Presence(True, False, f"{name} is not in the catalogue: only what {self.server} reports is known.")
        if not shown and facts is not None and not session_only:
            return Presence(False, True, f"{name} should be on {self.server}, which does not show it.")
        if facts is not None and not facts.verified:
            return Presence(True, True, f"No server of the series {self.server.series} was asked about {name}.")
        return Presence(shown or session_only, facts is not None)

    def facts(self, name: str) -> VariableFacts:
        """The catalogue's facts, or what can be told from the value that the server shows.

        Raises UnknownVariable where the server shows no such variable and the catalogue knows none.
        """
        facts = self._catalogue.find(name, self.server)
        if facts is not None:
            return facts
        if name not in self.variables:
            raise UnknownVariable(f"{self.server} has no system variable {name}.")
        return _reported(name, self.variables[name])

    def changeable(self, name: str) -> Changeability:
        """Whether and when a change counts. Raises UnknownVariable as ``facts`` does."""
        facts = self.facts(name)
        if facts.read_only:
            return Changeability(False, None, ChangeClass.NEVER, reason(facts))
        if self._catalogue.find(name, self.server) is None:
            return Changeability(False, "restart", ChangeClass.CONFIRM, "nothing is known of it but its value")
        useless = quirks.why_never(self.server, name, self.variables)
        if facts.ignored_when and facts.ignored_when.startswith("always"):
            useless = f"{self.server} ignores it"
        if useless:
            return Changeability(False, None, ChangeClass.NEVER, useless)
        if facts.scope == "session":
            return Changeability(False, None, facts.change_class, "each connection has its own, and only that")
        if not facts.dynamic:
            return Changeability(False, "restart", facts.change_class, "it is read at the start only")
        return Changeability(True, facts.effect, facts.change_class, reason(facts))

    def becomes(self, name: str, value: Value) -> Kept:
        """What SET GLOBAL makes of a value. Raises UnknownVariable as ``facts`` does."""
        facts = self.facts(name)
        try:
            if self._catalogue.find(name, self.server) is None:
                return Kept(_like(facts, value), False, "nothing is known of its bounds")
            kept = self._catalogue.accepted(name, self.server, value)
        except ValueRefused as refused:
            return Kept(None, False, str(refused))
        moves: dict[str, Value] = {}
        if isinstance(kept, int) and not isinstance(kept, bool):
            given = value if isinstance(value, int) else parse_integer(str(value))
            kept = self._within_others(name, kept, given, moves)
        elif isinstance(kept, float):
            kept = self._dirty_pages(name, kept)
        adjusted = not _same_value(facts, kept, value)
        return Kept(kept, adjusted, f"{self.server} keeps {kept}" if adjusted else "", moves)

    def goes_with(self, name: str, value: Value) -> tuple[Companion, ...]:
        """What else has to change so that the value is taken, and does what it is for."""
        kept = self.becomes(name, value).value
        if not isinstance(kept, int | float) or isinstance(kept, bool):
            return ()
        return tuple(_companions(name, kept, self.server, self.variables))

    def persistence(self, name: str) -> Persistence:
        """How a change lasts, and how that is undone. Raises UnknownVariable as ``facts`` does."""
        facts = self.facts(name)
        if facts.read_only or facts.scope == "session":
            return Persistence("none", "", reason(facts) if facts.read_only else "it belongs to a connection")
        if self.server.distribution.managed:
            return Persistence("parameter_group", "give the parameter its old value", "this is a managed server")
        if not self.server.is_mysql or self.server.number < (8, 0, 0):
            return Persistence("option_file", _UNDO_LINE, f"{self.server} has no SET PERSIST")
        if not facts.dynamic or not quirks.persistable(self.server, facts):
            return Persistence("option_file", _UNDO_LINE, f"SET PERSIST does not take {name} here")
        if self.variables.get("persisted_globals_load", "ON").upper() not in {"ON", "1"}:
            return Persistence("option_file", _UNDO_LINE, "persisted_globals_load is OFF, so that nothing is read back")
        if self.persisted is not None and name in self.persisted:
            return Persistence("set_persist", f"SET PERSIST {name} to what was persisted before")
        return Persistence("set_persist", f"RESET PERSIST IF EXISTS {name}")

    def origin(self, name: str) -> Origin | None:
        """Where its value comes from; None where the server does not tell."""
        return self.origins.get(name)

    def origin_in_words(self, name: str) -> str:
        """Where its value comes from, as half a sentence."""
        origin = self.origin(name)
        if origin is None:
            facts = self._catalogue.find(name, self.server)
            default = facts.default if facts is not None else None
            if default is None or name not in self.variables:
                return "this server does not tell where it comes from"
            if same(default, self.variables[name]):
                return "it has its default"
            return "it is not the default; this server does not tell who set it"
        words = _ORIGINS.get(origin.kind, origin.kind)
        return f"{words} ({origin.path})" if origin.path else words

    def _within_others(self, name: str, value: int, given: int, moves: dict[str, Value]) -> int:
        """Whole numbers that other variables limit, or that drag others along."""
        if name == "innodb_buffer_pool_size":
            # MySQL 8.0.33 and 9.7, and MariaDB with a ceiling, cut to whole MiB before they round up; 8.0.12 and all
            # others do not. Nothing between 8.0.12 and 8.0.33 was asked.
            whole = "innodb_buffer_pool_size_max" in self.variables or (
                self.server.is_mysql and self.server.number >= (8, 0, 33)
            )
            return buffer_pool.rounded_pool_size(self.server, self.variables, value if whole else max(value, given))
        if name == "innodb_log_write_ahead_size":
            return quirks.as_kept(self.server, self.facts(name), value, self.variables)
        if name == "innodb_io_capacity":
            most = self._number("innodb_io_capacity_max")
            if most is not None and value > most:
                if self.server.is_mysql:
                    return most
                moves["innodb_io_capacity_max"] = value * 2
        if name == "innodb_io_capacity_max":
            least = self._number("innodb_io_capacity")
            if least is not None and value < least:
                if self.server.is_mysql:
                    return least
                moves["innodb_io_capacity"] = value
        return value

    def _dirty_pages(self, name: str, value: float) -> float:
        most = self._real("innodb_max_dirty_pages_pct")
        if name == "innodb_max_dirty_pages_pct_lwm" and most is not None:
            return min(value, most)
        return value

    def _number(self, name: str) -> int | None:
        text = self.variables.get(name, "")
        return int(text) if text.isdigit() else None

    def _real(self, name: str) -> float | None:
        try:
            return parse_real(self.variables.get(name, ""))
        except BadValue:
            return None


_UNDO_LINE = "take the line out of the option file, or give it its old value"

_ORIGINS = {
    "compiled": "it has its default",
    "automatic": "the server chose it",
    "option_file": "an option file sets it",
    "command_line": "the command line sets it",
    "persisted": "SET PERSIST keeps it",
    "runtime": "it was set while the server ran, and is lost at the next restart unless it is persisted or in a file",
    "environment": "the environment sets it",
}


def _reported(name: str, shown: str) -> VariableFacts:
    """What the value alone tells."""
    kind = Kind.STRING
    if shown.upper() in {"ON", "OFF"}:
        kind = Kind.BOOLEAN
    elif shown.lstrip("-").isdigit():
        kind = Kind.INTEGER
    return VariableFacts(
        name=name,
        kind=kind,
        dynamic=False,
        read_only=False,
        scope="global",
        unit=None,
        minimum=None,
        maximum=None,
        step=None,
        default=None,
        choices=(),
        replaced_by=None,
        verified=False,
        effect="restart",
    )


def _like(facts: VariableFacts, value: Value) -> Value:
    """The value as one of the kind that the server shows. Raises ValueRefused."""
    try:
        if facts.kind is Kind.BOOLEAN:
            return parse_boolean("1" if value is True else "0" if value is False else str(value))
        if facts.kind is Kind.INTEGER:
            return parse_integer(str(int(value) if isinstance(value, bool) else value))
    except BadValue as refused:
        raise ValueRefused(f"{facts.name}: {refused}") from refused
    return str(value)


def _same_value(facts: VariableFacts, kept: Value, given: Value) -> bool:
    if facts.kind is Kind.ENUM and facts.choices and str(given).isdigit() and str(kept) in facts.choices:
        return facts.choices.index(str(kept)) == int(given) or str(kept) == str(given)
    return normalised(kept) == normalised(given)


def _companions(name: str, value: int | float, server: ServerVersion, variables: Mapping[str, str]) -> list[Companion]:
    """The rules by which variables belong together, each where the present value of the other breaks it."""

    def present(other: str) -> int | None:
        text = variables.get(other, "").split(".")[0]
        return int(text) if text.isdigit() else None

    found: list[Companion] = []

    def needs(other: str, least: int | float, why: str, *, first: bool = True) -> None:
        there = present(other)
        if there is not None and there < least:
            found.append(Companion(other, least, "least", first, why))

    def allows(other: str, most: int | float, why: str, *, first: bool = True) -> None:
        there = present(other)
        if there is not None and there > most:
            found.append(Companion(other, most, "most", first, why))

    match name:
        case "innodb_io_capacity":
            needs("innodb_io_capacity_max", value, "MySQL cuts it off at the maximum without a word")
        case "innodb_io_capacity_max":
            allows("innodb_io_capacity", value, "the maximum stays above it (MySQL), or drags it along (MariaDB)")
        case "innodb_max_dirty_pages_pct":
            allows("innodb_max_dirty_pages_pct_lwm", value, "the low-water mark cannot be above it")
        case "innodb_max_dirty_pages_pct_lwm":
            needs("innodb_max_dirty_pages_pct", value, "the low-water mark cannot be above it")
        case "tmp_table_size":
            needs("max_heap_table_size", value, "the smaller of both limits a table in memory", first=False)
        case "max_heap_table_size":
            needs("tmp_table_size", value, "the smaller of both limits a temporary table in memory", first=False)
        case "innodb_log_file_size" if server.is_mariadb and server.number >= (10, 9, 0):
            allows("innodb_log_buffer_size", value, "a running server refuses a log smaller than its buffer")
        case "innodb_log_buffer_size" if server.is_mariadb and server.number >= (10, 9, 0):
            needs("innodb_log_file_size", value, "a running server refuses a log smaller than its buffer")
        case "innodb_buffer_pool_size" if not buffer_pool.resizable_to(variables, int(value)):
            needs("innodb_buffer_pool_size_max", value, "a larger pool is taken with a warning and changes nothing")
        case "innodb_buffer_pool_chunk_size" | "innodb_buffer_pool_instances":
            size = present("innodb_buffer_pool_size")
            other = "innodb_buffer_pool_instances" if name == "innodb_buffer_pool_chunk_size" else _CHUNK
            unit = int(value) * (present(other) or 1)
            if size is not None and unit > 0 and size % unit:
                whole = -(-size // unit) * unit
                found.append(
                    Companion("innodb_buffer_pool_size", whole, "equal", False, "it is rounded up to whole chunks")
                )
        case "max_allowed_packet":
            allows("net_buffer_length", value, "the buffer cannot be larger than a packet")
        case "table_open_cache":
            needs("open_files_limit", 2 * int(value) + (present("max_connections") or 0) + 100, _FILES)
        case "max_connections":
            needs("open_files_limit", int(value) + 2 * (present("table_open_cache") or 0) + 100, _FILES)
        case "max_binlog_cache_size":
            allows("binlog_cache_size", value, "a transaction's cache cannot be larger than its limit")
        case "query_cache_size" if value == 0:
            if variables.get("query_cache_type", "OFF").upper() not in {"OFF", "0"}:
                found.append(
                    Companion("query_cache_type", "OFF", "equal", False, "its mutex is taken as long as the type is on")
                )
        case _:
            pass
    return found


_CHUNK = "innodb_buffer_pool_chunk_size"
_FILES = "tables and connections need descriptors, and the server cuts its caches where they are missing"
