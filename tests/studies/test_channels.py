"""Sweeps of risk tolerance and candidates on simulated channels."""

import itertools

import pytest

from studies import channels
from tacit.errors import InvalidParameter

TINY = channels.Size(24, 60_000, (0.1, 0.2), (1, 8, 64), 0.2)


def column(table, name, **where):
    rows = [r for r in table.rows(named=True) if all(r[k] == v for k, v in where.items())]
    return [row[name] for row in rows]


def test_loss_falls_as_tolerance_rises():
    table = channels.by_tolerance(TINY, tolerances=(1.0, 1.4, 1.8))
    for q in TINY.proportions:
        loss = column(table, "loss", **{"proportion at risk": q})
        assert loss == sorted(loss, reverse=True)
        assert loss[0] > loss[-1] > 0


def test_more_candidates_never_cost_more():
    table = channels.by_candidates(TINY)
    loss = column(table, "loss")
    assert loss[0] == pytest.approx(1)
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(loss))
    assert column(table, "share in the all-channel set")[0] == pytest.approx(1)


def test_gain_and_its_point_of_diminishing_return():
    table = channels.by_steps(TINY, proportions=(0.15,))
    total = column(table, "total gain")
    assert total[0] == 0
    assert sum(column(table, "incremental gain")) == pytest.approx(total[-1])
    assert 1 <= channels.diminishing(table)[0.15] <= 1.8


def test_run_writes_tables_and_charts(tmp_path):
    tables = channels.run(tmp_path, size=TINY, seed=1)
    assert set(tables) == {"tolerance", "candidates", "steps"}
    assert {p.name for p in tmp_path.glob("*.csv")} == {
        "tolerance.csv",
        "candidates.csv",
        "steps.csv",
    }
    assert {p.stem for p in tmp_path.glob("*.svg")} == {
        *(f"figure_{n}" for n in (7, 8, 9, 10, 11)),
        "table_4",
    }
    assert all(chart.alt for chart in channels.charts(tables).values())
    with pytest.raises(InvalidParameter, match="size must be one of small, paper"):
        channels.run(size="huge")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_shapes_of_section_7(seed):
    size = channels.Size(200, 1_000_000, (0.05, 0.2), (1, 64, 2048), 0.2)
    table = channels.by_tolerance(size, tolerances=(1.0, 1.2, 1.8), seed=seed)
    for q in size.proportions:
        loss = column(table, "loss", **{"proportion at risk": q})
        assert loss[0] > loss[1] > loss[2]
        assert loss[0] <= 0.05
    for rt in (1.2, 1.8):
        low, high = column(table, "loss", **{"risk tolerance": rt})
        assert low < high
    assert 4 <= column(table, "average set size", **{"risk tolerance": 1.0})[1] <= 6
    assert 2 <= column(table, "average set size", **{"risk tolerance": 1.8})[1] <= 3.5
    counted = channels.by_candidates(size, seed=seed)
    assert column(counted, "loss")[0] == pytest.approx(1)
    assert column(counted, "unused")[-1] >= 0.85
    assert column(counted, "share in the all-channel set")[-1] < 0.025
