import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, InvalidParameter, WeakProtection


def mixture(n=400, seed=0):
    """Five log-normal columns driven by three components of 60, 30 and 10 per cent."""
    rng = np.random.default_rng(seed)
    which = rng.choice(3, size=n, p=[0.6, 0.3, 0.1])
    return np.exp(np.array([0.0, 1.0, 2.0])[which][:, None] + rng.normal(size=(n, 5)))


def read(x):
    return tacit.read({f"x{j}": column for j, column in enumerate(x.T)})


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in data.columns])


@given(st.integers(0, 9999), st.floats(0.01, 1), st.sampled_from(["normal", "records"]))
@settings(max_examples=20, deadline=None)
def test_means_and_covariances_are_kept_to_the_last_digits(seed, magnitude, partner):
    x = mixture(200, seed)
    y = array(
        tacit.Romm(magnitude=magnitude, partner=partner, acknowledged=True).apply(
            read(x), seed=seed
        )
    )
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0), rel=1e-8)
    assert np.cov(y.T) == pytest.approx(np.cov(x.T), rel=1e-8, abs=1e-8 * np.cov(x.T).max())
    assert not np.isclose(x, y).all(axis=1).any()


def interval_risk(x, y, k=0.05):
    """Share of records whose original lies within k standard deviations of the released on all columns."""
    return float((np.abs(x - y) <= k * y.std(axis=0)).all(axis=1).mean())


@pytest.mark.parametrize("seed", range(4))
def test_interval_risk_falls_as_the_perturbation_grows(seed):
    x = mixture(400, seed)
    data = read(x)
    risks = [
        interval_risk(x, array(tacit.Romm(magnitude=m, acknowledged=True).apply(data, seed=1)))
        for m in (0.0005, 0.002, 0.01, 0.2)
    ]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] > risks[-1]


def test_warns_that_attacks_through_covariances_work_as_before():
    with pytest.warns(WeakProtection, match="every attack through them works as before"):
        tacit.Romm().apply(read(mixture(50)), seed=1)


def test_records_as_partners_keep_more_of_the_shape():
    x = mixture(5000)
    skew = lambda v: float((((v - v.mean()) / v.std()) ** 3).mean())  # noqa: E731
    data = read(x)
    normal, records = (
        array(tacit.Romm(magnitude=0.5, partner=p, acknowledged=True).apply(data, seed=1))
        for p in ("normal", "records")
    )
    assert skew(records[:, 0]) > 1.5 * skew(normal[:, 0]) > 0


def test_missing_values_and_constant_columns():
    x = mixture(40)[:, :2]
    table = {"a": [None, *x[1:, 0]], "b": x[:, 1], "c": [7.0] * 40}
    data = tacit.read(table)
    with pytest.raises(InputError, match="'a' has missing values"):
        tacit.Romm(acknowledged=True).apply(data, seed=1)
    kept = tacit.Romm(acknowledged=True, missing="keep").apply(data, seed=1)
    assert kept.column("a").to_pylist()[0] is None
    assert kept.column("b").to_pylist()[0] == x[0, 1]
    assert kept.column("c").to_pylist() == pytest.approx([7.0] * 40)


def test_bad_input():
    with pytest.raises(InvalidParameter, match="magnitude must be greater than 0"):
        tacit.Romm(magnitude=0)
    with pytest.raises(InputError, match="too few records"):
        tacit.Romm(acknowledged=True).apply(read(mixture(8)), seed=1)
    with pytest.raises(InputError, match="at least one numeric column"):
        tacit.Romm(acknowledged=True).apply(tacit.read({"t": ["u", "v"]}), seed=1)
    assert "0.777" not in str(tacit.Romm(magnitude=0.777).to_dict(public=True))
