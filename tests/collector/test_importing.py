"""Importing many servers: every line's verdict before anything is written, then all good ones in one transaction."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import pytest

from advisor.journal.models import Event
from advisor.recommendations.models import FleetRow
from collector import drafts, importing
from collector.importing import Defaults, Verdict
from collector.importing_checks import Resolved, size_of
from collector.models import Credential, Server, ServerState, Shard
from collector.secret import Secret
from collector.servers import SERVERS_PER_SHARD, target_of

pytestmark = pytest.mark.django_db


def plan(team: Any, text: str, *, unrestricted: bool = True, **defaults: Any) -> importing.Plan:
    return importing.plan(team=team, text=text, defaults=Defaults(**defaults), unrestricted=unrestricted)


def said(line: importing.Line) -> str:
    return " ".join(line.problems)


def test_a_dry_run_says_what_every_line_would_do_and_writes_nothing(team: Any, watched: Any) -> None:
    found = plan(
        team,
        "name,host,port,user,tags\n"
        "orders,10.0.0.1,3307,app,prod;eu\n"
        "other name,127.0.0.1,1,,\n"
        "Alpha,10.0.0.2,,,\n"
        ",10.0.0.1,99999,,\n",
        tags=("new",),
    )
    assert [(line.number, line.verdict) for line in found.lines] == [
        (2, Verdict.ADD),
        (3, Verdict.KNOWN),
        (4, Verdict.ERROR),
        (5, Verdict.ERROR),
    ]
    good = found.good[0].values
    assert (good["host"], good["port"], good["user"], good["tags"]) == ("10.0.0.1", 3307, "app", ["prod", "eu", "new"])
    assert found.known[0].known == watched
    assert "called alpha already, at 127.0.0.1:1" in said(found.lines[2])
    assert "no port" in said(found.lines[3])
    assert Server.objects.count() == 1


def test_what_is_confirmed_is_added_whole_with_password_state_row_and_event(team: Any, owner: Any) -> None:
    text = "name,host,password,memory,cpus,storage,write_latency_ms,tls\n"
    text += 'a,10.0.0.1," own,1 ",8G,4,ssd,0.4,insecure\nb,10.0.0.2,,,,,,\n'
    made = importing.write(team=team, plan=plan(team, text, password=Secret("for all")), actor=owner)
    assert [target_of(one).password.reveal() for one in made] == [" own,1 ", "for all"]
    facts = {name: fact["value"] for name, fact in made[0].host_facts.items()}
    assert facts == {"memory_bytes": 8 << 30, "cpus": 4, "storage": "ssd", "write_latency_microseconds": 400}
    assert [one.tls_mode for one in made] == ["insecure", "verify-identity"]
    assert ServerState.objects.filter(server__in=made, fast_slot=0).count() == 2
    assert FleetRow.objects.filter(server__in=made, state="new").count() == 2
    assert {(event.server_id, event.actor) for event in Event.objects.filter(kind="server.added")} == {
        (one.pk, owner) for one in made
    }


def test_one_name_taken_meanwhile_leaves_nothing_written(team: Any) -> None:
    found = plan(team, "name,host\na,10.0.0.1\nb,10.0.0.2\n")
    importing.write(team=team, plan=plan(team, "name,host\nB,10.0.0.9\n"))
    with pytest.raises(importing.Changed, match="Nothing was written"):
        importing.write(team=team, plan=found)
    assert [one.name for one in Server.objects.all()] == ["B"]
    assert Credential.objects.count() == 1


def test_names_and_addresses_are_unique_within_the_list_too(team: Any) -> None:
    found = plan(
        team,
        "name,host,port\na,10.0.0.1,\nA,10.0.0.2,\nb,10.0.0.1,3306\nc,10.0.0.1,3307\nd,DB1.example.test,\n"
        "e,db1.example.test.,\n",
    )
    assert [line.verdict.value for line in found.lines] == ["add", "error", "error", "add", "add", "error"]
    assert "Line 2 has the same name" in said(found.lines[1])
    assert "Line 2 has the same address" in said(found.lines[2])
    assert "Line 6 has the same address" in said(found.lines[5])


def test_a_list_that_was_imported_is_known_when_it_comes_again(team: Any) -> None:
    text = "url\nmysql://app@10.0.0.1:3306\nmysql://app@10.0.0.2:3307\n"
    importing.write(team=team, plan=plan(team, text))
    assert [one.name for one in Server.objects.order_by("host")] == ["10.0.0.1", "10.0.0.2:3307"]
    again = plan(team, text)
    assert [line.verdict for line in again.lines] == [Verdict.KNOWN, Verdict.KNOWN]
    assert importing.write(team=team, plan=again) == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("=HYPERLINK(1),10.0.0.1", "spreadsheet's formula (=)"),
        ("+cmd,10.0.0.1", "spreadsheet's formula (+)"),
        ("@SUM(A1),10.0.0.1", "spreadsheet's formula (@)"),
        ("a,-2+3", "spreadsheet's formula (-)"),
        ("a/b,10.0.0.1", "no / in it"),
        ("x" * 101 + ",10.0.0.1", "1 to 100 characters"),
        ("a,", "host is missing"),
        ("a,no host at all", "neither a host name"),
        ("a,169.254.169.254", "metadata"),
        ("a,metadata.google.internal", "metadata"),
    ],
)
def test_what_cannot_be_a_server_is_said_in_one_sentence(team: Any, line: str, sentence: str) -> None:
    found = plan(team, f"name,host\n{line}\n")
    assert found.lines[0].verdict is Verdict.ERROR
    assert sentence in said(found.lines[0])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("port: 0x10", "no port"),
        ("port: '٣٣٠٦'", "no port"),
        ("memory: much", "memory is no size"),
        ("cpus: -1", "cpus is no whole number"),
        ("storage: tape", "storage is neither"),
        ("write_latency_ms: NaN", "write_latency_ms is no number"),
        ("tls: maybe", "is no TLS mode"),
        ("tls: opportunistic", "loopback and sockets only"),
        ('name: "a\\0b"', "control character"),
        ('user: "a\\nb"', "control character"),
        ("url: mysql://u@h", "one or the other"),
    ],
)
def test_fields_that_are_wrong_name_themselves(team: Any, row: str, sentence: str) -> None:
    found = plan(team, f"- host: 10.0.0.1\n  {row}\n")
    assert found.lines[0].verdict is Verdict.ERROR
    assert sentence in said(found.lines[0])


def test_a_password_in_a_url_is_refused_and_not_repeated(team: Any) -> None:
    line = plan(team, "mysql://app:hunter2@10.0.0.1:3306\n").lines[0]
    assert "column password" in said(line)
    assert "hunter2" not in said(line) + line.address + line.name + repr(line)


def test_only_administrators_register_this_machine_and_other_ports(team: Any) -> None:
    text = "host,port,socket\n127.0.0.1,3306,\n10.0.0.1,22,\nlocalhost,,\n,,/run/mysqld/mysqld.sock\n"
    assert [line.verdict.value for line in plan(team, text, unrestricted=False).lines] == ["error"] * 4
    text = "name,host,port,socket\na,127.0.0.1,3306,\nb,10.0.0.1,22,\nd,,,/run/mysqld/mysqld.sock\n"
    assert [line.verdict.value for line in plan(team, text).lines] == ["add"] * 3


def test_names_of_other_teams_are_free(team: Any, other_team: Any) -> None:
    importing.write(team=other_team, plan=plan(other_team, "name,host\na,10.0.0.1\n"))
    assert plan(team, "name,host\na,10.0.0.1\n").good


def test_passwords_stay_out_of_logs_and_representations(team: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    found = plan(team, "host,password\n10.0.0.1,hunter2\nbad host,hunter2\n", password=Secret("hunter2"))
    importing.write(team=team, plan=found)
    assert "hunter2" not in caplog.text + repr(found) + str(found.lines) + repr(found.lines[1].given)


def test_two_thousand_servers_are_planned_and_written_and_spread_over_shards(team: Any) -> None:
    text = "name,host,password\n" + "".join(f"n{n},10.1.{n // 250}.{n % 250},p{n}\n" for n in range(2000))
    made = importing.write(team=team, plan=plan(team, text))
    assert len(made) == 2000
    assert sorted(shard.servers.count() for shard in Shard.objects.all()) == [SERVERS_PER_SHARD] * 8


def test_names_that_no_resolver_answers_cost_the_list_seconds_and_not_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    from collector import addresses
    from collector.errors import Unreachable

    answered = threading.Event()
    monkeypatch.setattr(addresses, "resolve", lambda host: answered.wait(60))
    began = time.monotonic()
    resolved = Resolved.ask([f"db{n}" for n in range(1000)], seconds=0.2)
    # Whoever waited for one single name would be a minute later.
    assert time.monotonic() - began < 30
    answered.set()
    with pytest.raises(Unreachable):
        resolved("db999")


@pytest.mark.parametrize(("text", "size"), [("8G", 8 << 30), ("512 MiB", 512 << 20), ("1.5g", 3 << 29), ("much", None)])
def test_sizes_are_read_as_people_write_them(text: str, size: int | None) -> None:
    assert size_of(text) == size


def test_a_draft_opens_for_its_person_and_purpose_and_for_an_hour(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = drafts.seal({"text": "비밀 secret" * 9}, person="7", purpose="import")
    assert "secret" not in sealed
    assert drafts.unseal(sealed, person="7", purpose="import") == {"text": "비밀 secret" * 9}
    for person, purpose, text in (
        ("8", "import", sealed),
        ("7", "add", sealed),
        ("7", "import", sealed[:-9]),
        ("7", "import", "é"),
    ):
        with pytest.raises(drafts.DraftLost):
            drafts.unseal(text, person=person, purpose=purpose)
    later = time.time() + drafts.SECONDS + 2
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(drafts.DraftLost, match="hour"):
        drafts.unseal(sealed, person="7", purpose="import")
