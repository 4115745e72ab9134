"""Some cells of a table are published: the relations among them bind, and nothing else is written."""

import numpy as np
import pytest
from scipy.optimize import linprog

import tacit
from tacit.claims.gate import table_gate
from tacit.errors import InputError
from tacit.tables import implied_relations


def regions(seed=0):
    rng = np.random.default_rng(seed)
    tree = [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2")]
    dims = [
        tacit.Dimension.from_tree("region", tree),
        tacit.Dimension.flat("size", ["small", "mid", "large"]),
    ]
    from tacit.data.cells.relations import roll_up

    return tacit.Table.from_cells(dims, roll_up(rng.integers(1, 40, (4, 3)).astype(float), dims))


def random_selection(seed):
    rng = np.random.default_rng(seed)
    table = regions(seed)
    masks = [
        {"region": table.codes(int(c))[0], "size": table.codes(int(c))[1]}
        for c in np.flatnonzero(rng.random(len(table)) < 0.4)
    ]
    return tacit.SelectCells(drop=masks or [{"region": "N1"}]).apply(table), rng


@pytest.mark.parametrize("seed", range(20))
def test_implied_relations_are_all_that_bind_published_cells(seed):
    table, _ = random_selection(seed)
    found = implied_relations(table).toarray()
    kept = ~table.unpublished
    assert not found[:, ~kept].any()
    assert np.allclose(found @ table.value, 0)
    # Cells as sums of ground cells: so many relations as there are cells beyond the rank.
    closure = np.kron(table.dimensions[0].closure.toarray(), table.dimensions[1].closure.toarray())
    rank = np.linalg.matrix_rank(closure[kept])
    assert len(found) == np.linalg.matrix_rank(found) == kept.sum() - rank
    assert np.allclose(found[:, kept] @ closure[kept], 0)


@pytest.mark.parametrize("seed", range(10))
def test_unsafe_cells_are_safe_from_all_that_is_published(seed):
    table, rng = random_selection(seed)
    unsafe = rng.choice(np.flatnonzero(~table.unpublished), 2, replace=False)
    level = 0.2 * table.value[unsafe]
    table = table.with_protection(unsafe, lower=level, upper=level)
    try:
        safe = tacit.SuppressLinear(singletons=False).apply(table)
    except tacit.errors.Infeasible:
        return
    closure = np.kron(table.dimensions[0].closure.toarray(), table.dimensions[1].closure.toarray())
    shown = ~np.isnan(safe.published)
    assert not (shown & table.unpublished).any()
    base = closure[shown], table.value[shown]
    for cell, need in zip(unsafe.tolist(), level.tolist(), strict=True):
        low = linprog(closure[cell], A_eq=base[0], b_eq=base[1], bounds=(0, None))
        high = linprog(-closure[cell], A_eq=base[0], b_eq=base[1], bounds=(0, None))
        assert low.fun <= table.value[cell] - need * (1 - 1e-5)
        assert high.status == 3 or -high.fun >= table.value[cell] + need * (1 - 1e-5)
    assert table_gate(safe) == []


def test_only_published_cells_are_written(tmp_path):
    table = tacit.SelectCells(keep=[{"region": ("Total", "N")}]).apply(regions())
    assert table_gate(table) != []  # no rule has judged it
    codes = set(table.released()["region"].to_list())
    assert codes == {"Total", "N"}
    assert len(table.released()) == 8
    for ending in ("csv", "xlsx", "parquet"):
        file = tmp_path / f"t.{ending}"
        tacit.tables.write_table(table, file)
        assert len(tacit.read(file)) == 8
    assert "N1" not in (tmp_path / "t.csv").read_text()
    saved = tacit.Table.load(table.save(tmp_path / "t.table"))
    assert (saved.unpublished == table.unpublished).all()


def test_what_cannot_be_selected_is_said():
    with pytest.raises(ValueError, match="keep, drop or totals"):
        tacit.SelectCells()
    with pytest.raises(InputError, match="keep names the dimension"):
        tacit.SelectCells(keep=[{"land": "N"}]).apply(regions())
    with pytest.raises(InputError, match="no cell"):
        tacit.SelectCells(drop=[{}]).apply(regions())
    totals = tacit.SelectCells(totals=True).apply(regions())
    assert int((~totals.unpublished).sum()) == 28 - 12
    with pytest.raises(InputError, match="recode it first"):
        tacit.RecodeTable(dimension="region", depth=1).apply(totals)
    for method in (tacit.RandomRounding(base=5), tacit.ControlledRounding(base=5), tacit.Adjust()):
        with pytest.raises(InputError, match="are left out"):
            method.apply(totals)
