"""Products within products: treatments, nesting, published tables, user groups."""

import numpy as np
import pytest

import tacit


@pytest.fixture
def data():
    return tacit.read(
        {
            "name": list("abcdefgh"),
            "zip": ["0213", "0214", "0223", "0224", "0313", "0314", "0323", "0324"],
            "sex": list("fmfmfmfm"),
            "rent": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        },
        identifiers=["name"],
        keys=["zip", "sex"],
        hierarchies={"zip": tacit.hierarchy.digits(4)},
    )


def closed(data):
    return tacit.Suppress(level="attribute", columns=["sex"]).apply(data).drop(["name", "sex"])


def research(data):
    return tacit.Generalise(columns=["zip"], level=1).apply(data).drop(["name"])


def public(data):
    coarse = tacit.Generalise(columns=["zip"], level=2).apply(data).drop(["name"])
    return tacit.AddNoise(columns=["rent"], sd=1).apply(coarse, seed=1)


def test_nested_products(data):
    group = tacit.UserGroup("everybody", "teaching", ("electoral roll",), "public")
    found = tacit.Tiers({"public": public, "research": research}, (group,)).check(data)
    assert found.nested
    found.require()
    assert found.treatments["public"] == {
        "name": "dropped",
        "zip": "recoded, 2 categories",
        "sex": "as it is",
        "rent": "masked",
    }
    assert found.treatments["research"]["rent"] == "as it is"
    assert found.groups == (group,)
    assert "recoded, 2 categories" in repr(found)


def test_breaks_of_nesting_are_named(data):
    found = tacit.Tiers({"open": research, "closed": public}).check(data)
    assert found.faults == (
        "'zip' in open is no coarsening of what it is in closed.",
        "closed masks 'rent', and open does not.",
    )
    with pytest.raises(tacit.SdcError, match="not nested"):
        found.require()
    dropped = tacit.Tiers({"open": research, "closed": closed}).check(data)
    assert "open releases 'sex', which closed drops." in dropped.faults


def test_more_records_break_it_too(data):
    fewer = research(data).take(np.arange(5))
    found = tacit.Tiers({"open": research, "closed": fewer}).check(data)
    assert found.faults[0] == "open holds records that closed does not."


def test_published_tables_must_come_out_again(data):
    tables = {"by area": {"zip": 2, "sex": 0}, "by town": ["zip"]}
    found = tacit.Tiers({"public": public, "research": research}).check(data, published=tables)
    assert found.unrecovered == (
        "public cannot give the table 'by town' again: 'zip' differs from what is published.",
        "research cannot give the table 'by town' again: 'zip' differs from what is published.",
    )


def test_partial_suppression_is_told_from_masking(data):
    part = tacit.LocalSuppression(k=2, combinations=[{"columns": ["zip", "sex"], "k": 2}])
    found = tacit.Tiers({"one": part, "all": lambda d: d}).check(data)
    assert "suppressed in part" in found.treatments["one"].values()


def noisy(sd):
    return tacit.AddNoise(columns=["rent"], sd=sd)


@pytest.fixture
def rents():
    values = np.random.default_rng(4).lognormal(6, 0.5, 400)
    return tacit.read({"id": np.arange(400), "rent": values})


def test_two_noises_on_one_column_are_not_nested(rents):
    wide = noisy(20).apply(rents, seed=7)
    narrow = noisy(10).apply(rents, seed=7)
    # The noise of one seed differs by its scale alone: whoever holds both has the original.
    x, y = (np.asarray(d.column("rent")) for d in (narrow, wide))
    truth = np.asarray(rents.column("rent"))
    assert np.abs(2 * x - y - truth).max() < np.abs(x - truth).max()
    found = tacit.Tiers({"public": wide, "research": narrow}).check(rents)
    assert found.faults == (
        "public masks 'rent' in another way than research, so that both together tell more than each alone.",
    )
    other = noisy(10).apply(rents, seed=8)
    assert not tacit.Tiers({"public": other, "research": narrow}).check(rents).nested
    assert tacit.Tiers({"public": narrow, "research": narrow}).check(rents).nested


