"""All addresses. Pages live in advisor.web, the REST API in advisor.api."""

from __future__ import annotations

from django.urls import include, path

from advisor.api.routes import api

urlpatterns = [
    path("api/v1/", api.urls),
    path("", include("advisor.teams.urls")),
    path("", include("advisor.teams.audit_urls")),
    path("", include("advisor.changes.webhooks_urls")),
    path("", include("advisor.changes.urls")),
    path("", include("advisor.web.urls")),
]

handler400 = "advisor.web.views.errors.refused"
handler403 = "advisor.web.views.errors.forbidden"
handler404 = "advisor.web.views.errors.not_found"
handler500 = "advisor.web.views.errors.server_error"
