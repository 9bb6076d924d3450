"""Of fifty who approve and apply at once exactly one begins, on a database of a file as the embedded product has."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from django.db import connection, connections

from . import racing


@pytest.mark.django_db(transaction=True)
def test_fifty_who_approve_and_apply_at_once_begin_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "sqlite":
        racing.check(*racing.race(monkeypatch))
        return
    # A database in memory is shared by threads under locks that no product ever meets: it is copied into a file.
    place = tmp_path / "product.sqlite3"
    connection.ensure_connection()
    with sqlite3.connect(place) as file:
        connection.connection.backup(file)
    file.close()
    monkeypatch.setitem(connections.settings["default"], "NAME", str(place))
    failures: list[BaseException] = []

    def run() -> None:
        try:
            racing.check(*racing.race(monkeypatch))
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
