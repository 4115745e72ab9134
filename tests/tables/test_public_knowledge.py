"""What outsiders know of a changed table follows from the public parameters in its history."""

import numpy as np
import pytest

import tacit
from tacit import examples
from tacit.tables.attack.knowledge import knowledge_of, public_range


@pytest.fixture(scope="module")
def firms():
    table = tacit.Table.from_microdata(
        examples.firms(),
        dimensions=examples.firm_dimensions(),
        value="turnover",
        holding="firm_group",
    )
    return tacit.MinimumFrequency(n=3).apply(tacit.PPercent(p=10).apply(table))


def risk(table):
    return tacit.Audit(cells="unsafe", singletons=False, processes=1).measure(table).value


def test_rounding_to_a_small_base_protects_little(firms):
    small, large = (tacit.RandomRounding(base=b).apply(firms, seed=1) for b in (10, 5_000))
    assert risk(small) > 0.8
    assert risk(large) == 0
    # The range that the base leaves is narrower than what the cell needs.
    known = knowledge_of(small).problem
    needs = known.need_down + known.need_up > 2 * 10
    assert (known.down + known.up)[needs].max() <= 2 * 10


def test_the_map_says_so(firms):
    found = tacit.RUMap(
        {"rounding": [tacit.RandomRounding(base=10), tacit.RandomRounding(base=5_000)]},
        risk=tacit.Audit(cells="unsafe", singletons=False, processes=1),
        utility=tacit.CellLoss(),
        workers=1,
    ).run(firms, seed=1)
    risks = [p.risk for p in found.points]
    assert max(risks) > 0.8
    assert min(risks) == 0


@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        (tacit.RandomRounding(base=5), -4, 4),
        (tacit.RandomRounding(base=5, rule="conventional"), -2, 2),
        (tacit.RandomRounding(base=4, rule="conventional"), -2, 1),
        (tacit.RandomRounding(base=5, rule="up"), -4, 0),
        (tacit.RandomRounding(base=5, rule="down"), 0, 4),
    ],
)
def test_every_rule_leaves_its_own_range(method, low, high):
    rng = np.random.default_rng(3)
    table = tacit.Table.from_array(rng.integers(0, 40, (6, 5)), totals=False, frequency=True)
    rounded = method.apply(table, seed=2)
    told = public_range(rounded)
    assert told is not None
    np.testing.assert_array_equal(told.low - rounded.published, low)
    np.testing.assert_array_equal(told.high - rounded.published, high)
    assert ((table.value >= told.low) & (table.value <= told.high)).all()


def test_small_counts():
    table = tacit.Table.from_array([[1, 7], [0, 2]], totals=False, frequency=True)
    rounded = tacit.RoundSmallCounts(base=3).apply(table, seed=1)
    told = public_range(rounded)
    seven = table.index(("1", "2"))
    assert (told.low[seven], told.high[seven]) == (7, 7)
    assert ((table.value >= told.low) & (table.value <= told.high)).all()


def test_kept_totals_and_capacity_are_known():
    values = np.array([[20.0, 50, 10], [8, 19, 22], [17, 32, 12]])
    table = tacit.Table.from_array(values, totals=False, upper=500.0)
    table = table.with_protection([("1", "1")], lower=5, upper=5)
    kept = tacit.Adjust(keep="totals").apply(table)
    told = public_range(kept)
    totals = ~table.ground
    np.testing.assert_array_equal(told.low[totals], table.value[totals])
    assert np.isinf(told.high[table.ground]).all()
    near = tacit.Adjust(keep="totals", capacity=6).apply(table)
    loose, tight = (tacit.Audit().measure(t).frame.rows(named=True) for t in (kept, near))
    widths = [{(r["axis 1"], r["axis 2"]): r["width"] for r in rows} for rows in (loose, tight)]
    assert widths[1]["1", "1"] < widths[0]["1", "1"]
    share = public_range(tacit.Adjust(capacity_percent=40).apply(table))
    assert ((table.value >= share.low) & (table.value <= share.high)).all()


def test_changes_by_hand_and_secret_changes_tell_nothing():
    table = tacit.Table.from_array([[4, 6], [5, 5]], totals=False, frequency=True)
    assert public_range(table) is None
    assert public_range(table.with_changed(table.value + 1)) is None
    rounded = tacit.RandomRounding(base=5).apply(table, seed=1)
    far = public_range(rounded.with_changed(rounded.published + 100))
    assert np.isinf(far.low).all()
    assert public_range(tacit.CellKey().apply(table, seed=1)) is None
