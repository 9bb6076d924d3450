"""A day of a server in cells: the least, the greatest and the last of every series, exactly as its polls give them.

A chart of a week has buckets of half an hour; made of cells it is read in the time that six hours of polls take. Cells
are made when an hour is sealed, from the values as they are shown (gauges as read, counters per second), so that a
bucket of whole cells has the very least, greatest and last that its polls have.

This file knows no database: it turns arrays into bytes and back.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import zstandard

from collector.store import downsample
from collector.store.charting import Run
from collector.store.columns import F64, I64, UnreadableBlock

_FORMAT = 1
_LEVEL = 3
_HEAD = struct.Struct("<BIII")
_HOUR_SECONDS = 3600


@dataclass(frozen=True)
class Cells:
    """Cells of one day, oldest first; ``hours`` (unix seconds) are the hours that they hold whole.

    ``first`` and ``until`` are the slots of the first and the last poll of each cell; ``spacing`` is how far apart its
    hour's polls usually were, and ``longest`` how far they might be to be one line. ``values`` has three matrices,
    least, greatest and last, with one row for each of ``names`` and NaN where a cell has no value.
    """

    names: tuple[str, ...]
    hours: I64
    first: I64
    until: I64
    spacing: I64
    longest: F64
    values: F64

    def run(self, names: Sequence[str], start: float, end: float) -> Run:
        """The cells that begin between two instants, with these series."""
        at = {name: row for row, name in enumerate(self.names)}
        inside = slice(*np.searchsorted(self.first, (start, end)).tolist())
        values = np.full((3, len(names), self.first[inside].size), np.nan)
        here = [row for row, name in enumerate(names) if name in at]
        values[:, here] = self.values[:, [at[names[row]] for row in here], inside]
        spacing, longest = self.spacing[inside], self.longest[inside]
        least, greatest, last = values
        return Run(
            tuple(names),
            self.first[inside],
            self.until[inside],
            least,
            greatest,
            last,
            spacing=int(spacing.min()) if spacing.size else 1,
            longest=float(longest.max()) if longest.size else 0.0,
        )


def cells(hour: Run, hour_at: int, cell_seconds: int) -> Cells:
    """One hour's polls as cells of this length, which parts an hour evenly."""
    groups = downsample.grouping(hour.first, hour.until, cell_seconds)
    count = groups.number.size
    return Cells(
        hour.names,
        np.array([hour_at], dtype=np.int64),
        groups.begins,
        groups.seen,
        np.full(count, hour.spacing, dtype=np.int64),
        np.full(count, hour.longest),
        np.stack(downsample.extremes(hour.least, hour.greatest, hour.last, groups)),
    )


def added(day: Cells | None, hour: Cells) -> Cells:
    """The day with one hour more, or with that hour made anew."""
    if day is None:
        return hour
    hour_at = int(hour.hours[0])
    keep = (day.first < hour_at) | (day.first >= hour_at + _HOUR_SECONDS)
    names = tuple(sorted({*day.names, *hour.names}))
    first = np.concatenate([day.first[keep], hour.first])
    order = np.argsort(first, kind="stable")

    def over(one: Cells) -> F64:
        values = np.full((3, len(names), one.first.size), np.nan)
        values[:, [names.index(name) for name in one.names]] = one.values
        return values

    return Cells(
        names,
        np.union1d(day.hours, hour.hours),
        first[order],
        np.concatenate([day.until[keep], hour.until])[order],
        np.concatenate([day.spacing[keep], hour.spacing])[order],
        np.concatenate([day.longest[keep], hour.longest])[order],
        np.concatenate([over(day)[..., keep], over(hour)], axis=-1)[..., order],
    )


def pack(day: Cells) -> bytes:
    """Layout inside the zstandard frame: names, a line each; hours; of each cell its first and last slot, spacing and
    longest; for each of the three matrices and each name the eight byte planes of its cells.
    """
    directory = "\n".join(day.names).encode()
    planes = np.ascontiguousarray(day.values).view(np.uint8).reshape(*day.values.shape, 8).transpose(0, 1, 3, 2)
    body = b"".join(
        (
            directory,
            day.hours.astype("<i8").tobytes(),
            day.first.astype("<i8").tobytes(),
            day.until.astype("<i8").tobytes(),
            day.spacing.astype("<i8").tobytes(),
            day.longest.astype("<f8").tobytes(),
            planes.tobytes(),
        )
    )
    head = _HEAD.pack(_FORMAT, len(directory), day.hours.size, day.first.size)
    return head + zstandard.ZstdCompressor(level=_LEVEL).compress(body)


def unpack(payload: bytes, names: Sequence[str] | None = None) -> Cells:
    """Reads what ``pack`` wrote; with ``names`` only those of them that are there. Raises UnreadableBlock."""
    if len(payload) < _HEAD.size or payload[0] != _FORMAT:
        raise UnreadableBlock("a stored rollup has a format that this version of Tidemark does not know")
    _, length, hours, count = _HEAD.unpack_from(payload)
    try:
        body = zstandard.ZstdDecompressor().decompress(memoryview(payload)[_HEAD.size :])
    except zstandard.ZstdError as error:
        raise UnreadableBlock(f"a stored rollup is damaged: {error}") from error
    stored = tuple(body[:length].decode().split("\n"))
    numbers = np.frombuffer(body, "<i8", hours + 4 * count, length).astype(np.int64)
    first, until, spacing, longest = numbers[hours:].reshape(4, count)
    planes = np.frombuffer(body, np.uint8, offset=length + numbers.nbytes).reshape(3, len(stored), 8, count)
    wanted = set(stored if names is None else names)
    chosen = [row for row, name in enumerate(stored) if name in wanted]
    values = np.ascontiguousarray(planes[:, chosen].transpose(0, 1, 3, 2)).view("<f8")[..., 0]
    return Cells(
        tuple(stored[row] for row in chosen),
        numbers[:hours],
        first,
        until,
        spacing,
        longest.view(np.float64),
        values.astype(np.float64, copy=False),
    )
