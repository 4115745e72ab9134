"""Calibration of weights: margins met, ratios of the known form, bounds, refusals, claims."""

import narwhals.stable.v2 as nw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import tacit
from tacit.claims import Claim
from tacit.errors import Infeasible, InputError, InvalidParameter, RoleMissing


def survey(n=400, seed=3):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "sex": rng.choice(["f", "m"], n).tolist(),
            "age": rng.choice(["young", "middle", "old"], n, p=[0.2, 0.5, 0.3]).tolist(),
            "w": rng.uniform(5, 15, n).tolist(),
        },
        keys=["sex", "age"],
        weight="w",
    )


SEX = {"sex": {"f": 2100, "m": 1900}}
AGE = {"age": {"young": 1200, "middle": 1700, "old": 1100}}


def sums(data, *columns):
    table = data.to_arrow().to_pydict()
    found = {}
    for *key, w in zip(*(table[c] for c in columns), table["w"], strict=True):
        found[tuple(key)] = found.get(tuple(key), 0.0) + w
    return found


def ratios(before, after):
    return np.array(after.column("w").to_pylist()) / np.array(before.column("w").to_pylist())


@pytest.mark.parametrize("method", ["rake", "linear"])
@pytest.mark.parametrize("bounds", [None, (0.6, 1.7)])
def test_margins_are_met_within_bounds(method, bounds):
    data = survey()
    after = tacit.Calibrate(margins=[SEX, AGE], method=method, bounds=bounds).apply(data)
    for column, margin in (("sex", SEX), ("age", AGE)):
        for (value,), total in sums(after, column).items():
            assert total == pytest.approx(margin[column][value], rel=1e-8)
    g = ratios(data, after)
    if bounds:
        assert g.min() >= bounds[0] - 1e-12
        assert g.max() <= bounds[1] + 1e-12
    [claim] = after.history[-1].claims
    assert claim.model == "margins-met"
    assert claim.holds(after.frame)


def test_raked_ratios_are_products_and_linear_ones_sums():
    data = survey()
    table = data.to_arrow().to_pydict()
    for method, form in (("rake", np.log), ("linear", np.asarray)):
        after = tacit.Calibrate(margins=[SEX, AGE], method=method).apply(data)
        g = dict(
            zip(
                zip(table["sex"], table["age"], strict=True), form(ratios(data, after)), strict=True
            )
        )
        for a in ("middle", "old"):
            assert g["f", a] - g["f", "young"] == pytest.approx(
                g["m", a] - g["m", "young"], abs=1e-7
            )


