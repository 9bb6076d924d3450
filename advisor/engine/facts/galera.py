"""Facts about a node of a Galera cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from advisor.engine import reading
from advisor.engine.declared import Status
from advisor.engine.fact import Fact
from advisor.engine.observation import Observation
from advisor.engine.outcome import Inapplicable, Message
from advisor.engine.units import GIB, KIB, MIB

_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": 1024 * GIB}


@dataclass(frozen=True)
class ClusterNode(Fact):
    """This server replicates by Galera. ``options`` are those of the provider, as it prints them."""

    reads: ClassVar[tuple[str, ...]] = ("wsrep_on", "wsrep_provider_options")

    options: Mapping[str, str]

    @classmethod
    def read(cls, seen: Observation) -> Self:
        if not reading.is_on(seen, "wsrep_on", default=False):
            raise Inapplicable(Message("This server is no node of a Galera cluster."))
        text = reading.variable(seen, "wsrep_provider_options") or ""
        pairs = (one.split("=", 1) for one in text.split(";") if "=" in one)
        return cls({name.strip(): value.strip() for name, value in pairs})

    def size_bytes(self, name: str) -> int:
        """A provider option that holds a size, such as 128M; 0 where the provider does not tell it."""
        match = re.fullmatch(r"(\d+)([KMGT]?)", self.options.get(name, "").upper())
        return int(match.group(1)) * _UNITS[match.group(2)] if match else 0


@dataclass(frozen=True)
class NodeState(Status):
    """What the node says of itself and of the component it is in.

    ``wsrep_local_state``: 1 joining, 2 donor or desynced, 3 joined, 4 synced; 0 and others on the way.
    """

    wsrep_cluster_status: str
    wsrep_local_state: int
    wsrep_local_state_comment: str
    wsrep_ready: str
    wsrep_cluster_size: int

    @property
    def primary(self) -> bool:
        return self.wsrep_cluster_status.lower() == "primary"
