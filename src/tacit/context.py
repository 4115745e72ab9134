"""The context of a run: random numbers, events, cancellation, and notes on what was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from tacit.errors import InvalidParameter
from tacit.events import Job, Listener, Phase, Stage, Stop, Stretch, ignore_event, never
from tacit.numerics.streams import (
    KeyedSequence,
    Sequences,
    block_rng,
    fresh_seed,
    generator_of,
    seed_of,
)

T = TypeVar("T")
Progress = Callable[[str, float | None], None]


def ignore_progress(_message: str, _share: float | None) -> None:
    """Ignore progress."""


#: Bits of a seed that is given; those that are drawn have 128.
LARGEST_SEED = 256


@dataclass
class Context:
    """What a method may use while it works."""

    #: The step's own random generator. Nothing in tacit touches global random state.
    rng: np.random.Generator
    seed: int
    #: The stretch of a job that this is for: where :meth:`tick` reports, and asks whether to stop.
    work: Stretch = field(default_factory=lambda: Stretch(Job()))
    #: What the method did, for the ledger and the report: levels, counts, traces. It must not hold
    #: values of records.
    details: dict[str, Any] = field(default_factory=dict)
    #: Columns that other steps of the plan change: a linked column among them is not left as it is.
    elsewhere: frozenset[str] = frozenset()
    #: The population register of the plan, for methods whose ``asks_register`` says that they need it.
    register: Any = None

    @classmethod
    def start(
        cls,
        seed: int | None = None,
        *,
        step: int = 0,
        key: bytes | None = None,
        on_event: Listener = ignore_event,
        should_stop: Stop = never,
        work: Stretch | None = None,
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
        on_event, should_stop
            Called with events, and asked whether to stop, while the work goes on; see :mod:`tacit.events`.
        work
            A stretch of a job that has both already.
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
        return cls(generator_of(child), root, work or Stretch(Job(on_event, should_stop)))

    def block_rng(self, block: int, stream: int = 0) -> np.random.Generator:
        """Return the generator of one block of records, the same on every engine."""
        return block_rng(seed_of(self.rng), block, stream)

    @property
    def should_stop(self) -> Stop:
        """Return what says whether the user wants to stop; :meth:`tick` asks it."""
        return self.work.job.should_stop

    def watch(self, stage: Stage, text: str, work: Callable[[], T]) -> T:
        """Do the whole work of this context as a job; as it is where it is part of one."""
        given = self.work
        if given.job.phases:
            return work()
        job = Job(given.job.on_event, given.job.should_stop, (Phase(stage, text),))
        self.work = job.begin(stage)
        try:
            return job.watch(work)
        finally:
            self.work = given

    def quiet(self, rng: np.random.Generator | None = None) -> Context:
        """Return a context for work inside this, which is stopped with it and reports nothing."""
        return Context(self.rng if rng is None else rng, self.seed, self.work.quiet())

    def tick(self, message: str = "", share: float | None = None) -> None:
        """Report progress and stop here if the user asked for it."""
        self.work.tick(message, share)

    def note(self, **details: Any) -> None:
        """Add facts about what was done."""
        self.details.update(details)
