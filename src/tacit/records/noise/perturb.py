"""Perturbation: values change at random while stated totals stay exactly as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers, classes, read_numeric_column
from tacit.errors import DisclosureRefused, Infeasible
from tacit.fields import ColumnName, ColumnNames, PositiveFloat
from tacit.records.noise.add_noise import standard_deviation
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.ranks import rank_within

Numeric = npt.NDArray[Any]

#: Rounds of transfers when margins are kept; each moves as many records as it can without overlap.
ROUNDS = 4


@register
class Perturb(Method):
    """Change values at random while the column's total, and so its mean, stays exactly the same.

    Records are paired at random and one gives the other an amount d, drawn from a normal distribution
    whose standard deviation is ``scale`` times the column's own. With ``by``, partners come from the same
    class, and the totals of every class are kept. With ``margins=(a, b)`` four records at the corners of a
    rectangle in the table of a by b change by +d, -d, +d, -d, which keeps the totals of every a and of
    every b. Whole-number columns stay whole and their totals are kept in whole-number arithmetic.

    A column without negative values gets none. Missing values stay missing and take no part. The totals
    kept are unweighted.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    Diaconis, Sturmfels (1998), Algebraic algorithms for sampling from conditional distributions, Annals of
    Statistics 26, 363-397 (the +-+- moves that keep margins).
    """

    kind: Literal["perturb"] = "perturb"
    columns: ColumnNames = Field(description="the numeric columns to change, each by itself")
    scale: PositiveFloat = Field(
        default=0.1, description="standard deviation of the changes as a share of the column's own"
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="keep the totals of each class of these columns"
    )
    margins: tuple[ColumnName, ColumnName] | None = Field(
        default=None, description="two columns: keep the totals by the one and by the other"
    )

    on_stratum = "by"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("perturbation",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    number_fields = ("columns",)
    column_fields = ("columns", "by", "margins")

    @model_validator(mode="after")
    def _one_aggregate(self) -> Perturb:
        if self.by and self.margins:
            raise ValueError("give by or margins, not both")
        if set(self.columns) & {*self.by, *(self.margins or ())}:
            raise ValueError("columns must not hold a column that forms classes")
        return self

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        kept = (
            [classes(data, [c])[0] for c in self.margins]
            if self.margins
            else [classes(data, self.by)[0]]
        )
        new = {}
        for c in self.columns:
            ctx.tick(f"perturb {c}")
            column = read_numeric_column(data, c)
            values = perturb_column(column, kept, self.scale, ctx.rng)
            if not all(
                totals_agree(column.values, values, column.known, groups) for groups in kept
            ):
                raise DisclosureRefused(
                    f"perturb: the totals of column {c!r} could not be kept; its values differ too much in size"
                )
            if column.known.any() and np.array_equal(values, column.values):
                raise Infeasible(
                    f"perturb: the totals to be kept leave no room to change column {c!r}. "
                    "Keep the totals of coarser classes, or leave the column out."
                )
            new[c] = column.restore(values)
        ctx.note(
            columns=list(self.columns),
            keeps=f"totals by {' and by '.join(self.margins)}" if self.margins else "totals",
            by=list(self.by),
        )
        return data.replace(new)


def perturb_column(
    column: Numbers, kept: list[Ints], scale: float, rng: np.random.Generator
) -> Numeric:
    """Return the values after random transfers that keep the totals by each of the groupings."""
    values = column.values.copy()
    sd = scale * standard_deviation(column)
    members = np.flatnonzero(column.known)
    if sd == 0 or len(members) < 2:
        return values
    floor = 0 if values[members].min() >= 0 else None
    if len(kept) == 1:
        sets = [members[pairs] for pairs in pairings(kept[0][members], rng)]
    else:
        sets = [members[rectangles(kept[0][members], kept[1][members], rng)] for _ in range(ROUNDS)]
    for corners in sets:
        transfer(values, corners, rng.normal(0.0, sd, len(corners)), floor)
    return values


def pairings(groups: Ints, rng: np.random.Generator) -> list[Ints]:
    """Return rows of two partners in the same group, then rows that take in the odd ones out."""
    order = np.lexsort((rng.random(len(groups)), groups)).astype(np.int64)
    g = groups[order]
    rank = rank_within(g)
    same = np.r_[g[:-1] == g[1:], False]
    even = np.flatnonzero((rank % 2 == 0) & same)
    odd = np.flatnonzero((rank % 2 == 0) & ~same & (rank > 0))
    return [
        np.stack([order[even], order[even + 1]], axis=1),
        np.stack([order[odd], order[odd - 1]], axis=1),
    ]


def rectangles(a: Ints, b: Ints, rng: np.random.Generator) -> Ints:
    """Return rows of four records, none twice, at cells (a, b), (a, b'), (a', b'), (a', b)."""
    n = len(a)
    width = int(b.max()) + 1
    cell = a * width + b
    order = np.lexsort((rng.random(n), cell)).astype(np.int64)
    cells, start, size = np.unique(cell[order], return_index=True, return_counts=True)
    first, third = rng.permutation(n), rng.permutation(n)

    def record_in(wanted: Ints) -> tuple[Ints, Flags]:
        at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        drawn = np.floor(rng.random(len(wanted)) * size[at]).astype(np.int64)
        return order[start[at] + drawn], cells[at] == wanted

    second, has_second = record_in(a[first] * width + b[third])
    fourth, has_fourth = record_in(a[third] * width + b[first])
    corners = np.stack([first, second, third, fourth], axis=1)
    whole = (a[first] != a[third]) & (b[first] != b[third]) & has_second & has_fourth
    corners = corners[whole].astype(np.int64)
    places = np.arange(corners.size).reshape(corners.shape)
    earliest = np.zeros(n, dtype=np.int64)
    earliest[corners.ravel()[::-1]] = places.ravel()[::-1]
    return corners[(earliest[corners] == places).all(axis=1)]


def transfer(values: Numeric, corners: Ints, amount: Floats, floor: int | None) -> None:
    """Add +d, -d, +d, -d to the records of each row, in place, without going below the floor."""
    d: Numeric = amount
    if values.dtype == np.int64:
        d = (np.where(amount < 0, -1, 1) * np.maximum(1, np.rint(np.abs(amount)))).astype(np.int64)
    if floor is not None:
        up = (values[corners[:, 1::2]] - floor).min(axis=1)
        down = (values[corners[:, 0::2]] - floor).min(axis=1)
        d = np.where(((d > 0) & (up == 0)) | ((d < 0) & (down == 0)), -d, d)
        d = np.clip(d, -down, up)
    for place in range(corners.shape[1]):
        values[corners[:, place]] += d if place % 2 == 0 else -d


def totals_agree(before: Numeric, after: Numeric, known: Flags, groups: Ints) -> bool:
    """Return True when the totals of every group are the same: whole numbers exactly, others to 1e-9."""
    n_groups = int(groups.max(initial=-1)) + 1
    if before.dtype == np.int64:
        change = np.zeros(n_groups, dtype=np.int64)
        np.add.at(change, groups[known], after[known] - before[known])
        return not change.any()
    size = np.bincount(groups[known], weights=np.abs(before[known]), minlength=n_groups)
    change = np.bincount(groups[known], weights=after[known] - before[known], minlength=n_groups)
    return bool(np.all(np.abs(change) <= 1e-9 * size))
