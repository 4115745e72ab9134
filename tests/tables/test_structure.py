"""Block-angular structure: published shapes, exact optima, and the normal equations."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse

from studies.instances import instance
from studies.normal_equations import normal_eq_solver
from studies.structure_advice import advise
from tacit.data.cells.relations import components
from tacit.errors import Approximate, InputError, InvalidParameter
from tacit.tables import read_jj, write_jj
from tacit.tables.structure.detection import (
    detect_structure,
    independent_rows,
    matrix_of,
    statistics,
)
from tacit.tables.structure.hypergraph import gains, net_cut

FOLDER = Path(__file__).parents[1] / "fixtures/psd02-structure-detection"


def load(name):
    return json.loads((FOLDER / name).read_text())


#: The largest takes a quarter of a minute.
INSTANCES = [
    pytest.param(i, id=i["name"], marks=[pytest.mark.slow] * (i["name"] == "hier13x13x13a"))
    for i in load("instances.json")["instances"]
]
CASES = load("exact_bipartition.json")["cases"]


@pytest.mark.parametrize("given", INSTANCES)
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


@st.composite
def matrices(draw):
    """Draw a random sparse matrix, empty rows and columns and several components among them."""
    m, n = draw(st.integers(2, 40)), draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    entries = rng.random((m, n)) < draw(st.sampled_from([0.03, 0.08, 0.2, 0.5]))
    entries[rng.integers(m), rng.integers(n)] = True
    return np.where(entries, rng.choice([-1.0, 1.0, 2.0], (m, n)), 0.0)


@drawn(
    matrix=matrices(),
    form=st.sampled_from(["dual", "primal"]),
    k=st.sampled_from([2, 3, 4]),
    eps=st.sampled_from([0.0, 0.1, 0.5]),
)
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::tacit.errors.Approximate")
def test_blocks_and_border_hold_everything_once(matrix, form, k, eps):
    vertices = matrix.shape[0 if form == "dual" else 1]
    k = min(k, vertices)
    found = detect_structure(matrix, form, k, eps, seed=1)
    assert np.array_equal(np.sort(found.row_order), np.arange(matrix.shape[0]))
    assert np.array_equal(np.sort(found.column_order), np.arange(matrix.shape[1]))
    again = found.permuted().toarray()
    assert np.array_equal(again, matrix[found.row_order][:, found.column_order])
    outside = again.copy()
    row, column = found.row_bounds, found.column_bounds
    for b in range(k):
        outside[row[b] : row[b + 1], column[b] : column[b + 1]] = 0
    border = (slice(None), slice(column[k], None)) if form == "dual" else slice(row[k], None)
    outside[border] = 0
    assert not outside.any()
    assert found.l == np.count_nonzero(cut_of(matrix, found))
    held = np.array([s[form == "primal"] for s in found.sizes])
    assert held.min() >= 1
    assert held.max() <= np.ceil((1 + eps) * vertices / k - 1e-9)


def cut_of(matrix, found):
    """Return, from the definition, which columns (rows) have entries in more than one block."""
    pattern = matrix if found.form == "dual" else matrix.T
    block = found.row_block if found.form == "dual" else found.column_block
    return [len(set(block[np.flatnonzero(line)])) > 1 for line in pattern.T]


@pytest.mark.parametrize("form", ["dual", "primal"])
def test_components_are_not_cut_when_they_fit(form):
    rng = np.random.default_rng(4)
    parts = [np.ones((5, 7)) * (rng.random((5, 7)) < 0.6) for _ in range(8)]
    for part in parts:
        part[0], part[:, 0] = 1, 1
    matrix = sparse.csr_array(sparse.block_diag(parts))
    matrix = sparse.csr_array(matrix[rng.permutation(40)][:, rng.permutation(56)])
    _, label = components(matrix)
    found = detect_structure(matrix, form, 4, seed=1)
    assert found.l == 0
    for part in range(8):
        assert len(set(found.column_block[label == part])) == 1


@pytest.mark.parametrize("name", ["targus", "hier13x7x7d"])
def test_advice_has_reasons(name):
    advice = advise(instance(name))
    assert advice.use == "none"
    assert set(advice.structures) == {"dual", "primal"}
    assert min(advice.work["dual"], advice.work["primal"]) > 0.5 * advice.work["whole"]
    assert "does not pay" in advice.reasons[-1]
    assert str(advice).startswith("use: none")


def test_advice_sees_components():
    advice = advise(np.kron(np.eye(3), np.ones((2, 3))))
    assert advice.use == "components"
    assert "3 components" in advice.reasons[-1]


def test_advice_does_not_fall_for_a_thin_border():
    # One order of elimination is open to both: the whole factorisation leaves the linking row for last.
    rng = np.random.default_rng(1)
    blocks = [(rng.random((60, 90)) < 0.5).astype(float) for _ in range(4)]
    matrix = np.vstack([sparse.block_diag(blocks).toarray(), np.ones((1, 360))])
    advice = advise(matrix, k=4)
    assert advice.structures["primal"].l == 1
    assert advice.use == "none"
    assert advice.work["primal"] == pytest.approx(advice.work["whole"], rel=0.2)


def test_pictures_say_what_they_show():
    found = detect_structure(instance("targus"), seed=1)
    chart = found.plot()
    assert chart.alt.startswith("Picture of the entries of a matrix of 63 rows and 162 columns")
    assert str(found) in chart.alt
    assert "<svg" in chart.svg()
    assert "original order" in found.plot_original().alt


def test_jj_round_trip(tmp_path):
    table = instance("hier13x7x7d")
    write_jj(table, tmp_path / "hier.jj")
    again = read_jj(tmp_path / "hier.jj")
    assert abs(again.equations - table.equations).nnz == 0
    assert np.array_equal(again.value, table.value)
    assert np.array_equal(again.primary, table.primary)
    np.testing.assert_allclose(again.lower_level, table.lower_level, rtol=1e-12)
    assert detect_structure(again, seed=1).l <= 1.15 * 187
