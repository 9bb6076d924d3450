"""The redo log: its capacity, the checkpoint age, and the ages at which InnoDB changes its behaviour, to the byte.

Formulas follow the servers' own arithmetic (``log_set_capacity`` and ``log_calc_max_ages`` in log0log.cc and
log0chkp.cc, ``Log_files_capacity`` in log0files_capacity.cc); each was compared with what servers report. What a
server reports always wins over what is computed here, and ``RedoLimits.reported`` says which is which. All sizes and
ages are bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.version import Distribution, Flavor, ServerVersion

Text = str | int | float

MIB = 1 << 20
GIB = 1 << 30

#: Redo is written in blocks of this many bytes; MySQL rounds its limits to it.
BLOCK_BYTES = 512
#: Of each block of 512 bytes, this many hold redo on MySQL; the rest is header and checksum.
BLOCK_DATA_BYTES = 496
#: Header of one redo file: four blocks up to MariaDB 10.7 and on MySQL, 12 KiB in MariaDB 10.8's new format.
FILE_HEADER_BYTES = 2048
MARIADB_10_8_HEADER_BYTES = 12_288
#: MySQL 8.0.30+ keeps the redo log in this many files.
MYSQL_FILES = 32

#: The first MySQL 8.0 whose limits come from ``log_calc_max_ages`` of the 2020 sources. No server between 8.0.12 and
#: 8.0.30 was run, so the boundary is taken from where adaptive flushing starts to subtract the concurrency margin.
_MYSQL_MARGIN_SINCE = (8, 0, 16)


class RedoUnknown(ValueError):
    """A fact about the redo log cannot be told from what was read; the message says what is missing."""


@dataclass(frozen=True)
class RedoLimits:
    """The ages, in bytes, at which a server changes how it flushes.

    ``async_point_bytes``: adaptive flushing reaches its full rate (MariaDB 10.5+: flushing at innodb_io_capacity_max).
    ``sync_point_bytes``: flushing becomes synchronous; None on MariaDB 10.5+, which has no such point.
    ``aggressive_bytes``: checkpoints are written without waiting; None on MariaDB 10.5+. ``maximum_bytes``: the most
    the age may become (MySQL 8: the soft limit). ``hard_bytes``: the log writer's own limit, MySQL 8.0.30+ only.
    ``margin_bytes``: what MySQL 8 adds to the age before it compares (its concurrency margin).
    ``effective_async_bytes`` is the async point that acts, the margin subtracted. ``effective_sync_bytes`` is the age
    at which writers are slowed, and divides the age to give the pressure: the sync point up to MySQL 8.0.15 and
    MariaDB 10.4 (there user threads flush), the maximum less the margin on later MySQL (there they wait), the maximum
    on MariaDB 10.5+. Measured on 8.0.33 with 8 MiB and 100 MiB under load: nine tenths of the synchronously flushed
    pages and most of the waits were seen at 99 % of that age or above, and almost none between the sync point less the
    margin and there. ``reported`` names the fields that the server itself reported; all others are computed.
    ``verified`` is False where no server of that series confirmed the formula.
    """

    async_point_bytes: int
    sync_point_bytes: int | None
    aggressive_bytes: int | None
    maximum_bytes: int
    hard_bytes: int | None
    margin_bytes: int
    effective_async_bytes: int
    effective_sync_bytes: int
    reported: frozenset[str] = frozenset()
    verified: bool = True

    @property
    def origin(self) -> str:
        """``reported`` where the server told the point that the pressure is measured against, else ``computed``."""
        point = "maximum_bytes" if self.sync_point_bytes is None else "sync_point_bytes"
        return "reported" if point in self.reported else "computed"

    def pressure(self, age_bytes: float) -> float:
        """The age as a share of ``effective_sync_bytes``: at 1 writers are slowed."""
        return age_bytes / self.effective_sync_bytes


@dataclass(frozen=True)
class RedoReading:
    """Where the redo log stands: positions and age in bytes, and what they were read from
    (status|metrics|innodb_status).
    """

    lsn: int
    checkpoint_lsn: int
    age_bytes: int
    source: str


def has_redo_log(server: ServerVersion) -> bool:
    """False for Aurora, whose storage writes the log: it has neither a redo capacity nor a checkpoint age."""
    return server.distribution is not Distribution.AURORA


def capacity_variable(server: ServerVersion) -> str:
    """The system variable that a change of the redo capacity has to set on this server."""
    return "innodb_redo_log_capacity" if _one_capacity(server) else "innodb_log_file_size"


def resizable_online(server: ServerVersion) -> bool:
    """Whether the redo capacity can be changed without a restart: MySQL 8.0.30+, MariaDB 10.9+."""
    return _one_capacity(server) or (server.is_mariadb and server.number >= (10, 9, 0))


def files(server: ServerVersion, variables: Mapping[str, str]) -> int:
    """How many redo files the capacity variable counts for: 1 where it means all of the log."""
    if _one_capacity(server) or (server.is_mariadb and server.number >= (10, 5, 0)):
        return 1
    return _whole(variables, "innodb_log_files_in_group", default=2)


def capacity_in_force(
    server: ServerVersion, variables: Mapping[str, str], status: Mapping[str, Text] | None = None
) -> int:
    """The redo capacity that the server works with, in bytes.

    On MySQL 8.0.30+ no variable tells it (a server started with the old names shows a capacity it does not use), so
    ``Innodb_redo_log_capacity_resized`` wins. Raises RedoUnknown where nothing that was read tells it.
    """
    if _one_capacity(server):
        in_force = int((status or {}).get("Innodb_redo_log_capacity_resized", 0))
        return in_force or _whole(variables, "innodb_redo_log_capacity")
    return _whole(variables, "innodb_log_file_size") * files(server, variables)


def limits(
    server: ServerVersion,
    *,
    capacity_bytes: int,
    page_size: int,
    thread_concurrency: int = 0,
    files: int | None = None,
) -> RedoLimits:
    """The limits for a redo capacity, computed as this version of the server computes them.

    ``page_size`` is innodb_page_size in bytes, ``thread_concurrency`` is innodb_thread_concurrency (before MySQL
    8.0.30 as it was at start-up), ``files`` the number of redo files where the capacity is spread over several
    (default 2 there). Raises RedoUnknown for a capacity so small that the server would refuse to start.
    """
    if _one_capacity(server):
        return _mysql_8_0_30(capacity_bytes, page_size, thread_concurrency)
    if server.is_mariadb and server.number >= (10, 5, 0):
        header = MARIADB_10_8_HEADER_BYTES if server.number >= (10, 8, 0) else FILE_HEADER_BYTES
        return _mariadb_10_5(capacity_bytes, page_size, header)
    count = files or 2
    if server.is_mariadb or server.number < (8, 0, 0):
        return _mysql_5_7(capacity_bytes, count, page_size, thread_concurrency)
    if server.number < _MYSQL_MARGIN_SINCE:
        return _mysql_8_0_0(capacity_bytes, count, page_size, thread_concurrency)
    return _mysql_8_0_16(capacity_bytes, count, page_size, thread_concurrency)


def limits_in_force(
    server: ServerVersion,
    variables: Mapping[str, str],
    status: Mapping[str, Text] | None = None,
    metrics: Mapping[str, Text] | None = None,
    *,
    capacity_bytes: int | None = None,
) -> RedoLimits:
    """The limits a server works with now: computed from its variables, then replaced by what it reports.

    ``metrics`` holds counts of *enabled* innodb_metrics counters only: a disabled one shows 0 or an old value.
    Give ``capacity_bytes`` to ask what the limits would be with another capacity: nothing reported is used then.
    Raises RedoUnknown where the capacity or the page size was not read.
    """
    computed = limits(
        server,
        capacity_bytes=capacity_in_force(server, variables, status) if capacity_bytes is None else capacity_bytes,
        page_size=_whole(variables, "innodb_page_size", default=16384),
        thread_concurrency=_whole(variables, "innodb_thread_concurrency", default=0),
        files=files(server, variables),
    )
    return computed if capacity_bytes is not None else _with_reported(server, computed, status or {}, metrics or {})


def reading(
    server: ServerVersion,
    *,
    status: Mapping[str, Text] | None = None,
    metrics: Mapping[str, Text] | None = None,
    variables: Mapping[str, str] | None = None,
    innodb_status: str | None = None,
) -> RedoReading | None:
    """Where the redo log stands, from the cheapest source that tells; None where none does (see ``missing_reading``).

    Sources in order: status variables (MySQL 8.0.30+, MariaDB 10.5+, Percona Server), enabled innodb_metrics counters,
    the LOG section of SHOW ENGINE INNODB STATUS. They are looked for, not concluded from the version.
    The counter ``log_lsn_checkpoint_age`` is not used: 5.7.22 showed 0 where its own positions were 19 bytes apart.
    """
    for source, values, names in (
        ("status", status or {}, ("Innodb_redo_log_current_lsn", "Innodb_redo_log_checkpoint_lsn", "")),
        ("status", status or {}, ("Innodb_lsn_current", "Innodb_lsn_last_checkpoint", "Innodb_checkpoint_age")),
        ("metrics", metrics or {}, ("log_lsn_current", "log_lsn_last_checkpoint", "")),
    ):
        if names[0] in values and names[1] in values:
            lsn, checkpoint = int(values[names[0]]), int(values[names[1]])
            # One SHOW reads its counters one after the other, so that a checkpoint may seem ahead by a few bytes.
            age = int(values[names[2]]) if names[2] in values else max(0, lsn - checkpoint)
            return RedoReading(lsn, checkpoint, age, source)
    if innodb_status is not None:
        parsed = parse_innodb_status(innodb_status)
        if parsed is not None:
            return RedoReading(parsed[0], parsed[1], max(0, parsed[0] - parsed[1]), "innodb_status")
    return None


def missing_reading(server: ServerVersion, account: str = "") -> Remedy:
    """What would make the checkpoint age readable where ``reading`` gave None."""
    from advisor.mysql.grants import remedy_for

    if not has_redo_log(server):
        return Remedy(
            RemedyKind.VERSION,
            "checkpoint age",
            "Amazon Aurora has no checkpoint age: its storage writes the log itself.",
        )
    return Remedy(RemedyKind.GRANT, "checkpoint age", remedy_for("PROCESS", server, account))


_LSN_LINE = re.compile(r"^Log sequence number\s+(\d+)\s*$", re.MULTILINE)
_CHECKPOINT_LINE = re.compile(r"^Last checkpoint at\s+(\d+)\s*$", re.MULTILINE)


def parse_innodb_status(text: str) -> tuple[int, int] | None:
    """(log sequence number, last checkpoint) out of SHOW ENGINE INNODB STATUS; None if its LOG section is not in it."""
    lsn, checkpoint = _LSN_LINE.search(text), _CHECKPOINT_LINE.search(text)
    return (int(lsn[1]), int(checkpoint[1])) if lsn and checkpoint else None


def variable_changes_for_capacity(
    server: ServerVersion, variables: Mapping[str, str], capacity_bytes: int
) -> dict[str, int]:
    """The variables that give a server this redo capacity, with values as the server will print them back.

    Rounded up to whole MiB (every version's step divides it) per file, and kept inside the version's bounds; on
    MariaDB 10.9+ never below innodb_log_buffer_size, which it refuses at run time. Raises RedoUnknown on Aurora.
    """
    if not has_redo_log(server):
        raise RedoUnknown("Amazon Aurora has no redo capacity to set: its storage writes the log itself.")
    count = files(server, variables)
    minimum, maximum = capacity_bounds(server, variables)
    wanted = min(max(capacity_bytes, minimum), maximum)
    each = -(-wanted // count)
    each = -(-each // MIB) * MIB
    if each * count > maximum:
        each -= MIB
    return {capacity_variable(server): each}


def capacity_bounds(server: ServerVersion, variables: Mapping[str, str]) -> tuple[int, int]:
    """The smallest and the largest redo capacity, in bytes, that this server takes, now or at a start."""
    count = files(server, variables)
    if _one_capacity(server):
        # 128 GiB on 8.0.33, 512 GiB on 9.7.4; between the two no server was asked, so the smaller one is kept.
        return 8 * MIB, (512 if server.number >= (9, 7, 0) else 128) * GIB
    if server.is_mariadb and server.number >= (10, 9, 0):
        return max(4 * MIB, _whole(variables, "innodb_log_buffer_size", default=16 * MIB)), 512 * GIB
    if server.is_mariadb:
        return MIB * count, 512 * GIB
    return 4 * MIB * count, 512 * GIB


def capacity_after(
    server: ServerVersion,
    variables: Mapping[str, str],
    status: Mapping[str, Text] | None,
    changes: Mapping[str, Text],
) -> int:
    """The capacity in force once ``changes`` (variable -> value in bytes) took effect; unchanged without any."""
    name = capacity_variable(server)
    if name not in changes and "innodb_log_files_in_group" not in changes:
        return capacity_in_force(server, variables, status)
    after = {**variables, **{changed: str(value) for changed, value in changes.items()}}
    return capacity_in_force(server, after, None)


def _one_capacity(server: ServerVersion) -> bool:
    return server.flavor is Flavor.MYSQL and server.number >= (8, 0, 30)


def _whole(variables: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = variables.get(name)
    if text is None or not str(text).strip().isdigit():
        if default is None:
            raise RedoUnknown(f"The system variable {name} was not read, and without it the redo capacity is unknown.")
        return default
    return int(text)


def _down(value: int) -> int:
    return value - value % BLOCK_BYTES


def _up(value: int) -> int:
    return -(-value // BLOCK_BYTES) * BLOCK_BYTES


def _margin_mysql_5_7(page_size: int, thread_concurrency: int) -> int:
    """LOG_CHECKPOINT_FREE_PER_THREAD pages for each of 10 + T threads, and LOG_CHECKPOINT_EXTRA_FREE pages."""
    return 4 * page_size * (10 + thread_concurrency) + 8 * page_size


def _mysql_5_7(capacity: int, count: int, page_size: int, thread_concurrency: int) -> RedoLimits:
    """MySQL 5.7 and MariaDB up to 10.4: ``log_set_capacity`` / ``log_calc_max_ages``."""
    usable = capacity - FILE_HEADER_BYTES * count
    usable -= usable // 10
    free = _margin_mysql_5_7(page_size, thread_concurrency)
    if free >= usable // 2:
        raise RedoUnknown(f"With a redo log of {capacity} bytes and these pages the server refuses to start.")
    maximum = usable - free
    maximum -= maximum // 10
    sync = maximum - maximum // 16
    return RedoLimits(
        async_point_bytes=maximum - maximum // 8,
        sync_point_bytes=sync,
        aggressive_bytes=maximum - maximum // 32,
        maximum_bytes=maximum,
        hard_bytes=None,
        margin_bytes=0,
        effective_async_bytes=maximum - maximum // 8,
        effective_sync_bytes=sync,
    )


def _mysql_8_0_0(capacity: int, count: int, page_size: int, thread_concurrency: int) -> RedoLimits:
    """MySQL 8.0 before the margin is compared with the age (8.0.12 was checked)."""
    usable = _down((capacity - FILE_HEADER_BYTES * count) * 9 // 10)
    margin = min(_margin_mysql_5_7(page_size, thread_concurrency), usable // 2)
    maximum = _down((usable - margin) * 9 // 10)
    sync = maximum - maximum // 16
    return RedoLimits(
        async_point_bytes=maximum - maximum // 8,
        sync_point_bytes=sync,
        aggressive_bytes=maximum - maximum // 32,
        maximum_bytes=maximum,
        hard_bytes=None,
        margin_bytes=0,
        effective_async_bytes=maximum - maximum // 8,
        effective_sync_bytes=sync,
    )


def _mysql_8_0_16(capacity: int, count: int, page_size: int, thread_concurrency: int) -> RedoLimits:
    """MySQL 8.0.16 to 8.0.29, from the 2020 sources; no server of these versions confirmed it."""
    real = capacity - FILE_HEADER_BYTES * count
    writer = _down(real - min(real // 10, 1024 * page_size))
    soft = writer - _down(writer // 20)
    margin = min(4 * page_size * (10 + thread_concurrency) + 4096 + _down(soft // 20), soft // 2)
    margin = margin * BLOCK_BYTES // BLOCK_DATA_BYTES
    sync = _up(soft - soft // 16)
    async_point = _up(soft - soft // 8)
    return RedoLimits(
        async_point_bytes=async_point,
        sync_point_bytes=sync,
        aggressive_bytes=_up(soft - soft // 32),
        maximum_bytes=soft,
        hard_bytes=writer,
        margin_bytes=margin,
        effective_async_bytes=async_point - margin,
        effective_sync_bytes=soft - margin,
        verified=False,
    )


def _mysql_8_0_30(capacity: int, page_size: int, thread_concurrency: int) -> RedoLimits:
    """MySQL 8.0.30 and later: ``Log_files_capacity``. Two of the 32 files are kept out of the log's logical size."""
    # The same floating-point steps as the server's, so that a product that should be whole rounds the same way.
    file_bytes = capacity // MYSQL_FILES
    file_bytes -= file_bytes % page_size
    overhead = (MYSQL_FILES - 1) * FILE_HEADER_BYTES + 2 * 65_536
    logical = int(capacity * (MYSQL_FILES - 2) / MYSQL_FILES) - overhead
    hard = _down(logical - _up(math.ceil(10 / 100.0 * file_bytes)))
    soft = _down(math.floor(hard * (1.0 - 5 / 100.0)))
    most = _down(int(soft * 55 / 100.0)) // BLOCK_BYTES * BLOCK_DATA_BYTES
    raw_margin = min(4 * page_size * (10 + thread_concurrency) + 4096 + _down(int(5 / 100.0 * soft)), most)
    margin = raw_margin * BLOCK_BYTES // BLOCK_DATA_BYTES
    async_point = _down(soft - soft // 8)
    sync = _down(soft * 15 // 16)
    return RedoLimits(
        async_point_bytes=async_point,
        sync_point_bytes=sync,
        aggressive_bytes=_down(soft - soft // 32),
        maximum_bytes=soft,
        hard_bytes=hard,
        margin_bytes=margin,
        effective_async_bytes=async_point - margin,
        effective_sync_bytes=soft - margin,
    )


def _mariadb_10_5(capacity: int, page_size: int, header: int) -> RedoLimits:
    """MariaDB 10.5 and later: one file, no sync point, innodb_thread_concurrency does not count."""
    usable = capacity - header
    usable -= usable // 10
    maximum = usable - 48 * page_size
    # Asked with 4 MiB and pages of 64 KiB: 10.5 refuses, 10.11 and 11.8 work with what is left.
    if maximum <= (usable // 2 if header == FILE_HEADER_BYTES else 0):
        raise RedoUnknown(f"With a redo log of {capacity} bytes and these pages the server refuses to start.")
    maximum -= maximum // 10
    async_point = maximum - maximum // 8
    return RedoLimits(
        async_point_bytes=async_point,
        sync_point_bytes=None,
        aggressive_bytes=None,
        maximum_bytes=maximum,
        hard_bytes=None,
        margin_bytes=0,
        effective_async_bytes=async_point,
        effective_sync_bytes=maximum,
    )


def _with_reported(
    server: ServerVersion, computed: RedoLimits, status: Mapping[str, Text], metrics: Mapping[str, Text]
) -> RedoLimits:
    """The limits with every point replaced that the server reports, and the effective points moved along."""
    result, reported = computed, set()
    maximum = int(status.get("Innodb_checkpoint_max_age", 0))
    # Percona Server 8 has a variable of that name too, but means the point at which user threads wait.
    if maximum > 0 and (server.is_mariadb or server.number < (8, 0, 0)):
        result = replace(result, maximum_bytes=maximum)
        if result.sync_point_bytes is None:
            result = replace(
                result,
                async_point_bytes=maximum - maximum // 8,
                effective_async_bytes=maximum - maximum // 8,
                effective_sync_bytes=maximum,
            )
        reported.add("maximum_bytes")
    margin = int(metrics.get("log_concurrency_margin", 0))
    if margin > 0 and computed.margin_bytes:
        result = replace(result, margin_bytes=margin * BLOCK_BYTES // BLOCK_DATA_BYTES)
        reported.add("margin_bytes")
    async_point = int(metrics.get("log_max_modified_age_async", 0))
    if async_point > 0:
        result = replace(result, async_point_bytes=async_point)
        reported.add("async_point_bytes")
    sync = int(metrics.get("log_max_modified_age_sync", 0))
    if sync > 0 and result.sync_point_bytes is not None:
        result = replace(result, sync_point_bytes=sync)
        reported.add("sync_point_bytes")
    if server.is_mysql and server.number >= _MYSQL_MARGIN_SINCE:
        if result.sync_point_bytes is not None and result.sync_point_bytes != computed.sync_point_bytes:
            # While the log is made smaller the points move step by step; the soft limit is 16/15 of the sync point.
            result = replace(result, maximum_bytes=result.sync_point_bytes * 16 // 15)
        slowed = result.maximum_bytes - result.margin_bytes
    else:
        slowed = result.maximum_bytes if result.sync_point_bytes is None else result.sync_point_bytes
    return replace(
        result,
        effective_async_bytes=result.async_point_bytes - result.margin_bytes,
        effective_sync_bytes=slowed,
        reported=frozenset(reported),
    )
