"""A third of all statements only sets up sessions.

Why it matters
    SET, USE and ping are cheap on the server, but each is a round trip that the application waits for. Drivers and
    frameworks send them around every statement: SET autocommit, SET NAMES, a ping before a connection is taken from the
    pool. Where they are a third of all statements, half of the network time is theirs.

How it is computed
    Com_set_option + Com_change_db + Com_admin_commands (ping, reset) make 30 % or more of Questions, and 20 a second
    or more.

When to dismiss it
    The application stands beside the server, and its response times are fine.
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Rates
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Chatter(Rates):
    """Statements in all, and those that only set up sessions, per second."""

    questions: float
    com_set_option: float
    com_change_db: float
    com_admin_commands: float

    @property
    def of_sessions(self) -> float:
        """Statements per second that set up sessions."""
        return self.com_set_option + self.com_change_db + self.com_admin_commands


@dataclass(frozen=True)
class Parameters(Thresholds):
    """When it is too much."""

    statements_per_second: float = threshold(
        20.0, unit=Unit.PER_SECOND, meaning="statements that only set up sessions", leave_at=15.0
    )
    chatter_ratio: float = threshold(0.3, unit=Unit.RATIO, meaning="their share of all statements", leave_at=0.25)


rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/server-status-variables.html",
        "https://mariadb.com/docs/server/ha-and-performance/optimization-and-tuning/system-variables/server-status-variables",
    ],
)


@rule.check
def check(rates: Chatter, p: Parameters) -> Finding | Passed:
    if rates.of_sessions < max(p.statements_per_second, p.chatter_ratio * rates.questions):
        return Passed(rates.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "{rate} of {all} statements a second only set up sessions",
                    {
                        "rate": Quantity(rates.of_sessions, Unit.COUNT),
                        "all": Quantity(rates.questions, Unit.COUNT),
                    },
                ),
                evidence=rates.measured(),
                proposal=(
                    Investigate(
                        "Look at the driver's and the pool's settings: test idle connections only, not each that is "
                        "taken; let the driver remember the session's state (Connector/J: useLocalSessionState=true); "
                        "name the schema in the connection."
                    ),
                ),
                expected=Message("Fewer round trips for the same work."),
                would_change_our_mind=Message("An application beside the server whose response times are fine."),
            ),
        )
    )


rule.fires(
    "A pool that pings and sets around each statement",
    scene(
        "mysql 8.0.33",
        counters={"Questions": 900, "Com_set_option": 300, "Com_change_db": 0, "Com_admin_commands": 300},
        deliberate=True,
    ),
)
rule.fires(
    "USE before each statement",
    scene(
        "mariadb 10.11.18",
        counters={"Questions": 200, "Com_set_option": 0, "Com_change_db": 100, "Com_admin_commands": 0},
        deliberate=True,
    ),
)
rule.passes(
    "One in a hundred",
    scene(
        "mysql 8.0.33",
        counters={"Questions": 9000, "Com_set_option": 60, "Com_change_db": 0, "Com_admin_commands": 30},
        deliberate=True,
    ),
)
rule.passes(
    "An idle server's monitoring",
    scene(
        "mariadb 10.11.18",
        counters={"Questions": 3, "Com_set_option": 1.5, "Com_change_db": 0, "Com_admin_commands": 0},
        deliberate=True,
    ),
)
