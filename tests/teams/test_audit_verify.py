"""Whatever is done to the audit behind Tidemark's back is found, and the first entry that is wrong is named."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from advisor.teams import audit, audit_anchors, audit_verify
from advisor.teams.audit_chain import BEGINNING, SIGNED, Key, canonical, data_text, keys
from advisor.teams.models import AuditEntry, AuditHead

NOW = datetime(2026, 11, 22, 2, 0, tzinfo=UTC)
TABLE = "teams_auditentry"


@pytest.fixture(autouse=True)
def anchors(settings: Any, tmp_path: Path) -> Path:
    settings.AUDIT_ANCHORS = tmp_path / "audit" / "anchors"
    return Path(settings.AUDIT_ANCHORS)


def chain(count: int, key: Key | None = None, start: int = 1, previous: str = BEGINNING) -> str:
    """Entries as ``record`` would have written them one by one, written at once; the digest of the last."""
    key = key or keys()[0]
    rows = []
    for sequence in range(start, start + count):
        values: dict[str, Any] = {
            "sequence": sequence, "previous": previous, "key_id": key.id, "at": NOW + timedelta(seconds=sequence),
            "team_id": "T" * 16, "team_name": "Databases", "actor_id": str(sequence % 7), "actor_name": "anna",
            "origin": "page", "action": "change.approved", "subject": f"change {sequence}",
            "data": data_text({"plan_hash": f"{sequence:064x}"}), "request_id": f"r{sequence}", "address": "192.0.2.1",
        }  # fmt: skip
        previous = key.sign(canonical(values))
        rows.append(AuditEntry(**values, digest=previous))
    AuditEntry.objects.bulk_create(rows, batch_size=500)
    AuditHead.objects.update_or_create(pk=1, defaults={"sequence": start + count - 1, "digest": previous})
    return previous


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@contextmanager
def undone() -> Iterator[None]:
    """What is done to the database meanwhile is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def found() -> audit_verify.Wrong | None:
    return audit_verify.verify(now=NOW, anchor=False).wrong


# --- what somebody who can write the database may do; each returns the number of the first entry that is wrong


def alter(column: str) -> Callable[[int, int], int]:
    def attack(at: int, count: int) -> int:
        value: Any = "2026-01-01 00:00:00" if column == "at" else "x"
        sql(f"UPDATE {TABLE} SET {column} = %s WHERE sequence = %s", value, at)
        return at

    return attack


def remove(at: int, count: int) -> int:
    sql(f"DELETE FROM {TABLE} WHERE sequence = %s", at)
    return at


def remove_and_renumber(at: int, count: int) -> int:
    remove(at, count)
    sql(f"UPDATE {TABLE} SET sequence = -sequence WHERE sequence > %s", at)
    sql(f"UPDATE {TABLE} SET sequence = -sequence - 1 WHERE sequence < 0")
    sql("UPDATE teams_audithead SET sequence = %s", count - 1)
    return at


def insert_a_copy(at: int, count: int) -> int:
    sql(f"UPDATE {TABLE} SET sequence = -sequence WHERE sequence > %s", at)
    sql(f"UPDATE {TABLE} SET sequence = -sequence + 1 WHERE sequence < 0")
    columns = [name for name in (*SIGNED, "digest") if name != "sequence"]
    listed = ", ".join(columns)
    sql(f"INSERT INTO {TABLE} (sequence, {listed}) SELECT {at + 1}, {listed} FROM {TABLE} WHERE sequence = %s", at)
    sql("UPDATE teams_audithead SET sequence = %s", count + 1)
    return at + 1


