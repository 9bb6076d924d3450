"""One chart of a server as a file: SVG, CSV, or JSON. A PNG is made of the SVG by the browser."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from django.utils import timezone

from advisor.ui.charts import export, standalone
from advisor.ui.period import Period
from advisor.web.charts.drawing import keys, spread_keys
from advisor.web.server_charts import ServerCharts
from collector.models import Server

FORMS = {"svg": "image/svg+xml", "csv": "text/csv; charset=utf-8", "json": "application/json"}


@dataclass(frozen=True)
class File:
    """What is sent: its name says whose it is, of what and from when."""

    name: str
    kind: str
    text: str


def made(server: Server, charts: ServerCharts, period: Period, chart_id: str, form: str) -> File | None:
    """The file; None where there is no such chart or form."""
    if form not in FORMS:
        return None
    text = _of(server, charts, chart_id, form)
    if text is None:
        return None
    # Names of servers are free text, and this one goes into a header and onto somebody's disk.
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", server.name).strip(".-") or "server"
    return File(f"{safe}-{chart_id}-{round(period.started)}-{round(period.ended)}.{form}", FORMS[form], text)


def _of(server: Server, charts: ServerCharts, chart_id: str, form: str) -> str | None:
    if chart_id == charts.occupancy.id:
        spread = charts.occupancy
        if form == "svg":
            return standalone.distribution_file(spread, spread_keys(spread), server.name)
        return export.spread_csv(spread) if form == "csv" else json.dumps(export.spread_series(spread))
    chart = charts.chart(chart_id)
    if chart is None:
        return None
    if form == "svg":
        return standalone.chart_file(chart, keys(chart), server.name, timezone.get_current_timezone())
    if form == "csv":
        return export.as_csv(chart)
    return json.dumps(export.as_series(chart, charts.step_seconds), ensure_ascii=False)
