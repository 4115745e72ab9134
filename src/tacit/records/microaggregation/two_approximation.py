"""2-microaggregation within twice the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from tacit.arrays import Floats, Ints
from tacit.fields import PositiveInt
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class TwoApproximation(GroupingMethod):
    """Replace numbers by the means of pairs and triples whose loss is at most twice the least possible.

    Records are joined by edges of weight squared distance. The cheapest set F of edges that gives every
    record one or two consists of pairs and paths of three, which are the groups, and

        SSE(groups) <= weight of F <= 2 SSE(optimum).

    Files of more than 20,000 records are solved in blocks; a warning then says which bound is left.

    References
    ----------
    Domingo-Ferrer, Sebé (2006), Optimal multivariate 2-microaggregation for microdata protection: a
    2-approximation, PSD 2006, LNCS 4302, 129-138.
    """

    kind: Literal["two_approximation"] = "two_approximation"
    k: int = Field(
        default=2, ge=2, description="smallest number of records in a group: 2, no other"
    )
    neighbours: PositiveInt | None = Field(
        default=None, description="nearest neighbours joined to a record; by default all"
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    @field_validator("k")
    @classmethod
    def _two(cls, k: int) -> int:
        if k != 2:
            raise ValueError(
                "two_approximation works for k = 2 only; use mdav, v_mdav or mu_approximation"
            )
        return k

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.factor import two_approximation

        return two_approximation(x, self.k, rng=rng, tick=tick, neighbours=self.neighbours)
