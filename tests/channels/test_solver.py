"""The solver of channel expansion: refusals, candidates, proofs and whole subjects."""

from itertools import pairwise

import numpy as np
import pytest

from studies.channels import simulate
from tacit.errors import Infeasible, InputError, InvalidParameter
from tacit.records.channels import (
    Problem,
    all_subsets,
    evaluate,
    random_candidates,
    solve,
    solve_counts,
)
from tacit.records.channels.cone import cone_of, full_rays, null_vectors
from tacit.records.channels.exact import generate
from tacit.records.channels.pricing import price, price_milp

M = [3, 2, 4, 2, 2, 2]
COUNTS = [[0, 0, 2, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
U = [0.25, 0.25, 0.3, 0.18]


def table_2(**changes):
    return Problem.of(**({"m": M, "counts": COUNTS, "u": U, "b": 0.6} | changes))


@pytest.fixture(scope="module")
def simulated():
    return {rt: simulate(40, 100_000, 0.15, rt, seed=3) for rt in (1.0, 1.2, 1.8)}


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"u": [0.25, 0.1, 0.3, 0.18]}, InvalidParameter, "u for value 2 is 0.1, below"),
        ({"b": 0.3}, InvalidParameter, "b is 0.3, below"),
        ({"u": [0.25, 0.25, 0.3, 1.5]}, InvalidParameter, "u for value 4 is 1.5"),
        ({"u": [0, 0.25, 0.3, 0.18]}, InvalidParameter, "u for value 1 is 0"),
        ({"u": [0.25, 0.25]}, InvalidParameter, "u has 2 entries for 4"),
        ({"c": [1, 1, -1, 1]}, InvalidParameter, "c for value 3 is -1"),
        ({"c": [1]}, InvalidParameter, "c has 1 entries"),
        ({"b": 0}, InvalidParameter, "b is 0"),
        ({"b": float("nan")}, InvalidParameter, "b must be a finite number"),
        ({"min_safe_share": 0.9}, InvalidParameter, "min_safe_share is 0.9, above"),
        ({"min_safe_share": -1}, InvalidParameter, "min_safe_share is -1"),
        ({"m": [1, 2, 4, 2, 2, 2]}, InputError, "exceed the size"),
        ({"m": [0, 2, 4, 2, 2, 2]}, InputError, "at least one subject"),
        ({"m": [3, 2]}, InputError, "one line for each input channel"),
        ({"m": [2.5, 2, 4, 2, 2, 2]}, InputError, "whole numbers"),
        ({"counts": -np.array(COUNTS)}, InputError, "negative"),
        ({"names": ["a"]}, InputError, "names"),
    ],
)
def test_refusals(changes, error, words):
    with pytest.raises(error, match=words):
        table_2(**changes)


def test_without_a_safe_channel_there_is_no_release():
    with pytest.raises(InputError, match="no input channel is safe"):
        Problem.of([10, 10], [[6, 0], [0, 6]], [0.4, 0.4])


def test_a_share_equal_to_its_limit_is_safe():
    problem = Problem.of([10, 10], [[3], [1]], [0.3])
    assert not problem.risky.any()
    assert Problem.of([10, 10], [[3], [1]], [0.1 + 0.2]).safe.all()
    assert Problem.of([10, 10], [[3], [1]], [0.3 - 1e-9]).risky.tolist() == [True, False]


def test_nothing_risky_costs_nothing():
    answer = solve_counts([5, 5], [[1], [0]], [0.5])
    assert (answer.cost, answer.columns, answer.proven, answer.loss) == (0.0, (), True, 0.0)
    assert answer.leftover.tolist() == [5, 5]
    assert solve_counts([], np.empty((0, 1)), [0.5]).cost == 0


def test_candidates_can_be_a_list():
    answer = solve_counts(M, COUNTS, U, 0.6, candidates=[[0, 1, 2], [5, 4, 3]], integer=True)
    figure_4 = evaluate(table_2(), {(0, 1, 2): {0: 3, 1: 2, 2: 4}, (3, 4, 5): {3: 2, 4: 2, 5: 2}})
    assert answer.cost <= figure_4.cost == 117
    assert answer.is_safe


def test_candidates_that_miss_a_risky_channel_are_refused():
    with pytest.raises(Infeasible, match="risky input channel 4"):
        solve(table_2(), candidates=[[0, 1, 2], [4, 5]])
    with pytest.raises(Infeasible, match="admit no safe assignment"):
        solve(table_2(), candidates=[[0, 1], [2, 3], [2, 5]])
    with pytest.raises(InvalidParameter, match="does not exist"):
        solve(table_2(), candidates=[[0, 9]])
    with pytest.raises(InvalidParameter, match="candidates must be"):
        solve(table_2(), candidates="some")


