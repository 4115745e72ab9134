"""Protected quantiles: each chosen among candidates that do not come from the data."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.fields import ColumnName
from tacit.graphics.base import USUAL_RHO, Desk, Protected, ProtectedPlot
from tacit.graphics.protected_histogram import rises
from tacit.graphics.scale import find_scale, nice_range
from tacit.registry import register

#: Candidates between the ends of the range.
CANDIDATES = 4096


@register
class ProtectedQuantiles(Protected):
    """Quantiles, quartiles and outer boundaries that may be published.

    Each quantile p is drawn among 4,097 equidistant candidates of the range with probability proportional to
    exp(-epsilon |n(c) - p N| / (2 Delta)), where n(c) counts the records below c and Delta = max(p, 1 - p): values whose
    rank is nearly right are likely. Quantiles are published in rising order. An order statistic itself often is the
    value of a person, and the smallest and largest always are.

    References
    ----------
    McSherry, Talwar (2007), Mechanism design via differential privacy, FOCS 2007.
    Smith (2011), Privacy-preserving statistical estimation with optimal convergence rates, STOC 2011.
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, section 3.1.
    """

    kind: Literal["protected_quantiles"] = "protected_quantiles"
    column: ColumnName = Field(description="the numeric column")
    probabilities: tuple[float, ...] = Field(
        default=(0.05, 0.25, 0.5, 0.75, 0.95), min_length=1, description="which quantiles"
    )
    range: tuple[float, float] | None = Field(
        default=None,
        description="lower and upper end, chosen without the data; by default a protected range",
    )

    example: ClassVar[dict[str, Any]] = {"column": "income", "range": (0, 120)}

    @model_validator(mode="after")
    def _in_order(self) -> ProtectedQuantiles:
        if not rises((0.0, *self.probabilities, 1.0)):
            raise ValueError("probabilities must rise and lie between 0 and 1, both left out")
        if self.range is not None and not rises(self.range):
            raise ValueError("range must be two finite numbers, the lower first")
        return self

    def _draw(self, desk: Desk) -> ProtectedPlot:
        x, weights = desk.numbers([self.column])
        low, high = self.range or find_range(desk, x[:, 0], self.column, weights)
        each = (self.rho or USUAL_RHO) / len(self.probabilities)
        found = draw_quantiles(desk, x[:, 0], self.probabilities, (low, high), each, weights)
        ranks = desk.reach * rank_error(each)
        named = dict(zip(self.probabilities, found.tolist(), strict=True))
        numbers = {f"{p:g}": v for p, v in named.items()}
        if {0.25, 0.75} <= named.keys():
            numbers["interquartile range"] = named[0.75] - named[0.25]
        return desk.finish(
            f"Protected quantiles of {self.column}",
            "quantiles",
            [self.column],
            found,
            {"probabilities": list(named), "range": [low, high], "rank_error": ranks},
            {"probability": np.asarray(self.probabilities), "value": found},
            {**numbers, "ranks off, at most (95%)": ranks},
        )


def find_range(desk: Desk, x: Floats, column: str, weights: Floats | None) -> tuple[float, float]:
    """Return a protected range with round ends."""
    scale = find_scale(desk, x, column, None, weights)
    return nice_range(scale.low, scale.high)


def draw_quantiles(
    desk: Desk,
    x: Floats,
    probabilities: tuple[float, ...],
    ends: tuple[float, float],
    rho: float,
    weights: Floats | None,
) -> Floats:
    """Return protected quantiles in rising order, each for rho."""
    candidates = np.linspace(*ends, CANDIDATES + 1)
    place = np.searchsorted(candidates, x, side="left")
    counts = np.bincount(place, weights, minlength=len(candidates) + 1).astype(np.float64)
    # Records at a candidate count half as below: the median of equal values is the value.
    hit = (place <= CANDIDATES) & (x == candidates[np.minimum(place, CANDIDATES)])
    shares = None if weights is None else weights[hit]
    at = np.bincount(place[hit], shares, minlength=len(candidates))
    below = np.cumsum(counts)[: len(candidates)] - at / 2
    total = counts.sum()
    # All at once: a budget that does not suffice for all is not spent on some. Later groups share no record.
    if not desk.group:
        desk.charge(rho * len(probabilities))
    found = [
        candidates[desk.choose(f"quantile {p:g}", -np.abs(below - p * total), max(p, 1 - p), rho)]
        for p in probabilities
    ]
    return np.sort(np.asarray(found))


def rank_error(rho: float) -> float:
    """Return how many ranks a quantile is off, at most, in 95 of 100 draws; of units that count 1."""
    return 2 / math.sqrt(8 * rho) * math.log((CANDIDATES + 1) / 0.05)
