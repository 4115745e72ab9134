import numpy as np
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter, WeakProtection
from tacit.records.noise.outlier_noise import box_cox
from tacit.stats.robust import mad


def planted(n=600, seed=0):
    """Normal data with twenty records far out, and some of them farther."""
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal([50, 20, 5], [[9, 4, 1], [4, 8, 1], [1, 1, 2]], n)
    x[:20] += np.linspace(30, 120, 20)[:, None] * [1, -1, 0.3]
    return x


def read(x):
    return tacit.read(dict(zip("abc", x.T, strict=False)))


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in data.columns])


@pytest.mark.parametrize("detector", ["mahalanobis", "influence", "univariate", "share"])
def test_planted_outliers_get_noise_and_most_others_none(detector):
    x = planted()
    method = tacit.OutlierNoise(detector=detector, share=20 / 600, cut=0.999)
    masked = method.apply(read(x), seed=1)
    changed = (array(masked) != x).any(axis=1)
    found = (
        5 if detector == "influence" else 20
    )  # the jackknife is not robust: far ones hide nearer ones
    assert changed[:20].sum() >= found
    assert changed[20:].mean() < 0.05
    assert masked.history[-1].details["share_of_records"] == pytest.approx(changed.mean())


def test_the_amount_grows_with_outlyingness():
    x = planted()
    method = tacit.OutlierNoise(relative=0.5)
    far = method.outlyingness(x, np.random.default_rng(1))[:20, 0]
    assert (np.diff(far) > 0).mean() > 0.9
    assert far[-1] > 2 * far[0] > 2
    noise = array(method.apply(read(x), seed=1))[:20] - x[:20]
    standard = noise / (0.5 * mad(x) * far[:, None])
    assert standard.std() == pytest.approx(1, abs=0.25)
    assert standard[10:].std() == pytest.approx(standard[:10].std(), abs=0.4)


def test_univariate_noise_touches_outlying_values_only():
    x = planted()
    x[:20, 1:] = x[20:40, 1:]
    masked = array(tacit.OutlierNoise(detector="univariate", cut=0.9999).apply(read(x), seed=1))
    assert (masked[:20, 0] != x[:20, 0]).all()
    assert np.array_equal(masked[:20, 1:], x[:20, 1:])


def test_box_cox_makes_skewed_columns_even():
    x = np.exp(np.random.default_rng(1).normal(size=4000))
    assert abs(np.mean(((box_cox(x) - box_cox(x).mean()) / box_cox(x).std()) ** 3)) < 0.1
    assert np.isfinite(box_cox(np.r_[x, 0.0, -3.0])).all()
    skewed = tacit.read({"a": x})
    changed = (
        tacit.OutlierNoise(detector="univariate").apply(skewed, seed=1).column("a").to_numpy() != x
    )
    assert changed.mean() == pytest.approx(0.025, abs=0.01)


def test_share_picks_that_many():
    x = planted()
    for share in (0.01, 0.1, 1.0):
        masked = array(tacit.OutlierNoise(detector="share", share=share).apply(read(x), seed=1))
        assert (masked != x).any(axis=1).mean() == pytest.approx(share, abs=0.002)


def test_warns_when_there_is_no_outlier():
    grid = np.column_stack([np.tile(np.arange(10.0), 10), np.repeat(np.arange(10.0), 10)])
    with pytest.warns(WeakProtection, match="no record is an outlier"):
        masked = tacit.OutlierNoise(cut=0.9999).apply(read(grid), seed=1)
    assert np.array_equal(array(masked), grid)


def test_bad_input():
    with pytest.raises(InvalidParameter, match="share must be greater than 0"):
        tacit.OutlierNoise(share=0)
    with pytest.raises(InvalidParameter, match="cut must be less than 1"):
        tacit.OutlierNoise(cut=1)
    with pytest.raises(InputError, match="columns that vary"):
        tacit.OutlierNoise().apply(tacit.read({"a": [1.0] * 9}), seed=1)
    with pytest.raises(InputError, match="has missing values"):
        tacit.OutlierNoise().apply(tacit.read({"a": [1.0, None, 3.0]}), seed=1)
