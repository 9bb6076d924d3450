"""The bounded write load beside the demo server: changes to a table of fixed size, gently rising and falling.

Run as a program: `python -m scripts.embedded.demo_load SOCKET PASSWORD_FILE`. It writes about four MiB of redo a second
whatever the server's settings are, keeps the table at about 48 MiB, and waits for a server that is away.
"""

import itertools
import math
import random
import signal
import sys
import time
from pathlib import Path

import MySQLdb

#: Rows of the table; each has a note of NOTE_BYTES, so that a page of 16 KiB holds about seven.
ROWS = 24_000
NOTE_BYTES = 2_000
#: Transactions each second on average, and how far the number swings to both sides within PERIOD_SECONDS.
TRANSACTIONS_PER_SECOND = 40
SWING_RATIO = 0.35
PERIOD_SECONDS = 300
#: Places of the table that one transaction changes, and rows next to each other in each of them. With more than ten
#: statements for each COMMIT a server looks as if its writes committed on their own, and is counted so.
PLACES = 5
ROWS_PER_PLACE = 4
#: Every so many transactions one is a batch, which changes this many places: real loads come in bursts as well, and
#: these carry a log that is too small to its very limit.
BATCH_EVERY = 20
BATCH_PLACES = 40


def connect(socket: str, password: str) -> MySQLdb.Connection:
    """A connection to the demo server. Raises MySQLdb.Error."""
    return MySQLdb.connect(
        unix_socket=socket,
        user="load",
        passwd=password,
        db="shop",
        connect_timeout=5,
        autocommit=False,
        charset="utf8mb4",
    )


def fill_table(connection: MySQLdb.Connection) -> None:
    """Create the table and its rows, where they are missing."""
    cursor = connection.cursor()
    cursor.execute(
        "CREATE TABLE IF NOT EXISTS orders (id INT PRIMARY KEY, changes BIGINT NOT NULL, note VARCHAR(2100) NOT NULL)"
        " CHARACTER SET latin1"
    )
    cursor.execute("SELECT COALESCE(MAX(id), -1) FROM orders")
    have = cursor.fetchone()[0] + 1
    for first in range(have, ROWS, 200):
        ids = range(first, min(first + 200, ROWS))
        # One statement for many rows: thousands of single ones would outweigh the transactions that are counted later.
        values = ", ".join(f"({row}, 0, REPEAT('x', {NOTE_BYTES}))" for row in ids)
        cursor.execute(f"INSERT INTO orders (id, changes, note) VALUES {values}")  # noqa: S608 - numbers of ours
        connection.commit()
        time.sleep(0.02)


def change_orders(connection: MySQLdb.Connection, chance: random.Random, places: int) -> None:
    """One transaction: new notes for a few rows in so many places of the table."""
    cursor = connection.cursor()
    for first in sorted(chance.randrange(ROWS - ROWS_PER_PLACE) for _ in range(places)):
        cursor.execute(
            "UPDATE orders SET changes = changes + 1, note = REPEAT(%s, %s) WHERE id BETWEEN %s AND %s",
            (chance.choice("abcdefghij"), NOTE_BYTES, first, first + ROWS_PER_PLACE - 1),
        )
    connection.commit()


def pace(now: float) -> float:
    """Transactions a second that are wanted at this moment."""
    return TRANSACTIONS_PER_SECOND * (1 + SWING_RATIO * math.sin(2 * math.pi * now / PERIOD_SECONDS))


def keep_changing(connection: MySQLdb.Connection) -> None:
    """Run transactions at the wanted pace until the connection fails, which raises MySQLdb.Error.

    When the server stalls, what was missed is not made up for: the load stays bounded.
    """
    chance = random.Random()  # noqa: S311 - any rows will do
    due = time.monotonic()
    for number in itertools.count():
        change_orders(connection, chance, PLACES if number % BATCH_EVERY else BATCH_PLACES)
        now = time.monotonic()
        due = max(due + 1 / pace(now), now - 0.5)
        time.sleep(max(due - now, 0))


def end(*_: object) -> None:
    """End at once: a transaction that is open is undone by the server."""
    sys.exit(0)


def main(socket: str, password_file: str) -> None:
    """Load the server for ever, waiting for it while it is away."""
    signal.signal(signal.SIGTERM, end)
    password = Path(password_file).read_text().strip()
    said = ""
    while True:
        try:
            connection = connect(socket, password)
            fill_table(connection)
            print(f"changing orders, about {TRANSACTIONS_PER_SECOND} transactions a second", flush=True)
            said = ""
            keep_changing(connection)
        except MySQLdb.Error as error:
            message = f"waiting for the demo server: {error.args[-1]}"
            if message != said:
                print(message, flush=True)
                said = message
            time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:3])
