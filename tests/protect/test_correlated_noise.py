import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.context import Context
from tacit.errors import InputError, InvalidParameter, WeakProtection
from tacit.records.noise.correlated_noise import CorrelatedNoise, draw_correlated
from tacit.records.utility.models.estimate_precision import EstimatePrecision
from tacit.records.values.index_disclosure import IndexDisclosure
from tacit.stats.moments import factor

SIGMA = np.array([[4.0, 2.0, -1.0], [2.0, 9.0, 0.5], [-1.0, 0.5, 1.0]])


def frame(n=4000, seed=0):
    x = np.random.default_rng(seed).multivariate_normal([10, 20, 30], SIGMA, n)
    return dict(zip("abc", x.T, strict=True))


def array(data, columns="abc"):
    return np.column_stack([data.column(c).to_numpy() for c in columns])


@pytest.mark.parametrize("distribution", ["normal", "uniform", "laplace"])
def test_draws_have_the_covariance(distribution):
    z = draw_correlated(300_000, SIGMA, distribution, Context.start(3))
    assert z.mean(axis=0) == pytest.approx(0, abs=0.03)
    scale = np.sqrt(np.outer(np.diag(SIGMA), np.diag(SIGMA)))
    assert np.cov(z, rowvar=False) / scale == pytest.approx(SIGMA / scale, abs=0.015)
    kurtosis = (z**4).mean(axis=0) / (z**2).mean(axis=0) ** 2
    assert kurtosis == pytest.approx(
        {"normal": 3, "uniform": 1.8, "laplace": 6}[distribution], rel=0.06
    )


@pytest.mark.parametrize("distribution", ["normal", "uniform", "laplace"])
def test_release_keeps_correlations_and_inflates_variances(distribution):
    data = tacit.read(frame(100_000))
    method = CorrelatedNoise(columns=("a", "b"), lambda_squared=0.5, distribution=distribution)
    y = array(method.apply(data, seed=1))
    x = array(data)
    assert np.cov(y[:, :2], rowvar=False) == pytest.approx(
        1.5 * np.cov(x[:, :2], rowvar=False), abs=0.15
    )
    assert np.corrcoef(y.T)[0, 1] == pytest.approx(np.corrcoef(x.T)[0, 1], abs=0.01)
    assert np.corrcoef(y.T)[0, 2] == pytest.approx(np.corrcoef(x.T)[0, 2] / np.sqrt(1.5), abs=0.01)
    assert np.array_equal(y[:, 2], x[:, 2])


@given(st.integers(0, 1000), st.floats(0.01, 5), st.sampled_from(["normal", "laplace", "uniform"]))
@settings(max_examples=15, deadline=None)
def test_exact_moments(seed, l2, distribution):
    data = tacit.read(frame(40, seed))
    method = CorrelatedNoise(
        columns=("a", "b", "c"), lambda_squared=l2, distribution=distribution, exact=True
    )
    x, y = array(data), array(method.apply(data, seed=seed))
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0), rel=1e-9)
    assert np.cov(y, rowvar=False) == pytest.approx((1 + l2) * np.cov(x, rowvar=False), rel=1e-7)


def test_exact_moments_with_weights():
    columns = frame(60) | {"w": np.arange(1.0, 61.0)}
    data = tacit.read(columns, weight="w")
    y = CorrelatedNoise(columns=("a", "b"), lambda_squared=0.4, exact=True).apply(data, seed=2)
    x, z = array(data, "ab"), array(y, "ab")
    w = columns["w"]
    assert np.average(z, axis=0, weights=w) == pytest.approx(np.average(x, axis=0, weights=w))
    assert np.cov(z.T, aweights=w) == pytest.approx(1.4 * np.cov(x.T, aweights=w))
    assert y.column("w").to_pylist() == list(w)


def test_kims_transformation_restores_the_variances():
    data = tacit.read(frame(50))
    method = CorrelatedNoise(columns=("a", "b"), lambda_squared=1, exact=True, keep_variance=True)
    x, y = array(data, "ab"), array(method.apply(data, seed=4), "ab")
    assert y.mean(axis=0) == pytest.approx(x.mean(axis=0))
    assert np.cov(y.T) == pytest.approx(np.cov(x.T))
    assert not np.allclose(x, y)


@pytest.mark.parametrize("exact", [False, True])
def test_totals_still_add_up(exact):
    x = np.random.default_rng(1).normal(size=(30, 2))
    data = tacit.read({"part": x[:, 0], "rest": x[:, 1], "total": x.sum(axis=1)})
    names = ("part", "rest", "total")
    y = CorrelatedNoise(columns=names, lambda_squared=0.3, exact=exact).apply(data, seed=1)
    part, rest, total = array(y, names).T
    assert part + rest == pytest.approx(total, abs=1e-6)


