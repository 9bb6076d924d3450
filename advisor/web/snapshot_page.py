"""The newest snapshot of one server as it was read: every name and value, found by words and kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from advisor.mysql.catalogue import CATALOGUE, ChangeClass
from advisor.mysql.meanings import meaning
from advisor.mysql.snapshot import ProbeResult, Snapshot
from advisor.mysql.values import same
from advisor.ui import messages, quantities

#: What a row is, with its title, in the order of the page.
KINDS: tuple[tuple[str, str], ...] = (
    ("variable", gettext_noop("System variables")),
    ("status", gettext_noop("Status variables")),
    ("metric", gettext_noop("InnoDB metrics")),
    ("derived", gettext_noop("Derived by Tidemark")),
)
ONLY: tuple[tuple[str, str], ...] = (
    ("", gettext_noop("everything")),
    ("changed", gettext_noop("not the default")),
    ("runtime", gettext_noop("set while it ran")),
    ("restart", gettext_noop("needs a restart")),
    ("off", gettext_noop("counters that are off")),
)
_CLASSES = {
    ChangeClass.TUNE: gettext_noop("safe to tune"),
    ChangeClass.CONFIRM: gettext_noop("to be confirmed"),
    ChangeClass.NEVER: gettext_noop("never from here"),
}
_ORIGINS = {
    "compiled": gettext_noop("default"),
    "automatic": gettext_noop("the server chose it"),
    "option_file": gettext_noop("option file"),
    "command_line": gettext_noop("command line"),
    "persisted": gettext_noop("persisted"),
    "runtime": gettext_noop("set while it ran"),
    "environment": gettext_noop("environment"),
}


@dataclass(frozen=True)
class Row:
    """One name and its value. ``human`` is the value with its unit where that says more, ``default`` the variable's on
    this version, None where it is not known; ``flags`` are the words of ONLY that fit it.
    """

    kind: str
    name: str
    value: str
    human: str = ""
    default: str | None = None
    changed: bool = False
    origin: str = ""
    source: str = ""
    change_class: str = ""
    needs_restart: bool = False
    may_be_changed: bool = False
    off: bool = False
    subsystem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """What the downloads hold, without what is empty."""
        found = {
            "kind": self.kind, "name": self.name, "value": self.value, "default": self.default,
            "changed": self.changed, "origin": self.origin, "source": self.source, "off": self.off,
        }  # fmt: skip
        return {name: value for name, value in found.items() if value not in ("", None, False)}


@dataclass(frozen=True)
class Filters:
    """``kind`` and ``only`` are one of the words above, ``search`` words that all have to be found; empty for all."""

    kind: str = ""
    only: str = ""
    search: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Filters:
        """What makes no sense is left out."""
        kind, only = parameters.get("kind", ""), parameters.get("only", "")
        return cls(
            kind if kind in dict(KINDS) else "",
            only if only in dict(ONLY) else "",
            parameters.get("q", "").strip()[:100],
        )

    @property
    def query(self) -> str:
        found = {"kind": self.kind, "only": self.only, "q": self.search}
        return urlencode({name: value for name, value in found.items() if value})


@dataclass(frozen=True)
class Group:
    kind: str
    title: str
    rows: Sequence[Row]


def groups(snapshot: Snapshot, filters: Filters) -> list[Group]:
    """The rows that the filters leave, by kind; kinds of which nothing is left are left out."""
    found = []
    for kind, title in KINDS:
        if filters.kind and kind != filters.kind:
            continue
        rows = [row for row in _READ[kind](snapshot) if _wanted(row, filters)]
        if rows:
            found.append(Group(kind, title, rows))
    return found


def _wanted(row: Row, filters: Filters) -> bool:
    fits = {
        "": True, "changed": row.changed, "runtime": row.origin == "runtime", "restart": row.needs_restart,
        "off": row.off,
    }  # fmt: skip
    if not fits[filters.only]:
        return False
    text = f"{row.name} {row.value} {row.human}".casefold()
    return all(word in text for word in filters.search.casefold().split())


def _variables(snapshot: Snapshot) -> Iterable[Row]:
    server = snapshot.identity.version
    for name, value in sorted(snapshot.variables.items()):
        facts = CATALOGUE.find(name, server)
        default = None if facts is None or facts.default is None else str(facts.default)
        origin = snapshot.origins.get(name)
        human = quantities.setting(value, name)
        yield Row(
            "variable",
            name,
            value,
            human="" if human == value else human,
            default=default,
            changed=default is not None and not same(default, value),
            origin=origin.kind if origin is not None else "",
            source=origin.path if origin is not None else "",
            change_class=_(_CLASSES.get(facts.change_class, "")) if facts is not None else "",
            may_be_changed=facts is not None and facts.change_class is not ChangeClass.NEVER,
            needs_restart=facts is not None and not facts.dynamic and not facts.read_only,
        )


def _status(snapshot: Snapshot) -> Iterable[Row]:
    for name, value in sorted(snapshot.status.items(), key=lambda one: one[0].casefold()):
        yield Row("status", name, value, human=_human(name, value))


def _metrics(snapshot: Snapshot) -> Iterable[Row]:
    for name, metric in sorted(snapshot.metrics.items()):
        yield Row("metric", name, str(metric.count), off=not metric.enabled, subsystem=metric.subsystem)


def _derived(snapshot: Snapshot) -> Iterable[Row]:
    for name, value in sorted(snapshot.derived.items()):
        yield Row("derived", name, f"{value:g}" if isinstance(value, float) else str(value), human=_human(name, value))


_READ = {"variable": _variables, "status": _status, "metric": _metrics, "derived": _derived}


def _human(name: str, value: object) -> str:
    """Bytes and times as a person reads them; nothing for what says all by itself."""
    known, text = meaning(name), str(value)
    if known is None or not text.isdigit():
        return ""
    if known.unit == "bytes" and int(text) >= 1024:
        return quantities.size(float(text))
    return quantities.duration(int(text)) if known.unit == "s" and int(text) >= 60 else ""


def meaning_words(row: Row) -> str:
    """What a status variable or a counter means, empty where nobody wrote it down; variables have their manual."""
    known = meaning(row.name) if row.kind != "variable" else None
    return _(known.text).format_map(known.words) if known is not None else ""


def origin_words(kind: str) -> str:
    """Where a value comes from, in words."""
    return _(_ORIGINS[kind]) if kind in _ORIGINS else kind


@dataclass(frozen=True)
class ProbeShown:
    """One probe: what it told, what it cost, and what would make it tell more."""

    name: str
    state: str
    milliseconds: float
    rows: int
    reason: str
    what: str
    remedy: str


def probes(snapshot: Snapshot) -> list[ProbeShown]:
    return [_probe(one) for one in snapshot.probes]


def _probe(probe: ProbeResult) -> ProbeShown:
    remedy = probe.remedy
    return ProbeShown(
        probe.name,
        probe.state.value,
        probe.milliseconds,
        probe.rows,
        messages.text_of(probe.reason),
        messages.text_of(remedy.what) if remedy is not None else "",
        remedy.text if remedy is not None else "",
    )
