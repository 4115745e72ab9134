"""Latin hypercube sampling: margins, rank correlations, sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tacit
from tacit.errors import InputError, InvalidParameter
from tacit.stats.ranks import spearman


def survey(n=500, seed=1):
    rng = np.random.default_rng(seed)
    a = rng.lognormal(size=n)
    return tacit.read(
        {
            "id": np.arange(n),
            "a": a,
            "b": a + rng.exponential(size=n),
            "kids": rng.poisson(np.minimum(a, 5)),
            "name": ["x"] * n,
        },
        identifiers=["id"],
    )


def matrix(data):
    return np.column_stack([data.column(c).to_numpy() for c in ("a", "b", "kids")]).astype(float)


def test_as_many_records_as_before():
    data = survey()
    synthetic = tacit.LatinHypercube().apply(data, seed=1)
    assert list(synthetic.columns) == ["a", "b", "kids"]
    assert len(synthetic) == len(data)
    gap = np.abs(spearman(matrix(synthetic)) - spearman(matrix(data))).max()
    noted = synthetic.history[-1].details["largest_gap_of_a_rank_correlation"]
    assert noted < 0.005
    # The sample's own ties may differ a little from the file's.
    assert gap == pytest.approx(noted, abs=1e-9)
    assert set(synthetic.column("a").to_pylist()) <= set(data.column("a").to_pylist())
    assert synthetic.column("kids").type == data.column("kids").type


@settings(deadline=None, max_examples=15)
@given(st.integers(10, 700), st.sampled_from(["empirical", "interpolated"]), st.integers(0, 99))
def test_each_margin_is_sampled_in_every_nth(n, margins, seed):
    data = survey(200, seed)
    synthetic = tacit.LatinHypercube(n=n, margins=margins, columns=["a", "b"]).apply(
        data, seed=seed
    )
    assert len(synthetic) == n
    old, new = data.column("a").to_numpy(), synthetic.column("a").to_numpy()
    # One value in each n-th: the distribution functions differ by at most one step of each.
    assert stats.ks_2samp(old, new).statistic <= 1 / n + 1 / 200 + 1e-9


def test_records_are_nobodys():
    data = survey(50)
    synthetic = tacit.LatinHypercube().apply(data, seed=1)
    with pytest.raises(InputError, match="needs more records"):
        tacit.ConditionalLinkage(columns=["a", "b"]).measure(synthetic, original=data)


def test_interpolated_whole_numbers_stay_whole():
    synthetic = tacit.LatinHypercube(margins="interpolated", n=99).apply(survey(), seed=1)
    values = synthetic.column("kids")
    assert str(values.type).startswith("int")
    assert max(values.to_pylist()) <= max(survey().column("kids").to_pylist())


def test_bad_input():
    data = tacit.read({"x": [1.0, 2, 3, None, 5], "y": [2.0, 1, 5, 4, 4]})
    with pytest.raises(InputError, match="missing values"):
        tacit.LatinHypercube().apply(data, seed=1)
    assert len(tacit.LatinHypercube(missing="omit", n=20).apply(data, seed=1)) == 20
    assert len(tacit.LatinHypercube(missing="omit").apply(data, seed=1)) == 4
    with pytest.raises(InputError, match="at least three complete records"):
        tacit.LatinHypercube(missing="omit", n=2).apply(data, seed=1)
    with pytest.raises(InputError, match="'x' is constant"):
        tacit.LatinHypercube().apply(tacit.read({"x": [1] * 5, "y": range(5)}), seed=1)
    with pytest.raises(InputError, match="no numeric column"):
        tacit.LatinHypercube().apply(tacit.read({"x": ["a"]}), seed=1)
    with pytest.raises(InvalidParameter, match="each column once"):
        tacit.LatinHypercube(columns=["x", "x"])
