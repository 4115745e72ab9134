"""The table of eighteen distances between original and masked data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.utility.matched import (
    LossMeasure,
    MatchedRecords,
    choose_compared_columns,
    match_complete_records,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.information import correlation, covariance
from tacit.stats.projection import principal

Object = Literal["data", "covariance", "correlation", "loadings", "communality", "coefficients"]
Error = Literal["mse", "mae", "mv"]

SYMBOLS: Mapping[Object, str] = {
    "data": "X",
    "covariance": "V",
    "correlation": "R",
    "loadings": "RF",
    "communality": "C",
    "coefficients": "F",
}
WORDS: Mapping[Object, str] = {
    "data": "the data",
    "covariance": "covariance matrix",
    "correlation": "correlation matrix",
    "loadings": "correlations with components",
    "communality": "communalities, first component",
    "coefficients": "factor score coefficients",
}
ERRORS: Mapping[Error, str] = {
    "mse": "mean squared error",
    "mae": "mean absolute error",
    "mv": "mean variation",
}


@register
class DistanceTable(LossMeasure):
    """Six objects, three errors: how far data, covariances and components of a masked file are off.

    For the data X, their covariance matrix V and correlation matrix R, the correlations RF of columns
    with principal components, the communalities C with the first component, and the factor score
    coefficients F, the table has the mean squared error, the mean absolute error, and the mean variation,
    abs(original - masked) / abs(original). V is averaged over i <= j, R over i < j (the paper's table
    writes i <= j with the divisor p (p - 1) / 2: its diagonal is 0). Entries of RF and F are weighted
    with the share of variance that their component has in the original.

    Components are those of the correlation matrix. The signs of eigenvectors are arbitrary: those of the
    masked file are turned to the original's, without which RF and F mean nothing. Entries whose original
    is 0 have no variation; they are left out and counted.

    References
    ----------
    Domingo-Ferrer, Torra (2001), Disclosure control methods and information loss for microdata, in Doyle,
    Lane, Theeuwes, Zayatz (eds.), Confidentiality, Disclosure and Data Access, Elsevier, 91-110.
    Kennickell, Lane (2006), Measuring the impact of data protection techniques on data utility: evidence
    from the Survey of Consumer Finances, PSD 2006, LNCS 4302, 291-303, Table 1.
    """

    kind: Literal["distance_table"] = "distance_table"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns compared, at least two; by default all that are neither identifiers nor weight, household or stratum",
    )
    objects: tuple[Object, ...] = Field(
        default=(), description="the rows wanted; by default all six"
    )
    value: Object = Field(default="correlation", description="the row that results are compared by")
    error: Error = Field(default="mae", description="the error that results are compared by")

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DistanceTableResult:
        columns = choose_compared_columns(other.original, data, self.columns, self.kind)
        if len(columns) < 2:
            raise InputError("distance_table compares correlations: it needs at least two columns.")
        ctx.tick("distances between original and masked file")
        records = match_complete_records(other.original, data, columns, self.kind, missing="refuse")
        if records.dropped or len(data) != len(records.x):
            raise InputError(
                "distance_table compares record with record, and the files hold different records. Compare estimates instead (estimate_change)."
            )
        refuse_constant(records)
        wanted = set(self.objects or SYMBOLS) | {self.value}
        every = distances(records.x, records.y)
        found: dict[Object, Distances] = {k: d for k, d in every.items() if k in wanted}
        rows: dict[str, Any] = {
            "object": [SYMBOLS[k] for k in found],
            "name": [WORDS[k] for k in found],
            **{e: pa.array([getattr(d, e) for d in found.values()], pa.float64()) for e in ERRORS},
            "zero originals": [d.zeros for d in found.values()],
        }
        return DistanceTableResult(
            kind=self.kind,
            title="Distances between original and masked data",
            value=float(getattr(found[self.value], self.error)),
            numbers={
                f"{SYMBOLS[k]}: {ERRORS[e]}": getattr(d, e)
                for k, d in found.items()
                for e in ERRORS
            },
            frame=as_frame(rows),
            explanation=(
                "Mean variation is the mean of abs(original - masked) / abs(original). X are the data, V covariances, R "
                "correlations, RF correlations of columns with principal components, C communalities, F factor score "
                "coefficients."
            ),
            distances=found,
        )


@dataclass(frozen=True)
class Distances:
    """The three errors of an object, and how many of its entries are 0 in the original."""

    mse: float
    mae: float
    mv: float
    zeros: int


@dataclass(frozen=True, repr=False)
class DistanceTableResult(Result):
    """The table; ``distances`` has the three errors by object."""

    distances: Mapping[Object, Distances] = field(default_factory=dict)

    def __getitem__(self, name: Object) -> Distances:
        return self.distances[name]

    def plot(self) -> Chart:
        """Return the mean variation of each object."""
        return bars(
            [
                (f"{SYMBOLS[k]}: {WORDS[k]}", 100 * d.mv)
                for k, d in self.distances.items()
                if math.isfinite(d.mv)
            ],
            title="Mean variation between original and masked file",
            subtitle="mean of abs(original - masked) / abs(original)",
            y="mean variation, %",
        )


def refuse_constant(records: MatchedRecords) -> None:
    """Refuse columns without spread: their correlations are not defined."""
    flat = [
        c
        for j, c in enumerate(records.columns)
        if np.ptp(records.x[:, j]) == 0 or np.ptp(records.y[:, j]) == 0
    ]
    if flat:
        raise InputError(
            f"distance_table: {', '.join(map(repr, flat))} is constant in a file, so correlations are not defined. Leave it out."
        )


def distances(x: Floats, y: Floats) -> dict[Object, Distances]:
    """Return the errors of all six objects; records of x and y match."""
    p = x.shape[1]
    v, r = (covariance(x), covariance(y)), (correlation(x), correlation(y))
    old = principal(r[0])
    new = principal(r[1]).aligned(old.vectors)
    within, above = np.triu_indices(p), np.triu_indices(p, 1)
    weight = np.broadcast_to(old.shares, (p, p))
    return {
        "data": errors(x, y),
        "covariance": errors(v[0][within], v[1][within]),
        "correlation": errors(r[0][above], r[1][above]),
        "loadings": errors(old.loadings, new.loadings, weight),
        "communality": errors(old.loadings[:, 0] ** 2, new.loadings[:, 0] ** 2),
        "coefficients": errors(old.vectors, new.vectors, weight),
    }


def errors(old: Floats, new: Floats, weight: Floats | None = None) -> Distances:
    """Return the three errors; the divisor is the number of entries, weighted or not."""
    w = np.ones_like(old) if weight is None else weight
    change = np.abs(old - new)
    known = old != 0
    zeros = int((~known).sum())
    variation = float((w * change)[known].dot(1 / np.abs(old[known]))) if known.any() else math.nan
    return Distances(
        mse=float((w * change**2).sum() / old.size),
        mae=float((w * change).sum() / old.size),
        mv=variation / (old.size - zeros) if known.any() else math.nan,
        zeros=zeros,
    )