def swap(at: int, count: int) -> int:
    other = 1 + (at + count // 2) % count
    sql(f"UPDATE {TABLE} SET sequence = -1 WHERE sequence = %s", at)
    sql(f"UPDATE {TABLE} SET sequence = %s WHERE sequence = %s", at, other)
    sql(f"UPDATE {TABLE} SET sequence = %s WHERE sequence = -1", other)
    return min(at, other)


def cut_the_tail(at: int, count: int) -> int:
    sql(f"DELETE FROM {TABLE} WHERE sequence >= %s", at)
    return at


def cut_the_tail_and_set_the_end_back(at: int, count: int) -> int:
    cut_the_tail(at, count)
    digest = AuditEntry.objects.filter(sequence=at - 1).values_list("digest", flat=True).first() or BEGINNING
    sql("UPDATE teams_audithead SET sequence = %s, digest = %s", at - 1, digest)
    return at


def cut_the_tail_and_let_it_grow_again(at: int, count: int) -> int:
    cut_the_tail_and_set_the_end_back(at, count)
    audit.record(team_id=None, action="test.written", subject="after it was cut", at=NOW)
    return min(at + 1, count)


def recompute_without_the_key(at: int, count: int) -> int:
    mine = Key(keys()[0].id, b"m" * 32)
    return _recomputed(at, count, mine)


def recompute_with_a_key_of_ones_own(at: int, count: int) -> int:
    return _recomputed(at, count, Key("0123456789abcdef", b"m" * 32))


def _recomputed(at: int, count: int, key: Key) -> int:
    previous = AuditEntry.objects.filter(sequence=at - 1).values_list("digest", flat=True).first() or BEGINNING
    rows = list(AuditEntry.objects.filter(sequence__gte=at).order_by("sequence"))
    rows[0].subject = "another change"
    for row in rows:
        row.previous, row.key_id = previous, key.id
        row.digest = previous = key.sign(canonical({name: getattr(row, name) for name in SIGNED}))
    AuditEntry.objects.bulk_update(rows, ["subject", "previous", "key_id", "digest"], batch_size=50)
    sql("UPDATE teams_audithead SET digest = %s", previous)
    return at


ATTACKS: dict[str, Callable[[int, int], int]] = {
    **{f"alter {column}": alter(column) for column in (*[name for name in SIGNED if name != "sequence"], "digest")},
    "remove": remove,
    "remove and renumber": remove_and_renumber,
    "insert a copy": insert_a_copy,
    "swap": swap,
    "cut the tail": cut_the_tail,
    "cut the tail and set the end back": cut_the_tail_and_set_the_end_back,
    "cut the tail and let it grow again": cut_the_tail_and_let_it_grow_again,
    "recompute without the key": recompute_without_the_key,
    "recompute with a key of one's own": recompute_with_a_key_of_ones_own,
}


def attacked(count: int, *at_least: int, places: int) -> tuple[int, list[str]]:
    """Every attack at these entries and at random ones; how many there were, and those that were not found rightly."""
    chain(count)
    audit_verify.verify(now=NOW)
    assert found() is None
    chance, tried, missed = random.Random(32), 0, []
    for name, attack in ATTACKS.items():
        for at in [*at_least, *(chance.randrange(3, count) for _ in range(places))]:
            with undone():
                first = attack(at, count)
                wrong = found()
                tried += 1
                if wrong is None or (wrong.sequence != first and "grow again" not in name):
                    missed.append(f"{name} at {at}: {wrong} instead of {first}")
    return tried, missed


@pytest.mark.django_db
def test_every_attack_is_found_with_the_first_row_that_is_wrong() -> None:
    tried, missed = attacked(40, 1, 2, 40, places=2)
    assert (tried, missed) == (len(ATTACKS) * 5, [])


@pytest.mark.ci
@pytest.mark.django_db
def test_in_10_000_entries_every_attack_is_found_with_the_first_row_that_is_wrong() -> None:
    tried, missed = attacked(10_000, places=1)
    assert (tried, missed) == (len(ATTACKS), [])


@pytest.mark.django_db
def test_a_whole_chain_of_several_chunks_and_keys_is_whole(settings: Any) -> None:
    old = keys()[0]
    digest = chain(2_500, old)
    settings.AUDIT_KEYS = [base64.urlsafe_b64encode(b"n" * 32).decode(), *settings.AUDIT_KEYS]
    chain(2_500, keys()[0], start=2_501, previous=digest)
    assert keys()[0].id != old.id
    result = audit_verify.verify(now=NOW)
    assert (result.whole, result.last) == (True, 5_000)
    settings.AUDIT_KEYS = settings.AUDIT_KEYS[:1]
    wrong = found()
    assert wrong is not None
    assert (wrong.sequence, "not among the audit keys" in wrong.what) == (1, True)


@pytest.mark.django_db
def test_what_is_no_number_and_no_instant_is_found_too() -> None:
    chain(5)
    with undone():
        sql(f"UPDATE {TABLE} SET sequence = 2.5 WHERE sequence = 3")
        assert (wrong := found()) is not None
        assert wrong.sequence == 3
    with undone():
        sql(f"UPDATE {TABLE} SET sequence = 0 WHERE sequence = 1")
        assert (wrong := found()) is not None
        assert wrong.sequence == 1


@pytest.mark.django_db
def test_an_empty_audit_is_whole_and_an_emptied_one_is_not() -> None:
    AuditEntry.objects.all().delete()
    AuditHead.objects.all().delete()
    assert found() is None
    chain(3)
    audit_verify.verify(now=NOW)
    AuditEntry.objects.all().delete()
    AuditHead.objects.all().delete()
    assert (wrong := found()) is not None
    assert wrong.sequence == 1


@pytest.mark.django_db
def test_the_end_is_anchored_when_it_grew_and_never_twice(anchors: Path) -> None:
    audit.record(team_id=None, action="test.written", subject="one", at=NOW)
    audit_verify.keep(now=NOW)
    audit_verify.keep(now=NOW)
    audit.record(team_id=None, action="test.written", subject="two", at=NOW)
    audit_verify.keep(now=NOW)
    audit_verify.keep(now=NOW)
    told = [json.loads(line)["sequence"] for line in anchors.read_text().splitlines()]
    head = AuditHead.objects.get()
    assert told == [head.sequence - 1, head.sequence]
    assert anchors.stat().st_mode & 0o777 == 0o600
    assert audit_anchors.last() == audit_anchors.Anchor(head.sequence, head.digest, "2026-11-22T02:00:00.000000+00:00")


@pytest.mark.django_db
def test_an_end_that_is_not_right_is_not_anchored(anchors: Path, caplog: pytest.LogCaptureFixture) -> None:
    chain(5)
    audit_verify.keep(now=NOW)
    audit.record(team_id=None, action="test.written", subject="six", at=NOW)
    sql(f"UPDATE {TABLE} SET subject = 'else' WHERE sequence = 6")
    audit_verify.keep(now=NOW)
    assert "not whole at its end, entry 6" in caplog.text
    cut_the_tail_and_set_the_end_back(4, 6)
    audit_verify.keep(now=NOW)
    assert "cut off" in caplog.text
    assert len(anchors.read_text().splitlines()) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: [lines[0].replace('"sequence": 5', '"sequence": 4')],
        lambda lines: ["garbage"],
        lambda lines: ["[]"],
        lambda lines: [lines[0].replace('"mac": "', '"mac": "0')],
    ],
)
def test_an_anchor_that_was_altered_is_told(anchors: Path, spoil: Callable[[list[str]], list[str]]) -> None:
    chain(5)
    audit_verify.verify(now=NOW)
    anchors.write_text("\n".join(spoil(anchors.read_text().splitlines())) + "\n")
    assert (wrong := found()) is not None
    assert (wrong.sequence, "Line 1 of the anchors" in wrong.what) == (None, True)


