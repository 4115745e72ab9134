import json
from pathlib import Path

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter, LowUtility, WeakProtection
from tacit.plan import Plan, schema
from tacit.records.noise.stages import own_record_share

FIXTURE = Path(__file__).parents[1] / "fixtures/psd10-method-combinations"
SMALL = json.loads((FIXTURE / "projection_microaggregation.json").read_text())
X = np.array(SMALL["X"])

MICZ = {"kind": "sort_by_zscores", "k": 3}
MICPCP = {"kind": "sort_by_component", "k": 3}


def read(x, **roles):
    return tacit.read(dict(zip("abcdef", x.T, strict=False)), **roles)


def array(data, names="ab"):
    return np.column_stack([data.column(c).to_numpy() for c in names])


def normal(n=300, p=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.multivariate_normal(np.arange(p) * 10.0, 0.5 * np.eye(p) + 0.5, n)


def test_the_line_of_the_manual():
    data = read(normal())
    masked = tacit.TwoStage(
        first=tacit.SortByZscores(k=3),
        second=tacit.Mdav(k=10),
    ).apply(data, seed=1)
    assert array(masked).mean(axis=0) == pytest.approx(array(data).mean(axis=0), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "second"),
    [("two_stage_reflect_micz_micz", MICZ), ("two_stage_reflect_micz_micpcp", MICPCP)],
)
def test_worked_example_reflected(name, second):
    method = tacit.TwoStage(first=MICZ, second=second)
    assert array(method.apply(read(X), seed=3)) == pytest.approx(
        np.array(SMALL["expected"][name]), abs=1e-9
    )


def test_worked_example_restored_warns_and_notes_the_risk():
    method = tacit.TwoStage(first=MICZ, second=MICPCP, residual="restore")
    with pytest.warns(WeakProtection, match="nearest to their own original"):
        masked = method.apply(read(X), seed=3)
    expected = np.array(SMALL["expected"]["two_stage_restore_micz_micpcp"])
    assert array(masked) == pytest.approx(expected, abs=1e-9)
    details = masked.history[-1].details
    assert details["linkage_risk"] == own_record_share(X, expected, np.arange(12))
    assert details["linkage_risk"] > details["linkage_risk_first_stage"]


def test_worked_example_first_stage_and_groups():
    done = tacit.TwoStage(first=MICZ, second=MICZ).intermediates(read(X), seed=1)
    assert done[0].released == pytest.approx(np.array(SMALL["expected"]["X1_zscore"]), abs=1e-12)
    labels = done[0].groups()
    groups = sorted(sorted(np.flatnonzero(labels == g).tolist()) for g in np.unique(labels))
    assert groups == sorted(SMALL["expected"]["zscore_groups"])


def test_intermediates_are_those_of_the_release():
    data = read(normal())
    method = tacit.TwoStage(first=MICZ, second={"kind": "local_noise"})
    first, second = method.intermediates(data, seed=9)
    assert np.array_equal(array(method.apply(data, seed=9)), second.released)
    assert np.array_equal(second.released, first.released + second.masked)
    assert [first.kind, second.kind] == ["sort_by_zscores", "local_noise"]


SECONDS = [
    MICZ,
    MICPCP,
    {"kind": "mdav", "k": 10},
    {"kind": "restoring_noise"},
    {"kind": "local_noise", "partitions": 25},
    {"kind": "rank_swap", "percent": 10},
    {"kind": "correlated_noise", "columns": ["a", "b", "c"], "lambda_squared": 0.5, "exact": True},
]


@pytest.mark.filterwarnings("ignore:.*skewness:tacit.errors.LowUtility")
@given(st.integers(0, 10_000), st.integers(40, 90), st.sampled_from(SECONDS))
@settings(max_examples=14, deadline=None)
def test_column_means_are_kept(seed, n, second):
    data = read(normal(n, 3, seed))
    masked = tacit.TwoStage(second=second).apply(data, seed=seed)
    assert array(masked, "abc").mean(axis=0) == pytest.approx(
        array(data, "abc").mean(axis=0), abs=1e-9
    )
    assert masked.history[-1].details["largest_mean_change_in_sd"] < 1e-9


