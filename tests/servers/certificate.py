"""A self-signed certificate for test servers, made once and kept in the cache folder."""

from __future__ import annotations

import datetime
import ipaddress
import os
from pathlib import Path

from . import places
from .template import locked

_LIFETIME = datetime.timedelta(days=365)


def self_signed_certificate() -> tuple[Path, Path]:
    """The files (certificate, key) of a certificate for localhost and 127.0.0.1 with at least a month to live."""
    folder = places.cache_folder() / "certificate"
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    with locked(places.cache_folder() / "certificate.lock"):
        if not certificate.exists() or not _lives(certificate):
            _make(certificate, key)
    return certificate, key


def _lives(certificate: Path) -> bool:
    made_at = datetime.datetime.fromtimestamp(certificate.stat().st_mtime, datetime.UTC)
    return datetime.datetime.now(datetime.UTC) < made_at + _LIFETIME - datetime.timedelta(days=30)


def _make(certificate: Path, key: Path) -> None:
    # Imported here: `fetch` imports this package where only the standard library is there.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + _LIFETIME)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(private, hashes.SHA256())
    )
    certificate.parent.mkdir(parents=True, exist_ok=True)
    key.touch(0o600)
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    # The certificate comes last and in one step: that it exists means that the pair is whole.
    unfinished = certificate.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    unfinished.rename(certificate)
