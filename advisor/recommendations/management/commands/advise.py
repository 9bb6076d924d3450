"""Observe one server and say what to do: works alone, without any database, queue or key of Tidemark's."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from advisor.engine.advice import Effort, Tool, document, prepare, text, worst
from advisor.engine.evaluation import Judgement, judge
from advisor.engine.observation import HostFact, HostFacts, Observation
from advisor.engine.outcome import Severity
from advisor.mysql.rates import Interval, intervals
from advisor.mysql.snapshot import Poll
from advisor.mysql.values import BadValue, parse_size
from advisor.recommendations.judging import host_facts
from advisor.rules import all_rules
from collector import recording, resolve, snapshots
from collector.errors import BadTarget, TargetError
from collector.observe import Observed, observe
from collector.target import Target, is_url

DONE, FOUND, USAGE, FAILED = 0, 1, 2, 3
LONGEST_SECONDS = 3600


class Command(BaseCommand):
    help = (
        "Observe one server on one connection and say what to do. Exit status: 0 done, 1 something at or above "
        "--fail-on was found, 2 wrong usage, 3 the server could not be read."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        resolve.add_arguments(parser)
        parser.add_argument(
            "--observe", type=_seconds(0, LONGEST_SECONDS), default=60, metavar="SECONDS", help="how long (default: 60)"
        )
        parser.add_argument(
            "--interval", type=_seconds(1, 300), default=5, metavar="SECONDS", help="between polls (default: 5)"
        )
        parser.add_argument("--format", choices=["text", "json"], default="text")
        parser.add_argument(
            "--fail-on", choices=[one.value for one in Severity], help="exit with 1 if something this severe is found"
        )
        parser.add_argument("--host-memory", type=_size, metavar="SIZE", help="the machine's memory, such as 8G")
        parser.add_argument("--host-cpus", type=_count, metavar="N", help="the machine's CPUs")
        parser.add_argument("--storage", choices=["ssd", "hdd"], help="what the data lies on")
        parser.add_argument("--free-disk", type=_size, metavar="SIZE", help="free space where the redo log lies")

    def handle(self, *args: Any, **options: Any) -> None:
        self._json = options["format"] == "json"
        try:
            observed, host = self._observed(options)
        except BadTarget as error:
            self._end(USAGE, error.kind, error.sentence, error.next_step)
        except TargetError as error:
            self._end(FAILED, error.kind, error.sentence, error.next_step)
        except KeyboardInterrupt:
            self._end(130, "interrupted", "Interrupted before there was anything to judge.", "")
        for remark in observed.remarks:
            self.stderr.write(remark)
        seen = observation(observed, host)
        judgement = judge(seen, all_rules())
        for defect in judgement.defects:
            self.stderr.write(f"The rule {defect.rule} is faulty and was left out: {defect.what}")
        advice = prepare(
            seen,
            judgement,
            effort=Effort(
                connections=observed.connections,
                statements=observed.cost.statements,
                snapshots=1 if observed.last is observed.first else 2,
            ),
            tool=Tool(version=settings.VERSION),
        )
        if self._json:
            written = document(advice)
            if observed.remarks:
                written["observed"]["remarks"] = observed.remarks
            self.stdout.write(json.dumps(written, indent=2, ensure_ascii=False))
        else:
            self.stdout.write(text(advice), ending="")
        self.stdout.flush()
        if _reached(judgement, options["fail_on"]):
            sys.exit(FOUND)

    def _observed(self, options: Mapping[str, Any]) -> tuple[Observed, HostFacts]:
        """What was observed, live or from a recording, and what is known of the machine."""
        server, stated = options["server"], _stated(options)
        if not is_url(server) and recording.is_recording(server):
            return recording.read(Path(server)), stated
        target, known = _target(options)
        progress = self._progress(target) if sys.stderr.isatty() else None
        try:
            observed = observe(target, seconds=options["observe"], interval=options["interval"], progress=progress)
        finally:
            if progress is not None:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)  # noqa: T201
        return observed, _merged(known, stated)

    def _progress(self, target: Target) -> Callable[[float, float, Poll | None], None]:
        def show(passed: float, of: float, poll: Poll | None) -> None:
            state = "observing" if poll is not None else "waiting for"
            line = f"{state} {target.address}: {passed:.0f} of {of:.0f} s"
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)  # noqa: T201

        return show

    def _end(self, status: int, kind: str, sentence: str, next_step: str) -> Any:
        """Says why there is no advice: one sentence for people, a problem document (RFC 9457) for programs."""
        if self._json:
            problem = {
                "type": f"urn:tidemark:problem:{kind}",
                "title": sentence,
                "detail": next_step,
                "kind": kind,
            }
            self.stdout.write(json.dumps(problem, indent=2, ensure_ascii=False))
            self.stdout.flush()
        else:
            self.stderr.write(f"{sentence} {next_step}".strip())
        sys.exit(status)


def observation(observed: Observed, host: HostFacts) -> Observation:
    """What the engine judges: a person chose the window, so that harm seen in it counts."""
    between = [one for one in intervals(observed.polls) if isinstance(one, Interval)]
    return Observation(
        snapshot=observed.last,
        intervals=tuple(between),
        counted=tuple(
            one
            for one in intervals([snapshots.as_poll(observed.first), snapshots.as_poll(observed.last)])
            if isinstance(one, Interval)
        )
        if observed.last is not observed.first
        else (),
        host=host,
        deliberate=True,
        today=datetime.fromtimestamp(observed.ended_at, UTC).date().isoformat(),
    )


def _target(options: Mapping[str, Any]) -> tuple[Target, HostFacts]:
    """The target, and what people stated of its machine where it is registered."""
    target = resolve.target(
        options["server"],
        password_file=options["password_file"],
        defaults_group=options["defaults_group"],
        tls_mode=options["tls_mode"],
        tls_ca=options["tls_ca"],
    )
    if is_url(options["server"]):
        return target, HostFacts()
    return target, host_facts(resolve.registered(options["server"]).host_facts)


def _stated(options: Mapping[str, Any]) -> HostFacts:
    def fact(name: str) -> HostFact | None:
        value = options.get(name)
        return None if value is None else HostFact(value, "stated")

    return HostFacts(
        memory_bytes=fact("host_memory"),
        cpus=fact("host_cpus"),
        storage=fact("storage"),
        free_disk_bytes=fact("free_disk"),
    )


def _merged(known: HostFacts, stated: HostFacts) -> HostFacts:
    """What is stated now wins over what was stated before."""
    given = {name: value for name, value in vars(stated).items() if value is not None}
    return replace(known, **given)


def _reached(judgement: Judgement, fail_on: str | None) -> bool:
    highest = worst(judgement)
    return fail_on is not None and highest is not None and highest.rank >= Severity(fail_on).rank


def _seconds(least: float, most: float) -> Callable[[str], float]:
    def read(given: str) -> float:
        try:
            value = float(given)
        except ValueError:
            value = -1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{given!r} is no number of seconds from {least:g} to {most:g}")
        return value

    return read


def _size(given: str) -> int:
    try:
        value = parse_size(given)
    except BadValue as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if value <= 0:
        raise argparse.ArgumentTypeError("a size is above 0")
    return value


def _count(given: str) -> int:
    if not given.isdigit() or not 1 <= int(given) <= 65_536:
        raise argparse.ArgumentTypeError(f"{given!r} is no number of CPUs")
    return int(given)
