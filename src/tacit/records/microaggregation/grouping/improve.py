"""The improvement pass: exchange and move records between groups while that lowers SSE."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.records.microaggregation.grouping import search as _search
from tacit.records.microaggregation.grouping.loss import Tick, group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import split_large
from tacit.records.microaggregation.grouping.tree import neighbours

#: Groups newly started: this many times n / k^2 in small files, and n / k in large ones.
EFFORT, LARGE_EFFORT = 200, 3
#: Groups newly started from which a file is large.
LARGE = 40_000
#: Turns of loops for each record of a founded group and column, about.
TURNS = 500.0
#: Founded between two ticks.
BATCH = 500
#: SSE must fall by this share of SST / n, or a change is not made.
TOLERANCE = 1e-9


def improve(x: Floats, labels: Ints, k: int, *, rng: np.random.Generator, tick: Tick) -> Ints:
    """Return groups with a lower SSE, or the same ones; sizes stay between k and 2k - 1.

    A local search. A record moves to a neighbouring group, changes places with a record of one, or moves
    and pushes another record on to a third group, as long as SSE falls. Then, again and again, a group is
    founded of a random record and its k - 1 nearest; groups that become too small are dissolved, the search
    goes on from there, and the result is kept when SSE is lower than before and taken back otherwise.
    Groups of 2k and more are split first, which cannot raise SSE.

    The result is no optimum either, and no bound is given; it is never worse than the start.

    References
    ----------
    Laszlo, Mukherjee (2015), Iterated local search for microaggregation, Journal of Systems and Software
    100, 15-26. Fayyoumi, Oommen (2006), PSD 2006, LNCS 4302, 114-128 (exchange of records).
    """
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    if group_sizes(labels).min() < k:
        raise InputError(f"improve: every group must hold at least {k} records to start with")
    if len(x) < 2 * k:
        return labels
    start = split_large(x, labels, k)
    found = improve_by_search(x - x.mean(axis=0), start, k, rng, tick)
    return min(labels, start, found, key=lambda ids: loss(x, ids).within)


def improve_by_search(
    x: Floats, labels: Ints, k: int, rng: np.random.Generator, tick: Tick
) -> Ints:
    """Return the groups that local search from some groups leads to."""
    n = len(x)
    near = neighbours(x, min(n - 1, max(12, min(2 * k, k + 16))))
    state = _search.make_search_state(x, labels, k, near)
    rounds = choose_effort(n, k)
    names = _search.KERNELS.pick(TURNS * (n + rounds) * k * x.shape[1])
    tolerance = TOLERANCE * max(float((x**2).sum()) / n, np.finfo(float).tiny)
    tick("improving groups", None)
    names["wake_all"](state)
    while state.tops[_search.WAITING]:
        state.tops[_search.LOGGED] = 0
        names["process_queue"](state, k, tolerance, 20 * BATCH)
        tick("improving groups", None)
    order = rng.permutation(n)
    for done in range(0, rounds, BATCH):
        tick("improving groups", done / rounds)
        many = min(BATCH, rounds - done)
        records = order[np.arange(done, done + many) % n]
        skips = rng.integers(0, k, many) if done >= n else np.full(many, k)
        names["perturb_groups"](state, k, records, skips, tolerance)
    return np.unique(state.label, return_inverse=True)[1].astype(np.int64)


def choose_effort(n: int, k: int) -> int:
    """Return how many new groups to start."""
    return max(min(EFFORT * n // k**2, LARGE), LARGE_EFFORT * n // k)
