"""The claim that a protected plot is zero-concentrated private, recomputed from what is published.

From the public record alone: how far one unit moves each query is found again from its form (cells, kernels on
a grid, ranks), what noise of the stated amplitude then spends, and that published values lie on the lattice of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.claims import Claim, check_for

#: Numbers that were written as text come back a little off.
ROUNDING = 1e-9
#: Places of a record, in a step of the grid, at which kernels are summed.
PLACES = 257


@check_for("zcdp", of="plots")
def spends_no_more(record: Mapping[str, Any] | Sequence[Mapping[str, Any]], claim: Claim) -> bool:
    """Return True when the queries of a plot spend together no more than is claimed.

    Several plots hold when each of the columns of the claim does.
    """
    if not isinstance(record, Mapping):
        mine = [r for r in record if tuple(r["columns"]) == claim.columns]
        return any(spends_no_more(r, claim) for r in mine)
    p = claim.parameters
    if record["study"] or not record["queries"]:
        return False
    if (record["unit"], record["members"]) != (p["unit"], p["members"]):
        return False
    if record["unit"] == "record" and record["members"] != 1:
        return False
    reach = record["members"] * (record["weight_limit"] or 1.0)
    together: dict[Any, float] = {}
    for query in record["queries"]:
        if not is_on_lattice(query):
            return False
        group = query.get("group")
        together[group] = together.get(group, 0.0) + spent_by(query, reach)
    # Groups that share no record spend what the most expensive of them spends.
    apart = [v for g, v in together.items() if g is not None]
    total = together.get(None, 0.0) + max(apart, default=0.0)
    return total <= p["rho"] * (1 + ROUNDING)


def spent_by(query: Mapping[str, Any], reach: float) -> float:
    """Return what one query spends, from its form; endless where the form is unknown."""
    bound = query["bound"]
    if query["mechanism"] == "exponential":
        # A rank and p times the number of records move by at most max(p, 1 - p) <= 1 together.
        epsilon = query["epsilon"] * bound["norm"] * reach / query["sensitivity"]
        return math.inf if not 0.5 <= bound["norm"] <= 1 else epsilon**2 / 8
    if query["mechanism"] != "discrete gaussian":
        return math.inf
    if bound["of"] == "counts":
        moved = reach
    elif bound["of"] == "kernel":
        moved = reach * kernel_norm(bound)
    else:
        return math.inf
    if query["step"] != 1:
        moved += 2 * query["step"] * math.sqrt(query["entries"])
    # A little less where the scan of places falls between two of them.
    return float(moved**2 / (2 * query["amplitude"] ** 2) * (1 - ROUNDING))


def kernel_norm(bound: Mapping[str, Any]) -> float:
    """Return the largest norm of a normal kernel on a grid, wherever the record lies, found by trying places."""
    square = 1.0
    for step, h in zip(bound["steps"], bound["bandwidth"], strict=True):
        far = math.ceil(9 * h / step)
        grid = np.arange(-far, far + 1) * step
        places = np.linspace(-step / 2, step / 2, PLACES)
        u = (grid[None, :] - places[:, None]) / h
        kernels = np.exp(-(u**2) / 2) / (math.sqrt(2 * math.pi) * h)
        square *= float((kernels**2).sum(axis=1).max())
    least = {0: (1, 2), 2: (1,), 5: (2,)}
    if len(bound["steps"]) not in least.get(bound["affected"], ()):
        return math.inf
    return (1 + math.sqrt(2) * bound["affected"]) * math.sqrt(square)


def is_on_lattice(query: Mapping[str, Any]) -> bool:
    """Return True when published values are whole multiples of the step of the noise."""
    if "published" not in query:
        return True
    step = query["step"]
    if math.frexp(step)[0] != 0.5:
        return False
    values = np.asarray(query["published"], dtype=np.float64) / step
    return bool((values == np.rint(values)).all())
