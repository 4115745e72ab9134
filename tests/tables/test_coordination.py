"""Several agencies: the models of co-ordination, the federal step, reports and the mixed strategy."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tables.random_tables import by_hand, random_dimension
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.linked import link
from tacit.data.cells.relations import roll_up
from tacit.data.cells.status import Status
from tacit.data.table import Contributors
from tacit.errors import Infeasible, InputError, InvalidParameter
from tacit.examples.firms import activity_tree, firms, region_tree
from tacit.tables.agencies.coordination import block_of, causes, part_of, regions_of
from tacit.tables.agencies.mixed_strategy import round_interval
from tacit.tables.compare.cell_loss import EDGES
from tacit.tables.suppress.pattern_reports import (
    information_loss,
    pattern_changes,
    percent,
    risk_report,
)
from tacit.tables.suppress.problem import problem_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "psd04-harmonizing-suppression"
ENGINES = ["suppress_linear", "suppress_modular", "suppress_gauss", "suppress_hypercube"]
MODELS = ["central", "decentral", "block", "partition"]


def fixture(name):
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def below(dimension, code):
    children = [c for s in dimension.sums if s.parent == code for c in s.children]
    return [x for c in children for x in below(dimension, c)] or [code]


@pytest.fixture(scope="module")
def small():
    """The 9 x 10 table of the study's models, p% rule with p = 10."""
    given_ = fixture("coordination_small")
    dims = []
    for name in ("nace", "region"):
        rows = given_[f"{name}_relations"]
        codes = tuple(f"{name}{i}" for i in range(1 + max(map(max, rows))))
        dims.append(Dimension(name, codes, tuple(Sum(r[0], tuple(r[1:])) for r in rows)))
    parts = {tuple(map(int, k.split(","))): v for k, v in given_["contributions"].items()}
    value = np.array(given_["values"])
    top, count = np.zeros((value.size, 3)), np.zeros(value.size, dtype=int)
    for cell, (i, j) in enumerate(np.ndindex(value.shape)):
        all_of = [x for a in below(dims[0], i) for b in below(dims[1], j) for x in parts[a, b]]
        count[cell] = len(all_of)
        best = sorted(all_of, reverse=True)[:3]
        top[cell, : len(best)] = best
        assert sum(all_of) == value[i, j]
    nobody = np.full(top.shape, -1)
    table = tacit.Table.from_cells(
        dims, value, count=count, contributors=Contributors(count, top, nobody)
    )
    table = tacit.PPercent(p=10).apply(table)
    assert (table.primary.reshape(value.shape) == np.array(given_["primary"], dtype=bool)).all()
    return table.with_(contributors=None)


def require_safe(table, *, interval=None):
    """Every unsafe cell reaches its levels, by programs of another solver."""
    problem = problem_of(table)
    hidden = table.hidden.copy()
    down, up = problem.down.copy(), problem.up.copy()
    if interval is not None:
        wide = interval[:, 1] > interval[:, 0]
        hidden |= wide
        down[wide] = (table.value - interval[:, 0])[wide]
        up[wide] = (interval[:, 1] - table.value)[wide]
    assert not (table.primary & ~hidden).any()
    cells = np.flatnonzero(hidden)
    rows = problem.equations[:, cells]
    bounds = list(zip(-down[cells], up[cells], strict=True))
    for p in np.flatnonzero(table.primary):
        for sense, need in ((1, problem.need_up[p]), (-1, problem.need_down[p])):
            cost = np.where(cells == p, -float(sense), 0.0)
            found = linprog(
                cost, A_eq=rows, b_eq=np.zeros(rows.shape[0]), bounds=bounds, method="highs"
            )
            assert found.status == 3 or -found.fun >= need * (1 - 1e-5)


# -- published numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["central", "decentral"])
def test_the_exact_optimum_of_the_small_table(small, model):
    engine = {"kind": "suppress_exact", "singletons": False}
    safe = tacit.Coordinate(region="region", model=model, engine=engine).apply(small)
    expected = fixture("coordination_small")[model]
    found = safe.history[-1].details
    assert found["federal"] == expected["federal"]
    assert found["agencies"] == expected["state"]
    assert found["below"] == expected["district"]
    assert found["price"] == pytest.approx(expected["value"])
    require_safe(safe)


