"""What a probe is: one source of facts on a server, how it is read, and what it reports about itself."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.mysql.grants import remedy_for
from advisor.mysql.snapshot import Metric, Origin, ProbeResult, ProbeState, Remedy, RemedyKind
from advisor.mysql.version import ServerVersion
from collector.connection import Connection, Rows
from collector.errors import USABLE, Denied

#: Longer values are cut: no setting or counter that anything here looks at is near it.
LONGEST_VALUE = 16_384
#: What an answer of another shape raises where it is taken apart: too few columns, words in place of numbers.
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)


@dataclass
class Found:
    """What the probes of one collection have found so far; later ones look at what earlier ones found."""

    account: str = ""
    version: ServerVersion | None = None
    #: Our monotonic clock when status variables were read.
    status_read_at: float = 0.0
    variables: dict[str, str] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    #: What SET PERSIST wrote; None where no probe could read it.
    persisted: dict[str, str] | None = None
    metrics: dict[str, Metric] = field(default_factory=dict)
    #: The two lines of the LOG section; dropped once the age has been derived.
    innodb_status: str | None = None
    performance_schema: dict[str, Any] = field(default_factory=dict)
    replication: list[Mapping[str, str | None]] = field(default_factory=list)
    replicas_attached: int | None = None
    plugins: dict[str, str] = field(default_factory=dict)
    grants: list[str] = field(default_factory=list)
    #: What was odd about the answers: cut or damaged values, by probe.
    remarks: dict[str, str] = field(default_factory=dict)

    @property
    def server(self) -> ServerVersion:
        """The version; every probe but the first may rely on it."""
        if self.version is None:
            raise RuntimeError("the variables are read first")
        return self.version


class Skipped(Exception):
    """The probe was not asked: the reason, and what would change that."""

    def __init__(self, reason: str, remedy: Remedy | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Probe:
    """``read`` fills in what was found and returns the number of rows. ``privilege`` is what it needs, "" for none."""

    name: str
    title: str
    read: Callable[[Connection, Found], int]
    privilege: str = ""

    def run(self, connection: Connection, found: Found) -> ProbeResult:
        """Reads and reports. What ends the connection is raised; what fails the probe alone is reported."""
        began = time.monotonic()

        def result(state: ProbeState, rows: int = 0, reason: str = "", remedy: Remedy | None = None) -> ProbeResult:
            return ProbeResult(self.name, state, round((time.monotonic() - began) * 1000, 3), rows, reason, remedy)

        try:
            rows = self.read(connection, found)
        except Skipped as skipped:
            return result(ProbeState.SKIPPED, reason=skipped.reason, remedy=skipped.remedy)
        except Denied as error:
            remedy = None
            if self.privilege and found.version is not None:
                # An account's name that cannot be quoted safely is not printed into a statement.
                with contextlib.suppress(ValueError):
                    statement = remedy_for(self.privilege, found.version, found.account)
                    remedy = Remedy(RemedyKind.GRANT, self.title, statement)
            return result(ProbeState.FAILED, reason=error.sentence, remedy=remedy)
        except USABLE as error:
            return result(ProbeState.FAILED, reason=str(error))
        except UNREADABLE:
            return result(ProbeState.FAILED, reason="The answer cannot be read: it is not what a server says to this.")
        return result(ProbeState.OK, rows, found.remarks.get(self.name, ""))


def remark(found: Found, probe: str, cut: list[str], damaged: list[str]) -> None:
    """Says which values were cut or damaged, a few by name."""
    parts = []
    if damaged:
        parts.append(f"{len(damaged)} value(s) were not UTF-8 and were read with replacements: {_some(damaged)}")
    if cut:
        parts.append(f"{len(cut)} value(s) were cut to {LONGEST_VALUE:,} characters: {_some(cut)}")
    if parts:
        found.remarks[probe] = "; ".join(parts)


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def named_values(rows: Rows, found: Found, probe: str, clean: Callable[[str, str], str]) -> dict[str, str]:
    """Rows of name and value as a mapping, each value cleaned and cut; what was odd is remarked.

    The first of two equal names counts.
    """
    result: dict[str, str] = {}
    cut: list[str] = []
    damaged: list[str] = []
    for number, row in enumerate(rows.rows):
        if len(row) < 2 or not row[0] or row[0] in result:
            continue
        name, value = row[0], row[1] or ""
        if (number, 1) in rows.damaged or (number, 0) in rows.damaged:
            damaged.append(name[:64])
        value = clean(name, value)
        if len(value) > LONGEST_VALUE:
            cut.append(name[:64])
            value = value[:LONGEST_VALUE]
        result[name[:64]] = value
    remark(found, probe, cut, damaged)
    return result
