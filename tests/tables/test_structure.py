"""Block-angular structure: published shapes, exact optima, and the normal equations."""

import json
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import Approximate, InputError, InvalidParameter
from tacit.tables._hypergraph import gains, net_cut
from tacit.tables.instances import instance
from tacit.tables.structure import (
    detect_structure,
    independent_rows,
    matrix_of,
    normal_eq_solver,
    statistics,
)

FOLDER = Path(__file__).parents[1] / "fixtures/psd02-structure-detection"


def load(name):
    return json.loads((FOLDER / name).read_text())


INSTANCES = load("instances.json")["instances"]
CASES = load("exact_bipartition.json")["cases"]


@pytest.mark.parametrize("given", INSTANCES, ids=lambda i: i["name"])
def test_instances(given):
    table = instance(given["name"])
    facts = statistics(table)
    assert [facts[x] for x in ("n", "m", "nnz", "rank")] == [
        given[x] for x in ("n", "m", "nnz", "rank")
    ]
    for form, key in (("dual", "dual_linking_columns_k2"), ("primal", "primal_linking_rows_k2")):
        found = detect_structure(table.equations, form, seed=3)
        assert found.l <= 1.15 * given["achieved"][key]
        assert found.stray() == 0
        size = given["m" if form == "dual" else "n"]
        assert max(s[form == "primal"] for s in found.sizes) <= np.ceil(1.1 * size / 2)
        assert found.permuted().nnz == given["nnz"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
@pytest.mark.parametrize("form", ["dual", "primal"])
def test_exact(case, form):
    if f"{form}_min_netcut" not in case:
        pytest.skip("no optimum given")
    best = case[f"{form}_min_netcut"]
    assert detect_structure(case["A"], form, method="exact").l == best
    assert detect_structure(case["A"], form, seed=1).l <= best + 1


@pytest.mark.parametrize("form", ["dual", "primal"])
@pytest.mark.parametrize("method", ["schur", "pcg", "direct"])
def test_normal_equations(form, method):
    given = load("schur_small.json")
    for k in (2, 3):
        found = detect_structure(given["A"], form, k, seed=1)
        dy = normal_eq_solver(given["A"], given["theta"], found, method)(given["g"])
        assert np.abs(dy - given["dy"]).max() < 1e-9


def test_gain_is_the_fall_of_the_cut():
    matrix = matrix_of(instance("targus"))
    side = np.random.default_rng(1).integers(0, 2, matrix.shape[0])
    for v, gain in enumerate(gains(matrix, side)):
        moved = side.copy()
        moved[v] = 1 - moved[v]
        assert net_cut(matrix, side) - net_cut(matrix, moved) == gain


def test_independent_rows_have_full_rank():
    table = instance("hier13x7x7d")
    rows = independent_rows(table.dimensions)
    assert np.linalg.matrix_rank(table.equations[rows].toarray()) == len(rows) == 421


def test_components_empty_rows_and_splits():
    matrix = np.kron(np.eye(4), np.ones((2, 3)))
    matrix = np.pad(matrix, ((0, 1), (0, 1)))
    found = detect_structure(matrix, k=4, seed=1)
    assert found.l == 0
    assert found.stray() == 0
    planned = detect_structure(instance("targus"), splits=[0, 0, 2], seed=1)
    assert planned.k == 4
    assert planned.stray() == 0


def test_refusals():
    with pytest.raises(InputError):
        detect_structure(np.zeros((0, 3)))
    with pytest.raises(InputError):
        detect_structure([[np.nan, 1.0]])
    with pytest.raises(InputError):
        detect_structure(np.ones(3))
    with pytest.raises(InvalidParameter, match="k must be at most"):
        detect_structure(np.ones((3, 5)), k=4)
    with pytest.warns(Approximate, match="single relation"):
        assert detect_structure(np.ones((1, 5))).k == 1
