"""Rank bounds: what a published swapping window tells about the original values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs
from tacit.data.values import as_frame, not_numeric
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.lines import panels
from tacit.records.swapping.rank_swap import KERNELS
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: The simulated window at most, and the simulated file in windows: the posterior depends on the window
#: and the distance from the ends only, so that a large one is simulated on a coarser scale.
WINDOW, WINDOWS = 50, 4


@register
class RankBounds(Measure):
    """How closely a published window of rank swapping bounds the original values.

    Who knows that values were exchanged with others at most p per cent of the n ranks away knows, from the
    release alone, that the original of the value at rank r lies between the released values at the ranks
    r - floor(n p) and r + floor(n p), clipped at the ends. The risk is the share of values whose bounds
    are narrow: no farther apart than ``narrow`` times the released value. Within the bounds the posterior
    of the original rank is simulated, by repeated swaps of ranks with that window: nearly even inside the
    file, and heaped towards the end of the range for the largest and smallest values.

    With the original at hand, the share of originals that do lie within their bounds is given: 1 for rank
    swapping with that window.

    The scanned paper prints its example's lower bound as "0, 42"; [0.42, 0.58] holds the 10 % of a standard
    log-normal that a window of 5 % of 1000 ranks on either side must hold.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 2.
    """

    kind: Literal["rank_bounds"] = "rank_bounds"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the swapped columns; by default all numeric ones that are neither identifiers nor weight, household or stratum",
    )
    percent: float = Field(
        default=5.0, gt=0, le=100, description="the published window, in per cent of the records"
    )
    narrow: float = Field(
        default=0.1,
        gt=0,
        description="bounds at most this share of the released value apart count as narrow",
    )
    repeats: PositiveInt = Field(
        default=1000, description="simulated swaps for the posterior of the original rank"
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    random = True
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "percent": 20, "repeats": 200}

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns looked at."""
        return self.columns or list_maskable_columns(data)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no numbers to look at."""
        found = super().faults(data)
        if found:
            return found
        if not self.targets(data):
            found.append(InputError("rank_bounds: the data have no numeric column; name columns"))
        return [*found, *not_numeric(data, self.targets(data), self.kind)]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> RankBoundsResult:
        columns = self.targets(data)
        block = read_block(data, columns, self.kind, missing="keep")
        parts, rows = [], []
        for j, c in enumerate(columns):
            ctx.tick(f"bounds of {c}", j / len(columns))
            values = block.values[:, j]
            at = np.flatnonzero(~np.isnan(values))
            if len(at) == 0:
                raise InputError(f"rank_bounds: column {c!r} holds no value")
            low, high = window_bounds(values[at], self.window(len(at)))
            rows.append((c, at, values[at], low, high))
            parts.append(self.part(values[at], low, high))
        inside = self.inside(data, other, rows)
        return self.result(columns, parts, rows, inside, ctx)

    def window(self, n: int) -> int:
        """Return the window in ranks."""
        return int(np.floor(n * self.percent / 100.0 + 1e-9))

    def part(self, values: Floats, low: Floats, high: Floats) -> tuple[float, float, float]:
        """Return the share of narrow bounds, their median width by the value and by the spread."""
        width = high - low
        size = np.abs(values)
        spread = float(values.std()) or 1.0
        known = size > 0
        relative = float(np.median(width[known] / size[known])) if known.any() else np.inf
        return (
            float((width <= self.narrow * size).mean()),
            relative,
            float(np.median(width) / spread),
        )

    def inside(self, data: Microdata, other: Companions, rows: list[Any]) -> float | None:
        """Return the share of originals within their bounds."""
        if not other.has_original:
            return None
        columns = [row[0] for row in rows]
        if any(c not in other.original.columns for c in columns):
            return None
        both = pairs(other.original, data, columns, self.kind)
        held: list[Floats] = []
        for j, (_, at, _, low, high) in enumerate(rows):
            bounds = np.full((2, len(both.after)), np.nan)
            bounds[:, at] = low, high
            x = both.before[both.old, j]
            a, b = bounds[:, both.new]
            known = ~np.isnan(x) & ~np.isnan(a)
            held.append(((x >= a) & (x <= b))[known].astype(np.float64))
        joined = np.concatenate(held)
        return float(joined.mean()) if len(joined) else None

    def result(
        self,
        columns: tuple[str, ...],
        parts: list[tuple[float, float, float]],
        rows: list[Any],
        inside: float | None,
        ctx: Context,
    ) -> RankBoundsResult:
        """Put the result together."""
        window = self.window(len(rows[0][1]))
        coarse = min(window, WINDOW)
        step = window / coarse if coarse else 1.0
        n = min(max(int(len(rows[0][1]) / step), 1), WINDOWS * coarse + 1)
        ctx.tick("simulating swaps", 0.9)
        posterior = swap_posterior(n, coarse, self.repeats, ctx.rng)
        risks = [part[0] for part in parts]
        worst = int(np.argmax(risks))
        numbers: dict[str, Any] = {
            "window in ranks": window,
            f"share of narrow bounds, {columns[worst]}": risks[worst],
        }
        for c, (_, relative, spread) in zip(columns, parts, strict=True):
            numbers[f"{c}: median width by value"] = relative
            numbers[f"{c}: median width by standard deviation"] = spread
        numbers["best guess of the rank, middle of the file"] = best_guess(posterior[n // 2], step)
        numbers["best guess of the rank, largest value"] = best_guess(posterior[-1], step)
        if inside is not None:
            numbers["originals within their bounds"] = inside
        frame = {
            "record": np.concatenate([row[1] + 1 for row in rows]),
            "column": np.repeat(list(columns), [len(row[1]) for row in rows]),
            "released": np.concatenate([row[2] for row in rows]),
            "lower": np.concatenate([row[3] for row in rows]),
            "upper": np.concatenate([row[4] for row in rows]),
        }
        return RankBoundsResult(
            kind=self.kind,
            title="Rank bounds",
            value=risks[worst],
            numbers=numbers,
            frame=as_frame(frame),
            explanation=(
                "Everyone who knows the swapping window can bound each original value by the released values that many ranks away. Narrow bounds disclose the value whatever the swap did."
            ),
            window=window,
            posterior=posterior,
            step=step,
            inside=inside,
        )


@dataclass(frozen=True, repr=False)
class RankBoundsResult(Result):
    """Bounds by record and column (``frame``), and the simulated posterior of original ranks.

    Attributes
    ----------
    window
        The window in ranks.
    posterior
        One row per released rank (of a file of at most four windows), one column per original rank from
        the window below to the window above; the chance that the value came from there.
    step
        Ranks that one row or column of the posterior stands for; 1 up to windows of 50.
    inside
        Share of originals within their bounds; None without the original.
    """

    window: int = 0
    posterior: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    step: float = 1.0
    inside: float | None = None

    def plot(self) -> Chart:
        """Return the posterior of the original rank for the lowest, a middle and the highest value."""
        n, half = len(self.posterior), self.posterior.shape[1] // 2
        chosen = {"smallest value": 0, "middle of the file": n // 2, "largest value": n - 1}
        best = "; ".join(
            f"{name}: {best_guess(self.posterior[r], self.step):.3g}" for name, r in chosen.items()
        )
        return panels(
            (
                (name, (d - half) * self.step, float(self.posterior[r, d]))
                for name, r in chosen.items()
                for d in range(self.posterior.shape[1])
                if 0 <= r + d - half < n
            ),
            title="Where a swapped value came from",
            subtitle=f"chance of each original rank, window of {self.window} ranks",
            x="original rank minus released rank",
            y="chance",
            alt=f"Chance of each original rank given the released one; best guess {best}.",
        )


def best_guess(posterior: Floats, step: float) -> float:
    """Return the chance of the likeliest original rank: its own, or one of those that a step stands for."""
    half = len(posterior) // 2
    others = np.delete(posterior, half)
    return float(max(posterior[half], others.max(initial=0.0) / step))


def window_bounds(released: Floats, window: int) -> tuple[Floats, Floats]:
    """Return the bounds that a window of ranks puts on the original of each released value.

    Swapping exchanges values, so the sorted release is the sorted original: a value at rank r came from a
    record of rank r - window .. r + window, clipped at the ends. Equal values span several ranks, and the
    widest bounds are given.
    """
    ordered = np.sort(released)
    first = np.searchsorted(ordered, released, side="left")
    last = np.searchsorted(ordered, released, side="right") - 1
    n = len(released)
    return (
        ordered[np.maximum(first - window, 0)],
        ordered[np.minimum(last + window, n - 1)],
    )


def swap_posterior(n: int, window: int, repeats: int, rng: np.random.Generator) -> Floats:
    """Return the chance of each original rank given the released rank, from repeated rank swaps.

    Entry (r, window + d) is the share of repeats in which the record with released rank r had the
    original rank r + d. Ranks are taken in rising order, and each that is still free is exchanged with a
    free one at most ``window`` above, picked at random (one that finds none keeps its own).
    """
    counts = np.zeros((n, 2 * window + 1), dtype=np.int64)
    ranks = np.arange(n)
    pair = KERNELS.pick(1.5 * n * repeats)["pair_up"]
    for _ in range(repeats):
        counts[ranks, window + pair(n, window, rng.random(n)) - ranks] += 1
    return counts / repeats
