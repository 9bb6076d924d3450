"""Full snapshots as bytes in the product's database, and the newest one of a server."""

from __future__ import annotations

import json

import zstandard

from advisor.mysql.snapshot import Snapshot
from collector.models import StoredSnapshot


def pack(snapshot: Snapshot) -> bytes:
    """The snapshot's JSON form, compressed with zstandard."""
    text = json.dumps(snapshot.as_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return zstandard.ZstdCompressor(level=3).compress(text.encode("utf-8", errors="replace"))


def unpack(payload: bytes) -> Snapshot:
    """Reads what ``pack`` wrote. Raises ValueError where it was written by a newer version of Tidemark."""
    return Snapshot.from_dict(json.loads(zstandard.ZstdDecompressor().decompress(payload)))


def latest(server_id: str) -> Snapshot | None:
    """The newest snapshot of the server, None where there is none yet."""
    found = latest_with_slot(server_id)
    return None if found is None else found[1]


def latest_with_slot(server_id: str) -> tuple[int, Snapshot] | None:
    """The newest snapshot of the server and its slot (unix seconds)."""
    row = StoredSnapshot.objects.filter(server_id=server_id).order_by("-slot").first()
    return None if row is None else (row.slot, unpack(bytes(row.payload)))
