"""Who stands behind the cells of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints


@dataclass(frozen=True, eq=False)
class Contributors:
    """Who stands behind each cell: how many units, and the largest contributions."""

    #: Units (records or holdings) with a contribution in each cell.
    count: Ints
    #: The largest contributions, descending, padded with 0: cells x t. Unweighted.
    top: Floats
    #: An integer for the unit behind each of them, -1 where there is none or it is unknown.
    who: npt.NDArray[np.int64]
    #: The sampling weights of those contributions, if the table is weighted.
    weight: Floats | None = None
    #: Whether that unit asked for protection (request rule), or waived it.
    asked: Flags | None = None
    waived: Flags | None = None

    @property
    def t(self) -> int:
        """Return how many of the largest contributions are kept."""
        return int(self.top.shape[1])

    def map(self, change: Callable[[str, npt.NDArray[Any]], npt.NDArray[Any]]) -> Contributors:
        """Return contributors of which every array that is there has been changed, by its name."""
        held: dict[str, Any] = vars(self)
        return replace(self, **{n: change(n, a) for n, a in held.items() if a is not None})

    def take(self, cells: Ints) -> Contributors:
        """Return the contributors of some cells."""
        return self.map(lambda _, array: array[cells])
