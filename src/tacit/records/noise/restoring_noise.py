"""Normal noise that gives back the covariance which a first masking took."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.errors import Approximate
from tacit.numerics.algebra import dot, eigh
from tacit.records.noise.stages import StageNoise
from tacit.registry import register
from tacit.stats.moments import TOLERANCE, exact_moments, factor


@register
class RestoringNoise(StageNoise):
    """Mask numbers, then add normal noise with the covariance that was lost.

        X2 = M1(X0) + E,    E ~ N(0, Cov(X0) - Cov(M1(X0))).

    For group means the difference is the covariance within groups, hence a covariance; where another
    first masking makes it indefinite, its negative part is left out, with a warning. ``exact`` gives the
    *sample* mean and covariance of the original, by draws that are centred, uncorrelated with M1(X0) and
    scaled. As a later stage of ``two_stage`` or ``multi_stage`` it restores what the stages before it lost.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 3.
    """

    kind: Literal["restoring_noise"] = "restoring_noise"
    exact: bool = Field(
        default=True,
        description="restore the mean and covariance of the sample exactly, not on average",
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def noise_for(
        self, residual: Floats, released: Floats, original: Floats, ctx: Context
    ) -> Floats:
        """Return normal noise with the covariance that the release lacks."""
        del residual
        target, negative = lost_covariance(original, released)
        ctx.note(exact=self.exact, negative_part=negative)
        if negative:
            warnings.warn(
                f"restoring_noise: what came before raised some variances, by up to {negative:.2g} in units of the columns' own; noise cannot take that back",
                Approximate,
                stacklevel=6,
            )
        shift = original.mean(axis=0) - released.mean(axis=0)
        if not target.any():
            return np.zeros_like(released) + shift
        root = factor(target)
        noise = dot(ctx.rng.standard_normal((len(released), root.shape[1])), root.T)
        if not self.exact:
            return noise
        noise = exact_moments(noise, released, np.ones(len(noise)), target, kind=self.kind)
        return noise + shift


def lost_covariance(original: Floats, released: Floats) -> tuple[Floats, float]:
    """Return Cov(original) - Cov(released) without its negative part, and the size of that part.

    The size is the largest negative eigenvalue as a share of the largest eigenvalue of the correlations:
    0 for group means, whose loss is a covariance itself (that within groups).
    """
    sd = original.std(axis=0, ddof=1)
    a, b = ((x - x.mean(axis=0)) / sd for x in (original, released))
    values, vectors = eigh((dot(a.T, a) - dot(b.T, b)) / (len(a) - 1.0))
    negative = max(-float(values[0]), 0.0)
    kept = np.clip(values, 0.0, None)
    lost = dot(vectors * kept, vectors.T) * np.outer(sd, sd)
    return lost, negative if negative > TOLERANCE else 0.0
