"""Individual risk: published and constructed numbers, missing keys, households, thresholds, bad input."""

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter, RoleMissing, SdcWarning

FIXTURE = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "psd21-individual-risk" / "expected.json").read_text()
)
CASE = FIXTURE["spree"]
AXES = {"d": [0, 1, 2], "h": [0, 1], "i": [0, 1, 2]}


def table(columns, array):
    """A table of totals from an array."""
    cells = list(itertools.product(*(AXES[c] for c in columns)))
    return {c: [cell[j] for cell in cells] for j, c in enumerate(columns)} | {
        "count": [float(v) for v in np.asarray(array).ravel()]
    }


def sample(weight=20.0):
    """The records of the toy sample."""
    f = np.array(FIXTURE["estimators"]["sample"])
    rows = [cell for cell in np.ndindex(*f.shape) for _ in range(int(f[cell]))]
    columns = {c: [int(r[j]) for r in rows] for j, c in enumerate("dhi")}
    return tacit.read(columns | {"w": [weight] * len(rows)}, keys=["d", "h", "i"], weight="w")


def spree(**more):
    return {
        "association": table("dhi", CASE["X"]),
        "margins": [table("hi", CASE["F_hi"]), table("dh", CASE["F_dh"])],
        **more,
    }


@pytest.mark.parametrize("estimator", ["bf", "spree", "bf_spree"])
def test_three_estimators_of_the_constructed_sample(estimator):
    more = {} if estimator == "bf" else spree(tolerance=1e-13)
    found = tacit.IndividualRisk(estimator=estimator, **more).measure(sample())
    rows = {(r["d"], r["h"], r["i"]): r for r in found.cells.rows(named=True)}
    wanted = FIXTURE["estimators"]["cells"]
    assert len(rows) == len(wanted)
    for cell in wanted:
        assert rows[tuple(cell["cell"])]["risk"] == pytest.approx(
            cell[f"risk_{estimator}"], rel=1e-9
        )


def test_spree_keeps_the_odds_and_meets_the_margins():
    everything = tacit.read(
        {c: [cell[j] for cell in np.ndindex(3, 2, 3)] for j, c in enumerate("dhi")}
        | {"w": [1.0] * 18},
        keys=["d", "h", "i"],
        weight="w",
    )
    found = tacit.IndividualRisk(estimator="spree", floor="none", **spree(tolerance=1e-13)).measure(
        everything
    )
    estimate = found.cells.get_column("spree").to_numpy().reshape(3, 2, 3)
    np.testing.assert_allclose(estimate, CASE["converged"], rtol=1e-9)
    np.testing.assert_allclose(estimate.sum(axis=2), CASE["F_dh"], rtol=1e-12)


def test_a_census_file_serves_as_the_association_table():
    counts = np.array(CASE["X"]).astype(int)
    rows = [cell for cell in np.ndindex(3, 2, 3) for _ in range(counts[cell])]
    census = tacit.read({c: [r[j] for r in rows] for j, c in enumerate("dhi")})
    margins = spree()["margins"]
    by_file = tacit.IndividualRisk(estimator="bf_spree", margins=margins).measure(
        sample(), register=census
    )
    by_table = tacit.IndividualRisk(estimator="bf_spree", **spree()).measure(sample())
    assert by_file.expected == pytest.approx(by_table.expected, rel=1e-12)
    with pytest.raises(InputError, match="needs the old census"):
        tacit.IndividualRisk(estimator="bf_spree", margins=margins).measure(sample())


def test_finer_categories_of_the_census_are_joined():
    fine = table("dhi", np.array(CASE["X"]) / 2)
    halves = {
        **{c: [*fine[c], *fine[c]] for c in ("d", "h")},
        "i": [*(f"{i}a" for i in fine["i"]), *(f"{i}b" for i in fine["i"])],
        "count": fine["count"] * 2,
    }
    joined = {"i": {f"{i}{half}": i for i in range(3) for half in "ab"}}
    one = tacit.IndividualRisk(
        estimator="spree", **spree(association=halves), categories=joined
    ).measure(sample())
    two = tacit.IndividualRisk(estimator="spree", **spree()).measure(sample())
    np.testing.assert_allclose(one.risk, two.risk)
    with pytest.raises(InputError, match="lacks categories"):
        tacit.IndividualRisk(estimator="spree", **spree(association=halves)).measure(sample())


def test_margins_estimated_by_the_weights_are_scaled_on_request():
    margins = [table("dh", CASE["F_dh"]), ["h", "i"]]
    spec = {"estimator": "spree", "association": table("dhi", CASE["X"]), "margins": margins}
    with pytest.raises(InputError, match="contradict each other"):
        tacit.IndividualRisk(**spec).measure(sample())
    with pytest.warns(SdcWarning, match="scaled to its totals"):
        found = tacit.IndividualRisk(**spec, rescale=True).measure(sample())
    assert found.numbers["largest deviation from a margin"] <= 1e-8


