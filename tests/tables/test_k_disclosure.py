"""Direct disclosure and k-disclosure: rules on groups that fall nearly whole into one category."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.claims import Claim
from tacit.claims.gate import table_gate
from tacit.errors import Infeasible, InputError

METHODS = ["linear", "exact", "gauss", "hypercube", "modular", "network"]
# Accidents by municipality and injury; SSBtools, mun_accidents (MIT).
ACCIDENTS = [[4, 0, 0, 0], [5, 0, 1, 0], [3, 2, 1, 0], [4, 1, 4, 0], [1, 0, 0, 0], [6, 0, 0, 0]]


def counts(values, **more):
    values = np.array(values)
    return tacit.Table.from_array(
        values, names=["mun", "inj"], totals=False, frequency=True, count=values, **more
    )


def accidents():
    return counts(
        ACCIDENTS,
        codes=[[f"k{i}" for i in range(1, 7)], ["serious", "light", "none", "unknown"]],
    )


def disclosive(table, k):
    """Return the pairs by the definition of the R package: nested sets of ground cells, all of them."""
    n, m = np.array(ACCIDENTS).shape
    sets = {}
    for i, j in itertools.product([*range(n), None], [*range(m), None]):
        rows = range(n) if i is None else [i]
        columns = range(m) if j is None else [j]
        sets[i, j] = frozenset(itertools.product(rows, columns))
    freq = {c: sum(ACCIDENTS[i][j] for i, j in s) for c, s in sets.items()}
    return {
        (p, c)
        for p, c in itertools.permutations(sets, 2)
        if sets[c] < sets[p] and freq[c] > 0 and freq[p] - freq[c] <= k
    }


@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_direct_disclosure_by_all_nested_pairs(k):
    judged = tacit.DirectDisclosure(k=k).apply(accidents())
    parts = {c for _, c in disclosive(accidents(), k)}
    shape = judged.shape
    expected = np.zeros(shape, dtype=bool)
    for i, j in parts:
        expected[shape[0] - 1 if i is None else i, shape[1] - 1 if j is None else j] = True
    assert (judged.primary == expected.ravel()).all()


def test_levels_let_outsiders_think_of_one_more_than_the_coalition():
    judged = tacit.DirectDisclosure(k=1).apply(accidents())
    at = judged.index(("k2", "serious"))  # 5 of 6: one is elsewhere
    assert (judged.lower_level[at], judged.upper_level[at]) == (1, 0)
    assert judged.lower_level[judged.index(("k6", "serious"))] == 2


def test_dimensions_and_sizes():
    only = tacit.DirectDisclosure(k=1, dimensions=["inj"]).apply(accidents())
    # Two of three light injuries in k3: that is about the municipality.
    assert not only.primary[only.index(("k3", "light"))]
    assert only.primary[only.index(("k1", "serious"))]
    small = tacit.DirectDisclosure(k=1, up_to=4).apply(accidents())
    assert not small.primary[small.index(("k6", "serious"))]
    assert small.primary[small.index(("k1", "serious"))]


def possible_differences(table, total, part):
    """Return the largest difference over all whole tables that agree with what is published."""
    from scipy.optimize import linprog

    cost = np.zeros(len(table))
    cost[[total, part]] = -1, 1
    bounds = [(0, None) if h else (v, v) for h, v in zip(table.hidden, table.value, strict=True)]
    zero = np.zeros(table.equations.shape[0])
    found = linprog(cost, A_eq=table.equations, b_eq=zero, bounds=bounds)
    return np.inf if found.status == 3 else -found.fun


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 2])
def test_every_engine_leaves_differences_open(method, k):
    judged = tacit.KDisclosure(k=k).apply(accidents())
    assert not judged.primary.any()
    assert table_gate(judged)
    safe = getattr(tacit, f"Suppress{method.title()}")().apply(judged)
    assert not table_gate(safe)
    assert "k-disclosure" in {c.model for c in safe.history[-1].claims}
    shape = safe.shape
    for (pi, pj), (ci, cj) in disclosive(judged, k):
        total = np.ravel_multi_index(
            (shape[0] - 1 if pi is None else pi, shape[1] - 1 if pj is None else pj), shape
        )
        part = np.ravel_multi_index(
            (shape[0] - 1 if ci is None else ci, shape[1] - 1 if cj is None else cj), shape
        )
        assert possible_differences(safe, total, part) >= k + 1 - 1e-6


def test_hiding_the_part_alone_is_not_enough():
    # Row 1 is 4 of 4. Hidden together, 4 and its total move in step: the difference stays 0.
    table = counts([[4, 0], [3, 5], [2, 6]])
    judged = tacit.KDisclosure(k=0, dimensions=["inj"]).apply(table)
    cells = [judged.index(c) for c in (("1", "1"), ("1", "Total"), ("2", "1"), ("2", "Total"))]
    hidden = judged.with_hidden(cells)
    claim = Claim("k-disclosure", {"k": 0, "dimensions": ["inj"]}, "all", ("mun", "inj"))
    assert not claim.holds(hidden)
    assert any("nearly whole" in reason for reason in table_gate(hidden))
    assert claim.holds(tacit.SuppressLinear().apply(judged))


def test_both_rules_and_small_counts_together():
    table = tacit.MinimumFrequency(n=3).apply(accidents())
    judged = tacit.KDisclosure(k=1).apply(tacit.DirectDisclosure(k=1).apply(table))
    safe = tacit.SuppressExact().apply(judged)
    models = [c.model for c in safe.history[-1].claims]
    assert sorted(models) == ["k-disclosure", "protected-intervals"]
    assert not table_gate(safe)
    details = safe.history[-1].details
    if details["for_differences"]:
        assert details["gap"] == pytest.approx(
            (details["price"] - details["bound"]) / details["price"]
        )


@settings(max_examples=12, deadline=None)
@given(
    values=st.lists(
        st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=3, max_size=4
    ).filter(lambda v: np.sum(v) > 0),
    k=st.integers(0, 2),
)
def test_what_comes_out_is_open_or_refused(values, k):
    judged = tacit.KDisclosure(k=k).apply(counts(values))
    try:
        safe = tacit.SuppressLinear(singletons=False).apply(judged)
    except Infeasible:
        return
    assert not table_gate(safe)


def test_structural_zeros_cannot_be_protected():
    judged = tacit.KDisclosure(k=0, zeros=False, dimensions=["inj"]).apply(counts([[4, 0], [3, 5]]))
    with pytest.raises(Infeasible, match="no pattern hides it: 1 x 1"):
        tacit.SuppressLinear().apply(judged)


def test_rounding_opens_differences_and_the_gate_looks():
    judged = tacit.KDisclosure(k=1).apply(accidents())
    assert not table_gate(tacit.RandomRounding(base=5).apply(judged, seed=1))
    assert not table_gate(tacit.CellKey().apply(judged, seed=1))


def test_magnitudes_and_weights_are_refused():
    table = tacit.Table.from_array([[4.5, 1], [3, 5]], totals=False)
    for rule in (tacit.DirectDisclosure(), tacit.KDisclosure()):
        with pytest.raises(InputError, match="judges counts"):
            rule.apply(table)
        with pytest.raises(InputError, match="no dimension"):
            type(rule)(dimensions=["age"]).apply(accidents())
