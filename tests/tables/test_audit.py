"""The audit: published numbers, every kind of table and of knowledge, and standards."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tables.random_tables import by_hand, random_table
from tacit.data.table import Contributors
from tacit.errors import InputError
from tacit.tables.attack.audit import Audit
from tacit.tables.attack.releases import audit_releases
from tacit.tables.attack.standards import ps1, ps1_star, ps2, ps2_star
from tacit.tables.suppress.problem import problem_of

FIXTURES = Path(__file__).parents[1] / "fixtures"


def load(name):
    return json.loads((FIXTURES / name).read_text())


def intervals(result):
    return [[row["low"], row["high"]] for row in result.frame.rows(named=True)]


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ("suppressed_table2", "table2"),
        ("suppressed_after_hiding_aggregates", "after_hiding_[2,7]_and_[3,7]"),
    ],
)
def test_the_eu_table_has_the_published_bounds(hidden, expected):
    fixture = load("psd29-sdc-in-r/attacker_eu_table.json")
    cells = [(r - 1, c - 1) for r, c in fixture["input"][hidden]]
    table = tacit.Table.from_array(fixture["input"]["table"]).with_hidden(cells)
    assert intervals(Audit().measure(table)) == [row[:2] for row in fixture["expected"][expected]]


def test_the_example_of_the_argus_manual():
    fixture = load("psd28-argus-software/audit_example.json")
    # One filling of the hidden cells; intervals do not depend on which.
    values = [[4, 3, 7], [2, 1, 3], [3, 3, 6], [9, 7, 16]]
    cells = [tuple(int(i) - 1 for i in name.split(",")) for name in fixture["expected"]]
    table = tacit.Table.from_array(values).with_hidden(cells)
    assert intervals(Audit().measure(table)) == list(fixture["expected"].values())


def test_the_investment_table_with_and_without_prior_knowledge():
    fixture = load("psd04-harmonizing-suppression/csp_investment.json")
    values = np.reshape(fixture["values"], (4, 4))
    for case in fixture["audits"]:
        order = sorted(case["suppressed"])
        for name, known in (
            ("intervals", {}),
            ("intervals_within_50_percent", {"lower": 0.5 * values, "upper": 1.5 * values}),
        ):
            table = tacit.Table.from_array(values, **known).with_hidden(np.array(order))
            found = intervals(Audit().measure(table))
            assert found == [case[name][str(cell)] for cell in order]


def test_the_patterns_of_the_investment_table_are_safe():
    fixture = load("psd04-harmonizing-suppression/csp_investment.json")
    table = tacit.Table.from_array(np.reshape(fixture["values"], (4, 4)))
    for case in fixture["optimal"]:
        safe = table.with_protection([6], lower=case["lpl"], upper=case["upl"])
        safe = safe.with_hidden([c for c in case["example_pattern"] if c != 6])
        audit = Audit(cells="unsafe").measure(safe)
        assert not audit.exposed
        assert intervals(audit) == [case["interval"]]


def test_hypercubes_have_the_intervals_of_the_formula():
    for case in load("psd04-harmonizing-suppression/hypercube.json")["cases"]:
        values = np.reshape(case["values"], case["shape_with_totals"])
        table = tacit.Table.from_array(values).with_hidden([tuple(c) for c in case["corners"]])
        rows = Audit().measure(table).frame.rows(named=True)
        names = table.names
        own = table.codes(table.index(tuple(case["p"])))
        found = next(r for r in rows if tuple(r[n] for n in names) == own)
        assert [found["low"], found["high"]] == case["interval"]


@pytest.mark.parametrize("case", range(3))
def test_ps2_of_the_examples(case):
    fixture = load("psd04-harmonizing-suppression/singleton.json")["cases"][case]
    count = np.array(fixture["n_respondents"])
    who = np.full((3, 3), -1)
    for cell, names in fixture["respondent_ids"].items():
        who[tuple(map(int, cell.split(",")))] = int(names[0][1:])
    table = tacit.Table.from_array(np.full((3, 3), 10.0), totals=False, count=count)
    owners = np.full(len(table), -1)
    owners[table.positions(list(np.ndindex(3, 3)))] = who.ravel()
    behind = Contributors(table.count, table.value[:, None], owners[:, None])
    table = table.with_(contributors=behind).with_hidden([tuple(c) for c in fixture["hidden"]])
    expected = [
        sorted(table.index(tuple(c)) for c in v["cells"]) for v in fixture["violations_PS2"]
    ]
    assert ps2(table).tolist() == expected


def test_the_singleton_example_of_the_argus_manual():
    fixture = load("psd28-argus-software/singleton_example.json")["table"]
    values = np.array(fixture["values"], dtype=float)
    values[0, 1] = 76  # the printed 73 is a misprint: 52 + 24 = 76
    dimensions = [
        tacit.Dimension.flat("row", fixture["rows"][1:]),
        tacit.Dimension.flat("column", fixture["columns"][1:]),
    ]
    count = np.where(values == 15, 1, 5)
    table = tacit.Table.from_cells(dimensions, values, count=count)
    table = table.with_protection([("A", "X2"), ("A", "X4")], lower=1, upper=1)
    two = table.with_hidden([("B", "X2"), ("B", "X4")])
    audit = Audit(standards=True).measure(two)
    assert not audit.exposed
    assert audit.singletons == ((("A", "X2"), ("A", "X4")),)
    assert audit.numbers["PS2"] is True
    third = table.with_hidden([("B", "X2"), ("B", "X4"), ("A", "X1"), ("B", "X1")])
    assert not Audit().measure(third).singletons


def test_a_row_of_two_singletons_fails_both_standards_for_respondents():
    count = [[1, 1, 9], [9, 9, 9], [9, 9, 9]]
    table = tacit.Table.from_array(np.full((3, 3), 10.0), totals=False, count=count)
    table = table.with_protection([(0, 0), (0, 1)], lower=2, upper=2).with_hidden([(1, 0), (1, 1)])
    first, second = table.index((0, 0)), table.index((0, 1))
    assert ps2(table).tolist() == [[first, second]]
    assert sorted(ps2_star(table).tolist()) == [[first, second], [second, first]]
    audit = Audit(standards=True).measure(table)
    assert not audit.exposed
    assert [audit.numbers[k] for k in ("PS1", "PS1*", "PS2", "PS2*")] == [True, True, False, False]


def test_subtables_on_their_own_know_less_than_the_whole():
    regions = tacit.Dimension.from_tree("region", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S")])
    sizes = tacit.Dimension.flat("size", ["small", "large"])
    values = np.array([[90, 40, 50], [60, 25, 35], [20, 10, 10], [40, 15, 25], [30, 15, 15]])
    table = tacit.Table.from_cells([regions, sizes], values.astype(float))
    table = table.with_protection([("N1", "small")], lower=2, upper=2)
    # N is hidden by size as well, but the upper subtable gives it away.
    hidden = table.with_hidden([("N1", "large"), ("N2", "small"), ("N2", "large"), ("N", "small")])
    full = Audit().measure(hidden)
    part = Audit(scope="subtable").measure(hidden)
    assert set(part.exposed) <= set(full.exposed) or not full.exposed
    assert {("N", "small")} <= set(full.exact)
    wide = {tuple(r[n] for n in table.names): r["width"] for r in part.frame.rows(named=True)}
    for row in full.frame.rows(named=True):
        assert row["width"] <= wide[tuple(row[n] for n in table.names)] + 1e-9
    assert not len(ps1(hidden))
    assert not len(ps1_star(hidden))
    with pytest.raises(InputError, match="full product"):
        Audit(scope="subtable").measure(bare(hidden))


def bare(table):
    return tacit.Table.from_cells(
        (),
        table.value,
        equations=table.equations,
        status=table.status,
        lower_level=table.lower_level,
        upper_level=table.upper_level,
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_intervals_of_random_tables_are_those_of_single_programs(seed):
    table = random_table(seed)
    problem = problem_of(table)
    audit = Audit(singletons=False).measure(table)
    cells = np.flatnonzero(table.hidden)
    rows = audit.frame.rows(named=True)
    assert len(rows) == len(cells)
    slack = 1e-6 * max(1e-3, np.abs(table.value).max(initial=0.0))
    for cell, row in list(zip(cells.tolist(), rows, strict=True))[:10]:
        low = table.value[cell] - by_hand(problem, table.hidden, cell, -1)
        high = table.value[cell] + by_hand(problem, table.hidden, cell, 1)
        assert row["low"] == pytest.approx(low, abs=slack)
        assert row["high"] == pytest.approx(high, abs=slack)
        assert row["proven"]
    assert intervals(Audit().measure(bare(table))) is not None


def grid():
    return tacit.Table.from_array([[20, 30, 10], [15, 25, 40], [5, 60, 35]], totals=False)


def test_a_table_without_hidden_cells_and_one_without_unsafe_ones():
    audit = Audit().measure(grid())
    assert len(audit.frame) == 0
    assert not audit.exposed
    assert audit.value == 0.0
    assert audit.plot().svg().startswith("<svg")
    assert "No cell is unsafe" in repr(Audit().measure(grid().with_hidden([(0, 0)])))


def test_an_unsafe_cell_alone_is_exact_and_exposed():
    audit = Audit().measure(grid().with_protection([(0, 0)], lower=2, upper=2))
    assert audit.exposed == audit.exact == (("1", "1"),)
    assert audit.value == 1.0
    row = audit.frame.rows(named=True)[0]
    assert (row["low"], row["high"], row["required_low"], row["required_high"]) == (20, 20, 18, 22)
    assert (row["protected"], row["exact"]) == (False, True)
    assert "1 x 1: can be worked out exactly" in repr(audit)
    assert "20" not in repr(audit)


def test_levels_beyond_the_bounds_are_a_finding():
    table = tacit.Table.from_array(np.full((2, 2), 10.0), totals=False, upper=40.0)
    table = table.with_protection([(0, 0)], lower=1, upper=35).with_hidden([(0, 1), (1, 0), (1, 1)])
    assert Audit().measure(table).exposed == (("1", "1"),)


def test_without_limit_is_said_in_words():
    table = tacit.Table.from_array([[5.0, 5.0], [5.0, 5.0]])
    table = table.with_protection(np.arange(4), lower=6, upper=2)
    audit = Audit().measure(table)
    assert not audit.exposed
    assert audit.numbers["narrowest interval"] == "no limit"
    assert audit.numbers["without limit"] == 4
    assert "no limit" in audit.plot().alt


def test_negative_values_need_bounds_and_have_intervals():
    values = [[4.0, -3.0, 1.0], [2.0, 5.0, 7.0], [6.0, 2.0, 8.0]]
    table = tacit.Table.from_array(values, lower=-50.0, upper=50.0)
    table = table.with_hidden([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert intervals(Audit().measure(table))[0] == [-44.0, 49.0]
    with pytest.raises(InputError, match="outside what the attacker is said to know"):
        Audit(nonnegative=True).measure(table)


def test_nonnegative_knowledge_narrows():
    table = tacit.Table.from_array([[4, 6], [5, 5]], totals=False, lower=-100.0)
    table = table.with_hidden([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert intervals(Audit().measure(table))[0] == [-100.0, 109.0]
    assert intervals(Audit(nonnegative=True).measure(table))[0] == [0.0, 9.0]


def test_published_intervals_are_knowledge():
    table = grid().with_hidden([(0, 0), (0, 1), (1, 0), (1, 1)])
    free = intervals(Audit().measure(table))[0]
    given = np.full((len(table), 2), np.nan)
    given[table.index((1, 1))] = [22, 30]
    assert free == [0.0, 35.0]
    assert intervals(Audit().measure(table.with_(interval=given)))[0] == [17.0, 25.0]
    given[table.index((1, 1))] = [26, 30]
    with pytest.raises(InputError, match="published intervals"):
        Audit().measure(table.with_(interval=given))


def test_the_attacker_of_a_rounded_table():
    table = tacit.Table.from_array([[1, 1], [1, 1]], totals=False, frequency=True)
    rounded = table.with_changed(5 * np.rint(table.value / 5))
    audit = Audit(rounding_base=5).measure(rounded)
    # Counts round to 0, 0, 0, 5 ... so that each lies in [0, 4] and the total in [1, 9].
    rows = {(r["axis 1"], r["axis 2"]): r for r in audit.frame.rows(named=True)}
    assert (rows["1", "1"]["low"], rows["1", "1"]["high"]) == (0.0, 4.0)
    assert (rows["Total", "Total"]["low"], rows["Total", "Total"]["high"]) == (1.0, 8.0)
    with pytest.raises(InputError, match="rounding_base"):
        Audit(rounding_base=1).measure(rounded)


def test_the_attacker_of_an_adjusted_table():
    table = grid()
    adjusted = table.with_changed(table.value * 1.05)
    rows = Audit(within=0.1).measure(adjusted).frame.rows(named=True)
    assert rows[0]["low"] >= 21 / 1.1 - 1e-9
    assert rows[0]["high"] <= 21 / 0.9 + 1e-9
    assert len(rows) == len(table)
    assert Audit().measure(adjusted).numbers["without limit"] == len(table)


def test_a_time_limit_leaves_limits_that_hold():
    rng = np.random.default_rng(8)
    table = tacit.Table.from_array(rng.integers(1, 50, (7, 7, 7)), totals=False)
    cells = np.flatnonzero(rng.random(len(table)) < 0.35)
    table = table.with_protection(cells[::5], lower=1, upper=1).with_hidden(cells)
    full = Audit(singletons=False).measure(table).frame.rows(named=True)
    short = Audit(singletons=False, time_limit=1e-9).measure(table)
    assert short.undecided
    assert not all(r["proven"] for r in short.frame.rows(named=True))
    for a, b in zip(full, short.frame.rows(named=True), strict=True):
        assert b["low"] <= a["low"] + 1e-6
        assert b["high"] >= a["high"] - 1e-6


def releases():
    regions = tacit.Dimension.flat("region", ["N", "S"])
    sizes = tacit.Dimension.flat("size", ["small", "large"])
    values = np.array([[100.0, 40, 60], [45, 10, 35], [55, 30, 25]])
    both = tacit.Table.from_cells([regions, sizes], values)
    row = tacit.Table.from_cells([regions], values[:, 0])
    return both.with_protection([("N", "small")], lower=3, upper=3), row


def test_releases_that_are_safe_alone_are_exposed_together():
    both, row = releases()
    safe = both.with_hidden([("N", "Total"), ("S", "small"), ("S", "Total")])
    safe_row = row.with_hidden([])
    assert not Audit().measure(safe).exposed
    together = audit_releases(safe, safe_row)
    assert together.exposed == (("N", "small"),)
    assert not audit_releases(safe, row.with_hidden([("N",), ("S",)])).exposed
    with pytest.raises(InputError, match="at least two"):
        audit_releases(safe)


def test_what_another_release_publishes_is_exposed():
    both, _ = releases()
    safe = both.with_hidden([("N", "large"), ("S", "small"), ("S", "large")])
    open_one = both.with_(status=np.ones(len(both), dtype=np.int8))
    found = audit_releases(safe, open_one)
    assert found.exposed == (("N", "small"),)
    assert "published" in repr(found)


@pytest.mark.parametrize("shape", [(3,), (3, 3), (3, 3, 3)])
def test_charts_of_every_number_of_dimensions(shape):
    table = tacit.Table.from_array(np.arange(1.0, 1 + np.prod(shape)).reshape(shape), totals=False)
    table = table.with_protection([0], lower=1, upper=1).with_hidden(
        [1, 2, 4] if len(shape) > 1 else [1]
    )
    result = Audit().measure(table)
    assert result.plot().svg().startswith("<svg")
    assert len(result.plot().alt) > 30
    assert Audit().measure(bare(table)).plot().alt