@given(st.integers(0, 10_000))
@settings(max_examples=10, deadline=None)
def test_reflecting_keeps_the_residual_covariance(seed):
    """Group means of the reflected residual give back between-group residual covariance, no more."""
    x = normal(200, 2, seed)
    first, second = tacit.TwoStage(second=MICPCP).intermediates(read(x), seed=1)
    residual = first.released - x
    lost = np.cov(residual.T, bias=True) - np.cov(second.masked.T, bias=True)
    assert np.linalg.eigvalsh(lost)[0] > -1e-12
    assert np.cov(x.T, bias=True) - np.cov(first.released.T, bias=True) == pytest.approx(
        np.cov(residual.T, bias=True), abs=1e-10
    )


def test_each_stage_has_its_own_random_numbers():
    data = read(normal())
    noise = {"kind": "add_noise", "columns": ["a", "b"], "sd": 1}
    first, second = tacit.TwoStage(first=noise, second=noise).intermediates(data, seed=4)
    added = first.released - array(data)
    again = second.masked - added
    assert abs(np.corrcoef(added.ravel(), again.ravel())[0, 1]) < 0.2
    other = tacit.TwoStage(first=noise, second=MICZ).intermediates(data, seed=4)
    assert np.array_equal(other[0].released, first.released)


def test_stands_in_a_yaml_plan_and_its_schema(tmp_path):
    method = tacit.TwoStage(
        columns=["a", "b"], first=MICZ, second={"kind": "rank_swap", "percent": 5}
    )
    path = tmp_path / "plan.yaml"
    Plan([method]).save(path)
    document = yaml.safe_load(path.read_text())
    validator = jsonschema.Draft202012Validator(schema())
    validator.validate(document)
    assert list(Plan.load(path).steps) == [method]
    assert document["steps"][0]["second"] == {"kind": "rank_swap", "percent": 5.0}
    document["steps"][0]["second"]["percent"] = "much"
    assert list(validator.iter_errors(document))
    document["steps"][0]["second"] = {"kind": "k_anonymity"}
    assert list(validator.iter_errors(document))


def test_secrets_of_stages_stay_secret():
    method = tacit.TwoStage(
        columns=["a", "b"],
        first=MICZ,
        second={
            "kind": "correlated_noise",
            "columns": ["a", "b"],
            "lambda_squared": 0.123,
            "reveal": False,
        },
    )
    masked = method.apply(read(normal()), seed=1)
    action = masked.history[-1]
    for public in (method.to_dict(public=True), action.parameters, action.details, repr(method)):
        assert "0.123" not in str(public)
    assert method.to_dict()["second"]["lambda_squared"] == 0.123
    assert Plan([method]).to_dict(public=True)["steps"][0]["second"] == {
        "kind": "correlated_noise",
        "columns": ["a", "b"],
        "reveal": False,
    }


def test_notes_hold_every_stage_and_no_values():
    x = normal(50)
    x[7, 0] = 98765.4321
    with pytest.warns(LowUtility, match="skewness"):
        masked = tacit.TwoStage(second=MICZ).apply(read(x), seed=1)
    details = masked.history[-1].details
    assert [stage["kind"] for stage in details["stages"]] == ["sort_by_zscores"] * 2
    assert details["columns"] == ["a", "b"]
    assert "98765" not in str(details)


def test_skewed_columns_are_told():
    x = np.exp(2 * normal(500))
    with pytest.warns(LowUtility, match="reflected residuals changed the skewness of 2 skewed"):
        masked = tacit.TwoStage(second=MICPCP).apply(read(x), seed=1)
    details = masked.history[-1].details
    assert details["skewness_after"][0] < details["skewness_before"][0]


def test_masks_the_named_columns_only_and_uses_weights_and_classes():
    x = normal(60, 3)
    data = tacit.read(
        {
            "a": x[:, 0],
            "b": x[:, 1],
            "c": x[:, 2],
            "group": ["u", "v"] * 30,
            "w": np.arange(1.0, 61.0),
        },
        weight="w",
    )
    by_group = {**MICZ, "by": ["group"], "weighted": True}
    masked = tacit.TwoStage(columns=["a", "b"], first=by_group, second=MICZ).apply(data, seed=1)
    assert masked.column("c").equals(data.column("c"))
    assert masked.column("w").equals(data.column("w"))
    assert not masked.column("a").equals(data.column("a"))
    all_numbers = tacit.TwoStage(first=by_group, second=MICZ)
    assert all_numbers.targets(data) == ("a", "b", "c")


