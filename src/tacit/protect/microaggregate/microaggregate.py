"""Microaggregation by any of the grouping methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.data.block import named
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveFloat, PositiveInt
from tacit.protect.microaggregate.base import GroupingMethod, Units, options_of
from tacit.protect.microaggregate.grouping.methods import METHODS, Name, Tick, grouping_function
from tacit.registry import register
from tacit.stats.moments import Floats, Ints

#: Methods that sort by a weighted sum of standardised columns.
PROJECTIONS = frozenset({"zscores", "pca", "robust_pca", "projection_pursuit", "influence"})


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
    middle: Literal["median", "spatial"] = Field(
        "median",
        description="projection_pursuit: where directions start, at the median of each column or at the spatial median",
    )
    cluster: Literal["none", "gmm", "kmeans", "medoids", "hierarchical"] = Field(
        "none",
        description="cluster the records first and form groups within clusters; influence always does, by a Gaussian mixture unless told otherwise",
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
        if self.sort_by is not None and self.method != "single":
            raise ValueError("sort_by belongs to method='single'")
        if not self.clusters_first() and (self.clusters is not None or self.transform != "none"):
            raise ValueError(
                "clusters and transform belong to clustering: choose a method with cluster="
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

    def clusters_first(self) -> bool:
        """Return True when records are clustered before groups are formed."""
        return self.cluster != "none" or self.method == "influence"

    def each_column(self) -> bool:
        """Return True when every column gets groups of its own."""
        return METHODS[self.method].each_column

    def refuse(self, units: Units) -> None:
        """Add: a constant column, which has no place in a projection."""
        super().refuse(units)
        constant = [c for c, v in zip(units.columns, units.x.T, strict=True) if np.ptp(v) == 0]
        if constant and self.method in PROJECTIONS:
            raise InputError(
                f"microaggregate: {named(constant)} is constant, so method={self.method!r} cannot standardise it. Leave it out of columns or take method='mdav'."
            )

    def groups_of(
        self, units: Units, part: Ints, z: Floats, rng: np.random.Generator, tick: Tick
    ) -> Ints:
        """Return the labels of the groups of one stratum, formed within clusters where asked for."""
        function = grouping_function(self.method)
        options = dict(options_of(self, METHODS[self.method].options))
        if "sort_by" in options:
            options["sort_by"] = units.columns.index(self.sort_by) if self.sort_by else 0
        if not self.clusters_first():
            return function(z, self.k, rng=rng, tick=tick, **options)
        from tacit.protect.microaggregate.grouping.clustering import (
            cluster_labels,
            influence,
            within,
        )

        first: dict[str, Any] = {
            "cluster": "gmm" if self.cluster == "none" else self.cluster,
            "clusters": self.clusters,
            "transform": self.transform,
            "names": units.columns,
        }
        x = units.x[part]
        if self.method == "influence":
            return influence(x, self.k, rng=rng, tick=tick, **first)

        def group(records: Floats) -> Ints:
            if len(records) < 2 * self.k:
                return np.zeros(len(records), dtype=np.int64)
            return function(records, self.k, rng=rng, tick=tick, **options)

        return within(z, cluster_labels(x, self.k, rng=rng, **first), group)
