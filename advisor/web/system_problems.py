"""Where Tidemark is not well: each fault with what it means for what the pages show, and the one next step."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from advisor.ui.quantities import duration, percent, size
from collector.upkeep import Growth

#: Silent for longer than this (seconds), and the part is taken to be gone: several times what it usually takes.
TICK_SECONDS, HOUSE_SECONDS = 90.0, 300.0
#: Polls that are stored later than this share of the interval are told; later than all of it they overtake each other.
LATE_RATIO, TOO_LATE_RATIO = 0.5, 1.0
#: So many messages for each server that is watched are more than one round of judging.
MESSAGES_PER_SERVER, FEWEST_MESSAGES = 2, 50
#: Room on disk for fewer days than these.
FEW_DAYS, TOO_FEW_DAYS = 30.0, 7.0


@dataclass(frozen=True)
class Standing:
    """How Tidemark is, in figures. Times in seconds; None where nothing is known."""

    servers: int
    failing: int
    shards: int
    shards_held: int
    ticked_seconds_ago: float | None
    kept_house_seconds_ago: float | None
    queue: dict[str, int] | None
    late_p50_seconds: float | None
    late_p99_seconds: float | None
    shortest_interval_seconds: int
    overdue: int
    overdue_seconds: float
    database_bytes: int | None
    growth: Growth | None
    free_bytes: int | None

    @property
    def answering(self) -> int:
        return self.servers - self.failing

    @property
    def waiting(self) -> int | None:
        """Messages that wait in all queues."""
        return None if self.queue is None else sum(self.queue.values())

    @property
    def days_left(self) -> float | None:
        """How long the free room lasts at the present growth; None where either is unknown or nothing grows."""
        if self.growth is None or self.free_bytes is None or self.growth.bytes_per_day <= 0:
            return None
        return self.free_bytes / self.growth.bytes_per_day


@dataclass(frozen=True)
class Problem:
    """``severity`` is critical where pages may show something untrue, warning where they will or show less."""

    severity: str
    sentence: str
    next_step: str


def of(standing: Standing) -> list[Problem]:
    """All that is wrong, the worst first."""
    found = [*_collecting(standing), *_judging(standing), *_room(standing)]
    return sorted(found, key=lambda one: one.severity != "critical")


def _collecting(one: Standing) -> list[Problem]:
    found = []
    if one.servers and one.shards_held < one.shards:
        found.append(
            Problem(
                "critical",
                _("Some servers are polled by nobody: their pages show the past."),
                _("Start a worker for the queue collect, or look at its log."),
            )
        )
    elif one.overdue:
        sentence = ngettext(
            "%(n)s server is overdue by %(late)s: its page shows the past.",
            "%(n)s servers are overdue by up to %(late)s: their pages show the past.",
            one.overdue,
        )
        found.append(
            Problem(
                "critical",
                sentence % {"n": one.overdue, "late": duration(round(one.overdue_seconds))},
                _("Look at the log of the worker that holds their group, below."),
            )
        )
    if one.late_p99_seconds is not None and one.late_p99_seconds > LATE_RATIO * one.shortest_interval_seconds:
        found.append(
            Problem(
                "critical" if one.late_p99_seconds > TOO_LATE_RATIO * one.shortest_interval_seconds else "warning",
                _("Polls are stored %(late)s after they were due: %(share)s of the interval.")
                % {
                    "late": duration(round(one.late_p99_seconds, 1)),
                    "share": percent(one.late_p99_seconds / one.shortest_interval_seconds),
                },
                _("Start another collecting worker, or poll less often."),
            )
        )
    if one.servers and (one.ticked_seconds_ago is None or one.ticked_seconds_ago > TICK_SECONDS):
        found.append(
            Problem(
                "critical" if one.shards_held < one.shards else "warning",
                _("The schedule is silent: groups that lose their worker are handed to no other."),
                _("Start beat and a worker for the queue collect, or look at their logs."),
            )
        )
    if one.failing:
        sentence = ngettext("%(n)s server cannot be read.", "%(n)s servers cannot be read.", one.failing)
        found.append(
            Problem("warning", sentence % {"n": one.failing}, _("Each is listed below with why, and what to do."))
        )
    return found


def _judging(one: Standing) -> list[Problem]:
    found = []
    if one.queue is None:
        found.append(
            Problem(
                "critical",
                _("The broker does not answer: nothing new is judged, so that recommendations grow old."),
                _("Start Redis or Valkey, or mend TIDEMARK_BROKER_URL."),
            )
        )
    elif (one.waiting or 0) > max(FEWEST_MESSAGES, MESSAGES_PER_SERVER * one.servers):
        found.append(
            Problem(
                "warning",
                _("%(n)s messages wait in the queues: judging does not keep up.") % {"n": f"{one.waiting:,}"},
                _("Start another worker for the queue judge."),
            )
        )
    if one.servers and (one.kept_house_seconds_ago is None or one.kept_house_seconds_ago > HOUSE_SECONDS):
        found.append(
            Problem(
                "critical",
                _("Nobody judges or keeps house: recommendations grow old and the history grows."),
                _("Start beat and a worker for the queue judge, or look at their logs."),
            )
        )
    return found


def _room(one: Standing) -> list[Problem]:
    if one.days_left is None or one.days_left > FEW_DAYS:
        return []
    return [
        Problem(
            "critical" if one.days_left < TOO_FEW_DAYS else "warning",
            _("The disk is full in %(time)s at the present growth: %(free)s are free.")
            % {"time": duration(round(one.days_left * 24) * 3600), "free": size(one.free_bytes or 0)},
            _("Make room, or keep samples for fewer days (TIDEMARK_SAMPLE_RETENTION_DAYS)."),
        )
    ]
