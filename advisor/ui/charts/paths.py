"""SVG paths in whole numbers and relative steps: a third of the bytes of absolute decimals, and compresses well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Place = tuple[int, int]


def runs(places: Iterable[Place | None]) -> list[list[Place]]:
    """Splits at gaps, so that no line is ever drawn over a time of which nothing is known."""
    result: list[list[Place]] = []
    current: list[Place] = []
    for place in places:
        if place is None:
            if current:
                result.append(current)
            current = []
        else:
            current.append(place)
    if current:
        result.append(current)
    return result


def polyline(places: Sequence[Place]) -> str:
    """A line through the places, without those that lie on it; a lone place becomes a dot's worth of line."""
    x, y = places[0]
    parts = [f"M{x} {y}"]
    if len(places) == 1:
        return parts[0] + "h1"
    steps: list[str] = []
    for next_x, next_y in places[1:]:
        dx, dy = next_x - x, next_y - y
        if dx or dy:
            steps.append(f"{dx} {dy}" if dy >= 0 else f"{dx}{dy}")
        x, y = next_x, next_y
    if not steps:
        return parts[0] + "h1"
    return parts[0] + "l" + " ".join(steps)


def stepped(places: Sequence[Place]) -> str:
    """A line that stays level until the next place, as a setting does."""
    x, y = places[0]
    parts = [f"M{x} {y}"]
    for next_x, next_y in places[1:]:
        if next_y != y:
            parts.append(f"h{next_x - x}v{next_y - y}")
            x, y = next_x, next_y
    last = places[-1][0]
    parts.append(f"h{max(last - x, 1)}")
    return "".join(parts)


def area(top: Sequence[Place], bottom: Sequence[Place]) -> str:
    """The closed shape between two lines over the same times."""
    return polyline(top) + "L" + " ".join(f"{x} {y}" for x, y in reversed(bottom)) + "z"


def area_to(top: Sequence[Place], floor: int) -> str:
    """The closed shape between a line and a level."""
    return f"{polyline(top)}V{floor}H{top[0][0]}z"
