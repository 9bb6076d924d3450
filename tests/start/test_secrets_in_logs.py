"""A login link that makes trouble is not written down by the trouble."""

import logging
from typing import Any

import pytest
from django.test import Client

from advisor.teams.log_filter import WithoutLoginLinks


def test_a_failing_login_link_leaves_no_secret_in_the_log(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def fail(*arguments: Any, **named: Any) -> None:
        raise RuntimeError("the database is away")

    monkeypatch.setattr("advisor.teams.services.redeem_login_link", fail)
    handler = caplog.handler
    handler.addFilter(WithoutLoginLinks())
    secret = "s" * 43
    answer = Client(raise_request_exception=False).get(f"/login/{secret}")
    assert answer.status_code == 500
    assert "Internal Server Error: /login/[secret]" in caplog.text
    assert secret not in caplog.text


def test_the_filter_stands_before_every_handler() -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and type(handler) is logging.StreamHandler:
            assert any(isinstance(one, WithoutLoginLinks) for one in handler.filters)
            return
    raise AssertionError("no handler writes to standard error")
