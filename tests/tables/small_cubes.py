"""Hypercubes from their definition: the range of one cube, and pairs of single respondents."""

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def cube_range(
    down: Floats, up: Floats, p: Sequence[int], q: Sequence[int], parents: Sequence[int | None]
) -> tuple[float, float]:
    """Return how far p can fall and rise when exactly the corners of the cube p-q are hidden.

    ``parents`` is the index of the total on each axis (None: no total). A corner's sign is the
    product over the axes in which it differs from p of -1, or of +1 where one of the two is the total.
    """
    fall, rise = np.inf, np.inf
    for corner in itertools.product((False, True), repeat=len(p)):
        place = tuple(b if other else a for a, b, other in zip(p, q, corner, strict=True))
        sign = 1
        for axis, other in enumerate(corner):
            if other and parents[axis] not in (p[axis], q[axis]):
                sign = -sign
        low, high = float(down[place]), float(up[place])
        fall, rise = min(fall, low if sign > 0 else high), min(rise, high if sign > 0 else low)
    return fall, rise


def paired_singletons(hidden: Flags, owner: Ints) -> list[tuple[int, tuple[int, ...], Ints]]:
    """Return the lines of one subtable whose two hidden cells are single respondents' (PS2).

    Parameters
    ----------
    hidden
        The pattern, one axis per dimension.
    owner
        The only respondent of each cell; negative where there are several.

    Returns
    -------
    list
        The axis along which the line runs, its place on the other axes, and its two cells.
    """
    found = []
    for axis in range(hidden.ndim):
        lines, who = np.moveaxis(hidden, axis, -1), np.moveaxis(owner, axis, -1)
        for place in map(tuple, np.argwhere(lines.sum(axis=-1) == 2)):
            pair = np.flatnonzero(lines[place])
            one, other = who[place][pair]
            if one >= 0 and other >= 0 and one != other:
                found.append((axis, tuple(int(i) for i in place), pair))
    return found
