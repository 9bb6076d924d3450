"""Where a scenario asks for less: rules that a server has another reason not to be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def except_on(*parts: tuple[Iterable[str], str, tuple[str, ...]]) -> Mapping[str, Mapping[str, str]]:
    """The ``but`` of a scenario from (servers, reason, rules): on each of these servers these rules are left out."""
    found: dict[str, dict[str, str]] = {}
    for servers, reason, rules in parts:
        for server in servers:
            found.setdefault(server, {}).update(dict.fromkeys(rules, reason))
    return found
