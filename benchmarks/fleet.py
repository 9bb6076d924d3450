"""The fleet page at 10,000 servers against the same page at 100: each order of each filter and search, median and p95.

Both fleets are skewed alike (a few groups hold most servers, one tag most of them, a few servers do most of the work)
and lie in databases of their own, each behind a process that answers through Django's test client, templates
included. Requests alternate between the two. What is told is CPU time: everything happens in that one process, the
database included, and neighbours on the machine would be counted otherwise.

Both sides show equally many rows: where 100 servers have fewer of a rare state or a small group than a page holds,
the page of both is cut to as many, since a page of 50 rows against one of 8 would measure the rows.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from advisor.web.fleet.listing import PAGE_ROWS
from benchmarks.ratio import Ratio

ROOT = Path(__file__).resolve().parent.parent
SMALL, LARGE = 100, 10_000
#: Requests of each address to each side.
REQUESTS = 60
TARGET = 1.5
#: Of the addresses that did worst so many are measured once more, by more requests, and these figures are told: the
#: worst of a hundred is else mostly the unluckiest.
AGAIN, REQUESTS_AGAIN = 6, 240
#: More than half of the servers need somebody, so that also at 100 the longest lists fill their pages.
NEEDING = 0.62
#: The seed of the small fleet is one with a server in each state.
SEEDS = {SMALL: 35, LARGE: 7}

#: What narrows the list. Each is asked for in each order.
FILTERS: dict[str, str] = {
    "all": "state=all",
    "what needs somebody": "state=needs",
    "critical": "state=critical",
    "warning": "state=warning",
    "watch": "state=watch",
    "calm": "state=calm",
    "stale": "state=stale",
    "new": "state=new",
    "the largest group": "group=orders&state=all",
    "a small group": "group=logs",
    "a group of three": "group=archive",
    "the commonest tag": "tag=prod",
    "a rare tag": "tag=test",
    "a tag of three": "tag=archive",
    "the commoner flavor": "flavor=mysql&state=all",
    "the rarer flavor": "flavor=mariadb",
    "search that finds nearly all": "q=db",
    "search for a small group": "q=logs",
    "search for one server": "q=archive-db-00001",
    "search, tag and state": "q=db+10&tag=prod&state=all",
    "search in what is critical": "q=orders&state=critical",
    "search, group, tag and flavor": "q=db&group=archive&tag=archive&state=all",
}
ORDERS = ("trouble", "state", "pressure", "headroom", "transactions", "dirty", "name")
#: What is asked for besides.
OTHERS: dict[str, str] = {
    "opening page": "/",
    "second last page, by pressure": "/?state=all&sort=pressure&page={last}",
    "search that finds nothing": "/?q=nosuchserver",
    "search for two words": "/?q=db+replica",
    "refresh of a list": "+/?state=all",
}
ADDRESSES: dict[str, str] = OTHERS | {
    f"{name}, by {order}": f"/?{query}&sort={order}" for name, query in FILTERS.items() for order in ORDERS
}

#: Answers one line, rows of a page and an address, with milliseconds of CPU and how many servers it shows.
_CHILD = """
import json, sys, time
from django.db import connection
from django.test import Client
from advisor.teams import services as teams
from advisor.web import fleet_page
from tests.web import many
team = teams.ensure_team(name="Databases")
user = teams.create_user(name="bench", team=team, roles=(), administrator=True)
began = time.perf_counter()
many.fleet(team, COUNT, seed=SEED, needing=NEEDING)
filled = time.perf_counter() - began
client, opening_rows = Client(), fleet_page.OPENING_ROWS
client.force_login(user)
print("READY", round(filled, 1), flush=True)
for line in sys.stdin:
    rows, path = line.strip().split(" ", 1)
    fleet_page.PAGE_ROWS = int(rows)
    fleet_page.OPENING_ROWS = min(opening_rows, fleet_page.PAGE_ROWS)
    part = {"HX-Request": "true"} if path.startswith("+") else {}
    began = time.process_time()
    answer = client.get(path.lstrip("+"), headers=part, HTTP_HOST="127.0.0.1")
    took = time.process_time() - began
    assert answer.status_code == 200, (path, answer.status_code)
    print(json.dumps([took * 1000, answer.content.count(b"<tr data-href=")]), flush=True)
