"""Attacks on protected plots: what somebody learns who knows all records but one, by simulation.

References
----------
Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, sections 3.2, 4.1, 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.errors import Infeasible, InvalidParameter
from tacit.graphics.kde import ROOT, kernel_sums


@dataclass(frozen=True)
class Attack:
    """What an attack by maximum likelihood found.

    Attributes
    ----------
    likelihood
        The log-likelihood of every candidate, up to a constant and a factor.
    best
        The candidate that is most likely.
    estimate
        Its value.
    """

    likelihood: Floats
    best: int
    estimate: float


def attack_histogram(published: Floats, known: Floats, breaks: Floats) -> Attack:
    """Return the estimate of the one unknown value: the centre of the bin with the largest f'_c - g_c."""
    counts, _ = np.histogram(known, breaks)
    difference = np.asarray(published, dtype=np.float64) - counts
    best = int(difference.argmax())
    return Attack(difference, best, float((breaks[best] + breaks[best + 1]) / 2))


def attack_density(
    published: Floats, known: Floats, grid: Floats, h: float, *, others: Floats | None = None
) -> Attack:
    """Return the estimate of the one unknown value: the grid point whose kernel fits the rest best.

    ``published`` are density values f'_c of N records; ``others`` are the bandwidths of the known ones, by
    default ``h``, which is that of the unknown.
    """
    n = len(known) + 1
    rest = np.asarray(published) - kernel_sums(known, grid, h if others is None else others) / n
    own = np.exp(-(((grid[:, None] - grid[None, :]) / h) ** 2) / 2) / (n * ROOT * h)
    likelihood = -((rest[None, :] - own) ** 2).sum(axis=1)
    best = int(likelihood.argmax())
    return Attack(likelihood, best, float(grid[best]))


def histogram_attack_error(
    amplitude: float,
    breaks: Floats,
    *,
    target: float = 0.0,
    draws: int = 4000,
    seed: int | None = None,
) -> float:
    """Return the standard error of the attack on a histogram around the true value.

    What is known of the others is subtracted and drops out: the attacker sees the target's bin plus noise.
    """
    rng = Context.start(seed).rng
    edges = np.asarray(breaks, dtype=np.float64)
    centres = (edges[1:] + edges[:-1]) / 2
    seen = rng.standard_normal((draws, len(centres))) * amplitude
    seen[:, np.clip(np.searchsorted(edges, target, side="right") - 1, 0, len(centres) - 1)] += 1
    return float(np.sqrt(((centres[seen.argmax(axis=1)] - target) ** 2).mean()))


def density_attack_error(
    amplitude: float,
    grid: Floats,
    h: float,
    *,
    target: float = 0.0,
    draws: int = 2000,
    seed: int | None = None,
) -> float:
    """Return the standard error of the attack on a density of constant bandwidth, noise of eps_c / N."""
    rng = Context.start(seed).rng
    points = np.asarray(grid, dtype=np.float64)
    shapes = one_kernel_each(points, h)
    own = np.exp(-(((points - target) / h) ** 2) / 2) / (ROOT * h)
    seen = own + rng.standard_normal((draws, len(points))) * amplitude
    # -|s - k|^2 = 2 s k - |k|^2 up to what does not depend on the candidate.
    likelihood = 2 * seen @ shapes.T - (shapes**2).sum(axis=1)
    found = points[likelihood.argmax(axis=1)]
    return float(np.sqrt(((found - target) ** 2).mean()))


def one_kernel_each(points: Floats, h: float) -> Floats:
    """Return the kernel of a record at each point (rows), at all points."""
    return np.asarray(np.exp(-(((points[:, None] - points[None, :]) / h) ** 2) / 2) / (ROOT * h))


def amplitude_for_error(
    error: Callable[[float], float], wanted: float, *, least: float = 1e-4, most: float = 1e4
) -> float:
    """Return the smallest amplitude whose attack error reaches a wanted one, by bisection on its logarithm.

    ``error`` gives the standard error of an amplitude; give it a seed, so that it rises smoothly.
    """
    if not wanted > 0:
        raise InvalidParameter("the wanted error must be greater than 0")
    if error(most) < wanted:
        raise Infeasible(
            "no amplitude makes the attack that inaccurate: even pure noise guesses a place on the plot"
        )
    low, high = math.log(least), math.log(most)
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if error(math.exp(middle)) < wanted else (low, middle)
    return math.exp(high)


def presence_advantage(rho: float) -> float:
    """Return by how much the best attacker's guess whether one unit is in the data beats chance, at most.

    Gaussian noise with rho = Delta^2 / (2 a^2) tells two neighbouring data sets apart like two normal
    distributions sqrt(2 rho) apart: the sum of hits and correct rejections is at most Phi(sqrt(rho/2)) twice.
    """
    return 2 * 0.5 * (1 + math.erf(math.sqrt(2 * rho) / 2 / math.sqrt(2))) - 1


def guess_presence(seen: Floats, without: Floats, own: Floats) -> Flags:
    """Return the most powerful guess, for each row of published vectors, whether the unit is in the data.

    ``without`` is the exact vector without the unit and ``own`` what the unit adds (Neyman, Pearson).
    """
    return np.asarray((seen - without) @ own > (own**2).sum() / 2)


def invert_density(values: Floats, step: float, h: float) -> Floats:
    """Return the records behind a noiseless density curve of constant bandwidth, as spikes on its grid.

    The Fourier transform of the curve divided by that of the kernel is that of the records: why noise is needed.
    Frequencies at which the kernel has all but vanished are left out.
    """
    n = len(values)
    frequency = 2 * np.pi * np.fft.rfftfreq(n, step)
    kernel = np.exp(-((frequency * h) ** 2) / 2)
    seen = np.fft.rfft(values)
    divided = np.where(kernel > 1e-10, seen / np.maximum(kernel, 1e-10), 0.0)
    return np.asarray(np.fft.irfft(divided, n) * step)


def draw_synthetic(values: Floats, grid: Floats, n: int, *, seed: int | None = None) -> Floats:
    """Return a synthetic sample from a protected density on a grid: the paper's inferior alternative, to compare."""
    rng = Context.start(seed).rng
    positive = np.maximum(np.asarray(values, dtype=np.float64), 0.0)
    step = float(grid[1] - grid[0])
    places = rng.choice(len(grid), size=n, p=positive / positive.sum())
    return np.asarray(grid[places] + (rng.random(n) - 0.5) * step)
