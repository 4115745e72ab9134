"""Probabilistic linkage as a measure: text and numbers, blocks, zones, bad input."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.errors import Approximate, InputError, InvalidParameter


def people(n=400, seed=1):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "sex": rng.choice(["f", "m"], n),
            "place": rng.choice([f"town {i}" for i in range(15)], n),
            "born": rng.integers(1930, 2010, n),
            "income": rng.lognormal(10, 0.5, n),
            "wealth": rng.normal(size=n),
            "illness": rng.choice(["flu", "cold"], n),
        },
        keys=["sex", "place", "born"],
        sensitive=["illness"],
    )


@pytest.fixture(scope="module")
def data():
    return people()


@pytest.fixture(scope="module")
def released(data):
    """A tenth of the places wrong, small noise on income and wealth, some years missing."""
    rng = np.random.default_rng(2)
    place = np.array(data.column("place").to_pylist())
    place = np.where(rng.random(400) < 0.1, place[rng.permutation(400)], place)
    born = data.column("born").to_numpy().astype(float)
    born[rng.random(400) < 0.05] = np.nan
    noisy = {
        c: data.column(c).to_numpy() * (1 + 0.02 * rng.normal(size=400))
        for c in ("income", "wealth")
    }
    return data.replace(
        {"place": place, "born": pa.array(born, mask=np.isnan(born), from_pandas=True), **noisy}
    )


def test_keys_and_changed_numbers_are_known_by_default(data, released):
    found = tacit.ProbabilisticLinkage().measure(released, original=data)
    assert found.columns == ("sex", "place", "born", "income", "wealth")
    assert found.share > 0.95
    assert found.numbers["pairs compared"] == 160_000
    assert found.disclosed["illness"] == pytest.approx(found.correct)
    assert (found.model.m[1][-1], found.model.m[0][-1]) == pytest.approx((0.9, 1.0), abs=0.06)
    assert found.model.p == pytest.approx(1 / 400, rel=0.2)
    assert found.plot().alt.startswith("Weights of agreement by column. sex disagrees")


def test_zones_split_the_pairs(data, released):
    found = tacit.ProbabilisticLinkage().measure(released, original=data)
    numbers = found.numbers
    total = numbers["pairs that are links"] + numbers["possible links"] + numbers["no links"]
    assert total == 160_000
    patterns = found.patterns
    assert patterns["pairs"].sum() == 160_000
    weights = patterns["weight"].to_numpy()
    assert (np.diff(weights) <= 0).all()
    assert patterns["false_match"].to_numpy()[-1] <= 1 + 1e-9
    assert set(patterns["zone"].to_list()) <= {"link", "possible", "no link"}
    strict = tacit.ProbabilisticLinkage(false_match=1e-9, false_nonmatch=1e-9)
    assert (
        strict.measure(released, original=data).numbers["possible links"]
        > numbers["possible links"]
    )


def test_text_alone_ties_and_counts_by_chance(data):
    found = tacit.ProbabilisticLinkage(columns=["sex", "place"]).measure(data, original=data)
    import collections

    rows = list(zip(data.column("sex").to_pylist(), data.column("place").to_pylist(), strict=True))
    assert found.correct == pytest.approx(len(collections.Counter(rows)))
    assert found.by_rule["any"] == 400


def test_interpolation_breaks_ties(data, released):
    columns = ["income", "wealth"]
    smooth = tacit.ProbabilisticLinkage(columns=columns).measure(released, original=data)
    steps = tacit.ProbabilisticLinkage(columns=columns, interpolate=False)
    assert smooth.correct > steps.measure(released, original=data).correct
    assert smooth.frame["ties"].max() == 1


def test_several_tolerances(data, released):
    spec = tacit.ProbabilisticLinkage(columns=["income", "wealth", "born"], tolerances=[0.5, 0.1])
    found = spec.measure(released, original=data)
    assert [len(m) for m in found.model.m] == [3, 3, 3]
    assert found.share > 0.9


def test_blocks_find_what_all_pairs_find(data, released):
    columns = ["sex", "born", "income"]
    whole = tacit.ProbabilisticLinkage(columns=columns).measure(released, original=data)
    blocked = tacit.ProbabilisticLinkage(
        columns=columns, block=["place"], near="wealth", within=0.3
    )
    found = blocked.measure(released, original=data)
    assert found.numbers["pairs compared"] < 10_000
    assert found.share > 0.85
    assert abs(found.share - whole.share) < 0.15


@pytest.mark.parametrize("estimate", ["random_pairs", "true"])
def test_other_estimates(data, released, estimate):
    spec = tacit.ProbabilisticLinkage(estimate=estimate)
    found = spec.measure(released, original=data, seed=1)
    assert found.share > 0.95
    assert found.value == spec.measure(released, original=data, seed=1).value


def test_one_to_one(data, released):
    spec = tacit.ProbabilisticLinkage(columns=["place", "born"], one_to_one=True)
    found = spec.measure(released, original=data)
    links = found.frame["link"].to_numpy()
    assert len(set(links)) == 400


def test_records_that_were_dropped(data, released):
    some = released.take(np.arange(0, 400, 4))
    found = tacit.ProbabilisticLinkage().measure(some, original=data)
    assert found.numbers["of them in both files"] == 100
    assert found.share > 0.9
    assert found.frame["correct"].to_numpy()[1::4].sum() == 0


def test_a_field_that_speaks_against_a_match_is_named(data, released, monkeypatch):
    from tacit.records.linkage import probabilistic_linkage

    def turned_round(_patterns, start, **_more):
        m = (np.array([0.99, 0.01]), *start.m[1:])
        return replace(start, m=m, u=(np.array([0.9, 0.1]), *start.u[1:]))

    monkeypatch.setattr(probabilistic_linkage, "em", turned_round)
    with pytest.warns(Approximate, match="agreement on 'income' speaks against a match"):
        tacit.ProbabilisticLinkage(columns=["income", "wealth"]).measure(released, original=data)


def test_em_says_when_it_was_stopped(data, released):
    with pytest.warns(Approximate, match="did not come to rest in 2 steps"):
        tacit.ProbabilisticLinkage(iterations=2).measure(released, original=data)


def test_faults(data, released):
    turned = released.replace({"place": np.array(["nowhere"] * 400)})
    blocked = tacit.ProbabilisticLinkage(columns=["income"], block=["place"])
    with pytest.raises(InputError, match="no pair of records meets block and near"):
        blocked.measure(turned, original=data)
    with pytest.raises(InputError, match="near needs a numeric column"):
        tacit.ProbabilisticLinkage(near="place").measure(released, original=data)
    with pytest.raises(InvalidParameter, match="tolerances must go from wide to narrow"):
        tacit.ProbabilisticLinkage(tolerances=[0.1, 0.5])
    with pytest.raises(InvalidParameter, match="block must not name a column that is compared"):
        tacit.ProbabilisticLinkage(columns=["sex"], block=["sex"])
    with pytest.raises(InvalidParameter, match="columns must name each column once"):
        tacit.ProbabilisticLinkage(columns=["sex", "sex"])
    with pytest.raises(InvalidParameter, match="tolerances must have at least 1 entries"):
        tacit.ProbabilisticLinkage(tolerances=[])


def test_many_comparisons_bring_a_warning(data, released, monkeypatch):
    from tacit.records.linkage import probabilistic_linkage

    monkeypatch.setattr(probabilistic_linkage, "MANY", 1000)
    with pytest.warns(tacit.errors.Slow, match="comparisons will take long"):
        tacit.ProbabilisticLinkage().measure(released, original=data)
