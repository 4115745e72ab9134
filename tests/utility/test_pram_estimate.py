"""Estimating back from a randomised file."""

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, RoleMissing
from tacit.records.pram import from_history, write_matrices


def people(n=6000, seed=1):
    rng = np.random.default_rng(seed)
    region = rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    status = np.where(
        region == "a", rng.choice([1, 2, 3], n, p=[0.7, 0.2, 0.1]), rng.choice([1, 2, 3], n)
    )
    return tacit.read(
        {
            "region": region,
            "status": status,
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 80, n),
            "income": rng.gamma(2, 10, n) + 10 * (region == "c") + 3 * status,
            "w": rng.uniform(1, 3, n),
        },
        weight="w",
    )


def truth(data, columns, *, weighted=False):
    keys = list(zip(*(data.column(c).to_pylist() for c in columns), strict=True))
    w = data.column("w").to_numpy() if weighted else np.ones(len(keys))
    out = {}
    for k, v in zip(keys, w, strict=True):
        out[k] = out.get(k, 0.0) + v
    return out


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "spec",
    [
        {"columns": ["region", "status"], "matrix": "equal", "stay": 0.8},
        {"columns": ["region", "status"], "joint": True, "matrix": "even"},
        {"column": "region", "by": ["sex"], "matrix": "frequency", "stay": 0.7},
        {"column": "status", "matrix": "equal", "forbidden": [{"to": [3], "when": "age < 16"}]},
    ],
    ids=["two", "joint", "strata", "rule"],
)
def test_estimates_are_near_the_truth_and_say_how_near(spec, weighted):
    data = people()
    released = tacit.Pram(**spec).apply(data, seed=2)
    found = tacit.PramEstimate(tables=[("region", "status")], weighted=weighted).measure(released)
    frame = found.table("region", "status").to_native().to_pydict()
    want = truth(data, ["region", "status"], weighted=weighted)
    cells = zip(frame["region"], frame["status"], strict=True)
    gaps = np.array([e - want[c] for e, c in zip(frame["estimate"], cells, strict=True)])
    assert (np.abs(gaps) <= 4.5 * np.array(frame["standard_error"]) + 1e-6).all()
    assert sum(frame["estimate"]) == pytest.approx(sum(want.values()))


def test_standard_errors_hold_over_many_releases():
    data = people(400)
    want = truth(data, ["region"])
    inside = total = 0
    for seed in range(40):
        released = tacit.Pram(column="region", matrix="5F(0.6)").apply(data, seed=seed)
        found = tacit.PramEstimate().measure(released)
        frame = found.table("region").to_native().to_pydict()
        for level, e, s in zip(
            frame["region"], frame["estimate"], frame["standard_error"], strict=True
        ):
            inside += abs(e - want[(level,)]) <= 1.96 * s
            total += 1
    assert 0.9 < inside / total <= 0.99


def test_likelihood_estimates_have_no_negative_cells_and_agree_with_each_other():
    data = people(150)
    released = tacit.Pram(columns=["region", "status"], matrix="equal", stay=0.45).apply(
        data, seed=3
    )
    tables = [("region", "status"), ("region",), ("status", "sex")]
    plain = tacit.PramEstimate(tables=tables).measure(released)
    likely = tacit.PramEstimate(tables=tables, method="likelihood").measure(released)
    assert plain.numbers["cells estimated below 0"] > 0
    assert likely.numbers["cells estimated below 0"] == 0
    both = likely.table("region", "status").to_native().to_pydict()
    one = likely.table("region").to_native().to_pydict()
    sums = dict.fromkeys(one["region"], 0.0)
    for v, e in zip(both["region"], both["estimate"], strict=True):
        sums[v] += e
    assert list(sums.values()) == pytest.approx(one["estimate"], abs=1e-5)


def test_the_published_file_is_all_that_users_need(tmp_path):
    data = people()
    released = tacit.Pram(column="region", by=["sex"]).apply(data, seed=4)
    path = write_matrices(tmp_path / "matrices.json", released)
    bought = tacit.read(released.to_arrow())
    theirs = tacit.PramEstimate(matrices=str(path)).measure(bought)
    ours = tacit.PramEstimate().measure(released)
    assert theirs.tables[("region",)].values == pytest.approx(ours.tables[("region",)].values)
    assert theirs.plot().alt == ours.plot().alt
    with pytest.raises(InputError, match="Give matrices="):
        tacit.PramEstimate().measure(bought)


def test_means_and_regression():
    data = people()
    released = tacit.Pram(columns=["region", "status"], matrix="equal", stay=0.8).apply(
        data, seed=5
    )
    means = tacit.PramEstimate(response="income", regressors=["region"]).measure(released)
    income, region = (np.array(data.column(c).to_pylist()) for c in ("income", "region"))
    frame = means.regression.frame().to_native().to_pydict()
    assert frame["name"] == [f"region = {v}" for v in "abcde"]
    want = [income[region == v].mean() for v in "abcde"]
    assert (
        np.abs(np.array(frame["estimate"]) - want) < 4 * np.array(frame["standard_error"])
    ).all()
    full = tacit.PramEstimate(response="income", covariates=["age"], weighted=True).measure(
        released
    )
    names = full.regression.names
    assert names[:2] == ("intercept", "age")
    slope = dict(zip(names, full.regression.fit.coefficients, strict=True))
    assert slope["region = c"] == pytest.approx(10, abs=2)
    assert slope["status = 3"] == pytest.approx(6, abs=2)


def test_bad_input_is_refused():
    data = people(200)
    released = tacit.Pram(column="region").apply(data, seed=1)
    with pytest.raises(InputError, match="was not randomised"):
        tacit.PramEstimate(response="income", regressors=["sex"]).measure(released)
    with pytest.raises(tacit.errors.InvalidParameter, match="need a response"):
        tacit.PramEstimate(regressors=["sex"])
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.PramEstimate(response="sex").measure(released)
    with pytest.raises(ColumnNotFound):
        tacit.PramEstimate().measure(released).table("sex")
    with pytest.raises(ColumnNotFound):
        tacit.PramEstimate().measure(released.drop(["region"]))
    bare = tacit.read(released.drop(["w"]).to_arrow())
    with pytest.raises(RoleMissing, match="weighted needs a weight"):
        tacit.PramEstimate(weighted=True).measure(bare)
    flat = tacit.Pram(column="sex", matrix=[[0.5, 0.5], [0.5, 0.5]]).apply(data, seed=1)
    with pytest.raises(InputError, match="singular"):
        tacit.PramEstimate().measure(flat)
    (variable,) = from_history(released.history)
    assert variable.columns == ("region",)
    strange = released.replace({"region": ["z"] * 200})
    with pytest.raises(InputError, match="does not know"):
        tacit.PramEstimate().measure(strange)
