"""Conditional linkage: Fuller's probabilities that a masked record is the target's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs, shared_numeric
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnName, PositiveInt
from tacit.numerics.algebra import dot, eigh, eigvalsh, pinvh
from tacit.numerics.elementary import exp
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.linkage.nearest import find_own_chance
from tacit.records.values.index_disclosure import find_changed_columns
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.ranks import rank

#: Conditional variances below this share of a variance are taken for it: rounding, or no masking at all.
LEAST = 1e-12
#: Distances that are computed at a time.
PAIRS = 1 << 22


@register
class ConditionalLinkage(Measure):
    """Share of records found again by an intruder who knows how masked and original values go together.

    The intruder holds the original values x_i of the targets, and the moments of original and masked
    values: H = S_YX S_XX^-1 and E = S_YY - H S_XY. A masked record j is the target's with

        P_ij in proportion to exp(-q_ij / 2),
        q_ij = (y_j - ybar - H (x_i - xbar))' E^-1 (y_j - ybar - H (x_i - xbar)),

    and the most likely one is taken. The share of targets for whom that is their own record is exact,
    whatever the number of records; masked records that are equally likely share the hit. The mean of P_ii needs every pair:
    beyond ``targets`` it is estimated from this many random targets, with its standard error. Guessing finds
    1 in n. On the scale of ``normal_scores`` the same is done with the ranks, each file's own; that intruder
    is the stronger one for skewed columns and values moved by rank. The moments are the sample's own, which an intruder would not have so precisely; with few
    records that flatters the linkage a little.

    References
    ----------
    Fuller (1993), Masking procedures for microdata disclosure limitation, Journal of Official Statistics
    9, 383-406.
    Muralidhar, Sarathy, Dandekar (2006), Why swap when you can shuffle? A comparison of the proximity
    swap and data shuffle for numeric data, PSD 2006, LNCS 4302, 164-176.
    """

    kind: Literal["conditional_linkage"] = "conditional_linkage"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the numeric columns that the intruder knows; by default every one that was changed",
    )
    scale: Literal["values", "normal_scores"] = Field(
        default="values",
        description="link by the values, or by the normal scores of their ranks, which suit skewed columns and rank swaps",
    )
    targets: PositiveInt = Field(
        default=2_000,
        description="targets from whom the mean probability is estimated when there are more records",
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    number_fields = ("columns",)

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> ConditionalLinkageResult:
        original = other.original
        shared = shared_numeric(original, data, self.columns)
        both = pairs(original, data, shared, self.kind)
        columns = self.columns or find_changed_columns(
            shared, both.before[both.old], both.after[both.new]
        )
        if not columns:
            raise InputError(
                "conditional_linkage: no shared numeric column was changed; name the columns that the intruder knows."
            )
        at = [shared.index(c) for c in columns]
        before, after = both.before[:, at], both.after[:, at]
        there: Flags = np.asarray(np.isfinite(after).all(axis=1))
        use = np.isfinite(before[both.old]).all(axis=1) & there[both.new]
        # Complete targets, their own masked records, where those stand, and all masked records.
        own = (np.cumsum(there) - 1)[both.new[use]]
        x, y_all = before[both.old[use]], after[there]
        y = y_all[own]
        if len(x) < 2 * len(columns) + 2:
            raise InputError(
                "conditional_linkage needs more records that are complete in original and release: twice as many as columns, and two."
            )
        ctx.tick("linking records", 0.1)
        if self.scale == "normal_scores":
            x, y_all = compute_normal_scores(x), compute_normal_scores(y_all)
            y = y_all[own]
        distribution = conditional_of(x, y)
        expected, masked = distribution.expected(x), distribution.masked(y_all)
        share = find_own_chance(expected, masked, own)
        picked = np.arange(len(x))
        if len(x) > self.targets:
            picked = np.sort(ctx.rng.choice(len(x), self.targets, replace=False))
        probability = own_probabilities(
            expected[picked], masked, own[picked], lambda s: ctx.tick("linking records", s)
        )
        n = len(share)
        rate, chance = float(share.mean()), 1.0 / len(masked)
        numbers: dict[str, Any] = {
            "share re-identified": rate,
            "by chance": chance,
            "times chance": rate / chance,
            "mean probability of the own record": float(probability.mean()),
        }
        error = 0.0
        if len(picked) < n:
            # One target tells nothing of how much targets differ.
            spread = probability.std(ddof=1) if len(picked) > 1 else math.nan
            error = numbers["standard error of that mean"] = float(spread / np.sqrt(len(picked)))
        numbers |= {"targets": n, "masked records": len(masked), "columns": len(columns)}
        own = np.full(n, np.nan)
        own[picked] = probability
        rows = {
            "target": np.arange(1, n + 1),
            "found": share,
            "probability": pa.array(own, mask=np.isnan(own)),
        }
        return ConditionalLinkageResult(
            kind=self.kind,
            title="Conditional linkage",
            value=rate,
            numbers=numbers,
            frame=as_frame(rows),
            explanation=(
                "The intruder knows the targets' original values and how masked values vary around them, and takes "
                "the most likely masked record. Guessing would find one in as many as there are masked records."
            ),
            rate=rate,
            chance=chance,
            mean_probability=float(probability.mean()),
            standard_error=error,
        )


@dataclass(frozen=True, repr=False)
class ConditionalLinkageResult(Result):
    """The share found again (``rate``), what guessing finds (``chance``), and the mean of P_ii."""

    rate: float = 0.0
    chance: float = 0.0
    mean_probability: float = 0.0
    standard_error: float = 0.0

    def plot(self) -> Chart:
        """Return the share found again beside what guessing finds."""
        return bars(
            [
                ("re-identified", self.rate),
                ("mean probability of the own record", self.mean_probability),
                ("by chance", self.chance),
            ],
            title=self.title,
            subtitle="shares of the targets",
            y="share",
        )


def compute_normal_scores(x: Floats) -> Floats:
    """Return the normal scores of each column; equal values have equal ones."""
    return np.column_stack([rank(column, stable=False).mean_scores() for column in x.T])


# -- on arrays: the most likely record is the nearest one once E is whitened -----------------------


@dataclass(frozen=True)
class Conditional:
    """The distribution of a masked record given the original one: means, H and E, and W with W' E W = 1."""

    x_mean: Floats
    y_mean: Floats
    slope: Floats
    covariance: Floats
    whiten: Floats

    def expected(self, x: Floats) -> Floats:
        """Return where targets are looked for, whitened."""
        return np.asarray(dot(dot(x - self.x_mean, self.slope.T), self.whiten))

    def masked(self, y: Floats) -> Floats:
        """Return masked records, whitened."""
        return np.asarray(dot(y - self.y_mean, self.whiten))