def test_all_subsets_are_for_few_channels(simulated):
    with pytest.raises(InvalidParameter, match="exact"):
        all_subsets(simulated[1.2])


def test_a_predicate_rejects_sets():
    free = solve(table_2())
    bound = solve(table_2(), predicate=lambda column: len(column) != 2)
    assert bound.cost > free.cost + 1
    assert bound.proven
    assert all(len(column) != 2 for column in bound.columns)
    by_list = [column for column in all_subsets(table_2()) if len(column) != 2]
    assert bound.cost == pytest.approx(solve(table_2(), candidates=by_list).cost)


def test_a_predicate_on_many_channels_keeps_the_bound(simulated):
    free = solve(simulated[1.2])
    answer = solve(simulated[1.2], predicate=lambda column: len(column) != 2, count=256)
    assert answer.is_safe
    assert free.cost <= answer.bound * (1 + 1e-7) <= answer.cost * (1 + 1e-7)
    assert all(len(column) != 2 for column in answer.columns)


def two_risky_channels_that_cure_each_other():
    """Channels 1 and 2 mixed are safe without any safe subject; channel 3 is only a name."""
    return {"m": [10, 10, 4], "counts": [[4, 0], [0, 4], [0, 0]], "u": [0.2, 0.2]}


def test_the_loophole_of_condition_5():
    given = two_risky_channels_that_cure_each_other()
    open_ = solve_counts(**given)
    assert open_.safe_binds
    assert open_.columns == ((0, 1, 2),)
    assert open_.safe_shares.tolist() == [0.0]
    whole = solve_counts(**given, integer=True)
    assert whole.safe_binds
    assert (whole.safe_shares > 0).all()
    loose = solve_counts(**given, integer=True, min_safe_share=0)
    assert loose.cost == open_.cost < whole.cost
    share = solve_counts(**given, min_safe_share=0.1)
    assert (share.safe_shares >= 0.1 - 1e-9).all()
    assert share.cost > open_.cost
    assert share.cost == pytest.approx(
        solve_counts(**given, min_safe_share=0.1, candidates="all").cost
    )


def test_an_unsafe_assignment_is_reported():
    problem = table_2()
    checks = evaluate(problem, {(0, 1): {0: 3, 1: 1}, (3, 5): {3: 2, 5: 2}}).checks()
    assert not checks["values"]
    assert not checks["aggregate"]
    assert not checks["a_priori"]
    assert checks["inclusive"]
    assert not evaluate(problem, {(0, 1): {0: 2, 1: 1}}).checks()["covered"]
    assert not evaluate(problem, {(0, 1): {0: 3, 2: 1}}).checks()["inclusive"]


def test_rays_are_the_edges_of_the_cone():
    assert null_vectors(np.array([[[1.0, -2.0]]])).tolist() == [[-2.0, -1.0]]
    cone = cone_of(table_2())
    sets = np.array([[0, 1, 5], [3, 4, 5]])
    where, rays = full_rays(cone, sets)
    assert np.allclose(rays.sum(axis=1), 1)
    assert (np.einsum("lnj,nj->ln", cone.G[:, sets[where]], rays) <= 1e-11).all()


def test_a_rule_that_is_implied_is_left_out(simulated):
    """With b = sum c_k u_k the value rules imply the aggregate rule (section 7)."""
    assert cone_of(simulated[1.2]).n_rules == 2
    assert cone_of(table_2()).n_rules == 5


@pytest.mark.parametrize("rt", [1.0, 1.2, 1.8])
def test_the_search_tree_agrees_with_listing_all_rays(simulated, rt):
    cone = cone_of(simulated[rt])
    optimum = generate(cone)
    assert optimum.proven
    n = len(cone.m)
    a, b, c = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
    triples = np.stack([a, b, c], axis=-1).reshape(-1, 3)
    pairs = triples[(triples[:, 0] < triples[:, 1]) & (triples[:, 2] == 0)][:, :2]
    triples = triples[(triples[:, 0] < triples[:, 1]) & (triples[:, 1] < triples[:, 2])]
    for sets in (pairs, triples):
        where, rays = full_rays(cone, sets)
        worth = (optimum.prices[sets[where]] * rays).sum(axis=1)
        assert (worth <= cone.psi(sets[where]) * (1 + 1e-8)).all()
    costlier = optimum.prices * 1.02
    assert price(cone, costlier).n_found > 0
    assert price(cone, optimum.prices / 1.0001).slack == 0


