"""What a real server tells of its system variables: the source of the product's catalogue.

MariaDB answers everything in INFORMATION_SCHEMA.SYSTEM_VARIABLES. MySQL 8 and later state bounds in
performance_schema.variables_info; what no MySQL states is tried: SET GLOBAL to the present value tells a dynamic
variable (error 1238 otherwise), and `--verbose --help` prints what the server makes of an option it was given, without
starting, which tells bounds (of values far outside), block sizes (of a value one below a power of two) and choices.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from .places import Installation
from .running import RunningServer

_READ_ONLY_ERROR = 1238
_TOO_LARGE = 1 << 63
_ODD = (1 << 40) - 1
_LARGEST_STEP = 1 << 24

# What a server cannot tell and its manual does: bounds that MySQL 5.7's --help shows already cut to this machine's
# limits, and MariaDB's log_bin, whose option is of another type than the variable.
FROM_MANUAL: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("mysql-5.7.22", "back_log"): {"minimum": "1"},
    ("mysql-5.7.22", "max_connections"): {"maximum": "100000"},
    ("mysql-5.7.22", "open_files_limit"): {"minimum": "0", "maximum": "4294967295"},
    ("mysql-5.7.22", "performance_schema_digests_size"): {"minimum": "-1"},
    ("mysql-5.7.22", "performance_schema_max_table_instances"): {"minimum": "-1"},
    ("mysql-5.7.22", "query_cache_size"): {"maximum": str(2 * _TOO_LARGE - 1), "step": "1024"},
    ("mysql-5.7.22", "table_open_cache"): {"maximum": "524288"},
    ("mariadb", "log_bin"): {"change": "restart", "default": "OFF"},
}
# Variables whose option has another name.
_OPTIONS = {"tx_isolation": "transaction-isolation"}


@dataclass(frozen=True)
class Wanted:
    """A variable to ask for: its name, the unit of its values ("-": none), and words it may take if it is a choice.

    `computed` lists servers (by the beginning of their names, "mysql" for all of MySQL) whose default depends on the
    machine or on other variables: none is recorded for them.
    """

    name: str
    unit: str = "-"
    choices: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """One variable on one server. Absent facts are "-"; the fields are the columns of the catalogue's files."""

    name: str
    kind: str
    scope: str
    change: str
    unit: str
    minimum: str
    maximum: str
    step: str
    default: str
    choices: str


COLUMNS = tuple(field.name for field in fields(Told))


def tell(server: RunningServer, wanted: Iterable[Wanted]) -> list[Told]:
    """What this server says of the wanted variables it has, by name."""
    reader = _mariadb if server.flavor == "mariadb" else _MySQL(server).read
    told = [fact for one in sorted(wanted, key=lambda w: w.name) if (fact := reader(server, one)) is not None]
    return [replace(fact, **_from_manual(server, fact.name)) for fact in told]


def _from_manual(server: RunningServer, name: str) -> Mapping[str, str]:
    return {**FROM_MANUAL.get((server.flavor, name), {}), **FROM_MANUAL.get((server.name, name), {})}


