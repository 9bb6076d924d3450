"""The collector's tables, one idea a file."""

from __future__ import annotations

from collector.models.credential import Credential
from collector.models.inspection import InspectionRequest, StoredInspection
from collector.models.samples import CounterBlock, DayTimes, Digest, Gap, OpenCounters, OpenSample, Rollup, SealedBlock
from collector.models.schedule import ServerState, Shard
from collector.models.server import Server, TlsMode
from collector.models.settings_history import SettingsBase, SettingsChange
from collector.models.snapshot import StoredSnapshot
from collector.models.upkeep import Heartbeat, UpkeepSample

__all__ = [
    "CounterBlock",
    "Credential",
    "DayTimes",
    "Digest",
    "Gap",
    "Heartbeat",
    "InspectionRequest",
    "OpenCounters",
    "OpenSample",
    "Rollup",
    "SealedBlock",
    "Server",
    "ServerState",
    "SettingsBase",
    "SettingsChange",
    "Shard",
    "StoredInspection",
    "StoredSnapshot",
    "TlsMode",
    "UpkeepSample",
]
