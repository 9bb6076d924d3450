"""Finding a TCP port that nobody listens on."""

import socket


class NoPort(Exception):
    """No port can be had on an address; the message is one sentence."""


def is_free(host: str, port: int) -> bool:
    """Whether we could listen there now. Raises NoPort when the address itself is not one of this machine's."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise NoPort(f'"{host}" is not an address that this machine knows.') from None
    with socket.socket(family, kind, protocol) as probe:
        # As servers do it: a port whose last connections are still closing can be had.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except PermissionError:
            raise NoPort(f"listening on port {port} needs root; take one above 1023.") from None
        except OSError as error:
            if error.errno == 99:  # EADDRNOTAVAIL
                raise NoPort(f'"{host}" is not an address of this machine.') from None
            return False
    return True


def next_free(host: str, port: int, *, tries: int = 200) -> int:
    """The port itself, or the first free one above it. Raises NoPort after so many tries."""
    for candidate in range(port, min(port + tries, 65536)):
        if is_free(host, candidate):
            return candidate
    raise NoPort(
        f"the ports {port} to {min(port + tries, 65536) - 1} on {host} are all taken; name another with --port."
    )
