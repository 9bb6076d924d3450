"""Whether the values of a plan fit together on one server, into its memory and onto its disk.

Plain values in, plain values out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from advisor.changes.planning import Part
from advisor.changes.said import Said
from advisor.changes.said import said as _made
from advisor.engine.memory import MemoryThresholds, memory_need
from advisor.engine.units import Unit
from advisor.mysql import redo
from advisor.mysql.catalogue import CATALOGUE, UnknownVariable, ValueRefused
from advisor.mysql.catalogue_answers import ServerAnswers
from advisor.mysql.change_class import reason
from advisor.mysql.statements import Rendered
from advisor.mysql.values import BadValue, normalised, parse_integer

#: How much of the free disk a larger redo log may take: what else grows there wants room, too.
DISK_SHARE = 0.8
_REPLICATION = "it is a matter of the binary log or of replication"
_MEMORY = (
    "innodb_buffer_pool_size",
    "innodb_log_buffer_size",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "query_cache_size",
    "table_open_cache",
    "max_connections",
)


@dataclass(frozen=True)
class Told:
    """One thing that was looked at; see ``checks.Check``."""

    id: str
    ok: bool
    message: Said
    who: str = "author"
    warns: bool = False


def all_of(part: Part, plan: Rendered) -> Iterable[Told]:
    """Every check of the values of one server's part."""
    after = {**part.facts.variables, **{change.name: change.proposed for change in plan.changes}}
    yield from _companions(part, plan, after)
    yield from _memory(part, plan, after)
    yield from _disk(part, after)
    yield from _replicas(part, plan)


def _companions(part: Part, plan: Rendered, after: Mapping[str, str]) -> Iterable[Told]:
    """What has to change with these values, and does not: the server would cut the value off, or it would do nothing.

    Asked of the values as they will be; what is broken today already and has nothing to do with it is no fault of it.
    """
    answers = ServerAnswers(part.facts.version, after, part.facts.origins, part.facts.persisted)
    clean = True
    for change in plan.changes:
        try:
            lacking = answers.goes_with(change.name, _number(change.proposed))
        except (UnknownVariable, ValueRefused, BadValue):
            continue
        for one in lacking:
            if one.name in part.facts.variables:
                clean = clean and not one.first
                message = _made(
                    "{variable} = {value} wants {other} at {bound} {least}: {why}.",
                    variable=change.name,
                    value=change.proposed,
                    other=one.name,
                    bound={"least": "least", "most": "most", "equal": "exactly"}[one.bound],
                    least=str(one.value),
                    why=one.why,
                )
                # open_files_limit needs a restart, and what is missing of it costs cache entries, not correctness.
                blocks = one.first and one.name != "open_files_limit"
                yield Told("companions", not blocks, message, warns=not blocks)
    if clean:
        yield Told("companions", True, _made("The values fit together."), "nobody")


def _number(printed: str) -> int | float | str:
    number = normalised(printed)
    if isinstance(number, str):
        return printed
    return int(number) if number == number.to_integral_value() else float(number)


def _memory(part: Part, plan: Rendered, after: Mapping[str, str]) -> Iterable[Told]:
    """Whether the server still fits into its machine's memory, where a change takes more of it than today."""
    if not any(change.name in _MEMORY for change in plan.changes):
        return
    now, then = _expected(part, part.facts.variables), _expected(part, after)
    if then <= now:
        return
    if part.facts.memory_bytes is None:
        message = _made(
            "It will take {then} of memory instead of {now}; how much the machine has is not known.",
            then=(then, Unit.BYTES),
            now=(now, Unit.BYTES),
        )
        yield Told("memory", True, message, warns=True)
        return
    most = MemoryThresholds().planned_ratio * part.facts.memory_bytes
    message = _made(
        "It will take {then} of memory instead of {now}, of {most} that may be planned for.",
        then=(then, Unit.BYTES),
        now=(now, Unit.BYTES),
        most=(round(most), Unit.BYTES),
    )
    yield Told("memory", then <= most, message, "nobody" if then <= most else "author")


def _expected(part: Part, variables: Mapping[str, str]) -> int:
    used = part.facts.status.get("Max_used_connections", "0")
    need = memory_need(variables, int(used) if used.isdigit() else 0)
    return round(need.expected_bytes(_whole(variables, "innodb_buffer_pool_size")))


def _disk(part: Part, after: Mapping[str, str]) -> Iterable[Told]:
    """Whether a larger redo log fits onto the disk."""
    name = redo.capacity_variable(part.facts.version)
    if name not in after or not redo.has_redo_log(part.facts.version):
        return
    files = redo.files(part.facts.version, after)
    before_files = redo.files(part.facts.version, part.facts.variables)
    more = _whole(after, name) * files - _whole(part.facts.variables, name) * before_files
    if more <= 0:
        return
    free = part.facts.free_disk_bytes
    if free is None:
        message = _made(
            "The redo log will take {more} more of disk; how much is free is not known.", more=(more, Unit.BYTES)
        )
        yield Told("disk", True, message, warns=True)
        return
    fits = more <= free * DISK_SHARE
    message = _made(
        "The redo log will take {more} more of {free} that are free on disk.",
        more=(more, Unit.BYTES),
        free=(free, Unit.BYTES),
    )
    yield Told("disk", fits, message, "nobody" if fits else "author")


def _replicas(part: Part, plan: Rendered) -> Iterable[Told]:
    """What a source and its replicas have to agree on is told to the reviewers: they know which replica is which."""
    if part.facts.role not in ("source", "replica"):
        return
    for change in plan.changes:
        facts = CATALOGUE.find(change.name, part.facts.version)
        if facts is not None and (reason(facts) == _REPLICATION or change.name == "max_allowed_packet"):
            message = _made(
                "{variable} is about replication, and the server is a {role}: see that the others go with it.",
                variable=change.name,
                role=part.facts.role,
            )
            yield Told("replicas", True, message, warns=True)


def _whole(variables: Mapping[str, str], name: str) -> int:
    try:
        return parse_integer(variables.get(name, "0"))
    except BadValue:
        return 0
