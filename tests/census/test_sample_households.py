"""Systematic samples of households: published cases, brute force, whole households, refusals."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engine import blocks
from tacit.errors import InputError, InvalidParameter, SdcWarning
from tacit.stats.systematic import PseudoStrata, Systematic, as_interval

FIXTURES = Path(__file__).parents[1] / "fixtures" / "psd31-ipums-international"
CASES = json.loads((FIXTURES / "systematic_sample.json").read_text())


def of(homes, district, sizes=None, **roles):
    """Records of households in order, with a running number."""
    sizes = [1] * len(homes) if sizes is None else sizes
    who = np.repeat(np.arange(len(homes)), sizes)
    return tacit.read(
        {
            "home": [homes[i] for i in who],
            "district": [district[i] for i in who],
            "n": list(range(len(who))),
        },
        household="home",
        **roles,
    )


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda c: str(c["interval"]))
def test_published_cases(case, engine):
    given_ = CASES["input"]
    data = tacit.read(
        {"h": given_["households_in_file_order"], "d": given_["district"]},
        household="h",
        engine=engine,
    )
    start = case.get("start", case.get("fractional_start"))
    spec = tacit.SampleHouseholds(interval=case["interval"], start=start, sort_by=["d"])
    taken = spec.apply(data, seed=1)
    assert taken.column("h").to_pylist() == case["selected"]
    assert set(taken.column("sample_weight").to_pylist()) == {float(case["weight"])}
    assert (taken.weight, taken.stratum) == ("sample_weight", "pseudo_stratum")


def by_definition(homes, district, interval, start):
    """Sort, then take the households numbered ceil(u + j interval), in exact fractions."""
    listed = sorted(dict.fromkeys(zip(homes, district, strict=True)), key=lambda u: u[1])
    found, j = set(), 0
    while (k := math.ceil(Fraction(start) + j * Fraction(interval).limit_denominator(10**6))) <= len(listed):  # fmt: skip
        found.add(listed[k - 1][0])
        j += 1
    return found


@st.composite
def censuses(draw):
    n = draw(st.integers(2, 30))
    district = draw(st.lists(st.sampled_from("ABCD"), min_size=n, max_size=n))
    sizes = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    names = draw(st.permutations([f"h{i:02d}" for i in range(n)]))
    interval = draw(st.one_of(st.integers(1, n), st.floats(1, n).map(lambda x: round(x, 2))))
    start = draw(st.floats(0.01, 1)) * interval
    return list(names), district, sizes, interval, start, draw(st.booleans())


@settings(max_examples=25, deadline=None)
@given(censuses())
def test_every_household_stays_whole_and_is_the_one_of_the_definition(case):
    names, district, sizes, interval, start, scattered = case
    data = of(names, district, sizes)
    if scattered:
        rng = np.random.default_rng(len(names))
        table = data.to_arrow().take(rng.permutation(len(data)))
        data = tacit.read(table, household="home")
    whole = {}
    for home, n in zip(data.column("home").to_pylist(), data.column("n").to_pylist(), strict=True):
        whole.setdefault(home, set()).add(n)
    listed = data.to_arrow().to_pydict()
    taken = tacit.SampleHouseholds(interval=interval, start=start, sort_by=["district"]).apply(data, seed=1)  # fmt: skip
    got = {}
    for home, n in zip(taken.column("home").to_pylist(), taken.column("n").to_pylist(), strict=True):  # fmt: skip
        got.setdefault(home, set()).add(n)
    assert all(whole[home] == members for home, members in got.items())
    order = list(dict.fromkeys(zip(listed["home"], listed["district"], strict=True)))
    want = by_definition([h for h, _ in order], [d for _, d in order], interval, start)
    assert set(got) == want
    strata = {}
    for home, s in zip(taken.column("home").to_pylist(), taken.column("pseudo_stratum").to_pylist(), strict=True):  # fmt: skip
        strata.setdefault(s, set()).add(home)
    if len(want) > 1:
        assert min(map(len, strata.values())) >= 2
    assert sum(map(len, strata.values())) == len(want)


def test_households_across_blocks_are_numbered_once(monkeypatch):
    """Blocks of three records: households go on over one block and over several."""
    for module in (blocks,):
        monkeypatch.setattr(module, "BLOCK", 3)
    sizes = [1, 2, 4, 9, 1, 1, 3, 5, 2, 2]
    district = list("AAABBBCCCC")
    data = of([f"h{i}" for i in range(10)], district, sizes)
    for interval, start in ((2, 1), (3, 2), (2.5, 0.3)):
        spec = tacit.SampleHouseholds(interval=interval, start=start, sort_by=["district"])
        taken = spec.apply(data, seed=1)
        want = by_definition([f"h{i}" for i in range(10)], district, interval, start)
        assert set(taken.column("home").to_pylist()) == want
        assert len(taken) == sum(s for i, s in enumerate(sizes) if f"h{i}" in want)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=1, max_size=12), st.integers(2, 5))
def test_pseudo_strata_are_groups_of_neighbours_within_units(sampled, size):
    made = PseudoStrata.of(np.array(sampled), size)
    classes = np.repeat(np.arange(len(sampled)), sampled)
    rank = np.concatenate([np.arange(n) for n in sampled] or [[]]).astype(np.int64)
    group = made.place(classes, rank)
    assert np.all(np.diff(group) >= 0)
    assert np.all(np.diff(group) <= 1)
    counts = np.bincount(group, minlength=1)
    if sum(sampled) > 1:
        assert counts.min() >= 2
        assert counts.max() <= size + 3
    lone = np.array(sampled)[classes] == 1 if len(classes) else np.zeros(0, bool)
    for g in np.unique(group):
        units = set(classes[(group == g) & ~lone])
        assert len(units) <= 1 or lone[group == g].any()


@given(st.fractions(1, 50, max_denominator=100), st.integers(1, 200))
def test_counting_agrees_with_enumeration(interval, n):
    sample = Systematic(interval.numerator, interval.denominator, max(interval.numerator // 2, 1))
    numbers = np.arange(1, n + 1)
    start = Fraction(sample.start, sample.parts)
    taken = {math.ceil(start + j * interval) for j in range(n + 1)}
    assert sample.takes(numbers).tolist() == [k in taken for k in numbers.tolist()]
    assert int(sample.counted(n)) == sum(k in taken for k in numbers.tolist())


def test_every_household_has_the_same_chance():
    """Over all starts, each of which is as likely, every household is taken equally often."""
    interval = as_interval(1 / 0.4)
    assert interval == Fraction(5, 2)
    taken = sum(Systematic(5, 2, m).takes(np.arange(1, 24)).astype(int) for m in range(1, 6))
    assert set(taken.tolist()) == {2}
    assert as_interval(7.5) == Fraction(15, 2)


def test_restart_weights_by_unit_and_warns_of_empty_ones():
    data = of([f"h{i}" for i in range(12)], ["A"] * 7 + ["B"] * 5)
    taken = tacit.SampleHouseholds(interval=3, start=1, sort_by=["district"], restart=True).apply(data, seed=1)  # fmt: skip
    assert taken.column("home").to_pylist() == ["h0", "h3", "h6", "h7", "h10"]
    assert taken.column("sample_weight").to_pylist() == pytest.approx([7 / 3] * 3 + [2.5] * 2)
    small = of([f"h{i}" for i in range(6)], ["A"] * 5 + ["B"])
    with pytest.warns(SdcWarning, match="none was taken"):
        tacit.SampleHouseholds(interval=3, start=3, sort_by=["district"], restart=True).apply(small)


def test_a_declared_weight_is_raised():
    data = tacit.read({"home": [1, 1, 2, 3, 4], "w": [2.0, 2.0, 1.0, 3.0, 5.0]}, household="home", weight="w")  # fmt: skip
    taken = tacit.SampleHouseholds(interval=2, start=1).apply(data, seed=1)
    assert taken.column("w").to_pylist() == [4.0, 4.0, 6.0]
    assert "sample_weight" not in taken.columns


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({}, "give either interval, or fraction, or households"),
        ({"interval": 2, "fraction": 0.5}, "give either interval, or fraction, or households"),
        ({"interval": 0.5}, "interval must be at least 1"),
        ({"interval": 0}, "interval must be at least 1"),
        ({"interval": float("nan")}, "interval"),
        ({"fraction": 1.5}, "fraction must be at most 1"),
        ({"interval": 5, "start": 6}, "start must lie above 0"),
        ({"interval": 5, "start": 0}, "start must be greater than 0"),
        ({"interval": 5, "restart": True}, "restart needs sort_by"),
        ({"interval": 5, "group": 11}, "group must be at most 10"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(given_, said):
    with pytest.raises(InvalidParameter, match=said):
        tacit.SampleHouseholds(**given_)


def test_bad_data_are_refused_in_a_sentence(capsys):
    sample = tacit.SampleHouseholds(interval=2, sort_by=["district"])
    with pytest.raises(InputError, match="no household in column 'home'"):
        sample.apply(tacit.read({"home": [1, None, 2], "district": list("AAA")}, household="home"))
    torn = tacit.read({"home": ["x1", "x1", "x2"], "district": list("ABB")}, household="home")
    with pytest.raises(InputError, match="differ in 'district'") as caught:
        sample.apply(torn)
    assert "x1" not in str(caught.value)
    with tacit.show_values(), pytest.raises(InputError):
        sample.apply(torn)
    assert "'x1'" in capsys.readouterr().err
    apart = tacit.read({"home": ["x1", "x2", "x1"], "district": list("ABB")}, household="home")
    with pytest.raises(InputError, match="differ in 'district'"):
        sample.apply(apart)
    with pytest.raises(InputError, match="larger than the number of households"):
        tacit.SampleHouseholds(interval=9).apply(torn)
    with pytest.raises(tacit.errors.RoleMissing, match="needs a household"):
        sample.apply(tacit.read({"home": [1], "district": ["A"]}))


def test_the_start_stays_secret():
    data = of([f"h{i}" for i in range(8)], ["A"] * 8)
    done = tacit.SampleHouseholds(interval=4, start=3).apply(data, seed=1)
    assert "start" not in done.history[-1].parameters
    assert "start" not in str(done.history[-1].details)


def test_implicit_stratification_is_as_efficient_as_simulated():
    """Variance of the systematic mean over all ten starts against a simple random sample: about 1 - rho."""
    told = json.loads((FIXTURES / "simulation_implicit_stratification.json").read_text())
    rng = np.random.default_rng(3)
    for rho in (0.0, 0.3, 0.5):
        ratios = []
        for _ in range(60):
            effect = np.empty(400)
            effect[0] = rng.normal()
            for i in range(1, 400):
                effect[i] = 0.9 * effect[i - 1] + math.sqrt(1 - 0.81) * rng.normal()
            y = np.repeat(effect * math.sqrt(rho), 100) + math.sqrt(1 - rho) * rng.normal(
                size=40_000
            )
            means = y.reshape(-1, 10).mean(axis=0)
            ratios.append(means.var() / (0.9 * y.var(ddof=1) / 4000))
        mean = float(np.mean(ratios))
        assert abs(mean - (1 - rho)) < 0.1
        assert mean == pytest.approx(told["observed_mean_ratio"][f"rho={rho:g}"], abs=0.1)


@pytest.mark.parametrize("by", ["strata", "order"])
def test_design_effect_sees_the_gain(by):
    rng = np.random.default_rng(5)
    effect = np.repeat(rng.normal(size=200), 50)
    data = tacit.read(
        {
            "home": np.arange(10_000),
            "area": np.repeat(np.arange(200), 50),
            "y": effect + rng.normal(size=10_000),
        },
        household="home",
    )
    taken = tacit.SampleHouseholds(interval=10, sort_by=["area"]).apply(data, seed=2)
    found = tacit.DesignEffect(columns=["y"], by=by).measure(taken)
    assert found.value == pytest.approx(0.5, abs=0.08)
    assert found.numbers["sampling fraction"] == pytest.approx(0.1)


def test_successive_differences_by_hand():
    from tacit.stats.systematic import simple_variance, successive_difference_variance

    y = np.array([1.0, 3.0, 2.0, 6.0])
    assert successive_difference_variance(y, 0.1) == pytest.approx(0.9 / 4 * (4 + 1 + 16) / 6)
    assert simple_variance(y, 0.1) == pytest.approx(0.9 * np.var(y, ddof=1) / 4)
    data = tacit.read({"y": y, "w": [10.0] * 4}, weight="w")
    found = tacit.DesignEffect(columns=["y"], by="order").measure(data)
    error = found.numbers["standard error of mean y"]
    assert error**2 == pytest.approx(successive_difference_variance(y, 0.1))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_a_forced_size_is_met_exactly_with_kishs_weight(n, wanted, seed):
    data = of([f"h{i:02d}" for i in range(n)], ["A"] * n, [1 + i % 3 for i in range(n)])
    spec = tacit.SampleHouseholds(households=wanted)
    if wanted > n:
        with pytest.raises(InputError, match="fewer households than are to be taken"):
            spec.apply(data, seed=seed)
        return
    taken = spec.apply(data, seed=seed)
    assert len(set(taken.column("home").to_pylist())) == wanted
    assert set(taken.column("sample_weight").to_pylist()) == {n / wanted}
    assert [c.parameters for c in taken.history[-1].claims][1] == {"value": n / wanted}


def test_a_forced_size_goes_alone():
    for wrong in ({"interval": 2}, {"fraction": 0.5}, {"restart": True, "sort_by": ["district"]}):
        with pytest.raises(InvalidParameter):
            tacit.SampleHouseholds(households=3, **wrong)
    data = of(list("abcd"), list("AABB"))
    with pytest.raises(InputError, match="start lies beyond"):
        tacit.SampleHouseholds(households=2, start=2.5).apply(data)
