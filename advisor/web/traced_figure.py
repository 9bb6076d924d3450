"""Where a figure of another page comes from: the samples that it was made of, and how (``?how=`` of its link)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _

from advisor.engine.facts.redo import AT_LIMIT
from advisor.engine.statistics import percentile
from advisor.mysql import series
from advisor.mysql.meanings import series_unit
from advisor.ui import quantities
from advisor.web.counter_words import in_unit
from collector.store import Buckets, Series, SeriesKind

HOWS = ("last", "least", "greatest", "mean", "p95", "rate", "seconds-at-limit", "headroom")
#: What a headroom is made of: the limit, the age, and how fast the log grows and is checkpointed.
HEADROOM = (series.EFFECTIVE_SYNC_POINT, series.CHECKPOINT_AGE, series.LSN, series.CHECKPOINT_LSN)


@dataclass(frozen=True)
class Traced:
    """The figure made again from the samples, and a sentence on how; ``figure`` is empty where none are left."""

    name: str
    how: str
    figure: str
    sentence: str


def names_for(names: Sequence[str], how: str) -> list[str]:
    """Of the names of the link those that its figure is made of."""
    return list(HEADROOM) if how == "headroom" and list(names) == list(HEADROOM) else list(names[:1])


def traced(buckets: Buckets, name: str, how: str) -> Traced | None:
    """None where the link does not say how, or in a word that this program does not know."""
    if how not in HOWS or name not in buckets.series:
        return None
    if how == "headroom":
        return _headroom(buckets)
    one = buckets.series[name]
    known = one.last[np.isfinite(one.last)]
    if known.size and how == "seconds-at-limit":
        return Traced(name, how, quantities.duration(_at_limit(buckets, one)), _words(how))
    if not known.size:
        return Traced(name, how, "", _("No sample of it is left in this time: the figure cannot be made again."))
    return Traced(
        name, how, in_unit(_made(one, known, how), series_unit(name, rate=one.kind is SeriesKind.RATE)), _words(how)
    )


def _headroom(buckets: Buckets) -> Traced | None:
    """The room up to the limit by the growth of the age, in seconds; None where the link lacks one of the four."""
    if not all(name in buckets.series for name in HEADROOM):
        return None
    limit, age, written, advanced = (one[np.isfinite(one)] for one in (buckets.series[name].last for name in HEADROOM))
    title = ", ".join(HEADROOM)
    if not (limit.size and age.size and written.size and advanced.size):
        return Traced(
            title, "headroom", "", _("No sample of it is left in this time: the figure cannot be made again.")
        )
    growth = float(written.mean() - advanced.mean())
    text = quantities.duration(max(0.0, float(limit[-1] - age[-1])) / growth) if growth > 0 else quantities.NOTHING
    return Traced(title, "headroom", text, _words("headroom"))


def _at_limit(buckets: Buckets, one: Series) -> float:
    """The seconds before each sample at the limit; a hole counts for no more than four usual times between two."""
    at = buckets.at[np.isfinite(one.last)] / 1000
    spent = np.diff(at, prepend=at[:1])
    usual = float(np.median(spent[1:])) if spent.size > 1 else 0.0
    reached = one.last[np.isfinite(one.last)] >= AT_LIMIT
    return float(np.minimum(spent, 4 * usual)[reached].sum())


def _made(one: Series, known: npt.NDArray[np.float64], how: str) -> float:
    if how == "last":
        return float(known[-1])
    if how == "least":
        return float(np.nanmin(one.least))
    if how == "greatest":
        return float(np.nanmax(one.greatest))
    return percentile(known.tolist(), 0.95) if how == "p95" else float(known.mean())


def _words(how: str) -> str:
    return {
        "last": _("The newest sample of this time."),
        "least": _("The smallest of all samples of this time."),
        "greatest": _("The greatest of all samples of this time."),
        "mean": _("The mean of all samples of this time."),
        "p95": _("95 % of all samples of this time are at or below it."),
        "seconds-at-limit": _("The time of the samples at the limit, added up."),
        "headroom": _("The growth of the age up to its limit, at the slope of this minute."),
        "rate": _("The growth per second by the server's own clock, as the mean of all samples of this time."),
    }[how]
