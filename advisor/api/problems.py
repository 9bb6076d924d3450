"""Errors as RFC 9457 problem documents: one shape for whatever goes wrong below /api/."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from advisor.teams.access import AmbiguousTeam

log = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"


class Problem(Exception):
    """Raised by an operation that cannot do what was asked for; becomes the answer.

    ``code`` is a short word that programs may compare; it is stable, while ``detail`` is a sentence for people.
    """

    def __init__(self, status: int, code: str, detail: str, **further: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.further = further


def document(status: int, code: str, detail: str, **further: Any) -> dict[str, Any]:
    """The members of a problem document. ``type`` is about:blank: the status and our ``code`` say it all."""
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        **further,
    }


def answer(status: int, code: str, detail: str, **further: Any) -> HttpResponse:
    """The response that carries a problem document."""
    body = json.dumps(document(status, code, detail, **further), ensure_ascii=False)
    response = HttpResponse(body, status=status, content_type=CONTENT_TYPE)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="Tidemark"'
    return response


def register(api: NinjaAPI) -> None:
    """Has every kind of failure answered by a problem document."""

    @api.exception_handler(Problem)
    def problem(request: HttpRequest, raised: Problem) -> HttpResponse:
        return answer(raised.status, raised.code, raised.detail, **raised.further)

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, raised: ValidationError) -> HttpResponse:
        errors = [
            {"where": ".".join(str(part) for part in error["loc"]), "what": error["msg"]} for error in raised.errors
        ]
        sentence = "; ".join(f"{error['where']}: {error['what']}" for error in errors)
        return answer(422, "invalid", f"The request cannot be used: {sentence}.", errors=errors)

    @api.exception_handler(AuthenticationError)
    def unknown_caller(request: HttpRequest, raised: AuthenticationError) -> HttpResponse:
        return answer(
            401,
            "no-valid-token",
            "Send a valid token as 'Authorization: Bearer TOKEN'; manage.py create_token makes one.",
        )

    @api.exception_handler(HttpError)
    def refused(request: HttpRequest, raised: HttpError) -> HttpResponse:
        return answer(raised.status_code, "refused", str(raised))

    @api.exception_handler(Http404)
    def absent(request: HttpRequest, raised: Http404) -> HttpResponse:
        return answer(404, "not-found", str(raised) or "There is nothing here that you may see.")

    @api.exception_handler(PermissionDenied)
    def forbidden(request: HttpRequest, raised: PermissionDenied) -> HttpResponse:
        return answer(403, "role-too-small", str(raised) or "Your roles do not allow this.")

    @api.exception_handler(AmbiguousTeam)
    def ambiguous(request: HttpRequest, raised: AmbiguousTeam) -> HttpResponse:
        return answer(422, "team-not-named", str(raised))

    @api.exception_handler(UnicodeEncodeError)
    def half_a_character(request: HttpRequest, raised: UnicodeEncodeError) -> HttpResponse:
        # JSON can hold lone surrogates; neither a database nor a server's protocol can.
        return answer(422, "invalid", "The request holds half a character (a lone surrogate): leave it out.")

    @api.exception_handler(Exception)
    def broken(request: HttpRequest, raised: Exception) -> HttpResponse:
        # The trace belongs into the log; whoever called can do nothing with it, and it may quote what is secret.
        log.exception("%s %s failed", request.method, request.path, exc_info=raised)
        return answer(500, "fault", "This is a fault in Tidemark; its log holds the details.")


class ProblemMiddleware:
    """Puts a problem document in place of Django's own error pages below /api/: unknown addresses, wrong methods."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if (
            response.status_code < 400
            or not request.path.startswith("/api/")
            or response.get("Content-Type", "").startswith(CONTENT_TYPE)
        ):
            return response
        sentences = {
            400: ("bad-request", "The request cannot be understood."),
            404: ("not-found", "There is no such address; /api/v1/openapi.json lists all."),
            405: ("wrong-method", f"This address does not take {request.method}."),
        }
        code, detail = sentences.get(response.status_code, ("refused", "The request was refused."))
        replaced = answer(response.status_code, code, detail)
        if response.has_header("Allow"):
            replaced["Allow"] = response["Allow"]
        return replaced
