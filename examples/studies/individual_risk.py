"""Individual risk over repeated samples: how far three estimators are from 1/F, after Di Consiglio and Polettini (2006).

The paper's census is not public. The population here is invented to have the same shape: six regions, two sexes, twenty
age classes, four marital states and five levels of education, 4,800 cells and about fifteen million people, with an old
census that has the same structure and some noise. Samples are independent within cells, with the regions' rates; weights are
post-stratified by region, sex and age. SPREE rakes the old census to the true totals by region, sex and age, and to
the weighted totals by sex, age, marital state and education.

:func:`draw_two_stage` draws a sample of households as surveys do: municipalities stratified by size within provinces,
by Madow's systematic sampling with unequal chances, then households systematically, with all their members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.plot.chart import Chart
from tacit.plot.lines import lines
from tacit.records.samples.posterior import expected_inverse, share_sampled
from tacit.stats.margins import Margin, fit_proportionally

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Regions, sexes, age classes, marital states, levels of education.
SHAPE = (6, 2, 20, 4, 5)
PEOPLE = (119e3, 4.214e6, 3.497e6, 826e3, 5.701e6, 321e3)
RATES = (0.044, 0.005, 0.005, 0.010, 0.004, 0.020)
ESTIMATORS = ("bf", "spree", "bf_spree")
#: Samples drawn.
SIZES = {"small": 40, "paper": 1000}
#: Upper ends of the groups of population counts.
GROUPS = (1, 2, 5, 15, 50, 200, 1000)


@dataclass(frozen=True)
class Population:
    """True counts and those of the old census, one row per cell."""

    truth: Ints
    census: Floats

    @property
    def region(self) -> Ints:
        """Return the region of each cell."""
        return np.indices(SHAPE)[0].ravel()

    def group(self, *axes: int) -> tuple[Ints, int]:
        """Return a number for each cell by some of the dimensions, and how many there are."""
        at = np.indices(SHAPE).reshape(len(SHAPE), -1)[list(axes)]
        sizes = [SHAPE[a] for a in axes]
        return np.ravel_multi_index(tuple(at), sizes).astype(np.int64), int(np.prod(sizes))


def draw_population(rng: np.random.Generator) -> Population:
    """Draw a population from a log-linear model with profiles by age."""
    age = np.arange(SHAPE[2])
    marital = np.stack(
        [3.0 - 0.28 * age, -4.0 + 0.75 * age - 0.03 * age**2, -5.0 + 0.3 * age, -9.0 + 0.55 * age],
        axis=1,
    )
    education = np.stack(
        [
            1.0 + 0.06 * age,
            0.8 * np.ones(20),
            0.6 - 0.04 * age,
            -0.6 - 0.05 * age,
            -1.6 - 0.06 * age,
        ],
        axis=1,
    )
    # Children are single and have hardly any education.
    marital[:3] = [5.0, -5.0, -7.0, -7.0]
    education[:3] = [4.0, 0.0, -4.0, -6.0, -7.0]
    level = marital[:, :, None] + education[:, None, :]
    by_pair = rng.normal(0, 0.25, SHAPE[3:])
    score = (
        level[None, None]
        + rng.normal(0, 0.3, (6, 1, 1, 4, 1))
        + rng.normal(0, 0.3, (6, 1, 1, 1, 5))
        + by_pair
        + rng.normal(0, 0.25, SHAPE)
    )

    def spread(scores: Floats) -> Floats:
        """Return intensities: each region's people, evenly by sex and falling with age."""
        within = np.exp(scores - scores.max(axis=(3, 4), keepdims=True))
        within /= within.sum(axis=(3, 4), keepdims=True)
        ages = 1.0 / (1.0 + np.exp((age - 15.5) / 1.5))
        share = (ages / ages.sum())[None, None, :, None, None] / 2
        return np.array(PEOPLE)[:, None, None, None, None] * share * within

    truth = rng.poisson(spread(score))
    old = score + rng.normal(0, 0.15, SHAPE) + rng.normal(0, 0.1, SHAPE[3:])
    census = rng.poisson(spread(old))
    return Population(truth.ravel().astype(np.int64), census.ravel().astype(np.float64))


