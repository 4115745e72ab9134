"""Anonymise aims at individual risk: against all nodes, and with its claim recomputed."""

import numpy as np
import pytest

import tacit
from tacit.errors import InputError
from tacit.records.samples.posterior import expected_inverse

TREE = {
    "a": [["1", "m", "*"], ["2", "m", "*"], ["3", "n", "*"]],
    "b": [["p", "u", "*"], ["q", "u", "*"], ["r", "v", "*"], ["s", "v", "*"]],
}


def survey(seed, n=60, weighted=True, keys=("a", "b")):
    rng = np.random.default_rng(seed)
    table = {
        "a": rng.choice(["1", "2", "3"], n, p=[0.6, 0.3, 0.1]).tolist(),
        "b": rng.choice(["p", "q", "r", "s"], n, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
        "w": rng.uniform(1, 12, n).tolist(),
    }
    hierarchies = {k: tacit.hierarchy.Hierarchy.from_paths(v) for k, v in TREE.items()}
    roles = {"weight": "w"} if weighted else {}
    return tacit.read(table, keys=keys, hierarchies=hierarchies, **roles)


def risks(data, levels, fraction=1.0):
    for key, level in levels.items():
        data = data.generalise(key, level)
    table = data.to_arrow(["a", "b", "w"]).to_pydict()
    classes = {}
    for a, b, w in zip(*table.values(), strict=True):
        f, total = classes.get((a, b), (0, 0.0))
        classes[a, b] = f + 1, total + w
    if data.weight is None:
        classes = {k: (f, f / fraction) for k, (f, _) in classes.items()}
    return [float(expected_inverse(*(f, f / t))) for f, t in classes.values() for _ in range(f)]


def nodes():
    return [{"a": i, "b": j} for i in range(3) for j in range(3)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [0.3, 0.08])
def test_the_best_node_for_every_record_is_found(seed, limit):
    data = survey(seed)
    found = tacit.Anonymise(models=[tacit.IndividualRisk(threshold=limit)]).search(data)
    safe = {tuple(n.values()) for n in nodes() if max(risks(data, n)) <= limit}
    assert found.proven
    assert tuple(found.best.levels.values()) in safe
    everything = tacit.Anonymise(
        models=[tacit.IndividualRisk(threshold=limit)], utility="average_class_size"
    ).search(data)
    assert everything.n_safe == len(safe)
    released = tacit.Anonymise(models=[tacit.IndividualRisk(threshold=limit)]).apply(data)
    [claim] = released.history[-1].claims
    assert claim.parameters == {"threshold": limit, "weight": "w"}
    assert tacit.IndividualRisk().measure(released).risk.max() <= limit * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_average_risk_without_weights(seed):
    data = survey(seed, weighted=False)
    model = tacit.IndividualRisk(average=0.05, sampling_fraction=0.2)
    everything = tacit.Anonymise(models=[model], utility="average_class_size").search(data)
    safe = [n for n in nodes() if np.mean(risks(data, n, 0.2)) <= 0.05]
    assert everything.n_safe == len(safe)
    released = tacit.Anonymise(models=[model], suppression=0.1).apply(data)
    assert released.history[-1].claims[0].model == "individual-risk"
    assert tacit.IndividualRisk(sampling_fraction=0.2).measure(released).value <= 0.05 + 1e-9


def test_suppression_and_other_models_together():
    data = survey(1)
    spec = tacit.Anonymise(
        models=[tacit.KAnonymity(k=3), tacit.IndividualRisk(threshold=0.1, average=0.03)],
        suppression=0.3,
    )
    released = spec.apply(data)
    measured = tacit.IndividualRisk().measure(released)
    assert measured.risk.max() <= 0.1 + 1e-9
    assert measured.value <= 0.03 + 1e-9
    assert tacit.KAnonymity().measure(released).k >= 3


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (tacit.IndividualRisk(), "threshold= or average="),
        (tacit.IndividualRisk(threshold=0.1, missing="wildcard"), "missing key as a value"),
        (tacit.LDiversity(sensitive="w", missing_keys="wildcard"), "missing_keys"),
    ],
)
def test_what_cannot_be_aimed_at_is_said(model, words):
    with pytest.raises(InputError, match=words):
        tacit.Anonymise(models=[model]).search(survey(0))


def test_an_average_needs_one_quasi_identifier():
    data = survey(0, keys={"x": ["a"], "y": ["b"]})
    with pytest.raises(InputError, match="name it with quasi="):
        tacit.Anonymise(models=[tacit.IndividualRisk(average=0.1)]).search(data)
    tacit.Anonymise(models=[tacit.IndividualRisk(average=0.1, quasi="x")]).search(data)
