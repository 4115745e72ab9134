"""Effects of rounding and random controlled rounding: Cox and Kim (2006)."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tables.every_rounding import every_rounding
from tacit.errors import InputError, InvalidParameter
from tacit.tables.rounding.half_rounding import (
    closest_halves,
    halves_possible,
    scale_to_bases,
    walk,
)
from tacit.tables.rounding.rounding_effects import (
    RULES,
    RoundingRule,
    averaging_posterior,
    chi2_test,
)

HOME = Path(__file__).parents[1] / "fixtures/psd05-rounding-effects"


def cases(name):
    return json.loads((HOME / f"{name}.json").read_text())


def exact(entry):
    return Fraction(entry["exact"])


@pytest.mark.parametrize("case", cases("moments")["cases"], ids=lambda c: f"{c['rule']}-{c['B']}")
def test_moments(case):
    rule = RoundingRule(case["rule"], case["B"])
    assert [rule.p_up(r) for r in range(case["B"])] == [Fraction(p) for p in case["p_up"]]
    assert rule.mean == exact(case["E_R"])
    assert rule.variance == exact(case["V_R"])
    assert rule.bias == exact(case["bias"])
    assert rule.mse == exact(case["mse"])
    assert rule.sum_over_r == exact(case["sum_sq_over_r"])
    assert rule.sum_over_r / (rule.base - 1) == exact(case["mean_sq_over_r_given_r_ge_1"])
    assert rule.mse / rule.base == exact(case["mse_over_B"])


@pytest.mark.parametrize(
    "case", cases("posteriors")["cases"], ids=lambda c: f"{c['rule']}-{c['B']}"
)
def test_posteriors(case):
    B = case["B"]
    rule = RoundingRule(case["rule"], B)
    found = rule.posterior(3)
    below, above = case["given_mB_m_gt_0"]["from_below_r"], case["given_mB_m_gt_0"]["from_above_r"]
    for r in range(B):
        assert found[3 * B + r] == Fraction(above[r])
        assert found.get(2 * B + r, 0) == Fraction(below[r])
    assert sum(found.values()) == 1
    assert [rule.posterior(0)[r] for r in range(B)] == [Fraction(p) for p in case["given_0"]]
    assert [rule.posterior_up()[r] for r in range(B)] == [
        Fraction(p) for p in case["given_rounded_up"]
    ]


def test_chi_square():
    given_ = cases("chi_square")
    for case in given_["cases"]:
        rule = RoundingRule(case["rule"], case["B"])
        terms = rule.expected_chi2(given_["x"])
        assert terms == [Fraction(t) for t in case["E_U_given_x"]]
        assert sum(terms) == exact(case["E_chi2"])
        low, high = rule.chi2_bounds(given_["x"])
        assert low == exact(case["bound_lower_corrected"])
        assert high == exact(case["bound_upper_corrected"])
        assert rule.chi2_bounds(given_["x"], as_printed=True)[1] == exact(
            case["bound_upper_printed"]
        )


def test_scenario_without_data():
    for case in cases("scenario2")["cases"]:
        sums = [RoundingRule(n, case["B"]) for n in RULES if n != "conventional" or case["B"] % 2]
        for rule in sums:
            expected = exact(case["E_U_conventional_odd_mod_5050_unbiased"])
            assert rule.expected_term(case["E_q"]) == expected
        if case["E_U_conventional_even"]:
            rule = RoundingRule("conventional", case["B"])
            assert rule.expected_term(case["E_q"]) == exact(case["E_U_conventional_even"])


@pytest.mark.parametrize("case", cases("controlled_5050")["cases"], ids=lambda c: str(c["values"]))
def test_fair_coins(case):
    table = tacit.Table.from_array(case["values"], totals=False)
    roundings = list(every_rounding(table, case["B"]))
    assert len(roundings) == case["n_zero_restricted_controlled_roundings"]
    assert halves_possible(table, case["B"]) == case["half_marginals_possible"]
    point = closest_halves(table, case["B"])
    _, low, high = scale_to_bases(table.value, case["B"])
    counted = (low < high) & table.ground
    gap = np.abs(point - low - 0.5)[counted].sum()
    assert gap == pytest.approx(case["min_sum_abs_dev_from_half"])


def test_the_papers_row_has_no_fair_coins():
    table = tacit.Table.from_array([1, 1, 3], totals=False)
    ups = np.mean(
        [
            tacit.HalfRounding(base=5, target="sequential").apply(table, seed=s).published[:3] > 0
            for s in range(400)
        ],
        axis=0,
    )
    assert ups.sum() == pytest.approx(1.0)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(2, 10),
    st.integers(0, 10**6),
    st.sampled_from(["closest", "unbiased"]),
)
def test_two_way_tables_end_additive_and_adjacent(m, n, base, seed, target):
    values = np.random.default_rng(seed).integers(0, 25, (m, n))
    table = tacit.Table.from_array(values, totals=False)
    safe = tacit.HalfRounding(base=base, target=target).apply(table, seed=seed)
    assert safe.is_additive(safe.published)
    assert (np.abs(safe.published - table.value) < base).all()
    assert (np.mod(safe.published, base) == 0).all()


def test_unbiased_in_every_cell():
    table = tacit.Table.from_array([[1, 2, 8], [3, 3, 4]], totals=False)
    t, _, _ = scale_to_bases(table.value, 5)
    rng = np.random.default_rng(1)
    runs = np.array([walk(table, t, rng) for _ in range(4000)])
    error = runs.std(axis=0) / np.sqrt(len(runs))
    assert (np.abs(runs.mean(axis=0) - t) <= 4 * error + 1e-12).all()


def test_hierarchical_table_walks_to_whole_numbers():
    region = tacit.Dimension.from_tree(
        "r", [(0, "N"), (1, "a"), (1, "b"), (0, "S"), (1, "c"), (1, "d")]
    )
    size = tacit.Dimension.flat("s", ["x", "y", "z"])
    from tacit.data.cells.relations import roll_up

    values = roll_up(np.arange(1, 13).reshape(4, 3).astype(float), [region, size])
    table = tacit.Table.from_cells([region, size], values)
    safe = tacit.HalfRounding(base=5, target="unbiased").apply(table, seed=3)
    assert safe.is_additive(safe.published)


def test_rounding_draws_follow_the_rule():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 1000, 200_000)
    for name in RULES:
        rule = RoundingRule(name, 5)
        gap = rule.round(x, rng) - x
        assert (gap**2).mean() == pytest.approx(float(rule.mse), rel=0.02)
        assert gap.mean() == pytest.approx(float(rule.bias), abs=0.03)


def test_averaging_narrows_the_posterior():
    rule = RoundingRule("unbiased", 10)
    once, often = rule.posterior(2), averaging_posterior(rule, [20, 20, 20, 10, 20])
    assert max(often.values()) > max(once.values())
    assert sum(often.values()) == 1


def test_chi2_test_and_refusals():
    statistic, df, p = chi2_test([[10, 20], [30, 5]], [[10, 20], [30, 5]])
    assert (statistic, df, p) == (0.0, 1, 1.0)
    with pytest.raises(InvalidParameter, match="from 2"):
        RoundingRule("unbiased", 1)
    with pytest.raises(InputError, match="whole numbers"):
        RoundingRule("unbiased", 5).expected_chi2([1.5])
    with pytest.raises(InvalidParameter, match="add up to 1"):
        RoundingRule("unbiased", 3).posterior(1, prior=[0.5, 0.1, 0.1])
    with pytest.raises(InputError, match="negative"):
        RoundingRule("unbiased", 3).expected_chi2([-1])