def grouped(by_server: Mapping[str, Sequence[Told]]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Rows (name, servers joined by commas, the other columns): servers that say the same share a row."""
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for server, told in by_server.items():
        for fact in told:
            rows.setdefault((fact.name, tuple(astuple(fact)[1:])), []).append(server)
    order = list(by_server)
    flat = [(name, ",".join(servers), rest) for (name, rest), servers in rows.items()]
    return sorted(flat, key=lambda row: (row[0], order.index(row[1].split(",")[0])))


def _default(one: Wanted, server: RunningServer, value: str | None) -> str:
    if value is None or any(server.name.startswith(name) for name in one.computed):
        return "-"
    return value if value != "" else '""'


# --- MariaDB -----------------------------------------------------------------------------------------------------

_MARIADB_KINDS = {"ENUM": "enum", "SET": "set", "FLAGSET": "set", "BOOLEAN": "boolean", "DOUBLE": "real"}
# What MariaDB shows as the default of a variable that it computes at the start.
_SENTINELS = {str((1 << 64) - 1), str((1 << 32) - 1)}


def _mariadb(server: RunningServer, one: Wanted) -> Told | None:
    rows = server.sql(
        "SELECT VARIABLE_SCOPE, VARIABLE_TYPE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, NUMERIC_BLOCK_SIZE, "
        "ENUM_VALUE_LIST, READ_ONLY, COMMAND_LINE_ARGUMENT, DEFAULT_VALUE, GLOBAL_VALUE "
        f"FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME = '{one.name}'"
    )
    if not rows:
        return None
    scope, type_, low, high, block, words, read_only, argument, default, value = rows[0]
    kind = _MARIADB_KINDS.get(str(type_), "integer" if "INT" in str(type_) else "string")
    numeric = kind in {"integer", "real"}
    if default in _SENTINELS:
        default = value
    return Told(
        name=one.name,
        kind=kind,
        scope={"GLOBAL": "global", "SESSION": "both", "SESSION ONLY": "session"}[str(scope)],
        change="dynamic" if read_only == "NO" else "restart" if argument is not None else "read_only",
        unit=one.unit,
        minimum=str(low) if numeric and low is not None else "-",
        maximum=str(high) if numeric and high is not None else "-",
        step=str(block) if kind == "integer" and block not in {None, "0", "1"} else "-",
        default=_default(one, server, default),
        choices=str(words) if words and kind in {"enum", "set"} else "-",
    )


# --- MySQL -------------------------------------------------------------------------------------------------------


class _MySQL:
    def __init__(self, server: RunningServer) -> None:
        self.installation: Installation = server.installation
        self.options = self._help([])
        self.bounds: dict[str, tuple[int, int]] = {}
        if server.sql(
            "SELECT 1 FROM information_schema.TABLES "
            "WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME = 'variables_info'"
        ):
            self.bounds = {
                str(name): (int(str(low)), int(str(high)))
                for name, low, high in server.sql(
                    "SELECT VARIABLE_NAME, MIN_VALUE, MAX_VALUE FROM performance_schema.variables_info"
                )
            }

    def read(self, server: RunningServer, one: Wanted) -> Told | None:
        shown = server.sql(f"SHOW GLOBAL VARIABLES LIKE '{one.name.replace('_', chr(92) + '_')}'")
        session_only = False
        if not shown:
            shown = server.sql(f"SHOW SESSION VARIABLES LIKE '{one.name.replace('_', chr(92) + '_')}'")
            session_only = True
        if not shown:
            return None
        kind = "string" if session_only else self._kind(server, one, str(shown[0][1]))
        low, high = self._bounds(one.name, kind)
        return Told(
            name=one.name,
            kind=kind,
            scope="session" if session_only else "both" if self._has_session(server, one.name) else "global",
            change="dynamic"
            if self._dynamic(server, one.name)
            else "restart"
            if self._option(one.name)
            else "read_only",
            unit=one.unit,
            minimum=low,
            maximum=high,
            step=self._step(one.name, low, high) if kind == "integer" else "-",
            default=_default(one, server, self._default(server, one.name, shown[0][1])),
            choices=self._choices(one) if kind in {"enum", "set"} else "-",
        )

    def _kind(self, server: RunningServer, one: Wanted, shown: str) -> str:
        connection = server.connect()
        try:
            cursor: Any = connection.cursor()
            cursor.execute(f"SELECT @@GLOBAL.{one.name}")
            value = cursor.fetchone()[0]
        finally:
            connection.close()
        if isinstance(value, int):
            return "boolean" if shown in {"ON", "OFF"} else "integer"
        if value is not None and not isinstance(value, str | bytes):
            return "real"
        if "=" in shown and "," in shown:
            return "set"
        return "enum" if one.choices and self._choices(one) != "-" else "string"

    def _has_session(self, server: RunningServer, name: str) -> bool:
        return self._error(server, f"SELECT @@SESSION.{name}") != _READ_ONLY_ERROR

    def _dynamic(self, server: RunningServer, name: str) -> bool:
        return self._error(server, f"SET GLOBAL {name} = @@GLOBAL.{name}") != _READ_ONLY_ERROR

    def _default(self, server: RunningServer, name: str, shown: str | None) -> str | None:
        # The harness starts servers with a small pool; what InnoDB would take by itself is asked for.
        if name not in {"innodb_buffer_pool_size", "innodb_buffer_pool_chunk_size"}:
            return shown
        return self._option(name)

    def _bounds(self, name: str, kind: str) -> tuple[str, str]:
        if kind not in {"integer", "real"}:
            return "-", "-"
        if name in self.bounds:
            low, high = self.bounds[name]
            if kind == "real":
                return _real(low), _real(high)
            return str(low), str(high)
        if self._option(name) is None:
            return "-", "-"
        if kind == "real":
            return self._made_of(name, "-1") or "-", self._made_of(name, "1e12") or "-"
        low_text, high_text = self._made_of(name, "0") or "-", self._made_of(name, str(_TOO_LARGE - 1)) or "-"
        if high_text == "-1":
            # Printed as a signed number of 32 bits.
            high_text = str((1 << 32) - 1)
        elif high_text.isdigit() and int(high_text) > _TOO_LARGE - _LARGEST_STEP:
            larger = self._made_of(name, str(2 * _TOO_LARGE - 1))
            high_text = larger if larger is not None and larger.isdigit() else high_text
        return low_text, high_text

    def _step(self, name: str, low: str, high: str) -> str:
        if self._option(name) is None or "-" in {low, high}:
            return "-"
        odd = _ODD
        while odd > max(0, int(high)):
            odd >>= 1
        # A table cache is also cut to what the open files allow, so what differs by more than a block is no block.
        made = self._made_of(name, str(odd)) if odd > int(low) else None
        if made is None or not made.isdigit():
            return "-"
        step = odd - int(made) + 1
        return str(step) if 1 < step <= _LARGEST_STEP and step & (step - 1) == 0 else "-"

    def _choices(self, one: Wanted) -> str:
        accepted = [word for word in one.choices if self._made_of(one.name, word) is not None]
        return ",".join(accepted) if accepted else "-"

    def _option(self, name: str) -> str | None:
        return self.options.get(_option_name(name))

    def _made_of(self, name: str, value: str) -> str | None:
        """What the server makes of an option's value; None if it refuses it."""
        option = _option_name(name)
        return self._help([f"--{option}={value}"]).get(option)

    def _help(self, options: list[str]) -> dict[str, str]:
        """The table that ends `--verbose --help`, or nothing if an option is refused."""
        installation = self.installation
        run = subprocess.run(
            [*installation.command, *installation.arguments, *options, "--verbose", "--help"],
            env=installation.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if any(
            "[ERROR]" in line and ("setting value" in line or "unknown v" in line) for line in run.stderr.splitlines()
        ):
            return {}
        # A plugin whose options were refused says so on standard output in some versions.
        if "execution stopped before plugins were initialized" in run.stdout:
            return {}
        _, _, table = run.stdout.partition("Variables (--variable-name=value)")
        words = (line.split(None, 1) for line in table.splitlines() if line and line[0].isalpha())
        return {pair[0]: pair[1].strip() for pair in words if len(pair) == 2}

    @staticmethod
    def _error(server: RunningServer, statement: str) -> int | None:
        import MySQLdb

        try:
            server.sql(statement)
        except MySQLdb.Error as failure:
            return int(failure.args[0])
        return None


def _option_name(name: str) -> str:
    return _OPTIONS.get(name, name.replace("_", "-"))


def _real(bound: int) -> str:
    """Performance schema shows the bits of a real bound as an integer: 4719230590769954816 is 31536000."""
    value = struct.unpack("<d", struct.pack("<q", bound))[0] if abs(bound) > 1 << 53 else float(bound)
    return format(value, "g") if value < 1e6 else str(int(value))
