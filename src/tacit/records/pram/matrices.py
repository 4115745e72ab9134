"""Transition matrices of the post randomisation method: the families, plain data, and de Wolf's shorthand.

Shorthand such as ``89B(0.6;2)`` or ``Block(3;1;4E(0.8);3E(0.6))`` stands for:

=================  ===============================================================================
``nE(p)``          diagonal p, the rest shared equally
``nB(p;b)``        diagonal p, the rest shared equally by the categories less than b places away
``nB(p;1.5)*``     diagonal p, the rest to the next category; from the last to the one before
``nF(p)``          diagonal p, the rest by the frequencies of the block
``1``              one category that stays as it is
``Block(m;...)``   m matrices along the diagonal
=================  ===============================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Floats
from tacit.errors import InputError, InvalidParameter
from tacit.numerics.algebra import dot
from tacit.records.pram.transition import COMPACT_ABOVE, Explicit, Mixture, Transition

#: Row sums may be off by this much in a matrix that is given.
SUM_TOLERANCE = 1e-9
#: Categories of a matrix that must be written out in full.
LARGEST_FULL = 8_192


def explicit(matrix: Any) -> Explicit:
    """Return a checked matrix from its entries; rows are scaled to sum to 1 within rounding.

    Raises
    ------
    InvalidParameter
        When it is not square, has negative entries, a row sum off by more than 1e-9, or a diagonal
        entry outside (0, 1].
    """
    given: Any
    try:
        given = (
            sparse.csr_array(matrix) if sparse.issparse(matrix) else np.array(matrix, np.float64)
        )
    except (TypeError, ValueError):
        raise InvalidParameter("a transition matrix must have rows of equal length") from None
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.shape[0]:
        raise InvalidParameter("a transition matrix must be square, with one row per category")
    values = np.asarray(given.data if sparse.issparse(given) else given)
    if not np.isfinite(values).all() or (values < 0).any():
        raise InvalidParameter("a transition matrix must not have negative or unknown entries")
    sums = np.asarray(given.sum(axis=1)).ravel()
    if np.abs(sums - 1.0).max() > SUM_TOLERANCE:
        raise InvalidParameter("every row of a transition matrix must sum to 1 (within 1e-9)")
    if (np.asarray(given.diagonal()) <= 0).any():
        raise InvalidParameter(
            "every category must stay with a probability in (0, 1]: the diagonal of the transition matrix has a 0"
        )
    scale = 1.0 / sums
    if sparse.issparse(given):
        return Explicit(sparse.csr_array(dot(sparse.diags_array(scale), given)))
    return Explicit(given * scale[:, None])


def from_sparse(matrix: Any) -> Explicit:
    """Return a matrix from sparse entries, dense where it is small."""
    small = matrix.shape[0] <= COMPACT_ABOVE
    return Explicit(matrix.toarray() if small else sparse.csr_array(matrix))


def mixture(stay: Floats, weights: Floats, targets: Floats) -> Transition:
    """Return ``diag(stay) + weights @ targets.T``, compact where that is worth it and possible."""
    k = len(stay)
    if k <= COMPACT_ABOVE or (stay <= 0).any() or (weights < 0).any() or (targets < 0).any():
        if k > LARGEST_FULL:
            raise InputError(
                f"a matrix of this kind over {k:,} categories would have to be written out in full; give a larger stay probability, or fewer categories"
            )
        return Explicit(clean_matrix(np.diag(stay) + dot(weights, targets.T)))
    return scaled_mixture(stay, weights, targets)


def scaled_mixture(stay: Floats, weights: Floats, targets: Floats) -> Mixture:
    """Return a mixture whose targets sum to 1, those without mass left out."""
    mass = targets.sum(axis=0)
    used = mass > 0
    return Mixture(stay, weights[:, used] * mass[used], targets[:, used] / mass[used])


def clean_matrix(matrix: Floats) -> Floats:
    """Return a matrix without the rounding errors that leave tiny negative entries."""
    return np.where(np.abs(matrix) < 1e-15, 0.0, matrix)


def identity(n: int) -> Transition:
    """Return the matrix that leaves everything alone."""
    return from_sparse(sparse.eye_array(n))


def stays_for(n: int, stay: npt.ArrayLike) -> Floats:
    """Return one stay probability a category; refuse any outside (0, 1]."""
    p = np.asarray(stay, dtype=np.float64)
    if p.ndim == 1 and len(p) != n:
        raise InvalidParameter(
            f"give one stay probability for all, or one for each of {n} categories"
        )
    p = np.broadcast_to(p, (n,)).copy()
    if not ((p > 0) & (p <= 1)).all():
        raise InvalidParameter("stay probabilities must be greater than 0 and at most 1")
    return p


def equal(n: int, stay: npt.ArrayLike) -> Transition:
    """Return nE(p): the rest of each row is shared equally by all other categories.

    ``stay`` may differ by category, as in mu-ARGUS. A single category stays as it is.
    """
    p = stays_for(n, stay)
    if n == 1:
        if p[0] < 1:
            raise InvalidParameter("a single category can only stay: write 1, or 1E(1)")
        return identity(1)
    other = (1.0 - p) / (n - 1)
    return mixture(p - other, other[:, None], np.ones((n, 1)))


def band(n: int, stay: npt.ArrayLike, b: float) -> Transition:
    """Return nB(p; b): the rest of row k is shared equally by the categories l with 0 < |k - l| < b.

    Rows at the edge have fewer neighbours, and each gets more. mu-ARGUS's bandwidth w is b = w + 1.
    """
    p = stays_for(n, stay)
    if n < 2:
        raise InvalidParameter("a band needs at least two categories")
    if not 1 < b <= n:
        raise InvalidParameter(
            f"the bandwidth b must be greater than 1 and at most the number of categories, {n} (got {b:g})"
        )
    reach = math.ceil(b) - 1
    at = np.arange(n)
    neighbours = np.minimum(at, reach) + np.minimum(n - 1 - at, reach)
    share = (1.0 - p) / neighbours
    offsets = [d for d in range(-reach, reach + 1) if d]
    parts = [share[max(0, -d) : n - max(0, d)] for d in offsets]
    return from_sparse(sparse.diags_array([p, *parts], offsets=[0, *offsets], shape=(n, n)))


def half_band(n: int, stay: npt.ArrayLike) -> Transition:
    """Return nB(p; 1.5)*: each category moves to the next one only, and the last to the one before.

    De Wolf's footnote prints p_{K-1,K} twice; the second must be p_{K,K-1}.
    """
    p = stays_for(n, stay)
    if n < 2:
        raise InvalidParameter("a half band needs at least two categories")
    rest = 1.0 - p
    below = np.zeros(n - 1)
    below[-1] = rest[-1]
    return from_sparse(sparse.diags_array([p, rest[:-1], below], offsets=[0, 1, -1], shape=(n, n)))


def frequency(counts: npt.ArrayLike, stay: npt.ArrayLike) -> Transition:
    """Return nF(p): p_kl = (1 - p)(S - T_k - T_l) / ((n - 2)(S - T_k)), de Wolf's formula (18).

    Rare categories get more of the mass than frequent ones. Two categories are equal shares (the formula
    is 0/0), and so is the row of a category that holds all records.
    """
    t = as_counts(counts)
    n = len(t)
    if n <= 2:
        return equal(n, stay)
    p = stays_for(n, stay)
    others = t.sum() - t
    alone = others <= 0
    factor = np.where(alone, 0.0, (1.0 - p) / ((n - 2) * np.where(alone, 1.0, others)))
    top = t.max()
    flat = np.where(alone, (1.0 - p) / (n - 1), factor * (others - top))
    own = flat + factor * (top - t)
    return mixture(p - own, np.column_stack([flat, factor]), np.column_stack([np.ones(n), top - t]))


def blocks(parts: Sequence[Transition]) -> Transition:
    """Return the block diagonal matrix of some matrices."""
    if len(parts) == 1:
        return parts[0]
    return from_sparse(
        sparse.block_diag([p.rows if isinstance(p, Explicit) else p.dense() for p in parts])
    )


def from_plain(given: Mapping[str, Any]) -> Transition:
    """Return a matrix from the plain data of :meth:`Transition.plain`."""
    form = given.get("form", "rows")
    if form == "rows":
        return explicit(given["rows"])
    if form == "entries":
        n = int(given["size"])
        entries = (np.asarray(given["p"], dtype=np.float64), (given["from"], given["to"]))
        matrix = sparse.csr_array(entries, shape=(n, n))
        return explicit(matrix.toarray() if n <= COMPACT_ABOVE else matrix)
    if form == "mixture":
        stay, weights, targets = (
            np.asarray(given[name], dtype=np.float64) for name in ("stay", "weights", "targets")
        )
        if min(part.min() for part in (stay, weights, targets)) < 0:
            raise InvalidParameter("a transition matrix must not have negative entries")
        if np.abs(stay + weights.sum(axis=1) - 1.0).max() > SUM_TOLERANCE:
            raise InvalidParameter("every row of a transition matrix must sum to 1 (within 1e-9)")
        return Mixture(stay, weights, targets)
    raise InvalidParameter(f"no form of transition matrix is called {form!r}")


def as_counts(counts: npt.ArrayLike) -> Floats:
    """Return frequencies as numbers; refuse negative ones and none at all."""
    t = np.asarray(counts, dtype=np.float64)
    if not np.isfinite(t).all() or (t < 0).any() or t.sum() <= 0:
        raise InvalidParameter("frequencies must be at least 0, and not all 0")
    return t


# -- de Wolf's shorthand -----------------------------------------------------------------------------


PART = re.compile(r"(\d+)([EBF])\(([^;()]+)(?:;([^;()]+))?\)(\*?)")
BLOCK = re.compile(r"Block\((\d+);(.+)\)", re.IGNORECASE)
HELP = "Write it like '89B(0.6;2)', '3E(0.8)', '7F(0.75)' or 'Block(3;1;4E(0.8);3E(0.6))'"


def parse(text: str, counts: npt.ArrayLike | None = None) -> Transition:
    """Return the matrix that a shorthand stands for.

    Parameters
    ----------
    text
        The shorthand; spaces do not matter.
    counts
        Frequencies of the categories in their order; needed for F, whose blocks use their own part.

    Raises
    ------
    InvalidParameter
        When the text cannot be read, or its sizes do not fit the number of frequencies.
    """
    pieces = shorthand_parts(text)
    sizes = [size_of(p) for p in pieces]
    t = None if counts is None else np.asarray(counts, dtype=np.float64)
    if t is not None and sum(sizes) != len(t):
        raise InvalidParameter(
            f"the shorthand is for {sum(sizes)} categories, and the variable has {len(t)}"
        )
    edges = np.concatenate([[0], np.cumsum(sizes)])
    built = [
        parse_block(piece, None if t is None else t[a:b])
        for piece, a, b in zip(pieces, edges[:-1], edges[1:], strict=True)
    ]
    return blocks(built)


def shorthand_size(text: str) -> int:
    """Return the number of categories of a shorthand."""
    return sum(size_of(p) for p in shorthand_parts(text))


def uses_frequencies(text: str) -> bool:
    """Return True when the matrix depends on the frequencies of the categories."""
    return any("F" in piece for piece in shorthand_parts(text))


def shorthand_parts(text: str) -> list[str]:
    """Return the blocks of a shorthand."""
    bare = re.sub(r"\s+", "", text)
    found = BLOCK.fullmatch(bare)
    pieces = [bare] if found is None else re.split(r";(?![^()]*\))", found.group(2))
    if found is not None and len(pieces) != int(found.group(1)):
        raise InvalidParameter(
            f"the shorthand announces {found.group(1)} blocks and lists {len(pieces)}"
        )
    wrong = [p for p in pieces if p != "1" and PART.fullmatch(p) is None]
    if wrong:
        raise InvalidParameter(f"the matrix shorthand {wrong[0]!r} cannot be read. {HELP}")
    return pieces


def size_of(piece: str) -> int:
    """Return the number of categories of one block."""
    found = PART.fullmatch(piece)
    n = 1 if found is None else int(found.group(1))
    if n < 1:
        raise InvalidParameter(f"the matrix shorthand {piece!r} has no categories")
    return n


def parse_block(piece: str, counts: Floats | None) -> Transition:
    """Return the matrix of one block."""
    found = PART.fullmatch(piece)
    if found is None:
        return identity(1)
    n, family = int(found.group(1)), found.group(2)
    stay, width = parse_number(found.group(3), piece), found.group(4)
    if (width is not None) != (family == "B") or (found.group(5) and family != "B"):
        raise InvalidParameter(f"the matrix shorthand {piece!r} cannot be read. {HELP}")
    if family == "E":
        return equal(n, stay)
    if family == "F":
        if counts is None:
            raise InvalidParameter(f"the matrix {piece!r} needs the frequencies of its categories")
        return equal(n, stay) if counts.sum() <= 0 else frequency(as_counts(counts), stay)
    assert width is not None
    return half_band(n, stay) if found.group(5) else band(n, stay, parse_number(width, piece))


def parse_number(text: str, piece: str) -> float:
    """Return a number of a shorthand."""
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"the matrix shorthand {piece!r} cannot be read. {HELP}") from None
