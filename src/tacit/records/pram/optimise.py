"""The matrix that changes least among those that leave no unsafe combination: a linear program."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible, InvalidParameter
from tacit.records.pram.matrices import as_counts, identity, stays_for
from tacit.records.pram.transition import Explicit, Transition
from tacit.solve import Highs, LinearModel
from tacit.stats.margins import GridMargin, sweep_margins

Cost = Literal["changes", "distance"]

#: Categories of a linear program: it has as many variables as the square.
LARGEST = 400
#: Bounds are kept with this much to spare, so that rounding does not make a safe cell unsafe.
SPARE = 1e-7
#: The solver's tolerances, and rounds of fitting that take off what it leaves.
OPTIONS = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
ROUNDS = 200


def optimal(
    table: npt.ArrayLike,
    tau: float,
    *,
    least_stay: npt.ArrayLike = 0.05,
    invariant: bool = True,
    cost: Cost = "changes",
    forbidden: Flags | None = None,
) -> Transition:
    """Return the transition matrix of least expected change that leaves no unsafe cell.

    For fixed counts the risk of a cell is at most T(k,c) / tau exactly when

        tau p_kk <= sum_l p_lk T(l,c),

    which is linear in P, and so are expected change and invariance.

    Parameters
    ----------
    table
        Counts of the variable's categories (rows) in the cells of the variables it is crossed with
        (columns); a single column, or a vector, for the variable alone.
    tau
        The threshold: a cell with 0 < T < tau is rare.
    least_stay
        The least stay probability, one for all or one a category.
    invariant
        Keep the expected frequencies of the variable.
    cost
        ``changes`` counts a change as 1, ``distance`` as the number of places it moves.
    forbidden
        Moves k to l that must not happen.

    Raises
    ------
    Infeasible
        When no such matrix exists.
    """
    cells = np.asarray(table, dtype=np.float64)
    cells = cells[:, None] if cells.ndim == 1 else cells.reshape(len(cells), -1)
    if not tau > 0:
        raise InvalidParameter("tau, the threshold, must be greater than 0")
    t = as_counts(cells.sum(axis=1))
    n = len(t)
    if n > LARGEST:
        raise InvalidParameter(
            f"an optimal matrix is computed for at most {LARGEST} categories; this variable has {n}"
        )
    if n == 1:
        return identity(1)
    least = stays_for(n, least_stay)
    allowed = np.ones((n, n), dtype=bool) if forbidden is None else ~forbidden
    allowed = allowed & (t > 0)[:, None] | np.eye(n, dtype=bool)
    if invariant:
        allowed &= (t > 0)[None, :] | np.eye(n, dtype=bool)
    row, column = np.nonzero(allowed)
    at = np.full((n, n), -1)
    at[row, column] = np.arange(len(row))
    distance = np.abs(row - column).astype(np.float64)
    price = (distance if cost == "distance" else np.minimum(distance, 1.0)) * t[row] / t.sum()
    floor = np.where(row == column, np.where(t > 0, least, 1.0)[row], 0.0)
    rows = linear_rows(cells, tau, at, row, column, invariant=invariant)
    model = LinearModel.of(price, *rows, lower=floor, upper=1.0)
    answer = Highs(model, presolve=True, options=OPTIONS).solve()
    if answer.x is None:
        raise Infeasible(
            "no transition matrix leaves every rare combination safe within these bounds. Lower stay or tau, "
            "allow more moves, give up invariance, or first merge categories."
        )
    p = np.zeros((n, n))
    p[row, column] = np.maximum(answer.x, 0.0)
    return Explicit(tidy_solution(p, t if invariant else None))


def linear_rows(
    cells: Floats, tau: float, at: Ints, row: Ints, column: Ints, *, invariant: bool
) -> tuple[sparse.csr_array, Floats, Floats]:
    """Return the matrix of the program and its limits: sums of rows, invariance, and safe cells."""
    t = cells.sum(axis=1)
    which, one, shape = np.arange(len(row)), np.ones(len(t)), (len(t), len(row))
    rows = [(sparse.csr_array((np.ones(len(row)), (row, which)), shape=shape), one, one)]
    if invariant:
        share = t[row] / np.where(t > 0, t, 1.0)[column]
        even = np.where(t > 0, 1.0, 0.0)
        rows.append((sparse.csr_array((share, (column, which)), shape=shape), even, even))
    bound = risk_rows(cells, tau, at)
    rows.append((bound, np.zeros(bound.shape[0]), np.full(bound.shape[0], np.inf)))
    blocks, low, high = zip(*rows, strict=True)
    return sparse.vstack(blocks), np.concatenate(low), np.concatenate(high)


def risk_rows(cells: Floats, tau: float, at: Ints) -> sparse.csr_array:
    """Return one row per rare cell (k, c): sum_l p_lk T(l,c) - tau p_kk >= 0."""
    k, c = np.nonzero((cells > 0) & (cells < tau))
    n = len(cells)
    source = np.tile(np.arange(n), len(k))
    which = np.repeat(np.arange(len(k)), n)
    column = at[source, k[which]]
    value = cells[source, c[which]]
    used = (column >= 0) & (value > 0)
    rows = np.concatenate([which[used], np.arange(len(k))])
    columns = np.concatenate([column[used], at[k, k]])
    values = np.concatenate([value[used], np.full(len(k), -tau * (1.0 + SPARE))])
    shape = (len(k), int(at.max()) + 1)  # entries in the same place add up
    return sparse.csr_array((values / tau, (rows, columns)), shape=shape)


def tidy_solution(p: Floats, counts: Floats | None) -> Floats:
    """Return a solution without the solver's rounding: rows sum to 1 and, with counts, R^T T = T."""
    p = p / p.sum(axis=1, keepdims=True)
    if counts is None:
        return p
    flows = p * counts[:, None]
    margins = [GridMargin.of([axis], counts, flows.shape) for axis in (1, 0)]
    for sweep in sweep_margins(flows, margins, ROUNDS, empty=1.0):
        flows = sweep.values
    out = flows / np.where(counts > 0, counts, 1.0)[:, None]
    out[counts <= 0] = np.eye(len(counts))[counts <= 0]
    return np.asarray(out)
