"""Going through the whole audit: is every entry there, as it was written, in its place, up to the end?"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from advisor.teams import audit_anchors, audit_triggers
from advisor.teams.audit_anchors import Anchor, BadAnchor
from advisor.teams.audit_chain import BEGINNING, SIGNED, canonical, keys
from advisor.teams.audit_models import AuditEntry, AuditHead

log = logging.getLogger(__name__)

_CHUNK = 2000
#: How often all of it is gone through without anybody asking.
VERIFY_EVERY = timedelta(days=1)


@dataclass(frozen=True)
class Wrong:
    """The first thing that is wrong. ``sequence`` is the entry's number, None where it is not about an entry."""

    sequence: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.sequence is None else f"Entry {self.sequence}: {self.what}"


@dataclass(frozen=True)
class Verification:
    """What going through it found. ``last`` is the number of the last entry that is right, ``anchors`` how many ends
    were written down outside of the database.
    """

    last: int
    anchors: int
    wrong: Wrong | None = None

    @property
    def whole(self) -> bool:
        return self.wrong is None


@dataclass
class _Place:
    """Where going through it stands."""

    sequence: int = 0
    digest: str = BEGINNING


def verify(*, now: datetime, anchor: bool = True) -> Verification:
    """Goes through all entries, against each other, the end of the chain and the anchors; up to the first that is
    wrong. What it found is remembered; where all is right the end is anchored. Entries may be added meanwhile.

    Raises AuditError without keys, and OSError where the anchors cannot be read or written.
    """
    known = {key.id: key for key in keys()}
    try:
        anchors = {one.sequence: one for one in _consistent(audit_anchors.every())}
    except BadAnchor as bad:
        return _remembered(Verification(0, 0, Wrong(None, str(bad))), now)
    began = _head()
    place = _Place()
    wrong = next((one for row in _rows() if (one := _wrong_with(row, place, known, anchors))), None)
    wrong = wrong or _wrong_end(place, anchors, began, _head())
    found = Verification(place.sequence, len(anchors), wrong)
    if anchor and found.whole and place.sequence:
        audit_anchors.append(sequence=place.sequence, digest=place.digest, now=now)
    return _remembered(found, now)


def keep(*, now: datetime) -> None:
    """One round of upkeep: anchors the end where the chain grew, and goes through all of it once a day."""
    head = AuditHead.objects.filter(pk=1).first()
    if head is None:
        return
    if head.verified_at is None or now - head.verified_at >= VERIFY_EVERY:
        found = verify(now=now)
        if found.wrong is not None:
            log.error("The audit is not whole. %s", found.wrong)
        return
    try:
        last = audit_anchors.last()
    except BadAnchor as bad:
        log.error("The audit is not whole. %s", bad)
        return
    if last is not None and last.sequence >= head.sequence:
        if last.sequence > head.sequence:
            log.error("The audit is not whole. Its end was cut off: run ./manage.py verify_audit.")
        return
    # What is not right must not be anchored: else an altered end would look as if it had been seen.
    row = AuditEntry.objects.filter(pk=head.sequence).values(*SIGNED, "digest").first()
    place = _Place(head.sequence - 1, row["previous"] if row else "")
    known = {key.id: key for key in keys()}
    if row is None or row["digest"] != head.digest or _wrong_with(row, place, known, {}):
        log.error("The audit is not whole at its end, entry %s: run ./manage.py verify_audit.", head.sequence)
        return
    audit_anchors.append(sequence=head.sequence, digest=head.digest, now=now)


def unguarded() -> str:
    """A sentence where the database would let entries be changed, empty where it refuses."""
    if not audit_triggers.missing(connection):
        return ""
    return (
        "The database does not refuse to change entries: its account may not make triggers. "
        "Changes are found by their digests all the same."
    )


def _rows() -> Iterator[dict[str, Any]]:
    """All entries in their order, some at a time: a cursor over all would be fetched whole by some drivers."""
    after: Any = None
    while True:
        chunk = AuditEntry.objects.order_by("sequence").values(*SIGNED, "digest")
        rows = list((chunk if after is None else chunk.filter(sequence__gt=after))[:_CHUNK])
        yield from rows
        if len(rows) < _CHUNK:
            return
        after = rows[-1]["sequence"]


def _wrong_with(row: dict[str, Any], place: _Place, known: dict[str, Any], anchors: dict[int, Anchor]) -> Wrong | None:
    """What is wrong with the entry that follows ``place``, which moves on where nothing is."""
    expected = place.sequence + 1
    sequence = row["sequence"]
    if not isinstance(sequence, int) or sequence < expected:
        return Wrong(expected, f"a row numbered {sequence!r} stands before it, which Tidemark did not write.")
    if sequence > expected:
        gone = f"entries {expected} to {sequence - 1} are" if sequence - 1 > expected else "it is"
        return Wrong(expected, f"{gone} missing: the next one is {sequence}.")
    key = known.get(row["key_id"])
    if key is None:
        return Wrong(sequence, f"it names the key {row['key_id']!r}, which is not among the audit keys.")
    if not _matches(key, row):
        return Wrong(sequence, "its digest does not match: it was altered, inserted, or moved here.")
    if row["previous"] != place.digest:
        return Wrong(sequence, "it does not follow the entry before it, which was exchanged.")
    anchor = anchors.get(sequence)
    if anchor is not None and anchor.digest != row["digest"]:
        return Wrong(sequence, f"another entry stood here when the end was anchored at {anchor.at}.")
    place.sequence, place.digest = sequence, row["digest"]
    return None


def _matches(key: Any, row: dict[str, Any]) -> bool:
    try:
        return hmac.compare_digest(key.sign(canonical(row)), str(row["digest"]))
    except (AttributeError, TypeError, ValueError):  # a column holds what Tidemark never writes there
        return False


def _wrong_end(place: _Place, anchors: dict[int, Anchor], began: _Place, ended: _Place) -> Wrong | None:
    """What is wrong with the end: a tail that was cut off leaves a whole chain, which only is too short."""
    top = anchors[max(anchors)] if anchors else None
    if top is not None and top.sequence > place.sequence:
        return Wrong(
            place.sequence + 1,
            f"the end was cut off: entries up to {top.sequence} were there when it was anchored at {top.at}.",
        )
    if began.sequence > place.sequence:
        return Wrong(place.sequence + 1, f"the end was cut off: entries up to {began.sequence} were written.")
    if ended.sequence < place.sequence or (ended.sequence == place.sequence and ended.digest != place.digest):
        return Wrong(place.sequence, "the row that holds the end of the chain was altered.")
    return None


def _head() -> _Place:
    head = AuditHead.objects.filter(pk=1).first()
    return _Place() if head is None else _Place(head.sequence, head.digest)


def _consistent(anchors: Iterator[Anchor]) -> Iterator[Anchor]:
    """Raises BadAnchor where two lines tell of one entry differently."""
    seen: dict[int, str] = {}
    for one in anchors:
        if seen.setdefault(one.sequence, one.digest) != one.digest:
            raise BadAnchor(
                f"Line {one.line} of the anchors tells another digest of entry {one.sequence} than a line before: "
                "the database was put back to an older state, and went on from there."
            )
        yield one


def _remembered(found: Verification, now: datetime) -> Verification:
    AuditHead.objects.filter(pk=1).update(
        verified_sequence=found.last, verified_at=now, verified_wrong=str(found.wrong or "")[:300]
    )
    return found
