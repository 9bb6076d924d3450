"""Accounts with FILE may read and write files anywhere on the machine.

Why it matters
    With secure_file_priv empty an account that holds FILE may read every file that the server's user can read, other
    schemas' data files included, and write new ones into every directory that user may write to: a plugin directory,
    a web server's folder. It is the usual way from stolen credentials to running programs on the machine.

How it is computed
    From the settings: secure_file_priv is empty (NULL, MySQL's word for "nowhere", is not), and the server listens
    beyond loopback. It is MariaDB's default, which is why this is a notice.

When to dismiss it
    No account but the administrators' holds FILE, and none of them logs in from elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.security import Listening
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class FilePlaces(Settings):
    """Where SQL may read and write files: empty is everywhere."""

    secure_file_priv: str


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html",
        "https://mariadb.com/docs/server/server-management/variables-and-modes/server-system-variables",
    ],
)


@rule.check
def check(files: FilePlaces, where: Listening) -> Finding | Passed:
    figures = files.measured() + where.measured()
    if files.secure_file_priv != "" or not where.beyond_loopback:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message("secure_file_priv is empty: whoever holds FILE reads and writes files anywhere"),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Put secure_file_priv into the option file, with a directory that only imports and exports "
                        "use (MySQL takes NULL for none at all), and restart."
                    ),
                ),
                expected=Message("SQL reaches the files of one directory, or of none."),
                price=(Price(PriceKind.RESTART, Message("the setting is read at the start only")),),
                would_change_our_mind=Message("FILE in the hands of local administrators only."),
            ),
        )
    )


rule.fires("MariaDB's default", scene("mariadb 10.11.18", {"secure_file_priv": "", "bind_address": ""}))
rule.fires("Emptied on MySQL", scene("mysql 8.0.33", {"secure_file_priv": "", "bind_address": "*"}))
rule.passes("A directory", scene("mariadb 10.11.18", {"secure_file_priv": "/srv/import/", "bind_address": ""}))
rule.passes("Nowhere", scene("mysql 8.0.33", {"secure_file_priv": "NULL", "bind_address": "*"}))
rule.passes(
    "Only the machine itself connects", scene("mysql 5.7.22", {"secure_file_priv": "", "bind_address": "127.0.0.1"})
)
