"""Disclosure from totals: Lu, Li and Wu (2006)."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import tacit
from tacit.errors import InputError
from tacit.tables.margins.two_way import (
    Margins,
    capped,
    classify_cells_directly,
    narrow,
    raised,
    smallest_base,
)

CASES = json.loads(
    (Path(__file__).parents[1] / "fixtures/psd06-two-way-disclosure/cases.json").read_text()
)["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_fixture(case):
    margins = Margins.of(case["row_totals"], case["col_totals"])
    low, high = margins.all_bounds()
    assert np.stack([low, high], axis=-1) == pytest.approx(np.array(case["bounds"]))
    found = {
        "existence": raised(margins),
        "threshold_upward": raised(margins, case["tau_up"]),
        "threshold_downward": capped(margins, case["tau_down"]),
        "approximation": narrow(margins, case["tau_approx"]),
    }
    for name, lines in found.items():
        expected = sorted(map(tuple, case["disclosed"][name]))
        assert sorted(lines) == expected
        assert len(lines) == len(expected)
        assert int(lines.mask().sum()) == len(expected)


tables = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda s: st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2, 3, 9, 30]), min_size=s[1], max_size=s[1]),
        min_size=s[0],
        max_size=s[0],
    )
)


@settings(deadline=None, max_examples=300)
@given(tables, st.integers(1, 12), st.integers(1, 12), st.integers(1, 12))
def test_lines_agree_with_cells_and_with_the_theorems(table, up, down, approx):
    a = np.array(table, dtype=float)
    margins = Margins.of(a.sum(axis=1), a.sum(axis=0))
    low, high = margins.all_bounds()
    slow = classify_cells_directly(
        low, high, {"upward": up, "downward": down, "approximation": approx}, 0.0
    )
    assert (raised(margins).mask() == slow["existence"]).all()
    assert (raised(margins, up).mask() == slow["upward"]).all()
    assert (capped(margins, down).mask() == slow["downward"]).all()
    assert (narrow(margins, approx).mask() == slow["approximation"]).all()
    at = np.argwhere(slow["existence"])
    assert len(set(at[:, 0])) <= 1 or len(set(at[:, 1])) <= 1
    for flags in (slow["downward"], slow["approximation"]):
        for i, j in np.argwhere(flags):
            assert flags[i].all() or flags[:, j].all()


def tables_with(rows, columns):
    """Every table of whole numbers with these totals."""
    if len(rows) == 1:
        yield (tuple(columns),)
        return
    for first in itertools.product(*(range(min(rows[0], c) + 1) for c in columns)):
        if sum(first) == rows[0]:
            rest = [c - x for c, x in zip(columns, first, strict=True)]
            for other in tables_with(rows[1:], rest):
                yield (first, *other)


@pytest.mark.parametrize(
    ("rows", "columns"), [([5, 3], [4, 2, 2]), ([7, 1, 2], [6, 4]), ([2, 2, 2], [3, 3])]
)
def test_bounds_are_sharp(rows, columns):
    every = np.array(list(tables_with(rows, columns)))
    low, high = Margins.of(rows, columns).all_bounds()
    assert (every.min(axis=0) == low).all()
    assert (every.max(axis=0) == high).all()


def test_a_million_lines_in_no_time():
    n = 1_000_000
    rows = np.ones(n)
    rows[0] = 3 * n
    margins = Margins.of(rows, rows)
    assert list(raised(margins)) == [(0, 0)]
    assert len(capped(margins, 2.0)) == n * n - 1


def test_bad_totals_are_refused():
    with pytest.raises(InputError, match="add up to 3 and the column totals to 4"):
        Margins.of([1, 2], [4])
    with pytest.raises(InputError, match="negative"):
        Margins.of([-1, 2], [1])
    with pytest.raises(InputError, match="at least one"):
        Margins.of([], [1])


def test_general_tables_by_linear_programs():
    cells = np.array([[[3, 1], [0, 2]], [[4, 1], [1, 5]]])
    flat = tacit.Table.from_array(cells.sum(axis=2), totals=False)
    fast = tacit.MarginDisclosure(tau_up=2, tau_down=3, tau_approx=4).measure(flat)
    slow = tacit.MarginDisclosure(tau_up=2, tau_down=3, tau_approx=4, method="cells").measure(flat)
    assert fast.counts == slow.counts
    cube = tacit.MarginDisclosure(tau_up=2, tau_down=3, tau_approx=4).measure(
        tacit.Table.from_array(cells, totals=False, status=np.ones(27))
    )
    assert cube.numbers["cells not published"] == 8


def test_rounding_far_enough_takes_disclosure_away():
    margins = Margins.of([80, 12, 8], [40, 35, 25])
    base = smallest_base(margins, "existence", 0.0)
    assert base is not None
    assert base > 1
    assert smallest_base(Margins.of([5, 5], [5, 5]), "existence", 0.0) == 1


def test_zeros_are_known_in_all_tables_or_in_none():
    cells = np.array([[5, 0, 2], [0, 4, 1]])
    flat = tacit.Table.from_array(cells, totals=False)
    # Bounds that say nothing: linear programs in place of the closed form.
    deep = flat.with_(upper=np.full(len(flat), 1e6))
    cube = tacit.Table.from_array(np.stack([cells, cells + 1], axis=2), totals=False)
    for known in (False, True):
        spec = tacit.MarginDisclosure(tau_approx=3, known_zeros=known)
        one, two = spec.measure(flat), spec.measure(deep)
        assert one.counts == two.counts
        assert one.numbers == two.numbers
        assert spec.measure(cube).numbers["cells not published"] == (10 if known else 12)
        assert one.frame["low"].to_list() == pytest.approx(two.frame["low"].to_list())
        assert one.frame["high"].to_list() == pytest.approx(two.frame["high"].to_list())
    # With the zeros known, every other cell is its row or column total less one other.
    assert one.numbers["cells not published"] == 4
    assert one.counts["approximation"] == 4


def test_thresholds_by_cell_and_a_choice_of_cells():
    cells = np.array([[38, 26, 16], [1, 6, 5], [1, 3, 4]])
    table = tacit.Table.from_array(cells, totals=False)
    margins = Margins.of(cells.sum(axis=1), cells.sum(axis=0))
    low, high = margins.all_bounds()
    each = np.arange(1, 10).reshape(3, 3) * 3.0
    found = tacit.MarginDisclosure(tau_up=each, tau_down=each, tau_approx=each).measure(table)
    assert found.counts["upward"] == int((low > each).sum())
    assert found.counts["downward"] == int((high < each).sum())
    assert found.counts["approximation"] == int((high - low < each).sum())
    some = tacit.MarginDisclosure(tau_down=9, protected=[("2", "1"), ("1", "1")]).measure(table)
    assert some.numbers["cells not published"] == 2
    assert some.counts["downward"] == int(high[1, 0] < 9) + int(high[0, 0] < 9)
    assert "protected" not in tacit.MarginDisclosure(protected=[("2", "1")]).to_dict(public=True)
    with pytest.raises(InputError, match="9 inner"):
        tacit.MarginDisclosure(tau_up=[1.0, 2.0]).measure(table)
    with pytest.raises(InputError, match="name inner cells"):
        tacit.MarginDisclosure(protected=[("Total", "1")]).measure(table)
    with pytest.raises(InputError, match="method='lines'"):
        tacit.MarginDisclosure(tau_up=each, method="lines").measure(table)


def test_the_curve_counts_cells_for_every_threshold():
    cells = np.array([[38, 26, 16], [1, 6, 5], [1, 3, 4]])
    table = tacit.Table.from_array(cells, totals=False)
    found = tacit.MarginDisclosure().measure(table)
    for kind, name in (
        ("upward", "tau_up"),
        ("downward", "tau_down"),
        ("approximation", "tau_approx"),
    ):
        for tau in (1.0, 4.0, 8.0, 12.0, 30.0):
            one = tacit.MarginDisclosure(**{name: tau}).measure(table)
            assert found.curve(kind, [tau]) == [(tau, one.counts[kind])]
    assert found.plot_curve()
    with pytest.raises(InputError, match="no curve"):
        found.curve("existence")


def discloses(rows, columns, base, kind, threshold):
    """Whether some rounding of the totals lets an attacker with linear programs disclose a cell."""
    m, n = len(rows), len(columns)
    totals = [*rows, *columns, sum(rows)]
    sums = np.array(
        [[c // n == i for c in range(m * n)] for i in range(m)]
        + [[c % n == j for c in range(m * n)] for j in range(n)]
        + [[True] * (m * n)],
        dtype=float,
    )
    ways = [{x // base * base, -(-x // base) * base} for x in totals]
    for published in itertools.product(*ways):
        high = np.array(published) + base - 1
        low = np.maximum(np.array(published) - base + 1, 0)
        limits = {"A_ub": np.vstack([sums, -sums]), "b_ub": np.concatenate([high, -low])}
        for c in range(m * n):
            cost = np.eye(m * n)[c]
            if kind == "downward":
                if -linprog(-cost, **limits).fun < threshold - 1e-7:
                    return True
            elif linprog(cost, **limits).fun > threshold + 1e-7:
                return True
    return False


@pytest.mark.parametrize(
    ("table", "kind", "threshold"),
    [([[10, 1], [1, 0]], "existence", 0.0), ([[7, 0, 1], [1, 2, 0]], "upward", 2.0),
     ([[3, 1], [2, 9]], "downward", 5.0)],
)  # fmt: skip
def test_the_smallest_base_is_one_however_totals_are_rounded(table, kind, threshold):
    check_smallest_base(np.array(table), kind, threshold)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_base_of_random_tables(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 9, (2, int(rng.integers(2, 4)))) * (rng.random((2, 1)) < 0.9)
    check_smallest_base(table, ["existence", "upward", "downward"][seed % 3], float(seed % 4))


def check_smallest_base(table, kind, threshold):
    rows, columns = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    threshold = 0.0 if kind == "existence" else threshold
    found = smallest_base(Margins.of(rows, columns), kind, threshold, most=30)
    free = [
        b
        for b in range(1, min(found or 30, 12) + 1)
        if not discloses(rows, columns, b, kind, threshold)
    ]
    assert free == ([found] if found and found <= 12 else [])
