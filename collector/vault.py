"""Passwords at rest: AES-256-GCM, the key outside of the database, the ciphertext bound to where it belongs.

A sealed password is ``version (1) | key id (8) | nonce (12) | ciphertext and tag``. Team, server, purpose and key
id are
authenticated with it, so that a row copied to another server, another purpose or another team does not open.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from advisor.teams import audit
from collector.models import Credential, Server
from collector.secret import Secret

_VERSION = b"\x01"
_KEY_ID_BYTES = 8
_NONCE_BYTES = 12


class VaultError(Exception):
    """A password cannot be sealed or opened; the message says why and what to do."""


@dataclass(frozen=True)
class _Key:
    id: bytes
    cipher: AESGCM

    @property
    def name(self) -> str:
        return self.id.hex()


def _keys() -> list[_Key]:
    keys = []
    for number, text in enumerate(settings.CREDENTIAL_KEYS, 1):
        try:
            raw = base64.urlsafe_b64decode(text)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) != 32:
            raise VaultError(f"Credential key {number} is not a key: each line is 32 bytes in url-safe base64.")
        # The id tells keys apart and tells nothing of them.
        keys.append(_Key(hashlib.sha256(b"tidemark credential key id" + raw).digest()[:_KEY_ID_BYTES], AESGCM(raw)))
    if not keys:
        raise VaultError(
            "There is no credential key, so that passwords can be neither stored nor read: "
            "run ./start --setup, or set TIDEMARK_CREDENTIAL_KEYS_FILE."
        )
    return keys


def _bound_to(team_id: str, server_id: str, purpose: str, key: _Key) -> bytes:
    return json.dumps([team_id, server_id, purpose, key.name]).encode()


def seal(secret: Secret, *, team_id: str, server_id: str, purpose: str) -> tuple[bytes, str]:
    """The sealed password and the id of the key that sealed it: the first of the keys. Raises VaultError."""
    key = _keys()[0]
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = key.cipher.encrypt(nonce, secret.reveal().encode(), _bound_to(team_id, server_id, purpose, key))
    return _VERSION + key.id + nonce + sealed, key.name


def open_sealed(sealed: bytes | memoryview, *, team_id: str, server_id: str, purpose: str, name: str = "") -> Secret:
    """The password. ``name`` is the server's, for the sentence of a VaultError."""
    whose = f"The stored password of {name}" if name else "A stored password"
    packed = bytes(sealed)
    start = len(_VERSION) + _KEY_ID_BYTES
    key_id, nonce, body = (
        packed[len(_VERSION) : start],
        packed[start : start + _NONCE_BYTES],
        packed[start + _NONCE_BYTES :],
    )
    if packed[: len(_VERSION)] != _VERSION or not body:
        raise VaultError(f"{whose} is damaged: enter it again.")
    for key in _keys():
        if key.id == key_id:
            try:
                return Secret(key.cipher.decrypt(nonce, body, _bound_to(team_id, server_id, purpose, key)).decode())
            except InvalidTag:
                raise VaultError(f"{whose} does not belong to this server or was altered: enter it again.") from None
    raise VaultError(
        f"{whose} was encrypted with the key {key_id.hex()}, which is not among the credential keys: "
        "put that key back (var/keys/credential_keys), or enter the password again."
    )


def password_of(server: Server, purpose: str = "observe") -> tuple[str, Secret]:
    """The user and password of a server. Raises VaultError; an account without a stored password has an empty one."""
    credential = Credential.objects.filter(server=server, purpose=purpose).first()
    if credential is None:
        if purpose == "observe":
            return server.user, Secret("")
        raise VaultError(f"No account for the purpose {purpose} is stored for {server.name}.")
    secret = open_sealed(
        credential.sealed, team_id=server.team_id, server_id=server.pk, purpose=purpose, name=server.name
    )
    return credential.user, secret


@dataclass(frozen=True)
class Rotation:
    """What a rotation did: sealed anew, already under the first key, and not to be opened (server name and why)."""

    rotated: int
    current: int
    failed: tuple[tuple[str, str], ...]


#: What other rooms have sealed, and how it is sealed anew: see ``also_rotate``.
_elsewhere: list[Callable[[str], Rotation]] = []


def also_rotate(rotation: Callable[[str], Rotation]) -> None:
    """Has secrets of another room sealed anew by ``rotate`` too. It is given the first key's id."""
    if rotation not in _elsewhere:
        _elsewhere.append(rotation)


def rotate() -> Rotation:
    """Seals every secret that an older key sealed with the first key, and leaves that in the audit. Each is a
    transaction of its own, so that it can be interrupted and run again. Raises VaultError without keys.
    """
    first = _keys()[0].name
    done = [_rotate_credentials(first), *(rotation(first) for rotation in _elsewhere)]
    whole = Rotation(
        sum(one.rotated for one in done),
        sum(one.current for one in done),
        tuple(name for one in done for name in one.failed),
    )
    if whole.rotated:
        audit.record(
            team_id=None,
            action="credential.sealed_anew",
            subject=f"{whole.rotated} stored secrets",
            data={"key_id": first, "sealed": whole.rotated, "failed": len(whole.failed)},
            at=timezone.now(),
        )
    return whole


def _rotate_credentials(first: str) -> Rotation:
    current = Credential.objects.filter(key_id=first).count()
    rotated, failed = 0, []
    for pk in list(Credential.objects.exclude(key_id=first).order_by("pk").values_list("pk", flat=True)):
        with transaction.atomic():
            credential = Credential.objects.select_for_update().select_related("server").filter(pk=pk).first()
            if credential is None or credential.key_id == first:
                continue
            server = credential.server
            place = {"team_id": server.team_id, "server_id": server.pk, "purpose": credential.purpose}
            try:
                secret = open_sealed(credential.sealed, name=server.name, **place)
            except VaultError as error:
                failed.append((server.name, str(error)))
                continue
            credential.sealed, credential.key_id = seal(secret, **place)
            credential.save(update_fields=["sealed", "key_id", "changed_at"])
            rotated += 1
    return Rotation(rotated, current, tuple(failed))


def check() -> list[str]:
    """What is wrong with the keys, as sentences: one stored password per key id is opened. Empty where all is well."""
    problems: list[str] = []
    if not settings.CREDENTIAL_KEYS and not Credential.objects.exists():
        return problems
    for key_id in Credential.objects.order_by().values_list("key_id", flat=True).distinct():
        credential = Credential.objects.filter(key_id=key_id).select_related("server").first()
        if credential is None:
            continue
        server = credential.server
        try:
            open_sealed(
                credential.sealed,
                team_id=server.team_id,
                server_id=server.pk,
                purpose=credential.purpose,
                name=server.name,
            )
        except VaultError as error:
            problems.append(str(error))
    return problems
