"""What is taken out of answers where they are read."""

from __future__ import annotations

import pytest

from collector import redaction
from collector.numbers import number


@pytest.mark.parametrize(
    "name",
    ["wsrep_sst_auth", "report_password", "init_connect", "init_slave", "init_replica", "keyring_vault_config",
     "authentication_ldap_simple_bind_root_pwd", "hashicorp_key_management_token", "mysqlx_ssl_key_password"],
)  # fmt: skip
def test_secrets_are_redacted_by_name(name: str) -> None:
    assert redaction.variable(name, "canary") == redaction.REDACTED
    assert redaction.variable(name.upper(), "canary") == redaction.REDACTED
    assert redaction.variable(name, "") == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("innodb_log_file_size", "100663296"),
        ("default_password_lifetime", "0"),
        ("validate_password_policy", "MEDIUM"),
        ("secure_file_priv", "/tmp"),
        ("sql_mode", "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"),
        ("optimizer_switch", "mrr=on,mrr_cost_based=off"),
        ("ssl_key", "/etc/mysql/key.pem"),
    ],
)
def test_what_is_no_secret_stays(name: str, value: str) -> None:
    assert redaction.variable(name, value) == value


def test_secrets_inside_urls_and_option_lists_are_redacted() -> None:
    assert redaction.text("http://bob:canary@proxy:3128/x") == "http://bob:<redacted>@proxy:3128/x"
    assert "canary" not in redaction.text("socket.ssl=yes;socket.ssl_password=canary; gcs.fc_limit=16")
    assert "gcs.fc_limit=16" in redaction.text("socket.ssl_password=canary; gcs.fc_limit=16")


@pytest.mark.parametrize(
    "line",
    [
        "GRANT USAGE ON *.* TO `a`@`%` IDENTIFIED BY PASSWORD '*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9'",
        "GRANT PROCESS ON *.* TO `a`@`%` IDENTIFIED VIA ed25519 USING 'canaryhash' REQUIRE SSL WITH MAX_QUERIES 2",
    ],
)
def test_hashes_are_not_kept_with_grants(line: str) -> None:
    kept = redaction.grant(line)
    assert "*6BB4" not in kept
    assert "canaryhash" not in kept
    assert kept.startswith("GRANT ")
    assert ("REQUIRE SSL" in kept) == ("REQUIRE SSL" in line)


@pytest.mark.parametrize(
    ("text", "value"),
    [("17", 17), ("-1", -1), ("18446744073709551615", 2**64 - 1), ("0.25", 0.25), ("1e3", 1000.0),
     ("18446744073709551616", None), ("9" * 26, None), ("nan", None), ("inf", None), ("", None), ("ON", None),
     ("1_000", None), ("٣", None), ("0x10", None)],
)  # fmt: skip
def test_only_what_a_counter_can_hold_is_a_number(text: str, value: float | None) -> None:
    assert number(text) == value
