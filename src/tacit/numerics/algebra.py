"""Linear algebra that is the same to the last bit on every machine.

BLAS and LAPACK choose the order of their sums, fused operations and eigenvectors by the processor and the number
of threads, so what they give differs in the last bits, and in all bits where eigenvectors may be chosen. Whatever
reaches released data is computed here instead: products and sums in one order, by elementwise operations of
NumPy (each rounded as IEEE 754 says) and its pairwise sums, which are the same for every instruction set. Eigenvectors
come from Jacobi rotations in a fixed order, with values in ascending order and the largest entry of each vector
positive. Names and arguments are those of ``numpy.linalg`` where both exist.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints

EPS = float(np.finfo(np.float64).eps)
#: Numbers that a product holds at a time.
BLOCK = 1 << 18
#: Sweeps of rotations; ten are enough for any matrix met in practice.
SWEEPS = 60


# -- products ----------------------------------------------------------------------------------------


def dot(a: Any, b: Any) -> Any:
    """Return ``a @ b`` with sums in one order; whole numbers and sparse matrices, which BLAS never sees, as they are."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return a @ b
    if "f" not in (a.dtype.kind, b.dtype.kind) or not {a.dtype.kind, b.dtype.kind} <= set("fiub"):
        return a @ b
    if a.ndim > 2 or b.ndim > 2:
        return (a[..., :, :, None] * b[..., None, :, :]).sum(axis=-2)
    left = np.asarray(a, dtype=np.float64).reshape(1, -1) if a.ndim == 1 else a
    right = np.asarray(b, dtype=np.float64).reshape(-1, 1) if b.ndim == 1 else b
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"shapes {a.shape} and {b.shape} do not fit")
    found = multiply(left.astype(np.float64, copy=False), right.astype(np.float64, copy=False))
    found = found[0] if a.ndim == 1 else found
    found = found[..., 0] if b.ndim == 1 else found
    return found if found.ndim else np.float64(found)


