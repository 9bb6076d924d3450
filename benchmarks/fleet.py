"""The fleet page at 10,000 servers against the same page at 100: each order, filter and search, median and p95.

Both fleets are skewed alike (a few groups hold most servers, one tag most of them, a few servers do most of the work)
and lie in databases of their own, each behind a process that answers through Django's test client, templates
included. Requests alternate between the two. What is told is CPU time: everything happens in that one process, the
database included, and neighbours on the machine would be counted otherwise.
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

from benchmarks.ratio import Ratio

ROOT = Path(__file__).resolve().parent.parent
SMALL, LARGE = 100, 10_000
#: Requests of each address to each side.
REQUESTS = 60
TARGET = 1.5
#: More than half of the servers need somebody, so that also at 100 the lists fill their pages: a page of 50 rows
#: against one of 8 would measure the rows.
NEEDING = 0.62

#: What is asked for: each list fills a page at both sizes, or has the same few servers at both.
ADDRESSES: dict[str, str] = {
    "opening page": "/",
    "by time in trouble": "/?state=all",
    "by newest change": "/?state=all&sort=state",
    "by pressure": "/?state=all&sort=pressure",
    "by headroom": "/?state=all&sort=headroom",
    "by transactions": "/?state=all&sort=transactions",
    "by dirty pages": "/?state=all&sort=dirty",
    "by name": "/?state=all&sort=name",
    "second last page, by pressure": "/?state=all&sort=pressure&page={last}",
    "what needs somebody": "/?state=needs",
    "what needs somebody, by transactions": "/?state=needs&sort=transactions",
    "the largest group, by dirty pages": "/?group=orders&state=all&sort=dirty",
    "a group of three, by pressure": "/?group=archive&sort=pressure",
    "the commonest tag": "/?tag=prod",
    "the commonest tag, by headroom": "/?tag=prod&sort=headroom",
    "a tag of three, by name": "/?tag=archive&sort=name",
    "one flavor, by dirty pages": "/?flavor=mysql&state=all&sort=dirty",
    "search that finds nearly all": "/?q=db",
    "search that finds nearly all, by pressure": "/?q=db&sort=pressure",
    "search for one server": "/?q=archive-db-00001",
    "search that finds nothing": "/?q=nosuchserver",
    "search for two words": "/?q=db+replica",
    "search, tag and state": "/?q=db+10&tag=prod&state=all&sort=headroom",
    "search, group, tag and flavor, three found": "/?q=db&group=archive&tag=archive&state=all&sort=dirty",
    "refresh of a list": "+/?state=all",
}

#: Answers one address a line with milliseconds of CPU and bytes.
_CHILD = """
import json, sys, time
from django.db import connection
from django.test import Client
from advisor.teams import services as teams
from tests.web import many
team = teams.ensure_team(name="Databases")
user = teams.create_user(name="bench", team=team, roles=(), administrator=True)
began = time.perf_counter()
many.fleet(team, COUNT, seed=7, needing=NEEDING)
filled = time.perf_counter() - began
client = Client()
client.force_login(user)
print("READY", round(filled, 1), flush=True)
for line in sys.stdin:
    path = line.strip()
    part = {"HX-Request": "true"} if path.startswith("+") else {}
    began = time.process_time()
    answer = client.get(path.lstrip("+"), headers=part, HTTP_HOST="127.0.0.1")
    took = time.process_time() - began
    assert answer.status_code == 200, (path, answer.status_code)
    print(json.dumps([took * 1000, len(answer.content)]), flush=True)
"""


@dataclass
class _Side:
    """One fleet behind a process."""

    process: subprocess.Popen[str]
    count: int
    filled_seconds: float

    def ask(self, address: str) -> tuple[float, int]:
        """Milliseconds of CPU and bytes of one answer. Raises RuntimeError where the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(address.format(last=max(self.count // 50 - 1, 1)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"The process with {self.count:,} servers ended at {address}")
        milliseconds, size = json.loads(line)
        return float(milliseconds), int(size)


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
    text = _CHILD.replace("COUNT", str(count)).replace("NEEDING", str(NEEDING))
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
        measured = {name: _measure(small, large, address) for name, address in ADDRESSES.items()}
        built = large.filled_seconds
    by_median = max(measured, key=lambda name: _middle(measured[name][1]) / _middle(measured[name][0]))
    by_p95 = max(measured, key=lambda name: _p95(measured[name][1]) / _p95(measured[name][0]))
    ratios = [
        _ratio(f"fleet page, median, worst address ({by_median})", *measured[by_median], _middle),
        _ratio(f"fleet page, p95, worst address ({by_p95})", *measured[by_p95], _p95),
    ]
    notes = [
        f"Fleet page, {name}: {_middle(few):.1f} ms at {SMALL}, {_middle(many):.1f} ms at {LARGE:,} "
        f"({_middle(many) / _middle(few):.2f}x); p95 {_p95(few):.1f} and {_p95(many):.1f} ms "
        f"({_p95(many) / _p95(few):.2f}x)."
        for name, (few, many) in measured.items()
    ]
    return ratios, [*notes, f"The fleet of {LARGE:,} servers was made up in {built:.1f} s."]


def _measure(small: _Side, large: _Side, address: str) -> tuple[list[float], list[float]]:
    """Milliseconds of each request at both sizes, in turns; the first of each side are not counted."""
    few: list[float] = []
    many: list[float] = []
    for number in range(REQUESTS + 3):
        for side, kept in ((small, few), (large, many)) if number % 2 else ((large, many), (small, few)):
            took, _size = side.ask(address)
            if number >= 3:
                kept.append(took)
    return few, many


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