def test_factor_of_a_singular_matrix():
    sigma = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert factor(sigma) @ factor(sigma).T == pytest.approx(sigma)


def test_whole_numbers_bounds_and_types():
    data = tacit.read(
        pa.table(
            {
                "k": pa.array(range(100), pa.int8()),
                "x": pa.array(np.linspace(0, 1, 100), pa.float32()),
            }
        )
    )
    method = CorrelatedNoise(
        columns=("k", "x"), lambda_squared=0.5, bounds={"k": (0, 99), "x": (None, 1)}
    )
    y = method.apply(data, seed=1)
    assert y.to_arrow().schema == data.to_arrow().schema
    assert min(y.column("k").to_pylist()) == 0
    assert max(y.column("k").to_pylist()) == 99
    assert max(y.column("x").to_pylist()) == 1
    small = data.replace({"k": pa.array(range(100), pa.int8())})
    if small.column("k").type == pa.int8():
        with pytest.raises(InputError, match="bounds"):
            CorrelatedNoise(columns=("k",), lambda_squared=50).apply(small, seed=1)
    loose = CorrelatedNoise(columns=("k",), lambda_squared=50, whole=False).apply(data, seed=1)
    assert pa.types.is_floating(loose.column("k").type)


def test_missing_values():
    data = tacit.read({"a": [1.0, None, 3.0, 4.0, 7.0], "b": [1, 2, None, 4, 6]})
    with pytest.raises(InputError, match="missing='keep'"):
        CorrelatedNoise(columns=("a", "b"), lambda_squared=1).apply(data)
    kept = CorrelatedNoise(columns=("a", "b"), lambda_squared=1, missing="keep").apply(data, seed=1)
    assert [v is None for v in kept.column("a").to_pylist()] == [False, True, False, False, False]
    assert [v is None for v in kept.column("b").to_pylist()] == [False, False, True, False, False]
    assert kept.column("a")[0].as_py() != 1.0


def test_public_only_when_revealed():
    told = CorrelatedNoise(columns=("a",), lambda_squared=0.15)
    hidden = CorrelatedNoise(columns=("a",), lambda_squared=0.15, reveal=False)
    assert told.to_dict(public=True)["lambda_squared"] == 0.15
    assert "lambda_squared" not in hidden.to_dict(public=True)
    assert hidden.to_dict()["lambda_squared"] == 0.15
    action = hidden.apply(tacit.read(frame(10)), seed=1).history[-1]
    assert "0.15" not in json.dumps([dict(action.parameters), dict(action.details)])
    assert "0.15" not in repr(hidden)
    action = told.apply(tacit.read(frame(10)), seed=1).history[-1]
    assert action.parameters["lambda_squared"] == 0.15


def test_a_given_covariance():
    data = tacit.read({"a": [5.0, 5.0], "b": [1.0, 2.0]})
    method = CorrelatedNoise(columns=("a",), lambda_squared=1, covariance=((4.0,),))
    assert method.apply(data, seed=1).column("a").to_pylist() != [5.0, 5.0]
    one = tacit.read({"a": [5.0]})
    assert method.apply(one, seed=1).column("a").to_pylist() != [5.0]


def test_no_noise_warns_and_no_records_pass():
    data = tacit.read(frame(10))
    with pytest.warns(WeakProtection):
        same = CorrelatedNoise(columns=("a",), lambda_squared=0).apply(data)
    assert same.to_arrow() == data.to_arrow()
    none = tacit.read(pa.table({"a": pa.array([], pa.float64())}))
    assert len(CorrelatedNoise(columns=("a",), lambda_squared=1).apply(none)) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"lambda_squared": -0.1},
        {"lambda_squared": float("nan")},
        {"lambda_squared": float("inf")},
        {"columns": ("a", "a"), "lambda_squared": 1},
        {"columns": (), "lambda_squared": 1},
        {"lambda_squared": 1, "covariance": ((1.0, 0.0), (0.0, 1.0))},
        {"lambda_squared": 1, "covariance": ((-1.0,),)},
        {"lambda_squared": 1, "bounds": {"b": (0, 1)}},
        {"lambda_squared": 1, "bounds": {"a": (2, 1)}},
        {"lambda_squared": 1, "distribution": "cauchy"},
    ],
)
def test_refused_parameters(wrong):
    with pytest.raises(InvalidParameter):
        CorrelatedNoise(**{"columns": ("a",), **wrong})


@pytest.mark.parametrize(
    "columns",
    [
        {"a": ["x", "y"]},
        {"a": [1.0, 1.0]},
        {"a": [1.0]},
    ],
)
def test_refused_data(columns):
    with pytest.raises(InputError):
        CorrelatedNoise(columns=("a",), lambda_squared=1).apply(tacit.read(columns))


