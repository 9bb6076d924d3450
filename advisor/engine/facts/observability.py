"""Facts about performance_schema: which instruments and consumers are on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Message, Missing

#: What has to be on for a consumer to get anything; both vendors' manuals draw it as a tree.
PARENTS: Mapping[str, str] = {
    "thread_instrumentation": "global_instrumentation",
    "statements_digest": "global_instrumentation",
    **{
        f"events_{kind}_current": "thread_instrumentation" for kind in ("statements", "stages", "waits", "transactions")
    },
    **{
        f"events_{kind}_{kept}": f"events_{kind}_current"
        for kind in ("statements", "stages", "waits", "transactions")
        for kept in ("history", "history_long")
    },
    "events_statements_cpu": "events_statements_current",
}


@dataclass(frozen=True)
class PerformanceSchema(Fact):
    """What performance_schema counts: instruments by class (how many there are, are enabled, are timed) and consumers.

    Raises Missing where it could not be read, Inapplicable where performance_schema is off.
    """

    reads: ClassVar[tuple[str, ...]] = ("performance_schema.setup_instruments", "performance_schema.setup_consumers")

    instruments: Mapping[str, tuple[int, int, int]]
    consumers: Mapping[str, bool]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = seen.snapshot.performance_schema
        if not reading.is_on(seen, "performance_schema", default=False):
            if not seen.snapshot.variables:
                reading.text(seen, "performance_schema")
            raise Inapplicable(Message("performance_schema is off on this server."))
        if not found.get("consumers"):
            raise Missing(reading.grant(seen, "SELECT ON performance_schema.*", "performance_schema"))
        return cls(
            instruments={
                name: (int(counts[0]), int(counts[1]), int(counts[2]))
                for name, counts in (found.get("instruments") or {}).items()
            },
            consumers=dict(found["consumers"]),
        )

    def of_class(self, start: str) -> tuple[int, int, int]:
        """How many instruments there are whose class begins so, how many are enabled, how many timed."""
        chosen = [counts for name, counts in self.instruments.items() if name.startswith(start)]
        return (
            sum(counts[0] for counts in chosen),
            sum(counts[1] for counts in chosen),
            sum(counts[2] for counts in chosen),
        )

    @property
    def orphans(self) -> tuple[tuple[str, str], ...]:
        """Consumers that are on and get nothing, each with what is off above it."""
        found = []
        for name, is_on in sorted(self.consumers.items()):
            above = PARENTS.get(name)
            while is_on and above is not None:
                if not self.consumers.get(above, True):
                    found.append((name, above))
                    break
                above = PARENTS.get(above)
        return tuple(found)
