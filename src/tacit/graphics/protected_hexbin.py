"""Protected scatter plot: counts in hexagons with noise."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.fields import ColumnName
from tacit.graphics.base import Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.protected_density import Range, as_ranges
from tacit.graphics.protected_histogram import rises
from tacit.graphics.protected_quantiles import find_range
from tacit.registry import register


@register
class ProtectedHexbin(WithAmplitude):
    """A scatter plot that may be published: counts in hexagons with noise, instead of points that are persons.

    One record falls into one hexagon, so that noise and rho are those of a protected histogram. Hexagons whose published
    count is below two amplitudes are not drawn, but they are in the values.

    References
    ----------
    Carr, Littlefield, Nicholson, Littlefield (1987), Scatterplot matrix techniques for large N, JASA 82, 424-436.
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006.
    """

    kind: Literal["protected_hexbin"] = "protected_hexbin"
    columns: Annotated[tuple[ColumnName, ...], Field(min_length=2, max_length=2)] = Field(
        description="two numeric columns, the horizontal one first"
    )
    range: Annotated[tuple[Range, ...] | None, BeforeValidator(as_ranges)] = Field(
        default=None,
        description="lower and upper end of each column, chosen without the data; by default protected ranges",
    )
    across: int = Field(default=24, ge=3, le=100, description="hexagons from left to right")

    example: ClassVar[dict[str, Any]] = {
        "columns": ["income", "age"],
        "range": [(0, 120), (20, 60)],
        "across": 5,
    }

    @model_validator(mode="after")
    def _ranges_rise(self) -> ProtectedHexbin:
        if self.columns[0] == self.columns[1]:
            raise ValueError("columns must be different")
        if self.range is not None and (len(self.range) != 2 or not all(map(rises, self.range))):
            raise ValueError("range must be two finite numbers for each column, the lower first")
        return self

    def _draw(self, desk: Desk) -> ProtectedPlot:
        x, weights = desk.numbers(self.columns)
        ends = self.range or tuple(
            find_range(desk, x[:, j], c, weights) for j, c in enumerate(self.columns)
        )
        scaled = np.column_stack(
            [(x[:, j] - low) / (high - low) for j, (low, high) in enumerate(ends)]
        )
        centres, place = hexagons(scaled, self.across)
        counts = np.bincount(place, weights, minlength=len(centres) + 1).astype(np.float64)
        noisy = desk.main_noise("counts", counts, {"of": "counts"})
        at = [low + centres[:, j] * (high - low) for j, (low, high) in enumerate(ends)]
        return desk.finish(
            f"Protected scatter plot of {self.columns[0]} and {self.columns[1]}",
            "hexbin",
            self.columns,
            noisy[:-1],
            {
                "centres": [a.tolist() for a in at],
                "range": [list(e) for e in ends],
                "across": self.across,
                "outside": float(noisy[-1]),
                "band": 2 * desk.queries[-1]["amplitude"],
            },
            {"x": at[0], "y": at[1], "count": noisy[:-1]},
            {"hexagons": len(centres), "outside": float(noisy[-1])},
        )


def hexagons(x: Floats, across: int) -> tuple[Floats, Ints]:
    """Return the centres of hexagons over the unit square, and each record's; the number of them for none.

    A point is in the hexagon whose centre is nearest, of two rectangular lattices that are half a step apart.
    """
    wide = 1.0 / across
    high = wide * math.sqrt(3)
    columns, rows = across + 1, math.ceil(1 / high) + 1
    inside = ((x >= 0) & (x <= 1)).all(axis=1)
    even = np.column_stack([np.rint(x[:, 0] / wide), np.rint(x[:, 1] / high)])
    odd = np.column_stack([np.rint(x[:, 0] / wide - 0.5), np.rint(x[:, 1] / high - 0.5)])
    size = np.array([wide, high])
    nearer = ((x - even * size) ** 2).sum(axis=1) <= ((x - (odd + 0.5) * size) ** 2).sum(axis=1)
    chosen = np.where(nearer[:, None], even, odd)
    # Odd hexagons start half a step outside, so that every point of the square is in one.
    shift = np.where(nearer, 0, 1)
    i, j = np.clip(chosen[:, 0] + shift, 0, columns), np.clip(chosen[:, 1] + shift, 0, rows)
    half = (columns + 1) * (rows + 1)
    place = (i * (rows + 1) + j + np.where(nearer, 0, half)).astype(np.int64)
    a, b = np.meshgrid(np.arange(columns + 1), np.arange(rows + 1), indexing="ij")
    first = np.column_stack([a.ravel() * wide, b.ravel() * high])
    centres = np.concatenate([first, first - size / 2])
    return centres, np.where(inside, place, len(centres))
