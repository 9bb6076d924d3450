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
    bucket. ``dashed`` tells a second line of the same hue apart without colour.
    """

    name: str
    role: str
    points: Sequence[Point]
    filled: bool = False
    band: bool = True
    dashed: bool = False


@dataclass(frozen=True)
class Limit:
    """A line that means something when it is crossed. Limits move, so they are series in time too.

    ``style`` is long (starts something), solid (hurts), dotted (capacity) or fine (the effective point beside a
    reported one).
    """

    name: str
    role: str
    style: str
    points: Sequence[tuple[float, float] | None]

    @property
    def newest(self) -> float | None:
        return next((point[1] for point in reversed(self.points) if point is not None), None)


@dataclass(frozen=True)
class Happening:
    """Something that happened at an instant (unix milliseconds), drawn as a vertical rule with a letter."""

    at: float
    letter: str
    text: str


@dataclass(frozen=True)
class Axis:
    """The vertical axis: ``base`` 1024 gives ticks that are round in binary units; ``label`` prints one value."""

    label: Callable[[float], str]
    base: int = 10
    at_least: float = 0.0
    at_most: float | None = None


@dataclass(frozen=True)
class Chart:
    """A chart over time. ``started`` and ``ended`` are unix milliseconds; ``gaps`` holds (from, to, why)."""

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
class Distribution:
    """How the time spread over the values of one series: shares between 0 and 1."""

    id: str
    title: str
    caption: str
    bars: Sequence[Bar]
    marks: Sequence[tuple[float, str, str]] = ()  # value, role, name
    figures: Sequence[tuple[str, str]] = field(default_factory=tuple)  # name, value as text
    sentence: str = ""
    missing: str = ""

    @property
    def is_empty(self) -> bool:
        return not any(bar.share for bar in self.bars)
