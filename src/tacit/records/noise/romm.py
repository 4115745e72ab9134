"""Random orthogonal matrix masking."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import target_faults
from tacit.errors import DisclosureRefused, SdcError, WeakProtection
from tacit.fields import MaskedTogether, RefuseOrKeep, Secret
from tacit.numerics.algebra import covariance
from tacit.records.noise.orthogonal import Partner, random_rotation
from tacit.registry import register
from tacit.spec import Method

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
