"""Random plans end in a release whose claims hold in the judge's eyes, or in a sentence.

A failure names the call that repeats it: ``PYTHONPATH=src:tests python -m fuzz records 17``.
"""

import math
import os

import pytest

from claims.test_guarantees import own_models
from fuzz.judge import JUDGES
from fuzz.run import run_case

#: Seeds of the ordinary suite. Reports, which cost most, are written in one case of fifteen.
FEW = {"records": 45, "households": 15, "tables": 30, "texts": 15, "fits": 15, "measures": 30}
#: Plans of the slow suite, and how they are divided, with measures beside them. All five thousand and more are run by
#: TACIT_FUZZ=5050.
PLANS = int(os.environ.get("TACIT_FUZZ", "1200"))
SHARES = {
    "records": 2400,
    "households": 1200,
    "tables": 1000,
    "texts": 300,
    "fits": 150,
    "measures": 1000,
}
#: What the shares add up to without the measures, of which there are no plans.
OF = sum(n for what, n in SHARES.items() if what != "measures")
#: Cases are run together, so that processes can share them.
BATCH = 15
MANY = {what: BATCH * math.ceil(PLANS * n / OF / BATCH) for what, n in SHARES.items()}


def batches(numbers, start):
    return [
        pytest.param(what, range(a, min(a + BATCH, start + n)), id=f"{what}-{a}")
        for what, n in numbers.items()
        for a in range(start, start + n, BATCH)
    ]


@pytest.mark.parametrize(("what", "seeds"), batches(FEW, 0))
def test_plans_end_in_a_true_release_or_in_a_sentence(what, seeds):
    outcomes = [run_case(what, seed, papers=seed % 15 == 0) for seed in seeds]
    assert not [print(o) for o in outcomes if o.faults]
    assert any(o.end == "released" for o in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize(("what", "seeds"), batches(MANY, 1000))
def test_many_plans_end_in_a_true_release_or_in_a_sentence(what, seeds):
    test_plans_end_in_a_true_release_or_in_a_sentence(what, seeds)


def test_the_judge_knows_every_claim():
    """A claim that only tacit itself can check has no second opinion."""
    assert own_models() <= set(JUDGES)
