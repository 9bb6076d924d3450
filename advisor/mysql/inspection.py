"""What an inspection of a server holds: its accounts, its tables and its statements, read only when a person asks.

Polls and snapshots never read any of this: on a server with many tables it costs too much to be repeated. An
inspection is bounded in rows and time, and says where it stopped: a report that is OK and has a reason read a part. A
rowset that is missing was refused (FAILED, with the GRANT), is not there (SKIPPED), or could not be read (FAILED).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from advisor.mysql.snapshot import ProbeResult

#: Raised when the meaning of a stored inspection changes.
SCHEMA = 1

Row = Mapping[str, str | None]

#: What may be read, by probe, and the columns of each row: all as text, numbers in decimal, "1" and "0" for yes and no,
#: None where the server told NULL. Sizes are bytes, times seconds.
ROWSETS: Mapping[str, tuple[str, ...]] = {
    # One row for each account, without those that the server makes for itself. No hash and no password is ever read:
    # ``has_password`` is "0" where one logs in with the name alone, None where the plugin keeps no password (a socket,
    # a certificate). ``tls`` is "", ANY, X509 or SPECIFIED. ``administrator``: SUPER or what replaced it, or GRANT
    # OPTION on *.*; None where that could not be read. ``everything``: ALL PRIVILEGES on *.*. Rights through roles are
    # not followed. The anonymous account has the user "".
    "accounts": (
        "user",
        "host",
        "plugin",
        "has_password",
        "locked",
        "is_role",
        "tls",
        "administrator",
        "password_expired",
        "everything",
    ),
    # One row for each table of people's schemas; ``partitions`` (subpartitions counted) 0 where it has none. Needs more
    # than the observing grants (REFERENCES); ``keyless_tables`` and ``partitioned_tables`` need PROCESS only.
    "tables": (
        "schema",
        "name",
        "engine",
        "row_format",
        "rows",
        "data_bytes",
        "index_bytes",
        "free_bytes",
        "collation",
        "partitions",
    ),
    # InnoDB tables whose rows are clustered by a hidden row id, since they have no primary key or NOT NULL unique key.
    "keyless_tables": ("schema", "name"),
    # InnoDB tables with partitions, as InnoDB's own dictionary counts them: the most first.
    "partitioned_tables": ("schema", "name", "partitions"),
    "auto_increments": ("schema", "table", "column", "type", "next_value", "maximum"),
    # One row for each index. ``columns`` in order, separated by commas, with prefix lengths as name(10), descending
    # ones as "name DESC", expressions in parentheses; ``reads`` and ``counted_seconds`` (for how long reads were
    # counted: the server's uptime) None where performance_schema does not count them.
    "indexes": ("schema", "table", "index", "columns", "is_unique", "is_visible", "kind", "reads", "counted_seconds"),
    # One row for each normalised statement; no literal of anybody's data is in ``text``. The 200 with the longest total
    # time, and those among them or not that write most rows. ``seen_seconds`` since first seen, ``idle_seconds`` since
    # last seen. The row whose ``digest`` is None gathers what the full table of digests could not tell apart.
    "digests": (
        "schema",
        "digest",
        "text",
        "count",
        "total_seconds",
        "lock_seconds",
        "rows_examined",
        "rows_sent",
        "rows_affected",
        "no_index_used",
        "no_good_index_used",
        "full_joins",
        "range_selects",
        "tmp_tables",
        "tmp_disk_tables",
        "sort_rows",
        "sort_merge_passes",
        "errors",
        "seen_seconds",
        "idle_seconds",
    ),
    # One row: how full the table of digests is.
    "digest_table": ("rows", "size", "lost"),
    # Open transactions, the oldest first.
    "transactions": ("age_seconds", "state", "rows_modified", "rows_locked", "idle_seconds"),
    # Sessions by command: how many, and the longest time in that state.
    "sessions": ("command", "count", "longest_seconds"),
    "group_members": ("host", "port", "state", "role", "version", "is_me"),
    "group_queue": ("applier_queue", "certification_queue", "conflicts", "transactions"),
    # Error counts since start (MySQL 8+): name and how often it was raised.
    "errors": ("name", "raised"),
    # Memory of performance_schema itself: one row.
    "performance_schema_memory": ("bytes",),
}


@dataclass(frozen=True)
class Inspection:
    """One inspection: unix seconds when it was taken, the server's identity, rows by name and a report by probe."""

    taken_at: float
    identity: str
    rowsets: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    probes: tuple[ProbeResult, ...] = ()
    schema: int = SCHEMA

    def probe(self, name: str) -> ProbeResult | None:
        """The report of the probe of that name, None if it was not asked."""
        return next((probe for probe in self.probes if probe.name == name), None)

    def as_dict(self) -> dict[str, Any]:
        """A JSON-ready form; ``from_dict`` reads it back to an equal inspection."""
        return {
            "schema": self.schema,
            "taken_at": self.taken_at,
            "identity": self.identity,
            "rowsets": {name: [dict(row) for row in rows] for name, rows in self.rowsets.items()},
            "probes": [probe.as_dict() for probe in self.probes],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Inspection:
        """Reads what ``as_dict`` wrote. Raises ValueError where the schema is newer than this program knows."""
        if data.get("schema", 0) > SCHEMA:
            raise ValueError(f"the inspection has schema {data['schema']}, this program knows {SCHEMA}")
        return cls(
            taken_at=data["taken_at"],
            identity=data["identity"],
            rowsets={name: tuple(rows) for name, rows in data["rowsets"].items()},
            probes=tuple(ProbeResult.from_dict(probe) for probe in data["probes"]),
            schema=data["schema"],
        )
