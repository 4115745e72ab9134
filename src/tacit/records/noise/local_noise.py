"""Coarse local noise: differences drawn from records near by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.fields import PositiveInt
from tacit.records.noise.draws import assign_leaves, local_draws, squares
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
