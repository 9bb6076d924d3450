"""Accounts: who may come in from where, and how far it reaches.

Whether there is a password is asked, never what is stored of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from advisor.mysql.grants import accounts_privilege, remedy_for
from advisor.mysql.version import ServerVersion
from collector.errors import USABLE
from collector.inspections.question import Inspecting, Question

MOST_ACCOUNTS = 2_000

#: With any other plugin an empty text says nothing: the operating system, a directory or a certificate vouches there.
_WITH_PASSWORDS = (
    "('', 'mysql_native_password', 'mysql_old_password', 'sha256_password', 'caching_sha2_password', "
    "'ed25519', 'parsec')"
)
#: Accounts that the server makes for itself.
_OWN = "('mysql.session', 'mysql.sys', 'mysql.infoschema', 'mariadb.sys')"

#: What ALL PRIVILEGES gives on every server, without GRANT OPTION.
_PRIVILEGES = (
    *("Select", "Insert", "Update", "Delete", "Create", "Drop", "Reload", "Shutdown", "Process", "File", "References"),
    *("Index", "Alter", "Show_db", "Super", "Create_tmp_table", "Lock_tables", "Execute", "Repl_slave", "Repl_client"),
    *("Create_view", "Show_view", "Create_routine", "Alter_routine", "Create_user", "Event", "Trigger"),
)
_EVERYTHING = f"'N' NOT IN ({', '.join(f'{one}_priv' for one in _PRIVILEGES)})"

#: CREATE ROLE leaves an account that is locked, has no password, and has that expired; nothing else tells a role here.
MYSQL = (
    "SELECT User, Host, plugin, "
    f"IF(plugin IN {_WITH_PASSWORDS}, COALESCE(authentication_string, '') <> '', NULL), "
    "account_locked = 'Y', "
    "account_locked = 'Y' AND password_expired = 'Y' AND COALESCE(authentication_string, '') = '', "
    "ssl_type, Super_priv = 'Y' OR Grant_priv = 'Y', password_expired = 'Y', "
    f"{_EVERYTHING} FROM mysql.user WHERE User NOT IN {_OWN} ORDER BY User, Host LIMIT {MOST_ACCOUNTS}"
)
#: MySQL 8+: what SUPER was divided into. Of it, what lets an account change any setting or act as anybody.
MYSQL_DYNAMIC = (
    "SELECT DISTINCT USER, HOST FROM mysql.global_grants "
    "WHERE PRIV IN ('SYSTEM_VARIABLES_ADMIN', 'SET_USER_ID', 'SET_ANY_DEFINER', 'ROLE_ADMIN') "
    f"LIMIT {MOST_ACCOUNTS}"
)
MARIADB_BEFORE_10_4 = (
    "SELECT User, Host, plugin, "
    f"IF(plugin IN {_WITH_PASSWORDS}, Password <> '' OR COALESCE(authentication_string, '') <> '', NULL), "
    "0, is_role = 'Y', ssl_type, Super_priv = 'Y' OR Grant_priv = 'Y', password_expired = 'Y', "
    f"{_EVERYTHING} FROM mysql.user WHERE User NOT IN {_OWN} ORDER BY User, Host LIMIT {MOST_ACCOUNTS}"
)

#: The bits of "access" in mysql.global_priv: GRANT OPTION, SUPER, and all of ALL PRIVILEGES but GRANT OPTION.
_GRANT_OR_SUPER = (1 << 10) | (1 << 15)
_ALL = ((1 << 28) - 1) & ~(1 << 10)
_ACCESS = "CAST(COALESCE(JSON_VALUE(Priv, '$.access'), '0') AS UNSIGNED)"
_PLUGIN = "COALESCE(JSON_VALUE(Priv, '$.plugin'), '')"
_HASH_IS_THERE = "COALESCE(JSON_VALUE(Priv, '$.authentication_string'), '') <> ''"


def _true(path: str) -> str:
    return f"COALESCE(JSON_VALUE(Priv, '{path}'), '0') NOT IN ('0', 'false', 'null')"


MARIADB = (
    f"SELECT User, Host, {_PLUGIN}, IF({_PLUGIN} IN {_WITH_PASSWORDS}, {_HASH_IS_THERE}, NULL), "
    f"{_true('$.account_locked')}, {_true('$.is_role')}, "
    "COALESCE(ELT(CAST(COALESCE(JSON_VALUE(Priv, '$.ssl_type'), '0') AS UNSIGNED), 'ANY', 'X509', 'SPECIFIED'), ''), "
    f"{_ACCESS} & {_GRANT_OR_SUPER} <> 0, "
    "COALESCE(JSON_VALUE(Priv, '$.password_last_changed'), '1') = '0', "
    f"{_ACCESS} & {_ALL} = {_ALL} "
    f"FROM mysql.global_priv WHERE User NOT IN {_OWN} AND NOT (User = 'PUBLIC' AND Host = '') "
    f"ORDER BY User, Host LIMIT {MOST_ACCOUNTS}"
)


def read(inspecting: Inspecting) -> int:
    server = inspecting.server
    if server.is_mariadb:
        sql = MARIADB if server.number >= (10, 4, 0) else MARIADB_BEFORE_10_4
        rows: list[Sequence[str | None]] = list(inspecting.ask(sql).rows)
    else:
        rows = list(inspecting.ask(MYSQL).rows)
        if server.number >= (8, 0, 0):
            rows = _with_dynamic(inspecting, rows)
    if len(rows) == MOST_ACCOUNTS:
        inspecting.remark("accounts", f"Only the first {MOST_ACCOUNTS:,} accounts were read.")
    return inspecting.keep("accounts", rows)


def _with_dynamic(inspecting: Inspecting, rows: list[Sequence[str | None]]) -> list[Sequence[str | None]]:
    """The rows with those as administrators, too, who hold a part of what SUPER was."""
    try:
        administrators = {tuple(row) for row in inspecting.ask(MYSQL_DYNAMIC).rows}
    except USABLE:
        # Then it is known of nobody that they are none.
        inspecting.remark(
            "accounts",
            "Who administrates without SUPER was not read: "
            f"{remedy_for('SELECT ON mysql.global_grants', inspecting.server, inspecting.connection.account)}",
        )
        return [(*row[:7], row[7] if row[7] == "1" else None, *row[8:]) for row in rows]
    return [(*row[:7], "1" if tuple(row[:2]) in administrators else row[7], *row[8:]) for row in rows]


def _privilege(server: ServerVersion) -> str:
    return accounts_privilege(server)


QUESTION = Question("accounts", "accounts", read, _privilege)
