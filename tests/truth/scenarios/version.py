"""What the next version makes of a server's settings, where there is a next version and where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from tests.servers import RunningServer
from tests.truth.scenario import MYSQL, Options, Scenario

OUT_OF_SUPPORT = ("mysql-5.7.22", "mysql-8.0.12", "mysql-8.0.33", "mariadb-10.2.11", "mariadb-10.5")
SUPPORTED = ("mysql-9.7", "mariadb-10.11", "mariadb-11.4.5", "mariadb-11.8")


def left_over(name: str) -> Options:
    """Lines that an option file keeps from older versions."""
    if name == "mysql-5.7.22":
        return {"query_cache_type": "1", "query_cache_size": "8M", "expire_logs_days": "7", "log_warnings": "1"}
    if name.startswith("mysql"):
        return {"expire_logs_days": "7", "innodb_page_cleaners": "1", "sync_master_info": "5000"}
    return {"innodb_thread_concurrency": "16", "innodb_page_cleaners": "2"}


@contextmanager
def same_read(server: RunningServer) -> Iterator[None]:
    """One client that reads the same row again and again, some hundred times a second."""
    server.sql("CREATE DATABASE shop")
    server.sql("CREATE TABLE shop.item (id INT PRIMARY KEY, name VARCHAR(20)) ENGINE=InnoDB")
    server.sql("INSERT INTO shop.item VALUES (1, 'cup')")
    stop = Event()

    def work() -> None:
        connection = server.connect()
        cursor = connection.cursor()
        for _ in range(60 * 200):
            if stop.wait(0.005):
                break
            cursor.execute("SELECT name FROM shop.item WHERE id = 1")
            cursor.fetchall()
        connection.close()

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="left-over-settings",
        what="Lines of an older version that this one or the next one ignores, deprecates or refuses",
        servers=OUT_OF_SUPPORT,
        elsewhere="These series are supported for more than a year, or have no successor yet.",
        options=left_over,
        seconds=3,
        fires=frozenset(
            {
                "version.version-out-of-support",
                "version.settings-refused-by-next",
                "version.settings-deprecated",
                "version.changed-defaults-matter",
            }
        ),
        but={
            "mariadb-10.2.11": {
                "version.settings-refused-by-next": "MariaDB accepts removed options and warns.",
                "version.settings-deprecated": "The manual of 10.2 does not call them so.",
            },
            "mariadb-10.5": {
                "version.settings-refused-by-next": "MariaDB accepts removed options and warns.",
                "version.settings-deprecated": "These two are ignored there, which is said instead.",
            },
        },
    ),
    Scenario(
        name="left-over-settings-of-mariadb",
        what="Options that MariaDB still takes and does nothing with",
        servers=("mariadb-10.5",),
        elsewhere="Others refuse these options, or still follow them.",
        options={"innodb_page_cleaners": "4", "innodb_thread_concurrency": "16"},
        seconds=3,
        fires=frozenset({"version.settings-without-effect", "version.settings-ignored-by-next"}),
    ),
    Scenario(
        name="nothing-left-over",
        what="A supported version with nothing set that another one would refuse",
        servers=SUPPORTED,
        elsewhere="Their support is over.",
        seconds=3,
        passes=frozenset(
            {
                "version.version-out-of-support",
                "version.settings-refused-by-next",
                "version.settings-ignored-by-next",
                "version.settings-without-effect",
                "version.settings-deprecated",
                "version.changed-defaults-matter",
            }
        ),
        but={
            "mysql-9.7": {
                rule: "It is of the newest long-term series."
                for rule in (
                    "version.settings-refused-by-next",
                    "version.settings-ignored-by-next",
                    "version.changed-defaults-matter",
                )
            }
        },
    ),
    Scenario(
        name="one-reader-and-a-query-cache",
        what="Few statements at a time, most of them answered by a query cache that the next version does not have",
        servers=("mysql-5.7.22",),
        elsewhere="Only MySQL 5.7 has a next version without query cache and with dearer single statements.",
        options={"query_cache_type": "1", "query_cache_size": "8M"},
        load=same_read,
        warm_seconds=1,
        fires=frozenset({"version.query-cache-lost-by-upgrade", "version.upgrade-slower-at-low-concurrency"}),
    ),
    Scenario(
        name="idle-before-an-upgrade",
        what="Nobody notices a slower version where nothing is done",
        servers=tuple(name for name in MYSQL if name == "mysql-5.7.22"),
        elsewhere="Only MySQL 5.7 has a next version with dearer single statements.",
        passes=frozenset({"version.query-cache-lost-by-upgrade", "version.upgrade-slower-at-low-concurrency"}),
    ),
)
