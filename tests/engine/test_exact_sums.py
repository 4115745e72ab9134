"""Sums on an engine: the same bits in every order of records, with any number of threads, and right."""

import math

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.engine.exact_sums import sum_columns


def sums_of(values, groups, engine="duckdb"):
    data = tacit.read({"g": groups, "x": values}, engine=engine)
    table = sum_columns(data.frame, ["g"], {"s": "x"}).collect("pyarrow").to_native()
    return dict(zip(table["g"].to_pylist(), table["s"].to_pylist(), strict=True))


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e305])
def test_sums_do_not_depend_on_the_order_of_records(scale, engine):
    rng = np.random.default_rng(4)
    x = rng.standard_normal(3000) * np.exp(rng.uniform(-15, 0, 3000)) * scale
    g = rng.integers(0, 5, 3000)
    first = sums_of(x.tolist(), g.tolist(), engine)
    for k in range(5):
        assert first[k] == pytest.approx(math.fsum(x[g == k]), rel=1e-14)
    order = rng.permutation(3000)
    assert sums_of(x[order].tolist(), g[order].tolist(), engine) == first
    assert sums_of(x.tolist(), g.tolist()) == first


def test_sums_know_infinite_numbers_and_missing_ones():
    found = sums_of([1.5, math.inf, 0.1, None, None, -0.25], [0, 1, 2, 2, 3, 1])
    assert found[0] == 1.5
    assert found[1] == math.inf
    assert found[2] == 0.1
    assert not found[3]


def test_weights_of_cells_are_the_same_with_one_thread_and_four():
    rng = np.random.default_rng(6)
    n = 300_000
    table = pa.table({"g": rng.integers(0, 3, n), "w": rng.uniform(0, 100, n) / 3})
    told = []
    for threads in (1, 4):
        data = tacit.read(table, engine="duckdb")
        data.engine._connection.execute(f"SET threads = {threads}")
        told.append(data.cells(["g"], weight="w").weight.tolist())
    assert told[0] == told[1]
    g, w = table["g"].to_numpy(), table["w"].to_numpy()
    assert told[0] == pytest.approx([math.fsum(w[g == k]) for k in range(3)], rel=1e-15)
