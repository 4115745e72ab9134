"""Global disclosure risk: kernels, links, weights, refusals."""

import itertools
import warnings

import narwhals.stable.v2 as nw
import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, RoleMissing, SpecError
from tacit.records.global_risk.factors import inversions
from tacit.records.global_risk.search import shape_fault, weights_of

ORIGINAL = {
    "age": [34, 34, 41, 41, 52, 52],
    "sex": ["m", "m", "f", "f", "m", "f"],
    "zip": ["48201", "48201", "48202", "48301", "48301", "88202"],
}
KEYS = ["age", "sex", "zip"]


def read(columns=ORIGINAL, **options):
    return tacit.read(columns, **{"keys": [k for k in KEYS if k in columns]} | options)


def changed(**columns):
    return ORIGINAL | columns


# -- inversions --------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [2, 7, 1000])
def test_inversions_are_those_of_all_pairs(levels):
    rng = np.random.default_rng(levels)
    x, y = rng.integers(0, levels, (2, 120))
    n = rng.integers(1, 5, 120)
    literal = sum(
        int(n[i] * n[j])
        for i, j in itertools.product(range(120), repeat=2)
        if x[i] < x[j] and y[i] > y[j]
    )
    assert inversions(x, y, n) == literal


def test_no_inversions_in_nothing():
    none = np.zeros(0, dtype=np.int64)
    assert inversions(none, none, none) == 0


