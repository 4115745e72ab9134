"""Random rotations of the records that keep means and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.numerics.algebra import dot, eigh
from tacit.numerics.elementary import cos, sin
from tacit.stats.moments import TOLERANCE, scale_of

Partner = Literal["normal", "records"]


@dataclass(frozen=True)
class Rotation:
    """An orthogonal n x n matrix T with T 1 = 1, held by two frames and an angle.

    With Q and W the frames (n x r, orthonormal, orthogonal to 1 and to each other)

        T = I + (cos a - 1)(Q Q' + W W') + sin a (W Q' - Q W'),

    a rotation by a in each of the r planes spanned by a column of Q and the same column of W.
    """

    q: Floats
    w: Floats
    angle: float

    def turn(self, x: Floats) -> Floats:
        """Return T x in O(n r p), without forming T."""
        along_q, along_w = dot(self.q.T, x), dot(self.w.T, x)
        c, s = cos(self.angle), sin(self.angle)
        return (
            x
            + dot(self.q, (c - 1) * along_q - s * along_w)
            + dot(self.w, (c - 1) * along_w + s * along_q)
        )

    def matrix(self) -> Floats:
        """Return T itself; for small n."""
        return self.turn(np.eye(len(self.q)))


def random_rotation(
    x: Floats, magnitude: float, rng: np.random.Generator, *, partner: Partner = "normal"
) -> Rotation:
    """Return a random rotation that turns the centred records x out of their own space.

    ``magnitude`` = sin(a)^2 is the share of every column's variance that is exchanged: released and
    original values correlate cos(a), whatever the column. The second frame is a uniformly random one
    (``normal``), or made of the records themselves in random order (``records``).
    """
    n = len(x)
    q = frame_of(scale_of(x).there(x))
    r = q.shape[1]
    if n < 2 * r + 1 or r == 0:
        raise InputError(
            "romm: too few records; at least twice as many complete records as columns, plus one, and a column that varies are needed."
        )
    start = rng.standard_normal((n, r)) if partner == "normal" else rng.permutation(q)
    for _ in range(2):  # twice is enough for orthogonality to the last digits
        start -= start.mean(axis=0)
        start -= dot(q, dot(q.T, start))
    values, vectors = eigh(dot(start.T, start))
    if values[0] <= TOLERANCE * values[-1]:
        raise InputError(
            "romm: the records in random order span too little beyond the records themselves. Give partner='normal'."
        )
    # The orthonormal frame nearest to the start (Löwdin): its columns stay what they were.
    w = dot(start, dot(vectors / np.sqrt(values), vectors.T))
    return Rotation(q, w, float(np.arcsin(np.sqrt(magnitude))))


def frame_of(z: Floats) -> Floats:
    """Return an orthonormal basis of the space of the columns, without directions of no size."""
    q = z
    for _ in range(2):  # the second round takes away what rounding left in the first
        values, vectors = eigh(dot(q.T, q))
        use = values > TOLERANCE * max(values.max(initial=0.0), np.finfo(float).tiny)
        q = dot(q, vectors[:, use] / np.sqrt(values[use]))
    return np.asarray(q)
