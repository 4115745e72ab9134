"""Sample risk: by hand, against its parts, against the truth in simulations, bad input."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import optimize, stats

import tacit
from tacit.context import Context
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, RoleMissing
from tacit.records.samples.sample_models import list_hoods, place_values


def small(**roles):
    """Return eight records with three sample uniques."""
    rows = {
        "sex": ["f", "f", "f", "m", "m", "m", "m", None],
        "age": [1, 1, 2, 1, 2, 2, 2, 3],
        "w": [10.0, 20.0, 5.0, 4.0, 10.0, 10.0, 10.0, 2.0],
    }
    return tacit.read(rows, keys=["sex", "age"], **roles)


def test_independence_by_hand():
    result = tacit.SampleRisk(terms="independence", sampling_fraction=0.25).measure(small())
    # Uniques: (f, 2), (m, 1) and (missing, 3), with means 3*4/8, 4*3/8 and 1*1/8.
    rate = np.array([12, 12, 1]) / 8 * 3
    assert result.tau1 == pytest.approx(np.exp(-rate).sum())
    assert result.tau2 == pytest.approx(((1 - np.exp(-rate)) / rate).sum())
    rows = result.frame.rows(named=True)
    assert [r["sample_count"] for r in rows] == [2, 2, 1, 1, 3, 3, 3, 1]
    assert rows[3]["risk"] == pytest.approx((1 - np.exp(-4.5)) / 4.5)
    assert rows[0]["population_unique"] == 0
    assert 0 < rows[0]["risk"] < 0.5
    assert result.value == pytest.approx(result.tau2 / 8)


def test_argus_takes_fractions_from_weights():
    result = tacit.SampleRisk(model="argus").measure(small(weight="w"))
    pi = 1 / np.array([5.0, 4.0, 2.0])
    assert result.tau1 == pytest.approx(pi.sum())
    assert result.tau2 == pytest.approx((pi * np.log(1 / pi) / (1 - pi)).sum())
    given = tacit.SampleRisk(model="argus", population=32).measure(small(weight="w"))
    assert given.tau1 == pytest.approx(0.75)


def test_a_sample_that_is_everybody():
    for model in ("argus", "poisson"):
        result = tacit.SampleRisk(model=model, sampling_fraction=1).measure(small())
        assert result.tau1 == result.tau2 == 3
        assert result.errors == (0, 0)


def test_weighted_variants_differ_as_they_should():
    data = small(weight="w")
    terms = [["sex"], ["age"]]
    found = {
        w: tacit.SampleRisk(terms=terms, weighting=w).measure(data)
        for w in ("standard", "clogg_eliason", "pseudo_ml", "weighted")
    }
    people = found["pseudo_ml"].cells.rows(named=True)
    # (m, 1): people by sex 34 and by age 34 of 71.
    cell = next(r for r in people if (r["sex"], r["age"]) == ("m", 1))
    assert cell["mean"] / cell["sampling_fraction"] == pytest.approx(34 * 34 / 71)
    assert len({round(r.tau2, 6) for r in found.values()}) == 4
    equal = tacit.read(
        {"a": [1, 1, 2, 2, 3], "b": [1, 2, 1, 1, 1], "w": [9.0] * 5}, keys=["a", "b"], weight="w"
    )
    same = [
        tacit.SampleRisk(terms="independence", weighting=w).measure(equal).tau2
        for w in ("standard", "clogg_eliason", "pseudo_ml")
    ]
    assert same == pytest.approx([same[0]] * 3)


def household_file(n=400, seed=3):
    rng = np.random.default_rng(seed)
    house = np.repeat(np.arange(n // 2), 2)
    table = {
        "region": rng.integers(0, 6, n // 2)[house],
        "age": rng.integers(0, 12, n),
        "job": rng.integers(0, 5, n),
        "w": rng.uniform(5, 15, n),
        "house": house,
    }
    return tacit.read(pa.table(table), keys=["region", "age", "job"], weight="w", household="house")


def test_jackknife_adds_the_uncertainty_of_the_fit():
    data = household_file()
    plain = tacit.SampleRisk().measure(data)
    more = tacit.SampleRisk(jackknife=10).measure(data, seed=1)
    assert more.tau2 == plain.tau2
    assert more.errors[0] > plain.errors[0] > 0
    assert more.errors[1] > plain.errors[1] > 0
    assert "uncertainty of the fit" in more.explanation
    assert more.errors == tacit.SampleRisk(jackknife=10).measure(data, seed=1).errors


def test_jackknife_of_the_local_model_by_hand():
    rng = np.random.default_rng(2)
    n, groups = 80, 2
    table = {"age": rng.integers(0, 9, n), "size": rng.integers(0, 7, n)}
    data = tacit.read(pa.table(table), keys=["age", "size"])
    given = {"model": "negative_binomial", "radius": 2, "degree": 1, "sampling_fraction": 0.1}
    plain = tacit.SampleRisk(**given).measure(data)
    more = tacit.SampleRisk(**given, jackknife=groups).measure(data, seed=3)
    assert (more.tau1, more.tau2) == (plain.tau1, plain.tau2)
    part = Context.start(3).rng.permutation(n) % groups
    alone = [
        i
        for i in range(n)
        if sum((table["age"] == table["age"][i]) & (table["size"] == table["size"][i])) == 1
    ]
    taus = []
    for g in range(groups):
        kept = part != g
        grid = np.zeros((9, 7), dtype=int)
        np.add.at(grid, (table["age"][kept], table["size"][kept]), 1)
        tau1 = tau2 = 0.0
        for i in alone:
            counts, around = [], []
            for da in range(-2, 3):
                for ds in range(-2, 3):
                    a, b = table["age"][i] + da, table["size"][i] + ds
                    inside = 0 <= a < 9 and 0 <= b < 7
                    counts.append(grid[a, b] if inside else 0)
                    around.append((1, da, ds))
            mu, shape = largest_likelihood(np.array(counts), np.array(around, dtype=float))
            mu *= groups / (groups - 1)
            rate = mu * 0.9 / 0.1
            if np.isinf(shape):
                tau1 += np.exp(-rate)
                tau2 += (1 - np.exp(-rate)) / rate
            else:
                rho = (mu + shape) / (mu / 0.1 + shape)
                tau1 += rho ** (1 + shape)
                tau2 += rho * (1 - rho**shape) / (shape * (1 - rho))
        taus.append((tau1, tau2))
    extra = (groups - 1) / groups * ((taus - np.mean(taus, axis=0)) ** 2).sum(axis=0)
    wanted = np.sqrt(np.square(plain.errors) + extra)
    assert more.errors == pytest.approx(wanted, rel=2e-3)


def largest_likelihood(counts, x):
    """Return mean of the centre and gamma shape of a negative binomial regression, by a general optimiser."""

    def loss(theta, a):
        mu = np.exp(x @ theta)
        if a == 0:
            return -stats.poisson.logpmf(counts, mu).sum()
        return -stats.nbinom.logpmf(counts, 1 / a, 1 / (1 + a * mu)).sum()

    def best(a, start):
        return optimize.minimize(loss, start, args=(a,), method="BFGS", options={"gtol": 1e-9})

    theta = best(0.0, np.array([np.log(counts.mean() + 1e-3), 0.0, 0.0])).x
    found = optimize.minimize_scalar(
        lambda u: best(np.exp(u), theta).fun, bounds=(-12, 4), method="bounded"
    )
    if found.fun >= best(0.0, theta).fun - 1e-9:
        return np.exp(theta[0]), np.inf
    return np.exp(best(np.exp(found.x), theta).x[0]), np.exp(-found.x)


def test_stepwise_listed_and_named_terms():
    data = household_file()
    stepwise = tacit.SampleRisk(terms="stepwise").measure(data)
    assert abs(stepwise.numbers["minimum-error ratio"]) <= abs(
        tacit.SampleRisk(terms="independence").measure(data).numbers["minimum-error ratio"]
    )
    listed = tacit.SampleRisk(terms=[["age", "job"]]).measure(data)
    assert listed.numbers["margins"] == "region, age x job"
    pairs = [["region", "age"], ["region", "job"], ["age", "job"]]
    assert tacit.SampleRisk(terms=pairs).measure(data).tau2 == pytest.approx(
        tacit.SampleRisk().measure(data).tau2
    )


def test_local_model_with_and_without_a_chosen_neighbourhood():
    data = household_file()
    chosen = tacit.SampleRisk(model="negative_binomial", ordinal=["age", "region"]).measure(data)
    assert "cells" in chosen.numbers["neighbourhood"]
    assert chosen.numbers["ordinal keys"] == "age, region"
    assert "taken to be ordinal" not in chosen.explanation
    guessed = tacit.SampleRisk(model="negative_binomial").measure(data)
    assert guessed.numbers["ordinal keys"] == "region, age, job"
    assert "taken to be ordinal" in guessed.explanation
    fixed = tacit.SampleRisk(
        model="negative_binomial", ordinal=["age", "region"], radius=2, reach=3, up_to=2, degree=1
    ).measure(data)
    assert fixed.numbers["neighbourhood"] == "c = 2, d = 3, t = 1: 21 cells"
    rows = fixed.frame.rows(named=True)
    assert all((r["risk"] is None) == (r["sample_count"] > 2) for r in rows)
    assert set(fixed.cells.columns) >= {"mean", "shape", "rho", "dispersion", "converged", "degree"}
    with pytest.raises(InputError, match="cannot carry"):
        tacit.SampleRisk(model="negative_binomial", ordinal=["age"], radius=1).measure(data)


def test_row_order_does_not_matter():
    data = household_file()
    order = np.random.default_rng(0).permutation(400)
    mixed = tacit.read(
        data.to_arrow().take(order), keys=["region", "age", "job"], weight="w", household="house"
    )
    for model in ("poisson", "negative_binomial", "argus"):
        spec = tacit.SampleRisk(model=model)
        one, two = spec.measure(data), spec.measure(mixed)
        assert (one.tau1, one.tau2) == pytest.approx((two.tau1, two.tau2), rel=1e-12)
        risks = [r.frame["risk"].to_numpy() for r in (one, two)]
        assert risks[0][order] == pytest.approx(risks[1], rel=1e-12, nan_ok=True)


def test_places_of_values():
    assert place_values("a", [10, 20, 50], None).tolist() == [0, 1, 4]
    assert place_values("a", [2, 3, None], None).tolist() == [0, 1, 1001]
    assert place_values("a", ["x", "y"], None).tolist() == [0, 1]
    assert place_values("a", ["high", "low"], {"low": 0, "high": 3}).tolist() == [3, 0]
    with pytest.raises(InputError, match="lacks 1 of the 2 values"):
        place_values("a", ["high", "low"], {"low": 0})


def test_candidate_neighbourhoods_can_carry_the_model():
    for varied in (1, 2, 3, 4, 5):
        hoods = list_hoods(varied, 2)
        sizes = [h.size(varied) for h in hoods]
        assert sizes == sorted(sizes)
        assert all(h.size(varied) > h.parameters(varied) for h in hoods)
    assert [h.size(3) for h in list_hoods(3, 2)][:2] != []


def test_comparison_has_every_model_and_the_truth():
    rng = np.random.default_rng(5)
    people = pa.table(
        {
            "a": rng.integers(0, 9, 3000),
            "b": rng.integers(0, 9, 3000),
            "c": rng.integers(0, 4, 3000),
        }
    )
    register = tacit.read(people, keys=["a", "b", "c"])
    data = register.take(rng.choice(3000, 300, replace=False))
    spec = tacit.SampleRisk(population=3000, ordinal=["a", "b"])
    found = spec.compare(data, register=register)
    names = [r.name for r in found.lines]
    assert names[:5] == [
        "true",
        "Argus",
        "Poisson, independence",
        "Poisson, two-way",
        "Poisson, stepwise",
    ]
    assert any(n.startswith("negative binomial, ") for n in names)
    truth = found.line("true")
    # The keys are independent here, so that the independence model is the true one.
    near = found.line("Poisson, independence")
    assert abs(near.tau2 - truth.tau2) < 4 * near.error2
    assert spec.measure(data, register=register).true == (truth.tau1, truth.tau2)
    bars, stable = found.charts()
    assert bars.svg().startswith("<svg")
    assert "true tau2" in stable.alt
    assert spec.measure(data).plot().svg().startswith("<svg")


def test_true_values_by_brute_force():
    register = tacit.read({"a": [1, 1, 2, 3, 3, 3, 4], "b": [1, 1, 1, 1, 1, 2, 1]}, keys=["a", "b"])
    data = tacit.read({"a": [1, 2, 3], "b": [1, 1, 2]}, keys=["a", "b"])
    found = tacit.SampleRisk(population=7).measure(data, register=register)
    assert found.true == (2, 2.5)
    assert found.frame["population_count"].to_list() == [2, 1, 1]


def test_bad_input_in_one_sentence():
    data = small()
    with pytest.raises(RoleMissing, match="how the sample was drawn"):
        tacit.SampleRisk().measure(data)
    with pytest.raises(InputError, match="weights are missing or below 1"):
        tacit.SampleRisk().measure(
            tacit.read({"a": [1, 2], "w": [0.5, 3.0]}, keys=["a"], weight="w")
        )
    with pytest.raises(RoleMissing, match="needs an ordinal key"):
        tacit.SampleRisk(model="negative_binomial", population=99).measure(
            tacit.read({"a": ["x", "y"]}, keys=["a"])
        )
    with pytest.raises(ColumnNotFound):
        tacit.SampleRisk(terms=[["sex", "w"]], population=99).measure(data)
    with pytest.raises(RoleMissing, match="needs a weight"):
        tacit.SampleRisk(weighting="pseudo_ml", population=99).measure(data)
    with pytest.raises(InputError, match="reach= needs radius="):
        tacit.SampleRisk(reach=3, population=99).measure(data)
    with pytest.raises(InputError, match="smaller than the file"):
        tacit.SampleRisk(population=3).measure(data)
    with pytest.raises(InputError, match="no records"):
        tacit.SampleRisk(population=3).measure(data.take(np.arange(0)))
    with pytest.raises(InvalidParameter, match="at most 1"):
        tacit.SampleRisk(sampling_fraction=2)
    with pytest.raises(InvalidParameter, match="at least 1"):
        tacit.SampleRisk(radius=0)
    with pytest.raises(InputError, match="jackknife= is for models that are fitted"):
        tacit.SampleRisk(model="argus", jackknife=5, population=99).measure(data)


def test_known_margins_adjust_the_sampling_fractions():
    """Post-stratification by hand, raking against proportional fitting by loops, and the same Argus as with raked weights."""
    data = small()
    margin = {"age": [1, 2, 3], "count": [60, 16, 4]}
    found = tacit.SampleRisk(model="argus", margins=[margin]).measure(data)
    # Three records of age 1 stand for 60 people, four of age 2 for 16, one of age 3 for 4.
    pi = np.array([1 / 4, 1 / 20, 1 / 4])
    assert found.tau1 == pytest.approx(pi.sum())
    assert "raked to 1 known margins" in found.explanation
    assert found.numbers["sampling fraction"] == pytest.approx(8 / 80)
    weighted = small(weight="w")
    known = [
        {"age": [1, 2, 3], "count": [60, 40, 4]},
        {"sex": ["f", "m", None], "count": [50, 50, 4]},
    ]
    cells = {}
    for sex, age, w in zip(
        *(weighted.column(c).to_pylist() for c in ("sex", "age", "w")), strict=True
    ):
        cells[sex, age] = cells.get((sex, age), 0.0) + w
    for _ in range(300):
        for axis, totals in ((1, {1: 60, 2: 40, 3: 4}), (0, {"f": 50, "m": 50, None: 4})):
            for value, total in totals.items():
                mine = [c for c in cells if c[axis] == value]
                now = sum(cells[c] for c in mine)
                for c in mine:
                    cells[c] *= total / now
    raked = tacit.SampleRisk(model="argus", margins=known).measure(weighted)
    uniques = [("f", 2), ("m", 1), (None, 3)]
    assert raked.tau1 == pytest.approx(sum(1 / cells[c] for c in uniques))
    people = tacit.SampleRisk(terms="independence", weighting="pseudo_ml", margins=known).measure(
        weighted
    )
    cell = next(r for r in people.cells.rows(named=True) if (r["sex"], r["age"]) == ("m", 1))
    assert cell["mean"] / cell["sampling_fraction"] == pytest.approx(50 * 60 / 104)
    # A local model takes the fractions too.
    tacit.SampleRisk(
        model="negative_binomial", ordinal=["age"], radius=2, degree=1, margins=known
    ).measure(weighted)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"margins": [{"age": [1, 2], "count": [60, 40]}]}, "lacks a total"),
        (
            {
                "margins": [
                    {"age": [1, 2, 3], "count": [60, 40, 4]},
                    {"sex": ["f", "m", None], "count": [50, 40, 4]},
                ]
            },
            "contradict each other",
        ),
        (
            {"margins": [{"age": [1, 2, 3], "count": [60, 40, 4]}], "population": 200},
            "sum to 104 people",
        ),
        (
            {"margins": [{"age": [1, 2, 3], "count": [60, 40, 4]}], "sampling_fraction": 0.1},
            "leave out sampling_fraction",
        ),
        ({"margins": [{"age": [1, 2, 3], "count": [100, 0, 4]}]}, "cannot be met"),
        ({"margins": [{"age": [1, 2, 3, 4], "count": [50, 40, 4, 10]}]}, "nothing to scale"),
        ({"margins": [{"age": [1, 2, 3], "count": [2, 2, 1]}]}, "smaller than the file"),
    ],
)
def test_margins_that_do_not_fit_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        tacit.SampleRisk(model="argus", **given).measure(small())


def test_metric_steps_degree_and_optimiser_of_the_local_model():
    data = household_file()
    local = {"model": "negative_binomial", "ordinal": ["age", "region"], "population": 4000}
    one = tacit.SampleRisk(**local, radius=3, reach=2.5, metric="euclidean", degree=1).measure(data)
    assert one.numbers["neighbourhood"] == "c = 3, d = 2.5 (euclidean), t = 1: 21 cells"
    two = tacit.SampleRisk(**local, radius=2, steps={"region": 2.0}, degree=1).measure(data)
    assert two.numbers["neighbourhood"] == "c = 2, t = 1: 15 cells"
    chosen = tacit.SampleRisk(**local, degree=None).measure(data)
    assert "t = " in chosen.numbers["neighbourhood"]
    some = tacit.SampleRisk(**local, degree=None, radius=2).measure(data)
    assert some.numbers["neighbourhood"].startswith("c = 2, t = ")
    newton, fisher = (
        tacit.SampleRisk(**local, radius=2, degree=1, separated="lower", optimiser=o).measure(data)
        for o in ("newton", "fisher")
    )
    assert newton.tau2 == pytest.approx(fisher.tau2, rel=1e-4)
    assert tacit.SampleRisk(**local, steps={"region": 2.0}).compare(data).lines
    with pytest.raises(InputError, match="there is no metric 'moon'"):
        tacit.SampleRisk(**local, metric="moon").measure(data)
    with pytest.raises(InputError, match="more than a million cells"):
        tacit.SampleRisk(**local, radius=5000).measure(data)


def test_impossible_cells_are_left_out_and_must_be_empty():
    rows = {"sex": ["f", "m"] * 12, "age": [1, 2, 3, 4] * 6, "size": [1, 2, 2, 3, 4, 5] * 4}
    data = tacit.read(rows, keys=["sex", "age", "size"])
    local = {"model": "negative_binomial", "ordinal": ["age", "size"], "radius": 3, "degree": 1}
    plain = tacit.SampleRisk(**local, population=240, up_to=9).measure(data)
    # Nobody of age 6 can live alone or in twos; no such person is there, but the cells are around others.
    rule = {"age": [5, 6, 7], "size": [1, 2], "sex": ["f"]}
    ruled = tacit.SampleRisk(**local, population=240, up_to=9, impossible=[rule]).measure(data)
    both = [
        {(r["sex"], r["age"], r["size"]): r["mean"] for r in m.cells.rows(named=True)}
        for m in (plain, ruled)
    ]
    assert all(both[0][c] == both[1][c] for c in both[0] if c[0] == "m")
    assert any(both[0][c] != both[1][c] for c in both[0] if c[0] == "f")
    with pytest.raises(InputError, match="rules out cells in which there are 2 records"):
        tacit.SampleRisk(**local, population=240, impossible=[{"age": [1], "size": [4]}]).measure(
            data
        )


def test_weights_that_vary_inside_cells_are_told():
    rows = {"a": [1, 1, 2], "w": [2.0, 40.0, 5.0]}
    told = tacit.SampleRisk(model="argus").measure(tacit.read(rows, keys=["a"], weight="w"))
    assert "In 1 cells some weights are more than 3 times others" in told.explanation


def test_single_risks_are_judged_by_the_register():
    register = tacit.read({"a": [1, 1, 2, 3, 3, 3, 4], "b": [1, 1, 1, 1, 1, 2, 1]}, keys=["a", "b"])
    data = tacit.read({"a": [1, 2, 3], "b": [1, 1, 2]}, keys=["a", "b"])
    found = tacit.SampleRisk(terms="independence", population=7).measure(data, register=register)
    risk, chance = (found.frame[c].to_numpy() for c in ("risk", "population_unique"))
    error = np.sqrt(((risk - [0.5, 1, 1]) ** 2).mean())
    assert found.numbers["root mean squared error of 1/F"] == pytest.approx(error)
    pairs = [(chance[i] > chance[0]) + 0.5 * (chance[i] == chance[0]) for i in (1, 2)]
    assert found.numbers["area under the curve for population uniques"] == np.mean(pairs)


def test_a_grid_that_is_too_large(monkeypatch):
    monkeypatch.setattr("tacit.stats.loglinear.GRID", 20)
    data = household_file()
    with pytest.raises(InputError, match="needs the whole grid"):
        tacit.SampleRisk().measure(data)
    with pytest.raises(InputError, match="the stepwise search needs"):
        tacit.SampleRisk(terms="stepwise").measure(data)
    tree = tacit.SampleRisk(terms=[["age", "job"], ["age", "region"]]).measure(data)
    assert tree.tau2 > 0


# -- the simulations of the paper's kind --------------------------------------------------------------------


def draw(intensity, people, size, seed):
    """Return population and sample counts of a table with gamma-Poisson intensities."""
    rng = np.random.default_rng(seed)
    rate = intensity * rng.gamma(1.5, 1 / 1.5, intensity.shape)
    population = rng.multinomial(people, (rate / rate.sum()).ravel())
    sample = rng.multivariate_hypergeometric(population, size, method="marginals")
    return population, sample


def as_file(counts, shape, names):
    """Return the records of a table."""
    codes = np.unravel_index(np.repeat(np.arange(counts.size), counts), shape)
    return tacit.read(pa.table(dict(zip(names, codes, strict=True))), keys=list(names))


def age_income_schooling():
    s, age, income, years = np.meshgrid(*(np.arange(k) for k in (2, 32, 14, 13)), indexing="ij")
    a, i, y = (age - 14) / 10, (income - 6) / 3.5, (years - 7) / 2.5
    return np.exp(
        -0.5 * a**2
        - 0.5 * (i - 0.5 * y - 0.3 * (s == 0)) ** 2
        - 0.5 * (y + 0.3 * a) ** 2
        + 0.35 * (years == 8)
    )


@pytest.mark.slow
def test_simulation_with_three_ordinal_keys():
    names = ("sex", "age", "income", "years")
    shape = (2, 32, 14, 13)
    found = []
    for seed in (1, 2, 3):
        population, sample = draw(age_income_schooling(), 37_586, 3_759, seed)
        data = as_file(sample, shape, names)
        register = as_file(population, shape, names)
        common = {"population": 37_586, "ordinal": names[1:]}
        true = tacit.SampleRisk(model="argus", **common).measure(data, register=register)
        made = [
            tacit.SampleRisk(model="negative_binomial", radius=c, **common).measure(data)
            for c in (2, 3)
        ]
        found.append(
            [*true.true, true.tau1, true.tau2, *(v for m in made for v in (m.tau1, m.tau2))]
        )
        assert made[0].tau1 < made[1].tau1
        assert made[0].tau2 < made[1].tau2
    true1, true2, _, argus2, local1, local2, *_ = np.mean(found, axis=0)
    assert abs(local2 / true2 - 1) <= 0.06
    assert abs(local1 / true1 - 1) <= 0.15
    assert 0.13 <= 1 - argus2 / true2 <= 0.25


@pytest.mark.slow
def test_simulation_with_four_ordinal_keys_and_a_sparse_table():
    names = ("sex", "age", "income", "years", "size")
    shape = (2, 16, 10, 11, 12)
    s, age, income, years, house = np.meshgrid(*(np.arange(k) for k in shape), indexing="ij")
    a, i, y, h = (age - 7) / 4, (income - 4) / 2.5, (years - 5) / 2.5, (house - 3) / 2.5
    intensity = np.exp(
        -0.5 * a**2
        - 0.5 * (i - 0.5 * y - 0.3 * (s == 0)) ** 2
        - 0.5 * (y + 0.3 * a) ** 2
        - 0.5 * (h + 0.3 * a) ** 2
    )
    common = {"population": 746_949, "ordinal": names[1:], "radius": 2}
    short = []
    for seed in (1, 2):
        population, sample = draw(intensity, 746_949, 7_470, seed)
        data, register = as_file(sample, shape, names), as_file(population, shape, names)
        argus = tacit.SampleRisk(model="argus", **common).measure(data, register=register)
        true = argus.true[1]
        local = tacit.SampleRisk(model="negative_binomial", **common)
        small, middle, large = (
            local.model_copy(update={"reach": d}).measure(data).tau2 for d in (4, 6, 8)
        )
        assert small < middle < large
        assert small <= true <= large
        # Cells that their neighbours separate are understated, and overstated with a lower degree.
        other = local.model_copy(update={"reach": 4, "separated": "lower"}).measure(data)
        assert small < true < other.tau2
        short.append(1 - argus.tau2 / true)
    # Argus knows nothing but the fraction: on this table it is 29 to 31 per cent low.
    assert np.mean(short) > 0.28
