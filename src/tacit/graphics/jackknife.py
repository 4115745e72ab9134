"""The jackknife rule for any statistic: how far one record moves it, and publication with noise of that size.

The influence is taken on the data at hand, so that noise in proportion to it is the paper's protection and carries
no formal guarantee: the amplitude itself depends on the data. The protected measures of tacit use bounds that hold for
all data instead, and spend a budget; use these functions for statistics that have no such bound, after a look.

References
----------
Heitzig (2005), The "jackknife" method: confidentiality protection for complex statistical analyses, UNECE.
Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats
from tacit.context import Context
from tacit.errors import InputError
from tacit.graphics.kde import kernel_sums, local_bandwidths
from tacit.stats.concentrated import require_positive

Statistic = Callable[[Floats], Any]

#: Fewer records are refused, and fewer than the second number not advised.
FEWEST, ADVISED = 5, 30


@dataclass(frozen=True)
class Published:
    """A protected statistic: its value, and the interval of plus and minus two amplitudes."""

    value: float
    amplitude: float

    @property
    def interval(self) -> tuple[float, float]:
        """Return the interval in which the precise value lies with about 95 per cent."""
        return self.value - 2 * self.amplitude, self.value + 2 * self.amplitude


def influence(x: Floats, statistic: Statistic, replacements: Sequence[Any] = ()) -> float:
    """Return the largest change of a statistic when one record is left out, or replaced by one of some values.

    For a vector (a curve, a table) the change is its Euclidean norm. Records are the rows of ``x``.
    """
    data = np.asarray(x, dtype=np.float64)
    if len(data) < FEWEST:
        raise InputError(f"the jackknife needs at least {FEWEST} records")
    whole = np.asarray(statistic(data), dtype=np.float64)
    most = 0.0
    for i in range(len(data)):
        without = np.delete(data, i, axis=0)
        most = max(most, change(statistic(without), whole))
        for value in replacements:
            other = data.copy()
            other[i] = value
            most = max(most, change(statistic(other), whole))
    return most


def change(other: Any, whole: Floats) -> float:
    """Return the Euclidean norm of a change."""
    return float(np.sqrt(((np.asarray(other, dtype=np.float64) - whole) ** 2).sum()))


def publish(
    value: float,
    moved: float,
    *,
    factor: float = 1.0,
    form: Literal["band", "interval"] = "band",
    seed: int | None = None,
) -> Published | tuple[float, float]:
    """Return a statistic with noise of ``factor`` times its influence, or an interval of that size that holds it.

    The interval has the width 4 c Delta, as the band of two amplitudes has, and holds the value at a place
    drawn evenly.
    """
    require_positive("factor", factor)
    rng = Context.start(seed).rng
    amplitude = factor * moved
    if form == "interval":
        low = value - 4 * amplitude * rng.random()
        return low, low + 4 * amplitude
    return Published(value + amplitude * float(rng.standard_normal()), amplitude)


def curve_influence(
    x: Floats,
    grid: Floats,
    *,
    bandwidth: float | None = None,
    beta: float = 2.0,
    least: float = 1.0,
) -> Floats:
    """Return how far each record moves the sums of kernels on a grid, in the Euclidean norm.

    With a constant bandwidth that is the norm of the record's own kernel. With local ones
    h_i = max(beta d_i, least) the kernels of its nearest neighbours change as well: only those for which it was
    the one nearest, so that few kernels are computed again for each record. Confidential: for the holder's audit.
    """
    values = np.asarray(x, dtype=np.float64)
    if bandwidth is not None:
        kernels = one_by_one(values, grid, np.full(len(values), bandwidth))
        return np.asarray(np.sqrt((kernels**2).sum(axis=1)))
    h = local_bandwidths(values, beta, least)
    own = one_by_one(values, grid, h)
    order = np.argsort(values, kind="stable")
    moved = np.empty(len(values))
    for place, i in enumerate(order):
        difference = -own[i]
        for side in (-1, 1):
            there = place + side
            if not 0 <= there < len(order):
                continue
            j = order[there]
            gaps = [
                abs(values[j] - values[order[k]])
                for k in (place - side, there + side)
                if 0 <= k < len(order)
            ]
            new = max(beta * min(gaps), least) if gaps else np.inf
            if new != h[j] and np.isfinite(new):
                difference = difference + one_by_one(values[[j]], grid, np.array([new]))[0] - own[j]
        moved[i] = np.sqrt((difference**2).sum())
    return moved


def one_by_one(x: Floats, grid: Floats, h: Floats) -> Floats:
    """Return the kernel of each record (rows) at the grid points."""
    return np.stack([kernel_sums(x[[i]], grid, h[[i]]) for i in range(len(x))])
