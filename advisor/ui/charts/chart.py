"""What a chart shows, free of how it is drawn. The same description becomes SVG, a table, and Plotly's data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

#: One bucket: unix milliseconds, and the least, the greatest and the last value in it; None is a gap.
Point = tuple[float, float, float, float] | None


@dataclass(frozen=True)
class Trace:
    """One measured series. ``role`` names a colour of the palette (age, good, second, sync, async, past, hard).

    ``filled`` puts a tint between the line and zero, ``band`` one between the least and the greatest value of each
    bucket. ``dashed`` tells a second line of the same hue apart without colour. ``key`` is what the series is called
    in exports, whatever language the page is in.
    """

    name: str
    role: str
    points: Sequence[Point]
    filled: bool = False
    band: bool = True
    dashed: bool = False
    key: str = ""


@dataclass(frozen=True)
class Limit:
    """A line that means something when it is crossed. Limits move, so they are series in time too.

    ``style`` is long (starts something), solid (hurts), dotted (capacity) or fine (the effective point beside a
    reported one). ``key`` is its name in exports.
    """

    name: str
    role: str
    style: str
    points: Sequence[tuple[float, float] | None]
    key: str = ""

    @property
    def newest(self) -> float | None:
        return next((point[1] for point in reversed(self.points) if point is not None), None)


@dataclass(frozen=True)
class Excess:
    """The area between two series where the first is above the second: ``name`` says what that means."""

    name: str
    role: str
    above: Sequence[Point]
    below: Sequence[Point]


@dataclass(frozen=True)
class Happening:
    """Something that happened at an instant (unix milliseconds), drawn as a vertical rule with a letter, which leads
    to ``href``. ``filled`` tells what others did from what was done here.
    """

    at: float
    letter: str
    text: str
    href: str = ""
    filled: bool = False


@dataclass(frozen=True)
class Axis:
    """The vertical axis: ``base`` 1024 gives ticks that are round in binary units; ``label`` prints one value."""

    label: Callable[[float], str]
    base: int = 10
    at_least: float = 0.0
    at_most: float | None = None


@dataclass(frozen=True)
class RightAxis:
    """A second scale for the same lines: ``marks`` holds values of the left axis and what they are called here,
    ``whole`` the one that is 100 %.
    """

    title: str
    whole: float
    marks: Sequence[tuple[float, str]]


@dataclass(frozen=True)
class Second:
    """Lines in another unit, against a scale of their own at the right. ``title`` says what that scale is.

    The points stand at the times of the chart's own lines, so that tables and pointers read all of them at once.
    """

    title: str
    axis: Axis
    unit: str
    traces: Sequence[Trace]


@dataclass(frozen=True)
class Chart:
    """A chart over time. ``started`` and ``ended`` are unix milliseconds; ``gaps`` holds (from, to, why).

    ``past`` are the series of another time, moved onto this one: drawn behind, grey and dashed, never stacked.
    ``unit`` is that of every value but those of ``second``, ``notes`` say what is missing and what would bring it.
    """

    id: str
    title: str
    caption: str
    axis: Axis
    started: float
    ended: float
    traces: Sequence[Trace] = ()
    limits: Sequence[Limit] = ()
    happenings: Sequence[Happening] = ()
    gaps: Sequence[tuple[float, float, str]] = ()
    stacked: bool = False
    sentence: str = ""
    missing: str = ""
    tall: bool = False
    unit: str = ""
    right: RightAxis | None = None
    second: Second | None = None
    past: Sequence[Trace] = ()
    excess: Excess | None = None
    notes: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return not any(point is not None for trace in self.traces for point in trace.points)


@dataclass(frozen=True)
class Bar:
    """One cell of a distribution: from and to on the axis, and its share of the time."""

    low: float
    high: float
    share: float


@dataclass(frozen=True)
class Bullet:
    """Where a value is now (``now``) in the range that it mostly has (5th to 95th percentile), beside its limits
    (value, role).
    """

    low: float
    high: float
    now: float
    limits: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Distribution:
    """How the time spread over the values of one series: shares between 0 and 1.

    ``before`` is the same of another time, over the same cells: with it both are drawn as shares at or below a value.
    """

    id: str
    title: str
    caption: str
    bars: Sequence[Bar]
    marks: Sequence[tuple[float, str, str]] = ()  # value, role, name
    figures: Sequence[tuple[str, str]] = field(default_factory=tuple)  # name, value as text
    sentence: str = ""
    missing: str = ""
    before: Sequence[Bar] = ()
    before_name: str = ""
    bullet: Bullet | None = None

    @property
    def is_empty(self) -> bool:
        return not any(bar.share for bar in self.bars)
