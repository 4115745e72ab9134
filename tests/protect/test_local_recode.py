"""LocalRecode: never worse than whole columns, true labels, and models that hold on what is released."""

import itertools
import time
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.engine.base import ROW
from tacit.errors import Infeasible, InputError, RoleMissing

TREES = {
    "a": {"1": ("m", "*"), "2": ("m", "*"), "3": ("n", "*")},
    "b": {"p": ("u", "m", "*"), "q": ("u", "m", "*"), "r": ("v", "m", "*"), "s": ("w", "x", "*")},
    "c": {"y": ("*",), "z": ("*",)},
}
METHODS = ["iterative", "top_down", "mondrian", "mondrian_relaxed"]


def draw(seed, n=60, nulls=False):
    rng = np.random.default_rng(seed)
    values = {k: list(TREES[k]) + ([None] if nulls else []) for k in TREES}
    table = {k: [v[i] for i in rng.integers(0, len(v), n)] for k, v in values.items()}
    table["s"] = [str(v) for v in rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])]
    table["w"] = [float(v) for v in rng.integers(1, 4, n)]
    table["age"] = [int(v) for v in rng.integers(18, 60, n)]
    return table


def read(table, keys=("a", "b", "c"), **roles):
    hierarchies = {
        k: tacit.hierarchy.Hierarchy.from_paths([[v, *path] for v, path in tree.items()])
        for k, tree in TREES.items()
        if k in table
    }
    quasi = keys if isinstance(keys, dict) else list(keys)
    return tacit.read(pa.table(table), keys=quasi, hierarchies=hierarchies, **roles)


def leaves(key, label):
    """Return the ground values that a released label stands for; a missing value stands for itself."""
    if label is None:
        return {None}
    if label == "*":
        return {*TREES[key], None}
    return {v for v, path in TREES[key].items() if label == v or label in path}


def loss(table, released):
    """Return Iyengar's loss from the released file alone."""
    rows = released.to_arrow(list(TREES)).to_pylist()
    n = len(table["a"])
    total = float(n - len(rows))
    for row in rows:
        cells = [(len(leaves(k, row[k]) - {None}) or 1) - 1 for k in TREES]
        total += sum(c / (len(TREES[k]) - 1) for c, k in zip(cells, TREES, strict=True)) / 3
    return total / n


def classes(released, keys=tuple(TREES)):
    found = defaultdict(list)
    for row in released.to_arrow().to_pylist():
        found[tuple(row[k] for k in keys)].append(row)
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_labels_are_true_k_holds_and_nothing_is_worse_than_whole_columns(seed, method):
    table = draw(seed, nulls=seed % 2 == 1)
    data = read(table)
    asked = {"models": [tacit.KAnonymity(k=2 + seed % 3)], "suppression": [0.0, 0.1, 1.0][seed % 3]}
    spec = tacit.LocalRecode(method=method, **asked)
    best = tacit.Anonymise(**asked).search(data).best.value
    released = spec.apply(data, seed=1)
    told = released.history[-1].details
    assert told["global_value"] == pytest.approx(best)
    assert told["value"] <= best + 1e-12
    assert told["value"] == pytest.approx(loss(table, released))
    assert min(len(rows) for rows in classes(released).values()) >= 2 + seed % 3
    assert len(table["a"]) - len(released) == told["dropped"] <= 0.1 * 60 or seed % 3 == 2
    kept = released.to_arrow(with_row=True)
    before = data.to_arrow(with_row=True).to_pylist()
    original = {row[ROW]: row for row in before}
    for row in kept.to_pylist():
        for k in TREES:
            assert original[row[ROW]][k] in leaves(k, row[k])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "utility",
    ["precision", "entropy", "discernibility", "ambiguity", "average_class_size", "classification"],
)
def test_no_utility_is_worse_than_whole_columns(seed, utility):
    data = read(draw(seed + 40))
    target = {"target": "s"} if utility == "classification" else {}
    asked = {"models": [tacit.KAnonymity(k=3)], "suppression": 0.2, "utility": utility, **target}
    best = tacit.Anonymise(**asked).search(data).best.value
    for method in ("iterative", "top_down"):
        assert tacit.LocalRecode(method=method, **asked).search(data).value <= best + 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "model",
    [
        tacit.LDiversity(l=2, sensitive="s"),
        tacit.LDiversity(l=1.6, sensitive="s", variant="entropy"),
        tacit.LDiversity(l=2, sensitive="s", variant="recursive", c=2.0),
        tacit.TCloseness(t=0.3, sensitive="s"),
    ],
)
def test_other_models_hold_on_the_union(method, model):
    table = draw(7, n=120)
    data = read(table, sensitive=["s"])
    spec = tacit.LocalRecode(models=[tacit.KAnonymity(k=3), model], suppression=0.3, method=method)
    released = spec.apply(data, seed=1)  # every claim is recomputed on the released file
    assert len(released.history[-1].claims) == 2
    whole = Counter(row["s"] for row in released.to_arrow().to_pylist())
    for rows in classes(released).values():
        part = Counter(row["s"] for row in rows)
        assert len(rows) >= 3
        if model.kind == "t_closeness":
            far = sum(abs(part[v] / len(rows) - whole[v] / len(released)) for v in whole) / 2
            assert far <= 0.3 + 1e-9


