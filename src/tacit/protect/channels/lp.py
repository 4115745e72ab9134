"""The linear program (11)-(16) over given output channels, sparse, and the call to HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from tacit.errors import Infeasible, LimitReached, SolverError
from tacit.protect.channels.candidates import Column
from tacit.protect.channels.cone import Cone
from tacit.protect.channels.problem import Flags, Floats, Ints


@dataclass(frozen=True, eq=False)
class Model:
    """A sparse linear program over subjects x_rw, in units of size."""

    columns: list[Column]
    channel: Ints
    column: Ints
    cost: Floats
    matrix: sparse.csc_array
    lower: Floats
    upper: Floats


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the solver returned: value, x by variable, bound, and whether it is optimal."""

    value: float
    x: Floats
    bound: float
    optimal: bool


def lp_size(columns: list[Column], n_channels: int, n_values: int) -> tuple[int, int]:
    """Return the number of variables and of constraints of (11)-(16) (section 6.2)."""
    return sum(map(len, columns)), n_channels + (n_values + 1) * len(columns)


def build(cone: Cone, columns: list[Column], unit: float | None = None) -> Model:
    """Write (11)-(15) for the given sets; ``unit`` is the number of subjects in one unit."""
    scale = cone.unit / (cone.unit if unit is None else unit)
    lengths = np.array([len(column) for column in columns], dtype=np.int64)
    channel = np.array([r for column in columns for r in column], dtype=np.int64)
    w = np.repeat(np.arange(len(columns)), lengths)
    n, n_channels, L = len(channel), len(cone.m), cone.n_rules
    psi = np.add.reduceat(cone.m[channel], np.concatenate([[0], np.cumsum(lengths)[:-1]]))
    variable = np.arange(n)
    rows = [channel] + [n_channels + w * L + k for k in range(L)]
    values = [np.ones(n)] + [cone.G[k, channel] for k in range(L)]
    matrix = sparse.csc_array(
        (np.concatenate(values), (np.concatenate(rows), np.tile(variable, L + 1))),
        shape=(n_channels + L * len(columns), n),
    )
    size = cone.m * scale
    rules = len(columns) * L
    lower = np.concatenate([np.where(cone.risky, size, -np.inf), np.full(rules, -np.inf)])
    upper = np.concatenate([size, np.zeros(rules)])
    return Model(columns, channel, w, psi[w], matrix, lower, upper)


def run(
    model: Model,
    *,
    integer: bool = False,
    most: Floats | None = None,
    start: Floats | None = None,
    time_limit: float | None = None,
) -> Outcome:
    """Solve a model with HiGHS; raise Infeasible when the sets admit no assignment."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    if time_limit is not None:
        highs.setOptionValue("time_limit", float(max(0.1, time_limit)))
    tolerance = 1e-9 if integer else 1e-10
    highs.setOptionValue("primal_feasibility_tolerance", tolerance)
    highs.setOptionValue("dual_feasibility_tolerance", tolerance)
    if integer:
        highs.setOptionValue("mip_feasibility_tolerance", 1e-9)
        highs.setOptionValue("mip_rel_gap", 0.0)
        highs.setOptionValue("mip_abs_gap", 0.0)
    highs.passModel(_highs_model(model, integer, most))
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = start.tolist()
        highs.setSolution(solution)
    highs.run()
    return _outcome(highs, model, integer)


def _highs_model(model: Model, integer: bool, most: Floats | None) -> highspy.HighsLp:
    n = len(model.cost)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, len(model.lower)
    lp.col_cost_ = model.cost
    lp.col_lower_ = np.zeros(n)
    lp.col_upper_ = np.full(n, highspy.kHighsInf) if most is None else most
    lp.row_lower_, lp.row_upper_ = model.lower, model.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = model.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = model.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = model.matrix.data
    if integer:
        lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    return lp


def _outcome(highs: highspy.Highs, model: Model, integer: bool) -> Outcome:
    status = highs.getModelStatus()
    states = highspy.HighsModelStatus
    if status in (states.kInfeasible, states.kUnboundedOrInfeasible):
        raise Infeasible(
            "the candidate output channels admit no safe assignment; add the set of all input "
            "channels, or more candidates."
        )
    info = highs.getInfo()
    x = np.array(highs.getSolution().col_value, dtype=np.float64)
    if status == states.kOptimal:
        value = float(highs.getObjectiveValue())
        return Outcome(value, x, float(info.mip_dual_bound) if integer else value, True)
    if status == states.kTimeLimit:
        if integer and len(x) == len(model.cost) and np.isfinite(info.objective_function_value):
            return Outcome(
                float(info.objective_function_value), x, float(info.mip_dual_bound), False
            )
        raise LimitReached("the time limit was reached before any assignment was found; raise it.")
    raise SolverError("the program over output channels could not be solved.")


def to_sparse(
    model: Model, x: Floats, n_channels: int
) -> tuple[tuple[Column, ...], sparse.csr_array]:
    """Return the output channels in use and their subjects; ``x`` is in subjects."""
    full = sparse.csr_array(
        (x, (model.channel, model.column)), shape=(n_channels, len(model.columns))
    )
    used: Flags = np.asarray(full.sum(axis=0)).reshape(-1) > 0
    keep = np.flatnonzero(used)
    part = full.tocsc()[:, keep].tocsr()
    part.eliminate_zeros()
    return tuple(model.columns[w] for w in keep), part
