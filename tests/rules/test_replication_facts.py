"""How channels are read, whatever words a version has for them; and what is missing where they could not be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.galera import ClusterNode
from advisor.engine.facts.replication import Channels, channel_row
from advisor.engine.outcome import Finding, Missing, NotApplicable, NotEvaluated
from advisor.engine.scene import scene
from advisor.mysql.snapshot import ProbeResult, ProbeState, Remedy, RemedyKind
from advisor.mysql.version import identify
from advisor.rules import rule_by_id
from collector import redaction

OLD = {
    "channel_name": "",
    "master_host": "db1",
    "master_port": "3306",
    "slave_io_running": "Yes",
    "slave_sql_running": "No",
    "seconds_behind_master": None,
    "last_sql_errno": "1062",
    "auto_position": "0",
    "replicate_do_db": "shop",
}


def test_older_words_for_columns_are_read_as_the_newer_ones() -> None:
    [channel] = Channels.read(scene("mysql 5.7.22", role="replica", replication=[OLD])).channels
    assert (channel.source, channel.sql_running, channel.behind_seconds) == ("db1:3306", "No", None)
    assert (channel.sql_errno, channel.by_gtid) == (1062, False)
    assert channel.filters == (("replicate_do_db", "shop"),)


@pytest.mark.parametrize(("told", "used"), [("No", False), ("Slave_Pos", True), ("Current_Pos", True)])
def test_mariadb_says_in_a_word_whether_gtids_are_used(told: str, used: bool) -> None:
    seen = scene("mariadb 10.11.18", role="replica", replication=[{**OLD, "using_gtid": told}])
    assert Channels.read(seen).channels[0].by_gtid is used


def test_the_channels_of_a_group_are_none_of_a_replica() -> None:
    rows = [channel_row(channel_name="group_replication_applier"), channel_row(channel_name="east")]
    names = [one.name for one in Channels.read(scene("mysql 8.0.33", role="replica", replication=rows)).channels]
    assert names == ["east"]


def test_without_the_grant_no_rule_says_that_all_is_well_with_replication() -> None:
    remedy = Remedy(RemedyKind.GRANT, "replication", "GRANT REPLICATION CLIENT ON *.* TO 'a'@'b'")
    refused = ProbeResult("replication", ProbeState.FAILED, reason="denied", remedy=remedy)
    seen = scene("mysql 8.0.33", role="unknown", probes=[refused])
    with pytest.raises(Missing):
        Channels.read(seen)
    for rule in ("replication.replica-stopped", "replication.replica-writable"):
        assert judge(seen, [rule_by_id(rule)], strict=True).outcome(rule) == NotEvaluated((remedy,))


def test_who_removes_the_files_of_a_managed_servers_log_is_its_provider() -> None:
    rule = rule_by_id("binlog.retention-unbounded")
    seen = scene("mysql 5.7.22", {"log_bin": "ON"})
    managed = identify("5.7.44-log", "MySQL Community Server (GPL)", variables={"basedir": "/rdsdbbin/mysql-5.7.44/"})
    there = replace(seen, snapshot=replace(seen.snapshot, identity=replace(seen.snapshot.identity, version=managed)))
    assert managed.distribution.managed
    assert isinstance(judge(seen, [rule], strict=True).outcome(rule.id), Finding)
    assert isinstance(judge(there, [rule], strict=True).outcome(rule.id), NotApplicable)


def test_two_channels_that_stopped_are_two_recommendations() -> None:
    rows = [
        channel_row(channel_name="east", replica_sql_running="No", last_sql_errno=1032),
        channel_row(channel_name="west", replica_io_running="No", last_io_errno=1236),
    ]
    rule = rule_by_id("replication.replica-stopped")
    outcome = judge(scene("mysql 8.0.33", role="replica", replication=rows), [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Finding)
    assert [item.subject for item in outcome.items] == ["east", "west"]


@pytest.mark.parametrize(
    ("text", "size"), [("128M", 128 << 20), ("1G", 1 << 30), ("1048576", 1 << 20), ("", 0), ("much", 0)]
)
def test_sizes_of_the_provider_are_read_with_their_units(text: str, size: int) -> None:
    options = f"base_port = 4567; gcache.size = {text}; gcs.fc_limit = 16; "
    seen = scene("mariadb 10.11.18", {"wsrep_on": "ON", "wsrep_provider_options": options})
    assert ClusterNode.read(seen).size_bytes("gcache.size") == size


def test_of_the_providers_options_sizes_stay_and_keys_and_passwords_go() -> None:
    options = (
        "gcache.size = 128M; gcs.fc_limit = 16; socket.ssl_key = /etc/key.pem; socket.ssl_password_file = /etc/pw; "
        "gcache.dir = /data; repl.max_ws_size = 2147483647; evil.gcache.size = s3cret; pc.weight = 1"
    )
    kept = redaction.variable("wsrep_provider_options", options)
    assert "gcache.size = 128M" in kept
    assert "pc.weight = 1" in kept
    for secret in ("key.pem", "/etc/pw", "s3cret", "/data"):
        assert secret not in kept
    assert redaction.variable("wsrep_provider_options", "") == ""
