"""Which records are at risk: the individual risk on codes, a missing value agreeing with every value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.codes import Cells, Coded, wildcard_sizes
from tacit.errors import Infeasible
from tacit.records.samples.posterior import expected_inverse, share_sampled
from tacit.records.suppression.local_problem import MISSING, Demand, Problem, distinct_rows

#: Room for the last binary digits.
SLACK = 1e-12
STAYS = (
    "local_suppression: some records stay above risk_above with every cell gone that may be suppressed. Allow more columns, "
    "or ask for less."
)


def find_risky(codes: Ints, weights: Floats, demands: Sequence[Demand], above: float) -> Flags:
    """Return the records whose risk on some set of columns is above a threshold."""
    risky = np.zeros(len(codes), dtype=bool)
    for demand in demands:
        risky |= individual_risks(codes[:, demand.columns], weights) > above * (1 + SLACK)
    return risky


def individual_risks(codes: Ints, weights: Floats) -> Floats:
    """Return the Benedetti-Franconi risk of each record, missing codes (-1) agreeing with all."""
    first, of, size = distinct_rows(codes)
    keys = {}
    for j, column in enumerate(codes[first].T):
        n_values = int(column.max(initial=MISSING)) + 1
        coded = np.where(column == MISSING, n_values, column).astype(np.int32)
        keys[str(j)] = Coded(coded, pa.nulls(n_values))
    sums = np.bincount(of, weights=weights, minlength=len(size)).astype(np.float64)
    cells = Cells(keys, size, sums)
    f = np.rint(wildcard_sizes(cells))
    return expected_inverse(f, share_sampled(f, wildcard_sizes(cells, weighted=True)))[of]


def hide_until_safe(
    problem: Problem, weights: Floats, above: float, hide: Callable[[Problem], Flags]
) -> Flags:
    """Hide cells for all demands until no record is at risk.

    ``hide`` meets the demands and takes a cell from every marked record. Missing values only add to the records that agree
    with any record, so that no risk rises, and each round takes a cell from every record that is still at risk.
    """
    hidden = hide(problem)
    while True:
        now = np.where(hidden, MISSING, problem.codes)
        risky = find_risky(now, weights, problem.demands, above)
        if not risky.any():
            return hidden
        if not (now[np.ix_(risky, ~problem.fixed)] != MISSING).any(axis=1).all():
            raise Infeasible(STAYS)
        # A record at risk on one set may have no cell of another left, of which nothing more is asked.
        more = np.zeros_like(hidden)
        for demand in problem.demands:
            mine = find_risky(now, weights, [demand], above)
            if mine.any():
                more |= hide(replace(problem, codes=now, marked=mine, demands=(demand,)))
        hidden = hidden | more
        rest = hide(replace(problem, codes=np.where(hidden, MISSING, problem.codes), marked=None))
        hidden = hidden | rest
