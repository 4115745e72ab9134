"""Many methods in one table."""

import numpy as np
import pytest

import tacit
from tacit.errors import InputError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.gamma(2, size=(150, 3))
    return tacit.read({"a": x[:, 0], "b": x[:, 0] + x[:, 1], "c": x[:, 2]})


METHODS = {
    "as it is": lambda data: data,
    "mdav": tacit.Mdav(k=3),
    "noise": tacit.CorrelatedNoise(columns=["a", "b", "c"], lambda_squared=0.2),
    "impossible": tacit.Mdav(k=100),
}


def test_one_table(data):
    found = tacit.compare(
        data,
        METHODS,
        [
            tacit.IndexDisclosure(columns=["a"]),
            tacit.InformationLoss(measures=["amean", "acor"]),
            tacit.Propensity(degree=1),
            tacit.Propensity(degree=2),
        ],
        seed=1,
    )
    rows = {r["system"]: r for r in found.table()}
    assert list(rows) == list(METHODS)
    assert rows["as it is"]["il1"] == 0
    assert rows["mdav"]["amean"] == pytest.approx(0, abs=1e-12)
    assert rows["noise"]["amean"] > 0
    assert rows["noise"]["propensity 2"] > rows["noise"]["propensity"]
    assert "200" in rows["impossible"]["reason"]
    assert rows["impossible"]["il1"] is None
    assert found["mdav"].results["information_loss"].il1 == rows["mdav"]["il1"]
    assert len(found.details("information_loss")) == 3
    text = repr(found)
    assert "index_disclosure" in text
    assert "noise" in text
    assert found.frame.shape[0] == 4


def test_bar_charts_risk_first(data):
    found = tacit.compare(
        data,
        {k: METHODS[k] for k in ("mdav", "noise")},
        [tacit.InformationLoss(measures=["il1"]), tacit.IndexDisclosure(columns=["a"])],
        seed=1,
    )
    charts = list(found.charts())
    titles = [c.spec["title"]["text"] for c in charts]
    assert titles == ["Risk by system: index_disclosure", "Utility by system: il1"]
    assert "lower is better" in charts[1].spec["title"]["subtitle"]
    assert found.plot("sse_percent").svg().startswith("<svg")
    with pytest.raises(InputError, match="no measure 'k'"):
        found.plot("k")
    with pytest.raises(InputError, match="no system 'pca'"):
        found["pca"]


def test_a_measure_that_fails_keeps_the_rest(data):
    found = tacit.compare(
        data,
        {"part": tacit.Sample(n=50)},
        [tacit.DistanceTable(), tacit.EstimateChange()],
        seed=1,
    )
    row = found.table()[0]
    assert "different records" in row["reason"]
    assert row["estimate_change"] > 0


def test_same_seed_same_table(data):
    once, twice = (
        tacit.compare(data, {"noise": METHODS["noise"]}, [tacit.Propensity(degree=1)], seed=3)
        for _ in range(2)
    )
    assert once.table()[0]["propensity"] == twice.table()[0]["propensity"]


def test_something_must_be_compared(data):
    with pytest.raises(InputError, match="give at least one system"):
        tacit.compare(data, {})
