"""Coarse local noise: differences drawn from records near by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.errors import InputError
from tacit.fields import PositiveInt
from tacit.records.noise.stages import StageNoise
from tacit.registry import register


@register
class LocalNoise(StageNoise):
    """Mask numbers, then add the difference that the masking made to another record near by.

    The space of the masked data is cut into ``partitions`` cells: for one or two columns equal cells of
    the bounding box, for more the leaves of a k-d split. Every record draws, with replacement, the
    difference (masked minus original) of a record of its cell; cells with fewer than ``fewest`` records
    draw from the nearest cells as well. All draws are shifted together so that column means stay where
    the first masking kept them. The noise is as wide, and as skewed, as the differences are at that
    place: density-based noise, where normal noise is the same everywhere.

    The paper only says that two-dimensional space was discretised into squares; the smallest pool and the
    k-d split are readings of it.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 3.
    """

    kind: Literal["local_noise"] = "local_noise"
    partitions: PositiveInt = Field(default=100, description="number of cells")
    fewest: int = Field(
        default=5, ge=2, description="smallest number of records that a cell draws from"
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def noise_for(
        self, residual: Floats, released: Floats, original: Floats, ctx: Context
    ) -> Floats:
        """Return differences of records in the same cell."""
        del original
        cut = squares if released.shape[1] <= 2 else assign_leaves
        return local_draws(residual, released, cut(released, self.partitions), self.fewest, ctx.rng)


def squares(x: Floats, parts: int) -> Ints:
    """Return the cell of each record when the bounding box is cut into about ``parts`` equal cells."""
    p = x.shape[1]
    side = max(round(parts ** (1.0 / p)), 1)
    low, width = x.min(axis=0), np.ptp(x, axis=0)
    at = ((x - low) / np.where(width > 0, width, 1.0) * side).astype(np.int64)
    return np.asarray(np.ravel_multi_index(tuple(np.minimum(at, side - 1).T), (side,) * p))


def assign_leaves(x: Floats, parts: int) -> Ints:
    """Return the leaf of each record in a k-d split into ``parts`` leaves of nearly equal size.

    Each cut goes across the column of the largest spread, in units of its own standard deviation; ties
    stay in record order.
    """
    spread = x.std(axis=0)
    z = x / np.where(spread > 0, spread, 1.0)
    labels = np.zeros(len(x), dtype=np.int64)
    for number, members in enumerate(halves(z, np.arange(len(x)), min(parts, len(x)))):
        labels[members] = number
    return labels


def halves(z: Floats, members: Ints, parts: int) -> Iterator[Ints]:
    """Yield the leaves of some records."""
    if parts == 1:
        yield members
        return
    left = parts // 2
    widest = int(np.ptp(z[members], axis=0).argmax())
    order = members[np.argsort(z[members, widest], kind="stable")]
    cut = round(len(members) * left / parts)
    yield from halves(z, np.sort(order[:cut]), left)
    yield from halves(z, np.sort(order[cut:]), parts - left)


def local_draws(
    residual: Floats, place: Floats, cell: Ints, fewest: int, rng: np.random.Generator
) -> Floats:
    """Return for each record the residual of a random record of its cell, drawn with replacement.

    A cell of fewer than ``fewest`` records draws from the nearest cells as well, as many of them as are
    needed. The draws are shifted together so that they have the mean of the residuals.
    """
    if len(residual) < fewest:
        raise InputError(f"local_noise: at least {fewest} complete records are needed.")
    cell = np.unique(cell, return_inverse=True)[1]
    count = np.bincount(cell)
    order = np.argsort(cell, kind="stable")
    members = np.split(order, np.cumsum(count)[:-1])
    spread = np.ptp(place, axis=0)
    scaled = place / np.where(spread > 0, spread, 1.0)
    middle = np.column_stack([np.bincount(cell, weights=c) / count for c in scaled.T])
    source = np.empty(len(residual), dtype=np.int64)
    for i, own in enumerate(members):
        pool = own
        if len(own) < fewest:
            near = np.argsort(((middle - middle[i]) ** 2).sum(axis=1), kind="stable")
            enough = int(np.searchsorted(np.cumsum(count[near]), fewest)) + 1
            pool = np.concatenate([members[j] for j in near[:enough]])
        source[own] = pool[rng.integers(len(pool), size=len(own))]
    drawn = residual[source]
    return drawn + (residual.mean(axis=0) - drawn.mean(axis=0))
