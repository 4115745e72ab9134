"""Noise whose distribution is found by deconvolution."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy import fft

from tacit.arrays import Floats, Ints
from tacit.context import Context, Progress
from tacit.errors import InputError
from tacit.records.noise.stages import StageNoise
from tacit.registry import register

#: Iterations of the solver at most, and the relative change of the solution at which it stops.
ROUNDS = 5000
SETTLED = 1e-9

#: Unknown probabilities that the solver takes on at most.
MOST = 1_000_000


@register
class DeconvolutionNoise(StageNoise):
    """Mask numbers, then add noise of the distribution that turns the masked data back into the original's.

    The density f_E of the noise solves f_X1 * f_E = f_X0, a convolution: X1 = M1(X0) is known, X0 is
    known, so f_E can be found and drawn from, without a look at where a record came from. Both densities are shares of
    records on a grid; f_E is the distribution on grid offsets of least squared error, found by projected
    gradients to the accuracy of the stopping rule. The misfit that is left, a total variation distance
    between 0 and 1, is noted. For one, two or three columns: a grid has cells ** columns cells.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 3.
    """

    kind: Literal["deconvolution_noise"] = "deconvolution_noise"
    cells: int = Field(default=20, ge=2, description="grid cells in each dimension")

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"], "cells": 8}

    def noise_for(
        self, residual: Floats, released: Floats, original: Floats, ctx: Context
    ) -> Floats:
        """Return draws from the deconvolved distribution, with the mean that is missing."""
        del residual
        p = released.shape[1]
        if (2 * self.cells) ** p > MOST:
            raise InputError(
                f"deconvolution_noise: a grid of {self.cells} cells in each of {p} dimensions is too large. Mask fewer columns, or take fewer cells, local_noise or restoring_noise."
            )
        found = deconvolve(released, original, self.cells, ctx.tick)
        ctx.note(cells=self.cells, misfit=found.misfit)
        noise = found.draw(len(released), ctx.rng)
        wanted = original.mean(axis=0) - released.mean(axis=0)
        return noise + (wanted - noise.mean(axis=0))


@dataclass(frozen=True)
class GridNoise:
    """A distribution of noise on a grid of offsets."""

    #: Offsets in grid steps, one row each.
    offsets: Ints
    #: Their probabilities.
    chance: Floats
    #: Width of a grid cell in each dimension.
    step: Floats
    #: Largest difference between the distribution reached and the one wanted, over all sets of grid
    #: cells (total variation): 0 is a perfect fit, 1 no fit at all.
    misfit: float

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Return n draws: an offset, and an even draw of the width of a cell about it."""
        picked = self.offsets[rng.choice(len(self.chance), size=n, p=self.chance)]
        return (picked + rng.random(picked.shape) - 0.5) * self.step


def deconvolve(start: Floats, wanted: Floats, cells: int, tick: Progress) -> GridNoise:
    """Return the noise E for which ``start`` + E is distributed like ``wanted``, as nearly as the grid allows.

    Noise is an offset by whole cells plus an even draw of the width of a cell, so that no lattice shows. Both
    samples are counted on a grid of ``cells`` cells a dimension, the start after that even draw. The probabilities f of the offsets
    (no farther than any record moved) minimise the squared error of f_start * f = f_wanted, f >= 0 and
    sum f = 1, by accelerated projected gradients; the problem is convex, so that only the stopping rule
    stands between the answer and the minimum. Convolutions are done by the fast Fourier transform.
    """
    low = np.minimum(start.min(axis=0), wanted.min(axis=0))
    high = np.maximum(start.max(axis=0), wanted.max(axis=0))
    step = np.where(high > low, (high - low) / cells, 1.0)
    reach = np.minimum(
        np.ceil(np.abs(wanted - start).max(axis=0) / step - 1e-9).astype(np.int64), cells - 1
    )
    # One cell more at each end, for the even draw.
    low, cells = low - step, cells + 2
    a, b = spread_count(start, low, step, cells), compute_grid_shares(wanted, low, step, cells)
    shape = tuple(int(cells + 2 * r) for r in reach)
    size = tuple(int(2 * r + 1) for r in reach)
    # Offsets reach over both ends of the grid: the wanted distribution is 0 there.
    padded = np.zeros(shape)
    padded[tuple(slice(int(r), int(r) + cells) for r in reach)] = b
    f = solve(a, padded, shape, size, tick)
    blurred = convolve(fft.rfftn(a, shape), f, shape)
    offsets = np.indices(size).reshape(len(size), -1).T - reach
    misfit = 0.5 * float(np.abs(blurred - padded).sum())
    return GridNoise(offsets, f.ravel(), step, misfit)


