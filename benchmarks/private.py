"""Private computing: retrieval, union and joint fits, each against a baseline of the same run.

Times are CPU seconds. Retrieval: bytes of table per second for one answer, compiled and by NumPy alone, against a plain matrix
product of 32-bit words; the hint against the same product in float64. Union: records of both files per second in all nine steps, both sides
together. Fits: ten owners together, against Newton's method on the pooled file.

PYTHONPATH=src python benchmarks/private.py [--megabytes 64] [--records 1000] [--rows 100000] [--columns 50] [--owners 10]
"""

import argparse
import secrets
import time
import warnings

import numpy as np
from scipy.special import expit

from tacit.private import regression, union
from tacit.private.retrieval import simple


def clocked(work, repeat=1):
    """Return what a function returns, and the CPU seconds of its fastest run."""
    best = np.inf
    for _ in range(repeat):
        begun = time.process_time()
        found = work()
        best = min(best, time.process_time() - begun)
    return found, best


def retrieval(megabytes):
    """Print the rate of an answer and of the hint."""
    side = int((megabytes * 2**20) ** 0.5)
    size = side * side
    matrix = np.frombuffer(secrets.token_bytes(size), np.uint8).reshape(side, side)
    query = np.frombuffer(secrets.token_bytes(4 * side), np.uint32)
    words = matrix.astype(np.uint32)
    _, base = clocked(lambda: words @ query, 3)
    plain, slow = clocked(
        lambda: np.concatenate(
            [simple.multiply_plain(matrix[i : i + 256], query) for i in range(0, side, 256)]
        ),
        3,
    )
    plain = plain - np.uint32(128) * query.sum(dtype=np.uint32, keepdims=True)
    simple.multiply(matrix, query)
    found, fast = clocked(lambda: simple.multiply(matrix, query), 5)
    if (found != plain).any():
        raise AssertionError("the two answers differ")
    for name, spent in (("words in NumPy", base), ("plain", slow), ("compiled", fast)):
        print(
            f"answer, {name:15} {size / spent / 1e9:6.2f} GB/s  {base / spent:5.1f} times the baseline",
            flush=True,
        )
    public = simple.expand_matrix(bytes(32), side)
    part = matrix[:256]
    _, spent = clocked(lambda: simple.make_hint(part, public))
    exact, base = clocked(lambda: (part.astype(np.uint32) @ public[:, :64]).astype(np.uint32))
    del exact
    rate, plain_rate = part.size / spent / 1e6, part.size / (base * simple.DIMENSION / 64) / 1e6
    print(
        f"hint   {rate:6.2f} MB/s  {rate / plain_rate:5.1f} times 32-bit words in NumPy ({plain_rate:.2f} MB/s)",
        flush=True,
    )


def unions(n):
    """Print the rate of a union in each group."""
    rates = {}
    for group, size in (("ristretto255", n), ("modp2048", max(20, n // 20))):
        files = [
            [{"id": f"p{i}", "x": f"{i:08d}"} for i in range(first, first + size)]
            for first in (0, size // 2)
        ]
        _, spent = clocked(
            lambda files=files, group=group: union.simulate(
                *files, identifying=["id"], data=["x"], group=group
            )
        )
        rates[group] = 2 * size / spent
        print(
            f"union, {group:13} {rates[group]:8.0f} records/s ({2 * size:,} records in {spent:.1f} s)",
            flush=True,
        )
    print(f"union, ristretto255 against modp2048: {rates['ristretto255'] / rates['modp2048']:.1f}")


def pooled(x, y):
    """Return the coefficients of the pooled file."""
    beta = np.zeros(x.shape[1])
    for _ in range(25):
        chance = expit(x @ beta)
        step = np.linalg.solve((x * (chance * (1 - chance))[:, None]).T @ x, x.T @ (y - chance))
        beta = beta + step
        if np.abs(step).max() < 1e-10:
            break
    return beta


def fits(owners, rows, columns):
    """Print the time of a joint fit and of the pooled one."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(owners * rows, columns))
    y = (rng.uniform(size=len(x)) < expit(x @ rng.normal(size=columns) * 0.2)).astype(float)
    files = []
    for i in range(owners):
        part = slice(i * rows, (i + 1) * rows)
        files.append({"y": y[part], **{f"x{j}": x[part, j] for j in range(columns)}})
    formula = "y ~ " + " + ".join(f"x{j}" for j in range(columns))
    fit, spent = clocked(lambda: regression.logistic(files, formula))
    beta, base = clocked(lambda: pooled(np.column_stack([np.ones(len(x)), x]), y))
    off = np.abs(np.array(list(fit.coefficients.values())) - beta).max()
    print(
        f"joint logistic, {owners} owners x {rows:,} x {columns}: {spent:.1f} s, pooled {base:.1f} s, ratio {spent / base:.2f}, "
        f"largest difference {off:.0e}, {fit.transcript.n_bytes / 1e6:.1f} MB sent",
        flush=True,
    )


def main():
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--owners", type=int, default=10)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=50)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    retrieval(asked.megabytes)
    unions(asked.records)
    fits(asked.owners, asked.rows, asked.columns)


if __name__ == "__main__":
    main()
