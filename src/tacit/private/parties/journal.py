"""Journal: what a party needs to play its role again after a crash, and a log of the runs that peers asked for.

The journal is confidential: it holds the party's secret and the messages that it received. Its folder is readable by its
owner only. A run that has ended keeps its mark, so that no run can be played twice with the same secret.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import DisclosureRefused, InputError, ProtocolError
from tacit.graphics.likeness import ColumnSketch, shared_column
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.wire import Message, decode

SECRET, TERMS, ENDED = "secret", "terms", "ended"


class Journal:
    """The folder of one run of one party."""

    def __init__(self, folder: str | Path, terms: str = "") -> None:
        """Open or begin a journal; ``terms`` (a digest of data and settings) must be those with which it began."""
        self.folder = Path(folder)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot write the journal {self.folder.name!r}: {error.strerror}"
            ) from None
        if (self.folder / ENDED).exists():
            raise DisclosureRefused(
                "this run has ended, and its keys are never used again: begin a run with another name"
            )
        if not (self.folder / SECRET).exists():
            write_whole(self.folder / TERMS, terms.encode())
            write_whole(self.folder / SECRET, Randomness().secret)
        elif (self.folder / TERMS).read_bytes() != terms.encode():
            raise DisclosureRefused(
                "the data or the settings have changed since this run began: undo the change, or begin a "
                "run with another name"
            )
        self.randomness = Randomness((self.folder / SECRET).read_bytes())

    def received(self) -> list[tuple[Message, str]]:
        """Return the messages that were received, with their digests, in order."""
        files = sorted(self.folder.glob("in-*"))
        return [(decode(data), digest(data)) for data in (f.read_bytes() for f in files)]

    def keep_received(self, number: int, data: bytes) -> None:
        """Keep a message before its sender is told that it has arrived."""
        write_whole(self.folder / f"in-{number:08d}", data)

    def was_sent(self, number: int) -> bool:
        """Return True when the receiver has confirmed the message of that number."""
        return (self.folder / f"out-{number:08d}").exists()

    def keep_sent(self, number: int) -> None:
        """Remember that a message was confirmed."""
        write_whole(self.folder / f"out-{number:08d}", b"")

    def was_given_up(self, number: int) -> bool:
        """Return True when the party went on without the message of that number."""
        return (self.folder / f"gone-{number:08d}").exists()

    def give_up(self, number: int) -> None:
        """Remember that the party goes on without a message, so that after a crash it does so again.

        The message may have come meanwhile: taking it then would lead to other sums than those that peers were told.
        """
        write_whole(self.folder / f"gone-{number:08d}", b"")

    def end(self) -> None:
        """Close the run: forget messages and secret, keep the mark."""
        write_whole(self.folder / ENDED, b"")
        kept = (f for kind in ("in", "out", "gone") for f in self.folder.glob(f"{kind}-*"))
        for file in (*kept, self.folder / SECRET):
            file.unlink(missing_ok=True)


@dataclass(frozen=True)
class RunLog:
    """The runs that took place with each peer: times, and sketches of the data that know them again.

    Repeated runs on the same people tell more than each alone: their totals subtracted are those of whoever is in one of them only, a
    record or a whole party. Beyond ``limit`` runs with one peer on such data, and in any run with other parties than before, a
    party refuses until its owner confirms. Data are known again in another order, and where some records or columns have
    changed (:mod:`tacit.graphics.likeness`, a heuristic).
    """

    file: Path
    limit: int = 1

    def salt(self) -> str:
        """Return what hashes in sketches begin with: drawn once, and kept with the log."""
        file = self.file.with_name("salt")
        if not file.exists():
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, secrets.token_hex(16).encode())
        return file.read_text("utf-8")

    def runs(self) -> list[dict[str, Any]]:
        """Return what is logged."""
        if not self.file.exists():
            return []
        lines = self.file.read_text("utf-8").splitlines()
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise ProtocolError(
                f"the log of runs {self.file.name!r} is damaged; restore it first"
            ) from None

    def admit(
        self,
        run: str,
        peers: Sequence[str],
        protocol: str,
        data: str,
        columns: Sequence[ColumnSketch] = (),
        *,
        confirmed: bool = False,
    ) -> None:
        """Log that a run begins, or refuse it; ``data`` is the fingerprint of what it is about, ``columns`` its sketches."""
        known = self.runs()
        if not any(r["run"] == run for r in known):
            if not confirmed:
                self.require_new(peers, [r for r in known if is_about(r, data, columns, known)])
            seen = any(r["data"] == data for r in known)
            entry = {"run": run, "peers": sorted(peers), "protocol": protocol, "data": data,
                     "columns": [] if seen else [c.to_dict() for c in columns],
                     "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}  # fmt: skip
            text = "".join(json.dumps(r, sort_keys=True) + "\n" for r in [*known, entry])
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(self.file, text.encode())

    def require_new(self, peers: Sequence[str], earlier: Sequence[Mapping[str, Any]]) -> None:
        """Refuse a run that tells more together with earlier ones on the same people."""
        for r in earlier:
            other = sorted({*peers} ^ {*r["peers"]})
            if other:
                raise DisclosureRefused(
                    f"an earlier run on these data, or on nearly the same, was with other parties ({', '.join(other)} took part in one "
                    "of the two only): the totals of one less those of the other tell their part alone. Confirm it in the "
                    "settings of the party if all of them agree."
                )
        for peer in peers:
            if sum(peer in r["peers"] for r in earlier) >= self.limit:
                raise DisclosureRefused(
                    f"{peer!r} has already taken part in as many runs on these data, or on nearly the same, as are allowed ({self.limit}): "
                    "every further one tells more. Confirm it in the settings of the party if that is meant."
                )


def is_about(
    run: Mapping[str, Any],
    data: str,
    columns: Sequence[ColumnSketch],
    known: Sequence[Mapping[str, Any]],
) -> bool:
    """Return True when a run that is logged was about the same people: the same data, or nearly the same."""
    if run["data"] == data:
        return True
    # Sketches stand with the first run on each data set.
    kept: Sequence[Mapping[str, Any]] = next(
        (r["columns"] for r in known if r["data"] == run["data"] and r.get("columns")), []
    )
    return shared_column(columns, [ColumnSketch.from_dict(c) for c in kept]) is not None


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def write_whole(file: Path, data: bytes) -> None:
    """Write a file for its owner only, wholly or not at all, and wait until it is on the disk."""
    draft = file.with_name(f".{file.name}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
