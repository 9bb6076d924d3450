"""Which addresses are dialled, and for whom."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest

from collector import addresses
from collector.errors import AddressDenied, NameUnknown
from collector.target import Target


def target(host: str = "", *, unrestricted: bool = False, **values: Any) -> Target:
    return Target(user="a", host=host, unrestricted=unrestricted, **{"tls_mode": "insecure", **values})


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::", "169.254.7.7", "fe80::1", "224.0.0.1", "ff02::1",
    "::ffff:127.0.0.1",
     "2002:7f00:1::", "64:ff9b::7f00:1", "240.0.0.1", "127.8.9.1"],
)  # fmt: skip
def test_others_than_administrators_cannot_reach_this_machine_or_its_link(host: str) -> None:
    with pytest.raises(AddressDenied):
        addresses.check(target(host))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.5"])
def test_administrators_can_register_loopback_and_any_port(host: str) -> None:
    checked = addresses.check(target(host, unrestricted=True, port=13306))
    assert checked.dial in {"127.0.0.1", "::1", "10.0.0.5"}


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "fd00:ec2::254",
        "metadata.google.internal",
        "metadata",
        "100.100.100.200",
    ],
)
@pytest.mark.parametrize("unrestricted", [False, True])
def test_nobody_reaches_a_metadata_service(host: str, unrestricted: bool) -> None:
    with pytest.raises(AddressDenied):
        addresses.check(target(host, unrestricted=unrestricted))


def test_private_networks_are_allowed_unless_others_are_named(settings: Any) -> None:
    assert addresses.check(target("10.1.2.3")).dial == "10.1.2.3"
    settings.ALLOWED_TARGET_NETWORKS = ["192.168.7.0/24"]
    assert addresses.check(target("192.168.7.9")).dial == "192.168.7.9"
    with pytest.raises(AddressDenied) as caught:
        addresses.check(target("10.1.2.3"))
    assert "outside of the networks" in str(caught.value)


def test_other_ports_and_sockets_are_for_administrators() -> None:
    for port in (22, 6379, 33060, 3311):
        with pytest.raises(AddressDenied):
            addresses.check(target("10.1.2.3", port=port))
    with pytest.raises(AddressDenied):
        addresses.check(target(socket="/run/mysqld/mysqld.sock"))
    assert (
        addresses.check(target(socket="/run/mysqld/mysqld.sock", unrestricted=True)).dial == "/run/mysqld/mysqld.sock"
    )


def test_our_own_queue_and_database_are_reached_by_nobody(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.BROKER_URL = "redis+socket:///tmp/x/run/redis.sock"
    with pytest.raises(AddressDenied):
        addresses.check(target(socket="/tmp/x/run/../run/redis.sock", unrestricted=True))
    settings.BROKER_URL = "redis://:pw@127.0.0.1:6390/0"
    with pytest.raises(AddressDenied):
        addresses.check(target("localhost", port=6390, unrestricted=True))
    own = {"ENGINE": "django.db.backends.mysql", "HOST": "127.0.0.1", "PORT": "3399"}
    for name, value in own.items():
        monkeypatch.setitem(settings.DATABASES["default"], name, value)
    with pytest.raises(AddressDenied):
        addresses.check(target("127.0.0.1", port=3399, unrestricted=True))
    assert addresses.check(target("127.0.0.1", port=3398, unrestricted=True))


def test_every_answer_of_a_name_is_checked_and_one_bad_one_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "resolve", lambda host: [ip_address("10.0.0.5"), ip_address("127.0.0.1")])
    with pytest.raises(AddressDenied):
        addresses.check(target("rebinding.example.test"))


def test_a_name_without_an_address_is_told_as_such() -> None:
    with pytest.raises(NameUnknown):
        addresses.check(target("no-such-host.invalid"))
