"""The claim that no record, or the average record, has a risk of re-identification above a threshold."""

from __future__ import annotations

import math

import narwhals.stable.v2 as nw
import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, number_values, sum_agreeing
from tacit.engine.names import aggregate

AMOUNT = "__amount__"
ROOM = 1e-9
#: Nodes on each piece of the integral; a piece is as long as the integrand falls by e^4.
NODES, PIECES = 24, 12


@check_for("individual-risk")
def risks_are_low(frame: Frame, claim: Claim) -> bool:
    """Return True when E(1/F | f) is low enough, in every class or on average.

    F is the number of people in the population who share the class's values, negative binomial given the f records, each
    drawn with chance f / (sum of weights), or with the sampling fraction.
    """
    p = claim.parameters
    weight = p.get("weight")
    amount = nw.len() if weight is None else nw.col(weight).cast(nw.Float64).sum()
    found = aggregate(frame, claim.columns, nw.len().alias(SIZE), amount.alias(AMOUNT))
    table = found.collect("pyarrow")
    size = table.get_column(SIZE).to_numpy().astype(np.float64)
    if not len(size):
        return True
    f, population = size, table.get_column(AMOUNT).to_numpy().astype(np.float64)
    if p.get("missing") == "wildcard":
        codes = np.stack(
            [number_values(table.get_column(c).to_list()) for c in claim.columns], axis=1
        )
        every = np.ones(len(size), dtype=bool)
        f, population = (sum_agreeing(codes, a, every) for a in (size, population))
    population = population / p.get("sampling_fraction", 1.0)
    pairs, of = np.unique(np.stack([f, population], axis=1), axis=0, return_inverse=True)
    risk = np.array([mean_inverse(a, b) for a, b in pairs.tolist()])[of.ravel()]
    if "threshold" in p and bool((risk > p["threshold"] + ROOM).any()):
        return False
    return "average" not in p or float(risk @ size) <= (p["average"] + ROOM) * float(size.sum())


def mean_inverse(f: float, population: float) -> float:
    """Return E(1/F | f) as the integral of s^(f - 1) p / (p + (1 - p) s) over s from 0 to 1.

    1/F is the integral of s^(F - 1), and the sum over the posterior can be taken inside; s is then replaced by the
    s / (p + (1 - p) s) of which it is the image. With s = exp(-t / f) the integrand falls like exp(-t).
    """
    if f >= population:
        return 1.0 / f
    p = f / population
    x, w = np.polynomial.legendre.leggauss(NODES)
    # Where exp(-t / f) is below p the integrand falls like exp(-t), before at least like exp(-t (f - 1) / f).
    slow = f * math.log(1.0 / p)
    end = slow + 45.0 if f == 1 else min(slow + 45.0, 45.0 * f / (f - 1.0))
    pieces = max(PIECES, math.ceil(end / 2.0))
    edges = np.linspace(0.0, end, pieces + 1)
    t = (edges[:-1, None] + (x[None, :] + 1.0) / 2.0 * (edges[1] - edges[0])).ravel()
    s = np.exp(-t / f)
    values = np.exp(-t) * p / (p + (1.0 - p) * s) / f
    return float(values @ np.tile(w, pieces)) * float(edges[1] - edges[0]) / 2.0
