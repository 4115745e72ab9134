import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError, InvalidParameter, RoleMissing


def read(n=200, seed=0, **roles):
    rng = np.random.default_rng(seed)
    household = np.sort(rng.integers(0, n // 3, n))
    return tacit.read(
        {
            "w": rng.gamma(2, 50, n // 3)[household],
            "region": rng.choice(["n", "s", "e"], n),
            "hh": household,
        },
        weight="w",
        **roles,
    )


def weights(data):
    return data.column("w").to_numpy()


@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
@given(st.integers(0, 9999), st.floats(0.5, 90))
@settings(max_examples=20, deadline=None)
def test_weights_stay_within_the_percentage(seed, percent):
    data = read(60, seed)
    noisy = weights(tacit.WeightNoise(percent=percent, keep_total=False).apply(data, seed=seed))
    assert (np.abs(noisy / weights(data) - 1) <= percent / 100 + 1e-12).all()
    assert (noisy > 0).all()


def test_totals_are_kept_in_each_class():
    data = read()
    noisy = weights(tacit.WeightNoise(percent=20, by=["region"]).apply(data, seed=1))
    region = np.array(data.column("region").to_pylist())
    for r in "nse":
        assert noisy[region == r].sum() == pytest.approx(weights(data)[region == r].sum())
    assert noisy.sum() == pytest.approx(weights(data).sum())
    assert not np.isclose(noisy, weights(data)).any()


def test_members_of_a_household_keep_one_weight():
    data = read(household="hh")
    noisy = weights(tacit.WeightNoise().apply(data, seed=1))
    hh = data.column("hh").to_numpy()
    assert all(len(set(noisy[hh == h].round(9))) == 1 for h in np.unique(hh))


def test_bad_input():
    with pytest.raises(RoleMissing, match="weight_noise needs a weight"):
        tacit.WeightNoise().apply(tacit.read({"a": [1.0]}), seed=1)
    with pytest.raises(InputError, match="complete, finite and not negative"):
        tacit.WeightNoise(column="a").apply(tacit.read({"a": [1.0, -2.0]}), seed=1)
    with pytest.raises(InvalidParameter, match="percent must be less than 100"):
        tacit.WeightNoise(percent=100)
