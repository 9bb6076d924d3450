"""Forty texts that try to be more than text, and a made-up server that says them in every field it has.

Each tries to make an element, an attribute, a script, an address, a template or a formula that bears the word ``tmx``,
so that one that got through is found by that word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import zstandard
from django.contrib.auth.models import User
from django.utils import timezone

from advisor.journal.models import Event
from advisor.recommendations.models import FleetRow, Recommendation, RuleSetting
from collector.inspecting import pack as pack_inspection
from collector.models import Gap, InspectionRequest, Server, ServerState, StoredInspection, StoredSnapshot

PAYLOADS: tuple[str, ...] = (
    "<script>tmx()</script>",
    "</script><script>tmx()</script>",
    "<img src=x onerror=tmx()>",
    "<IMG SRC=x OnErRoR=tmx()>",
    '"><img src=x onerror=tmx()>',
    "'><img src=x onerror=tmx()>",
    "`><img src=x onerror=tmx()>",
    '" onmouseover="tmx()" x="',
    "' onmouseover='tmx()' x='",
    '" autofocus onfocus=tmx() x="',
    " onfocus=tmx() autofocus tabindex=1",
    '" style="animation-name:tmx" onanimationstart="tmx()',
    "</title><script>tmx()</script>",
    "</textarea><script>tmx()</script>",
    "</style><script>tmx()</script>",
    "</option></select><img src=x onerror=tmx()>",
    "--><script>tmx()</script><!--",
    "]]><script>tmx()</script>",
    "<svg onload=tmx()>",
    "<svg><script href=data:,tmx()></script></svg>",
    "<svg><a xlink:href=javascript:tmx()><text>tmx</text></a></svg>",
    "</text></svg><img src=x onerror=tmx()>",
    "<math><mtext></mtext><mglyph><style></math><img src=x onerror=tmx()>",
    "<iframe srcdoc='<script>parent.tmx()</script>'></iframe>",
    "<object data=javascript:tmx()></object>",
    "<base href=//tmx.invalid/>",
    "<meta http-equiv=refresh content='0;url=javascript:tmx()'>",
    "<form action=javascript:tmx()><button>tmx</button></form>",
    "<details open ontoggle=tmx()>",
    "<div hx-get=/tmx hx-trigger=load></div>",
    "<div data-refresh=1 hx-on:load=tmx()></div>",
    "javascript:tmx()//",
    "JaVaScRiPt:tmx()",
    "data:text/html,<script>tmx()</script>",
    "{{ 7|add:7 }}{% debug %}{{ tmx }}",
    "${tmx()} #{tmx} <%= tmx %> %(tmx)s {tmx} %s",
    "\u202etmx\u2066\u200f right to left \u0000\u0008\u2028\u2029",
    "=HYPERLINK(\"http://tmx.invalid/\",\"tmx\")",
    "+tmx|' /C calc'!A0",
    "tmx" + "W" * 400 + "&lt;&amp;lt;&#60;tmx",
)  # fmt: skip
#: All at once, for fields that hold one text.
ALL = " ".join(PAYLOADS)
#: Names of a document that decide what is drawn and are Tidemark's own words: no server and no person gives them.
_OURS = {
    "schema",
    "rule",
    "severity",
    "confidence",
    "unit",
    "kind",
    "id",
    "flavor",
    "source",
    "state",
    "at",
    "key",
    "rules",
    "references",
    "window",
    "effect",
    "catalogue",
}


def hostile(value: Any, text: str = ALL) -> Any:
    """The document with each text of somebody else's replaced by ``text``."""
    if isinstance(value, Mapping):
        return {name: one if name in _OURS else hostile(one, text) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [hostile(one, text) for one in value]
    return text if isinstance(value, str) and value else value


def say(server: Server, text: str = ALL) -> None:
    """Puts the text into every field of the server, of what is stored of it, and of who works on it."""
    now = timezone.now()
    person = User.objects.create(username=text[:3000] + f" {server.pk}")
    Server.objects.filter(pk=server.pk).update(
        name=text, folded=text, host=text, user=text, tags=[*PAYLOADS, text] if text == ALL else [text],
        host_facts={"memory_bytes": {"value": 2**37, "origin": text}, "storage": {"value": text, "origin": text}},
    )  # fmt: skip
    ServerState.objects.filter(server=server).update(
        error=text, error_kind="refused", error_since=now,
        identity={"hostname": text, "unique_id": text, "version": text, "comment": text, "flavor": "mysql"},
    )  # fmt: skip
    _snapshot(server, text)
    _inspection(server, text)
    Gap.objects.create(server=server, started_at=now.timestamp() - 900, ended_at=now.timestamp() - 800, why=text)
    for recommendation in Recommendation.objects.filter(server=server):
        document = recommendation.document
        # Which variable is set to what is a proposal, made by a rule.
        recommendation.document = {**hostile(document, text), "changes": document["changes"]}
        recommendation.dismissed_reason = text
        recommendation.decided_by = person
        recommendation.decided_at = now
        recommendation.save()
    RuleSetting.objects.create(
        team=server.team, rule="flush.neighbors-on-ssd", tag=text, off=True, reason=text, changed_at=now,
        changed_by=person,
    )  # fmt: skip
    row = FleetRow.objects.get(server=server)
    row.folded = row.group = row.words = row.version = row.role = row.worst_title = text
    row.headline, row.worst_words = hostile(row.headline, text), {}
    row.save()
    _events(server, person, text)


def _snapshot(server: Server, text: str) -> None:
    newest = StoredSnapshot.objects.filter(server=server).latest("slot")
    document = json.loads(zstandard.ZstdDecompressor().decompress(bytes(newest.payload)))
    texts = PAYLOADS if text == ALL else (text,)
    for part in ("variables", "status", "plugins"):
        document[part] = {**document[part], **dict.fromkeys(texts, text), "version_comment": text, "datadir": text}
    document["identity"] |= {"hostname": text, "unique_id": text}
    document["grants"] = list(texts)
    document["probes"] = [
        {**one, "reason": text, "remedy": hostile(one.get("remedy"), text)} for one in document["probes"]
    ]
    newest.payload = zstandard.ZstdCompressor().compress(json.dumps(document).encode("utf-8", errors="replace"))
    newest.save()


def _inspection(server: Server, text: str) -> None:
    from advisor.mysql.inspection import Inspection
    from advisor.mysql.snapshot import ProbeResult, ProbeState

    reports = tuple(
        ProbeResult(name, ProbeState.FAILED, 1.0, reason=text) for name in ("accounts", "tables", "digests")
    )
    now = timezone.now()
    StoredInspection.objects.create(
        server=server, taken_at=now, identity=text, cost={"statements": 3, "rows": 9, "bytes": 99, "milliseconds": 1.0},
        payload=pack_inspection(Inspection(now.timestamp(), text, {"tables": ({"table_name": text},)}, reports)),
    )  # fmt: skip
    InspectionRequest.objects.create(server=server, requested_at=now, started_at=now, ended_at=now, error=text)


def _events(server: Server, person: User, text: str) -> None:
    """One of each kind there is, the newest last."""
    kinds: dict[str, dict[str, Any]] = {
        "server.restarted": {"uptime_seconds": 12},
        "server.variable_changed": {"name": text, "old": text, "new": text, "source": "foreign"},
        "server.variables_changed": {"changes": {text: [text, text]}, "count": 1},
        "server.version_changed": {"from": text, "to": text},
        "server.role_changed": {"from": text, "to": text},
        "server.replaced": {"from": text, "to": text},
        "server.unreadable": {"kind": text, "sentence": text},
        "server.recovered": {"kind": text, "seconds": 9},
        "recommendation.opened": {"title": text, "rule": "redo.redo-log-undersized", "severity": "critical"},
        "recommendation.dismissed": {"reason": text, "title": text},
        "annotation.created": {"text": text, "tags": [*PAYLOADS] if text == ALL else [text]},
        text[:60]: {text: text},
    }
    now = timezone.now()
    Event.objects.bulk_create(
        Event(team=server.team, server_id=server.pk, kind=kind, at=now - timedelta(minutes=20 - number), actor=person,
              data=data)
        for number, (kind, data) in enumerate(kinds.items())
    )  # fmt: skip
