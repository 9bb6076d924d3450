"""The server's certificate ends soon, or has ended.

Why it matters
    Clients that check the certificate refuse the server from that day on, all at once and after no change of
    anybody's; replicas that verify their source stop with them. Certificates that a server made for itself last for
    ten years and are forgotten; those of a company's authority for some months.

How it is computed
    Ssl_server_not_after against today: 30 days or fewer are a warning, a day that has passed is critical. MariaDB
    tells it on encrypted connections only.

When to dismiss it
    No client checks the certificate (which is a gap of its own).
"""

from __future__ import annotations

from dataclasses import dataclass

from advisor.engine.facts.security import Certificate
from advisor.engine.outcome import Finding, Item, Message, Passed, Price, PriceKind, Severity
from advisor.engine.rule import Rule
from advisor.engine.scene import scene
from advisor.engine.thresholds import Thresholds, threshold
from advisor.engine.units import Quantity, Unit
from advisor.mysql.proposal import Investigate


@dataclass(frozen=True)
class Parameters(Thresholds):
    """How early a certificate is to be replaced."""

    days: float = threshold(30, unit=Unit.COUNT, meaning="days that the certificate still lasts", leave_at=33)


rule = Rule(
    __name__,
    severity=Severity.WARNING,
    applies_to=["mysql>=5.7", "mariadb>=10.2"],
    since="0.2",
    parameters=Parameters(),
    references=[
        "https://dev.mysql.com/doc/refman/8.4/en/creating-ssl-rsa-files-using-mysql.html",
        "https://mariadb.com/docs/server/security/encryption/data-in-transit-encryption/securing-connections-for-client-and-server",
    ],
)


@rule.check
def check(certificate: Certificate, p: Parameters) -> Finding | Passed:
    figures = certificate.measured()
    if certificate.days_left > p.days:
        return Passed(figures)
    ended = certificate.days_left < 0
    return Finding(
        (
            Item(
                message=Message(
                    "The server's certificate ended on {day}: clients that check it are refused"
                    if ended
                    else "The server's certificate ends on {day}",
                    {"day": Quantity(certificate.ends_on, Unit.TEXT)},
                ),
                evidence=figures,
                proposal=(
                    Investigate(
                        "Put a new certificate with its key into the files that ssl_cert and ssl_key name, then "
                        f"{certificate.reload}; open connections keep the old one."
                    ),
                ),
                severity=Severity.CRITICAL if ended else None,
                expected=Message("Clients that check the certificate connect as before."),
                price=(
                    Price(
                        PriceKind.OVERHEAD, Message("clients that pin the old certificate have to learn the new one")
                    ),
                ),
                would_change_our_mind=Message("No client that checks it."),
            ),
        )
    )


_TLS = {"have_ssl": "YES", "tls_version": "TLSv1.2,TLSv1.3"}
rule.fires(
    "Eleven days left",
    scene("mysql 8.0.33", _TLS, status={"Ssl_server_not_after": "Nov 12 09:00:00 2026 GMT"}, today="2026-11-01"),
)
rule.fires(
    "Ended: critical",
    scene("mariadb 11.8.6", _TLS, status={"Ssl_server_not_after": "Oct  1 09:00:00 2026 GMT"}, today="2026-11-01"),
)
rule.fires(
    "The last of thirty days",
    scene("mysql 9.7.4", _TLS, status={"Ssl_server_not_after": "Dec  1 09:00:00 2026 GMT"}, today="2026-11-01"),
)
rule.passes(
    "Ten years",
    scene("mysql 8.0.33", _TLS, status={"Ssl_server_not_after": "Nov 18 11:26:43 2036 GMT"}, today="2026-11-01"),
)
rule.passes(
    "Some months",
    scene("mariadb 11.8.6", _TLS, status={"Ssl_server_not_after": "Mar  1 09:00:00 2027 GMT"}, today="2026-11-01"),
)
