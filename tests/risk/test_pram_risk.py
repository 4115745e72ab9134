"""Risk after PRAM: the Bayes risk of rare combinations and the threshold rule."""

import itertools

import numpy as np
import pytest

import tacit
import tacit.records.pram
from tacit.errors import ColumnNotFound, InputError, RoleMissing
from tacit.records.pram import from_history

COLUMNS = ("region", "status", "sex")


def people(n=1500, seed=1):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "region": rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.2, 0.07, 0.03]),
            "status": rng.choice([1, 2, 3], n, p=[0.6, 0.3, 0.1]),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 80, n),
            "w": rng.uniform(1, 3, n),
        },
        keys=list(COLUMNS),
        weight="w",
    )


def by_hand(data, released, tau):
    """Return unsafe cells from the definition, over all combinations, records one by one."""
    variables = {v.columns[0]: v for v in from_history(released.history)}
    rows = data.to_arrow([*COLUMNS, "age"]).to_pylist()
    cells = sorted({tuple(r[c] for c in COLUMNS) for r in rows})
    values = [sorted({r[c] for r in rows}) for c in COLUMNS]

    def chance(row, old, new):
        p = 1.0
        for c, a, b in zip(COLUMNS, old, new, strict=True):
            if c not in variables:
                p *= a == b
                continue
            v = variables[c]
            part = next(
                q
                for q in v.parts
                if all(row[b] == s for b, s in zip(v.by, q.stratum, strict=True))
                and (not v.rules or q.holds == (row["age"] < 16,))
            )
            levels = list(v.levels[0])
            p *= part.matrix.dense()[levels.index(a), levels.index(b)]
        return p

    unsafe = {}
    for cell in itertools.product(*values):
        mine = [r for r in rows if tuple(r[c] for c in COLUMNS) == cell]
        if not 0 < len(mine) < tau:
            continue
        stayed = sum(chance(r, cell, cell) for r in mine)
        seen = sum(chance(r, tuple(r[c] for c in COLUMNS), cell) for r in rows)
        unsafe[cell] = (stayed / seen, stayed / seen > len(mine) / tau)
    assert len(cells) > 5
    return unsafe


@pytest.mark.parametrize(
    "specs",
    [
        [{"column": "region", "matrix": "5F(0.7)"}],
        [{"column": "region"}, {"column": "status", "matrix": "3E(0.6)"}],
        [{"column": "region", "by": ["sex"]}],
        [{"column": "status", "matrix": "equal", "forbidden": [{"to": [3], "when": "age < 16"}]}],
    ],
    ids=["one", "two", "strata", "rule"],
)
def test_against_the_definition_record_by_record(specs):
    data = people(300)
    released = data
    for s in specs:
        released = tacit.Pram(**s).apply(released, seed=1)
    # The second step's matrix is made from the file it found; risk is about the original.
    found = tacit.PramRisk(tau=25).measure(released, original=data)
    want = by_hand(data, released, 25)
    assert found.before[COLUMNS] == len(want)
    assert found.after[COLUMNS] == sum(u for _, u in want.values())
    frame = found.frame.to_native().to_pydict()
    listed = dict(zip(frame["combination"], frame["risk"], strict=True))
    for cell, (risk, _) in want.items():
        assert listed[" x ".join(map(str, cell))] == pytest.approx(risk)


def test_without_pram_it_is_the_threshold_rule():
    data = people()
    found = tacit.PramRisk(tau=30).measure(data, original=data)
    rare = int((data.cells(list(COLUMNS)).n < 30).sum())
    assert found.value == rare
    assert found.before == found.after == {COLUMNS: rare}
    assert "No column was randomised" in found.explanation


def test_joint_columns_must_be_named_together():
    data = people()
    released = tacit.Pram(columns=["region", "status"], joint=True).apply(data, seed=1)
    found = tacit.PramRisk(tau=30).measure(released, original=data)
    assert 0 < found.value <= found.before[COLUMNS]
    with pytest.raises(InputError, match="randomised together"):
        tacit.PramRisk(combinations=[("region", "sex")]).measure(released, original=data)


def test_sampling_fraction_and_weights():
    data = people()
    released = tacit.Pram(column="region").apply(data, seed=1)
    half = tacit.PramRisk(tau=60, fraction=0.5).measure(released, original=data)
    plain = tacit.PramRisk(tau=30).measure(released, original=data)
    assert half.value == plain.value
    weighted = tacit.PramRisk(tau=60, weighted=True).measure(released, original=data)
    cells = data.cells(list(COLUMNS), weight="w")
    assert weighted.before[COLUMNS] == int((cells.weight < 60).sum())
    bare = tacit.read({"a": ["x", "y"]}, keys=["a"])
    with pytest.raises(RoleMissing, match="weighted needs a weight"):
        tacit.PramRisk(weighted=True).measure(bare, original=bare)


def test_excluded_categories_are_not_counted():
    data = people()
    released = tacit.Pram(column="region").apply(data, seed=1)
    every = tacit.PramRisk(tau=30).measure(released, original=data)
    some = tacit.PramRisk(tau=30, exclude={"region": ("e",), "status": (3,)}).measure(
        released, original=data
    )
    assert some.before[COLUMNS] < every.before[COLUMNS]


def test_combinations_with_a_missing_value_are_left_out():
    data = tacit.read({"a": ["x", "x", None, "y"], "b": [1, 2, 1, None]}, keys=["a", "b"])
    found = tacit.PramRisk(tau=5).measure(data, original=data)
    assert found.value == 2


def test_risk_falls_as_categories_stay_less():
    data = people()
    unsafe = []
    for stay in (0.4, 0.6, 0.8, 0.95):
        released = tacit.Pram(column="status", matrix="equal", stay=stay).apply(data, seed=1)
        unsafe.append(tacit.PramRisk(tau=40).measure(released, original=data).value)
    assert unsafe == sorted(unsafe)


def test_a_file_with_matrices_will_do(tmp_path):
    data = people()
    released = tacit.Pram(column="status", matrix="3E(0.6)").apply(data, seed=1)
    path = tacit.pram.write_matrices(tmp_path / "m.json", released)
    again = tacit.read(released.to_arrow(), keys=list(COLUMNS))
    found = tacit.PramRisk(tau=40, matrices=str(path)).measure(again, original=data)
    assert found.value == tacit.PramRisk(tau=40).measure(released, original=data).value


def test_bad_input_is_refused():
    data = tacit.read({"a": ["x", "y"]})
    with pytest.raises(RoleMissing, match="name combinations"):
        tacit.PramRisk().measure(data, original=data)
    with pytest.raises(tacit.errors.InvalidParameter, match="tau must be greater than 0"):
        tacit.PramRisk(tau=0)
    with pytest.raises(ColumnNotFound):
        tacit.PramRisk(combinations=[("b",)]).measure(data, original=data)
    one = tacit.pram.simple("a", ["x", "y"], tacit.pram.equal(2, 0.8)).to_dict()
    twice = tacit.PramRisk(combinations=[("a",)], matrices={"variables": [one, one]})
    with pytest.raises(InputError, match="more than once"):
        twice.measure(data, original=data)
