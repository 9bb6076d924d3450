"""Polls as columns: how one poll is packed, how an hour of them is sealed, and how both are read back together.

A cell is 64 bits and a type, so that what goes in comes out exactly: unsigned counters up to 2^64-1, negative integers,
floats by their bits, and cells that were not there. Sealing takes the difference along time, drops the byte planes that
are zero throughout (most counters move by little or not at all) and leaves the rest to zstandard.

This file knows no database: it turns polls into bytes and bytes into arrays.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import zstandard

from advisor.mysql.snapshot import Number, Poll

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_POLL_FORMAT = 1
_BLOCK_FORMAT = 1
_LEVEL = 3

#: How the 64 bits of a cell are read: unsigned integer, signed integer, float, or a float stored as whole millionths.
_UNSIGNED, _SIGNED, _FLOAT, _MILLIONTHS = "u", "s", "f", "m"

# Columns of a block that are no series. A series cannot have these names, since names of servers hold no "@".
_SLOT, _CLOCK, _UPTIME, _IDENTITY = "@slot", "@clock", "@uptime", "@identity"


class UnreadableBlock(ValueError):
    """Stored bytes are not what this program writes: a newer format, or damaged."""


@dataclass(frozen=True)
class Columns:
    """Consecutive polls of one server, oldest first, as arrays with one entry a poll.

    ``slots`` are unix seconds, ``clock`` is the server's own in unix seconds, ``uptime`` its seconds since start, and
    ``identity`` indexes ``identities``. The three matrices have one row for each of ``names``: ``raw`` holds the 64
    bits of a cell, ``kind`` how to read them (0 unsigned, 1 signed, 2 float), ``present`` whether there is a value.
    """

    names: tuple[str, ...]
    slots: I64
    clock: F64
    uptime: I64
    identity: I64
    identities: tuple[str, ...]
    raw: U64
    kind: npt.NDArray[np.uint8]
    present: Flags

    def __len__(self) -> int:
        return int(self.slots.size)

    def floats(self) -> F64:
        """All cells as floats, NaN where there is none. Integers above 2^53 are rounded: never subtract these."""
        return _floats(self.raw, self.kind, self.present)

    def floats_of(self, row: int) -> F64:
        """One series as ``floats`` gives it."""
        return _floats(self.raw[row], self.kind[row], self.present[row])

    def over(self, names: tuple[str, ...]) -> Columns:
        """The same polls with these series, in this order; a series that is not here is missing throughout."""
        here, there = _places(names, self.names)
        shape = (len(names), len(self))
        raw, kind, present = np.zeros(shape, np.uint64), np.zeros(shape, np.uint8), np.zeros(shape, np.bool_)
        raw[there], kind[there], present[there] = self.raw[here], self.kind[here], self.present[here]
        return replace(self, names=names, raw=raw, kind=kind, present=present)

    def between(self, start: float, end: float) -> Columns:
        """The polls whose slot is at or after ``start`` and before ``end``."""
        first, last = (int(np.searchsorted(self.slots, instant, side="left")) for instant in (start, end))
        return self._cut(slice(first, last))

    def ordered(self) -> Columns:
        """The same polls, oldest first."""
        if (np.diff(self.slots) >= 0).all():
            return self
        return self._cut(np.argsort(self.slots, kind="stable"))

    def _cut(self, where: slice | I64) -> Columns:
        return Columns(
            self.names,
            self.slots[where],
            self.clock[where],
            self.uptime[where],
            self.identity[where],
            self.identities,
            self.raw[:, where],
            self.kind[:, where],
            self.present[:, where],
        )

    def polls(self) -> list[Poll]:
        """The polls as they were written, with the slot as their time."""
        kinds = self.kind.tolist()
        unsigned = self.raw.tolist()
        signed = self.raw.view(np.int64).tolist()
        floating = self.raw.view(np.float64).tolist()
        present = self.present.tolist()
        values: list[dict[str, Number]] = [{} for _ in range(len(self))]
        readings = (unsigned, signed, floating)
        for row, name in enumerate(self.names):
            for column, there in enumerate(present[row]):
                if there:
                    values[column][name] = readings[kinds[row][column]][row][column]
        return [
            Poll(
                at=float(slot),
                server_clock=clock,
                uptime_seconds=uptime,
                values=value,
                identity=self.identities[identity],
            )
            for slot, clock, uptime, identity, value in zip(
                self.slots.tolist(),
                self.clock.tolist(),
                self.uptime.tolist(),
                self.identity.tolist(),
                values,
                strict=True,
            )
        ]


def _floats(raw: U64, kind: npt.NDArray[np.uint8], present: Flags) -> F64:
    result = raw.astype(np.float64)
    signed = kind == 1
    if signed.any():
        result[signed] = raw.view(np.int64)[signed]
    floating = kind == 2
    if floating.any():
        result[floating] = raw.view(np.float64)[floating]
    result[~present] = np.nan
    return result


def empty(names: Sequence[str]) -> Columns:
    """No polls at all."""
    shape = (len(names), 0)
    return Columns(
        tuple(names),
        np.zeros(0, np.int64),
        np.zeros(0, np.float64),
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
        (),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint8),
        np.zeros(shape, np.bool_),
    )


def joined(names: Sequence[str], parts: Sequence[Columns]) -> Columns:
    """Several runs of polls of the same names, one after the other in time."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return empty(names)
    identities = tuple(dict.fromkeys(identity for part in parts for identity in part.identities))
    place = {identity: index for index, identity in enumerate(identities)}
    renumbered = [
        np.array([place[identity] for identity in part.identities], dtype=np.int64)[part.identity] for part in parts
    ]
    return Columns(
        tuple(names),
        np.concatenate([part.slots for part in parts]),
        np.concatenate([part.clock for part in parts]),
        np.concatenate([part.uptime for part in parts]),
        np.concatenate(renumbered),
        identities,
        np.concatenate([part.raw for part in parts], axis=1),
        np.concatenate([part.kind for part in parts], axis=1),
        np.concatenate([part.present for part in parts], axis=1),
    )


