"""Redo written against the advance of the checkpoint: where writing wins, the age grows."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _

from advisor.mysql import series
from advisor.ui import quantities
from advisor.ui.charts.chart import Axis, Chart, Excess, Limit, Point, Trace
from advisor.web.charts.history import Frame, History, rate_words

NAMES = (series.LSN, series.CHECKPOINT_LSN)
_MIB = 1024 * 1024
#: Fewer points than this have no 99th percentile worth a line.
_FEWEST = 20


def chart(history: History, frame: Frame) -> Chart:
    written, advanced = history.points(series.LSN, 1 / _MIB), history.points(series.CHECKPOINT_LSN, 1 / _MIB)
    words = rate_words(written)
    sentence = _("No redo rate in this time.")
    if words is not None:
        sentence = _("Redo written %(now)s MiB/s now, %(mean)s on average, at most %(most)s.") % words
    return Chart(
        id="redo-rate",
        title=_("Redo written, checkpoint advance"),
        caption="MiB/s",
        axis=Axis(quantities.number),
        unit="MiB/s",
        started=frame.started,
        ended=frame.ended,
        traces=(
            Trace(_("redo written"), "age", written, key="redo_written"),
            Trace(_("checkpoint advance"), "good", advanced, band=False, dashed=True, key="checkpoint_advance"),
        ),
        past=history.past_trace(series.LSN, _("redo written, before"), "redo_written_before", 1 / _MIB),
        excess=Excess(_("writing wins"), "sync", written, advanced),
        limits=_sustained(written, frame),
        gaps=frame.gaps,
        sentence=sentence,
        missing=_("No position in the redo log could be read in this time."),
    )


def _sustained(written: list[Point], frame: Frame) -> tuple[Limit, ...]:
    """What 99 % of the points are at or below: the rate that flushing has to keep up with, single bursts left out."""
    known = [point[3] for point in written if point is not None]
    if len(known) < _FEWEST:
        return ()
    value = float(np.percentile(known, 99))
    return (Limit(_("P99"), "past", "fine", [(frame.started, value), (frame.ended, value)], "redo_written_p99"),)
