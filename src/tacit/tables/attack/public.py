"""What the public parameters of the method that changed a table tell outsiders about the true values.

A release says how it was protected. Whoever reads "rounded to base 10" knows that each true value lies less
than 10 from the published one, and whoever reads "totals kept" knows the totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats
from tacit.claims.tables.rounded import is_total
from tacit.data.base import Action
from tacit.data.table import Table
from tacit.registry import lookup

#: Claims that say to which multiples values were rounded, and how far.
ROUNDINGS = ("rounded", "adjacent-multiples")
SMALL_COUNTS = "no-small-counts"


@dataclass(frozen=True, eq=False)
class PublicRange:
    """Where outsiders know the true values to lie.

    Attributes
    ----------
    low, high
        The range of each cell; infinite where nothing is known.
    rounds
        Values were rounded: a count may lie anywhere in its range, whatever was published.
    """

    low: Floats
    high: Floats
    rounds: bool = False


def public_range(table: Table) -> PublicRange | None:
    """Return what follows from the last step that changed a table; None when nothing does."""
    if table.changed is None:
        return None
    for action in reversed(table.history):
        if any(c.model in (*ROUNDINGS, SMALL_COUNTS) for c in action.claims):
            return true_only(table, rounded_range(table, action))
        if action.kind == "adjust":
            return true_only(table, adjusted_range(table, action))
        if any("table" in c.about for c in action.claims):
            # Changed in a way whose size stays secret.
            return None
    return None


def true_only(table: Table, found: PublicRange) -> PublicRange:
    """Return ranges without those that a later change by hand has made untrue."""
    slack = 1e-9 * np.maximum(1.0, np.abs(table.value))
    wrong = (table.value < found.low - slack) | (table.value > found.high + slack)
    low, high = np.where(wrong, -np.inf, found.low), np.where(wrong, np.inf, found.high)
    return PublicRange(low, high, found.rounds)


def rounded_range(table: Table, action: Action) -> PublicRange:
    """Return where the truth behind rounded values lies."""
    facts = {c.model: c.parameters for c in action.claims}
    shown = ~np.isnan(table.published)
    published = np.where(shown, table.published, 0.0)
    if SMALL_COUNTS in facts:
        down, up = small_count_steps(table, published, float(facts[SMALL_COUNTS]["base"]))
    else:
        down, up = rounding_steps(table, action, facts[next(m for m in ROUNDINGS if m in facts)])
    low, high = np.where(shown, published - down, -np.inf), np.where(shown, published + up, np.inf)
    return PublicRange(low, high, rounds=True)


def rounding_steps(table: Table, action: Action, claim: Any) -> tuple[Floats, Floats]:
    """Return how far below and above a rounded value the truth may lie."""
    base = float(claim["base"])
    whole = table.frequency and base.is_integer()
    # A multiple that may leave its place can be a whole base away.
    edge = 1.0 if whole and not claim.get("free_zeros") else 0.0
    total = is_total(table.equations)
    bases = np.where(total, int(claim.get("y", 0)) + 1, int(claim.get("max_shift", 1)))
    far = bases * base - edge
    down, up = one_value_steps(action.parameters, base, edge)
    alone = ~total if action.parameters.get("totals") == "sum" else np.ones_like(total)
    one = alone & (bases == 1)
    return np.where(one, down, far), np.where(one, up, far)


def one_value_steps(parameters: Any, base: float, edge: float) -> tuple[float, float]:
    """Return the steps of a value that is rounded by itself, by the rule that is used."""
    rule = parameters.get("rule", parameters.get("mode"))
    if rule == "conventional":
        # Halves go up: of counts, [-2, 2] around a multiple of 5 and [-2, 1] around one of 4.
        return (base // 2, -(-base // 2) - 1) if edge else (base / 2, base / 2)
    if rule == "up":
        return base - edge, 0.0
    return (0.0, base - edge) if rule == "down" else (base - edge, base - edge)


def small_count_steps(table: Table, published: Floats, base: float) -> tuple[Floats, Floats]:
    """Return the steps where only counts below the base were rounded, to 0 or the base."""
    total = is_total(table.equations)
    down = np.where(published == base, base - 1.0, 0.0)
    up = np.where(published == 0, base - 1.0, 0.0)
    return np.where(total, np.inf, down), np.where(total, np.inf, up)


def adjusted_range(table: Table, action: Action) -> PublicRange:
    """Return what is known of an adjusted table: cells that were kept, and the capacity of the others.

    The capacity holds for cells that are not unsafe; outsiders are taken to know which these are, the
    worst case.
    """
    method: Any = lookup(action.kind)(**{k: v for k, v in action.parameters.items() if k != "kind"})
    low, high = np.full(len(table), -np.inf), np.full(len(table), np.inf)
    published, free = table.published, ~table.primary & ~np.isnan(table.published)
    steps = capacity_steps(table, method)
    if steps is not None:
        low = np.where(free, published - steps[0], low)
        high = np.where(free, published + steps[1], high)
    kept: Flags = method.kept_cells(table)
    return PublicRange(np.where(kept, published, low), np.where(kept, published, high))


def capacity_steps(table: Table, method: Any) -> tuple[Floats, Floats] | None:
    """Return how far below and above the published value of a safe cell the truth may lie."""
    limits: list[tuple[Floats, Floats]] = []
    size = np.abs(np.nan_to_num(table.published))
    if method.capacity is not None:
        far = np.full(len(table), float(method.capacity))
        limits.append((far, far))
    if method.capacity_percent is not None:
        # published = true (1 + e) with |e| at most the share.
        share = method.capacity_percent / 100
        above = size * share / (1 - share) if share < 1 else np.full(len(table), np.inf)
        both = np.maximum(size * share / (1 + share), above)
        limits.append((both, both))
    if not limits:
        return None
    return tuple(np.minimum.reduce([pair[i] for pair in limits]) for i in (0, 1))
