"""What one scenario is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from tests.servers import DISTRIBUTION_SERVER, SERVERS, RunningServer

Options = Mapping[str, str | None]
Load = Callable[[RunningServer], AbstractContextManager[object]]

#: Who observes: the grants that the product itself asks for, and those of an inspection.
OBSERVER = "observer"

MYSQL = tuple(name for name in SERVERS if name.startswith("mysql"))
MARIADB = tuple(dict.fromkeys([*(name for name in SERVERS if name.startswith("mariadb")), DISTRIBUTION_SERVER]))
EVERY = tuple(dict.fromkeys([*SERVERS, DISTRIBUTION_SERVER]))


def idle(_server: RunningServer) -> AbstractContextManager[object]:
    """No workload at all."""
    return nullcontext()


@dataclass(frozen=True)
class Scenario:
    """One row of the truth table.

    ``options`` start the server (a mapping, or a function of the server's name where versions differ; an option that a
    version does not know is the scenario's business). ``setup`` are statements run before, or a function of the server.
    ``load`` is a context manager around the observation, bounded by itself. ``grants`` of the observing account:
    ``OBSERVER`` for all that the product asks for, or privileges on *.* such as "USAGE". ``host`` holds HostFacts by
    name (memory_bytes, cpus, storage, ...). ``inspect``: accounts, tables and statements are read, too.

    ``fires`` must be found, ``passes`` must have passed; ``silent`` must not fire, whatever else they say. Rules that
    are not named may say what they want; with ``nothing_else`` only those in ``fires`` and ``may`` may fire.
    ``not_evaluated`` maps rules to a word of the remedy that must be told. ``severity`` maps fired rules to their
    severity. On servers in ``but`` more is known: there these rules are left out of ``fires`` and ``passes``, with the
    reason.

    ``uptime_seconds``: judged as if the server had been up for so long: that wait alone is left out, all else it did.

    ``hours``: judged as if what was seen had gone on for so many hours, for rules that wait for a day or a week.

    ``servers`` are those it applies to; ``elsewhere`` says why it does not to the others. ``quick``: part of ./check,
    on the distribution's own MariaDB. ``applied``: all SQL that is proposed is executed, read back, observed again and
    undone. ``alone``: no other scenario runs beside it.
    """

    name: str
    what: str
    servers: tuple[str, ...] = EVERY
    elsewhere: str = ""
    options: Options | Callable[[str], Options] = field(default_factory=dict)
    setup: tuple[str, ...] | Callable[[RunningServer], None] = ()
    load: Load = idle
    warm_seconds: float = 0.0
    seconds: float = 11.0
    interval: float = 2.0
    grants: str = OBSERVER
    hours: int = 0
    uptime_seconds: int = 0
    host: Mapping[str, int | str] = field(default_factory=dict)
    inspect: bool = False
    fires: frozenset[str] = frozenset()
    passes: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    nothing_else: bool = False
    not_evaluated: Mapping[str, str] = field(default_factory=dict)
    severity: Mapping[str, str] = field(default_factory=dict)
    but: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    quick: bool = False
    applied: bool = True
    alone: bool = False

    def options_for(self, server: str) -> Options:
        """The options to start this server with."""
        return self.options(server) if callable(self.options) else self.options

    def expected_on(self, server: str, rules: frozenset[str]) -> frozenset[str]:
        """Of these rules the ones that are asked for on this server."""
        return rules - frozenset(self.but.get(server, {}))
