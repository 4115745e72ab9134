"""Losses of a randomised file against its original."""

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.records.pram import (
    corrected,
    expected_information_loss,
    from_history,
    information_loss,
    relative_differences,
    true_variance,
)


def people(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    region = rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.2, 0.07, 0.03])
    return tacit.read(
        {
            "region": region,
            "status": rng.choice([1, 2, 3], n, p=[0.6, 0.3, 0.1]),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 80, n),
            "income": rng.gamma(2, 10, n) + 10 * (region == "c"),
        }
    )


def table_of(data, columns):
    values = [np.array(data.column(c).to_pylist()) for c in columns]
    coded = [np.unique(v, return_inverse=True)[1] for v in values]
    out = np.zeros([c.max() + 1 for c in coded])
    np.add.at(out, tuple(coded), 1.0)
    return out, coded


def test_every_number_from_the_definitions():
    data = people()
    released = tacit.Pram(columns=["region", "status"], matrix="equal", stay=0.7).apply(
        data, seed=1
    )
    p, q = (v.parts[0].matrix for v in from_history(released.history))
    found = tacit.PramLoss(response=["income"]).measure(released, original=data)
    by_table = {t.columns: t for t in found.tables}
    assert set(by_table) == {("region",), ("status",), ("region", "status")}
    for columns, matrices in [(("region",), [p]), (("region", "status"), [p, q])]:
        t, old = table_of(data, columns)
        x, new = table_of(released, columns)
        losses = by_table[columns]
        assert losses.ebil == pytest.approx(expected_information_loss(t, x, matrices))
        assert losses.il == pytest.approx(information_loss(old, new, t, matrices))
        want = relative_differences([t], [corrected(x, matrices)])
        assert losses.differences == want
        cv = np.sqrt(true_variance(t, matrices)) / t
        assert losses.cv == pytest.approx(np.median(cv))
        assert losses.largest_cv == pytest.approx(cv.max())
    income = np.array(data.column("income").to_pylist())
    t, (k,) = table_of(data, ["region"])
    x, (new,) = table_of(released, ["region"])
    beta = np.bincount(k, income) / t
    tilde = corrected(np.bincount(new, income), [p]) / corrected(x, [p])
    gap = np.abs(beta - tilde) / beta
    slopes = {s.variable: s for s in found.slopes}
    assert slopes["region"].lrd == pytest.approx(np.median(gap))
    assert slopes["region"].largest == pytest.approx(gap.max())
    assert 0 < found.value < 1


def test_strata_and_rules_add_up():
    data = people()
    spec = tacit.Pram(column="region", matrix="frequency", by=["sex"], stay=0.7)
    released = spec.apply(data, seed=1)
    found = tacit.PramLoss().measure(released, original=data)
    (variable,) = from_history(released.history)
    sex = np.array(data.column("sex").to_pylist())
    total = 0.0
    for part in variable.parts:
        old, new = (
            np.unique(np.array(d.column("region").to_pylist()), return_inverse=True)[1][
                sex == part.stratum[0]
            ]
            for d in (data, released)
        )
        t, x = np.bincount(old, minlength=5), np.bincount(new, minlength=5)
        total += expected_information_loss(t, x, [part.matrix])
    assert found.tables[0].ebil == pytest.approx(total)
    rule = tacit.Pram(
        column="status", matrix="equal", forbidden=[{"to": [3], "when": "age < 16"}]
    ).apply(data, seed=1)
    assert tacit.PramLoss().measure(rule, original=data).value > 0


def test_crossed_with_columns_that_were_not_randomised():
    data = people()
    released = tacit.Pram(column="status", matrix="3E(0.7)").apply(data, seed=1)
    found = tacit.PramLoss(tables=[("sex", "status"), ("sex", "region")]).measure(
        released, original=data
    )
    (m,) = (v.parts[0].matrix for v in from_history(released.history))
    t, _ = table_of(data, ["sex", "status"])
    x, _ = table_of(released, ["sex", "status"])
    assert found.tables[0].ebil == pytest.approx(expected_information_loss(t, x, [None, m]))
    assert found.tables[1].ebil == 0
    assert found.tables[1].differences.largest == 0


def test_more_randomness_loses_more():
    data = people()
    shares = []
    for stay in (0.95, 0.8, 0.6, 0.4):
        released = tacit.Pram(column="region", matrix="equal", stay=stay).apply(data, seed=1)
        shares.append(tacit.PramLoss().measure(released, original=data).value)
    assert shares == sorted(shares)
    same = tacit.PramLoss().measure(data, original=data)
    assert same.value == 0
    assert "No column was randomised" in same.explanation


def test_the_base_is_a_choice():
    data = people()
    released = tacit.Pram(column="region").apply(data, seed=1)
    ten, two = (tacit.PramLoss(base=b).measure(released, original=data).tables[0] for b in (10, 2))
    assert two.ebil == pytest.approx(ten.ebil * np.log2(10))
    assert two.il == pytest.approx(ten.il * np.log2(10))


def test_dropped_records_are_left_out():
    data = people()
    released = tacit.Pram(column="region").apply(data, seed=1)
    fewer = released.take(np.arange(0, 3000, 2))
    found = tacit.PramLoss().measure(fewer, original=data)
    assert 0 < found.tables[0].il < 3000


def test_what_cannot_be_compared_is_refused():
    data = people(100)
    released = tacit.Pram(columns=["region", "sex"], joint=True).apply(data, seed=1)
    with pytest.raises(InputError, match="randomised together"):
        tacit.PramLoss(tables=[("region",)]).measure(released, original=data)
    with pytest.raises(InputError, match="does not hold numbers"):
        tacit.PramLoss(response=["sex"]).measure(released, original=data)
    recoded = tacit.Pram(column="region").apply(data, seed=1).replace({"region": ["z"] * 100})
    with pytest.raises(InputError, match="does not know"):
        tacit.PramLoss().measure(recoded, original=data)
    with pytest.raises(tacit.errors.InvalidParameter, match="base must be greater than 1"):
        tacit.PramLoss(base=1)
