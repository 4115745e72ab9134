"""Protected histogram: counts with noise, in bins that do not come from the data or are protected themselves."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.fields import ColumnName
from tacit.graphics.base import Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.scale import as_shares, bin_edges, count_bins, find_scale
from tacit.registry import register


@register
class ProtectedHistogram(WithAmplitude):
    """A histogram that may be published: noise on every count, in bins that tell nothing.

    f'_c = f_c + eps_c with eps_c from a discrete Gaussian of amplitude a. One record more or less changes one count
    by one, so that with a = 1 a count one off keeps at worst exp(-1/2) = 0.61 of the likelihood of the true one; the whole
    histogram is rho-zCDP with rho = 1 / (2 a^2). Bins that are not given come from a protected range and a protected
    width w_q = 2 (q3 - q1) N^(-1/3) or w_s = 3.49 s N^(-1/3).

    References
    ----------
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, section 3.
    Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential privacy, NeurIPS 33.
    """

    kind: Literal["protected_histogram"] = "protected_histogram"
    column: ColumnName = Field(description="the numeric column")
    breaks: tuple[float, ...] | None = Field(
        default=None, description="the borders of the bins, ascending, chosen without the data"
    )
    range: tuple[float, float] | None = Field(
        default=None,
        description="lower and upper end, chosen without the data; by default a protected range",
    )
    bins: int | None = Field(
        default=None, ge=2, le=1000, description="number of bins; by default from the rule"
    )
    bin_rule: Literal["iqr", "sd"] = Field(
        default="iqr", description="which protected spread decides the width of bins"
    )
    nonneg: bool = Field(default=False, description="publish negative counts as 0")
    renormalise: bool = Field(
        default=False, description="publish shares that are not negative and sum to 1"
    )
    reference: Literal["normal"] | None = Field(
        default=None, description="a density drawn over the histogram: the normal one that fits it"
    )

    example: ClassVar[dict[str, Any]] = {"column": "income", "range": (0, 120), "bins": 6}

    @model_validator(mode="after")
    def _borders_rise(self) -> ProtectedHistogram:
        if self.breaks is not None:
            if self.range is not None or self.bins is not None:
                raise ValueError("give breaks, or range and bins, not both")
            if len(self.breaks) < 2 or not rises(self.breaks):
                raise ValueError("breaks must be at least two finite numbers that rise")
        if self.range is not None and not rises(self.range):
            raise ValueError("range must be two finite numbers, the lower first")
        return self

    def _draw(self, desk: Desk) -> ProtectedPlot:
        x, weights = desk.numbers([self.column])
        edges = self.edges(desk, x[:, 0], weights)
        noisy = desk.main_noise("counts", count_bins(x[:, 0], edges, weights), {"of": "counts"})
        below, counts, above = noisy[0], noisy[1:-1], noisy[-1]
        values = np.maximum(counts, 0.0) if self.nonneg else counts
        if self.renormalise:
            values = as_shares(counts)
        amplitude = desk.queries[-1]["amplitude"]
        scale = 1.0 / max(np.maximum(counts, 0.0).sum(), 1.0) if self.renormalise else 1.0
        return desk.finish(
            f"Protected histogram of {self.column}",
            "histogram",
            [self.column],
            values,
            {
                "breaks": edges.tolist(),
                "outside": [float(below), float(above)],
                "band": 2 * amplitude * scale,
                "shares": self.renormalise,
                "reference": self.reference,
            },
            {"from": edges[:-1], "to": edges[1:], "count": values},
            {"bins": len(values), "below the range": float(below), "above the range": float(above)},
        )

    def edges(self, desk: Desk, x: Any, weights: Any) -> Any:
        """Return the borders of the bins: given, or protected."""
        if self.breaks is not None:
            return np.asarray(self.breaks)
        if self.range is not None and self.bins is not None:
            return np.linspace(*self.range, self.bins + 1)
        scale = find_scale(desk, x, self.column, self.range, weights)
        return bin_edges(scale, self.bins, self.bin_rule)


def rises(numbers: tuple[float, ...]) -> bool:
    """Return True for finite numbers, each above the one before."""
    return bool(np.isfinite(numbers).all() and (np.diff(numbers) > 0).all())
