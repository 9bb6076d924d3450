"""The secrets of an installation: Django's secret key, the keys that stored credentials are encrypted with, and those
that the audit is signed with.
"""

import base64
import os
import secrets
import stat
from pathlib import Path

from scripts.embedded.places import PlaceError


def create_keys(folder: Path) -> None:
    """Create what is missing with mode 0600 and check what is there. Raises PlaceError with one sentence.

    `secret_key` is one line. `credential_keys` has one url-safe base64 key of 32 bytes a line; the first one encrypts,
    all of them decrypt. `audit_key` has keys of the same form; the first one signs, all of them verify.
    """
    keep_secret(folder / "secret_key", secrets.token_urlsafe(50))
    for name in ("credential_keys", "audit_key"):
        keep_secret(folder / name, base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())


def keep_secret(file: Path, value: str) -> str:
    """Write the value into a file that only we can read, unless the file exists; returns what the file holds then.

    Raises PlaceError when others can read the file, or when it is not ours or empty.
    """
    if not file.exists():
        # Written beside and linked into place, so that a second start at the same moment never reads half a key, and
        # so that an existing key is never replaced.
        fresh = file.with_name(f".{file.name}.{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(value + "\n")
            out.flush()
            os.fsync(out.fileno())
        try:
            os.link(fresh, file)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    status = file.stat()
    if status.st_uid != os.geteuid():
        raise PlaceError(f"{file} belongs to another user; run ./start as that user, or name another TIDEMARK_DATA.")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise PlaceError(
            f"{file} can be read by other users of this machine; if you trust them all so far, close it with "
            f"chmod 600 {file}, otherwise replace the key as well."
        )
    content = file.read_text().strip()
    if not content:
        raise PlaceError(f"{file} is empty; restore it from a backup, or remove it to get a new key.")
    return content
