"""Normal equations (A Theta A') dy = g by blocks: Schur complements, conjugate gradients, or directly.

Every interior-point step of a linear program over a table solves such a system with another diagonal
Theta. In primal block-angular form it is [[B, C], [C', D]] with B = diag(A_i Theta_i A_i'), and

    (D - C' B^-1 C) dy2 = g2 - C' B^-1 g1,    B dy1 = g1 - C dy2.

In dual form the linking columns are shared by blocks of rows. Each is given one copy per block, so that the
diagonal blocks keep all of their own weight (and stay regular when A has full rank), and the copies are
tied together: with E the entries of the copies and S = theta (11' - I) for each linking column,
M = B + E S E', and the inverse follows from that of the small matrix S^-1 + E' B^-1 E.

Relations of tables depend on each other, so that A Theta A' is singular. A small multiple of the identity
is added before factoring and taken out again by refinement: for every g in the range this gives a solution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import LinearOperator, cg, splu

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, InvalidParameter, SolverError
from tacit.tables.structure.detection import Relations, Structure, detect_structure, matrix_of

Solve = Callable[[Floats], Floats]
SolveBy = Literal["schur", "pcg", "direct"]

#: What is added to the diagonal, as a share of its mean.
SHIFT = 1e-10
#: The residual at which refinement stops, and beyond which there is no solution, as shares of g.
SHARP, LOOSE = 1e-14, 1e-6
#: Steps of refinement at most.
STEPS = 30
#: Right-hand sides that are solved for at once.
CHUNK = 256
#: Relative tolerance and iterations of conjugate gradients.
PCG_TOLERANCE, PCG_STEPS = 1e-11, 20_000


def normal_eq_solver(
    relations: Relations,
    theta: npt.ArrayLike,
    structure: Structure | None = None,
    method: SolveBy = "schur",
    series: int = 1,
) -> NormalEquations:
    r"""Return a solver of :math:`(A \Theta A') \, dy = g`: call it with g.

    Parameters
    ----------
    relations
        A: a table or a matrix, the one whose structure was found.
    theta
        The positive diagonal.
    structure
        Blocks and border; found with k = 2 in the better form when left out.
    method
        ``schur``: factor the blocks and the dense system of the border; ``pcg``: the same by conjugate
        gradients, with D (primal) or the blocks (dual) as the preconditioner; ``direct``: factor the
        whole matrix and ignore the structure.
    series
        Further terms of the power series D^-1 + D^-1 (C' B^-1 C) D^-1 + ... that improve the
        preconditioner D.
    """
    if method not in get_args(SolveBy):
        raise InvalidParameter(f"method must be one of {', '.join(get_args(SolveBy))}")
    matrix = matrix_of(relations)
    diagonal = check_theta(theta, matrix.shape[1])
    if structure is None and method != "direct":
        structure = detect_structure(relations, "best", seed=0)
    if structure is None:
        m, n = matrix.shape
        nothing = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64)
        return NormalEquations(matrix, diagonal, *nothing, 1, method)
    if structure.matrix.shape != matrix.shape:
        raise InputError("the structure belongs to a matrix of another size")
    found = structure.row_block, structure.column_block
    return NormalEquations(matrix, diagonal, *found, structure.k, method, series)


class NormalEquations:
    """A solver for one Theta: call it with g to have dy.

    Attributes
    ----------
    border
        Size of the system that ties the blocks together (0 for ``direct``).
    fill
        Entries of all factors.
    iterations
        Of conjugate gradients, in the last call.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        theta: Floats,
        row_block: Ints,
        column_block: Ints,
        k: int,
        method: SolveBy = "schur",
        series: int = 1,
    ) -> None:
        self.matrix, self.theta = matrix, theta
        self.rows = [np.flatnonzero(row_block == b) for b in range(k)]
        self.series = series
        self.border = self.fill = self.iterations = 0
        scaled = sparse.csr_array(matrix * np.sqrt(theta)[None, :])
        size = np.asarray((scaled * scaled).sum(axis=1)).ravel()
        self.shift = SHIFT * float(size.mean()) if len(size) and size.any() else 1.0
        if method == "direct":
            self.once = self.factor(scaled @ scaled.T)
        elif (row_block < 0).any() or not (column_block < 0).any():
            self.once = self.primal(scaled, np.flatnonzero(row_block < 0), method)
        else:
            self.once = self.dual(scaled, np.flatnonzero(column_block < 0), row_block, method)

    def __call__(self, g: npt.ArrayLike) -> Floats:
        """Return dy with (A Theta A') dy = g.

        Raises
        ------
        SolverError
            When g is not in the range of the matrix, or Theta is too uneven for a solution.
        """
        right = np.asarray(g, dtype=np.float64).ravel()
        if len(right) != self.matrix.shape[0]:
            raise InputError(f"g has {len(right):,} entries for {self.matrix.shape[0]:,} relations")
        self.iterations = 0
        dy = np.zeros_like(right)
        size = float(np.abs(right).max(initial=0.0)) or 1.0
        rest, best = right.copy(), np.inf
        for _ in range(STEPS):
            step = dy + self.once(rest)
            left = right - self.apply(step)
            worst = float(np.abs(left).max(initial=0.0))
            if not worst < best:
                break
            gained, dy, rest, best = worst < 0.5 * best, step, left, worst
            if worst <= SHARP * size or not gained:
                break
        if not best <= LOOSE * size:
            raise SolverError(
                "the normal equations have no solution for this g: the relations depend on each other, "
                "or theta is too uneven. Drop dependent relations first (independent_rows)."
            )
        return dy

    def apply(self, y: Floats) -> Floats:
        """Return (A Theta A') y."""
        return np.asarray(self.matrix @ (self.theta * (self.matrix.T @ y)))

    def factor(self, square: sparse.sparray) -> Solve:
        """Factor a symmetric matrix, a little shifted, and return its solver."""
        n = square.shape[0]
        if not n:
            return lambda g: g
        shifted = sparse.csc_array(square + self.shift * sparse.eye_array(n))
        found = splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        self.fill += int(found.L.nnz)
        return lambda g: found.solve(np.ascontiguousarray(g))

    # -- primal form ---------------------------------------------------------------------------------

    def primal(self, scaled: sparse.csr_array, linking: Ints, method: SolveBy) -> Solve:
        """Eliminate the blocks, and solve for the linking rows."""
        parts = [scaled[r] for r in self.rows]
        link = scaled[linking]
        inner = [self.factor(p @ p.T) for p in parts]
        coupling = [sparse.csc_array(p @ link.T) for p in parts]
        corner = sparse.csc_array(link @ link.T)
        self.border = len(linking)
        if method == "schur":
            outer = self.dense_schur(corner, inner, coupling)
        else:
            outer = self.gradients(corner, inner, coupling)

        def solve(g: Floats) -> Floats:
            y = np.empty_like(g)
            first = [f(g[r]) for f, r in zip(inner, self.rows, strict=True)]
            right = g[linking].copy()
            for c, x in zip(coupling, first, strict=True):
                right -= c.T @ x
            tied = outer(right)
            y[linking] = tied
            for f, c, r in zip(inner, coupling, self.rows, strict=True):
                y[r] = f(g[r] - c @ tied)
            return y

        return solve

    def dense_schur(
        self, corner: sparse.csc_array, inner: list[Solve], coupling: list[sparse.csc_array]
    ) -> Solve:
        """Form D - C' B^-1 C and factor it."""
        if not corner.shape[0]:
            return lambda g: g
        schur = corner.toarray()
        schur[np.diag_indices_from(schur)] += self.shift
        for f, c in zip(inner, coupling, strict=True):
            touched = np.flatnonzero(np.diff(c.indptr))
            for at in range(0, len(touched), CHUNK):
                some = touched[at : at + CHUNK]
                schur[:, some] -= c.T @ f(c[:, some].toarray())
        self.fill += schur.size
        factors = lu_factor(schur, check_finite=False)
        return lambda g: np.asarray(lu_solve(factors, g, check_finite=False))

    def gradients(
        self, corner: sparse.csc_array, inner: list[Solve], coupling: list[sparse.csc_array]
    ) -> Solve:
        """Solve with D - C' B^-1 C by conjugate gradients, D or a short power series going before.

        The series is D^-1 + D^-1 (C' B^-1 C) D^-1 + ... (Castro 2000).
        """
        n = corner.shape[0]
        if not n:
            return lambda g: g
        front = self.factor(corner)

        def through(x: Floats) -> Floats:
            found = np.zeros(n)
            for f, c in zip(inner, coupling, strict=True):
                found += c.T @ f(c @ x)
            return found

        def before(x: Floats) -> Floats:
            total = term = front(x)
            for _ in range(self.series):
                term = front(through(term))
                total = total + term
            return total

        return self.make_iterative_solver(
            lambda x: corner @ x + self.shift * x - through(x), before, n
        )

    # -- dual form -----------------------------------------------------------------------------------

    def dual(
        self, scaled: sparse.csr_array, linking: Ints, row_block: Ints, method: SolveBy
    ) -> Solve:
        """Solve the blocks of rows, and tie the copies of their linking columns together."""
        inner = [self.factor(scaled[r] @ scaled[r].T) for r in self.rows]

        def blocks(g: Floats) -> Floats:
            y = np.empty_like(g)
            for f, r in zip(inner, self.rows, strict=True):
                y[r] = f(g[r])
            return y

        n = scaled.shape[0]
        if method == "pcg":
            return self.make_iterative_solver(lambda y: self.apply(y) + self.shift * y, blocks, n)
        column = sparse.csc_array(scaled[:, linking]).tocoo()
        row, which = column.coords
        own = row_block[row]
        pair, copy = np.unique(which * len(self.rows) + own, return_inverse=True)
        copies = sparse.csc_array((column.data, (row, copy)), shape=(n, len(pair)))
        block, of = pair % len(self.rows), pair // len(self.rows)
        self.border = len(pair)
        tie = ties(of)
        for b, (f, r) in enumerate(zip(inner, self.rows, strict=True)):
            mine = np.flatnonzero(block == b)
            held = sparse.csc_array(copies[r][:, mine])
            for at in range(0, len(mine), CHUNK):
                some = slice(at, at + CHUNK)
                tie[np.ix_(mine, mine[some])] += held.T @ f(held[:, some].toarray())
        self.fill += tie.size
        factors = lu_factor(tie, check_finite=False)

        def solve(g: Floats) -> Floats:
            first = blocks(g)
            held = lu_solve(factors, copies.T @ first, check_finite=False)
            return first - blocks(np.asarray(copies @ held))

        return solve

    def make_iterative_solver(self, product: Solve, before: Solve, n: int) -> Solve:
        """Return a solver by preconditioned conjugate gradients."""
        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        preconditioner = LinearOperator((n, n), matvec=before, dtype=np.float64)

        def count(_x: Floats) -> None:
            self.iterations += 1

        def solve(g: Floats) -> Floats:
            found, _ = cg(
                operator,
                g,
                rtol=PCG_TOLERANCE,
                atol=0.0,
                maxiter=PCG_STEPS,
                M=preconditioner,
                callback=count,
            )
            return np.asarray(found)

        return solve


def ties(of: Ints) -> Floats:
    """Return S^-1 = (11'/(t - 1) - I) for the t copies of each linking column (scaled by theta)."""
    number = np.bincount(of)[of]
    same = of[:, None] == of[None, :]
    return np.asarray(same / (number - 1.0)[:, None] - np.eye(len(of)))


def check_theta(theta: npt.ArrayLike, n: int) -> Floats:
    """Return the diagonal, if it is positive and of the right length."""
    array = np.asarray(theta, dtype=np.float64).ravel()
    if len(array) != n:
        raise InputError(f"theta has {len(array):,} entries for {n:,} cells")
    if not np.isfinite(array).all() or (array <= 0).any():
        raise InputError("every entry of theta must be a positive number")
    return array
