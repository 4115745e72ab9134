"""Coverage of confidence intervals when design variables are synthesised or swapped, and weights with them.

The simulations of Mitra, Reiter (2006), Adjusting survey weights when altering identifying design variables via
synthetic data, PSD 2006, LNCS 4302, 177-188: a stratified sample (section 3.1), one with probability proportional to
size (3.2), clusters and their members (3.3), and strata swapped at random (4). In each replication a sample is drawn from
one population, its design variable and a survey variable are synthesised five times, and 95 % intervals by each way of
weighting are compared with the population's numbers.

The paper announces 23 estimands for strata and lists 22; the 22 are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.errors import InputError
from tacit.records.samples.weights.design import Design, copy_weights, recalculate
from tacit.records.synthesis.sequential.sequence import Chain, Options, Step
from tacit.records.synthesis.sequential.variables import Values, Variable
from tacit.records.synthesis.synthetic_estimates import combine_copies
from tacit.stats.survey import (
    Sample,
    estimate_means,
    estimate_regression,
    estimate_shares,
)

COPIES = 5
TAILS = (0.5, 0.8, 0.95)
Columns = dict[str, np.ndarray]
#: Estimands of a sample: their values and variances.
Answer = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class World:
    """A population with what is asked about it.

    Attributes
    ----------
    columns
        The population.
    sample
        Draws a sample: rows and weights.
    steps
        How columns are synthesised.
    design
        What weights are a formula of.
    names
        The estimands.
    ask
        Answers the estimands from columns, weights and the design's strata and clusters.
    ways
        The ways of weighting compared.
    """

    columns: Columns
    sample: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    steps: tuple[Step, ...]
    degree: int
    design: Design
    names: tuple[str, ...]
    ask: Callable[[Columns, np.ndarray], Answer]
    ways: tuple[str, ...]

    @property
    def truth(self) -> np.ndarray:
        """Return the population's numbers."""
        n = len(next(iter(self.columns.values())))
        return self.ask(self.columns, np.ones(n))[0]


