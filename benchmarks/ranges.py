"""What a server page reads of the history over seven and thirty days, against the same over six hours.

Runs in a process of its own over a data folder of its own, since this one's settings belong to the checkout's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from benchmarks.ratio import Ratio, compare

ROOT = Path(__file__).resolve().parent.parent
DAYS = 31
HOUR, DAY = 3600, 86_400
POINTS = 300
#: Readings in a block: enough that a block is longer than the clock's grain by far.
READINGS = 8


def long_ranges_against_six_hours(folder: Path) -> tuple[list[Ratio], list[str]]:
    """CPU of reading what the six charts show; the history is a month of a busy server, with both tiers."""
    data = folder / "ranges"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    environment = {
        **os.environ,
        "TIDEMARK_DATA": str(data),
        "TIDEMARK_SECRET_KEY": "benchmark" * 6,
        "TIDEMARK_CREDENTIAL_KEYS": "YmVuY2htYXJrLWJlbmNobWFyay1iZW5jaG1hcmstYiE=",
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "advisor.settings",
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ranges"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
    )
    shutil.rmtree(data, ignore_errors=True)
    found = json.loads(done.stdout)
    return [Ratio(**one) for one in found["ratios"]], found["notes"]


def fill(now: int) -> str:
    """A server with a month of sealed hours, days of counters, and the open hour; its id."""
    from django.db import transaction

    from advisor.teams import services as teams
    from benchmarks import history
    from collector import servers
    from collector.models import CounterBlock, OpenSample
    from collector.store import columns as codec
    from collector.store import full_tier, sealing

    server = servers.add_server(
        team=teams.ensure_team(name="Databases"),
        name="bench",
        host="127.0.0.1",
        port=3306,
        user="nobody",
        password="x",
        unrestricted=True,
    )
    begin = now // HOUR * HOUR - DAYS * DAY
    for hour in history.fast_hours(begin, DAYS * 24 + 1):
        with transaction.atomic():
            if hour.slots[0] + HOUR <= now:
                sealing.write_hour(server.pk, int(hour.slots[0]), hour)
            else:
                OpenSample.objects.bulk_create(
                    OpenSample(server=server, slot=int(poll.at), payload=codec.pack_poll(poll))
                    for poll in hour.polls()
                    if poll.at <= now
                )
    CounterBlock.objects.bulk_create(
        CounterBlock(
            server=server, begins_at=int(hour.slots[0]), seconds=HOUR, count=len(hour), payload=codec.seal(hour)
        )
        for hour in history.full_hours(begin, DAYS * 24)
    )
    for server_id, day_at in full_tier.days_to_join(now):
        full_tier.join_day(server_id, day_at)
    sealing.thin_cells(now)
    return server.pk


def measured(server_id: str, now: int) -> tuple[list[Ratio], list[str]]:
    """The ratios, and what the history of a day costs on disk."""
    from advisor.web.server_charts import NAMES
    from collector.store import store

    def page(seconds: int) -> Callable[[], float]:
        def read() -> float:
            began = time.process_time()
            for _ in range(READINGS):
                store().buckets(server_id, NAMES, now - seconds, now, POINTS)
                store().pressure_times(server_id, now - seconds, now)
                store().gaps(server_id, now - seconds, now)
            return (time.process_time() - began) / READINGS

        return read

    def one_counter(seconds: int) -> Callable[[], float]:
        def read() -> float:
            began = time.process_time()
            for _ in range(READINGS):
                store().buckets(server_id, ["Handler_read_rnd_next"], now - seconds, now, POINTS)
            return (time.process_time() - began) / READINGS

        return read

    six, seven, thirty = page(6 * HOUR), page(7 * DAY), page(30 * DAY)
    one_six, one_seven = one_counter(6 * HOUR), one_counter(7 * DAY)
    for warm in (six, seven, thirty, one_six, one_seven):
        warm()
    ratios = [
        compare(
            f"reading {len(NAMES)} series over 7 days", "over 6 hours", seven, six, unit="ms", scale=1000, target=1.5
        ),
        compare(f"reading {len(NAMES)} series over 30 days", "over 6 hours", thirty, six, unit="ms", scale=1000),
        compare(
            "reading one counter that only snapshots have over 7 days",
            "over 6 hours",
            one_seven,
            one_six,
            unit="ms",
            scale=1000,
        ),
    ]
    return ratios, [_growth()]


def _growth() -> str:
    from django.db.models import Sum
    from django.db.models.functions import Length

    from collector.models import CounterBlock, Rollup, SealedBlock
    from collector.store import sealing

    def daily(model: type, field: str, days: float) -> float:
        total = model.objects.aggregate(size=Sum(Length(field)))["size"]  # type: ignore[attr-defined]
        return float(total) / 1024 / days

    fine_days = Rollup.objects.exclude(fine=b"").count()
    fine = daily(Rollup, "fine", fine_days)
    return (
        f"A busy server's history grows by {daily(SealedBlock, 'payload', DAYS):.0f} KiB a day for polls, "
        f"{daily(CounterBlock, 'payload', DAYS):.0f} KiB for all counters of full snapshots and "
        f"{daily(Rollup, 'coarse', DAYS):.0f} KiB for coarse cells; fine cells are {fine:.0f} KiB for each of the last "
        f"{sealing.FINE_FOR_SECONDS // DAY} days."
    )


def main() -> None:
    """Fills the data folder of this process, measures, and prints the result as JSON."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    now = int(time.time()) // 10 * 10
    ratios, notes = measured(fill(now), now)
    print(json.dumps({"ratios": [asdict(one) for one in ratios], "notes": notes}))


if __name__ == "__main__":
    main()
