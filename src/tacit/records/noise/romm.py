"""Random orthogonal matrix masking."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import target_faults
from tacit.errors import DisclosureRefused, InputError, SdcError, WeakProtection
from tacit.fields import MaskedTogether, RefuseOrKeep, Secret
from tacit.numerics.algebra import covariance, dot, eigh
from tacit.numerics.elementary import cos, sin
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import TOLERANCE, scale_of

Partner = Literal["normal", "records"]

#: Relative difference of moments that counts as rounding.
EXACT = 1e-8


@register
class Romm(Method):
    """Rotate the records at random so that means and covariances stay exactly (ROMM).

    The release is Y = T X with T a random orthogonal n x n matrix and T 1 = 1, so that Y'1 = X'1 and
    Y'Y = X'X: every mean, variance, covariance, and with them every regression, component and biplot of
    the masked columns is that of the original, to the last digit. ``magnitude`` is the share of each
    column's variance that is exchanged: an original and its released value correlate
    sqrt(1 - magnitude).

    T is never formed. With Q an orthonormal frame of the centred columns and W a random one orthogonal to
    it, T turns each column of Q by an angle a towards the same column of W, sin(a)^2 = magnitude, and
    leaves everything else alone, in O(n p^2) instead of the O(n^3) of orthonormalising I + lambda M. With
    ``partner="normal"`` W is uniformly random, and the new part of the values is normal; with ``"records"``
    W comes from the records in another order, which keeps more of the columns' shapes. (The paper's lambda
    has a meaning that changes with n; the magnitude has not.)

    **Whoever attacks through means and covariances alone finds them unchanged**; a warning says so unless
    ``acknowledged``.

    References
    ----------
    Ting, Fienberg, Trottini (2008), Random orthogonal matrix masking methodology for microdata release,
    International Journal of Information and Computer Security 2, 86-105.
    """

    kind: Literal["romm"] = "romm"
    columns: MaskedTogether = None
    magnitude: float = Secret(
        0.2, gt=0, le=1, description="share of each column's variance that is exchanged"
    )
    partner: Partner = Field(
        default="normal",
        description="what is rotated in: normal draws, or the records themselves in random order",
    )
    acknowledged: bool = Field(
        default=False,
        description="you know that means and covariances are the original's, so that attacks through them work as before; no warning",
    )
    missing: RefuseOrKeep = "refuse"

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("random orthogonal matrix masking",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"], "acknowledged": True}

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns masked."""
        return self.columns or list_maskable_columns(data)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to mask, columns named twice or without numbers."""
        lack = "name at least one numeric column, and each once"
        return super().faults(data) or [*target_faults(data, self.targets(data), self.kind, lack)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        block = read_block(data, self.targets(data), self.kind, missing=self.missing)
        if not block.complete.any():
            return data
        x = block.x
        centre = x.mean(axis=0)
        ctx.tick("drawing a rotation", 0.2)
        rotation = random_rotation(x - centre, self.magnitude, ctx.rng, partner=self.partner)
        ctx.tick("rotating", 0.6)
        y = centre + rotation.turn(x - centre)
        if not same_moments(x, y):
            raise DisclosureRefused(
                "romm: means and covariances were not kept to the last digits. Divide the columns by powers of ten so that they are of one size."
            )
        if not self.acknowledged:
            warnings.warn(
                "romm: means and covariances of the release are those of the original, so every attack through them works as before; give acknowledged=True if that is known",
                WeakProtection,
                stacklevel=3,
            )
        ctx.note(
            columns=list(block.columns),
            partner=self.partner,
            kept="means and covariances, exactly: attacks through them work as on the original",
        )
        return data.replace(block.released(y))


def same_moments(x: Floats, y: Floats) -> bool:
    """Return True when means and covariances agree up to rounding, in units of the columns' own spread."""
    spread = x.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    size = np.maximum(scale, np.abs(x.mean(axis=0)) * np.finfo(float).eps / EXACT)
    means = np.abs(x.mean(axis=0) - y.mean(axis=0)) / size
    before, after = (covariance(v / scale) for v in (x, y))
    return bool((means <= EXACT).all() and (np.abs(before - after) <= EXACT).all())


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
