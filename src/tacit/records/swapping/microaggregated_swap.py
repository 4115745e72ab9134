"""Microaggregated swapping: values move within cells while weights and weighted means stay."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.block import Missing, read_block
from tacit.data.hierarchy import ground_labels
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import classes, not_numeric
from tacit.errors import (
    DisclosureRefused,
    Infeasible,
    InputError,
    InvalidParameter,
    SdcError,
    WeakProtection,
)
from tacit.fields import ColumnName, ColumnNames, Secret
from tacit.records.microaggregation.grouping.loss import parts_of
from tacit.registry import register
from tacit.spec import Method

#: Relative error of a cell's weighted mean above which the result is refused.
TOLERANCE = 1e-9


@register
class MicroaggregatedSwap(Method):
    """Swap numbers within cells so that weights stay valid and weighted cell means stay exact.

    In each cell of ``by`` the records are sorted by the variable, and their sampling weights are permuted
    at random; the weighted distribution is cut into consecutive groups as heavy as the permuted weights,
    and each record gets the mean of the group that its own weight went to. Weights, cells and all other
    columns stay. The weighted mean of every cell stays exactly, values stay within the cell's range, and
    the weighted variance does not grow. With equal weights it is a random permutation within cells. Each
    column has a permutation of its own, so that relations between masked columns within a cell are lost.

    "Element i goes to position p(i)" is the reading of the permutation under which the example of the
    paper's appendix comes out; the paper does not say.

    References
    ----------
    Trottini, Franconi, Polettini (2006), Italian household expenditure survey: a proposal for data
    dissemination, PSD 2006, LNCS 4302, 318-333, section 6.2 and appendix.
    """

    kind: Literal["microaggregated_swap"] = "microaggregated_swap"
    columns: ColumnNames = Field(description="the sensitive numeric columns, each masked by itself")
    by: tuple[ColumnName, ...] = Field(
        description="the columns whose classes are the cells within which values move"
    )
    min_cell: int = Field(default=3, ge=2, description="cells with fewer records are reported")
    strict: bool = Field(
        default=False, description="refuse the data when a cell is smaller than min_cell"
    )
    missing: Missing = Field(
        default="refuse", description="refuse missing values, or leave records with one as they are"
    )
    permutation: Mapping[ColumnName, Mapping[str, tuple[int, ...]]] | None = Secret(
        None,
        description="permutations to use instead of drawn ones: of each column, for each cell (its values "
        "of by, joined by ' x '), to which place 1..n of the sorted cell each sorted record's weight goes",
    )

    on_weight = "used"
    on_stratum = "by"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("swap values", "microaggregation")
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "by": ["sex"]}
    column_fields = ("columns", "by")

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers, cells made of masked columns."""
        found = [*super().faults(data), *not_numeric(data, self.columns, self.kind)]
        if set(self.columns) & set(self.by):
            found.append(InputError("microaggregated_swap: a column of 'by' cannot be masked"))
        if data.weight in self.columns:
            found.append(InputError("microaggregated_swap: the weight column cannot be masked"))
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        weights = weights_of(data)
        if (weights <= 0).any() or not np.isfinite(weights).all():
            raise InputError("microaggregated_swap: weights must be finite and above 0")
        cells = classes(data, self.by)[0]
        new: dict[str, Any] = {}
        unchanged, shares, small = {}, {}, np.zeros(len(cells), dtype=bool)
        for c in self.columns:
            block = read_block(data, [c], self.kind, missing=self.missing)
            x, w, ids = block.x[:, 0], weights[block.complete], cells[block.complete]
            if not len(x):
                return data
            masked, filled = x.copy(), []
            draw = self.permutations(c, data, ids, block.complete, ctx)
            for done, at in enumerate(parts_of(ids)):
                if done % 64 == 0:
                    ctx.tick("swapping within cells", None)
                if len(at) > 1:
                    order = draw(at)
                    masked[at] = microaggregated_swap(x[at], w[at], order)
                    filled.append(float(largest_shares(x[at], w[at], order).max()))
                if len(at) < self.min_cell:
                    small[np.flatnonzero(block.complete)[at]] = True
            means_kept(x, masked, w, ids)
            unchanged[c] = float((masked == x).mean())
            shares[c] = float(np.mean(filled)) if filled else 1.0
            new |= block.released(masked[:, None])
        ctx.note(largest_share_of_a_group=shares)
        self.tell(cells, small, unchanged, ctx)
        return data.replace(new)

    def permutations(
        self, column: str, data: Microdata, ids: Ints, complete: Flags, ctx: Context
    ) -> Callable[[Ints], Ints]:
        """Return what gives the permutation of a cell, from its records: drawn, or the one that was given."""
        if self.permutation is None:
            return lambda at: ctx.rng.permutation(len(at))
        given = self.permutation.get(column)
        if given is None:
            raise InvalidParameter(
                f"microaggregated_swap: permutation has none for column {column!r}"
            )
        names = name_cells(data, self.by, np.flatnonzero(complete))
        size = np.bincount(ids)[ids]
        first = {str(n): int(k) for n, k in zip(names.tolist(), size.tolist(), strict=True)}
        check_permutations(given, first)
        return lambda at: np.array(given[str(names[at[0]])], dtype=np.int64) - 1

    def tell(self, cells: Ints, small: Flags, unchanged: Mapping[str, float], ctx: Context) -> None:
        """Note what was done; report or refuse cells that are too small."""
        size = np.bincount(cells)
        n_small = len(np.unique(cells[small]))
        ctx.note(
            cells=int((size > 0).sum()),
            small_cells=n_small,
            unprotected_records=int((size[cells] == 1).sum()),
            share_unchanged=dict(unchanged),
        )
        if not n_small:
            return
        if (size <= 1).all():
            raise Infeasible(
                "microaggregated_swap: every record is alone in its cell, so nothing can be exchanged. Use fewer or coarser columns in 'by'."
            )
        if self.strict:
            raise Infeasible(
                f"microaggregated_swap: {n_small} cells have fewer than {self.min_cell} records. Use fewer or coarser columns in 'by'."
            )
        warnings.warn(
            f"microaggregated_swap: {n_small} cells have fewer than {self.min_cell} records, whose values hardly move; a record alone in its cell keeps its value",
            WeakProtection,
            stacklevel=4,
        )


