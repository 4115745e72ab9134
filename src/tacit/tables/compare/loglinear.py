"""Goodness of fit of a hierarchical log-linear model before and after (section 2.8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.engine.codes import group_ids
from tacit.errors import ColumnNotFound, InputError
from tacit.stats.margins import Margin, sweep_margins
from tacit.tables.compare.formulas import row_blocks
from tacit.tables.compare.layout import Layout
from tacit.tables.margins.margins import junction

Names = tuple[str, ...]
Model = Sequence[Sequence[str]]

MOST_ROUNDS = 1000
CLOSE = 1e-10
#: Up to this size lines are added by a product with their membership matrix.
SMALL_PRODUCT = 100_000


@dataclass(frozen=True)
class Fit:
    """A fitted model: the deviance L2, the rounds that fitting took (0: closed form), convergence."""

    deviance: float
    rounds: int
    converged: bool


def deviance(layout: Layout, cells: Floats, model: Model) -> Fit:
    r"""Return :math:`L^2 = 2\sum o\ln(o/\hat e)` of the model that fits the given margins of ``cells``.

    Decomposable models have a closed form: the product of the margins over the product of their
    separators. Others are fitted by iterative proportional fitting from ones, on the cells that no
    margin forces to be empty. Combinations of categories that the layout does not have count as
    structural zeros, and then fitting is always iterative.
    """
    margins = find_maximal_margins(layout, model)
    n = float(cells.sum())
    if n == 0:
        return Fit(0.0, 0, converged=True)
    junctions = separators(margins)
    if junctions is not None and layout.rows.is_full and layout.columns.is_full:
        return Fit(2 * closed_form(layout, cells, margins, junctions), 0, converged=True)
    fitted, rounds, converged = proportional_fitting(layout, cells, margins)
    flat = cells.ravel()
    some = flat > 0
    logs = np.log(flat[some] / fitted[some])
    return Fit(2 * float(flat[some] @ logs), rounds, converged)


def find_maximal_margins(layout: Layout, model: Model) -> list[Names]:
    """Return the margins of a model that no other margin contains, variables in table order."""
    given = [(m,) if isinstance(m, str) else tuple(m) for m in model]
    unknown = [v for m in given for v in m if v not in layout.variables]
    if unknown:
        raise ColumnNotFound(dict.fromkeys(unknown), list(layout.variables), "the table")
    if not any(given):
        raise InputError("a log-linear model needs at least one margin, e.g. [['sex', 'area']]")
    ordered = [tuple(v for v in layout.variables if v in m) for m in given]
    sets = list(dict.fromkeys(ordered))
    return [m for m in sets if m and not any(set(m) < set(other) for other in sets)]


def separators(margins: Sequence[Names]) -> list[Names] | None:
    """Return the separators of a decomposable model, or None when it is not decomposable."""
    order = junction(margins)
    return None if order is None else [separator for _, separator in order[:0:-1]]


def closed_form(
    layout: Layout, cells: Floats, margins: Sequence[Names], junctions: Sequence[Names]
) -> float:
    """Return the sum of o ln(o / e) of a decomposable model, without making e.

    With e the product of margins over that of separators, spread evenly over variables that no margin
    names, the sum is that of m ln m over cells, less margins, plus separators.
    """
    covered = {v for m in margins for v in m}
    idle = math.prod(len(layout.categories(v)) for v in layout.variables if v not in covered)
    n = float(cells.sum())
    value = x_log_x(cells) + n * math.log(idle)
    value -= sum(x_log_x(margin_of(layout, cells, m)) for m in margins)
    return value + sum(x_log_x(margin_of(layout, cells, s)) for s in junctions)


def x_log_x(values: Floats) -> float:
    """Return the sum of x ln x, with 0 ln 0 = 0."""
    flat = values.reshape(1, -1) if values.ndim == 1 else values
    total = 0.0
    for part in row_blocks(flat):
        block = flat[part]
        total += float(np.vdot(block, np.log(np.where(block > 0, block, 1.0))))
    return total


def margin_of(layout: Layout, cells: Floats, names: Names) -> Floats:
    """Return a margin of the cells, flat; the sides are summed one after the other."""
    for axis, side in ((0, layout.rows), (1, layout.columns)):
        kept = [i for i, v in enumerate(side.names) if v in names]
        if len(kept) < len(side.names):
            sizes = [len(side.categories[i]) for i in kept]
            ids, n = group_ids([side.codes[i] for i in kept], sizes, n_rows=len(side))
            cells = sum_equal_lines(cells, ids, n, axis)
    return np.ascontiguousarray(cells).ravel()


def sum_equal_lines(cells: Floats, ids: Ints, n: int, axis: int) -> Floats:
    """Return the cells with lines of the same number added along an axis."""
    if n == 1:
        return cells.sum(axis=axis, keepdims=True)
    if len(ids) * n <= SMALL_PRODUCT:
        belongs = np.zeros((len(ids), n))
        belongs[np.arange(len(ids)), ids] = 1.0
        return cells @ belongs if axis else belongs.T @ cells
    order = np.argsort(ids, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(ids[order]) > 0])
    return np.add.reduceat(np.take(cells, order, axis=axis), starts, axis=axis)


def proportional_fitting(
    layout: Layout, cells: Floats, margins: Sequence[Names]
) -> tuple[Floats, int, bool]:
    """Return fitted cells, flat; each round scales them to every margin in turn."""
    flat = cells.ravel()
    parts = []
    for names in margins:
        codes = [layout.cell_codes(v) for v in names]
        ids, n = group_ids(codes, [len(layout.categories(v)) for v in names])
        total = np.bincount(ids, flat, minlength=n).astype(np.float64)
        parts.append(Margin(ids, total))
    start = np.ones(len(flat))
    for part in parts:
        start[part.total[part.group] == 0] = 0.0
    scale = float(flat.max())
    for fitted, gap, rounds in sweep_margins(start, parts, MOST_ROUNDS):
        if rounds > 1 and gap <= CLOSE * scale:
            return fitted, rounds, True
    return fitted, MOST_ROUNDS, False