def test_columns_of_the_first_stage_are_the_default():
    data = read(normal(60, 3))
    masked = tacit.TwoStage(first={**MICZ, "columns": ["a", "c"]}, second=MICZ).apply(data, seed=1)
    assert masked.column("b").equals(data.column("b"))
    one = tacit.TwoStage(second={**MICZ, "columns": ["b"]}).intermediates(data, seed=1)
    assert not one[1].masked[:, [0, 2]].any()
    assert one[1].masked[:, 1].any()


def test_whole_numbers_and_missing_values():
    x = np.round(100 * normal(80))
    table = {"a": [None if i == 5 else int(v) for i, v in enumerate(x[:, 0])], "b": x[:, 1]}
    data = tacit.read(table)
    with pytest.raises(InputError, match="'a' has missing values"):
        tacit.TwoStage(second=MICZ).apply(data, seed=1)
    kept = tacit.TwoStage(second=MICZ, missing="keep").apply(data, seed=1)
    assert kept.column("a").to_pylist()[5] is None
    assert kept.column("b").to_pylist()[5] == x[5, 1]
    assert kept.column("a").type == pa.float64()
    whole = tacit.TwoStage(second=MICZ, missing="keep", whole=True).apply(data, seed=1)
    assert whole.column("a").type == pa.int64()


def test_stages_nest():
    inner = {"kind": "two_stage", "first": MICZ, "second": MICPCP}
    method = tacit.TwoStage(first=inner, second=MICZ)
    assert tacit.TwoStage(**method.to_dict()) == method
    data = read(normal())
    assert array(method.apply(data, seed=1)).mean(axis=0) == pytest.approx(
        array(data).mean(axis=0), abs=1e-10
    )


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"kind": "ward_groups", "k": 1}, "second WardGroups: k must be at least 2"),
        ({"kind": "individual_rank"}, "Did you mean 'individual_ranking'"),
        ({"k": 3}, "second must be a method or a mapping with its kind"),
        ("mdav", "second must be a method or a mapping with its kind"),
        ({"kind": "k_anonymity"}, "must be a method that protects records"),
        ({"kind": "rank_swap", "percent": 0}, "percent"),
        ({"kind": "rank_swap", "percent": 101}, "percent"),
        ({"kind": "restoring_noise", "first": MICZ}, "leave out its 'first'"),
        ({"kind": "local_noise", "partitions": 0}, "partitions must be at least 1"),
    ],
)
def test_bad_stages(second, message):
    with pytest.raises(InvalidParameter, match=message):
        tacit.TwoStage(second=second)


def test_bad_data():
    method = tacit.TwoStage(second=MICZ)
    with pytest.raises(InputError, match="'a' is constant, so its z-scores are undefined"):
        method.apply(tacit.read({"a": [1.0] * 12, "b": X[:, 1]}), seed=1)
    with pytest.raises(Infeasible, match="at least 6 complete records"):
        method.apply(read(X[:5]), seed=1)
    with pytest.raises(InputError, match="no numeric column to mask"):
        method.apply(tacit.read({"t": ["u", "v"] * 6}), seed=1)
    with pytest.raises(InputError, match="'t' does not hold numbers"):
        tacit.TwoStage(columns=["t"], second=MICZ).apply(tacit.read({"t": ["u"] * 9}), seed=1)
    with pytest.raises(InputError, match="masks 'b', which is not among the columns masked"):
        tacit.TwoStage(columns=["a"], second={**MICZ, "columns": ["b"]}).apply(read(X), seed=1)
    with pytest.raises(InputError, match="does not keep every record"):
        tacit.TwoStage(first={"kind": "sample", "share": 0.5}, second=MICZ).apply(read(X), seed=1)


def test_restoring_an_accurate_second_stage_gives_the_file_back():
    x = normal(2000, 2, 5)
    data = read(x)
    at = np.arange(len(x))
    accurate = {"kind": "mdav", "k": 10}
    reflected = array(tacit.TwoStage(second=accurate).apply(data, seed=1))
    with pytest.warns(WeakProtection):
        restored = tacit.TwoStage(second=accurate, residual="restore").apply(data, seed=1)
    assert own_record_share(x, reflected, at) < 0.1
    assert own_record_share(x, array(restored), at) > 0.6