def test_structural_zeros_are_floored_and_reported_or_filled():
    x = np.array(CASE["X"])
    cell = tuple(FIXTURE["estimators"]["cells"][0]["cell"])
    x[cell] = 0
    given = spree(association=table("dhi", x))
    found = tacit.IndividualRisk(estimator="spree", **given).measure(sample())
    rows = {(r["d"], r["h"], r["i"]): r for r in found.cells.rows(named=True)}
    assert rows[cell]["spree"] == 0
    assert rows[cell]["floored"]
    assert rows[cell]["risk"] == pytest.approx(1 / rows[cell]["f"])
    assert found.numbers["cells raised to their records"] >= 1
    with pytest.raises(InputError, match="empty where the sample has records"):
        tacit.IndividualRisk(estimator="spree", floor="none", **given).measure(sample())
    filled = tacit.IndividualRisk(estimator="spree", zeros=0.5, **given).measure(sample())
    rows = {(r["d"], r["h"], r["i"]): r for r in filled.cells.rows(named=True)}
    assert rows[cell]["spree"] > 0


def test_eight_records_of_capobianchi_polettini_and_lucarelli():
    """The small file that comes with sdcMicro (francdat), with the closed forms for f = 1 and 2 by hand."""
    data = tacit.read(
        {
            "key1": [1, 1, 1, 3, 4, 4, 6, 1],
            "key2": [2, 2, 2, 3, 3, 3, 2, 2],
            "key3": [5, 1, 1, 1, 1, 1, 1, 5],
            "key4": [1, 1, 1, 5, 4, 1, 5, 1],
            "w": [18, 45.5, 39, 17, 541, 8, 5, 92],
        },
        keys=["key1", "key2", "key3", "key4"],
        weight="w",
    )
    found = tacit.IndividualRisk().measure(data)
    assert found.frame["f"].to_list() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.frame["population"].to_list() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    assert [round(r, 3) for r in found.risk.tolist()] == [
        0.017,
        0.022,
        0.022,
        0.177,
        0.012,
        0.297,
        0.402,
        0.017,
    ]


def with_holes():
    """Eight records with two keys, some of them missing."""
    return tacit.read(
        {
            "a": [1, 2, 1, None, 1, None, 1, 5],
            "b": [6, 2, None, 3, 6, 2, 6, 3],
            "w": [18, 45.5, 39, 17, 541, 8, 5, 92],
        },
        keys=["a", "b"],
        weight="w",
    )


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_missing_keys_count_in_part(alpha):
    """Against the rule: agreeing records of other cells that lack a key count alpha."""
    data = with_holes()
    a, b, w = (data.column(c).to_pylist() for c in "abw")
    wanted_f, wanted_w = [], []
    for i in range(8):
        f = population = 0.0
        for j in range(8):
            same = (a[i], b[i]) == (a[j], b[j])
            agrees = all(x is None or y is None or x == y for x, y in ((a[i], a[j]), (b[i], b[j])))
            share = 1.0 if same or (a[j] is not None and b[j] is not None) else alpha
            f += agrees * share
            population += agrees * share * w[j]
        wanted_f.append(f)
        wanted_w.append(population)
    found = tacit.IndividualRisk(missing="wildcard", alpha=alpha).measure(data).frame
    np.testing.assert_allclose(found.get_column("f").to_numpy(), wanted_f)
    np.testing.assert_allclose(found.get_column("population").to_numpy(), wanted_w)
    sizes = tacit.KAnonymity(missing="wildcard", alpha=alpha).measure(data)
    assert sizes.k == pytest.approx(min(wanted_f))


def test_a_record_without_any_key_agrees_with_all_in_full():
    data = tacit.read(
        {"a": [1, 2, None], "b": [1, None, None], "w": [2.0, 3, 4]}, keys=["a", "b"], weight="w"
    )
    found = tacit.IndividualRisk(missing="wildcard", alpha=0.5).measure(data).frame
    np.testing.assert_allclose(found.get_column("f").to_numpy(), [1.5, 1.5, 3])


def test_households_thresholds_and_the_worst_quasi_identifier():
    data = tacit.read(
        {
            "a": [1, 1, 2, 2, 3],
            "b": [1, 2, 2, 2, 2],
            "w": [2.0, 3, 4, 5, 6],
            "home": ["x", "x", "y", None, None],
        },
        keys={"first": ["a"], "second": ["b"]},
        weight="w",
        household="home",
    )
    both = tacit.IndividualRisk().measure(data)
    one, two = (tacit.IndividualRisk(quasi=q).measure(data).risk for q in ("first", "second"))
    np.testing.assert_array_equal(both.risk, np.maximum(one, two))
    assert both.expected == pytest.approx(both.frame.get_column("risk").to_numpy().sum())
    homes = both.household.rows(named=True)
    assert [h["home"] for h in homes] == ["x", "y", None, None]
    assert homes[0]["risk"] == pytest.approx(1 - (1 - both.risk[0]) * (1 - both.risk[1]))
    limit = both.threshold(expected=1)
    assert np.minimum(both.risk, limit).sum() == pytest.approx(1)
    assert both.risk[both.risk <= both.threshold(expected=1, removed=True)].sum() <= 1
    with pytest.raises(InvalidParameter, match="above 0"):
        both.threshold(expected=0)
    with pytest.raises(RoleMissing, match="no household"):
        tacit.IndividualRisk().measure(sample()).household  # noqa: B018


