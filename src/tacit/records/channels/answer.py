"""An assignment of subjects to output channels, with its cost and independent checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.records.channels.problem import Problem

#: Comparisons of shares with thresholds allow for this much of rounding.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Answer:
    """How many subjects of each input channel go to each output channel.

    Attributes
    ----------
    problem
        The problem that is answered.
    columns
        Output channels in use, each a sorted tuple of input channels (numbered from 0). Safe
        subjects that stay in their own channel are in no column; see ``leftover``.
    x
        Subjects, R x W, as a compressed sparse row array; whole numbers when ``integer``.
    cost
        Total coarsening, Psi = sum_w psi_w sum_r x_rw (equation 10).
    bound
        No assignment of this kind costs less: the best proven lower bound.
    proven
        Whether ``cost`` equals the optimum (within 1e-9 of it, relative).
    integer
        Whether the subjects are whole.
    method
        How the answer was found.
    n_candidates
        Output channels that were looked at, where that number is meaningful.
    seconds
        Time taken.
    safe_binds
        Whether demanding safe subjects in every channel raised the cost; None when not examined.
    """

    problem: Problem
    columns: tuple[tuple[int, ...], ...]
    x: sparse.csr_array
    cost: float
    bound: float
    proven: bool
    integer: bool
    method: str
    n_candidates: int | None = None
    seconds: float = 0.0
    safe_binds: bool | None = None

    @property
    def gap(self) -> float:
        """Distance between the cost and the proven bound, as a share of the cost; 0 when proven."""
        if self.proven or self.cost <= 0:
            return 0.0
        return max(0.0, self.cost - self.bound) / self.cost

    def with_whole_bound(self) -> Answer:
        """Return a whole answer with bound and proof of its own; others come back as they are.

        Whole subjects cost whole numbers, so a bound on fractions of subjects may be rounded up, and an
        answer that meets it is the best. A proven answer keeps the bound on fractions, and has no gap.
        """
        if not self.integer:
            return self
        bound = max(self.bound, float(np.ceil(self.bound * (1 - TOLERANCE) - TOLERANCE)))
        if self.proven or self.cost <= bound:
            return replace(self, proven=True)
        return replace(self, bound=bound)

    @property
    def loss(self) -> float:
        """Omega = Psi / m^2: 0 when nothing is risky, 1 when all is one channel."""
        return self.cost / self.problem.subjects**2 if self.problem.subjects else 0.0

    @property
    def fraction(self) -> Fraction | None:
        """The cost as a simple fraction, when one agrees with it to twelve digits."""
        near = Fraction(self.cost).limit_denominator(10_000)
        return near if abs(float(near) - self.cost) <= 1e-12 * max(1.0, self.cost) else None

    @cached_property
    def sizes(self) -> Floats:
        """Subjects in each output channel."""
        return np.asarray(self.x.sum(axis=0), dtype=np.float64).reshape(-1)

    @cached_property
    def psi(self) -> Ints:
        """Cost of each output channel per subject: the full sizes of its members."""
        return np.array([self.problem.psi(column) for column in self.columns], dtype=np.int64)

    @cached_property
    def leftover(self) -> Floats:
        """Subjects of each input channel that keep their own channel."""
        used = np.asarray(self.x.sum(axis=1), dtype=np.float64).reshape(-1)
        return np.asarray(np.maximum(self.problem.m - used, 0.0), dtype=np.float64)

    @cached_property
    def all_shares(self) -> Floats:
        """P(v^k | w) of each output channel (equation 1), W x K."""
        held = self.x.T @ self.problem.P_rk
        return np.asarray(held / np.maximum(self.sizes, 1e-300)[:, None], dtype=np.float64)

    def shares(self, w: int) -> Floats:
        """P(v^k | w): the share of each risky value in output channel ``w``."""
        return np.asarray(self.all_shares[w], dtype=np.float64)

    @cached_property
    def aggregate(self) -> Floats:
        """Weighted sum of shares of each output channel (equation 8)."""
        weights = np.array([float(value) for value in self.problem.c])
        return np.asarray(self.all_shares @ weights, dtype=np.float64)

    @cached_property
    def safe_shares(self) -> Floats:
        """Share of subjects from safe input channels in each output channel."""
        held = self.x.T @ self.problem.safe.astype(np.float64)
        return np.asarray(held / np.maximum(self.sizes, 1e-300), dtype=np.float64)

    @cached_property
    def _whole(self) -> np.ndarray:
        """Which output channels are the set of all input channels."""
        n = self.problem.n_channels
        return np.array([len(column) == n for column in self.columns], dtype=bool)

    @property
    def share_in_all(self) -> float:
        """Share of all subjects that are in the all-channel set d0."""
        total = self.problem.subjects
        return float(self.sizes[self._whole].sum()) / total if total else 0.0

    @property
    def loss_without_all(self) -> float:
        """Omega of the subjects outside the all-channel set d0 (Figure 8)."""
        rest = ~self._whole
        remaining = self.problem.subjects - float(self.sizes[self._whole].sum())
        cost = float(self.psi[rest] @ self.sizes[rest])
        return cost / (self.problem.subjects * remaining) if remaining > 0 else 0.0

    @property
    def average_set_size(self) -> float:
        """Input channels named for an at-risk subject, on average, leaving d0 out (Figure 11)."""
        at_risk = np.asarray(self.x[self.problem.risky].sum(axis=0)).reshape(-1) * ~self._whole
        length = np.array([len(column) for column in self.columns], dtype=np.float64)
        return float(at_risk @ length) / float(at_risk.sum()) if at_risk.sum() > 0 else 0.0

    @property
    def unused(self) -> float:
        """Share of the candidates that hold no subject (Table 4)."""
        if not self.n_candidates:
            return 0.0
        return max(0.0, 1.0 - len(self.columns) / self.n_candidates)

    def checks(self) -> dict[str, bool]:
        """Verify the assignment again from the counts, exactly when subjects are whole.

        ``values`` is rule (7), ``aggregate`` rule (9), ``covered`` equations (12) and (13),
        ``inclusive`` that subjects stay within their sets, ``a_priori`` condition (5),
        ``safe_subjects`` the least share of safe subjects, ``cost`` the total.
        """
        value_sums, aggregate_sums = self._cone_sums()
        return {
            "values": value_sums,
            "aggregate": aggregate_sums,
            "covered": self._covered(),
            "inclusive": self._inclusive(),
            "a_priori": all(self.problem.a_priori_safe(column) for column in self.columns),
            "safe_subjects": bool(
                (self.safe_shares >= float(self.problem.min_safe_share) - TOLERANCE).all()
            ),
            "cost": bool(
                np.isclose(float(self.psi @ self.sizes), self.cost, rtol=TOLERANCE, atol=TOLERANCE)
            ),
        }

    @property
    def is_safe(self) -> bool:
        """Whether every check holds."""
        return all(self.checks().values())

    def _cone_sums(self) -> tuple[bool, bool]:
        if not self.columns:
            return True, True
        if self.integer:
            held = self.x.tocsc()
            sums = [
                self.problem.rows[:, held.indices[a:b]]
                @ np.array([Fraction(round(v)) for v in held.data[a:b]], dtype=object)
                for a, b in zip(held.indptr[:-1], held.indptr[1:], strict=True)
                if b > a
            ]
            exact = [[value <= 0 for value in column] for column in sums]
            return all(all(column[:-1]) for column in exact), all(column[-1] for column in exact)
        rows = self.problem.rows.astype(np.float64)
        # A set with a millionth of a subject is rounding of the solver: excess is counted in subjects.
        excess = (rows @ self.x) / np.maximum(self.sizes, 1.0)
        return bool((excess[:-1] <= TOLERANCE).all()), bool((excess[-1] <= TOLERANCE).all())

    def _covered(self) -> bool:
        used = np.asarray(self.x.sum(axis=1), dtype=np.float64).reshape(-1)
        slack = TOLERANCE * max(1.0, self.problem.subjects)
        exact = np.abs(used - self.problem.m)[self.problem.risky] <= slack
        within = (used - self.problem.m)[self.problem.safe] <= slack
        return bool(exact.all() and within.all() and (self.x.data >= -slack).all())

    def _inclusive(self) -> bool:
        held = self.x.tocoo()
        members = [frozenset(column) for column in self.columns]
        return all(
            int(r) in members[w] for r, w, v in zip(held.row, held.col, held.data, strict=True) if v
        )


def from_assignment(
    problem: Problem, assignment: Mapping[Sequence[int], Mapping[int, float]]
) -> tuple[tuple[tuple[int, ...], ...], sparse.csr_array]:
    """Return the columns and the sparse x of a mapping from channel sets to subjects by channel.

    Safe singletons are left out, since they cost nothing.
    """
    columns: list[tuple[int, ...]] = []
    rows: list[int] = []
    places: list[int] = []
    values: list[float] = []
    for channels, taken in assignment.items():
        column = tuple(sorted(int(r) for r in channels))
        if len(column) == 1 and problem.safe[column[0]]:
            continue
        used = {int(r): float(v) for r, v in taken.items() if v}
        rows += [*used]
        places += [len(columns)] * len(used)
        values += used.values()
        columns.append(column)
    at = np.array(rows, dtype=int), np.array(places, dtype=int)
    shape = (problem.n_channels, len(columns))
    return tuple(columns), sparse.csr_array((np.array(values, dtype=np.float64), at), shape=shape)
