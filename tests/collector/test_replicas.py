"""Replicas of a source: what they report, what the process list shows, and what is honest where both are silent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from advisor.journal.models import Event
from collector import replicas
from collector.connection import Rows, connect
from collector.errors import Denied, Unreachable
from collector.replicas import Replica, Told, merge
from collector.target import Target
from tests.servers import DISTRIBUTION_SERVER, start_server

MYSQL = ("8.0.36", "MySQL Community Server - GPL", "1")
MARIADB = ("10.11.6-MariaDB", "Debian", "0")
GRANTS = [
    ("GRANT PROCESS, REPLICATION CLIENT ON *.* TO `t`@`%`",),
    ("GRANT SELECT ON `performance_schema`.* TO `t`@`%`",),
]


class Answering:
    """A connection that answers by the beginning of what is asked."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        yield

    def __enter__(self) -> Answering:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def query(self, sql: str, **_: Any) -> Rows:
        self.asked.append(sql)
        answer = self.answers[sql]
        if isinstance(answer, Exception):
            raise answer
        columns, rows = answer
        return Rows(columns, rows, 0, 0.1)


def read(who: tuple[str, ...], show: Any, dumping: list[str], sql: str = replicas.THREADS) -> replicas.Answer:
    newer = who is MYSQL
    return replicas.read(
        Answering(  # type: ignore[arg-type]
            {
                replicas.WHO: (("a", "b", "c"), [who]),
                replicas.SHOW if newer else replicas.SHOW_BEFORE_8_0_22: show,
                "SHOW GRANTS": (("g",), GRANTS),
                sql: (("host",), [(host,) for host in dumping]),
            }
        )
    )


def test_a_replica_that_reports_itself_is_taken_at_its_word() -> None:
    columns = ("Server_Id", "Host", "Port", "Source_Id", "Replica_UUID")
    found = read(MYSQL, (columns, [("2", "db-2.example", "3307", "1", "u")]), ["10.0.0.2"])
    assert found.replicas == (Replica("db-2.example", 3307, True, True),)
    assert found.remarks == ()


def test_one_that_reports_nothing_is_found_by_who_reads_the_binary_log() -> None:
    columns = ("Server_id", "Host", "Port", "Master_id")
    found = read(MARIADB, (columns, [("2", "", "3310", "1")]), ["10.0.0.2:51234"], replicas.PROCESSLIST)
    assert found.replicas == (Replica("10.0.0.2", 3310, False, True),)


def test_without_the_right_to_list_replicas_ports_are_a_guess_and_it_is_said() -> None:
    found = read(MARIADB, Denied("denied"), ["10.0.0.2:51234", "[fe00::2]:4"], replicas.PROCESSLIST)
    assert found.replicas == (Replica("10.0.0.2", 3306, False, False), Replica("fe00::2", 3306, False, False))
    assert "a right that also reads all changes" in found.remarks[0]
    assert "a guess" in found.remarks[1]


def test_several_silent_replicas_on_several_machines_are_not_paired_by_luck() -> None:
    found, doubts = merge([Told("", 3306), Told("", 3307)], ["10.0.0.2", "10.0.0.3"])
    assert [one.sure_port for one in found] == [False, False]
    assert "2 replicas do not say where they are" in doubts[1]
    found, doubts = merge([Told("", 3306), Told("", 3307)], ["10.0.0.2", "10.0.0.2"])
    assert [(one.host, one.port, one.sure_port) for one in found] == [
        ("10.0.0.2", 3306, True),
        ("10.0.0.2", 3307, True),
    ]
    assert doubts == []


def test_a_reader_beyond_those_that_report_themselves_is_offered_with_doubt() -> None:
    found, doubts = merge([Told("db-2", 3306)], ["10.0.0.2", "10.0.0.9"])
    assert len(found) == 3
    assert "a backup or another program" in doubts[0]
    assert merge([Told("10.0.0.2", 3306)], ["10.0.0.2"]) == ([Replica("10.0.0.2", 3306, True, True)], [])
    assert merge([], []) == ([], [])


def test_hostile_answers_become_text() -> None:
    columns = ("Server_id", "Host", "Port", "Master_id")
    found = read(MARIADB, (columns, [("2", "a\x1b[31m\nb" * 99, "99999", "1")]), [], replicas.PROCESSLIST)
    assert "\x1b" not in found.replicas[0].host
    assert len(found.replicas[0].host) <= 255
    assert found.replicas[0].port == 3306


@pytest.mark.django_db
def test_asking_is_journaled_and_what_fails_is_in_the_answer(watched: Any, owner: Any) -> None:
    def dial(*_: Any, **__: Any) -> Any:
        raise Unreachable("no way")

    answer = replicas.ask(server=watched, actor=owner, dial=dial)
    assert "no way" in answer.failure
    assert Event.objects.get(kind="server.replicas_asked").actor == owner


@pytest.mark.ci
@pytest.mark.parametrize("reports", [True, False])
def test_a_real_source_tells_its_real_replica(reports: bool) -> None:
    from tests.servers.replication import replica_for, source_options

    with start_server(DISTRIBUTION_SERVER, options=source_options(DISTRIBUTION_SERVER)) as source:
        options: dict[str, str | None] = {"report_host": "127.0.0.1"} if reports else {}
        with replica_for(source, options=options) as replica:
            source.client_user("lister", "REPLICATION MASTER ADMIN, PROCESS, BINLOG MONITOR ON *.*")
            for user, password in (("lister", source.password), (source.user, source.password)):
                target = Target(
                    user=user, password=_secret(password), host="127.0.0.1", port=source.port, unrestricted=True
                )
                with connect(target) as connection:
                    found = replicas.read(connection)
                assert found.failure == ""
                assert [one.host for one in found.replicas] == ["127.0.0.1"], found
                if user == "lister":
                    assert [one.port for one in found.replicas] == [replica.port], found
                    assert found.remarks == ()


def _secret(text: str) -> Any:
    from collector.secret import Secret

    return Secret(text)
