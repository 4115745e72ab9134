"""Kernel densities with constant, local and trimmed kernels, in one and two dimensions.

All functions take the bandwidth of each record and give sums of kernels, N times the density: sums do not need the
number of records, which is confidential too. :func:`kernel_sums` is the definition, record by record.
:func:`lattice_sums` is what measures use: records are first rounded to a lattice of a sixteenth of the bandwidth,
which does not depend on the data, so that a million records become counts and the sums matrix products.

References
----------
Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, sections 4 and 5.
Silverman (1986), Density Estimation for Statistics and Data Analysis, Chapman and Hall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import exp

ROOT = math.sqrt(2 * math.pi)
#: Lattice steps in a bandwidth: rounding adds 1/3072 to the square of the bandwidth.
CELLS = 16
#: Bandwidths beyond which a kernel is nothing.
REACH = 8.0
#: Classes of local bandwidths in an octave; bandwidths are rounded up to the next class.
CLASSES = 8
#: Largest number of records whose bandwidth one record decides, by dimension (gamma).
#: A bandwidth changes only where the record was the one nearest; by the angles between such neighbours there are
#: at most two on a line and five in the plane, with ties too: what has a twin, or a second neighbour as near,
#: does not change. (The paper's bound counts nearest neighbours; exact ties, of which there may be more, are harmless.)
AFFECTED = {1: 2, 2: 5}


# -- bandwidths ----------------------------------------------------------------------------------


def normal_reference(sd: float, n: float) -> float:
    """Return h_s = 1.06 s N^(-1/5)."""
    return 1.06 * sd * n**-0.2


def silverman(sd: float, iqr: float, n: float) -> float:
    """Return h_t = 0.9 min(s, (q3 - q1) / 1.34) N^(-1/5).

    The paper prints 8.32 for its sample of 13; the formula gives 8.0423 with linear quartiles, and no common
    quartile rule gives 8.32.
    """
    return 0.9 * min(sd, iqr / 1.34) * n**-0.2


def local_bandwidths(x: Floats, beta: float, least: float) -> Floats:
    """Return h_i = max(beta min_j |x_i - x_j|, h_0); ties have distance 0, so that h_0 applies."""
    return np.maximum(beta * nearest_distances(x[:, None] if x.ndim == 1 else x), least)


def nearest_distances(x: Floats) -> Floats:
    """Return each record's distance to the nearest other one; records are the rows."""
    if len(x) < 2:
        return np.full(len(x), np.inf)
    if x.shape[1] == 1:
        order = np.argsort(x[:, 0], kind="stable")
        gaps = np.diff(x[order, 0])
        found = np.empty(len(x))
        found[order] = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
        return found
    from scipy.spatial import cKDTree

    # Many equal points make a tree slow; each place is asked once.
    places, where, counts = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    if len(places) < 2:
        return np.zeros(len(x))
    near, _ = cKDTree(places).query(places, k=2)
    return np.asarray(np.where(counts > 1, 0.0, near[:, 1]))[where.ravel()]


# -- the definition --------------------------------------------------------------------------------


def kernel_sums(x: Floats, grid: Floats, bandwidth: Floats | float, trim: int = 0) -> Floats:
    """Return sum_i z_i(y) / sqrt(2 pi) at each grid point y, less the ``trim`` largest, record by record.

    z_i(y) = exp(-((y - x_i) / h_i)^2 / 2) / h_i. Divide by N - trim for the density.
    """
    h = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), x.shape)
    z = exp(-(((grid[:, None] - x[None, :]) / h) ** 2) / 2) / (h * ROOT)
    return less_the_largest(z, trim)


def less_the_largest(z: Floats, trim: int) -> Floats:
    """Return the sums over records (columns) without the largest of each row."""
    total = z.sum(axis=1)
    if not trim:
        return np.asarray(total)
    if trim >= z.shape[1]:
        return np.zeros(len(z))
    return np.asarray(total - np.partition(z, -trim, axis=1)[:, -trim:].sum(axis=1))


