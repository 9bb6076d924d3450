"""The sentence at the top of a server's page, the facts that made it true, and what stands behind them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.journal.models import Event
from advisor.recommendations import recently
from advisor.recommendations.models import FleetRow
from advisor.recommendations.recently import Figure, Recently
from advisor.recommendations.vitals import Condition
from advisor.ui import events as words
from advisor.ui import quantities
from advisor.ui.period import Period
from advisor.web import addresses, happenings
from collector.models import Server

IN_TROUBLE = (Condition.CRITICAL, Condition.WARNING, Condition.WATCH)
#: What happened so long before a trouble began is shown beside it, and so many things at most.
_BEFORE = timedelta(minutes=30)
_MOST_EVENTS = 6
_MINUS = "\u2212"


@dataclass(frozen=True)
class Row:
    """One line of the evidence: a figure of the time that the sentence is about, and the same of the hour before."""

    title: str
    now: Figure | None
    before: Figure | None


@dataclass(frozen=True)
class Preceding:
    """Something that happened shortly before the trouble, or in it."""

    at: datetime
    letter: str
    text: str
    foreign: bool
    url: str


@dataclass(frozen=True)
class Banner:
    """``facts`` stand beside the sentence, ``rows`` and ``preceding`` behind it. ``span`` is the time of the rows'
    figures, ``earlier`` that of those they are compared with.
    """

    condition: Condition
    facts: Sequence[str]
    rows: Sequence[Row]
    preceding: Sequence[Preceding]
    span: str
    earlier: str
    change: str


def look(row: FleetRow, server: Server) -> Recently | None:
    """The figures of the trouble or of the last minute, and of the hour before; None where nothing is known now."""
    if row.newest_sample_at is None or Condition(row.condition) in (Condition.NEW, Condition.STALE):
        return None
    since = None
    if Condition(row.condition) in IN_TROUBLE and row.condition_since is not None:
        since = row.condition_since.timestamp()
    return recently.read(server.pk, row.newest_sample_at.timestamp(), since, server.fast_interval_seconds)


def read(row: FleetRow, server: Server, found: Recently | None, point: str, happened: Sequence[Event] = ()) -> Banner:
    """``point`` is what the pressure is measured against on this server, in words; ``happened`` are its events."""
    condition = Condition(row.condition)
    if found is None:
        return Banner(condition, (), (), (), "", "", "")
    troubled = condition in IN_TROUBLE
    return Banner(
        condition=condition,
        facts=_facts(found, point, condition),
        rows=_rows(found),
        preceding=_preceding(row, server, happened) if troubled else (),
        span=_span(found.started_at, found.ended_at),
        earlier=_window(found.before),
        change=change_words(found.change_ratio),
    )


def change_words(ratio: float | None) -> str:
    """``−64 %`` of -0.64; empty where it is not known."""
    if ratio is None:
        return ""
    percent = round(ratio * 100)
    sign = "+" if percent > 0 else _MINUS if percent < 0 else "±"
    return f"{sign}{quantities.number(abs(percent))} %"


def _facts(found: Recently, point: str, condition: Condition) -> list[str]:
    """Three at most: how near, how hard, what it did to the work."""
    now, facts = found.now, []
    if condition in IN_TROUBLE and "highest" in now:
        facts.append(
            _("%(share)s of the %(point)s") % {"share": quantities.percent(now["highest"].value), "point": point}
        )
    if condition is Condition.CRITICAL and (harm := _harm(found)):
        facts.append(harm)
    elif "redo" in now:
        facts.append(_("redo %(rate)s") % {"rate": quantities.quantity(now["redo"].value, now["redo"].unit)})
    if "transactions" in now:
        change = change_words(found.change_ratio)
        rate = quantities.quantity(now["transactions"].value, now["transactions"].unit)
        facts.append(
            _("transactions %(change)s") % {"change": change}
            if condition in IN_TROUBLE and change
            else _("transactions %(rate)s") % {"rate": rate}
        )
    return facts


def _harm(found: Recently) -> str:
    """How often writers waited, or how long the age stood at the limit where no counter tells of waits."""
    # Nobody reads seconds beside minutes at three in the morning.
    length = quantities.duration(round(found.seconds / 60) * 60 if found.seconds >= 120 else round(found.seconds))
    waits, pages = (round(found.now[name].value) if name in found.now else 0 for name in ("waits", "sync_pages"))
    if waits:
        return ngettext("%(n)s wait for redo in %(time)s", "%(n)s waits for redo in %(time)s", waits) % {
            "n": quantities.number(waits),
            "time": length,
        }
    if pages:
        return ngettext(
            "%(n)s page flushed synchronously in %(time)s", "%(n)s pages flushed synchronously in %(time)s", pages
        ) % {"n": quantities.number(pages), "time": length}
    share = found.now.get("at_limit")
    if share is None or not share.value:
        return ""
    return _("at the limit for %(share)s of %(time)s") % {"share": quantities.percent(share.value), "time": length}


def _rows(found: Recently) -> list[Row]:
    titles = {
        "highest": _("Highest pressure"),
        "pressure": _("Pressure at the end"),
        "at_limit": _("Share of polls at the limit"),
        "waits": _("Waits for redo space"),
        "sync_pages": _("Pages flushed synchronously"),
        "transactions": _("Transactions"),
        "redo": _("Redo written"),
        "checkpoint": _("Checkpoint advances"),
        "flushed": _("Pages flushed"),
        "dirty": _("Dirty pages"),
    }
    return [
        Row(title, found.now.get(name), found.before.get(name)) for name, title in titles.items() if name in found.now
    ]


def events(row: FleetRow, server: Server, period: Period) -> list[Event]:
    """What happened from half an hour before a trouble on, up to now; with it, in one question, what happened in the
    range of the page where that ends now.
    """
    now = datetime.fromtimestamp(time.time() + 1, UTC)
    started = datetime.fromtimestamp(period.started, UTC) if period.moves else now
    if row.condition_since is not None and Condition(row.condition) in IN_TROUBLE:
        started = min(started, row.condition_since - _BEFORE)
    return happenings.events(server, started, now) if started < now else []


def _preceding(row: FleetRow, server: Server, found: Sequence[Event]) -> list[Preceding]:
    """From half an hour before the trouble on, the earliest first: what began it is older than it."""
    if row.condition_since is None:
        return []
    began = row.condition_since - _BEFORE
    address = addresses.of("server-events", server.pk)
    return [
        Preceding(
            event.at,
            words.letter_of(event.kind, event.data),
            words.sentence(event.kind, event.data),
            words.is_foreign(event.kind, event.data),
            f"{address}?event={event.pk}#event-{event.pk}",
        )
        for event in [event for event in found if event.at >= began][:_MOST_EVENTS]
    ]


def _span(started: float, ended: float) -> str:
    return quantities.span(datetime.fromtimestamp(started, UTC), datetime.fromtimestamp(ended, UTC))


def _window(figures: dict[str, Figure]) -> str:
    first = next(iter(figures.values()), None)
    return "" if first is None else _span(first.started_at, first.ended_at)
