import numpy as np
import pytest

import tacit
from tacit.errors import InputError


def read(n=4000, p=1, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal(np.zeros(p), 0.5 * np.eye(p) + 0.5, n)
    return tacit.read(dict(zip("abcd", x.T, strict=False)))


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in data.columns])


@pytest.mark.parametrize(("p", "k"), [(1, 800), (2, 3), (2, 200)])
def test_comes_nearer_to_the_original_than_the_first_stage(p, k):
    data = read(p=p)
    first = {"kind": "sort_by_zscores", "k": k}
    method = tacit.DeconvolutionNoise(first=first, cells=20)
    released = method.apply(data, seed=1)
    x, y = array(data), array(released)
    coarse = method.intermediates(data, seed=1)[0].released
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0), abs=1e-10)
    spread = lambda v: np.quantile(v, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)  # noqa: E731
    assert np.abs(spread(y) - spread(x)).mean() < 0.6 * np.abs(spread(coarse) - spread(x)).mean()
    assert 0 <= released.history[-1].details["stages"][1]["done"]["misfit"] < 0.9


def test_too_many_dimensions():
    with pytest.raises(InputError, match=r"too large\. Mask fewer columns"):
        tacit.DeconvolutionNoise().apply(read(100, 4), seed=1)
