"""Where a figure of another page comes from: the samples that it was made of, and how (``?how=`` of its link)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _

from advisor.engine.statistics import percentile
from advisor.mysql.meanings import series_unit
from advisor.web.counter_words import in_unit
from collector.store import Buckets, Series, SeriesKind

HOWS = ("last", "least", "greatest", "mean", "p95", "rate")


@dataclass(frozen=True)
class Traced:
    """The figure made again from the samples, and a sentence on how; ``figure`` is empty where none are left."""

    name: str
    how: str
    figure: str
    sentence: str


def traced(buckets: Buckets, name: str, how: str) -> Traced | None:
    """None where the link does not say how, or in a word that this program does not know."""
    if how not in HOWS or name not in buckets.series:
        return None
    one = buckets.series[name]
    known = one.last[np.isfinite(one.last)]
    if not known.size:
        return Traced(name, how, "", _("No sample of it is left in this time: the figure cannot be made again."))
    return Traced(
        name, how, in_unit(_made(one, known, how), series_unit(name, rate=one.kind is SeriesKind.RATE)), _words(how)
    )


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
        "rate": _("The growth per second by the server's own clock, as the mean of all samples of this time."),
    }[how]
