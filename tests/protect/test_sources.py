"""Columns computed from original values do not undo later steps."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.errors import InputError


def people(n=200):
    rng = np.random.default_rng(3)
    return tacit.read(
        pa.table(
            {
                "y": rng.lognormal(8, 1, n).round(),
                "age": rng.integers(20, 70, n),
                "sex": rng.choice(["f", "m"], n),
            }
        ),
        keys=["age", "sex"],
    )


BLANK = {"response": "y", "sd": 500.0, "upper": 0.9}
MASKS = [
    tacit.AddNoise(columns=["y"], sd=300.0),
    tacit.TopBottomCode(column="y", top=5000.0),
    tacit.RemoveColumns(columns=["y"]),
    tacit.Mdav(columns=["y"], k=3),
    tacit.RoundValues(columns=["y"], base=100),
    tacit.RankSwap(columns=["y"], percent=10),
]


@pytest.mark.parametrize("mask", MASKS, ids=lambda m: m.kind)
def test_a_step_that_masks_the_response_after_blanking_is_refused(mask):
    with pytest.raises(InputError, match="'retention' was computed from the values of 'y'"):
        tacit.Plan([tacit.Blank(**BLANK), mask]).run(people(), seed=1)
    with pytest.raises(InputError, match="would give them back"):
        mask.apply(tacit.Blank(**BLANK).apply(people(), seed=1), seed=1)


@pytest.mark.parametrize(
    "steps",
    [
        [MASKS[0], tacit.Blank(**BLANK)],
        [tacit.Blank(**BLANK, probability_bins=5), MASKS[0]],
        [tacit.Blank(**BLANK), tacit.RemoveColumns(columns=["retention"]), MASKS[0]],
        [tacit.Blank(**BLANK), tacit.Recode(column="retention", breaks=[0.8]), MASKS[0]],
        [tacit.Blank(**BLANK), tacit.RemoveColumns(columns=["y", "retention"])],
        [tacit.Blank(**BLANK), tacit.AddNoise(columns=["age"], sd=2.0)],
        [tacit.Blank(**BLANK), tacit.Scramble()],
    ],
    ids=["before", "bins", "removed", "recoded", "both", "other", "order"],
)
def test_what_treats_the_probabilities_too_may_run(steps):
    assert tacit.Plan(steps).run(people(), seed=1).data.history


def test_weights_fitted_to_margins_are_known_by_them():
    fit = tacit.Calibrate(margins=[{"sex": {"f": 120, "m": 80}}], weight="w")
    with pytest.raises(InputError, match="'w' was computed from the values of 'sex'"):
        tacit.RemoveColumns(columns=["sex"]).apply(fit.apply(people()))
    assert tacit.RemoveColumns(columns=["age"]).apply(fit.apply(people())).columns["w"].sources == (
        "sex",
    )
