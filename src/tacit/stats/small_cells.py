"""Disclosure risk by small cells (section 3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints


@dataclass(frozen=True)
class SmallCellRisk:
    """Small cells of the original that protection changed, those it left, and their percentage."""

    changed: int
    unchanged: int

    @property
    def percent_unchanged(self) -> float:
        """Return the probability, in percent, that a small cell shows its true value; 0 without any."""
        n = self.changed + self.unchanged
        return 100.0 * self.unchanged / n if n else 0.0


def small_cell_risk(
    original: Floats,
    protected: Floats,
    small: Collection[int] = (1, 2),
    *,
    units: Floats | None = None,
    hidden: Flags | None = None,
) -> SmallCellRisk:
    """Return how many small cells of a table of whole population counts are published as they are.

    A hidden cell counts as changed. In a magnitude table cells with few contributors, the ``units``, are
    small.
    """
    target = is_small(original if units is None else units, small)
    same = protected[target] == original[target]
    if hidden is not None:
        same &= ~hidden[target]
    unchanged = int(same.sum())
    return SmallCellRisk(len(same) - unchanged, unchanged)


def is_small(units: Floats, small: Collection[int]) -> Flags:
    """Return which cells are small, by the number of units behind them."""
    found = np.zeros(units.shape, dtype=bool)
    for size in small:
        found |= units == size
    return found


@dataclass(frozen=True)
class SampleRisk:
    """tau1: sample uniques that are population uniques; tau2: expected correct matches of sample uniques.

    ``outside`` counts sample uniques without any counterpart in the population, which add to neither.
    """

    tau1: int
    tau2: float
    outside: int


def sample_risk(sample: Floats, population: Floats) -> SampleRisk:
    r"""Return :math:`\tau_1=\sum I(F=1,f=1)` and :math:`\tau_2=\sum I(f=1)/F` over cells."""
    counts = population[sample == 1]
    known = counts[counts > 0]
    return SampleRisk(
        int((known == 1).sum()), float((1.0 / known).sum()), int(len(counts) - len(known))
    )


def correct_matches(original: Ints, released: Ints, own: Ints) -> float:
    """Return the share of released records that an intruder links correctly, in expectation.

    Given are the key cells of the original and of the released records, and those that these had in the original. The intruder
    links a record to a random one of the original records of the same cell.
    """
    if not len(released):
        return 0.0
    right = released == own
    return float((1.0 / np.bincount(original)[own[right]]).sum() / len(released))
