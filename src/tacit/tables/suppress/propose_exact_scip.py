"""Exact suppression by branch and cut with lazy cuts, on SCIP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.arrays import Floats
from tacit.solve.model import LinearModel
from tacit.solve.scip import LazyScip

if TYPE_CHECKING:
    from tacit.tables.suppress.moves.cuts import Cut
    from tacit.tables.suppress.propose_exact import Search


def branch_and_cut(search: Search) -> None:
    """Finish a search whose root phase is done; bound and best pattern are kept in it."""
    program = LazyScip(build_master(search), SafetyJudge(search))
    program.start_from(search.separator.point(search.best))
    found = program.solve(time_limit=search.left, gap=search.gap)
    if found.state == "infeasible" or (found.state == "optimal" and search.gap == 0):
        # With cells fixed by reduced costs, infeasible means that nothing is cheaper than the best.
        search.bound = search.price
    elif math.isfinite(found.bound):
        search.bound = max(search.bound, min(found.bound, search.price))


def build_master(search: Search) -> LinearModel:
    """Return the master problem with the cuts and bridges of the root phase."""
    cost = search.separator.cost
    n = len(cost)
    rows = [(cut.columns, cut.values) for cut in search.cuts]
    for cell, others in search.bridges:
        rows.append((np.append(others, cell), np.append(np.ones(len(others)), -1.0)))
    at = np.repeat(np.arange(len(rows)), [len(columns) for columns, _ in rows])
    columns = np.concatenate([c for c, _ in rows]) if rows else np.zeros(0, dtype=np.int64)
    values = np.concatenate([v for _, v in rows]) if rows else np.zeros(0)
    least = np.r_[np.ones(len(search.cuts)), np.zeros(len(search.bridges))]
    return LinearModel.of(
        cost,
        sparse.csc_array((values, (at, columns)), shape=(len(rows), n)),
        least,
        np.inf,
        search.into.astype(np.float64),
        1.0 - search.out,
        integer=np.ones(n, dtype=bool),
    )


class SafetyJudge:
    """Decides which patterns are safe, and cuts off those that are not."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.turns = 0
        self.better = False

    def accepts(self, x: Floats) -> bool:
        """Return True when a candidate of the solver's heuristics is safe."""
        if self.search.separator.cut_binary_point(x, most=1):
            return False
        self.search.offer_pattern(self.search.separator.pattern(x))
        return True

    def cut_whole(self, x: Floats) -> list[Cut]:
        """Return cuts against a whole point; none when it is safe."""
        cuts = self.search.separator.cut_binary_point(x)
        if not cuts:
            self.search.offer_pattern(self.search.separator.pattern(x))
            return cuts
        # Some of the unsafe candidates are made safe and handed back.
        self.turns += 1
        often = self.turns & (self.turns - 1) == 0 or self.turns % 16 == 0
        self.better = often and self.search.mend(x)
        return cuts

    def cut_fractional(self, x: Floats) -> list[Cut]:
        """Return cuts against a fractional point."""
        return self.search.separator.fractional(x, stop=self.search.stop)

    def wants_to_stop(self) -> bool:
        """Return True when the search was asked to end."""
        return self.search.asked()

    def suggest(self) -> Floats | None:
        """Return the best pattern when mending has just found it."""
        found, self.better = self.better, False
        return self.search.separator.point(self.search.best) if found else None
