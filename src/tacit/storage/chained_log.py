"""Logs whose entries are chained: each line holds the hash of the one before, so that a change in between shows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.errors import DisclosureRefused, InputError


def append_entry(log: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Add one line to a log that is held alone, on disk before this returns; only its owner may read a new one."""
    previous = read_chain(log)
    numbered = {
        "number": len(previous) + 1,
        **entry,
        "previous": previous[-1]["hash"] if previous else "",
    }
    whole = {**numbered, "hash": hash_of(numbered)}
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line_of(whole))
        os.fsync(handle)
    finally:
        os.close(handle)
    return whole


def read_chain(log: Path, what: str = "the log") -> list[dict[str, Any]]:
    """Return the entries of a log; refuse one from which entries were taken or in which they were changed.

    Entries taken from the end cannot be seen in the log itself.
    """
    try:
        content = log.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{what} {log.name!r} cannot be read: {error.strerror}") from None
    entries: list[dict[str, Any]] = []
    last = ""
    for i, line in enumerate(content.splitlines(keepends=True), 1):
        try:
            entry = json.loads(line)
            sound = (
                entry["number"] == i
                and entry["previous"] == last
                and entry["hash"] == hash_of(entry)
                and line == line_of(entry)
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            raise DisclosureRefused(
                f"{what} {log.name!r} was changed at entry {i}; nothing is given out until that is explained."
            )
        entries.append(entry)
        last = entry["hash"]
    return entries


def line_of(entry: Mapping[str, Any]) -> bytes:
    """Return an entry as its line."""
    return (json.dumps(entry, ensure_ascii=False) + "\n").encode()


def hash_of(entry: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an entry without its own hash."""
    plain = {k: v for k, v in entry.items() if k != "hash"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()  # fmt: skip
