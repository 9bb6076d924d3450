"""What servers do with a value that no list of their variables tells.

Found by setting each catalogued variable on each of nine servers, reading it back and setting it back
(``tests/mysql/test_statements_on_servers.py``): what is refused at run time although the variable is called dynamic,
what is taken and ignored, what cannot be persisted, and what is rounded by a rule of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from advisor.mysql import buffer_pool, redo
from advisor.mysql.values import Value, same
from advisor.mysql.version import ServerVersion


class _Facts(Protocol):
    """What the catalogue knows of a variable, as far as it is asked here."""

    @property
    def name(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def step(self) -> int | None: ...


#: MariaDB takes a value for these and keeps another, or does not go back to the one it had.
_ONE_WAY_ON_MARIADB = {
    "innodb_buffer_pool_size_auto_min": "it follows the memory of the machine",
    "innodb_log_archive": "it does nothing",
    "innodb_log_file_buffering": "MariaDB 10.11 and 11 switch it on and not off again",
    "innodb_lru_flush_size": "its default cannot be set again, and later versions ignore it",
    "innodb_max_purge_lag_wait": "it waits instead of setting anything",
}


def why_never(server: ServerVersion, name: str, variables: Mapping[str, str]) -> str | None:
    """Why setting this variable would not do what it says on this server; None if it would."""
    if server.is_mysql:
        return None
    if server.series == "10.5" and name in ("innodb_log_checksums", "innodb_log_compressed_pages"):
        return "MariaDB 10.5 shows it and ignores it"
    if name == "innodb_purge_rseg_truncate_frequency" and server.number >= (11, 8, 0):
        return "MariaDB 11.8 shows it and ignores it"
    if name == "thread_pool_size" and variables.get("thread_handling", "") != "pool-of-threads":
        return "it counts only where thread_handling is pool-of-threads"
    return _ONE_WAY_ON_MARIADB.get(name)


def why_not_at_run_time(
    server: ServerVersion, name: str, old: Value, new: Value, variables: Mapping[str, str], *, running_with: Value
) -> str | None:
    """Why a dynamic variable cannot go from ``old`` to ``new`` while the server runs; None if it can.

    ``running_with`` is the value before anything was changed: the best that is known of what the server started with.
    """
    if name == "innodb_buffer_pool_size" and not buffer_pool.resizable_to(variables, int(new)):
        return "it is above innodb_buffer_pool_size_max: such a value is taken with a warning and changes nothing"
    if name == "innodb_log_file_size" and int(new) < int(variables.get("innodb_log_buffer_size", "0")):
        return "it is below innodb_log_buffer_size, with which a server starts but which it refuses while it runs"
    if name == "innodb_commit_concurrency" and same(old, 0) is not same(new, 0):
        return "it cannot change between 0 and another value"
    if name == "query_cache_type" and same(running_with, "OFF"):
        return "a query cache that was off at the start stays off"
    if name == "max_user_connections" and server.is_mariadb and same(running_with, 0):
        return "it stays 0 if it was 0 at the start"
    if name == "innodb_doublewrite" and server.is_mysql and same(old, "OFF") is not same(new, "OFF"):
        return "it can be switched off and on at a start only"
    return None


def persistable(server: ServerVersion, facts: _Facts) -> bool:
    """Whether SET PERSIST does for this variable what it says; MySQL 8+ only."""
    if not server.is_mysql or server.number < (8, 0, 0):
        return False
    if facts.name in ("innodb_doublewrite", "innodb_undo_tablespaces"):
        return False  # Error 1238: a non persistent variable (8.0.33, 9.7.4).
    # 8.0.12 persists the old value of a storage engine's session variable and does not set the global one. It is right
    # on 8.0.33; nothing between was tried.
    engines = facts.name.startswith(("innodb_", "myisam_")) and facts.scope == "both"
    return not (engines and server.number < (8, 0, 30))


def as_kept(server: ServerVersion, facts: _Facts, value: int, variables: Mapping[str, str]) -> int:
    """The whole number that the server will show after it was given ``value``, rounded up where it rounds."""
    if facts.name == "innodb_buffer_pool_size":
        return buffer_pool.rounded_pool_size(server, variables, value)
    if facts.name == "innodb_log_write_ahead_size":
        page = variables.get("innodb_page_size", "16384")
        return min(1 << (value - 1).bit_length(), int(page)) if value > 1 else value
    step = facts.step or 1
    if facts.name == "innodb_redo_log_capacity":
        step = redo.MIB
    elif facts.name == "query_cache_min_res_unit":
        step = 8
    return -(-value // step) * step
