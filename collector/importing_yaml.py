"""Servers written as YAML (or JSON, which is a part of it): a list of mappings, or one under ``servers:``.

The text is read as events, and no loader builds anything of it: types stay texts (``no`` is a name, not a truth),
aliases cannot multiply, and what lies too deep ends the reading where it begins.
"""

from __future__ import annotations

from typing import Any

import yaml
from django.utils.translation import gettext as _

from collector.importing_entries import MOST_SERVERS, BadList, Entry, ServerList, column_of, too_many

#: A list, its servers, the tags of one: nothing that is meant lies deeper (``servers:`` above them counts too).
_DEEPEST = 4
_EMPTY = frozenset({"", "~", "null", "Null", "NULL"})

#: libyaml where the package was built with it: ten times as fast on a list of thousands.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> ServerList:
    try:
        return _Events(text).servers()
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        raise BadList(
            _("Line %(line)s is no YAML that can be read: %(problem)s.")
            % {"line": mark.line + 1 if mark else 1, "problem": error.problem or error.context or "?"}
        ) from None
    except yaml.YAMLError:
        raise BadList(_("This is no YAML that can be read.")) from None


class _Events:
    """A list of mappings, or one under ``servers:``, taken from the stream of events; deeper or other things end it."""

    def __init__(self, text: str) -> None:
        self._stream = yaml.parse(text, Loader=_Loader)
        self._depth = 0

    def servers(self) -> ServerList:
        self._take(yaml.StreamStartEvent)
        self._take(yaml.DocumentStartEvent)
        event = self._next()
        if isinstance(event, yaml.MappingStartEvent):
            key = self._next()
            if not (isinstance(key, yaml.ScalarEvent) and key.value == "servers"):
                raise self._unfit(event)
            event = self._next()
        if not isinstance(event, yaml.SequenceStartEvent):
            raise self._unfit(event)
        entries: list[Entry] = []
        unread: dict[str, None] = {}
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            if len(entries) == MOST_SERVERS:
                raise BadList(too_many())
            entries.append(self._entry(event, unread))
        while not isinstance(event := self._next(), yaml.DocumentEndEvent):
            if not isinstance(event, yaml.MappingEndEvent):
                raise self._unfit(event)
        if not isinstance(event := self._next(), yaml.StreamEndEvent):
            raise BadList(
                _("Line %(line)s begins another document: put all servers into one list.") % {"line": _line(event)}
            )
        remarks = (_("Not read: %(columns)s.") % {"columns": ", ".join(list(unread)[:20])},) if unread else ()
        return ServerList(tuple(entries), remarks)

    def _entry(self, event: Any, unread: dict[str, None]) -> Entry:
        line = _line(event)
        if isinstance(event, yaml.ScalarEvent):
            return Entry(line, {"url": event.value.strip()})
        if not isinstance(event, yaml.MappingStartEvent):
            raise self._unfit(event)
        values: dict[str, str] = {}
        problems: list[str] = []
        while not isinstance(key := self._next(), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise self._unfit(key)
            column = column_of(key.value)
            value = self._value(column)
            if not column:
                unread.setdefault(key.value.strip()[:40])
            elif column in values:
                problems.append(_("%(column)s is there twice.") % {"column": column})
            else:
                values[column] = value
        return Entry(line, values, tuple(problems))

    def _value(self, column: str) -> str:
        event = self._next()
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]  # Unquoted: then ~ and null are nothing at all.
            text = "" if plain and event.value in _EMPTY else event.value
            return text if column == "password" else text.strip()
        if not isinstance(event, yaml.SequenceStartEvent):
            raise self._unfit(event)
        words = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._unfit(event)
            words.append(event.value.replace(",", " "))
        return ",".join(words)

    def _take(self, kind: type) -> None:
        event = self._next()
        if not isinstance(event, kind):
            raise self._unfit(event)

    def _next(self) -> Any:
        event = next(self._stream)
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise BadList(
                _("Line %(line)s uses an anchor or alias (& or *): write each server out, or quote the value.")
                % {"line": line}
            )
        if getattr(event, "tag", None) not in (None, "!"):
            raise BadList(_("Line %(line)s has a type tag (!): only plain texts are read.") % {"line": line})
        if isinstance(event, yaml.CollectionStartEvent):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise self._unfit(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._depth -= 1
        return event

    def _unfit(self, event: Any) -> BadList:
        return BadList(
            _("Line %(line)s is no list of servers: each begins with a dash and has lines such as “host: db1”.")
            % {"line": _line(event)}
        )


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
