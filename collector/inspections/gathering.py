"""Tables, columns and indexes from INFORMATION_SCHEMA, a few hundred tables at a time.

On MySQL 5.7 and MariaDB every table that is asked about is opened; 600 of them took more than three seconds on a
loaded machine. Tables that a condition names are opened without a look at the others, and what is asked of them one
after the other finds them open. The time is shared with care: what was read when it runs out is kept, and said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.version import ServerVersion
from collector.connection import Row
from collector.errors import USABLE
from collector.inspections import dictionary
from collector.inspections.question import NOT_PEOPLES, Inspecting, Stopped, literal
from collector.probes.probe import Skipped

MOST_TABLES = 5_000
#: So many tables are asked about at once, or fewer.
AT_ONCE = 250
#: A table has 64 indexes of 16 columns at most; a few hundred tables have not nearly that many.
_MOST_ROWS = 15_000
_MOST_BYTES = 8 << 20
#: Gathering ends so long before the whole inspection does.
RESERVE_SECONDS = 1.5

#: Names alone: nothing is opened for them.
NAMES = (
    f"SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN {NOT_PEOPLES} "
    f"LIMIT {dictionary.MOST_DICTIONARY_TABLES + 1}"
)
TABLES = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, ROW_FORMAT, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, DATA_FREE, "
    "TABLE_COLLATION, AUTO_INCREMENT, CREATE_OPTIONS FROM information_schema.TABLES "
    "WHERE {where} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')"
)
#: Each subpartition is counted, since each is a tree of its own.
PARTITIONS = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COUNT(*) FROM information_schema.PARTITIONS "
    "WHERE {where} AND PARTITION_NAME IS NOT NULL GROUP BY TABLE_SCHEMA, TABLE_NAME"
)
COLUMNS = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS "
    "WHERE {where} AND EXTRA LIKE '%auto_increment%'"
)
STATISTICS = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, {column}, SUB_PART, COLLATION, NON_UNIQUE, {visible}, "
    "INDEX_TYPE, NULLABLE FROM information_schema.STATISTICS WHERE {where}"
)

Name = tuple[str, str]


@dataclass
class Gathered:
    """The rows as they came, the tables of ``TABLES`` among them by name; ``remark`` says what was left out."""

    tables: list[Row] = field(default_factory=list)
    partitions: list[Row] = field(default_factory=list)
    columns: list[Row] = field(default_factory=list)
    statistics: list[Row] = field(default_factory=list)
    remark: str = ""


def gather(inspecting: Inspecting) -> Gathered:
    """What INFORMATION_SCHEMA says of people's tables; asked once an inspection.

    Raises Refused where the account does not see all tables, Stopped where there are too many, Skipped where looking at
    them would make the server count them anew, and TargetError where not even the first of them could be read.
    """
    if isinstance(inspecting.gathered, Exception):
        raise inspecting.gathered
    if inspecting.gathered is None:
        try:
            inspecting.gathered = _gather(inspecting)
        except (*USABLE, Stopped) as error:
            # Those after this one need not ask again to hear the same.
            inspecting.gathered = error
            raise
    return inspecting.gathered


def _gather(inspecting: Inspecting) -> Gathered:
    inspecting.wants_all_tables()
    if inspecting.snapshot.variables.get("innodb_stats_on_metadata", "").upper() == "ON":
        raise Skipped(
            "With innodb_stats_on_metadata every look at a table makes the server compute its statistics anew.",
            Remedy(RemedyKind.ENABLE, "tables", "SET GLOBAL innodb_stats_on_metadata = OFF"),
        )
    if (inspecting.dictionary_count or 0) > dictionary.MOST_DICTIONARY_TABLES:
        raise dictionary.too_many(inspecting.dictionary_count or 0)
    names = _names(inspecting)
    column, visible = _columns_of(inspecting.server)
    gathered = Gathered()
    done = 0
    for part in parts(names[:MOST_TABLES]):
        if inspecting.seconds_left < RESERVE_SECONDS and done:
            gathered.remark = f"Of {len(names):,} tables the first {done:,} were read: then the time was up."
            return gathered
        try:
            _ask(inspecting, gathered, part, column, visible)
        except (*USABLE, Stopped) as error:
            if not done:
                raise
            why = str(error) if isinstance(error, Stopped) else error.sentence
            gathered.remark = f"Of {len(names):,} tables the first {done:,} were read. {why}"
            return gathered
        done += len(part)
    if done < len(names):
        gathered.remark = f"Of {len(names):,} tables the first {done:,} were read."
    return gathered


def _names(inspecting: Inspecting) -> list[Name]:
    rows = inspecting.ask(NAMES, max_rows=dictionary.MOST_DICTIONARY_TABLES + 1, max_bytes=_MOST_BYTES).rows
    if len(rows) > dictionary.MOST_DICTIONARY_TABLES:
        raise dictionary.too_many(len(rows))
    return sorted({(schema or "", name or "") for schema, name in rows})


def parts(names: Sequence[Name]) -> Iterator[list[Name]]:
    """Pieces of tables of one schema each, ``AT_ONCE`` at most."""
    piece: list[Name] = []
    for name in names:
        if piece and (len(piece) >= AT_ONCE or name[0] != piece[0][0]):
            yield piece
            piece = []
        piece.append(name)
    if piece:
        yield piece


def _where(names: Sequence[Name]) -> str:
    listed = ", ".join(literal(name) for _, name in names)
    return f"TABLE_SCHEMA = {literal(names[0][0])} AND TABLE_NAME IN ({listed})"


def _ask(inspecting: Inspecting, gathered: Gathered, part: list[Name], column: str, visible: str) -> None:
    """Everything about a few tables, one question after the other while the server has them open."""
    wanted = set(part)

    def rows(sql: str, names: Sequence[Name], **words: str) -> list[Row]:
        asked = sql.format(where=_where(names), **words)
        found = inspecting.ask(asked, max_rows=_MOST_ROWS, max_bytes=_MOST_BYTES).rows
        # Names that differ in case only are equal to INFORMATION_SCHEMA: then a row would come with both pieces.
        return [row for row in found if _name(row) in wanted or len(row) < 2]

    tables = rows(TABLES, part)
    partitioned = [_name(row) for row in tables if "partitioned" in (_cell(row, 10) or "").lower()]
    counting = [_name(row) for row in tables if _cell(row, 9) is not None]
    partitions = rows(PARTITIONS, partitioned) if partitioned else []
    columns = rows(COLUMNS, counting) if counting else []
    statistics = rows(STATISTICS, part, column=column, visible=visible)
    gathered.tables += tables
    gathered.partitions += partitions
    gathered.columns += columns
    gathered.statistics += statistics


def _cell(row: Row, number: int) -> str | None:
    """A cell that may not be there: whether a row has the right shape is the matter of the question that keeps it."""
    return row[number] if len(row) > number else None


def _name(row: Row) -> Name:
    return _cell(row, 0) or "", _cell(row, 1) or ""


def _columns_of(server: ServerVersion) -> tuple[str, str]:
    """What a column and the visibility of an index are called here."""
    if server.is_mariadb:
        return "COLUMN_NAME", "IGNORED = 'NO'" if server.number >= (10, 6, 0) else "1"
    if server.number >= (8, 0, 13):
        return "COALESCE(COLUMN_NAME, CONCAT('(', EXPRESSION, ')'))", "IS_VISIBLE = 'YES'"
    return "COLUMN_NAME", "IS_VISIBLE = 'YES'" if server.number >= (8, 0, 0) else "1"
