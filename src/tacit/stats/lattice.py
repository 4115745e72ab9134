"""Noise on a lattice: drawn exactly, so that the last bits of what is published tell nothing.

Gaussian noise in floating point has holes: which numbers can occur depends on the value beneath, and single
published bits can give it away (Mironov 2012). Values are therefore rounded to whole multiples of a step that
does not depend on the data, and a discrete Gaussian of whole numbers is added, drawn by comparing whole random
numbers alone. Counts have the step 1: published counts are whole numbers.

References
----------
Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential privacy, NeurIPS 33.
Mironov (2012), On significance of the least significant bits for differential privacy, CCS 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats

#: Steps of the lattice in one amplitude, as a power of two.
FINE = 24


@dataclass(frozen=True)
class Lattice:
    """Where published values lie."""

    #: Standard deviation of the noise.
    amplitude: float
    #: Published values are whole multiples of it; 1 for counts.
    step: float

    @classmethod
    def of(cls, amplitude: float, *, counts: bool) -> Lattice:
        """Return the lattice for an amplitude: whole numbers for counts, else a fine power of two."""
        return cls(amplitude, 1.0 if counts else 2.0 ** (math.floor(math.log2(amplitude)) - FINE))

    def sensitivity(self, exact: float, entries: int) -> float:
        """Return how far the rounded vector can move where the exact one moves by ``exact``.

        Each entry moves by at most one step more through rounding, and by less than another through the
        arithmetic before it.
        """
        return exact if self.step == 1.0 else exact + 2 * self.step * math.sqrt(entries)

    def protect(self, values: npt.NDArray[np.generic], rng: np.random.Generator) -> Floats:
        """Return values with noise, as multiples of the step."""
        exact = np.asarray(values, dtype=np.float64)
        whole = np.rint(exact / self.step)
        scale = Fraction(self.amplitude) / Fraction(self.step)
        noise = draw_discrete_gaussian(scale, exact.size, rng).reshape(exact.shape)
        return np.asarray((whole + noise) * self.step + 0.0, dtype=np.float64)


def draw_discrete_gaussian(scale: Fraction, n: int, rng: np.random.Generator) -> Floats:
    """Return n whole numbers z, each with probability proportional to exp(-z^2 / (2 scale^2)).

    Exact rejection from a discrete Laplace distribution (Canonne et al., algorithm 3).
    """
    bits = Bits(rng)
    square = scale * scale
    spread = int(scale) + 1
    # exp(-(|y| - s^2/t)^2 / (2 s^2)) with whole numerator and denominator.
    top, bottom = square.numerator, square.denominator
    least = 2 * top * bottom * spread * spread
    drawn = np.empty(n)
    for i in range(n):
        while True:
            y = draw_discrete_laplace(spread, bits)
            off = abs(y) * spread * bottom - top
            if bits.happens_exp(off * off, least):
                drawn[i] = y
                break
    return drawn


def draw_discrete_laplace(spread: int, bits: Bits) -> int:
    """Return a whole number y with probability proportional to exp(-|y| / spread) (algorithm 2)."""
    while True:
        part = bits.below(spread)
        if not bits.happens_exp(part, spread):
            continue
        times = 0
        while bits.happens_exp(1, 1):
            times += 1
        size = part + spread * times
        negative = bits.below(2)
        if not (negative and size == 0):
            return -size if negative else size


class Bits:
    """Whole random numbers from the bytes of a generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.held = 0
        self.left = 0

    def take(self, n: int) -> int:
        """Return n random bits as a whole number."""
        if self.left < n:
            more = max(8192, n)
            self.held |= int.from_bytes(self.rng.bytes(more // 8 + 1), "little") << self.left
            self.left += (more // 8 + 1) * 8
        found = self.held & ((1 << n) - 1)
        self.held >>= n
        self.left -= n
        return found

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to limit - 1, each equally likely."""
        n = (limit - 1).bit_length()
        while True:
            found = self.take(n)
            if found < limit:
                return found

    def happens_exp(self, top: int, bottom: int) -> bool:
        """Return True with probability exp(-top / bottom) (algorithm 1)."""
        while top > bottom:
            if not self.happens_exp(1, 1):
                return False
            top -= bottom
        k = 1
        while self.below(bottom * k) < top:
            k += 1
        return k % 2 == 1


def choose(scores: Floats, epsilon: float, sensitivity: float, rng: np.random.Generator) -> int:
    """Return one candidate by the exponential mechanism: probability proportional to exp(epsilon u / (2 Delta)).

    The candidates do not depend on the data, so that every one of them can occur whatever the data are;
    probabilities are right to the precision of floating-point numbers.
    """
    scaled = scores * (epsilon / (2 * sensitivity))
    odds = np.cumsum(np.exp(scaled - scaled.max()))
    return int(np.searchsorted(odds, rng.random() * odds[-1], side="right").clip(0, len(odds) - 1))