# --- one poll -------------------------------------------------------------------------------------------------------

_POLL_HEAD = struct.Struct("<BI")
_POLL_TIMES = struct.Struct("<dq")


def _cell(value: Number) -> tuple[str, int] | None:
    """Type and 64 bits of a value; None for what is not a number that could be judged (infinite, NaN)."""
    if isinstance(value, int):
        if 0 <= value < 1 << 64:
            return _UNSIGNED, int(value)
        if -(1 << 63) <= value < 0:
            return _SIGNED, int(value) & 0xFFFF_FFFF_FFFF_FFFF
        value = float(value)
    if not math.isfinite(value):
        return None
    return _FLOAT, struct.unpack("<Q", struct.pack("<d", value))[0]


def pack_poll(poll: Poll) -> bytes:
    """One poll as bytes. Its time is not in them: a stored poll's time is its slot.

    Layout: format, length of the prefix; prefix (identity, then a line for each value: type and name); server clock and
    uptime; 64 bits for each value. Polls of one server share the prefix, so that a run of them is read at once.
    """
    cells = [(name, cell) for name, value in sorted(poll.values.items()) if (cell := _cell(value)) is not None]
    text = "\n".join([poll.identity.replace("\n", " "), *(cell[0] + name for name, cell in cells)])
    prefix = text.encode(errors="replace")
    return b"".join(
        (
            _POLL_HEAD.pack(_POLL_FORMAT, len(prefix)),
            prefix,
            _POLL_TIMES.pack(poll.server_clock, poll.uptime_seconds),
            struct.pack(f"<{len(cells)}Q", *(cell[1] for _, cell in cells)),
        )
    )


@lru_cache(maxsize=2048)
def _prefix(prefix: bytes) -> tuple[str, tuple[str, ...], npt.NDArray[np.uint8]]:
    """Identity, names and kinds of a packed poll."""
    identity, *cells = prefix.decode().split("\n")
    return identity, tuple(cell[1:] for cell in cells), np.array([_KIND[cell[0]] for cell in cells], dtype=np.uint8)


_KIND = {_UNSIGNED: 0, _SIGNED: 1, _FLOAT: 2}


def _split(payload: bytes) -> tuple[bytes, bytes]:
    if len(payload) < _POLL_HEAD.size or payload[0] != _POLL_FORMAT:
        raise UnreadableBlock("a stored poll has a format that this version of Tidemark does not know")
    _, length = _POLL_HEAD.unpack_from(payload)
    middle = _POLL_HEAD.size + length
    return payload[_POLL_HEAD.size : middle], payload[middle:]


