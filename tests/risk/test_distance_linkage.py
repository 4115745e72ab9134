"""Distance linkage as a measure: columns, readings, directions, bad input."""

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, SdcWarning


def people(n=300, seed=1, **more):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 3)) + 0.3 * rng.normal(size=(n, 3))
    columns = {"id": [f"p{i}" for i in range(n)], **dict(zip("abc", x.T, strict=True))}
    columns["d"] = rng.integers(0, 3, n)
    columns["illness"] = rng.choice(["flu", "cold", "gout"], n)
    return tacit.read(columns | more, identifiers=["id"], sensitive=["illness"])


@pytest.fixture(scope="module")
def data():
    return people()


@pytest.fixture(scope="module")
def masked(data):
    return tacit.CorrelatedNoise(columns=["a", "b", "c"], lambda_squared=0.05).apply(data, seed=1)


def test_the_columns_that_were_changed_are_known_by_default(data, masked):
    found = tacit.DistanceLinkage().measure(masked, original=data)
    assert found.columns == ("a", "b", "c")
    assert found.value == found.share == found.correct / 300
    assert found.numbers["share by chance"] == pytest.approx(1 / 300)
    assert found.frame.columns == [
        "record",
        "link",
        "distance",
        "second",
        "ties",
        "correct",
        "parent",
    ]
    assert found.frame["correct"].sum() == pytest.approx(found.correct)
    assert tacit.DistanceLinkage().measure(data, original=data).columns == ("a", "b", "c", "d")


def test_links_against_brute_force(data, masked):
    found = tacit.DistanceLinkage(ties="first").measure(masked, original=data)

    def standard(d):
        x = np.column_stack([d.column(c).to_numpy() for c in "abc"])
        return (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)

    gap = ((standard(data)[:, None] - standard(masked)[None]) ** 2).sum(axis=2)
    assert found.frame["link"].to_list() == gap.argmin(axis=1).tolist()
    assert found.correct == (gap.argmin(axis=1) == np.arange(300)).sum()
    np.testing.assert_allclose(found.frame["distance"].to_numpy() ** 2, gap.min(axis=1))
    np.testing.assert_allclose(found.frame["second"].to_numpy() ** 2, np.sort(gap, axis=1)[:, 1])


def test_the_strongest_reading_is_the_risk(data, masked):
    found = tacit.DistanceLinkage(metric="mahalanobis").measure(masked, original=data)
    assert set(found.by_attack) == {
        "Mahalanobis, added noise",
        "Mahalanobis, residuals",
        "Mahalanobis, self-trained",
        "Mahalanobis, zero covariance",
        "Mahalanobis, true covariance",
    }
    assert found.correct == max(found.by_attack.values())
    for cross, name in (("zero", "zero covariance"), ("true", "true covariance")):
        one = tacit.DistanceLinkage(metric="mahalanobis", cross_covariance=cross)
        assert one.measure(masked, original=data).correct == found.by_attack[f"Mahalanobis, {name}"]
    trained = tacit.DistanceLinkage(metric="mahalanobis", cross_covariance="selftrain", rounds=3)
    rounds = trained.measure(masked, original=data).rounds
    assert 1 < len(rounds) <= 4


def test_a_matrix_given_by_hand(data, masked):
    x, y = (np.column_stack([d.column(c).to_numpy() for c in "abc"]) for d in (data, masked))
    cross = np.cov(x, y, rowvar=False)[:3, 3:]
    cross = (cross + cross.T) / 2
    spec = tacit.DistanceLinkage(
        metric="mahalanobis", columns=["a", "b", "c"], cross_covariance=cross.tolist()
    )
    true = tacit.DistanceLinkage(metric="mahalanobis", cross_covariance="true")
    assert (
        spec.measure(masked, original=data).correct == true.measure(masked, original=data).correct
    )


def test_no_projection_means_zero_covariance(data):
    order = np.random.default_rng(0).permutation(300)
    turned = data.replace({c: data.column(c).to_numpy()[order] for c in "abc"}).drop(["d"])
    spec = tacit.DistanceLinkage(metric="mahalanobis", cross_covariance="projection")
    found = spec.measure(turned, original=data)
    assert list(found.by_attack) == ["Mahalanobis, zero covariance"]


@pytest.mark.parametrize(
    "spec",
    [
        {"metric": "distance_standardised"},
        {"metric": "distance_standardised", "pairing": "true"},
        {"metric": "kernel", "degree": 3},
        {"metric": "kernel", "kernel": "rbf", "gamma": 0.5},
        {"direction": "released_to_original"},
        {"one_to_one": True},
    ],
)
def test_every_metric_finds_far_more_than_chance(data, masked, spec):
    found = tacit.DistanceLinkage(**spec).measure(masked, original=data)
    assert found.share > 20 / 300
    assert found.plot().alt


def test_groups_are_found_where_records_are_not(data):
    release = tacit.Mdav(k=3, columns=["a", "b", "c"]).apply(data, seed=1)
    found = tacit.DistanceLinkage().measure(release, original=data)
    assert found.by_rule["unique"] == 0
    assert found.share <= 1 / 3 < found.any_parent
    assert "released values of the right one" in found.explanation


def test_columns_released_as_they_are_narrow_the_search(data):
    release = tacit.Mdav(k=3, columns=["a", "b", "c"]).apply(data, seed=1)
    free = tacit.DistanceLinkage().measure(release, original=data)
    for block in (["illness"], ["illness", "d"]):
        found = tacit.DistanceLinkage(block=block).measure(release, original=data)
        assert found.columns == (*block, "a", "b", "c")
        assert found.share > 1.5 * free.share
    trained = tacit.DistanceLinkage(metric="mahalanobis", block=["illness"])
    assert trained.measure(release, original=data).share > 1.5 * free.share


