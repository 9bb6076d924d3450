"""What a person is told inside the product: reading it, and marking it as read. Notices are written by ``telling``."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet

from advisor.changes.models import Notice
from advisor.teams import access

Anybody = AbstractBaseUser | AnonymousUser
#: Notices older than what fits here are still in the history of their change requests.
SHOWN = 200


def of(user: Anybody) -> QuerySet[Notice]:
    """The person's notices, the newest first: only of teams that the person is still in."""
    if not access.is_known(user):
        return Notice.objects.none()
    return access.visible(user, Notice.objects.filter(user=cast(User, user)), team="request__team").order_by(
        "-at", "-pk"
    )


def count_unread(user: Anybody) -> int:
    """How many the person has not read yet."""
    return of(user).filter(read_at=None).count()


def mark_read(*, user: AbstractBaseUser, now: datetime, notice_id: int | None = None) -> int:
    """Marks one of the person's notices as read, or all of them; how many were unread."""
    unread = Notice.objects.filter(user_id=user.pk, read_at=None)
    if notice_id is not None:
        unread = unread.filter(pk=notice_id)
    return unread.update(read_at=now)


def mark_read_of(*, user: AbstractBaseUser, request_id: str, now: datetime) -> int:
    """Whoever looks at a change request has read what was told of it."""
    return Notice.objects.filter(user_id=user.pk, request_id=request_id, read_at=None).update(read_at=now)
