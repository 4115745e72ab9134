"""Local suppression against definitions, brute force and the counts of a published package."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.claims import Claim
from tacit.errors import Infeasible, WeakProtection
from tacit.records.suppression import local_cells as local
from tacit.records.suppression import local_each
from tacit.records.suppression.local_problem import Demand, Problem

NAMES = ("a", "b", "c", "d")


def quiet(_message, _share):
    pass


def agreeing(codes):
    """How many records agree with each one, from the definition."""
    same = (codes[:, None] == codes[None]) | (codes[:, None] < 0) | (codes[None] < 0)
    return same.all(axis=2).sum(axis=1)


@st.composite
def tables(draw):
    n, q = draw(st.integers(4, 24)), draw(st.integers(1, 4))
    values = st.integers(-1, 3)
    codes = draw(st.lists(st.lists(values, min_size=q, max_size=q), min_size=n, max_size=n))
    return np.array(codes, dtype=np.int64)


def pose(codes, k, sets=None, **more):
    q = codes.shape[1]
    demands = [Demand(tuple(c), n) for c, n in sets or [(range(q), k)]]
    more = {"weights": np.ones(q), "fixed": np.zeros(q, dtype=bool), **more}
    return Problem(codes, tuple(demands), **more)


def find_rare(codes, columns, k):
    """Records of which too few show the same, or agree where they show a part, from the definition."""
    part = codes[:, columns]
    same = (part[:, None] == part[None]).all(axis=2).sum(axis=1)
    return np.where((part >= 0).all(axis=1), same, agreeing(part)) < k


def is_allowed(rule, codes, hidden, sets):
    """Whether a way of hiding cells keeps what the rule promises."""
    now = np.where(hidden, -1, codes)
    for columns, k in sets:
        columns = list(columns)
        part = now[:, columns]
        if rule == "shared" and agreeing(part).min() < k:
            return False
        if rule == "strict" and (part[:, None] == part[None]).all(axis=2).sum(axis=1).min() < k:
            return False
        if rule == "each" and (find_rare(now, columns, k).any() or agreeing(part).min() < k):
            return False
    return True


SOLVERS = {
    "each": lambda p: local_each.suppress_each(p, greedy=False, tick=quiet),
    "shared": lambda p: local.suppress_shared(p, tick=quiet),
    "strict": lambda p: local.suppress_strict(p, tick=quiet),
}


def ways_of_hiding(codes):
    """Every pattern of missing cells of known values."""
    n, q = codes.shape
    numbers = np.arange(2 ** (n * q), dtype=">u4").view(np.uint8).reshape(-1, 4)
    patterns = np.unpackbits(numbers, axis=1)[:, -n * q :].reshape(-1, n, q) == 1
    return patterns[~(patterns & (codes < 0)).any(axis=(1, 2))]


def judge_bound_and_proof(rule, rng):
    """Try every pattern of missing cells; return whether the result was said to be the lightest, and whether it is."""
    n, q = ((5, 2), (4, 3), (8, 1), (6, 2))[rng.integers(4)]
    codes = rng.integers(-1, 3, (n, q)) if rng.random() < 0.6 else rng.integers(0, 3, (n, q))
    k = int(rng.integers(2, 4))
    sets = [(range(q), k)] if rng.random() < 0.5 or q == 1 else [((0, 1), k), ((q - 1,), 2)]
    weights = rng.choice([1.0, 1.0, 2.5], q)
    problem = pose(codes, k, sets, weights=weights, in_full=rule == "each")
    patterns = ways_of_hiding(codes)
    costs = patterns.sum(axis=1) @ weights
    order = np.argsort(costs, kind="stable")
    least = next(costs[i] for i in order if is_allowed(rule, codes, patterns[i], sets))
    hidden = SOLVERS[rule](problem)
    assert is_allowed(rule, codes, hidden, sets)
    bound = tacit.LocalSuppression(rule=rule).bound(problem)
    assert bound <= least + 1e-9 <= problem.cost(hidden) + 2e-9
    return problem.cost(hidden) <= bound + 1e-9, problem.cost(hidden) <= least + 1e-9


@pytest.mark.parametrize("rule", ["each", "shared", "strict"])
def test_bound_and_proof_against_all_ways_of_hiding(rule):
    """Every pattern of missing cells is tried; "proven" is said of the lightest alone."""
    rng = np.random.default_rng(5)
    told = [judge_bound_and_proof(rule, rng) for _ in range(12)]
    assert any(proven for proven, _ in told)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["each", "shared", "strict"])
def test_bound_and_proof_against_all_ways_of_hiding_at_length(rule):
    rng = np.random.default_rng(6)
    told = np.array([judge_bound_and_proof(rule, rng) for _ in range(400)])
    assert told[:, 0].any()
    assert told[:, 1].mean() > 0.6


def test_a_record_that_shows_a_part_need_not_lose_a_cell():
    """One cell is enough: (missing, 1) agrees with (1, missing)."""
    data = tacit.read({"a": [1, 0], "b": [None, 1]}, keys=["a", "b"])
    details = tacit.LocalSuppression(k=2).apply(data).history[-1].details
    assert (details["cells"], details["lower_bound"], details["proven"]) == (1, 1.0, True)


@given(tables(), st.integers(2, 4), st.integers(2, 3), st.booleans())
@settings(max_examples=60, deadline=None)
def test_no_rare_combination_stays_whole(codes, k, more, several):
    q = codes.shape[1]
    sets = [(range(q), k)]
    if several:
        sets += [(c, more) for c in itertools.combinations(range(q), max(q - 1, 1))]
    found = [
        local_each.suppress_each(pose(codes, k, sets), greedy=greedy, tick=quiet)
        for greedy in (False, True)
    ]
    for hidden in found:
        assert is_allowed("each", codes, hidden, sets)
    assert found[0].sum() <= found[1].sum()


def test_the_lightest_way_is_never_heavier_than_the_greedy_one():
    data = {"a": [1, 1, 1, 1, 2], "b": [2, 2, 2, 0, 2], "c": [1, 1, 2, 0, 2]}
    made = tacit.LocalSuppression(k=2).apply(tacit.read(data, keys=list(data)))
    details = made.history[-1].details
    assert (details["cells"], details["lower_bound"], details["gap"]) == (3, 3.0, 0.0)
    assert details["proven"]


@given(tables(), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_shared_is_enough_and_leaves_no_needless_cell(codes, k):
    hidden = local.suppress_shared(pose(codes, k, in_full=False), tick=quiet)
    assert agreeing(np.where(hidden, -1, codes)).min() >= k
    for i, j in np.argwhere(hidden):
        back = hidden.copy()
        back[i, j] = False
        assert agreeing(np.where(back, -1, codes)).min() < k


def classes(codes):
    return (codes[:, None] == codes[None]).all(axis=2)


@given(tables(), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_strict_gives_classes_of_k(codes, k):
    hidden = local.suppress_strict(pose(codes, k), tick=quiet)
    assert classes(np.where(hidden, -1, codes)).sum(axis=1).min() >= k


@given(tables(), st.sampled_from(["each", "shared", "strict"]), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_enough_different_sensitive_values(codes, rule, seed):
    sensitive = np.random.default_rng(seed).integers(-1, 3, len(codes))
    sensitive[:2] = [0, 1]
    problem = pose(codes, 2, kinds=2, sensitive=sensitive, in_full=rule == "each")
    now = np.where(SOLVERS[rule](problem), -1, codes)
    same = (now[:, None] == now[None]) | (now[:, None] < 0) | (now[None] < 0)
    together = classes(now) if rule == "strict" else same.all(axis=2)
    if rule == "each":
        whole = (now >= 0).all(axis=1)
        together = np.where(whole[:, None], classes(now), together)
    for row in together:
        assert row.sum() >= 2
        assert len(set(sensitive[row]) - {-1}) >= 2


def test_marked_records_lose_a_cell_and_cells_go_together():
    codes = np.repeat(np.arange(4), 5)[:, None] * np.array([1, 0]) + np.array([0, 1])
    marked = np.arange(20) == 3
    for rule, solve in SOLVERS.items():
        problem = pose(codes, 2, marked=marked, in_full=rule == "each")
        assert solve(problem)[3].any()
        assert not solve(pose(codes, 2, in_full=rule == "each")).any()
    pairs = np.arange(20) // 2

    def spread(hidden):
        return np.stack([np.isin(pairs, pairs[hidden[:, c]]) for c in (0, 1)], axis=1)

    for rule, solve in SOLVERS.items():
        problem = pose(codes, 2, marked=marked, in_full=rule == "each", together=spread)
        hidden = solve(problem)
        assert (hidden == spread(hidden)).all()
        assert is_allowed(rule, codes, hidden, [((0, 1), 2)])


@given(tables(), st.integers(2, 3))
@settings(max_examples=30, deadline=None)
def test_compiled_and_plain_kernels_agree(codes, k):
    rows, _ = local.find_rare_rows(codes, k)
    bits = np.arange(1, 1 << codes.shape[1], dtype=np.int64)
    plain = local.enough_arrays(rows.codes, rows.size, rows.rare, bits, k, codes.shape[1])
    assert (
        local.mark_enough(rows.codes, rows.size, rows.rare, bits, k, codes.shape[1]) == plain
    ).all()
    for at in rows.rare:
        new = local.blank_columns(rows.codes[at], [0])
        assert local.count_agreeing(rows.codes, rows.size, new) == rows.count(new)
        found = local.newly_agreeing(rows.codes, rows.rare, rows.codes[at], new)
        assert found.tolist() == rows.find_gained_rows(int(at), new).tolist()


def people(n=400, seed=3):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "a": rng.integers(0, 9, n),
            "b": rng.choice(list("xyz"), n),
            "c": rng.choice(["u", "v", None], n, p=[0.5, 0.4, 0.1]),
            "d": rng.integers(0, 4, n),
        },
        keys=NAMES,
    )


@pytest.mark.parametrize("rule", ["each", "strict"])
def test_the_released_file_keeps_its_claim(rule):
    released = tacit.LocalSuppression(k=4, rule=rule).apply(people())
    claim = released.history[-1].claims[0]
    assert claim.holds(released.frame)
    assert not claim.holds(people().frame)
    missing = "category" if rule == "strict" else "wildcard"
    measured = tacit.KAnonymity(k=4, missing=missing).measure(released)
    assert measured.numbers["smallest class (k)"] >= 4


def test_shared_says_what_it_leaves_open():
    with pytest.warns(WeakProtection, match="released as they are"):
        released = tacit.LocalSuppression(k=3, rule="shared").apply(people())
    details = released.history[-1].details
    assert details["rare_records_left_whole"] > 0
    assert (
        details["cells"] < tacit.LocalSuppression(k=3).apply(people()).history[-1].details["cells"]
    )


def test_importance_and_kept_columns():
    light = tacit.LocalSuppression(k=3, importance={"a": 0.1}).apply(people())
    heavy = tacit.LocalSuppression(k=3, importance={"a": 10}).apply(people())
    assert (
        light.history[-1].details["suppressed"]["a"] > heavy.history[-1].details["suppressed"]["a"]
    )
    told = tacit.LocalSuppression(k=3, importance="entropy").apply(people())
    assert (
        told.history[-1].details["suppressed"]["a"] < light.history[-1].details["suppressed"]["a"]
    )
    kept = tacit.LocalSuppression(k=3, keep=["a", "b"]).apply(people())
    assert kept.history[-1].details["suppressed"]["a"] == 0
    assert kept.column("a").null_count == 0


def test_combinations_have_their_own_k():
    asked = [{"columns": ["a", "b"], "k": 12}, {"columns": ["b", "c", "d"], "k": 5}]
    released = tacit.LocalSuppression(combinations=asked).apply(people())
    assert len(released.history[-1].claims) == 2
    assert all(claim.holds(released.frame) for claim in released.history[-1].claims)


def test_many_columns_are_settled_one_by_one():
    rng = np.random.default_rng(1)
    columns = {f"v{i}": rng.integers(0, 3, 60) for i in range(14)}
    released = tacit.LocalSuppression(k=3).apply(tacit.read(columns, keys=list(columns)))
    details = released.history[-1].details
    assert details["records"] == 60
    assert details["weight"] >= details["lower_bound"] >= 60


def test_refusals():
    with pytest.raises(tacit.SdcError, match="needs keys"):
        tacit.LocalSuppression().apply(tacit.read({"a": [1, 2, 3]}))
    with pytest.raises(tacit.SdcError, match="nothing may be suppressed"):
        tacit.LocalSuppression(keep=["a", "b", "c", "d"]).apply(people())
    with pytest.raises(Infeasible, match="fewer records than k"):
        tacit.LocalSuppression(k=500).apply(people())
    data = tacit.read({"a": [1, 2, 3], "b": [1, 1, 1]}, keys=["a", "b"])
    with pytest.raises(Infeasible, match="Allow more columns"):
        tacit.LocalSuppression(k=2, keep=["a"]).apply(data)
    with pytest.raises(tacit.SdcError, match="rule 'each' only"):
        tacit.LocalSuppression(rule="strict", method="greedy")
    with pytest.raises(tacit.SdcError, match="not both"):
        tacit.LocalSuppression(sizes={2: 3}, combinations=[{"columns": ["a"], "k": 2}])
    with pytest.raises(tacit.SdcError, match="number of keys, 4"):
        tacit.LocalSuppression(sizes={5: 3}).apply(people())
    with pytest.raises(tacit.SdcError, match="needs the sensitive column"):
        tacit.LocalSuppression(l=2).apply(people())
    with pytest.raises(tacit.SdcError, match="among the columns to suppress"):
        tacit.LocalSuppression(l=2, sensitive="a").apply(people())


def test_sizes_with_their_own_k_and_several_quasi_identifiers():
    """All sets of a size, and named groups of keys, are met together."""
    for data, options, sets in (
        (people(), {"sizes": {3: 5, 2: 14}}, {3: 5, 2: 14}),
        (
            tacit.read(people().to_arrow(), keys={"home": ["a", "b"], "work": ["b", "c", "d"]}),
            {"k": 14},
            None,
        ),
    ):
        released = tacit.LocalSuppression(**options).apply(data)
        groups = (
            [(c, k) for size, k in sets.items() for c in itertools.combinations(NAMES, size)]
            if sets
            else [(("a", "b"), 14), (("b", "c", "d"), 14)]
        )
        before, after = data.to_arrow().to_pylist(), released.to_arrow().to_pylist()
        for columns, k in groups:
            old = [tuple(r[c] for c in columns) for r in before]
            new = [tuple(r[c] for c in columns) for r in after]
            assert all(old.count(r) >= k and new.count(r) >= k for r in new if None not in r)
        assert len(released.history[-1].claims) == 2
        assert not any(claim.holds(data.frame) for claim in released.history[-1].claims)


def test_the_claim_fails_when_a_rare_combination_stands_whole():
    """Missing values of others make it agree with three, which is not enough for rule "each"."""
    frame = tacit.read({"a": [1, 1, 1, 2, None, None], "b": [1, 1, 1, 1, 1, 1]}).frame
    plain = Claim("k-agreement", {"k": 3}, "keys", ("a", "b"))
    full = Claim("k-agreement", {"k": 3, "in_full": True}, "keys", ("a", "b"))
    assert plain.holds(frame)
    assert not full.holds(frame)
    listed = {"k": 3, "in_full": True, "combinations": [["b"], ["a", "b"]]}
    assert not Claim("k-agreement", listed, "keys", ("a", "b")).holds(frame)


@pytest.mark.parametrize("rule", ["each", "shared", "strict"])
@pytest.mark.filterwarnings("ignore::tacit.errors.WeakProtection")
def test_l_is_claimed_and_recomputed(rule):
    rows = people()
    ill = np.random.default_rng(2).choice(["flu", "cold", "none"], len(rows), p=[0.1, 0.1, 0.8])
    data = tacit.read({**rows.to_arrow().to_pydict(), "ill": ill}, keys=NAMES, sensitive="ill")
    released = tacit.LocalSuppression(k=3, l=2, rule=rule).apply(data)
    claim = next(c for c in released.history[-1].claims if c.model == "l-agreement")
    assert claim.holds(released.frame)
    assert not claim.holds(data.frame)
    assert not claim.holds(tacit.LocalSuppression(k=3, rule=rule).apply(data).frame)


def test_exchange_kernels_plain_and_compiled():
    from tacit.numerics.kernels import run_kernels

    rng = np.random.default_rng(8)
    codes = rng.integers(0, 4, (80, 4))
    for kinds in (1, 2):
        problem = pose(
            codes, 3, [(range(4), 3), ((0, 1, 2), 4)], kinds=kinds, sensitive=rng.integers(0, 3, 80)
        )
        found = []
        for mode in ("plain", "compiled"):
            with run_kernels(mode):
                found.append(local_each.suppress_each(problem, greedy=False, tick=quiet))
        assert (found[0] == found[1]).all()
    assert local_each.KERNELS.functions
