"""How a variable may be changed from here: ``data/classes.tsv`` says it by names, with the reason.

The first line whose pattern matches the whole name counts; what no line names wants a person's confirmation, so that a
variable nobody thought of is never changed as if it were harmless.
"""

from __future__ import annotations

import re
from functools import cache

from advisor.mysql.catalogue_data import ChangeClass, VariableFacts, table

#: The reason of those that decide what survives a crash: a plan marks them.
DURABILITY = "it decides what a crash or a failing device can lose"


def class_of(facts: VariableFacts) -> ChangeClass:
    """The class of a variable; ``never`` for one that no option sets either."""
    return ChangeClass.NEVER if facts.read_only else _line_of(facts.name)[0]


def reason(facts: VariableFacts) -> str:
    """Why the variable is of its class, as half a sentence: ``it decides what a crash can lose``."""
    if facts.read_only:
        return "it only informs"
    return _line_of(facts.name)[1]


_NOT_NAMED = ChangeClass.CONFIRM, "nobody has judged what changing it does"


@cache
def _line_of(name: str) -> tuple[ChangeClass, str]:
    return next(((one, why) for pattern, one, why in _patterns() if pattern.fullmatch(name)), _NOT_NAMED)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], ChangeClass, str], ...]:
    return tuple((re.compile(row["names"]), ChangeClass(row["class"]), row["why"]) for row in table("classes.tsv"))