def test_the_federal_step_alone_has_the_published_weight(small):
    engine = {"kind": "suppress_exact", "singletons": False}
    safe = tacit.Coordinate(region="region", model="decentral", engine=engine).apply(small)
    top = safe.secondary & (safe.places[:, 1] == 0)
    expected = fixture("coordination_small")["decentral"]["federal_weight"]
    assert safe.value[top].sum() == expected


def test_percentages_of_the_published_tables_reproduce():
    tables = fixture("published_tables")
    cells = tables["derived"]["federal_denominator"]
    for *_, state, state_percent, federal, federal_percent, _ in tables["table2"]:
        assert percent(federal, cells) == pytest.approx(federal_percent, abs=0.0501)
        most = tables["derived"]["state_denominator_range"]
        assert any(
            round(percent(state, n), 1) == state_percent for n in range(most[0], most[1] + 1)
        )
    for columns in (tables["table3a"], tables["table3b"]):
        for *levels, overall in columns.values():
            assert sum(levels) == overall
    ranges = [f"{a:g}-{b:g}" for a, b in itertools.pairwise(EDGES)]
    assert tables["table4"]["ranges"] == ["0", *ranges, ">30"]


def test_intervals_for_publication():
    for case in fixture("interval_publication")["cases"]:
        ends = {}
        for widen in (False, True):
            low, high = round_interval(
                np.array([float(case["original"])]),
                np.array([float(case["adjusted"])]),
                np.array([widen]),
            )
            ends[widen] = [low[0], high[0]]
        assert ends[False] == case["tight"]
        assert ends[True] == case["widened_on_original_side"]


# -- the models -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ENGINES)
@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_safe_with_every_engine(small, model, by):
    safe = tacit.Coordinate(region="region", model=model, engine=by).apply(small)
    require_safe(safe)
    audit = tacit.Audit().measure(safe)
    assert not audit.exposed
    assert not audit.singletons
    details = safe.history[-1].details
    assert details["federal"] + details["agencies"] + details["below"] == details["secondary"]
    assert safe.shape == small.shape
    assert safe.weight is None


def test_in_the_federal_step_agencies_stay_as_they_are(small):
    safe = tacit.Coordinate(region="region", model="decentral").apply(small)
    regions = regions_of(small, "region")
    whose = regions.of(small)
    for i, code in enumerate(("region1", "region2", "region3")):
        part = part_of(small, 1, regions.own == i)
        alone = tacit.SuppressLinear().apply(part.table)
        assert (alone.hidden == safe.hidden[part.cells]).all()
        assert small.dimensions[1].codes[regions.tops[i]] == code
    group = whose >= 0
    assert (safe.status[group & ~safe.hidden] == small.status[group & ~safe.hidden]).all()


def test_a_federal_cell_goes_when_exactly_one_agency_hides_its_part(small):
    safe = tacit.Coordinate(region="region", model="decentral", engine="suppress_exact").apply(
        small
    )
    hidden = safe.to_array(safe.hidden)
    one = hidden[:, 1:4].sum(axis=1) == 1
    assert hidden[one, 0].all()


def test_blocks(small):
    regions = regions_of(small, "region")
    block = block_of(small, regions, [1, 2])
    assert block.table.is_product
    assert block.table.is_additive()
    assert (block.cells < 0).sum() == 9
    total = block.table.value[block.cells < 0]
    assert (total == small.to_array(small.value)[:, [2, 3]].sum(axis=1)).all()
    chosen = tacit.Coordinate(region="region", model="block", alone=["region1"]).apply(small)
    assert chosen.history[-1].details["alone"] == ["region1"]
    trial = tacit.Coordinate(region="region", model="decentral").apply(small)
    guilty = causes(small, trial.hidden, regions, None)
    usual = tacit.Coordinate(region="region", model="block").apply(small)
    names = [small.dimensions[1].codes[t] for i, t in enumerate(regions.tops) if i not in guilty]
    assert usual.history[-1].details["alone"] == names
    assert usual.history[-1].details["federal"] <= trial.history[-1].details["federal"]
    none = tacit.Coordinate(region="region", model="block", depth=0).apply(small)
    assert set(none.history[-1].details["alone"]) >= set(names)
    every = tacit.Coordinate(
        region="region", model="block", alone=["region1", "region2", "region3"]
    ).apply(small)
    assert (every.hidden == trial.hidden).all()


