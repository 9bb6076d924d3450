"""Observe one server and say what to do: works alone, without any database, queue or key of Tidemark's."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand

from advisor.engine.advice import Effort, Tool, document, prepare, text, worst
from advisor.engine.evaluation import Judgement, judge
from advisor.engine.explaining import explain, explanation_document, explanation_text
from advisor.engine.markdown import markdown
from advisor.engine.observation import HostFact, HostFacts
from advisor.engine.outcome import Severity
from advisor.engine.rule import Rule
from advisor.engine.sarif import sarif
from advisor.engine.since import (
    NotAdvice,
    SavedAdvice,
    compare,
    difference_document,
    difference_text,
    read_saved,
    saved,
)
from advisor.mysql.snapshot import Poll
from advisor.mysql.values import BadValue, parse_size
from advisor.recommendations.judging import host_facts
from advisor.recommendations.management.ending import end
from advisor.recommendations.observing import observation
from advisor.rules import all_rules
from collector import recording, resolve
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
        parser.add_argument(
            "--no-inspect",
            dest="inspect",
            action="store_false",
            help="do not read accounts, tables and statement digests at the end (a few dozen SELECTs, 20 s at most)",
        )
        parser.add_argument("--format", choices=["text", "json", "markdown", "sarif"], default="text")
        parser.add_argument(
            "--topic", action="append", default=[], metavar="TOPIC", help="only the rules of this topic (repeatable)"
        )
        parser.add_argument("--rule", action="append", default=[], metavar="RULE", help="only this rule (repeatable)")
        parser.add_argument(
            "--explain",
            action="append",
            default=[],
            metavar="RULE",
            help="every figure this rule read and how it decided, whatever it said (repeatable)",
        )
        parser.add_argument("--save", type=Path, metavar="FILE", help="keep this advice to compare with later")
        parser.add_argument("--diff", type=Path, metavar="FILE", help="tell what changed since FILE was saved")
        parser.add_argument(
            "--fail-on", choices=[one.value for one in Severity], help="exit with 1 if something this severe is found"
        )
        parser.add_argument("--host-memory", type=_size, metavar="SIZE", help="the machine's memory, such as 8G")
        parser.add_argument("--host-cpus", type=_count, metavar="N", help="the machine's CPUs")
        parser.add_argument("--storage", choices=["ssd", "hdd"], help="what the data lies on")
        parser.add_argument("--free-disk", type=_size, metavar="SIZE", help="free space where the redo log lies")

    def handle(self, *args: Any, **options: Any) -> None:
        self._json = options["format"] in ("json", "sarif")
        rules, explained, before = self._wanted(options)
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
        judgement = judge(seen, rules)
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
        whole = not options["topic"] and not options["rule"]
        written = document(advice, with_score=whole)
        if observed.remarks:
            written["observed"]["remarks"] = observed.remarks
        explanations = [explain(rule, seen) for rule in explained]
        difference = None if before is None else compare(before, written, seen.snapshot.variables)
        if options["format"] == "sarif":
            self.stdout.write(json.dumps(sarif(advice, rules), indent=2, ensure_ascii=False))
        elif options["format"] == "json":
            if explanations:
                written["explained"] = [explanation_document(one) for one in explanations]
            if difference is not None:
                written["difference"] = difference_document(difference)
            self.stdout.write(json.dumps(written, indent=2, ensure_ascii=False))
        elif options["format"] == "markdown":
            self.stdout.write(markdown(advice), ending="")
        else:
            self.stdout.write(text(advice, with_score=whole), ending="")
        if not self._json:
            for one in explanations:
                self.stdout.write("\n" + explanation_text(one), ending="")
            if difference is not None:
                self.stdout.write("\nSince then\n" + difference_text(difference), ending="")
        if options["save"] is not None:
            self._save(options["save"], written, seen.snapshot.variables)
        self.stdout.flush()
        if _reached(judgement, options["fail_on"]):
            sys.exit(FOUND)

    def _wanted(self, options: Mapping[str, Any]) -> tuple[tuple[Rule, ...], list[Rule], SavedAdvice | None]:
        """The rules to judge by, those to explain, and the advice to compare with: told wrong before anything is
        observed.
        """
        every = {rule.id: rule for rule in all_rules()}
        topics = sorted({rule.topic for rule in every.values()})
        for topic in options["topic"]:
            if topic not in topics:
                self._end(USAGE, "unknown-topic", f"There is no topic {topic!r}.", f"Topics are {', '.join(topics)}.")
        for rule in [*options["rule"], *options["explain"]]:
            if rule not in every:
                near = get_close_matches(rule, every, n=3)
                hint = f"Did you mean {', '.join(near)}?" if near else "manage.py rules lists them."
                self._end(USAGE, "unknown-rule", f"There is no rule {rule!r}.", hint)
        chosen = tuple(
            rule
            for rule in every.values()
            if not (options["topic"] or options["rule"]) or rule.topic in options["topic"] or rule.id in options["rule"]
        )
        before = None
        if options["diff"] is not None:
            try:
                before = read_saved(options["diff"].read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                why = str(error) if isinstance(error, NotAdvice) else f"{options['diff']} cannot be read."
                self._end(USAGE, "unreadable-file", why, "Give a file that advise --save wrote.")
        return chosen, [every[rule] for rule in options["explain"]], before

    def _save(self, path: Path, written: Mapping[str, Any], variables: Mapping[str, str]) -> None:
        try:
            content = json.dumps(saved(written, variables), indent=1, ensure_ascii=False)
            path.write_text(content + "\n", encoding="utf-8")
        except OSError as error:
            self.stderr.write(f"The advice could not be saved to {path}: {error.strerror}.")
            self.stdout.flush()
            sys.exit(USAGE)

    def _observed(self, options: Mapping[str, Any]) -> tuple[Observed, HostFacts]:
        """What was observed, live or from a recording, and what is known of the machine."""
        server, stated = options["server"], _stated(options)
        if not is_url(server) and recording.is_recording(server):
            return recording.read(Path(server)), stated
        target, known = _target(options)
        progress = self._progress(target) if sys.stderr.isatty() else None
        try:
            observed = observe(
                target,
                seconds=options["observe"],
                interval=options["interval"],
                progress=progress,
                inspect=options["inspect"],
            )
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

    def _end(self, status: int, kind: str, sentence: str, next_step: str) -> NoReturn:
        end(self, status, kind, sentence, next_step, as_json=self._json)


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