def conditional_of(x: Floats, y: Floats) -> Conditional:
    """Return the distribution from original and masked records of the same people, n - 1 in the moments."""
    n, p = x.shape
    dx, dy = x - x.mean(axis=0), y - y.mean(axis=0)
    spread = np.sqrt(np.maximum((dx * dx).mean(axis=0), (dy * dy).mean(axis=0)))
    scale = np.where(spread > 0, spread, 1.0)
    both = np.hstack([dx / scale, dy / scale])
    moments = dot(both.T, both) / (n - 1)
    xx, xy, yy = moments[:p, :p], moments[:p, p:], moments[p:, p:]
    slope = (dot(pinvh(xx), xy)).T
    rest = yy - dot(slope, xy)
    rest = (rest + rest.T) / 2.0
    values, vectors = eigh(rest)
    floor = LEAST * max(1.0, float(eigvalsh(yy)[-1]))
    whiten = vectors / np.sqrt(np.maximum(values, floor))
    return Conditional(
        x.mean(axis=0),
        y.mean(axis=0),
        slope * scale[:, None] / scale[None, :],
        rest * np.outer(scale, scale),
        whiten / scale[:, None],
    )


def link_probabilities(expected: Floats, masked: Floats) -> Floats:
    """Return P_ij of every target (row) and masked record (column), both whitened."""
    q = compute_squared_distances(expected, masked)
    weight = exp(-(q - q.min(axis=1, keepdims=True)) / 2.0)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def own_probabilities(
    expected: Floats, masked: Floats, own: Ints, tick: Callable[[float], None]
) -> Floats:
    """Return P_ii: how likely a target's own record ``own`` is held for its own."""
    out = np.empty(len(expected))
    step = max(1, PAIRS // max(len(masked), 1))
    for start in range(0, len(expected), step):
        tick(start / len(expected))
        at = slice(start, start + step)
        found = link_probabilities(expected[at], masked)
        out[at] = found[np.arange(len(found)), own[at]]
    return out


def compute_squared_distances(expected: Floats, masked: Floats) -> Floats:
    """Return the squared distances of every target to every masked record."""
    q = (
        (expected**2).sum(axis=1)[:, None]
        + (masked**2).sum(axis=1)[None, :]
        - dot(2.0 * expected, masked.T)
    )
    return np.maximum(q, 0.0)
