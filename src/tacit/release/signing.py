"""Signatures: an Ed25519 key of the office signs the manifest of a release; a store holds the keys that are trusted."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import DisclosureRefused, InputError, explain_target
from tacit.release.folders import MANIFEST, Manifest, is_plain
from tacit.storage.own_folders import refuse_existing

SIGNATURE, SIGNER = "manifest.sig", "signer.pub"
#: The environment variable that names the folder of trusted keys.
STORE = "TACIT_KEYS"


def make_key(path: str | Path) -> Path:
    """Make a private key for signing releases, readable by its owner only, and its public half beside it."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    target = Path(path)
    public = target.with_name(f"{target.name}.pub")
    for file in (target, public):
        refuse_existing(file, "a key is never written over")
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    with explain_target(target):
        target.touch(mode=0o600, exist_ok=False)
        target.write_bytes(private)
        public.write_bytes(public_bytes(key.public_key()))
    return target


def public_bytes(key: Any) -> bytes:
    """Return a public key as a file holds it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


@dataclass(frozen=True)
class OfficeKey:
    """The office's private key, ready to sign."""

    key: Any

    @classmethod
    def read(cls, file: str | Path | None) -> OfficeKey | None:
        """Read the key of a file; None for none."""
        return None if file is None else cls(read_private_key(Path(file)))

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint of the public half."""
        return fingerprint_of(public_bytes(self.key.public_key()))

    def sign(self, folder: Path) -> None:
        """Sign the manifest of a release folder; the public key goes beside it."""
        (folder / SIGNATURE).write_bytes(self.key.sign((folder / MANIFEST).read_bytes()))
        (folder / SIGNER).write_bytes(public_bytes(self.key.public_key()))


def fingerprint_of(public: bytes) -> str:
    """Return the fingerprint of a public key as its file holds it."""
    return hashlib.sha256(public).hexdigest()


def read_private_key(file: Path) -> Any:
    """Read a private key, or say what is wrong with the file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    wrong = f"{file.name!r} is not a key; make one with: tacit key FILE"
    key = load_key(file, lambda content: load_pem_private_key(content, None), wrong)
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{file.name!r} is a key of another sort; make one with: tacit key FILE")
    return key


def signature_check(
    folder: Path, manifest: Manifest, signer: str | Path | None = None
) -> tuple[str, bool, str] | None:
    """Return whether the signature of a release holds: (check, holds, remark).

    ``signer`` is the public key that one trusts; without it the keys of the store are. Where that is empty, the
    key in the folder is used, which shows only that the folder is whole. None when nobody signed, and no key is trusted.
    """
    name = "signature holds"
    # A damaged key of the store is an error, never left out.
    trusted = [read_public_key(Path(f)) for f in (stored_keys() if signer is None else [signer])]
    there = [is_entry(folder / file) for file in (SIGNATURE, SIGNER)]
    if not manifest.signer:
        if any(there):
            return name, False, "the manifest says that nobody signed, and there is a signature"
        if trusted:
            return name, False, "the release is not signed, and keys are trusted that should have"
        return None
    if not all(there):
        missing = SIGNER if there[0] else SIGNATURE
        return name, False, f"the release was signed, and {missing} is missing"
    try:
        public, made = (folder / SIGNER).read_bytes(), (folder / SIGNATURE).read_bytes()
        text = (folder / MANIFEST).read_bytes()
    except OSError as error:
        return name, False, f"it cannot be read: {error.strerror}"
    if fingerprint_of(public) != manifest.signer:
        return name, False, f"{SIGNER} is not the key that the manifest names"
    if not is_signed_by(public, made, text):
        return name, False, "it was not made by this key for this manifest"
    if trusted and public not in trusted:
        return name, False, "it was made by a key that is not trusted here"
    remark = "" if trusted else "by the key in the folder; to trust the office's own: tacit key trust FILE.pub"  # fmt: skip
    return name, True, remark


def is_entry(file: Path) -> bool:
    """Return True where something of that name is in a folder, a broken link included."""
    return file.is_symlink() or file.exists()


def is_signed_by(public: bytes, made: bytes, text: bytes) -> bool:
    """Return True when a key made a signature for a text."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        load_pem_public_key(public).verify(made, text)  # type: ignore[union-attr, call-arg]
    except (InvalidSignature, ValueError, TypeError, AttributeError):
        return False
    return True


def read_public_key(file: Path) -> bytes:
    """Read a public key of the sort that signs releases, in the one form in which it is written."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_key(file, load_pem_public_key, f"{file.name!r} is not a public key")
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{file.name!r} is a public key of another sort than signs releases")
    return public_bytes(key)


def load_key(file: Path, load: Callable[[bytes], Any], wrong: str) -> Any:
    """Return the key of a file; the sentence ``wrong`` where it holds none."""
    try:
        return load(file.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read the key {file.name!r}: {error.strerror}") from None
    except (ValueError, TypeError):
        raise InputError(wrong) from None


# -- the store of trusted keys -------------------------------------------------------------------------


def key_store() -> Path:
    """Return the folder of the trusted keys: that of TACIT_KEYS, or the user's own by the custom of the system."""
    named = os.environ.get(STORE)
    if named:
        return Path(named).absolute()
    home = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return (Path(home) if home else Path.home() / ".config") / "tacit" / "trusted-keys"


def stored_keys() -> list[Path]:
    """Return the files of the store."""
    with explain_store("read"):
        return sorted(key_store().glob("*.pub")) if key_store().exists() else []


def trust_key(path: str | Path, name: str | None = None) -> Path:
    """Put a public key in the store, under its own name or another; return its file."""
    public = read_public_key(Path(path))
    stem = name or Path(path).name.removesuffix(".pub")
    if not is_plain(stem) or stem.startswith("."):
        raise InputError("the name of a key is a plain word, without separators")
    target = key_store() / f"{stem}.pub"
    for held in stored_keys():
        if read_public_key(held) == public:
            return held
    if is_entry(target):
        raise DisclosureRefused(
            f"another key is trusted as {stem!r} already; give this one a name, or take that one out first"
        )
    with explain_store("written"):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target.write_bytes(public)
    return target


def untrust_key(name: str) -> Path:
    """Take a key out of the store, by its name or the beginning of its fingerprint."""
    held = stored_keys()
    found = [f for f in held if f.stem == name] or [
        f for f in held if len(name) >= 8 and fingerprint_of(f.read_bytes()).startswith(name)
    ]
    if len(found) != 1:
        known = ", ".join(f.stem for f in held) or "none"
        raise InputError(f"no trusted key is called {name!r}; there are: {known}")
    with explain_store("written"):
        found[0].unlink()
    return found[0]


@contextmanager
def explain_store(verb: str) -> Iterator[None]:
    """Say in a sentence why the store cannot be used."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"the store of trusted keys cannot be {verb}: {error.strerror}; {STORE} may name another folder"
        ) from None
