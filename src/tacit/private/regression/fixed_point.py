"""Numbers of fixed point modulo a power of two, and shares of secrets (Shamir)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError, InvalidParameter, PartyMissing
from tacit.private.parties.randomness import Randomness

#: A prime above 2^256, in whose field secrets are shared.
PRIME = 2**521 - 1


@dataclass(frozen=True)
class FixedPoint:
    """Reals as whole numbers of 2^-frac_bits modulo 2^modulus_bits."""

    modulus_bits: int = 128
    frac_bits: int = 48

    def __post_init__(self) -> None:
        if self.modulus_bits not in (64, 128, 256):
            raise InvalidParameter(f"modulus_bits must be 64, 128 or 256 (got {self.modulus_bits})")
        if not 0 <= self.frac_bits < self.modulus_bits - 8:
            raise InvalidParameter(f"frac_bits must lie between 0 and {self.modulus_bits - 9}")

    @property
    def modulus(self) -> int:
        """Return the modulus."""
        return 1 << self.modulus_bits

    @property
    def size(self) -> int:
        """Return the bytes of one number."""
        return self.modulus_bits // 8

    def encode(self, values: Iterable[float], n_parties: int) -> list[int]:
        """Return the numbers of a vector; refuse one whose sum could overflow."""
        scale = 2.0**self.frac_bits
        limit = self.modulus // 2 // n_parties
        whole = []
        for value in values:
            if value != value or value in (np.inf, -np.inf):  # noqa: PLR0124
                raise InputError(
                    "a statistic is no finite number; look for missing or infinite values"
                )
            scaled = value * scale
            if abs(scaled) >= limit:
                raise InputError(
                    "a statistic is too large for the agreed fixed point: rescale the columns, or take more modulus_bits"
                )
            whole.append(round(scaled) % self.modulus)
        return whole

    def decode(self, numbers: Iterable[int]) -> Floats:
        """Return the reals of numbers."""
        half = self.modulus // 2
        scale = 2**self.frac_bits
        return np.array([(n - self.modulus if n >= half else n) / scale for n in numbers])

    def pack(self, numbers: Sequence[int]) -> bytes:
        """Return numbers as bytes."""
        return b"".join(n.to_bytes(self.size, "little") for n in numbers)

    def unpack(self, data: bytes) -> list[int]:
        """Return the numbers in bytes."""
        return [
            int.from_bytes(data[i : i + self.size], "little")
            for i in range(0, len(data), self.size)
        ]


def share_secret(secret: int, n: int, needed: int, random: Randomness) -> list[int]:
    """Return n shares of a number, of which ``needed`` recover it and fewer tell nothing (Shamir)."""
    coefficients = [secret % PRIME, *(random.below(PRIME) for _ in range(needed - 1))]
    shares = []
    for x in range(1, n + 1):
        value = 0
        for c in reversed(coefficients):
            value = (value * x + c) % PRIME
        shares.append(value)
    return shares


def recover_secret(shares: Mapping[int, int], needed: int) -> int:
    """Return the number behind shares at places x."""
    if len(shares) < needed:
        raise PartyMissing("too few shares came back to recover the sum; start the parties again")
    chosen = sorted(shares.items())[:needed]
    weights = weigh_places([x for x, _ in chosen], PRIME)
    return sum(y * w for (_, y), w in zip(chosen, weights, strict=True)) % PRIME


def weigh_places(places: Sequence[int], prime: int) -> list[int]:
    """Return the weights that give the value at 0 of a polynomial known at some places (Lagrange)."""
    weights = []
    for x in places:
        top = bottom = 1
        for z in places:
            if z != x:
                top, bottom = top * z % prime, bottom * (z - x) % prime
        weights.append(top * pow(bottom, -1, prime) % prime)
    return weights


def add_modulo(point: FixedPoint, one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Return the sum modulo the modulus."""
    mask = point.modulus - 1
    return [(a + b) & mask for a, b in zip(one, two, strict=True)]


def subtract_modulo(point: FixedPoint, one: Sequence[int], two: Sequence[int]) -> list[int]:
    """Return the difference modulo the modulus."""
    mask = point.modulus - 1
    return [(a - b) & mask for a, b in zip(one, two, strict=True)]
