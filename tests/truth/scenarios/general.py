"""What holds for advice as a whole: silence where there is nothing to say, and few words where there is little."""

from __future__ import annotations

from tests.truth.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="idle-and-just-started",
        what="A server with the defaults of its version that does nothing gets no sizing advice",
        silent=frozenset(
            {
                "redo.redo-log-undersized",
                "redo.redo-log-oversized",
                "redo.log-buffer-too-small",
                "flushing.io-capacity-too-low",
                "flushing.io-capacity-max-too-high",
                "flushing.adaptive-flushing-blind",
                "memory.buffer-pool-undersized",
            }
        ),
        quick=True,
    ),
)
