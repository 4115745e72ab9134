"""Seals: one number for everything in a folder, which tells nothing about what the folder holds."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator
from pathlib import Path

#: The file that keeps what the seal was made with. Whoever has it could try what the ledger may say.
SALT = "seal"


def seal_folder(folder: Path) -> str:
    """Draw a salt, keep it in the folder, and return the seal of everything in it."""
    (folder / SALT).write_text(secrets.token_hex(32), encoding="ascii")
    return seal_of(folder)


def seal_of(folder: Path) -> str:
    """Return the seal of a folder as it stands: names and contents of all entries, under its salt."""
    found = dict(entry_hashes(folder))
    salt = (folder / SALT).read_bytes() if found.get(SALT, "").isalnum() else b""
    text = json.dumps(found, sort_keys=True).encode()
    return hmac.new(salt, text, hashlib.sha256).hexdigest()


def entry_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield every entry of a folder with the SHA-256 of files; links are entries as well, and never followed."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_symlink():
            yield name, "a link"
        elif file.is_dir():
            yield name, "a folder"
        elif not file.is_file():
            yield name, "no file"
        else:
            with file.open("rb") as handle:
                yield name, hashlib.file_digest(handle, "sha256").hexdigest()
