"""Addresses of the audit."""

from __future__ import annotations

from django.urls import path

from advisor.teams import audit_views

urlpatterns = [
    path("audit", audit_views.audit, name="audit"),
    path("audit.csv", audit_views.export, {"form": "csv"}, name="audit-csv"),
    path("audit.jsonl", audit_views.export, {"form": "jsonl"}, name="audit-jsonl"),
]