# -- the same of rounded records ---------------------------------------------------------------------


def round_up_to_class(scale: Floats) -> Ints:
    """Return the class of a local bandwidth in units of the smallest: the class c stands for 2^(c/8)."""
    capped = np.minimum(scale, 2.0**60)
    return np.ceil(np.log2(np.maximum(capped, 1.0)) * CLASSES - 1e-9).astype(np.int64)


def lattice_sums(
    x: Floats,
    grids: Sequence[Floats],
    least: Sequence[float],
    *,
    classes: Ints | None = None,
    trim: int = 0,
    weights: Floats | None = None,
) -> Floats:
    """Return sums of product kernels at the grid points, records rounded to a sixteenth of their bandwidth.

    Records are rows of one or two columns. ``least`` is the bandwidth of each axis, or the smallest one where
    bandwidths are local: then ``classes`` has that of each record. The ``trim`` largest contributions are left out at
    each point; ``weights`` is what each record counts.
    """
    groups = np.zeros(len(x), dtype=np.int64) if classes is None else classes
    total = np.zeros([len(g) for g in grids])
    largest: list[Floats] = []
    for number in np.unique(groups):
        h = [b * 2.0 ** (number / CLASSES) for b in least]
        mine = groups == number
        cells, counts = count_cells(x[mine], grids, h, None if weights is None else weights[mine])
        total += product_sums(cells, counts, grids, h)
        if trim:
            largest.append(
                largest_kernels(cells, counts, grids, h, trim, weighted=weights is not None)
            )
    if trim and largest:
        every = np.concatenate(largest, axis=-1)
        total -= np.partition(every, -trim, axis=-1)[..., -trim:].sum(axis=-1)
    return np.maximum(total, 0.0)


def count_cells(
    x: Floats, grids: Sequence[Floats], h: Sequence[float], weights: Floats | None
) -> tuple[Ints, Floats]:
    """Return the lattice cells that records are rounded to, and what they count; far ones are left out.

    Cell c of an axis lies at c h / 16 from the grid's first point.
    """
    near = np.ones(len(x), dtype=bool)
    cells = np.empty(x.shape, dtype=np.int64)
    for j, (g, b) in enumerate(zip(grids, h, strict=True)):
        near &= (x[:, j] > g[0] - REACH * b) & (x[:, j] < g[-1] + REACH * b)
        away = np.clip((x[:, j] - g[0]) * (CELLS / b), -(2.0**40), 2.0**40)
        cells[:, j] = np.rint(away).astype(np.int64)
    cells = cells[near]
    given = np.ones(len(cells)) if weights is None else weights[near]
    if not len(cells) or weights is not None:
        return cells, given
    low = np.asarray(cells.min(axis=0))
    spread = np.asarray(cells.max(axis=0)) - low + 1
    codes = np.ravel_multi_index(tuple((cells - low).T), tuple(spread))
    if np.prod(spread.astype(float)) < 5e7:
        every = np.bincount(codes)
        kept = np.flatnonzero(every)
        counts = every[kept].astype(np.float64)
    else:
        kept, found = np.unique(codes, return_counts=True)
        counts = found.astype(np.float64)
    places = np.stack(np.unravel_index(kept, tuple(spread)), axis=1).astype(np.int64) + low
    return places, counts


def axis_kernel(places: Ints, grid: Floats, h: float) -> Floats:
    """Return one axis of the kernel between grid points (rows) and lattice places (columns)."""
    centre = grid[0] + places * (h / CELLS)
    u = (grid[:, None] - centre[None, :]) / h
    return np.asarray(exp(-(u**2) / 2) / (h * ROOT))