def test_the_bound_lies_below_the_best_of_all_releases():
    table = {
        "a": ["1", "1", "2", "3", "3", "1"],
        "c": ["y", "z", "y", "y", "z", "y"],
    }
    data = read(table, keys=("a", "c"))
    nodes = list(itertools.product(range(3), range(2)))

    def label(i, node):
        a = (table["a"][i], *TREES["a"][table["a"][i]])[node[0]]
        return a, (table["c"][i], "*")[node[1]]

    costs = {"m": 0.5, "*": 1.0}
    least = min(
        sum(costs.get(a, 0.0) + (c == "*") for a, c in labels) / 12
        for chosen in itertools.product(nodes, repeat=6)
        for labels in [[label(i, node) for i, node in enumerate(chosen)]]
        if min(Counter(labels).values()) >= 2
    )
    for method in ("iterative", "top_down"):
        found = tacit.LocalRecode(models=[tacit.KAnonymity(k=2)], method=method).search(data)
        assert found.bound <= least <= found.value + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_weights_count_as_asked(method):
    table = draw(3, n=150)
    data = read(table, weight="w")
    spec = tacit.LocalRecode(
        models=[tacit.KAnonymity(k=8)], suppression=0.1, method=method, weights="weighted"
    )
    released = spec.apply(data, seed=1)
    for rows in classes(released).values():
        assert sum(row["w"] for row in rows) >= 8
    gone = sum(table["w"]) - sum(row["w"] for row in released.to_arrow().to_pylist())
    assert gone <= 0.1 * sum(table["w"]) + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_several_quasi_identifiers_each_hold(method):
    data = read(draw(3, n=150), keys={"one": ["a", "b"], "two": ["b", "c"]})
    released = tacit.LocalRecode(models=[tacit.KAnonymity(k=4)], method=method).apply(data)
    for keys in (("a", "b"), ("b", "c")):
        assert min(len(rows) for rows in classes(released, keys).values()) >= 4


@pytest.mark.parametrize("method", METHODS)
def test_limits_on_levels_hold_for_every_record(method):
    spec = tacit.LocalRecode(
        models=[tacit.KAnonymity(k=3)],
        suppression=0.4,
        method=method,
        levels={"a": (0, 1), "b": (1, 2)},
    )
    released = spec.apply(read(draw(2, n=150)))
    assert set(released.column("a").to_pylist()) <= {"1", "2", "3", "m", "n"}
    assert set(released.column("b").to_pylist()) <= {"u", "v", "w", "m", "x"}


@pytest.mark.parametrize("method", METHODS)
def test_values_that_an_earlier_step_generalised_climb_on(method):
    data = tacit.Generalise(columns=["b"], level=1).apply(read(draw(2, n=150)))
    spec = tacit.LocalRecode(models=[tacit.KAnonymity(k=5)], method=method)
    released = spec.apply(data)
    assert min(len(rows) for rows in classes(released).values()) >= 5
    assert set(released.column("b").to_pylist()) <= {"u", "v", "w", "m", "x", "*"}


def test_the_search_prints_itself():
    found = tacit.LocalRecode(models=[tacit.KAnonymity(k=3)]).search(read(draw(1)))
    assert "loss of whole columns" in repr(found)
    assert found.frame["key"].to_list() == ["a", "b", "c"]
    assert found.frame["loss"].mean() == pytest.approx(found.value)


@pytest.mark.parametrize("relaxed", [False, True])
def test_mondrian_cuts_numbers_at_medians(relaxed):
    data = tacit.read(
        pa.table({"age": [1, 2, 3, 4, 5, 5, 5, 8], "zip": [10, 10, 10, 10, 20, 20, 20, 20]}),
        keys=["age", "zip"],
    )
    method = "mondrian_relaxed" if relaxed else "mondrian"
    released = tacit.LocalRecode(models=[tacit.KAnonymity(k=2)], method=method).apply(data)
    found = sorted(zip(*released.to_arrow().to_pydict().values(), strict=True))
    low = [("1-2", "10")] * 2 + [("3-4", "10")] * 2
    high = [("5", 20)] * 2 + [("5-8", 20)] * 2 if relaxed else [("5-8", 20)] * 4
    assert [(a, str(z)) for a, z in found] == [(a, str(z)) for a, z in low + high]
    assert "age" not in released.hierarchies


