"""Restricted noise: additive noise that keeps mean and variance, and no value farther than a share of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers, read_numeric_column
from tacit.errors import InputError
from tacit.fields import ColumnNames, KeepWhole, Secret
from tacit.numerics.elementary import ndtr, ndtri
from tacit.records.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method

#: Values drawn at a time, so that memory stays flat and a run can be stopped.
CHUNK = 1 << 20


@register
class RestrictedNoise(Method):
    """Add noise restricted by the sample's size, mean and variance, and if wanted by the value itself.

    With m and s the mean and standard deviation of a column of n values, and d the ``share``,

        y = m + c (x - m + e),    e ~ N(0, d s^2),    c^2 = (n - 1) / (n (1 + d) - 1),

    so that the sum of squares about the mean is on average that of the original, in a sample of this very
    size. (For large n, c^2 = 1 / (1 + d), the bias-corrected noise of ``correlated_noise`` with
    ``keep_variance``.) ``limit`` restricts further: no value moves by more than that share of itself, by
    drawing e from the part of the normal distribution that allows it. Zeros then stay zero and signs
    stay; the variance is restored less exactly, and the ratio reached is noted.

    A common implementation applies the linear transformation and leaves out the noise; that would release
    a file from which every value can be computed.

    References
    ----------
    Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation,
    Proceedings of the ASA Section on Survey Research Methods, 370-374.
    Brand (2002), Microdata protection through noise addition, Inference Control in Statistical Databases,
    LNCS 2316, 97-116.
    """

    kind: Literal["restricted_noise"] = "restricted_noise"
    columns: ColumnNames = Field(description="the numeric columns that get noise")
    share: float = Field(
        default=0.15,
        gt=0,
        allow_inf_nan=False,
        description="variance of the noise as a share of the column's own",
    )
    limit: float | None = Secret(
        None, gt=0, le=1, description="largest change of a value as a share of the value itself"
    )
    whole: KeepWhole = True

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("additive noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    number_fields = ("columns",)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        new, ratios = {}, {}
        for c in self.columns:
            column = read_numeric_column(data, c)
            if not column.known.any():
                continue
            noisy, ratios[c] = self.add_noise_to(c, column, ctx)
            new[c] = column.restore(nearest_whole(noisy) if column.whole and self.whole else noisy)
        ctx.note(share=self.share, limited=self.limit is not None, variance_ratio=ratios)
        return data.replace(new) if new else data

    def add_noise_to(self, name: str, column: Numbers, ctx: Context) -> tuple[Floats, float]:
        """Return a column with noise, and its variance as a multiple of the original's."""
        x = column.values.astype(np.float64)
        known = x if column.known.all() else x[column.known]
        n = len(known)
        s = float(known.std(ddof=1)) if n > 1 else 0.0
        if not (s > 0 and np.isfinite(s)):
            raise InputError(
                f"restricted_noise: column {name!r} needs at least two finite values that differ. Leave it out."
            )
        m, c, sd = float(known.mean()), restoring_factor(n, self.share), s * np.sqrt(self.share)
        y = np.empty(len(x))
        for start in range(0, len(x), CHUNK):
            ctx.tick("drawing noise", start / len(x))
            at = slice(start, start + CHUNK)
            y[at] = m + c * (x[at] - m + sd * self.draws(x[at], m, c, sd, ctx.rng))
            if self.limit is not None:
                reach = self.limit * np.abs(x[at])
                y[at] = np.clip(y[at], x[at] - reach, x[at] + reach)
        after = y if column.known.all() else y[column.known]
        return y, float(after.var(ddof=1) / s**2)

    def draws(self, x: Floats, m: float, c: float, sd: float, rng: np.random.Generator) -> Floats:
        """Return standard normal draws, restricted so that no value moves too far."""
        if self.limit is None:
            return rng.standard_normal(len(x))
        # y - x = (c - 1)(x - m) + c e lies within +- limit |x|.
        base = (1.0 - c) / c * (x - m)
        reach = self.limit * np.abs(x) / c
        return normal_between(rng.random(len(x)), (base - reach) / sd, (base + reach) / sd)


def restoring_factor(n: int, share: float) -> float:
    """Return c with which mean + c (x - mean + e) has the sum of squares of x about its mean, on average.

    For noise e of variance ``share`` times that of x, c^2 = (n - 1) / (n (1 + share) - 1): the noise does
    not sum to 0 in a sample, which adds to the squares about the old mean (Kim 1986).
    """
    return float(np.sqrt((n - 1.0) / (n * (1.0 + share) - 1.0)))


def normal_between(u: Floats, low: Floats, high: Floats) -> Floats:
    """Return standard normal draws within bounds, from uniform numbers."""
    # Mirrored where both bounds are positive: the lower tail keeps its digits.
    flip = low > 0
    a = ndtr(np.where(flip, -high, low))
    b = ndtr(np.where(flip, -low, high))
    z = ndtri(a + u * (b - a))
    return np.asarray(np.clip(np.where(flip, -z, z), low, high))
