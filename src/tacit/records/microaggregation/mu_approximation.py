"""mu-Approx: groups from a forest of nearest-neighbour edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class MuApproximation(GroupingMethod):
    """Replace numbers by the means of groups cut from a forest of nearest neighbours (mu-Approx).

    While a tree has fewer than k records, one of them is joined to its nearest record outside. Trees that
    grow too large are split, and groups of 2k or more are split again by MDAV. The loss is at most
    2 (2k - 1) max(2k - 1, 3k - 5)^2 times the least possible: a bound of theoretical interest, which real
    files stay far below.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas (2008), A polynomial-time approximation to optimal multivariate
    microaggregation, Computers and Mathematics with Applications 55, 714-732.
    """

    kind: Literal["mu_approximation"] = "mu_approximation"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.forest import mu_approximation

        return mu_approximation(x, self.k, rng=rng, tick=tick)
