"""The gate of tables: no order of steps lets unsafe cells out."""

import numpy as np
import pytest

import tacit
from common.cases import firms
from tacit.claims import table_gate


def applied(table, *steps):
    for step in steps:
        table = step.apply(table, seed=4)
    return table


def refused(table):
    """Whether the gate, or a claim on the final table, stops the release."""
    claims = [c for a in table.history for c in a.claims]
    return bool(table_gate(table)) or not all(c.holds(table) for c in claims)


def counts():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 9, (5, 6))
    return tacit.Table.from_array(values, totals=False, count=values, frequency=True)


def test_a_suppressed_table_goes_out():
    table = applied(firms(judged=False), tacit.MinimumFrequency(n=2), tacit.SuppressLinear())
    assert not refused(table)


def test_nobody_has_judged():
    (sentence,) = table_gate(firms(judged=False))
    assert "no rule has judged" in sentence


def test_a_rule_that_finds_nothing_has_judged():
    assert not refused(tacit.MinimumFrequency(n=1).apply(firms(judged=False)))


def test_a_rule_without_suppression_is_refused():
    table = tacit.MinimumFrequency(n=2).apply(firms(judged=False))
    (sentence,) = table_gate(table)
    assert "follow from the rest" in sentence


def test_another_rule_after_suppression_is_refused():
    table = applied(
        firms(judged=False),
        tacit.MinimumFrequency(n=2),
        tacit.SuppressGauss(),
        tacit.PPercent(p=60),
    )
    assert refused(table)


def test_calling_an_unsafe_cell_safe_after_suppression_is_refused():
    judged = tacit.MinimumFrequency(n=2).apply(firms(judged=False))
    unsafe = judged.codes(int(np.flatnonzero(judged.primary)[0]))
    safe = tacit.SetStatus(cells=[unsafe], status="safe")
    late = applied(judged, tacit.SuppressLinear(), safe)
    assert any("called safe after" in s for s in table_gate(late))
    assert not any("called safe" in s for s in table_gate(applied(judged, safe)))


def test_calling_a_secondary_cell_safe_is_refused():
    table = applied(firms(judged=False), tacit.MinimumFrequency(n=2), tacit.SuppressLinear())
    second = table.codes(int(np.flatnonzero(table.secondary)[0]))
    assert refused(tacit.SetStatus(cells=[second], status="safe").apply(table))


def test_random_rounding_after_controlled_rounding_is_refused():
    judged = tacit.MinimumFrequency(n=3).apply(counts())
    rounded = tacit.ControlledRounding(base=5).apply(judged, seed=1)
    assert not refused(rounded)
    assert refused(tacit.RandomRounding(base=5).apply(rounded, seed=1))


@pytest.mark.parametrize("step", [tacit.ControlledRounding(base=5), tacit.RandomRounding(base=5)])
def test_rounding_by_one_does_not_protect_what_needs_thousands(step):
    table = tacit.Table.from_array([[9001.0, 4002], [7003, 8004]], totals=False)
    table = table.with_protection([(0, 0)], lower=2000, upper=2000)
    (sentence,) = table_gate(step.apply(table, seed=1))
    assert "does not reach their protection levels" in sentence
    wide = table.with_protection([(0, 0)], lower=1, upper=1)
    assert not table_gate(tacit.ControlledRounding(base=5, protection=True).apply(wide, seed=1))


def test_rounded_small_counts_go_out():
    judged = tacit.MinimumFrequency(n=3).apply(counts())
    assert not refused(tacit.RoundSmallCounts(base=3).apply(judged, seed=2))


def test_unsafe_counts_above_the_base_are_refused():
    judged = tacit.MinimumFrequency(n=8).apply(counts())
    assert refused(tacit.RoundSmallCounts(base=3).apply(judged, seed=2))


def test_values_changed_by_hand_are_refused():
    table = tacit.MinimumFrequency(n=2).apply(firms(judged=False))
    (same,) = table_gate(table.with_changed(table.value))
    assert "published unchanged" in same
    (other,) = table_gate(table.with_changed(table.value + 1))
    assert "no claim says" in other


def test_adjustment_goes_out_and_a_rule_after_it_does_not():
    judged = tacit.MinimumFrequency(n=2).apply(firms(judged=False))
    adjusted = tacit.Adjust().apply(judged, seed=1)
    assert not refused(adjusted)
    assert refused(tacit.MinimumFrequency(n=2).apply(adjusted))


def test_sentences_hold_no_value_of_a_cell():
    table = tacit.MinimumFrequency(n=2).apply(firms(judged=False))
    text = " ".join(table_gate(table.with_changed(table.value)))
    unsafe = table.value[table.primary]
    assert not any(f"{v:g}" in text for v in unsafe)
