"""Two simulations that set the rank swap beside the data shuffle, on normal data.

The first measures what happens to the correlation of two variables and how well a masked column tells
the original one; the second how many records of independent variables are linked. Both are those of
Muralidhar, Sarathy, Dandekar (2006), Why swap when you can shuffle? A comparison of the proximity swap and
data shuffle for numeric data, PSD 2006, LNCS 4302, 164-176 (tables 1 to 3, and 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.records.linkage.conditional_linkage import conditional_of
from tacit.records.linkage.nearest import find_own_chance
from tacit.records.swapping.rank_swap import rank_partners
from tacit.records.swapping.shuffle import (
    compute_target_correlations,
    conditional,
    reassign_values,
    scores_of,
)
from tacit.stats.ranks import pearson, rank, restore_record_order, spearman

Mask = Callable[[Floats, np.random.Generator], Floats]


def swap_columns(x: Floats, percent: float, rng: np.random.Generator) -> Floats:
    """Return x with every column rank-swapped by itself, in a window of so many percent of the records."""
    window = max(1, int(np.floor(percent * len(x) / 100.0 + 1e-9)))
    columns = []
    for column in x.T:
        order = rank(column, rng).order
        columns.append(
            restore_record_order(order, column[order][rank_partners(len(x), window, rng)])
        )
    return np.column_stack(columns)


def shuffle_columns(x: Floats, rng: np.random.Generator) -> Floats:
    """Return x shuffled with exact moments and Pearson correlations, given nothing."""
    scores = scores_of(x, np.empty((len(x), 0)), (), normal=False, rng=rng)
    found = conditional(
        scores, compute_target_correlations(scores, normal=False)[0], rng, exact=True
    )
    origin, _ = reassign_values(scores, found, rng)
    return np.column_stack([column[at] for column, at in zip(x.T, origin, strict=True)])


METHODS: Mapping[str, Mask] = {
    "shuffle": shuffle_columns,
    "swap10": lambda x, rng: swap_columns(x, 10, rng),
    "swap50": lambda x, rng: swap_columns(x, 50, rng),
    "swap100": lambda x, rng: swap_columns(x, 100, rng),
}


@dataclass(frozen=True)
class CorrelationRow:
    """One cell of tables 1 to 3: changes of correlations over replications, and the R^2 of X_1 on Y_1."""

    n: int
    rho: float
    method: str
    rank_mean: float
    rank_variance: float
    pearson_mean: float
    pearson_variance: float
    r_squared: float


def correlation_study(
    n: int, rho: float, replications: int, rng: np.random.Generator
) -> list[CorrelationRow]:
    """Return what each method does to two normal variables of correlation rho."""
    changes: dict[str, list[tuple[float, float, float]]] = {name: [] for name in METHODS}
    root = np.linalg.cholesky(np.array([[1.0, rho], [rho, 1.0]]))
    for _ in range(replications):
        x = rng.standard_normal((n, 2)) @ root.T
        for name, mask in METHODS.items():
            y = mask(x, rng)
            changes[name].append(
                (
                    float(spearman(y)[0, 1] - spearman(x)[0, 1]),
                    float(pearson(y)[0, 1] - pearson(x)[0, 1]),
                    float(np.corrcoef(x[:, 0], y[:, 0])[0, 1] ** 2),
                )
            )
    rows = []
    for name, found in changes.items():
        mean = np.mean(found, axis=0).tolist()
        variance = np.var(found, axis=0, ddof=1).tolist()
        rows.append(
            CorrelationRow(n, rho, name, mean[0], variance[0], mean[1], variance[1], mean[2])
        )
    return rows


def linkage_study(
    n: int, variables: int, replications: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the share of records of independent normal variables that each method leaves linkable."""
    found = dict.fromkeys(METHODS, 0.0)
    own = np.arange(n)
    for _ in range(replications):
        x = rng.standard_normal((n, variables))
        for name, mask in METHODS.items():
            y = mask(x, rng)
            distribution = conditional_of(x, y)
            masked = distribution.masked(y)
            hits = find_own_chance(distribution.expected(x), masked, own)
            found[name] += float(hits.mean()) / replications
    return found


#: Sample sizes, correlations, numbers of variables and replications.
SIZES: Mapping[str, tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...], int]] = {
    "small": ((30, 100), (0.05, 0.5, 0.95), (2, 4), 5),
    "paper": (
        (30, 100, 300, 1000),
        (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95),
        (2, 3, 4, 5, 6),
        1000,
    ),
}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return both experiments: ``correlations`` (tables 1 to 3) and ``linkage`` (table 4)."""
    sizes, correlations, variables, replications = SIZES[size]
    rng = np.random.default_rng(seed)
    first: list[dict[str, Any]] = []
    second: list[dict[str, Any]] = []
    for i, n in enumerate(sizes):
        for rho in correlations:
            if tick is not None:
                tick(f"{n} records, correlation {rho:g}", i / len(sizes))
            first += [asdict(row) for row in correlation_study(n, rho, replications, rng)]
        for p in variables:
            found = linkage_study(n, p, replications, rng)
            second += [{"n": n, "variables": p, "method": m, "linked": v} for m, v in found.items()]
    return {"correlations": as_frame(first), "linkage": as_frame(second)}


def as_frame(rows: list[dict[str, Any]]) -> nw.DataFrame[Any]:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)
