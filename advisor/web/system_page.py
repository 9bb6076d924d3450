"""What the system page shows: who collects, what is late, how much is stored, and what watching costs the servers."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from advisor.teams import access
from collector.models import OpenSample, SealedBlock, Server, ServerState, Shard, StoredInspection


def read(user: AbstractBaseUser | AnonymousUser) -> dict[str, Any]:
    """Figures of the installation; of servers only those that the reader may see are named."""
    now = timezone.now().timestamp()
    shards = list(Shard.objects.filter(servers__enabled=True).distinct().order_by("number"))
    states = list(
        ServerState.objects.filter(
            server__enabled=True, server__in=access.servers_for(user).order_by().values("pk")
        ).select_related("server")
    )
    late = []
    for state in states:
        if not state.fast_slot:
            continue
        seconds = now - state.fast_slot
        if seconds > 0:
            late.append((seconds, state))
    late.sort(key=lambda one: -one[0])
    inspected = {
        row.server_id: [(_("an inspection"), row.cost)]
        for row in StoredInspection.objects.filter(server__in=access.servers_for(user).order_by().values("pk"))
        .only("server_id", "cost")
        .order_by("taken_at", "pk")
        if isinstance(row.cost, dict)
    }
    return {
        "version": settings.VERSION,
        "workers": [(shard, shard.lease_until - now) for shard in shards],
        "held": sum(shard.lease_until > now for shard in shards),
        "servers": len(states),
        "disabled": access.servers_for(user).filter(enabled=False).count(),
        "failing": [state for state in states if state.error],
        "latest": late[0] if late else None,
        "costs": [(state.server, cost) for state in states if (cost := _cost(state) + inspected.get(state.pk, []))],
        "samples": OpenSample.objects.count() + (SealedBlock.objects.aggregate(n=Sum("count"))["n"] or 0),
        "blocks": SealedBlock.objects.count(),
        "database": connection.vendor,
        "retention_days": settings.SAMPLE_RETENTION_DAYS,
        "all_servers": Server.objects.count(),
    }


def _cost(state: ServerState) -> list[tuple[str, dict[str, Any]]]:
    """What the last poll and the last snapshot cost the server, by what the collector noted."""
    known = state.cost if isinstance(state.cost, dict) else {}
    titles = (("poll", _("a poll")), ("snapshot", _("a snapshot")))
    return [(title, known[name]) for name, title in titles if isinstance(known.get(name), dict)]
