"""Servers as they are registered: the only writer. Each function is one transaction, and journals what happened.

Whether a person may do this is asked before, by the room that knows persons; whether Tidemark connects there at all is
asked here and again at every connect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.journal import services as journal
from advisor.teams import audit
from advisor.teams.models import Team
from collector import addresses, tls, vault
from collector.errors import AddressDenied, BadTarget, TargetError
from collector.models import Credential, Server, ServerState, Shard
from collector.reports import ConnectionReport, check_connection
from collector.secret import Secret
from collector.target import Target, default_tls_mode

__all__ = [
    "ConnectionReport",
    "InvalidServer",
    "add_server",
    "check_connection",
    "checked_values",
    "default_intervals",
    "delete_server",
    "set_credential",
    "set_enabled",
    "target_of",
    "update_server",
]

#: One worker polls all servers of a shard side by side, a thread each.
SERVERS_PER_SHARD = 250
FASTEST_SECONDS = 5
SLOWEST_FAST_SECONDS = 300
SLOWEST_FULL_SECONDS = 3600
_LONGEST_TAG = 50
_HOST_FACTS = ("memory_bytes", "cpus", "storage", "free_disk_bytes", "write_latency_microseconds")
_STORAGE = ("ssd", "hdd")
#: Kinds of events that the audit has under another name.
_AUDITED_AS = {"server.credential": "credential.changed"}


class InvalidServer(ValueError):
    """What was given cannot be registered. ``errors`` has one sentence for each field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__(" ".join(self.errors.values()))


def _taken(name: str) -> str:
    return _("The team has a server called %(name)s already: choose another name.") % {"name": name}


@transaction.atomic
def add_server(
    *,
    team: Team,
    name: str,
    user: str,
    password: Secret | str,
    host: str = "",
    port: int = 3306,
    socket: str = "",
    tls_mode: str = "",
    tls_ca: str = "",
    tags: Sequence[str] = (),
    fast_interval_seconds: int | None = None,
    full_interval_seconds: int | None = None,
    host_facts: Mapping[str, Any] | None = None,
    unrestricted: bool = False,
    actor: AbstractBaseUser | None = None,
) -> Server:
    """Registers a server and makes it due at once. Raises InvalidServer, which names the fields.

    Intervals that are not given are those of the settings (TIDEMARK_FAST_INTERVAL_SECONDS and its sibling).
    """
    usual = default_intervals()
    fast = usual["fast_interval_seconds"] if fast_interval_seconds is None else fast_interval_seconds
    full = usual["full_interval_seconds"] if full_interval_seconds is None else full_interval_seconds
    values = checked_values(
        {
            "name": name,
            "host": host,
            "port": port,
            "socket": socket,
            "user": user,
            "tls_mode": tls_mode or default_tls_mode(host, socket),
            "tls_ca": tls_ca,
            "tags": tags,
            "fast_interval_seconds": fast,
            "full_interval_seconds": full,
            "host_facts": host_facts or {},
            "unrestricted": unrestricted,
        }
    )
    if Server.objects.filter(team=team, folded=values["folded"]).exists():
        raise InvalidServer({"name": _taken(values["name"])})
    server = Server(team=team, shard=_shard(), **values)
    try:
        with transaction.atomic():
            server.save(force_insert=True)
    except IntegrityError:
        raise InvalidServer({"name": _taken(values["name"])}) from None
    ServerState.objects.create(server=server)
    _seal(server, "observe", server.user, _secret(password))
    _journal("server.added", server, actor, {"name": server.name, "address": server.address})
    return server


def default_intervals() -> dict[str, int]:
    """How often a server is read where nobody said otherwise."""
    return {
        "fast_interval_seconds": settings.FAST_INTERVAL_SECONDS,
        "full_interval_seconds": settings.FULL_INTERVAL_SECONDS,
    }


@transaction.atomic
def update_server(
    *, server: Server, actor: AbstractBaseUser | None = None, password: Secret | str | None = None, **changes: Any
) -> Server:
    """Changes what is given; what is not given stays.

    Who changes where the password is sent, or how far that place is trusted, has to know the password: otherwise
    pointing a
    server at a machine of one's own would be a way to read it. Raises InvalidServer, and TypeError for an unknown
    field.
    """
    server = Server.objects.select_for_update().get(pk=server.pk)
    known = (
        "name host port socket user tls_mode tls_ca tags "
        "fast_interval_seconds full_interval_seconds host_facts unrestricted"
    ).split()
    unknown = set(changes) - set(known)
    if unknown:
        raise TypeError(f"a server has no {', '.join(sorted(unknown))} to change")
    before = {name: getattr(server, name) for name in known}
    values = checked_values({**before, **changes})
    if Server.objects.filter(team=server.team_id, folded=values["folded"]).exclude(pk=server.pk).exists():
        raise InvalidServer({"name": _taken(values["name"])})
    sent_elsewhere = [
        name for name in ("host", "port", "socket", "user", "tls_mode", "tls_ca") if values[name] != before[name]
    ]
    if sent_elsewhere and password is None and Credential.objects.filter(server=server).exists():
        raise InvalidServer(
            {"password": _("Enter the password again: it is about to be sent elsewhere, or under other protection.")}
        )
    for name, value in values.items():
        setattr(server, name, value)
    server.save()
    if password is not None:
        _seal(server, "observe", server.user, _secret(password))
        _audit("credential.changed", server, actor, {"purpose": "observe", "user": server.user})
    if sent_elsewhere:
        # An account for applying belongs to the old place: it is entered again by who may.
        for credential in Credential.objects.filter(server=server).exclude(purpose="observe"):
            _audit("credential.removed", server, actor, {"purpose": credential.purpose, "user": credential.user})
            credential.delete()
        _retry_now(server)
    changed = sorted(name for name in known if getattr(server, name) != before[name])
    _journal("server.changed", server, actor, {"name": server.name, "fields": changed})
    return server


