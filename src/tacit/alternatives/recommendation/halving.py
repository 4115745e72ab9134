"""Which candidates go on: sizes of the samples, shares of the budget, and the choice between rounds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.alternatives.recommendation.proposals import Family, Proposal
from tacit.alternatives.rumap.frontier import pareto
from tacit.alternatives.rumap.points import Point
from tacit.arrays import Floats
from tacit.data.microdata import Microdata
from tacit.engine.codes import encode
from tacit.errors import InvalidParameter

#: Each sample is this share of the next larger one; the smallest and the largest that are drawn; how many.
SHARE, LEAST, MOST, SAMPLES = 4, 1_000, 50_000, 2
#: The smallest budget with which a search makes sense.
LEAST_BUDGET = 24
#: Children of the seed from which samples are drawn; steps, measures and replicates use others.
STREAM = 2_000_000

#: The families that are combined, in the order in which they are applied. Steps that promise something
#: about the keys come last, as a later change would break the promise.
PAIRS: tuple[tuple[Family, Family], ...] = (
    ("coarsen", "suppress"),
    ("numbers", "suppress"),
    ("numbers", "recode"),
    ("numbers", "coarsen"),
    ("numbers", "perturb"),
    ("perturb", "suppress"),
    ("perturb", "recode"),
)


@dataclass(frozen=True)
class Quotas:
    """How many candidates each round may evaluate."""

    #: singles, pairs: methods by themselves, and combinations of two, in the first round.
    singles: int
    pairs: int
    #: Candidates on the second sample; 0 where there is none.
    middle: int
    #: Candidates on the whole file after samples; 0 where the first round is the whole file already.
    full: int
    #: Evaluations of neighbours of the best, on the whole file.
    climb: int


def share_out(budget: int, samples: int, replicates: int) -> Quotas:
    """Return the quotas of a budget of evaluations.

    Every round spends one evaluation on the data as they are, and two at the end account for the changes.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < LEAST_BUDGET:
        raise InvalidParameter(
            f"budget must be a whole number from {LEAST_BUDGET} (got {budget!r})"
        )
    left = budget - 2 - (3 + samples)
    climb = max(left // 8, 3)
    if samples == 0:
        each = max((left - climb) // replicates, 3)
        return Quotas(2 * each // 3, each - 2 * each // 3, 0, 0, climb)
    full = max(left // 4 // replicates, 1)
    rest = left - climb - full * replicates
    middle = rest // 3 if samples > 1 else 0
    singles = 2 * (rest - middle) // 3
    return Quotas(singles, rest - middle - singles, middle, full, climb)


def sample_sizes(records: int) -> tuple[int, ...]:
    """Return the sizes of the samples, the smallest first; none for a file that is small itself."""
    largest = min(records // SHARE, MOST)
    sizes = (largest // SHARE**i for i in reversed(range(SAMPLES)))
    return tuple(size for size in sizes if size >= LEAST)


def draw_sample(data: Microdata, size: int, seed: int, number: int) -> Microdata:
    """Return about ``size`` records at random; whole households where a household is declared."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM + number,)))
    if data.household is None:
        chosen = np.sort(rng.choice(len(data), size, replace=False))
        return data.take(chosen).materialise()
    coded = encode(data.column(data.household))
    codes = np.asarray(coded.codes, dtype=np.int64)
    # Records without a household stand alone.
    alone = codes == coded.null
    codes = np.where(alone, codes.max(initial=0) + 1 + np.cumsum(alone), codes)
    _, household, members = np.unique(codes, return_inverse=True, return_counts=True)
    order = rng.permutation(len(members))
    taken = order[: int(np.searchsorted(np.cumsum(members[order]), size)) + 1]
    return data.take(np.flatnonzero(np.isin(household, taken))).materialise()


def take_turns(
    proposals: Sequence[Proposal], most: int, *, without: Sequence[Proposal] = ()
) -> list[Proposal]:
    """Return at most so many proposals, method by method in turn, spread over each grid."""
    taken = {p.name for p in without}
    by_method: dict[str, list[Proposal]] = {}
    for p in proposals:
        by_method.setdefault(p.method, []).append(p)
    spread = [[settings[i] for i in spread_order(len(settings))] for settings in by_method.values()]
    turns = itertools.chain.from_iterable(itertools.zip_longest(*spread))
    left = (p for p in turns if p is not None and p.name not in taken)
    chosen = {p.name for p in itertools.islice(left, max(most, 0))}
    return [p for p in proposals if p.name in chosen]


def spread_order(n: int) -> list[int]:
    """Return 0..n-1 so that every beginning is spread over the range: the middle, the ends, the gaps."""
    order = [n // 2, 0, n - 1]
    step = max(n // 2, 1)
    while step > 1:
        step = (step + 1) // 2
        order += range(0, n, step)
    return list(dict.fromkeys([*order, *range(n)]))[:n] if n else []


def pick_survivors(points: Sequence[Point], most: int, cap: float, *, higher: bool) -> list[int]:
    """Return the positions of the candidates that go on, in order of preference.

    Layer by layer of the frontier: first what nothing beats in both risk and utility, then what nothing
    of the rest beats. Within a layer the candidates nearest the cap on both sides come first: risk on a
    sample is not the risk of the file, so what is a little above the cap there may keep it in full.
    """
    risk = np.array([p.risk if p.has_result else math.nan for p in points], dtype=float)
    utility = np.array([p.utility if p.has_result else math.nan for p in points], dtype=float)
    utility = utility if higher else -utility
    chosen: list[int] = []
    while len(chosen) < most:
        layer = pareto(risk, utility)
        if not len(layer):
            break
        chosen += [int(layer[i]) for i in outward(risk[layer], cap)]
        risk[layer] = math.nan
    return chosen[:most]


def outward(risks: Floats, cap: float) -> list[int]:
    """Return positions of rising risks from the cap outwards: the riskiest below it, the next above, ..."""
    under = int(np.searchsorted(risks, cap, side="right"))
    safe, risky = range(under - 1, -1, -1), range(under, len(risks))
    pairs = itertools.zip_longest(safe, risky)
    return [i for pair in pairs for i in pair if i is not None]


def combine_best(
    proposals: Sequence[Proposal],
    points: Sequence[Point],
    reference: Point | None,
    most: int,
    cap: float,
    *,
    higher: bool,
    risks: Sequence[str] = (),
) -> list[Proposal]:
    """Return at most so many combinations of two of the best single steps.

    A step that keeps the cap alone needs no other, except that suppression after coarsening hides less; and
    both must lower the risk, or one of several risks (``risks`` are their names).
    """
    ranked: dict[Family, list[int]] = {}
    for i in pick_survivors(points, len(points), cap, higher=higher):
        family = proposals[i].family
        if family is not None and lowers_risk(points[i], reference, risks):
            ranked.setdefault(family, []).append(i)
    options: list[tuple[int, int, Proposal]] = []
    for number, (first, second) in enumerate(PAIRS):
        risky = [[i for i in ranked.get(f, ()) if points[i].risk > cap] for f in (first, second)]
        if first == "coarsen":
            risky[1] = ranked.get(second, [])
        for (m, i), (n, j) in itertools.product(*map(enumerate, risky)):
            if first != "numbers" or not proposals[i].columns & proposals[j].columns:
                options.append((m + n, number, join(proposals[i], proposals[j])))
    options.sort(key=lambda o: o[:2])
    return [proposal for _, _, proposal in options[:most]]


def is_blind(point: Point, reference: Point | None, risks: Sequence[str]) -> bool:
    """Return True when a candidate leaves the risk, and each of several risks, exactly as it was."""
    if reference is None or point.risk != reference.risk:
        return False
    return all(point.detail.get(name) == reference.detail.get(name) for name in risks)


def lowers_risk(point: Point, reference: Point | None, risks: Sequence[str]) -> bool:
    """Return True when a candidate lowers the risk, or one of several risks."""
    if reference is None or point.risk < reference.risk:
        return True
    return any(point.detail[n] < reference.detail[n] for n in risks if n in point.detail)


def join(first: Proposal, second: Proposal) -> Proposal:
    """Return two proposals as one, applied in order."""
    return Proposal(
        f"{first.method} + {second.method}",
        " + ".join(label for label in (first.label, second.label) if label),
        (*first.steps, *second.steps),
        None,
        first.columns | second.columns,
        parts=(first, second),
    )


def find_neighbours(best: Proposal, proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals one place away in the grid of the method, or of one of two."""
    if best.parts:
        first, second = best.parts
        return [
            *(join(other, second) for other in find_neighbours(first, proposals)),
            *(join(first, other) for other in find_neighbours(second, proposals)),
        ]
    return [
        p
        for p in proposals
        if p.method == best.method
        and sum(abs(a - b) for a, b in zip(p.place, best.place, strict=True)) == 1
    ]
