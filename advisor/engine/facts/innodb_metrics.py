"""Rates of the counters of innodb_metrics."""

from __future__ import annotations

from typing import Self

from advisor.engine import reading
from advisor.engine.declared import Rates
from advisor.engine.observation import Observation
from advisor.engine.outcome import Missing
from advisor.mysql.snapshot import Remedy, RemedyKind


class MetricRates(Rates):
    """As ``Rates``, with fields named as counters of innodb_metrics: one that is off, or may not be read, is said so.

    Only counters that are on in every version are worth a rule: the ones that are off have to be switched on first.
    """

    @classmethod
    def read(cls, seen: Observation) -> Self:
        for name in cls.__dataclass_fields__:  # type: ignore[attr-defined]
            if name in seen.counter_names or not seen.counted:
                continue
            if not seen.snapshot.metrics:
                raise Missing(reading.grant(seen, "PROCESS", f"innodb_metrics counter {name}"))
            if name in seen.snapshot.metrics:
                raise Missing(
                    Remedy(
                        RemedyKind.ENABLE,
                        f"innodb_metrics counter {name}",
                        f"It is switched off: SET GLOBAL innodb_monitor_enable = '{name}'.",
                    )
                )
        return super().read(seen)