def test_what_is_computed_from_a_masked_column_is_nested(rents):
    closed = noisy(10).apply(rents, seed=7)
    rounded = tacit.RoundValues(columns=["rent"], base=100).apply(closed)
    assert tacit.Tiers({"public": rounded, "research": closed}).check(rents).nested
    grouped = tacit.Mdav(k=5).apply(rents.drop(["id"]))
    finer = tacit.Mdav(k=3).apply(rents.drop(["id"]))
    assert not tacit.Tiers({"public": grouped, "research": finer}).check(rents).nested
    # Classes of the true values are no coarsening of noise.
    classes = tacit.RoundValues(columns=["rent"], base=100).apply(rents)
    assert not tacit.Tiers({"public": closed, "research": classes}).check(rents).nested


@pytest.fixture
def table():
    values = np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    made = tacit.Table.from_array(values, totals=False, upper=500.0)
    return made.with_protection([(1, 2)], lower=5, upper=8)


def test_products_of_a_table(table):
    safe = tacit.SuppressLinear().apply(table)
    found = tacit.Tiers({"public": safe, "research": lambda t: t}).check(table)
    assert found.nested
    hidden = int(safe.hidden.sum())
    assert found.treatments["public"]["cells hidden"] == f"{hidden:,}"
    assert found.plot().svg().startswith("<svg")
    turned = tacit.Tiers({"public": lambda t: t, "research": tacit.SuppressLinear()}).check(table)
    # The unsafe cell itself is hidden in both.
    assert turned.faults == (f"public publishes {hidden - 1:,} cells that research hides.",)


def test_two_roundings_of_a_table_are_not_nested(table):
    five, three = (tacit.RandomRounding(base=b).apply(table, seed=1) for b in (5, 3))
    assert tacit.Tiers({"public": five, "research": five}).check(table).nested
    found = tacit.Tiers({"public": five, "research": three}).check(table)
    assert "in another way than research" in found.faults[0]
    with pytest.raises(tacit.SdcError, match="goes with products of records"):
        tacit.Tiers({"a": five}).check(table, published={"t": ["axis 1"]})


def test_refusals(data):
    with pytest.raises(tacit.SdcError, match="at least one product"):
        tacit.Tiers({})
    with pytest.raises(tacit.SdcError, match="which is no product"):
        tacit.Tiers({"a": research}, (tacit.UserGroup("g", "", (), "b"),))
    with pytest.raises(tacit.SdcError, match="town"):
        tacit.Tiers({"a": research}).check(data, published={"t": ["town"]})


@pytest.mark.parametrize("wrap", [lambda step: step, lambda step: tacit.Plan([step])])
def test_products_draw_as_their_releases_do(wrap):
    rng = np.random.default_rng(2)
    data = tacit.read({"rent": rng.lognormal(6, 0.5, 80).round(), "w": rng.integers(1, 9, 80)})
    mask = tacit.AddNoise(columns=["rent"], sd=50)
    tiers = tacit.Tiers({"public": wrap(mask), "research": wrap(mask)})
    # Both releases draw their own noise: their mean is closer to the truth than each.
    for seed in range(1, 4):
        found = tiers.check(data, seed=seed)
        assert not found.nested
        assert "in another way" in found.faults[0]
    assert not tiers.check(data).nested
    again = tiers.check(data, seed=1).faults
    assert again == tiers.check(data, seed=1).faults


def test_a_plan_with_its_own_seed_keeps_it():
    data = tacit.read({"rent": np.arange(1.0, 41.0) ** 2})
    plan = tacit.Plan([tacit.AddNoise(columns=["rent"], sd=50)], seed=5)
    assert tacit.Tiers({"public": plan, "research": plan}).check(data, seed=1).nested
