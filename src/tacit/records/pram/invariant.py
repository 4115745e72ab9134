"""Invariant matrices: the expected frequencies after randomisation are those before, R^T T = T.

All of them here are reversible: the flow T_k R_kl of records from k to l equals the flow back. That is
why a forbidden move can be closed, in both directions, without losing invariance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.errors import InputError, InvalidParameter
from tacit.numerics.algebra import dot
from tacit.records.pram.matrices import (
    LARGEST_FULL,
    as_counts,
    clean_matrix,
    equal,
    identity,
    mixture,
    scaled_mixture,
    stays_for,
)
from tacit.records.pram.transition import COMPACT_ABOVE, Explicit, Mixture, Transition

#: Rounds of proportional fitting, and the relative distance from the margins at which it stops.
ROUNDS, FITTED = 5_000, 1e-14
TINY = 1e-300


def two_stage(matrix: Transition, counts: npt.ArrayLike) -> Transition:
    """Return R = P Q with Q the backward matrix q_lk = p_kl T_k / (P^T T)_l; then R^T T = T.

    A category without records keeps its value, and no record moves to it.
    """
    t = as_counts(counts)
    m = matrix.forward(t)
    scale = np.where(m > 0, 1.0 / np.where(m > 0, m, 1.0), 0.0)
    if isinstance(matrix, Mixture):
        return two_stage_mixture(matrix, t, scale)
    assert isinstance(matrix, Explicit)
    p = matrix.matrix
    if sparse.issparse(p):
        back = dot(dot(p, sparse.diags_array(scale)), p.T)
        return with_empty_kept(sparse.csr_array(dot(back, sparse.diags_array(t))), t)
    return with_empty_kept(dot(p * scale, p.T) * t, t)


def two_stage_mixture(p: Mixture, t: Floats, scale: Floats) -> Mixture:
    """Return R = P Q of a mixture, which is a mixture of twice as many parts."""
    w = (p.stay * scale)[:, None] * p.targets
    core = dot(p.targets.T, scale[:, None] * p.targets)
    back = t[:, None] * p.weights
    targets = np.column_stack([back, t[:, None] * w + dot(back, core)])
    return scaled_mixture(p.stay**2 * t * scale, np.column_stack([w, p.weights]), targets)


def with_empty_kept(p: Any, t: Floats) -> Explicit:
    """Return the matrix of some entries with the identity in the rows of categories without records."""
    empty = t <= 0
    if not empty.any():
        return Explicit(p)
    if sparse.issparse(p):
        kept = dot(sparse.diags_array(np.where(empty, 0.0, 1.0)), p)
        return Explicit(sparse.csr_array(kept + sparse.diags_array(empty.astype(np.float64))))
    p[empty] = np.eye(len(t))[empty]
    return Explicit(p)


def scaled_to(matrix: Transition, stay: float) -> Transition:
    """Return I + a (R - I) with the a for which the smallest stay probability is ``stay``.

    Invariance is kept whatever a is. A compact matrix is not stretched beyond its parts, so that its
    smallest stay probability may be larger than asked.
    """
    loosest = float(matrix.diagonal.min())
    if loosest >= 1.0:
        return matrix
    a = (1.0 - stay) / (1.0 - loosest)
    if isinstance(matrix, Mixture):
        a = min(a, 1.0 / (1.0 - float(matrix.stay.min())))
    return blend_with_identity(matrix, a)


def blend_with_identity(matrix: Transition, a: float) -> Transition:
    """Return a R + (1 - a) I."""
    if isinstance(matrix, Mixture):
        return Mixture(1.0 - a + a * matrix.stay, a * matrix.weights, matrix.targets)
    assert isinstance(matrix, Explicit)
    n = matrix.size
    if sparse.issparse(matrix.matrix):
        return Explicit(sparse.csr_array(a * matrix.matrix + (1.0 - a) * sparse.eye_array(n)))
    return Explicit(clean_matrix(a * matrix.matrix + (1.0 - a) * np.eye(n)))


def invariant(counts: npt.ArrayLike, stay: float) -> Transition:
    """Return the two-stage invariant matrix of nE(stay), scaled so that no category stays less often.

    The smallest entry of the diagonal is ``stay``, that of the rarest category as a rule: frequent ones stay more often,
    since in expectation as many records leave a category as enter it.
    """
    t = as_counts(counts)
    n, present = len(t), int((t > 0).sum())
    p = float(stays_for(1, stay)[0])
    if present < 2 or p >= 1.0:
        return identity(n)
    return scaled_to(two_stage(equal(n, p), t), p)


def one_parameter(counts: npt.ArrayLike, stay: float) -> Transition:
    """Return the matrix p_kk = 1 - theta min(T) / T_k, the rest shared equally, with theta = 1 - stay.

    The rarest category stays with probability ``stay``; categories without records are left alone.
    """
    t = as_counts(counts)
    theta = 1.0 - float(stays_for(1, stay)[0])
    present = t > 0
    n = int(present.sum())
    if n < 2:
        return identity(len(t))
    leave = np.where(present, theta * t[present].min() / np.where(present, t, 1.0), 0.0)
    other = leave / (n - 1)
    return mixture(1.0 - leave - other, other[:, None], present[:, None].astype(np.float64))


def most_even(
    counts: npt.ArrayLike, stay: npt.ArrayLike, forbidden: Flags | None = None
) -> Transition:
    """Return the invariant matrix of largest entropy whose stay probabilities are at least ``stay``.

    Among all joint distributions of original and released category with both margins T, no flow over
    ``forbidden`` pairs (closed both ways) and f_kk >= stay_k T_k, it is the one of largest entropy:
    f_kl = x_k x_l off the diagonal. Rare categories stay with probability exactly ``stay``, and so do
    frequent ones unless one outweighs the others.
    """
    t = as_counts(counts)
    n = len(t)
    least = stays_for(n, stay)
    if int((t > 0).sum()) < 2 or (least >= 1).all():
        return identity(n)
    safe = np.where(t > 0, t, 1.0)
    if forbidden is None or not forbidden.any():
        x = even_factors((1.0 - least) * t, t, lambda x: x.sum() - x)
        out, own = x * (x.sum() - x) / safe, x * x / safe
        return mixture(1.0 - out - own, (x / safe)[:, None], x[:, None])
    if n > LARGEST_FULL:
        raise InputError("forbidden moves between so many categories need a full matrix; use fewer")
    pattern = (~(forbidden | forbidden.T)).astype(np.float64)
    np.fill_diagonal(pattern, 0.0)
    x = even_factors((1.0 - least) * t, t, lambda x: np.asarray(dot(pattern, x)))
    return Explicit(from_flows(pattern * np.outer(x, x), t))


def even_factors(leave: Floats, t: Floats, others: Callable[[Floats], Floats]) -> Floats:
    """Return x with flows x_k others(x)_k = leave_k, or x_k (others(x)_k + x_k) = T_k where that is less.

    Proportional fitting with damped steps. The result is scaled so that no flow is above its bound; any
    x gives an invariant matrix, so an early stop costs evenness and nothing else.
    """
    x = np.sqrt(leave / max(len(leave) - 1, 1))
    for _ in range(ROUNDS):
        sums = others(x)
        reached = sums > 0
        bound = np.where(reached, leave / np.where(reached, sums, 1.0), 0.0)
        # The diagonal of a large category need not be at its bound: then x_k^2 is the flow to itself.
        loose = 2.0 * t / np.maximum(sums + np.sqrt(sums**2 + 4.0 * t), TINY)
        moved = np.sqrt(x * np.minimum(bound, loose))
        done = np.abs(moved - x).max() <= FITTED * max(moved.max(), TINY)
        x = moved
        if done:
            break
    flows = x * others(x)
    over = np.max(flows[leave > 0] / leave[leave > 0], initial=1.0)
    return np.asarray(x / np.sqrt(over))


def from_flows(flows: Floats, counts: Floats) -> Floats:
    """Return the matrix with R_kl = g_kl / T_k off the diagonal; the rest stays."""
    r = flows / np.where(counts > 0, counts, 1.0)[:, None]
    np.fill_diagonal(r, 0.0)
    np.fill_diagonal(r, 1.0 - r.sum(axis=1))
    return r


def sdcmicro(
    counts: npt.ArrayLike, pd: float, alpha: float, rng: np.random.Generator
) -> Transition:
    """Return sdcMicro's invariant matrix: alpha P Q + (1 - alpha) I, the diagonal of P uniform on [pd, 1].

    Note that ``pd`` bounds the diagonal of the first stage alone: a rare category of the result may stay
    less often. The two stages are those of :func:`two_stage`.
    """
    t = as_counts(counts)
    if not 0 <= alpha <= 1:
        raise InvalidParameter("alpha must be between 0 and 1")
    if (t > 0).sum() < 2:
        return identity(len(t))
    low = float(stays_for(1, pd)[0])
    return blend_with_identity(two_stage(equal(len(t), rng.uniform(low, 1.0, len(t))), t), alpha)


def without(
    matrix: Transition, forbidden: Flags, counts: npt.ArrayLike | None = None
) -> Transition:
    """Return a matrix with forbidden moves closed.

    With ``counts`` the matrix is taken as invariant and reversible for them: a move and the way back are
    closed together and their probability stays on the diagonal, which keeps R^T T = T. Otherwise entries
    are set to 0 and rows scaled to sum to 1.
    """
    closed = forbidden.copy()
    np.fill_diagonal(closed, val=False)
    if not closed.any():
        return matrix
    if matrix.size > LARGEST_FULL:
        raise InputError("forbidden moves between so many categories need a full matrix; use fewer")
    p = matrix.dense().copy()
    if counts is None:
        p[closed] = 0.0
        return Explicit(p / p.sum(axis=1, keepdims=True))
    p[closed | closed.T] = 0.0
    p = from_flows(p, np.ones(len(p)))
    return Explicit(p if matrix.size <= COMPACT_ABOVE else sparse.csr_array(p))


def drift(matrix: Transition, counts: npt.ArrayLike) -> float:
    """Return the largest |R^T T - T| over the categories, as a share of all records."""
    t = as_counts(counts)
    return float(np.abs(matrix.forward(t) - t).max() / t.sum())
