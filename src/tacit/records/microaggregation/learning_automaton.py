"""The object migrating automaton of Fayyoumi and Oommen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.fields import PositiveFloat, PositiveInt
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class LearningAutomaton(GroupingMethod):
    """Replace numbers by the means of groups that pairs of similar records rearrange (learning automaton).

    Pairs of records closer than ``theta`` are visited again and again. A pair in one group makes both
    records surer of it, up to ``memory`` states deep; a pair in two groups makes them less sure, and at the
    border one moves to the other's group in exchange for that group's least sure record, if that lowers the
    loss. The best of several random starts is kept; the loss is never above that of its start.

    References
    ----------
    Fayyoumi, Oommen (2006), A fixed structure learning automaton micro-aggregation technique for secure
    statistical databases, PSD 2006, LNCS 4302, 114-128.
    """

    kind: Literal["learning_automaton"] = "learning_automaton"
    memory: PositiveInt = Field(
        default=3, description="states of certainty that a record passes through"
    )
    theta: PositiveFloat | None = Field(
        default=None,
        description="largest distance of a pair that is visited; by default half the range of distances",
    )
    restarts: PositiveInt = Field(default=10, description="random starts; the best result is kept")
    start: Literal["random", "mdav"] = Field(default="random", description="the first partition")
    neighbours: PositiveInt | None = Field(
        default=None,
        description="nearest neighbours paired with a record; by default all in small files",
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    draws: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.automaton import best_run

        return best_run(
            x,
            self.k,
            rng=rng,
            tick=tick,
            memory=self.memory,
            theta=self.theta,
            restarts=self.restarts,
            start=self.start,
            neighbours=self.neighbours,
        ).labels
