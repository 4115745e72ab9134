"""Risk and utility by tolerance; weights against thresholds."""

import numpy as np

from studies.channels import simulate, weight_or_threshold
from tacit.records.channels import views as tolerances
from tacit.records.channels.table import ChannelTable


def test_points_for_a_risk_utility_map():
    problem = simulate(12, 5_000, 0.2, 1.05, 3)
    table = ChannelTable.of(problem.m, problem.counts, ["a", "b"])
    found = tolerances.points(table, problem, factors=(1.0, 1.5, 2.0))
    assert np.all(np.diff(found.get_column("utility").to_numpy()) >= -1e-12)
    assert np.all(found.get_column("relative risk").to_numpy() <= np.array([1, 1.5, 2]) + 1e-9)


def test_weights_are_gentler_than_thresholds():
    table = ChannelTable.of([20, 30, 50], [[2, 9], [1, 1], [1, 2]], ["a", "b"])
    found = weight_or_threshold(
        table, {"a": 0.3, "b": 0.35}, 0.5, {}, weight={"b": 1.25}, threshold={"b": 0.2}
    )
    as_set, raised, lowered = found.get_column("cost").to_list()
    assert as_set <= raised <= lowered
