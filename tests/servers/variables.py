"""What a real server tells of its system variables: the source of the product's catalogue.

MariaDB answers everything in INFORMATION_SCHEMA.SYSTEM_VARIABLES. MySQL 8 and later state bounds in
performance_schema.variables_info; what no MySQL states is tried: SET GLOBAL to the present value tells a dynamic
variable (error 1238 otherwise), and `--verbose --help` prints what the server makes of an option it was given, without
starting, which tells bounds (of values far outside), block sizes (of a value one below a power of two) and choices
(of the numbers 0, 1, 2 ... in their stead).
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from .places import Installation
from .running import RunningServer, _free_port
from .units import unit_of

_READ_ONLY_ERROR = 1238
_TOO_LARGE = 1 << 63
_ODD = (1 << 40) - 1
_LARGEST_STEP = 1 << 24
_MOST_CHOICES = 40

# What a server cannot tell and its manual does: bounds that MySQL 5.7's --help shows already cut to this machine's
# limits, MariaDB's log_bin, whose option is of another type than the variable, what the tests themselves start every
# server with, and defaults that a server takes only where the file system allows it.
FROM_MANUAL: Mapping[tuple[str, str], Mapping[str, str]] = {
    # The harness starts servers without look-ups of names, and versions before 8.0.33 do not let that be taken back.
    ("mysql", "skip_name_resolve"): {"default": "OFF"},
    ("mysql-5.7.22", "back_log"): {"minimum": "1"},
    ("mysql-5.7.22", "binlog_transaction_dependency_tracking"): {
        "kind": "enum",
        "choices": "COMMIT_ORDER,WRITESET,WRITESET_SESSION",
    },
    ("mysql-5.7.22", "innodb_change_buffering"): {"choices": "none,inserts,deletes,changes,purges,all"},
    ("mysql-5.7.22", "innodb_flush_method"): {"choices": "fsync,O_DSYNC,littlesync,nosync,O_DIRECT,O_DIRECT_NO_FSYNC"},
    ("mysql-5.7.22", "max_connections"): {"maximum": "100000"},
    ("mysql-5.7.22", "open_files_limit"): {"minimum": "0", "maximum": "4294967295"},
    ("mysql-5.7.22", "performance_schema_digests_size"): {"minimum": "-1"},
    ("mysql-5.7.22", "performance_schema_max_table_instances"): {"minimum": "-1"},
    ("mysql-5.7.22", "query_cache_size"): {"maximum": str(2 * _TOO_LARGE - 1), "step": "1024"},
    ("mysql-5.7.22", "server_id"): {"default": "0"},
    ("mysql-5.7.22", "table_open_cache"): {"maximum": "524288"},
    ("mysql-9.7", "innodb_flush_method"): {"default": "~O_DIRECT"},
    ("mysql", "bind_address"): {"default": "*"},
    ("mysql", "enforce_gtid_consistency"): {"kind": "enum", "choices": "OFF,ON,WARN"},
    ("mysql", "key_cache_age_threshold"): {"step": "100"},
    ("mysql", "mysqlx_bind_address"): {"default": "*"},
    ("mysql", "mysqlx_port"): {"default": "33060"},
    ("mysql", "port"): {"default": "3306"},
    ("mariadb", "log_bin"): {"change": "restart", "default": "OFF"},
    ("mariadb", "port"): {"default": "3306"},
}
# Variables whose option has another name.
_OPTIONS = {
    "ignore_db_dirs": "ignore-db-dir",
    "locked_in_memory": "memlock",
    "skip_external_locking": "external-locking",
    "tx_isolation": "transaction-isolation",
    "tx_read_only": "transaction-read-only",
}

#: What a server takes from the machine, its file system and its place there, its build, or makes up: no default is
#: recorded. A key is the beginning of servers' names ("" for all of them).
_OF_THE_MACHINE: Mapping[str, re.Pattern[str]] = {
    beginning: re.compile("|".join(pattern.split()))
    for beginning, pattern in {
        "": r"""
            basedir .*datadir plugin_dir character_sets_dir lc_messages_dir (slave_load_|replica_load_)?tmpdir .*socket
            pid_file log_error (general|slow_query)_log_file log_slow_query_file secure_file_priv
            (log_bin|relay_log)_(basename|index) hostname server_uu?id version version_.* innodb_version build_id
            wsrep_patch_version wsrep_node_.* wsrep_provider_options have_(openssl|ssl) license protocol_version
            system_time_zone (last_)?timestamp pseudo_thread_id rand_seed[12] statement_id gtid_(executed|purged)
            last_gtid open_files_limit thread_pool_size report_port large_page_size lower_case_(file_system|table_names)
            innodb_use_native_aio innodb_buffer_pool_size_auto_min server_memory
            (error|warning)_count identity last_insert_id in_transaction external_user proxy_user .*connection_id
            """,
        "mysql": r"ssl_(ca|cert|key) tls_version admin_tls_version",
        "mysql-9": r"""
            temptable_max_ram innodb_(read_io|purge|parallel_read)_threads innodb_log_writer_threads
            innodb_numa_interleave
            """,
        "mariadb": r"innodb_log_write_ahead_size innodb_log_file_(buffering|mmap) tls_version",
    }.items()
}

#: MySQL makes these of other variables; what is recorded is what it makes of their defaults. (MariaDB says so itself.)
_FOLLOWS = re.compile(
    r"back_log|thread_cache_size|table_definition_cache|table_open_cache|host_cache_size|innodb_open_files"
    r"|innodb_io_capacity_max|innodb_buffer_pool_instances|innodb_page_cleaners|innodb_doublewrite_files"
    r"|innodb_buffer_pool_chunk_size"
)


#: Variables that limit one another: each is tried by itself.
_NOT_TOGETHER = re.compile(
    r"max_connections|table_.*cache.*|open_files_limit|innodb_open_files|thread_cache_size|back_log|host_cache_size"
    r"|innodb_(page_size|log_buffer_size|buffer_pool_.*|io_capacity.*|max_dirty.*|undo.*|rollback_segments|data_.*)"
    r"|log_(error_verbosity|warnings)|(query_cache|key_cache|key_buffer|max_binlog|binlog).*|.*packet|net_buffer_length|.*concurrency.*"
)


@dataclass(frozen=True)
class Told:
    """One variable on one server. Absent facts are "-"; the fields are the columns of the catalogue's files.

    ``default`` is what SHOW GLOBAL VARIABLES shows on a server started without any option; "~" before it says that the
    server made it of other variables, '""' is the empty text, "-" stands for what depends on the machine.
    """

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


def asking_options(name: str) -> dict[str, str | None]:
    """The options with which a server of that name is started to be asked: its own defaults, all built-in plugins."""
    options: dict[str, str | None] = {"innodb_buffer_pool_size": "128M", "skip_name_resolve": "OFF"}
    if name.startswith("mysql-") and not name.startswith("mysql-5"):
        # The X protocol without its port and socket, which would lie outside of the test's folder.
        options |= {"mysqlx": "ON", "mysqlx_port": str(_free_port()), "mysqlx_bind_address": "127.0.0.1"}
        options |= {"mysqlx_socket": "mysqlx.sock"}
    return options


def tell(server: RunningServer) -> list[Told]:
    """What this server says of all its system variables, by name."""
    told = _mariadb(server) if server.flavor == "mariadb" else _MySQL(server).read(server)
    return [replace(one, **_from_manual(server, one.name)) for one in sorted(told, key=lambda one: one.name)]


def _from_manual(server: RunningServer, name: str) -> Mapping[str, str]:
    return {**FROM_MANUAL.get((server.flavor, name), {}), **FROM_MANUAL.get((server.name, name), {})}


def tolerated(installation: Installation, names: Iterable[str]) -> list[str]:
    """Which of these variables, none of which this MariaDB server has, it lets stand in an option file all the same.

    The others are unknown options, with which it does not start. (MySQL does not start with any unknown option, and its
    --help does not look.)
    """
    return [name for name in names if not _unknown_option(installation, _option_name(name))]


def _unknown_option(installation: Installation, option: str) -> bool:
    run = subprocess.run(
        [*installation.command, *installation.arguments, f"--{option}=1", "--verbose", "--help"],
        env=installation.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return any(f"{word} '" in run.stderr for word in ("unknown variable", "unknown option", "ambiguous option"))


def grouped(by_server: Mapping[str, Sequence[Told]]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Rows (name, servers, the other columns): servers that say the same share a row.

    Servers are written without their flavor, those that follow one another as a range: ``5.7.22,8.0.33..9.7``.
    """
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for server, told in by_server.items():
        for fact in told:
            rows.setdefault((fact.name, tuple(astuple(fact)[1:])), []).append(server)
    order = list(by_server)
    flat = [(name, [order.index(server) for server in servers], rest) for (name, rest), servers in rows.items()]
    return [(name, ranges(order, places), rest) for name, places, rest in sorted(flat, key=lambda row: row[:2])]


