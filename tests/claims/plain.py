"""Definitions in plain NumPy and SciPy, one program for each cell and side: slow and simple."""

import numpy as np
from scipy.optimize import linprog


def plain_range(table, unknown, cell, sign, down=None, up=None, still=()):
    """How far a cell moves to one side."""
    down = table.value - table.lower if down is None else down
    up = table.upper - table.value if up is None else up
    cells = np.flatnonzero(unknown)
    if cell not in cells:
        return 0.0
    bounds = [
        (0, 0) if c in still else (-down[c], None if np.isinf(up[c]) else up[c])
        for c in cells.tolist()
    ]
    bounds = [(None if low == -np.inf else low, high) for low, high in bounds]
    rows = table.equations[:, cells]
    found = linprog(
        np.where(cells == cell, -float(sign), 0.0),
        A_eq=rows,
        b_eq=np.zeros(rows.shape[0]),
        bounds=bounds,
        method="highs",
    )
    if found.status == 3:
        return np.inf
    assert found.status == 0
    return max(0.0, -found.fun)


def least(table, cell):
    return 1.0 if table.frequency else 1e-3 * max(1.0, abs(table.value[cell]))


def plainly_short(table, unknown, down, up):
    """The unsafe cells that do not reach their levels."""
    short = []
    for cell in np.flatnonzero(table.primary).tolist():
        below = plain_range(table, unknown, cell, -1, down, up)
        above = plain_range(table, unknown, cell, 1, down, up)
        low = min(table.lower_level[cell], table.value[cell] - table.lower[cell])
        high, width = table.upper_level[cell], table.sliding_level[cell]
        if low <= 0 and high <= 0 and width <= 0:
            width = least(table, cell)
        keep = 1 - 1e-6
        if below < low * keep or above < high * keep or below + above < width * keep:
            short.append(cell)
    return short


def deduced_by_respondents(table):
    """Pairs (known, target): the only respondent of known deduces an unsafe target of another."""
    pairs = []
    owner, hidden = table.owner, table.hidden
    together = (abs(table.equations).T @ abs(table.equations)).toarray() > 0
    free = np.ones(len(table))
    for known in np.flatnonzero(hidden & table.singleton).tolist():
        for target in np.flatnonzero(table.primary).tolist():
            if target == known or owner[target] == owner[known]:
                continue
            if table.primary[known] and together[known, target]:
                ways = [plain_range(table, hidden, target, s, still=(known,)) for s in (-1, 1)]
                if max(ways) < least(table, target) * (1 - 1e-6):
                    pairs.append((known, target))
            alone = plain_range(table, hidden, target, 1, free, free)
            bound = plain_range(table, hidden, target, 1, free, free, still=(known,))
            if alone > 1e-6 and bound < 1e-6:
                pairs.append((known, target))
    return pairs
