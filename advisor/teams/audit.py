"""The audit: what was done, by whom, from where, in an order that nobody changes afterwards unseen.

``record`` is called inside the transaction of what it tells. Where it cannot write, that transaction fails: what is not
recorded is not done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from advisor.teams.audit_chain import BEGINNING, AuditError, canonical, data_text, keys
from advisor.teams.audit_context import acting, acting_as, operator_name
from advisor.teams.audit_models import AuditEntry, AuditHead
from advisor.teams.models import Team

__all__ = ["AuditEntry", "AuditError", "acting_as", "operator_name", "record"]

_ACTION = re.compile(r"[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)+")
#: The last word of a key that would hold a secret. `password_changed` or `token_id` end otherwise and are welcome.
_SECRET_WORDS = {"password", "passwd", "passphrase", "secret", "token", "otp", "totp", "cookie", "credentials"}
_SECRET_KEYS = {"api_key", "private_key", "secret_key", "session_key", "recovery_codes", "login_link"}
#: A token or a webhook's secret of ours among the values, wherever it stands.
_TOKEN = re.compile(r"\b(tm|tmwh)_[A-Za-z0-9_-]{32,}")


def record(
    *,
    team_id: str | None,
    action: str,
    subject: str,
    at: datetime,
    data: Mapping[str, Any] | None = None,
    actor: AbstractBaseUser | None = None,
    request_id: str = "",
    address: str = "",
) -> AuditEntry:
    """Adds one entry, in the same transaction as what it tells.

    ``team_id`` is None for what concerns the whole installation. ``action`` is dotted (``change.submitted``),
    ``subject`` what it was done to, in words and with its id where it has one. Actor, request and address are those of
    the request, command or task where they are not given. ``data`` is JSON and never holds a secret.

    Raises TypeError or ValueError for what must not be recorded, AuditError where nothing can be recorded.
    """
    if not _ACTION.fullmatch(action) or len(action) > 60:
        raise ValueError(f"{action!r} is no action: lower-case words with a dot, as change.submitted")
    plain = _plain(data or {}, "data")
    now = acting()
    person = actor if actor is not None and actor.pk is not None else now.actor
    key = keys()[0]
    with transaction.atomic():
        head = _locked_head()
        values: dict[str, Any] = {
            "sequence": head.sequence + 1,
            "previous": head.digest,
            "key_id": key.id,
            "at": at.astimezone(UTC),
            "team_id": team_id or "",
            "team_name": _team_name(team_id),
            "actor_id": "" if person is None else str(person.pk)[:40],
            "actor_name": _clean(now.name if person is None else person.get_username(), 150),
            "origin": now.origin,
            "action": action,
            "subject": _clean(_TOKEN.sub(r"\1_[secret]", subject), 200),
            "data": data_text(plain),
            "request_id": (request_id or now.request_id)[:40],
            "address": (address or now.address)[:64],
        }
        entry = AuditEntry(**values, digest=key.sign(canonical(values)))
        entry.save(force_insert=True)
        AuditHead.objects.filter(pk=head.pk).update(sequence=entry.sequence, digest=entry.digest)
    return entry


def _locked_head() -> AuditHead:
    """The end of the chain, locked where the database has row locks; SQLite has one writer anyway."""
    head = AuditHead.objects.select_for_update().filter(pk=1).first()
    if head is None:
        last = AuditEntry.objects.order_by("-sequence").values_list("sequence", "digest").first()
        sequence, digest = last or (0, BEGINNING)
        AuditHead.objects.get_or_create(pk=1, defaults={"sequence": sequence, "digest": digest})
        head = AuditHead.objects.select_for_update().get(pk=1)
    return head


def _team_name(team_id: str | None) -> str:
    """The team's name as it is now: it stays when the team is gone."""
    if not team_id:
        return ""
    return Team.objects.filter(pk=team_id).values_list("name", flat=True).first() or ""


def _clean(text: str, longest: int) -> str:
    """One line that fits, without halves of characters, which no database stores."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(whole.split())[:longest]


def _plain(value: Any, where: str) -> Any:
    """The value as JSON has it. Raises TypeError for other types (a ``Secret`` is one) and for a key of a secret."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{where} is {value}, which JSON does not have")
        return value
    if isinstance(value, str):
        # People paste what they should not into reasons; that must neither be kept nor stop what they do.
        return _TOKEN.sub(r"\1_[secret]", str(value)).encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list | tuple):
        return [_plain(one, f"{where}[{number}]") for number, one in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(name, one, where): _plain(one, f"{where}.{name}") for name, one in value.items()}
    raise TypeError(f"{where} is a {type(value).__name__}: the audit holds plain values, and never secrets")


def _key(name: Any, value: Any, where: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{where} has a key that is no text")
    folded = name.lower().replace("-", "_")
    hides = folded.rsplit("_", 1)[-1] in _SECRET_WORDS or folded in _SECRET_KEYS
    # Yes, no and nothing can be no secret: whether a password was given may be told.
    if hides and not (value is None or isinstance(value, bool)):
        raise TypeError(f"{where}.{name} looks like a secret: the audit never holds their values")
    return name