def test_mondrian_does_not_cut_codes():
    paths = [["1", "odd", "*"], ["2", "even", "*"], ["3", "odd", "*"], ["4", "even", "*"]]
    trees = {
        "code": tacit.hierarchy.Hierarchy.from_paths(paths),
        "kind": tacit.hierarchy.flat(),
        "age": tacit.hierarchy.intervals([10, 20]),
    }
    rng = np.random.default_rng(2)
    table = {k: rng.integers(1, top, 90) for k, top in (("code", 5), ("kind", 4), ("age", 70))}
    data = tacit.read(pa.table(table), keys=["code", "kind", "age"], hierarchies=trees)
    released = tacit.LocalRecode(models=[tacit.KAnonymity(k=6)], method="mondrian").apply(data)
    found = {k: {str(v) for v in released.column(k).to_pylist()} for k in trees}
    assert found["code"] <= {"1", "2", "3", "4", "odd", "even", "*"}
    assert found["kind"] <= {"1", "2", "3", "*"}
    assert any("-" in label for label in found["age"])
    assert {"code", "kind"} <= set(released.hierarchies)


def test_mondrian_takes_missing_numbers_and_hierarchies():
    table = draw(5, n=400)
    table["age"][::9] = [None] * len(table["age"][::9])
    for method in ("mondrian", "mondrian_relaxed"):
        spec = tacit.LocalRecode(models=[tacit.KAnonymity(k=5)], method=method)
        released = spec.apply(read(table, keys=("a", "b", "age")))
        assert len(released) == 400
        assert min(len(r) for r in classes(released, ("a", "b", "age")).values()) >= 5
        domain = sorted({age for age in table["age"] if age is not None})
        total = 0.0
        for row in released.to_arrow().to_pylist():
            total += sum((len(leaves(k, row[k]) - {None}) - 1) / (len(TREES[k]) - 1) for k in "ab")
            low, _, high = (row["age"] or "0").partition("-")
            inside = (
                domain if low == "*" else [v for v in domain if int(low) <= v <= int(high or low)]
            )
            total += (max(len(inside), 1) - 1) / (len(domain) - 1)
        assert released.history[-1].details["value"] == pytest.approx(total / 3 / 400)
        for row, age in zip(released.to_arrow().to_pylist(), table["age"], strict=True):
            told = row["age"]
            assert told == "*" or (told is None) == (age is None)
            if told not in (None, "*"):
                low, _, high = told.partition("-")
                assert int(low) <= age <= int(high or low)


def test_mondrian_on_a_hundred_thousand_records_takes_seconds():
    rng = np.random.default_rng(1)
    n = 100_000
    table = pa.table(
        {
            "age": rng.integers(0, 100, n),
            "income": rng.integers(0, 20_000, n),
            "a": rng.choice(["1", "2", "3"], n),
        }
    )
    tree = tacit.hierarchy.Hierarchy.from_paths([[v, *p] for v, p in TREES["a"].items()])
    data = tacit.read(table, keys=["age", "income", "a"], hierarchies={"a": tree})
    started = time.process_time()
    found = tacit.LocalRecode(models=[tacit.KAnonymity(k=10)], method="mondrian").search(data)
    assert time.process_time() - started < 20
    assert found.release.classes > 3_000
    assert found.chosen == "mondrian"


@pytest.mark.parametrize("how", ["mean", "median", "interval"])
@pytest.mark.parametrize("spec", ["anonymise", "local_recode"])
def test_numeric_keys_get_one_value_a_class(how, spec):
    table = draw(4, n=200)
    table["age"][3] = None
    data = read(table, keys=("a", "b", "age"))
    made = {"anonymise": tacit.Anonymise, "local_recode": tacit.LocalRecode}[spec]
    released = made(
        models=[tacit.KAnonymity(k=4)], suppression=0.1, microaggregate={"age": how}
    ).apply(data)
    assert min(len(rows) for rows in classes(released, ("a", "b", "age")).values()) >= 4
    ages = {row[ROW]: row["age"] for row in data.to_arrow(with_row=True).to_pylist()}
    found = defaultdict(list)
    for row in released.to_arrow(with_row=True).to_pylist():
        found[row["a"], row["b"]].append((ages[row[ROW]], row["age"]))
    for pairs in found.values():
        before = sorted(a for a, _ in pairs if a is not None)
        (told,) = {t for _, t in pairs}
        wanted = {
            "mean": np.mean(before),
            "median": np.median(before),
            "interval": f"{before[0]}-{before[-1]}" if before[0] < before[-1] else str(before[0]),
        }[how]
        assert told == (wanted if how == "interval" else pytest.approx(wanted))


