"""Fixtures for tests on real servers.

`server` is the machine's own MariaDB, plain, one for the whole session; a room's conftest.py imports it from here. A
test that changes it puts it back, or starts its own with `start_server`. For tests on several versions a module makes
its own fixture:

    target = each_server()          # quick: the machine's own; ci: three; matrix: all nine
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import pytest

from . import CI_SERVERS, DISTRIBUTION_SERVER, SERVERS, RunningServer, places, start_server


def server_params(names: Iterable[str] | None = None) -> list[Any]:
    """Parameters for a test on each of `names` (None: every server known here), marked by the cheapest run with it.

    A server that can no longer be had is skipped with its date; one that was not fetched fails when it is started.
    """
    return [pytest.param(name, marks=_marks(name), id=name) for name in (every_server() if names is None else names)]


def every_server() -> list[str]:
    """The nine, and the machine's own if it is none of them."""
    return [*SERVERS, *({DISTRIBUTION_SERVER} - set(SERVERS))]


def _marks(name: str) -> list[pytest.MarkDecorator]:
    marks = []
    if name != DISTRIBUTION_SERVER:
        marks.append(pytest.mark.ci if name in CI_SERVERS else pytest.mark.matrix)
        gone = places.unobtainable().get(name)
        if gone is not None:
            marks.append(pytest.mark.skip(reason=f"{name} cannot be had since {gone['since']}: {gone['why']}"))
    return marks


def each_server(
    names: Iterable[str] | None = None,
    *,
    options: Mapping[str, str | None] | None = None,
    scope: Literal["session", "package", "module", "class", "function"] = "module",
) -> Callable[..., Iterator[RunningServer]]:
    """A fixture that runs its tests once on each of `names` (None: every server), marked as `server_params` says."""

    @pytest.fixture(scope=scope, params=server_params(names))
    def running(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
        with start_server(request.param, options=options) as server:
            yield server

    return running


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """The machine's own MariaDB server, as it starts without any option of ours but a small buffer pool."""
    with start_server(DISTRIBUTION_SERVER) as running:
        yield running