def unpack_polls(rows: Iterable[tuple[int, bytes | memoryview]], names: Sequence[str] | None = None) -> Columns:
    """Reads packed polls, given as (slot, bytes) oldest first. ``names`` None takes every name that occurs in them."""
    runs: list[tuple[bytes, list[int], list[bytes]]] = []
    for slot, payload in rows:
        prefix, rest = _split(bytes(payload))
        if not runs or runs[-1][0] != prefix:
            runs.append((prefix, [], []))
        runs[-1][1].append(slot)
        runs[-1][2].append(rest)
    if names is None:
        names = sorted({name for prefix, _, _ in runs for name in _prefix(prefix)[1]})
    parts = []
    for prefix, slots, rests in runs:
        identity, stored, kinds = _prefix(prefix)
        table = np.frombuffer(b"".join(rests), dtype="<u8").reshape(len(slots), 2 + len(stored)).astype(np.uint64)
        there, rows_of = _places(stored, tuple(names))
        shape = (len(names), len(slots))
        raw, kind, present = np.zeros(shape, np.uint64), np.zeros(shape, np.uint8), np.zeros(shape, np.bool_)
        raw[there] = table[:, 2 + rows_of].T
        kind[there] = kinds[rows_of][:, None]
        present[there] = True
        parts.append(
            Columns(
                tuple(names),
                np.array(slots, dtype=np.int64),
                np.ascontiguousarray(table[:, 0]).view(np.float64),
                np.ascontiguousarray(table[:, 1]).view(np.int64),
                np.zeros(len(slots), np.int64),
                (identity,),
                raw,
                kind,
                present,
            )
        )
    return joined(names, parts)


@lru_cache(maxsize=512)
def _places(stored: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[I64, I64]:
    """For the wanted names that are stored: their places among the wanted, and among the stored."""
    at = {name: place for place, name in enumerate(stored)}
    pairs = [(place, at[name]) for place, name in enumerate(wanted) if name in at]
    return np.array([pair[0] for pair in pairs], dtype=np.int64), np.array([pair[1] for pair in pairs], dtype=np.int64)


# --- an hour of polls -----------------------------------------------------------------------------------------------

_BLOCK_HEAD = struct.Struct("<III")


def _zigzag(differences: I64) -> U64:
    """Small differences of either sign become small unsigned numbers."""
    return ((differences << 1) ^ (differences >> 63)).view(np.uint64)


def _unzigzag(folded: U64) -> U64:
    return (folded >> np.uint64(1)) ^ (~(folded & np.uint64(1)) + np.uint64(1))


def seal(columns: Columns) -> bytes:
    """Polls as one compressed block; ``unseal`` gives them back bit for bit.

    Layout inside the zstandard frame: number of polls, of columns, length of the directory; directory (a line for each
    column: type and name, then the identities); for each column its first value, a mask of its byte planes and whether
    it has missing cells; the missing cells' bitmaps; the byte planes. A name whose type changed within the hour has one
    column for each type, each missing where the other one has the value.
    """
    count = len(columns)
    if not count:
        raise ValueError("there is nothing to seal in an hour without polls")
    labels: list[str] = []
    rows: list[U64] = []
    presences: list[Flags] = []
    everywhere = np.ones(count, np.bool_)

    def add(label: str, bits: U64, present: Flags) -> None:
        labels.append(label)
        rows.append(bits)
        presences.append(present)

    add(_SIGNED + _SLOT, columns.slots.view(np.uint64), everywhere)
    micros = np.rint(columns.clock * 1e6)
    if np.array_equal(micros / 1e6, columns.clock) and np.abs(micros).max() < 2**53:
        add(_MILLIONTHS + _CLOCK, micros.astype(np.int64).view(np.uint64), everywhere)
    else:
        add(_FLOAT + _CLOCK, columns.clock.view(np.uint64), everywhere)
    add(_SIGNED + _UPTIME, columns.uptime.view(np.uint64), everywhere)
    add(_SIGNED + _IDENTITY, columns.identity.view(np.uint64), everywhere)
    for index, name in enumerate(columns.names):
        for code, letter in enumerate((_UNSIGNED, _SIGNED, _FLOAT)):
            present = columns.present[index] & (columns.kind[index] == code)
            if present.any():
                add(letter + name, columns.raw[index], present)

    values = np.stack(rows)
    presence = np.stack(presences)
    holes = ~presence.all(axis=1)
    # A missing cell repeats the value before it (the first known one at the start), which costs nothing.
    for index in np.flatnonzero(holes).tolist():
        known = np.flatnonzero(presence[index])
        values[index] = values[index, known[np.maximum(np.searchsorted(known, np.arange(count), side="right") - 1, 0)]]
    differences = np.zeros((len(labels), count), np.uint64)
    differences[:, 1:] = values[:, 1:] - values[:, :-1]
    planes = _zigzag(differences.view(np.int64)).astype("<u8").view(np.uint8).reshape(len(labels), count, 8)
    used = planes.any(axis=1)
    body = b"".join(
        (
            (directory := "\n".join([*labels, "", *columns.identities]).encode()),
            values[:, 0].astype("<u8").tobytes(),
            np.packbits(used, axis=1, bitorder="little").tobytes(),
            holes.astype(np.uint8).tobytes(),
            np.packbits(presence[holes], axis=1, bitorder="little").tobytes(),
            planes.transpose(0, 2, 1)[used].tobytes(),
        )
    )
    head = _BLOCK_HEAD.pack(count, len(labels), len(directory))
    return bytes([_BLOCK_FORMAT]) + zstandard.ZstdCompressor(level=_LEVEL).compress(head + body)


@dataclass(frozen=True)
class _Directory:
    labels: tuple[str, ...]
    identities: tuple[str, ...]


@lru_cache(maxsize=512)
def _directory(text: bytes) -> _Directory:
    lines = text.decode().split("\n")
    end = lines.index("")
    return _Directory(tuple(lines[:end]), tuple(lines[end + 1 :]))


@lru_cache(maxsize=512)
def _selection(labels: tuple[str, ...], names: tuple[str, ...]) -> tuple[I64, tuple[tuple[int, int], ...]]:
    """Which columns to decode (the four that are no series first), and for each series: row of the result, kind."""
    at = {label: place for place, label in enumerate(labels)}
    clock = at[_MILLIONTHS + _CLOCK] if _MILLIONTHS + _CLOCK in at else at[_FLOAT + _CLOCK]
    columns = [at[_SIGNED + _SLOT], clock, at[_SIGNED + _UPTIME], at[_SIGNED + _IDENTITY]]
    targets = []
    for row, name in enumerate(names):
        for letter, kind in _KIND.items():
            if (column := at.get(letter + name)) is not None:
                columns.append(column)
                targets.append((row, kind))
    return np.array(columns, dtype=np.int64), tuple(targets)


_PLANES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.bool_)
_PLANE_COUNT = _PLANES.sum(axis=1)
_PLANE_RANK = np.cumsum(_PLANES, axis=1) - 1