@pytest.mark.parametrize("made", [tacit.Anonymise, tacit.LocalRecode])
def test_classes_of_values_are_those_of_their_quasi_identifier(made):
    data = read(draw(4, n=150), keys={"one": ["a", "age"], "two": ["b", "c"]})
    spec = made(models=[tacit.KAnonymity(k=4)], microaggregate={"age": "mean"})
    released = spec.apply(data)
    assert min(len(rows) for rows in classes(released, ("a", "age")).values()) >= 4
    assert {len({r["age"] for r in rows}) for rows in classes(released, ("a",)).values()} == {1}
    both = read(draw(4, n=150), keys={"one": ["a", "age"], "two": ["b", "age"]})
    with pytest.raises(InputError, match="may stand in one quasi-identifier only"):
        spec.apply(both)
    lkc = tacit.Lkc(known=2, k=3, confidence=0.9, sensitive="s")
    with pytest.raises(InputError, match="lkc asks for sets of keys"):
        made(models=[lkc], microaggregate={"age": "mean"}).apply(data)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "model",
    [
        tacit.BetaLikeness(beta=1.2, sensitive="s"),
        tacit.DeltaDisclosure(delta=1.5, absent="ignored", sensitive="s"),
        tacit.AlphaK(alpha=0.7, k=3, sensitive="s"),
        tacit.Lkc(known=2, k=3, confidence=0.8, sensitive="s"),
        tacit.AttackRisk(highest=0.5, average=0.15),
        tacit.AttackRisk(at_risk=0.1, threshold=0.3),
    ],
)
def test_every_model_holds_on_the_release(method, model):
    data = read(draw(9, n=120))
    asked = {"models": [model], "suppression": 0.3}
    released = tacit.LocalRecode(method=method, **asked).apply(data, seed=1)
    assert released.history[-1].claims
    told = released.history[-1].details
    assert told["value"] <= tacit.Anonymise(**asked).search(data, top=1).best.value + 1e-9


@pytest.mark.parametrize("how", ["mean", "median", "interval"])
def test_no_record_may_be_left_to_aggregate(how):
    data = read(draw(1, n=5), keys=("a", "age"))
    spec = tacit.Anonymise(
        models=[tacit.LDiversity(l=4.5, sensitive="s")],
        suppression=1.0,
        microaggregate={"age": how},
    )
    assert len(spec.apply(data)) == 0


def test_class_values_can_be_weighted():
    table = {"a": ["1"] * 3, "age": [10, 20, 60], "w": [1.0, 2.0, 5.0]}
    data = read(table, keys=("a", "age"), weight="w")

    def told(how):
        spec = tacit.Anonymise(
            models=[tacit.KAnonymity(k=2)], weights="weighted", microaggregate={"age": how}
        )
        return set(spec.apply(data).column("age").to_pylist())

    assert told("mean") == {43.75}
    assert told("median") == {60.0}


def test_labels_with_one_group_on_two_levels_form_one_class():
    paths = [["1", "low", "low", "*"], ["2", "low", "low", "*"], ["9", "9", "high", "*"]]
    tree = tacit.hierarchy.Hierarchy.from_paths(paths)
    data = tacit.read(pa.table({"x": ["1", "2", "9", "9"]}), keys=["x"], hierarchies={"x": tree})
    spec = tacit.LocalRecode(models=[tacit.KAnonymity(k=2)], utility="precision")
    assert spec.apply(data).column("x").to_pylist() == ["low", "low", "9", "9"]
    assert spec.search(data).value == pytest.approx(1 / 6)


def test_mistakes_get_one_sentence():
    data = read(draw(1))
    with pytest.raises(InputError, match="uniqueness is not a model that local_recode can aim at"):
        tacit.LocalRecode(models=[tacit.Uniqueness()]).apply(data)
    with pytest.raises(Infeasible, match="no generalisation of whole columns is safe"):
        tacit.LocalRecode(models=[tacit.KAnonymity(k=61)]).apply(data)
    k = [tacit.KAnonymity(k=2)]
    with pytest.raises(RoleMissing, match="key 'age' has no hierarchy"):
        tacit.LocalRecode(models=k).apply(read(draw(1), keys=("a", "age")))
    with pytest.raises(InputError, match="key 'a' is not numeric"):
        tacit.Anonymise(models=k, microaggregate={"a": "mean"}).apply(data)
    with pytest.raises(InputError, match="microaggregate='age' is no key"):
        tacit.Anonymise(models=k, microaggregate={"age": "mean"}).apply(data)
    with pytest.raises(InputError, match="takes no importance or levels"):
        tacit.Anonymise(models=k, microaggregate={"age": "mean"}, importance={"age": 2.0}).apply(
            read(draw(1), keys=("a", "age"))
        )
    with pytest.raises(InputError, match="at least one key of a quasi-identifier must be left"):
        tacit.Anonymise(models=k, microaggregate={"age": "mean"}).apply(
            read(draw(1), keys=("age",))
        )
