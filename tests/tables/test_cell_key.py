"""The cell-key method: perturbation tables, keys, counts, magnitudes, and what they give away."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import tacit
from tacit.data.cells.status import Status
from tacit.errors import Infeasible, InputError, InvalidParameter
from tacit.io.p_tables import PTable, read_ptable, write_ptable
from tacit.tables.noise.cell_key import CellKey
from tacit.tables.noise.cell_keys import (
    Scaling,
    cell_key_study,
    digits_of,
    magnitude_changes,
    narrow_integer_bounds,
    rotate_digits,
    with_cell_keys,
)
from tacit.tables.noise.ptable import (
    count_ptable,
    magnitude_ptable,
    max_entropy,
    moments,
    ptable_faults,
    truths,
)

# -- perturbation tables ---------------------------------------------------------------------------------


def test_two_points_where_nothing_else_is_possible():
    # A count of 1 that may become 0 or 3 and has the smallest possible variance.
    p = max_entropy([-1, 2, 3, 4, 5], 2.0)
    assert p == pytest.approx([2 / 3, 1 / 3, 0, 0, 0])
    assert max_entropy([-1, 2, 3, 4, 5], 5.0) == pytest.approx([5 / 6, 0, 0, 0, 1 / 6])


def test_no_constraint_binds_gives_the_uniform_distribution():
    v = np.arange(-3, 4)
    assert max_entropy(v, float((v**2).mean())) == pytest.approx(np.full(7, 1 / 7))


@settings(max_examples=60, deadline=None)
@given(
    down=st.integers(1, 8),
    up=st.integers(1, 8),
    gap=st.integers(0, 3),
    share=st.floats(0.02, 0.98),
)
def test_rows_have_their_moments_and_the_form_of_the_optimum(down, up, gap, share):
    v = np.array([x for x in range(-down, up + 1) if not -down < x < gap - down or x == 0])
    low = -max(v[v <= 0]) * min(v[v >= 0])
    high = -v.min() * v.max()
    assume(low < high)
    variance = low + share * (high - low)
    p = max_entropy(v, variance)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    assert p @ v == pytest.approx(0, abs=1e-6)
    assert p @ v**2 == pytest.approx(variance, abs=1e-5)
    if len(v) > 3:
        # Lagrange: log p is a quadratic in v; this certifies the maximum of a concave function.
        seen = p > 1e-9
        a = np.stack([np.ones(seen.sum()), v[seen], v[seen] ** 2], axis=1)
        fitted = a @ np.linalg.lstsq(a, np.log(p[seen]), rcond=None)[0]
        assert np.log(p[seen]) == pytest.approx(fitted, abs=1e-4)


@pytest.mark.parametrize(
    ("d", "variance", "js"), [(5, 3.0, 2), (5, 2.001, 2), (2, 1.0, 0), (9, 7, 4)]
)
def test_count_tables(d, variance, js):
    table = count_ptable(d, variance, js)
    steps, mean, spread = moments(table)
    assert np.abs(mean).max() < 1e-7
    assert spread[1:] == pytest.approx(np.full(len(steps) - 1, variance), abs=1e-6)
    assert spread[0] == 0
    assert table.reach == d
    assert not ((table.j > 0) & (table.j <= js)).any()
    assert table.j.min() == 0
    assert ptable_faults(table) == []
    last = table.p[table.i == table.largest]
    assert len(last) == 2 * d + 1
    assert last == pytest.approx(last[::-1], abs=1e-9)  # far from 0 noise is symmetric


def test_stay_fixes_the_probability_of_no_change():
    table = count_ptable(5, 3.0, 2, stay=0.5)
    same = (table.v == 0) & (table.i > 0)
    assert table.p[same] == pytest.approx(np.full(same.sum(), 0.5))


def test_impossible_variances_name_the_count_and_the_range():
    with pytest.raises(Infeasible, match=r"count 1: .* must lie between 2 and 5"):
        count_ptable(5, 1.0, 2)


def test_magnitude_table_never_takes_more_than_there_is():
    table = magnitude_ptable(5, 1.0)
    assert (table.v >= -table.i).all()
    assert ptable_faults(table, counts=False) == []


def test_faults_of_tables():
    biased = PTable.from_rows([0, 1, 1], [0, 0, 1], [1, 0.5, 0.5])
    assert any("mean 0" in f for f in ptable_faults(biased))
    negative = PTable.from_rows([0, 1, 1], [0, -2, 2], [1, 0.5, 0.5])
    assert any("negative" in f for f in ptable_faults(negative))


def test_truths_by_enumeration():
    table = count_ptable(3, 2.0, 1)
    block = table.block()
    low, high = truths(table, np.arange(15))
    for z in range(15):
        sources = [
            n
            for n in range(30)
            if np.isclose(n + block.change[min(n, len(block.steps) - 1)], z).any()
        ]
        if sources:
            assert (low[z], high[z]) == (min(sources), max(sources))
        else:
            assert z == 1  # forbidden


# -- keys ------------------------------------------------------------------------------------------------


def people(n=500, seed=1, digits=8):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "region": rng.choice(["n", "s", "w"], n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 5, n),
            "income": rng.integers(0, 6, n) * 100.0,
            "weight": rng.integers(1, 9, n) / 2.0,
            "rkey": np.round(rng.random(n), digits) % 1.0,
        }
    )


def test_cell_keys_are_exact_sums_modulo_one():
    data = people()
    table = with_cell_keys(tacit.Table.from_microdata(data, ["region", "sex"]), data, "rkey")
    keys = table.extra["cell_key"]
    region, sex, rkey = (data.column(c).to_pylist() for c in ("region", "sex", "rkey"))
    for cell in range(len(table)):
        r, s = table.codes(cell)
        exact = sum(
            Decimal(str(k))
            for a, b, k in zip(region, sex, rkey, strict=True)
            if r in (a, "Total") and s in (b, "Total")
        )
        assert keys[cell] == float(exact % 1)


def test_keys_do_not_depend_on_order_or_dimensions():
    data = people(2000, digits=15)
    turned = tacit.read(data.to_arrow().take(np.random.default_rng(3).permutation(2000)))
    one = with_cell_keys(tacit.Table.from_microdata(data, ["region", "sex"]), data, "rkey")
    two = with_cell_keys(
        tacit.Table.from_microdata(turned, ["sex", "age", "region"]), turned, "rkey"
    )
    for r, s in itertools.product(["n", "s", "w", "Total"], ["f", "m", "Total"]):
        assert (
            one.extra["cell_key"][one.index((r, s))]
            == (two.extra["cell_key"][two.index((s, "Total", r))])
        )


def test_a_cell_is_perturbed_alike_in_every_table():
    data = people()
    one = with_cell_keys(tacit.Table.from_microdata(data, ["region", "sex"]), data, "rkey")
    two = with_cell_keys(tacit.Table.from_microdata(data, ["region", "age"]), data, "rkey")
    first, second = CellKey().apply(one, seed=1), CellKey().apply(two, seed=99)
    for r in ("n", "s", "w", "Total"):
        a, b = one.index((r, "Total")), two.index((r, "Total"))
        assert first.published[a] == second.published[b]


def test_keys_of_hierarchies_and_linked_cells():
    data = people()
    tree = tacit.Dimension.from_tree(
        "region", [(0, "land"), (1, "n"), (1, "s"), (0, "sea"), (1, "w")]
    )
    table = with_cell_keys(tacit.Table.from_microdata(data, {"region": tree}), data, "rkey")
    at = {c: table.extra["cell_key"][table.index((c,))] for c in tree.codes}
    assert at["sea"] == at["w"]
    assert math.isclose((at["n"] + at["s"]) % 1, at["land"], abs_tol=1e-12)
    assert (
        CellKey().apply(table).published[table.index(("sea",))]
        == (CellKey().apply(table).published[table.index(("w",))])
    )


def test_bad_keys_and_other_records_are_refused():
    data = people()
    table = tacit.Table.from_microdata(data, ["region"])
    with pytest.raises(InputError, match="records have no key in"):
        with_cell_keys(table, data, "weight")
    with pytest.raises(InputError, match="not those of the table"):
        with_cell_keys(table, people(400), "rkey")
    with pytest.raises(tacit.errors.ColumnNotFound):
        with_cell_keys(table, data, "nothing")


def test_zero_records_and_ranges():
    data = people()
    table = with_cell_keys(tacit.Table.from_microdata(data, ["region"], "income"), data, "rkey")
    income, rkey, region = (data.column(c).to_pylist() for c in ("income", "rkey", "region"))
    rows = [(x, k) for x, k, r in zip(income, rkey, region, strict=True) if r == "n"]
    cell = table.index(("n",))
    exact = sum(Decimal(str(k)) for x, k in rows if x != 0) % 1
    assert table.extra["cell_key_nonzero"][cell] == float(exact)
    assert table.extra["value_range"][cell] == max(x for x, _ in rows) - min(x for x, _ in rows)
    kept = CellKey(zeros=False, scale_by="range").apply(table)
    assert (kept.published != CellKey(scale_by="range").apply(table).published).any()


def test_digits_turn_to_the_left():
    assert rotate_digits(np.array([0.08301544]), 1, 8) == pytest.approx([0.8301544])
    assert rotate_digits(np.array([0.12345678]), 3, 8) == pytest.approx([0.45678123])
    assert digits_of(np.array([0.25, 0.5])) == 2
    assert digits_of(np.random.default_rng(1).random(50)) == 15


# -- counts ----------------------------------------------------------------------------------------------


def counts_with_keys(shape=(6, 5), seed=3, mean=3):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.poisson(mean, shape), totals=False, frequency=True)
    return table.with_(extra={"cell_key": rng.random(len(table))})


def by_hand(n, key, rows):
    """The first row whose bound exceeds the key, of the largest i when n is above it."""
    n = min(n, max(r[0] for r in rows))
    return next(v for i, v, bound in rows if i == n and bound > key)


def test_counts_follow_the_table_row_by_row(tmp_path):
    made = count_ptable(5, 3.0, 2)
    write_ptable(made, tmp_path / "p.txt")
    table = counts_with_keys()
    result = CellKey(ptable=str(tmp_path / "p.txt")).apply(table)
    read = read_ptable(tmp_path / "p.txt")
    rows = list(zip(read.i, read.v, read.bound, strict=True))
    for c in range(len(table)):
        n = table.value[c]
        expected = 0 if n == 0 else by_hand(n, table.extra["cell_key"][c], rows)
        assert result.published[c] == n + expected
    shown = result.published
    assert not ((shown > 0) & (shown <= 2)).any()
    assert (shown == CellKey().apply(table).published).all()  # the default makes the same table


def test_a_key_on_a_bound_takes_the_next_row(tmp_path):
    made = PTable.from_rows([0, 1, 1], [0, -1, 1], [1, 0.5, 0.5])
    write_ptable(made, tmp_path / "p.txt")
    table = tacit.Table.from_array([[1.0, 1.0]], totals=False, frequency=True)
    table = table.with_(extra={"cell_key": np.array([0.5, 0.49, 0.5, 0.5, 0.49, 0.5])})
    result = CellKey(ptable=str(tmp_path / "p.txt")).apply(table)
    assert result.to_array()[0, :2].tolist() == [2.0, 0.0]


def test_empty_and_protected_cells_stay():
    table = counts_with_keys()
    held = int(np.flatnonzero(table.value > 3)[0])
    table = table.with_status([held], Status.PROTECTED)
    result = CellKey().apply(table)
    still = (table.value == 0) | (np.arange(len(table)) == held)
    assert (result.published[still] == table.value[still]).all()
    assert (result.published[~still] != table.value[~still]).any()


def test_weighted_counts_move_by_the_mean_weight():
    data = people()
    table = tacit.Table.from_microdata(data, ["region", "age"], weight="weight")
    table = with_cell_keys(table, data, "rkey")
    plain = with_cell_keys(tacit.Table.from_microdata(data, ["region", "age"]), data, "rkey")
    weighted, counts = CellKey().apply(table), CellKey().apply(plain)
    mean = table.extra["weighted_count"] / plain.value
    assert weighted.published == pytest.approx(counts.published * mean)


def test_drawn_keys_are_the_sums_of_ground_keys():
    table = tacit.Table.from_array([[4, 0, 0], [0, 7, 1]], totals=False, frequency=True)
    result = CellKey().apply(table, seed=5)
    shown = result.to_array()
    assert shown[0, 0] == shown[0, 3] == shown[2, 0]  # a total with a single part is that part
    assert "drawn" in result.history[-1].details["keys"]


def test_large_tables_have_the_moments_of_the_perturbation_table():
    table = counts_with_keys((150, 100), mean=6)
    study = cell_key_study(CellKey(maximum=6, variance=4.0, small=1).apply(table))
    assert study["expected_variance"] == pytest.approx(4.0, abs=1e-6)
    assert study["variance"] == pytest.approx(4.0, rel=0.05)
    assert abs(study["mean"]) < 0.06
    assert sum(study["distribution"].values()) == pytest.approx(1)
    assert max(map(abs, study["distribution"])) <= 6
    assert study["distribution"][0] == pytest.approx(study["share_unchanged"])


def test_the_claim_fails_when_a_cell_is_touched():
    result = CellKey().apply(counts_with_keys())
    claim = result.history[-1].claims[0]
    assert claim.holds(result)
    touched = result.published.copy()
    touched[int(np.argmax(result.value))] += 1
    assert not claim.holds(result.with_changed(touched))
    # Without keys, changes are still compared with the table's.
    bare = result.with_(extra={k: v for k, v in result.extra.items() if k != "cell_key"})
    assert claim.holds(bare)
    touched[int(np.argmax(result.value))] += 50
    assert not claim.holds(bare.with_changed(touched))


def test_parameters_stay_secret():
    spec = CellKey(maximum=7, variance=4.5, small=3, sigma1=0.123)
    assert spec.to_dict(public=True) == {"kind": "cell_key"}
    assert "4.5" not in repr(spec)
    history = CellKey(maximum=7, variance=4.5).apply(counts_with_keys()).history[-1]
    assert history.parameters == {"kind": "cell_key"}
    assert not history.claims[0].parameters


# -- magnitudes ------------------------------------------------------------------------------------------


def test_flex_scaling_falls_from_sigma1_to_sigma0():
    s = Scaling(0.30, 0.03, 1000.0, 3.0)
    x = np.array([1.0, 1000.0, 5000.0, 1e9])
    assert s.share(x)[:2] == pytest.approx([0.30, 0.30])
    assert s.share(x)[2] == pytest.approx(0.03 * (1 + (1500 - 30) / 30 * (2000 / 6000) ** 3))
    assert s.share(x)[3] == pytest.approx(0.03, rel=1e-3)
    assert Scaling(0.05).share(x) == pytest.approx(np.full(4, 0.05))


def test_separation_is_where_both_noises_are_alike():
    main, small = magnitude_ptable(5, 1.0), magnitude_ptable(8, 2.0)
    s = Scaling(0.3, epsilon=(0.5, 0.2))
    point = s.separation(main, small)
    assert 0.3 * point * math.sqrt(1 + 0.25 + 0.04) == pytest.approx(math.sqrt(2.0))


def test_one_magnitude_by_hand():
    # sigma 0.2: Delta = 20, a = 5 = D; key 0.40... turned once is 0.0...4.
    rows = PTable.from_rows([0, 5, 5, 5], [0, -1, 0, 3], [1, 0.6, 0.2, 0.2])
    change = magnitude_changes(
        np.array([300.0, 300.0, 300.0]),
        np.array([[100.0], [100.0], [0.0]]),
        np.array([0.45, 0.59, 0.45]),
        Scaling(0.2),
        rows,
        digits=2,
    )
    assert change == pytest.approx([-20.0, 60.0, 0.0])  # turned keys 0.54 and 0.95; nobody there


def test_interpolation_between_steps():
    rows = PTable.from_rows([0, 1, 1, 5, 5], [0, -1, 2, -4, 4], [1, 0.5, 0.5, 0.5, 0.5])
    # m = 0.5: a = 2, a quarter of the way from 1 to 5.
    change = magnitude_changes(
        np.array([10.0]), np.array([[10.0]]), np.array([0.07]), Scaling(0.5), rows, digits=2
    )
    assert change == pytest.approx([5 * (0.75 * 2 + 0.25 * 4)])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), sigma=st.floats(0.02, 0.9), mu=st.sampled_from([0.0, 1.5]))
def test_magnitudes_keep_their_sign_and_their_limits(seed, sigma, mu):
    rng = np.random.default_rng(seed)
    parts = np.sort(rng.gamma(0.4, 100, (50, 3)), axis=1)[:, ::-1] * rng.choice(
        [0, 1], (50, 1), p=[0.1, 0.9]
    )
    sign = rng.choice([-1.0, 1.0], 50)
    value = sign * (parts.sum(axis=1) + rng.gamma(0.3, 30, 50))
    table, small = magnitude_ptable(5, 1.0), magnitude_ptable(5, 2.0)
    unsafe = np.where(rng.random(50) < 0.3, mu, 0.0)
    change = magnitude_changes(
        value,
        parts * sign[:, None],
        rng.random(50),
        Scaling(sigma, epsilon=(0.5, 0.2)),
        table,
        digits=15,
        small=small,
        extra=unsafe,
    )
    assert (sign * (value + change) >= -1e-9).all()
    delta = np.maximum(np.array([1, 0.5, 0.2]) * sigma * parts, [1.0, 0, 0])
    limit = (delta * np.stack([5 + unsafe, np.full(50, 5.0), np.full(50, 5.0)], axis=1)).sum(axis=1)
    assert (np.abs(change) <= limit + 1e-9).all()


def magnitudes(top=3, n=800):
    rng = np.random.default_rng(4)
    data = tacit.read(
        {
            "branch": rng.integers(0, 6, n),
            "region": rng.integers(0, 4, n),
            "turnover": np.round(rng.lognormal(4, 1.5, n), 1),
            "rkey": np.round(rng.random(n), 8) % 1,
        }
    )
    table = tacit.Table.from_microdata(data, ["branch", "region"], "turnover", top=top)
    return with_cell_keys(table, data, "rkey")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"top": 3, "epsilon": (0.5, 0.2)},
        {"scaling": "flex", "sigma0": 0.02, "sigma1": 0.2, "xstar": 100.0, "q": 2.0},
        {"separation": True, "top": 2, "epsilon": (0.4,)},
        {"scale_by": "mean"},
        {"scale_by": "value", "sigma1": 0.02},
        {"scale_by": "range"},
        {"mu_c": 2.0},
        {"zeros": False},
    ],
)
def test_magnitudes_are_checked_one_by_one(given):
    table = magnitudes().with_protection([(0, 0), (2, 1)], lower=5, upper=5)
    result = CellKey(**given).apply(table)
    claim = result.history[-1].claims[0]
    assert claim.holds(result)  # an independent computation, cell by cell
    touched = result.published.copy()
    touched[7] += 0.01 * abs(touched[7])
    assert not claim.holds(result.with_changed(touched))
    assert (result.published >= 0).all()


def test_noise_is_unbiased_and_as_large_as_asked():
    rng = np.random.default_rng(8)
    n = 20_000
    value = np.full(n, 1000.0)
    change = magnitude_changes(
        value, value[:, None], rng.random(n), Scaling(0.1), magnitude_ptable(5, 1.0), digits=15
    )
    assert change.std() == pytest.approx(100.0, rel=0.03)
    assert abs(change.mean()) < 3.0


def test_unsafe_cells_move_at_least_by_mu():
    table = magnitudes().with_protection(np.arange(12), lower=1, upper=1)
    result = CellKey(mu_c=2.0, sigma1=0.05).apply(table)
    at = table.primary
    moved = np.abs(result.published - table.value)[at]
    assert (moved >= 2.0 * 0.05 * table.contributors.top[at, 0] - 1e-9).all()


def test_parity_chooses_rows(tmp_path):
    rows = PTable.from_rows(
        [0, 1, 1, 0, 1, 1],
        [0, -1, 1, 0, -1, 1],
        [1, 0.5, 0.5, 1, 0.5, 0.5],
        kind=["even"] * 3 + ["odd"] * 3,
    )
    write_ptable(rows, tmp_path / "p.txt")
    result = CellKey(ptable=str(tmp_path / "p.txt"), parity=True).apply(magnitudes())
    assert (result.published != result.value).any()
    with pytest.raises(InputError, match="set parity=True"):
        CellKey(ptable=str(tmp_path / "p.txt")).apply(magnitudes())
    with pytest.raises(InputError, match="even and odd rows"):
        CellKey(parity=True).apply(magnitudes())


def test_a_small_ptable_switches_separation_on(tmp_path):
    write_ptable(magnitude_ptable(5, 1.0), tmp_path / "main.txt")
    write_ptable(magnitude_ptable(8, 2.0), tmp_path / "small.txt")
    given = {"ptable": str(tmp_path / "main.txt")}
    table = magnitudes()
    with_small = CellKey(**given, small_ptable=str(tmp_path / "small.txt")).apply(table)
    without = CellKey(**given).apply(table)
    point = Scaling(0.1).separation(magnitude_ptable(5, 1.0), magnitude_ptable(8, 2.0))
    large = table.contributors.top[:, 0] >= point
    assert (with_small.published[large] == without.published[large]).all()


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(InvalidParameter, match="sigma0 and xstar"):
        CellKey(scaling="flex")
    with pytest.raises(InvalidParameter, match="epsilon"):
        CellKey(top=3)
    with pytest.raises(InputError, match="largest contributions"):
        CellKey(top=5, epsilon=(1, 1, 1, 1)).apply(magnitudes())
    with pytest.raises(InputError, match="one number in"):
        CellKey().apply(counts_with_keys().with_(extra={"cell_key": np.full(42, 1.5)}))


# -- what is given away ----------------------------------------------------------------------------------


def test_propagation_is_sound_and_finds_what_is_certain():
    # x0 = x1 + x2, x0 <= 3, x1 >= 2, x2 >= 1: all are certain.
    m = sparse.csr_array(np.array([[-1.0, 1.0, 1.0]]))
    low, high = narrow_integer_bounds(m, np.array([0.0, 2, 1]), np.array([3.0, 9, 9]), 20)
    assert low.tolist() == [3, 2, 1]
    assert high.tolist() == [3, 2, 1]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_intervals_of_differencing_always_hold_the_truth(seed):
    rng = np.random.default_rng(seed)
    table = tacit.Table.from_array(rng.poisson(1.5, (3, 3)), totals=False, frequency=True)
    result = CellKey(maximum=1, variance=0.6, small=0).apply(table, seed=seed)
    from tacit.tables.noise.cell_key import read_stored_ptable

    low, high = truths(read_stored_ptable(result), result.published)
    low, high = narrow_integer_bounds(table.equations, low, high, 50)
    assert ((low <= table.value) & (table.value <= high)).all()
    study = cell_key_study(result)
    assert study["width_with_sums"] <= study["width_alone"]


def test_little_noise_is_undone_by_sums():
    rng = np.random.default_rng(1)
    found = []
    for seed in range(20):
        table = tacit.Table.from_array(rng.poisson(4, (4, 4)), totals=False, frequency=True)
        result = CellKey(maximum=1, variance=0.8, small=0, monotony=False).apply(table, seed=seed)
        study = cell_key_study(result)
        found.append(study["width_alone"] - study["width_with_sums"])
    assert max(found) > 0
