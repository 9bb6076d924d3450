"""The step machine: all, none, or the exact truth; and nothing overwritten that is not what was approved."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Sequence

import pytest
from celery.signals import worker_process_init

import advisor.changes.tasks  # noqa: F401 -- what listens to the signal
from advisor.changes.applying.grammar import NotOurs, check, parse
from advisor.changes.applying.machine import Done, LinkLost, Machine, Step
from advisor.changes.applying.wording_around import guard_load
from advisor.mysql.version import identify
from tests.changes.applying_fakes import DiesAt, Kept, Killed, server, steps

SERVER = identify("10.11.19-MariaDB", "", variables={})


def test_all_steps_are_written_down_before_they_are_sent_and_read_back() -> None:
    fake, kept = server(), Kept()
    seen: list[int] = []
    real = fake.execute

    def counted(statement: str) -> Sequence[str]:
        seen.append(len(kept.rows))
        return real(statement)

    fake.execute = counted  # type: ignore[method-assign]
    end = Machine(fake, kept).apply(steps())
    assert end.state == "applied"
    assert seen == [1, 2, 3, 4, 5, 6], "each statement had its row before it, and one row only"
    assert kept.states == ["done"] * 6
    assert fake.values == {f"v{n}": str(200 * n) for n in range(1, 7)}
    assert all(window is not None and window >= 0 for window in kept.windows)
    assert kept.holds == 6


def test_the_fourth_of_six_fails_and_the_three_before_are_taken_back_last_first() -> None:
    fake, kept = server(), Kept()
    fake.refuses["v4"] = "400"
    end = Machine(fake, kept).apply(steps())
    assert end.state == "failed"
    assert end.said["kind"] == "refused"
    assert end.said["after"]["kind"] == "undone"
    assert fake.values == server().values
    assert fake.sent[4:] == ["SET GLOBAL `v3` = 300", "SET GLOBAL `v2` = 200", "SET GLOBAL `v1` = 100"]
    assert kept.marks == {3: "undone", 2: "undone", 1: "undone"}
    assert [row.undoes for row in kept.rows] == [None, None, None, None, 3, 2, 1]


def test_a_value_that_the_server_clamps_is_told_and_taken_back() -> None:
    fake, kept = server(), Kept()
    fake.made_of["v2"] = lambda value: str(min(int(value), 250))
    end = Machine(fake, kept).apply(steps())
    assert end.state == "failed"
    assert end.said["kind"] == "different"
    assert end.said["values"]["found"]["value"] == "250"
    assert kept.states[:2] == ["done", "different"]
    assert fake.values == server().values


def test_two_spellings_of_one_value_are_no_difference() -> None:
    fake, kept = server(1), Kept()
    fake.made_of["v1"] = lambda value: f"{float(value):.6f}"
    assert Machine(fake, kept).apply(steps(count=1)).state == "applied"


def test_a_value_that_moved_since_the_approval_is_refused_before_anything_is_sent() -> None:
    fake, kept = server(), Kept()
    fake.values["v5"] = "777"
    end = Machine(fake, kept).apply(steps())
    assert end.state == "failed"
    assert {name: value["value"] for name, value in end.said["values"].items()} == {
        "variable": "v5", "old": "500", "new": "1000", "live": "777",
    }  # fmt: skip
    assert fake.sent == []
    assert kept.rows == []


def test_a_value_that_moves_while_it_is_applied_is_left_and_what_was_ours_is_taken_back() -> None:
    fake, kept = server(), Kept()
    reads = {"v3": 0}

    def somebody(variable: str) -> None:
        if variable == "v3":
            reads["v3"] += 1
            if reads["v3"] == 2:  # the last look, right before the SET
                fake.values["v3"] = "777"

    fake.before_read = somebody
    end = Machine(fake, kept).apply(steps())
    assert end.state == "failed"
    assert end.said["kind"] == "moved"
    assert fake.values == {**server().values, "v3": "777"}, "the other hand's value stays"
    assert not any("v3" in statement for statement in fake.sent)


def test_what_somebody_else_set_meanwhile_is_not_overwritten_by_the_way_back() -> None:
    fake, kept = server(), Kept()
    fake.refuses["v4"] = "400"

    def somebody(variable: str) -> None:
        if variable == "v4" and fake.values["v2"] == "400":
            fake.values["v2"] = "999"

    fake.before_read = somebody
    end = Machine(fake, kept).apply(steps())
    assert end.state == "needs_attention"
    assert end.left == ("v2 = 999",)
    assert fake.values == {**server().values, "v2": "999"}
    assert kept.marks == {3: "undone", 2: "left", 1: "undone"}


def test_another_server_behind_the_address_gets_nothing() -> None:
    fake, kept = server(), Kept()
    fake.identity = ["The server_uuid is another one."]
    assert Machine(fake, kept).apply(steps()).said["kind"] == "another-server"
    assert Machine(fake, kept).roll_back([Done(1, steps()[0], "200")]).state == "failed"
    assert fake.sent == []


def test_an_address_that_spreads_statements_over_servers_gets_nothing() -> None:
    fake, kept = server(), Kept()
    fake.links = [True, False]
    assert Machine(fake, kept).apply(steps()).said["kind"] == "several-servers"
    assert fake.sent == []


def test_another_server_at_the_end_needs_a_person() -> None:
    fake, kept = server(1), Kept()
    real = fake.execute

    def swapped(statement: str) -> object:
        fake.identity = ["The server_uuid is another one."]
        return real(statement)

    fake.execute = swapped  # type: ignore[assignment]
    assert Machine(fake, kept).apply(steps(count=1)).state == "needs_attention"


def test_a_guard_stops_it_before_the_first_row() -> None:
    fake, kept = server(), Kept()
    end = Machine(fake, kept, guard=lambda: guard_load(200, 64)).apply(steps())
    assert (end.state, end.said["kind"], fake.sent, kept.rows) == ("failed", "guard-load", [], [])


@pytest.mark.parametrize("kept_before", [None, "150"])
def test_what_was_persisted_before_is_persisted_again_after_the_way_back(kept_before: str | None) -> None:
    fake, kept = server(1), Kept()
    step = steps(persist=True, count=1)[0]
    if kept_before is not None:
        fake.kept["v1"] = kept_before
        step = Step(
            step.variable, step.statement, step.old, step.new, ("SET PERSIST `v1` = 150", "SET GLOBAL `v1` = 100")
        )
    before = dict(fake.kept)
    assert Machine(fake, kept).apply([step]).state == "applied"
    assert fake.kept == {"v1": "200"}
    assert kept.rows[0].persisted_before == kept_before
    assert Machine(fake, kept).roll_back([Done(1, step, "200")]).state == "undone"
    assert (fake.kept, fake.values) == (before, {"v1": "100"})


def test_what_is_persisted_is_compared_with_what_was_approved() -> None:
    fake, kept = server(1), Kept()
    fake.kept["v1"] = "150"
    assert Machine(fake, kept).apply(steps(persist=True, count=1)).said["kind"] == "moved"
    assert fake.sent == []


def test_a_way_back_that_somebody_went_already_sends_nothing() -> None:
    fake, kept = server(), Kept()
    end = Machine(fake, kept).roll_back([Done(n, step, step.new) for n, step in enumerate(steps(), 1)])
    assert (end.state, fake.sent) == ("undone", [])


def test_a_process_that_dies_anywhere_leaves_a_row_for_each_statement_that_was_sent() -> None:
    calls = DiesAt(0)
    fake, kept = server(), Kept()
    fake.ticks = kept.ticks = calls
    fake.refuses["v4"] = "400"
    Machine(fake, kept).apply(steps())
    assert calls.calls > 40
    for number in range(1, calls.calls + 1):
        fake, kept = server(), Kept()
        fake.ticks = kept.ticks = DiesAt(number)
        fake.refuses["v4"] = "400"
        with pytest.raises(Killed):
            Machine(fake, kept).apply(steps())
        assert fake.sent == [row.statement for row in kept.rows][: len(fake.sent)]
        assert len(kept.rows) - len(fake.sent) in (0, 1), "at most the last row has no statement"
        for name, value in fake.values.items():
            n = int(name[1:])
            assert value in (str(100 * n), str(200 * n)), "old or new, nothing else"


def test_a_broken_link_is_no_refusal_and_is_not_tried_again() -> None:
    fake, kept = server(), Kept()
    dies = DiesAt(30, LinkLost)
    fake.ticks = dies
    with pytest.raises(LinkLost):
        Machine(fake, kept).apply(steps())
    assert len(fake.sent) == len(set(fake.sent))


_PIECES = [
    "SET GLOBAL `innodb_io_capacity` = 700", ";", " ", "\n", "--", "/*", "*/", "'", '"', "`", "\\", "\x00", "％", "＇",
    "DROP TABLE t", "SET", "GLOBAL", "PERSIST", "PERSIST_ONLY", "SESSION", "innodb_io_capacity", "init_connect",
    "=", "1", "ON", "@@GLOBAL.x", "general_log_file", "'/etc/passwd'", "SLEEP(5)", "ı", "K", "RESET PERSIST", "DEFAULT",
    "RESET PERSIST IF EXISTS `innodb_io_capacity`", ",", "`sync_binlog`", "LOAD DATA", "0x1F", "1e9", "\u202e",
]  # fmt: skip


def test_five_thousand_hostile_statements_are_not_ours() -> None:
    chance = random.Random(7)
    # Pieces that happen to make a longer number make a statement that is ours, too.
    ours = re.compile(r"SET GLOBAL `innodb_io_capacity` = 7001*|RESET PERSIST IF EXISTS `innodb_io_capacity`")
    passed = set()
    for _ in range(5_000):
        text = "".join(chance.choice(_PIECES) for _ in range(chance.randint(1, 8)))
        try:
            check(text, SERVER)
        except NotOurs:
            continue
        passed.add(text)
    assert all(ours.fullmatch(text) for text in passed), passed


@pytest.mark.parametrize(
    "text",
    [
        "SET GLOBAL `init_connect` = 'x'",
        "SET GLOBAL `read_only` = ON",
        "SET GLOBAL `general_log_file` = '/tmp/x'",
        "SET GLOBAL `innodb_buffer_pool_instances` = 8",
        "SET GLOBAL `no_such_variable` = 1",
        "SET GLOBAL `innodb_io_capacity` = 700\n",
        "SET GLOBAL `innodb_io_capacity` = '1' -- '",
        "SET SESSION `sort_buffer_size` = 1",
    ],
)
def test_what_is_never_changed_is_refused_once_more_before_it_is_sent(text: str) -> None:
    with pytest.raises(NotOurs):
        check(text, SERVER)


def test_what_is_ours_is_taken_apart() -> None:
    told = parse("SET PERSIST `innodb_flush_method` = 'O_DIRECT'")
    assert (told.scope, told.variable, told.value) == ("PERSIST", "innodb_flush_method", "O_DIRECT")
    assert check("SET GLOBAL `innodb_max_dirty_pages_pct` = 75.5", SERVER).value == "75.5"


def test_a_child_of_the_applying_worker_is_not_ended_in_the_middle_by_the_stop_of_everything() -> None:
    before = signal.getsignal(signal.SIGTERM)
    try:
        worker_process_init.send(sender=None)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
