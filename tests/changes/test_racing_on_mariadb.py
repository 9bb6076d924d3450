"""The same race with a MariaDB as the product's database, whose transactions lock other things than SQLite's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import DISTRIBUTION_SERVER, start_server

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.ci
def test_fifty_at_once_begin_it_once_on_mariadb() -> None:
    with start_server(DISTRIBUTION_SERVER) as product:
        account = product.client_user("product", "ALL")
        url = f"mysql://product:{account.password}@127.0.0.1:{product.port}/tidemark"
        product.sql("CREATE DATABASE tidemark CHARACTER SET utf8mb4")
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/changes/test_racing.py"],
            cwd=ROOT,
            env={**os.environ, "TIDEMARK_DATABASE_URL": url, "TIDEMARK_CHECK": ""},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
        assert "1 passed" in ran.stdout