def ranges(order: list[str], places: list[int]) -> str:
    """Places in an order of servers as the files write them: ``5.7.22,8.0.33..9.7``."""
    short = [name.split("-", 1)[1] for name in order]
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ",".join(short[run[0]] if len(run) == 1 else f"{short[run[0]]}..{short[run[-1]]}" for run in runs)


def _default(server: RunningServer, name: str, value: str | None, *, follows: bool) -> str:
    """A default as the files write it."""
    for beginning, pattern in _OF_THE_MACHINE.items():
        if server.name.startswith(beginning) and pattern.fullmatch(name):
            return "-"
    # An absolute path is a place on the machine that was asked.
    if value is None or value.startswith("/"):
        return "-"
    if value == "":
        return '""'
    text = value.replace("\t", " ").replace("\n", " ")
    return f"~{text}" if follows else text


# --- MariaDB -----------------------------------------------------------------------------------------------------

_MARIADB_KINDS = {"ENUM": "enum", "SET": "set", "FLAGSET": "set", "BOOLEAN": "boolean", "DOUBLE": "real"}
_STARTED_WITH = {"CONFIG", "COMMAND-LINE", "SQL", "ENVIRONMENT"}


def _mariadb(server: RunningServer) -> list[Told]:
    rows = server.sql(
        "SELECT VARIABLE_NAME, VARIABLE_SCOPE, VARIABLE_TYPE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, "
        "NUMERIC_BLOCK_SIZE, ENUM_VALUE_LIST, READ_ONLY, COMMAND_LINE_ARGUMENT, DEFAULT_VALUE, GLOBAL_VALUE, "
        "GLOBAL_VALUE_ORIGIN FROM information_schema.SYSTEM_VARIABLES"
    )
    told = []
    for upper, scope, type_, low, high, block, words, read_only, argument, compiled, value, origin in rows:
        name = str(upper).lower()
        kind = _MARIADB_KINDS.get(str(type_), "integer" if "INT" in str(type_) else "string")
        numeric = kind in {"integer", "real"}
        if scope == "SESSION ONLY" or str(origin) in _STARTED_WITH:
            default, follows = compiled, False
        else:
            default, follows = value, numeric and compiled is not None and value != compiled
        told.append(
            Told(
                name=name,
                kind=kind,
                scope=_mariadb_scope(server, name, str(scope), dynamic=read_only == "NO"),
                change="dynamic" if read_only == "NO" else "restart" if argument is not None else "read_only",
                unit=unit_of(name, kind),
                minimum=str(low) if numeric and low is not None else "-",
                maximum=str(high) if numeric and high is not None else "-",
                step=str(block) if kind == "integer" and block not in {None, "0", "1"} else "-",
                default=_default(server, name, default, follows=follows),
                choices=str(words) if words and kind in {"enum", "set"} else "-",
            )
        )
    return told


