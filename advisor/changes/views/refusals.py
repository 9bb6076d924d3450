"""What a page says where a service did not do what was asked, and when it asks for a second factor again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from advisor.changes import gate, services
from advisor.changes.applying import CannotRollBack
from advisor.changes.models import ChangeRequest
from advisor.changes.requests import BadRequest
from advisor.changes.states import CameLate, WrongState
from advisor.teams import signin
from advisor.ui.messages import text_of

#: Whatever a service answers instead of doing it. Each of them did nothing at all.
REFUSALS: tuple[type[Exception], ...] = (
    WrongState,
    CameLate,
    BadRequest,
    gate.NotOpen,
    CannotRollBack,
    services.Refused,
)


def refused(request: HttpRequest, found: ChangeRequest, wrong: Exception) -> HttpResponse:
    """Back to the page, which says why."""
    if isinstance(wrong, gate.NotOpen):
        sentence = " ".join(text_of(one.message) for one in wrong.unmet)
    elif isinstance(wrong, CameLate):
        sentence = _("Somebody else changed this change request a moment ago: nothing was done. This is how it is now.")
    elif isinstance(wrong, WrongState):
        sentence = _("That cannot be done any more in the state it is in now.")
    else:
        sentence = str(wrong)
    messages.error(request, sentence)
    return redirect("change", found.pk)


def second_factor(request: HttpRequest, found: ChangeRequest) -> HttpResponse | None:
    """Where to go first, for somebody with a second factor who did not show it lately; None where nothing is asked."""
    if signin.recently_authenticated(request):
        return None
    messages.info(request, _("Show your second factor, then press the button once more."))
    return redirect(signin.reauthenticate_address(request, reverse("change", args=[found.pk])))
