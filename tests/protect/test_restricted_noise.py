import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.context import Context
from tacit.data.values import Numbers
from tacit.errors import InputError, InvalidParameter


def x_of(n, seed=0):
    return np.random.default_rng(seed).gamma(2.0, 10.0, n)


def released(method, x, seed=1):
    data = method.apply(tacit.read({"a": x}), seed=seed)
    return data.column("a").to_numpy(), data.history[-1].details


def test_small_samples_keep_their_sum_of_squares_on_average():
    """With six values the large-sample factor 1 / sqrt(1 + d) would be visibly wrong."""
    x = x_of(6)
    method = tacit.RestrictedNoise(columns=["a"], share=1.0)
    column = Numbers(x, np.ones(6, dtype=bool), pa.float64())
    draws = [method.add_noise_to("a", column, Context.start(seed))[0] for seed in range(3000)]
    about = [((y - x.mean()) ** 2).sum() for y in draws]
    wanted = ((x - x.mean()) ** 2).sum()
    assert np.mean(about) == pytest.approx(wanted, rel=0.05)
    # What the large-sample factor would give: (1 + 6 / 5) / 2 = 1.1 times as much.
    assert abs(np.mean(about) / wanted - 1.1) > 0.05


def test_large_samples_keep_mean_and_variance():
    x = x_of(200_000)
    y, details = released(tacit.RestrictedNoise(columns=["a"], share=0.5), x)
    assert y.mean() == pytest.approx(x.mean(), rel=0.01)
    assert details["variance_ratio"]["a"] == pytest.approx(1, abs=0.01)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(1 / np.sqrt(1.5), abs=0.01)


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
@given(st.integers(0, 9999), st.floats(0.01, 1), st.floats(0.05, 2))
@settings(max_examples=25, deadline=None)
def test_no_value_moves_farther_than_the_limit(seed, limit, share):
    x = np.r_[x_of(200, seed), np.zeros(5), -x_of(20, seed + 1)]
    y, _ = released(tacit.RestrictedNoise(columns=["a"], share=share, limit=limit), x, seed)
    assert (np.abs(y - x) <= limit * np.abs(x) * (1 + 1e-12)).all()
    assert (y[x == 0] == 0).all()
    assert (np.sign(y) * np.sign(x) >= 0).all()
    assert (y != x)[x != 0].mean() > 0.9


def test_whole_numbers_missing_values_and_secrets():
    data = tacit.read({"a": [1, 20, None, 40, 60]})
    column = tacit.RestrictedNoise(columns=["a"]).apply(data, seed=1).column("a")
    assert column.type == pa.int64()
    assert column.to_pylist()[2] is None
    assert "0.0321" not in str(
        tacit.RestrictedNoise(columns=["a"], limit=0.0321).to_dict(public=True)
    )


def test_bad_input():
    with pytest.raises(InputError, match="'a' needs at least two finite values that differ"):
        tacit.RestrictedNoise(columns=["a"]).apply(tacit.read({"a": [3.0, 3.0]}), seed=1)
    with pytest.raises(InvalidParameter, match="share must be greater than 0"):
        tacit.RestrictedNoise(columns=["a"], share=0)
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.RestrictedNoise(columns=["a"]).apply(tacit.read({"a": ["u"]}), seed=1)
