"""The simulation behind the individual risk: the pattern of table 1, and the draws of households."""

import csv
from pathlib import Path

import numpy as np
import pytest

from studies.individual_risk import draw_madow, draw_population, draw_two_stage, evaluate, run

TABLE = Path(__file__).parents[1] / "fixtures/psd21-individual-risk/table1_bias_summaries.csv"


def mean_bias(errors, estimator, low, high):
    at = (errors.truth >= low) & (errors.truth <= high) & (errors.seen > 0)
    return errors.bias[estimator][at], errors.truth[at]


@pytest.mark.slow
def test_the_pattern_of_table_1():
    """Bands of a simulation with 400 samples: who over- and who underestimates, and by how much."""
    rng = np.random.default_rng(1)
    errors = evaluate(draw_population(rng), 400, rng)
    bf, spree, both = (mean_bias(errors, e, 2, 2)[0] for e in ("bf", "spree", "bf_spree"))
    assert -0.46 <= bf.mean() <= -0.34
    assert bf.max() < 0
    assert -0.15 <= spree.mean() <= 0.15
    for e in ("bf", "spree", "bf_spree"):
        assert mean_bias(errors, e, 1, 1)[0].mean() < 0
    assert abs(np.mean(mean_bias(errors, "spree", 1, 2)[0])) < abs(
        np.mean(mean_bias(errors, "bf", 1, 2)[0])
    )
    relative = {
        e: np.mean(np.multiply(*mean_bias(errors, e, 16, 200))) for e in ("bf", "spree", "bf_spree")
    }
    assert relative["bf"] > 0.3
    assert relative["bf_spree"] > 0.3
    assert abs(relative["spree"]) < 0.5
    large = (errors.truth >= 51) & (errors.seen > 0)
    middle = {e: np.median(errors.rrmse[e][large]) for e in errors.rrmse}
    assert middle["spree"] == min(middle.values())
    assert errors.ranks["spree"] >= errors.ranks["bf"] + 0.1
    with TABLE.open() as file:
        published = {(r["F"], r["estimator"]): r for r in csv.DictReader(file)}
    assert bf.mean() == pytest.approx(float(published["2", "bf"]["mean"]), abs=0.08)
    assert spree.mean() == pytest.approx(float(published["2", "spree"]["mean"]), abs=0.15)
    assert both.mean() == pytest.approx(float(published["2", "bf_spree"]["mean"]), abs=0.15)


def test_a_few_samples_show_the_direction():
    found = run(size="small", seed=2)
    bias = {(r["F"], r["estimator"]): r for r in found["bias"].rows(named=True)}
    assert bias[2, "bf"]["max"] < 0
    assert abs(bias[2, "spree"]["mean"]) < abs(bias[2, "bf"]["mean"])


def test_madow_draws_with_the_chances_asked_for():
    rng = np.random.default_rng(4)
    chances = np.array([0.1, 0.5, 1.0, 0.9, 0.25, 0.25])
    counts = np.zeros(6)
    for _ in range(4000):
        drawn = draw_madow(chances, rng)
        assert len(drawn) == 3
        counts[drawn] += 1
    np.testing.assert_allclose(counts / 4000, chances, atol=0.03)
    with pytest.raises(ValueError, match="between 0 and 1"):
        draw_madow(np.array([1.5]), rng)


def test_two_stage_samples_are_unbiased_and_keep_households_whole():
    rng = np.random.default_rng(9)
    towns = rng.integers(40, 400, 30)
    town = np.repeat(np.arange(30), towns)
    province = town % 3
    home = town * 1000 + np.concatenate([np.arange(n) // 3 for n in towns])
    totals = []
    for _ in range(300):
        people, weight = draw_two_stage(
            province, town, home, stratum_size=350, households=20, rng=rng
        )
        totals.append(weight.sum())
        inside = np.isin(home, home[people])
        assert inside.sum() == len(people)
    assert np.mean(totals) == pytest.approx(len(town), rel=0.03)
