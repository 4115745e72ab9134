"""Protected ROC curve: how well a score tells two outcomes apart, from counts with noise."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.fields import ColumnName
from tacit.graphics.base import Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.protected_histogram import rises
from tacit.graphics.protected_quantiles import find_range
from tacit.graphics.protected_survival import DRAWS
from tacit.graphics.protected_table import find_places
from tacit.graphics.scale import count_by_group, cumulate
from tacit.registry import register


@register
class ProtectedRoc(WithAmplitude):
    """An ROC curve that may be published, from scores of both outcomes counted with noise.

    Scores are counted in bins, apart for the two outcomes, with noise on each count; running sums, made to rise, give the
    two rates at each border, and the area under the curve. One record is in one count.

    References
    ----------
    Matthews, Harel (2013), An examination of data confidentiality and disclosure issues related to publication of
    empirical ROC curves, Academic Radiology 20(7), 889-896.
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006.
    """

    kind: Literal["protected_roc"] = "protected_roc"
    score: ColumnName = Field(description="numeric column: larger scores speak for the outcome")
    outcome: ColumnName = Field(description="column of the true outcome")
    positive: Any = Field(default=1, description="the value of the outcome that scores should find")
    range: tuple[float, float] | None = Field(
        default=None,
        description="lower and upper end of scores, chosen without the data; by default protected",
    )
    bins: int = Field(default=50, ge=2, le=1000, description="bins of the scores")

    example: ClassVar[dict[str, Any]] = {
        "score": "income",
        "outcome": "sex",
        "positive": "f",
        "range": (0, 120),
        "bins": 6,
    }

    @model_validator(mode="after")
    def _fits_together(self) -> ProtectedRoc:
        if self.score == self.outcome:
            raise ValueError("score and outcome must be different columns")
        if self.range is not None and not rises(self.range):
            raise ValueError("range must be two finite numbers, the lower first")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the parameters name."""
        return (self.score, self.outcome)

    def numeric_columns(self) -> tuple[str, ...]:
        """Return the columns that must hold numbers."""
        return (self.score,)

    def _draw(self, desk: Desk) -> ProtectedPlot:
        outcome, known = find_places(desk, self.outcome, (self.positive,))
        desk.require_known(known, self.outcome)
        held = desk.chosen(np.where(known, outcome, 2), [self.score])
        x, weights = desk.numbers([self.score])
        ends = self.range or find_range(desk, x[:, 0], self.score, weights)
        edges = np.linspace(*ends, self.bins + 1)
        # Scores beyond an end count in the outermost bin.
        inside = np.clip(x[:, 0], *ends)
        counts = count_by_group(inside, held, (0, 1), edges, weights)[:, 1:-1]
        noisy = desk.main_noise("scores by outcome", counts, {"of": "counts"})
        rates = roc(noisy)
        again = desk.draw_again(noisy, DRAWS)
        low, high = np.quantile([area(roc(one)) for one in again], [0.025, 0.975])
        found = area(rates)
        return desk.finish(
            f"Protected ROC curve of {self.score}",
            "roc",
            self.columns_named(),
            rates.T,
            {"edges": edges.tolist(), "area": found, "area_band": [float(low), float(high)]},
            {"false positive rate": rates[0], "true positive rate": rates[1]},
            {"area under the curve": found, "area, low": float(low), "area, high": float(high)},
        )


def roc(counts: Floats) -> Floats:
    """Return false and true positive rates from no score to all, from counts of both outcomes by bin."""
    true, false = (cumulate(c[::-1]) for c in counts)
    return np.stack([false, true])


def area(rates: Floats) -> float:
    """Return the area under the curve, by trapezoids."""
    return float(np.trapezoid(rates[1], rates[0]))
