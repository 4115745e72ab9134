"""Expected and corrected tables, their variances, risk, and losses."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InvalidParameter
from tacit.records.pram import (
    backward,
    cell_risk,
    coefficients_of_variation,
    corrected,
    corrected_covariance,
    corrected_variance,
    equal,
    expected,
    expected_information_loss,
    explicit,
    fitted,
    identity,
    information_loss,
    parse,
    raked,
    regression_differences,
    relative_differences,
    released_covariance,
    true_variance,
)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "psd17-pram-risk-utility"
WORKED = json.loads((FIXTURES / "worked_examples.json").read_text())
THREE, TWO_WAY = WORKED["three_categories"], WORKED["two_way"]
GENDER = json.loads((FIXTURES / "gender_il_cv.json").read_text())


def test_the_introductory_example():
    case = WORKED["gender_intro"]
    p = explicit(case["P"])
    assert expected(case["T"], [p]) == pytest.approx(case["expected_TX"])
    flows = np.array(case["T"])[:, None] * p.dense()
    assert flows[1, 0] == pytest.approx(case["originally_female_among_males"])
    assert flows[0, 1] == pytest.approx(case["originally_male_among_females"])


def test_three_categories_with_every_measure():
    t, p, want = np.array(THREE["T"]), explicit(THREE["P"]), THREE["expected"]
    tolerance = THREE["tolerance"]
    risk = cell_risk(t, [p], THREE["tau"])
    assert risk.expected == pytest.approx(want["E_TX"], abs=tolerance)
    assert risk.risk == pytest.approx(want["R_pram"], abs=tolerance)
    assert risk.unsafe.tolist() == want["unsafe"]
    assert risk.rare.tolist() == [r < 1 for r in want["threshold_ratio"]]
    assert backward(p, t) == pytest.approx(np.array(want["backward"]), abs=tolerance)
    assert released_covariance(t, p) == pytest.approx(np.array(want["var_TX"]), abs=tolerance)
    assert corrected_covariance(t, p) == pytest.approx(np.array(want["var_That"]), abs=tolerance)
    assert true_variance(t, [p]) == pytest.approx(np.diag(want["var_That"]), abs=tolerance)
    cv = coefficients_of_variation(t, true_variance(t, [p]))
    assert cv == pytest.approx((want["CV_median"], want["CV_max"]), abs=tolerance)


def test_three_categories_realised():
    t, p, want = np.array(THREE["T"]), explicit(THREE["P"]), THREE["expected"]["with_realised"]
    tolerance = THREE["tolerance"]
    joint = np.array(want["joint"])
    ebil = expected_information_loss(t, want["TX"], [p])
    assert ebil == pytest.approx(want["EBIL_log10"], abs=tolerance)
    k, m = np.nonzero(joint)
    il = information_loss([k], [m], t, [p], counts=joint[k, m])
    assert il == pytest.approx(want["IL_log10"], abs=tolerance)
    estimate = corrected(want["TX"], [p])
    assert estimate == pytest.approx(want["That"], abs=tolerance)
    found = relative_differences([t], [estimate])
    assert (found.median, found.largest, found.infinite) == pytest.approx(
        (want["RD1"], want["mRD1"], 0), abs=tolerance
    )
    beta = corrected(want["income_sum_perturbed"], [p]) / estimate
    assert beta == pytest.approx(want["beta_tilde"], abs=tolerance)
    slopes = regression_differences(want["beta"], beta)
    assert slopes == pytest.approx((want["LRD"], want["mLRD"]), abs=tolerance)


def test_other_bases_of_the_logarithm():
    t, p = np.array(THREE["T"]), explicit(THREE["P"])
    ten = expected_information_loss(t, t, [p])
    assert expected_information_loss(t, t, [p], base=2) == pytest.approx(ten * np.log2(10))
    assert expected_information_loss(t, t, [p], base=np.e) == pytest.approx(ten * np.log(10))
    with pytest.raises(InvalidParameter, match="base"):
        expected_information_loss(t, t, [p], base=1)


def test_two_way_table_without_the_kronecker_product():
    t = np.array(TWO_WAY["T"])
    px, py, want = explicit(TWO_WAY["PX"]), explicit(TWO_WAY["PY"]), TWO_WAY["expected"]
    after = expected(t, [px, py])
    assert after == pytest.approx(np.array(want["E_TXY"]), abs=1e-12)
    assert corrected(after, [px, py]) == pytest.approx(np.array(want["recovered"]), abs=1e-9)
    assert cell_risk(t, [px, py], 50).risk == pytest.approx(np.array(want["R_pram_cells"]))
    both = np.kron(px.dense(), py.dense())
    assert after.ravel() == pytest.approx(both.T @ t.ravel())
    big = explicit(both)
    assert true_variance(t, [px, py]).ravel() == pytest.approx(true_variance(t.ravel(), [big]))
    assert corrected_variance(after, [px, py]).ravel() == pytest.approx(
        corrected_variance(after.ravel(), [big])
    )
    ebil = expected_information_loss(t, after, [px, py])
    assert ebil == pytest.approx(expected_information_loss(t.ravel(), after.ravel(), [big]))


@pytest.mark.parametrize("row", GENDER["rows"], ids=lambda r: r["matrix"])
def test_table_3_of_the_paper(row):
    t = np.array([GENDER["q"], 1 - GENDER["q"]]) * GENDER["n"]
    p = equal(2, row["p"])
    ebil = expected_information_loss(t, expected(t, [p]), [p])
    assert ebil == pytest.approx(row["expected_EBIL_log10"], abs=0.06)
    assert ebil == pytest.approx(row["published_IL"], rel=1.1e-3)
    cv, largest = coefficients_of_variation(t, true_variance(t, [p]))
    assert 100 * cv == pytest.approx(row["computed_CV"], abs=6e-5)
    assert 100 * largest == pytest.approx(row["computed_mCV"], abs=6e-5)
    assert 100 * largest == pytest.approx(row["published_mCV"], abs=5.1e-3)


@st.composite
def crossings(draw):
    """Return a table of two or three axes with a matrix for some of them."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 60), min_size=size, max_size=size))
    matrices = []
    for n in shape:
        stay = draw(st.floats(0.55, 0.95))
        use = draw(st.booleans()) and n > 1
        matrices.append(equal(n, stay) if use else None)
    return np.array(counts, dtype=float).reshape(shape), matrices


