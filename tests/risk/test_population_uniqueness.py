"""Population uniqueness: equations by direct summation, recovery of known populations, bad input, Anonymise."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import tacit
from tacit.claims import Claim
from tacit.claims.protection.population_uniques import estimate
from tacit.errors import InputError, InvalidParameter, RoleMissing
from tacit.records.classes.anonymise.models.condition import View
from tacit.records.classes.anonymise.models.population import FewPopulationUniques
from tacit.records.samples.population_uniques import (
    Estimate,
    SizeCounts,
    alpha_for_ratio,
    chance_of_one,
    choose_by_dankar,
    count_classes_shlosser,
    estimate_all,
    expected_once,
    expected_uniques,
    fit_pitman,
)


def file_of(sizes, name="k"):
    """Return a file whose classes on one key have these sizes."""
    return tacit.read(pa.table({name: np.repeat(np.arange(len(sizes)), sizes)}), keys=[name])


@pytest.mark.parametrize(
    ("alpha", "beta", "fraction"), [(0.3, 0.05, 0.1), (2.0, 0.4, 0.5), (7.5, 0.9, 0.02)]
)
def test_slide_negative_binomial_moments_by_direct_summation(alpha, beta, fraction):
    size = np.arange(1, 6000)
    chance = stats.nbinom.pmf(size - 1, alpha, beta)
    once = (chance * stats.binom.pmf(1, size, fraction)).sum()
    twice = (chance * stats.binom.pmf(2, size, fraction)).sum()
    assert expected_once(alpha, beta, fraction) == pytest.approx(once, rel=1e-9)
    assert alpha_for_ratio(beta, fraction, twice / once) == pytest.approx(alpha, rel=1e-8)


def test_shlosser_by_hand():
    # Two classes of one record and one of two, half of the population: Haas and Stokes' formula with q = 1/2.
    found = SizeCounts.of(np.array([1, 1, 2]), 8)
    first = (2 * 0.25 + 2 * 0.25 * 0.75) / (0.5 * 0.5 * 2 + 0.25 * 1.25)
    second = (0.5 * 2 + 0.25) / (0.5 * 2 + 2 * 0.5 * 0.5)
    assert count_classes_shlosser(found) == pytest.approx(3 + 2 * first * second**2)


def test_zayatz_chances_are_hypergeometric():
    sizes = np.array([1, 2, 5, 40])
    assert chance_of_one(sizes, 60, 100) == pytest.approx(stats.hypergeom.pmf(1, 100, sizes, 60))
    assert chance_of_one(np.array([42]), 60, 100)[0] == 0


def test_pitman_expectation_by_its_own_urn():
    # P(the n-th person is new and stays alone): the recursion of the urn, person by person.
    alpha, theta, total = 0.4, 3.0, 30
    alone = 0.0
    classes = 0.0
    for i in range(total):
        new = (theta + classes * alpha) / (theta + i)
        alone += new - alone * (1 - alpha) / (theta + i)
        classes += new
    assert expected_uniques(alpha, theta, total) == pytest.approx(alone, rel=1e-10)
    assert expected_uniques(0.0, 5.0, 1000) == pytest.approx(5000 / 1004)


def test_pitman_fit_is_the_largest_likelihood():
    rng = np.random.default_rng(3)
    found = SizeCounts.of(rng.geometric(0.3, 400), 10**6)
    alpha, theta = fit_pitman(found)
    u, n = found.classes, found.records

    def likelihood(a, t):
        inner = np.log(np.arange(1, found.sizes.max()) - a).cumsum()
        pairs = found.sizes > 1
        ups = (found.counts[pairs] * inner[found.sizes[pairs] - 2]).sum()
        return np.log(t + a * np.arange(1, u)).sum() - np.log(t + np.arange(1, n)).sum() + ups

    best = likelihood(alpha, theta)
    for da, dt in [(1e-3, 0), (-1e-3, 0), (0, 0.1), (0, -0.1), (1e-3, -0.1)]:
        if alpha + da >= 0:
            assert likelihood(alpha + da, theta + dt) <= best + 1e-9


def test_slide_negative_binomial_finds_its_own_population():
    rng = np.random.default_rng(5)
    people = 1 + rng.negative_binomial(0.8, 0.1, 20_000)
    truth = (people == 1).sum()
    for fraction in (0.3, 0.5, 0.8):
        sample = rng.binomial(people, fraction)
        made, chosen = estimate_all(SizeCounts.of(sample, int(people.sum())))
        assert made["snb"].uniques == pytest.approx(truth, rel=0.08)
        assert chosen == "snb" or made["zayatz"].uniques < made["snb"].uniques


def test_checks_of_the_claim_agree_with_the_estimates():
    rng = np.random.default_rng(7)
    for people in (rng.geometric(0.2, 3000), rng.zipf(1.7, 2000).clip(max=500)):
        sizes = rng.binomial(people, 0.3)
        sizes = sizes[sizes > 0].astype(np.int64)
        total = int(people.sum())
        for name, found in estimate_all(SizeCounts.of(sizes, total))[0].items():
            other = estimate(name, sizes, total)
            if math.isnan(found.uniques):
                assert math.isnan(other)
            else:
                assert other == pytest.approx(found.uniques, rel=1e-4)


def test_the_check_of_the_claim_solves_tiny_fractions_too():
    sizes = np.random.default_rng(2).integers(1, 4, 59)
    total = int(sizes.sum()) * 10**6
    found = estimate_all(SizeCounts.of(sizes, total))[0]["snb"].uniques
    assert found > 0
    assert estimate("snb", sizes, total) == pytest.approx(found, rel=1e-4)


def test_rule_of_dankar():
    made = {"pitman": Estimate(5.0), "zayatz": Estimate(9.0), "snb": Estimate(7.0)}
    assert choose_by_dankar(0.1, made) == "pitman"
    assert choose_by_dankar(0.11, made) == "snb"
    assert choose_by_dankar(0.11, made | {"zayatz": Estimate(6.0)}) == "zayatz"
    assert choose_by_dankar(0.5, made | {"snb": Estimate(math.nan, "no")}) == "zayatz"
    assert choose_by_dankar(0.05, made | {"pitman": Estimate(math.nan, "no")}) == "zayatz"


def test_result_names_shares_and_what_has_no_solution():
    result = tacit.PopulationUniqueness(population=1000).measure(file_of([1] * 30 + [3] * 10))
    assert math.isnan(result.snb)
    assert "no class of the sample has two records" in result.explanation
    assert result.dankar == result.pitman == result.value
    assert result.uniques["zayatz"] == pytest.approx(result.zayatz * 1000)
    assert result.plot().svg().startswith("<svg")
    everyone = tacit.PopulationUniqueness(sampling_fraction=1).measure(file_of([1, 1, 2]))
    assert (everyone.pitman, everyone.zayatz, everyone.snb, everyone.dankar) == (0.5,) * 4
    nobody = tacit.PopulationUniqueness(population=50).measure(file_of([2, 3]))
    assert (nobody.dankar, nobody.snb) == (0, 0)
    alone = tacit.PopulationUniqueness(population=100).measure(file_of([1] * 10))
    assert math.isnan(alone.pitman)
    assert alone.dankar == alone.zayatz == pytest.approx(1.0)


def test_the_worst_quasi_identifier_counts():
    data = tacit.read({"a": [1, 1, 2, 2], "b": [1, 2, 3, 3]}, keys={"coarse": ["a"], "fine": ["b"]})
    result = tacit.PopulationUniqueness(population=40).measure(data)
    assert result.value == result.parts["fine"].share("dankar") > 0
    assert tacit.PopulationUniqueness(population=40, quasi="coarse").measure(data).value == 0


def test_bad_input_in_one_sentence():
    data = file_of([1, 2])
    with pytest.raises(InputError, match="give population= or sampling_fraction="):
        tacit.PopulationUniqueness().measure(data)
    with pytest.raises(InputError, match="not both"):
        tacit.PopulationUniqueness(population=9, sampling_fraction=0.5).measure(data)
    with pytest.raises(InputError, match="smaller than the file"):
        tacit.PopulationUniqueness(population=2).measure(data)
    with pytest.raises(InvalidParameter, match="at most 1"):
        tacit.PopulationUniqueness(sampling_fraction=1.5)
    with pytest.raises(InvalidParameter, match="greater than 0"):
        tacit.PopulationUniqueness(sampling_fraction=0)
    with pytest.raises(RoleMissing):
        tacit.PopulationUniqueness(population=9).measure(tacit.read({"a": [1]}))
    with pytest.raises(InputError, match="no records"):
        tacit.PopulationUniqueness(population=9).measure(file_of([]))


def people(n=300, seed=2):
    """Return ages and places with hierarchies."""
    rng = np.random.default_rng(seed)
    table = pa.table({"age": rng.integers(20, 60, n), "place": rng.integers(0, 6, n)})
    return tacit.read(
        table,
        keys=["age", "place"],
        hierarchies={"age": tacit.hierarchy.intervals([5, 20]), "place": tacit.hierarchy.flat()},
    )


def test_anonymise_reaches_a_limit_on_population_uniques():
    data = people()
    model = tacit.PopulationUniqueness(sampling_fraction=0.2, threshold=0.001)
    assert model.measure(data).dankar > 0.001
    anonymise = tacit.Anonymise(models=[model], suppression=0.1)
    released = anonymise.apply(data, seed=1)
    claim = released.history[-1].claims[0]
    assert claim.model == "population-uniques"
    assert claim.parameters["population"] == 1500
    assert claim.holds(released.claim_view())
    check = tacit.PopulationUniqueness(population=1500, threshold=0.001)
    assert check.measure(released).value <= 0.001
    # Brute force: no cheaper node of the lattice is safe.
    best = anonymise.search(data).best
    assert best.value <= min(
        row["value"]
        for row in anonymise.search(data, top=100).frame.rows(named=True)
        if row["safe"]
    )


def test_a_share_that_cannot_be_estimated_is_not_safe():
    condition = FewPopulationUniques(population=100, threshold=1.0, model="pitman")
    assert not condition.holds(View(np.ones(10, dtype=np.int64), None, {}))
    assert condition.holds(View(np.zeros(3, dtype=np.int64), None, {}))


def test_a_false_claim_is_found_out():
    told = {"population": 1000, "threshold": 0.001, "estimate": "dankar"}
    claim = Claim("population-uniques", told, "keys", ("k",), ())
    assert not claim.holds(file_of([1] * 30 + [2] * 10).claim_view())
    assert claim.holds(file_of([5] * 10).claim_view())
