"""A text that must not be seen: it does not tell itself by accident, in a log line, a traceback, a task or a page."""

from __future__ import annotations

import hmac
from typing import NoReturn

_MASK = "***"


class Secret:
    """Holds one password. Only ``reveal`` gives it away, so that every place that does can be found by its name."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        self.__text = text

    def reveal(self) -> str:
        """The text itself: to be handed to the driver or to a cipher, and kept nowhere."""
        return self.__text

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self.__text.encode(), other.reveal().encode())

    def __hash__(self) -> NoReturn:
        raise TypeError("a secret is no key")

    def __repr__(self) -> str:
        return f"Secret({_MASK})"

    def __str__(self) -> str:
        return _MASK

    def __format__(self, spec: str) -> str:
        return _MASK

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not stored, copied to another process or put into a queue")
