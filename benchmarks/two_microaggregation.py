"""Optimal and approximate microaggregation: loss on the CASC files, and time at growing sizes.

python benchmarks/two_microaggregation.py [loss | pairs | scale]

``loss`` prints 100 SSE / SST of the methods at k = 2 to 10; ``pairs`` the minimum [1,2]-factor and the optimum for
k = 2 beside general matching and MDAV, which are run here as baselines; ``scale`` processor seconds on normal data.
"""

import sys
import time
from pathlib import Path

import numpy as np

import tacit
from tacit.records.microaggregation.grouping.improve import improve
from tacit.records.microaggregation.grouping.loss import loss
from tacit.records.microaggregation.grouping.near import Space
from tacit.records.microaggregation.optimal_groups import lower_bound
from tacit.records.microaggregation.two_approximation import (
    minimum_factor,
    near_edges,
    two_microaggregation,
)

CASC = Path(__file__).parents[1] / "tests" / "fixtures" / "casc"
METHODS = (
    *("mdav", "v_mdav", "path_groups", "spanning_tree_groups", "mu_approximation", "ward_groups"),
    *("sort_by_zscores", "sort_by_component", "two_approximation", "optimal_groups"),
)
PAIRS_ONLY = {"two_approximation", "optimal_groups"}


def casc(name):
    """A file with mean 0 and population standard deviation 1."""
    columns = range(4, 14) if name == "eia" else None
    x = np.loadtxt(CASC / f"{name}.csv", delimiter=",", skiprows=1, usecols=columns)
    return (x - x.mean(axis=0)) / x.std(axis=0)


def run(name, x, k, **options):
    """Groups and processor seconds, after the kernels have been compiled."""
    spec = tacit.registry.lookup(name)(k=k, **options)
    rng = np.random.default_rng(0)
    spec.groups(x[: 4 * k], rng, quiet)
    begun = time.process_time()
    labels = spec.groups(x, rng, quiet)
    return labels, time.process_time() - begun


def quiet(_message, _share):
    """Tell nobody."""


def print_loss():
    """100 SSE / SST by method, file and k."""
    ks = (2, 3, 4, 5, 6, 10)
    for file in ("census", "tarragona", "eia"):
        x = casc(file)
        print(f"\n{file:18}" + "".join(f"{f'k = {k}':>11}" for k in ks))
        for name in METHODS:
            cells = []
            for k in ks:
                if name in PAIRS_ONLY and k != 2:
                    cells.append("")
                    continue
                cells.append(f"{loss(x, run(name, x, k)[0]).percent:.4f}")
            print(f"{name:18}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
        cells = [
            loss(x, improve(x, run("mdav", x, k)[0], k, rng=np.random.default_rng(0), tick=quiet))
            for k in ks
        ]
        print(f"{'mdav, improved':18}" + "".join(f"{cell.percent:>11.4f}" for cell in cells))
        total = float((x**2).sum())
        bounds = [100.0 * lower_bound(x, k) / total for k in ks]
        print(f"{'bound':18}" + "".join(f"{b:>11.4f}" for b in bounds), flush=True)


def print_pairs():
    """k = 2 on the CASC files: value, proven bound, seconds, and the seconds of the baselines."""
    head = ("file", "records", "mdav", "2-approx", "bound", "optimum")
    print(
        "".join(f"{h:>10}" for h in head), " seconds: mdav, factor, matching on 40 nearest, optimum"
    )
    for file in ("tarragona", "census", "eia"):
        x = casc(file)
        mdav, first = run("mdav", x, 2)
        begun = time.process_time()
        found = two_microaggregation(x)
        second = time.process_time() - begun
        space = Space.of_records(x)
        begun = time.process_time()
        matched = minimum_factor(len(x), *near_edges(space, 40), solver="matching")
        third = time.process_time() - begun
        best, fourth = run("optimal_groups", x, 2)
        values = (loss(x, mdav).within, found.sse, found.bound, loss(x, best).within)
        print(
            f"{file:>10}{len(x):>10,}" + "".join(f"{v:>10.3f}" for v in values),
            f" {first:.2f}, {second:.2f}, {third:.2f}, {fourth:.2f};",
            f"factor {third / second:.1f} times as fast as matching, weights {found.weight:.6f} and {matched.weight:.6f}",
            flush=True,
        )


def print_scale():
    """Processor seconds at growing sizes."""
    rng = np.random.default_rng(1)
    jobs = [
        ("optimal_univariate", 1_000_000, 1, 3),
        ("mu_approximation", 100_000, 5, 3),
        ("spanning_tree_groups", 100_000, 5, 3),
        ("path_groups", 100_000, 5, 3),
        ("ward_groups", 10_000, 5, 3),
        ("mdav", 100_000, 5, 3),
        ("optimal_groups", 2_000, 5, 2),
        ("optimal_groups", 10_000, 5, 2),
        ("two_approximation", 5_000, 5, 2),
        ("two_approximation", 20_000, 5, 2),
    ]
    print(f"{'method':20}{'records':>10}{'columns':>9}{'k':>4}{'seconds':>10}{'loss %':>11}")
    for name, n, p, k in jobs:
        x = rng.normal(size=(n, p))
        labels, seconds = run(name, x, k)
        cells = f"{name:20}{n:>10,}{p:>9}{k:>4}{seconds:>10.2f}{loss(x, labels).percent:>11.6f}"
        print(cells, flush=True)
    x = rng.normal(size=(50_000, 5))
    begun = time.process_time()
    found = two_microaggregation(x)
    cells = f"{'in blocks':20}{50_000:>10,}{5:>9}{2:>4}{time.process_time() - begun:>10.2f}"
    print(f"{cells}{found.percent:>11.6f}  at most {found.ratio:.3f} times the optimum")


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["loss", "pairs", "scale"]
    for part in wanted:
        {"loss": print_loss, "pairs": print_pairs, "scale": print_scale}[part]()