def test_an_artificial_total_of_one_respondent_has_its_owner():
    """Else the respondent would seem to be two, and the block could not be protected."""
    regions = Dimension.from_tree("region", [(0, "A"), (1, "A1"), (1, "A2"), (0, "B"), (0, "C")])
    kinds = Dimension.flat("kind", ["x", "y", "z"])
    ground = np.array([[9.0, 40, 30], [0, 50, 20], [0, 25, 60], [30, 35, 45]])
    n = np.array([[1, 5, 5], [0, 5, 5], [0, 5, 5], [6, 5, 5]])
    value, count = (roll_up(x.astype(float), [regions, kinds]).ravel() for x in (ground, n))
    count = count.astype(int)
    who = np.where(count == 1, 7, 100 + np.arange(len(count)))[:, None]
    behind = Contributors(count, np.where(count == 1, 9.0, 1.0)[:, None], who)
    table = tacit.Table.from_cells([regions, kinds], value, count=count, contributors=behind)
    table = table.with_protection([("A1", "x"), ("A", "x")], lower=2, upper=2)
    part = block_of(table, regions_of(table, "region"), [0, 1])
    total = part.table.index(("(block)", "x"))
    assert part.table.owner[total] == 7
    safe = tacit.Coordinate(region="region", model="block", alone=["C"]).apply(table)
    require_safe(safe)


def test_linked_tables_have_agencies_too(small):
    """A second grouping of the districts makes a linked table of the same values."""
    d = small.dimensions[1]
    zones = Dimension.from_relations(
        "region",
        [(d.codes[0], ["east", "west"]), ("east", d.codes[4:10:2]), ("west", d.codes[5:10:2])],
    )
    ground = small.to_array(small.value)[:, 4:]
    order = [zones.position[c] for c in d.codes[4:10]]
    values = np.zeros((9, len(zones)))
    values[:, order] = ground
    values[:, zones.position["east"]] = ground[:, ::2].sum(axis=1)
    values[:, zones.position["west"]] = ground[:, 1::2].sum(axis=1)
    values[:, 0] = ground.sum(axis=1)
    other = tacit.Table.from_cells([small.dimensions[0], zones], values)
    joint = link(small, other)
    for model in MODELS:
        safe = tacit.Coordinate(
            region="region", agencies=d.codes[1:4], model=model, engine="suppress_linear"
        ).apply(joint)
        require_safe(safe)


def test_earlier_patterns_are_followed(small, tmp_path):
    central = tacit.Coordinate(region="region").apply(small)
    codes = [small.codes(int(c)) for c in np.flatnonzero(central.secondary)]
    path = central.save(tmp_path / "before.table")
    found = [
        tacit.Coordinate(region="region", model="dec_w", previous=previous, previous_cost=0.01)
        for previous in (central, path, str(path), codes)
    ]
    results = [spec.apply(small) for spec in found]
    assert len({tuple(r.hidden.tolist()) for r in results}) == 1
    plain = tacit.Coordinate(region="region", model="decentral").apply(small)
    kept = pattern_changes(central, results[0]).value
    assert kept >= pattern_changes(central, plain).value
    again = tacit.Coordinate(**{k: v for k, v in found[0].to_dict().items() if k != "kind"})
    assert (again.apply(small).hidden == results[0].hidden).all()
    assert "previous" not in results[0].history[-1].parameters
    gone = tacit.Coordinate(region="region", previous=[*codes, ("nace99", "region1")])
    require_safe(gone.apply(small))


