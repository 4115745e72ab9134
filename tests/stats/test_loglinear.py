"""Log-linear fits: closed forms and proportional fitting against each other and against a plain Newton fit."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.stats import loglinear
from tacit.stats.loglinear import Counts, fit, join_tree, minimum_error, reduce_margins


def sparse(table):
    """Return the occupied cells of a table."""
    codes = np.argwhere(table > 0)
    return Counts(codes, table.shape, table[table > 0].astype(float))


def newton(table, margins, offset=None, covariate=None):
    """Fit the same model as a Poisson regression on indicators."""
    cells = list(itertools.product(*(range(s) for s in table.shape)))
    columns = [np.ones(len(cells))]
    for margin in margins:
        columns += [
            np.array([tuple(c[a] for a in margin) == levels for c in cells], dtype=float)
            for levels in itertools.product(*(range(table.shape[a]) for a in margin))
        ]
    x = np.stack(columns, axis=1)
    if covariate is not None:
        x = np.hstack([x, covariate.reshape(-1, 1)])
    shift = np.zeros(len(cells)) if offset is None else np.log(offset.ravel())
    y = table.ravel().astype(float)
    beta = np.zeros(x.shape[1])
    beta[0] = np.log(y.mean())
    for _ in range(200):
        mu = np.exp(x @ beta + shift)
        beta += np.linalg.pinv(x.T @ (mu[:, None] * x)) @ (x.T @ (y - mu))
    return mu.reshape(table.shape)


TABLE = np.random.default_rng(1).poisson(2.0, (3, 2, 4)) + 1


@pytest.mark.parametrize(
    "margins", [((0,), (1,), (2,)), ((0, 1), (2,)), ((0, 1), (1, 2)), ((0, 1), (1, 2), (0, 2))]
)
def test_fits_agree_with_a_poisson_regression(margins):
    counts = sparse(TABLE)
    expected = newton(TABLE, margins)
    found = fit(counts, margins)
    whole = fit(counts, margins, whole=True)
    assert found.mu == pytest.approx(expected[TABLE > 0], rel=1e-6)
    assert whole.table == pytest.approx(expected, rel=1e-6)
    assert whole.mu == pytest.approx(found.mu, rel=1e-6)


def test_offset_and_covariate_agree_with_a_poisson_regression():
    counts = sparse(TABLE)
    factor = np.random.default_rng(2).uniform(0.1, 0.9, TABLE.shape)
    margins = ((0, 1), (2,))
    found = fit(counts, margins, offset=(factor.ravel(), 1.0))
    assert found.mu == pytest.approx(newton(TABLE, margins, offset=factor).ravel(), rel=1e-6)
    number = factor / factor.max()
    found = loglinear.fit_with_covariate(counts, margins, factor.ravel())
    assert found.mu == pytest.approx(newton(TABLE, margins, covariate=number).ravel(), rel=1e-5)


def test_which_models_are_decomposable():
    assert join_tree(((0, 1), (1, 2), (2, 3))) is not None
    assert join_tree(((0,), (1,), (2,))) is not None
    assert join_tree(((0, 1), (1, 2), (0, 2))) is None
    assert join_tree(((0, 1), (1, 2), (2, 3), (0, 3))) is None
    assert join_tree(((0, 1, 2), (1, 2, 3), (3, 4), (5,))) is not None
    assert reduce_margins([(1, 0), (0,), (0, 1)], 3) == ((2,), (0, 1))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6), st.lists(st.sets(st.integers(0, 3), min_size=1, max_size=3), max_size=4)
)
def test_margins_are_kept(seed, chosen):
    table = np.random.default_rng(seed).poisson(0.8, (2, 3, 2, 3))
    if not table.sum():
        return
    keep = [np.flatnonzero(table.sum(axis=tuple(b for b in range(4) if b != a))) for a in range(4)]
    table = table[np.ix_(*keep)]
    counts = sparse(table)
    made = fit(counts, [tuple(m) for m in chosen], whole=True)
    for margin in made.margins:
        others = tuple(a for a in range(4) if a not in margin)
        assert made.table.sum(axis=others) == pytest.approx(
            table.sum(axis=others), abs=1e-5 * table.sum()
        )
    sums = fit(counts, [tuple(m) for m in chosen])
    assert sums.mu == pytest.approx(made.mu, rel=1e-4, abs=1e-6)


def test_minimum_error_from_its_definition_and_in_the_mean():
    rng = np.random.default_rng(4)
    pi = 0.2
    shape = (6, 5, 4)
    effects = [rng.gamma(2.0, 1.0, s) for s in shape]
    rate = effects[0][:, None, None] * effects[1][:, None] * effects[2]
    rate *= 150 / rate.sum()
    ratios = []
    for _ in range(60):
        table = rng.poisson(rate)
        table[0] += 1
        table[:, 0] += 1
        table[:, :, 0] += 1
        counts = sparse(table)
        made = fit(counts, loglinear.main_effects(3), whole=True)
        bias, ratio = minimum_error(made, counts, pi)
        mu, f = made.table, table
        lam = mu / pi
        terms = (f - mu) + (1 - pi) * ((f - mu) ** 2 - f) / (2 * pi)
        assert bias == pytest.approx((lam * np.exp(-lam) * (1 - pi) * terms).sum())
        ratios.append(ratio)
    # The model is nearly true, so that the ratio is of the order of a standard normal number.
    assert np.std(ratios) < 2.5


def test_forward_search_finds_the_interaction():
    rng = np.random.default_rng(8)
    rate = np.full((6, 6, 5), 0.15)
    rate[np.arange(6), np.arange(6)] = 4.0
    counts = sparse(rng.poisson(rate))
    made, path = loglinear.search_forward(counts, 0.3)
    assert path[1].added == (0, 1)
    assert abs(path[-1].ratio) <= abs(path[0].ratio)
    assert [abs(a.ratio) > abs(b.ratio) for a, b in itertools.pairwise(path)] == [True] * (
        len(path) - 1
    )
    assert any(set(m) >= {0, 1} for m in made.margins)


def test_a_grid_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(loglinear, "GRID", 10)
    counts = sparse(TABLE)
    with pytest.raises(loglinear.GridTooLarge):
        fit(counts, loglinear.two_way(3))
    assert len(fit(counts, ((0, 1), (1, 2))).mu) == 24