@pytest.mark.django_db
def test_once_a_day_all_of_it_is_gone_through_without_anybody_asking() -> None:
    chain(5)
    audit_verify.keep(now=NOW)
    sql(f"UPDATE {TABLE} SET subject = 'else' WHERE sequence = 2")
    audit_verify.keep(now=NOW + timedelta(hours=23))
    assert AuditHead.objects.get().verified_wrong == ""
    audit_verify.keep(now=NOW + timedelta(hours=25))
    head = AuditHead.objects.get()
    assert (head.verified_sequence, head.verified_wrong.startswith("Entry 2: ")) == (1, True)


def verified(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("verify_audit", *arguments, stdout=out, stderr=StringIO())
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


@pytest.mark.django_db
def test_the_command_ends_with_0_or_1_and_names_the_entry() -> None:
    chain(5)
    assert verified() == (
        0,
        "The audit is whole: 5 entries, held against 0 anchors.\n"
        "Its end was not anchored before: what was cut off earlier could not be missed.\n",
    )
    assert verified()[1] == "The audit is whole: 5 entries, held against 1 anchors.\n"
    sql(f"UPDATE {TABLE} SET actor_name = 'mallory' WHERE sequence = 3")
    status, text = verified()
    assert status == 1
    assert text.startswith("The audit is NOT whole. Entry 3: its digest does not match")
    status, text = verified("--format", "json")
    assert (status, json.loads(text)["wrong"]["sequence"]) == (1, 3)
