"""Linked tables that classify one variable differently: no cell can be deduced from all of them together."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import tacit
from tacit.data.cells.dimension import Dimension
from tacit.errors import InputError, WeakProtection
from tacit.tables.agencies.linking import protect_linked
from tacit.tables.attack.releases import audit_releases


def records(seed, regions=5, branches=2):
    """Records of regions that lie in counties and in groups, with branch and turnover."""
    rng = np.random.default_rng(seed)
    county = rng.integers(0, 3, regions)
    group = rng.integers(0, 3, regions)
    rows = []
    for r, b in itertools.product(range(regions), range(branches)):
        rows += [(r, b, float(x)) for x in rng.integers(1, 40, int(rng.integers(1, 4)))]
    region = np.array([r for r, _, _ in rows])
    return tacit.read(
        {
            "region": [f"r{r}" for r in region],
            "county": [f"c{county[r]}" for r in region],
            "group": [f"g{group[r]}" for r in region],
            "branch": [f"b{b}" for _, b, _ in rows],
            "turnover": [x for _, _, x in rows],
        }
    )


def plain(data):
    return data.engine.to_arrow(data.frame).to_pydict()


def ground_cells(data, tables):
    """The cells of all tables as sums of the finest cells in the records, by hand."""
    frame = plain(data)
    n = len(frame["region"])
    fine = sorted({(frame["region"][i], frame["branch"][i]) for i in range(n)})
    at = {cell: k for k, cell in enumerate(fine)}
    base = np.zeros(len(fine))
    told = {}
    for i in range(n):
        base[at[frame["region"][i], frame["branch"][i]]] += frame["turnover"][i]
        told[frame["region"][i]] = {c: frame[c][i] for c in ("region", "county", "group")}
    rows = []
    for table in tables:
        for cell in range(len(table)):
            codes = dict(zip(table.names, table.codes(cell), strict=True))
            row = np.zeros(len(fine))
            for (region, branch), k in at.items():
                of = {**told[region], "branch": branch}
                row[k] = all(code in ("Total", of[name]) for name, code in codes.items())
            rows.append(row)
    return np.array(rows), base


def intervals_by_hand(data, tables):
    """The least and most of every hidden unsafe cell, over all microdata that fit what is published."""
    rows, base = ground_cells(data, tables)
    published = np.concatenate([t.published for t in tables])
    assert np.allclose(rows @ base, np.concatenate([t.value for t in tables]))
    shown = ~np.isnan(published)
    unsafe = np.flatnonzero(np.concatenate([t.primary for t in tables]))
    for cell in unsafe.tolist():
        ends = [
            linprog(s * rows[cell], A_eq=rows[shown], b_eq=published[shown], bounds=(0, None))
            for s in (1, -1)
        ]
        assert ends[0].status in (0, 3)
        low = ends[0].fun
        high = np.inf if ends[1].status == 3 else -ends[1].fun
        yield cell, low, high


def geography(data):
    """One dimension with the codes of all classifications."""
    frame = plain(data)
    pairs = {(c, r) for c, r in zip(frame["county"], frame["region"], strict=True)}
    pairs |= {(g, r) for g, r in zip(frame["group"], frame["region"], strict=True)}
    sums = [(top, sorted(r for t, r in pairs if t == top)) for top in sorted({t for t, _ in pairs})]
    for kind in "cg":
        sums.append(("Total", [t for t, _ in sums if t.startswith(kind)]))
    return Dimension.from_relations("geography", sums)


def judged_tables(data, names, seed):
    rng = np.random.default_rng(seed)
    judged = []
    for name in names:
        table = tacit.Table.from_microdata(data, [name, "branch"], "turnover")
        unsafe = np.flatnonzero(table.ground & (rng.random(len(table)) < 0.25))
        level = 0.2 * table.value[unsafe]
        judged.append(table.with_protection(unsafe, lower=level, upper=level))
    return judged


@pytest.mark.parametrize(
    "seed",
    [
        1,
        4,
        8,
        14,
        *(pytest.param(s, marks=pytest.mark.slow) for s in range(15) if s not in (1, 4, 8, 14)),
    ],
)
def test_nothing_is_deduced_from_all_classifications_together(seed):
    data = records(seed)
    if seed % 3 < 2:
        how = {"data": data}
        names = ("region", "group", "county")[: 3 - seed % 2]
    else:
        # No table has the regions themselves: what counties and groups have in common is published nowhere.
        names = ("group", "county")
        how = {"variables": dict.fromkeys(names, geography(data))}
    tables = judged_tables(data, names, seed)
    try:
        done = protect_linked(*tables, **how)
    except tacit.errors.Infeasible:
        return
    value = np.concatenate([t.value for t in done])
    down = np.concatenate([t.lower_level for t in done])
    up = np.concatenate([t.upper_level for t in done])
    for cell, low, high in intervals_by_hand(data, done):
        assert low <= value[cell] - down[cell] * (1 - 1e-5)
        assert high >= value[cell] + up[cell] * (1 - 1e-5)
    assert audit_releases(*done, **how, singletons=False).exposed == ()


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 6))]
)
def test_the_audit_of_several_releases_finds_what_the_records_allow(seed):
    data = records(seed)
    tables = judged_tables(data, ("region", "group", "county"), seed)
    alone = [tacit.SuppressLinear(singletons=False).apply(t) for t in tables]
    exposed = set(audit_releases(*alone, data=data, singletons=False).exposed)
    value = np.concatenate([t.value for t in alone])
    down = np.concatenate([t.lower_level for t in alone])
    up = np.concatenate([t.upper_level for t in alone])
    short = [
        cell
        for cell, low, high in intervals_by_hand(data, alone)
        if low > value[cell] - down[cell] * (1 - 1e-6) or high < value[cell] + up[cell] * (1 - 1e-6)
    ]
    assert bool(exposed) == bool(short)


def test_codes_in_common_link_dimensions_of_different_names():
    regions = Dimension.from_tree(
        "region", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2")]
    )
    fine = tacit.Table.from_cells([regions], [100, 60, 20, 40, 40, 15, 25])
    coarse = tacit.Table.from_cells([Dimension.flat("county", ["N", "S"])], [100, 60, 40])
    joint = tacit.Table.link(fine, coarse)
    assert len(joint) == len(fine)
    assert joint.extra["variables"] == {"region": ("region", "county")}
    # Other figures: another variable that happens to use the same codes.
    other = tacit.Table.from_cells([Dimension.flat("bank", ["N", "S"])], [100, 50, 50])
    assert len(tacit.Table.link(fine, other)) == len(fine) + 2


def test_classifications_that_cannot_be_linked_are_refused():
    one = tacit.Table.from_cells([Dimension.flat("region", ["a", "b"])], [10, 4, 6])
    two = tacit.Table.from_cells([Dimension.flat("region", ["k", "l"])], [10, 3, 7])
    with pytest.raises(InputError, match="cannot be linked"):
        tacit.Table.link(one, two)
    whole = Dimension.from_relations(
        "region",
        [
            ("Total", ["1", "2", "3"]),
            ("a", ["1", "2"]),
            ("b", ["3"]),
            ("k", ["1"]),
            ("l", ["2", "3"]),
            ("Total", ["a", "b"]),
            ("Total", ["k", "l"]),
        ],
    )
    joint = tacit.Table.link(one, two, variables={"region": whole})
    # 1, 2 and 3 are nowhere published; k is 1, b is 3.
    assert joint.extra["unpublished"].sum() > 0
    apart = tacit.Table.from_cells([Dimension.flat("region", ["k", "l"])], [10, 7, 3])
    with pytest.raises(InputError, match="not of one population"):
        tacit.Table.link(one, apart, variables={"region": whole})


def test_a_group_that_is_left_over_is_inferred():
    one = tacit.Table.from_cells([Dimension.flat("region", ["N", "S"])], [10, 4, 6])
    two = tacit.Table.from_cells([Dimension.flat("region", ["N", "S1", "S2"])], [10, 4, 1, 5])
    joint = tacit.Table.link(one, two)
    hidden = joint.with_protection([("S1",)], lower=1, upper=1).with_hidden([("S2",)])
    assert tacit.Audit().measure(hidden).value == 0
    assert len(joint) == 5


def test_bounds_of_all_tables_bind():
    one = tacit.Table.from_cells([Dimension.flat("region", ["N", "S"])], [10, 4, 6], upper=20)
    two = tacit.Table.from_cells(
        [Dimension.flat("region", ["N", "S"])], [10, 4, 6], lower=2, upper=30
    )
    joint = tacit.Table.link(one, two)
    assert (joint.lower == 2).all()
    assert (joint.upper == 20).all()


def test_what_was_not_linked_is_said():
    data = records(1)
    tables = judged_tables(data, ("region", "group"), 1)
    with pytest.warns(WeakProtection, match="region and group are taken as different variables"):
        done = protect_linked(*tables)
    details = done[0].history[-1].details
    assert details["taken_as_different_variables"] == ["region and group"]
    assert "region and group" in audit_releases(*done).explanation
    details = protect_linked(*tables, data=data)[0].history[-1].details
    assert details["taken_as_different_variables"] == []
    assert details["linked_classifications"] == {"region": ["region", "group"]}


def test_a_release_of_linked_tables_states_what_was_taken_as_different_variables(tmp_path):
    data = records(1)
    tables = judged_tables(data, ("region", "group"), 1)
    said = "region and group are different variables: none classifies the other"
    with pytest.warns(WeakProtection, match="Give data= or variables="):
        release = tacit.Plan([tacit.SuppressLinear()]).run(tacit.Table.link(*tables))
    assert said in (release.write(tmp_path / "apart") / "statement.md").read_text()
    joined = tacit.Table.link(*tables, data=data)
    told = tacit.Plan([tacit.SuppressLinear()]).run(joined).write(tmp_path / "joined")
    assert said not in (told / "statement.md").read_text()
