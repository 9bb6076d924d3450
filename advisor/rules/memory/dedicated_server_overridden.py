"""The server is to size itself, and its sizes are set all the same.

Why it matters
    With innodb_dedicated_server the server chooses its buffer pool and its redo log by the memory or the CPUs it
    finds at each start. A size that is set explicitly wins, variable by variable: then one half of the set-up
    follows the machine and the other does not, and whoever moves the server to a larger machine wonders why nothing
    grew.

How it is computed
    innodb_dedicated_server is ON, and innodb_buffer_pool_size, innodb_redo_log_capacity or innodb_log_file_size
    comes from an option file, the command line, SET PERSIST or SET GLOBAL. Where the values came from is read from
    performance_schema's variables_info. What is right is for a person to say, so no value is named.

When to dismiss it
    Only one of the sizes is meant to be fixed, and everybody who cares for the server knows it.
"""

from __future__ import annotations

from advisor.engine.facts.memory import DedicatedServer
from advisor.engine.outcome import Finding, Item, Message, Passed, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate

rule = Rule(
    __name__,
    severity=Severity.NOTICE,
    applies_to=["mysql>=8.0"],
    since="0.2",
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/innodb-dedicated-server.html",
    ],
)


@rule.check
def check(dedicated: DedicatedServer) -> Finding | Passed:
    if not dedicated.on or not dedicated.set_anyway:
        return Passed(dedicated.measured())
    return Finding(
        (
            Item(
                message=Message(
                    "innodb_dedicated_server is ON, but {names} does not follow the machine: it is set explicitly",
                    {"names": Quantity(", ".join(dedicated.set_anyway), Unit.TEXT)},
                ),
                evidence=dedicated.measured(),
                proposal=(
                    Investigate(
                        "Decide for one of both: delete the explicit sizes and restart, or switch "
                        "innodb_dedicated_server off and keep sizes that somebody chose."
                    ),
                ),
                would_change_our_mind=Message("A size that is fixed on purpose."),
            ),
        )
    )


rule.fires(
    "A pool from the option file beside innodb_dedicated_server",
    scene(
        "mysql 8.0.33",
        {"innodb_dedicated_server": "ON"},
        origins={"innodb_buffer_pool_size": "option_file", "innodb_dedicated_server": "option_file"},
    ),
)
rule.fires(
    "A redo log that was persisted",
    scene(
        "mysql 9.7.4",
        {"innodb_dedicated_server": "ON"},
        origins={"innodb_redo_log_capacity": "persisted", "innodb_dedicated_server": "option_file"},
    ),
)
rule.passes(
    "Everything follows the machine",
    scene(
        "mysql 8.0.33",
        {"innodb_dedicated_server": "ON"},
        origins={"innodb_buffer_pool_size": "compiled", "innodb_dedicated_server": "option_file"},
    ),
)
rule.passes(
    "Sizes are set, and nothing else decides them",
    scene("mysql 8.0.33", origins={"innodb_buffer_pool_size": "option_file"}),
)
