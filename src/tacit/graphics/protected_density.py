"""Protected density: sums of kernels on a grid with noise, in one or two dimensions."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from tacit.arrays import Floats
from tacit.errors import InvalidParameter
from tacit.fields import ColumnName, NaturalInt, PositiveFloat
from tacit.graphics.base import Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.kde import (
    AFFECTED,
    curve_bound,
    lattice_sums,
    nearest_distances,
    normal_reference,
    round_up_to_class,
    silverman,
)
from tacit.graphics.protected_histogram import rises
from tacit.graphics.scale import (
    Scale,
    as_shares,
    find_scale,
    mass_level,
    nice_range,
    smooth,
    smoothed_amplitude,
)
from tacit.registry import register

Range = tuple[float, float]

#: A bandwidth below this part of the grid's step shows single points.
NARROWEST = 0.25


def as_list(value: Any) -> Any:
    """Return one name, or one number, as a list."""
    return (
        (value,) if isinstance(value, str | int | float) and not isinstance(value, bool) else value
    )


def as_ranges(value: Any) -> Any:
    """Return one range as a list of ranges."""
    flat = isinstance(value, list | tuple) and value and not isinstance(value[0], list | tuple)
    return (value,) if flat else value


@register
class ProtectedDensity(WithAmplitude):
    """A density line, or a map of two columns, that may be published: noise on sums of kernels, then smoothed.

    Published is S_c = sum_i K((y_c - x_i) / h_i) / h_i + eps_c on a grid, then smoothed and divided by its sum. One record
    moves the whole vector S by at most Delta, the norm of a kernel on the grid, and with local bandwidths
    h_i = max(beta d_i, h_0) by at most (1 + sqrt(2) gamma) Delta, gamma = 2 in one dimension and 5 in two: rho =
    Delta^2 / (2 a^2). The paper bounds each point by itself, (gamma + 1) / ((N - 1) sqrt(2 pi) h_0), which ignores that many
    points average the noise out; tacit uses the norm of the whole curve. Trimming leaves out the largest kernels at each point.

    References
    ----------
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, sections 4 and 5. Its
    h_t = 8.32 for the sample of Figure 4 does not follow from its formula (8.0423), and "h about 8" cannot be in units of
    its standard normal samples.
    Silverman (1986), Density Estimation for Statistics and Data Analysis, Chapman and Hall.
    """

    kind: Literal["protected_density"] = "protected_density"
    columns: Annotated[
        tuple[ColumnName, ...], Field(min_length=1, max_length=2), BeforeValidator(as_list)
    ] = Field(description="one or two numeric columns")
    range: Annotated[tuple[Range, ...] | None, BeforeValidator(as_ranges)] = Field(
        default=None,
        description="lower and upper end of each column, chosen without the data; by default protected ranges",
    )
    points: int = Field(default=101, ge=5, le=1001, description="grid points of each axis")
    bandwidth: (
        Literal["silverman", "normal_reference", "local"]
        | Annotated[tuple[PositiveFloat, ...], BeforeValidator(as_list)]
    ) = Field(
        default="silverman",
        description="a rule on protected spreads, numbers (one a column), or local: by the distance to the nearest record",
    )
    beta: PositiveFloat = Field(
        default=4.0,
        description="local bandwidths: how many times the distance to the nearest record",
    )
    h0: Annotated[tuple[PositiveFloat, ...] | None, BeforeValidator(as_list)] = Field(
        default=None, description="local bandwidths: the smallest one of each column"
    )
    trim: NaturalInt = Field(default=0, description="largest kernels left out at each point")
    smoothing: NaturalInt = Field(
        default=5, description="passes of averaging three neighbouring grid values, after the noise"
    )
    renormalise: bool = Field(
        default=True,
        description="publish a density that is not negative and sums to 1; otherwise sums of kernels",
    )
    masses: tuple[float, ...] = Field(
        default=(0.25, 0.5, 0.75, 0.9),
        description="two columns: shares of the mass that contour lines enclose",
    )
    classes: int = Field(
        default=10, ge=2, le=20, description="two columns: classes of density that are told apart"
    )

    example: ClassVar[dict[str, Any]] = {
        "columns": ["income"],
        "range": (0, 120),
        "bandwidth": 10,
        "points": 31,
    }

    @model_validator(mode="after")
    def _fits_together(self) -> ProtectedDensity:
        d = len(self.columns)
        if len(set(self.columns)) < d:
            raise ValueError("columns must be different")
        if self.range is not None and (len(self.range) != d or not all(map(rises, self.range))):
            raise ValueError("range must be two finite numbers for each column, the lower first")
        if (self.bandwidth == "local") != (self.h0 is not None):
            raise ValueError("h0 goes with bandwidth 'local', which needs it")
        for name, given in (("bandwidth", self.bandwidth), ("h0", self.h0)):
            if isinstance(given, tuple) and len(given) != d:
                raise ValueError(f"{name} must be one number for each column")
        if not all(0 < m < 1 for m in self.masses):
            raise ValueError("masses must lie between 0 and 1")
        return self

    def _draw(self, desk: Desk) -> ProtectedPlot:
        x, weights = desk.numbers(self.columns)
        grids, least = self.axes(desk, x, weights)
        local = self.bandwidth == "local"
        affected = AFFECTED[len(grids)] if local else 0
        steps = [float(g[1] - g[0]) for g in grids]
        bound = {
            "of": "kernel",
            "norm": curve_bound(steps, least, affected),
            "steps": steps,
            "bandwidth": list(least),
            "affected": affected,
        }
        desk.ctx.tick("kernels", None)
        # Distances are in units of the smallest bandwidths.
        near = self.beta * nearest_distances(x / np.asarray(least)) if local else None
        classes = None if near is None else round_up_to_class(near)
        sums = lattice_sums(x, grids, least, classes=classes, trim=self.trim, weights=weights)
        noisy = desk.main_noise("sums of kernels", sums, bound)
        amplitude = desk.queries[-1]["amplitude"]
        values, band = self.after_noise(noisy, amplitude, math.prod(steps))
        facts: dict[str, Any] = {
            "grid": [g.tolist() for g in grids],
            "bandwidth": list(least),
            "local": self.beta if local else None,
            "trim": self.trim,
            "smoothing": self.smoothing,
            "band": band,
            "shares": self.renormalise,
        }
        if len(grids) == 1:
            low, high = np.maximum(values - band, 0.0), values + band
            chart = "density"
            frame = {"at": grids[0], "density": values, "low": low, "high": high}
        else:
            one, two = np.meshgrid(*grids, indexing="ij")
            chart = "contours"
            frame = {"x": one.ravel(), "y": two.ravel(), "density": values.ravel()}
            levels = [mass_level(values, m) for m in self.masses]
            facts |= {"classes": self.classes, "masses": list(self.masses), "levels": levels}
        title = f"Protected density of {' and '.join(self.columns)}"
        numbers = {f"bandwidth of {c}": h for c, h in zip(self.columns, least, strict=True)}
        return desk.finish(title, chart, self.columns, values, facts, frame, numbers)

    def axes(
        self, desk: Desk, x: Floats, weights: Floats | None
    ) -> tuple[list[Floats], list[float]]:
        """Return the grid and the (smallest) bandwidth of each column: given, or protected."""
        given = self.h0 if self.bandwidth == "local" else self.bandwidth
        grids, least = [], []
        for j, column in enumerate(self.columns):
            ends = None if self.range is None else self.range[j]
            scale = None
            if ends is None or isinstance(given, str):
                scale = find_scale(desk, x[:, j], column, ends, weights)
                ends = ends or nice_range(scale.low, scale.high)
            grid = np.linspace(*ends, self.points)
            step = float(grid[1] - grid[0])
            if isinstance(given, tuple):
                least.append(float(given[j]))
                if least[-1] < NARROWEST * step:
                    raise InvalidParameter(
                        f"protected_density: the bandwidth of {column!r} is less than a quarter of the grid's step; use more points or a larger bandwidth"
                    )
            else:
                assert scale is not None
                least.append(max(self.rule(scale), 0.5 * step))
            grids.append(grid)
        return grids, least

    def rule(self, scale: Scale) -> float:
        """Return the bandwidth by rule from protected spreads; N^(-1/6) in two dimensions."""
        n = scale.n if len(self.columns) == 1 else scale.n ** (5 / 6)
        if self.bandwidth == "normal_reference":
            return normal_reference(scale.sd, n)
        return silverman(scale.sd, scale.iqr, n)

    def after_noise(self, noisy: Floats, amplitude: float, area: float) -> tuple[Floats, float]:
        """Return the values that are published, and the half width of their band."""
        values = smooth(noisy, self.smoothing)
        band = 2 * amplitude * smoothed_amplitude(noisy.shape, self.smoothing)
        if not self.renormalise:
            return values, band
        total = max(float(np.maximum(values, 0.0).sum()), amplitude) * area
        return as_shares(values) / area, band / total
