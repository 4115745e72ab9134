"""Streams of random numbers: for study from a given seed, for protection from a secret.

What protects is drawn with ChaCha20, keyed by SHAKE-256 of a 128-bit secret, the step, its parameters and the
fingerprint of the data. Whoever does not know the secret cannot tell the numbers from chance, and two runs that
differ in anything share none of them, whatever their seeds.

References
----------
Nir, Langley (2018), ChaCha20 and Poly1305 for IETF Protocols, RFC 8439.
National Institute of Standards and Technology (2015), SHA-3 Standard, FIPS 202.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence

from tacit.numerics.elementary import settle

#: Children of a stream that belong to blocks of records; none is ever spawned with this number.
BLOCKS = 2**63


class KeyedSequence(ISpawnableSeedSequence):
    """A seed sequence whose children and states are SHAKE-256 of a secret and a path."""

    def __init__(self, secret: bytes, path: tuple[int, ...] = ()) -> None:
        self.secret = secret
        self.path = path
        self.n_spawned = 0

    @classmethod
    def of(cls, seed: int, step: int, key: bytes = b"") -> KeyedSequence:
        """Return the sequence of one step; ``key`` says on what and with what it works."""
        return cls(hashlib.sha3_256(f"tacit/stream/1\0{seed}\0{step}\0".encode() + key).digest())

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Return words from which a generator starts."""
        kind = np.dtype(dtype)
        message = self.secret + b"".join(p.to_bytes(8, "little") for p in self.path)
        digest = hashlib.shake_256(message).digest(n_words * kind.itemsize)
        return np.frombuffer(digest, kind.newbyteorder("<")).astype(kind)

    def spawn(self, n_children: int) -> Any:
        """Return children that no earlier call has returned."""
        first, self.n_spawned = self.n_spawned, self.n_spawned + n_children
        return [self.child(i) for i in range(first, self.n_spawned)]

    def child(self, *path: int) -> KeyedSequence:
        """Return the sequence at a path below this one."""
        return KeyedSequence(self.secret, (*self.path, *path))


#: Where numpy's ziggurat for the normal and the exponential distribution ends: what lies beyond is drawn by logarithms.
NORMAL_TAIL, EXPONENTIAL_TAIL = 3.654, 7.697


def settled(draw: Any) -> Any:
    """Return a method of NumPy's generator whose draws are given to 40 binary digits."""

    @functools.wraps(draw)
    def call(self: np.random.Generator, *args: Any, **more: Any) -> Any:
        return settle(draw(self, *args, **more))

    return call


class Draws(np.random.Generator):
    """NumPy's generator, with draws that are the same on every machine.

    What NumPy draws by the logarithms, powers and exponentials of the system's library differs in the last digit between
    processors and versions of that library. Such draws are given to 40 binary digits; all others as NumPy draws them.
    """

    def standard_normal(self, size: Any = None, *args: Any, **more: Any) -> Any:
        """Draw from the normal distribution."""
        return settled_beyond(super().standard_normal(size, *args, **more), NORMAL_TAIL)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw from a normal distribution."""
        if size is None:
            size = np.broadcast_shapes(np.shape(loc), np.shape(scale)) or None
        return loc + scale * self.standard_normal(size)

    def standard_exponential(self, size: Any = None, *args: Any, **more: Any) -> Any:
        """Draw from the exponential distribution."""
        return settled_beyond(super().standard_exponential(size, *args, **more), EXPONENTIAL_TAIL)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Draw from an exponential distribution."""
        if size is None:
            size = np.shape(scale) or None
        return scale * self.standard_exponential(size)

    lognormal = settled(np.random.Generator.lognormal)
    laplace = settled(np.random.Generator.laplace)
    standard_gamma = settled(np.random.Generator.standard_gamma)
    gamma = settled(np.random.Generator.gamma)
    chisquare = settled(np.random.Generator.chisquare)
    beta = settled(np.random.Generator.beta)
    dirichlet = settled(np.random.Generator.dirichlet)


def settled_beyond(found: Any, tail: float) -> Any:
    """Return draws with those of the tail settled."""
    if np.ndim(found) == 0:
        return float(settle(found)) if abs(found) > tail else found
    far = np.abs(found) > tail
    if far.any():
        found[far] = settle(found[far])
    return found


#: Either sort of sequence: numpy's own for study, the keyed one for protection.
Sequences = np.random.SeedSequence | KeyedSequence


def generator_of(sequence: Sequences) -> np.random.Generator:
    """Return the generator that starts from a sequence: ChaCha20 where it is keyed."""
    if isinstance(sequence, KeyedSequence):
        from randomgen import ChaCha

        return Draws(ChaCha(sequence, rounds=20))
    return Draws(np.random.PCG64(sequence))


def seed_of(rng: np.random.Generator) -> Sequences:
    """Return the seed sequence from which a generator was made."""
    sequence = rng.bit_generator.seed_seq
    assert isinstance(sequence, np.random.SeedSequence | KeyedSequence)
    return sequence


def spawn_sequences(rng: np.random.Generator, n: int) -> Sequence[Sequences]:
    """Return n children of a generator's sequence, which may travel to other processes."""
    return list(seed_of(rng).spawn(n))


def block_rng(sequence: Sequences, block: int, stream: int = 0) -> np.random.Generator:
    """Return the generator of one block; ``stream`` tells apart what a step draws side by side."""
    if isinstance(sequence, KeyedSequence):
        return generator_of(sequence.child(BLOCKS, block, stream))
    key = (*sequence.spawn_key, block, stream)
    return generator_of(np.random.SeedSequence(sequence.entropy, spawn_key=key))


def fresh_seed() -> int:
    """Draw a seed of 128 bits from the operating system."""
    return secrets.randbits(128)
