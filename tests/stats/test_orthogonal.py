import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.records.noise.romm import frame_of, random_rotation


@given(
    st.integers(0, 10_000),
    st.integers(1, 4),
    st.floats(0.01, 1),
    st.sampled_from(["normal", "records"]),
)
@settings(max_examples=30, deadline=None)
def test_is_an_orthogonal_matrix_that_fixes_the_ones(seed, p, magnitude, partner):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(30, p)) * 10.0 ** rng.integers(-3, 4, p)
    x -= x.mean(axis=0)
    rotation = random_rotation(x, magnitude, rng, partner=partner)
    t = rotation.matrix()
    assert t @ t.T == pytest.approx(np.eye(30), abs=1e-10)
    assert t @ np.ones(30) == pytest.approx(np.ones(30), abs=1e-10)
    y = rotation.turn(x)
    scale = np.abs(x).max(axis=0)
    assert y / scale == pytest.approx(t @ x / scale, abs=1e-10)
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, y.T, strict=True)]
    assert np.array(correlations) == pytest.approx(np.sqrt(1 - magnitude), abs=1e-7)


def test_collinear_columns_keep_their_relation():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2))
    x = np.column_stack([x, x.sum(axis=1)])
    x -= x.mean(axis=0)
    y = random_rotation(x, 0.5, rng).turn(x)
    assert y[:, 2] == pytest.approx(y[:, 0] + y[:, 1])
    assert frame_of(x).shape == (40, 2)


def test_too_few_records():
    with pytest.raises(InputError, match="too few records"):
        random_rotation(np.eye(4)[:, :2], 0.5, np.random.default_rng(0))
