"""MDAV microaggregation."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field, PrivateAttr

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import Approximate
from tacit.events import side_by_side
from tacit.fields import PositiveInt
from tacit.numerics.elementary import log2, power
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick, loss, number_through
from tacit.records.microaggregation.grouping.mdav_groups import form_mdav_groups, form_outer_groups
from tacit.registry import register

#: Share of the records that is grouped before the rest is cut into blocks.
OUTER = 0.2
#: Pairs of neighbouring blocks that are grouped together once more to estimate the gap.
SAMPLED = 3
#: Numbers (records times columns) up to which 'auto' does without blocks, and records in its blocks.
AUTO_FROM, AUTO_SIZE = 4_000_000, 50_000


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
        if worker._blocked:
            gap = max(found.gap for found in worker._blocked)
            ctx.note(
                blocks=sum(found.blocks for found in worker._blocked),
                estimated_gap_percent=100.0 * gap,
            )
            if self.blocks == "auto":
                warnings.warn(
                    f"mdav: the file was split into blocks, which is estimated to raise the loss by {100 * gap:.1f} % "
                    "above that of MDAV over all records. Leave out blocks for the exact method.",
                    Approximate,
                    stacklevel=3,
                )
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


@dataclass(frozen=True)
class Blocked:
    """Groups formed within blocks."""

    #: The group of each record.
    labels: Ints
    #: How many blocks there were; 1 for MDAV over all records.
    blocks: int
    #: By how much SSE is estimated to exceed that of MDAV over all records, as a share of the
    #: latter.
    gap: float


def blocked_mdav(
    x: Floats, k: int, blocks: int, *, tick: Tick, seeds: int = 2, workers: int | None = None
) -> Blocked:
    """Return the groups of MDAV with blocks, and an estimate of what the blocks cost.

    The outer fifth of the records is grouped exactly as MDAV does, since far-out records weigh most in SSE
    and would suffer most from being kept apart. The rest is split at medians of the column with the
    largest variance into ``blocks`` blocks (fewer where they would hold less than 3k records), and MDAV
    runs in each, blocks side by side.

    The gap to MDAV over all records is estimated: some pairs of neighbouring blocks are grouped as one,
    the rise of SSE from one to two blocks is taken from them, and is assumed to be the same for every
    further doubling. It tends to shrink with larger blocks, so this errs on the side of caution.
    """
    most = max(1, int((1 - OUTER) * len(x)) // (3 * k))
    blocks = min(blocks, most)
    if blocks <= 1:
        return Blocked(form_mdav_groups(x, k, seeds, tick), 1, 0.0)
    labels = form_outer_groups(x, k, seeds, max(2 * k, int((1 - OUTER) * len(x))), tick)
    rest = np.flatnonzero(labels < 0)
    inner = x[rest]
    parts, twins = kd_blocks(inner, blocks)

    def keep_on(_message: str = "", _share: float | None = None) -> None:
        tick("forming groups", None)

    def group_one(part: Ints) -> Ints:
        keep_on()
        return form_mdav_groups(inner[part], k, seeds, keep_on)

    def group_each(parts: list[Ints]) -> Ints:
        found = side_by_side(group_one, parts, min(len(parts), workers or os.cpu_count() or 1))
        return number_through(len(inner), parts, found)

    inner_labels = group_each(parts)
    labels[rest] = inner_labels + labels.max() + 1
    sample = [twins[i] for i in np.unique(np.linspace(0, len(twins) - 1, SAMPLED).astype(int))]
    pairs = [np.sort(np.concatenate(parts[i : i + 2])) for i in sample]
    together = group_each(pairs)
    apart = sum(within_of(inner[pair], inner_labels[pair]) for pair in pairs)
    joined = sum(within_of(inner[pair], together[pair]) for pair in pairs)
    # The factor, at least 1, by which SSE rises when a block is cut in two.
    ratio = max(apart / joined, 1.0) if joined > 0 else 1.0
    within, total = within_of(inner, inner_labels), within_of(x, labels)
    exact = total - within + within / power(ratio, log2(blocks))
    return Blocked(labels, blocks, float(total / exact - 1.0) if exact > 0 else 0.0)


def automatic_blocks(n: int, p: int) -> int:
    """Return into how many blocks a file of this size is split by default; 1 means none."""
    return 1 if n * p < AUTO_FROM else -(-int((1 - OUTER) * n) // AUTO_SIZE)


def kd_blocks(x: Floats, blocks: int) -> tuple[list[Ints], list[int]]:
    """Return the records of each block, ascending, and the blocks that were cut from the one after them.

    The records are cut in proportion to the blocks on each side, along the column with the largest
    variance; equal values by record number.
    """
    found: list[Ints] = []
    twins: list[int] = []
    waiting = [(np.arange(len(x)), blocks)]
    while waiting:
        records, n_blocks = waiting.pop()
        if n_blocks == 1:
            found.append(records)
            continue
        if n_blocks == 2:
            twins.append(len(found))
        part = x[records]
        order = records[np.argsort(part[:, part.var(axis=0).argmax()], kind="stable")]
        left = n_blocks // 2
        cut = len(records) * left // n_blocks
        waiting.append((np.sort(order[cut:]), n_blocks - left))
        waiting.append((np.sort(order[:cut]), left))
    return found, twins


def within_of(x: Floats, labels: Ints) -> float:
    """Return the SSE of some groups."""
    return loss(x, np.unique(labels, return_inverse=True)[1]).within
