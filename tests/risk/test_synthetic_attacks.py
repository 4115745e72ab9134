"""Attacks on synthetic data: a copy of the original is found out, a fresh sample is not; worked numbers."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import tacit
from tacit.cli import main
from tacit.data.lined_up import distances, line_up, nearest
from tacit.records.synthesis.risk.attacks import Rate, excess
from tacit.records.synthesis.risk.design_risk import modes
from tacit.records.synthesis.risk.singling import share_single
from tacit.stats.survey import Sample, estimate_regression

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd16-survey-weights-synthetic"
CASES = json.loads((FOLDER / "examples.json").read_text())


def people(n, seed):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    columns = {
        "age": age,
        "sex": rng.choice(["f", "m"], n),
        "town": rng.choice([f"t{i}" for i in range(12)], n),
        "wage": np.round(rng.lognormal(7, 0.5, n) + 10 * age, 2),
        "ill": rng.choice(["no", "flu", "gout"], n, p=[0.8, 0.15, 0.05]),
    }
    return tacit.read(columns, keys=["age", "sex", "town"], sensitive="ill")


ORIGINAL, HOLDOUT, FRESH = people(300, 1), people(300, 2), people(300, 3)
ATTACKS = [
    tacit.Singling(attacks=120),
    tacit.Linkability(first=["age", "sex", "town"], second=["wage", "ill"], attacks=150),
    tacit.Inference(secret="wage", known=["age", "sex", "town"], attacks=150),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.kind)
def test_a_copy_is_found_out_and_a_fresh_sample_is_not(attack):
    copied = attack.measure(ORIGINAL, original=ORIGINAL, control=HOLDOUT, seed=1)
    fresh = attack.measure(FRESH, original=ORIGINAL, control=HOLDOUT, seed=1)
    assert copied.value > 0.3
    assert copied.numbers["risk, from"] > 0.15
    assert fresh.numbers["risk, from"] <= 0.02
    assert copied.value > fresh.value + 0.2
    assert "control records" in copied.explanation


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.kind)
def test_without_control_the_words_say_so(attack):
    found = attack.measure(FRESH, original=ORIGINAL, seed=1)
    assert "pass control=" in found.explanation
    assert "success on control records" not in found.numbers


def test_wilson_intervals_and_excess_by_hand():
    rate = Rate(30, 100)
    z = 1.959963984540054
    centre = (30 + z**2 / 2) / (100 + z**2)
    half = z / (100 + z**2) * math.sqrt(30 * 70 / 100 + z**2 / 4)
    assert rate.interval == pytest.approx((centre - half, centre + half))
    risk, low, high = excess(rate, Rate(10, 100))
    c = Rate(10, 100).value
    assert risk == pytest.approx((centre - c) / (1 - c))
    assert low < risk < high
    assert excess(Rate(5, 100), Rate(50, 100))[0] == 0.0


def test_distances_and_nearest_by_hand():
    a = tacit.read({"x": [0.0, 10.0, None], "c": ["p", "q", "p"]})
    b = tacit.read({"x": [5.0, None, 10.0], "c": ["p", "p", "q"]})
    files = line_up([a, b], ["x", "c"], "test")
    far = distances(files, files.sides[0].x, files.sides[1].x, [0, 1])
    assert far.tolist() == [[0.25, 0.5, 1.0], [0.75, 1.0, 0.0], [0.5, 0.0, 1.0]]
    assert nearest(files, files.sides[0], files.sides[1], [0, 1])[0].ravel().tolist() == [0, 2, 1]


def test_replicas_are_counted_as_written_out():
    original = tacit.read({"a": ["1", "1", "2", "3"], "b": ["x", "x", "y", "z"]})
    made = tacit.read({"a": ["1", "2", "2", "4"], "b": ["x", "y", "y", "z"]})
    found = tacit.SyntheticRisk().measure(made, original=original, seed=1)
    assert found.numbers["synthetic records that replicate an original one"] == 0.75
    assert found.numbers["original records that are unique"] == 2
    assert found.numbers["of these replicated"] == 1
    assert found.value == 0.25
    assert found.numbers["smallest original class replicated (k)"] == 1
    copied = tacit.SyntheticRisk().measure(ORIGINAL, original=ORIGINAL, control=HOLDOUT, seed=1)
    fresh = tacit.SyntheticRisk().measure(FRESH, original=ORIGINAL, control=HOLDOUT, seed=1)
    assert copied.numbers["share closer to the original than to control records"] > 0.95
    assert 0.4 < fresh.numbers["share closer to the original than to control records"] < 0.6


def test_a_key_that_is_the_stratum_counts():
    columns = {"h": ["a", "b", "c", "c"], "x": ["1", "1", "1", "1"]}
    data = tacit.read(columns, keys=["h", "x"], stratum="h")
    found = tacit.SyntheticRisk().measure(data, original=data, seed=1)
    assert found.numbers["original records that are unique"] == 2


def test_modes_of_copies():
    c = CASES["modal_membership_risk"]
    mode = modes(np.array(c["synthetic_m_by_record"]))
    assert mode.tolist() == c["expected_mode"]
    data = tacit.read({"h": c["original"], "y": [1, 2, 3]})
    rows = c["synthetic_m_by_record"]
    stacked = tacit.read(
        {"h": [v for r in rows for v in r], "copy": np.repeat(range(5), 3), "y": [1, 2, 3] * 5},
        copy_number="copy",
    )
    found = tacit.DesignRisk(column="h").measure(stacked, original=data)
    assert found.value == pytest.approx(c["expected_share_recovered"])


def test_old_weights_tell_sizes_and_strata():
    rng = np.random.default_rng(2)
    size = np.round(rng.lognormal(4, 0.5, 200), 3)
    data = tacit.read(
        {"size": size, "w": size.sum() * 9 / (200 * size), "y": size + rng.normal(0, 5, 200)},
        weight="w",
    )
    design = {"kind": "pps", "columns": ["size"]}
    limits = {"ranges": {"size": [1, None]}}
    old = tacit.Synthesise(
        columns=["size"], weights="oldw", design=design, allow_disclosure=True, copies=3, **limits
    )
    new = tacit.Synthesise(columns=["size"], design=design, copies=3, **limits)
    risk = tacit.DesignRisk(column="size", size=True)
    told = risk.measure(old.apply(data, seed=1), original=data).numbers["share told by the weight"]
    again = risk.measure(new.apply(data, seed=1), original=data).numbers["share told by the weight"]
    assert told == 1.0
    assert again < 0.05
    strata = np.repeat(["a", "b"], 100)
    data = tacit.read(
        {"h": strata, "w": np.where(strata == "a", 5.0, 9.0), "y": rng.normal(size=200)},
        weight="w",
        stratum="h",
    )
    with pytest.warns(tacit.errors.WeakProtection, match="old weights may tell"):
        kept = tacit.Synthesise(columns=["h"], weights="oldw").apply(data, seed=1)
    assert tacit.DesignRisk().measure(kept, original=data).value == 1.0
    made = tacit.Synthesise(columns=["h"]).apply(data, seed=1)
    assert (
        tacit.DesignRisk().measure(made, original=data).numbers["share told by the weight"] == 0.0
    )


def test_estimates_of_copies_beside_the_original():
    made = tacit.Synthesise(columns=["wage"], copies=4).apply(ORIGINAL, seed=1)
    spec = tacit.SyntheticEstimates(
        means=["wage"], totals=["age"], shares=["wage"], regressions={"wage": ["age"]}
    )
    found = spec.measure(made, original=ORIGINAL)
    rows = {r["estimand"]: r for r in found.frame.rows(named=True)}
    assert len(rows) == 7
    # What was not replaced has no variance between copies, and the same interval.
    assert rows["total of age"]["overlap"] == pytest.approx(1.0)
    assert rows["mean of wage"]["overlap"] > 0.5
    assert "partial" in found.explanation
    one = spec.measure(
        tacit.Synthesise(columns=["wage"]).apply(ORIGINAL, seed=1), original=ORIGINAL
    )
    assert "One copy" in one.explanation


def test_margins_and_prediction():
    same = tacit.MarginChange().measure(ORIGINAL, original=ORIGINAL)
    assert same.value == pytest.approx(0.0, abs=1e-12)
    other = tacit.read({"a": ["x"] * 4, "b": ["p", "q"] * 2})
    moved = tacit.read({"a": ["x", "x", "x", "y"], "b": ["p", "q"] * 2})
    assert tacit.MarginChange(ways=1).measure(moved, original=other).value == pytest.approx(0.125)
    rng = np.random.default_rng(1)
    x = rng.normal(size=600)
    learn = tacit.read({"x": x, "y": np.where(x > 0, "p", "q")})
    wrong = tacit.read({"x": x, "y": rng.permutation(np.where(x > 0, "p", "q"))})
    spec = tacit.TrainOnSynthetic(target="y")
    assert spec.measure(learn, original=learn, seed=1).value > -0.1
    assert spec.measure(wrong, original=learn, seed=1).value < -0.5


@pytest.mark.parametrize("gone", [["x"], ["x", "z"]])
def test_columns_without_a_value_predict_nothing(gone):
    """The library for trees fails on them."""
    rng = np.random.default_rng(2)
    whole = {"x": rng.normal(size=90), "z": rng.choice(["p", "q"], 90), "y": rng.normal(size=90)}
    empty = {c: pa.nulls(90, pa.array(v).type) if c in gone else v for c, v in whole.items()}
    data = tacit.read(pa.table(empty))
    for original in (tacit.read(pa.table(whole)), data):
        found = tacit.TrainOnSynthetic(target="y").measure(data, original=original, seed=1)
        assert abs(found.numbers["score, learnt from synthetic records"]) < 1


def test_control_files_in_plans_and_in_the_shell(tmp_path, capsys):
    for name, data in (("people", ORIGINAL), ("holdout", HOLDOUT)):
        pa.csv.write_csv(data.to_arrow(), tmp_path / f"{name}.csv")
    (tmp_path / "plan.yaml").write_text(
        "tacit: 1\nsource: people.csv\ncontrol: holdout.csv\nroles: {keys: [age, sex, town], sensitive: ill}\n"
        "steps: [{kind: synthesise, columns: [wage, ill], copies: 2}]\n"
        "measures: [{kind: inference, secret: wage, attacks: 40}]\noutput: out\nseed: 3\n"
    )
    assert main(["check", str(tmp_path / "plan.yaml")]) == 0
    assert main(["run", str(tmp_path / "plan.yaml")]) == 0
    assert main(["verify", str(tmp_path / "out")]) == 0
    plan = tacit.Plan.load(tmp_path / "plan.yaml")
    assert plan.to_dict()["control"] == {"path": "holdout.csv"}
    found = plan.run().after[0]
    assert "success on control records" in found.numbers
    capsys.readouterr()
    argv = [
        "measure",
        "singling",
        str(tmp_path / "people.csv"),
        "--original",
        str(tmp_path / "people.csv"),
    ]
    assert (
        main([*argv, "--control", str(tmp_path / "holdout.csv"), "--attacks", "30", "--seed", "1"])
        == 0
    )
    assert "success on control records" in capsys.readouterr().out
    made = str(tmp_path / "made.csv")
    source = str(tmp_path / "people.csv")
    assert (
        main(
            [
                "apply",
                "synthesise",
                source,
                "--columns",
                "wage",
                "--copies",
                "2",
                "--seed",
                "1",
                "--out",
                made,
            ]
        )
        == 0
    )
    argv = ["measure", "synthetic-risk", made, "--copy-number", "_copy", "--original", source]
    assert main([*argv, "--records", "50", "--seed", "1"]) == 0
    assert "2 copies" in capsys.readouterr().out.replace("\n", " ")
    (tmp_path / "plan.yaml").write_text(
        (tmp_path / "plan.yaml").read_text().replace("holdout.csv", "nowhere.csv")
    )
    assert main(["check", str(tmp_path / "plan.yaml")]) != 0


# -- obvious truths -----------------------------------------------------------------------------------------


def columns_apart(data, seed):
    """Every column shuffled by itself: nothing of a person is left."""
    rng = np.random.default_rng(seed)
    table = data.to_arrow()
    return tacit.read(
        pa.table(
            {c: table.column(c).take(rng.permutation(len(table))) for c in table.column_names}
        ),
        keys=["age", "sex", "town"],
        sensitive="ill",
    )


TRUTHS = [
    tacit.Singling(together=4, attacks=150),
    tacit.Linkability(first=["age", "town", "ill"], second=["wage", "sex"], attacks=300),
    tacit.Inference(
        secret="wage", known=["age", "sex", "town", "ill"], tolerance=0.001, attacks=300
    ),
]


@pytest.mark.parametrize("attack", TRUTHS, ids=lambda a: a.kind)
@pytest.mark.parametrize("control", [300, 75], ids=["equal", "short"])
def test_the_original_itself_is_at_risk_and_shuffled_columns_are_not(attack, control):
    holdout = people(control, 2)
    copied = attack.measure(ORIGINAL, original=ORIGINAL, control=holdout, seed=1)
    assert copied.numbers["success rate"] > 0.6
    assert copied.numbers["risk, from"] > 0.5
    apart = attack.measure(columns_apart(ORIGINAL, 4), original=ORIGINAL, control=holdout, seed=1)
    assert apart.value < 0.12
    assert apart.numbers["risk, from"] <= 0.03


def test_distances_to_a_holdout_convict_the_original_itself():
    for data, low, high in ((ORIGINAL, 0.95, 1.0), (columns_apart(ORIGINAL, 4), 0.4, 0.6)):
        found = tacit.SyntheticRisk().measure(data, original=ORIGINAL, control=HOLDOUT, seed=1)
        assert low < found.numbers["share closer to the original than to control records"] < high
        assert ("has learnt people" in found.explanation) == (low > 0.5)


@pytest.mark.parametrize(("mean", "shape"), [(0.5, 0.4), (2.0, 1.5), (1.0, np.inf)])
def test_rates_of_a_short_control_file_are_carried_to_the_length_of_the_original(mean, shape):
    rng = np.random.default_rng(8)
    rate = np.full(200_000, mean) if np.isinf(shape) else rng.gamma(shape, mean / shape, 200_000)
    short = rng.poisson(rate)
    for ratio in (1.0, 2.0, 4.0):
        told = share_single(short, ratio)
        assert told == pytest.approx((rng.poisson(ratio * rate) == 1).mean(), abs=0.012)
    assert share_single(np.array([], dtype=np.int64), 3.0) == 0.0
    assert 0 <= share_single(np.array([1]), 1e6) <= 1
    assert 0 <= share_single(np.array([5, 1, 7]), 3.0) <= 1


def test_a_response_cannot_be_its_own_covariate():
    with pytest.raises(ValueError, match="cannot explain itself"):
        tacit.SyntheticEstimates(regressions={"income": ["age", "income"]})


def test_an_exact_fit_has_no_variance_left_by_rounding():
    rng = np.random.default_rng(3)
    x = rng.lognormal(8, 1, (60, 2))
    y = 3.1 * x[:, 0] - 0.7 * x[:, 1] + 11
    found = estimate_regression(x, y, Sample(rng.uniform(1, 9, 60)))
    assert not found.variances.any()
