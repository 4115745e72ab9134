"""Improving sets near the sets in use: add a channel to them, or exchange one.

A fast heuristic that feeds the master problem before :mod:`tacit.records.channels.pricing` proves that
nothing is left. Each set has multipliers ``mu`` of its tight rules, at which all its members are
worth the same; channels worth most at that point, net of their size, are tried.
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.channels.cone import Cone, full_rays

_TOLERANCE = 1e-9
_CHUNK = 1000


def improve(
    cone: Cone,
    prices: Floats,
    columns: dict[int, tuple[Ints, Floats]],
    *,
    width: int = 20,
    each: int = 10,
) -> dict[int, tuple[Ints, Floats]]:
    """Return improving rays near the given ones, by number of members.

    ``width`` channels are tried beside each set; of the improving rays, the best ``each`` for
    every input channel are kept.
    """
    tried: dict[int, list[Ints]] = {}
    for n, (sets, rays) in columns.items():
        for at in range(0, len(sets), _CHUNK):
            some = slice(at, at + _CHUNK)
            line, partner = _partners(cone, prices, sets[some], rays[some], width)
            for new in _variants(sets[some][line], partner, grow=n <= cone.n_rules):
                tried.setdefault(new.shape[1], []).append(new)
    found = {}
    for n, parts in tried.items():
        kept = _improving(
            cone, prices, keep_distinct_sets(np.concatenate(parts), len(cone.m)), each
        )
        if len(kept[0]):
            found[n] = kept
    return found


def _partners(
    cone: Cone, prices: Floats, sets: Ints, rays: Floats, width: int
) -> tuple[Ints, Ints]:
    """Pair each set with the channels worth most beside it, and each channel with its best sets.

    Worth is taken at the multipliers of the set's tight rules.
    """
    G = cone.G[:, sets]
    tight = np.abs(np.einsum("lnj,nj->nl", G, rays)) < 1e-9
    level = np.ones((*sets.shape, 1))
    system = np.concatenate([G.transpose(1, 2, 0) * tight[:, None, :], level], axis=2)
    solution = np.einsum("nij,nj->ni", np.linalg.pinv(system), prices[sets])
    mu = np.maximum(solution[:, :-1], 0.0)
    cost = cone.psi(sets)[:, None] + cone.m[None, :]
    score = (prices[None, :] - mu @ cone.G) / cost
    np.put_along_axis(score, sets.astype(np.int64), -np.inf, axis=1)
    chosen = np.zeros(score.shape, dtype=np.bool_)
    for axis, best in ((1, width), (0, max(1, width // 4))):
        best = min(best, score.shape[axis])
        top = np.argsort(-score, axis=axis, kind="stable").take(range(best), axis=axis)
        np.put_along_axis(chosen, top, True, axis=axis)
    chosen &= np.isfinite(score)
    line, partner = np.nonzero(chosen)
    return line, partner


def _variants(sets: Ints, partner: Ints, *, grow: bool) -> list[Ints]:
    """Return the sets with the partner added, and with one member exchanged for it."""
    made = [np.sort(np.column_stack([sets, partner]), axis=1)] if grow else []
    for i in range(sets.shape[1]):
        exchanged = sets.astype(np.int64)
        exchanged[:, i] = partner
        made.append(np.sort(exchanged, axis=1))
    return made


def keep_distinct_sets(sets: Ints, n_channels: int) -> Ints:
    """Each line once; lines are sorted sets of channels."""
    if n_channels ** sets.shape[1] > 2**62:
        return np.unique(sets, axis=0)
    powers = n_channels ** np.arange(sets.shape[1], dtype=np.int64)
    return sets[np.unique(sets @ powers, return_index=True)[1]]


def _improving(cone: Cone, prices: Floats, sets: Ints, each: int) -> tuple[Ints, Floats]:
    sets = sets[cone.risky[sets].any(axis=1)]
    where, rays = full_rays(cone, sets)
    members = sets[where]
    ratio = (prices[members] * rays).sum(axis=1) / cone.psi(members) - 1
    good = np.flatnonzero(ratio > _TOLERANCE)
    good = good[np.argsort(-ratio[good], kind="stable")]
    kept = np.zeros(len(good), dtype=np.bool_)
    for i in range(sets.shape[1]):
        kept |= rank_within(members[good, i]) < each
    return members[good[kept]], rays[good[kept]]


def rank_within(group: Ints) -> Ints:
    """Rank of each entry among those of its group, in the order given."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    rank = np.empty(len(group), dtype=np.int64)
    lengths = np.diff(np.concatenate([starts, [len(group)]]))
    rank[order] = np.arange(len(group)) - np.repeat(starts, lengths)
    return rank
