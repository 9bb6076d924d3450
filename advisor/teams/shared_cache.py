"""A cache in the product database: what several web processes must count together (failed tries, spent codes).

Django's own database cache pickles, and whoever could write that table would run code in ours; this one holds JSON. It
is for small, short-lived values and is written a few times a sign-in, so it asks nothing of anybody's Redis.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import IntegrityError, transaction
from django.utils import timezone

#: Where no end was given: entries of this table never stay for good.
_FOREVER = datetime(9999, 12, 31, tzinfo=UTC)


class SharedCache(BaseCache):
    """Keys and values as every Django cache has them; values are what JSON can hold."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    @staticmethod
    def _entries() -> Any:
        # Settings name this class before the models can be imported.
        from advisor.teams.models import SharedCacheEntry

        return SharedCacheEntry.objects

    def _key(self, key: str, version: int | None) -> str:
        made = self.make_and_validate_key(key, version=version)
        if len(made) > 250:
            raise ValueError("a key of the shared cache has at most 250 characters")
        return made

    def _until(self, timeout: Any) -> datetime:
        stamp = self.get_backend_timeout(timeout)
        return _FOREVER if stamp is None else datetime.fromtimestamp(stamp, UTC)

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        """The value, or ``default`` where there is none or its time is over."""
        found = self._entries().filter(key=self._key(key, version), expires_at__gt=timezone.now()).first()
        return default if found is None else json.loads(found.value)

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Writes the value, whatever was there."""
        self._entries().update_or_create(
            key=self._key(key, version), defaults={"value": json.dumps(value), "expires_at": self._until(timeout)}
        )
        self._sweep()

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Writes the value where there is none; whether it did. Of two at once, one does: the key is unique."""
        made, now = self._key(key, version), timezone.now()
        with transaction.atomic():
            self._entries().filter(key=made, expires_at__lte=now).delete()
            try:
                with transaction.atomic():
                    self._entries().create(key=made, value=json.dumps(value), expires_at=self._until(timeout))
            except IntegrityError:
                return False
        return True

    def touch(self, key: str, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Gives a value that is there a new end; whether there was one."""
        living = self._entries().filter(key=self._key(key, version), expires_at__gt=timezone.now())
        return bool(living.update(expires_at=self._until(timeout)))

    def delete(self, key: str, version: int | None = None) -> bool:
        """Ends a value; whether there was one."""
        return bool(self._entries().filter(key=self._key(key, version)).delete()[0])

    def clear(self) -> None:
        """Ends every value."""
        self._entries().all().delete()

    def _sweep(self) -> None:
        """Throws away what ran out, so that a flood of tries does not stay; the index makes it cheap."""
        self._entries().filter(expires_at__lte=timezone.now()).delete()