@transaction.atomic
def set_credential(
    *,
    server: Server,
    password: Secret | str,
    user: str = "",
    purpose: str = "observe",
    actor: AbstractBaseUser | None = None,
) -> None:
    """Stores an account. ``user`` may stay empty for the purpose observe. Raises InvalidServer."""
    server = Server.objects.select_for_update().get(pk=server.pk)
    if purpose not in {"observe", "apply"}:
        raise InvalidServer({"purpose": _("An account is for observe or for apply.")})
    user = user or (server.user if purpose == "observe" else "")
    if not user:
        raise InvalidServer({"user": _("The user name is missing.")})
    if purpose == "observe" and user != server.user:
        server.user = user
        _checked_target(server)
        server.save(update_fields=["user"])
    _seal(server, purpose, user, _secret(password))
    _retry_now(server)
    _journal("server.credential", server, actor, {"name": server.name, "purpose": purpose, "user": user})


@transaction.atomic
def remove_apply_account(*, server: Server, actor: AbstractBaseUser | None = None) -> bool:
    """Forgets the account for applying; whether there was one."""
    server = Server.objects.select_for_update().get(pk=server.pk)
    stored = Credential.objects.filter(server=server, purpose="apply").first()
    if stored is None:
        return False
    _audit("credential.removed", server, actor, {"purpose": stored.purpose, "user": stored.user})
    stored.delete()
    return True


@transaction.atomic
def set_enabled(*, server: Server, enabled: bool, actor: AbstractBaseUser | None = None) -> None:
    """Pauses watching, or goes on with it."""
    server = Server.objects.select_for_update().get(pk=server.pk)
    if server.enabled != enabled:
        server.enabled = enabled
        server.save(update_fields=["enabled"])
        _retry_now(server)
        _journal("server.enabled" if enabled else "server.paused", server, actor, {"name": server.name})


@transaction.atomic
def delete_server(*, server: Server, actor: AbstractBaseUser | None = None) -> None:
    """Removes a server with its history and credentials. What happened to it stays in the journal."""
    _journal("server.deleted", server, actor, {"name": server.name, "address": server.address})
    Server.objects.filter(pk=server.pk).delete()


def target_of(server: Server, purpose: str = "observe") -> Target:
    """Where and how to connect, the password opened. Raises BadTarget, and VaultError where it cannot be opened."""
    user, password = vault.password_of(server, purpose)
    return Target(
        user=user,
        password=password,
        host=server.host,
        port=server.port,
        socket=server.socket,
        tls_mode=server.tls_mode,
        tls_ca=server.tls_ca,
        unrestricted=server.unrestricted,
    )


def _secret(password: Secret | str) -> Secret:
    return password if isinstance(password, Secret) else Secret(password)


def _seal(server: Server, purpose: str, user: str, password: Secret) -> None:
    try:
        sealed, key_id = vault.seal(password, team_id=server.team_id, server_id=server.pk, purpose=purpose)
    except vault.VaultError as error:
        raise InvalidServer({"password": str(error)}) from None
    Credential.objects.update_or_create(
        server=server, purpose=purpose, defaults={"user": user, "sealed": sealed, "key_id": key_id}
    )


def _retry_now(server: Server) -> None:
    """Whatever kept it from being polled may be over."""
    ServerState.objects.filter(server=server).update(
        failures=0, error_kind="", error="", error_since=None, retry_at=0, fast_slot=0, full_slot=0
    )


def _shard() -> Shard:
    """The shard with the fewest servers, or a new one where all are full."""
    shards = Shard.objects.select_for_update().annotate(count=Count("servers")).order_by("count", "number")
    least = shards.first()
    if least is not None and least.count < SERVERS_PER_SHARD:
        return least
    last = Shard.objects.order_by("-number").first()
    return Shard.objects.create(number=0 if last is None else last.number + 1)


