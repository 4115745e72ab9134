"""Microaggregation of time series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.claims import Claim
from tacit.context import Context, Progress, ignore_progress
from tacit.data.block import Block, Missing, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric
from tacit.errors import Infeasible, SdcError
from tacit.fields import ColumnNames, PositiveInt, RoundMasked
from tacit.records.microaggregation.base import means_kept, shared_claim
from tacit.records.microaggregation.grouping.loss import group_means, group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import mdav
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.series.panel import Normalisation, Panel, normalise, pieces


@register
class MicroaggregateSeries(Method):
    """Replace each time series by the mean of k series of the same shape.

    Every series of a record is masked by itself. Its values are normalised, as a rule by the series' own
    mean and standard deviation, so that series of the same shape meet whatever their level; MDAV forms
    groups of at least k records by Euclidean distance; and each record gets the mean of the *raw* series of
    its group, point by point. With ``pieces`` a series is first cut into this many consecutive pieces, which
    are grouped separately: closer to the original, and easier to link.

    Within one series (or piece) at least k records are identical. Several series together are not: an
    intruder who knows all of them meets a different group in each. Means of every column stay exactly.

    References
    ----------
    Nin, Torra (2006), Distance based re-identification for time series, analysis of distances, PSD 2006,
    LNCS 4302, 205-216; section 4.
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, Data Mining and Knowledge Discovery 11, 195-212 (MDAV).
    """

    kind: Literal["microaggregate_series"] = "microaggregate_series"
    series: Mapping[str, ColumnNames] = Field(
        default=...,
        min_length=1,
        description="the columns of each series in the order of time, by its name",
    )
    k: int = Field(default=3, ge=2, description="smallest number of records in a group")
    pieces: PositiveInt = Field(
        default=1, description="consecutive pieces into which each series is cut"
    )
    normalise: Normalisation = Field(
        default="series_standard", description="make series comparable before groups are formed"
    )
    missing: Missing = Field(
        default="refuse",
        description="refuse series with missing values, or keep those with one as they are and mask the rest",
    )
    whole: RoundMasked = False

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("microaggregation",)
    example: ClassVar[Mapping[str, Any]] = {"series": {"history": ["age", "income"]}}

    @model_validator(mode="after")
    def _consistent(self) -> MicroaggregateSeries:
        columns = self.columns_named()
        if len(set(columns)) < len(columns):
            raise ValueError("series must name each column once")
        if any(len(c) < self.pieces for c in self.series.values()):
            raise ValueError("series cannot be cut into more pieces than they have columns")
        if self.normalise.startswith("series") and any(len(c) < 2 for c in self.cut()):
            raise ValueError(
                "a series or piece of one column has no shape: use fewer pieces, or normalise='none'"
            )
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of all series."""
        return tuple(c for columns in self.series.values() for c in columns)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns of all series."""
        del data
        return self.columns_named()

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers."""
        return [*super().faults(data), *not_numeric(data, self.columns_named(), self.kind)]

    def cut(self) -> list[tuple[str, ...]]:
        """Return the columns of every piece of every series."""
        return [
            tuple(columns[at])
            for columns in self.series.values()
            for at in pieces(len(columns), self.pieces)
        ]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        released: dict[str, pa.Array] = {}
        noted: list[tuple[Ints, float]] = []
        everyone = self.cut()
        for i, columns in enumerate(everyone):
            ctx.tick("forming groups of series", i / len(everyone))
            block = read_block(data, columns, self.kind, missing=self.missing)
            if not block.complete.any():
                continue
            labels = self.groups(block, ctx)
            masked = group_means(block.x, labels)[labels]
            assert means_kept(block.x, masked), "a mean has moved"
            noted.append((group_sizes(labels), loss(block.x, labels).percent))
            released |= block.released(masked, whole=self.whole)
        if not noted:
            return data
        ctx.note(
            series=list(self.series),
            pieces=self.pieces,
            groups=[len(sizes) for sizes, _ in noted],
            smallest_group=int(min(sizes.min() for sizes, _ in noted)),
            largest_group=int(max(sizes.max() for sizes, _ in noted)),
            sse_percent=[lost for _, lost in noted],
        )
        return data.replace(released)

    def groups(self, block: Block, ctx: Context) -> Ints:
        """Return the groups of one piece."""
        if len(block.x) < self.k:
            raise Infeasible(
                f"{self.kind}: groups of {self.k} need at least {self.k} complete series. Lower k or add data."
            )
        labels = series_groups(Panel.of(block.x), self.k, self.normalise, ctx.tick)[0]
        assert group_sizes(labels).min() >= self.k, "a group is smaller than k"
        return labels

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del data, result
        yield shared_claim(self.k, self.cut(), self.missing)


def series_groups(
    panel: Panel, k: int, how: Normalisation = "series_standard", tick: Progress = ignore_progress
) -> list[Ints]:
    """Return MDAV's groups of at least k records, for each series by itself, on normalised series."""
    if len(panel) < k:
        raise Infeasible(f"groups of {k} series need at least {k} records; lower k or add data")
    ready = normalise(panel, how)
    rng = np.random.default_rng(0)  # MDAV draws nothing
    return [mdav(ready.series(s), k, rng=rng, tick=tick) for s in range(panel.n_series)]


def microaggregated(
    panel: Panel,
    k: int,
    *,
    pieces: int = 1,
    how: Normalisation = "series_standard",
    tick: Progress = ignore_progress,
) -> Panel:
    """Return the panel with each series replaced by the mean of the raw series of its group.

    Each series is grouped by itself. With ``pieces`` every series is first cut into this many consecutive
    pieces, which are series of their own; the result has all of them.

    References
    ----------
    Nin, Torra (2006), Distance based re-identification for time series, analysis of distances, PSD 2006,
    LNCS 4302, 205-216; section 4.
    """
    cut = panel.pieces(pieces)
    values = cut.values.copy()
    for s, labels in enumerate(series_groups(cut, k, how, tick)):
        raw = cut.series(s)
        values[:, s, : raw.shape[1]] = group_means(raw, labels)[labels]
    return replace(cut, values=values)
