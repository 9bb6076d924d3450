"""Before and after as the page shows it: rows in the order of how unusual they are, settings that differ, and words.

Nothing here says better or worse: that is for the verification of a change, which knows what was wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.engine.compare import Change, Comparison, Side
from advisor.engine.compare_factors import Factor
from advisor.mysql.counters import METHODS, Kind
from advisor.mysql.meanings import meaning, series_unit
from advisor.ui import quantities
from advisor.ui.whisker import whisker
from advisor.web.counter_words import in_unit, words

#: Rows before the reader asks for all.
LISTED = 40
VIEWS = ("second", "work")


@dataclass(frozen=True)
class Filters:
    """What of the comparison is shown. ``by`` is one of VIEWS, or empty for what the load suggests."""

    by: str = ""
    search: str = ""
    unusual: bool = False
    zero: bool = False
    everything: bool = False

    def query(self, **changed: object) -> str:
        """The filters as they stand in the address, with some of them changed."""
        now = replace(self, **changed)  # type: ignore[arg-type]
        said = {"by": now.by, "q": now.search, "unusual": now.unusual, "zero": now.zero, "all": now.everything}
        return urlencode({name: 1 if value is True else value for name, value in said.items() if value})


@dataclass(frozen=True)
class Row:
    """One counter as texts. ``factor`` is the view's and ``other`` that of the other view; ``mark`` is unusual, usual
    or unknown.
    """

    name: str
    also: Sequence[str]
    text: str
    before: str
    after: str
    before_work: str
    after_work: str
    factor: str
    interval: str
    other: str
    drawing: str
    mark: str
    gauge: bool


def per_work(found: Comparison, filters: Filters) -> bool:
    """Whether rows are told per unit of work: as the reader wishes, else as the load suggests."""
    return found.work is not None and (filters.by == "work" or (filters.by != "second" and found.per_work))


def chosen(found: Comparison, filters: Filters) -> tuple[list[Change], int]:
    """The changes that the filters let through, in order, and how many stood still and were left out for that."""
    by_work = per_work(found, filters)
    ordered = found.ordered(per_work=by_work)
    wanted = filters.search.casefold().split()
    if wanted:
        ordered = [one for one in ordered if _has(one, wanted)]
    if filters.unusual:
        ordered = [one for one in ordered if one.unusual(per_work=by_work)]
    moving = ordered if filters.zero else [one for one in ordered if not one.still]
    return moving, len(ordered) - len(moving)


def _has(change: Change, wanted: Sequence[str]) -> bool:
    text = " ".join((change.name, *change.also, words(meaning(change.name)))).casefold()
    return all(word in text for word in wanted)


def row(change: Change, by_work: bool) -> Row:
    unit = series_unit(change.name, rate=change.kind is not Kind.GAUGE)
    told_by_work = by_work and change.per_work is not None
    shown = change.per_work if told_by_work and change.per_work is not None else change.per_second
    beside = change.per_second if told_by_work else change.per_work
    unusual = change.unusual(per_work=by_work)
    factor = factor_words(shown)
    bounds = interval_words(shown)
    other = ""
    if beside is not None and beside.ratio is not None:
        form = _("%(factor)s per second") if told_by_work else _("%(factor)s per unit of work")
        other = form % {"factor": factor_words(beside)}
    return Row(
        name=change.name,
        also=change.also,
        text=words(meaning(change.name)),
        before=in_unit(change.per_second.before, unit),
        after=in_unit(change.per_second.after, unit),
        before_work=_per_unit(change.per_work, unit, before=True),
        after_work=_per_unit(change.per_work, unit, before=False),
        factor=factor,
        interval=bounds,
        other=other,
        drawing=whisker(
            shown.ratio,
            shown.low,
            shown.high,
            grew=shown.after > shown.before,
            unusual=bool(unusual),
            words=f"{factor} {bounds}".strip(),
        ),
        gauge=change.kind is Kind.GAUGE,
        mark="unknown" if unusual is None else "unusual" if unusual else "usual",
    )


def _per_unit(factor: Factor | None, unit: str, *, before: bool) -> str:
    if factor is None:
        return quantities.NOTHING
    value = factor.before if before else factor.after
    return in_unit(value, {"1/s": "count"}.get(unit, unit.removesuffix("/s")))


def factor_words(factor: Factor) -> str:
    """``×2.4``, ``÷3.1``, from or to nothing."""
    if factor.before == factor.after == 0:
        return quantities.NOTHING
    if factor.before == 0:
        return _("from zero")
    if factor.after == 0:
        return _("to zero")
    return "±" if factor.ratio is None else times(factor.ratio)


def times(ratio: float) -> str:
    """``×2.4`` of 2.4, ``÷3.1`` of 0.32."""
    sign, amount = ("×", ratio) if ratio >= 1 else ("÷", 1 / ratio)
    return f"{sign}{quantities.number(round(amount, 2))}"


def interval_words(factor: Factor) -> str:
    """``(1.9–3.0)`` in the sense of the factor: of ×2.4 as multiples, of ÷3.1 as divisors."""
    if factor.ratio is None or factor.low is None or factor.high is None or factor.low <= 0:
        return ""
    low, high = factor.low, factor.high
    if low < 1 < high:
        return f"({times(low)} – {times(high)})"
    ends = (low, high) if factor.ratio >= 1 else (1 / high, 1 / low)
    return "({}–{})".format(*(quantities.number(round(end, 2)) for end in ends))


def unit_word(found: Comparison) -> str:
    """The unit of work after "per"."""
    return _("statement") if found.work is None or found.work.kind == "statements" else _("transaction")


def load_words(found: Comparison) -> tuple[str, str]:
    """What the load did, first of all, and how it was counted."""
    work = found.work
    if work is None:
        return _("No load to speak of in one of the windows: rates per second are all there is."), ""
    facts = _("%(before)s → %(after)s per second") % {
        "before": quantities.number(work.before),
        "after": quantities.number(work.after),
    }
    method = next((one for one in METHODS.values() if one.id == work.method), None)
    facts += " · " + (_(method.title) if method is not None else _("statements, since hardly any transaction ended"))
    said = {"factor": times(work.ratio), "unit": unit_word(found)}
    if work.changed:
        return _("The load changed %(factor)s: compare per %(unit)s.") % said, facts
    return _("The load is about the same (%(factor)s): per second and per %(unit)s say the same.") % said, facts


def side_words(side: Side) -> list[str]:
    """What has to be known of one window: how much was measured, what is left out, restarts."""
    said = [
        _("%(time)s measured in %(n)s snapshots")
        % {"time": quantities.duration(round(side.measured_seconds)), "n": f"{side.readings:,}"}
    ]
    if side.restarts:
        count = len(side.restarts)
        moments = ", ".join(quantities.instant(datetime.fromtimestamp(at, UTC)) for at in side.restarts[:3])
        said.append(
            ngettext(
                "restarted once (%(at)s): rates are of the times between, never across",
                "restarted %(n)s times (%(at)s): rates are of the times between, never across",
                count,
            )
            % {"n": count, "at": moments}
        )
    if side.left_out_seconds:
        time = quantities.duration(round(side.left_out_seconds))
        said.append(_("%(time)s left out: nothing can be said of it") % {"time": time})
    return said


def restart_words(found: Comparison) -> str:
    """That another process answered in the second window; nothing where it was the same."""
    if found.restarted_at is None:
        return ""
    at = quantities.instant(datetime.fromtimestamp(found.restarted_at, UTC))
    return _("The server was restarted between the windows (%(at)s): its caches began cold.") % {"at": at}


def judged_words(found: Comparison) -> str:
    """Why nothing is called unusual, where that is so."""
    if found.judged:
        return ""
    return _(
        "Too short to judge: it takes ten blocks of time on both sides to know how a counter swings by itself, here "
        "are %(before)s and %(after)s of them. The order is a suggestion."
    ) % {"before": found.before.blocks, "after": found.after.blocks}


def clocks(started: float, ended: float) -> tuple[str, str]:
    """A window by the reader's clock and by UTC; one text where they are the same."""
    begun, until = (datetime.fromtimestamp(at, UTC) for at in (started, ended))
    local = f"{timezone.localtime(begun):%Y-%m-%d %H:%M:%S} – {timezone.localtime(until):%m-%d %H:%M:%S}"
    universal = f"{begun:%Y-%m-%d %H:%M:%S} – {until:%m-%d %H:%M:%S} UTC"
    same = timezone.localtime(begun).utcoffset() == begun.utcoffset()
    return (universal, "") if same else (f"{local} ({timezone.get_current_timezone_name()})", universal)
