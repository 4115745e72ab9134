"""Links against all distances: every search, with ties, ragged series, windows, with and without numba."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics.kernels import run_kernels
from tacit.series import (
    Distance,
    Panel,
    all_distances,
    attack,
    link,
    microaggregated,
    normalise,
    paired_distances,
)
from tacit.stats.series import warping

TIED = 1e-9


@pytest.fixture(params=["compiled", "plain"])
def numba(request):
    with run_kernels(request.param):
        yield


def check(a, b, distance, truth=None):
    """Compare links with the matrix of all distances."""
    d = all_distances(a, b, distance)
    own = np.arange(len(a)) if truth is None else truth
    found = attack(a, b, distance, truth)
    best = d.min(axis=1)
    near = d <= best[:, None] * (1 + TIED) + TIED
    links = found.links
    assert links.distance == pytest.approx(best, rel=1e-7, abs=1e-7)
    assert links.nearest.tolist() == near.argmax(axis=1).tolist()
    assert links.ties.tolist() == near.sum(axis=1).tolist()
    if d.shape[1] > 1:
        assert links.second == pytest.approx(np.sort(d, axis=1)[:, 1], rel=1e-7, abs=1e-7)
    hit = np.array([t >= 0 and near[i, t] for i, t in enumerate(own)])
    assert found.hit.tolist() == hit.tolist()
    assert found.correct("any").sum() == hit.sum()
    assert found.correct("unique").tolist() == (hit & (links.ties == 1)).tolist()
    assert found.correct("expected") == pytest.approx(np.where(hit, 1 / links.ties, 0))
    assert found.correct("first").tolist() == ((links.nearest == own) & (own >= 0)).tolist()


def panel(rng, n, n_series, length, *, ragged, whole):
    x = rng.integers(-2, 3, size=(n, n_series, length)).astype(float)
    if not whole:
        x += rng.normal(size=x.shape)
    # Copies, as microaggregation makes them.
    x = x[rng.integers(0, max(1, n // 2) + 1, size=n) % n]
    if ragged:
        ends = rng.integers(1, length + 1, size=(n, n_series))
        x[np.arange(length) >= ends[:, :, None]] = np.nan
    return Panel.of(x, np.cumsum(rng.uniform(0.5, 2, length)))


EQUAL = [
    Distance(),
    Distance(q=1),
    Distance(q=2.5),
    Distance(q=np.inf),
    Distance("sts"),
    Distance("correlation"),
    Distance("correlation", beta=3),
    Distance("correlation2"),
    Distance("dtw", window=2),
    Distance("dtw", per_step=True),
]


@pytest.mark.usefixtures("numba")
@pytest.mark.parametrize("combine", ["sum", "rss", "max"])
@pytest.mark.parametrize("distance", EQUAL, ids=str)
def test_links_of_equal_series(distance, combine):
    rng = np.random.default_rng(5)
    for n_series, whole in ((1, False), (2, False), (3, False)):
        weights = tuple(rng.uniform(0.2, 2, n_series))
        made = Distance(**{**distance.__dict__, "combine": combine, "weights": weights})
        a = panel(rng, 13, n_series, 6, ragged=False, whole=whole)
        b = panel(rng, 11, n_series, 6, ragged=False, whole=whole)
        check(a, b, made, np.append(rng.permutation(11), [-1, -1]))


seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("combine", ["sum", "rss", "max"])
@pytest.mark.parametrize("root", [True, False])
@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_warping_links_of_ragged_series(seed, root, combine):
    rng = np.random.default_rng(seed)
    n_series, length = int(rng.integers(1, 4)), int(rng.integers(1, 8))
    whole = bool(rng.integers(2))
    a = panel(rng, 12, n_series, length, ragged=True, whole=whole)
    b = panel(rng, 12, n_series, length, ragged=True, whole=whole)
    window = None if rng.integers(2) else length - int(rng.integers(2)) * (length == 1)
    weights = tuple(rng.choice([0.0, 0.5, 1.0], n_series))
    weights = weights if max(weights) > 0 else (1.0,) * n_series
    check(a, b, Distance("dtw", window=window, root=root, combine=combine, weights=weights))


@given(seed=seeds, window=st.integers(0, 6))
@settings(max_examples=30, deadline=None)
def test_warping_links_within_a_window(seed, window):
    rng = np.random.default_rng(seed)
    a, b = (panel(rng, 12, 1, 7, ragged=False, whole=False) for _ in range(2))
    check(a, b, Distance("dtw", window=window))
    check(normalise(a, "none"), a, Distance("dtw", window=window))


@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_compiled_and_plain_costs_agree(seed):
    rng = np.random.default_rng(seed)
    a = panel(rng, 6, 1, 7, ragged=True, whole=True)
    b = panel(rng, 6, 1, 7, ragged=True, whole=True)
    args = (a.values[:, 0], a.lengths[:, 0], b.values[:, 0], b.lengths[:, 0], 7)
    plain = warping.costs_by_cell(*args)
    with run_kernels("compiled"):
        compiled = warping.warping_costs(*args, all_pairs=False)
        matrix = warping.warping_costs(*args, all_pairs=True)
    for one, other, whole in zip(plain, compiled, matrix, strict=True):
        assert one.tolist() == other.tolist() == whole.diagonal().tolist()


def masked(seed=2, n=120, length=12):
    x = np.random.default_rng(seed).normal(size=(n, length)).cumsum(axis=1)
    original = Panel.of(x)
    return tuple(normalise(p, "series_standard") for p in (original, microaggregated(original, 3)))


def test_every_beta_gives_the_same_links():
    a, b = masked()
    first = link(a, b, Distance("correlation"))
    for beta in (0.5, 2, 3, 4):
        other = link(a, b, Distance("correlation", beta=beta))
        assert other.nearest.tolist() == first.nearest.tolist()
        assert other.ties.tolist() == first.ties.tolist()
    # On standardised series these are the links of the Euclidean distance as well.
    assert link(a, b, Distance()).nearest.tolist() == first.nearest.tolist()
    assert link(a, b, Distance("correlation2")).nearest.tolist() == first.nearest.tolist()


def test_odd_exponents_are_as_strong_as_even_ones():
    a, b = masked(n=400)
    counts = [attack(a, b, Distance(q=q)).correct("expected").sum() for q in (2, 3, 4, 5)]
    assert min(counts) > 0.9 * max(counts)


def test_one_series_in_groups_of_k_gives_at_most_one_in_k():
    a, b = masked(n=300)
    for distance in (Distance(), Distance("sts"), Distance("dtw"), Distance(q=3)):
        found = attack(a, b, distance)
        assert (found.links.ties >= 3).all()
        assert found.correct("expected").sum() <= 100
        assert found.correct("unique").sum() == 0


def test_released_as_it_was_everyone_is_found():
    a, _ = masked()
    for distance in EQUAL:
        assert attack(a, a, distance).correct("unique").all()
        assert paired_distances(a, a, distance) == pytest.approx(np.zeros(len(a)), abs=1e-7)


def test_the_search_can_be_stopped():
    def stop(_message, _share):
        raise KeyError("stop")

    a, b = masked()
    for distance in (Distance("dtw"), Distance(q=3)):
        with pytest.raises(KeyError):
            link(a, b, distance, stop)
