"""What a fact needs: the grants of an observing account, and the statement that adds one that is missing.

The privileges were found on real servers; see the table in ``observe_privileges``. Nothing here ever asks for SUPER,
for SELECT on all schemas, or for a right to change anything. (The account that applies is another one, see
``apply_privileges``.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.mysql.version import ServerVersion

#: Stands for the account where it is not known yet.
DEFAULT_ACCOUNT = "'tidemark'@'%'"

_ACCOUNT = re.compile(
    r"^(?:'(?P<quoted_user>[^'\\]*)'|`(?P<back_user>[^`]*)`|(?P<user>[^'`@]*))@(?:'(?P<quoted>[^'\\]*)'|`(?P<back>[^`]*)`|(?P<host>[^'`@]*))$"
)


def quoted_account(account: str) -> str:
    """``user@host`` in any quoting, as ``'user'@'host'``; the default account where it is empty. Raises ValueError."""
    if not account.strip():
        return DEFAULT_ACCOUNT
    match = _ACCOUNT.match(account.strip())
    if match is None:
        raise ValueError(f"{account!r} is no account: write it as 'user'@'host'.")
    user = next(part for part in (match["quoted_user"], match["back_user"], match["user"]) if part is not None)
    host = next(part for part in (match["quoted"], match["back"], match["host"]) if part is not None)
    return f"{_literal(user)}@{_literal(host)}"


def _literal(text: str) -> str:
    if re.search(r"[\x00-\x1f'\\]", text):
        raise ValueError("An account name with quotes, backslashes or control characters cannot be written safely.")
    return f"'{text}'"


def observe_privileges(server: ServerVersion) -> tuple[str, ...]:
    """The global privileges with which everything that Tidemark reads can be read on this server.

    PROCESS: SHOW ENGINE INNODB STATUS and innodb_metrics. REPLICATION CLIENT, since MariaDB 10.5.9 split into BINLOG
    MONITOR and SLAVE MONITOR: binary log and replication state. (10.5.0 to 10.5.8 had no privilege short of SUPER for
    SHOW REPLICA STATUS; there REPLICATION CLIENT stays, and replication is reported as not readable.)
    """
    if server.is_mariadb and server.number >= (10, 5, 9):
        return ("PROCESS", "BINLOG MONITOR", "SLAVE MONITOR")
    return ("PROCESS", "REPLICATION CLIENT")


def observe_grants(server: ServerVersion, account: str = "") -> list[str]:
    """The exact statements that make an observing account on this server; the password is left to the person.

    ``MAX_USER_CONNECTIONS`` is 2, the kept connection of the fast poll and one for a full snapshot. PROCESS shows
    everyone's statements: who runs these should know.
    """
    name = quoted_account(account)
    limits = "MAX_USER_CONNECTIONS 2"
    if server.is_mariadb:
        limits += " MAX_STATEMENT_TIME 5"
    return [
        f"CREATE USER {name} IDENTIFIED BY '<password>' WITH {limits}",
        f"GRANT {', '.join(observe_privileges(server))} ON *.* TO {name}",
        f"GRANT SELECT ON performance_schema.* TO {name}",
    ]


#: What taking back a persisted value needs beside what setting it needs: RESET PERSIST answers error 3630 without it.
RESET_PERSIST = "PERSIST_RO_VARIABLES_ADMIN"


def apply_privileges(server: ServerVersion) -> tuple[str, ...]:
    """The global privileges with which system variables can be set, taken back, and the server be recognised again.

    They allow all variables: what Tidemark sends is fenced by its own lists. Before MySQL 8 and on MariaDB most
    variables ask for SUPER; MariaDB has split off those of connections and of the binary log since 10.5.
    """
    if server.is_mariadb:
        split = ("CONNECTION ADMIN", "BINLOG ADMIN") if server.number >= (10, 5, 2) else ()
        return ("SUPER", *split, *observe_privileges(server))
    if server.number >= (8, 0, 0):
        return ("SYSTEM_VARIABLES_ADMIN", RESET_PERSIST, *observe_privileges(server))
    return ("SUPER", *observe_privileges(server))


def apply_grants(server: ServerVersion, account: str = "") -> list[str]:
    """The exact statements that make an account for applying on this server; the password is left to the person."""
    name = quoted_account(account)
    statements = [
        f"CREATE USER {name} IDENTIFIED BY '<password>' WITH MAX_USER_CONNECTIONS 2",
        f"GRANT {', '.join(apply_privileges(server))} ON *.* TO {name}",
    ]
    if server.is_mysql and server.number >= (8, 0, 0):
        statements.append(f"GRANT SELECT ON performance_schema.* TO {name}")
    return statements


@dataclass(frozen=True)
class OptionalGrant:
    """A privilege that only inspections use: its name as in ``remedy_for``, the statement, and what it shows."""

    privilege: str
    statement: str
    shows: str


#: What each optional privilege shows, and what else it opens: a person decides.
OPTIONAL: Mapping[str, str] = {
    "REFERENCES": "Shows names, sizes, columns and indexes of all tables, and no row of any of them.",
    "SELECT ON mysql.user": "Shows accounts: Tidemark reads whether each has a password, and never a password's hash. "
    "The account could read the hashes, so leave this out where that is not wanted.",
    "SELECT ON mysql.global_priv": "Shows accounts: Tidemark reads whether each has a password, and never a "
    "password's hash. The account could read the hashes, so leave this out where that is not wanted.",
    "SELECT ON mysql.global_grants": "Shows which accounts hold parts of what SUPER was.",
}


def accounts_privilege(server: ServerVersion) -> str:
    """The privilege with which the accounts of this server can be read: since MariaDB 10.4 mysql.user is only a view,
    without locks.
    """
    newer = server.is_mariadb and server.number >= (10, 4, 0)
    return "SELECT ON mysql.global_priv" if newer else "SELECT ON mysql.user"


def optional_grants(server: ServerVersion, account: str = "") -> list[OptionalGrant]:
    """What an inspection can read more with, beside the observing grants: no poll, no snapshot and no rule about
    settings needs any of it, and none of it shows a row of anybody's table.
    """
    privileges = ["REFERENCES", accounts_privilege(server)]
    if server.is_mysql and server.number >= (8, 0, 0):
        privileges.append("SELECT ON mysql.global_grants")
    return [OptionalGrant(one, remedy_for(one, server, account), OPTIONAL[one]) for one in privileges]


def remedy_for(privilege: str, server: ServerVersion, account: str = "") -> str:
    """The GRANT statement that gives an account one privilege, in the words of this server.

    ``privilege`` is a name such as ``PROCESS``, ``SELECT ON performance_schema.*`` or ``SELECT ON mysql.user``;
    REPLICATION CLIENT becomes what this server calls it.
    """
    name = quoted_account(account)
    what, _, where = privilege.partition(" ON ")
    if where:
        return f"GRANT {what} ON {where} TO {name}"
    if privilege == "REPLICATION CLIENT" and server.is_mariadb and server.number >= (10, 5, 9):
        privilege = "BINLOG MONITOR, SLAVE MONITOR"
    return f"GRANT {privilege} ON *.* TO {name}"


_GRANT = re.compile(r"^GRANT (?P<what>.+?) ON (?:TABLE )?(?P<where>\S+) TO ", re.IGNORECASE)


def parse_grants(lines: Iterable[str]) -> frozenset[str]:
    """The privileges in the output of SHOW GRANTS, as upper-case names: ``PROCESS`` for global ones, ``SELECT ON
    schema.*`` (schema in lower case, without quotes) for others. ``ALL PRIVILEGES ON *.*`` gives ``ALL PRIVILEGES``.
    Roles are not followed, and lines that grant no privilege (roles, PROXY, passwords) are passed over.
    """
    found: set[str] = set()
    for line in lines:
        match = _GRANT.match(line.strip())
        if match is None or match["what"].upper().startswith("PROXY"):
            continue
        where = match["where"].replace("`", "").lower()
        # Commas inside parentheses separate columns, not privileges.
        for part in re.split(r",\s*(?![^()]*\))", match["what"]):
            name = " ".join(part.split()).upper()
            found.add(name if where == "*.*" else f"{name} ON {where}")
    return frozenset(found)


#: Names by which one privilege is known on different servers, and what contains it.
_CONTAINED_IN = {
    "REPLICATION CLIENT": ("BINLOG MONITOR",),
    "BINLOG MONITOR": ("REPLICATION CLIENT",),
    "SLAVE MONITOR": ("REPLICA MONITOR",),
}


def has_privilege(privileges: frozenset[str], wanted: str) -> bool:
    """Whether ``wanted`` (as in ``remedy_for``) is among what ``parse_grants`` found, under any of its names."""
    name, _, where = wanted.partition(" ON ")
    if where:
        where = where.lower()
        # What is granted on a schema is granted on its tables.
        places = {where, f"{where.partition('.')[0]}.*"}
        return any(
            f"{one} ON {place}" in privileges for one in (name, "ALL PRIVILEGES") for place in places
        ) or has_privilege(privileges, name)
    return any(one in privileges for one in (name, "ALL PRIVILEGES", *_CONTAINED_IN.get(name, ())))
