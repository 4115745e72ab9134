"""The arithmetic of the cell-key method: changes of counts and of magnitudes, given keys.

References
----------
Fraser and Wooton (2005), A proposed method for confidentialising tabular output to protect against
differencing, UNECE/Eurostat work session on statistical data confidentiality, Geneva.
Thompson, Broadfoot and Elazar (2013), Methodology for the automatic confidentialisation of statistical
outputs from remote servers at the Australian Bureau of Statistics, UNECE/Eurostat work session, Ottawa.
Giessing and Tent (2019), Concepts for generalising tools implementing the cell key method to the case of
continuous variables, UNECE/Eurostat work session, The Hague.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.io.p_tables import PTable
from tacit.numerics.elementary import power
from tacit.tables.noise.cell_keys import rotate_digits
from tacit.tables.noise.ptable import moments


@dataclass(frozen=True)
class Scaling:
    """How large the noise of a magnitude is: Delta_j = m_j |x_j| for its j-th largest contribution.

    m_1 is ``sigma1`` up to ``xstar`` and falls to ``sigma0`` beyond it (flex), or always ``sigma1``
    (``xstar`` None, simple); m_j = epsilon_j m_1.
    """

    sigma1: float
    sigma0: float | None = None
    xstar: float | None = None
    q: float = 3.0
    epsilon: tuple[float, ...] = ()

    @property
    def weights(self) -> Floats:
        """Return epsilon_1 = 1, epsilon_2, ..."""
        return np.array([1.0, *self.epsilon])

    def share(self, x: Floats) -> Floats:
        """Return m_1 for absolute contributions."""
        if self.xstar is None or self.sigma0 is None:
            return np.full(x.shape, self.sigma1)
        beyond = np.maximum(x, self.xstar)
        slope = (self.sigma1 * beyond - self.sigma0 * self.xstar) / (self.sigma0 * self.xstar)
        fade = power(2 * self.xstar / (self.xstar + beyond), self.q)
        return self.sigma0 * (1 + slope * fade)

    def separation(self, main: PTable, small: PTable) -> float:
        """Return where scaled and fixed noise have the same standard deviation."""
        variance = moments(main, next(iter(main.blocks)))[2][-1]
        fixed = moments(small, next(iter(small.blocks)))[2][-1]
        size = float((self.weights**2).sum() * variance)
        return float(np.sqrt(fixed / size) / self.sigma1) if size > 0 else 0.0


def magnitude_changes(
    value: Floats,
    parts: Floats,
    keys: Floats,
    scaling: Scaling,
    table: PTable,
    *,
    digits: int,
    small: PTable | None = None,
    extra: Floats | None = None,
    even: Flags | None = None,
) -> Floats:
    """Return what is added to each magnitude.

    Contribution x_j draws v_j at a_j = |x_j| / Delta_j with the key turned j times, and moves the value by
    Delta_j v_j, the first one by Delta_1 sign(v_1) (mu + |v_1|). A value never changes its sign on the
    way: Delta_j is at most what is left of it.

    ``parts`` (cells x k) are the contributions that scale the noise, ``digits`` the decimals of the keys, ``small`` the
    table for contributions below the separation point, whose noise has Delta = 1, ``extra`` the mu of each cell, and
    ``even`` says which cells have an even number of contributors, where that chooses the rows.
    """
    left = value.astype(np.float64).copy()
    point = 0.0 if small is None else scaling.separation(table, small)
    for j in range(parts.shape[1]):
        x = np.abs(parts[:, j])
        weight = scaling.weights[j]
        delta = weight * scaling.share(x) * x
        tiny = x < point
        delta[tiny] = 1.0
        # Noise larger than what is left of the value is scaled down to it.
        short = np.abs(left) < delta
        x = np.where(short, np.abs(left) / (scaling.sigma1 * max(weight, 1e-300)), x)
        tiny = np.where(short, x < point, tiny)
        delta = np.where(tiny, 1.0, np.where(short, np.abs(left), delta))
        on = (parts[:, j] != 0) & (delta > 0) & (left != 0)
        if j > 0:
            on &= ~tiny
        key = rotate_digits(keys, j + 1, digits)
        step = np.divide(x, delta, out=np.zeros_like(x), where=on)
        v = draws(step, key, table, small, tiny, even, on)
        if j == 0 and extra is not None:
            side = np.where(v == 0, np.where(key < 0.5, 1.0, -1.0), np.sign(v))
            v = np.where(extra > 0, side * (extra + np.abs(v)), v)
        change = np.where(on, np.sign(left) * delta * v, 0.0)
        left = np.where(np.sign(left) * change < -np.abs(left), 0.0, left + change)
    return left - value


def draws(
    step: Floats,
    key: Floats,
    table: PTable,
    small: PTable | None,
    tiny: Flags,
    even: Flags | None,
    on: Flags,
) -> Floats:
    """Return v of every cell that draws one: from the table for small ones, or for even or odd cells."""
    v = np.zeros(len(step))
    large = on & ~tiny
    if even is None:
        v[large] = table.interpolate(step[large], key[large])
    else:
        for kind, cells in (("even", large & even), ("odd", large & ~even)):
            v[cells] = table.interpolate(step[cells], key[cells], kind)
    if small is not None:
        cells = on & tiny
        v[cells] = small.interpolate(step[cells], key[cells])
    return v


def contributions(table: Table, scale_by: str, top: int) -> Floats:
    """Return what scales the noise: cells x draws."""
    if scale_by == "top":
        behind = table.contributors
        if behind is None or behind.t < top:
            raise InputError(
                f"scale_by='top' needs the {top} largest contributions of each cell: build the table "
                f"with tacit.Table.from_microdata(..., top={top}), or set scale_by='mean' or 'value'"
            )
        parts = behind.top[:, :top]
        return np.array(parts if behind.weight is None else parts * behind.weight[:, :top])
    if scale_by == "value":
        return np.array(table.value[:, None])
    if scale_by == "mean":
        if (table.count < 0).any():
            raise InputError("scale_by='mean' needs the number of contributors of each cell")
        return np.array((table.value / np.maximum(table.count, 1))[:, None])
    spans = table.extra.get("value_range")
    if spans is None:
        raise InputError(
            "scale_by='range' needs the range of values in each cell: attach it with "
            "tacit.tables.with_cell_keys(table, data, ...)"
        )
    return np.array(np.asarray(spans, dtype=np.float64)[:, None])
