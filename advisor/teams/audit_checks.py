"""System checks of the audit: its keys, and whether the database refuses to change an entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections

from advisor.teams import audit_triggers
from advisor.teams.audit_chain import AuditError, keys
from advisor.teams.checks import KEYS


@register(KEYS, Tags.security, deploy=True)
def audit_keys(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Without a key nothing is recorded, and so nothing is done. An embedded installation makes its own on first use;
    machines that share a database have to share the key.
    """
    hint = "Run ./start --setup, or set TIDEMARK_AUDIT_KEYS_FILE to a file with one key a line."
    if not settings.AUDIT_KEYS:
        if "sqlite3" in str(settings.DATABASES["default"]["ENGINE"]):
            return []
        return [Error("There is no key that the audit is signed with.", hint=hint, id="teams.E008")]
    try:
        keys()
    except AuditError as error:
        return [Error(str(error), hint=hint, id="teams.E009")]
    return []


@register(Tags.database)
def guarded_audit(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """An account that may not make triggers leaves the audit to its digests alone."""
    messages: list[CheckMessage] = []
    for name in databases or ():
        connection = connections[name]
        if audit_triggers.TABLE not in connection.introspection.table_names():
            continue  # before the first migration
        if missing := audit_triggers.missing(connection):
            messages.append(
                Warning(
                    f"The database does not refuse to change audit entries: {', '.join(sorted(missing))} missing. "
                    "verify_audit finds such changes all the same.",
                    hint="Let the account make triggers (the TRIGGER privilege; with binary logs on also "
                    "log_bin_trust_function_creators), then run ./manage.py guard_audit.",
                    id="teams.W002",
                )
            )
    return messages
