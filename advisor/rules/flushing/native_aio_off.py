"""InnoDB works without the operating system's asynchronous I/O.

Why it matters
    With innodb_use_native_aio = OFF a write in the background keeps one of innodb_write_io_threads (4 by default) busy
    until the device has answered: four writes at a time, where a flash device takes dozens. Servers also turn it off by
    themselves at their start, with a line in the error log, where the operating system has no asynchronous requests
    left (fs.aio-max-nr is shared by all servers of a machine).

How it is computed
    From the setting, on Linux, where it is ON by default.

When to dismiss it
    The file system does not support asynchronous I/O (some network and memory file systems).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.facts.redo import OwnRedoLog
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    NotApplicable,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Asynchronous(Settings):
    """Whether InnoDB hands its reads and writes to the operating system and goes on."""

    innodb_use_native_aio: bool
    version_compile_os: str = "Linux"


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-linux-native-aio.html",
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(io: Asynchronous, _log: OwnRedoLog) -> Finding | Passed | NotApplicable:
    if "linux" not in io.version_compile_os.lower():
        return NotApplicable(Message("Only Linux has this choice."))
    if io.innodb_use_native_aio:
        return Passed(io.measured("innodb_use_native_aio"))
    return Finding(
        (
            Item(
                message=Message("innodb_use_native_aio is OFF: each write in the background holds a thread"),
                evidence=io.measured("innodb_use_native_aio"),
                proposal=(SetVariable("innodb_use_native_aio", "ON"),),
                expected=Message("The device gets as many writes at once as it takes."),
                price=(
                    Price(
                        PriceKind.RESTART,
                        Message("where it was turned off at the start for want of requests, raise fs.aio-max-nr first"),
                    ),
                ),
                would_change_our_mind=Message("A file system without asynchronous I/O."),
            ),
        )
    )


rule.fires(
    "Switched off on MySQL 8.0",
    scene("mysql 8.0.33", {"innodb_use_native_aio": "OFF", "version_compile_os": "Linux"}),
    proposes={"innodb_use_native_aio": "ON"},
)
rule.fires(
    "No requests left when MariaDB 10.11 started",
    scene("mariadb 10.11.18", {"innodb_use_native_aio": "OFF", "version_compile_os": "debian-linux-gnu"}),
    proposes={"innodb_use_native_aio": "ON"},
)
rule.passes("As usual", scene("mysql 5.7.22", {"innodb_use_native_aio": "ON", "version_compile_os": "Linux"}))
rule.passes(
    "As usual on MariaDB",
    scene("mariadb 11.8.6", {"innodb_use_native_aio": "ON", "version_compile_os": "debian-linux-gnu"}),
)
