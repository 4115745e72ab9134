"""Which respondents a frequency rule keeps out, what that costs, and which sums stay open: against brute force."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import tacit
from tacit.claims import Claim
from tacit.claims.gate import table_gate
from tacit.data.cells.status import Status
from tacit.errors import Infeasible

METHODS = [
    tacit.SuppressExact(),
    tacit.SuppressLinear(),
    tacit.SuppressModular(),
    tacit.SuppressNetwork(),
    tacit.SuppressHypercube(),
    tacit.SuppressGauss(),
    tacit.SuppressGauss(intervals=False),
]


def draw(seed, shape=(2, 3)):
    rng = np.random.default_rng([8, seed])
    values = rng.choice([1, 1, 2, 3, 6, 9, 14], shape)
    return tacit.Table.from_array(values, totals=False, frequency=True)


def far(table, hidden, weights, sign, still=()):
    """How far a sum of cells can move, by one linear program written for this test."""
    cells = np.flatnonzero(hidden)
    m = table.equations.toarray()[:, cells]
    bounds = [(0, 0) if c in still else (1 - table.value[c], None) for c in cells.tolist()]
    found = linprog(
        -sign * np.asarray(weights)[cells], A_eq=m, b_eq=np.zeros(len(m)), bounds=bounds
    )
    return np.inf if found.status == 3 else -found.fun


def unit(table, cells):
    return np.isin(np.arange(len(table)), cells).astype(float)


def is_safe(table, hidden, choice, n):
    """Levels are reached; with ``guard`` single respondents learn nothing; with ``sums`` small sums stay open."""
    filled = tacit.Table.from_array(
        (table.to_array(table.value) > 0)[:-1, :-1], totals=False, frequency=True
    ).value
    for cell in np.flatnonzero(table.primary):
        one = unit(table, [cell])
        # A 0 is always published: a hidden count is at least 1, a total the number of its filled cells.
        need = min(table.lower_level[cell], table.value[cell] - filled[cell])
        if far(table, hidden, one, 1) < table.upper_level[cell] - 1e-6:
            return False
        if far(table, hidden, one, -1) < need - 1e-6:
            return False
    if choice != "none":
        for a, b in itertools.permutations(np.flatnonzero(hidden).tolist(), 2):
            if not (table.value[a] == 1 and table.primary[b]) or table.owner[a] == table.owner[b]:
                continue
            ways = [far(table, hidden, unit(table, [b]), s, still=(a,)) for s in (1, -1)]
            if max(ways) < 1 - 1e-6 and (table.primary[a] or max(ways) < 1e-6):
                return False
    if choice == "sums":
        for row in table.equations.toarray():
            parts = [c for c in np.flatnonzero(row > 0) if table.primary[c]]
            if len(parts) > 1 and table.value[parts].sum() < n:
                width = sum(far(table, hidden, unit(table, parts), s) for s in (1, -1))
                if width < 1 - 1e-6:
                    return False
    return True


def cheapest(table, choice, n):
    """The price of the cheapest safe pattern, by trying all of them in order."""
    free = np.flatnonzero(~table.primary & ~table.empty)
    prices = sorted(
        (sum(table.value[list(more)]), more)
        for size in range(len(free) + 1)
        for more in itertools.combinations(free.tolist(), size)
    )
    for price, more in prices:
        hidden = table.primary.copy()
        hidden[list(more)] = True
        if is_safe(table, hidden, choice, n):
            return price
    return None


@pytest.mark.parametrize("choice", ["none", "guard", "sums"])
@pytest.mark.parametrize("seed", range(6))
def test_every_method_is_safe_and_the_exact_one_cheapest(seed, choice):
    n = 4
    table = tacit.MinimumFrequency(n=n, singletons=choice, range=20).apply(draw(seed))
    best = cheapest(table, choice, n)
    for method in METHODS:
        if best is None:
            # Without intervals, a cell may be protected whose levels no pattern reaches.
            if getattr(method, "intervals", True):
                with pytest.raises(Infeasible):
                    method.apply(table)
            continue
        done = method.apply(table)
        if getattr(method, "intervals", True):
            assert is_safe(table, done.hidden, choice, n), method.kind
        price = table.value[done.hidden & ~table.primary].sum()
        if method.kind == "suppress_exact" and not done.history[-1].details.get("for_sums"):
            assert price == best
        else:
            assert price >= best or not getattr(method, "intervals", True)


@pytest.mark.parametrize("seed", range(20, 40))
def test_more_protection_never_costs_less(seed):
    table = draw(seed, (3, 4))
    prices = []
    for choice in ("none", "guard", "sums"):
        judged = tacit.MinimumFrequency(n=4, singletons=choice, range=20).apply(table)
        try:
            details = tacit.SuppressExact().apply(judged).history[-1].details
        except Infeasible:
            details = {"price": np.inf}
        prices.append(details.get("price", 0.0))
    assert prices == sorted(prices)


def test_the_cost_is_the_difference_to_the_method_without():
    table = tacit.Table.from_array(
        [[1, 2, 7, 20], [3, 1, 0, 20], [1, 9, 9, 30], [40, 50, 2, 3]],
        totals=False,
        frequency=True,
    )
    judged = tacit.MinimumFrequency(n=4).apply(table)
    for method in METHODS:
        guarded = method.apply(judged).history[-1].details
        open_to_them = type(method)(**{**method.model_dump(), "singletons": False}).apply(judged)
        assert guarded["for_respondents"] == (
            guarded["secondary"] - open_to_them.history[-1].details["secondary"]
        )
        assert guarded["counted_for_respondents"] == "against the same method without them"


def test_larger_tables_tell_at_least_what_could_be_published_again():
    rng = np.random.default_rng(5)
    values = np.where(rng.random((20, 18)) < 0.1, 1, rng.integers(5, 60, (20, 18)))
    table = tacit.Table.from_array(values, totals=False, frequency=True)
    details = tacit.SuppressHypercube().apply(tacit.MinimumFrequency().apply(table)).history[-1]
    assert details.details["counted_for_respondents"].endswith("at least")
    assert details.details["for_respondents"] >= 0


def test_counts_of_one_have_one_contributor():
    table = draw(0)
    assert (table.count < 0).all()
    assert (table.singleton == (table.value == 1)).all()


def test_nothing_is_claimed_of_respondents_whom_nobody_knows():
    table = tacit.Table.from_array([[9, 6, 7], [7, 8, 1], [6, 2, 5]], totals=False)
    done = tacit.SuppressExact().apply(table.with_protection([(1, 2)], lower=1, upper=1))
    assert done.history[-1].claims[0].parameters == {"singletons": False}


@pytest.mark.parametrize("frequency_first", [True, False])
def test_a_cell_of_two_rules_is_guarded_whichever_came_first(frequency_first):
    """Row a is unsafe by both rules, the cell (b, z) by its frequency alone."""
    data = tacit.read(
        {
            "row": ["a"] * 2 + ["b"] * 6 + ["c"] * 12,
            "column": ["x", "y", "x", "x", "x", "y", "z", "z", *"xxxxyyyyzzzz"],
            "turnover": [50.0, 60, 10, 11, 12, 13, 5, 5.5, *[9.0] * 12],
        }
    )
    table = tacit.Table.from_microdata(data, ["row", "column"], "turnover")
    rules = [tacit.MinimumFrequency(n=3, singletons="none"), tacit.Dominance(n=1, k=80)]
    for rule in rules if frequency_first else rules[::-1]:
        table = rule.apply(table)
    status = {table.codes(i): int(table.status[i]) for i in range(len(table))}
    assert status["a", "x"] == status["a", "y"] == Status.UNSAFE
    assert status["b", "z"] == Status.UNSAFE_FREQUENCY
    claim = tacit.SuppressExact().apply(table).history[-1].claims[-1]
    assert claim.parameters == {"singletons": True, "spared": "frequency"}


SMALL_SUM = [[2, 2, 20, 30], [15, 16, 17, 18], [25, 26, 27, 28]]


def test_a_small_sum_that_follows_is_found_and_hidden():
    table = tacit.Table.from_array(SMALL_SUM, totals=False, frequency=True)
    judged = tacit.MinimumFrequency(n=5, singletons="sums").apply(table)
    names = [f"{a}{b}" for a, b in (table.codes(i) for i in range(len(table)))]
    hidden = judged.with_hidden(np.flatnonzero(np.isin(names, ["21", "22"])))
    claim = Claim("open-sums", {"n": 5, "level": "auto", "weighted": True}, "all", table.names)
    assert not claim.holds(hidden)
    for method in METHODS:
        done = method.apply(judged)
        assert done.history[-1].details["for_sums"] >= 1
        assert claim.holds(done)
        assert done.history[-1].claims[0].model == "open-sums"


def test_the_gate_looks_for_small_sums_whatever_hid_the_cells():
    """Partial suppression publishes intervals and knows nothing of sums."""
    table = tacit.Table.from_array(SMALL_SUM, totals=False, frequency=True)
    for singletons, refused in (("guard", False), ("sums", True)):
        judged = tacit.MinimumFrequency(n=5, singletons=singletons).apply(table)
        done = tacit.SuppressPartial().apply(judged)
        assert any("sums of unsafe cells" in s for s in table_gate(done)) == refused


def test_sums_that_follow_in_any_case_are_named():
    table = tacit.Table.from_array([[2, 2], [15, 16], [25, 26]], totals=False, frequency=True)
    judged = tacit.MinimumFrequency(n=5, singletons="sums").apply(table)
    totals = [i for i in range(len(table)) if table.codes(i)[1] == table.codes(len(table) - 1)[1]]
    fixed = judged.with_status(np.array(totals), Status.PROTECTED)
    with pytest.raises(Infeasible, match="sums of unsafe cells"):
        tacit.SuppressExact().apply(fixed)
