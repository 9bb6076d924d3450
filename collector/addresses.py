"""Which addresses Tidemark connects to. It dials what people type, so that is checked, and dialled as checked.

Targets that an administrator or the command line named are *unrestricted*: loopback, sockets and any port. All
others are
held to a deny list. Cloud metadata services, our own broker and our own database are never dialled.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import unquote, urlsplit

from django.conf import settings

from collector.errors import AddressDenied, NameUnknown, Unreachable
from collector.target import Target

IpAddress = IPv4Address | IPv6Address

#: Nobody's server is here: the metadata services of clouds, which hand out credentials to whoever asks from inside.
_METADATA_ADDRESSES = frozenset(
    ip_address(text)
    for text in ("169.254.169.254", "169.254.170.2", "169.254.169.253", "100.100.100.200", "fd00:ec2::254")
)
_METADATA_NAMES = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
#: Ports that other people's servers listen on; 33060 speaks another protocol.
_USUAL_PORTS = range(3306, 3311)
_NAT64 = ip_network("64:ff9b::/96")
RESOLVE_SECONDS = 5.0


@dataclass(frozen=True)
class Checked:
    """An address that may be dialled. ``all`` are the ones its name stood for when it was checked."""

    dial: str
    all: tuple[str, ...]


def check(target: Target, resolver: Callable[[str], Sequence[IpAddress]] | None = None) -> Checked:
    """Resolves the target once, checks every answer and names the one to dial; for sockets, their path.

    ``resolver`` answers instead of ``resolve`` where many names were asked for beforehand. Raises AddressDenied,
    NameUnknown or Unreachable.
    """
    if target.socket:
        _check_socket(target)
        return Checked(target.socket, (target.socket,))
    if target.host.rstrip(".").lower() in _METADATA_NAMES:
        raise AddressDenied(f"{target.host} is a cloud's metadata service, not a database server.")
    answers = (resolver or resolve)(target.host)
    for answer in answers:
        _check_address(target, answer)
    return Checked(str(answers[0]), tuple(map(str, answers)))


@dataclass(frozen=True)
class Place:
    """A host and port that Tidemark calls and that is no database server: a webhook's."""

    host: str
    port: int
    unrestricted: bool = False

    @property
    def address(self) -> str:
        """Where it is, as people write it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def check_place(place: Place, ports: Sequence[int]) -> Checked:
    """As ``check``, for a place where only administrators may name other ports than these."""
    if place.host.rstrip(".").lower() in _METADATA_NAMES:
        raise AddressDenied(f"{place.host} is a cloud's metadata service.")
    answers = resolve(place.host)
    for answer in answers:
        _check_address(place, answer, ports)
    return Checked(str(answers[0]), tuple(map(str, answers)))


def resolve(host: str) -> Sequence[IpAddress]:
    """All addresses of a name, IPv4 first. Raises NameUnknown, or Unreachable where no resolver answers."""
    try:
        return [ip_address(host)]
    except ValueError:
        pass
    outcome: list[Sequence[IpAddress] | OSError] = []

    def ask() -> None:
        try:
            found = {ip_address(one[4][0]) for one in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
            outcome.append(sorted(found, key=lambda one: (one.version, int(one))))
        except (OSError, ValueError, UnicodeError) as error:
            outcome.append(error if isinstance(error, OSError) else OSError(str(error)))

    # The resolver has no deadline of its own, and a call into it cannot be interrupted: it is left behind instead.
    asking = threading.Thread(target=ask, name="resolve", daemon=True)
    asking.start()
    asking.join(RESOLVE_SECONDS)
    if not outcome:
        raise Unreachable(
            f"The name {host} could not be resolved within {RESOLVE_SECONDS:.0f} s.",
            "Check this machine's name servers.",
        )
    if isinstance(outcome[0], OSError) or not outcome[0]:
        raise NameUnknown(f"The name {host} has no address.")
    return outcome[0]


def plain(address: IpAddress) -> IpAddress:
    """The IPv4 address inside an IPv6 one (mapped, 6to4, NAT64, Teredo), else the address itself."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address.sixtofour:
            return address.sixtofour
        if address.teredo:
            return address.teredo[1]
        if isinstance(_NAT64, IPv6Network) and address in _NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _check_address(target: Target | Place, answer: IpAddress, ports: Sequence[int] = _USUAL_PORTS) -> None:
    for address in {answer, plain(answer)}:
        if address in _METADATA_ADDRESSES:
            raise AddressDenied(
                f"{target.host} is a cloud's metadata service, not a database server.", "Check the address."
            )
        if _is_own(address, target.port):
            raise AddressDenied(
                f"{target.address} is Tidemark's own database or queue, which it does not watch.",
                "Watch another server, or give Tidemark a database server of its own.",
            )
        if target.unrestricted:
            continue
        if (
            address.is_loopback
            or address.is_link_local
            or address.is_multicast
            or address.is_unspecified
            or address.is_reserved
        ):
            raise AddressDenied(f"{target.host} is an address that only administrators may register.")
        allowed = [ip_network(text, strict=False) for text in settings.ALLOWED_TARGET_NETWORKS]
        if allowed and not any(address.version == one.version and address in one for one in allowed):
            raise AddressDenied(
                f"{target.host} is outside of the networks that may be registered.",
                "An administrator can add its network to TIDEMARK_ALLOWED_TARGET_NETWORKS.",
            )
    if not target.unrestricted and target.port not in ports:
        usual = f"{ports[0]} to {ports[-1]}" if isinstance(ports, range) else ", ".join(map(str, ports))
        raise AddressDenied(f"Port {target.port} is outside of {usual}: only administrators may register others.")


def _check_socket(target: Target) -> None:
    if not target.unrestricted:
        raise AddressDenied("Sockets of this machine may be registered by administrators only.")
    here = os.path.realpath(target.socket)
    if any(here == os.path.realpath(own) for own in _own_sockets()):
        raise AddressDenied(
            f"{target.socket} is Tidemark's own database or queue, which it does not watch.", "Check the socket's path."
        )


def _own_sockets() -> list[str]:
    own = [str(settings.DATABASES["default"].get("HOST") or "")]
    options = settings.DATABASES["default"].get("OPTIONS") or {}
    own.append(str(options.get("unix_socket", "")))
    broker = urlsplit(settings.BROKER_URL)
    if broker.scheme in {"redis+socket", "unix"}:
        own.append(unquote(broker.path))
    return [path for path in own if path.startswith("/")]


def _is_own(address: IpAddress, port: int) -> bool:
    """Whether our product database or our broker listens there. Names of ours are resolved as they are set."""
    places: list[tuple[str, int]] = []
    database = settings.DATABASES["default"]
    if "mysql" in str(database.get("ENGINE", "")):
        host = str(database.get("HOST") or "")
        if host and not host.startswith("/"):
            places.append((host, int(database.get("PORT") or 3306)))
    broker = urlsplit(settings.BROKER_URL)
    if broker.scheme in {"redis", "rediss"} and broker.hostname:
        places.append((broker.hostname, broker.port or 6379))
    for host, own_port in places:
        if own_port != port:
            continue
        try:
            if address in {plain(one) for one in resolve(host)}:
                return True
        except Unreachable:
            continue
    return False
