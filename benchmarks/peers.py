"""The peers, as the distribution packages them: unpacked into our own folder, so that no service comes with them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def unpacked(package: str, folder: Path) -> tuple[Path, str]:
    """The root of the unpacked package and its version. Raises RuntimeError with what apt said."""
    root = folder / package
    if not (root / ".version").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        got = subprocess.run(["apt-get", "download", package], cwd=root, capture_output=True, text=True, check=False)
        archives = list(root.glob("*.deb"))
        if got.returncode or not archives:
            raise RuntimeError(f"{package} cannot be had: {got.stderr.strip()[-300:]}")
        subprocess.run(["dpkg-deb", "-x", archives[0], root], check=True)
        version = subprocess.run(
            ["dpkg-deb", "-f", archives[0], "Version"], capture_output=True, text=True, check=True
        ).stdout.strip()
        (root / ".version").write_text(version, encoding="ascii")
        archives[0].unlink()
    return root, (root / ".version").read_text(encoding="ascii")


@contextmanager
def exporter(folder: Path, *, port: int, user: str, password: str) -> Iterator[tuple[str, str]]:
    """mysqld_exporter with its default collectors against one server: (address to scrape, version)."""
    root, version = unpacked("prometheus-mysqld-exporter", folder)
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [root / "usr/bin/prometheus-mysqld-exporter", f"--web.listen-address={address}"],
        env={**os.environ, "DATA_SOURCE_NAME": f"{user}:{password}@(127.0.0.1:{port})/"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://{address}/", timeout=1).read()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://{address}/metrics", version
    finally:
        process.terminate()
        process.wait(10)