def test_uniform_noise_may_not_exist():
    x = np.random.default_rng(1).normal(size=(30, 2))
    data = tacit.read({"a": x[:, 0], "b": x[:, 1], "c": x.sum(axis=1)})
    method = CorrelatedNoise(columns=("a", "b", "c"), lambda_squared=1, distribution="uniform")
    with pytest.raises(InputError, match="laplace"):
        method.apply(data)


def test_exact_needs_records():
    with pytest.raises(InputError, match="too few records"):
        CorrelatedNoise(columns=("a", "b"), lambda_squared=1, exact=True).apply(
            tacit.read(frame(4))
        )


# -- the two measures, against the closed forms ------------------------------------------------------


@pytest.fixture(scope="module")
def masked():
    data = tacit.read(frame(200_000))
    return data, CorrelatedNoise(columns=("a", "b"), lambda_squared=0.25).apply(data, seed=8)


def test_index_disclosure_agrees_with_theory(masked):
    data, released = masked
    result = IndexDisclosure(lambda_squared=0.25).measure(released, original=data)
    assert set(result.parts) == {"a", "b"}
    for column, variance in (("a", 4), ("b", 9)):
        part = result.parts[column]
        assert part.reads == pytest.approx(1 / (0.25 * variance), rel=0.02)
        assert part.bayes == pytest.approx(1.25 / (0.25 * variance), rel=0.02)
        ours = (part.reads, part.bayes, part.all)
        assert ours == pytest.approx(result.theory[column], rel=0.02)
        assert part.reads < part.bayes < part.all
    assert result.value == pytest.approx(4, rel=0.02)
    raw = IndexDisclosure(columns=("a",), relative=False, intruder="bayes")
    assert raw.measure(released, original=data).value == pytest.approx(1.25, rel=0.02)


def test_reading_is_worse_than_guessing_when_noise_is_large():
    data = tacit.read(frame(20_000))
    released = CorrelatedNoise(columns=("a",), lambda_squared=4).apply(data, seed=8)
    part = IndexDisclosure().measure(released, original=data).parts["a"]
    assert part.relative(part.reads) == pytest.approx(0.25, rel=0.05)
    assert part.relative(part.bayes) == pytest.approx(1.25, rel=0.05)


def test_deterministic_masking_and_tails():
    x = [float(v) for v in range(1, 11)]
    data = tacit.read({"x": x})
    top = data.replace({"x": np.minimum(np.array(x), 8.0)})
    result = IndexDisclosure(masking="deterministic").measure(top, original=data)
    assert result.parts["x"].exact == pytest.approx(0.8)
    assert np.isinf(result.value)
    tail = IndexDisclosure(masking="deterministic", relative=False, tail=0.2)
    assert tail.measure(top, original=data).value == pytest.approx(1 / 2.5)  # of 1 and 4
    assert tail.measure(top, original=data).parts["x"].reads == pytest.approx(1 / 2.5)


def test_the_original_itself_has_infinite_risk():
    data = tacit.read(frame(20))
    result = IndexDisclosure().measure(data, original=data)
    assert np.isinf(result.value)
    assert "infinite" in repr(result)
    assert result.plot().svg().startswith("<svg")


def test_index_disclosure_links_records_and_skips_missing_values():
    data = tacit.read({"x": [1.0, 2.0, 4.0, 8.0, None], "y": [1, 1, 2, 5, 3]})
    released = data.replace({"x": pa.array([1.5, 2.5, None, 8.5, 1.0])}).take(
        np.array([0, 1, 2, 3])
    )
    part = IndexDisclosure(columns=("x",)).measure(released, original=data).parts["x"]
    assert part.reads == pytest.approx(4)
    with pytest.raises(InputError):
        IndexDisclosure().measure(released.take(np.array([0])), original=data)


@pytest.mark.parametrize(
    ("task", "columns", "more", "want"),
    [
        ("mean", ("a",), {}, 1 / 1.25),
        ("mean", ("c",), {}, 1.0),
        ("combination", ("a", "b"), {"coefficients": (1, -1)}, 1 / 1.25),
        ("slope", ("b", "a"), {}, 1.0),
        ("slope", ("a", "c"), {}, None),
        ("slope", ("c", "a"), {"lambda_squared": 0.25}, None),
    ],
)
def test_estimate_precision_agrees_with_theory(masked, task, columns, more, want):
    from studies.additive_noise import AdditiveNoiseMap, Slope

    data, released = masked
    result = EstimatePrecision(task=task, columns=columns, **more).measure(released, original=data)
    if want is None:
        model = AdditiveNoiseMap(SIGMA, len(data), tuple("abc"), ("a", "b"))
        want = float(model.utility(Slope(*columns, known=bool(more)), 0.25, relative=True))
    # The estimates are unbiased; what is found of a bias in a single release is chance.
    assert 1 / (result.variance * result.unmasked) == pytest.approx(want, rel=0.02)
    assert result.squared_bias < 9 * result.variance
    assert 1 / result.utility == pytest.approx(result.variance + result.squared_bias)


