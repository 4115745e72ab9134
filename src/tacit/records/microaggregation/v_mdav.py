"""V-MDAV: MDAV with groups whose size follows the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.fields import PositiveFloat
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class VMdav(GroupingMethod):
    """Replace numbers by the means of groups of k to 2k - 1 records that grow where records lie close (V-MDAV).

    The free record farthest from the mean of all and its k - 1 nearest form a group. It takes in the free
    record u closest to one of its members, up to 2k - 1 records, while that distance is less than ``gamma``
    times the distance from u to its nearest other free record. Fewer than k records at the end join the
    groups with the nearest means.

    References
    ----------
    Solanas, Martínez-Ballesté (2006), V-MDAV: a multivariate microaggregation with variable group size,
    COMPSTAT 2006, 917-925.
    """

    kind: Literal["v_mdav"] = "v_mdav"
    gamma: PositiveFloat = Field(
        default=0.2,
        description="how readily a group grows; 0.2 for scattered, 1.1 for clustered data",
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.v_mdav_groups import v_mdav

        return v_mdav(x, self.k, rng=rng, tick=tick, gamma=self.gamma)