@given(crossings(), st.floats(1, 80))
@settings(max_examples=80, deadline=None)
def test_corrections_undo_expectations_and_risk_never_rises(case, tau):
    table, matrices = case
    after = expected(table, matrices)
    assert after.sum() == pytest.approx(table.sum())
    assert corrected(after, matrices) == pytest.approx(table, abs=1e-7)
    assert corrected_variance(after, matrices) == pytest.approx(
        true_variance(table, matrices), abs=1e-6
    )
    risk = cell_risk(table, matrices, tau)
    assert risk.unsafe.sum() <= risk.rare.sum()
    assert not (risk.unsafe & (table >= tau)).any()
    assert not (risk.unsafe & (table == 0)).any()
    assert ((risk.risk >= 0) & (risk.risk <= 1 + 1e-12)).all()
    same = cell_risk(table, [None] * table.ndim, tau)
    assert (same.unsafe == same.rare).all()
    assert expected_information_loss(table, after, matrices) >= 0


@given(crossings())
@settings(max_examples=40, deadline=None)
def test_entropy_loss_against_its_definition(case):
    table, matrices = case
    dense = np.ones((1, 1))
    for n, m in zip(table.shape, matrices, strict=True):
        dense = np.kron(dense, np.eye(n) if m is None else m.dense())
    t, x = table.ravel(), expected(table, matrices).ravel()
    if t.sum() == 0:
        return
    want = 0.0
    for m in range(len(t)):
        chances = t * dense[:, m] / max(x[m], 1e-300)
        chances = chances[chances > 0]
        want -= x[m] * float(chances @ np.log10(chances))
    found = expected_information_loss(table, x.reshape(table.shape), matrices)
    assert found == pytest.approx(want, abs=1e-7)


