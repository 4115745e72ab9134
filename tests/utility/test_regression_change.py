"""Regressions from two files: by closed form, by imputation, and refusals."""

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter
from tacit.stats.estimates import combine_imputations, duncan_utility, percent_difference
from tacit.stats.regression import fit


def survey(n=800, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.uniform(25, 75, n)
    income = np.exp(rng.normal(10, 0.6, n))
    wealth = np.exp(-3 + 0.05 * age + 1.1 * np.log(income) + rng.normal(0, 0.5, n))
    return {
        "age": age,
        "income": income,
        "wealth": wealth,
        "sex": rng.choice(["f", "m"], n),
        "w": rng.uniform(1, 3, n),
    }


MODEL = {"response": "log(wealth)", "covariates": ["age", "age^2", "log(income)"]}


def noisy(data, columns, share=0.02, seed=1):
    rng = np.random.default_rng(seed)
    return data.replace(
        {
            c: columns[c] * np.exp(share * rng.normal(size=len(columns[c])))
            for c in ("income", "wealth")
        }
    )


def test_table_of_coefficients():
    columns = survey()
    data = tacit.read({k: v for k, v in columns.items() if k != "w"})
    masked = noisy(data, columns)
    found = tacit.RegressionChange(**MODEL).measure(masked, original=data)
    fits = []
    for side in (data, masked):
        c = {k: side.column(k).to_numpy() for k in ("age", "income", "wealth")}
        x = np.column_stack([c["age"], c["age"] ** 2, np.log(c["income"])])
        fits.append(fit(x, np.log(c["wealth"])))
    rows = found.frame.rows(named=True)
    assert [r["term"] for r in rows] == ["constant", "age", "age^2", "log(income)"]
    for i, row in enumerate(rows):
        old, new = (f.coefficients[i] for f in fits)
        assert row["original"] == pytest.approx(old)
        assert row["percent difference"] == pytest.approx(percent_difference(old, new))
        assert row["Duncan utility"] == pytest.approx(duncan_utility(old, new))
        errors = [f.standard_errors[i] for f in fits]
        assert row["standard error, masked"] == pytest.approx(errors[1])
        assert row["percent difference, standard error"] == pytest.approx(
            percent_difference(*errors)
        )
        assert row["difference in standard errors"] == pytest.approx((new - old) / errors[0])
    assert found.value == pytest.approx(
        np.mean([abs(r["difference in standard errors"]) for r in rows])
    )
    assert found.duncan == pytest.approx(
        1 / np.sum((fits[0].coefficients - fits[1].coefficients) ** 2)
    )
    assert found["log(income)"].agrees
    assert found.plot().svg().startswith("<svg")


def test_nothing_changed():
    data = tacit.read(survey(), weight="w")
    for value in ("standardised", "percent", "overlap"):
        found = tacit.RegressionChange(**MODEL, value=value).measure(data, original=data)
        assert found.value == pytest.approx(0, abs=1e-12)
    assert found.numbers["conclusions kept"] == 4


def test_weights_and_sandwich_errors():
    columns = survey()
    data = tacit.read(columns, weight="w")
    found = tacit.RegressionChange(response="income", covariates=["age", "sex"]).measure(
        data, original=data
    )
    x = np.column_stack([columns["age"], columns["sex"] == "m"])
    expected = fit(x, columns["income"], weights=columns["w"], robust=True)
    assert found["sex m"].old.value == pytest.approx(expected.coefficients[2])
    assert found["sex m"].old.error == pytest.approx(expected.standard_errors[2])


def test_imputations_are_combined():
    parts = [survey(seed=s) for s in range(3)]
    stacked = {k: np.concatenate([p[k] for p in parts]) for k in parts[0]}
    stacked["m"] = np.repeat([1, 2, 3], 800)
    data = tacit.read({k: v for k, v in stacked.items() if k != "w"})
    found = tacit.RegressionChange(**MODEL, implicate="m").measure(data, original=data)
    fits = [
        fit(np.column_stack([p["age"], p["age"] ** 2, np.log(p["income"])]), np.log(p["wealth"]))
        for p in parts
    ]
    expected = combine_imputations([f.coefficients for f in fits], [f.covariance for f in fits])
    assert [c.old.value for c in found.coefficients] == pytest.approx(expected.values)
    assert [c.old.error for c in found.coefficients] == pytest.approx(expected.standard_errors)


@pytest.mark.parametrize("model", ["logit", "probit", "poisson"])
def test_other_models(model):
    columns = survey()
    rng = np.random.default_rng(1)
    rich = (columns["wealth"] > np.median(columns["wealth"])).astype(int)
    data = tacit.read({"rich": rich, "income": columns["income"]})
    masked = data.replace({"income": columns["income"] * rng.uniform(0.9, 1.1, 800)})
    found = tacit.RegressionChange(
        response="rich", covariates=["log(income)"], model=model
    ).measure(masked, original=data)
    assert found["log(income)"].old.value > 0
    assert 0 < found.value < 3


def test_undefined_terms_are_refused_or_left_out():
    columns = survey(50)
    data = tacit.read(columns)
    below = columns["wealth"].copy()
    below[:5] = -1.0
    masked = data.replace({"wealth": below})
    with pytest.raises(InputError, match=r"'log\(wealth\)' is missing or not defined.*masked file"):
        tacit.RegressionChange(**MODEL).measure(masked, original=data)
    found = tacit.RegressionChange(**MODEL, undefined="skip").measure(masked, original=data)
    assert found.numbers["records left out, masked"] == 5
    assert found.numbers["records left out, original"] == 0


def test_columns_that_cannot_be_told_apart():
    data = tacit.read(
        {"y": [1.0, 2.0, 4.0, 3.0], "a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 4.0, 6.0, 8.0]}
    )
    found = tacit.RegressionChange(response="y", covariates=["a", "b"]).measure(data, original=data)
    assert found.numbers["coefficients not estimated"] == 1


def test_refusals():
    data = tacit.read(survey(20))
    with pytest.raises(InvalidParameter, match="no function 'cube'"):
        tacit.RegressionChange(response="cube(income)", covariates=["age"])
    with pytest.raises(InvalidParameter, match="at least 1 entries"):
        tacit.RegressionChange(response="income", covariates=[])
    with pytest.raises(ColumnNotFound, match="no column 'salary'"):
        tacit.RegressionChange(response="log(salary)", covariates=["age"]).measure(
            data, original=data
        )
    with pytest.raises(InputError, match="only be a covariate of its own"):
        tacit.RegressionChange(response="income", covariates=["age * sex"]).measure(
            data, original=data
        )
    short = tacit.read(survey(3))
    with pytest.raises(InputError, match="too few complete records"):
        tacit.RegressionChange(**MODEL).measure(short, original=short)
