"""Read a server once and print what each probe told, what it cost, and what is missing."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import CommandError

from advisor.commands import ProductCommand
from advisor.mysql.snapshot import ProbeResult, ProbeState
from collector import resolve
from collector.errors import BadTarget
from collector.reports import ConnectionReport, check_connection


class Command(ProductCommand):
    help = "Read a server once: prints each probe, its cost, and the GRANT that would make it complete."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="read once and print (there is no other way here)")
        resolve.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            target = resolve.target(
                options["server"],
                password_file=options["password_file"],
                defaults_group=options["defaults_group"],
                tls_mode=options["tls_mode"],
                tls_ca=options["tls_ca"],
            )
        except BadTarget as error:
            raise CommandError(str(error), returncode=2) from None
        report = check_connection(target)
        for line in _lines(report):
            self.stdout.write(line)
        if report.failure is not None:
            raise CommandError(f"{report.failure.sentence} {report.failure.next_step}", returncode=3)


def _lines(report: ConnectionReport) -> list[str]:
    if report.identity is None:
        return []
    encryption = f"{report.tls_version} {report.tls_cipher}" if report.encrypted else "not encrypted"
    lines = [
        f"{report.address}: {report.identity.version}, {report.identity.role}, "
        f"connected as {report.account} ({encryption})",
        "",
    ]
    lines += [_probe_line(probe) for probe in report.probes]
    milliseconds = sum(probe.milliseconds for probe in report.probes)
    rows = sum(probe.rows for probe in report.probes)
    lines += [
        "",
        f"One connection, {report.statements} statements, {rows:,} rows, {milliseconds:.0f} ms of answers, "
        f"{report.milliseconds:.0f} ms in all.",
    ]
    if report.missing:
        lines += ["", "Missing, and what would change that:"]
        lines += [f"  {one.what}: {one.text}" for one in report.missing]
    else:
        lines += ["", "Nothing is missing."]
    return lines


def _probe_line(probe: ProbeResult) -> str:
    figures = (
        f"{probe.milliseconds:8.1f} ms {probe.rows:6,} rows" if probe.state is not ProbeState.SKIPPED else " " * 23
    )
    return f"  {probe.name:<20} {probe.state.value:<8}{figures}  {probe.reason}".rstrip()
