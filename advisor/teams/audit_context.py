"""Who is acting: known once per request, command or task, so that no service has to hand it on."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest, HttpResponse

from advisor.teams.ids import new_id

#: The header of each answer that names the request, as audit entries do.
REQUEST_ID_HEADER = "X-Request-ID"
ORIGINS = ("page", "api", "command", "task", "system")


@dataclass(frozen=True)
class Acting:
    """``who`` is asked when an entry is written, since a request's person may be known only later than its address."""

    origin: str = "system"
    who: Callable[[], Any] = lambda: None
    name: str = ""
    request_id: str = ""
    address: str = ""

    @property
    def actor(self) -> AbstractBaseUser | None:
        """The account that acts, None where nobody is signed in or nobody acts."""
        person = self.who()
        return person if isinstance(person, AbstractBaseUser) and person.is_authenticated else None


_acting: ContextVar[Acting] = ContextVar("tidemark_acting", default=Acting())  # noqa: B039 -- it is frozen


def acting() -> Acting:
    """What is known of who acts now."""
    return _acting.get()


@contextmanager
def acting_as(
    actor: AbstractBaseUser | None, origin: str, *, request_id: str = "", address: str = "", name: str = ""
) -> Iterator[None]:
    """Entries written meanwhile are this person's. ``origin`` is one of ``ORIGINS``; ``name`` stands where no account
    acts.
    """
    if origin not in ORIGINS:
        raise ValueError(f"{origin!r} is none of {', '.join(ORIGINS)}")
    token = _acting.set(Acting(origin, lambda: actor, name, request_id or new_id(), address))
    try:
        yield
    finally:
        _acting.reset(token)


def operator_name() -> str:
    """The account of the machine that a command runs under, as a name in the audit."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "command line"


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Names each request and remembers from where it came and whose it is. Stands before whatever may write."""

    def handle(request: HttpRequest) -> HttpResponse:
        request_id = new_id()
        request.request_id = request_id  # type: ignore[attr-defined]
        origin = "api" if request.path.startswith("/api/") else "page"
        address = str(request.META.get("REMOTE_ADDR", ""))[:64]
        token = _acting.set(Acting(origin, lambda: getattr(request, "user", None), "", request_id, address))
        try:
            response = get_response(request)
        finally:
            _acting.reset(token)
        response[REQUEST_ID_HEADER] = request_id
        return response

    return handle
