"""Why a server could not be read: a closed set, each with one clear sentence and what to do next.

The words are ours. What a server says is untrusted (it may hold markup, control characters, anything) and is
quoted only
through ``printable``.
"""

from __future__ import annotations

import re
import unicodedata


def printable(text: str, longest: int = 200) -> str:
    """A server's words, safe to show: control and formatting characters become spaces, long texts are cut."""
    clean = "".join(" " if unicodedata.category(one)[0] == "C" else one for one in text)
    clean = re.sub(r"\s+", " ", clean).strip()
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


class TargetError(Exception):
    """A server could not be read. ``sentence`` says what is so, ``next_step`` what to do; ``kind`` is for programs.

    ``lasting`` is true where trying again soon cannot help: a person has to do something first.
    """

    kind = "error"
    lasting = False
    default_next_step = ""

    def __init__(self, sentence: str, next_step: str = "") -> None:
        # A server's own words stand at the end of some, with or without a full stop.
        self.sentence = sentence if sentence.endswith((".", "…", "!", "?")) else f"{sentence}."
        self.next_step = next_step or self.default_next_step
        super().__init__(f"{sentence} {self.next_step}".strip())


class WrongDriver(TargetError):
    """The driver is linked against a client library whose behaviour was not measured."""

    kind = "wrong-driver"
    lasting = True
    default_next_step = "Install libmariadb-dev and build mysqlclient again."


class OutOfResources(TargetError):
    """Our own machine lacks something that connecting needs: disk space, memory, open files."""

    kind = "out-of-resources"
    default_next_step = (
        "See the space in the folder for temporary files (TMPDIR), and how many files a process may open (ulimit -n)."
    )


class Unreachable(TargetError):
    """No answer from the address, or no way to it."""

    kind = "unreachable"
    default_next_step = "Check the host name, the network and firewalls between this machine and the server."


class NameUnknown(Unreachable):
    """The host name has no address."""

    kind = "name-unknown"
    lasting = True
    default_next_step = "Check the spelling of the host name, or give its address."


class Refused(TargetError):
    """The machine answers, but nothing listens on that port or socket."""

    kind = "refused"
    default_next_step = "Check the port, whether the server runs, and its bind_address and skip_networking."


class AddressDenied(TargetError):
    """We do not connect there: the address is held to the deny list."""

    kind = "address-denied"
    lasting = True
    default_next_step = "An administrator can register this address, or allow its network."


class WrongPassword(TargetError):
    """The server does not let this user in with this password."""

    kind = "wrong-password"
    lasting = True
    default_next_step = "Check user and password, and from which hosts the account may connect."


class HostNotAllowed(TargetError):
    """The server has no account for this user from this machine (error 1130)."""

    kind = "host-not-allowed"
    lasting = True
    default_next_step = "Create the account for the address of the machine that Tidemark runs on."


class PasswordExpired(TargetError):
    """The account's password has to be changed first."""

    kind = "password-expired"
    lasting = True
    default_next_step = "Set the password anew on the server, and PASSWORD EXPIRE NEVER for this account."


class TlsMissing(TargetError):
    """The connection has to be encrypted, and one of the two sides does not offer it."""

    kind = "tls-missing"
    lasting = True
    default_next_step = (
        "Switch TLS on at the server (ssl_cert, ssl_key), or choose the mode insecure and accept that anyone on "
        "the way can read along."
    )


class TlsUntrusted(TargetError):
    """The certificate is not trusted. ``reason`` is name, chain or protocol."""

    kind = "tls-untrusted"
    lasting = True

    def __init__(self, sentence: str, next_step: str = "", *, reason: str) -> None:
        self.reason = reason
        super().__init__(sentence, next_step)


class Hostile(TargetError):
    """What answers does what no server of ours does: it asks for a file, or for the password in clear text."""

    kind = "hostile"
    lasting = True
    default_next_step = "Do not trust this address: find out what answers there, and change the account's password."


class TooSlow(TargetError):
    """The deadline passed; the connection was cut."""

    kind = "too-slow"
    default_next_step = "See whether the server hangs or is overloaded; it is tried again later."


class TooLarge(TargetError):
    """An answer exceeded what Tidemark takes; the connection was cut."""

    kind = "too-large"
    default_next_step = "Find out what answers there: no server sends that much to such a question."


class NotAServer(TargetError):
    """Something answers, but it does not speak the protocol or is no MySQL or MariaDB server."""

    kind = "not-a-server"
    lasting = True
    default_next_step = "Check host and port: 3306 is the usual port, and 33060 (X protocol) is not it."


class HostBlocked(TargetError):
    """The server blocked this machine after too many broken connections (error 1129)."""

    kind = "host-blocked"
    lasting = True
    default_next_step = "Run FLUSH HOSTS on the server (MySQL 8.0.23+: TRUNCATE TABLE performance_schema.host_cache)."


class TooManyConnections(TargetError):
    """The server, or the account's limit, takes no further connection."""

    kind = "too-many-connections"
    default_next_step = "See max_connections and the account's MAX_USER_CONNECTIONS; it is tried again later."


class Restarting(TargetError):
    """The connection was lost: the server is shutting down, restarting, or cut it."""

    kind = "restarting"
    default_next_step = "It is tried again shortly; if this lasts, see the server's error log."


class Denied(TargetError):
    """One statement needs a right that the account does not have; the connection stays usable."""

    kind = "denied"


class Unsupported(TargetError):
    """This server does not know the statement, table or variable; the connection stays usable."""

    kind = "unsupported"


class StatementFailed(TargetError):
    """The server refused one statement for another reason; the connection stays usable. ``number`` is its error."""

    kind = "statement-failed"
    default_next_step = "See the server's error log."

    def __init__(self, sentence: str, next_step: str = "", *, number: int = 0) -> None:
        self.number = number
        super().__init__(sentence, next_step)


class BadTarget(TargetError):
    """What was given cannot be a server. ``field`` names what has to be corrected."""

    kind = "bad-target"
    lasting = True

    def __init__(self, sentence: str, next_step: str = "", *, field: str = "") -> None:
        self.field = field
        super().__init__(sentence, next_step)


#: After these, the connection can still be used.
USABLE = (Denied, Unsupported, StatementFailed)
