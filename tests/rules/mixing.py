"""Observations mixed from the examples of rules: what each of them was made of is taken from one or from another."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from advisor.engine.observation import Observation
from advisor.engine.rule import Rule
from advisor.engine.scene import arguments_of, default_variables, scene, server_named
from advisor.mysql.catalogue import CATALOGUE, Kind
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Poll
from advisor.mysql.values import parse_real
from advisor.mysql.version import ServerVersion

#: Arguments of a scene that are mixed name by name; all others are taken as a whole.
_BY_NAME = ("variables", "counters", "gauges", "status", "metrics", "origins", "plugins")


def mixed(rule: Rule, chance: random.Random) -> Observation:
    """A server like one of the rule's examples, with some of what makes the other examples of its flavor different.

    Numbers are moved a little now and then, within the bounds of the version. The mix is firing or passing about as
    often as the examples are, which is what lets a test ask for both.
    """
    examples = rule.examples
    wanted = chance.choice(sorted({one.outcome.__name__ for one in examples}))
    base = arguments_of(chance.choice([one for one in examples if one.outcome.__name__ == wanted]).seen)
    flavor = base["named"].split()[0]
    others = [
        made
        for one in examples
        if (made := arguments_of(one.seen))["named"].split()[0] in (flavor, "percona", "mysql")
        and (flavor == "mariadb") == made["named"].startswith("mariadb")
    ]
    result = dict(base)
    if chance.random() < 0.5:
        _take_from(result, chance.choice(others), chance)
    server = server_named(result["named"])
    if chance.random() < 0.3:
        result["variables"] = _moved(result["variables"] or {}, server, chance)
    return scene(**result)


def _take_from(result: dict[str, Any], other: Mapping[str, Any], chance: random.Random) -> None:
    """Takes about a quarter of what is different from another example."""
    for name, value in other.items():
        if name == "named" or value == result[name]:
            continue
        if name in _BY_NAME:
            mine = dict(result[name] or {})
            for key, each in (value or {}).items():
                if chance.random() < 0.25:
                    mine[key] = each
            result[name] = mine
        elif chance.random() < 0.25:
            result[name] = value


def _moved(variables: Mapping[str, object], server: ServerVersion, chance: random.Random) -> dict[str, object]:
    """Numbers among the variables off by up to a half, or not: the server decides what it takes."""
    result: dict[str, object] = {}
    for name, value in variables.items():
        known = CATALOGUE.find(name, server)
        result[name] = value
        if known is None or known.kind is not Kind.INTEGER or chance.random() < 0.5:
            continue
        try:
            number = parse_real(str(value))
        except ValueError:
            continue
        number = int(number * chance.choice([0.5, 0.9, 1.1, 1.5]))
        if known.minimum is not None and known.maximum is not None:
            number = int(min(max(number, known.minimum), known.maximum))
        step = known.step or 1
        result[name] = number // step * step
    return result


def overlaid(rules: Sequence[Rule], server: str, chance: random.Random) -> Observation:
    """One server on which several rules' firing examples come together: their variables, counters and rows at once."""
    merged: dict[str, Any] = {"named": server, "deliberate": True}
    present = default_variables(server_named(server))
    for rule in rules:
        flavor = server.split()[0]
        fitting = [
            arguments_of(one.seen) for one in rule.examples if arguments_of(one.seen)["named"].split()[0] == flavor
        ]
        if not fitting:
            continue
        made = chance.choice(fitting)
        for name in _BY_NAME:
            merged[name] = {**(merged.get(name) or {}), **(made[name] or {})}
        for name in ("host", "inspection", "role", "replication", "performance_schema"):
            if made[name]:
                merged[name] = made[name]
        if made["redo_per_second"]:
            merged |= {name: made[name] for name in ("redo_per_second", "pressure")}
    merged["variables"] = {name: value for name, value in merged.get("variables", {}).items() if name in present}
    if "innodb_redo_log_capacity" in merged["variables"]:
        # What is set is in force at once: the capacity that another example's old names gave cannot be there, too.
        merged["gauges"] = {
            name: value for name, value in merged.get("gauges", {}).items() if "capacity_resized" not in name
        }
    return scene(**merged)


def noisy(seen: Observation, chance: random.Random) -> Observation:
    """The same observation with every rate, age and pressure off by up to 5 %."""

    def shaken(interval: Interval) -> Interval:
        factor = 1 + chance.uniform(-0.05, 0.05)
        before = interval.previous.values
        values = dict(interval.current.values)
        for name in values:
            grown = interval.delta(name)
            if grown:
                values[name] = before[name] + grown * factor
        for name in ("redo_pressure", "checkpoint_age"):
            if name in values:
                values[name] = values[name] * factor
        current: Poll = replace(interval.current, values=values)
        return Interval(interval.previous, current, interval.seconds)

    return replace(
        seen,
        intervals=tuple(shaken(one) for one in seen.intervals),
        counted=tuple(shaken(one) for one in seen.counted),
    )
