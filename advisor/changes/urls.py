"""Addresses of change requests, policies and notices."""

from __future__ import annotations

from django.urls import path

from advisor.changes.views import applying, deciding, lists, making, showing
from advisor.changes.views.policies import delete_policy, policies, set_policy

_CHANGE = "changes/<str:change_id>"

urlpatterns = [
    path("changes", lists.changes, name="changes"),
    path("changes/new", making.new, name="change-new"),
    path("changes/hint", making.hint, name="change-hint"),
    path(_CHANGE, showing.change, name="change"),
    path(f"{_CHANGE}/edit", making.edit, name="change-edit"),
    path(f"{_CHANGE}/submit", deciding.submit, name="change-submit"),
    path(f"{_CHANGE}/review", deciding.review, name="change-review"),
    path(f"{_CHANGE}/withdraw", deciding.withdraw, name="change-withdraw"),
    path(f"{_CHANGE}/schedule", deciding.schedule, name="change-schedule"),
    path(f"{_CHANGE}/apply", applying.apply, name="change-apply"),
    path(f"{_CHANGE}/roll-back", applying.roll_back, name="change-roll-back"),
    path(f"{_CHANGE}/keep", applying.keep, name="change-keep"),
    path(f"{_CHANGE}/<str:server_id>/statements.<str:form>", showing.statements, name="change-statements"),
    path("policies", policies, name="policies"),
    path("policies/set", set_policy, name="policy-set"),
    path("policies/<int:policy_id>/delete", delete_policy, name="policy-delete"),
    path("notices", lists.notices, name="notices"),
    path("notices/read", lists.mark_read, name="notices-read"),
]
