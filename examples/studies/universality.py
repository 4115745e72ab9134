"""Every bounded integer program as the line sums of an r x c x 3 table; hard tables for tests.

The solutions y of A y = b, 0 <= y <= U stand one to one for the tables with certain line sums, and each
y_j is an entry of the table. So line sums can have any set of values as those of one entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.errors import InputError
from tacit.tables.margins.margins import MarginSet

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lifted:
    """Line sums of an r x c x 3 table whose tables are the solutions of an integer program.

    Attributes
    ----------
    margins
        The line sums.
    cells
        For each variable, the entry that carries it.
    a, b, bound
        The program A y = b, 0 <= y <= bound.
    triples
        The cells (plane, row, column) of the table in between, with variable and sign: the cell holds y
        (sign 1) or bound - y (sign -1).
    """

    margins: MarginSet
    cells: tuple[tuple[int, int, int], ...]
    a: Ints
    b: Ints
    bound: int
    triples: tuple[tuple[int, int, int, int, int], ...]

    def table(self, y: Sequence[int]) -> Ints:
        """Return the table that stands for a solution."""
        pairs, columns = shape_of(self.triples)
        return fill(
            self.triples, pairs, columns, len(self.a) + 1, self.bound, np.asarray(y, dtype=np.int64)
        )

    def solution(self, table: npt.ArrayLike) -> Ints:
        """Return the solution for which a table stands."""
        x = np.asarray(table)
        return np.array([x[cell] for cell in self.cells], dtype=np.int64)


def lift(a: npt.ArrayLike, b: npt.ArrayLike, bound: int) -> Lifted:
    """Embed A y = b, 0 <= y <= bound into the line sums of an r x c x 3 table.

    Step 1 gives each variable a square of rows and columns whose diagonal holds y and whose cyclic
    super-diagonal holds bound - y, spread over planes so that plane k adds up to b_k; step 2 turns that
    table of plane, row and column sums with forbidden cells into one of line sums.

    References
    ----------
    De Loera and Onn (2004), SIAM Journal on Computing 33, 806-821; Onn (2006), section 3.
    """
    matrix = np.atleast_2d(np.asarray(a, dtype=np.int64))
    right = np.atleast_1d(np.asarray(b, dtype=np.int64))
    if matrix.shape[0] != len(right):
        raise InputError("A must have one row per right-hand side")
    if bound < 1:
        raise InputError("the bound of the variables must be a positive whole number")
    triples = squares(matrix)
    pairs, columns = shape_of(triples)
    negative = np.maximum(-matrix, 0).sum(axis=1)
    plane_sums = right + bound * negative
    total = bound * columns
    plane_sums = np.append(plane_sums, total - plane_sums.sum())
    if (plane_sums < 0).any():
        raise InputError("the program has no solution within its bounds: a plane sum is negative")
    margins = line_sums(triples, pairs, columns, plane_sums, bound)
    where = {pair: c for c, pair in enumerate(pairs)}
    cells: dict[int, tuple[int, int, int]] = {}
    for plane, row, column, j, sign in triples:
        if sign > 0:
            cells.setdefault(j, (column, where[plane, row], 0))
    ordered = tuple(cells[j] for j in range(matrix.shape[1]))
    return Lifted(margins, ordered, matrix, right, bound, triples)


def squares(a: Ints) -> tuple[tuple[int, int, int, int, int], ...]:
    """Return the allowed cells (plane, row, column, variable, sign) of the table of plane sums."""
    m, n = a.shape
    found: list[tuple[int, int, int, int, int]] = []
    offset = 0
    for j in range(n):
        plus = [k for k in range(m) for _ in range(max(0, int(a[k, j])))]
        minus = [k for k in range(m) for _ in range(max(0, -int(a[k, j])))]
        # A variable in no equation still needs two cells that are not the same one.
        r = max(len(plus), len(minus)) or 2
        plus += [m] * (r - len(plus))
        minus += [m] * (r - len(minus))
        for i in range(r):
            found.append((plus[i], offset + i, offset + i, j, 1))
            found.append((minus[i], offset + i, offset + (i + 1) % r, j, -1))
        offset += r
    return tuple(found)


def shape_of(
    triples: Iterable[tuple[int, int, int, int, int]],
) -> tuple[list[tuple[int, int]], int]:
    """Return the pairs (plane, row) in order, and the number of columns."""
    known = list(triples)
    pairs = sorted({(t[0], t[1]) for t in known})
    return pairs, 1 + max(t[2] for t in known)


def fill(
    triples: Iterable[tuple[int, int, int, int, int]],
    pairs: list[tuple[int, int]],
    columns: int,
    planes: int,
    bound: int,
    y: Ints,
) -> Ints:
    """Return the r x c x 3 table that stands for a solution y."""
    where = {pair: c for c, pair in enumerate(pairs)}
    x = np.zeros((columns + planes + columns, len(pairs), 3), dtype=np.int64)
    sums = np.zeros(len(pairs), dtype=np.int64)
    for plane, row, column, j, sign in triples:
        c = where[plane, row]
        value = int(y[j]) if sign > 0 else bound - int(y[j])
        x[column, c, 0] = value
        x[column, c, 2] = bound - value
        sums[c] += value
    for (plane, row), c in where.items():
        x[columns + plane, c] = (bound - sums[c], sums[c], 0)
        x[columns + planes + row, c] = (0, bound - sums[c], sums[c])
    return x


def line_sums(
    triples: Sequence[tuple[int, int, int, int, int]],
    pairs: list[tuple[int, int]],
    columns: int,
    plane_sums: Ints,
    bound: int,
) -> MarginSet:
    """Return the line sums; group 1 are columns, group 2 planes, group 3 rows of the table before."""
    planes = len(plane_sums)
    where = {pair: c for c, pair in enumerate(pairs)}
    size = (columns + planes + columns, len(pairs), 3)
    over_layers = np.zeros(size[:2], dtype=np.int64)
    in_pair = np.zeros(len(pairs), dtype=np.int64)
    in_column = np.zeros(columns, dtype=np.int64)
    for plane, row, column, _, _ in triples:
        c = where[plane, row]
        over_layers[column, c] = bound
        in_pair[c] += 1
        in_column[column] += 1
    by_plane = np.zeros(planes, dtype=np.int64)
    by_row = np.zeros(columns, dtype=np.int64)
    for (plane, row), c in where.items():
        over_layers[columns + plane, c] = bound
        over_layers[columns + planes + row, c] = bound
        by_plane[plane] += 1
        by_row[row] += 1
    ones, zeros = np.full(columns, bound), np.zeros(columns, dtype=np.int64)
    group1 = np.stack([ones, zeros, bound * in_column - bound], axis=1)
    group2 = np.stack([bound * by_plane - plane_sums, plane_sums, 0 * plane_sums], axis=1)
    group3 = np.stack([zeros, bound * by_row - bound, ones], axis=1)
    over_columns = np.concatenate([group1, group2, group3])
    if (over_columns < 0).any():
        raise InputError("the program has no solution within its bounds: a plane sum is too large")
    over_rows = np.stack(
        [np.full(len(pairs), bound), np.full(len(pairs), bound), bound * in_pair], axis=1
    )
    return MarginSet.of(size, {(0, 1): over_layers, (0, 2): over_columns, (1, 2): over_rows})


def small_coefficients(a: npt.ArrayLike, b: npt.ArrayLike, bound: int) -> tuple[Ints, Ints, int]:
    """Rewrite A y = b, 0 <= y <= bound with coefficients -1, 0, 1, 2 only.

    Powers of two of a variable become variables, 2 y_s - y_(s+1) = 0, and a slack keeps y <= bound
    where the common bound has grown. The first variables are the old ones, in order.
    """
    matrix = np.atleast_2d(np.asarray(a, dtype=np.int64))
    m, n = matrix.shape
    bits = [max(1, int(np.abs(matrix[:, j]).max()).bit_length()) for j in range(n)]
    extra = sum(k - 1 for k in bits)
    slack = n if max(bits) > 1 else 0
    out = np.zeros((m + extra + slack, n + extra + slack), dtype=np.int64)
    right = np.concatenate(
        [np.atleast_1d(np.asarray(b, dtype=np.int64)), np.zeros(extra), np.full(slack, bound)]
    )
    column, row = n, m
    for j in range(n):
        places = [j, *range(column, column + bits[j] - 1)]
        for s, p in enumerate(places):
            out[:m, p] = np.sign(matrix[:, j]) * ((np.abs(matrix[:, j]) >> s) & 1)
            if s:
                out[row, places[s - 1]], out[row, p] = 2, -1
                row += 1
        column += bits[j] - 1
    for j in range(slack):
        out[row + j, j] = out[row + j, column + j] = 1
    return out, right.astype(np.int64), bound << (max(bits) - 1)


# -- instances -----------------------------------------------------------------------------------------


def gap_instance(values: Iterable[int]) -> Lifted:
    """Return line sums for which the first entry takes exactly the given values (Onn 2006, Prop. 4)."""
    wanted = sorted(set(map(int, values)))
    if not wanted or wanted[0] < 0:
        raise InputError("the values are one or more whole numbers, none of them negative")
    a = np.zeros((2, 1 + len(wanted)), dtype=np.int64)
    a[0, 0] = 1
    a[0, 1:] = [-v for v in wanted]
    a[1, 1:] = 1
    return lift(a, [0, 1], max(1, wanted[-1]))


def subset_sum_instance(target: int, parts: Sequence[int]) -> Lifted:
    """Return line sums whose first entry is unique exactly when no part of the numbers adds up to the target.

    The program is target y_0 = sum part_i y_i with y in {0, 1}.
    """
    if target < 1 or not parts or min(parts) < 1:
        raise InputError("the target and the parts must be positive whole numbers")
    return lift([[target, *(-p for p in parts)]], [0], 1)


def triangle_instance(u: int) -> Lifted:
    """Return line sums with one table, in which the first entry is u, while linear bounds are 0 and 2u + 1/2.

    The program is 2 y_1 + (2u + 1) y_2 = 4u + 1.
    """
    if u < 1:
        raise InputError("u must be a positive whole number")
    return lift([[2, 2 * u + 1]], [4 * u + 1], 2 * u + 1)
