"""What the API answers, made from rows: the only place that knows both shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from advisor.api.problems import Problem
from advisor.api.schemas import ServerIn
from advisor.recommendations.models import FleetRow, Recommendation, RuleSetting
from advisor.recommendations.rule_documents import rule_documents
from advisor.teams import access
from advisor.teams.models import Team
from advisor.ui.messages import text_of
from collector import servers
from collector.errors import BadTarget
from collector.inspecting import Standing
from collector.models import Server, ServerState
from collector.reports import ConnectionReport
from collector.store import Buckets, RecordedGap
from collector.store.document import as_document
from collector.target import parse_url


def server(row: Server) -> dict[str, Any]:
    """A server with its fleet row and collecting state, which are read with it."""
    fleet: FleetRow | None = getattr(row, "fleet_row", None)
    state: ServerState | None = getattr(row, "state", None)
    return {
        "id": row.pk,
        "name": row.name,
        "team": {"id": row.team_id, "name": row.team.name},
        "address": row.address,
        "user": row.user,
        "tls": row.tls_mode,
        "insecure": row.is_insecure,
        "tags": row.tags,
        "enabled": row.enabled,
        "fast_interval_seconds": row.fast_interval_seconds,
        "full_interval_seconds": row.full_interval_seconds,
        "host": row.host_facts,
        "version": fleet.version if fleet else "",
        "role": fleet.role if fleet else "",
        "state": fleet.state if fleet else "new",
        "state_since_at": fleet.state_since if fleet else None,
        "headline": text_of(fleet.headline) if fleet else "",
        "pressure_ratio": fleet.pressure if fleet else None,
        "headroom_seconds": fleet.headroom_seconds if fleet else None,
        "transactions_per_second": fleet.transactions_per_second if fleet else None,
        "redo_bytes_per_second": fleet.redo_bytes_per_second if fleet else None,
        "open_recommendations": fleet.open_recommendations if fleet else 0,
        "worst_severity": (fleet.worst_severity or None) if fleet else None,
        "newest_sample_at": fleet.newest_sample_at if fleet else None,
        "trouble": (state.error or None) if state else None,
        "created_at": row.created_at,
    }


def add(body: ServerIn, *, team: Team, actor: User) -> Server:
    """Registers what the body describes. Raises Problem: 409 where the name is taken, 422 naming the fields."""
    if Server.objects.filter(team=team, folded=" ".join(body.name.split()).casefold()).exists():
        raise Problem(409, "name-taken", f"The team {team.name} has a server called {body.name} already.")
    place: dict[str, Any] = {
        "host": body.host or "",
        "port": body.port,
        "socket": body.socket or "",
        "user": body.user or "",
    }
    if body.url is not None:
        if body.host or body.socket or body.user:
            raise Problem(422, "invalid", "Give either a url, or host (or socket), port and user.")
        try:
            address = parse_url(body.url)
        except BadTarget as error:
            raise Problem(422, "invalid", str(error)) from None
        place = {
            "host": address.host,
            "port": address.port,
            "socket": address.socket,
            "user": address.user,
        }
    facts = body.host_facts.model_dump(exclude_none=True) if body.host_facts else {}
    try:
        return servers.add_server(
            team=team,
            name=body.name,
            password=body.password.get_secret_value() if body.password else "",
            tls_mode=body.tls or "",
            tls_ca=body.tls_ca or "",
            tags=body.tags,
            host_facts=facts,
            unrestricted=access.may_name_any_address(actor),
            actor=actor,
            **place,
        )
    except servers.InvalidServer as error:
        errors = [{"where": name, "what": what} for name, what in error.errors.items()]
        raise Problem(422, "invalid", str(error), errors=errors) from None


def connection(report: ConnectionReport) -> dict[str, Any]:
    """What came of connecting, with what the account would have to be granted."""
    failure, identity = report.failure, report.identity
    return {
        "ok": report.reachable,
        "kind": failure.kind if failure else "ok",
        "sentence": failure.sentence if failure else f"{report.address} answers as {report.account}.",
        "next_step": failure.next_step if failure else "",
        "milliseconds": round(report.milliseconds, 1),
        "version": str(identity.version) if identity else None,
        "encrypted": report.encrypted if report.reachable else None,
        "missing": [remedy.as_dict() for remedy in report.missing],
        "account_statements": [
            {"title": title, "sql": list(statements)} for title, statements in report.account_statements
        ],
    }


def inspection(standing: Standing) -> dict[str, Any]:
    """How inspecting a server goes."""
    cost = standing.cost or {}
    return {
        "state": standing.state.value,
        "error": standing.error,
        "requested_at": standing.requested_at,
        "taken_at": standing.taken_at,
        "statements": cost.get("statements"),
        "milliseconds": cost.get("milliseconds"),
    }


def recommendation(row: Recommendation) -> dict[str, Any]:
    """The advice schema's item as last judged, and how it lasts."""
    return {
        **row.document,
        "id": row.pk,
        "server": row.server_id,
        "state": row.state,
        "opened_at": row.opened_at,
        "last_seen_at": row.last_seen_at,
        "resolved_at": row.resolved_at,
        "dismissed_reason": row.dismissed_reason or None,
        "dismissed_until": row.dismissed_until.isoformat() if row.dismissed_until else None,
        "key": row.key,
    }


def rules() -> list[dict[str, Any]]:
    """Every rule with its documentation."""
    return rule_documents()


def series(buckets: Buckets, wanted: Sequence[str], gaps: Sequence[RecordedGap]) -> dict[str, Any]:
    """The history in the API's shape: instants in unix milliseconds."""
    return as_document(buckets, wanted, gaps)


def rule_setting(row: RuleSetting) -> dict[str, Any]:
    """A team's setting of a rule."""
    return {
        "id": row.pk,
        "team": row.team.name,
        "rule": row.rule,
        "tag": row.tag,
        "off": row.off,
        "thresholds": row.thresholds,
        "reason": row.reason,
        "changed_by": row.changed_by.get_username() if row.changed_by else None,
        "changed_at": row.changed_at.isoformat(),
    }