"""


#: Milliseconds of each request to the small and to the large fleet, by the name of the address.
Measured = dict[str, tuple[list[float], list[float]]]


@dataclass
class _Side:
    """One fleet behind a process."""

    process: subprocess.Popen[str]
    count: int
    filled_seconds: float

    def ask(self, address: str, rows: int = PAGE_ROWS) -> tuple[float, int]:
        """Milliseconds of CPU and the servers shown of one answer whose pages have so many rows. Raises RuntimeError
        where the process has ended.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{rows} {address.format(last=max(self.count // rows - 1, 1))}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"The process with {self.count:,} servers ended at {address}")
        milliseconds, shown = json.loads(line)
        return float(milliseconds), int(shown)


@contextmanager
def _side(folder: Path, count: int) -> Iterator[_Side]:
    data = folder / f"fleet-{count}"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    environment = {
        **os.environ,
        "TIDEMARK_DATA": str(data),
        "TIDEMARK_SECRET_KEY": "benchmark" * 6,
        "TIDEMARK_CREDENTIAL_KEYS": "YmVuY2htYXJrLWJlbmNobWFyay1iZW5jaG1hcmstYiE=",
        "PYTHONPATH": str(ROOT),
    }
    for command in ("migrate", "collectstatic"):
        subprocess.run(
            [sys.executable, "manage.py", command, "--noinput"], cwd=ROOT, env=environment, check=True,
            capture_output=True,
        )  # fmt: skip
    text = _CHILD.replace("COUNT", str(count)).replace("NEEDING", str(NEEDING)).replace("SEED", str(SEEDS[count]))
    process = subprocess.Popen(
        [sys.executable, "-c", f"import django\ndjango.setup()\n{text}"],
        cwd=ROOT,
        env={**environment, "DJANGO_SETTINGS_MODULE": "advisor.settings"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        ready = process.stdout.readline().split()
        if not ready or ready[0] != "READY":
            raise RuntimeError(f"The fleet of {count:,} servers was not built")
        yield _Side(process, count, float(ready[1]))
    finally:
        process.kill()
        process.wait(20)


def fleet_page_at_10_000_against_100(folder: Path) -> tuple[list[Ratio], list[str]]:
    """One ratio for the median and one for p95, each of the address that does worst; a note for every address."""
    with _side(folder, SMALL) as small, _side(folder, LARGE) as large:
        # The others fill a page at both sizes, or are bounded by themselves as the opening page is.
        rows = dict.fromkeys(OTHERS, PAGE_ROWS)
        rows |= {name: _rows(small, large, ADDRESSES[name]) for name in ADDRESSES if name not in OTHERS}
        measured = {name: _measure(small, large, address, rows[name]) for name, address in ADDRESSES.items()}
        worst = {told: _worst(measured, told) for told in (_middle, _p95)}
        measured |= {
            name: _measure(small, large, ADDRESSES[name], rows[name], REQUESTS_AGAIN)
            for name in dict.fromkeys(name for names in worst.values() for name in names)
        }
        built = large.filled_seconds
    by_median, by_p95 = (max(worst[told], key=lambda name: _times(measured[name], told)) for told in (_middle, _p95))
    ratios = [
        _ratio(f"fleet page, median, worst address ({by_median})", *measured[by_median], _middle),
        _ratio(f"fleet page, p95, worst address ({by_p95})", *measured[by_p95], _p95),
    ]
    notes = [
        f"Fleet page, {name} ({rows[name]} rows): {_middle(few):.1f} ms at {SMALL}, {_middle(many):.1f} ms at "
        f"{LARGE:,} ({_middle(many) / _middle(few):.2f}x); p95 {_p95(few):.1f} and {_p95(many):.1f} ms "
        f"({_p95(many) / _p95(few):.2f}x)."
        for name, (few, many) in measured.items()
    ]
    return ratios, [*notes, f"The fleet of {LARGE:,} servers was made up in {built:.1f} s."]


def _rows(small: _Side, large: _Side, address: str) -> int:
    """How many rows a page may have so that both sides show equally many. Raises RuntimeError where they cannot."""
    rows = PAGE_ROWS
    while rows:
        few, many = small.ask(address, rows)[1], large.ask(address, rows)[1]
        if few == many:
            return rows
        rows = min(rows - 1, few)
    raise RuntimeError(f"{address} shows {few} servers of {SMALL} and {many} of {LARGE:,}: they cannot be compared")


def _measure(
    small: _Side, large: _Side, address: str, rows: int, requests: int = REQUESTS
) -> tuple[list[float], list[float]]:
    """Milliseconds of each request at both sizes, in turns; the first of each side are not counted."""
    few: list[float] = []
    many: list[float] = []
    for number in range(requests + 3):
        for side, kept in ((small, few), (large, many)) if number % 2 else ((large, many), (small, few)):
            took, _shown = side.ask(address, rows)
            if number >= 3:
                kept.append(took)
    return few, many


def _worst(measured: Measured, told: Callable[[list[float]], float]) -> list[str]:
    return sorted(measured, key=lambda name: _times(measured[name], told))[-AGAIN:]


def _times(measured: tuple[list[float], list[float]], told: Callable[[list[float]], float]) -> float:
    return told(measured[1]) / told(measured[0])


def _middle(values: list[float]) -> float:
    return statistics.median(values)


def _p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95) - 1]


def _ratio(name: str, few: list[float], many: list[float], told: Callable[[list[float]], float]) -> Ratio:
    """The quotient of the same figure at both sizes, with the bootstrap 95 % interval of the quotient."""
    chance = random.Random(1)
    drawn = sorted(told(chance.choices(many, k=len(many))) / told(chance.choices(few, k=len(few))) for _ in range(1000))
    return Ratio(
        name=name,
        peer=f"the same at {SMALL} servers",
        ours=f"{told(many):.3g} ms",
        theirs=f"{told(few):.3g} ms",
        median=told(many) / told(few),
        low=drawn[25],
        high=drawn[974],
        target=TARGET,
    )
