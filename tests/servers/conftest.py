"""The machine's own server for the harness's own tests."""

from tests.servers.fixtures import server

__all__ = ["server"]
