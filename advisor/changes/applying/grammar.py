"""The only statements that are ever sent to change a server, told apart from everything else once more before sending.

A plan is rendered by ``advisor.mysql.statements`` and was checked when it was made. But a plan is also a row in a
database that others may write to, so that nothing is taken for granted here: the text has to be one of two forms, and
the variable one that the catalogue knows for this very server and that may be changed from here at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from advisor.mysql.catalogue import CATALOGUE, ChangeClass
from advisor.mysql.statements import is_never_written
from advisor.mysql.values import BadValue, literal
from advisor.mysql.version import ServerVersion

#: Digits, ON, OFF, or a quoted word of harmless characters. ``fullmatch`` and ``\Z`` leave no room for a line end.
_SET = re.compile(
    r"SET (GLOBAL|PERSIST) `([a-z0-9_]{1,64})` = (-?\d{1,20}(?:\.\d{1,10})?|'[A-Za-z0-9_,.:=/ -]*'|ON|OFF)\Z"
)
_RESET = re.compile(r"RESET PERSIST IF EXISTS `([a-z0-9_]{1,64})`\Z")


class NotOurs(ValueError):
    """A statement that is not of our grammar, or whose variable may not be changed; the message says which."""


@dataclass(frozen=True)
class Statement:
    """A statement of ours taken apart. ``scope`` is GLOBAL, PERSIST or RESET; ``value`` is bare, empty for RESET."""

    text: str
    scope: str
    variable: str
    value: str

    @property
    def sets(self) -> bool:
        return self.scope != "RESET"


def parse(text: str) -> Statement:
    """The statement's parts. Raises NotOurs for anything but ``SET GLOBAL|PERSIST`` and ``RESET PERSIST IF EXISTS``."""
    if found := _SET.match(text):
        scope, variable, value = found.groups()
        return Statement(text, scope, variable, value[1:-1] if value.startswith("'") else value)
    if found := _RESET.match(text):
        return Statement(text, "RESET", found[1], "")
    raise NotOurs(f"{text[:80]!r} is no statement that Tidemark sends.")


def check(text: str, server: ServerVersion) -> Statement:
    """The statement's parts, where this server's variable may be changed at run time. Raises NotOurs."""
    statement = parse(text)
    facts = CATALOGUE.find(statement.variable, server)
    if facts is None:
        raise NotOurs(f"{server} has no system variable {statement.variable} that is known here.")
    if facts.change_class is ChangeClass.NEVER or facts.read_only or is_never_written(statement.variable):
        raise NotOurs(f"{statement.variable} is never changed from here.")
    if not facts.dynamic and statement.sets:
        raise NotOurs(f"{statement.variable} cannot be changed while {server} runs.")
    if statement.sets:
        try:
            literal(statement.value)
        except BadValue as error:
            raise NotOurs(f"{statement.variable}: {error}") from error
    return statement
