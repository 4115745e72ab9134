"""Noise and masking in stages: CPU seconds, and as a multiple of drawing one normal number a value.

Run: python benchmarks/noise_masking.py [--records 10000000] [--rows 1000000] [--staged 100000]

``--records`` of two columns (one with decimals, one whole) get noise column by column; ``--rows`` of five
columns are masked together; ``--staged`` of two columns are masked in two stages. The baseline of each line is
one standard normal draw for each masked value, in the same run.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import tacit


def data_of(n, p, seed=1):
    """Return correlated columns with long tails; the last is whole."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)) + rng.standard_normal(n)[:, None]
    columns = {f"x{j}": np.exp(x[:, j] / 2) for j in range(p)}
    columns[f"x{p - 1}"] = np.rint(1000 * columns[f"x{p - 1}"]).astype(np.int64)
    return tacit.read(columns), list(columns)


def baseline(values):
    """Return the CPU seconds of one normal draw a value."""
    begun = time.process_time()
    np.random.default_rng(0).standard_normal(values)
    return time.process_time() - begun


def timed(label, method, data, values):
    """Apply once and print CPU seconds and their ratio to the baseline."""
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method.apply(data, seed=1)
    seconds = time.process_time() - begun
    print(f"{label:<44} {len(data):>11,} {seconds:>8.2f} {seconds / baseline(values):>8.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--staged", type=int, default=100_000)
    options = parser.parse_args()
    print(f"{'method':<44} {'records':>11} {'CPU s':>8} {'ratio':>8}")
    data, names = data_of(options.records, 2)
    for label, method, columns in (
        ("add_noise, one column", tacit.AddNoise(columns=names[:1], relative=0.1), 1),
        ("add_noise, both", tacit.AddNoise(columns=names, relative=0.1), 2),
        ("multiplicative_noise, lognormal", tacit.MultiplicativeNoise(columns=names[:1]), 1),
        ("multiplicative_noise, two-sided", tacit.MultiplicativeNoise(columns=names[:1], distribution="two_sided"), 1),
        ("restricted_noise", tacit.RestrictedNoise(columns=names[:1]), 1),
        ("restricted_noise, limit", tacit.RestrictedNoise(columns=names[:1], limit=0.3), 1),
        ("correlated_noise, both", tacit.CorrelatedNoise(columns=names, lambda_squared=0.1), 2),
        ("weight_noise", tacit.WeightNoise(column=names[0]), 1),
    ):  # fmt: skip
        timed(label, method, data, columns * options.records)
    data, names = data_of(options.rows, 5)
    for label, method in (
        ("romm, five columns", tacit.Romm()),
        ("romm, records as partners", tacit.Romm(partner="records")),
        ("correlated_noise, exact", tacit.CorrelatedNoise(columns=names, lambda_squared=0.1, exact=True)),
        ("outlier_noise, mahalanobis", tacit.OutlierNoise()),
        ("outlier_noise, influence", tacit.OutlierNoise(detector="influence")),
        ("local_noise after z-scores", tacit.LocalNoise()),
        ("restoring_noise after z-scores", tacit.RestoringNoise()),
        ("two_stage, z-scores twice", tacit.TwoStage(second=tacit.SortByZscores())),
    ):  # fmt: skip
        timed(label, method, data, 5 * options.rows)
    data, names = data_of(options.staged, 2)
    for label, method in (
        ("two_stage, z-scores then mdav k = 10", tacit.TwoStage(second=tacit.Mdav(k=10))),
        ("two_stage, z-scores then rank_swap", tacit.TwoStage(second=tacit.RankSwap(percent=1))),
        ("deconvolution_noise, 40 cells", tacit.DeconvolutionNoise(cells=40)),
    ):
        timed(label, method, data, 2 * options.staged)


if __name__ == "__main__":
    main()
