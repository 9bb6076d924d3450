"""Makes `.venv` and installs the pinned packages into it.

Runs under the system's Python, before there is an environment: only the standard library may be imported. Called as a
program by `./start` and `./check`; exit 0 done, 1 with one sentence why not.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts.embedded.index_settings import read_pip_settings, uv_environment

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
#: Where Debian and Ubuntu keep the certificates the machine trusts, a company's own among them.
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
UV_REQUIREMENTS = Path(__file__).with_name("uv.txt")
RUN_REQUIREMENTS = ROOT / "requirements.txt"
TEST_REQUIREMENTS = ROOT / "requirements-dev.txt"


def fingerprint(requirements: Path) -> str:
    """Changes with the interpreter and with the pinned packages: when it is the one in the stamp, nothing is to do."""
    content = hashlib.sha256()
    content.update(f"{sys.version_info[:2]} {os.path.realpath(sys.executable)}\n".encode())
    for file in (UV_REQUIREMENTS, requirements):
        content.update(file.read_bytes())
    return content.hexdigest()


def stamp(requirements: Path) -> Path:
    """The file that says which state of `requirements` the environment holds."""
    return ENVIRONMENT / f".installed-{requirements.stem}"


def is_current(requirements: Path) -> bool:
    """Whether the environment exists and holds exactly these requirements for this interpreter."""
    try:
        return os.access(PYTHON, os.X_OK) and stamp(requirements).read_text() == fingerprint(requirements)
    except FileNotFoundError:
        return False


@contextmanager
def only_one_installer() -> Iterator[None]:
    """Wait for another `./start` or `./check` that is installing into the same environment."""
    with (ROOT / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: list[str], extra: dict[str, str]) -> bool:
    """Run a command with additional environment variables; whether it succeeded. Its output goes to the terminal."""
    return subprocess.run(command, env=os.environ | extra, check=False).returncode == 0


def make_environment() -> None:
    """Create `.venv` with the running interpreter, replacing one whose interpreter is gone or of another version."""
    if ENVIRONMENT.exists():
        same = (
            subprocess.run(
                [str(PYTHON), "-c", "import sys; print(sys.version_info[:2])"],
                capture_output=True,
                text=True,
                check=False,
            )
            if os.access(PYTHON, os.X_OK)
            else None
        )
        if same is not None and same.stdout.strip() == str(sys.version_info[:2]):
            return
        shutil.rmtree(ENVIRONMENT)
    print("Making the environment .venv", flush=True)
    made = subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        raise SystemExit(f"./start: {sys.executable} cannot make an environment: {(made.stdout + made.stderr).strip()}")


def client_library_flags() -> dict[str, str]:
    """Variables that make mysqlclient link MariaDB Connector/C; {} when this machine does not say where it is.

    Left alone, mysqlclient's build takes MySQL's own library wherever that is installed too.
    """
    for cflags, libraries in (
        (["pkg-config", "--cflags", "libmariadb"], ["pkg-config", "--libs", "libmariadb"]),
        (["mariadb_config", "--cflags"], ["mariadb_config", "--libs"]),
    ):
        if shutil.which(cflags[0]) is None:
            continue
        asked = [
            subprocess.run(command, capture_output=True, text=True, check=False) for command in (cflags, libraries)
        ]
        if all(answer.returncode == 0 for answer in asked):
            return {"MYSQLCLIENT_CFLAGS": asked[0].stdout.strip(), "MYSQLCLIENT_LDFLAGS": asked[1].stdout.strip()}
    return {}


def client_library_version() -> str:
    """Version of the client library that the installed mysqlclient really loads; "" when it cannot be loaded.

    MariaDB Connector/C counts 3.x, MySQL's library counts as its servers do.
    """
    ask = "from MySQLdb import _mysql; print(_mysql.get_client_info())"
    asked = subprocess.run([str(PYTHON), "-c", ask], capture_output=True, text=True, check=False)
    return asked.stdout.strip() if asked.returncode == 0 else ""


def make_right_driver(requirements: Path) -> None:
    """Build mysqlclient again when the one installed links another library, as one from an installer's cache may."""
    if client_library_version().startswith("3."):
        return
    subprocess.run([str(PYTHON), "-m", "pip", "uninstall", "--quiet", "--yes", "mysqlclient"], check=False)
    install(requirements, {"UV_NO_CACHE": "1", "PIP_NO_CACHE_DIR": "1"})
    version = client_library_version()
    if not version.startswith("3."):
        linked = f"client library {version}" if version else "no usable library"
        raise SystemExit(
            f"./start: mysqlclient was linked against {linked}, not MariaDB Connector/C 3.x: "
            "install the package libmariadb-dev, then start again."
        )


def install(requirements: Path, further: Mapping[str, str]) -> None:
    """Install hashed requirements, by uv (seconds) or, where uv cannot be had, by pip (a minute or two).

    Nothing is removed: what ./check installed on top stays. `further` environment variables reach both installers.
    """
    print(f"Installing the packages of {requirements.name}", flush=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r"]
    uv = ENVIRONMENT / "bin" / "uv"
    # An interpreter that uv would download is not the one the system's packages were built for.
    settings = read_pip_settings(str(PYTHON))
    extra = {"UV_PYTHON_DOWNLOADS": "never", **uv_environment(settings), **client_library_flags(), **further}
    if "cert" not in settings and SYSTEM_CERTIFICATES.exists():
        # Left alone, an older pip trusts only the certificates it carries, which know no company's proxy.
        extra["PIP_CERT"] = str(SYSTEM_CERTIFICATES)
    if run([*pip, str(UV_REQUIREMENTS)], extra) and uv.exists():
        if run(
            [
                str(uv),
                "pip",
                "install",
                "--quiet",
                "--python",
                str(PYTHON),
                "--require-hashes",
                "-r",
                str(requirements),
            ],
            extra,
        ):
            return
        print("uv could not install them; trying pip, which takes longer.", file=sys.stderr, flush=True)
    if not run([*pip, str(requirements)], extra):
        raise SystemExit(
            f"./start: the packages of {requirements.name} could not be installed; the lines above say why."
        )


def bring_up_to_date(requirements: Path) -> None:
    """Make the environment hold `requirements`; returns at once when it already does."""
    with only_one_installer():
        if is_current(requirements):
            return
        make_environment()
        install(requirements, {})
        make_right_driver(requirements)
        stamp(requirements).write_text(fingerprint(requirements))


def main(arguments: list[str]) -> int:
    """`--is-current` only answers by its exit code; `--tests` is about the packages of the tests as well."""
    wanted = [RUN_REQUIREMENTS, *([TEST_REQUIREMENTS] if "--tests" in arguments else [])]
    if "--is-current" in arguments:
        return 0 if all(is_current(requirements) for requirements in wanted) else 1
    for requirements in wanted:
        bring_up_to_date(requirements)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)  # What was begun is finished by the next start: the stamp is written last.
