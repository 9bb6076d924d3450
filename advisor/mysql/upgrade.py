"""What another version would do with the settings of one server: what it lacks, ignores, refuses, or sets otherwise.

Pure facts of the catalogue, compared for two versions: a variable that is *set* on the server (option file, command
line, persisted, at run time) can be removed, renamed, ignored, deprecated or refused there; one that is *not set* gets
the other version's default. Which of that matters is for rules to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from advisor.mysql import catalogue_data
from advisor.mysql.catalogue import CATALOGUE, Catalogue, Kind, ValueRefused, VariableFacts
from advisor.mysql.snapshot import Origin
from advisor.mysql.values import BadValue, parse_flags, print_flags, same
from advisor.mysql.version import Distribution, Flavor, ServerVersion


class BadTarget(ValueError):
    """A version nobody can upgrade to; the message says what to write, in one sentence."""


class UpgradeKind(StrEnum):
    """What happens to a variable. Whether a server starts with what was ``removed`` or ``renamed`` is said apart."""

    REMOVED = "removed"
    RENAMED = "renamed"
    VALUE_REFUSED = "value_refused"
    IGNORED = "ignored"
    DEPRECATED = "deprecated"
    DEFAULT_CHANGED = "default_changed"


#: What a snapshot holds in place of a secret.
REDACTED = "<redacted>"

#: The order in which a person wants to read them: what prevents a start first.
_ORDER = {kind: place for place, kind in enumerate(UpgradeKind)}


@dataclass(frozen=True)
class UpgradeChange:
    """What an upgrade does to one variable.

    ``value`` is what it has here, as SHOW GLOBAL VARIABLES prints it. ``origin`` is where that was set; None for
    ``default_changed`` and where the server does not tell. ``old_default`` and ``new_default`` are None where they
    depend on the machine, ``new_default`` also where the variable is gone. For lists of flags (optimizer_switch) both
    hold the flags that differ. ``successor`` is the variable to set instead. ``why`` is half a sentence where the
    manual gives a reason. ``verified`` is False where no server of the one or the other series was asked.
    ``breaks_start``: True where a server of the target version does not start with an option-file line for it, None
    where that is not known. MySQL 8.0.26 and later tell the same origin for both names of a renamed variable, so that
    the old one may be reported deprecated although only the new one is written anywhere.
    """

    variable: str
    kind: UpgradeKind
    value: str
    origin: Origin | None
    old_default: str | None
    new_default: str | None
    successor: str | None
    verified: bool
    why: str = ""
    breaks_start: bool | None = False


@dataclass(frozen=True)
class UpgradePreview:
    """All changes, what prevents a start first. ``unknown``: variables that are set and that the catalogue cannot judge
    (of plugins, components or other distributions). ``origins_known``: False where the server does not tell what was
    set (MySQL before 8.0), so that whatever differs from its default was taken as set.
    """

    here: ServerVersion
    target: ServerVersion
    changes: tuple[UpgradeChange, ...]
    unknown: tuple[str, ...]
    origins_known: bool

    def of_kind(self, *kinds: UpgradeKind) -> tuple[UpgradeChange, ...]:
        """The changes of some kinds, in order."""
        return tuple(change for change in self.changes if change.kind in kinds)


_TARGET = re.compile(r"\s*(mysql|mariadb|percona)[\s:-]+(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?\s*", re.IGNORECASE)


def target_version(text: str) -> ServerVersion:
    """``mysql 8.4``, ``mysql:9.7.1`` or ``mariadb 11.8`` as a version; a series alone means the newest release known.

    Raises BadTarget for anything else.
    """
    match = _TARGET.fullmatch(text)
    if match is None:
        raise BadTarget(
            f"{text.strip()[:40]!r} is no version to upgrade to: write a flavor and a series, such as mysql:8.4."
        )
    flavor = Flavor.MARIADB if match[1].lower() == "mariadb" else Flavor.MYSQL
    series = int(match[2]), int(match[3])
    number = (*series, int(match[4])) if match[4] else catalogue_data.newest_known(flavor, series)
    distribution = Distribution.PERCONA if match[1].lower() == "percona" else Distribution.COMMUNITY
    return ServerVersion(flavor, number, distribution, ".".join(map(str, number)))


def preview(
    variables: Mapping[str, str],
    origins: Mapping[str, Origin],
    here: ServerVersion,
    target: ServerVersion,
    *,
    catalogue: Catalogue = CATALOGUE,
) -> UpgradePreview:
    """Compares the settings of one server with what ``target`` knows.

    ``variables`` are its values as SHOW GLOBAL VARIABLES prints them, ``origins`` where they came from (a snapshot's;
    empty where the server does not tell). Raises BadTarget for a target of the other flavor or one that is not newer.
    """
    if here.flavor is not target.flavor:
        raise BadTarget(f"{target} is of another flavor than {here}: moving there is a migration, not an upgrade.")
    if target.number[:2] < here.number[:2] or (target.number < here.number and target.number[:2] != here.number[:2]):
        raise BadTarget(f"{target} is older than {here}: no server goes back to an older version on the same data.")
    changes: list[UpgradeChange] = []
    unknown: list[str] = []
    for name, value in variables.items():
        facts, there = catalogue.find(name, here), catalogue.find(name, target)
        given = is_set(name, value, facts, origins)
        if facts is None and there is None and not catalogue.ever(name, here.flavor):
            if given:
                unknown.append(name)
            continue
        origin = origins.get(name)
        if given:
            changes += _of_set(name, value, facts, there, origin, target, catalogue)
        elif facts is not None and there is not None:
            changes += _of_default(name, value, facts, there)
    changes.sort(key=lambda change: (_ORDER[change.kind], change.variable))
    return UpgradePreview(here, target, tuple(changes), tuple(sorted(unknown)), bool(origins))


#: Where a value that a person or a tool chose comes from. "automatic" is the server's own choice.
_CHOSEN = frozenset({"option_file", "command_line", "persisted"})


def is_set(name: str, value: str, facts: VariableFacts | None, origins: Mapping[str, Origin]) -> bool:
    """Whether somebody set this variable on the server, to its default or to something else.

    A value that came at run time counts where it is not the default (servers call some of their own doing so). Without
    any origins, what differs from a known default counts, unless the server computes it.
    """
    if facts is not None and facts.read_only:
        return False
    default = facts.default if facts is not None else None
    # What was redacted where it was read tells nothing of its value.
    differs = default is not None and value != REDACTED and not same(value, default)
    if origins:
        origin = origins.get(name)
        if origin is None:
            return False
        return origin.kind in _CHOSEN or (origin.kind == "runtime" and differs)
    return differs and facts is not None and not facts.computed


def _of_set(
    name: str,
    value: str,
    facts: VariableFacts | None,
    there: VariableFacts | None,
    origin: Origin | None,
    target: ServerVersion,
    catalogue: Catalogue,
) -> Iterator[UpgradeChange]:
    """What happens to a variable that is set; nothing for one that both versions treat alike."""
    old = facts.default if facts is not None else None
    known = facts is not None and facts.verified
    if there is None:
        successor = catalogue.successor(name, target)
        renamed = successor is not None and catalogue_data.is_renamed(target.flavor, name)
        new = catalogue.find(successor, target) if successor else None
        yield UpgradeChange(
            name,
            UpgradeKind.RENAMED if renamed else UpgradeKind.REMOVED,
            value,
            origin,
            old,
            new.default if new is not None and renamed else None,
            successor,
            known and catalogue.asked_in_series(target),
            breaks_start=catalogue_data.breaks_start(target.flavor, name, target.number),
        )
        return
    verified = known and there.verified
    refusal = _refusal(there, value, target, catalogue)
    if refusal:
        yield UpgradeChange(
            name,
            UpgradeKind.VALUE_REFUSED,
            value,
            origin,
            old,
            there.default,
            there.replaced_by,
            verified,
            refusal,
            breaks_start=True,
        )
        return
    if there.ignored_when and there.ignored_when.startswith("always"):
        yield UpgradeChange(
            name,
            UpgradeKind.IGNORED,
            value,
            origin,
            old,
            there.default,
            there.replaced_by,
            verified,
            there.ignored_when.removeprefix("always").removeprefix(": "),
        )
    elif there.deprecated:
        yield UpgradeChange(
            name,
            UpgradeKind.DEPRECATED,
            value,
            origin,
            old,
            there.default,
            there.replaced_by,
            verified,
            f"ignored when {there.ignored_when}" if there.ignored_when else "",
        )


def _refusal(there: VariableFacts, value: str, target: ServerVersion, catalogue: Catalogue) -> str:
    """Why the target does not take this value; "" if it does, or makes another number of it without a word."""
    if there.read_only or value == "" or "=" in value:
        return ""
    if there.kind is Kind.SET and there.choices:
        lost = [word for word in value.split(",") if word.upper() not in {choice.upper() for choice in there.choices}]
        return f"it knows no {', '.join(lost)}" if lost else ""
    if there.kind is not Kind.ENUM:
        return ""
    try:
        catalogue.accepted(there.name, target, value)
    except ValueRefused:
        return f"it takes one of {', '.join(there.choices)}"
    return ""


def _of_default(name: str, value: str, facts: VariableFacts, there: VariableFacts) -> Iterator[UpgradeChange]:
    """The other default of a variable that nobody set; one that only informs has none."""
    old, new = facts.default, there.default
    if facts.read_only or there.read_only or old is None:
        return
    if new is not None and "=" in old and "=" in new:
        old, new = _differing_flags(old, new)
    if old == new or (new is not None and same(old, new)):
        return
    yield UpgradeChange(
        name, UpgradeKind.DEFAULT_CHANGED, value, None, old, new, there.replaced_by, facts.verified and there.verified
    )


def _differing_flags(old: str, new: str) -> tuple[str, str]:
    """The flags that both know and set otherwise: a flag that is new changes nothing that was there."""
    try:
        before, after = parse_flags(old), parse_flags(new)
    except BadValue:
        return old, new
    differing = [flag for flag in before if flag in after and before[flag] is not after[flag]]
    return print_flags({flag: before[flag] for flag in differing}), print_flags({f: after[f] for f in differing})
