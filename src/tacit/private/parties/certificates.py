"""Certificates of parties: a small authority of the consortium, and TLS that lets only its members in.

For a trial run :func:`make_certificates` makes an authority and one certificate per party. A real consortium gives every
party a certificate of its own authority, whose common name is the party's name.
"""

from __future__ import annotations

import datetime as dt
import os
import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tacit.errors import InputError
from tacit.storage.own_folders import refuse_existing

AUTHORITY = "authority.pem"


def make_certificates(folder: str | Path, names: Iterable[str], days: int = 30) -> Path:
    """Write an authority and a certificate and key for every party; the authority's own key is not kept."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    target, names = Path(folder), list(names)
    for name in names:
        # The names of parties become names of files.
        if f"{name}.pem" == AUTHORITY or Path(name).name != name or len(set(names)) < len(names):
            raise InputError(
                f"the party {name!r} needs another name: one of its own, without slashes, and not {AUTHORITY[:-4]!r}"
            )
    refuse_existing(target / AUTHORITY, "a certificate is never written over")
    for name in names:
        refuse_existing(target / f"{name}.pem", "a certificate is never written over")
        refuse_existing(target / f"{name}.key", "a key is never written over")
    target.mkdir(parents=True, exist_ok=True)
    authority = certify("tacit parties", days)
    (target / AUTHORITY).write_bytes(authority[1].public_bytes(Encoding.PEM))
    for name in names:
        key, certificate = certify(name, days, authority)
        (target / f"{name}.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        handle = os.open(target / f"{name}.key", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(private)
    return target


def certify(name: str, days: int, authority: tuple[Any, Any] | None = None) -> tuple[Any, Any]:
    """Return the key and the certificate of one party, or of a new authority when none is given."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    if not name or len(name) > 64:
        raise InputError("the name of a party has 1 to 64 characters")
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer_key, issuer = (
        (key, subject) if authority is None else (authority[0], authority[1].subject)
    )
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if authority is None:
        usage = x509.KeyUsage(
            digital_signature=False, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, key_cert_sign=True, crl_sign=True,
            encipher_only=False, decipher_only=False,
        )  # fmt: skip
        builder = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(usage, critical=True)
    else:
        sides = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        builder = builder.add_extension(x509.ExtendedKeyUsage(sides), critical=False)
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    return key, builder.sign(issuer_key, hashes.SHA256())


def tls_context(
    authority: str | Path, certificate: str | Path, key: str | Path, *, server: bool
) -> ssl.SSLContext:
    """Return TLS 1.3 in which both sides show a certificate of the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # The name in the certificate is compared with the party's name, not with that of a host.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    try:
        context.load_verify_locations(str(authority))
        context.load_cert_chain(str(certificate), str(key))
    except (OSError, ssl.SSLError):
        raise InputError(
            f"the certificate {Path(certificate).name!r}, its key or the authority cannot be read; check the paths"
        ) from None
    return context


def peer_name(connection: ssl.SSLSocket) -> str:
    """Return the common name that the other side's certificate carries; empty when it has none."""
    subject: Any = (connection.getpeercert() or {}).get("subject", ())
    names = [value for part in subject for field, value in part if field == "commonName"]
    return str(names[0]) if len(names) == 1 else ""
