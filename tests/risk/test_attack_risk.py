"""Prosecutor, journalist and marketer against counting by hand."""

import pyarrow as pa
import pytest

import tacit
from tacit.errors import InputError, InvalidParameter

AGES = ["1", "1", "1", "2", "2", "3"]


def read(values=AGES, **roles):
    return tacit.read(
        pa.table({"age": values, "w": [2.0, 3.0, 4.0, 1.0, 1.0, 0.5]}), keys=["age"], **roles
    )


def test_the_prosecutor_by_hand():
    found = tacit.AttackRisk(threshold=0.4).measure(read())
    assert found.prosecutor.highest == 1
    assert found.prosecutor.average == pytest.approx(3 / 6)  # classes by records
    assert found.prosecutor.at_risk == pytest.approx(3 / 6)
    assert found.prosecutor.at_least_one == 1
    assert found.journalist == found.prosecutor
    assert "taken for the whole population" in found.explanation
    alike = tacit.AttackRisk().measure(read(["1"] * 3 + ["2"] * 3))
    assert alike.prosecutor.at_least_one == pytest.approx(1 - (2 / 3) ** 6)


def test_the_population_from_fraction_weights_and_register():
    by_fraction = tacit.AttackRisk(fraction=0.1).measure(read())
    assert by_fraction.journalist.highest == pytest.approx(0.1)
    assert by_fraction.marketer == pytest.approx(0.05)
    assert by_fraction.numbers["marketer: expected correct matches"] == pytest.approx(0.3)
    by_weight = tacit.AttackRisk().measure(read(weight="w"))
    # Sums of weights are 9, 2 and 0.5, the last of which is lifted to the one record that there is.
    assert by_weight.marketer == pytest.approx((3 / 9 + 2 / 2 + 1) / 6)
    register = tacit.read(pa.table({"age": ["1"] * 6 + ["2"] * 2 + ["4"]}), keys=["age"])
    found = tacit.AttackRisk().measure(read(), register=register)
    assert found.frame["journalist"].to_list() == pytest.approx([1 / 6] * 3 + [1 / 2] * 2 + [0])


def test_weights_below_zero_are_refused():
    data = read(weight="w")
    negative = data.replace({"w": pa.array([1.0, 2.0, 3.0, 4.0, 5.0, -1.0])})
    with pytest.raises(InputError, match="must be positive"):
        tacit.AttackRisk().measure(negative)


def test_limits_are_promises():
    kept = tacit.AttackRisk(highest=1.0, average=0.5, at_risk=1.0).measure(read())
    assert kept.shortfall == ""
    missed = tacit.AttackRisk(highest=0.5, average=0.4, at_risk=0.1).measure(read()).shortfall
    assert "highest probability is 1, and at most 0.5" in missed
    assert "mean probability is 0.5, and at most 0.4" in missed
    assert "share of records above 0.2 is 1" in missed


def test_an_attack_that_pays():
    found = tacit.AttackRisk(cost=4, gain=10, benefit=20, loss=30).measure(read())
    # Probabilities are 1/3, 1/2 and 1: the first three are not worth 4.
    assert found.numbers["records worth attacking"] == 3
    assert found.numbers["the intruder's expected profit"] == pytest.approx(2 * 1 + 6)
    assert found.numbers["the publisher's expected payoff"] == pytest.approx(120 - 30 * 2)
    assert found.numbers["records that the publisher had better keep"] == 1
    for wrong in ({"cost": 1}, {"loss": 1}, {"benefit": 1, "loss": 1}):
        with pytest.raises(InvalidParameter, match=r"cost and gain|benefit and loss"):
            tacit.AttackRisk(**wrong)
    with pytest.raises(InvalidParameter, match="the marketer has a mean probability alone"):
        tacit.AttackRisk(attacker="marketer", highest=0.1)
