"""The context of a run: random numbers, progress, cancellation, and notes on what was done."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.errors import Cancelled

Progress = Callable[[str, float | None], None]


def silent(_message: str, _share: float | None) -> None:
    """Report progress to nobody."""


@dataclass
class Context:
    """What a method may use while it works.

    Attributes
    ----------
    rng
        The step's own random generator. Nothing in tacit touches global random state.
    progress
        Called with a message and a share in [0, 1] (or None when unknown).
    should_stop
        Asked by :meth:`tick`; returns True when the user wants to stop.
    details
        What the method did, for the ledger and the report: levels, counts, traces. It must not hold
        values of records.
    """

    rng: np.random.Generator
    seed: int
    progress: Progress = silent
    should_stop: Callable[[], bool] = lambda: False
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def start(
        cls,
        seed: int | None = None,
        *,
        step: int = 0,
        progress: Progress = silent,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Context:
        """Start a context; ``step`` picks the child of the plan's seed."""
        root = fresh_seed() if seed is None else seed
        child = np.random.SeedSequence(root, spawn_key=(step,))
        return cls(np.random.default_rng(child), root, progress, should_stop)

    def block_rng(self, block: int, stream: int = 0) -> np.random.Generator:
        """Return the generator of one block of records, the same on every engine."""
        return block_rng(seed_of(self.rng), block, stream)

    def tick(self, message: str = "", share: float | None = None) -> None:
        """Report progress and stop here if the user asked for it."""
        if self.should_stop():
            raise Cancelled("the run was cancelled; nothing was written")
        self.progress(message, share)

    def note(self, **details: Any) -> None:
        """Add facts about what was done."""
        self.details.update(details)


def block_rng(sequence: np.random.SeedSequence, block: int, stream: int = 0) -> np.random.Generator:
    """Return the generator of one block; ``stream`` tells apart what a step draws side by side."""
    key = (*sequence.spawn_key, block, stream)
    return np.random.default_rng(np.random.SeedSequence(sequence.entropy, spawn_key=key))


def seed_of(rng: np.random.Generator) -> np.random.SeedSequence:
    """Return the seed sequence from which a generator was made."""
    sequence = rng.bit_generator.seed_seq
    assert isinstance(sequence, np.random.SeedSequence)
    return sequence


def fresh_seed() -> int:
    """Draw a seed from the operating system."""
    return secrets.randbits(128)