def test_costs_by_agency(small):
    regions = regions_of(small, "region")
    mine = regions.of(small) == 0

    def hidden_value(**options):
        safe = tacit.Coordinate(region="region", engine="suppress_exact", **options).apply(small)
        require_safe(safe)
        return safe.value[safe.secondary & mine].sum(), safe.history[-1].details["price"]

    usual, price = hidden_value()
    costly, other = hidden_value(weights={"region1": 100.0})
    assert costly <= usual
    assert other >= price
    hidden_value(weights={"region0": 0.01})


def test_an_impossible_federal_step_names_the_cells_that_would_repair_it(small):
    federal = np.flatnonzero(regions_of(small, "region").of(small) < 0)
    frozen = small.freeze(federal)
    with pytest.raises(Infeasible, match="would repair it") as error:
        tacit.Coordinate(region="region", model="decentral").apply(frozen)
    n = int(re.search(r"Hiding (\d+) more", str(error.value))[1])
    assert re.search(r"nace\d x region\d \(region[123]\)", str(error.value))
    safe = tacit.Coordinate(region="region", model="decentral", conflict="mend").apply(frozen)
    require_safe(safe)
    assert safe.history[-1].details["mended"] == n
    assert safe.history[-1].details["federal"] == 0
    tacit.Coordinate(region="region", model="central").apply(frozen)


def test_nothing_helps_when_all_is_to_be_published(small):
    open_cells = np.flatnonzero(~small.primary & ~small.empty)
    frozen = small.freeze(open_cells)
    with pytest.raises(Infeasible, match="the agency region1"):
        tacit.Coordinate(region="region", model="decentral").apply(frozen)


def test_what_is_wrong_is_said(small):
    def refuse(match, table=small, **options):
        with pytest.raises((InputError, InvalidParameter), match=match):
            tacit.Coordinate(**{"region": "region", **options}).apply(table)

    refuse("no dimension 'area'", region="area")
    refuse("Did you mean 'region1'", agencies=["regoin1"])
    refuse("two agencies", agencies=["region1", "region4"])
    refuse("needs previous", model="dec_w")
    refuse("no agency", model="block", alone=["region9"])
    refuse("no agency", weights={"region4": 2.0})
    refuse("not a method of cell suppression", engine="audit")
    refuse("no method 'suppress_magic'", engine="suppress_magic")
    refuse("there is no parameter", engine={"kind": "suppress_linear", "speed": 3})
    refuse("table, a file or a list", previous=3)
    bare = tacit.Table.from_cells((), small.value, equations=small.equations)
    refuse("bare list of equations", table=bare)
    refuse("full product", table=link(small, small), engine="suppress_hypercube")


def test_agencies_may_be_ground_codes():
    values = np.array([[20.0, 50, 10], [8, 19, 22], [17, 32, 12], [30, 41, 25]])
    table = tacit.Table.from_array(values, totals=False, names=["region", "kind"])
    table = table.with_protection([(1, 2)], lower=5, upper=5)
    for model in MODELS:
        require_safe(tacit.Coordinate(region="region", model=model).apply(table))


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6))
def test_random_tables_are_safe_under_every_model(seed):
    require_every_model_safe(seed)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_many_random_tables_are_safe_under_every_model(seed):
    require_every_model_safe(seed)


def require_every_model_safe(seed):
    """One random table, protected under each model by an engine drawn for it."""
    rng = np.random.default_rng(seed)
    states = [f"s{i}" for i in range(int(rng.integers(2, 4)))]
    tree = [line for s in states for line in [(0, s), *((1, f"{s}{d}") for d in "ab")]]
    region = Dimension.from_tree("region", tree)
    other = random_dimension(rng, "b")
    shape = [len(region.leaves), len(other.leaves)]
    value = roll_up(rng.integers(0, 30, shape).astype(float), [region, other]).ravel()
    count = roll_up(rng.integers(1, 3, shape).astype(float), [region, other]).ravel().astype(int)
    table = tacit.Table.from_cells([region, other], value, count=count)
    unsafe = np.flatnonzero((rng.random(len(table)) < 0.12) & ~table.empty)
    level = 0.2 * table.value[unsafe]
    table = table.with_protection(unsafe, lower=level, upper=level)
    for model in MODELS:
        engine = ENGINES[int(rng.integers(len(ENGINES)))]
        spec = tacit.Coordinate(region="region", model=model, engine=engine, conflict="mend")
        require_safe(spec.apply(table))


