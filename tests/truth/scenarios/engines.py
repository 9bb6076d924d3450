"""Storage engines other than InnoDB, and InnoDB's statistics: careless, and careless in the other direction."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tests.servers import RunningServer
from tests.truth.exceptions import except_on
from tests.truth.scenario import EVERY, MARIADB, MYSQL, Options, Scenario
from tests.truth.sessions import prepared, sessions

#: Servers that still have myisam_repair_threads.
_WITH_REPAIR_THREADS = tuple(name for name in EVERY if name not in ("mysql-8.0.33", "mysql-9.7"))
_WITHOUT_REPAIR_THREADS = tuple(name for name in EVERY if name not in _WITH_REPAIR_THREADS)

_ARIA = "engines.aria-recovery-off"
_REPAIR = "engines.repair-threads-experimental"


def _careless(server: str) -> Options:
    """MyISAM as it was used twenty years ago, and statistics that nobody can rely on."""
    options: dict[str, str | None] = {
        "flush": "ON",
        "flush_time": "1800",
        "low_priority_updates": "ON",
        "concurrent_insert": "NEVER",
        "default_storage_engine": "MyISAM",
        "myisam_recover_options": "OFF",
        "innodb_stats_on_metadata": "ON",
        "innodb_stats_persistent": "OFF",
        "innodb_stats_persistent_sample_pages": "4",
    }
    if server in MARIADB:
        options["aria_recover_options"] = "OFF"
    if server in _WITH_REPAIR_THREADS:
        options["myisam_repair_threads"] = "2"
    return options


def _myisam(server: RunningServer) -> None:
    """A MyISAM table with rows to read for a while."""
    digits = " UNION ".join(f"SELECT {digit} d" for digit in range(8))
    prepared(
        server,
        "CREATE DATABASE tm_engines",
        "CREATE TABLE tm_engines.old (id INT AUTO_INCREMENT PRIMARY KEY, n INT NOT NULL, KEY (n)) ENGINE=MyISAM",
        f"INSERT INTO tm_engines.old (n) SELECT a.d FROM ({digits}) a, ({digits}) b, ({digits}) c, ({digits}) e",
    )


def _reading(cursor: Any, _number: int) -> None:
    cursor.execute("SELECT COUNT(*) FROM tm_engines.old a WHERE a.n + a.id > SLEEP(0) + 3")
    cursor.fetchall()


def _writing(cursor: Any, number: int) -> None:
    cursor.execute(f"INSERT INTO tm_engines.old (n) VALUES ({number})")


def reading_and_writing(server: RunningServer) -> AbstractContextManager[object]:
    """Two readers and two writers of one MyISAM table."""
    return sessions(server, _reading, _reading, _writing, _writing, pause=0.005)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="engines-as-twenty-years-ago",
        what="MyISAM in use with settings of its time, and statistics from four pages that a restart forgets",
        options=_careless,
        setup=_myisam,
        load=reading_and_writing,
        warm_seconds=1,
        fires=frozenset(
            {
                "engines.flush-after-every-statement",
                "engines.low-priority-updates",
                "engines.concurrent-insert-off",
                "engines.default-engine-not-transactional",
                "engines.myisam-recovery-off",
                "engines.statistics-on-metadata",
                "engines.persistent-statistics-off",
                "engines.statistics-sample-small",
                _ARIA,
                _REPAIR,
            }
        ),
        passes=frozenset({"engines.automatic-statistics-off", "engines.statistics-sample-large"}),
        but=except_on(
            (MYSQL, "no Aria", (_ARIA,)),
            (_WITHOUT_REPAIR_THREADS, "myisam_repair_threads is gone", (_REPAIR,)),
        ),
    ),
    Scenario(
        name="engines-with-large-samples",
        what="Statistics from ten thousand pages that nobody renews; all else as the server comes",
        options={"innodb_stats_persistent_sample_pages": "10000", "innodb_stats_auto_recalc": "OFF"},
        fires=frozenset({"engines.automatic-statistics-off", "engines.statistics-sample-large"}),
        passes=frozenset(
            {
                "engines.flush-after-every-statement",
                "engines.low-priority-updates",
                "engines.concurrent-insert-off",
                "engines.default-engine-not-transactional",
                "engines.myisam-recovery-off",
                "engines.statistics-on-metadata",
                "engines.persistent-statistics-off",
                "engines.statistics-sample-small",
                _ARIA,
                _REPAIR,
            }
        ),
        but=except_on(
            (MYSQL, "no Aria", (_ARIA,)),
            (_WITHOUT_REPAIR_THREADS, "myisam_repair_threads is gone", (_REPAIR,)),
        ),
    ),
)