def name_cells(data: Microdata, by: Sequence[str], rows: Ints) -> npt.NDArray[np.object_]:
    """Return the name of the cell of some records: its values, joined by ' x '."""
    coded = [data.codes(c) for c in by]
    texts = [
        np.array([*ground_labels(c.values).to_pylist(), "missing"], dtype=object)[c.codes[rows]]
        for c in coded
    ]
    return np.array([" x ".join(parts) for parts in zip(*texts, strict=True)], dtype=object)


def check_permutations(given: Mapping[str, tuple[int, ...]], size: Mapping[str, int]) -> None:
    """Refuse permutations of cells that do not exist, that lack one, or that do not fit.

    Cells are those of a confidential file, but what the caller has named may be named.
    """
    unknown = [name for name in given if name not in size]
    if unknown:
        raise InvalidParameter(
            f"microaggregated_swap: permutation names the cell {unknown[0]!r}, which the data do not have"
        )
    lacking = sum(n > 1 and name not in given for name, n in size.items())
    if lacking:
        raise InvalidParameter(
            f"microaggregated_swap: permutation leaves out {lacking:,} cells of two records or more"
        )
    for name, order in given.items():
        if sorted(order) != list(range(1, size[name] + 1)):
            raise InvalidParameter(
                f"microaggregated_swap: the permutation of cell {name!r} must hold each of the places of "
                "its records, from 1, exactly once"
            )


def means_kept(x: Floats, masked: Floats, w: Floats, ids: Ints) -> None:
    """Check that the weighted mean of every cell is the same and that no value left its cell's range."""
    n = int(ids.max()) + 1
    before, after = (np.bincount(ids, weights=w * v, minlength=n) for v in (x, masked))
    size = np.bincount(ids, weights=w * np.abs(x), minlength=n)
    low, high = cell_ranges(ids, x, n)
    if (np.abs(after - before) > TOLERANCE * size).any() or (
        (masked < low[ids]) | (masked > high[ids])
    ).any():
        raise DisclosureRefused(
            "microaggregated_swap: a weighted cell mean was not kept; nothing was released"
        )


def cell_ranges(ids: Ints, x: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the smallest and the largest value of each cell."""
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, ids, x)
    np.maximum.at(high, ids, x)
    return low, high


def microaggregated_swap(y: Floats, w: Floats, permutation: Ints) -> Floats:
    """Return the masked values of a cell.

    The weights, sorted by y, are permuted: element i moves to position ``permutation[i]`` (counted from
    0; only this reading gives the printed example). The weighted distribution of y is cut into groups of
    the permuted weights and the record at sorted position i gets the mean of the group to which its
    weight went. With C and S the cumulated weights and weighted values and I the line through the
    points (C, S), a group that ends at D after one that ended at D' has the mean (I(D) - I(D')) / (D - D').
    """
    order, ws, moved, passed, ends = move_weights(y, w, permutation)
    ys = y[order]
    # Values about their middle: the sums then keep the digits that the means need.
    centre = float(np.average(ys, weights=ws))
    sums = np.concatenate([[0.0], np.cumsum(ws * (ys - centre))])
    means = np.diff(np.interp(ends, passed, sums)) / moved + centre
    out = np.empty_like(ys)
    out[order] = np.clip(means, ys[0], ys[-1])[permutation]
    return out


def move_weights(
    y: Floats, w: Floats, permutation: Ints
) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    """Return the order of a cell, its weights in that order and permuted, and both cumulated."""
    order = np.argsort(y, kind="stable")
    ws = w[order]
    moved = np.empty_like(ws)
    moved[permutation] = ws
    passed, ends = (np.concatenate([[0.0], np.cumsum(v)]) for v in (ws, moved))
    ends[-1] = passed[-1]
    return order, ws, moved, passed, ends


def largest_shares(y: Floats, w: Floats, permutation: Ints) -> Floats:
    """Return for each group of a swapped cell the largest share of it that one record's weight makes up.

    A group that one record fills (share 1) gives out that record's own value, to whoever got it.
    """
    _, ws, moved, passed, ends = move_weights(y, w, permutation)
    # Pieces between neighbouring ends of either kind lie in one record and in one group.
    cuts = np.unique(np.concatenate([passed, ends]))
    middle = (cuts[1:] + cuts[:-1]) / 2
    group = np.clip(np.searchsorted(ends, middle, side="right") - 1, 0, len(ws) - 1)
    largest = np.zeros(len(ws))
    np.maximum.at(largest, group, np.diff(cuts))
    return np.minimum(largest / moved, 1.0)
