"""A stored verdict in words: the sentence, each metric, factors with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.ui import messages, quantities

#: Verdict -> the badge's class, its shape, its word.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "improved": ("calm", "✔", gettext_noop("improved")),
    "no_difference": ("", "=", gettext_noop("no difference seen")),
    "worse": ("critical", "◆", gettext_noop("worse")),
    "cannot_tell": ("warning", "?", gettext_noop("cannot tell")),
}
#: How one metric was judged.
JUDGED: dict[str, tuple[str, str]] = {
    "better": ("calm", gettext_noop("better")),
    "worse": ("critical", gettext_noop("worse")),
    "explained": ("warning", gettext_noop("may be the load")),
    "same": ("", gettext_noop("no difference")),
    "slight": ("", gettext_noop("too small to matter")),
}
STAGES: dict[str, str] = {
    "early": gettext_noop("early"),
    "hour": gettext_noop("after an hour"),
    "day": gettext_noop("after a day"),
}
#: Why nothing can be told.
_WHY: dict[str, str] = {
    "too_little": gettext_noop(
        "Not enough was measured yet: each side needs twelve polls of a server that has settled."
    ),
    "gaps": gettext_noop("Cannot tell: too much of the time before or after was not measured."),
    "restart": gettext_noop("Cannot tell: the server was restarted in between."),
    "resize": gettext_noop("Cannot tell: the redo log was resized inside of a window."),
    "settings": gettext_noop("Cannot tell: other system variables were changed as well: %(names)s."),
    "idle": gettext_noop("Cannot tell: hardly any work was done before or after."),
    "unmeasured": gettext_noop("Cannot tell: what it was meant to change is not measured on this server."),
}
#: Titles of metrics, which the engine names and nobody else.
_TITLES = (
    gettext_noop("time above the async point"),
    gettext_noop("time at the limit, where writers wait"),
    gettext_noop("checkpoint age against its limit, 95th percentile"),
    gettext_noop("waits for redo space or clean pages, per transaction"),
    gettext_noop("time in the server per transaction"),
    gettext_noop("threads running"),
    gettext_noop("transactions rolled back, share"),
    gettext_noop("pages written per MiB of redo"),
    gettext_noop("pages flushed synchronously, per MiB of redo"),
    gettext_noop("waits for a free page, per transaction"),
    gettext_noop("waits for the log buffer, per transaction"),
    gettext_noop("history list length"),
    gettext_noop("fsyncs per transaction"),
    gettext_noop("transactions per second"),
    gettext_noop("statements per second"),
    gettext_noop("redo written per second"),
    gettext_noop("checkpoint advance for each byte of redo"),
    gettext_noop("dirty pages of the buffer pool, percent"),
)


def sentence(document: Mapping[str, Any], verdict: str) -> str:
    """What came of it, in one sentence. ``verdict`` is empty where nothing is final yet."""
    shown = verdict or str(document.get("verdict", ""))
    if shown == "improved":
        return _("It helped: %(what)s.") % {"what": _deciding(document, "better")}
    if shown == "worse":
        return _("It got worse: %(what)s.") % {"what": _deciding(document, "worse")}
    if shown == "no_difference":
        return _("No difference was seen beyond what this server does by itself.")
    if str(document.get("why")) == "load":
        return _("Cannot tell, because the load changed: %(load)s.") % {"load": load_words(document)}
    template = _WHY.get(str(document.get("why", "")))
    if template is None:
        return _("It is not judged yet.")
    return _(template) % {"names": ", ".join(document.get("settings") or ()) or quantities.NOTHING}


def load_words(document: Mapping[str, Any]) -> str:
    """By which factor work and redo changed, with their intervals."""
    parts = [f"{title(one, document)} {change(one)} {interval(one)}".strip() for one in document.get("load") or ()]
    return ", ".join(parts)


def title(figure: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """What a metric is called; work is counted in what this server does most of."""
    if figure.get("id") == "work" and document.get("work") == "statements":
        return _("statements per second")
    return messages.gettext_or_same(str(figure.get("title", "")))


def judged_as(figure: Mapping[str, Any]) -> str:
    """The key of ``JUDGED``: what certainly moved, and by less than would matter, is no "no difference"."""
    judged = str(figure.get("judged", "same"))
    low, high = figure.get("low"), figure.get("high")
    none = 0.0 if figure.get("scale") == "share" else 1.0
    if judged == "same" and low is not None and high is not None and (low > none or high < none):
        return "slight"
    return judged


def amount(figure: Mapping[str, Any], which: str) -> str:
    value = figure.get(which)
    return quantities.NOTHING if value is None else quantities.quantity(value, str(figure.get("unit", "")))


def change(figure: Mapping[str, Any]) -> str:
    """``×2.4`` or ``÷3.1`` of an amount, ``+12.0 pp`` of a share, from or to nothing."""
    found = figure.get("change")
    if found is None:
        if not figure.get("before") and not figure.get("after"):
            return quantities.NOTHING
        return _("from zero") if not figure.get("before") else _("to zero")
    return _difference(found) if figure.get("scale") == "share" else _times(found)


def interval(figure: Mapping[str, Any]) -> str:
    """``(×1.9 – ×3.0)``; empty where there is none."""
    low, high = figure.get("low"), figure.get("high")
    if low is None or high is None:
        return ""
    form = _difference if figure.get("scale") == "share" else _times
    return f"({form(low)} – {form(high)})"


def _deciding(document: Mapping[str, Any], word: str) -> str:
    """The two metrics that say it best: those that the change was meant for first."""
    rows = [row for row in document.get("metrics") or () if row.get("judged") == word]
    if word == "better" and any(row.get("aim") for row in rows):
        rows = [row for row in rows if row.get("aim")]
    rows.sort(key=lambda row: not row.get("aim"))
    form = _("%(title)s went from %(before)s to %(after)s")
    return ", ".join(
        form % {"title": title(row, document), "before": amount(row, "before"), "after": amount(row, "after")}
        for row in rows[:2]
    )


def _times(ratio: float) -> str:
    sign, factor = ("×", ratio) if ratio >= 1 else ("÷", 1 / ratio)
    if factor >= 100:
        return f"{sign}>100"
    return f"{sign}{quantities.number(round(factor, 2))}"


def _difference(share: float) -> str:
    points = round(share * 100, 1)
    return _("%(n)s points") % {"n": f"{points:+.1f}" if points else "0"}