def compute_grid_shares(x: Floats, low: Floats, step: Floats, cells: int) -> Floats:
    """Return the share of the records in each cell of the grid."""
    at = np.minimum(((x - low) / step).astype(np.int64), cells - 1)
    flat = np.ravel_multi_index(tuple(at.T), (cells,) * x.shape[1])
    counts = np.bincount(flat, minlength=cells ** x.shape[1]) / len(x)
    return np.asarray(counts.reshape((cells,) * x.shape[1]))


def spread_count(x: Floats, low: Floats, step: Floats, cells: int) -> Floats:
    """Return the expected shares in each cell when every record is moved evenly by up to half a cell.

    A record then falls into one of two cells per dimension, with chances linear in its place.
    """
    p = x.shape[1]
    place = (x - low) / step - 0.5
    below = np.floor(place).astype(np.int64)
    up = place - below
    total = np.zeros(cells**p)
    for corner in itertools.product((0, 1), repeat=p):
        at = below + np.array(corner)
        weight = np.where(np.array(corner) == 1, up, 1.0 - up).prod(axis=1)
        flat = np.ravel_multi_index(tuple(at.T), (cells,) * p)
        total += np.bincount(flat, weights=weight, minlength=cells**p)
    return np.asarray((total / len(x)).reshape((cells,) * p))


def solve(
    a: Floats,
    b: Floats,
    shape: tuple[int, ...],
    size: tuple[int, ...],
    tick: Progress,
) -> Floats:
    """Return f on the simplex that minimises the squared error of a * f = b (FISTA with restarts)."""
    spectrum = fft.rfftn(a, shape)
    rate = 1.0 / float((np.abs(spectrum) ** 2).max())
    corner = tuple(slice(0, s) for s in size)
    f = np.full(size, 1.0 / np.prod(size))
    ahead, momentum = f, 1.0
    for turn in range(ROUNDS):
        if turn % 100 == 0:
            tick("deconvolving", turn / ROUNDS)
        error = convolve(spectrum, ahead, shape) - b
        slope = fft.irfftn(np.conj(spectrum) * fft.rfftn(error, shape), shape)[corner]
        new = to_simplex(ahead - rate * slope)
        moved = new - f
        # Momentum that points uphill is dropped (O'Donoghue, Candès 2015).
        if float(((ahead - new) * moved).sum()) > 0:
            momentum = 1.0
        grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = new + (momentum - 1.0) / grown * moved
        f, momentum = new, grown
        if float(np.abs(moved).sum()) < SETTLED:
            break
    return f / f.sum()


def convolve(spectrum: npt.NDArray[np.complex128], f: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the convolution with f of what has that spectrum."""
    return np.asarray(fft.irfftn(spectrum * fft.rfftn(f, shape), shape))


def to_simplex(v: Floats) -> Floats:
    """Return the nearest point with entries of at least 0 and sum 1 (Held, Wolfe, Crowder 1974)."""
    ordered = np.sort(v, axis=None)[::-1]
    excess = np.cumsum(ordered) - 1.0
    last = int(np.flatnonzero(ordered * np.arange(1, ordered.size + 1) > excess)[-1])
    return np.asarray(np.maximum(v - excess[last] / (last + 1), 0.0))
