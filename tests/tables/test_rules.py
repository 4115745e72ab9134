"""Sensitivity rules: verdicts, levels, weights, holdings, waivers, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.cells.status import Status
from tacit.data.table import Contributors
from tacit.errors import InputError, InvalidParameter, WeakProtection
from tacit.tables.attack.differencing import differencing

FIXTURES = Path(__file__).parents[1] / "fixtures"
ARGUS = FIXTURES / "psd28-argus-software"


def published(folder, name):
    return json.loads((FIXTURES / folder / f"{name}.json").read_text())


def cells_of(contributions, *, weights=None, waived=None, asked=None):
    """A one-way table with one cell per list of contributions; the total stands last."""
    everyone = [x for c in contributions for x in c]
    lists = [*contributions, everyone]
    t = max(len(c) for c in lists) or 1

    def filled(source, nothing):
        rows = [*source, [x for c in source for x in c]]
        out = np.full((len(rows), t), nothing, dtype=type(nothing))
        for i, row in enumerate(rows):
            order = np.argsort([-x for x in lists[i]], kind="stable")
            out[i, : len(row)] = [row[j] for j in order]
        return out

    top = filled(contributions, 0.0)
    count = np.array([len(c) for c in lists])
    weight = None if weights is None else filled(weights, 0.0)
    value = (top * (1.0 if weight is None else weight)).sum(axis=1)
    extra = {} if weight is None else {"weighted_count": weight.sum(axis=1)}
    return tacit.Table.from_array(
        value,
        count=count,
        contributors=Contributors(
            count,
            top,
            np.arange(top.size).reshape(top.shape),
            weight,
            None if asked is None else filled(asked, False),
            None if waived is None else filled(waived, False),
        ),
        extra=extra,
    )


def rule_named(name):
    kind, numbers = name.rstrip(")").split("(")
    values = [float(x) for x in numbers.split(",")]
    match kind.upper():
        case "P":
            return tacit.PPercent(p=values[0], n=int(values[1]) if len(values) > 1 else 1)
        case "NK":
            return tacit.Dominance(n=int(values[0]), k=values[1])
        case "PQ":
            return tacit.Pq(p=values[0], q=values[1])
        case _:
            return tacit.MinimumFrequency(n=int(values[0]), range=values[1])


# -- published and worked numbers ------------------------------------------------------------------


def test_rules_and_levels_of_the_argus_paper():
    cells = published("psd28-argus-software", "sensitivity_rules")["cells"]
    table = cells_of([c["contributions"] for c in cells])
    for name in cells[0]["rules"]:
        judged = rule_named(name).apply(table)
        for i, cell in enumerate(cells):
            expected = cell["rules"].get(name, {"unsafe": False, "protection_level": 0})
            assert judged.primary[i] == expected["unsafe"], (name, cell["id"])
            level = expected["protection_level"] if expected["unsafe"] else 0
            assert judged.upper_level[i] == pytest.approx(level, abs=1e-9)
            assert judged.lower_level[i] == judged.upper_level[i]


def test_rules_and_levels_of_the_study_on_suppression():
    found = published("psd04-harmonizing-suppression", "sensitivity_rules")
    table = cells_of([c["contributions"] for c in found["cells"]])
    numbers = found["parameters"]
    rules = {
        "p_percent": tacit.PPercent(**numbers["p_percent"]),
        "pq": tacit.Pq(**numbers["pq"]),
        "dominance": tacit.Dominance(**numbers["dominance"]),
    }
    for name, rule in rules.items():
        judged = rule.apply(table)
        for i, cell in enumerate(found["cells"]):
            assert judged.primary[i] == cell[name]["unsafe"], (name, i)
            assert judged.upper_level[i] == pytest.approx(cell[name]["upl"], abs=1e-9)
    few = tacit.MinimumFrequency(n=numbers["min_frequency"]).apply(table)
    assert few.primary[:-1].tolist() == [c["freq_unsafe"] for c in found["cells"]]


def test_rules_of_the_r_paper():
    found = published("psd29-sdc-in-r", "primary_rules")["cells"]
    table = cells_of([c["contributions"] for c in found])
    for name in [k for k in found[0] if k != "contributions"]:
        judged = rule_named(name).apply(table)
        assert judged.primary[:-1].tolist() == [c[name] for c in found], name


@pytest.mark.parametrize(
    ("name", "first"),
    [("P(15,1)|FREQ(3,30)", "P(15,1)"), ("NK(3,75)|FREQ(3,30)", "NK(3,75)")],
)
def test_the_unsafe_cells_of_the_mini_table(name, first):
    data = tacit.read(ARGUS / "tau_mini.csv", types={"Size": "text"})
    table = tacit.Table.from_microdata(
        data, {"Region": ARGUS / "region_mini.hrc", "Size": None}, "Turnover"
    )
    judged = rule_named(first).apply(table)
    judged = tacit.MinimumFrequency(n=3, range=30, keep_levels=True).apply(judged)
    words = {"S": Status.SAFE, "U_rule": Status.UNSAFE, "E": Status.EMPTY}
    for cell in published("psd28-argus-software", "mini_primary")["rules"][name]:
        at = judged.index((cell["region"], cell["size"]))
        assert judged.status[at] == words[cell["status"]]
        assert judged.upper_level[at] == pytest.approx(cell["upl"], abs=1e-6)


def test_weights_count_as_so_many_contributions():
    for case in published("psd28-argus-software", "weights_in_rules")["cases"]:
        xs, ws = zip(*case["contributions"], strict=True)
        table = cells_of([list(xs)], weights=[list(ws)])
        assert table.value[0] == case["weighted_value"]
        assert not tacit.PPercent(p=10).apply(table).primary[0]
        rest = case["P(10,1)"]["remainder_after_two_units"]
        # The rule fires exactly when p per cent of x1 passes what is left after two units.
        edge = 100 * rest / case["P(10,1)"]["x1"]
        assert tacit.PPercent(p=edge * 1.001).apply(table).primary[0]
        assert not tacit.PPercent(p=edge * 0.999).apply(table).primary[0]
        for name in set(case) & {"NK(3,75)", "NK(1,60)"}:
            assert (
                tacit.Dominance(n=int(name[3]), k=float(name[5:7])).apply(table).primary[0]
                == (case[name]["unsafe"])
            )
            share = case[name]["share_percent"]
            assert tacit.Dominance(n=int(name[3]), k=share - 0.01).apply(table).primary[0]
            assert not tacit.Dominance(n=int(name[3]), k=share + 0.01).apply(table).primary[0]
        few = tacit.MinimumFrequency(n=3).apply(table)
        assert few.primary[0] == (case["weighted_frequency"] < 3)
        assert tacit.MinimumFrequency(n=3, weighted=False).apply(table).primary[0]


def test_intruders_who_do_not_know_the_weights():
    # X = 470, and the intruder takes 100 + 10 away: the extended p% rule.
    table = cells_of([[100.0, 10.0]], weights=[[4.0, 7.0]])
    judged = tacit.PPercent(p=400, weights="unknown").apply(table)
    assert judged.upper_level[0] == pytest.approx(400 - (470 - 110))


def test_holdings_are_added_up_before_they_are_judged():
    case = published("psd28-argus-software", "holding_request")["cases"][0]
    names, values = zip(*case["records"], strict=True)
    data = tacit.read({"all": ["a"] * 4, "holding": list(names), "value": list(map(float, values))})
    table = tacit.Table.from_microdata(data, ["all"], "value", holding="holding")
    assert table.holdings.top[0].tolist() == case["holding_level"]["contributions"]
    assert table.holdings.count[0] == case["holding_level"]["freq"]
    assert table.count[0] == case["unit_level"]["freq"]
    assert not tacit.PPercent(p=10, level="record").apply(table).primary.any()
    assert not tacit.PPercent(p=10).apply(table).primary.any()
    assert tacit.Dominance(n=1, k=60).apply(table).primary.all()
    assert not tacit.Dominance(n=1, k=60, level="record").apply(table).primary.any()


def test_requests_are_protected_when_they_stand_out():
    for case in published("psd28-argus-software", "holding_request")["cases"][1:]:
        values, asked = zip(*case["records"], strict=True)
        table = cells_of([list(map(float, values))], asked=[list(asked)])
        rule = tacit.Request(share=case["threshold_percent"], minimum=case.get("min_freq", 0))
        judged = rule.apply(table)
        assert judged.primary[0] == case["unsafe"], case["id"]
        if case["unsafe"]:
            assert judged.status[0] == Status.UNSAFE_REQUEST
            assert judged.upper_level[0] == pytest.approx(0.2 * sum(values))


def test_the_second_request_code_has_a_share_of_its_own():
    data = tacit.read(
        {"r": ["a", "a", "b", "b"], "x": [60.0, 40.0, 60.0, 40.0], "ask": ["1", "0", "2", "0"]},
        types={"ask": "text"},
    )
    table = tacit.Table.from_microdata(data, ["r"], "x", request="ask")
    judged = tacit.Request(share=70, second_share=50).apply(table)
    assert judged.primary.tolist() == [False, False, True]


# -- other options ---------------------------------------------------------------------------------


def test_a_contributor_who_waived_is_an_intruder_and_no_target():
    table = cells_of([[90.0, 6.0, 4.0]], waived=[[True, False, False]])
    judged = tacit.PPercent(p=80).apply(table)
    # The target is 6, the intruder 90, and 4 is left: 80 % of 6 is 4.8.
    assert judged.upper_level[0] == pytest.approx(0.8)
    assert not tacit.PPercent(p=60).apply(table).primary[0]
    assert tacit.PPercent(p=60, waivers=False).apply(table).primary[0]
    assert not tacit.Dominance(n=1, k=60).apply(table).primary[0]
    assert tacit.Dominance(n=2, k=60).apply(table).primary[0]
    everyone = cells_of([[90.0, 6.0]], waived=[[True, True]])
    assert not tacit.PPercent(p=80).apply(everyone).primary.any()


def test_zero_cells_are_unsafe_upwards_only():
    table = cells_of([[0.0, 0.0, 0.0], [], [5.0, 0.0]])
    judged = tacit.ZeroCells(range=7).apply(table)
    assert judged.status[:3].tolist() == [Status.UNSAFE_ZERO, Status.EMPTY, Status.SAFE]
    assert judged.upper_level[0] == 7
    assert judged.lower_level[0] == 0
    ready = tacit.Table.from_array([0.0, 5.0, 5.0])
    assert not tacit.ZeroCells().apply(ready).primary.any()
    assert tacit.ZeroCells(empty=True).apply(ready).primary.tolist() == [True, False, False]


def test_rules_unite_and_the_largest_levels_count():
    table = cells_of([[40.0], [50.0, 30.0, 20.0]])
    both = tacit.MinimumFrequency(n=3, range=30).apply(tacit.PPercent(p=10).apply(table))
    other = tacit.PPercent(p=10).apply(tacit.MinimumFrequency(n=3, range=30).apply(table))
    assert both.upper_level[0] == other.upper_level[0] == 12
    # A cell that another rule calls unsafe too is not one of the frequency rule alone, whichever came first.
    assert both.status[0] == other.status[0] == Status.UNSAFE
    kept = tacit.MinimumFrequency(n=3, keep_levels=True).apply(tacit.PPercent(p=10).apply(table))
    assert kept.upper_level[0] == 4


def test_levels_above_only_and_as_a_width():
    table = cells_of([[40.0]])
    above = tacit.PPercent(protection="upper").apply(table)
    width = tacit.PPercent(protection="sliding").apply(table)
    assert (above.lower_level[0], above.upper_level[0]) == (0, 4)
    assert (width.lower_level[0], width.upper_level[0], width.sliding_level[0]) == (0, 0, 8)


def test_singletons_can_have_a_status_of_their_own():
    data = tacit.read(
        {"r": ["a", "b", "b", "c", "c"], "x": [5.0, 3.0, 4.0, 9.0, 1.0], "g": list("12234")}
    )
    table = tacit.Table.from_microdata(data, ["r"], "x", holding="g")
    judged = tacit.PPercent(p=10, mark_singletons=True).apply(table)
    assert judged.status[1:].tolist() == [
        Status.UNSAFE_SINGLETON,
        Status.UNSAFE_MULTI_SINGLETON,
        Status.UNSAFE,
    ]


def test_cells_of_missing_codes_can_be_safe():
    data = tacit.read({"r": ["a", None, "b"], "x": [1.0, 2.0, 3.0]})
    table = tacit.Table.from_microdata(data, ["r"], "x", missing="?")
    for rule in (tacit.PPercent, tacit.MinimumFrequency):
        assert rule().apply(table).primary[table.index(("?",))]
        assert not rule(missing_safe=True).apply(table).primary[table.index(("?",))]


def test_contributions_of_both_signs_are_judged_by_size_with_a_warning():
    data = tacit.read({"r": ["a"] * 3, "x": [100.0, -3.0, 2.0]})
    table = tacit.Table.from_microdata(data, ["r"], "x", lower=-200)
    with pytest.warns(WeakProtection, match="both signs"):
        judged = tacit.PPercent(p=10).apply(table)
    assert judged.upper_level[1] == pytest.approx(10 - (105 - 103))


def test_a_shadow_asks_for_the_same_share_of_the_value():
    data = tacit.read({"r": ["a"] * 2, "x": [50.0, 50.0], "s": [1.0, 3.0]})
    table = tacit.Table.from_microdata(data, ["r"], "x", shadow="s")
    judged = tacit.PPercent(p=10).apply(table)
    assert judged.upper_level[1] == pytest.approx(0.3 / 4 * 100)
    same = tacit.PPercent(p=10, shadow="same").apply(table)
    assert same.upper_level[1] == pytest.approx(0.3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tacit.PPercent(p=0),
        lambda: tacit.PPercent(n=0),
        lambda: tacit.Pq(p=10, q=101),
        lambda: tacit.Pq(p=20, q=10),
        lambda: tacit.Dominance(k=100),
        lambda: tacit.Dominance(n=0),
        lambda: tacit.MinimumFrequency(n=0),
        lambda: tacit.ZeroCells(range=0),
        lambda: tacit.Request(share=100),
        lambda: tacit.RecodeTable(dimension="x"),
        lambda: tacit.RecodeTable(dimension="x", depth=1, collapse=["N"]),
    ],
)
def test_parameters_out_of_range_are_refused(make):
    with pytest.raises(InvalidParameter):
        make()


def test_tables_that_a_rule_cannot_judge_are_refused():
    counts = tacit.Table.from_microdata(tacit.read({"r": ["a", "b"]}), ["r"])
    ready = tacit.Table.from_array([1.0, 2.0, 3.0])
    short = cells_of([[5.0, 4.0, 3.0]])
    short = short.with_(
        contributors=Contributors(
            short.count, short.contributors.top[:, :2], short.contributors.who[:, :2]
        )
    )
    for rule in (tacit.PPercent(), tacit.Pq(), tacit.Dominance()):
        with pytest.raises(InputError, match="table of counts"):
            rule.apply(counts)
        with pytest.raises(InputError, match="needs the largest contributions"):
            rule.apply(ready)
        rule.apply(short)
    with pytest.raises(InputError, match=r"needs the 3 largest contributions.*keeps 2.*top=3"):
        tacit.PPercent(n=2).apply(short)
    with pytest.raises(InputError, match="no holdings"):
        tacit.PPercent(level="holding").apply(short)
    with pytest.raises(InputError, match="no requests"):
        tacit.Request().apply(short)
    with pytest.raises(InputError, match="must be published"):
        tacit.PPercent(p=99).apply(cells_of([[5.0]]).freeze([0]))


# -- decisions by hand -----------------------------------------------------------------------------


def test_decisions_by_hand():
    table = cells_of([[40.0], [50.0, 30.0, 20.0], [9.0]])
    judged = tacit.PPercent().apply(table)
    safe = tacit.SetStatus(cells=[["1"]], status="safe").apply(judged)
    assert safe.status[0] == Status.SAFE_MANUAL
    assert safe.upper_level[0] == 0
    assert not tacit.PPercent().apply(safe).primary[0]
    unsafe = tacit.SetStatus(cells=[["2"]], status="unsafe", range=10).apply(judged)
    assert unsafe.status[1] == Status.UNSAFE_MANUAL
    assert unsafe.upper_level[1] == 10
    asked = tacit.SetStatus(cells=[{"axis 1": "1"}], lower=1, upper=2).apply(judged)
    assert (asked.lower_level[0], asked.upper_level[0]) == (1, 2)
    kept = tacit.SetStatus(cells=[["2"]], status="protect").apply(judged)
    assert kept.status[1] == Status.PROTECTED
    costly = tacit.SetStatus(cells=[["2"]], cost=1e6).apply(judged)
    assert costly.costs()[1] == 1e6
    with pytest.raises(InputError, match="not unsafe"):
        tacit.SetStatus(cells=[["2"]], lower=1).apply(judged)
    with pytest.raises(InputError, match="no code"):
        tacit.SetStatus(cells=[["7"]], status="safe").apply(judged)


# -- group disclosure, complements, differences ----------------------------------------------------


def test_a_whole_group_in_one_category_is_found():
    case = published("psd28-argus-software", "group_disclosure")
    source, expected = case["table"], case["expected"]
    table = tacit.Table.from_array(
        source["counts"],
        totals=False,
        names=["region", "health"],
        codes=[source["rows"], source["columns"]],
        count=source["counts"],
        frequency=True,
    )
    result = tacit.GroupDisclosure(dimensions=["health"]).measure(table)
    rows = result.frame.rows(named=True)
    assert [r["margin"].split(" x ")[0] for r in rows] == expected["group_disclosure_rows"]
    assert rows[0]["category"] == expected["category"]
    assert rows[0]["share"] == expected["share"]
    assert not tacit.MinimumFrequency(n=3).apply(table).primary.any()
    nearly = tacit.GroupDisclosure(dimensions=["health"], share=0.6).measure(table)
    assert nearly.value == 3
    with pytest.raises(InputError, match="no dimension"):
        tacit.GroupDisclosure(dimensions=["age"]).measure(table)


def three_cells(who):
    """Three cells with two contributors each, and the identity of every contributor."""
    top = np.array([[60.0, 5.0], [50.0, 5.0], [40.0, 30.0], [60.0, 50.0]])
    names = np.array([*who, [who[0][0], who[1][0]]])
    return tacit.Table.from_array(
        [65.0, 55.0, 70.0, 190.0],
        count=[2, 2, 2, 6],
        contributors=Contributors(np.array([2, 2, 2, 6]), top, names),
    )


def test_the_union_of_hidden_cells_is_judged_by_identity():
    apart = three_cells([[1, 2], [3, 4], [5, 6]])
    same = three_cells([[1, 2], [1, 4], [5, 6]])
    for table, unsafe in ((apart, 0), (same, 1)):
        hidden = table.with_protection([0], 1, 1).with_hidden([1])
        result = tacit.Complements(parameters={"p": 10}).measure(hidden)
        # One firm has 110 of the 120 behind both cells: 5 is left when the second takes its 5.
        assert result.value == unsafe
        assert result.numbers["unions of hidden cells"] == 1
    assert tacit.Complements().measure(apart).value == 0
    result = tacit.Complements(rule="dominance", parameters={"n": 1, "k": 90}).measure(hidden)
    assert result.value == 1
    assert result.frame.rows(named=True)[0]["exact"]


def ages(cuts, counts_by_year, names):
    """A table of counts by age group, from counts by single year."""
    ground = [int(sum(counts_by_year[a:b])) for a, b in cuts]
    return tacit.Table.from_cells(
        (tacit.Dimension.flat("age", names),),
        [sum(ground), *ground],
        count=[sum(ground), *ground],
        frequency=True,
        response="people",
    )


def test_a_difference_of_two_safe_tables_is_found():
    years = [10] * 15 + [1, 1] + [10] * 10
    first = ages([(0, 15), (15, 27)], years, ["0-14", "15+"])
    second = ages([(0, 17), (17, 27)], years, ["0-16", "17+"])
    blocks = {
        "0-14": ["a"],
        "15+": ["b", "c"],
        "0-16": ["a", "b"],
        "17+": ["c"],
        "Total": ["a", "b", "c"],
    }
    with pytest.raises(InputError, match="definitions="):
        differencing(first, second)
    result = differencing(first, second, definitions={"age": blocks})
    rows = result.frame.rows(named=True)
    assert len(rows) == 1
    assert rows[0]["base codes"] == "b"
    assert result.unsafe == 1
    hidden = second.with_status([1, 2], Status.SECONDARY)
    assert differencing(first, hidden, definitions={"age": blocks}).numbers["differences"] == 0
    with pytest.raises(InputError, match="two tables"):
        differencing(first)


def test_differences_are_found_for_every_combination_of_the_other_variables():
    rng = np.random.default_rng(5)
    data = tacit.read(
        {
            "place": rng.choice(["p1", "p2", "p3"], 60).tolist(),
            "sex": rng.choice(["f", "m"], 60).tolist(),
            "job": rng.choice(["a", "b"], 60).tolist(),
        }
    )
    first = tacit.Dimension.from_relations("place", [("Total", ["A", "p3"]), ("A", ["p1", "p2"])])
    second = tacit.Dimension.from_relations("place", [("Total", ["p1", "B"]), ("B", ["p2", "p3"])])
    tables = [
        tacit.RecodeTable(dimension="place", depth=1).apply(
            tacit.Table.from_microdata(data, {"place": d, **others})
        )
        for d, others in ((first, {"sex": None}), (second, {"sex": None, "job": None}))
    ]
    meaning = {"place": {"A": ["p1", "p2"], "B": ["p2", "p3"], "p1": ["p1"], "p3": ["p3"]}}
    result = differencing(*tables, rule=tacit.MinimumFrequency(n=100), definitions=meaning)
    rows = [r for r in result.frame.rows(named=True) if r["base codes"] == "p2"]
    # Both sexes and their total; the jobs of the second table stand at their total.
    assert len(rows) == 3
    assert all(r["unsafe"] for r in rows)


def test_zones_that_do_not_nest_leave_slivers():
    data = tacit.read(
        {
            "place": ["p1"] * 6 + ["p2"] * 6 + ["p3"] + ["p4"] * 6,
            "x": [10.0, 9.0, 8.0, 7.0, 6.0, 5.0] * 2 + [4.0] + [10.0, 9.0, 8.0, 7.0, 6.0, 5.0],
        }
    )
    county = tacit.Dimension.from_relations(
        "place", [("Total", ["C1", "C2"]), ("C1", ["p1", "p2", "p3"]), ("C2", ["p4"])]
    )
    zone = tacit.Dimension.from_relations(
        "place", [("Total", ["Z1", "Z2"]), ("Z1", ["p1", "p2"]), ("Z2", ["p3", "p4"])]
    )
    tables = [
        tacit.RecodeTable(dimension="place", depth=1).apply(
            tacit.Table.from_microdata(data, {"place": dimension}, "x")
        )
        for dimension in (county, zone)
    ]
    zones = {
        "C1": ["p1", "p2", "p3"],
        "C2": ["p4"],
        "Z1": ["p1", "p2"],
        "Z2": ["p3", "p4"],
    }
    result = differencing(*tables, rule=tacit.PPercent(p=10), definitions={"place": zones})
    # C1 - Z1 is the single firm of p3; so is Z2 - C2.
    rows = [r for r in result.frame.rows(named=True) if r["base codes"] == "p3"]
    assert len(rows) == 1
    assert rows[0]["unsafe"]


# -- properties ------------------------------------------------------------------------------------


def by_definition(xs, p, n):
    """The p% rule from its definition, on all contributions."""
    xs = sorted(xs, reverse=True)
    rest = sum(xs) - sum(xs[: n + 1])
    return rest < p / 100 * xs[0], p / 100 * xs[0] - rest


@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=8),
    st.integers(1, 60),
    st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_the_p_rule_is_its_definition_and_its_level_the_edge(xs, p, n):
    table = cells_of([list(map(float, xs))])
    judged = tacit.PPercent(p=p, n=n).apply(table)
    unsafe, level = by_definition(xs, p, n)
    if abs(level) > 1e-6:
        assert judged.primary[0] == unsafe
    if judged.primary[0]:
        assert judged.upper_level[0] == pytest.approx(level)
    same = tacit.Pq(p=p, q=100, n=n).apply(table)
    assert np.array_equal(same.primary, judged.primary)