def test_a_reversed_order_has_factor_one_and_a_shift_has_none():
    ages = {"age": list(range(10))}
    for masked, icf in (([9 - a for a in range(10)], 1.0), ([a // 2 for a in range(10)], 0.0)):
        found = tacit.GlobalRisk().measure(read({"age": masked}), original=read(ages))
        assert found.icf == {"age": icf}
        assert found.factors["age"].order_preserving == (icf == 0)


# -- kinds -------------------------------------------------------------------------------------


def test_default_kinds():
    data = read(hierarchies={"zip": tacit.hierarchy.digits(5)})
    found = tacit.GlobalRisk().measure(data, original=data)
    assert {k: f.kind for k, f in found.factors.items()} == {
        "age": "ordered",
        "sex": "unordered",
        "zip": "tree",
    }
    assert set(found.icf.values()) == {0}


def test_an_ordered_key_that_was_generalised_to_text_is_compared_by_its_tree():
    rule = {"age": tacit.hierarchy.intervals([10, 20]), "zip": tacit.hierarchy.digits(5)}
    data = read(hierarchies=rule)
    masked = data.generalise("age", 1).generalise("zip", 2)
    found = tacit.GlobalRisk().measure(masked, original=data)
    assert found.factors["age"].kind == "tree"
    assert found.icf["zip"] == pytest.approx(0.4)
    assert 0 < found.icf["age"] < 1


def test_texts_that_are_numbers_have_their_numeric_order():
    data = tacit.read({"age": ["9", "10", "11"]}, keys=["age"], types={"age": "text"})
    masked = tacit.read({"age": [1, 2, 3]}, keys=["age"])
    found = tacit.GlobalRisk(kinds={"age": "ordered"}).measure(masked, original=data)
    assert found.factors["age"].inversions == 0


def test_a_value_outside_the_tree_is_a_strong_change():
    data = read(hierarchies={"zip": tacit.hierarchy.digits(5)})
    masked = read(changed(zip=["48201", "elsewhere", "48209", "48301", "48301", "88202"]))
    found = tacit.GlobalRisk().measure(masked, original=data)
    assert found.icf["zip"] == pytest.approx((1 + 1) / 6)
    assert found.factors["zip"].strong == 2


def test_a_function_as_kind_and_as_weights():
    masked = read(changed(sex=["f", "m", "f", "f", "m", "f"]))
    spec = tacit.GlobalRisk(
        kinds={"sex": lambda a, b: 0.5 * (a != b)}, weights=lambda i, j: 1 / (i * j) ** 2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tacit.errors.WeakProtection)
        assert spec.measure(masked, original=read()).icf["sex"] == pytest.approx(1 / 12)
    with pytest.raises(SpecError, match="cannot be written down"):
        spec.to_dict()


def test_whole_numbers_equal_their_text():
    data = tacit.read({"code": [1, 2, 3]}, keys=["code"])
    masked = tacit.read({"code": ["1", "2", "x"]}, keys=["code"])
    found = tacit.GlobalRisk().measure(masked, original=data)
    assert found.factors["code"].changes == 1


# -- links -------------------------------------------------------------------------------------


def test_a_sample_keeps_the_original_size_as_denominator(engine):
    data = read(engine=engine)
    sample = data.filter(nw.col("age") > 40)
    found = tacit.GlobalRisk().measure(sample, original=data)
    assert found.numbers["original records"] == 6
    assert found.numbers["masked records"] == found.numbers["linked records"] == 4
    assert found.maximum.value == pytest.approx(4 / 6)


def test_added_records_count_in_masked_clusters_only(engine):
    data = read(engine=engine)
    longer = {k: [*v, v[-1], v[-1]] for k, v in ORIGINAL.items()}
    found = tacit.GlobalRisk().measure(read(longer, engine=engine), original=data)
    assert found.numbers["linked records"] == 6
    assert found.numbers["masked records"] == 8
    assert found.matrix() == {(1, 1): 3, (2, 2): 2, (3, 1): 1}
    assert found.contributions(KEYS)[-2:] == pytest.approx([0, 0])


def test_scrambled_records_are_refused():
    data = read()
    masked = tacit.Scramble().apply(data, seed=1)
    with pytest.raises(InputError, match="no masked record is linked"):
        tacit.GlobalRisk().measure(masked, original=data)


def test_contributions_sum_to_the_risk_and_name_positions(engine):
    data = read(engine=engine)
    masked = read(changed(age=[35, 33, 41, 42, 50, 52]), engine=engine)
    for report in ("minimum", "weighted", "maximum"):
        found = tacit.GlobalRisk(report=report).measure(masked, original=data)
        assert found.contributions().sum() / 6 == pytest.approx(found.value)
        assert found.value == getattr(found, report).value
    top = found.top(2)
    assert len(top) == 2
    assert top[0][1] >= top[1][1]


def test_missing_values_only_when_asked(engine):
    data = read(engine=engine)
    masked = read(changed(sex=[None, "m", "f", "f", "m", "f"]), engine=engine)
    with pytest.raises(InputError, match="missing values in 'sex'; set missing='category'"):
        tacit.GlobalRisk().measure(masked, original=data)
    found = tacit.GlobalRisk(missing="category").measure(masked, original=data)
    assert found.factors["sex"].changes == 1
    assert found.matrix(["sex"]) == {(1, 3): 1, (2, 3): 2, (3, 3): 3}


def test_a_missing_age_takes_part_in_no_inversion():
    masked = read(changed(age=[None, 34, 41, 41, 52, 52]))
    found = tacit.GlobalRisk(missing="category").measure(masked, original=read())
    assert found.factors["age"].inversions == 0


# -- subsets -----------------------------------------------------------------------------------


def test_listed_subsets():
    masked = read(changed(sex=["f", "f", "m", "m", "f", "m"]))
    found = tacit.GlobalRisk(subsets=[["sex"], ["age", "sex"]]).measure(masked, original=read())
    assert found.frame["keys"].to_list() == ["age+sex", "sex"]
    assert found.value == 0
    assert found.overmasked == ()
    everything = tacit.GlobalRisk().measure(masked, original=read())
    assert everything.maximum.keys == ("age", "zip")
    assert everything.overmasked == ("sex",)
    assert "sex is over-masked" in everything.explanation


def test_many_keys_are_searched_exactly_without_looking_everywhere():
    rng = np.random.default_rng(3)
    codes = {f"k{i}": rng.integers(0, 4, 200) for i in range(8)}
    released = {
        k: np.where(rng.random(200) < 0.05 * i, rng.permutation(v), v)
        for i, (k, v) in enumerate(codes.items())
    }
    keys = list(codes)
    data, masked = (
        tacit.read({k: v.tolist() for k, v in d.items()}, keys=keys) for d in (codes, released)
    )
    every = [s for size in range(1, 9) for s in itertools.combinations(keys, size)]
    found = tacit.GlobalRisk().measure(masked, original=data)
    listed = tacit.GlobalRisk(subsets=every).measure(masked, original=data)
    assert found.numbers["subsets looked at"] < listed.numbers["subsets looked at"] == 255
    for measure in ("minimum", "weighted", "maximum"):
        ours, theirs = getattr(found, measure), getattr(listed, measure)
        assert ours.value == pytest.approx(theirs.value, abs=1e-12)
        assert ours.keys == theirs.keys


def test_all_keys_spoiled_is_no_risk():
    data = tacit.read({"a": ["x", "y"] * 5}, keys=["a"])
    masked = tacit.read({"a": ["y", "x"] * 5}, keys=["a"])
    found = tacit.GlobalRisk().measure(masked, original=data)
    assert found.value == found.minimum.value == found.weighted.value == 0
    assert found.numbers["keys spoiled (factor 1)"] == 1


# -- weights -----------------------------------------------------------------------------------


def test_presets_span_the_bounds():
    masked = read(changed(age=[35, 33, 41, 42, 50, 52]))
    risks = {
        w: tacit.GlobalRisk(weights=w).measure(masked, original=read())
        for w in ("min", "max", "diagonal", "one_over_max")
    }
    assert risks["min"].weighted.value == risks["min"].minimum.value
    assert risks["max"].weighted.value == risks["max"].maximum.value


def test_a_small_matrix_goes_on_along_its_diagonals():
    weights = weights_of([[4, 2, 1], [2, 3, 2]])
    i = np.array([1, 2, 2, 5, 9, 1, 5, 1])
    j = np.array([1, 2, 3, 5, 8, 3, 6, 9])
    assert (weights.relative(i, j) * 4).tolist() == [4, 3, 2, 3, 2, 1, 2, 1]


def test_an_extended_matrix_keeps_its_shape():
    w = [[4, 2, 1], [2, 3, 2], [0, 2, 3]]
    weights = weights_of(w)
    i, j = np.indices((9, 9)) + 1
    assert shape_fault(np.array(w, dtype=float)) is None
    assert shape_fault(weights.relative(i.ravel(), j.ravel()).reshape(9, 9)) is None


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[3, 1, 2], [1, 2, 1], [1, 1, 2]], r"w\(1, 3\) exceeds w\(1, 2\)"),
        ([[3, 1], [1, 0.5]], r"w\(2, 1\) exceeds w\(2, 2\)"),
        ([[3, 1], [1, 2], [2, 1]], r"w\(3, 1\) exceeds w\(3, 2\)"),
        ([[3, 1, 1], [1, 3, 2], [1, 2, 3]], r"down a diagonal, but w\(2, 3\) exceeds w\(1, 2\)"),
    ],
)
def test_broken_shape_rules_warn_with_the_first_pair(matrix, words):
    with pytest.warns(tacit.errors.WeakProtection, match=words):
        tacit.GlobalRisk(weights=matrix).measure(read(), original=read())


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"weights": [[1, -1]]}, "numbers of at least 0"),
        ({"weights": [[0, 0]]}, "w_11, must be greater than 0"),
        ({"weights": [[1, 2]]}, "w_11, must be the largest"),
        ({"weights": [[1, float("nan")]]}, "numbers of at least 0"),
        ({"weights": [[1, 1], [1]]}, "a matrix"),
        ({"weights": []}, "a matrix"),
        ({"weights": "heavy"}, "must be one of min, max"),
        ({"kinds": {"age": "sorted"}}, "must be 'ordered'"),
        ({"kinds": {"zip": {"prefix": 0}}}, "must be 'ordered'"),
        ({"report": "mean"}, "report must be one of"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(InvalidParameter, match=words) as error:
        tacit.GlobalRisk(**parameters)
    assert "\n" not in str(error.value)


def one():
    return read({k: v[:1] for k, v in ORIGINAL.items()})


@pytest.mark.parametrize(
    ("error", "spec", "masked", "original", "words"),
    [
        (InputError, {}, one, one, "at least two linked records"),
        (ColumnNotFound, {}, lambda: read().drop(["zip"]), read, "the masked data"),
        (ColumnNotFound, {"kinds": {"job": "tree"}}, read, read, "'job' in the keys"),
        (ColumnNotFound, {"subsets": [["job"]]}, read, read, "'job' in the keys"),
        (InputError, {"subsets": [[]]}, read, read, "none may be empty"),
        (RoleMissing, {"kinds": {"zip": "tree"}}, read, read, "has no hierarchy"),
        (RoleMissing, {}, lambda: read(keys=[]), lambda: read(keys=[]), "needs keys"),
        (InputError, {"kinds": {"sex": "ordered"}}, read, read, "neither numbers nor dates"),
        (
            InputError,
            {"kinds": {"zip": {"prefix": 3}}},
            read,
            read,
            "longer than its prefix length",
        ),
        (InputError, {"kinds": {"sex": lambda a, b: 2}}, read, read, r"outside \[0, 1\]"),
        (InputError, {"kinds": {"sex": lambda a, b: 1}}, read, read, "0 for equal values"),
        (InputError, {"weights": lambda i, j: i}, read, read, "must be the largest"),
        (InputError, {"link": "sex"}, read, read, "stands twice"),
        (InputError, {"columns": ["age", "age"]}, read, read, "listed twice"),
        (
            InputError,
            {},
            lambda: read().take(np.array([0, 0, 1])),
            read,
            "stands twice in the masked data",
        ),
    ],
)
def test_bad_data_are_refused_in_a_sentence(error, spec, masked, original, words):
    with pytest.raises(error, match=words) as found:
        tacit.GlobalRisk(**spec).measure(masked(), original=original())
    assert "\n" not in str(found.value)
    assert "48201" not in str(found.value)


def test_more_than_twenty_keys_need_a_list():
    data = tacit.read({f"k{i}": [1, 2] for i in range(21)}, keys=[f"k{i}" for i in range(21)])
    with pytest.raises(InputError, match="up to 20 keys"):
        tacit.GlobalRisk().measure(data, original=data)
    found = tacit.GlobalRisk(subsets=[["k0", "k20"]]).measure(data, original=data)
    assert found.value == 1


def test_charts():
    data = read()
    found = tacit.GlobalRisk().measure(data, original=data)
    assert len([chart.svg() for chart in found.charts()]) == 3


def test_stands_in_a_plan_before_and_after():
    from tacit.plan import Plan

    data = read(hierarchies={"zip": tacit.hierarchy.digits(5)})
    plan = Plan.from_dict(
        {
            "tacit": 1,
            "steps": [{"kind": "generalise", "columns": ["zip"], "level": 2}],
            "measures": [
                {
                    "kind": "global_risk",
                    "kinds": {"zip": {"prefix": 5}},
                    "weights": [[2, 1], [1, 2]],
                }
            ],
        }
    )
    assert Plan.from_dict(plan.to_dict()) == plan
    released = plan.run(data, seed=1)
    assert "Global disclosure risk: maximum risk" in str(released.risk)
