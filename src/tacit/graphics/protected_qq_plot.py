"""Protected QQ plot: quantiles of a column against those of the normal distribution, or of another column."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.fields import ColumnName
from tacit.graphics.base import USUAL_RHO, Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.protected_histogram import rises
from tacit.graphics.protected_quantiles import find_range
from tacit.graphics.scale import count_bins, cumulate, invert
from tacit.registry import register


@register
class ProtectedQqPlot(WithAmplitude):
    """A quantile-quantile plot that may be published, from counts with noise.

    Counts in many bins get noise; their running sum, made to rise, is a distribution function that is inverted at equidistant
    shares. All quantiles together spend what the counts spend.

    References
    ----------
    Wilk, Gnanadesikan (1968), Probability plotting methods for the analysis of data, Biometrika 55(1), 1-17.
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006.
    """

    kind: Literal["protected_qq_plot"] = "protected_qq_plot"
    column: ColumnName = Field(description="the numeric column")
    against: ColumnName | None = Field(
        default=None, description="another numeric column; by default the normal distribution"
    )
    range: tuple[float, float] | None = Field(
        default=None,
        description="lower and upper end, of both columns, chosen without the data; by default protected ranges",
    )
    bins: int = Field(default=200, ge=10, le=5000, description="bins of the counts")
    points: int = Field(default=49, ge=5, le=999, description="quantiles that are drawn")

    example: ClassVar[dict[str, Any]] = {"column": "income", "range": (0, 120), "bins": 20}

    @model_validator(mode="after")
    def _range_rises(self) -> ProtectedQqPlot:
        if self.range is not None and not rises(self.range):
            raise ValueError("range must be two finite numbers, the lower first")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the parameters name."""
        return (self.column, *((self.against,) if self.against else ()))

    def _draw(self, desk: Desk) -> ProtectedPlot:
        named = self.columns_named()
        x, weights = desk.numbers(named)
        shares = (np.arange(self.points) + 0.5) / self.points
        found = []
        for j, column in enumerate(named):
            ends = self.range or find_range(desk, x[:, j], column, weights)
            edges = np.linspace(*ends, self.bins + 1)
            counts = count_bins(x[:, j], edges, weights)
            what, bound = f"counts of {column}", {"of": "counts"}
            if len(named) == 1 or self.amplitude is not None:
                noisy = desk.main_noise(what, counts, bound)
            else:
                # Two columns share what may be spent.
                rho = (self.rho or USUAL_RHO) / len(named)
                noisy = desk.add_noise(what, counts, bound, rho=rho)
            found.append(invert(edges, cumulate(noisy[1:-1]), shares))
        if len(found) == 1:
            from scipy.stats import norm

            other, across = norm.ppf(shares), "standard normal quantiles"
        else:
            other, across = found[1], f"quantiles of {self.against}"
        values = np.column_stack([other, found[0]])
        return desk.finish(
            f"Protected QQ plot of {self.column}",
            "qq",
            named,
            values,
            {"probabilities": shares.tolist(), "across": across, "normal": len(named) == 1},
            {"probability": shares, "across": other, "value": found[0]},
            {"quantiles": self.points},
        )
