"""The palette: every role can be seen against its ground, and told from the others by people who see colours
differently.
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

STYLES = Path(__file__).resolve().parents[2] / "static/tidemark"
CSS = (STYLES / "tidemark.css").read_text(encoding="utf-8")
PAIRS = {name: (light, dark) for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)}
#: WCAG 2.2: 1.4.11 for lines and shapes, 1.4.3 for text.
LINES = ("age", "async", "sync", "hard", "good", "second", "past", "edge")
TEXTS = ("text", "quiet", "link", "age", "async-text", "good-text", "sync", "hard", "second", "past")
#: Machado, Oliveira and Fernandes 2009, severity 1.0.
SEEN = {
    "normal": np.eye(3),
    "protan": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deutan": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritan": np.array([
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip


def _linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    first, second = sorted((float(_linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def _lab(linear: np.ndarray) -> np.ndarray:
    xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    scaled = xyz @ np.clip(linear, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(scaled > 216 / 24389, np.cbrt(scaled), (24389 / 27 * scaled + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_lines_have_three_to_one(scheme: int) -> None:
    for name in LINES:
        assert _contrast(PAIRS[name][scheme], PAIRS["ground"][scheme]) >= 3.0, name


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["ground", "raised", "rail", "alarm-ground", "warning-ground", "calm-ground"])
def test_texts_have_four_and_a_half_to_one(scheme: int, ground: str) -> None:
    names = TEXTS if ground == "ground" else ("text", "quiet")
    for name in names:
        assert _contrast(PAIRS[name][scheme], PAIRS[ground][scheme]) >= 4.5, name
    assert _contrast(PAIRS["on-primary"][scheme], PAIRS["age"][scheme]) >= 4.5


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize(("scheme", "least"), [(0, 16.0), (1, 13.0)], ids=["light", "dark"])
def test_the_six_hues_can_be_told_apart(scheme: int, least: float, eyes: str) -> None:
    hues = [PAIRS[name][scheme] for name in ("age", "async", "sync", "hard", "good", "second")]
    seen = [_lab(SEEN[eyes] @ _linear(hue)) for hue in hues]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) >= least


def test_style_sheets_are_small_and_load_nothing() -> None:
    assert len(CSS) <= 25 * 1024
    for path in STYLES.glob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert len(text) <= 25 * 1024, path.name
        assert "url(" not in text, path.name
        assert "@import" not in text, path.name


def test_only_the_roles_name_colours() -> None:
    """A colour that is written down elsewhere is held to no contrast and follows no scheme."""
    for path in STYLES.glob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"@layer roles \{.*?\n\}\n", "", text, flags=re.S)
        # The shade behind a dialog lies over everything, whatever its colours are.
        text = text.replace("rgb(0 0 0 / 45%)", "")
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{]*\{)|\brgba?\(|\bhsla?\(", text) == [], path.name
