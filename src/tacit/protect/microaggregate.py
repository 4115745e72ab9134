"""Microaggregation by any of the grouping methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveFloat, PositiveInt
from tacit.microaggregation.methods import METHODS, Name, grouping_function
from tacit.protect._grouping import GroupingMethod, options_of
from tacit.registry import register
from tacit.stats.moments import Floats, Ints


@register
class Microaggregate(GroupingMethod):
    """Replace numbers by those of a group of at least k similar records.

    The records are partitioned into groups of at least k (see ``method``), and every value is replaced by
    its group's aggregate. With the mean, column means stay exactly, and what is lost is the variation
    within groups: SSE = sum of squared distances to the group means, given as a percentage of SST on
    standardised columns.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    """

    kind: Literal["microaggregate"] = "microaggregate"
    method: Name = Field("mdav", description="how groups are formed")
    gamma: PositiveFloat = Field(
        0.2,
        description="v_mdav: how readily a group grows; 0.2 for scattered, 1.1 for clustered data",
    )
    sort_by: ColumnName | None = Field(
        None, description="single: the column to sort by; by default the first"
    )
    covariance: Literal["mcd", "mve", "ogk", "m_estimate", "classical"] = Field(
        "mcd", description="robust_pca: the covariance whose first component sorts the records"
    )
    scale: Literal["mad", "qn", "sd"] = Field(
        "mad", description="projection_pursuit: the scale that the first direction maximises"
    )
    cluster: Literal["none", "gmm", "kmeans", "medoids", "hierarchical"] = Field(
        "none", description="cluster the records first and form groups within clusters"
    )
    clusters: PositiveInt | None = Field(
        None, description="number of clusters; by default chosen from the data"
    )
    transform: Literal["none", "log", "boxcox"] = Field(
        "none", description="transformation of the columns before clustering"
    )
    memory: PositiveInt = Field(3, description="learning_automaton: states a group")
    theta: PositiveFloat | None = Field(
        None,
        description="learning_automaton: largest distance of a pair that is visited; by default half the range of distances",
    )
    restarts: PositiveInt = Field(
        10, description="learning_automaton: random starts; the best result is kept"
    )
    start: Literal["random", "mdav"] = Field(
        "random", description="learning_automaton: the first partition"
    )
    neighbours: PositiveInt | None = Field(
        None,
        description="two_approximation, learning_automaton: nearest neighbours looked at; by default all for small files",
    )

    random: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    @model_validator(mode="after")
    def _consistent(self) -> Microaggregate:
        if self.method == "two_approximation" and self.k != 2:
            raise ValueError(
                "two_approximation works for k = 2 only; use mdav, v_mdav or mu_approximation"
            )
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: a sort column that is not masked."""
        found = super().faults(data)
        if not found and self.sort_by is not None and self.sort_by not in self.targets(data):
            found.append(
                InputError(f"microaggregate: sort_by {self.sort_by!r} is not a masked column")
            )
        return found

    def each_column(self) -> bool:
        """Return True when every column gets groups of its own."""
        return METHODS[self.method].each_column

    def groups(self, x: Floats, rng: np.random.Generator, tick: Any) -> Ints:
        """Return the labels of the groups of some records."""
        options = dict(options_of(self, METHODS[self.method].options))
        function = grouping_function(self.method)
        if self.cluster != "none" and "cluster" not in options:
            from tacit.microaggregation.clustering import within_clusters

            return within_clusters(
                x,
                self.k,
                function,
                options,
                cluster=self.cluster,
                clusters=self.clusters,
                transform=self.transform,
                rng=rng,
                tick=tick,
            )
        return function(x, self.k, rng=rng, tick=tick, **options)
