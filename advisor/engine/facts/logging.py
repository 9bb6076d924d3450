"""Facts about logging that more than one rule asks for."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.declared import Settings


@dataclass(frozen=True)
class LogOutput(Settings):
    """Where the logs are written, and which of them are on."""

    log_output: str
    slow_query_log: bool
    general_log: bool
