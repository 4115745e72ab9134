"""Robust interval disclosure: wider intervals for outliers, who are recognised from farther away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.spatial import cKDTree

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnsLookedAt, PositiveFloat
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.linkage.metrics import known_scale
from tacit.records.values.interval_disclosure import read_both
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.robust import Covariance, mahalanobis_squared, robust_covariance


@register
class RobustDisclosure(Measure):
    """Share of records whose released values lie close to the true ones, closeness growing with outlyingness.

    An outlier is recognised from values that are only roughly right. With RMD_i the robust Mahalanobis distance of
    original record i, the interval around each of its standardised values is x_ij +- ``width`` RMD_i; both files are
    standardised by their own means and standard deviations. A record is unsafe when its released values lie inside
    on all columns, or on one (``columns_inside="any"``):

    - RMDID1: share of unsafe records, the value; and weighted by RMD_i, as a share of the sum of all RMD_i;
    - RMDID2: of these, only records without another released record within the distance ``neighbour`` (Euclidean, of
      standardised columns), among which they could hide; the same weighted.

    Centre and covariance are robust (``covariance``), so that a group of outliers cannot make itself look ordinary.
    Records with a missing value in either file are left out and counted.

    References
    ----------
    Templ, Meindl (2008), Robust statistics meets SDC: new disclosure risk measures for continuous microdata masking,
    PSD 2008, LNCS 5262, 177-189.
    Rousseeuw, van Driessen (1999), A fast algorithm for the minimum covariance determinant estimator,
    Technometrics 41, 212-223.
    """

    kind: Literal["robust_disclosure"] = "robust_disclosure"
    columns: ColumnsLookedAt = ()
    width: PositiveFloat = Field(
        default=0.05,
        description="half width of an interval in standard deviations, for a record at robust distance 1",
    )
    columns_inside: Literal["all", "any"] = Field(
        default="all",
        description="a record is unsafe when all its values lie inside, or when one does",
    )
    neighbour: PositiveFloat = Field(
        default=0.05,
        description="distance of standardised released records within which another one hides a record",
    )
    covariance: Covariance = Field(
        default="mcd", description="how centre and covariance are estimated"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"], "covariance": "classical"}
    number_fields = ("columns",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> RobustDisclosureResult:
        columns, before, after = read_both(self.columns, other.original, data, self.kind)
        complete: Flags = np.asarray(np.isfinite(np.hstack([before, after])).all(axis=1))
        if complete.sum() < 3:
            raise InputError(f"{self.kind} needs at least three records complete in both files")
        x, y = before[complete], after[complete]
        ctx.tick("robust distances", None)
        scale_x, scale_y = known_scale(x), known_scale(y)
        x, y = scale_x.there(x), scale_y.there(y)
        try:
            centre, spread = robust_covariance(x, self.covariance, ctx.rng)
            away = np.sqrt(mahalanobis_squared(x, centre, spread))
        except InputError as error:
            raise InputError(f"{self.kind}: {error}") from None
        inside = np.abs(y - x) <= self.width * away[:, None] + 1e-12
        one = self.columns_inside == "any"
        unsafe: Flags = np.asarray(inside.any(axis=1) if one else inside.all(axis=1))
        ctx.tick("neighbours", None)
        alone = cKDTree(y).query(y, k=2, workers=1)[0][:, 1] > self.neighbour
        total = float(away.sum()) or 1.0
        exposed = unsafe & alone
        shares = {
            "unsafe (RMDID1)": float(unsafe.mean()),
            "unsafe, weighted by robust distance (RMDID1w)": float(away[unsafe].sum()) / total,
            "unsafe without a neighbour (RMDID2)": float(exposed.mean()),
            "the same, weighted by robust distance (RMDID2w)": float(away[exposed].sum()) / total,
        }
        return RobustDisclosureResult(
            kind=self.kind,
            title="Robust interval disclosure",
            value=float(unsafe.mean()),
            numbers={
                **shares,
                "records": len(away),
                "records left out for a missing value": int((~complete).sum()),
                "columns": ", ".join(columns),
            },
            frame=as_frame(
                {
                    "record": np.flatnonzero(complete) + 1,
                    "robust_distance": away,
                    "unsafe": unsafe,
                    "without_neighbour": np.asarray(alone),
                }
            ),
            explanation=(
                f"{unsafe.mean():.1%} of the records have {'a released value' if one else 'released values'} "
                f"close to the true {'one' if one else 'ones'}, outliers being "
                f"allowed to be farther off; {exposed.mean():.1%} have no other released record near them to hide among."
            ),
            shares=shares,
        )


@dataclass(frozen=True, repr=False)
class RobustDisclosureResult(Result):
    """Shares of unsafe records (``shares``), by record in ``frame``."""

    shares: Mapping[str, float] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the four shares."""
        names = ("RMDID1", "RMDID1w", "RMDID2", "RMDID2w")
        return bars(
            list(zip(names, self.shares.values(), strict=True)),
            title=self.title,
            subtitle="share of records; w: weighted by robust distance; 2: no neighbour to hide among",
            y="share",
        )
