"""System checks: what only shows at run time and would hurt later. Run with `manage.py check --deploy`.

Those about keys and files run under ``--deploy`` only: commands such as `advise` need nothing of ours and must not be
held up.
"""

from __future__ import annotations

import base64
import binascii
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db.models import UniqueConstraint

KEYS = "keys"
_OURS = ("advisor.", "collector.")


@register(KEYS, Tags.security, deploy=True)
def lasting_secret_key(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Sessions and signatures must survive the process that made them."""
    if settings.SECRET_KEY_IS_LASTING:
        return []
    return [
        Error(
            "There is no lasting secret key: everybody would be signed out whenever a process starts.",
            hint="Run ./start --setup, or set TIDEMARK_SECRET_KEY_FILE to a file with 50 or more random characters.",
            id="teams.E001",
        )
    ]


@register(KEYS, Tags.security, deploy=True)
def credential_keys(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Passwords of servers can be neither stored nor read without a key."""
    hint = "Run ./start --setup, or set TIDEMARK_CREDENTIAL_KEYS_FILE to a file with one key a line."
    if not settings.CREDENTIAL_KEYS:
        return [Error("There is no key that passwords of servers are encrypted with.", hint=hint, id="teams.E002")]
    broken = [number for number, key in enumerate(settings.CREDENTIAL_KEYS, 1) if not _is_key(key)]
    return [
        Error(f"Credential key {number} is not 32 bytes in url-safe base64.", hint=hint, id="teams.E003")
        for number in broken
    ]


def _is_key(text: str) -> bool:
    try:
        return len(base64.urlsafe_b64decode(text.encode("ascii"))) == 32
    except (binascii.Error, ValueError):
        return False


@register(KEYS, Tags.security, deploy=True)
def private_files(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Keys in files that others on the machine can read protect nothing."""
    return [
        Error(
            f"{path} can be read by others (mode {mode:04o}).",
            hint=f"chmod {wanted} {path}",
            id="teams.E004",
        )
        for path, mode, wanted in _readable_by_others(Path(settings.DATA) / "keys")
    ]


def _readable_by_others(folder: Path) -> Iterator[tuple[Path, int, str]]:
    if not folder.is_dir():
        return
    for path, wanted in [(folder, "700"), *((file, "600") for file in sorted(folder.iterdir()))]:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            yield path, mode, wanted


@register(Tags.security, deploy=True)
def guarded_broker(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Whoever can write to the broker can have any task run with any id."""
    broker = urlsplit(settings.BROKER_URL)
    if (
        broker.scheme not in ("redis", "valkey")
        or broker.password
        or broker.hostname in ("127.0.0.1", "::1", "localhost")
    ):
        return []
    return [
        Error(
            f"The broker at {broker.hostname} is reached over the network without a password.",
            hint="Give Redis a password and put it into TIDEMARK_BROKER_URL, or use rediss:// or a unix socket.",
            id="teams.E005",
        )
    ]


@register(Tags.security)
def mapped_groups(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A mapping that cannot be read is said at the start, not to the first person whom it should have let in."""
    from advisor.teams.openid import MappingError, read_mapping

    try:
        read_mapping(settings.OIDC_TEAMS)
    except MappingError as error:
        hint = "Write entries such as dba=Databases:editor+approver, separated by commas."
        return [Error(f"{error}.", hint=hint, id="teams.E030")]
    return []


@register(Tags.models)
def constraints_that_every_database_enforces(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Django only warns (models.W036 and its kin) that MySQL ignores such a constraint; data would rot unseen, so it
    is an error.
    """
    messages: list[CheckMessage] = []
    for model in apps.get_models():
        if not model.__module__.startswith(_OURS):
            continue
        for constraint in model._meta.constraints:
            if not isinstance(constraint, UniqueConstraint):
                continue
            if (
                constraint.condition
                or constraint.expressions
                or constraint.deferrable
                or constraint.nulls_distinct is False
            ):
                messages.append(
                    Error(
                        f"The constraint {constraint.name} is conditional, deferred or over an expression.",
                        hint="MySQL and MariaDB leave it out silently: use a plain constraint over a nullable column.",
                        obj=model,
                        id="teams.E006",
                    )
                )
        for index in model._meta.indexes:
            if index.condition or index.expressions or index.include:
                messages.append(
                    Error(
                        f"The index {index.name} is partial, covering or over an expression.",
                        hint="Not every product database has such indexes: use a plain one.",
                        obj=model,
                        id="teams.E007",
                    )
                )
    return messages
