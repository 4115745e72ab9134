"""Every measure against its definition, written as loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.stats.small_cells import correct_matches, sample_risk
from tacit.tables.compare import formulas
from tacit.tables.compare.formulas import binomial_test, sign_test, signed_rank_test

shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))


@st.composite
def two_tables(draw, top=9):
    r, c = draw(shapes)
    cell = st.integers(0, top)
    o, p = (
        np.array(
            draw(st.lists(st.lists(cell, min_size=c, max_size=c), min_size=r, max_size=r)), float
        )
        for _ in range(2)
    )
    return o, p


def regression_r2(x, y):
    """R2 of the linear regression of y on the columns of x, with constant."""
    design = np.column_stack([np.ones(len(y)), x])
    total = float(((y - y.mean()) ** 2).sum())
    if total == 0:
        return None
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    return 1.0 - float(((y - design @ coefficients) ** 2).sum()) / total


def anova_r2(values, groups):
    """SSB/SST of a continuous variable over groups; None when it is constant."""
    n = np.bincount(groups)
    means = np.bincount(groups, values) / np.maximum(n, 1)
    mean = values.mean()
    total = float(((values - mean) ** 2).sum())
    return float((n * (means - mean) ** 2)[n > 0].sum() / total) if total > 0 else None


quick = settings(max_examples=60, deadline=None)


@quick
@given(two_tables())
def test_distances(tables):
    o, p = tables
    r, c = o.shape
    hd = rad = aad = 0.0
    from_zero = skipped = 0
    for k in range(r):
        inner = relative = absolute = 0.0
        for j in range(c):
            inner += 0.5 * (math.sqrt(p[k, j]) - math.sqrt(o[k, j])) ** 2
            absolute += abs(p[k, j] - o[k, j])
            if o[k, j]:
                relative += abs(p[k, j] - o[k, j]) / o[k, j]
            else:
                skipped += 1
                from_zero += p[k, j] > 0
        hd += math.sqrt(inner) / r
        rad += relative / r
        aad += absolute / c / r
    assert formulas.hellinger(o, p) == pytest.approx(hd)
    assert formulas.average_absolute(o, p) == pytest.approx(aad)
    ours = formulas.relative_absolute(o, p)
    assert (ours.value, ours.skipped, ours.from_zero) == (pytest.approx(rad), skipped, from_zero)
    half = sum(abs(p[i] - o[i]) / (o[i] + 0.5) for i in np.ndindex(o.shape)) / r
    assert formulas.relative_absolute(o, p, "add_half").value == pytest.approx(half)
    one = sum(abs(p[i] - o[i]) / (o[i] or 1) for i in np.ndindex(o.shape)) / r
    assert formulas.relative_absolute(o, p, "as_one").value == pytest.approx(one)


@quick
@given(two_tables())
def test_totals(tables):
    before, after = (t.sum(axis=1) for t in tables)
    used = [(b, a) for b, a in zip(before, after, strict=True) if b > 0]
    ours = formulas.totals(before, after)
    assert ours.rat_sum == pytest.approx(sum(abs(a - b) / b for b, a in used))
    assert ours.skipped == len(before) - len(used)
    assert ours.at == pytest.approx(
        sum(abs(a - b) for b, a in zip(before, after, strict=True)) / len(before)
    )
    if used:
        assert ours.rat_mean == pytest.approx(ours.rat_sum / len(used))


@quick
@given(two_tables())
def test_variance_association_and_entropy(tables):
    o, _ = tables
    r, c = o.shape
    if c > 1:
        loops = sum(sum((x - row.sum() / c) ** 2 for x in row) / (c - 1) for row in o) / r
        assert formulas.average_variance(o) == pytest.approx(loops)
    else:
        assert formulas.average_variance(o) is None
    n = o.sum()
    chi2 = sum(
        (o[k, j] - e) ** 2 / e
        for k in range(r)
        for j in range(c)
        if n and (e := o[k].sum() * o[:, j].sum() / n)
    )
    if n:
        assert formulas.pearson(o) == pytest.approx(chi2, abs=1e-9)
        least = min((o.sum(axis=1) > 0).sum(), (o.sum(axis=0) > 0).sum()) - 1
        v = formulas.cramers_v(o)
        assert v is None if least < 1 else v == pytest.approx(math.sqrt(chi2 / n / least), abs=1e-9)
    else:
        assert formulas.pearson(o) is None
    shares = [x / row.sum() for row in o if row.sum() for x in row if x]
    assert formulas.entropy(o).value == pytest.approx(
        sum(q * math.log(q) for q in shares), abs=1e-9
    )
    assert formulas.entropy(o).skipped == sum(not row.sum() for row in o)


def naive_groups(values, order_key, n_groups):
    order = sorted(range(len(values)), key=order_key)
    return {cell: rank * n_groups // len(values) for rank, cell in enumerate(order)}, order


@quick
@given(two_tables(top=4), st.sampled_from([2, 5, 10, 20]))
def test_rank_changes(tables, n_groups):
    o, p = (t.ravel() for t in tables)
    before, order = naive_groups(o, lambda i: (o[i], i), n_groups)
    rank = {cell: r for r, cell in enumerate(order)}
    after, _ = naive_groups(p, lambda i: (p[i], rank[i]), n_groups)
    share = 100 * sum(before[i] != after[i] for i in range(len(o))) / len(o)
    assert formulas.all_cells_change(*tables, n_groups) == pytest.approx(share)
    assert formulas.all_cells_change(tables[0], tables[0], n_groups) == 0
    columns = formulas.column_changes(*tables, n_groups)
    for j in range(tables[0].shape[1]):
        assert columns[j] == formulas.rank_changes(tables[0][:, j], tables[1][:, j], n_groups)
    # Large or broken numbers take another path.
    wide = formulas.all_cells_change(tables[0] * 1e5 + 0.5, tables[1] * 1e5 + 0.5, n_groups)
    assert wide == pytest.approx(share)


@quick
@given(two_tables())
def test_spearman_and_midranks(tables):
    o, p = tables
    assert formulas.midranks(o.ravel())[0].tolist() == stats.rankdata(o).tolist()
    assert formulas.midranks(o.ravel() - 0.5)[0].tolist() == stats.rankdata(o).tolist()
    ours = formulas.spearman(o, p)
    if len(np.unique(o)) > 1 and len(np.unique(p)) > 1:
        assert ours == pytest.approx(stats.spearmanr(o.ravel(), p.ravel()).statistic)
    else:
        assert ours is None


@quick
@given(two_tables())
def test_between_variance(tables):
    o, _ = tables
    target = np.arange(o.shape[1]) == 0
    base = np.arange(o.shape[1]) < 3
    rows = [(row[0], row[:3].sum()) for row in o if row[:3].sum()]
    ours = formulas.between_variance(o, target, base)
    assert ours.skipped == len(o) - len(rows)
    if len(rows) < 2:
        assert ours.variance is None
        return
    pooled = sum(h for h, _ in rows) / sum(n for _, n in rows)
    loops = sum((h / n - pooled) ** 2 for h, n in rows) / (len(rows) - 1)
    assert ours.variance == pytest.approx(loops)
    # The analysis of variance on single units: an indicator, grouped by row.
    values = np.concatenate([np.r_[np.ones(int(h)), np.zeros(int(n - h))] for h, n in rows])
    groups = np.concatenate([np.full(int(n), i) for i, (_, n) in enumerate(rows)])
    r2 = anova_r2(values, groups)
    assert (ours.r2 is None and r2 is None) or ours.r2 == pytest.approx(r2)


@quick
@given(two_tables(top=30))
def test_signed_rank_and_sign(tables):
    o, p = tables
    d = [float(x) for x in (o - p).ravel() if x]
    ours, sign = signed_rank_test(o, p), sign_test(o, p)
    assert ours.n == sign.n == len(d)
    assert sign.statistic == sum(x > 0 for x in d)
    if not d:
        assert ours.p_value is None
        assert sign.p_value is None
        return
    size = stats.rankdata([abs(x) for x in d])
    assert ours.statistic == pytest.approx(sum(s for s, x in zip(size, d, strict=True) if x > 0))
    exact = len({abs(x) for x in d}) == len(d)
    theirs = stats.wilcoxon(d, correction=False, method="exact" if exact else "asymptotic")
    assert ours.p_value == pytest.approx(theirs.pvalue)
    assert sign.p_value == pytest.approx(stats.binomtest(sign.statistic, sign.n).pvalue)


def test_binomial_test_by_base():
    o = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8]])
    two = binomial_test(o, np.array([[2.0, 2, 4, 4, 6, 6, 6, 8]]), 2)
    assert (two.n, two.up) == (4, {1: (4, 3, pytest.approx(0.625))})
    assert two.p_value == pytest.approx(0.625)
    five = binomial_test(o, np.array([[0.0, 0, 5, 5, 5, 5, 5, 10]]), 5)
    assert five.up[1][:2] == (2, 0)
    assert five.up[3][:2] == (2, 2)
    assert five.to_nearest == 7
    assert five.p_nearest is None
    assert 0 < five.p_value <= 1
    assert binomial_test(np.array([[3.0]]), np.array([[3.0]]), 3).p_value is None


def test_a_biased_rounding_is_found():
    o = np.full((10, 10), 4.0)
    assert binomial_test(o, np.full((10, 10), 6.0), 3).p_value < 1e-10


def test_sample_risk():
    f = np.array([[1, 1, 1, 2, 1]])
    F = np.array([[1, 4, 2, 2, 0]])
    found = sample_risk(f, F)
    assert (found.tau1, found.tau2, found.outside) == (1, 1.75, 1)


def test_correct_matches():
    original = np.array([0, 0, 1, 2])
    assert correct_matches(original, np.array([0, 0, 1, 2]), original) == (0.5 + 0.5 + 1 + 1) / 4
    assert correct_matches(original, np.array([1, 0, 0, 5]), original) == 0.5 / 4
    assert correct_matches(original, np.array([], int), np.array([], int)) == 0


def test_sizes():
    cells = np.array([[1.0, 3.0], [5.0, 7.0]])
    assert formulas.standard_error(cells) == pytest.approx(stats.sem(cells.ravel()))
    assert formulas.standard_error(np.array([[4.0]])) is None


def test_continuous_data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 2))
    y = x @ [1.0, -2.0] + rng.normal(size=50)
    assert formulas.correlation(x[:, 0], y) == pytest.approx(np.corrcoef(x[:, 0], y)[0, 1])
    one = regression_r2(x[:, :1], y)
    assert one == pytest.approx(np.corrcoef(x[:, 0], y)[0, 1] ** 2)
    assert regression_r2(x, y) > one
    assert regression_r2(x, np.ones(50)) is None
    assert formulas.correlation(np.ones(50), y) is None
    groups = rng.integers(3, size=50)
    groups[:3] = [0, 1, 2]
    f = stats.f_oneway(*(y[groups == g] for g in range(3))).statistic
    r2 = anova_r2(y, groups)
    assert f == pytest.approx(r2 / (1 - r2) * 47 / 2)
