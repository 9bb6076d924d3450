"""Addresses of a team's webhooks."""

from __future__ import annotations

from django.urls import path

from advisor.changes import webhooks_views

urlpatterns = [
    path("teams/<str:team_id>/webhooks", webhooks_views.team_webhooks, name="team-webhooks"),
    path("teams/<str:team_id>/webhooks/<str:webhook_id>/set", webhooks_views.set_enabled, name="webhook-set"),
    path("teams/<str:team_id>/webhooks/<str:webhook_id>/delete", webhooks_views.delete, name="webhook-delete"),
]
