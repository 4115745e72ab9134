"""Protected survival curve: life tables from counts with noise."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.fields import ColumnName
from tacit.graphics.base import Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.protected_box_plot import Grouped
from tacit.graphics.protected_quantiles import find_range
from tacit.graphics.protected_table import find_places
from tacit.graphics.scale import count_by_group
from tacit.registry import register

#: Draws of new noise from which bands are told.
DRAWS = 400


@register
class ProtectedSurvival(Grouped, WithAmplitude):
    """A survival curve that may be published, from events and losses in intervals of time, counted with noise.

    In interval j, d_j events and c_j losses are counted with noise; with n_j still there, the curve falls by the factor
    1 - d_j / (n_j - c_j / 2). One record is in one of these counts. The band is that of the noise alone: the same
    noise drawn again around the published counts.

    References
    ----------
    Cutler, Ederer (1958), Maximum utilization of the life table method in analyzing survival, J. Chronic Diseases 8, 699-712.
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006.
    """

    kind: Literal["protected_survival"] = "protected_survival"
    time: ColumnName = Field(description="numeric column: time until the event or the loss")
    event: ColumnName = Field(description="column that says whether the event happened")
    happened: Any = Field(default=1, description="the value of the event column that says so")
    end: float | None = Field(
        default=None,
        gt=0,
        description="the longest time drawn, chosen without the data; by default protected",
    )
    intervals: int = Field(default=20, ge=2, le=500, description="intervals of time")

    example: ClassVar[dict[str, Any]] = {
        "time": "income",
        "event": "sex",
        "happened": "f",
        "end": 120,
        "intervals": 6,
    }

    @model_validator(mode="after")
    def _two_columns(self) -> ProtectedSurvival:
        if self.time == self.event:
            raise ValueError("time and event must be different columns")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the parameters name."""
        return (self.time, self.event, *((self.by,) if self.by else ()))

    def numeric_columns(self) -> tuple[str, ...]:
        """Return the columns that must hold numbers."""
        return (self.time,)

    def _draw(self, desk: Desk) -> ProtectedPlot:
        event, known = find_places(desk, self.event, (self.happened,))
        desk.require_known(known, self.event)
        # A group outside the list stands last and is not counted.
        places = np.where(known, self.places(desk) * 2 + event, 2 * len(self.group_names()))
        held = desk.chosen(places, [self.time])
        x, weights = desk.numbers([self.time])
        end = self.end or find_range(desk, x[:, 0], self.time, weights)[1]
        edges = np.linspace(0.0, end, self.intervals + 1)
        groups = range(2 * len(self.group_names()))
        counts = count_by_group(np.maximum(x[:, 0], 0.0), held, groups, edges, weights)[:, 1:]
        noisy = desk.main_noise("events and losses", counts, {"of": "counts"})
        values = life_table(noisy)
        curves = np.stack([life_table(one) for one in desk.draw_again(noisy, DRAWS)])
        low, high = np.quantile(curves, [0.025, 0.975], axis=0)
        low, high = np.minimum(low, values), np.maximum(high, values)
        ends = {"low": low.tolist(), "high": high.tolist()}
        names = self.group_names()
        return desk.finish(
            f"Protected survival: {self.time}",
            "survival",
            self.columns_named(),
            values,
            {"groups": list(names), "times": edges.tolist()} | ends,
            {
                "group": np.repeat(names, len(edges)).tolist(),
                "time": np.tile(edges, len(names)),
                "survival": values.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            },
            {
                f"at the end {n}".strip(): float(v)
                for n, v in zip(names, values[:, -1], strict=True)
            },
        )


def life_table(counts: Floats) -> Floats:
    """Return the curve of each group from its events and losses (alternating rows; the last column is beyond the end)."""
    curves = []
    for events, losses in zip(counts[::2], counts[1::2], strict=True):
        there = np.cumsum((events + losses)[::-1])[::-1][:-1]
        at_risk = np.maximum(there - losses[:-1] / 2, 1.0)
        fall = np.clip(1 - events[:-1] / at_risk, 0.0, 1.0)
        curves.append(np.insert(np.cumprod(fall), 0, 1.0))
    return np.stack(curves)
