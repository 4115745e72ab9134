"""MDAV microaggregation."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from pydantic import Field, PrivateAttr

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import Approximate
from tacit.fields import PositiveInt
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.blocking import Blocked, automatic_blocks, blocked_mdav
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class Mdav(GroupingMethod):
    """Replace numbers by the means of groups of k records around the extremes (MDAV).

    While at least 3k records remain, r is the record farthest from their mean and s the one farthest
    from r; r with its k - 1 nearest records is a group, then s with its k - 1 nearest of the rest. With
    2k to 3k - 1 left, one group forms around the record farthest from the mean, and the rest is the last
    group. Distances are Euclidean on standardised columns; ties go to the record that comes first.
    Column means stay exactly. MDAV is a heuristic: its loss of information (SSE, noted in the history)
    is no minimum, and ``improve`` lowers it further.

    The papers of 2006 give figures of the variant with ``seeds=1``, one group per round.

    With ``blocks`` only the outer fifth of the records is grouped in this way; the rest is split into
    blocks at medians of the most variable column, and grouped block by block. SSE is then higher than
    MDAV's; an estimate of the gap is noted in the history.

    References
    ----------
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, Data Mining and Knowledge Discovery 11, 195-212.
    Domingo-Ferrer, Sebé (2006), Optimal multivariate 2-microaggregation for microdata protection: a
    2-approximation, PSD 2006, LNCS 4302, 129-138.
    """

    kind: Literal["mdav"] = "mdav"
    seeds: Literal[1, 2] = Field(default=2, description="groups formed in each round")
    blocks: PositiveInt | Literal["auto"] | None = Field(
        default=None,
        description="split large files into this many blocks, at the price of a higher loss; 'auto' decides by size; none by default",
    )

    #: What blocks cost in each stratum, gathered while one call of apply lasts.
    _blocked: list[Blocked] = PrivateAttr(default_factory=list)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.blocks is None:
            return super()._apply(data, ctx)
        # A copy of its own for this call: a description of work keeps no state.
        worker = self.model_copy()
        worker._blocked = []
        result = super(Mdav, worker)._apply(data, ctx)
        worker.note_optimality_gap(ctx)
        return result

    def groups_strata_in_place(self, data: Microdata) -> bool:
        """Keep strata here when there are blocks: what they cost is noted here."""
        return self.blocks is None and super().groups_strata_in_place(data)

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        del rng
        blocks = automatic_blocks(*x.shape) if self.blocks == "auto" else self.blocks or 1
        found = blocked_mdav(x, self.k, blocks, seeds=self.seeds, tick=tick)
        if found.blocks > 1:
            self._blocked.append(found)
        return found.labels

    def note_optimality_gap(self, ctx: Context) -> None:
        """Note the largest gap of a stratum, and warn when blocks were not asked for by number."""
        if not self._blocked:
            return
        gap = max(found.gap for found in self._blocked)
        ctx.note(
            blocks=sum(found.blocks for found in self._blocked),
            estimated_gap_percent=100.0 * gap,
        )
        if self.blocks == "auto":
            warnings.warn(
                f"mdav: the file was split into blocks, which is estimated to raise the loss by {100 * gap:.1f} % "
                "above that of MDAV over all records. Leave out blocks for the exact method.",
                Approximate,
                stacklevel=4,
            )