def tails(columns: Mapping[str, np.ndarray], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return the population's quantiles above which shares are asked for."""
    return {c: np.quantile(columns[c], TAILS) for c in names}


def answers(parts: list[Any]) -> Answer:
    """Return several estimates as one list."""
    return np.concatenate([p.values for p in parts]), np.concatenate([p.variances for p in parts])


# -- the three designs ---------------------------------------------------------------------------------


def stratified_world(rng: np.random.Generator) -> World:
    """Return four strata of 1000, 2000, 10000 and 7000, of which 250 each are sampled."""
    h = np.repeat(np.arange(4), [1000, 2000, 10000, 7000])
    mu, alpha, beta = (
        np.array(v, float) for v in ((20, 14, 10, 5), (0, 10, -5, 5), (1, 1.5, 0.7, 2))
    )
    y1 = rng.normal(mu[h], 5.0)
    y2 = rng.normal(alpha[h] + beta[h] * y1, 5.0)
    columns = {"x1": h // 2, "x2": h % 2, "y1": y1, "y2": y2}
    cuts = tails(columns, ("y1", "y2"))

    def ask(c: Columns, w: np.ndarray) -> Answer:
        sample = Sample(w, np.asarray(c["x1"] * 2 + c["x2"], dtype=np.int64))
        a, b, y = c["x1"].astype(float), c["x2"].astype(float), c["y1"]
        main = np.column_stack([y, a, b])
        crossed = np.column_stack([main, y * a, y * b, a * b, y * a * b])
        return answers([
            estimate_means(np.column_stack([y, c["y2"]]), sample),
            estimate_shares(y, cuts["y1"], sample),
            estimate_shares(c["y2"], cuts["y2"], sample),
            estimate_regression(y, c["y2"], sample),
            estimate_regression(main, c["y2"], sample),
            estimate_regression(crossed, c["y2"], sample),
        ])  # fmt: skip

    steps = (
        Step("x1", "logit", ("y1",)),
        Step("x2", "logit", ("y1", "x1")),
        Step("y2", "linear", ("y1", "x1", "x2")),
    )
    names = (
        "mean y1", "mean y2", *(f"y1 > p{100 * t:g}" for t in TAILS), *(f"y2 > p{100 * t:g}" for t in TAILS),
        "y2~y1: constant", "y2~y1: y1", *(f"y2~y1,x1,x2: {i}" for i in range(4)), *(f"crossed: {i}" for i in range(8)),
    )  # fmt: skip
    return World(
        columns,
        lambda g: draw_stratified(h, 250, g),
        steps,
        3,
        Design(kind="stratified", columns=("x1", "x2")),
        names,
        ask,
        ("rcal", "cpp", "oldw", "unw"),
    )


def proportional_world(rng: np.random.Generator) -> World:
    """Return 20,000 units with sizes from 50 up, of which 1000 are drawn in proportion to size."""
    x = 50 + rng.lognormal(2.41, 0.88, 20_000)
    y1 = rng.normal(1.3 * x, 32.0)
    y2 = rng.normal(1.2 * x + 0.9 * y1, 32.0)
    columns = {"x": x, "y1": y1, "y2": y2}
    cuts = tails(columns, ("y1", "x", "y2"))

    def ask(c: Columns, w: np.ndarray) -> Answer:
        sample = Sample(w)
        return answers([
            estimate_means(np.column_stack([c["x"], c["y1"], c["y2"]]), sample),
            *(estimate_shares(c[v], cuts[v], sample) for v in ("y1", "x", "y2")),
            estimate_regression(c["y1"], c["y2"], sample),
            estimate_regression(c["x"], c["y2"], sample),
            estimate_regression(c["x"], c["y1"], sample),
            estimate_regression(np.column_stack([c["y1"], c["x"]]), c["y2"], sample),
        ])  # fmt: skip

    steps = (
        Step("x", "spline", ("y1",), limits=(float(x.min()), None)),
        Step("y2", "linear", ("y1", "x")),
    )
    names = (
        "mean x", "mean y1", "mean y2",
        *(f"{v} > p{100 * t:g}" for v in ("y1", "x", "y2") for t in TAILS),
        *(f"{r}: {i}" for r in ("y2~y1", "y2~x", "y1~x") for i in range(2)), *(f"y2~y1,x: {i}" for i in range(3)),
    )  # fmt: skip
    return World(
        columns,
        lambda g: draw_proportional(x, 1000, g),
        steps,
        1,
        Design(kind="pps", columns=("x",), total=float(x.sum())),
        names,
        ask,
        ("rcal", "oldw", "unw"),
    )


def clustered_world(rng: np.random.Generator) -> World:
    """Return 200 clusters of 200, 150, 100 and 50 units; 25 units of each of 40 clusters are sampled."""
    sizes = np.repeat([200, 150, 100, 50], [20, 40, 60, 80])
    c = np.repeat(np.arange(200), sizes)
    omega = (sizes - 100) / 25 + rng.normal(0, 0.5, 200)
    delta = (sizes - 100) / 5 + rng.normal(0, 1.0, 200)
    y1 = rng.normal(20 + omega[c], 3.0)
    y2 = rng.normal(1.2 * y1 + delta[c], 20.0)
    columns = {"cluster": c, "y1": y1, "y2": y2}
    cuts = tails(columns, ("y1", "y2"))

    def ask(d: Columns, w: np.ndarray) -> Answer:
        clusters = np.asarray(d["cluster"], dtype=np.int64)
        sample = Sample(w, None, clusters)
        _, code = np.unique(clusters, return_inverse=True)
        # Of the regression with a constant for every cluster: the slope, by deviations from the clusters' means.
        code = code.ravel()
        total = np.bincount(code, weights=w)
        inner = [v - (np.bincount(code, weights=w * v) / total)[code] for v in (d["y1"], d["y2"])]
        slopes = [
            estimate_regression(d["y1"], d["y2"], sample),
            estimate_regression(inner[0], inner[1], sample),
        ]
        values, variances = answers([
            estimate_means(np.column_stack([d["y1"], d["y2"]]), sample),
            estimate_shares(d["y1"], cuts["y1"], sample),
            estimate_shares(d["y2"], cuts["y2"], sample),
            *slopes,
        ])  # fmt: skip
        keep = [*range(8), 9, 11]
        return values[keep], variances[keep]

    steps = (Step("cluster", "multinomial", ("y1",)), Step("y2", "linear", ("y1", "cluster")))
    names = (
        "mean y1", "mean y2", *(f"y1 > p{100 * t:g}" for t in TAILS), *(f"y2 > p{100 * t:g}" for t in TAILS),
        "y2~y1: y1", "y2~y1,cluster: y1",
    )  # fmt: skip
    design = Design(kind="two_stage", columns=("cluster",))
    return World(
        columns,
        lambda g: draw_clusters(c, 40, 25, g),
        steps,
        1,
        design,
        names,
        ask,
        ("rcal", "cpp", "oldw", "unw"),
    )


WORLDS: Mapping[str, Callable[[np.random.Generator], World]] = {
    "stratified": stratified_world,
    "pps": proportional_world,
    "two-stage": clustered_world,
}


# -- one replication -----------------------------------------------------------------------------------


def coded(
    columns: Columns, steps: tuple[Step, ...]
) -> tuple[dict[str, Variable], dict[str, Values]]:
    """Return columns as a chain takes them."""
    classes = {s.column for s in steps if s.way in ("logit", "multinomial")}
    variables, values = {}, {}
    for name, column in columns.items():
        if name in classes:
            found, codes = np.unique(column, return_inverse=True)
            variables[name] = Variable(name, pa.int64(), pa.array(found), False)
            values[name] = Values(codes.ravel().astype(np.int64))
        else:
            variables[name] = Variable(name, pa.float64(), pa.nulls(1, pa.float64()), True)
            values[name] = Values(np.zeros(len(column), dtype=np.int64), column.astype(float))
    return variables, values


def synthesise(world: World, sample: Columns, rng: np.random.Generator) -> list[Columns]:
    """Return the copies of a sample."""
    variables, values = coded(sample, world.steps)
    chain = Chain(variables, values, world.steps, Options(5, True, world.degree, ()))
    chain.fit(rng, lambda *_: None)
    copies = []
    for _ in range(COPIES):
        state = chain.draw(rng, lambda *_: None)
        copies.append(
            {
                c: variables[c].restore(state[c]).to_numpy(zero_copy_only=False)
                if c in chain.targets
                else sample[c]
                for c in sample
            }
        )
    return copies


def weigh(
    way: str,
    world: World,
    old: np.ndarray,
    before: Columns,
    after: Columns,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the weights of a copy."""
    if way == "oldw":
        return old
    if way == "unw":
        return np.ones(len(old))
    tables = [pa.table({c: t[c] for c in world.design.columns}) for t in (before, after)]
    if way == "rcal":
        return recalculate(world.design, old, *tables)
    return copy_weights(world.design, old, *tables, rng)


def covers(copies: list[Answer], truth: np.ndarray) -> np.ndarray:
    """Return for each estimand whether its combined interval holds the truth."""
    hit = np.zeros(len(truth))
    for j, value in enumerate(truth):
        found = combine_copies([q[j] for q, _ in copies], [v[j] for _, v in copies])
        low, high = found.interval()
        hit[j] = low <= value <= high
    return hit


def covers_alone(answer: Answer, truth: np.ndarray) -> np.ndarray:
    """Return for each estimand whether the interval of one file holds the truth."""
    half = 1.959964 * np.sqrt(answer[1])
    return (np.abs(answer[0] - truth) <= half).astype(float)


@dataclass(frozen=True)
class Coverage:
    """Coverage of each estimand by way of weighting, and the share of records that were found again."""

    names: tuple[str, ...]
    rates: dict[str, np.ndarray]
    found_again: float

    def median(self, way: str) -> float:
        """Return the median coverage of a way."""
        return float(np.median(self.rates[way]))


def coverage_study(name: str, replications: int, seed: int, tick: Any = None) -> Coverage:
    """Return the coverage of intervals under one design."""
    rng = np.random.default_rng(seed)
    world = WORLDS[name](rng)
    truth = world.truth
    ways = ("obs", *world.ways)
    hits = {w: np.zeros(len(truth)) for w in ways}
    again = 0.0
    for r in range(replications):
        if tick is not None:
            tick(f"{name}: sample {r + 1}", r / replications)
        rows, weights = world.sample(rng)
        sample = {c: v[rows] for c, v in world.columns.items()}
        hits["obs"] += covers_alone(world.ask(sample, weights), truth)
        copies = synthesise(world, sample, rng)
        for way in world.ways:
            asked = [world.ask(c, weigh(way, world, weights, sample, c, rng)) for c in copies]
            hits[way] += covers(asked, truth)
        again += found_again(name, world, rows, sample, copies) / replications
    return Coverage(world.names, {w: h / replications for w, h in hits.items()}, again)


def found_again(
    name: str, world: World, rows: np.ndarray, sample: Columns, copies: list[Columns]
) -> float:
    """Return the share of records whose design cell is the commonest of the copies, or whose size is the nearest."""
    if name == "pps":
        mean = np.mean([c["x"] for c in copies], axis=0)
        order = np.argsort(world.columns["x"])
        x = world.columns["x"][order]
        at = np.clip(np.searchsorted(x, mean), 1, len(x) - 1)
        near = np.where(mean - x[at - 1] <= x[at] - mean, at - 1, at)
        return float((order[near] == rows).mean())
    cells = [cell_of(name, c) for c in copies]
    own = cell_of(name, sample)
    size = int(max(c.max() for c in (*cells, own))) + 1
    counts = np.stack(
        [np.bincount(np.arange(len(own)) * size + c, minlength=len(own) * size) for c in cells]
    ).sum(axis=0)
    return float((counts.reshape(len(own), size).argmax(axis=1) == own).mean())


def cell_of(name: str, columns: Columns) -> np.ndarray:
    """Return the cell of the design of each record."""
    if name == "two-stage":
        return np.asarray(columns["cluster"], dtype=np.int64)
    return np.asarray(columns["x1"] * 2 + columns["x2"], dtype=np.int64)


# -- swapping ------------------------------------------------------------------------------------------


def swap_strata(strata: np.ndarray, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return strata after a share of records exchanged theirs with a record of the whole file."""
    swapped = strata.copy()
    n = len(strata)
    for i in rng.choice(n, round(rate * n), replace=False):
        j = rng.integers(n)
        swapped[i], swapped[j] = swapped[j], swapped[i]
    return swapped


def swap_study(rate: float, replications: int, seed: int) -> tuple[Coverage, bool]:
    """Return the coverage with swapped strata, and whether recalculated and copied weights were the same."""
    rng = np.random.default_rng(seed)
    world = stratified_world(rng)
    truth, same, stays = world.truth, True, 0.0
    hits = {w: np.zeros(len(truth)) for w in ("rcal", "cpp", "oldw", "unw")}
    for _ in range(replications):
        rows, weights = world.sample(rng)
        sample = {c: v[rows] for c, v in world.columns.items()}
        before = sample["x1"] * 2 + sample["x2"]
        strata = swap_strata(before, rate, rng)
        stays += float((strata == before).mean()) / replications
        masked = {**sample, "x1": strata // 2, "x2": strata % 2}
        given = {w: weigh(w, world, weights, sample, masked, rng) for w in hits}
        same &= bool(np.array_equal(given["rcal"], given["cpp"]))
        for way, w in given.items():
            hits[way] += covers_alone(world.ask(masked, w), truth)
    rates = {w: h / replications for w, h in hits.items()}
    return Coverage(world.names, rates, stays), same


# -- the experiment ------------------------------------------------------------------------------------

#: Replications, and of the swaps.
SIZES: Mapping[str, tuple[int, int]] = {"small": (10, 5), "paper": (1000, 1000)}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return ``coverage`` of every estimand by design and weights, and ``risk`` of the design variables."""
    replications, swaps = SIZES[size]
    rows: list[dict[str, Any]] = []
    risk: list[dict[str, Any]] = []
    for name in WORLDS:
        found = coverage_study(name, replications, seed, tick)
        rows += as_rows(name, found)
        risk.append({"design": name, "found again": found.found_again})
    for rate in (0.05, 0.3, 0.5, 1.0):
        found, _ = swap_study(rate, swaps, seed)
        rows += as_rows(f"swap {rate:.0%}", found)
        risk.append({"design": f"swap {rate:.0%}", "found again": found.found_again})
    return {"coverage": as_frame(rows), "risk": as_frame(risk)}


def as_rows(design: str, found: Coverage) -> list[dict[str, Any]]:
    """Return one row an estimand and way of weighting."""
    return [
        {"design": design, "weights": way, "estimand": name, "coverage": float(rate)}
        for way, rates in found.rates.items()
        for name, rate in zip(found.names, rates, strict=True)
    ]


def as_frame(rows: list[dict[str, Any]]) -> nw.DataFrame[Any]:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)


def charts(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return box plots of coverage by way of weighting, one for each design (figures 1 to 4)."""
    from tacit.plot.chart import Chart
    from tacit.plot.parts import category, heading, quantity

    found = {}
    rows = tables["coverage"].rows(named=True)
    for design in dict.fromkeys(r["design"] for r in rows):
        values = [r for r in rows if r["design"] == design]
        spec = {
            "title": heading(f"Coverage of 95 % intervals: {design}", "one box over all estimands"),
            "width": 420,
            "height": {"step": 34},
            "layer": [
                {
                    "data": {"values": values},
                    "mark": {"type": "boxplot", "extent": "min-max", "size": 16},
                    "encoding": {
                        "y": category("weights", title=None),
                        "x": quantity("coverage", "coverage", scale={"domain": [0, 1]}),
                    },
                },
                {
                    "data": {"values": [{"at": 0.95}]},
                    "mark": {"type": "rule", "strokeDash": [4, 3]},
                    "encoding": {"x": quantity("at")},
                },
            ],
        }
        medians = ", ".join(
            f"{way} {np.median([r['coverage'] for r in values if r['weights'] == way]):.2f}"
            for way in dict.fromkeys(r["weights"] for r in values)
        )
        name = f"coverage_{design.replace(' ', '_').replace('%', '')}"
        found[name] = Chart(spec, f"Box plots of coverage under {design}; medians: {medians}.")
    return found


# -- samplers ----------------------------------------------------------------------------------------


def draw_stratified(
    strata: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return a simple random sample of n in each stratum, and its weights N_h / n_h."""
    rows, weights = [], []
    for h in np.unique(strata):
        members = np.flatnonzero(strata == h)
        if len(members) < n:
            raise InputError(f"a stratum has fewer than {n} members")
        rows.append(rng.choice(members, n, replace=False))
        weights.append(np.full(n, len(members) / n))
    return np.concatenate(rows), np.concatenate(weights)


def draw_proportional(
    sizes: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return a systematic sample with probability proportional to size, in random order (Hartley, Rao 1962)."""
    if not (sizes > 0).all() or n * sizes.max() > sizes.sum():
        raise InputError("sizes must be above 0, and none above the total over n")
    order = rng.permutation(len(sizes))
    upto = np.cumsum(sizes[order])
    step = upto[-1] / n
    rows = order[np.searchsorted(upto, rng.random() * step + step * np.arange(n), side="right")]
    return rows, float(upto[-1]) / (n * sizes[rows])


def draw_clusters(
    clusters: np.ndarray, n_clusters: int, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return n members of each of a simple random sample of clusters; weights (C / c) (M_c / m_c)."""
    names = np.unique(clusters)
    chosen = rng.choice(names, n_clusters, replace=False)
    rows, weights = [], []
    for c in chosen:
        members = np.flatnonzero(clusters == c)
        rows.append(rng.choice(members, n, replace=False))
        weights.append(np.full(n, len(names) / n_clusters * len(members) / n))
    return np.concatenate(rows), np.concatenate(weights)
