"""The linear program (11)-(16) over given output channels, sparse, and solving it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible, LimitReached
from tacit.records.channels.candidates import Column
from tacit.records.channels.cone import Cone
from tacit.solve import Highs, LinearModel, Solution

#: Tolerances for amounts in units of size, and for whole numbers of subjects.
LINEAR = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
WHOLE = {
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "mip_feasibility_tolerance": 1e-9,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
}


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
) -> Solution:
    """Solve a model; raise Infeasible when the sets admit no assignment."""
    whole = np.ones(len(model.cost), dtype=bool) if integer else None
    upper = np.inf if most is None else most
    program = Highs(
        LinearModel.of(
            model.cost, model.matrix, model.lower, model.upper, 0.0, upper, integer=whole
        ),
        presolve=True,
        options=WHOLE if integer else LINEAR,
    )
    if start is not None:
        program.start_from(start)
    found = program.solve(time_limit=time_limit)
    if found.state == "infeasible":
        raise Infeasible(
            "the candidate output channels admit no safe assignment; add the set of all input "
            "channels, or more candidates."
        )
    if found.x is None or (found.state != "optimal" and not integer):
        raise LimitReached("the time limit was reached before any assignment was found; raise it.")
    return found


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
