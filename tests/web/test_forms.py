"""What people state of a machine reaches the rules as they stated it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from advisor.engine.facts.flushing import WriteLatency
from advisor.engine.observation import Observation
from advisor.engine.scene import scene
from advisor.recommendations.judging import host_facts
from advisor.web.forms import ServerSettings
from collector import servers

GIVEN = {"name": "db", "host": "db.example", "port": 3306, "user": "tidemark", "tls_mode": "", "enabled": "on"}


def stated(latency_ms: str) -> Observation:
    """A server of whose device a person stated this latency."""
    form = ServerSettings({**GIVEN, "write_latency_ms": latency_ms})
    assert form.is_valid(), form.errors
    errors: dict[str, str] = {}
    facts = servers._facts(form.values()["host_facts"], errors)
    assert errors == {}
    return replace(scene("mysql 8.0.33"), host=host_facts(facts))


@pytest.mark.parametrize(("latency_ms", "seconds"), [("12.5", 0.0125), ("0.07", 0.00007), ("", None)])
def test_a_latency_in_milliseconds_is_judged_in_seconds(latency_ms: str, seconds: float | None) -> None:
    assert WriteLatency.read(stated(latency_ms)).seconds == seconds


def test_the_settings_show_the_latency_that_was_stated() -> None:
    server = SimpleNamespace(
        **{name: "" for name in ("name", "host", "socket", "user", "tls_mode", "tls_ca")},
        port=3306,
        enabled=True,
        tags=[],
        host_facts={"write_latency_microseconds": {"value": 12_500, "origin": "stated"}},
    )
    assert ServerSettings.initial_of(server)["write_latency_ms"] == 12.5
