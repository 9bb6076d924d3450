"""The collector's tables, one idea a file."""

from __future__ import annotations

from collector.models.credential import Credential
from collector.models.inspection import InspectionRequest, StoredInspection
from collector.models.samples import Digest, Gap, OpenSample, SealedBlock
from collector.models.schedule import ServerState, Shard
from collector.models.server import Server, TlsMode
from collector.models.snapshot import StoredSnapshot

__all__ = [
    "Credential",
    "Digest",
    "Gap",
    "InspectionRequest",
    "OpenSample",
    "SealedBlock",
    "Server",
    "ServerState",
    "Shard",
    "StoredInspection",
    "StoredSnapshot",
    "TlsMode",
]
