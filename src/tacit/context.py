"""The context of a run: random numbers, progress, cancellation, and notes on what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.errors import Cancelled, InvalidParameter
from tacit.numerics.streams import (
    KeyedSequence,
    Sequences,
    block_rng,
    fresh_seed,
    generator_of,
    seed_of,
)

Progress = Callable[[str, float | None], None]


def ignore_progress(_message: str, _share: float | None) -> None:
    """Ignore progress."""


#: Bits of a seed that is given; those that are drawn have 128.
LARGEST_SEED = 256


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
    elsewhere
        Columns that other steps of the plan change: a linked column among them is not left as it is.
    register
        The population register of the plan, for methods whose ``asks_register`` says that they need it.
    """

    rng: np.random.Generator
    seed: int
    progress: Progress = ignore_progress
    should_stop: Callable[[], bool] = lambda: False
    details: dict[str, Any] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    register: Any = None

    @classmethod
    def start(
        cls,
        seed: int | None = None,
        *,
        step: int = 0,
        key: bytes | None = None,
        progress: Progress = ignore_progress,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Context:
        """Start a context.

        Parameters
        ----------
        seed
            A given seed is for study: equal seeds give equal numbers. By default one is drawn from the
            operating system, and the numbers come from a cryptographic generator.
        step
            Picks the child of the seed.
        key
            What the numbers depend on besides, hashed with the seed: in a plan the step's parameters and the
            fingerprint of the data, so that runs that differ in them share no numbers. Where one is given
            the generator is cryptographic too.
        progress, should_stop
            See the attributes.
        """
        if seed is not None and (
            isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0
        ):
            raise InvalidParameter("seed must be a whole number from 0")
        if seed is not None and int(seed).bit_length() > LARGEST_SEED:
            raise InvalidParameter(f"seed must have at most {LARGEST_SEED} bits, some 77 digits")
        root = fresh_seed() if seed is None else int(seed)
        child: Sequences = (
            np.random.SeedSequence(root, spawn_key=(step,))
            if seed is not None and key is None
            else KeyedSequence.of(root, step, key or b"")
        )
        return cls(generator_of(child), root, progress, should_stop)

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
