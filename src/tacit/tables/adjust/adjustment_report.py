"""How close an adjusted table is to the original: regression, changes, distributions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field
from scipy import special

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError
from tacit.plot.chart import Chart
from tacit.plot.lines import SHARES, count_bins, histogram, lines
from tacit.plot.paired import draw_fitted_points, space_evenly
from tacit.plot.theme import AFTER, BEFORE
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.attack.audit import codes_of_cells


@register
class AdjustmentReport(Measure[Table]):
    """Compare an adjusted table with the original, cell by cell and as a distribution.

    Over ground cells (or all): Pearson correlation; least squares of adjusted on original (b0, b0 divided
    by the mean of the original, b1); per cent change of the cells that are not unsafe; the two-sample
    tests of Kolmogorov-Smirnov, D = max |F_O - F_A|, and Kuiper, V = D+ + D-, on all cells, with their
    asymptotic p-values; chi-square sum (A - O)^2 / O on the cells that are not unsafe; and the
    discrimination information sum A log(A / O). With ``random_patterns`` its distribution over random
    directions of the unsafe cells is added. Hidden cells are left out.

    References
    ----------
    Cox, Orelien and Shah (2006), A method for preserving statistical distributions subject to controlled
    tabular adjustment, PSD 2006, LNCS 4302, 1-11, section 4. Its D compares the two distributions at
    different points; here both are taken at all pooled points.
    """

    kind: Literal["adjustment_report"] = "adjustment_report"
    cells: Literal["ground", "all"] = Field(
        default="ground", description="the cells that are compared: ground cells, or totals as well"
    )
    freedom: Literal["cells", "margins"] = Field(
        default="cells",
        description="degrees of freedom of chi-square: cells minus 1, or minus the one-way totals "
        "that are kept",
    )
    random_patterns: Annotated[int, Field(ge=0)] = Field(
        default=0,
        description="random directions for the distribution of the discrimination information",
    )

    family: ClassVar[str] = "utility"
    runs_on: ClassVar[Where] = "cells"
    better: ClassVar[Literal["lower", "higher"] | None] = "higher"

    def _measure(
        self, table: Table, other: Companions[Table], ctx: Context
    ) -> AdjustmentReportResult:
        true = other.original.value if other.has_original else table.value
        if len(true) != len(table):
            raise InputError("the original has another number of cells than the adjusted table")
        published = table.published
        use = ~np.isnan(published)
        if self.cells == "ground":
            use &= table.ground
        o, a, unsafe = true[use], published[use], table.primary[use]
        lost = 1
        if self.freedom == "margins" and table.is_product:
            lost += sum(len(d.leaves) - 1 for d in table.dimensions)
        numbers = adjustment_statistics(o, a, unsafe, lost=lost)
        drawn = self._draw_directions(table, ctx)
        if len(drawn):
            low, high = np.quantile(drawn, [0.025, 0.975])
            numbers |= {"random_K_low": float(low), "random_K_high": float(high)}
        correlation = numbers["correlation"]
        return AdjustmentReportResult(
            kind=self.kind,
            title="Adjusted against original",
            value=correlation if math.isfinite(correlation) else float(np.allclose(a, o)),
            numbers={WORDS[k]: v for k, v in numbers.items()},
            frame=cells_frame(table, use, o, a, unsafe),
            explanation=(
                "Correlation and slope near 1 and p-values far from 0 say that users will find the same "
                "means, regressions and distribution as in the original."
            ),
            original=o,
            adjusted=a,
            unsafe=unsafe,
            statistics=numbers,
            drawn=drawn,
        )

    def _draw_directions(self, table: Table, ctx: Context) -> Floats:
        """Return the discrimination information of random directions."""
        if not self.random_patterns:
            return np.zeros(0)
        from tacit.tables.adjust.adjust_mdi import movement_of, random_information
        from tacit.tables.rounding.model import basis

        try:
            movement, _ = movement_of(table, basis(table), "one_way")
        except (InputError, Infeasible):
            return np.zeros(0)
        if not movement.n:
            return np.zeros(0)
        return random_information(
            movement,
            self.random_patterns,
            ctx.rng,
            lambda share: ctx.tick("random patterns", share),
        )


WORDS = {
    "cells": "cells compared",
    "correlation": "correlation",
    "b0": "regression constant b0",
    "b0_over_mean": "b0 / mean",
    "b1": "regression slope b1",
    "mean_change": "mean change of safe cells (per cent)",
    "min_change": "smallest change (per cent)",
    "max_change": "largest change (per cent)",
    "ks_D": "Kolmogorov-Smirnov D",
    "ks_p": "Kolmogorov-Smirnov p",
    "kuiper_V": "Kuiper V",
    "kuiper_p": "Kuiper p",
    "chi2": "chi-square of safe cells",
    "df": "degrees of freedom",
    "chi2_p": "chi-square p",
    "K": "discrimination information K",
    "random_K_low": "K of random patterns, 2.5 per cent quantile",
    "random_K_high": "K of random patterns, 97.5 per cent quantile",
}


def adjustment_statistics(
    original: npt.ArrayLike,
    adjusted: npt.ArrayLike,
    unsafe: npt.ArrayLike | None = None,
    *,
    lost: int = 1,
) -> dict[str, Any]:
    """Return the statistics of :class:`AdjustmentReport` for two arrays of cells.

    Parameters
    ----------
    original, adjusted
        The two tables.
    unsafe
        Which cells are unsafe; none by default.
    lost
        Degrees of freedom that chi-square loses.
    """
    o = np.asarray(original, dtype=np.float64).ravel()
    a = np.asarray(adjusted, dtype=np.float64).ravel()
    hot = np.zeros(len(o), dtype=bool) if unsafe is None else np.asarray(unsafe, dtype=bool).ravel()
    if len(o) != len(a) or len(o) != len(hot):
        raise InputError("the two tables must have the same number of cells")
    correlation, b0, b1 = regression(o, a)
    mean = float(o.mean()) if len(o) else math.nan
    used = ~hot & (o != 0)
    change = 100 * (a[used] - o[used]) / np.abs(o[used])
    d, v = distances(o, a)
    chi2, df, chi2_p = chi_square(o[~hot], a[~hot], lost)
    z = math.sqrt(len(o) / 2)
    return {
        "cells": len(o),
        "correlation": correlation,
        "b0": b0,
        "b0_over_mean": b0 / mean if mean else math.nan,
        "b1": b1,
        "mean_change": float(change.mean()) if len(change) else 0.0,
        "min_change": float(change.min()) if len(change) else 0.0,
        "max_change": float(change.max()) if len(change) else 0.0,
        "ks_D": d,
        "ks_p": float(special.kolmogorov(d * z)),
        "kuiper_V": v,
        "kuiper_p": kuiper_p(v * z),
        "chi2": chi2,
        "df": df,
        "chi2_p": chi2_p,
        "K": information(a, o),
    }


def information(a: Floats, o: Floats) -> float:
    """Return the discrimination information; NaN where values are negative."""
    from tacit.tables.adjust.mdi import discrimination_information

    if not len(a) or min(a.min(), o.min()) < 0:
        return math.nan
    return discrimination_information(a, o)


def regression(o: Floats, a: Floats) -> tuple[float, float, float]:
    """Return the correlation, and constant and slope of least squares of a on o."""
    if not len(o):
        return math.nan, math.nan, math.nan
    x, y = o - o.mean(), a - a.mean()
    xx, yy, xy = float(x @ x), float(y @ y), float(x @ y)
    if xx <= 0:
        return math.nan, math.nan, math.nan
    slope = xy / xx
    correlation = xy / math.sqrt(xx * yy) if yy > 0 else math.nan
    return correlation, float(a.mean() - slope * o.mean()), slope


def distances(o: Floats, a: Floats) -> tuple[float, float]:
    """Return the Kolmogorov-Smirnov and Kuiper distances of two samples of one size."""
    if not len(o):
        return 0.0, 0.0
    points = np.concatenate([o, a])
    one = np.searchsorted(np.sort(o), points, side="right") / len(o)
    two = np.searchsorted(np.sort(a), points, side="right") / len(a)
    above, below = max(0.0, float((one - two).max())), max(0.0, float((two - one).max()))
    return max(above, below), above + below


def kuiper_p(z: float) -> float:
    """Return 2 sum (4 j^2 z^2 - 1) exp(-2 j^2 z^2); 1 below 0.4."""
    if z < 0.4:
        return 1.0
    j = np.arange(1, 101)
    square = (j * z) ** 2
    return float(min(1.0, max(0.0, 2 * ((4 * square - 1) * np.exp(-2 * square)).sum())))


def chi_square(o: Floats, a: Floats, lost: int) -> tuple[float, int, float]:
    """Return chi-square over positive cells, its degrees of freedom and its p-value."""
    use = o > 0
    chi2 = float(((a[use] - o[use]) ** 2 / o[use]).sum())
    df = int(use.sum()) - lost
    return chi2, max(df, 0), float(special.chdtrc(df, chi2)) if df > 0 else math.nan


def cells_frame(table: Table, use: Flags, o: Floats, a: Floats, unsafe: Flags) -> nw.DataFrame[Any]:
    """Return every compared cell. Confidential."""
    codes = codes_of_cells(table, np.flatnonzero(use))
    change = np.divide(100 * (a - o), np.abs(o), out=np.full(len(o), np.nan), where=o != 0)
    data = {**codes, "original": o, "adjusted": a, "per cent": change, "unsafe": unsafe}
    return nw.from_native(pa.table(data), eager_only=True)


# -- charts --------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class AdjustmentReportResult(Result):
    """The comparison, with the cells for its charts."""

    original: Floats = field(default_factory=lambda: np.zeros(0))
    adjusted: Floats = field(default_factory=lambda: np.zeros(0))
    unsafe: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    statistics: dict[str, Any] = field(default_factory=dict)
    drawn: Floats = field(default_factory=lambda: np.zeros(0))

    def plot(self) -> Chart:
        """Return adjusted against original values, with the regression line."""
        return scatter(self)

    def charts(self) -> Iterable[Chart]:
        """Return the scatter, the two distributions, the changes, and K of random patterns."""
        yield scatter(self)
        yield distributions(self)
        yield changes(self)
        if len(self.drawn):
            yield random_chart(self)


def scatter(result: AdjustmentReportResult) -> Chart:
    """Return one point per cell and the line of least squares."""
    b0, b1 = result.statistics["b0"], result.statistics["b1"]
    return draw_fitted_points(
        result.original,
        result.adjusted,
        result.unsafe,
        line=(b0, b1),
        title="Adjusted against original values",
        subtitle=equation(b0, b1),
        names=("original", "adjusted"),
        kinds=("safe", "unsafe"),
        alt=f"Scatter of {len(result.original):,} cells, adjusted against original, with the regression "
        f"line {equation(b0, b1)}; correlation {result.statistics['correlation']:.4f}.",
    )


def equation(b0: float, b1: float) -> str:
    """Return the regression line in print."""
    if not math.isfinite(b1):
        return "no regression: the original values are all the same"
    return f"adjusted = {b0:,.4g} {'+' if b1 >= 0 else '-'} {abs(b1):.4f} x original"


def distributions(result: AdjustmentReportResult) -> Chart:
    """Return the two empirical distribution functions."""
    s = result.statistics
    return lines(
        (
            (name, float(values[i]), (int(i) + 1) / len(values))
            for name, values in (
                ("original", np.sort(result.original)),
                ("adjusted", np.sort(result.adjusted)),
            )
            for i in space_evenly(len(values))
        ),
        title="Distribution of the cells",
        subtitle="share of cells up to a value",
        x="value",
        y="share of cells",
        y_axis=SHARES,
        colours=(BEFORE, AFTER),
        dashed=True,
        steps=True,
        alt="Empirical distributions of original and adjusted cells; largest distance "
        f"{s['ks_D']:.4f} (Kolmogorov-Smirnov p {s['ks_p']:.3f}, Kuiper p {s['kuiper_p']:.3f}).",
    )


def changes(result: AdjustmentReportResult) -> Chart:
    """Return the histogram of the changes of safe cells."""
    use = ~result.unsafe & (result.original != 0)
    o, a = result.original[use], result.adjusted[use]
    counts, edges = count_bins(100 * (a - o) / np.abs(o))
    s = result.statistics
    return histogram(
        {"cells": counts},
        edges,
        title="Changes of cells that are not unsafe",
        x="change in per cent",
        y="cells",
        alt=f"Histogram of the changes of {len(o):,} cells that are not unsafe: mean "
        f"{s['mean_change']:.2f}, from {s['min_change']:.2f} to {s['max_change']:.2f} per cent.",
    )


def random_chart(result: AdjustmentReportResult) -> Chart:
    """Return the histogram of K over random patterns, with the solution marked."""
    s = result.statistics
    counts, edges = count_bins(result.drawn)
    return histogram(
        {"patterns": counts},
        edges,
        title="Discrimination information of random patterns",
        x="discrimination information K",
        y="random patterns",
        mark=(s["K"], "this table"),
        alt=f"Histogram of K over {len(result.drawn):,} random patterns, 95 per cent of them between "
        f"{s['random_K_low']:,.4g} and {s['random_K_high']:,.4g}; this table has {s['K']:,.4g}.",
    )
