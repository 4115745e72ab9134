"""Signatures: an Ed25519 key of the office signs the manifest of a release."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import DisclosureRefused, InputError
from tacit.folders import MANIFEST

SIGNATURE, SIGNER = "manifest.sig", "signer.pub"


def make_key(path: str | Path) -> Path:
    """Make a private key for signing releases, readable by its owner only, and its public half beside it."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    target = Path(path)
    public = target.with_name(f"{target.name}.pub")
    if target.exists() or public.exists():
        raise DisclosureRefused(f"{target.name!r} exists already; a key is never written over")
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        target.touch(mode=0o600, exist_ok=False)
        target.write_bytes(private)
        public.write_bytes(public_bytes(key))
    except OSError as error:
        raise InputError(f"cannot write {target.name!r}: {error.strerror}") from None
    return target


def public_bytes(key: object) -> bytes:
    """Return the public half of a key as a file holds it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return bytes(
        key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]
    )


def sign_folder(folder: Path, key_file: str | Path) -> None:
    """Sign the manifest of a release folder; the public key goes beside it."""
    key = read_private_key(Path(key_file))
    (folder / SIGNATURE).write_bytes(key.sign((folder / MANIFEST).read_bytes()))  # type: ignore[attr-defined]
    (folder / SIGNER).write_bytes(public_bytes(key))


def read_private_key(file: Path) -> object:
    """Read a private key, or say what is wrong with the file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except OSError as error:
        raise InputError(f"cannot read the key {file.name!r}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise InputError(f"{file.name!r} is not a key; make one with: tacit key FILE") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{file.name!r} is a key of another sort; make one with: tacit key FILE")
    return key


def signature_check(folder: Path, signer: str | Path | None = None) -> tuple[str, bool, str] | None:
    """Return whether the signature of a release holds: (check, holds, remark).

    ``signer`` is the public key that one trusts; without it the one in the folder is used, which shows
    only that the folder is whole. None when the release is not signed and no signer was asked for.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    name = "signature holds"
    if not (folder / SIGNATURE).exists() or not (folder / SIGNER).exists():
        return None if signer is None else (name, False, "the release is not signed")
    source = Path(signer) if signer is not None else folder / SIGNER
    try:
        key = load_pem_public_key(source.read_bytes())
        assert isinstance(key, Ed25519PublicKey)
        key.verify((folder / SIGNATURE).read_bytes(), (folder / MANIFEST).read_bytes())
    except OSError as error:
        raise InputError(f"cannot read the key {source.name!r}: {error.strerror}") from None
    except (ValueError, TypeError, AssertionError):
        return name, False, f"{source.name} is not a public key"
    except InvalidSignature:
        return name, False, "it was not made by this key for this manifest"
    remark = (
        "" if signer is not None else "by the key in the folder; name the office's own to trust it"
    )
    return name, True, remark