def product_sums(
    cells: Ints, counts: Floats, grids: Sequence[Floats], h: Sequence[float]
) -> Floats:
    """Return the sums of kernels of counted lattice cells: matrix products."""
    if not len(cells):
        return np.zeros([len(g) for g in grids])
    rows, at = np.unique(cells[:, 0], return_inverse=True)
    first = axis_kernel(rows, grids[0], h[0])
    if len(grids) == 1:
        return np.asarray(dot(first, np.bincount(at, counts, minlength=len(rows))))
    from scipy.sparse import coo_array

    columns, across = np.unique(cells[:, 1], return_inverse=True)
    held = coo_array((counts, (at, across)), shape=(len(rows), len(columns))).tocsr()
    second = axis_kernel(columns, grids[1], h[1])
    return np.asarray(dot(first, dot(held, second.T)))


def largest_kernels(
    cells: Ints,
    counts: Floats,
    grids: Sequence[Floats],
    h: Sequence[float],
    trim: int,
    *,
    weighted: bool,
) -> Floats:
    """Return the largest contributions at each grid point: those of the nearest records."""
    shape = tuple(len(g) for g in grids)
    if not len(cells):
        return np.zeros((*shape, trim))
    if weighted:
        # The weight decides with the distance: every record is asked.
        return largest_by_search(cells, counts, grids, h, trim)
    from scipy.spatial import cKDTree

    # A cell holds several records: as many as can be trimmed.
    each = np.minimum(counts, trim).astype(np.int64)
    points = np.repeat(cells, each, axis=0).astype(np.float64) / CELLS
    where = np.stack(
        np.meshgrid(*[(g - g[0]) / b for g, b in zip(grids, h, strict=True)], indexing="ij"), -1
    )
    asked = min(trim, len(points))
    far, _ = cKDTree(points).query(where.reshape(-1, len(grids)), k=range(1, asked + 1))
    kernels = exp(-(far**2) / 2) / np.prod([b * ROOT for b in h])
    return np.pad(kernels.reshape(*shape, asked), [*[(0, 0)] * len(shape), (0, trim - asked)])


def largest_by_search(
    cells: Ints, counts: Floats, grids: Sequence[Floats], h: Sequence[float], trim: int
) -> Floats:
    """Return the largest weighted contributions at each grid point."""
    axes = [axis_kernel(cells[:, j], g, b) for j, (g, b) in enumerate(zip(grids, h, strict=True))]
    asked = min(trim, len(cells))
    found = []
    for row in axes[0]:
        z = (row * counts)[None, :] if len(axes) == 1 else (row * counts)[None, :] * axes[1]
        found.append(np.partition(z, -asked, axis=1)[:, -asked:])
    top = np.stack(found)
    top = top[:, 0] if len(axes) == 1 else top
    return np.pad(top, [*[(0, 0)] * (top.ndim - 1), (0, trim - asked)])


# -- how far one record moves it ---------------------------------------------------------------------


def point_bound(n: int, h: float, affected: int = 0) -> float:
    """Return the paper's bound at one point: (gamma + 1) / ((N - 1) sqrt(2 pi) h)."""
    return (affected + 1) / ((n - 1) * ROOT * h)


def curve_bound(steps: Sequence[float], least: Sequence[float], affected: int = 0) -> float:
    """Return how far one record moves the whole vector of sums, in the Euclidean norm.

    For equidistant points the squares of a kernel sum to most where it sits on a point (the lattice sum of a
    Gaussian is a theta function), and to less the wider it is; so the norm on an endless grid with the smallest
    bandwidth bounds all. A kernel that changes its bandwidth moves by less than sqrt(2) of it, as both forms are
    positive. Trimming does not move it further: what falls out is replaced by something smaller.
    """
    square = 1.0
    for step, h in zip(steps, least, strict=True):
        # The sum of squares of a kernel at 0, step, -step, ...
        most = int(REACH * h / step) + 1
        at = np.arange(-most, most + 1) * (step / h)
        square *= float(exp(-(at**2)).sum() / (2 * math.pi * h**2))
    return (1 + math.sqrt(2) * affected) * math.sqrt(square)
