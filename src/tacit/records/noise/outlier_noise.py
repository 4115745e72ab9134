"""Noise on outliers only."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import stats

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import target_faults
from tacit.errors import InputError, SdcError, WeakProtection
from tacit.fields import ColumnNames, KeepWhole, PositiveFloat, RefuseOrKeep
from tacit.numerics.algebra import dot, eigvalsh
from tacit.numerics.elementary import exp, log, ndtri, settle
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import scale_of
from tacit.stats.robust import mad, robust_distances

#: Covariances decomposed at a time.
BATCH = 1 << 15

Detector = Literal["mahalanobis", "influence", "univariate", "share"]


@register
class OutlierNoise(Method):
    """Add noise to outlying records only, the more the farther out they lie.

    A record's outlyingness o is a distance divided by the limit beyond which it counts as an outlier:

    - ``mahalanobis``: robust distance (centre and covariance by MCD), limit sqrt(chi2_p(cut));
    - ``influence``: jackknife influence on the first two eigenvalues of the correlation matrix, the sum of
      their pseudo-values relative to the eigenvalues (for normal data about chi2_2), limit chi2_2(cut);
    - ``univariate``: each column by itself, after a Box-Cox transformation: distance from the median in
      MADs, limit at the normal quantile that leaves 1 - cut outside; only outlying values get noise;
    - ``share``: that share of the records, those with the largest robust distances.

    Where o > 1 the values get normal noise with standard deviation ``relative`` times the column's robust
    spread (MAD) times o. All other records are released as they are.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    Templ, Meindl (2008), Robustification of microdata masking methods and the comparison with existing
    methods, PSD 2008, LNCS 5262, 177-189.
    """

    kind: Literal["outlier_noise"] = "outlier_noise"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns looked at and masked; by default all that are neither identifiers nor weight, household or stratum",
    )
    detector: Detector = Field(default="mahalanobis", description="how outliers are found")
    cut: float = Field(
        default=0.975, gt=0.5, lt=1, description="share of normal data that counts as no outlier"
    )
    share: float = Field(
        default=0.05, gt=0, le=1, description="share: the part of the records that gets noise"
    )
    relative: PositiveFloat = Field(
        default=0.5,
        description="standard deviation of the noise at the limit, as a share of the column's robust one",
    )
    missing: RefuseOrKeep = "refuse"
    whole: KeepWhole = True

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("additive noise", "outlier protection")
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["age", "income"],
        "detector": "share",
        "share": 0.2,
    }

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
        if len(x) < 3 or (np.ptp(x, axis=0) == 0).any():
            raise InputError(
                "outlier_noise needs at least three complete records and columns that vary. Leave out constant columns."
            )
        ctx.tick("looking for outliers", 0.1)
        far = self.outlyingness(x, ctx.rng)
        out = far > 1.0
        if not out.any():
            warnings.warn(
                "outlier_noise: no record is an outlier, so the values are released as they are; lower cut, or give detector='share'",
                WeakProtection,
                stacklevel=3,
            )
        ctx.tick("drawing noise", 0.7)
        amount = np.where(out, far, 0.0) * (self.relative * spread_of(x))
        noisy = x + amount * ctx.rng.standard_normal(x.shape)
        ctx.note(
            columns=list(block.columns),
            detector=self.detector,
            share_of_records=float(out.any(axis=1).mean()),
            largest_outlyingness=float(far.max()),
        )
        return data.replace(block.released(noisy, whole=self.whole))

    def outlyingness(self, x: Floats, rng: np.random.Generator) -> Floats:
        """Return how far out each record lies, 1 at the limit; one column, or one each."""
        if self.detector == "univariate":
            # The distance from the median after a Box-Cox transformation.
            limit = float(ndtri(0.5 + self.cut / 2.0))
            z = np.column_stack([box_cox(column) for column in x.T])
            return np.asarray(np.abs(z - np.median(z, axis=0)) / spread_of(z) / limit)
        if self.detector == "influence":
            influence = eigenvalue_influence(x)
            limit = settle(stats.chi2.ppf(self.cut, influence.shape[1]))
            far = np.sqrt(np.clip(influence.sum(axis=1), 0.0, None) / limit)
            return np.asarray(far)[:, None]
        far = robust_distances(scale_of(x).there(x), "mcd", rng)
        if self.detector == "mahalanobis":
            return (far / np.sqrt(settle(stats.chi2.ppf(self.cut, x.shape[1]))))[:, None]
        count = max(round(self.share * len(x)), 1)
        ordered = np.sort(far)
        below = ordered[-count - 1] if count < len(far) else 0.0
        # Just below the smallest chosen distance; ties with it are chosen as well.
        limit = max((below + ordered[-count]) / 2.0, np.finfo(float).tiny)
        beyond = np.maximum(far / limit, np.nextafter(1.0, 2.0))
        return np.where(far >= ordered[-count], beyond, 0.0)[:, None]


def box_cox(x: Floats) -> Floats:
    """Return a column after the Box-Cox transformation of greatest likelihood.

    A column that reaches 0 or below is shifted first, so that its smallest value is a thousandth of its
    range.
    """
    low, width = x.min(), np.ptp(x)
    positive = x if low > 0 else x - low + width / 1000.0
    logs = log(positive / np.median(positive))
    found = float(stats.boxcox_normmax(positive / np.median(positive), method="mle"))
    # The search ends some 1e-8 from the maximum, and where depends on the processor.
    power = round(min(max(found, -3.0), 3.0), 4)
    return np.asarray(logs if power == 0 else (exp(power * logs) - 1.0) / power)


def spread_of(x: Floats) -> Floats:
    """Return the robust standard deviation of each column; the classical one where the robust one is 0."""
    robust = mad(x)
    return np.where(robust > 0, robust, x.std(axis=0))


def eigenvalue_influence(x: Floats) -> Floats:
    """Return the jackknife pseudo-values of the first two eigenvalues of the correlation matrix, in their units.

    Entry (i, k) is n - (n - 1) l_k(-i) / l_k with l_k(-i) the eigenvalue without record i, exactly. To
    first order it is the squared standardised score of the record on component k, so that it behaves like
    a chi-square with one degree of freedom for normal data.
    """
    n, p = x.shape
    sd = x.std(axis=0, ddof=1)
    z = (x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    covariance = dot(z.T, z) / (n - 1.0)
    count = min(2, p)
    whole = eigvalsh(covariance)[::-1][:count]
    out = np.empty((n, count))
    for begin in range(0, n, BATCH):
        d = z[begin : begin + BATCH]
        without = (n - 1.0) / (n - 2.0) * covariance - n / ((n - 1.0) * (n - 2.0)) * (
            d[:, :, None] * d[:, None, :]
        )
        out[begin : begin + BATCH] = eigvalsh(without)[:, ::-1][:, :count]
    return np.asarray(n - (n - 1.0) * out / np.where(whole > 0, whole, 1.0))
