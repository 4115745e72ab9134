"""Directions in which records spread most: principal components, classical, robust or by pursuit.

References
----------
Croux, Ruiz-Gazen (2005), High breakdown estimators for principal components: the projection-pursuit
approach revisited, Journal of Multivariate Analysis 95, 206-226.
Croux, Filzmoser, Oliveira (2007), Algorithms for projection-pursuit robust principal component analysis,
Chemometrics and Intelligent Laboratory Systems 87, 218-225.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Floats
from tacit.numerics.algebra import dot, eigh
from tacit.numerics.elementary import cos, sin
from tacit.stats.robust import MAD_CONSTANT, make_concentration_error, qn, spatial_median

ScaleName = Literal["mad", "qn", "sd"]
Middle = Literal["median", "spatial"]

#: Candidate directions tried; up to this many records all of them, on all records.
CANDIDATES = 5_000
#: Above that: records on which the candidates are screened, candidates that are left, and records on
#: which these are compared and the best is turned further.
SCREEN_RECORDS = 2_000
FINALISTS = 10
REFINE_RECORDS = 20_000
#: Numbers held at a time while projections are scaled.
CHUNK = 4_000_000


# -- components of a covariance, with signs that can be compared ---------------------------------------


@dataclass(frozen=True)
class Components:
    """Components in descending order of variance."""

    #: Variances along the components.
    values: Floats
    #: One column per component, of length 1.
    vectors: Floats

    @property
    def shares(self) -> Floats:
        """Return the share of the variance that each component has."""
        return self.values / self.values.sum()

    @property
    def loadings(self) -> Floats:
        """Return the vectors times the standard deviation along them.

        For components of a correlation matrix these are the correlations of columns and components.
        """
        return self.vectors * np.sqrt(np.clip(self.values, 0.0, None))

    def aligned(self, reference: Floats) -> Components:
        """Return the components with signs turned to those of a reference's vectors."""
        sign = np.where((self.vectors * reference).sum(axis=0) < 0, -1.0, 1.0)
        return Components(self.values, self.vectors * sign)


def principal(matrix: Floats) -> Components:
    """Return the components of a covariance or correlation matrix; the largest loading is positive."""
    values, vectors = eigh(matrix)
    return Components(np.clip(values[::-1], 0.0, None), orient_vectors(vectors[:, ::-1]))


def orient_vectors(vectors: Floats) -> Floats:
    """Return vectors with signs turned so that the largest entry of each is positive."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))


def orient_direction(direction: Floats) -> Floats:
    """Return a direction with the sign that makes its largest absolute loading positive."""
    return orient_vectors(direction[:, None])[:, 0]


def first_component(covariance: Floats) -> Floats:
    """Return the eigenvector of the largest eigenvalue, upright."""
    return orient_direction(eigh(covariance)[1][:, -1])


# -- projection pursuit ----------------------------------------------------------------------------------


def pursue_directions(
    x: Floats,
    rng: np.random.Generator,
    *,
    scale: ScaleName = "mad",
    middle: Middle = "median",
    components: int = 1,
) -> tuple[Floats, Floats]:
    """Return principal directions by projection pursuit, one per row, and the scale along each.

    The first direction is, among those from the middle to a record, the one with the largest scale of the
    projected records; the next ones are found after projecting out those before. Above 5,000 records the
    search is on samples: 5,000 directions on 2,000 records, the ten best on up to 20,000, and the winner
    turned towards each axis as long as that helps.
    """
    centre = np.median(x, axis=0) if middle == "median" else spatial_median(x)
    rest = x - centre
    directions: list[Floats] = []
    scales: list[float] = []
    free = np.eye(x.shape[1])
    for found in range(min(components, x.shape[1])):
        if found:
            rest = rest - np.outer(dot(rest, directions[-1]), directions[-1])
            free = free - np.outer(directions[-1], directions[-1])
        direction, spread = first_pursued(rest, free, scale, rng)
        directions.append(orient_direction(direction))
        scales.append(spread)
    return np.array(directions), np.array(scales)


def first_pursued(
    rest: Floats, free: Floats, scale: ScaleName, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return the direction of the largest scale of centred records, and that scale.

    ``free`` projects onto the space in which the records lie.
    """
    n = len(rest)
    lengths = np.sqrt((rest * rest).sum(axis=1))
    usable = np.flatnonzero(lengths > 1e-12 * lengths.max())
    if len(usable) == 0:
        raise make_concentration_error()
    if n <= CANDIDATES:
        candidates = rest[usable] / lengths[usable, None]
        spreads = scales_along(rest, candidates, scale)
        best, spread = candidates[spreads.argmax()], float(spreads.max())
    else:
        chosen = rng.choice(usable, size=min(CANDIDATES, len(usable)), replace=False)
        candidates = rest[chosen] / lengths[chosen, None]
        some = rest if n <= REFINE_RECORDS else rest[rng.choice(n, REFINE_RECORDS, replace=False)]
        few = some[rng.choice(len(some), SCREEN_RECORDS, replace=False)]
        last = candidates[scales_along(few, candidates, scale).argsort(kind="stable")[-FINALISTS:]]
        best = turn_direction(some, last[scales_along(some, last, scale).argmax()], free, scale)
        spread = float(scales_along(rest, best[None], scale)[0])
    if spread <= 0:
        raise make_concentration_error()
    return best, spread


def turn_direction(rest: Floats, best: Floats, free: Floats, scale: ScaleName) -> Floats:
    """Return a direction turned towards the axes, by smaller and smaller angles, while its scale grows."""
    lengths = np.sqrt((free**2).sum(axis=1))
    axes = free[lengths > 1e-6] / lengths[lengths > 1e-6, None]
    record = float(scales_along(rest, best[None], scale)[0])
    angle = np.pi / 8
    while angle > 1e-3:
        turns = sin(angle) * np.concatenate([axes, -axes])
        trial = cos(angle) * best + turns
        trial /= np.sqrt((trial**2).sum(axis=1, keepdims=True))
        spreads = scales_along(rest, trial, scale)
        if spreads.max() > record * (1 + 1e-9):
            best, record = trial[spreads.argmax()], float(spreads.max())
        else:
            angle /= 2
    return best


def scales_along(rest: Floats, directions: Floats, scale: ScaleName) -> Floats:
    """Return the scale of the records along each direction."""
    step = max(1, CHUNK // max(len(rest), 1))
    parts = [
        scales_of(dot(directions[at : at + step], rest.T), scale)
        for at in range(0, len(directions), step)
    ]
    return np.concatenate(parts)


def scales_of(rows: Floats, scale: ScaleName) -> Floats:
    """Return the scale of each row."""
    if scale == "sd":
        return np.asarray(rows.std(axis=1, ddof=1))
    if scale == "qn":
        return np.array([qn(row) for row in rows])
    deviations = np.abs(rows - np.median(rows, axis=1, keepdims=True))
    return np.asarray(MAD_CONSTANT * np.median(deviations, axis=1))
