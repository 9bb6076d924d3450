"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from advisor.web.views import (
    adding,
    charts,
    comparing,
    counters,
    diff,
    events,
    fleet,
    importing,
    inspections,
    people,
    recommendations,
    rules,
    servers,
    system,
    trying,
)

_ADVICE = "s/<str:server_id>/recommendations/<str:recommendation_id>"

urlpatterns = [
    path("", fleet.fleet, name="fleet"),
    path("fleet.csv", fleet.export, {"form": "csv"}, name="fleet-csv"),
    path("fleet.json", fleet.export, {"form": "json"}, name="fleet-json"),
    path("login", people.sign_in, name="login"),
    path("logout", people.sign_out, name="logout"),
    path("account", people.account, name="account"),
    path("look", people.look, name="look"),
    path("servers/add", adding.add_server, name="add-server"),
    path("servers/add/check", adding.check, name="add-server-check"),
    path("servers/import", importing.import_servers, name="import-servers"),
    path("servers/import/confirm", importing.confirm, name="import-servers-confirm"),
    path("fleet/compare", comparing.fleet_compare, name="fleet-compare"),
    path("fleet/compare.csv", comparing.fleet_compare_csv, name="fleet-compare-csv"),
    path("s/<str:server_id>", servers.server, name="server"),
    path("s/<str:server_id>/charts.json", charts.charts, name="server-charts"),
    path("s/<str:server_id>/newest.json", charts.newest, name="server-newest"),
    path("s/<str:server_id>/charts/<str:chart>.<str:form>", charts.export, name="server-chart-export"),
    path("s/<str:server_id>/counters", counters.counters, name="server-counters"),
    path("s/<str:server_id>/counters.json", counters.data, name="server-counters-json"),
    path("s/<str:server_id>/counters.csv", counters.table, name="server-counters-csv"),
    path("s/<str:server_id>/diff", diff.diff, name="server-diff"),
    path("s/<str:server_id>/diff.<str:form>", diff.export, name="server-diff-export"),
    path("s/<str:server_id>/inspection", inspections.inspection, name="server-inspection"),
    path("s/<str:server_id>/inspect", inspections.inspect, name="server-inspect"),
    path("s/<str:server_id>/try", trying.try_now, name="server-try"),
    path("s/<str:server_id>/events", events.events, name="server-events"),
    path("s/<str:server_id>/events/annotate", events.annotate, name="annotation-create"),
    path("s/<str:server_id>/events/<int:event_id>/delete", events.delete, name="annotation-delete"),
    path("s/<str:server_id>/settings", adding.settings, name="server-settings"),
    path("s/<str:server_id>/delete", adding.delete, name="server-delete"),
    path(_ADVICE, recommendations.recommendation, name="recommendation"),
    path(f"{_ADVICE}/acknowledge", recommendations.acknowledge, name="recommendation-acknowledge"),
    path(f"{_ADVICE}/dismiss", recommendations.dismiss, name="recommendation-dismiss"),
    path(f"{_ADVICE}/reopen", recommendations.reopen, name="recommendation-reopen"),
    path("rules", rules.rules, name="rules"),
    path("rules/<str:rule_id>", rules.rule, name="rule"),
    path("rules/<str:rule_id>/set", rules.set_rule, name="rule-set"),
    path("rules/<str:rule_id>/clear/<str:setting_id>", rules.clear_rule, name="rule-clear"),
    path("system", system.system, name="system"),
    path("healthz", system.healthz, name="healthz"),
    path("readyz", system.readyz, name="readyz"),
]
