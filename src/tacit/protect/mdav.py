"""MDAV microaggregation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.microaggregation.methods import grouping_function
from tacit.protect._grouping import GroupingMethod
from tacit.registry import register
from tacit.stats.moments import Floats, Ints


@register
class Mdav(GroupingMethod):
    """Replace numbers by the means of groups of k records around the extremes (MDAV).

    While at least 3k records remain, r is the record farthest from their mean and s the one farthest
    from r; r with its k - 1 nearest records is a group, then s with its k - 1 nearest of the rest. With
    2k to 3k - 1 left, one group forms around the record farthest from the mean, and the rest is the last
    group. Distances are Euclidean on standardised columns; ties go to the record that comes first.
    Column means stay exactly. MDAV is a heuristic: its loss of information (SSE, noted in the history)
    is no minimum, and ``improve`` lowers it further.

    The papers of 2006 give figures of the variant with ``seeds=1``, one group a round.

    References
    ----------
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, Data Mining and Knowledge Discovery 11, 195-212.
    Domingo-Ferrer, Sebé (2006), Optimal multivariate 2-microaggregation for microdata protection: a
    2-approximation, PSD 2006, LNCS 4302, 129-138.
    """

    kind: Literal["mdav"] = "mdav"
    seeds: Literal[1, 2] = Field(2, description="groups formed in each round")

    random: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Any) -> Ints:
        """Return the labels of the groups of some records."""
        function = grouping_function("mdav" if self.seeds == 2 else "mdav_one_seed")
        return function(x, self.k, rng=rng, tick=tick)
