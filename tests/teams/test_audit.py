"""The audit's entries: bound to each other, without secrets, in the same transaction as what they tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, transaction

from advisor.teams import audit, audit_checks, audit_triggers
from advisor.teams.audit_chain import BEGINNING, canonical, keys
from advisor.teams.audit_context import acting_as
from advisor.teams.models import AuditEntry, AuditHead
from collector.secret import Secret

AT = datetime(2026, 11, 22, 1, 2, 3, 456789, tzinfo=UTC)


def entry(**values: Any) -> AuditEntry:
    return audit.record(
        **{"team_id": None, "action": "test.written", "subject": "something", "data": {}, "at": AT, **values}
    )


@contextmanager
def guarded() -> Iterator[None]:
    """With the triggers that every installation has; tests are without them."""
    audit_triggers.install(connection)
    try:
        yield
    finally:
        audit_triggers.remove(connection)


@pytest.mark.django_db
def test_entries_are_numbered_and_each_names_the_digest_before_it() -> None:
    first, second, third = entry(), entry(), entry()
    assert [one.sequence for one in (first, second, third)] == [1, 2, 3]
    assert (first.previous, second.previous, third.previous) == (BEGINNING, first.digest, second.digest)
    head = AuditHead.objects.get()
    assert (head.sequence, head.digest) == (3, third.digest)


@pytest.mark.django_db
def test_the_digest_is_signed_over_what_the_database_gives_back() -> None:
    wrote = entry(subject="línea – 한국어 🐬\n  next", data={"b": [1, 2.5, None, True], "a": "é"})
    read = AuditEntry.objects.get()
    assert (read.subject, read.data) == ("línea – 한국어 🐬 next", '{"a":"é","b":[1,2.5,null,true]}')
    values = {name: getattr(read, name) for name in [field.name for field in AuditEntry._meta.fields]}
    assert keys()[0].sign(canonical(values)) == wrote.digest == read.digest


def test_who_acts_is_taken_from_the_request_or_command_where_it_is_not_given(owner: User, viewer: User) -> None:
    with acting_as(owner, "api", request_id="r1", address="192.0.2.1"):
        one = entry()
        other = entry(actor=viewer)
    with acting_as(None, "command", name="anna (command line)"):
        commanded = entry()
    nobody = entry()
    assert (one.actor_name, one.actor_id, one.origin, one.request_id, one.address) == (
        "owner",
        str(owner.pk),
        "api",
        "r1",
        "192.0.2.1",
    )
    assert other.actor_name == "viewer"
    assert (commanded.actor_name, commanded.actor_id, commanded.origin) == ("anna (command line)", "", "command")
    assert (nobody.actor_name, nobody.origin) == ("", "system")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "data",
    [
        {"value": Secret("hunter2hunter2")},
        {"password": "hunter2hunter2"},
        {"new-password": "hunter2hunter2"},
        {"credential": {"api_key": "hunter2hunter2"}},
        {"list": [{"webhook_secret": "hunter2hunter2"}]},
        {"at": AT},
        {"figure": float("nan")},
    ],
)
def test_secrets_and_what_is_no_json_are_refused_and_nothing_is_written(data: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as caught:
        entry(data=data)
    assert "hunter2" not in str(caught.value)
    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_a_token_that_somebody_pasted_into_a_reason_is_left_out() -> None:
    one = entry(subject="see tm_" + "b" * 43, data={"reason": ["use tm_" + "a" * 43 + " and tmwh_" + "c" * 43]})
    assert (one.subject, one.data) == ("see tm_[secret]", '{"reason":["use tm_[secret] and tmwh_[secret]"]}')


@pytest.mark.django_db
def test_that_a_password_was_given_may_be_told() -> None:
    assert entry(data={"password": True, "token_id": "abc"}).data == '{"password":true,"token_id":"abc"}'


@pytest.mark.django_db
@pytest.mark.parametrize("action", ["", "signed", "Session.opened", "a.b c", "a.", "x." + "y" * 60])
def test_an_action_is_lower_case_words_with_a_dot(action: str) -> None:
    with pytest.raises(ValueError, match="no action"):
        entry(action=action)


def test_without_a_key_nothing_is_recorded(db: None, settings: Any, tmp_path: Any) -> None:
    settings.AUDIT_KEYS = []
    settings.DATA = tmp_path / "nowhere"
    with pytest.raises(audit.AuditError, match=r"\./start --setup"):
        entry()
    settings.AUDIT_KEYS = ["short"]
    with pytest.raises(audit.AuditError, match="32 bytes"):
        entry()


def test_an_embedded_installation_makes_its_key_on_first_use(db: None, settings: Any, tmp_path: Any) -> None:
    settings.AUDIT_KEYS = []
    settings.DATA = tmp_path
    first, second = entry(), entry()
    file = tmp_path / "keys" / "audit_key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert first.key_id == second.key_id == keys()[0].id


@pytest.mark.django_db
def test_what_is_rolled_back_leaves_neither_entry_nor_gap() -> None:
    entry()
    with transaction.atomic():
        entry()
        transaction.set_rollback(True)
    assert entry().sequence == 2


def test_deleting_a_team_and_a_person_changes_no_entry(team: Any, owner: User) -> None:
    entry(team_id=team.pk, actor=owner)
    before = list(AuditEntry.objects.order_by("sequence").values())
    assert before[-1]["team_name"] == "Databases"
    with guarded():
        User.objects.filter(pk=owner.pk).delete()
        team.delete()
        assert list(AuditEntry.objects.order_by("sequence").values())[: len(before)] == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE teams_auditentry SET subject = 'else' WHERE sequence = 1",
        "DELETE FROM teams_auditentry WHERE sequence = 1",
        "DELETE FROM teams_auditentry",
        "REPLACE INTO teams_auditentry SELECT * FROM teams_auditentry WHERE sequence = 1",
    ],
)
def test_the_database_refuses_to_change_or_delete_an_entry(statement: str) -> None:
    entry()
    with guarded():
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(statement)
        assert AuditEntry.objects.get().subject == "something"
        assert entry().sequence == 2
        assert audit_triggers.missing(connection) == set()


@pytest.mark.django_db
def test_that_the_database_guards_nothing_is_told_and_the_command_makes_it() -> None:
    (told,) = audit_checks.guarded_audit(None, databases=["default"])
    assert (told.id, "log_bin_trust_function_creators" in str(told.hint)) == ("teams.W002", True)
    try:
        call_command("guard_audit")
        assert audit_checks.guarded_audit(None, databases=["default"]) == []
    finally:
        audit_triggers.remove(connection)
    assert audit_checks.guarded_audit(None) == []


def test_an_account_that_may_not_make_triggers_is_told_what_it_takes(
    db: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit_triggers, "install", lambda connection: False)
    with pytest.raises(CommandError, match="TRIGGER privilege"):
        call_command("guard_audit")


@pytest.mark.parametrize(
    ("engine", "given", "expected"),
    [
        ("django.db.backends.mysql", [], ["teams.E008"]),
        ("django.db.backends.sqlite3", [], []),
        ("django.db.backends.mysql", ["short"], ["teams.E009"]),
        ("django.db.backends.mysql", ["a" * 43 + "="], []),
    ],
)
def test_machines_that_share_a_database_need_the_key(
    settings: Any, monkeypatch: pytest.MonkeyPatch, engine: str, given: list[str], expected: list[str]
) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", engine)
    settings.AUDIT_KEYS = given
    assert [one.id for one in audit_checks.audit_keys(None)] == expected
