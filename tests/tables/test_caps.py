"""Limits of movements: never below what a linear program finds, and as printed in a small table."""

import numpy as np
import pytest

import tacit
from tacit.tables.attack.attacker import Attacker
from tacit.tables.suppress.moves.caps import KERNELS, Caps
from tacit.tables.suppress.problem import problem_of


def table(values):
    rows, columns = values.shape
    records = {
        "r": [f"r{i}" for i in range(rows) for _ in range(columns)],
        "c": [f"c{j}" for _ in range(rows) for j in range(columns)],
        "v": values.ravel().astype(float),
    }
    return tacit.tables.tabulate(tacit.read(records), ["r", "c"], "v")


def test_a_cell_alone_with_another_moves_no_further_than_it():
    # Hidden are the four inner cells of [[50, 20], [10, 20]]: none can fall by more than its value, so none
    # can rise by more than its neighbour's, and 10 is the least of them: all four move by 10 and 20 at most.
    problem = problem_of(table(np.array([[50, 20], [10, 20]])))
    inner = np.isin(problem.table.value, [50, 20, 10])
    caps = Caps(problem, inner)
    up = dict(zip(problem.table.value[inner].tolist(), caps.up.tolist(), strict=False))
    down = dict(zip(problem.table.value[inner].tolist(), caps.down.tolist(), strict=False))
    assert (up[50.0], down[50.0]) == (10.0, 20.0)
    assert (up[10.0], down[10.0]) == (20.0, 10.0)


@pytest.mark.parametrize("seed", range(6))
def test_limits_are_no_tighter_than_the_truth(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(table(rng.integers(1, 60, (4, 5))))
    allowed = rng.random(problem.n) < 0.6
    caps = Caps(problem, allowed)
    attacker = Attacker(problem, allowed)
    for cell in np.flatnonzero(allowed).tolist():
        at = caps.place[cell]
        assert caps.up[at] >= attacker.reach(cell, up=True) * (1 - 1e-9)
        assert caps.down[at] >= attacker.reach(cell, up=False) * (1 - 1e-9)
    gone = int(np.flatnonzero(allowed)[0])
    without = allowed.copy()
    without[gone] = False
    smaller, cells = Attacker(problem, without), np.flatnonzero(without).tolist()
    reach = np.array([smaller.reach(c, up=True) for c in cells])
    assert not caps.find_exceeded_cells(gone, cells, np.maximum(reach, 1e-12).tolist())[
        reach > 0
    ].any()
    before = caps.up.copy()
    caps.find_exceeded_cells(gone, cells, [1.0] * len(cells))
    assert np.array_equal(caps.up, before)


def test_compiled_and_plain_agree():
    pytest.importorskip("numba")
    problem = problem_of(table(np.random.default_rng(9).integers(1, 60, (6, 6))))
    caps = Caps(problem, np.random.default_rng(1).random(problem.n) < 0.5)
    gone = int(np.flatnonzero(caps.place >= 0)[0])
    cells = np.flatnonzero(caps.place >= 0).tolist()
    answers = []
    for kernels in (KERNELS.plain(), KERNELS.compiled()):
        caps.tighten = kernels["tighten_caps"]
        answers.append(caps.find_exceeded_cells(gone, cells, [5.0] * len(cells)))
    assert np.array_equal(*answers)
