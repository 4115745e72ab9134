"""A given noisy file, judged against the original: Massell, Zayatz and Funk (2006)."""

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter

HOME = Path(__file__).parents[1] / "fixtures/psd26-noise-before-tabulation"
EXAMPLE = json.loads((HOME / "micro_example.json").read_text())


def files():
    """Return the worked example as two files: the noisy one has x (m + w - 1) / w."""
    rows = EXAMPLE["records"]
    columns = {name: [r[name] for r in rows] for name in ("company", "cell", "x", "w_unknown")}
    columns["w_known"] = [r["w_known"] for r in rows]
    noisy = [r["x"] * (r["mult"] + r["w_unknown"] - 1) / r["w_unknown"] for r in rows]
    order = np.random.default_rng(1).permutation(len(rows))
    mixed = {k: [v[i] for i in order] for k, v in {**columns, "x": noisy}.items()}
    del mixed["company"]
    read = {"weight": "w_unknown"}
    return tacit.read(columns, **read), tacit.read(mixed, **read)


def judge(**more):
    given = {
        "value": "x",
        "company": "company",
        "known_weight": "w_known",
        "tables": {"t": ["cell"]},
    }
    return tacit.NoiseProtection(**{**given, **more})


@pytest.mark.parametrize(
    "expected", EXAMPLE["results"], ids=lambda r: f"{r['p']}-{r['round_base']}"
)
def test_the_worked_example_from_two_files(expected):
    original, noisy = files()
    found = judge(p=expected["p"], round_base=expected["round_base"]).measure(
        noisy, original=original
    )
    row, errors = found.frame.rows(named=True)[0], expected["errors"]
    assert row["alpha"] == pytest.approx(errors["alpha"])
    assert row["beta"] == pytest.approx(errors["beta"])
    assert row["beta over all cells"] == pytest.approx(errors["beta_all_cells_approx"])
    assert row["multipliers below 1"] == errors["n_under"]
    assert row["sensitive"] == sum(c["sensitive"] for c in expected["cells"].values())
    assert found.met == (errors["n_under"] == 0)
    assert bool(found.shortfall) == (not found.met)


def test_brute_force_on_random_files():
    rng = np.random.default_rng(7)
    n = 200
    columns = {
        "company": rng.integers(0, 40, n).astype(str).tolist(),
        "a": rng.integers(0, 6, n).tolist(),
        "b": rng.integers(0, 5, n).tolist(),
        "x": np.round(rng.lognormal(3, 2, n), 2).tolist(),
    }
    original = tacit.read(columns)
    noisy = tacit.NoiseBeforeTabulation(columns=["x"], company="company", a=1.02, b=1.1).apply(
        original, seed=3
    )
    after = noisy.column("x").to_numpy()
    found = judge(known_weight=None, tables={"a x b": ["a", "b"]}).measure(noisy, original=original)
    short, sensitive = [], 0
    for a in range(6):
        for b in range(5):
            here = [i for i in range(n) if (columns["a"][i], columns["b"][i]) == (a, b)]
            owners = {}
            for i in here:
                owners[columns["company"][i]] = (
                    owners.get(columns["company"][i], 0) + columns["x"][i]
                )
            top = [*sorted(owners.values(), reverse=True)[:2], 0, 0]
            total = sum(owners.values())
            prot = 0.1 * top[0] - (total - top[0] - top[1])
            if here and prot > 1e-9:
                sensitive += 1
                moved = abs(sum(after[i] for i in here) - total)
                short.append(max(0.0, 1 - moved / prot))
    row = found.frame.rows(named=True)[0]
    assert row["sensitive"] == sensitive > 5
    assert found.value == pytest.approx(np.mean(short))
    assert 0 < found.value < 1
    assert not found.shortfall  # nobody asked for a p


def test_single_companies_are_protected_by_the_method():
    original = tacit.read(
        {"company": ["a", "b", "b", "c"], "state": ["N", "S", "S", "W"], "x": [5.0, 7, 9, 0]}
    )
    noisy = tacit.NoiseBeforeTabulation(columns=["x"], company="company").apply(original, seed=1)
    found = judge(known_weight=None, tables={"state": ["state"]}).measure(noisy, original=original)
    assert found.met
    assert found.numbers["sensitive cells"] == 2
    same = judge(known_weight=None, tables={"state": ["state"]}, p=10).measure(
        original, original=original
    )
    assert same.value == 1
    assert same.shortfall.startswith("2 of 2 sensitive cells move less")
    assert (
        not judge(known_weight=None, tables={"state": ["state"]}, alpha_limit=1.0)
        .measure(original, original=original)
        .shortfall
    )


def test_missing_values_and_new_cells():
    original = tacit.read(
        {"company": ["a", "b", "c"], "state": ["N", "S", "S"], "x": [5.0, None, 9.0]}
    )
    released = tacit.read({"state": ["N", "S", "E"], "x": [6.0, 10.0, 4.0]})
    found = judge(known_weight=None, tables={"state": ["state"]}).measure(
        released, original=original
    )
    assert found.frame.rows(named=True)[0]["cells"] == 2
    assert found.met


def test_faults():
    original, noisy = files()
    with pytest.raises(InvalidParameter, match="at least one table"):
        judge(tables={})
    with pytest.raises(ColumnNotFound, match="region"):
        judge(tables={"t": ["region"]}).measure(noisy, original=original)
    with pytest.raises(ColumnNotFound, match="company"):
        judge().measure(noisy, original=noisy)
    negative = tacit.read({"company": ["a"], "cell": ["A"], "x": [-1.0], "w_known": [1.0]})
    with pytest.raises(InputError, match="negative values in the original"):
        judge().measure(noisy, original=negative)
