"""One server as a row of the fleet page: every cell ready to be printed, so that the template holds no rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.recommendations.fleet_words import GROUP_PREFIX
from advisor.recommendations.models import FleetRow
from advisor.recommendations.vitals import Condition
from advisor.ui import messages, quantities
from advisor.ui.charts import small
from advisor.web.figure_links import minute_of, of_samples
from advisor.web.traced_figure import HEADROOM

#: Tags beyond these are counted: the page has one line for them.
_TAGS = 3


@dataclass(frozen=True)
class Cells:
    """Texts of one row, its figures as links to their samples. ``why`` says what made the state, ``why_url`` leads to
    it, ``and_then`` is what comes second: the advice where the trouble is measured.
    """

    id: str
    url: str
    state: str
    trouble: str
    name: str
    insecure: bool
    about: str
    bar: SafeString | str
    pressure: str
    dirty: str
    headroom: str
    none_left: bool
    spark: SafeString | str
    transactions: str
    why: str
    why_url: str
    and_then: str
    and_then_url: str


def cells_of(row: FleetRow) -> Cells:
    server = row.server
    known = row.state not in ("stale", "new")
    why, why_url, and_then, and_then_url = _reasons(row)
    pressure = "" if row.pressure is None or row.state == "new" else quantities.percent(row.pressure)
    return Cells(
        id=row.server_id,
        url=reverse("server", args=[row.server_id]),
        state=row.state,
        trouble=quantities.duration(round(row.trouble_seconds / 60) * 60) if row.trouble_seconds >= 60 else "",
        name=server.name,
        insecure=server.is_insecure,
        about=" · ".join(_about(row)),
        bar=_bar(row, pressure) if pressure else "",
        pressure=_traced(row, pressure, row.pressure, series.PRESSURE, "last") if pressure else "",
        dirty=_dirty(row) if known else "",
        headroom=_headroom(row) if known else "",
        none_left=row.headroom_seconds == 0,
        spark=_spark(row) if row.sparkline else "",
        transactions=_transactions(row) if known else "",
        why=why,
        why_url=why_url,
        and_then=and_then,
        and_then_url=and_then_url,
    )


def _traced(row: FleetRow, text: str, value: float | None, names: str, how: str) -> str:
    if value is None or row.newest_sample_at is None:
        return text
    bounds = minute_of(row.newest_sample_at, row.server.fast_interval_seconds, look_back=how == "last")
    return of_samples(row.server_id, text, value, names=names, how=how, bounds=bounds)


def _dirty(row: FleetRow) -> str:
    if row.dirty_percent is None:
        return ""
    text = _("dirty %(n)s %%") % {"n": quantities.number(round(row.dirty_percent))}
    return _traced(row, text, row.dirty_percent, series.DIRTY_PERCENT, "last")


def _transactions(row: FleetRow) -> str:
    rate = row.transactions_per_second
    if rate is None:
        return ""
    return _traced(row, f"{quantities.number(rate)} /s", rate, series.TRANSACTIONS, "mean")


def _headroom(row: FleetRow) -> str:
    """Words, or a time as a link to the four series that it is made of. None left: writers waited, as the row says."""
    text = headroom_words(row)
    if not row.headroom_seconds or row.condition == Condition.WARNING:
        return text
    return _traced(row, text, row.headroom_seconds, ",".join(HEADROOM), "headroom")


def headroom_words(row: FleetRow) -> str:
    """The time until writers wait at the present slope; words where a slope is no forecast."""
    if row.pressure is None:
        return ""
    if row.condition == Condition.WARNING and row.headroom_seconds != 0:
        return _("flushing holds it")
    if row.headroom_seconds is None:
        return _("draining")
    return quantities.duration(_rounded(row.headroom_seconds))


def _rounded(seconds: float) -> float:
    """Whole minutes from ten minutes on: a forecast has no more digits."""
    return round(seconds / 60) * 60 if seconds >= 600 else round(seconds)


def _about(row: FleetRow) -> list[str]:
    facts = [row.version or row.server.address]
    if row.role in ("replica", "source"):
        facts.append(_("replica") if row.role == "replica" else _("source"))
    tags = [str(tag) for tag in row.server.tags] if isinstance(row.server.tags, list) else []
    shown = [tag for tag in tags if not tag.casefold().startswith(GROUP_PREFIX)] or tags
    facts += shown[:_TAGS]
    if len(shown) > _TAGS:
        facts.append(f"+{len(shown) - _TAGS}")
    return facts


def _bar(row: FleetRow, pressure: str) -> SafeString:
    words = _("%(n)s of the point at which writers wait") % {"n": pressure}
    return small.pressure_bar(row.pressure or 0.0, row.async_ratio, words)


def _spark(row: FleetRow) -> SafeString:
    newest = quantities.NOTHING
    if row.transactions_per_second is not None:
        newest = quantities.number(row.transactions_per_second)
    return small.sparkline(row.sparkline, _("Transactions per second over six hours, now %(n)s") % {"n": newest})


def _reasons(row: FleetRow) -> tuple[str, str, str, str]:
    """Why the row is in its state, where that leads, and what to say second.

    Trouble that is measured comes before advice; where only advice makes the state, the advice is the reason.
    """
    said = messages.text_of(row.headline) if row.headline else ""
    advice, advice_url = _advice(row)
    measured = row.state == row.condition
    if row.state in ("stale", "new"):
        return said, "", "", ""
    if row.state == "calm" or not measured:
        return (advice, advice_url, "", "") if advice else (said, "", "", "")
    return said, "", advice, advice_url


def _advice(row: FleetRow) -> tuple[str, str]:
    if not row.worst_title:
        return "", ""
    words: Mapping[str, Any] | str = row.worst_words or row.worst_title
    text = messages.text_of(words)
    if row.worst_since is not None:
        text = _("%(what)s, since %(when)s") % {"what": text, "when": quantities.instant(row.worst_since)}
    if row.open_recommendations > 1:
        # Its three words stay together at the end of a line.
        count = _("(1 of %(n)s)") % {"n": row.open_recommendations}
        text += " " + count.replace(" ", "\N{NO-BREAK SPACE}")
    url = reverse("recommendation", args=[row.server_id, row.worst_id]) if row.worst_id else ""
    return text, url
