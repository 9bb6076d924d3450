"""The optimizer writes down every step for every statement.

Why it matters
    The optimizer's trace is for one session that looks at one statement. Switched on globally, each statement of each
    session builds a document of what was considered, which nobody reads: point look-ups take several times the
    processor, and each session up to optimizer_trace_max_mem_size of memory.

How it is computed
    From the setting alone: the global optimizer_trace says enabled=on.

When to dismiss it
    Never with a global setting: a session can switch it on for itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.mysql.proposal import SetVariable


@dataclass(frozen=True)
class Trace(Settings):
    """The flags of the optimizer's trace."""

    optimizer_trace: str

    @property
    def is_on(self) -> bool:
        """Whether sessions begin with a trace."""
        return "enabled=on" in self.optimizer_trace.lower().replace(" ", "")


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.4"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/optimizer-tracing.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/query-optimizations/optimizer-trace/optimizer-trace-overview",
    ],
)


@rule.check
def check(trace: Trace) -> Finding | Passed:
    if not trace.is_on:
        return Passed(trace.measured())
    return Finding(
        (
            Item(
                message=Message("The optimizer traces every statement of every session"),
                evidence=trace.measured(),
                proposal=(SetVariable("optimizer_trace", trace.optimizer_trace.replace("enabled=on", "enabled=off")),),
                expected=Message("Statements are planned without being written about."),
                price=(Price(PriceKind.OVERHEAD, Message("sessions that want a trace switch it on themselves")),),
                would_change_our_mind=Message("Nothing that a session could not do for itself."),
            ),
        )
    )


rule.fires(
    "Left on",
    scene("mysql 8.0.33", {"optimizer_trace": "enabled=on,one_line=off"}),
    proposes={"optimizer_trace": "enabled=off,one_line=off"},
)
rule.fires(
    "Left on, MariaDB",
    scene("mariadb 10.11.18", {"optimizer_trace": "enabled=on"}),
    proposes={"optimizer_trace": "enabled=off"},
)
rule.passes("As installed", scene("mysql 8.0.33"))
rule.passes("As installed, MariaDB", scene("mariadb 10.11.18"))