def multiply(a: Floats, b: Floats) -> Floats:
    """Return the product of two matrices; which way sums are taken follows from the shapes alone."""
    (m, k), n = a.shape, b.shape[1]
    if k <= max(m, n):
        return add_outer(a, b) if m >= n else add_outer(b.T, a.T).T
    out = np.zeros((m, n))
    step = max(BLOCK // max(min(m, n), 1), 1024)
    for at in range(0, k, step):
        rows = np.ascontiguousarray(a[:, at : at + step])
        columns = np.ascontiguousarray(b[at : at + step].T)
        if m <= n:
            for i in range(m):
                out[i] += np.add.reduce(rows[i] * columns, axis=1)
        else:
            for j in range(n):
                out[:, j] += np.add.reduce(rows * columns[j], axis=1)
    return out


def add_outer(a: Floats, b: Floats) -> Floats:
    """Return the product of a long matrix and a narrow one, term after term, in blocks of rows."""
    m, (k, n) = len(a), b.shape
    out = np.empty((n, m))
    step = max(BLOCK // (8 * max(n, 1)), 512)
    for at in range(0, m, step):
        rows = np.ascontiguousarray(a[at : at + step].T)
        total = np.zeros((n, rows.shape[1]))
        for t in range(k):
            total += b[t][:, None] * rows[t]
        out[:, at : at + step] = total
    return np.ascontiguousarray(out.T)


def covariance(x: Floats) -> Floats:
    """Return the covariance matrix of the columns, with n - 1."""
    x = np.asarray(x, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    away = x - column_means(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(dot(away.T, away) / np.float64(len(x) - 1))


def column_means(x: Floats) -> Floats:
    """Return the means of the columns, whatever the matrix looks like in memory."""
    return np.asarray(np.ascontiguousarray(x.T).mean(axis=1))


def norm(x: Floats) -> float:
    """Return the Euclidean length of a vector or of all entries of a matrix."""
    flat = np.ascontiguousarray(x, dtype=np.float64).ravel()
    return float(np.sqrt((flat * flat).sum()))


# -- systems -----------------------------------------------------------------------------------------


def cholesky(a: Floats) -> Floats:
    """Return the lower triangle L with L L' = a; raise LinAlgError when a is not positive definite."""
    rest = np.array(a, dtype=np.float64)
    n = len(rest)
    lower = np.zeros((n, n))
    for j in range(n):
        if not rest[j, j] > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        lower[j:, j] = rest[j:, j] / np.sqrt(rest[j, j])
        below = lower[j + 1 :, j]
        rest[j + 1 :, j + 1 :] -= below[:, None] * below
    return lower


def solve(a: Floats, b: Floats) -> Floats:
    """Return x with a x = b, for one matrix or a stack of them; raise LinAlgError when one is singular."""
    shape = np.shape(a)
    n, vector = shape[-1], np.ndim(b) == 1
    left = np.array(a, dtype=np.float64).reshape(-1, n, n)
    right = np.asarray(b, dtype=np.float64)[:, None] if vector else np.asarray(b, dtype=np.float64)
    width = right.shape[-1]
    right = np.array(np.broadcast_to(right, (*shape[:-1], width))).reshape(-1, n, width)
    at = np.arange(len(left))
    for j in range(n):
        pivot = np.abs(left[:, j:, j]).argmax(axis=1) + j
        for part in (left, right):
            part[at, pivot], part[at, j] = part[at, j], part[at, pivot]
        head = left[:, j, j]
        if (head == 0).any() or not np.isfinite(head).all():
            raise np.linalg.LinAlgError("Singular matrix")
        share = left[:, j + 1 :, j, None] / head[:, None, None]
        left[:, j + 1 :, j:] -= share * left[:, j, None, j:]
        right[:, j + 1 :] -= share * right[:, j, None]
    for j in range(n - 1, -1, -1):
        right[:, j] /= left[:, j, j, None]
        right[:, :j] -= left[:, :j, j, None] * right[:, j, None]
    return right.reshape(-1) if vector else right.reshape(*shape[:-1], width)


def cho_solve(lower: Floats, b: Floats) -> Floats:
    """Return x with L L' x = b, L from :func:`cholesky`."""
    x = np.array(b, dtype=np.float64)
    for j in range(len(lower)):
        x[j] /= lower[j, j]
        x[j + 1 :] -= np.multiply.outer(lower[j + 1 :, j], x[j])
    for j in range(len(lower) - 1, -1, -1):
        x[j] /= lower[j, j]
        x[:j] -= np.multiply.outer(lower[j, :j], x[j])
    return x


def inv(a: Floats) -> Floats:
    """Return the inverse."""
    n = np.shape(a)[-1]
    return solve(np.asarray(a), np.broadcast_to(np.eye(n), np.shape(a)))


def lstsq(a: Floats, b: Floats, rcond: float | None = None) -> tuple[Floats, int]:
    """Return the shortest x that minimises the squares of b - a x, and the rank of a."""
    left, values, right = svd(a)
    cut = (EPS * max(np.shape(a)) if rcond is None else rcond) * values.max(initial=0.0)
    told = values > cut
    along = dot(left[:, told].T, np.asarray(b, dtype=np.float64))
    scale = values[told] if along.ndim == 1 else values[told][:, None]
    return np.asarray(dot(right[told].T, along / scale)), int(told.sum())


def pinvh(a: Floats, rtol: float | None = None) -> Floats:
    """Return the pseudo-inverse of a symmetric matrix."""
    values, vectors = eigh(a)
    cut = (1e-15 if rtol is None else rtol) * np.abs(values).max(initial=0.0)
    told = np.abs(values) > cut
    return np.asarray(dot(vectors[:, told] / values[told], vectors[:, told].T))


def matrix_rank(a: Floats) -> int:
    """Return the number of singular values above rounding."""
    values = svd(a)[1]
    return int((values > EPS * max(np.shape(a)) * values.max(initial=0.0)).sum())


# -- eigenvectors --------------------------------------------------------------------------------------


def eigvalsh(a: Floats) -> Floats:
    """Return the eigenvalues of a symmetric matrix, or of a stack of them, in ascending order."""
    return np.sort(rotate_symmetric(np.asarray(a, dtype=np.float64), vectors=False)[0], axis=-1)


def eigh(a: Floats) -> tuple[Floats, Floats]:
    """Return eigenvalues in ascending order and eigenvectors in columns, the largest entry of each positive."""
    values, vectors = rotate_symmetric(np.asarray(a, dtype=np.float64), vectors=True)
    order = np.argsort(values, axis=-1, kind="stable")
    values = np.take_along_axis(values, order, axis=-1)
    return values, with_fixed_signs(np.take_along_axis(vectors, order[..., None, :], axis=-1))


def rotate_symmetric(a: Floats, *, vectors: bool) -> tuple[Floats, Floats]:
    """Return diagonal and rotation of Jacobi's method: pairs without a common column turn at once."""
    if not np.isfinite(a).all():
        raise np.linalg.LinAlgError("the matrix holds numbers that are not finite")
    a = (a + np.swapaxes(a, -1, -2)) / 2.0
    n = a.shape[-1]
    turned = np.array(np.broadcast_to(np.eye(n), a.shape)) if vectors else np.empty(0)
    off = ~np.eye(n, dtype=bool)
    for _ in range(SWEEPS):
        size = np.abs(a).max(axis=(-2, -1), initial=0.0)
        if n < 2 or (np.abs(a[..., off]).max(axis=-1) <= 1e-16 * size).all():
            break
        for i, j in rounds(n):
            c, s = rotation(a[..., i, i], a[..., j, j], a[..., i, j])
            # Rows lie together in memory: turn them, transpose, turn again.
            turn_rows(a, i, j, c[..., None], s[..., None])
            a = np.array(np.swapaxes(a, -1, -2), order="C")
            turn_rows(a, i, j, c[..., None], s[..., None])
            a[..., i, j] = a[..., j, i] = 0.0
            if vectors:
                turn_rows(turned, i, j, c[..., None], s[..., None])
    return np.array(np.diagonal(a, axis1=-2, axis2=-1)), np.swapaxes(
        turned, -1, -2
    ) if vectors else turned


def rotation(one: Floats, other: Floats, both: Floats) -> tuple[Floats, Floats]:
    """Return cosine and sine of the turn that makes the entry between two columns zero."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        theta = (other - one) / (2.0 * both)
        t = np.where(theta < 0, -1.0, 1.0) / (np.abs(theta) + np.sqrt(1.0 + theta * theta))
    t = np.where((both == 0) | ~np.isfinite(t), 0.0, t)
    c = 1.0 / np.sqrt(1.0 + t * t)
    return c, t * c


def turn_rows(a: Floats, i: Ints, j: Ints, c: Floats, s: Floats) -> None:
    """Turn pairs of rows, in place."""
    one, other = a[..., i, :], a[..., j, :]
    a[..., i, :], a[..., j, :] = c * one - s * other, s * one + c * other


@cache
def rounds(n: int) -> tuple[tuple[Ints, Ints], ...]:
    """Return all pairs of n columns as rounds of pairs without a common column (a round-robin tournament)."""
    size = n + n % 2
    ring = np.arange(1, size)
    found = []
    for turn in range(size - 1):
        order = np.r_[0, np.roll(ring, turn)]
        one, other = order[: size // 2], order[size // 2 :][::-1]
        low, high = np.minimum(one, other), np.maximum(one, other)
        found.append((low[high < n], high[high < n]))
    return tuple(found)


def with_fixed_signs(vectors: Floats) -> Floats:
    """Return vectors in columns with the largest entry of each positive, the first of equal ones."""
    if not vectors.size:
        return vectors
    size = np.abs(vectors)
    # Entries equal but for rounding count as equal.
    near = size >= size.max(axis=-2, keepdims=True) * (1.0 - 1e-9)
    lead = np.take_along_axis(vectors, near.argmax(axis=-2)[..., None, :], axis=-2)
    return np.where(lead < 0, -vectors, vectors)


# -- singular values -----------------------------------------------------------------------------------


def qr(a: Floats) -> tuple[Floats, Floats]:
    """Return Q with orthonormal columns and R, upper triangular with a diagonal of at least 0; a is tall.

    A column that depends on earlier ones gives a row of zeros in R and a column of zeros in Q.
    """
    q = np.array(np.asarray(a, dtype=np.float64).T, order="C")
    p = len(q)
    upper = np.zeros((p, p))
    length = np.sqrt((q * q).sum(axis=1))
    for j in range(p):
        # Twice is enough: what the first pass leaves over of earlier columns, the second takes off.
        for _ in range(2):
            along = np.add.reduce(q[:j] * q[j], axis=1)
            upper[:j, j] += along
            for t in range(j):
                q[j] -= along[t] * q[t]
        left = np.sqrt((q[j] * q[j]).sum())
        if left <= 16 * EPS * length[j]:
            q[j] = 0.0
            continue
        upper[j, j] = left
        q[j] /= left
    return np.ascontiguousarray(q.T), upper


def svd(a: Floats) -> tuple[Floats, Floats, Floats]:
    """Return U, the singular values in descending order and V', as ``numpy.linalg.svd(full_matrices=False)``.

    The columns of U that belong to a singular value of 0 are zeros.
    """
    a = np.asarray(a, dtype=np.float64)
    if a.shape[0] < a.shape[1]:
        right, values, left = svd(a.T)
        return left.T, values, right.T
    q, upper = qr(a)
    # Rows of w and v are the columns of R and of V.
    w, v = np.ascontiguousarray(upper.T), np.eye(a.shape[1])
    for _ in range(SWEEPS):
        largest = 0.0
        for i, j in rounds(len(w)):
            one, other = w[i], w[j]
            alpha, beta = (one * one).sum(axis=1), (other * other).sum(axis=1)
            gamma = (one * other).sum(axis=1)
            scale = np.sqrt(alpha) * np.sqrt(beta)
            apart = np.abs(gamma) / np.where(scale > 0, scale, 1.0)
            c, s = rotation(alpha, beta, np.where(apart > EPS, gamma, 0.0))
            turn_rows(w, i, j, c[:, None], s[:, None])
            turn_rows(v, i, j, c[:, None], s[:, None])
            largest = max(largest, float(apart.max(initial=0.0)))
        if largest <= 8 * EPS:
            break
    values = np.sqrt((w * w).sum(axis=1))
    order = np.argsort(-values, kind="stable")
    w, v, values = w[order], v[order], values[order]
    left = dot(q, (w / np.where(values > 0, values, 1.0)[:, None]).T)
    fixed = with_fixed_signs(v.T)
    return left * np.where((fixed == v.T).all(axis=0), 1.0, -1.0), values, fixed.T
