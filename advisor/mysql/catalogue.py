"""The system variables of each flavor and version: which exist, what they take, and when a change counts.

The facts come from real servers (``data/mysql.tsv``, ``data/mariadb.tsv``; made by ``scripts/make_catalogue``).
``data/between.tsv`` states what changed between two of those servers and since which version, by the manuals; where it
is silent, a version has the facts of the nearest asked server below it. Facts about a series in which no server was
asked are marked as not verified. What a change does on one very server is ``catalogue_answers``' business.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from advisor.mysql import catalogue_data
from advisor.mysql.catalogue_data import ChangeClass, Effect, Kind, Number, Point, Scope, VariableFacts
from advisor.mysql.change_class import class_of
from advisor.mysql.values import BadValue, parse_boolean, parse_integer, parse_real
from advisor.mysql.version import Flavor, ServerVersion

__all__ = [
    "CATALOGUE",
    "Catalogue",
    "ChangeClass",
    "Effect",
    "Kind",
    "Scope",
    "UnknownVariable",
    "Value",
    "ValueRefused",
    "VariableFacts",
]

Value = int | float | str | bool


class UnknownVariable(LookupError):
    """This version has no such system variable, or the catalogue does not know it; the message says so."""


class ValueRefused(ValueError):
    """The server would refuse the value; the message says what it takes."""


class Catalogue:
    """What is known of system variables. Reads its files on first use."""

    def __init__(self) -> None:
        self._found: dict[tuple[Flavor, str, Number], VariableFacts | None] = {}

    def find(self, name: str, server: ServerVersion) -> VariableFacts | None:
        """The facts about a variable on this version; None if this version does not have it, or nobody ever asked."""
        key = server.flavor, name, server.number
        if key not in self._found:
            self._found[key] = _find(name.lower(), server)
        return self._found[key]

    def ever(self, name: str, flavor: Flavor) -> bool:
        """Whether some version of the flavor is known to have or have had this variable."""
        return any(point.facts is not None for point in catalogue_data.timeline(flavor, name.lower()))

    def asked_in_series(self, server: ServerVersion) -> bool:
        """Whether a server of this version's series was asked, so that what it lacks is certain, too."""
        return catalogue_data.asked_in(server.flavor, server.number[:2])

    def successor(self, name: str, server: ServerVersion) -> str | None:
        """The variable that does on this version what ``name`` did or does; None if there is none."""
        successor = _successor_of(name.lower(), server)
        return successor.name or None if successor else None

    def names(self, server: ServerVersion) -> tuple[str, ...]:
        """The variables the catalogue knows on this version, sorted."""
        known = catalogue_data.variable_names(server.flavor)
        return tuple(sorted(name for name in known if self.find(name, server) is not None))

    def accepted(self, name: str, server: ServerVersion, value: Value) -> Value:
        """What the variable holds after it was given ``value``: numbers within the bounds, rounded down to the step.

        Words come back as the server spells them, booleans as bool. Limits that depend on other variables (the chunk
        size of the buffer pool, innodb_io_capacity_max above innodb_io_capacity) are not known here. Raises
        UnknownVariable if this version has no such variable, ValueRefused for a value of another kind.
        """
        facts = self.find(name, server)
        if facts is None:
            raise UnknownVariable(f"{server} has no system variable {name} that is known here.")
        if facts.read_only:
            raise ValueRefused(f"{name} only informs on {server}: nothing sets it.")
        return _accepted(facts, value)


CATALOGUE = Catalogue()


def _find(name: str, server: ServerVersion) -> VariableFacts | None:
    points = catalogue_data.timeline(server.flavor, name)
    if not points:
        return None
    index = max(0, bisect_right(points, server.number, key=lambda point: point.since) - 1)
    point = points[index]
    if point.facts is None:
        return None
    following = points[index + 1] if index + 1 < len(points) else None
    successor = _successor_of(name, server)
    deprecated = catalogue_data.deprecated_since(server.flavor, name)
    return replace(
        point.facts,
        verified=server.number >= point.since and _answers_for(point, following, server.number),
        replaced_by=successor.name or None if successor else None,
        ignored_when=successor.ignored_when or None if successor else None,
        deprecated=deprecated is not None and server.number >= deprecated,
        change_class=class_of(point.facts),
    )


def _successor_of(name: str, server: ServerVersion) -> catalogue_data.Successor | None:
    found = catalogue_data.successor(server.flavor, name)
    return found if found is not None and server.number >= found.since else None


def _answers_for(point: Point, following: Point | None, number: Number) -> bool:
    """Whether a server of this series was asked; between two of one series that disagree nothing is certain."""
    if point.asked is None or point.asked[:2] != number[:2]:
        return False
    if number == point.asked or following is None or following.asked is None or following.asked[:2] != number[:2]:
        return True
    return following.stated or following.facts == point.facts


# --- what a value becomes ----------------------------------------------------------------------------------------


def _accepted(facts: VariableFacts, value: Value) -> Value:
    try:
        if facts.kind is Kind.BOOLEAN:
            return parse_boolean("1" if value is True else "0" if value is False else str(value))
        if facts.kind is Kind.INTEGER:
            return _whole(facts, _integer(facts, value))
        if facts.kind is Kind.REAL:
            if isinstance(value, bool):
                raise ValueRefused(f"{facts.name} takes a number, not {value}.")
            return float(_within(facts, parse_real(value) if isinstance(value, str) else float(value)))
    except BadValue as refused:
        raise ValueRefused(f"{facts.name}: {refused}") from refused
    if facts.kind in (Kind.ENUM, Kind.STRING) and facts.choices:
        return _choice(facts, value)
    if isinstance(value, bool) or not isinstance(value, str):
        raise ValueRefused(f"{facts.name} takes a word, not {value}.")
    return value


def _integer(facts: VariableFacts, value: Value) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueRefused(f"{facts.name} takes a whole number, not {value}.")
    return parse_integer(value) if isinstance(value, str) else int(value)


def _whole(facts: VariableFacts, value: int) -> int:
    within = int(_within(facts, value))
    return within - within % facts.step if facts.step else within


def _within(facts: VariableFacts, value: int | float) -> int | float:
    if facts.minimum is not None and value < facts.minimum:
        return facts.minimum
    if facts.maximum is not None and value > facts.maximum:
        return facts.maximum
    return value


def _choice(facts: VariableFacts, value: Value) -> str:
    # A server takes the number of a choice too, and with it 0 and 1 where the first two choices are OFF and ON.
    text = str(int(value)) if isinstance(value, bool | int) else str(value)
    # (MySQL 5.7 keeps some choices as text, and takes words only.)
    if text.isdigit() and int(text) < len(facts.choices) and text not in facts.choices and facts.kind is Kind.ENUM:
        return facts.choices[int(text)]
    for choice in facts.choices:
        if choice.lower() == text.lower():
            return choice
    raise ValueRefused(f"{facts.name} takes one of {', '.join(facts.choices)}, not {value}.")
