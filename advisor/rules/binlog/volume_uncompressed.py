"""Much is written to the binary log, and none of it is compressed.

Why it matters
    Every byte of the log is written and synced here, kept for days, sent to each replica and written again there.
    Rows compress well, often to a quarter: less disk, less network, and a shorter way for a replica that has to catch
    up.

How it is computed
    Binlog_bytes_written of MariaDB grows by more than 2 MiB a second between full snapshots and log_bin_compress is
    off. MySQL tells no such counter, so that binlog_transaction_compression is not judged there.

When to dismiss it
    CPU is short on this server, what is written is compressed already (images, archives), or a reader of the log does
    not know compressed events (replicas before MariaDB 10.2.3).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import HarmRates, Settings
from advisor.engine.facts.replication import BinaryLog
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import HOUR, MIB, Quantity, Unit
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Compression(Settings):
    """Whether events are compressed."""

    log_bin_compress: bool


@dataclass(frozen=True)
class Volume(HarmRates):
    """What is written, in bytes per second."""

    binlog_bytes_written: float


@dataclass(frozen=True)
class Parameters(Thresholds):
    """What is much."""

    bytes_per_second: float = threshold(
        2 * MIB, unit=Unit.BYTES_PER_SECOND, meaning="binary log written", leave_at=1.5 * MIB
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    caused_by=[Volume],
    references=[
        "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/compressing-events-to-reduce-size-of-the-binary-log"
    ],
)


@rule.check
def check(compression: Compression, volume: Volume, _log: BinaryLog, p: Parameters) -> Finding | Passed:
    figures = (
        *compression.measured(),
        Measured(
            "binary log written",
            volume.binlog_bytes_written,
            Unit.BYTES_PER_SECOND,
            volume.window,
            "Binlog_bytes_written",
        ),
    )
    if compression.log_bin_compress or volume.binlog_bytes_written < p.bytes_per_second:
        return Passed(figures)
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} are written to the binary log without compression",
                    {"rate": Quantity(volume.binlog_bytes_written, Unit.BYTES_PER_SECOND)},
                ),
                evidence=figures,
                proposal=(SetVariable("log_bin_compress", True),),
                expected=Message("The log takes less disk here, on the way and on each replica."),
                price=(Price(PriceKind.OVERHEAD, Message("CPU of the session that commits, and of each applier")),),
                would_change_our_mind=Message("Data that are compressed already, or a CPU that is busy."),
            ),
        )
    )


rule.fires(
    "Five megabytes a second",
    scene("mariadb 10.11.18", {"log_bin": "ON"}, counters={"Binlog_bytes_written": 5 * MIB}, deliberate=True),
    proposes={"log_bin_compress": True},
)
rule.fires(
    "An hour of them",
    scene(
        "mariadb 10.2.11",
        {"log_bin": "ON"},
        counters={"Binlog_bytes_written": 3 * MIB},
        seconds=HOUR,
        every=60,
    ),
    proposes={"log_bin_compress": True},
)
rule.passes(
    "Little",
    scene("mariadb 10.11.18", {"log_bin": "ON"}, counters={"Binlog_bytes_written": 100_000}, deliberate=True),
)
rule.passes(
    "Compressed",
    scene(
        "mariadb 11.8.6",
        {"log_bin": "ON", "log_bin_compress": "ON"},
        counters={"Binlog_bytes_written": 5 * MIB},
        deliberate=True,
    ),
)
