"""From microdata to a table: sums, counts and the largest contributors of every cell."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.cells import contributions
from tacit.errors import ColumnNotFound, HierarchyError, InputError
from tacit.examples.firms import activity_tree, firms, region_tree

ARGUS = Path(__file__).parents[1] / "fixtures" / "psd28-argus-software"

SMALL = {
    "region": ["N1", "N1", "N2", "S1", "S1", "S2", "N1"],
    "size": ["1", "2", "1", "1", "2", "2", "1"],
    "turnover": [10.0, 20.0, 30.0, 5.0, 7.0, 0.0, 12.0],
    "group": ["A", "A", "A", "B", "B", "C", "D"],
}
REGIONS = tacit.Dimension.from_tree(
    "region", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2")]
)
#: Two groupings side by side: by land and by coast.
TWO_WAYS = tacit.Dimension.from_relations(
    "region",
    [
        ("Total", ["N", "S"]),
        ("N", ["N1", "N2"]),
        ("S", ["S1", "S2"]),
        ("Total", ["coast", "inland"]),
        ("coast", ["N1", "S2"]),
        ("inland", ["N2", "S1"]),
    ],
)


def ground(dimension, code):
    """The ground codes below a code."""
    row = dimension.closure[[dimension.position[code]]].indices
    return {dimension.codes[dimension.leaves[i]] for i in row}


def by_hand(rows, dimensions, value, unit=None, weight=None, top=3):
    """Every cell by a loop over records: value, count and the largest contributions."""
    out = {}
    for codes in itertools.product(*(d.codes for d in dimensions)):
        inside = [ground(d, c) for d, c in zip(dimensions, codes, strict=True)]
        parts, total = {}, 0.0
        for i, row in enumerate(rows):
            if all(row[d.name] in s for d, s in zip(dimensions, inside, strict=True)):
                name = i if unit is None or row[unit] is None else row[unit]
                parts[name] = parts.get(name, 0.0) + row[value]
                total += row[value] * (row[weight] if weight else 1.0)
        ranked = sorted((abs(x) for x in parts.values()), reverse=True)[:top]
        out[codes] = (total, len(parts), ranked + [0.0] * (top - len(ranked)))
    return out


def agrees(table, expected, contributors):
    for codes, (value, count, ranked) in expected.items():
        cell = table.index(codes)
        assert table.value[cell] == pytest.approx(value)
        assert contributors.count[cell] == count
        assert np.abs(contributors.top[cell]) == pytest.approx(ranked)


def test_the_published_mini_table_cell_by_cell(engine):
    data = tacit.read(ARGUS / "tau_mini.csv", types={"Size": "text"}, engine=engine)
    table = tacit.Table.from_microdata(
        data, {"Region": ARGUS / "region_mini.hrc", "Size": None}, "Turnover"
    )
    for cell in next(iter(json.loads((ARGUS / "mini_primary.json").read_text())["rules"].values())):
        at = table.index((cell["region"], cell["size"]))
        assert table.value[at] == cell["value"]
        assert table.count[at] == cell["freq"]
        assert table.contributors.top[at][: len(cell["top"])].tolist() == cell["top"]
    assert table.describe_cell(int(np.flatnonzero(table.empty)[0])) == "S3 x 1"


def test_engines_agree_on_holdings_weights_and_requests(engine):
    data = tacit.read(ARGUS / "tau_mini.csv", types={"Size": "text"}, engine=engine)
    table = tacit.Table.from_microdata(
        data,
        {"Region": ARGUS / "region_mini.hrc", "Size": None},
        "Turnover",
        holding="Holding",
        weight="Wgt",
        request="Request",
    )
    at = table.index(("S1", "Total"))
    # E015 has 132 in one size class and 484 in another.
    assert table.holdings.top[at].tolist() == [619.0, 616.0, 63.0]
    assert table.holdings.count[at] == 5
    assert table.holdings.weight[at][1] == pytest.approx((132 * 1.0 + 484 * 3.5) / 616)
    assert table.value[at] == pytest.approx(33 * 2 + 63 * 1.5 + 26 * 2 + 132 + 484 * 3.5 + 619)
    assert table.extra["weighted_count"][at] == pytest.approx(2 + 1.5 + 2 + 1 + 3.5 + 1)
    asked = table.index(("S3", "3"))
    assert table.contributors.asked[asked].tolist() == [0, 1, 0]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["N1", "N2", "S1", "S2"]),
            st.sampled_from(["1", "2", "3"]),
            st.sampled_from(["A", "B", "C", "D", None]),
            st.integers(-20, 60),
            st.sampled_from([1.0, 1.5, 4.0]),
        ),
        min_size=1,
        max_size=25,
    ),
    st.sampled_from([REGIONS, TWO_WAYS]),
)
@settings(max_examples=25, deadline=None)
def test_every_cell_is_what_a_loop_over_the_records_finds(records, regions):
    names = ("region", "size", "group", "turnover", "weight")
    rows = [dict(zip(names, r, strict=True)) for r in records]
    columns = {n: [r[n] for r in rows] for n in names}
    columns["group"] = [*columns["group"], "Z"]
    for name in ("region", "size", "turnover", "weight"):
        columns[name] = [*columns[name], columns[name][0]]
    rows.append({n: columns[n][-1] for n in names})
    data = tacit.read(columns)
    table = tacit.Table.from_microdata(
        data,
        {"region": regions, "size": None},
        "turnover",
        holding="group",
        weight="weight",
        lower=-1e6,
    )
    dimensions = table.dimensions
    agrees(table, by_hand(rows, dimensions, "turnover", weight="weight"), table.contributors)
    agrees(
        table, by_hand(rows, dimensions, "turnover", unit="group", weight="weight"), table.holdings
    )
    assert not table.broken()


def test_units_in_many_cells_are_worked_on_in_blocks(monkeypatch):
    data = firms(400, 3)
    options = {"dimensions": {"region": region_tree(), "size": None}, "value": "turnover"}
    whole = tacit.Table.from_microdata(data, holding="firm_group", **options)
    monkeypatch.setattr(contributions, "CHUNK", 20)
    blocks = tacit.Table.from_microdata(data, holding="firm_group", **options)
    assert np.array_equal(whole.holdings.top, blocks.holdings.top)
    assert np.array_equal(whole.holdings.who, blocks.holdings.who)
    assert np.array_equal(whole.holdings.count, blocks.holdings.count)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=60),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_the_largest_entries_are_found_among_ties(pairs, t):
    cells, values = zip(*pairs, strict=True)
    n, x = len(pairs), np.asarray(values, dtype=np.float64)
    entries = contributions.Entries(
        np.asarray(cells), np.arange(n), x, x, np.ones(n), np.zeros(n, np.int8), np.zeros(n, bool)
    )
    found = contributions.largest(entries, t)
    for cell in set(cells):
        own = [(-v, i) for i, (c, v) in enumerate(pairs) if c == cell]
        got = found.take(found.cell == cell)
        assert got.who.tolist() == [i for _, i in sorted(own)[:t]]


def test_a_table_of_counts_knows_its_holdings():
    table = tacit.Table.from_microdata(
        tacit.read(SMALL), ["region", "size"], holding="group", top=2
    )
    assert table.frequency
    assert table.response == "count"
    at = table.index(("N1", "Total"))
    assert table.value[at] == 3
    assert table.holdings.count[at] == 2
    assert table.holdings.top[at].tolist() == [2.0, 1.0]


def test_respondents_with_several_records_count_once():
    table = tacit.Table.from_microdata(tacit.read(SMALL), ["region"], "turnover", unit="group")
    at = table.index(("N1",))
    assert table.count[at] == 2
    assert table.contributors.top[at].tolist() == [30.0, 12.0, 0.0]


def test_the_role_of_a_weight_is_enough():
    data = tacit.read({**SMALL, "w": [2.0] * 7}, weight="w")
    table = tacit.Table.from_microdata(data, ["region"], "turnover")
    assert table.value[0] == 168
    assert table.contributors.weight[0].tolist() == [2.0, 2.0, 2.0]


def test_shadow_and_cost_come_from_other_columns():
    data = tacit.read({**SMALL, "staff": [1, 2, 3, 4, 5, 6, 7]})
    table = tacit.Table.from_microdata(data, ["region"], "turnover", shadow="staff", cost="staff")
    at = table.index(("N1",))
    assert table.contributors.top[at].tolist() == [7.0, 2.0, 1.0]
    assert table.extra["rule_total"][at] == 10
    assert table.weight[at] == 10


def test_waivers_of_a_holding_hold_when_all_its_records_waive():
    data = tacit.read({**SMALL, "ok": [True, True, True, True, False, True, False]})
    table = tacit.Table.from_microdata(data, ["size"], "turnover", holding="group", waiver="ok")
    at = table.index(("Total",))
    assert table.holdings.top[at].tolist() == [60.0, 12.0, 12.0]
    assert table.holdings.waived[at].tolist() == [True, False, False]


def test_requests_may_be_words_or_codes():
    data = tacit.read({**SMALL, "ask": ["yes", "no", "2", None, "1", "N", "Y"]})
    table = tacit.Table.from_microdata(data, ["region"], "turnover", request="ask", top=7)
    order = np.argsort(table.contributors.who[0])
    assert table.contributors.asked[0][order].tolist() == [1, 0, 2, 0, 1, 0, 1]


def test_records_without_a_code_are_refused_or_kept():
    data = tacit.read({**SMALL, "region": ["N1", None, "N2", "S1", None, "S2", "N1"]})
    with pytest.raises(InputError, match="2 records have no 'region'"):
        tacit.Table.from_microdata(data, {"region": REGIONS}, "turnover")
    table = tacit.Table.from_microdata(
        data, {"region": REGIONS}, "turnover", missing="unknown", holding="group"
    )
    at = table.index(("unknown",))
    assert table.value[at] == 27
    assert table.holdings.count[at] == 2
    assert table.value[table.index(("Total",))] == 84
    assert table.extra["missing"] == {"region": ("unknown",)}


def test_hierarchies_of_any_kind(tmp_path):
    path = tmp_path / "regions.hrc"
    path.write_text("N\n@N1\n@N2\nS1\nS2\n")
    data = tacit.read({**SMALL, "zip": ["11", "12", "21", "22", "11", "12", "21"]})
    table = tacit.Table.from_microdata(
        data, {"region": path, "zip": tacit.hierarchy.digits(2)}, "turnover", total="all"
    )
    assert table.dimensions[0].codes == ("all", "N", "N1", "N2", "S1", "S2")
    assert len(table.dimensions[1]) == 1 + 2 + 4
    assert table.value[table.index(("all", "all"))] == 84


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"value": "group"}, "must hold numbers"),
        ({"value": "turnover", "weight": "bad"}, "negative in 1 records"),
        ({"value": "gaps"}, "missing in 1 records"),
        ({"value": "losses"}, "lower="),
        ({"value": "turnover", "top": 0}, "at least 1"),
        ({"value": "turnover", "cost": "losses"}, "negative in some cells"),
    ],
)
def test_bad_columns_are_refused_in_a_sentence(options, message):
    data = tacit.read(
        {
            **SMALL,
            "bad": [1.0, 1.0, -1.0, 1.0, 1.0, 1.0, 1.0],
            "gaps": [1.0, None, 1.0, 1.0, 1.0, 1.0, 1.0],
            "losses": [-1.0, -9.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        }
    )
    with pytest.raises(InputError, match=message):
        tacit.Table.from_microdata(data, ["region"], **options)


def test_bad_dimensions_are_refused_in_a_sentence():
    data = tacit.read({**SMALL, "land": ["N", "N1", "N2", "S1", "S1", "S2", "N1"]})
    with pytest.raises(HierarchyError, match="stand at sub-totals"):
        tacit.Table.from_microdata(data, {"land": REGIONS}, "turnover")
    with pytest.raises(HierarchyError, match="lacks 1 values"):
        tacit.Table.from_microdata(
            data, {"region": tacit.Dimension.flat("r", ["N1", "N2", "S1"])}, "turnover"
        )
    with pytest.raises(ColumnNotFound):
        tacit.Table.from_microdata(data, {"regoin": None}, "turnover")
    many = tacit.read({f"c{i}": [str(j) for j in range(20)] for i in range(7)})
    with pytest.raises(InputError, match="would have"):
        tacit.Table.from_microdata(many, list(many.columns))
    with pytest.raises(InputError, match="at least one dimension"):
        tacit.Table.from_microdata(data, {}, "turnover")
    signed = tacit.Dimension.from_relations(
        "region", [("Total", ["N1", "N2", "S1", "S2"]), ("odd", ["N1", "-N2"])]
    )
    with pytest.raises(HierarchyError, match="subtracts codes"):
        tacit.Table.from_microdata(data, {"region": signed}, "turnover")


def test_negative_contributions_are_ranked_by_size():
    data = tacit.read({**SMALL, "profit": [10.0, -20.0, 30.0, -5.0, 7.0, 0.0, 12.0]})
    table = tacit.Table.from_microdata(data, ["region"], "profit", lower=-1000)
    at = table.index(("N1",))
    assert table.contributors.top[at].tolist() == [-20.0, 12.0, 10.0]
    assert table.extra["rule_total"][at] == 42
    assert table.extra["mixed"][at]


def test_the_lines_of_the_guide():
    data, regions = firms(500), region_tree()
    table = tacit.Table.from_microdata(
        data, dimensions={"region": regions, "size": None}, value="turnover", holding="firm_group"
    )
    table = tacit.PPercent(p=10).apply(table)
    assert table.primary.any()
    assert (table.upper_level[table.primary] > 0).all()


def test_the_made_up_firms_are_as_described():
    data = firms(2600, 1)
    assert len(data) == 2600
    assert len(activity_tree()) == 53
    assert len(activity_tree().leaves) == 36
    assert activity_tree().depth.max() == 3
    assert region_tree().depth.max() == 2
    groups = data.codes("firm_group").codes
    assert 0.05 < 1 - len(np.unique(groups)) / 2600 < 0.2
    assert firms(50, 2, weights=True).weight == "weight"
    assert firms(50, 2).to_arrow().equals(firms(50, 2).to_arrow())


def test_merging_by_identity_is_exact_when_all_contributions_are_kept():
    table = tacit.Table.from_microdata(
        tacit.read(SMALL), ["region"], "turnover", holding="group", top=7
    )
    cells = np.array([table.index((c,)) for c in ("N1", "N2", "S1")])
    merged = contributions.merge(table.holdings, cells, np.array([0, 0, 1]), 2)
    assert merged.exact.tolist() == [True, True]
    assert merged.contributors.count.tolist() == [2, 1]
    assert merged.contributors.top[0][:2].tolist() == [60.0, 12.0]


def test_merging_says_when_contributions_are_missing():
    table = tacit.Table.from_microdata(
        tacit.read(SMALL), ["region"], "turnover", holding="group", top=1
    )
    cells = np.array([table.index((c,)) for c in ("N1", "N2")])
    merged = contributions.merge(table.holdings, cells, np.array([0, 0]), 1)
    assert merged.exact.tolist() == [False]
    assert merged.contributors.count[0] >= 2


def test_dimensions_may_be_called_as_sums_are():
    data = tacit.read({"n": ["a", "a", "b"], "x": ["p", "q", "q"], "c": [1, 2, 3]})
    table = tacit.tables.tabulate(data, ["n", "x"], "c")
    assert table.value[0] == 6.0
    assert table.count[0] == 3
