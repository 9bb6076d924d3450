"""Facts about the binary log and about replication: who reads from whom, and how far each channel is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Settings
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message, Missing
from advisor.engine.units import Unit
from advisor.mysql.snapshot import ProbeState, Remedy, RemedyKind

Row = Mapping[str, str | None]

#: Columns of a channel that hold filters, as the server names them in lower case.
FILTERS = (
    "replicate_do_db",
    "replicate_ignore_db",
    "replicate_do_table",
    "replicate_ignore_table",
    "replicate_wild_do_table",
    "replicate_wild_ignore_table",
    "replicate_do_domain_ids",
    "replicate_ignore_domain_ids",
)


@dataclass(frozen=True)
class BinaryLog(Fact):
    """A binary log is written: without one, questions about it do not arise."""

    reads: ClassVar[tuple[str, ...]] = ("log_bin",)

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not reading.is_on(seen, "log_bin"):
            raise Inapplicable(Message("This server writes no binary log."))
        return cls()


@dataclass(frozen=True)
class OwnBinaryLog(BinaryLog):
    """A binary log whose files the server itself removes: a cloud that runs the server has settings of its own."""

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if seen.server.distribution.managed:
            raise Inapplicable(Message("The provider removes the files of the binary log, by settings of its own."))
        return super().read(seen)


@dataclass(frozen=True)
class Source(Fact):
    """Replicas read this server's binary log, and it replicates from nobody."""

    reads: ClassVar[tuple[str, ...]] = ("the replicas that are attached",)

    @classmethod
    def read(cls, seen: Observation) -> Self:
        role = seen.snapshot.identity.role
        if role == "unknown":
            _refused(seen)
            raise Missing(reading.grant(seen, "SELECT ON performance_schema.*", "attached replicas"))
        if role != "source":
            raise Inapplicable(Message("No replica is attached to this server, or it is a replica itself."))
        return cls()


@dataclass(frozen=True)
class Channel:
    """One channel of a replica.

    ``io_running`` and ``sql_running`` as the server says (Yes, No, Connecting, Preparing); ``behind_seconds`` None
    where it does not tell; ``delay_seconds`` is what a person asked for (SQL_Delay). ``by_gtid``: the position is kept
    as a GTID. ``filters``: kind and names of what is left out, where anything is. ``executed``: MySQL's set of GTIDs.
    """

    name: str
    source: str
    io_running: str
    sql_running: str
    behind_seconds: int | None
    delay_seconds: int
    io_errno: int
    sql_errno: int
    by_gtid: bool
    parallel_mode: str
    executed: str
    filters: tuple[tuple[str, str], ...]

    @property
    def subject(self) -> str:
        """How a finding names it: the channel's name, or whom it reads from."""
        return f"channel {self.name}" if self.name else f"replication from {self.source}"

    @property
    def running(self) -> bool:
        return self.io_running == "Yes" and self.sql_running == "Yes"

    @property
    def unwanted_lag_seconds(self) -> int | None:
        """How far it is behind beyond the delay that a person asked for; None where it does not tell."""
        return None if self.behind_seconds is None else max(0, self.behind_seconds - self.delay_seconds)

    def measured(self) -> tuple[Measured, ...]:
        """Its threads and how far it is behind, as evidence."""
        source = "replica status"
        figures = [
            Measured("receiver thread", self.io_running or "unknown", Unit.TEXT, None, source),
            Measured("applier thread", self.sql_running or "unknown", Unit.TEXT, None, source),
        ]
        if self.behind_seconds is not None:
            figures.append(Measured("behind its source", self.behind_seconds, Unit.SECONDS, None, source))
        if self.delay_seconds:
            figures.append(Measured("wanted delay", self.delay_seconds, Unit.SECONDS, None, source))
        return tuple(figures)


@dataclass(frozen=True)
class Channels(Fact):
    """All channels of a replica; a server that is none has no such question. The group's own channels are left out."""

    reads: ClassVar[tuple[str, ...]] = ("SHOW REPLICA STATUS",)

    channels: tuple[Channel, ...]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        found = tuple(
            channel
            for channel in map(_channel, seen.snapshot.replication)
            if not channel.name.startswith("group_replication_")
        )
        if not found:
            _refused(seen)
            raise Inapplicable(Message("This server replicates from no other server."))
        return cls(found)

    @property
    def worst_lag_seconds(self) -> int:
        """The longest unwanted lag of all channels; 0 where none tells."""
        return max((channel.unwanted_lag_seconds or 0 for channel in self.channels), default=0)

    def measured(self) -> tuple[Measured, ...]:
        """The worst lag, as evidence."""
        return (Measured("behind its source", self.worst_lag_seconds, Unit.SECONDS, None, "replica status"),)


@dataclass(frozen=True)
class Applier(Settings):
    """How many threads apply, by the name that the version has for it."""

    also_called: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "replica_parallel_workers": ("slave_parallel_threads", "slave_parallel_workers"),
        "replica_parallel_type": ("slave_parallel_type",),
    }

    replica_parallel_workers: int
    #: Gone from MySQL 9: there it always applies by the logical clock. MariaDB has modes of its own.
    replica_parallel_type: str = "LOGICAL_CLOCK"

    @property
    def serial(self) -> bool:
        return self.replica_parallel_workers <= 1


def channel_row(**told: object) -> Row:
    """A healthy channel as a server tells it, with these columns told otherwise: for the examples of rules."""
    row: dict[str, object] = {
        "channel_name": "",
        "source_host": "db1",
        "source_port": 3306,
        "replica_io_running": "Yes",
        "replica_sql_running": "Yes",
        "seconds_behind_source": 0,
        "last_io_errno": 0,
        "last_sql_errno": 0,
        "sql_delay": 0,
        "auto_position": 1,
        **told,
    }
    return {name: None if value is None else str(value) for name, value in row.items()}


def _refused(seen: Observation) -> None:
    """Raises Missing where replication could not be asked for: no rows would prove nothing."""
    probe = seen.snapshot.probe("replication")
    if probe is None or probe.state is ProbeState.OK:
        return
    if probe.remedy is not None:
        raise Missing(probe.remedy)
    raise Missing(Remedy(RemedyKind.ENABLE, "replication", probe.reason or "It could not be read; observe it again."))


def _channel(row: Row) -> Channel:
    def told(name: str) -> str:
        older = name.replace("source", "master").replace("replica_", "slave_")
        return str(row.get(name) or row.get(older) or "")

    def number(name: str) -> int:
        text = told(name)
        return int(text) if text.isdigit() else 0

    behind = told("seconds_behind_source")
    host, port = told("source_host"), told("source_port")
    using = told("using_gtid")
    return Channel(
        name=told("channel_name") or told("connection_name"),
        source=f"{host}:{port}" if port else host,
        io_running=told("replica_io_running"),
        sql_running=told("replica_sql_running"),
        behind_seconds=int(behind) if behind.isdigit() else None,
        delay_seconds=number("sql_delay"),
        io_errno=number("last_io_errno"),
        sql_errno=number("last_sql_errno"),
        by_gtid=using not in ("", "No") if using else told("auto_position") == "1",
        parallel_mode=told("parallel_mode"),
        executed=told("executed_gtid_set").replace("\n", ""),
        filters=tuple((name, told(name)) for name in FILTERS if told(name)),
    )


@dataclass(frozen=True)
class TransactionCache(Settings):
    """The cache of one session, in bytes."""

    binlog_cache_size: int
