"""What happened to one server, and what people write beside it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from advisor.journal import annotations as annotating
from advisor.journal.models import Event
from advisor.teams import access
from advisor.teams.roles import Action
from advisor.ui import period as periods
from advisor.ui.htmx import page_or_part
from advisor.web import events_page
from advisor.web.annotation_form import NewAnnotation
from collector.models import Server


@login_required
@require_GET
def events(request: HttpRequest, server_id: str) -> HttpResponse:
    server, may = access.get_server(request.user, server_id)
    return _shown(request, server, may, NewAnnotation())


@login_required
@require_POST
def annotate(request: HttpRequest, server_id: str) -> HttpResponse:
    server, may = access.get_server(request.user, server_id)
    may.require(Action.ANNOTATE)
    form = NewAnnotation(request.POST)
    if not form.is_valid():
        return _shown(request, server, may, form, status=422)
    event, _new = annotating.create_annotation(
        team_id=server.team_id,
        server_id=server.pk,
        text=form.cleaned_data["text"],
        actor=request.user,  # type: ignore[arg-type]
        now=timezone.now(),
        at=form.cleaned_data["at"],
        ended_at=form.cleaned_data["ended_at"],
        tags=form.cleaned_data["tags"],
    )
    messages.success(request, _("Written down: it stands above the charts."))
    return redirect(f"{reverse('server-events', args=[server.pk])}#event-{event.pk}")


@login_required
@require_POST
def delete(request: HttpRequest, server_id: str, event_id: int) -> HttpResponse:
    """Only whoever wrote an annotation takes it back."""
    server, may = access.get_server(request.user, server_id)
    may.require(Action.ANNOTATE)
    event = Event.objects.filter(
        pk=event_id, server_id=server.pk, team_id=server.team_id, kind=annotating.CREATED, actor_id=request.user.pk
    ).first()
    if event is None:
        raise Http404("There is no annotation of yours here.")
    annotating.delete_annotation(annotation=event, actor=request.user, now=timezone.now())  # type: ignore[arg-type]
    messages.success(request, _("Deleted."))
    return redirect("server-events", server.pk)


def _shown(
    request: HttpRequest, server: Server, may: access.Access, form: NewAnnotation, *, status: int = 200
) -> HttpResponse:
    asked = any(name in request.GET for name in ("range", "from", "to"))
    period = periods.parse(request.GET, timezone.now().timestamp()) if asked else None
    page = events_page.read(server, events_page.filters_of(server, request.GET, period), request.user)
    context = {
        "server": server,
        "page": page,
        "filters": page.filters,
        "period": period,
        "form": form,
        "may_annotate": may.may(Action.ANNOTATE),
    }
    return page_or_part(request, "web/events.html", "web/_events.html", context, status=status)
