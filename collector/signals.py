"""What the collector announces. It does not know who listens."""

from __future__ import annotations

from django.dispatch import Signal

#: Sent after the transaction that stored a full snapshot: ``server_id``, ``slot``.
snapshot_stored = Signal()
#: Sent after the transaction that stored a poll, at most once a server and second: ``server_id``, ``slot``.
poll_stored = Signal()
#: Sent when a server could not be read: ``server_id``.
server_failed = Signal()
#: Sent after the transaction that stored an inspection: ``server_id``.
inspection_stored = Signal()
