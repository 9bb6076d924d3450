"""Plotly's script comes out of its package, alone."""

from __future__ import annotations

from pathlib import Path

from django.contrib.staticfiles import finders

from advisor.ui.finders import PlotlyFinder


def test_the_script_is_found_and_nothing_else_of_the_package() -> None:
    finder = PlotlyFinder()
    assert Path(finder.find("plotly/plotly.min.js")).stat().st_size > 1_000_000
    assert finder.find("plotly/widgetbundle.js") is None
    assert finder.find("plotly/../plotly.min.js") is None
    assert [name for name, _storage in finder.list([])] == ["plotly.min.js"]


def test_django_finds_it_with_its_prefix() -> None:
    assert finders.find("plotly/plotly.min.js")
    assert finders.find("django_htmx/htmx-2.min.js")
