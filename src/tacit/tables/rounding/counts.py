"""Rounding of counts: random, semi-controlled, and of small cells only.

A count n = q base + s goes up to (q + 1) base with probability s/base and down to q base otherwise, which
keeps its expectation. Semi-controlled rounding fixes how many counts of each residual go up at their
expected number and draws only which ones.

References
----------
Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
PSD 2006, LNCS 4302, section 4.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError

Control = Literal["table", "rows", "none"]


def random_rounding(cells: npt.ArrayLike, base: int, rng: np.random.Generator) -> Floats:
    """Return counts rounded to multiples of the base, each by its own draw."""
    values, down, residual = split(cells, base)
    up = rng.random(values.shape) * base < residual
    return down + base * up


def semi_controlled_rounding(
    cells: npt.ArrayLike,
    base: int,
    rng: np.random.Generator,
    *,
    within: Literal["table", "rows"] = "table",
) -> Floats:
    """Return counts rounded to multiples of the base, the expected number of each residual up.

    Of m counts with residual s, m s/base go up, drawn without replacement. When that is no whole number
    one more goes up with the probability that keeps the expectation; one draw decides this for all
    residuals together (systematic sampling), so that the total over ``within`` (the table, or each row)
    differs from the original by less than the base.
    """
    values, down, residual = split(cells, base)
    moved = residual > 0
    block = np.zeros(values.shape, dtype=np.int64)
    if within == "rows":
        block += np.arange(len(values))[:, None]
    up = np.zeros(values.shape, dtype=bool)
    up[moved] = expected_number(block[moved], residual[moved].astype(np.int64), base, rng)
    return down + base * up


def small_cell_adjustment(
    cells: npt.ArrayLike, base: int, rng: np.random.Generator, *, control: Control = "none"
) -> Floats:
    """Return counts with those below the base set to 0 or to the base; others stay as they are."""
    values, _, _ = split(cells, base)
    if control == "none":
        rounded = random_rounding(values, base, rng)
    else:
        rounded = semi_controlled_rounding(
            np.where(values < base, values, 0.0), base, rng, within=control
        )
    return np.where(values < base, rounded, values)


def added_variance(base: int) -> tuple[float, ...]:
    """Return the variance that random rounding adds to a count, by residual 0 .. base-1.

    It is s (base - s): for base 3, 2 for every count that is not a multiple of 3. Users who see only the
    rounded table may add it to the variance of their estimates; it tells nothing about single counts.
    """
    if base < 2:
        raise InputError("a rounding base must be at least 2")
    return tuple(float(s * (base - s)) for s in range(base))


def split(cells: npt.ArrayLike, base: int) -> tuple[Floats, Floats, Floats]:
    """Return counts as a matrix, the multiples of the base below them, and their residuals."""
    if base < 2:
        raise InputError("a rounding base must be at least 2")
    values = np.atleast_2d(np.asarray(cells, dtype=np.float64))
    if values.size and (np.isnan(values).any() or values.min() < 0 or np.any(values % 1)):
        raise InputError(
            "only counts can be rounded: whole numbers, none negative, none suppressed"
        )
    residual = values % base
    return values, values - residual, residual


def expected_number(block: Ints, residual: Ints, base: int, rng: np.random.Generator) -> Flags:
    """Return a random choice of members: of each residual s in a block, the share s/base."""
    if not len(block):
        return np.zeros(0, dtype=bool)
    group = block * base + residual
    order = np.argsort(group + rng.random(len(group)), kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    sizes = np.diff(np.r_[starts, len(group)])
    of_block, s = np.divmod(group[order][starts], base)
    summed = np.cumsum(sizes * s)
    fresh = np.r_[True, np.diff(of_block) > 0]
    before = summed - sizes * s
    before -= np.repeat(before[fresh], np.diff(np.r_[np.flatnonzero(fresh), len(fresh)]))
    draw = rng.integers(base, size=int(of_block.max()) + 1)[of_block]
    wanted = (before + sizes * s + draw) // base - (before + draw) // base
    place = np.arange(len(group)) - np.repeat(starts, sizes)
    chosen = np.empty(len(group), dtype=bool)
    chosen[order] = place < np.repeat(wanted, sizes)
    return chosen
