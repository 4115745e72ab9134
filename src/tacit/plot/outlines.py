"""Values on a grid in classes, and the lines along which they cross a level."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints

#: A crossing: the corner of the grid where its edge starts, and the axis along which the edge runs.
Edge = tuple[int, int, int]


def classify(values: Floats, classes: int) -> Ints:
    """Return the class 0, 1, ... of each value: equal parts from 0 to the largest."""
    positive = np.maximum(values, 0.0)
    parts = positive / (positive.max() or 1.0) * classes
    return np.minimum(parts.astype(np.int64), classes - 1)


def contour_lines(
    values: Floats, x: Floats, y: Floats, level: float
) -> list[list[tuple[float, float]]]:
    """Return the lines along which values, at points x by y, cross a level (marching squares)."""
    above = values > level
    links: dict[Edge, list[Edge]] = {}

    def join(one: Edge, two: Edge) -> None:
        links.setdefault(one, []).append(two)
        links.setdefault(two, []).append(one)

    corner = above[:-1, :-1] * 1 + above[1:, :-1] * 2 + above[1:, 1:] * 4 + above[:-1, 1:] * 8
    for i, j in zip(*np.nonzero((corner > 0) & (corner < 15)), strict=True):
        a, b, c, d = above[i, j], above[i + 1, j], above[i + 1, j + 1], above[i, j + 1]
        # Edges: along x below and above (0), along y left and right (1).
        south, north, west, east = (i, j, 0), (i, j + 1, 0), (i, j, 1), (i + 1, j, 1)
        crossed = [
            e
            for e, cut in ((south, a != b), (east, b != c), (north, c != d), (west, d != a))
            if cut
        ]
        if len(crossed) == 2:
            join(*crossed)
        else:
            middle = values[i : i + 2, j : j + 2].mean() > level
            pairs = (
                ((south, east), (north, west))
                if bool(a) == bool(middle)
                else ((south, west), (north, east))
            )
            for pair in pairs:
                join(*pair)

    def place(edge: Edge) -> tuple[float, float]:
        i, j, along = edge
        k, m = (i + 1, j) if along == 0 else (i, j + 1)
        share = (level - values[i, j]) / (values[k, m] - values[i, j])
        return float(x[i] + share * (x[k] - x[i])), float(y[j] + share * (y[m] - y[j]))

    lines = []
    starts = [e for e, others in links.items() if len(others) == 1] + list(links)
    for start in starts:
        if not links.get(start):
            continue
        line, here = [place(start)], start
        while links.get(here):
            there = links[here].pop()
            links[there].remove(here)
            line.append(place(there))
            here = there
        lines.append(line)
    return lines
