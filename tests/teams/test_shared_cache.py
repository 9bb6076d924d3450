"""The cache that all web processes share: values end, keys are unique, and nothing in it is ever run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from advisor.teams.models import SharedCacheEntry

pytestmark = pytest.mark.django_db


def test_a_value_is_there_until_its_end() -> None:
    cache.set("tries", [1.5, 2.5], timeout=60)
    assert cache.get("tries") == [1.5, 2.5]
    SharedCacheEntry.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert cache.get("tries") is None
    assert cache.get("tries", "none") == "none"


def test_what_ran_out_is_thrown_away_when_something_is_written() -> None:
    cache.set("old", 1, timeout=-1)
    cache.set("new", 2, timeout=60)
    assert [row.key for row in SharedCacheEntry.objects.all()] == [":1:new"]


def test_adding_takes_a_place_once_and_again_after_its_end() -> None:
    assert cache.add("code", "y", timeout=60)
    assert not cache.add("code", "z", timeout=60)
    assert cache.get("code") == "y"
    SharedCacheEntry.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert cache.add("code", "z", timeout=60)


def test_delete_touch_and_clear_say_what_they_did() -> None:
    assert not cache.touch("a")
    cache.set("a", 1, timeout=None)
    assert cache.touch("a", 60)
    assert cache.delete("a")
    assert not cache.delete("a")
    cache.set("b", 1)
    cache.clear()
    assert not SharedCacheEntry.objects.exists()


def test_only_json_goes_in_so_that_nothing_that_comes_out_is_code() -> None:
    with pytest.raises(TypeError):
        cache.set("x", object())
    cache.set("x", "y")
    assert SharedCacheEntry.objects.get().value == '"y"'