def test_probabilities_are_calibrated(data, masked):
    spec = tacit.DistanceLinkage(metric="mahalanobis", cross_covariance="true", probabilities=True)
    found = spec.measure(masked, original=data)
    chance = found.frame["probability"].to_numpy()
    assert ((chance > 0) & (chance <= 1)).all()
    assert chance.sum() == pytest.approx(found.correct, rel=0.2)


def test_records_that_were_dropped(data, masked):
    some = masked.take(np.arange(0, 300, 3))
    found = tacit.DistanceLinkage().measure(some, original=data)
    assert found.numbers["records attacked"] == 300
    assert found.numbers["of them in both files"] == 100
    assert found.share == found.correct / 100
    assert found.frame["correct"].to_numpy()[1::3].sum() == 0
    back = tacit.DistanceLinkage(direction="released_to_original").measure(some, original=data)
    assert back.numbers["records attacked"] == 100


def test_sensitive_values_disclosed(data, masked):
    found = tacit.DistanceLinkage(ties="first").measure(masked, original=data)
    assert found.disclosed == {"illness": found.correct}
    hidden = masked.replace({"illness": np.array(["?"] * 300)})
    assert tacit.DistanceLinkage().measure(hidden, original=data).disclosed == {"illness": 0.0}


def test_collinear_columns_bring_a_hint():
    rng = np.random.default_rng(3)
    a = rng.normal(size=400)
    data = tacit.read({"a": a, "b": a + 0.01 * rng.normal(size=400)})
    release = tacit.CorrelatedNoise(columns=["a", "b"], lambda_squared=0.3).apply(data, seed=1)
    found = tacit.DistanceLinkage().measure(release, original=data)
    assert found.condition > 100
    assert "Mahalanobis distance may find far more" in found.explanation


# -- bad input -----------------------------------------------------------------------------------


def test_missing_values_are_refused_or_left_out(data, masked):
    a = masked.column("a").to_numpy().copy()
    a[:5] = np.nan
    holed = tacit.read({**{c: masked.column(c).to_numpy() for c in "bc"}, "a": a})
    plain = tacit.read({c: data.column(c).to_numpy() for c in "bca"})
    with pytest.raises(
        InputError, match=r"'a' has missing values. Give missing='drop_pair_attribute'"
    ):
        tacit.DistanceLinkage().measure(holed, original=plain)
    found = tacit.DistanceLinkage(missing="drop_pair_attribute").measure(holed, original=plain)
    assert found.share > 0.1


def test_infinite_numbers_are_refused(data, masked):
    a = masked.column("a").to_numpy().copy()
    a[0] = np.inf
    with pytest.raises(InputError, match="'a' holds infinite numbers"):
        tacit.DistanceLinkage().measure(masked.replace({"a": a}), original=data)


def test_constant_columns_are_left_out(data, masked):
    flat = masked.replace({"a": np.ones(300)})
    with pytest.warns(SdcWarning, match="'a' is constant in one of the files and was left out"):
        found = tacit.DistanceLinkage().measure(flat, original=data)
    assert found.columns == ("b", "c")
    with pytest.raises(InputError, match="every column compared is constant"):
        tacit.DistanceLinkage(columns=["a"]).measure(flat, original=data)


def test_dependent_columns_are_named():
    data = people(more=np.zeros(300))
    total = {"t": data.column("a").to_numpy() + data.column("b").to_numpy()}
    data = data.replace(total).drop(["more"])
    release = tacit.CorrelatedNoise(columns=["a", "b", "c", "t"], lambda_squared=0.1).apply(
        data, seed=1
    )
    with pytest.warns(SdcWarning, match="'a', 'b', 't' depend on each other linearly"):
        tacit.DistanceLinkage(metric="mahalanobis").measure(release, original=data)


def test_other_faults(data, masked):
    with pytest.raises(ColumnNotFound, match="no column 'x'"):
        tacit.DistanceLinkage(columns=["x"]).measure(masked, original=data)
    with pytest.raises(InputError, match="'illness' does not hold numbers"):
        tacit.DistanceLinkage(columns=["illness"]).measure(masked, original=data)
    with pytest.raises(ColumnNotFound, match="no column 'a'"):
        tacit.DistanceLinkage(columns=["a"]).measure(masked, original=data.drop(["a"]))
    with pytest.raises(InputError, match="at least two records"):
        tacit.DistanceLinkage().measure(masked.take(np.array([3])), original=data)
    with pytest.raises(InputError, match="needs a numeric column that original and release share"):
        tacit.DistanceLinkage().measure(masked.drop(list("abcd")), original=data)
    with pytest.raises(InputError, match="compares protected data with the original"):
        tacit.DistanceLinkage().measure(masked)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"columns": ["a", "a"]}, "name each column once"),
        ({"columns": ["a"], "block": ["a"]}, "block must not name a column whose distance"),
        ({"cross_covariance": [[1.0, 2.0]]}, "must be a square matrix"),
        ({"cross_covariance": [[1.0]]}, "needs columns, one for each row"),
        ({"probabilities": True}, "probabilities need metric='mahalanobis'"),
        ({"metric": "mahalanobis", "probabilities": True, "one_to_one": True}, "separate links"),
        ({"degree": 0}, "degree must be at least 1"),
        ({"gamma": 0}, "gamma must be greater than 0"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(InvalidParameter, match=sentence):
        tacit.DistanceLinkage(**parameters)
