"""Where the embedded installation keeps its state, its sockets and its logs."""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A unix socket's path may have 107 bytes. The longest name below the folder is supervisor's own, which it first makes
# with its process id at the end: "supervisor.sock.4194304" has 23.
LONGEST_SOCKET_FOLDER_BYTES = 107 - 1 - len("supervisor.sock.4194304")


class PlaceError(Exception):
    """A folder or file that cannot be used; the message is one sentence saying what is so and what to do."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """All paths of one installation. `data` is absolute and has no symbolic links."""

    data: Path

    @property
    def keys(self) -> Path:
        """Folder of the secret key and the credential keys."""
        return self.data / "keys"

    @property
    def logs(self) -> Path:
        """Folder of the rotated log files, one for each program."""
        return self.data / "log"

    @property
    def redis(self) -> Path:
        """Folder of the private Redis' append-only file."""
        return self.data / "redis"

    @property
    def demo(self) -> Path:
        """Folder of the demo server."""
        return self.data / "demo"

    @property
    def beat_schedule(self) -> Path:
        """Celery beat's own file."""
        return self.data / "beat-schedule"

    @property
    def run(self) -> Path:
        """Folder of sockets and pid files: below the data folder, or a short one elsewhere when that is too deep."""
        near = self.data / "run"
        if len(os.fsencode(near)) <= LONGEST_SOCKET_FOLDER_BYTES:
            return near
        # Not XDG_RUNTIME_DIR: it disappears when the person who called ./start in a detached session logs out.
        name = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        return Path(f"/tmp/tidemark-{os.geteuid()}-{name}")  # noqa: S108 - owner and mode are checked by make_private

    @property
    def redis_socket(self) -> Path:
        """The broker's socket."""
        return self.run / "redis.sock"

    @property
    def demo_socket(self) -> Path:
        """The demo server's socket, for its load."""
        return self.run / "demo.sock"

    @property
    def state(self) -> Path:
        """What the running `./start` says of itself: {"pid", "address"}."""
        return self.data / "running.json"


def find_places(environment: Mapping[str, str] = os.environ) -> Places:
    """The places that TIDEMARK_DATA names, or `var/` in the checkout; nothing is created."""
    return Places(data=Path(environment.get("TIDEMARK_DATA") or ROOT / "var").resolve())


def make_private(folder: Path) -> None:
    """Create a folder that only we may enter, or check that an existing one is ours alone.

    A folder of ours with a wider mode is closed. Raises PlaceError for anything that is not ours, such as a folder
    that somebody else made first under a guessable name in /tmp.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
        folder.chmod(0o700)  # mkdir's mode is narrowed by the umask, never widened: this gives back our own bits
    except FileExistsError:
        pass
    except OSError as error:
        raise PlaceError(f"{folder} cannot be made: {error.strerror}; name another folder in TIDEMARK_DATA.") from None
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise PlaceError(f"{folder} should be a folder and is something else; move it away and start again.")
    if status.st_uid != os.geteuid():
        raise PlaceError(
            f"{folder} belongs to another user of this machine; remove it, or name another folder in TIDEMARK_DATA."
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def make_all(places: Places) -> None:
    """Create every folder of the installation, closed to others. Raises PlaceError."""
    for folder in (places.data, places.keys, places.logs, places.run):
        make_private(folder)


def defaults_for_commands(places: Places) -> dict[str, str]:
    """Settings that a `./manage.py` command needs to reach the running installation, where nobody has set them."""
    found = {"TIDEMARK_BROKER_URL": f"redis+socket://{places.redis_socket}"}
    try:
        found["TIDEMARK_BASE_URL"] = json.loads(places.state.read_text())["address"]
    except (OSError, ValueError, KeyError):
        pass  # Nothing runs: the settings' own default is as good a guess as any.
    return found
