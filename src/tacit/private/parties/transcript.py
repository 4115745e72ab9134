"""Transcript: who told whom how much in which step. It holds sizes, never values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Line:
    """One message, without its content."""

    sender: str
    receiver: str
    step: str
    n_bytes: int


@dataclass(frozen=True)
class Transcript:
    """Every message of a run, in order, as one party or an onlooker of all of them saw it."""

    lines: tuple[Line, ...] = ()

    @property
    def n_messages(self) -> int:
        """Return the number of messages."""
        return len(self.lines)

    @property
    def n_bytes(self) -> int:
        """Return the number of bytes in all messages."""
        return sum(line.n_bytes for line in self.lines)

    def bytes_by_sender(self) -> Mapping[str, int]:
        """Return how much each party sent."""
        sent: Counter[str] = Counter()
        for line in self.lines:
            sent[line.sender] += line.n_bytes
        return dict(sent)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per message, for frames and files."""
        names = ("message", "step", "sender", "receiver", "bytes")
        told = ((i, x.step, x.sender, x.receiver, x.n_bytes) for i, x in enumerate(self.lines, 1))
        return [dict(zip(names, row, strict=True)) for row in told]
