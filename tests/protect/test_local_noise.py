import numpy as np
import pytest

import tacit
from tacit.errors import InvalidParameter

MICZ = {"kind": "sort_by_zscores", "k": 3}


def read(n=2000, p=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal(np.zeros(p), 0.5 * np.eye(p) + 0.5, n)
    return tacit.read(dict(zip("abcd", x.T, strict=False)))


def array(data):
    return np.column_stack([data.column(c).to_numpy() for c in data.columns])


@pytest.mark.parametrize("p", [1, 2, 4])
def test_gives_back_the_spread_and_keeps_means(p):
    data = read(p=p)
    x = array(data)
    y = array(tacit.LocalNoise().apply(data, seed=1))
    first = array(tacit.SortByZscores(k=3).apply(data, seed=1))
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0), abs=1e-10)
    gap = np.abs(np.cov(y.T) - np.cov(x.T)).max()
    assert gap < 0.5 * np.abs(np.cov(first.T) - np.cov(x.T)).max() or gap < 0.02


def test_every_addition_is_a_residual_of_another_place():
    data = read(300)
    first, second = tacit.TwoStage(
        first=MICZ, second={"kind": "local_noise", "partitions": 9}
    ).intermediates(data, seed=2)
    residual = first.released - array(data)
    assert second.masked.mean(axis=0) == pytest.approx(residual.mean(axis=0), abs=1e-12)
    # All draws are moved by one common vector: that which takes the first to some residual.
    known = {tuple(r) for r in residual.round(9)}
    moves = second.masked[0] - residual
    assert any(
        all(tuple(drawn) in known for drawn in (second.masked - move).round(9)) for move in moves
    )


def test_is_a_stage_without_a_first_of_its_own():
    data = read(200)
    alone = tacit.LocalNoise(partitions=16).apply(data, seed=4)
    staged = tacit.TwoStage(second={"kind": "local_noise", "partitions": 16}).apply(data, seed=4)
    assert array(alone).tolist() == array(staged).tolist()


def test_bad_parameters():
    with pytest.raises(InvalidParameter, match="fewest must be at least 2"):
        tacit.LocalNoise(fewest=1)