def test_bounded_weights_are_the_nearest():
    """The truncated linear method minimises the chi-square distance; compared with a general optimiser."""
    data = survey(40, 8)
    table = data.to_arrow().to_pydict()
    w = np.array(table["w"])
    margins = [{"sex": {"f": 230, "m": 190}}, {"age": {"young": 90, "middle": 240, "old": 90}}]
    after = tacit.Calibrate(margins=margins, method="linear", bounds=(0.7, 1.5)).apply(data)
    g = ratios(data, after)
    rows = [
        w * (np.array(table[c]) == v) for m in margins for c, totals in m.items() for v in totals
    ]
    wanted = [t for m in margins for totals in m.values() for t in totals.values()]
    # One equation follows from the others.
    rows, wanted = rows[:-1], wanted[:-1]
    best = minimize(
        lambda x: w @ (x - 1) ** 2,
        np.ones(40),
        jac=lambda x: 2 * w * (x - 1),
        bounds=[(0.7, 1.5)] * 40,
        constraints=[
            {
                "type": "eq",
                "fun": lambda x: np.array(rows) @ x - wanted,
                "jac": lambda _: np.array(rows),
            }
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert w @ (g - 1) ** 2 == pytest.approx(best.fun, rel=1e-5)


def test_post_stratification_scales_each_category():
    data = tacit.read({"a": ["x", "x", "y"], "w": [1.0, 3.0, 2.0]}, weight="w")
    after = tacit.Calibrate(margins=[{"a": {"x": 8, "y": 5}}], method="post_stratify").apply(data)
    assert after.column("w").to_pylist() == pytest.approx([2, 6, 5])


def test_weights_are_made_for_data_without_them():
    data = tacit.read({"a": ["x", "x", "y"]}, keys=["a"])
    after = tacit.Calibrate(margins=[{"a": {"x": 8, "y": 5}}], weight="w").apply(data)
    assert after.weight == "w"
    assert after.column("w").to_pylist() == pytest.approx([4, 4, 5])
    assert tacit.IndividualRisk().measure(after).expected > 0
    with pytest.raises(RoleMissing, match="calibrate needs weights"):
        tacit.Calibrate(margins=[{"a": {"x": 8, "y": 5}}]).apply(data)


def test_tables_come_as_columns_rows_mappings_and_frames():
    import polars as pl

    columns = {"a": ["x", "y"], "count": [8, 5]}
    forms = [
        columns,
        [{"a": "x", "count": 8}, {"a": "y", "count": 5}],
        {"a": {"x": 8, "y": 5}},
        pl.DataFrame(columns),
    ]
    specs = [tacit.Calibrate(margins=[form]) for form in forms]
    assert all(spec == specs[0] for spec in specs)
    assert (
        tacit.Calibrate(**{k: v for k, v in specs[0].to_dict().items() if k != "kind"}) == specs[0]
    )


def test_numbers_in_quotes_are_numbers():
    data = tacit.read({"a": [1, 1, 2], "w": [1.0, 1.0, 1.0]}, weight="w")
    after = tacit.Calibrate(margins=[{"a": {"1": 8, "2": 5}}]).apply(data)
    assert after.column("w").to_pylist() == pytest.approx([4, 4, 5])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_margins_of_another_weighting_can_always_be_met(seed):
    rng = np.random.default_rng(seed)
    data = survey(60, seed)
    table = data.to_arrow().to_pydict()
    other = rng.uniform(1, 30, 60)
    margins = []
    for column in ("sex", "age"):
        totals = {}
        for v, w in zip(table[column], other, strict=True):
            totals[v] = totals.get(v, 0.0) + w
        margins.append({column: totals})
    for method in ("rake", "linear"):
        low = float((other / np.array(table["w"])).min())
        high = float((other / np.array(table["w"])).max())
        after = tacit.Calibrate(
            margins=margins, method=method, bounds=(low * 0.99, high * 1.01)
        ).apply(data)
        assert after.history[-1].claims[0].holds(after.frame)


@pytest.mark.parametrize(
    ("margins", "words"),
    [
        (
            [SEX, {"age": {"young": 1200, "middle": 1700, "old": 1000}}],
            "contradict each other: their grand totals",
        ),
        (
            [
                {"sex": ["f", "f", "m", "m"], "age": ["young", "old"] * 2, "count": [1, 2, 3, 4]},
                {"sex": {"f": 4, "m": 6}},
            ],
            "totals by sex differ",
        ),
        ([{"sex": {"f": 2100}}], "lacks a total"),
        ([{"sex": {"f": 2000, "m": 1900, "d": 100}}], "nothing to scale"),
    ],
)
def test_margins_that_cannot_be_met_are_refused_in_a_sentence(margins, words):
    with pytest.raises(InputError, match=words) as error:
        tacit.Calibrate(margins=margins).apply(survey())
    assert "2100" not in str(error.value)


def test_bounds_that_are_too_tight_and_weights_that_turn_negative():
    with pytest.raises(Infeasible, match="within the bounds"):
        tacit.Calibrate(margins=[SEX, AGE], bounds=(0.99, 1.01)).apply(survey())
    with pytest.raises(Infeasible, match="within the bounds"):
        tacit.Calibrate(margins=[SEX], method="post_stratify", bounds=(0.99, 1.01)).apply(survey())
    data = tacit.read({"a": list("xxxxyyy"), "b": list("uuuvuvv"), "w": [1.0] * 7}, weight="w")
    with pytest.raises(Infeasible, match="not be positive"):
        tacit.Calibrate(
            margins=[{"a": {"x": 1, "y": 99}}, {"b": {"u": 1, "v": 99}}], method="linear"
        ).apply(data)


def test_combinations_without_records_can_make_it_impossible():
    data = tacit.read({"a": list("xy"), "b": list("uv"), "w": [1.0, 1.0]}, weight="w")
    with pytest.raises(Infeasible, match="no positive weights meet all margins"):
        tacit.Calibrate(
            margins=[{"a": {"x": 3, "y": 7}}, {"b": {"u": 7, "v": 3}}], rounds=50
        ).apply(data)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"margins": []}, "margins must have at least 1"),
        ({"margins": [SEX, AGE], "method": "post_stratify"}, "takes one margin"),
        ({"margins": [SEX], "bounds": (2, 1)}, "the smaller first"),
        ({"margins": [{"sex": ["f"], "count": [float("nan")]}]}, "not missing"),
        ({"margins": [{"sex": ["f", "m"], "count": [1]}]}, "equally long"),
        ({"margins": ["sex"]}, "given as columns"),
    ],
)
def test_bad_parameters(given, words):
    with pytest.raises(InvalidParameter, match=words):
        tacit.Calibrate(**given)


def test_the_claim_sees_what_later_steps_do():
    after = tacit.Calibrate(margins=[SEX, AGE]).apply(survey())
    [claim] = after.history[-1].claims
    assert isinstance(claim, Claim)
    columns = after.to_arrow().to_pydict()
    hidden = tacit.read({**columns, "sex": [None, *columns["sex"][1:]]})
    assert claim.holds(hidden.frame), "a value made missing may be any category"
    fewer = tacit.read({k: v[1:] for k, v in columns.items()})
    assert not claim.holds(fewer.frame)
    other = tacit.read({**columns, "w": [columns["w"][0] * 2, *columns["w"][1:]]})
    assert not claim.holds(other.frame)
    swapped = tacit.read({**columns, "sex": ["m" if s == "f" else "f" for s in columns["sex"]]})
    assert not claim.holds(swapped.frame)


def test_copies_are_calibrated_each_by_itself():
    data = survey()
    made = tacit.Synthesise(columns=["sex", "age"], copies=3, weights="oldw").apply(data, seed=1)
    done = tacit.Calibrate(margins=[SEX, AGE]).apply(made)
    for number in (1, 2, 3):
        part = done.filter(nw.col("_copy") == number)
        assert sums(part, "sex") == pytest.approx({("f",): 2100, ("m",): 1900})
        assert sums(part, "age")["old",] == pytest.approx(1100)
    [claim] = done.history[-1].claims
    assert claim.parameters["copies"] == "_copy"
    assert claim.holds(done.frame)
    assert not claim.holds(done.filter(nw.col("_copy") > 1).frame.filter(nw.col("sex") == "f"))
    assert not claim.holds(made.frame)
    # Synthesise does the same by itself, and claims it.
    raked = tacit.Synthesise(
        columns=["sex", "age"], copies=2, weights="oldw", calibrate=[SEX]
    ).apply(data, seed=1)
    assert "margins-met" in {c.model for c in raked.history[-1].claims}
