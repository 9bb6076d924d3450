"""What all views of one change request begin with."""

from __future__ import annotations

from django.http import HttpRequest

from advisor.changes.models import ChangeRequest
from advisor.teams import access
from advisor.teams.access import Access


def load(request: HttpRequest, change_id: str) -> tuple[ChangeRequest, Access]:
    """The request and what the person may do. Raises Http404 for outsiders."""
    rows = ChangeRequest.objects.select_related("team", "plan", "author", "last_editor", "first_server", "rolls_back")
    return access.get_visible(request.user, rows, change_id)