@given(crossings(), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_likelihood_estimates_are_not_negative_and_keep_what_was_not_randomised(case, seed):
    table, matrices = case
    noise = np.random.default_rng(seed).integers(0, 20, table.shape)
    found = fitted(noise, matrices)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(noise.sum())
    for axis, matrix in enumerate(matrices):
        if matrix is None:
            rest = tuple(i for i in range(table.ndim) if i != axis)
            assert found.sum(axis=rest) == pytest.approx(noise.sum(axis=rest), abs=1e-6)


def test_the_likelihood_estimate_is_a_maximum():
    p, x = equal(3, 0.6), np.array([50.0, 2.0, 40.0])
    found = fitted(x, [p])
    assert corrected(x, [p]).min() < 0

    def likelihood(t):
        return float(x @ np.log(expected(t / t.sum(), [p])))

    rng = np.random.default_rng(1)
    others = [likelihood(found + rng.random(3)) for _ in range(200)]
    assert likelihood(found) >= max(others) - 1e-9
    assert found[1] == pytest.approx(0, abs=1e-3)


def test_raking_reaches_the_margins():
    table = np.array([[4.0, 1.0], [2.0, 3.0]])
    found = raked(table, [np.array([3.0, 7.0]), np.array([6.0, 4.0])])
    assert found.sum(axis=1) == pytest.approx([3, 7])
    assert found.sum(axis=0) == pytest.approx([6, 4])


def test_relative_differences_count_empty_cells_as_the_paper_does():
    found = relative_differences([[10, 0, 0, 20]], [[12, 0, 3, 20]])
    assert (found.median, found.largest, found.infinite) == (
        pytest.approx(0.1),
        pytest.approx(0.2),
        1,
    )
    nothing = relative_differences([], [])
    assert (nothing.median, nothing.largest, nothing.infinite) == (0, 0, 0)


def test_bad_shapes_and_thresholds_are_refused():
    with pytest.raises(InvalidParameter, match="one matrix per axis"):
        expected(np.ones((2, 2)), [None])
    with pytest.raises(InvalidParameter, match="axis 0 of the table has 2 categories"):
        expected(np.ones(2), [equal(3, 0.5)])
    with pytest.raises(InvalidParameter, match="tau"):
        cell_risk(np.ones(2), [None], 0)
    with pytest.raises(InvalidParameter, match="does not allow"):
        information_loss([np.array([0])], [np.array([1])], [1, 1], [identity(2)])


def test_estimates_over_many_draws_have_the_right_mean_and_covariance():
    """2000 releases: mean within 4 standard errors, covariance within 5 %."""
    rng = np.random.default_rng(7)
    p = parse("3F(0.6)", [60, 25, 40])
    t = np.array([60, 25, 40])
    codes = np.repeat(np.arange(3), t)
    runs = np.array(
        [corrected(np.bincount(p.draw(codes, rng), minlength=3), [p]) for _ in range(2000)]
    )
    want = corrected_covariance(t, p)
    assert (np.abs(runs.mean(axis=0) - t) < 4 * np.sqrt(np.diag(want) / 2000)).all()
    assert np.cov(runs.T) == pytest.approx(want, rel=0.05, abs=0.05 * want.max())


def test_the_estimated_variance_is_unbiased():
    rng = np.random.default_rng(8)
    p, q = parse("3B(0.6;2)"), equal(2, 0.8)
    table = np.array([[50, 10], [5, 20], [30, 8]])
    first = np.repeat(np.repeat(np.arange(3), 2), table.ravel())
    second = np.repeat(np.tile(np.arange(2), 3), table.ravel())
    total = np.zeros((3, 2))
    for _ in range(600):
        drawn = np.zeros((3, 2))
        np.add.at(drawn, (p.draw(first, rng), q.draw(second, rng)), 1.0)
        total += corrected_variance(drawn, [p, q]) / 600
    assert total == pytest.approx(true_variance(table, [p, q]), rel=0.06)
