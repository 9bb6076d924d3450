"""Facts about open files and the caches of open tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Measured, Message
from advisor.engine.units import Unit, round_up

#: Files that the server opens besides: logs, its own tables.
OTHER_FILES = 10
FILES_PER_TABLE = 2
#: Room above what is open, where the limit is near.
ROOM_RATIO = 2


@dataclass(frozen=True)
class FileLimit(Fact):
    """How many files may be open, how many are, and how many the settings promise: one for each connection and two for
    each table of table_open_cache.

    All rules that propose open_files_limit take ``wanted``; those that propose table_open_cache or max_connections stay
    within the limit there is, so that they never wait for another restart.
    """

    reads: ClassVar[tuple[str, ...]] = (
        "open_files_limit, table_open_cache, max_connections, extra_max_connections",
        "Open_files",
    )

    limit: int
    table_open_cache: int
    max_connections: int
    open_files: int

    @classmethod
    def read(cls, seen: Observation) -> Self:
        limit = reading.integer(seen, "open_files_limit")
        if limit == 0:
            raise Inapplicable(Message("This server has no limit of open files."))
        extra = int(reading.variable(seen, "extra_max_connections") or 0)
        return cls(
            limit=limit,
            table_open_cache=reading.integer(seen, "table_open_cache"),
            max_connections=reading.integer(seen, "max_connections") + extra,
            open_files=int(reading.status_number(seen, "Open_files") or 0),
        )

    @property
    def promised(self) -> int:
        """Files that all connections and all tables of the cache together would open."""
        return OTHER_FILES + self.max_connections + FILES_PER_TABLE * self.table_open_cache

    @property
    def wanted(self) -> int:
        """The limit to propose where it is too low."""
        return round_up(max(self.promised, ROOM_RATIO * self.open_files, self.limit), 1000)

    @property
    def most_tables(self) -> int:
        """The largest table_open_cache for which the present limit has room; may be below zero."""
        return (self.limit - OTHER_FILES - self.max_connections) // FILES_PER_TABLE

    def measured(self) -> tuple[Measured, ...]:
        """The limit and what it has to hold, as evidence."""
        return (
            Measured("open_files_limit", self.limit, Unit.COUNT, None, "system variable"),
            Measured("files that the settings promise", self.promised, Unit.COUNT, None, "connections + 2 x tables"),
            Measured("files that are open", self.open_files, Unit.COUNT, None, "Open_files"),
        )