def _journal(kind: str, server: Server, actor: AbstractBaseUser | None, data: dict[str, Any]) -> None:
    """Both records of what happened: the one beside the charts, and the audit."""
    journal.record(team_id=server.team_id, kind=kind, at=timezone.now(), server_id=server.pk, actor=actor, data=data)
    _audit(_AUDITED_AS.get(kind, kind), server, actor, data)


def _audit(action: str, server: Server, actor: AbstractBaseUser | None, data: dict[str, Any]) -> None:
    audit.record(
        team_id=server.team_id,
        actor=actor,
        action=action,
        subject=f"{server.name} ({server.pk})",
        data={"server": server.pk, **data},
        at=timezone.now(),
    )


def _checked_target(server: Server) -> None:
    try:
        Target(
            user=server.user,
            host=server.host,
            port=server.port,
            socket=server.socket,
            tls_mode=server.tls_mode,
            tls_ca=server.tls_ca,
            unrestricted=server.unrestricted,
        )
    except BadTarget as error:
        raise InvalidServer({error.field or "host": str(error)}) from None


def checked_values(
    given: Mapping[str, Any], resolver: Callable[[str], Sequence[addresses.IpAddress]] | None = None
) -> dict[str, Any]:
    """The values as they are stored. Raises InvalidServer with every field that is wrong.

    ``resolver``: see ``addresses.check``.
    """
    errors: dict[str, str] = {}
    name = " ".join(str(given["name"]).split())
    if not name or len(name) > 100 or "/" in name or "://" in name or not name.isprintable():
        errors["name"] = _("The name has 1 to 100 characters, and no / in it.")
    target = _target(given, errors, resolver)
    if given["tls_ca"]:
        try:
            tls.check_authority(given["tls_ca"])
        except BadTarget as error:
            errors["tls_ca"] = error.sentence
    tags = list(dict.fromkeys(" ".join(str(tag).split()) for tag in given["tags"]))
    if any(not tag or len(tag) > _LONGEST_TAG for tag in tags):
        errors["tags"] = _("A tag has 1 to %(n)s characters.") % {"n": _LONGEST_TAG}
    fast, full = given["fast_interval_seconds"], given["full_interval_seconds"]
    if not FASTEST_SECONDS <= fast <= SLOWEST_FAST_SECONDS:
        errors["fast_interval_seconds"] = _("Polls are %(least)s to %(most)s seconds apart.") % {
            "least": FASTEST_SECONDS,
            "most": SLOWEST_FAST_SECONDS,
        }
    if not max(fast, FASTEST_SECONDS) <= full <= SLOWEST_FULL_SECONDS:
        errors["full_interval_seconds"] = _(
            "Snapshots are at most %(most)s seconds apart, and no closer than polls."
        ) % {"most": SLOWEST_FULL_SECONDS}
    facts = _facts(given["host_facts"], errors)
    if errors:
        raise InvalidServer(errors)
    assert target is not None
    return {
        "name": name,
        "folded": name.casefold(),
        "host": "" if target.socket else target.host,
        "port": target.port,
        "socket": target.socket,
        "user": target.user,
        "tls_mode": target.tls_mode,
        "tls_ca": given["tls_ca"],
        "tags": tags,
        "fast_interval_seconds": fast,
        "full_interval_seconds": full,
        "host_facts": facts,
        "unrestricted": bool(given["unrestricted"]),
    }


def _target(
    given: Mapping[str, Any],
    errors: dict[str, str],
    resolver: Callable[[str], Sequence[addresses.IpAddress]] | None,
) -> Target | None:
    try:
        target = Target(
            user=str(given["user"]).strip(),
            host=str(given["host"]).strip(),
            port=given["port"],
            socket=str(given["socket"]).strip(),
            tls_mode=given["tls_mode"],
            tls_ca=given["tls_ca"],
            unrestricted=bool(given["unrestricted"]),
        )
    except BadTarget as error:
        errors[error.field or "host"] = str(error)
        return None
    try:
        addresses.check(target, resolver)
    except AddressDenied as error:
        errors["socket" if target.socket else "host"] = str(error)
    except TargetError:
        # A name without an address today may have one tomorrow; it is checked again at every connect.
        pass
    return target


def _facts(given: Mapping[str, Any], errors: dict[str, str]) -> dict[str, Any]:
    """Host facts with their origin: plain values are stated by a person, others keep the origin they come with."""
    facts: dict[str, Any] = {}
    for name, fact in given.items():
        if name not in _HOST_FACTS:
            errors["host_facts"] = f"{name!r} is no host fact: these are {', '.join(_HOST_FACTS)}."
            continue
        if isinstance(fact, Mapping):
            value, origin = fact.get("value"), str(fact.get("origin", "stated"))
        else:
            value, origin = fact, "stated"
        if value is None or value == "":
            continue
        if name == "storage":
            if value not in _STORAGE:
                errors["host_facts"] = f"Storage is {' or '.join(_STORAGE)}."
        elif isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            errors["host_facts"] = f"{name} is a whole number above 0."
        facts[name] = {"value": value, "origin": origin}
    return facts
