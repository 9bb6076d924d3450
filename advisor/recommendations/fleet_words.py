"""What a fleet row is found by: its group, and the text that searching looks through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.recommendations.models import WORDS_LENGTH

#: A tag that begins so names the group; without one, the first tag does.
GROUP_PREFIX = "group:"
#: Encloses each tag, so that "prod" is not found in "prod-eu". No name, tag or title can hold it.
_MARK = "\x1f"


def group_of(tags: object) -> str:
    """The group of a server with these tags, folded; "" without tags: ``group:orders`` wins over the first tag."""
    folded = tags_of(tags)
    named = next((tag.removeprefix(GROUP_PREFIX).strip() for tag in folded if tag.startswith(GROUP_PREFIX)), "")
    return named or (folded[0] if folded else "")


def tags_of(tags: object) -> list[str]:
    """Tags as they are compared: folded, each once. What is no list has none."""
    given: Sequence[object] = tags if isinstance(tags, list | tuple) else ()
    return list(dict.fromkeys(str(tag).casefold().replace(_MARK, " ") for tag in given))


def marked(tag: str) -> str:
    """What the words of a server with that tag contain, and those of no other server."""
    return f"{_MARK}{tag.casefold()}{_MARK}"


def words_of(*, tags: object, others: Iterable[str]) -> str:
    """All that a server is found by. Tags come first, so that only text is cut off where there is too much."""
    listed = "".join(f"{_MARK}{tag}" for tag in tags_of(tags))
    text = " ".join(" ".join(other.split()) for other in others if other).casefold().replace(_MARK, " ")
    return f"{listed}{_MARK}{text}"[:WORDS_LENGTH]
