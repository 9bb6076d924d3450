"""Pages are cached twice: in the buffer pool and in the operating system.

Why it matters
    With innodb_flush_method = fsync, the default of MySQL up to 8.3 and MariaDB up to 10.5, every page that InnoDB
    reads or writes goes through the page cache. A big buffer pool then has a second copy of itself in memory, the
    kernel writes back in its own rhythm, and a burst of it delays the syncs that commits wait for. MySQL 8.4 and
    MariaDB 10.6 changed their default to O_DIRECT.

How it is computed
    From the settings: the data files are written through the page cache, and the buffer pool has 1 GiB or more (with a
    small pool the page cache is a welcome second one). Proposed is O_DIRECT; on MariaDB 11.0 and later
    innodb_data_file_buffering = OFF, which acts at once. O_DIRECT_NO_FSYNC is fine, too.

When to dismiss it
    The buffer pool is kept small on purpose, or the file system does not support O_DIRECT.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.flushing import (
    DataFileWrites,
)
from advisor.engine.outcome import (
    Finding,
    Item,
    Message,
    Passed,
    Price,
    PriceKind,
    Severity,
)
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import GIB, Quantity, Unit


@dataclass(frozen=True)
class Parameters(Thresholds):
    """From which size of the pool on two copies are one too many."""

    pool_bytes: float = threshold(GIB, unit=Unit.BYTES, meaning="innodb_buffer_pool_size from which it matters")


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html",
        "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
    ],
)


@rule.check
def check(files: DataFileWrites, p: Parameters) -> Finding | Passed:
    if not files.buffered or files.unsafe or files.pool_bytes < p.pool_bytes:
        return Passed(files.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "Pages of a buffer pool of {size} are cached by the operating system once more",
                    {"size": Quantity(files.pool_bytes, Unit.BYTES)},
                ),
                evidence=files.measured(),
                proposal=(files.direct,),
                expected=Message("Memory holds each page once, and writes reach the device when InnoDB says so."),
                price=(
                    Price(PriceKind.READ_LATENCY, Message("pages that only the page cache held are read from disk")),
                ),
                would_change_our_mind=Message("A buffer pool that is much smaller than the memory left beside it."),
            ),
        )
    )


rule.fires(
    "MySQL 8.0 with its default and a pool of 8 GiB",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": 8 * GIB, "innodb_flush_method": "fsync"}),
    proposes={"innodb_flush_method": "O_DIRECT"},
)
rule.fires(
    "MySQL 5.7 shows its default as nothing",
    scene("mysql 5.7.22", {"innodb_buffer_pool_size": 8 * GIB, "innodb_flush_method": ""}),
    proposes={"innodb_flush_method": "O_DIRECT"},
)
rule.fires(
    "MariaDB 11.8 says it by another variable, which acts at once",
    scene(
        "mariadb 11.8.6",
        {"innodb_buffer_pool_size": 8 * GIB, "innodb_data_file_buffering": "ON", "innodb_flush_method": "fsync"},
    ),
    proposes={"innodb_data_file_buffering": "OFF"},
)
rule.fires(
    "MariaDB 10.5 with its default and a pool of 8 GiB",
    scene("mariadb 10.5.23", {"innodb_buffer_pool_size": 8 * GIB, "innodb_flush_method": "fsync"}),
    proposes={"innodb_flush_method": "O_DIRECT"},
)
rule.passes("A pool of 128 MiB", scene("mysql 8.0.33", {"innodb_flush_method": "fsync"}))
rule.passes(
    "Without syncs, which is as direct",
    scene("mysql 8.0.33", {"innodb_buffer_pool_size": 8 * GIB, "innodb_flush_method": "O_DIRECT_NO_FSYNC"}),
)
rule.passes(
    "The default of MariaDB 10.11",
    scene("mariadb 10.11.18", {"innodb_buffer_pool_size": 8 * GIB, "innodb_flush_method": "O_DIRECT"}),
)
rule.passes(
    "The default of MariaDB 11.8",
    scene(
        "mariadb 11.8.6",
        {"innodb_buffer_pool_size": 8 * GIB, "innodb_data_file_buffering": "OFF", "innodb_flush_method": "O_DIRECT"},
    ),
)