def test_a_constant_sampling_fraction_and_a_census():
    data = tacit.read({"a": [1, 1, 2]}, keys=["a"])
    found = tacit.IndividualRisk(sampling_fraction=1.0).measure(data)
    np.testing.assert_array_equal(found.risk, [0.5, 0.5, 1.0])
    found = tacit.IndividualRisk(sampling_fraction=0.2).measure(data)
    assert found.risk[2] == pytest.approx(0.2 / 0.8 * np.log(5))


def test_thresholds_fall_short_in_a_sentence_and_charts_draw():
    found = tacit.IndividualRisk(threshold=0.01, average=0.01).measure(sample())
    assert "records have a risk above 0.01" in found.shortfall
    assert "average risk is above" in tacit.IndividualRisk(average=0.01).measure(sample()).shortfall
    assert not tacit.IndividualRisk(threshold=1.0, average=1.0).measure(sample()).shortfall
    for chart in found.charts():
        assert "<svg" in chart.svg()


WEIGHTS = {"a": [1, 1, 2], "w": [2.0, 3.0, 4.0]}


@pytest.mark.parametrize("bad", [0.0, -1.0, None, float("nan")])
def test_impossible_weights_are_refused(bad):
    with pytest.raises(InputError, match="missing, zero or negative"):
        tacit.read({"a": [1, 1, 2], "w": [2.0, bad, 4.0]}, keys=["a"], weight="w")


def test_endless_weights_are_refused():
    data = tacit.read({"a": [1, 2], "w": [2.0, float("inf")]}, keys=["a"], weight="w")
    with pytest.raises(InputError, match="positive weight"):
        tacit.IndividualRisk().measure(data)


def test_weights_below_one_are_told_and_the_chance_is_capped():
    data = tacit.read({"a": [1, 1, 2], "w": [0.5, 0.75, 4.0]}, keys=["a"], weight="w")
    with pytest.warns(SdcWarning, match=r"below 1.*risk is 1/f"):
        found = tacit.IndividualRisk().measure(data)
    assert found.risk[0] == 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.IndividualRisk().measure(tacit.read(WEIGHTS, keys=["a"], weight="w"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sampling_fraction": 0}, "greater than 0"),
        ({"sampling_fraction": 1.5}, "at most 1"),
        ({"alpha": 0.5}, "alpha goes with missing"),
        ({"alpha": 2, "missing": "wildcard"}, "at most 1"),
        ({"estimator": "spree"}, "SPREE needs margins"),
        ({"margins": [["a"]]}, "go with the estimators"),
        ({"estimator": "spree", "margins": [{"a": [1], "count": [-1]}]}, "not negative"),
        ({"estimator": "spree", "margins": [{"a": [1]}]}, "named 'count'"),
        ({"estimator": "spree", "margins": [["a"]], "missing": "wildcard"}, "complete keys"),
    ],
)
def test_bad_parameters_say_so_in_a_sentence(given, words):
    with pytest.raises(InvalidParameter, match=words):
        tacit.IndividualRisk(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            spree(margins=[table("hi", CASE["F_hi"]), table("dh", np.array(CASE["F_dh"]) * 2)]),
            "contradict each other",
        ),
        (spree(margins=[{"x": [1], "count": [410]}]), "not a key"),
        (spree(association={"d": [0], "h": [0], "count": [1]}), "must have the keys"),
        (spree(association={"d": [0], "h": [0], "i": [0], "count": [1]}), "lacks categories"),
        (spree(margins=[{"d": [0, 1], "count": [200, 210]}]), "lacks a total"),
        (spree(margins=[{"d": [0, 1, 2, 3], "count": [100, 100, 100, 110]}]), "nothing to scale"),
        (
            spree(margins=[{"d": [0, 1, 2, 2], "count": [100, 100, 100, 110]}]),
            "lists a category twice",
        ),
    ],
)
def test_tables_that_do_not_fit_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        tacit.IndividualRisk(estimator="spree", **given).measure(sample())


def test_data_without_weights_or_with_two_sources():
    with pytest.raises(RoleMissing, match="survey weights"):
        tacit.IndividualRisk().measure(tacit.read({"a": [1]}, keys=["a"]))
    with pytest.raises(InputError, match="leave out sampling_fraction"):
        tacit.IndividualRisk(sampling_fraction=0.5).measure(
            tacit.read(WEIGHTS, keys=["a"], weight="w")
        )


def test_missing_keys_have_no_place_in_a_census():
    data = tacit.read({"a": [1, None], "w": [2.0, 2.0]}, keys=["a"], weight="w")
    spec = tacit.IndividualRisk(
        estimator="spree", association={"a": {1: 10}}, margins=[{"a": {1: 10}}]
    )
    with pytest.raises(InputError, match="coded as a value first"):
        spec.measure(data)
