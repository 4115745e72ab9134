"""Whether a check finds, before any work, the steps that a run would refuse for missing values."""

import pytest

import tacit
from tacit.errors import PlanError

DATA = {
    "a": [1.0, None, 3.0, 4.0, 5.0, 6.0],
    "b": [float(i) for i in range(6)],
    "g": list("xxyyxy"),
}


def faults(*steps):
    return tacit.Plan(list(steps)).faults(tacit.read(DATA))


@pytest.mark.parametrize(
    "step",
    [
        tacit.Mdav(k=2, columns=["a", "b"]),
        tacit.RankSwap(columns=["a"]),
        tacit.MicroaggregatedSwap(columns=["a"], by=["g"]),
        tacit.OutlierNoise(columns=["a"]),
    ],
    ids=lambda s: s.kind,
)
def test_missing_values_are_found_by_the_check(step):
    assert step.missing == "refuse"
    (found,) = faults(step)
    assert found.startswith(f"step 1 ({step.kind}): 'a' has missing values")
    with pytest.raises(PlanError, match="missing values"):
        tacit.Plan([step]).run(tacit.read(DATA))
    assert not faults(step.model_copy(update={"missing": "keep"}))


def test_columns_without_gaps_and_columns_that_a_step_before_may_fill_are_no_fault():
    assert not faults(tacit.Mdav(k=2, columns=["b"]))
    assert not faults(tacit.Impute(columns=["a"]), tacit.Mdav(k=2, columns=["a"]))


def test_all_steps_are_told_in_one_round():
    found = faults(tacit.Mdav(k=2, columns=["a"]), tacit.RankSwap(columns=["a"]))
    assert [f[:6] for f in found] == ["step 1", "step 2"]
