r"""What a cell's sample count says about its population count, under three models.

F is the population count of a cell, f its count in a sample with fraction pi. All models have F = f + something:

- Poisson: :math:`F - f \sim Poisson(\mu (1-\pi)/\pi)`, mu the expected sample count;
- negative binomial: :math:`F - f \sim NB(\alpha + f, \rho)` with :math:`\rho = (\mu+\alpha)/(\mu/\pi+\alpha)`, from a
  gamma prior of shape alpha (Rinott and Shlomo 2006, equations 5 to 7);
- Argus: alpha = 0, so that rho = pi; the other limit, alpha to infinity, is the Poisson model.

Two numbers follow: P(F = 1) and E(1/F).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.arrays import Flags, Floats, Ints

#: From this shape on the negative binomial is taken for a Poisson model.
POISSON_FROM = 1e8
#: Where the integrand of E(1/F) is below exp(-40) it is left out.
CUT = 40.0
#: Cells whose integrals are computed at once.
CHUNK = 1 << 15
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


class CellRisks(NamedTuple):
    """P(F = 1), E(1/F), and the variance of 1/F, of each cell."""

    unique: Floats
    inverse: Floats
    spread: Floats


def poisson_risk(f: Ints, mu: Floats, fraction: Floats) -> CellRisks:
    """Return the risks of cells whose expected sample counts are mu."""

    def work(f: Ints, rate: Floats) -> CellRisks:
        return risks_of(poisson_moment, np.exp(-rate), rate > 0, f, rate)

    return in_chunks(work, f, mu * (1 - fraction) / fraction)


def gamma_risk(f: Ints, mu: Floats, alpha: Floats, fraction: Floats) -> CellRisks:
    """Return the risks of cells with a gamma prior of shape alpha; 0 is Argus, infinity Poisson."""
    out = CellRisks(*(np.empty(len(f)) for _ in range(3)))
    flat = alpha >= POISSON_FROM
    for part, made in (
        (flat, poisson_risk(f[flat], mu[flat], fraction[flat])),
        (~flat, shaped_risk(f[~flat], mu[~flat], alpha[~flat], fraction[~flat])),
    ):
        for whole, piece in zip(out, made, strict=True):
            whole[part] = piece
    return out


def argus_risk(f: Ints, fraction: Floats) -> CellRisks:
    """Return the risks of Benedetti and Franconi: F - f is negative binomial with f and pi."""
    return shaped_risk(f, np.ones(len(f)), np.zeros(len(f)), fraction)


def shaped_risk(f: Ints, mu: Floats, alpha: Floats, fraction: Floats) -> CellRisks:
    """Return the risks of cells with a finite shape."""

    def work(f: Ints, alpha: Floats, rho: Floats) -> CellRisks:
        return risks_of(shaped_moment, rho ** (1 + alpha), rho < 1, f, alpha, rho)

    return in_chunks(work, f, alpha, (mu + alpha) / (mu / fraction + alpha))


def risks_of(
    moment: Callable[..., Floats], alone: Floats, more: Flags, f: Ints, *law: Floats
) -> CellRisks:
    """Return the risks from E(F^-1) and E(F^-2) of the cells that may have more people than records."""
    first = np.full(len(f), 1.0) / f
    second = first**2
    here = [x[more] for x in (f, *law)]
    first[more], second[more] = moment(*here, 1), moment(*here, 2)
    return CellRisks(np.where(f == 1, alone, 0.0), first, np.maximum(second - first**2, 0.0))


def poisson_moment(f: Ints, rate: Floats, power: int) -> Floats:
    """Return E(F^-power) for F = f + Poisson(rate)."""
    if power == 1 and (f == 1).all():
        return np.asarray(-np.expm1(-rate) / rate)
    # E(1/F) = int_0^1 s^{f-1} e^{-rate (1-s)} ds; a second power multiplies by -ln s.
    slope = rate + f - 1
    width = np.minimum(1.0, CUT / np.maximum(slope, CUT))
    s = 1 - width[:, None] * (1 - NODES) / 2
    return integrate(
        (f[:, None] - 1) * np.log(s) - rate[:, None] * (1 - s), -np.log(s), width, power
    )


def shaped_moment(f: Ints, alpha: Floats, rho: Floats, power: int) -> Floats:
    """Return E(F^-power) for F = f + NB(alpha + f, rho)."""
    # With x = rho s / (1 - (1-rho) s) the integral of the generating function becomes
    # rho int_0^1 x^{f-1} (rho + (1-rho) x)^{alpha-1} dx; y = rho + (1-rho) x is taken on a logarithmic scale.
    size = -np.log(rho)
    slope = size * (f - 1 + alpha)
    width = np.minimum(1.0, CUT / np.maximum(slope, CUT))
    v = width[:, None] * (1 - NODES) / 2
    log_y = -size[:, None] * v
    # x = (y - rho) / (1 - rho), without loss where y is close to 1.
    rest = rho[:, None]
    log_x = np.log1p(np.expm1(log_y) / (1 - rest))
    log_s = log_x - log_y
    logs = (f[:, None] - 1) * log_x + alpha[:, None] * log_y
    return np.asarray(rho * size / (1 - rho) * integrate(logs, -log_s, width, power))


def integrate(logs: Floats, minus_log: Floats, width: Floats, power: int) -> Floats:
    """Return the integral of exp(logs), times -ln s for the second power, by Gauss-Legendre."""
    values = np.exp(logs)
    if power == 2:
        values = values * minus_log
    return np.asarray(values @ (WEIGHTS / 2) * width)


def in_chunks(work: Callable[..., CellRisks], *arrays: Any) -> CellRisks:
    """Return the risks of cells, so many at a time."""
    starts = range(0, max(len(arrays[0]), 1), CHUNK)
    parts = [work(*(x[a : a + CHUNK] for x in arrays)) for a in starts]
    return CellRisks(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
