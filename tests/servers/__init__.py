"""Real servers for tests: `with start_server("mariadb-10.11") as server: server.sql("SELECT 1")`.

`SERVERS` are the nine of the long matrix; `CI_SERVERS` three of different lineage; `DISTRIBUTION_SERVER` the machine's
own MariaDB, always there. The others come from `tests/servers/fetch`.
"""

from .places import ci_servers, distribution_server, recorded
from .running import ClientUser, RunningServer, ServerDidNotStart, ServerNotAvailable, available, start_server

DISTRIBUTION_SERVER: str = distribution_server()
SERVERS: tuple[str, ...] = tuple(recorded())
CI_SERVERS: tuple[str, ...] = ci_servers()

__all__ = [
    "CI_SERVERS",
    "DISTRIBUTION_SERVER",
    "SERVERS",
    "ClientUser",
    "RunningServer",
    "ServerDidNotStart",
    "ServerNotAvailable",
    "available",
    "start_server",
]
