"""Accounts, addresses and certificates: what counts as open, what never does, and what may be told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from advisor.engine.evaluation import judge
from advisor.engine.facts.security import Account, everywhere, reachable
from advisor.engine.outcome import Finding, NotApplicable, NotEvaluated, Outcome, Passed, Severity
from advisor.engine.scene import inspected, scene
from advisor.mysql.inspection import Inspection, Row
from advisor.mysql.snapshot import ProbeResult, ProbeState, Remedy, RemedyKind
from advisor.mysql.version import Distribution
from advisor.rules import all_rules, rule_by_id

SECURITY = [rule for rule in all_rules() if rule.topic == "security"]
OF_ACCOUNTS = [rule for rule in SECURITY if any(kind.basis.value == "inspected" for kind in rule.needs.values())]
_WITHOUT = {"has_password": "0"}


def account(user: str, host: str, **columns: str | None) -> Row:
    row: dict[str, str | None] = {"user": user, "host": host, "plugin": "mysql_native_password", "has_password": "1"}
    return {**row, "administrator": "0", "locked": "0", "is_role": "0", "tls": "", **columns}


def said(rule: str, accounts: list[Row], variables: Mapping[str, object] | None = None, named: str = "") -> Outcome:
    seen = scene(named or "mariadb 10.11.18", variables, inspection=inspected(accounts=accounts))
    return judge(seen, [rule_by_id(rule)], strict=True).outcome(rule)


@pytest.mark.parametrize(
    ("addresses", "open_", "all_of_them"),
    [
        ("", True, True),
        ("*", True, True),
        ("0.0.0.0", True, True),
        ("::", True, True),
        ("10.1.2.3", True, False),
        ("db1.example.com", True, False),
        ("127.0.0.1", False, False),
        ("::1", False, False),
        ("[::1]", False, False),
        ("LOCALHOST", False, False),
        ("127.0.0.1,::1", False, False),
        ("127.0.0.1/blue", False, False),
        ("127.0.0.1,10.1.2.3", True, False),
        ("127.0.0.1,*", True, True),
    ],
)
def test_an_address_is_open_unless_it_is_written_as_loopback(addresses: str, open_: bool, all_of_them: bool) -> None:
    assert reachable(addresses) is open_
    assert everywhere(addresses) is all_of_them


@pytest.mark.parametrize(
    ("host", "local", "anywhere", "by_name"),
    [
        ("localhost", True, False, False),
        ("127.0.0.1", True, False, False),
        ("::1", True, False, False),
        ("%", False, True, False),
        ("", False, True, False),
        ("%.%", False, True, False),
        ("0.0.0.0/0", False, True, False),
        ("0.0.0.0/0.0.0.0", False, True, False),
        ("::/0", False, True, False),
        ("10.1.%", False, False, False),
        ("10.1.0.0/255.255.0.0", False, False, False),
        ("198.51.100.0/24", False, False, False),
        ("fe80::%", False, False, False),
        ("web1.example.com", False, False, True),
        ("%.example.com", False, False, True),
    ],
)
def test_a_host_is_local_anywhere_a_network_or_a_name(host: str, local: bool, anywhere: bool, by_name: bool) -> None:
    one = Account("app", host, "", has_password=True, tls="", administrator=False)
    assert (one.local, one.anywhere, one.by_name) == (local, anywhere, by_name)


@pytest.mark.parametrize("rule", OF_ACCOUNTS, ids=lambda rule: rule.id)
def test_accounts_of_the_server_itself_roles_and_locked_accounts_are_never_found(rule: object) -> None:
    weak: dict[str, str | None] = {**_WITHOUT, "administrator": "1", "plugin": "mysql_old_password"}
    harmless = [
        *(account(f"mysql.{name}", "localhost", **weak) for name in ("sys", "session", "infoschema")),
        account("mariadb.sys", "localhost", **weak),
        *(account(f"role{number}", "", **weak | {"is_role": "1"}) for number in range(7)),
        *(account(f"gone{number}", "web.example.com", **weak | {"locked": "1"}) for number in range(7)),
        account("", "%", **weak | {"locked": "1"}),
        account("root", "localhost", plugin="unix_socket", has_password=None, administrator="1"),
        account("root", "127.0.0.1", plugin="auth_socket", has_password=None, administrator="1"),
    ]
    identity = str(getattr(rule, "id", ""))
    variables = {"have_ssl": "YES", "skip_name_resolve": "ON"}
    for server in ("mysql 8.4.3", "mariadb 10.11.18"):
        assert isinstance(said(identity, harmless, variables, server), Passed)


def test_ten_accounts_are_named_and_the_others_counted_in_one_finding() -> None:
    outcome = said("security.accounts-from-anywhere", [account(f"app{number:02}", "%") for number in range(14)])
    assert isinstance(outcome, Finding)
    (item,) = outcome.items
    told = {figure.name: figure.value for figure in item.evidence}
    assert told["accounts from any host"] == 14
    assert str(told["accounts"]).endswith("app09@%, and 4 more")
    assert str(told["accounts"]).count("@") == 10


def test_no_control_character_of_a_name_reaches_a_reader() -> None:
    outcome = said("security.passwordless-accounts", [account("a\x1b[2Jb\nc", "%", **_WITHOUT)])
    assert isinstance(outcome, Finding)
    text = str(outcome.items[0].evidence) + str(outcome.items[0].proposal)
    assert "\\x1b" not in text
    assert "a?[2Jb?c" in text


def test_a_name_with_quotes_stays_one_name_in_a_statement() -> None:
    outcome = said("security.passwordless-accounts", [account("o'neil", "10.1.%", **_WITHOUT)])
    assert isinstance(outcome, Finding)
    assert "DROP USER 'o''neil'@'10.1.%'" in str(outcome.items[0].proposal)


def test_without_a_password_is_worse_from_elsewhere_than_from_the_machine_itself() -> None:
    for host, severity in (("localhost", Severity.WARNING), ("10.1.%", Severity.CRITICAL)):
        seen = scene("mysql 8.0.33", inspection=inspected(accounts=[account("report", host, **_WITHOUT)]))
        (found,) = judge(seen, [rule_by_id("security.passwordless-accounts")], strict=True).recommendations
        assert found.severity is severity


@pytest.mark.parametrize("rule", OF_ACCOUNTS, ids=lambda rule: rule.id)
def test_without_the_grant_it_is_told_and_nothing_passes(rule: object) -> None:
    identity = str(getattr(rule, "id", ""))
    grant = Remedy(RemedyKind.GRANT, "accounts", "GRANT SELECT ON mysql.global_priv TO 'observer'@'%'")
    refused = ProbeResult("accounts", ProbeState.FAILED, reason="denied", remedy=grant)
    for inspection in (None, Inspection(0.0, "example", probes=(refused,))):
        seen = scene("mariadb 10.11.18", {"have_ssl": "YES"}, inspection=inspection)
        outcome = judge(seen, [rule_by_id(identity)], strict=True).outcome(identity)
        assert isinstance(outcome, NotEvaluated)
        assert (grant in outcome.missing) == (inspection is not None)


def test_who_administrates_is_not_told_where_half_of_the_rights_could_not_be_read() -> None:
    outcome = said("security.administrators-from-anywhere", [account("app", "%", administrator=None)])
    assert isinstance(outcome, NotEvaluated)


@pytest.mark.parametrize("rule", ["security.administrators-from-anywhere", "security.accounts-from-anywhere"])
def test_a_server_that_a_cloud_runs_is_guarded_by_the_clouds_own_network_rules(rule: str) -> None:
    rows = [account("admin", "%", administrator="1"), account("app", "%")]
    ours = scene("mysql 8.0.33", inspection=inspected(accounts=rows))
    version = replace(ours.server, distribution=Distribution.RDS)
    snapshot = replace(ours.snapshot, identity=replace(ours.snapshot.identity, version=version))
    assert isinstance(judge(ours, [rule_by_id(rule)], strict=True).outcome(rule), Finding)
    theirs = replace(ours, snapshot=snapshot)
    assert isinstance(judge(theirs, [rule_by_id(rule)], strict=True).outcome(rule), NotApplicable)


@pytest.mark.parametrize(
    ("printed", "today", "kind", "severity"),
    [
        ("Dec  1 09:00:00 2026 GMT", "2026-10-31", Passed, None),
        ("Dec  1 09:00:00 2026 GMT", "2026-11-01", Finding, Severity.WARNING),
        ("Dec  1 09:00:00 2026 GMT", "2026-12-01", Finding, Severity.WARNING),
        ("Dec  1 09:00:00 2026 GMT", "2026-12-02", Finding, Severity.CRITICAL),
        ("soon", "2026-12-02", NotEvaluated, None),
        ("", "2026-12-02", NotEvaluated, None),
    ],
)
def test_a_certificate_is_judged_by_the_day(printed: str, today: str, kind: type, severity: Severity | None) -> None:
    rule = rule_by_id("security.certificate-expiring")
    seen = scene("mariadb 11.8.6", {"have_ssl": "YES"}, status={"Ssl_server_not_after": printed}, today=today)
    judgement = judge(seen, [rule], strict=True)
    assert isinstance(judgement.outcome(rule.id), kind)
    assert [one.severity for one in judgement.recommendations] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("server", "words"),
    [("mysql 8.0.33", "RELOAD TLS"), ("mysql 8.0.12", "restart"), ("mariadb 10.11.18", "FLUSH SSL")],
)
def test_a_new_certificate_is_loaded_as_the_version_can(server: str, words: str) -> None:
    rule = rule_by_id("security.certificate-expiring")
    soon = {"Ssl_server_not_after": "Dec  1 09:00:00 2026 GMT"}
    seen = scene(server, {"have_ssl": "YES", "tls_version": "TLSv1.2"}, status=soon, today="2026-11-20")
    outcome = judge(seen, [rule], strict=True).outcome(rule.id)
    assert isinstance(outcome, Finding)
    assert words in str(outcome.items[0].proposal)


def test_a_server_that_only_its_own_machine_reaches_hears_nothing_of_networks() -> None:
    rows = [account("app", "%"), account("root", "%", administrator="1")]
    for server in ("mysql 5.7.22", "mysql 8.0.33", "mariadb 10.11.18"):
        seen = scene(
            server,
            {"bind_address": "127.0.0.1", "mysqlx_bind_address": "127.0.0.1", "have_ssl": "DISABLED"}
            | {"secure_file_priv": "", "tls_version": "TLSv1,TLSv1.2"},
            inspection=inspected(accounts=rows),
        )
        found = {one.rule for one in judge(seen, SECURITY, strict=True).recommendations}
        assert found <= {"security.weak-authentication-plugins"}
