"""The judge and tacit's own checks agree, on patterns and files that keep a claim and on those that break it."""

import functools

import numpy as np
import pytest

import tacit
from fuzz import draw
from fuzz.judge import JUDGES
from fuzz.run import look
from tacit.claims import Claim
from tacit.data.cells.status import Status

PATTERNS = [
    ("protected-intervals", {"singletons": False}),
    ("protected-intervals", {"singletons": True}),
    ("protected-in-table", {"intervals": True, "singletons": False, "apriori": 60.0}),
    ("protected-in-table", {"intervals": False, "singletons": True}),
    ("protected-in-subtables", {"intervals": True, "singletons": False}),
    ("protected-in-subtables", {"intervals": False, "singletons": True}),
    ("not-deducible", {"singletons": False}),
    ("not-deducible", {"singletons": True}),
]


@functools.cache
@functools.cache
def verdicts(seed):
    """Pairs of verdicts on one table with a random pattern: ours and the judge's, by claim."""
    rng = np.random.default_rng([3, seed])
    grid = draw.draw_grid(rng)
    table = tacit.MinimumFrequency(n=int(rng.integers(2, 5))).apply(grid.read())
    if table.primary.sum() > 12 or len(table) > 90:
        return {}
    more = (table.status == Status.SAFE) & (rng.random(len(table)) < rng.choice([0.2, 0.5, 0.8]))
    table = table.with_status(np.flatnonzero(more), Status.SECONDARY)
    shown = table.released()
    file = {c: [None if v is None else str(v) for v in shown[c].to_list()] for c in shown.columns}
    view, faults = look(grid, table, file)
    assert not faults
    found = {}
    for model, parameters in PATTERNS:
        if model == "protected-in-subtables" and len(grid.parts) > 1:
            continue
        claim = Claim(model, parameters, "all unsafe cells", table.names)
        found[model, str(parameters)] = claim.holds(table), JUDGES[model](view, claim.to_dict())
    return found


@pytest.mark.parametrize("seeds", [range(a, a + 10) for a in range(0, 40, 10)], ids=str)
def test_patterns_are_judged_alike(seeds):
    for seed in seeds:
        for claim, (ours, theirs) in verdicts(seed).items():
            assert ours == theirs, (seed, claim)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(a, a + 50) for a in range(1000, 3000, 50)], ids=str)
def test_many_patterns_are_judged_alike(seeds):
    test_patterns_are_judged_alike(seeds)


def test_patterns_of_both_sorts_are_among_them():
    found = [v for seed in range(40) for v in verdicts(seed).values()]
    assert (True, True) in found
    assert (False, False) in found


def risk_claim(rng):
    """What a claim on the expected loss says: a random dictionary, and a risk that may be too small."""
    levels = np.array(["u", "v", "w", None], dtype=object)
    return {
        "risks": {"d": float(rng.uniform(0, 2))},
        "sensitivity": str(rng.choice(["phi1", "phi5"])),
        "weights": rng.uniform(0, 1, 3).tolist(),
        "interactions": [[["a", "b"], 0.5]],
        "dictionaries": {"d": {c: rng.choice(levels, 8).tolist() for c in "ab"}},
    }


@pytest.mark.parametrize("seed", range(30))
def test_files_are_judged_alike(seed):
    rng = np.random.default_rng([4, seed])
    n, k = int(rng.integers(1, 40)), int(rng.integers(2, 5))
    levels = np.array(["u", "v", "w", None], dtype=object)[: int(rng.integers(1, 5))]
    columns = {c: rng.choice(levels, n).tolist() for c in "abc"}
    columns["home"] = rng.choice(["h1", "h2", "h3"], n).tolist()
    data = tacit.read({c: v if any(v) else ["u"] * n for c, v in columns.items()})
    shown = {c: data.column(c).to_pylist() for c in columns}
    sampled = {
        "missing": str(rng.choice(["wildcard", "category"])),
        "sampling_fraction": float(rng.choice([1.0, 0.3, 0.02, 1e-3, 1e-6])),
    }
    for model, parameters, names in [
        ("k-anonymity", {"k": k}, ("a", "b")),
        ("k-agreement", {"k": k}, ("a", "b", "c")),
        ("k-combinations", {"k": k, "combinations": [["a"], ["b", "c"]]}, ("a", "b", "c")),
        ("categories", {"allowed": ["u", "v"]}, ("a",)),
        ("disclosed-cells", {"k": k, "per": "record"}, ("a", "b", "c")),
        ("disclosed-cells", {"k": 4 * k, "per": "attribute"}, ("a", "b")),
        ("disclosed-cells", {"k": 9 * k, "per": "total"}, ("a", "b")),
        ("decision-risk", risk_claim(rng), ("a", "b", "c")),
        ("individual-risk", {"threshold": float(rng.uniform(0.001, 0.2)), **sampled}, ("a", "b")),
        (
            "individual-risk",
            {"average": float(rng.uniform(0.001, 0.1)), **sampled},
            ("a", "b", "c"),
        ),
    ]:
        claim = Claim(model, parameters, "keys", names)
        assert claim.holds(data.frame) == JUDGES[model](shown, claim.to_dict()), model


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 12))]
)
def test_population_uniques_are_judged_alike(seed):
    rng = np.random.default_rng([5, seed])
    n = int(rng.integers(30, 200))
    big = int(n * rng.choice([2, 5, 20, 100]))
    codes = rng.zipf(rng.uniform(1.3, 2.2), n) % 5000
    data = tacit.read({"a": [str(c) for c in codes]})
    shown = {"a": [str(c) for c in codes]}
    for estimate in ("pitman", "zayatz", "snb", "dankar"):
        for threshold in (0.001, 0.01, 0.05, 0.2):
            told = {"population": big, "threshold": threshold, "estimate": estimate}
            claim = Claim("population-uniques", told, "keys", ("a",))
            assert claim.holds(data.frame) == JUDGES[claim.model](shown, claim.to_dict()), told


@pytest.mark.parametrize("seed", range(20))
def test_people_of_a_register_are_judged_alike(seed):
    rng = np.random.default_rng([6, seed])
    rows = rng.choice(["u", "v", "w"], (25, 2)).tolist()
    columns = {"a": [r[0] for r in rows], "b": [r[1] for r in rows]}
    classes = sorted({tuple(r) for r in rows})[int(rng.random() < 0.1) :]
    people = {
        "register": "",
        "classes": [[*c, int(rng.integers(2, 12))] for c in classes],
        "elsewhere": int(rng.integers(0, 2)),
    }
    for model, told in (
        ("k-map", {"k": 3}),
        ("delta-presence", {"delta_min": 0.0, "delta_max": float(rng.uniform(0.3, 2))}),
        ("delta-presence", {"delta_min": 0.2, "delta_max": 1.5}),
    ):
        claim = Claim(model, told | {"people": people}, "keys", ("a", "b"), withheld=("people",))
        assert claim.holds(tacit.read(columns).frame) == JUDGES[model](columns, claim.to_dict())