# -- reports --------------------------------------------------------------------------------------------


def test_information_loss_counts_by_level(small):
    safe = tacit.Coordinate(region="region", model="decentral").apply(small)
    found = information_loss(safe, "region")
    rows = list(found.frame.iter_rows(named=True))
    whole = [r for r in rows if r["level"] is None]
    assert [r["region_level"] for r in whole] == [0, 1, 2]
    details = safe.history[-1].details
    assert [r["secondary"] for r in whole] == [
        details["federal"],
        details["agencies"],
        details["below"],
    ]
    assert sum(r["secondary"] for r in rows if r["level"] is not None) == details["secondary"]
    assert sum(r["unsafe"] for r in whole) == details["primary"]
    assert found.value == pytest.approx(details["value_percent"])
    assert sum(r["cells"] for r in whole) == (~small.empty).sum()
    assert found.plot().svg()


def test_risk_report(small):
    unprotected = risk_report(small)
    assert unprotected.value > 0
    safe = risk_report(tacit.Coordinate(region="region").apply(small))
    assert safe.value == 0
    assert safe.numbers["worked out by a respondent"] == 0
    assert list(safe.frame["attack"]) == ["full", "subtable", "respondent"]


def test_pattern_changes(small):
    one = tacit.Coordinate(region="region").apply(small)
    two = tacit.Coordinate(region="region", model="decentral").apply(small)
    there, back = pattern_changes(one, two), pattern_changes(two, one)
    assert there.hidden == back.shown
    assert there.shown == back.hidden
    assert there.value == back.value < 1
    assert pattern_changes(one, one).value == 1
    assert pattern_changes(one, one).frame is None
    rest = part_of(two, 1, np.arange(10) != 9).table
    fewer = pattern_changes(one, rest)
    assert fewer.numbers["only in the old"] == 9
    assert fewer.numbers["cells in both releases"] == 81
    assert "region" in there.frame.columns
    with pytest.raises(InputError, match="different dimensions"):
        pattern_changes(one, tacit.Table.from_array(np.ones((3, 3)), totals=False))


# -- the mixed strategy --------------------------------------------------------------------------------


@pytest.mark.parametrize("cover", [True, False])
def test_the_mixed_strategy_is_safe_with_its_intervals(small, cover):
    for seed in range(3):
        out = tacit.MixedStrategy(region="region", cover=cover, engine="suppress_gauss").apply(
            small, seed=seed
        )
        require_safe(out, interval=np.nan_to_num(out.interval))
        low, high = out.interval.T
        given_ = ~out.hidden
        assert (low[given_] <= out.value[given_]).all()
        assert (out.value[given_] <= high[given_]).all()
        assert (low[given_] <= out.published[given_]).all()
        assert np.isnan(low[out.hidden]).all()
        changed = given_ & (np.abs(out.published - out.value) > 1e-9)
        assert (changed <= (high > low)).all()
        assert (out.places[changed, 1] == 0).all()
        assert not tacit.Audit(cells="unsafe").measure(out).exposed
        adjusted = np.where(out.hidden, out.value, out.published).reshape(out.shape)[:, 0]
        if not out.hidden.reshape(out.shape)[:, 0].any():
            assert adjusted[0] == pytest.approx(adjusted[1] + adjusted[2])
        if cover:
            assert out.history[-1].details["federal"] == 0
            assert out.history[-1].details["intervals"] > 0


def test_cells_with_published_parts_stay(small):
    out = tacit.MixedStrategy(region="region").apply(small, seed=1)
    hidden = out.hidden.reshape(out.shape)[:, 1:4]
    same = ~hidden.any(axis=1)
    published = out.published.reshape(out.shape)[:, 0]
    assert (published[same] == out.value.reshape(out.shape)[same, 0]).all()