def test_estimate_precision_finds_the_bias(masked):
    from studies.additive_noise import AdditiveNoiseMap, Slope

    data, released = masked
    naive = EstimatePrecision(task="slope", columns=("c", "a"), relative=False)
    model = AdditiveNoiseMap(SIGMA, len(data), tuple("abc"), ("a", "b"))
    want = float(model.utility(Slope("c", "a"), 0.25))
    assert naive.measure(released, original=data).value == pytest.approx(want, rel=0.1)


def test_estimate_precision_leans_to_caution_on_average():
    data = tacit.read(frame(200, 5))
    measure = EstimatePrecision(columns=("a",), relative=False)
    errors = []
    for seed in range(60):
        y = CorrelatedNoise(columns=("a",), lambda_squared=1).apply(data, seed=seed)
        errors.append(1 / measure.measure(y, original=data).value)
    exact = 2 * np.var(data.column("a").to_numpy(), ddof=1) / 200
    assert exact <= np.mean(errors) < 1.5 * exact


def test_estimate_precision_of_a_sample_and_with_weights():
    columns = frame(2000) | {"w": np.tile([1.0, 3.0], 1000)}
    data = tacit.read(columns, weight="w")
    half = data.take(np.arange(0, 1000))
    result = EstimatePrecision(columns=("a",)).measure(half, original=data)
    assert 0.2 < result.value < 0.6
    same = EstimatePrecision(task="slope", columns=("a", "b", "c")).measure(data, original=data)
    assert same.value == pytest.approx(1)
    x = array(data)
    design = np.column_stack([np.ones(2000), x[:, 1:]]) * np.sqrt(columns["w"])[:, None]
    beta = np.linalg.lstsq(design, x[:, 0] * np.sqrt(columns["w"]), rcond=None)[0][1]
    assert same.numbers["estimate from the release"] == pytest.approx(beta)


@pytest.mark.parametrize(
    "wrong",
    [
        {"columns": ("a", "b")},
        {"columns": ("a",), "task": "slope"},
        {"columns": ("a", "b"), "task": "combination"},
        {"columns": ("a", "b"), "task": "combination", "coefficients": (0, 0)},
        {"columns": ("a",), "coefficients": (1,)},
        {"columns": ("a",), "lambda_squared": 1},
    ],
)
def test_estimate_precision_refuses(wrong):
    with pytest.raises(InvalidParameter):
        EstimatePrecision(**wrong)


def test_estimate_precision_refuses_data():
    for columns in ({"a": [1.0], "b": [1.0]}, {"a": [1.0] * 5, "b": [1.0] * 5}):
        data = tacit.read(columns)
        for spec in ({"columns": ("a",)}, {"columns": ("a", "b"), "task": "slope"}):
            with pytest.raises(InputError):
                EstimatePrecision(**spec).measure(data, original=data)


def test_measures_refuse_what_they_cannot_compare():
    data = tacit.read({"a": [1.0, 2.0, 3.0], "b": [1.0, 4.0, 2.0]})
    gone = data.replace({"a": pa.array([None, None, None], pa.float64())})
    for measure in (IndexDisclosure(columns=("a",)), EstimatePrecision(columns=("a",))):
        with pytest.raises(InputError):
            measure.measure(gone, original=data)
    with pytest.raises(InputError):
        IndexDisclosure(columns=("a",)).measure(data, original=data.drop(["a"]))
    with pytest.raises(InputError):
        EstimatePrecision(columns=("a",)).measure(data, original=data.drop(["a"]))
    shuffled = tacit.Scramble().apply(data, seed=1)
    for measure in (IndexDisclosure(columns=("a",)), EstimatePrecision(columns=("a",))):
        with pytest.raises(InputError, match="random order"):
            measure.measure(shuffled, original=data)


def test_shrunk_noise_is_the_bias_corrected_one():
    """x' = sqrt(1 - d^2) x + d e, e of the mean and covariance of x, for d^2 = l2 / (1 + l2)."""
    data = tacit.read(frame(60_000))
    l2 = 0.25
    y = array(
        CorrelatedNoise(columns=("a", "b", "c"), lambda_squared=l2, keep_variance=True).apply(
            data, seed=1
        )
    )
    x = array(data)
    d = np.sqrt(l2 / (1 + l2))
    e = (y - np.sqrt(1 - d**2) * x) / d
    assert e.mean(axis=0) == pytest.approx(x.mean(axis=0) * (1 - np.sqrt(1 - d**2)) / d, abs=0.05)
    assert np.cov(e.T) == pytest.approx(np.cov(x.T), abs=0.2)
    assert np.cov(y.T) == pytest.approx(np.cov(x.T), abs=0.2)
