"""What judging costs: all rules over one server, each rule by itself, and ten thousand servers one after the other."""

from __future__ import annotations

import gc
import resource
import time
from pathlib import Path
from statistics import median

from advisor.engine.evaluation import Facts, ask, judge
from advisor.engine.observation import Observation
from advisor.rules import all_rules
from benchmarks.ratio import Ratio, compare
from collector import snapshots
from tests.recorded.judging import observation, recordings

SERVERS = 10_000
#: How many of the dearest rules are named.
NAMED = 5


def rules_against_reading_a_snapshot(folder: Path) -> tuple[list[Ratio], list[str]]:
    """CPU of judging one recorded server by all rules; the floor is reading its stored snapshot, which comes first."""
    seen = [observation(path) for path in recordings()]
    packed = [snapshots.pack(one.snapshot) for one in seen]
    rules = all_rules()

    def judging() -> float:
        began = time.process_time()
        for one in seen:
            judge(one, rules)
        return (time.process_time() - began) / len(seen)

    def reading() -> float:
        began = time.process_time()
        for one in packed:
            snapshots.unpack(one)
        return (time.process_time() - began) / len(packed)

    judging(), reading()
    ratio = compare(
        f"judging a server by all {len(rules)} rules",
        "reading its stored snapshot",
        judging,
        reading,
        unit="ms",
        scale=1000,
        target=8,
    )
    return [ratio], [*_by_rule(seen), _fleet(seen)]


def _by_rule(seen: list[Observation]) -> list[str]:
    """The median cost of each rule's own check, its facts read anew each time, over all recorded servers."""
    costs: list[tuple[float, str]] = []
    for rule in all_rules():
        each = []
        for one in seen:
            began = time.process_time_ns()
            ask(rule, one, Facts(one), rule.parameters)
            each.append((time.process_time_ns() - began) / 1000)
        costs.append((median(each), rule.id))
    costs.sort(reverse=True)
    dearest = ", ".join(f"{name} {cost:.0f} µs" for cost, name in costs[:NAMED])
    return [f"A rule costs {median(cost for cost, _ in costs):.0f} µs of CPU in the median; the dearest: {dearest}."]


def _fleet(seen: list[Observation]) -> str:
    """Ten thousand servers by all rules in one process: time and growth of memory."""
    rules = all_rules()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    for number in range(SERVERS):
        judge(seen[number % len(seen)], rules)
    seconds = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return (
        f"{SERVERS:,} servers x {len(rules)} rules were judged in {seconds:.0f} s by one process on one core "
        f"({seconds / SERVERS * 1000:.1f} ms each); its memory grew by {grown:.0f} MiB meanwhile."
    )