def test_many_values_are_priced_by_an_integer_program():
    rng = np.random.default_rng(4)
    m = rng.integers(5, 30, 9)
    counts = np.zeros((9, 7), dtype=int)
    counts[np.arange(4), np.arange(4)] = m[:4] // 2
    counts[4, 4:] = m[4] // 4
    total = counts.sum(axis=0) / m.sum()
    problem = Problem.of(m, counts, (total * 1.5).tolist(), float(total.sum() * 1.3))
    cone = cone_of(problem)
    assert cone.n_rules > 6
    answer = solve(problem)
    assert answer.proven
    assert answer.cost == pytest.approx(solve(problem, candidates="all").cost)


def test_the_integer_program_agrees_with_the_tree():
    cone = cone_of(simulate(14, 20_000, 0.2, 1.2, seed=3))
    prices = generate(cone).prices * 1.05
    found = price_milp(cone, prices)
    assert found.n_found > 0
    assert price_milp(cone, prices / 1.1).n_found == 0


def test_a_time_limit_still_gives_a_bound(simulated):
    answer = solve(simulated[1.0], time_limit=1e-6)
    full = solve(simulated[1.0])
    assert answer.is_safe
    assert answer.bound <= full.cost <= answer.cost * (1 + 1e-9)
    assert not answer.proven


def test_whole_subjects_come_close_to_the_bound(simulated):
    answer = solve(simulated[1.2], integer=True, time_limit=4)
    assert answer.is_safe
    assert (answer.x.data == np.rint(answer.x.data)).all()
    assert answer.gap < 0.02


def test_progress_is_told(simulated):
    heard = []
    solve(simulated[1.2], tick=lambda message, share: heard.append((message, share)))
    assert heard
    assert heard[-1][1] == pytest.approx(1)


def test_random_candidates_follow_the_rules_of_section_7(simulated):
    problem = simulated[1.2]
    columns = random_candidates(problem, 500, 8, seed=1)
    assert columns[0] == tuple(range(40))
    assert len(set(columns)) == len(columns) == 500
    for column in columns[1:]:
        assert 2 <= len(column) <= 8
        assert 0 < problem.risky[list(column)].sum() < len(column)
    sizes = np.bincount([len(column) for column in columns[1:]])
    assert sizes[2] > sizes[8]
    assert random_candidates(problem, 200, 8, seed=1) == columns[:200]
    with pytest.raises(InvalidParameter):
        random_candidates(problem, 0)


def test_more_candidates_never_cost_more(simulated):
    """Table 4 in kind: one candidate loses all, and more of them lose less."""
    counts = [1, 2, 8, 32, 128, 512]
    answers = [solve(simulated[1.0], candidates="random", count=n, seed=1) for n in counts]
    losses = [answer.loss for answer in answers]
    assert losses[0] == pytest.approx(1)
    assert all(a >= b - 1e-9 for a, b in pairwise(losses))
    assert answers[-1].unused > answers[2].unused
    assert answers[-1].share_in_all <= answers[2].share_in_all
    assert solve(simulated[1.0]).loss <= losses[-1]


def test_loss_falls_with_tolerance_and_rises_with_risk():
    """Figures 7 and 11 in kind."""
    losses, sizes = {}, {}
    for q in (0.05, 0.2):
        for rt in (1.0, 1.2, 1.8):
            answer = solve(simulate(60, 300_000, q, rt, seed=2))
            assert answer.proven
            losses[q, rt], sizes[q, rt] = answer.loss, answer.average_set_size
    for q in (0.05, 0.2):
        assert losses[q, 1.0] > losses[q, 1.2] > losses[q, 1.8]
        assert sizes[q, 1.0] > sizes[q, 1.8] >= 2
    assert losses[0.05, 1.2] < losses[0.2, 1.2]


def test_the_simulation_is_as_described(simulated):
    problem = simulated[1.0]
    assert problem.subjects == 100_000
    assert problem.P_k.tolist() == [0.1, 0.1]
    share = problem.m[problem.risky].sum() / problem.subjects
    assert 0.05 < share <= 0.15
    assert problem.P_rk.max() <= 0.51
    again = simulate(40, 100_000, 0.15, 1.2, seed=3)
    assert (again.counts == problem.counts).all()


@pytest.mark.slow
@pytest.mark.parametrize("rt", [1.0, 1.2])
def test_the_size_of_the_paper_is_solved_to_proof(rt):
    problem = simulate(200, 1_000_000, 0.15, rt, seed=1)
    answer = solve(problem)
    drawn = solve(problem, candidates="random")
    assert answer.proven
    assert answer.seconds < 30
    assert answer.cost <= drawn.cost
    assert drawn.unused >= 0.85
    assert drawn.share_in_all < 0.025
    assert drawn.loss <= 0.05
