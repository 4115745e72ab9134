"""The fewest records to suppress until limits on the file as a whole hold.

A limit is linear when each released class bears a load and the loads of all must not sum to more than 0: the mean risk
is at most r when classes of n records, of risk x each, bear n (x - r). Suppressing the classes that cost least such that
every sum holds is a knapsack problem. Classes of the same cost and loads are one kind, and few kinds are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.solve.highs import Highs
from tacit.solve.model import LinearModel

#: Kinds of classes, and nodes of the search tree, up to which the integer program is solved.
KINDS, NODES = 2_000, 2_000
#: Room for what adding up loads loses.
SLIGHT = 1e-9


@dataclass(frozen=True)
class Fewest:
    """How many classes of each kind go, and whether no other choice costs less."""

    number: Ints
    proven: bool


def choose_fewest(cost: Floats, loads: Floats, count: Ints) -> Fewest:
    """Return how many classes of each kind to suppress so that no sum of loads is above 0.

    Parameters
    ----------
    cost
        What suppressing a class of each kind costs: its records, or their weight.
    loads
        The load of a class of each kind, one row for each limit.
    count
        The classes of each kind.
    """
    excess = loads @ count
    if len(loads) == 1:
        found = choose_for_one(cost, loads[0], count, float(excess[0]))
        if found.proven:
            return found
    else:
        found = Fewest(np.where((loads > 0).any(axis=0), count, 0), False)
    if len(cost) > KINDS:
        return found
    return solve_program(cost, loads, count, excess) or found


def choose_cheapest(price: Floats, loads: Floats, count: Ints, excess: Floats) -> Ints | None:
    """Return how many classes of each kind to suppress so that their loads make up for the excess and their price is least.

    The prices are any numbers, other than costs. None where the search was cut off.
    """
    if len(price) > KINDS:
        return None
    found = solve_program(price, loads, count, excess)
    return None if found is None else found.number


def choose_for_one(cost: Floats, load: Floats, count: Ints, excess: float) -> Fewest:
    """Return the choice for one limit: the best by load for its cost, proven where a bound meets it."""
    use = np.flatnonzero(load > 0)
    by_cost = use[np.lexsort([-load[use], cost[use]])]
    if (np.diff(load[by_cost]) <= 0).all():
        # The cheapest classes also bear most: as few as possible of them are the best choice.
        return Fewest(take_in_order(load, count, by_cost, excess), True)
    order = use[np.lexsort([-cost[use], -load[use] / np.maximum(cost[use], 1e-300)])]
    number = fill_up(cost, load, count, order, excess)
    least = bound_cost(cost, load, count, order, excess)
    if bool((cost == np.rint(cost)).all()):
        least = np.ceil(least - SLIGHT * max(least, 1.0))
    return Fewest(number, float(cost @ number) <= least * (1 + SLIGHT))


def take_in_order(load: Floats, count: Ints, order: Ints, excess: float) -> Ints:
    """Return as few classes as make up for the excess, in an order."""
    number = np.zeros_like(count)
    for kind in order.tolist():
        if excess <= SLIGHT:
            break
        number[kind] = min(int(count[kind]), int(np.ceil(excess / load[kind] - SLIGHT)))
        excess -= number[kind] * load[kind]
    return number


def fill_up(cost: Floats, load: Floats, count: Ints, order: Ints, excess: float) -> Ints:
    """Return classes in an order without going beyond the excess, and then the cheapest that make up for the rest."""
    number = np.zeros_like(count)
    for kind in order.tolist():
        number[kind] = min(int(count[kind]), int(max(excess, 0.0) / load[kind] + SLIGHT))
        excess -= number[kind] * load[kind]
    while excess > SLIGHT:
        left = order[number[order] < count[order]]
        enough = left[load[left] >= excess - SLIGHT]
        if len(enough):
            kind = int(enough[np.argmin(cost[enough])])
        else:
            kind = int(left[np.argmax(load[left])])
        number[kind] += 1
        excess -= load[kind]
    return number


def bound_cost(cost: Floats, load: Floats, count: Ints, order: Ints, excess: float) -> float:
    """Return the cost when parts of classes could be suppressed: no choice costs less."""
    total = 0.0
    for kind in order.tolist():
        if excess <= SLIGHT:
            break
        taken = min(float(count[kind]), excess / load[kind])
        total += taken * cost[kind]
        excess -= taken * load[kind]
    return total


def solve_program(cost: Floats, loads: Floats, count: Ints, excess: Floats) -> Fewest | None:
    """Return the best choice by an integer program, or None where the search was cut off."""
    scale = np.maximum(np.abs(loads).max(axis=1), 1e-300)
    model = LinearModel.of(
        cost,
        sparse.csc_array(loads / scale[:, None]),
        excess / scale,
        np.inf,
        0.0,
        count.astype(np.float64),
        integer=np.ones(len(cost), dtype=bool),
    )
    solved = Highs(model, options={"mip_max_nodes": NODES}).solve(gap=0.0)
    if solved.state != "optimal" or solved.x is None:
        return None
    return Fewest(np.rint(solved.x).astype(np.int64), True)
