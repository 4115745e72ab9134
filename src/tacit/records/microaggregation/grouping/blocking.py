"""Blocking: MDAV in each block of a k-d split, for files too large for one run over all records."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.events import side_by_side
from tacit.numerics.elementary import log2, power
from tacit.records.microaggregation.grouping.loss import Tick, loss
from tacit.records.microaggregation.grouping.mdav_groups import form_mdav_groups, form_outer_groups

#: Share of the records that is grouped before the rest is cut into blocks.
OUTER = 0.2
#: Pairs of neighbouring blocks that are grouped together once more to estimate the gap.
SAMPLED = 3
#: Numbers (records times columns) up to which 'auto' does without blocks, and records in its blocks.
AUTO_FROM, AUTO_SIZE = 4_000_000, 50_000


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
    inner_labels = in_parts(inner, k, parts, seeds, tick, workers)
    labels[rest] = inner_labels + labels.max() + 1
    sample = [twins[i] for i in np.unique(np.linspace(0, len(twins) - 1, SAMPLED).astype(int))]
    pairs = [np.sort(np.concatenate(parts[i : i + 2])) for i in sample]
    ratio = doubling(inner, k, pairs, inner_labels, seeds, tick, workers)
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


def in_parts(
    x: Floats, k: int, parts: list[Ints], seeds: int, tick: Tick, workers: int | None
) -> Ints:
    """Return the groups that MDAV forms within each part, parts side by side."""

    def work(part: Ints) -> Ints:
        tick("forming groups", None)
        return form_mdav_groups(
            x[part], k, seeds, lambda _message, _share: tick("forming groups", None)
        )

    found = list(side_by_side(work, parts, min(len(parts), workers or os.cpu_count() or 1)))
    labels = np.full(len(x), -1, dtype=np.int64)
    first = 0
    for part, ids in zip(parts, found, strict=True):
        labels[part] = ids + first
        first += int(ids.max()) + 1
    return labels


def doubling(
    x: Floats,
    k: int,
    pairs: list[Ints],
    labels: Ints,
    seeds: int,
    tick: Tick,
    workers: int | None,
) -> float:
    """Return the factor, at least 1, by which SSE rises when a block is cut in two."""
    apart = sum(within_of(x[pair], labels[pair]) for pair in pairs)
    together = in_parts(x, k, pairs, seeds, tick, workers)
    joined = sum(within_of(x[pair], together[pair]) for pair in pairs)
    return max(apart / joined, 1.0) if joined > 0 else 1.0


def within_of(x: Floats, labels: Ints) -> float:
    """Return the SSE of some groups."""
    return loss(x, np.unique(labels, return_inverse=True)[1]).within