def test_without_room_to_adjust_the_top_is_suppressed(small):
    tight = {"kind": "adjust", "capacity": 1e-6, "beyond": False}
    out = tacit.MixedStrategy(region="region", adjust=tight).apply(small, seed=1)
    assert out.history[-1].details["adjustment"] == "impossible"
    assert out.history[-1].details["federal"] > 0
    assert out.history[-1].details["intervals"] == 0
    require_safe(out, interval=np.nan_to_num(out.interval))


def test_the_mixed_claim_sees_narrow_intervals_and_lies(small):
    out = tacit.MixedStrategy(region="region").apply(small, seed=1)
    claim = out.history[-1].claims[0]
    assert claim.holds(out)
    exact = np.where(np.isnan(out.interval), np.nan, out.value[:, None])
    assert not claim.holds(
        out.with_(interval=exact, changed=np.where(out.hidden, np.nan, out.value))
    )
    assert not claim.holds(out.with_(interval=out.interval + 1.0))
    assert not claim.holds(out.with_(interval=None))


def test_a_mixed_strategy_that_cannot_work_names_the_cells(small):
    frozen = small.freeze(np.flatnonzero(regions_of(small, "region").of(small) < 0))
    with pytest.raises(Infeasible, match="would repair it"):
        tacit.MixedStrategy(region="region").apply(frozen, seed=1)
    with pytest.raises(InvalidParameter, match="does not adjust"):
        tacit.MixedStrategy(region="region", adjust="suppress_linear")


# -- the study, on made-up enterprises -------------------------------------------------------------------


def enterprises(seed, sections):
    """The enterprises of some sections of activity, by region and activity, judged by the p% rule."""
    tree = activity_tree()
    codes = [c for c in tree.codes[1:] if c[0] in sections]
    activity = Dimension.from_tree("activity", [(len(c) - 1, c) for c in codes])
    rows = firms(2_600, seed).to_arrow()
    among = pc.is_in(pc.utf8_slice_codeunits(rows["activity"], 0, 1), pa.array(list(sections)))
    dims = {"region": region_tree(), "activity": activity}
    table = tacit.Table.from_microdata(tacit.read(rows.filter(among)), dims, "turnover")
    bounds = 10 * float(table.value.max())
    return tacit.PPercent(p=10).apply(table.with_bounds(np.arange(len(table)), 0.0, bounds))


def study(seed, engine, sections="CDFG"):
    table = enterprises(seed, sections)
    found = {
        model: tacit.Coordinate(region="region", model=model, engine=engine).apply(table)
        for model in ("central", "decentral")
    }
    cubes = tacit.Coordinate(region="region", engine="suppress_hypercube").apply(table)
    central, apart = (found[m].history[-1].details for m in ("central", "decentral"))
    assert apart["federal"] >= 2.5 * max(1, central["federal"])
    assert apart["value_percent"] > central["value_percent"]
    assert cubes.history[-1].details["secondary"] > central["secondary"]
    for safe in found.values():
        assert risk_report(safe).value == 0


@pytest.mark.parametrize("sections", ["C", pytest.param("CDFG", marks=pytest.mark.slow)])
def test_decentral_work_is_expensive_at_the_top(sections):
    study(1, {"kind": "suppress_linear", "tries": 0}, sections)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_study_on_several_populations(seed):
    study(seed, {"kind": "suppress_linear"})


def test_statuses_that_were_given_survive(small):
    at = small.index(("nace7", "region1"))
    manual = small.with_status([at], Status.SAFE_MANUAL)
    safe = tacit.Coordinate(region="region", model="decentral").apply(manual)
    assert safe.hidden[at] or safe.status[at] == Status.SAFE_MANUAL
    forced = small.with_hidden([("nace0", "region1")])
    kept = tacit.Coordinate(region="region", model="decentral").apply(forced)
    assert kept.hidden[small.index(("nace0", "region1"))]
    require_safe(kept)
    assert by_hand(problem_of(kept), kept.hidden, int(np.flatnonzero(kept.primary)[0]), 1) > 0
