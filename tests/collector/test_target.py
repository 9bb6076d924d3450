"""Where a server is, as people write it."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from collector.errors import BadTarget
from collector.secret import Secret
from collector.target import Target, from_url, parse_url, read_defaults_group


@pytest.mark.parametrize(
    ("url", "user", "host", "port", "socket"),
    [
        ("mysql://watch@db1.example.test:3307", "watch", "db1.example.test", 3307, ""),
        ("mysql://watch@db1", "watch", "db1", 3306, ""),
        ("mariadb://watch@db1", "watch", "db1", 3306, ""),
        ("mysql://us%40er@10.0.0.5", "us@er", "10.0.0.5", 3306, ""),
        ("mysql://watch@[::1]:3308", "watch", "::1", 3308, ""),
        ("mysql://watch@[fe00::5]", "watch", "fe00::5", 3306, ""),
        ("mysql://watch@/run/mysqld/mysqld.sock", "watch", "", 3306, "/run/mysqld/mysqld.sock"),
        ("mysql://watch@/tmp/a%20b", "watch", "", 3306, "/tmp/a b"),
        ("mysql://db1:3307/", "", "db1", 3307, ""),
    ],
)
def test_a_url_says_where_and_who(url: str, user: str, host: str, port: int, socket: str) -> None:
    address = parse_url(url)
    assert (address.user, address.host, address.port, address.socket) == (user, host, port, socket)


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("postgres://a@b", "begins with mysql://"),
        ("mysql://a:secret@b", "holds a password"),
        ("mysql://a@b/schema", "names no schema"),
        ("mysql://a@b:99999", "no number from 1 to 65535"),
        ("mysql://a@b:0", "no port"),
        ("mysql://a@b?local_infile=1", "has no ?"),
        ("mysql://a@", "host is missing"),
        ("mysql://a@b;c", "neither a host name nor an address"),
        ("mysql://a@1.2.3", "neither a host name nor an address"),
        ("mysql://a@0x7f000001", "neither a host name nor an address"),
        ("mysql://a@[fe80::1%25eth0]", "zone"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_in_one_sentence(url: str, part: str) -> None:
    with pytest.raises(BadTarget) as caught:
        from_url(url)
    assert part in str(caught.value)
    assert "secret" not in str(caught.value)


def test_over_a_network_the_certificate_is_verified_unless_somebody_says_otherwise() -> None:
    assert from_url("mysql://a@db1.example.test").tls_mode == "verify-identity"
    assert from_url("mysql://a@10.1.2.3").tls_mode == "verify-identity"
    assert from_url("mysql://a@127.0.0.1").tls_mode == "opportunistic"
    assert from_url("mysql://a@localhost").tls_mode == "opportunistic"
    assert from_url("mysql://a@/tmp/s").tls_mode == "opportunistic"
    with pytest.raises(BadTarget):
        from_url("mysql://a@db1.example.test", tls_mode="opportunistic")


def test_a_secret_does_not_tell_itself() -> None:
    secret = Secret("canary-4711")
    target = Target(user="a", host="db1", password=secret)
    for text in (repr(secret), str(secret), f"{secret}", f"{secret:>20}", repr(target), str(target), repr([target])):
        assert "canary" not in text
    with pytest.raises(TypeError):
        pickle.dumps(target)
    with pytest.raises(TypeError):
        json.dumps(secret)
    assert secret.reveal() == "canary-4711"
    assert secret == Secret("canary-4711")
    assert secret != Secret("other")


def test_a_group_of_the_option_file_gives_the_account(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text(
        '!includedir /nowhere\n[client]\nuser=x\n[watch]\n# a comment\nuser = watcher\npassword="p=w\'d"\nhost-name=h\n'
    )
    group = read_defaults_group("watch", path)
    assert group["user"] == "watcher"
    assert group["password"] == "p=w'd"
    assert group["host_name"] == "h"
    with pytest.raises(BadTarget):
        read_defaults_group("other", path)
    with pytest.raises(BadTarget):
        read_defaults_group("watch", tmp_path / "none.cnf")


def test_a_password_file_is_read_to_the_end_of_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text(" pass word \nmore\n")
    assert from_url("mysql://a@127.0.0.1", password_file=str(path)).password.reveal() == " pass word "
    path.write_text("")
    with pytest.raises(BadTarget) as caught:
        from_url("mysql://a@127.0.0.1", password_file=str(path))
    assert "empty" in str(caught.value)
