"""Certificates for tests, made when they are needed: an authority, and what it signs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID


class Authority:
    """One that signs certificates; ``pem`` is its own."""

    def __init__(self, name: str = "Test Authority") -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        self._certificate = (
            x509.CertificateBuilder()
            .subject_name(self._name)
            .issuer_name(self._name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def write_server(self, folder: Path, *names: str, expired: bool = False) -> dict[str, str | None]:
        """A server's certificate for these names and addresses, as options of a server."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        now = datetime.now(UTC)
        alternatives: list[x509.GeneralName] = []
        for name in names:
            try:
                alternatives.append(x509.IPAddress(ip_address(name)))
            except ValueError:
                alternatives.append(x509.DNSName(name))
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])]))
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=10))
            .not_valid_after(now - timedelta(days=1) if expired else now + timedelta(days=30))
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        folder.mkdir(parents=True, exist_ok=True)
        paths = {name: folder / f"{name}.pem" for name in ("ca", "cert", "key")}
        paths["ca"].write_text(self.pem)
        paths["cert"].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths["key"].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        return {f"ssl_{name}": str(path) for name, path in paths.items()}

    def write_self_signed(self, folder: Path) -> dict[str, str | None]:
        """This authority's own certificate in a server's place, as options of a server."""
        folder.mkdir(parents=True, exist_ok=True)
        certificate, key = folder / "own.pem", folder / "own-key.pem"
        certificate.write_text(self.pem)
        key.write_bytes(
            self._key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        return {"ssl_cert": str(certificate), "ssl_key": str(key)}