def draw_sample(people: Population, rng: np.random.Generator) -> Ints:
    """Return the records of each cell."""
    return rng.binomial(people.truth, np.array(RATES)[people.region]).astype(np.int64)


def estimate(people: Population, f: Ints) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return the three risks of the occupied cells (NaN elsewhere), and how often counts were floored."""
    strata, n_strata = people.group(0, 1, 2)
    known = np.bincount(strata, weights=people.truth, minlength=n_strata)
    drawn = np.bincount(strata, weights=f, minlength=n_strata)
    weight = np.divide(known, drawn, out=np.zeros_like(known), where=drawn > 0)
    direct = f * weight[strata]
    classes, n_classes = people.group(1, 2, 3, 4)
    margins = [
        Margin(
            classes, np.bincount(classes, weights=direct, minlength=n_classes).astype(np.float64)
        ),
        Margin(strata, np.where(drawn > 0, known, 0.0)),
    ]
    # Where a class was sampled in cells that the old census has empty, a little is allowed for.
    fit = fit_proportionally(np.maximum(people.census, 0.01), margins, tolerance=1e-6)
    seen = f > 0
    spree = np.maximum(fit.values, f)
    found = {name: np.full(len(f), np.nan) for name in ESTIMATORS}
    found["bf"][seen] = expected_inverse(f[seen], share_sampled(f[seen], direct[seen]))
    found["spree"][seen] = 1.0 / spree[seen]
    found["bf_spree"][seen] = expected_inverse(f[seen], share_sampled(f[seen], spree[seen]))
    told = {
        "floored": float((fit.values[seen] < f[seen]).mean()),
        "sweeps": float(fit.rounds),
    }
    return found, told


@dataclass(frozen=True)
class Errors:
    """What many samples say of each cell: how often it was seen, bias and root mean square error of each risk."""

    truth: Ints
    seen: Ints
    bias: dict[str, Floats]
    rrmse: dict[str, Floats]
    ranks: dict[str, float]


def evaluate(
    people: Population, samples: int, rng: np.random.Generator, tick: Any = None
) -> Errors:
    """Draw samples and compare each risk with 1/F, over the samples in which the cell was seen."""
    n = len(people.truth)
    risk = 1.0 / np.maximum(people.truth, 1)
    seen = np.zeros(n, dtype=np.int64)
    sums = {e: np.zeros(n) for e in ESTIMATORS}
    squares = {e: np.zeros(n) for e in ESTIMATORS}
    ranks: dict[str, list[float]] = {e: [] for e in ESTIMATORS}
    for i in range(samples):
        if tick is not None:
            tick(f"sample {i + 1} of {samples}", i / samples)
        f = draw_sample(people, rng)
        found, _ = estimate(people, f)
        here, alone = f > 0, f == 1
        seen += here
        for e in ESTIMATORS:
            error = np.where(here, found[e] - risk, 0.0)
            sums[e] += error
            squares[e] += error**2
            ranks[e].append(rank_correlation(found[e][alone], risk[alone]))
    often = np.maximum(seen, 1)
    return Errors(
        people.truth,
        seen,
        {e: np.where(seen > 0, sums[e] / often, np.nan) for e in ESTIMATORS},
        {e: np.where(seen > 0, np.sqrt(squares[e] / often) / risk, np.nan) for e in ESTIMATORS},
        {e: float(np.mean(ranks[e])) for e in ESTIMATORS},
    )


def rank_correlation(a: Floats, b: Floats) -> float:
    """Return Spearman's coefficient: how well risks tell rare from frequent cells among sample uniques."""
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return ``bias`` (as table 1, by population count) and ``errors`` (by groups of counts)."""
    rng = np.random.default_rng(seed)
    errors = evaluate(draw_population(rng), SIZES[size], rng, tick)
    bias = []
    for count in (1, 2, 5):
        for e in ESTIMATORS:
            values = errors.bias[e][(errors.truth == count) & (errors.seen > 0)]
            points = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if len(values) else [np.nan] * 5
            names = ("min", "q1", "median", "q3", "max")
            mean = float(values.mean()) if len(values) else float("nan")
            row = dict(zip(names, map(float, points), strict=True))
            bias.append({"F": count, "estimator": e, **row, "mean": mean})
    grouped = []
    low = 0
    for high in GROUPS:
        at = (errors.truth > low) & (errors.truth <= high) & (errors.seen > 0)
        for e in ESTIMATORS:
            relative = errors.bias[e][at] * errors.truth[at]
            grouped.append(
                {
                    "F from": low + 1,
                    "F to": high,
                    "estimator": e,
                    "cells": int(at.sum()),
                    "relative bias": float(np.mean(relative)),
                    "median rrmse": float(np.median(errors.rrmse[e][at])),
                    "rank correlation": errors.ranks[e],
                }
            )
        low = high
    return {"bias": as_frame(bias), "errors": as_frame(grouped)}


def as_frame(rows: list[dict[str, Any]]) -> nw.DataFrame[Any]:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)


def charts(tables: dict[str, Any]) -> dict[str, Chart]:
    """Return relative bias and error by population count."""
    rows = tables["errors"].rows(named=True)
    made = {}
    for name, title in (("relative bias", "Relative bias"), ("median rrmse", "Relative error")):
        made[name.replace(" ", "_")] = lines(
            [(r["estimator"], r["F to"], r[name]) for r in rows],
            title=f"{title} of individual risk",
            x="people of the cell in the population (at most)",
            y=name,
            marked=True,
            x_axis={"scale": {"type": "log"}},
        )
    return made


# -- samples of households -----------------------------------------------------------------------------


def draw_madow(chances: Floats, rng: np.random.Generator) -> Ints:
    """Return units drawn systematically with given chances, in their order (Madow 1949).

    One random start; a unit is drawn where the running sum of chances passes the start or a whole number beyond it.
    """
    if ((chances < 0) | (chances > 1)).any():
        raise ValueError("chances lie between 0 and 1")
    ends = np.cumsum(chances)
    start = rng.random()
    return np.flatnonzero(np.floor(ends - start) > np.floor(ends - chances - start))


def draw_two_stage(
    province: Sequence[Any],
    municipality: Sequence[Any],
    household: Sequence[Any],
    *,
    stratum_size: int,
    households: int,
    rng: np.random.Generator,
) -> tuple[Ints, Floats]:
    """Return the people drawn and their weights.

    Municipalities are ordered by size within their province. Those larger than ``stratum_size`` people stand for
    themselves; the others form strata of about that size, from each of which one is drawn with a chance proportional to
    its size. In a drawn municipality ``households`` are drawn systematically, with all members.
    """
    towns, of_town = np.unique(np.asarray(municipality), return_inverse=True)
    size = np.bincount(of_town)
    _, first = np.unique(of_town, return_index=True)
    where = np.unique(np.asarray(province), return_inverse=True)[1][first]
    chance = np.ones(len(towns))
    picked: list[int] = []
    for one in np.unique(where):
        mine = np.flatnonzero(where == one)
        mine = mine[np.argsort(-size[mine], kind="stable")]
        picked += mine[size[mine] >= stratum_size].tolist()
        rest = mine[size[mine] < stratum_size]
        stratum = ((np.cumsum(size[rest]) - size[rest]) // stratum_size) if len(rest) else rest
        for s in np.unique(stratum):
            members = rest[stratum == s]
            chance[members] = size[members] / size[members].sum()
            picked += members[draw_madow(chance[members], rng)].tolist()
    homes, of_home = np.unique(np.asarray(household), return_inverse=True)
    _, first_person = np.unique(of_home, return_index=True)
    town_of_home = of_town[first_person]
    weight_of_home = np.zeros(len(homes))
    for town in picked:
        here = np.flatnonzero(town_of_home == town)
        rate = min(households / len(here), 1.0)
        taken = here[draw_madow(np.full(len(here), rate), rng)]
        weight_of_home[taken] = 1.0 / (chance[town] * rate)
    people = np.flatnonzero(weight_of_home[of_home] > 0)
    return people, weight_of_home[of_home][people]