def unseal(payload: bytes, names: Sequence[str] | None = None) -> Columns:
    """Reads a block; with ``names`` only their columns are unfolded. Raises UnreadableBlock."""
    if not payload or payload[0] != _BLOCK_FORMAT:
        raise UnreadableBlock("a stored block has a format that this version of Tidemark does not know")
    try:
        body = zstandard.ZstdDecompressor().decompress(memoryview(payload)[1:])
    except zstandard.ZstdError as error:
        raise UnreadableBlock(f"a stored block is damaged: {error}") from error
    count, width, length = _BLOCK_HEAD.unpack_from(body)
    place = _BLOCK_HEAD.size
    directory = _directory(body[place : place + length])
    place += length
    if names is None:
        names = sorted({label[1:] for label in directory.labels if label[1] != "@"})
    names = tuple(names)
    wanted, targets = _selection(directory.labels, names)
    firsts = np.frombuffer(body, "<u8", width, place).astype(np.uint64)
    place += 8 * width
    masks = np.frombuffer(body, np.uint8, width, place)
    place += width
    holes = np.frombuffer(body, np.uint8, width, place)
    place += width
    row_bytes = (count + 7) // 8
    bitmaps = np.frombuffer(body, np.uint8, int(holes.sum()) * row_bytes, place)
    place += bitmaps.size
    counts = _PLANE_COUNT[masks]
    planes = np.frombuffer(body, np.uint8, int(counts.sum()) * count, place).reshape(-1, count)

    starts = np.cumsum(counts) - counts
    chosen = masks[wanted]
    chosen_rows, bits = np.nonzero(_PLANES[chosen])
    shuffled = np.zeros((wanted.size, 8, count), np.uint8)
    shuffled[chosen_rows, bits] = planes[starts[wanted][chosen_rows] + _PLANE_RANK[chosen[chosen_rows], bits]]
    folded = np.ascontiguousarray(shuffled.transpose(0, 2, 1)).view("<u8")[:, :, 0].astype(np.uint64, copy=False)
    values = np.cumsum(_unzigzag(folded), axis=1, dtype=np.uint64) + firsts[wanted][:, None]

    shape = (len(names), count)
    raw, kind, present = np.zeros(shape, np.uint64), np.zeros(shape, np.uint8), np.zeros(shape, np.bool_)
    hole_rank = np.cumsum(holes) - 1
    for (row, code), column, bits_of in zip(targets, wanted[4:].tolist(), values[4:], strict=True):
        if holes[column]:
            start = int(hole_rank[column]) * row_bytes
            there = np.unpackbits(bitmaps[start : start + row_bytes], count=count, bitorder="little").astype(np.bool_)
            raw[row, there] = bits_of[there]
            kind[row, there] = code
            present[row] |= there
        else:
            raw[row], kind[row], present[row] = bits_of, code, True
    clock = values[1]
    in_millionths = directory.labels[int(wanted[1])][0] == _MILLIONTHS
    return Columns(
        names,
        values[0].view(np.int64),
        clock.view(np.int64) / 1e6 if in_millionths else clock.view(np.float64),
        values[2].view(np.int64),
        values[3].view(np.int64),
        directory.identities,
        raw,
        kind,
        present,
    )
