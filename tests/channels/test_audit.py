"""What intruders of different knowledge come to believe."""

import numpy as np
import pytest

import tacit
from tacit.records.channels.belief_audit import audit, fit_assignment, intersect_dealings
from tacit.records.channels.table import ChannelTable

TABLE = ChannelTable.of([6, 8, 4], [[0], [1], [3]], ["ill"])
STUDY = tacit.ChannelExpansion(related=["channel"], confidential="v", u={"ill": 0.4})


def test_the_limits_bound_whoever_knows_the_assignment():
    answer = STUDY.solve(TABLE)
    found = answer.audit(draws=500)
    assert found.max_posterior["nothing withheld"] == 0.75
    assert found.max_posterior["assignment"] == pytest.approx(answer.shares.max())
    assert found.within("assignment")
    assert found.within("algorithm alone")
    assert not found.within("nothing withheld")
    assert "beyond the limits" in repr(found)
    assert found.frame.columns == ["intruder", "value", "largest posterior", "limit"]
    assert found.plot().alt


def test_proportional_fitting_meets_both_sizes():
    answer = STUDY.evaluate(TABLE, [{1: 3, 3: 2}, {2: 4, 3: 2}])
    x = fit_assignment(answer)
    assert np.asarray(x.sum(axis=0)).reshape(-1) == pytest.approx(answer.subjects)
    assert np.asarray(x.sum(axis=1)).reshape(-1) == pytest.approx(TABLE.m)


def test_two_dealings_by_simulation():
    answer = STUDY.evaluate(TABLE, [{1: 3, 3: 2}, {2: 4, 3: 2}])
    exact = intersect_dealings(answer).max()
    assert exact > answer.shares.max()
    # Channel 3's people are the only ones that can be in {1, 3} once and in {2, 3} the other time.
    assert exact == pytest.approx(0.75)


def test_wholly_dealt_channels_give_nothing_to_a_second_dealing():
    answer = STUDY.evaluate(TABLE, [[1, 3]])
    assert intersect_dealings(answer).max() == pytest.approx(answer.shares.max())


def test_audits_are_repeatable():
    answer = STUDY.solve(TABLE)
    one, two = audit(answer, draws=300, seed=4), audit(answer, draws=300, seed=4)
    assert one.max_posterior == two.max_posterior
