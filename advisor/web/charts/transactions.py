"""Transactions a second, with the same hours of last week behind them, and how long one fsync of the logs takes."""

from __future__ import annotations

from django.utils.translation import gettext as _

from advisor.mysql import counters, series
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Chart, Trace
from advisor.web.charts import fsyncs
from advisor.web.charts.history import Frame, History, rate_words

NAMES = (series.TRANSACTIONS, series.TRANSACTIONS_METHOD)


def chart(history: History, frame: Frame, before: str, fsynced: History | None = None) -> Chart:
    """``before`` names the range that is compared with; ``fsynced`` is of the full tier."""
    points = history.points(series.TRANSACTIONS)
    code = history.last(series.TRANSACTIONS_METHOD)
    method = counters.METHODS.get(int(code)) if code is not None else None
    caption = _("per second")
    if method is not None:
        caption += " · " + _(method.title)
    words = rate_words(points)
    sentence = _("No transactions counted in this time.")
    if words is not None:
        sentence = (
            _("%(now)s transactions per second now, %(mean)s on average, between %(least)s and %(most)s.") % words
        )
    return Chart(
        id="transactions",
        title=_("Transactions"),
        caption=caption,
        axis=Axis(quantities.number),
        unit="1/s",
        started=frame.started,
        ended=frame.ended,
        traces=(Trace(_("transactions"), "second", points, filled=True, key=series.TRANSACTIONS),),
        past=history.past_trace(series.TRANSACTIONS, before, "transactions_before"),
        gaps=frame.gaps,
        sentence=sentence,
        second=fsyncs.scale(points, fsynced),
        notes=(fsyncs.words(frame.snapshot),),
        missing=_("No counter of transactions could be read in this time."),
    )