def _mariadb_scope(server: RunningServer, name: str, scope: str, *, dynamic: bool) -> str:
    if scope == "GLOBAL":
        return "global"
    # Some that are listed with both scopes are refused globally: sql_log_bin, tcp_nodelay.
    refused = dynamic and _error(server, f"SET GLOBAL {name} = @@GLOBAL.{name}") == _READ_ONLY_ERROR
    return "session" if refused or scope == "SESSION ONLY" else "both"


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

    def read(self, server: RunningServer) -> list[Told]:
        shown = {str(name).lower(): str(value or "") for name, value in server.sql("SHOW GLOBAL VARIABLES")}
        session = {
            str(name).lower(): str(value or "")
            for name, value in server.sql("SHOW SESSION VARIABLES")
            if str(name).lower() not in shown
        }
        # Kinds first: trying to set a variable may change what others show.
        kinds = {name: self._kind(server, name, value, "GLOBAL") for name, value in shown.items()}
        kinds |= {name: self._kind(server, name, value, "SESSION") for name, value in session.items()}
        both = {name for name in shown if _error(server, f"SELECT @@SESSION.{name}") != _READ_ONLY_ERROR}
        numbers = {name: kind for name, (kind, _) in kinds.items() if kind in {"integer", "real"}}
        bounds = self._all_bounds(numbers)
        steps = self._steps({name: bounds[name] for name, kind in numbers.items() if kind == "integer"})
        told = []
        for name, (kind, choices) in kinds.items():
            low, high = bounds.get(name, ("-", "-"))
            told.append(
                Told(
                    name=name,
                    kind=kind,
                    scope="session" if name in session else "both" if name in both else "global",
                    change=self._change(server, name, "SESSION" if name in session else "GLOBAL"),
                    unit=unit_of(name, kind),
                    minimum=low,
                    maximum=high,
                    step=steps.get(name, "-"),
                    default=self._default(server, name, shown.get(name, session.get(name)), kind),
                    choices=choices,
                )
            )
        return told

    def _kind(self, server: RunningServer, name: str, shown: str, scope: str) -> tuple[str, str]:
        """What it holds, and its choices."""
        connection = server.connect()
        try:
            cursor: Any = connection.cursor()
            cursor.execute(f"SELECT @@{scope}.{name}")
            value = cursor.fetchone()[0]
        finally:
            connection.close()
        if isinstance(value, int):
            return ("boolean" if shown in {"ON", "OFF"} else "integer"), "-"
        if value is not None and not isinstance(value, str | bytes):
            return "real", "-"
        if "=" in shown and "," in shown and "=on" in shown:
            return "set", ",".join(part.split("=")[0] for part in shown.split(","))
        if self._option(name) is None or self._made_of(name, "no-such-word") is not None:
            return "string", "-"
        return self._words(name)

    def _words(self, name: str) -> tuple[str, str]:
        """The choices of an option that does not take every word: servers take their numbers, too."""
        both = self._made_of(name, "3")
        if both is not None and "," in both:
            made = (self._made_of(name, str(1 << bit)) for bit in range(_MOST_CHOICES))
            words = [word for word in made if word and "," not in word]
        else:
            words = []
            while len(words) < _MOST_CHOICES and (word := self._made_of(name, str(len(words)))):
                words.append(word)
        # A second spelling of a choice is no choice of its own.
        words = [word for word in words if word not in {"FALSE", "TRUE"}]
        if len(words) < 2 or any(word.isdigit() for word in words):
            return "string", "-"
        return ("set" if both is not None and "," in both else "enum"), ",".join(words)

    def _change(self, server: RunningServer, name: str, scope: str) -> str:
        if _error(server, f"SET {scope} {name} = @@{scope}.{name}") != _READ_ONLY_ERROR:
            return "dynamic"
        return "restart" if self._option(name) is not None else "read_only"

    def _default(self, server: RunningServer, name: str, shown: str | None, kind: str) -> str:
        compiled = self._option(name) or ""
        differs = kind in {"integer", "real"} and compiled == "-1" and shown != compiled
        return _default(server, name, shown, follows=differs or _FOLLOWS.fullmatch(name) is not None)

    def _all_bounds(self, kinds: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """Lower and upper bounds: those that the server states, else what it makes of values far outside."""
        bounds: dict[str, tuple[str, str]] = {}
        reals, integers = [], []
        for name, kind in kinds.items():
            # Performance schema shows 99 as the upper bound of a real whose bound is 99.999.
            if kind == "real" and self._option(name) is not None:
                reals.append(name)
            elif name in self.bounds:
                low, high = self.bounds[name]
                # Both 0 is what is shown of a variable that nothing sets.
                stated = (_real(low), _real(high)) if kind == "real" else (str(low), str(high))
                bounds[name] = ("-", "-") if low == high == 0 else stated
            elif kind == "integer" and self._option(name) is not None:
                integers.append(name)
            else:
                bounds[name] = "-", "-"
        for name in reals:
            bounds[name] = _plain(self._made_of(name, "-1")), _plain(self._made_of(name, "1e12"))
        # One by one: a plugin that refuses one value far outside refuses all its options.
        for name in integers:
            low_text = self._made_of(name, "0") or "-"
            high_text = self._made_of(name, str(_TOO_LARGE - 1)) or "-"
            if high_text == "-1":
                # Printed as a signed number of 32 bits.
                high_text = str((1 << 32) - 1)
            elif high_text.isdigit() and int(high_text) > _TOO_LARGE - _LARGEST_STEP:
                larger = self._made_of(name, str(2 * _TOO_LARGE - 1))
                high_text = larger if larger is not None and larger.isdigit() else high_text
            whole = low_text.lstrip("-").isdigit() and high_text.lstrip("-").isdigit()
            bounds[name] = (low_text, high_text) if whole else ("-", "-")
        return bounds

    def _steps(self, bounds: Mapping[str, tuple[str, str]]) -> dict[str, str]:
        """The block sizes of integers, by what the server makes of values one below a power of two."""
        odds = {}
        for name, (low, high) in bounds.items():
            if self._option(name) is None or "-" in {low, high}:
                continue
            odd = _ODD
            while odd > max(0, int(high)):
                odd >>= 1
            if odd > int(low):
                odds[name] = odd
        steps = {}
        for name, made in self._made_of_all({name: str(odd) for name, odd in odds.items()}).items():
            # A table cache is also cut to what the open files allow, so what differs by more than a block is no block.
            step = odds[name] - int(made) + 1 if made.isdigit() else 0
            if 1 < step <= _LARGEST_STEP and step & (step - 1) == 0:
                steps[name] = str(step)
        return steps

    def _made_of_all(self, values: Mapping[str, str]) -> dict[str, str]:
        """What the server makes of several options' values, each of which it takes or refuses by itself.

        One run tells of them all; where one is refused, halves are tried.
        """
        together = [name for name in values if not _NOT_TOGETHER.fullmatch(name)]
        made = {
            name: kept
            for name in values
            if name not in together and (kept := self._made_of(name, values[name])) is not None
        }
        waiting = [together] if together else []
        while waiting:
            names = waiting.pop()
            table = self._help([f"--{_option_name(name)}={values[name]}" for name in names])
            if table:
                made |= {name: table[_option_name(name)] for name in names if _option_name(name) in table}
            elif len(names) > 1:
                waiting += [names[: len(names) // 2], names[len(names) // 2 :]]
        return made

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
        pairs = (line.partition(" ") for line in table.splitlines() if line and line[0].isalpha())
        return {name: value.strip() for name, _, value in pairs}


def _error(server: RunningServer, statement: str) -> int | None:
    """The number of the error with which a statement ends; None where it does not."""
    import MySQLdb

    try:
        server.sql(statement)
    except MySQLdb.Error as failure:
        return int(failure.args[0])
    return None


def _option_name(name: str) -> str:
    return _OPTIONS.get(name, name.replace("_", "-"))


def _plain(text: str | None) -> str:
    """A real as the files write it; what is kept however large it is tells of no bound."""
    if text is None or float(text) >= 1e12:
        return "-"
    return format(float(text), "g") if float(text) < 1e6 else str(int(float(text)))


def _real(bound: int) -> str:
    """Performance schema shows the bits of a real bound as an integer: 4719230590769954816 is 31536000."""
    value = struct.unpack("<d", struct.pack("<q", bound))[0] if abs(bound) > 1 << 53 else float(bound)
    return format(value, "g") if value < 1e6 else str(int(value))
