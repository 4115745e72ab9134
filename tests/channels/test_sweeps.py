"""Sweeps of risk tolerance, candidates, weights and thresholds."""

import itertools

import numpy as np
import pytest

from tacit.errors import InvalidParameter
from tacit.protect.channels import simulate, sweeps
from tacit.protect.channels.table import ChannelTable

TINY = sweeps.Size(24, 60_000, (0.1, 0.2), (1, 8, 64), 0.2)


def column(table, name, **where):
    rows = [r for r in table.rows(named=True) if all(r[k] == v for k, v in where.items())]
    return [row[name] for row in rows]


def test_loss_falls_as_tolerance_rises():
    table = sweeps.by_tolerance(TINY, tolerances=(1.0, 1.4, 1.8))
    for q in TINY.proportions:
        loss = column(table, "loss", **{"proportion at risk": q})
        assert loss == sorted(loss, reverse=True)
        assert loss[0] > loss[-1] > 0


def test_more_candidates_never_cost_more():
    table = sweeps.by_candidates(TINY)
    loss = column(table, "loss")
    assert loss[0] == pytest.approx(1)
    assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(loss))
    assert column(table, "share in the all-channel set")[0] == pytest.approx(1)


def test_gain_and_its_point_of_diminishing_return():
    table = sweeps.by_steps(TINY, proportions=(0.15,))
    total = column(table, "total gain")
    assert total[0] == 0
    assert sum(column(table, "incremental gain")) == pytest.approx(total[-1])
    assert 1 <= sweeps.diminishing(table)[0.15] <= 1.8


def test_run_writes_tables_and_charts(tmp_path):
    tables = sweeps.run(tmp_path, size=TINY, seed=1)
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
    assert all(chart.alt for chart in sweeps.charts(tables).values())
    with pytest.raises(InvalidParameter, match="size must be one of small, paper"):
        sweeps.run(size="huge")


def test_points_for_a_risk_utility_map():
    problem = simulate(12, 5_000, 0.2, 1.05, 3)
    table = ChannelTable.of(problem.m, problem.counts, ["a", "b"])
    found = sweeps.points(table, problem, factors=(1.0, 1.5, 2.0))
    assert np.all(np.diff(found.get_column("utility").to_numpy()) >= -1e-12)
    assert np.all(found.get_column("relative risk").to_numpy() <= np.array([1, 1.5, 2]) + 1e-9)


def test_weights_are_gentler_than_thresholds():
    table = ChannelTable.of([20, 30, 50], [[2, 9], [1, 1], [1, 2]], ["a", "b"])
    found = sweeps.weight_or_threshold(
        table, {"a": 0.3, "b": 0.35}, 0.5, {}, weight={"b": 1.25}, threshold={"b": 0.2}
    )
    as_set, raised, lowered = found.get_column("cost").to_list()
    assert as_set <= raised <= lowered


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_shapes_of_section_7(seed):
    size = sweeps.Size(200, 1_000_000, (0.05, 0.2), (1, 64, 2048), 0.2)
    table = sweeps.by_tolerance(size, tolerances=(1.0, 1.2, 1.8), seed=seed)
    for q in size.proportions:
        loss = column(table, "loss", **{"proportion at risk": q})
        assert loss[0] > loss[1] > loss[2]
        assert loss[0] <= 0.05
    for rt in (1.2, 1.8):
        low, high = column(table, "loss", **{"risk tolerance": rt})
        assert low < high
    assert 4 <= column(table, "average set size", **{"risk tolerance": 1.0})[1] <= 6
    assert 2 <= column(table, "average set size", **{"risk tolerance": 1.8})[1] <= 3.5
    counted = sweeps.by_candidates(size, seed=seed)
    assert column(counted, "loss")[0] == pytest.approx(1)
    assert column(counted, "unused")[-1] >= 0.85
    assert column(counted, "share in the all-channel set")[-1] < 0.025
