"""Table redesign: coarser dimensions, contributions merged, rules applied again."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from common import cases
from tacit.data.cells.status import Status
from tacit.errors import Approximate, InputError
from tacit.examples.firms import firms, region_tree

ARGUS = Path(__file__).parents[1] / "fixtures" / "psd28-argus-software"


def mini(**options):
    data = tacit.read(ARGUS / "tau_mini.csv", types={"Size": "text"})
    return tacit.Table.from_microdata(
        data, {"Region": ARGUS / "region_mini.hrc", "Size": None}, "Turnover", **options
    )


def judged(table):
    table = tacit.PPercent(p=15).apply(table)
    return tacit.MinimumFrequency(n=3, range=30).apply(table)


def test_merged_rows_of_the_mini_table():
    case = json.loads((ARGUS / "table_redesign.json").read_text())
    table = judged(mini(top=4))
    merged = tacit.RecodeTable(dimension="Region", groups={"S13": case["merge"]}).apply(table)
    for size, expected in case["expected"].items():
        at = merged.index(("S13", size))
        assert merged.value[at] == expected["value"]
        assert merged.count[at] == expected["freq"]
        ranked = expected["contributions"]
        assert merged.contributors.top[at][: len(ranked)].tolist() == ranked
        assert not merged.primary[at]
    note = merged.history[-1].details
    assert note["unsafe_before"] == 5
    assert note["unsafe_after"] == 2
    assert note["exact"]
    assert not merged.broken()


def test_merged_cells_equal_those_of_recoded_records():
    data = firms(600, 4)
    table = tacit.Table.from_microdata(data, {"region": region_tree(), "size": None}, "turnover")
    merged = tacit.RecodeTable(dimension="region", groups={"S1x": ["S1a", "S1c"]}).apply(
        judged(table)
    )
    codes = [("S1x" if r in ("S1a", "S1c") else r) for r in data.column("region").to_pylist()]
    again = data.replace({"region": np.array(codes)})
    direct = judged(
        tacit.Table.from_microdata(
            again, {"region": merged.dimensions[0], "size": None}, "turnover"
        )
    )
    assert np.allclose(merged.value, direct.value)
    assert np.array_equal(merged.count, direct.count)
    assert np.allclose(merged.contributors.top, direct.contributors.top)
    assert np.array_equal(merged.status, direct.status)
    assert np.allclose(merged.upper_level, direct.upper_level)


def test_closing_branches_keeps_what_is_known():
    table = judged(mini(holding="Holding"))
    closed = tacit.RecodeTable(dimension="Region", collapse=["S"]).apply(table)
    assert closed.dimensions[0].codes == ("Total", "N", "N1", "N2", "S")
    level = tacit.RecodeTable(dimension=0, depth=1).apply(table)
    assert level.dimensions[0].codes == ("Total", "N", "S")
    for result in (closed, level):
        for code in result.dimensions[0].codes:
            new, old = result.index((code, "2")), table.index((code, "2"))
            assert result.value[new] == table.value[old]
            assert result.status[new] == table.status[old]
            assert np.array_equal(result.holdings.top[new], table.holdings.top[old])
        assert not result.broken()
    total = tacit.RecodeTable(dimension="Size", depth=0).apply(table)
    assert total.shape == (8, 1)


def test_whole_branches_can_be_merged():
    table = judged(mini())
    merged = tacit.RecodeTable(dimension="Region", groups={"land": ["N", "S"]}).apply(table)
    assert merged.dimensions[0].codes == ("Total", "land", "N1", "N2", "S1", "S2", "S3")
    assert not merged.broken()
    assert merged.value[merged.index(("land", "1"))] == merged.value[merged.index(("Total", "1"))]


def test_other_facts_of_cells_are_merged_or_left_out():
    table = mini(weight="Wgt")
    table = table.with_(
        extra={
            **table.extra,
            "cell_key": np.full(len(table), 0.6),
            "names": np.arange(len(table)).astype(str),
            "decimals": 2,
        }
    )
    merged = tacit.RecodeTable(dimension="Region", groups={"S13": ["S1", "S3"]}).apply(table)
    at = merged.index(("S13", "2"))
    parts = [table.index((r, "2")) for r in ("S1", "S3")]
    assert merged.extra["weighted_count"][at] == table.extra["weighted_count"][parts].sum()
    assert merged.extra["cell_key"][at] == pytest.approx(0.2)
    assert merged.extra["decimals"] == 2
    assert "names" not in merged.extra
    closed = tacit.RecodeTable(dimension="Region", depth=1).apply(table)
    assert closed.extra["names"][closed.index(("S", "2"))] == str(table.index(("S", "2")))


def test_holdings_that_may_be_larger_are_told():
    table = judged(mini(holding="Holding", top=2))
    with pytest.warns(Approximate, match="may be larger"):
        merged = tacit.RecodeTable(dimension="Region", groups={"S12": ["S1", "S2"]}).apply(table)
    assert not merged.history[-1].details["exact"]
    exact = judged(mini(holding="Holding", top=30))
    merged = tacit.RecodeTable(dimension="Region", groups={"S12": ["S1", "S2"]}).apply(exact)
    assert merged.history[-1].details["exact"]


def test_without_rules_a_cell_stays_unsafe_when_all_its_parts_are():
    table = tacit.Table.from_array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], totals=False)
    table = table.with_protection([(0, 0), (0, 1), (1, 0)], 1, 2)
    merged = tacit.RecodeTable(dimension=1, groups={"12": ["1", "2"]}).apply(table)
    assert merged.status.reshape(merged.shape)[:2, 0].tolist() == [
        Status.UNSAFE_MANUAL,
        Status.SAFE,
    ]
    assert merged.upper_level[0] == 2


def test_secondary_cells_are_open_again_and_listed_cells_work():
    table = judged(mini())
    hidden = tacit.SuppressLinear().apply(table)
    merged = tacit.RecodeTable(dimension="Region", depth=1).apply(hidden)
    assert not merged.secondary.any()
    places = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2]])
    two = tacit.Table.from_array([[1.0, 2.0], [3.0, 4.0]], totals=False)
    listed = tacit.Table.from_cells(two.dimensions, two.value, coordinates=places, response="value")
    again = tacit.RecodeTable(dimension=0, groups={"both": ["1", "2"]}).apply(listed)
    assert len(again) == 6
    assert not again.broken()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimension": "Size", "groups": {"x": ["1", "9"]}}, "no code '9'"),
        ({"dimension": "Region", "groups": {"x": ["N1", "S1"]}}, "side by side"),
        ({"dimension": "Region", "groups": {"x": ["N", "N1"]}}, "side by side"),
        ({"dimension": "Region", "groups": {"N": ["S1", "S2"]}}, "already"),
        ({"dimension": "Region", "groups": {"x": ["S1", "S2"], "y": ["S2", "S3"]}}, "two groups"),
        ({"dimension": "Region", "collapse": ["Q"]}, "no code 'Q'"),
        ({"dimension": "Age", "depth": 1}, "no dimension 'Age'"),
    ],
)
def test_bad_recodes_are_refused_in_a_sentence(options, message):
    with pytest.raises(InputError, match=message):
        tacit.RecodeTable(**options).apply(mini())


@given(st.integers(0, 10_000), st.sampled_from([10, 30, 60]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_nested_merges_never_add_unsafe_cells(seed, p, dominance):
    data = firms(150, seed)
    table = tacit.Table.from_microdata(data, {"region": region_tree(), "size": None}, "turnover")
    rule = tacit.Dominance(n=2, k=90 - p / 2) if dominance else tacit.PPercent(p=p)
    table = tacit.MinimumFrequency(n=3).apply(rule.apply(table))
    unsafe = [int(table.primary.sum())]
    for groups in ({"S1ab": ["S1a", "S1b"]}, {"S1abc": ["S1ab", "S1c"]}):
        table = tacit.RecodeTable(dimension="region", groups=groups).apply(table)
        unsafe.append(int(table.primary.sum()))
    table = tacit.RecodeTable(dimension="region", depth=1).apply(table)
    unsafe.append(int(table.primary.sum()))
    assert unsafe == sorted(unsafe, reverse=True)


def test_a_recode_judges_with_the_parameters_that_were_used():
    table = cases.firms(judged=False)
    strict = tacit.PPercent(p=90).apply(table)
    again = tacit.RecodeTable(dimension="region", collapse=["N"]).apply(strict)
    anew = tacit.PPercent(p=90).apply(
        tacit.RecodeTable(dimension="region", collapse=["N"]).apply(table)
    )
    assert again.status.tolist() == anew.status.tolist()
    assert again.upper_level.tolist() == anew.upper_level.tolist()
