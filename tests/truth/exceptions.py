"""Where a scenario asks for less: rules that a server has another reason not to be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.truth.scenario import EVERY


def except_on(*parts: tuple[Iterable[str], str, tuple[str, ...]]) -> Mapping[str, Mapping[str, str]]:
    """The ``but`` of a scenario from (servers, reason, rules): on each of these servers these rules are left out."""
    found: dict[str, dict[str, str]] = {}
    for servers, reason, rules in parts:
        for server in servers:
            found.setdefault(server, {}).update(dict.fromkeys(rules, reason))
    return found


def only_on(partly: Mapping[str, tuple[str, ...]], reason: str) -> dict[str, dict[str, str]]:
    """The ``but`` of a scenario from rules and the only servers that have what they ask for: left out elsewhere."""
    found = {server: {rule: reason for rule, has in partly.items() if server not in has} for server in EVERY}
    return {server: rules for server, rules in found.items() if rules}
