"""Finding the programs of the distribution that the embedded installation runs."""

import os
import shutil
from pathlib import Path

# Server programs often live where an ordinary user's PATH does not look.
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/bin"])


def find_redis(links: Path) -> Path | None:
    """The Redis (or Valkey) server program, or None.

    Debian packs the server into redis-tools as `redis-check-rdb`, one program that acts by the name it is called by;
    the package redis-server adds the link with the server's name and a service for the whole machine. So without that
    package we make the link ourselves, in the folder `links`.
    """
    for name in ("redis-server", "valkey-server"):
        found = shutil.which(name, path=SEARCHED)
        if found:
            return Path(found)
    for many_names, name in (("redis-check-rdb", "redis-server"), ("valkey-check-rdb", "valkey-server")):
        found = shutil.which(many_names, path=SEARCHED)
        if found:
            link = links / name
            if link.is_symlink() or link.exists():
                link.unlink()
            link.symlink_to(found)
            return link
    return None


def find_mariadbd() -> Path | None:
    """MariaDB's server program, or None. MySQL's `mysqld` is not taken: the demo is a MariaDB."""
    found = shutil.which("mariadbd", path=SEARCHED)
    return Path(found) if found else None
