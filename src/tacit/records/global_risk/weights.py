"""Weight matrices of the weighted disclosure risk: presets, user matrices, and their shape rules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError

Preset = Literal["min", "max", "diagonal", "one_over_max"]
Rule = Callable[[int, int], float]
Matrix = Sequence[Sequence[float]]

#: A rule's shape is checked on this many rows and columns before it is used.
CHECKED = 24


@dataclass(frozen=True)
class Weights:
    """A weight matrix as a function of the cluster sizes i (masked) and j (original).

    ``relative`` gives w_ij / w_11 for arrays of sizes. The matrix is ``monotone`` when w_ij / max(i, j) can only fall as a
    cluster grows: then adding a key that was not changed never lowers the weighted risk. It is ``admissible`` when every
    shape rule is known to hold; ``fault`` is the first one that is broken, in words.
    """

    relative: Callable[[Ints, Ints], Floats]
    monotone: bool
    admissible: bool
    fault: str | None = None

    def gain(self, i: Ints, j: Ints) -> Floats:
        """Return w_ij / (w_11 max(i, j)), a record's part of the weighted risk."""
        return self.relative(i, j) / np.maximum(i, j)

    def ceiling(self, i: Ints, j: Ints) -> Floats:
        """Return the largest gain of any clusters at least as large in both files.

        In an admissible matrix that is the gain on the diagonal at max(i, j): weights grow towards
        the diagonal and fall along it. Otherwise all that is known is that no weight exceeds w_11.
        """
        if self.monotone:
            return self.gain(i, j)
        largest = np.maximum(i, j)
        return self.gain(largest, largest) if self.admissible else 1.0 / largest


def weights_of(given: Preset | Matrix | Rule) -> Weights:
    """Return the weights of a preset, a matrix or a rule, after the checks that bounds rest on."""
    if isinstance(given, str):
        return preset(given)
    if callable(given):
        return by_rule(given)
    return by_matrix(np.asarray(given, dtype=np.float64))


def preset(name: Preset) -> Weights:
    """Return one of the named matrices."""
    if name == "min":
        return Weights(lambda i, j: ((i == 1) & (j == 1)).astype(np.float64), True, True)
    if name == "max":
        return Weights(lambda i, j: np.ones(np.broadcast(i, j).shape), True, True)
    if name == "diagonal":
        return Weights(lambda i, j: (i == j).astype(np.float64), False, True)
    return Weights(lambda i, j: 1.0 / np.maximum(i, j), True, True)


def by_matrix(w: Floats) -> Weights:
    """Return the weights of a t x n matrix, which may be smaller than the cluster sizes that occur.

    Beyond its edges the matrix goes on along its diagonals: each keeps its last value, and diagonals
    farther out than any take that of the outermost. This preserves every shape rule.
    """
    rows, columns = w.shape

    def relative(i: Ints, j: Ints) -> Floats:
        back = np.maximum(np.maximum(i - rows, j - columns), 0)
        return w[np.maximum(i - back, 1) - 1, np.maximum(j - back, 1) - 1] / w[0, 0]

    fault = shape_fault(w)
    return Weights(relative, monotone=False, admissible=fault is None, fault=fault)


def by_rule(rule: Rule) -> Weights:
    """Return the weights of a function w(i, j); it is called once for each pair of sizes that occurs."""
    sizes = range(1, CHECKED + 1)
    grid = np.array([[float(rule(i, j)) for j in sizes] for i in sizes])
    fault = matrix_fault(grid)
    if fault:
        raise InputError(f"global_risk: {fault}")
    top = grid[0, 0]
    known = functools.cache(rule)

    def relative(i: Ints, j: Ints) -> Floats:
        pairs = zip(i.tolist(), j.tolist(), strict=True)
        found = np.array([float(known(a, b)) for a, b in pairs], dtype=np.float64)
        if not bool(np.all((found >= 0) & (found <= top))):
            raise InputError(
                "global_risk: the weight function returned a weight that is negative or above w(1, 1)"
            )
        return found / top

    return Weights(relative, monotone=False, admissible=False, fault=shape_fault(grid))


def matrix_fault(w: Floats) -> str | None:
    """Return what makes a matrix unusable: the bounds DR_min <= DR_W <= DR_max would fail."""
    if w.ndim != 2 or not w.size:
        return (
            "weights must be a matrix with at least one row and one column, all rows equally long"
        )
    if not bool(np.all(np.isfinite(w))) or bool(np.any(w < 0)):
        return "weights must be numbers of at least 0"
    if w[0, 0] <= 0:
        return "the first weight, w_11, must be greater than 0"
    if w.max() > w[0, 0]:
        return "the first weight, w_11, must be the largest of all"
    return None


def shape_fault(w: Floats) -> str | None:
    """Return the first pair of weights that breaks a shape rule of Truta et al. (3.4), in words.

    Weights must fall, or stay, away from the diagonal along rows and columns, and down every diagonal.
    """
    rows, columns = w.shape
    i, j = np.indices(w.shape)
    at_or_right, at_or_below = np.asarray(j >= i), np.asarray(i >= j)
    steps = (
        (w[:, :-1], w[:, 1:], at_or_right[:, :-1], (0, 1), "away from the diagonal"),
        (w[:, 1:], w[:, :-1], ~at_or_right[:, :-1], (0, -1), "away from the diagonal"),
        (w[:-1], w[1:], at_or_below[:-1], (1, 0), "away from the diagonal"),
        (w[1:], w[:-1], ~at_or_below[:-1], (-1, 0), "away from the diagonal"),
        (w[:-1, :-1], w[1:, 1:], np.ones((rows - 1, columns - 1), bool), (1, 1), "down a diagonal"),
    )
    for near, far, applies, (down, right), words in steps:
        broken = np.argwhere((far > near) & applies)
        if len(broken):
            a, b = (int(v) + 1 for v in broken[0])
            a, b = a + (down < 0), b + (right < 0)
            return (
                f"weights must not grow {words}, but w({a + down}, {b + right}) exceeds w({a}, {b})"
            )
    return None
