"""Whether structure pays: the work of factoring a table's normal equations whole and by blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from tacit.data.cells.relations import components
from tacit.tables.structure.detection import Form, Relations, Structure, detect_structure, matrix_of

#: Relations up to which the fill of a factorisation is found by factoring.
FACTORED = 12_000
#: Share of the work of a whole factorisation below which one by blocks is advised.
WORTH = 0.5


@dataclass(frozen=True, eq=False)
class Advice:
    """Whether it pays to use structure, and why.

    Attributes
    ----------
    use
        ``components`` (solve these one by one, which costs nothing), ``dual``, ``primal`` or ``none``.
    reasons
        In sentences.
    structures
        What was found, by form.
    work
        Estimated multiplications of one factorisation of A Theta A': whole, and by blocks.
    """

    use: Literal["components", "dual", "primal", "none"]
    reasons: tuple[str, ...]
    structures: Mapping[str, Structure] = field(default_factory=dict)
    work: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"use: {self.use}\n" + "\n".join(f"- {r}" for r in self.reasons)

    __repr__ = __str__


def advise(relations: Relations, k: int = 2, seed: int | None = 0) -> Advice:
    """Recommend a form, or none, from the width of the borders and the work of factoring.

    The work by blocks is that of the factors of the blocks, of solving with them for the border, and of
    the dense system of the border. Structure is opt-in: every method solves its linear programs with
    HiGHS, whose simplex method takes no notice of it.
    """
    matrix = matrix_of(relations)
    count, label = components(matrix)
    reasons = [
        "Linear programs are solved with HiGHS on the whole set of relations unless you use the structure."
    ]
    largest = int(np.bincount(label).max())
    if count > 1 and 2 * largest <= matrix.shape[1]:
        reasons.append(
            f"The relations fall into {count:,} components, the largest with {largest:,} of "
            f"{matrix.shape[1]:,} cells: solve them one by one."
        )
        return Advice("components", tuple(reasons))
    if matrix.shape[0] < 2:
        return Advice("none", (*reasons, "There is a single relation."))
    k = min(k, *matrix.shape)
    found = {f: detect_structure(relations, f, k, seed=seed) for f in get_args(Form)}
    reasons.extend(f"The best structure found is {s}." for s in found.values())
    if matrix.shape[0] > FACTORED:
        best = min(found.values(), key=lambda s: s.share)
        reasons.append(
            f"With more than {FACTORED:,} relations the fill is not estimated; the {best.form} form has the "
            "thinner border. Measure before you rely on it."
        )
        return Advice("none", tuple(reasons), found)
    work = {"whole": cholesky_work(matrix @ matrix.T)[0]}
    work |= {f: block_work(s) for f, s in found.items()}
    best_form: Any = min(get_args(Form), key=lambda f: work[f])
    ratio = work[best_form] / max(1.0, work["whole"])
    reasons.append(
        f"One factorisation by blocks in {best_form} form takes about {ratio:.2f} times the work of a "
        "whole one."
    )
    if ratio >= WORTH:
        reasons.append("That does not pay: the border costs more than smaller blocks save.")
        return Advice("none", tuple(reasons), found, work)
    reasons.append("That pays where many systems with this matrix are solved.")
    return Advice(best_form, tuple(reasons), found, work)


def cholesky_work(square: sparse.sparray) -> tuple[float, float]:
    """Return the multiplications of a sparse Cholesky factorisation, and the entries of its factor."""
    n = square.shape[0]
    if not n:
        return 0.0, 0.0
    ones = sparse.csc_array(abs(square))
    ones.data[:] = 1.0
    # Dominant diagonal: no pivoting, so that the fill is that of the pattern.
    shifted = sparse.csc_array(
        ones + sparse.diags_array(np.asarray(ones.sum(axis=1)).ravel() + 1.0)
    )
    factors = splu(
        shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    column = np.diff(factors.L.indptr).astype(np.float64)
    return float((column**2).sum() / 2), float(column.sum())


def block_work(structure: Structure) -> float:
    """Return the multiplications of factoring by blocks, border included."""
    total, border = 0.0, 0.0
    for i in range(structure.k):
        rows = structure.matrix[structure.row_block == i]
        own = rows if structure.form == "dual" else rows[:, structure.column_block == i]
        work, entries = cholesky_work(own @ own.T)
        if structure.form == "dual":
            touched = int((np.diff(sparse.csc_array(rows[:, structure.linking]).indptr) > 0).sum())
        else:
            touched = int(
                (np.diff((structure.matrix[structure.linking] @ rows.T).indptr) > 0).sum()
            )
        total += work + 2 * entries * touched
        border += touched
    size = border if structure.form == "dual" else float(structure.l)
    return total + size**3 / 3
