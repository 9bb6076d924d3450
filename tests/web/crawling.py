"""Figures of a page, followed to what they were made of and made again; and all its other numbers with a unit."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from statistics import median
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client

#: A series of getSeries: (unix milliseconds, least, greatest, last).
Point = list[float]
_AT_LIMIT = 0.99
_WEEK_HOURS = 168
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SECONDS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
_UNIT = r"(?:%|[KMGT]?i?B(?:/s)?|/s|ms|min|h/week|[sdh])(?![\w])"
_NUMBER = re.compile(rf"(?<![\w.#])\d[\d,]*(?:\.\d+)? ?{_UNIT}")
#: Elements without an end, and those whose text nobody reads.
_VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
_SILENT = {"script", "style", "svg", "title", "template", "pre", "noscript"}


# --- arithmetic: what each word says is done with the samples ---------------------------------------------------


def _at_limit(points: list[Point]) -> float:
    at = [point[0] / 1000 for point in points]
    spent = [0.0, *(after - before for before, after in pairwise(at))]
    usual = median(spent[1:])
    return sum(min(one, 4 * usual) for one, point in zip(spent, points, strict=True) if point[3] >= _AT_LIMIT)


def _headroom(limit: list[Point], age: list[Point], written: list[Point], advanced: list[Point]) -> float:
    growth = sum(one[3] for one in written) / len(written) - sum(one[3] for one in advanced) / len(advanced)
    return (limit[-1][3] - age[-1][3]) / growth


OF_SAMPLES: dict[str, Callable[..., float]] = {
    "last": lambda points: points[-1][3],
    "least": lambda points: min(point[1] for point in points),
    "greatest": lambda points: max(point[2] for point in points),
    "mean": lambda points: sum(point[3] for point in points) / len(points),
    "seconds-at-limit": _at_limit,
    "headroom": _headroom,
}


def _p95(told: Mapping[str, Any]) -> float:
    reached, total = 0.0, sum(told["histogram"])
    for cell, seconds in enumerate(told["histogram"]):
        reached += seconds
        if seconds and reached >= 0.95 * total:
            middle = (cell + 0.5) * told["step"]
            return float(min(max(middle, _AT_LIMIT if told["at_limit_seconds"] > 0.05 * total else 0.0), 1.0))
    raise AssertionError("a percentile of nothing")


def _whole_hours(told: Mapping[str, Any]) -> list[float]:
    whole = [one for one in told["hours"] if one["seconds"] >= 0.95 * 3600]
    return sorted(one["redo_written_bytes"] * 3600 / one["seconds"] for one in whole)


def _rank(values: list[float], share: float) -> float:
    return values[max(0, math.ceil(share * len(values)) - 1)]


OF_TIMES: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "p95-of-histogram": _p95,
    "share-above-async": lambda told: told["above_async_seconds"] / sum(told["histogram"]),
    "share-at-limit": lambda told: told["at_limit_seconds"] / sum(told["histogram"]),
    "hours-a-week-at-limit": lambda told: told["at_limit_seconds"] / sum(told["histogram"]) * _WEEK_HOURS,
    "seconds-at-limit": lambda told: told["at_limit_seconds"],
    "median-of-hours": lambda told: _rank(_whole_hours(told), 0.5),
    "p95-of-hours": lambda told: _rank(_whole_hours(told), 0.95),
    "most-of-hours": lambda told: _whole_hours(told)[-1],
}


# --- following -----------------------------------------------------------------------------------------------------


def shown(text: str) -> tuple[float, float]:
    """The number that stands there in the unit of the samples, and half of its last digit."""
    text = text.strip().removeprefix("dirty ")
    parts = re.findall(r"(\d[\d,]*(?:\.\d+)?) (d|h|min|s)\b", text)
    if parts and " ".join(f"{number} {unit}" for number, unit in parts) == text:
        value = sum(float(number.replace(",", "")) * _SECONDS[unit] for number, unit in parts)
        digits = len(parts[-1][0].partition(".")[2])
        return value, 0.5 * 10.0**-digits * _SECONDS[parts[-1][1]]
    match = re.match(r"(-?[\d,]+(?:\.(\d+))?) ?(%|[KMGT]?i?B)?", text)
    assert match, f"{text!r} is no number"
    factor = 0.01 if match[3] == "%" else float(_UNITS.get(match[3] or "", 1))
    # Three significant digits are shown, and none behind the point from 100 on.
    return float(match[1].replace(",", "")) * factor, 0.5 * 10.0 ** -len(match[2] or "") * factor


def wrong_with(client: Client, figure: dict[str, str]) -> str:
    """Follows one figure; what is wrong with it, empty where nothing is."""
    parts = urlsplit(figure["href"])
    if client.get(figure["href"]).status_code != 200:
        return "its link leads nowhere"
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if asked.get("how") != figure["data-how"]:
        return f"its link says {asked.get('how')}"
    told = client.get(parts.path + ".json", asked).json()
    try:
        again = _again(told, figure, asked)
    except LookupError as missing:
        return f"nothing is behind it: {missing}"
    exact = float(figure["data-value"])
    if abs(again - exact) > 1e-6 * max(abs(exact), 1e-9):
        return f"made again it is {again}, the page means {exact}"
    if figure["text"].strip() == "×":
        return "" if exact >= _AT_LIMIT else f"the page says that writers waited and means {exact}"
    value, half = shown(figure["text"])
    # A share that is stored in percent is shown in percent too, and a map of percents has no signs.
    near = [exact, exact / 100, exact * 100]
    if not any(abs(value - one) <= half * 1.001 + 1e-12 for one in near):
        return f"the page shows {figure['text']!r} and means {exact}"
    return ""


def _again(told: Mapping[str, Any], figure: Mapping[str, str], asked: Mapping[str, str]) -> float:
    """Raises LookupError where the samples are not those that the figure names, or there are none."""
    if "histogram" in told:
        if asked.get("of") != figure["data-figure"]:
            raise LookupError(f"its link is of {asked.get('of')}")
        return OF_TIMES[figure["data-how"]](told)
    if asked.get("name") != figure["data-figure"]:
        raise LookupError(f"its link names {asked.get('name')}")
    series = {one["name"]: [point for point in one["points"] if point] for one in told["series"]}
    return OF_SAMPLES[figure["data-how"]](*(series[name] for name in figure["data-figure"].split(",")))


# --- reading a page ------------------------------------------------------------------------------------------------


@dataclass
class Numbers:
    """All numbers with a unit but those that are traced: how many are declared, by what of, and which are not."""

    declared: Counter[str] = field(default_factory=Counter)
    untraced: list[str] = field(default_factory=list)


class _Page(HTMLParser):
    """Links to samples with their attributes and text, and every text with what it stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[dict[str, str]] = []
        self.texts: list[tuple[str, tuple[str, ...]]] = []
        self._open: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        names = [tag, *(f".{one}" for one in classes), *(f"{tag}.{one}" for one in classes)]
        if "id" in given:
            names.append(f"#{given['id']}")
        if tag == "a" and "figure" in classes and "data-figure" in given:
            self.figures.append({**given, "text": ""})
            names.append("traced")
        if tag not in _VOID:
            self._open.append((tag, tuple(names)))

    def handle_endtag(self, tag: str) -> None:
        while self._open and any(one == tag for one, _names in self._open):
            closed, _names = self._open.pop()
            if closed == tag:
                break

    def handle_data(self, data: str) -> None:
        inside = tuple(name for _tag, names in self._open for name in names)
        if "traced" in inside:
            self.figures[-1]["text"] += data
        if not _SILENT.intersection(inside):
            self.texts.append((data, inside))


def _read(html: str) -> _Page:
    page = _Page()
    page.feed(html)
    return page


def figures_of(html: str) -> list[dict[str, str]]:
    return _read(html).figures


def numbers_of(html: str, declared: Mapping[str, str]) -> Numbers:
    """``declared`` are elements, classes and ids within which a number is told without samples, with the reason. A
    unit may stand in the element after its number.
    """
    found, texts = Numbers(), _read(html).texts
    for place, (text, inside) in enumerate(texts):
        if "traced" in inside:
            continue
        numbers = _NUMBER.findall(text)
        bare = re.search(r"(?<![\w.#])\d[\d,]*(?:\.\d+)?\s*$", text)
        after = next((one for one, _inside in texts[place + 1 : place + 3] if one.strip()), "")
        if bare and (unit := re.match(rf"\s*({_UNIT})", after)):
            numbers.append(f"{bare[0].strip()} {unit[1]}")
        if not numbers:
            continue
        within = next((name for name in inside if name in declared), None)
        if within is None:
            found.untraced += numbers
        else:
            found.declared[within] += len(numbers)
    return found
