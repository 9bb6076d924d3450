"""How facts read an observation: system variables with the values on trial in place, series over the intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.engine.observation import Observation
from advisor.engine.outcome import Missing
from advisor.engine.units import MINUTE
from advisor.mysql.grants import remedy_for
from advisor.mysql.rates import Interval
from advisor.mysql.snapshot import Remedy, RemedyKind
from advisor.mysql.values import BadValue, as_printed, parse_boolean, parse_integer, parse_real


def variable(seen: Observation, name: str) -> str | None:
    """A system variable as the server prints it (or would print the value on trial); None where it was not read."""
    if name in seen.proposed:
        return as_printed(seen.proposed[name])
    return seen.snapshot.variables.get(name)


def variables(seen: Observation) -> dict[str, str]:
    """All system variables, the values on trial in place."""
    return {**seen.snapshot.variables, **{name: as_printed(value) for name, value in seen.proposed.items()}}


def integer(seen: Observation, name: str) -> int:
    """A system variable as a whole number. Raises Missing where it was not read."""
    printed = text(seen, name)
    try:
        return parse_integer(printed)
    except BadValue:
        # Some whole numbers are printed with a fraction of zeros (innodb_max_dirty_pages_pct is a real, and grew
        # from one).
        return int(parse_real(printed))


def real(seen: Observation, name: str) -> float:
    """A system variable as a number. Raises Missing where it was not read."""
    return parse_real(text(seen, name))


def is_on(seen: Observation, name: str, default: bool | None = None) -> bool:
    """A boolean system variable; ``default`` where the server does not have it. Raises Missing without a default."""
    if default is not None and variable(seen, name) is None:
        return default
    return parse_boolean(text(seen, name))


def text(seen: Observation, name: str) -> str:
    """A system variable as the server prints it. Raises Missing where it was not read."""
    printed = variable(seen, name)
    if printed is None or printed == "":
        probe = seen.snapshot.probe("variables")
        if probe is not None and probe.remedy is not None:
            raise Missing(probe.remedy)
        raise Missing(
            Remedy(
                RemedyKind.VERSION,
                f"system variable {name}",
                f"{name} is not among what {seen.server} shows to this account.",
            )
        )
    return printed


def grant(seen: Observation, privilege: str, what: str) -> Remedy:
    """The GRANT that would show ``what``, in the words of the probe that missed it, which knew the account."""
    for probe in seen.snapshot.probes:
        remedy = probe.remedy
        if remedy is not None and remedy.kind is RemedyKind.GRANT and privilege in remedy.text:
            return Remedy(RemedyKind.GRANT, what, remedy.text)
    return Remedy(RemedyKind.GRANT, what, remedy_for(privilege, seen.server))


def status_number(seen: Observation, name: str) -> float | None:
    """A status variable of the latest snapshot as a number; None where it was not read or is no number."""
    printed = seen.snapshot.status.get(name)
    try:
        return None if printed is None else float(printed)
    except ValueError:
        return None


def rates(intervals: Iterable[Interval], name: str) -> list[float]:
    """A counter's change per second in each interval that tells it."""
    found = (interval.per_second(name) for interval in intervals)
    return [rate for rate in found if rate is not None]


def gauges(intervals: Iterable[Interval], name: str) -> list[float]:
    """A gauge's value at the end of each interval that tells it."""
    found = (interval.last(name) for interval in intervals)
    return [float(value) for value in found if value is not None]


def grown(intervals: Iterable[Interval], name: str) -> float | None:
    """By how much a counter grew over all intervals that tell it; None where none does."""
    found = [delta for delta in (interval.delta(name) for interval in intervals) if delta is not None]
    return float(sum(found)) if found else None


def rises(intervals: Iterable[Interval], name: str) -> int:
    """In how many intervals a counter rose."""
    return sum(1 for interval in intervals if (interval.delta(name) or 0) > 0)


#: A minute's worth of intervals is complete a little before the minute: slots jitter by some seconds.
_MINUTE_COMPLETE_SECONDS = 55.0


def minute_rates(intervals: Sequence[Interval], name: str) -> list[float]:
    """A counter's change per second, averaged over about a minute each, so that one busy poll is no peak.

    A window shorter than a minute gives its own average; a gap between two intervals ends a minute early, and what was
    gathered before it counts only where it lasted for half a minute or is all there is.
    """
    result: list[float] = []
    seconds = amount = 0.0
    ended_at: float | None = None

    def finish(enough: float) -> None:
        nonlocal seconds, amount
        if seconds >= enough:
            result.append(amount / seconds)
        seconds = amount = 0.0

    for interval in intervals:
        delta = interval.delta(name)
        if delta is None or (ended_at is not None and interval.started_at > ended_at + 1):
            finish(MINUTE / 2)
        ended_at = interval.ended_at
        if delta is None:
            continue
        seconds += interval.seconds
        amount += delta
        if seconds >= _MINUTE_COMPLETE_SECONDS:
            finish(0.0)
    if seconds > 0:
        finish(0.0 if not result else MINUTE / 2)
    return result
