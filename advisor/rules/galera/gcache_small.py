"""A node that is away for less than an hour has to be copied as a whole.

Why it matters
    The write sets of the last minutes are kept in the gcache (gcache.size, 128 MiB). A node that comes back gets only
    what it missed, as long as the gcache of another node still holds it; after that all data are copied, which takes
    a donor out of service and hours for large data. An upgrade of a machine should not need that.

How it is computed
    What this node replicates and receives (wsrep_replicated_bytes, wsrep_received_bytes, between full snapshots)
    fills gcache.size in less than an hour, and at least 10 kB a second are written. Told is the size for one hour.

When to dismiss it
    Data are small enough to be copied in minutes, or the load of this window is far above the usual.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.observation import Observation
from advisor.engine.outcome import Finding, Item, Measured, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import HOUR, MIB, Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Volume(Rates):
    """Bytes of write sets from this node and from others, per second."""

    wsrep_replicated_bytes: float
    wsrep_received_bytes: float

    @property
    def bytes_per_second(self) -> float:
        return self.wsrep_replicated_bytes + self.wsrep_received_bytes


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How long a node may be away."""

    held_seconds: float = threshold(
        HOUR, unit=Unit.SECONDS, meaning="time whose writes the gcache holds", leave_at=HOUR * 1.3
    )
    bytes_per_second: float = threshold(
        10_000, unit=Unit.BYTES_PER_SECOND, meaning="writes worth judging", leave_at=7_000
    )


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://mariadb.com/docs/galera-cluster/reference/wsrep-variable-details/wsrep_provider_options",
        "https://mariadb.com/docs/galera-cluster/reference/galera-cluster-status-variables",
    ],
)


@rule.check
def check(node: ClusterNode, volume: Volume, p: Parameters) -> Finding | Passed:
    size, rate = node.size_bytes("gcache.size"), volume.bytes_per_second
    figures = (
        Measured("gcache.size", size, Unit.BYTES, None, "wsrep_provider_options"),
        Measured("write sets", rate, Unit.BYTES_PER_SECOND, volume.window, "wsrep_*_bytes"),
    )
    if not size or rate < p.bytes_per_second or size >= p.held_seconds * rate:
        return Passed(figures)
    wanted = -(-int(HOUR * rate) // (64 * MIB)) * 64
    return Finding(
        (
            Item(
                message=Message(
                    "The gcache of {size} holds the writes of {time}: a node that is away for longer is copied as a "
                    "whole",
                    {"size": Quantity(size, Unit.BYTES), "time": Quantity(round(size / rate), Unit.SECONDS)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        f"Set gcache.size={wanted}M within wsrep_provider_options in the option file of each node, and "
                        "restart them one after the other: an hour of such writes then fits."
                    ),
                ),
                expected=Message("A node that was away for an hour fetches only what it missed."),
                price=(
                    Price(
                        PriceKind.DISK,
                        Message("a file of that size in the data directory"),
                        Quantity(size, Unit.BYTES),
                        Quantity(wanted * MIB, Unit.BYTES),
                    ),
                ),
                would_change_our_mind=Message("Data that are copied within minutes."),
            ),
        )
    )


def _busy(size: str, rate: float, **more: bool) -> Observation:
    return scene(
        "mariadb 10.11.18",
        {"wsrep_on": "ON", "wsrep_provider_options": f"base_port = 4567; gcache.size = {size}; gcs.fc_limit = 16; "},
        counters={"wsrep_replicated_bytes": rate / 2, "wsrep_received_bytes": rate / 2},
        deliberate=True,
    )


rule.fires("A megabyte a second and the default of 128 MiB", _busy("128M", MIB))
rule.fires("Ten and a gigabyte", _busy("1G", 10 * MIB))
rule.passes("An hour fits", _busy("4G", MIB))
rule.passes("Next to nothing is written", _busy("1M", 1000))
