"""The lines by which the measures of samples and optimal anonymisation are introduced work as written."""

import numpy as np
import pyarrow as pa
import pytest

import tacit


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    n = 400
    table = {
        "region": [f"r{i}" for i in rng.integers(0, 6, n)],
        "age": rng.integers(20, 60, n),
        "sex": [str(s) for s in rng.choice(["F", "M"], n)],
        "disease": [str(d) for d in rng.choice(["flu", "cold", "none"], n)],
        "weight": rng.uniform(5, 15, n),
        "home": [f"h{i}" for i in rng.integers(0, 150, n)],
    }
    return tacit.read(
        pa.table(table),
        keys=["region", "age", "sex"],
        sensitive=["disease"],
        weight="weight",
        household="home",
        hierarchies={
            "region": tacit.hierarchy.flat(),
            "age": tacit.hierarchy.intervals([5, 10, 20]),
            "sex": tacit.hierarchy.flat(),
        },
    )


def test_individual_risk(data):
    risk = tacit.IndividualRisk(estimator="bf").measure(data)
    assert 0 < risk.expected < len(data)
    assert len(risk.frame) == len(data)
    assert risk.household is not None
    assert 0 < risk.threshold(expected=10) <= 1


def test_sample_risk(data):
    for given in (
        {"model": "poisson", "terms": "two_way"},
        {"model": "negative_binomial"},
        {"model": "argus"},
    ):
        found = tacit.SampleRisk(**given).measure(data)
        assert 0 <= found.tau1 <= found.tau2
        assert len(found.frame) == len(data)


def test_suda(data):
    found = tacit.Suda(max_size=3).measure(data)
    assert {"score", "dis"} <= set(found.frame.columns)
    assert len(found.minimal_uniques) > 0
    assert found.contributions is not None


def test_population_uniqueness(data):
    found = tacit.PopulationUniqueness(population=1_000_000).measure(data)
    for value in (found.pitman, found.zayatz, found.dankar):
        assert value >= 0
    assert hasattr(found, "snb")


def test_anonymise(data):
    anonymise = tacit.Anonymise(
        models=[tacit.KAnonymity(k=5), tacit.LDiversity(l=2, sensitive="disease")],
        suppression=0.05,
        utility="loss",
        weights="records",
    )
    lattice = anonymise.search(data)
    assert lattice.best.levels.keys() == set(data.keys)
    assert lattice.best.value == lattice.ties[0].value
    assert lattice.n_safe > 0
    assert lattice.proven
    assert len(lattice.frame) == lattice.n_nodes
    assert "<svg" in lattice.plot().svg()
    released = anonymise.apply(data, seed=1)
    assert tacit.KAnonymity().measure(released).k >= 5


@pytest.mark.slow
def test_recommend(data):
    found = tacit.recommend(
        data, risk=tacit.IndividualRisk(), cap=0.05, utility=tacit.Propensity(), budget=24
    )
    assert found.plans
