"""What an upgrade would do to one server, as text and as a JSON-ready document."""

from __future__ import annotations

import textwrap
from datetime import date
from typing import Any

from advisor.mysql.lifecycle import Series, next_long_term_series, series_of, support_ends_on
from advisor.mysql.upgrade import UpgradeChange, UpgradeKind, UpgradePreview
from advisor.mysql.version import ServerVersion, identify

WIDTH = 100
_LONGEST_VALUE = 60

_TITLES = {
    UpgradeKind.REMOVED: "Removed",
    UpgradeKind.RENAMED: "Renamed",
    UpgradeKind.VALUE_REFUSED: "Value refused",
    UpgradeKind.IGNORED: "Ignored",
    UpgradeKind.DEPRECATED: "Deprecated",
    UpgradeKind.DEFAULT_CHANGED: "Other defaults (not set on this server)",
}


def path_to(here: ServerVersion, target: ServerVersion) -> list[str]:
    """The long-term series on the way to ``target``, each one step from the one before, ``target``'s own last.

    MySQL goes from one long-term series to the next without leaving one out; MariaDB may go to its target at once.
    """
    steps: list[str] = []
    if not here.is_mariadb:
        at = here
        while (following := next_long_term_series(at)) is not None and following.number < target.number[:2]:
            steps.append(following.name)
            at = identify(f"{following.name}.0", "MySQL Community Server - GPL")
    return [*steps, target.series]


def regressions(here: ServerVersion, target: ServerVersion) -> list[str]:
    """What is expected to be slower or dearer, in sentences; figures of published sysbench series on cached data."""
    told = []
    if here.is_mysql and here.number < (8, 0, 0) <= target.number:
        told.append(
            "At low concurrency point reads are expected to be about 20 % slower, ranges 15 to 20 %, writes 25 to "
            "35 %; with many sessions 8.0 and later do more than 5.7. Try the workload on both."
        )
    if here.is_mysql and here.number < (9, 5, 0) <= target.number:
        told.append(
            "From 9.5 on GTIDs are on by default and write more for each commit: up to 15 % fewer transactions were "
            "measured with 16 clients on 24 cores. It matters where gtid_mode was never set."
        )
    if here.is_mysql and here.number < (8, 4, 0) <= target.number:
        told.append(
            "innodb_io_capacity is 10,000 by default from 8.4 on: on a slow volume flushing then competes with reads."
        )
    return told


def _ends(version: ServerVersion) -> date | None:
    return support_ends_on(version)


def document(preview: UpgradePreview) -> dict[str, Any]:
    """All of it as plain values."""
    target: Series | None = series_of(preview.target)
    ends_on = _ends(preview.target)
    return {
        "server": {"flavor": preview.here.flavor.value, "version": preview.here.number_text},
        "target": {
            "flavor": preview.target.flavor.value,
            "version": preview.target.number_text,
            "long_term": target.long_term if target is not None else None,
            "support_ends_on": ends_on.isoformat() if ends_on else None,
        },
        "path": path_to(preview.here, preview.target),
        "origins_known": preview.origins_known,
        "changes": [_change(one) for one in preview.changes],
        "unknown": list(preview.unknown),
        "expected_slower": regressions(preview.here, preview.target),
    }


def _change(one: UpgradeChange) -> dict[str, Any]:
    return {
        "variable": one.variable,
        "kind": one.kind.value,
        "value": one.value,
        "origin": {"kind": one.origin.kind, "path": one.origin.path} if one.origin is not None else None,
        "old_default": one.old_default,
        "new_default": one.new_default,
        "successor": one.successor,
        "why": one.why,
        "verified": one.verified,
        "breaks_start": one.breaks_start,
    }


def text(preview: UpgradePreview) -> str:
    """All of it for people: what prevents a start first."""
    lines = [f"{preview.here} -> {preview.target}"]
    steps = path_to(preview.here, preview.target)
    if len(steps) > 1:
        lines.append(f"Step by step, no long-term series can be left out: {' -> '.join(steps)}")
    ends_on = _ends(preview.target)
    if ends_on is not None:
        lines.append(f"{preview.target.series} is supported until {ends_on.isoformat()}")
    if not preview.origins_known:
        lines.append("The server does not tell what was set: whatever differs from its default is taken as set.")
    stopping = [one for one in preview.changes if one.breaks_start is not False]
    lines.append(
        f"{len(stopping)} settings prevent the start of the new version"
        if stopping
        else "No setting is known to prevent the start of the new version"
    )
    for kind, title in _TITLES.items():
        changes = preview.of_kind(kind)
        if changes:
            lines += ["", f"{title} ({len(changes)})", *(part for one in changes for part in _lines(one))]
    if preview.unknown:
        lines += ["", "Set here and not known to the catalogue (plugins, components, other distributions)"]
        lines += _wrapped(", ".join(preview.unknown))
    if any(not one.verified for one in preview.changes):
        lines += ["", "* by the manual: no server of that series was asked"]
    slower = regressions(preview.here, preview.target)
    if slower:
        lines += ["", "Expected to be slower (published figures, not measured on this server)"]
        lines += [part for sentence in slower for part in _wrapped(sentence)]
    return "\n".join(lines) + "\n"


def _lines(one: UpgradeChange) -> list[str]:
    if one.kind is UpgradeKind.DEFAULT_CHANGED:
        words = f"{one.variable}: {_short(one.old_default)} -> {_short(one.new_default)}"
        if one.value != one.old_default and one.old_default is not None:
            words += f" (here {_short(one.value)})"
    else:
        words = f"{one.variable} = {_short(one.value)}"
        if one.origin is not None:
            words += f" [{one.origin.kind.replace('_', ' ')}{': ' + one.origin.path if one.origin.path else ''}]"
        if one.successor:
            words += f"; use {one.successor}"
        if one.why:
            words += f"; {one.why}"
        if one.breaks_start:
            words += "; the new version does not start with it"
        elif one.breaks_start is None:
            words += "; whether the new version starts with it is not known"
    if not one.verified:
        words += " *"
    return _wrapped(words)


def _wrapped(words: str) -> list[str]:
    return textwrap.wrap(
        words, WIDTH, initial_indent="   ", subsequent_indent="      ", break_long_words=False, break_on_hyphens=False
    )


def _short(value: str | None) -> str:
    if value is None:
        return "computed by the server"
    if value == "":
        return "empty"
    return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
