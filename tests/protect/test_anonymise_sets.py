"""Anonymise against every node and every set of suppressed classes, judged by the definitions of the claims.

The judge knows nothing of the search: it generalises a file of few records in every way, leaves out classes in every
way, and asks the judges of claims, which share no code with tacit, whether what is left keeps them.
"""

import itertools
import json

import numpy as np
import polars as pl
import pytest

import tacit
from fuzz.judge import JUDGES
from tacit.errors import Infeasible
from tacit.records.classes.anonymise.base import claims_of


def draw_tree(rng, key):
    """From each leaf to the top: with a level of two groups between, or without."""
    leaves = [f"{key}{i}" for i in range(int(rng.integers(2, 5)))]
    if len(leaves) == 2 or rng.random() < 0.4:
        return {v: (v, "*") for v in leaves}
    cut = int(rng.integers(1, len(leaves)))
    return {v: (v, f"{key}{'L' if i < cut else 'R'}", "*") for i, v in enumerate(leaves)}


def draw_model(rng):
    pick = lambda *values: float(rng.choice(values))  # noqa: E731
    made = (
        lambda: tacit.AttackRisk(average=pick(0.3, 0.4, 0.5, 0.6, 0.67, 0.8)),
        lambda: tacit.AttackRisk(at_risk=pick(0, 0.1, 0.25, 0.4), threshold=pick(0.34, 0.4, 0.5)),
        lambda: tacit.AttackRisk(average=pick(0.4, 0.67), at_risk=pick(0.1, 0.5), threshold=0.5),
        lambda: tacit.TCloseness(t=pick(0.1, 0.2, 0.3, 0.4, 0.5), sensitive="s"),
        lambda: tacit.LDiversity(l=2, sensitive="s"),
        lambda: tacit.BetaLikeness(beta=pick(0.3, 0.6, 1), sensitive="s"),
        lambda: tacit.AlphaK(alpha=pick(0.5, 0.6, 0.7), k=2, sensitive="s"),
        lambda: tacit.KAnonymity(k=int(rng.integers(2, 4))),
    )
    return made[rng.integers(len(made))]()


class Case:
    """A file with hierarchies, the models that it must keep, and what may be suppressed."""

    def __init__(self, seed, models=None, most=9):
        rng = np.random.default_rng([78, seed])
        n = int(rng.integers(3, most))
        keys = ["k", "j"][: int(rng.integers(1, 3))]
        self.trees = {c: draw_tree(rng, c) for c in keys}
        self.columns = {c: rng.choice(list(self.trees[c]), n).tolist() for c in keys}
        self.secret = [f"s{a}" for a in rng.integers(0, int(rng.integers(2, 4)), n)]
        self.models = models or [draw_model(rng) for _ in range(int(rng.choice([1, 1, 2])))]
        self.suppression = float(rng.choice([0, 0.2, 0.4, 0.6, 0.9]))

    @property
    def data(self):
        paths = {
            c: tacit.hierarchy.Hierarchy.from_paths([list(p) for p in t.values()])
            for c, t in self.trees.items()
        }
        frame = pl.DataFrame({**self.columns, "s": self.secret})
        return tacit.read(frame, keys=list(self.trees), hierarchies=paths, sensitive=["s"])

    def loss(self, levels, kept):
        """Iyengar's loss of the cells that are kept, and 1 for each that is not."""
        total = 0.0
        for (c, tree), level in zip(self.trees.items(), levels, strict=True):
            for i in kept:
                here = tree[self.columns[c][i]][level]
                alike = sum(path[level] == here for path in tree.values())
                total += (alike - 1) / (len(tree) - 1)
        n = len(self.secret)
        return (total / len(self.trees) + n - len(kept)) / n

    def find_best(self):
        """The least loss of all nodes, each with the fewest records suppressed; None where nothing is safe."""
        data, found = self.data, []
        n = len(self.secret)
        for levels in itertools.product(*(range(len(self.top(c))) for c in self.trees)):
            out = {
                c: [tree[v][level] for v in self.columns[c]]
                for (c, tree), level in zip(self.trees.items(), levels, strict=True)
            }
            classes = {}
            for i, row in enumerate(zip(*out.values(), strict=True)):
                classes.setdefault(row, []).append(i)
            at = dict(zip(self.trees, levels, strict=True))
            asked = claims_of(self.models, "records", data, data, None, at)
            claims = [json.loads(json.dumps(c.to_dict(), default=str)) for c in asked]
            fewest = self.suppression * n + 1e-9
            choices = []
            for choice in itertools.product([True, False], repeat=len(classes)):
                kept = [
                    i
                    for rows, keep in zip(classes.values(), choice, strict=True)
                    if keep
                    for i in rows
                ]
                choices.append(sorted(kept))
            for kept in sorted(choices, key=len, reverse=True):
                if n - len(kept) > fewest:
                    break
                view = {c: [v[i] for i in kept] for c, v in {**out, "s": self.secret}.items()}
                if not kept or all(JUDGES[c["model"]](view, c) for c in claims):
                    fewest = n - len(kept)
                    found.append(self.loss(levels, kept))
        return min(found, default=None)

    def top(self, key):
        return next(iter(self.trees[key].values()))

    def judge(self):
        """Compare a search with the best; return whether it was said to be proven."""
        spec = tacit.Anonymise(models=self.models, suppression=self.suppression)
        best = self.find_best()
        try:
            found = spec.search(self.data)
        except Infeasible as error:
            assert best is None or "at any choice of levels" not in str(error)
            return best is None
        assert best is not None
        assert found.best.value >= best - 1e-9
        assert found.bound <= best + 1e-9
        assert not found.proven or found.best.value <= best + 1e-9
        return found.proven


def test_proofs_and_bounds_against_every_set_of_classes():
    assert np.mean([Case(seed).judge() for seed in range(30)]) > 0.7


@pytest.mark.slow
def test_proofs_and_bounds_against_every_set_of_classes_at_length():
    assert np.mean([Case(seed).judge() for seed in range(100, 900)]) > 0.7


@pytest.mark.slow
def test_of_as_many_records_those_that_lose_most_are_suppressed():
    limits = [tacit.AttackRisk(average=0.67), tacit.AttackRisk(at_risk=0.25, threshold=0.4)]
    assert np.mean([Case(seed, limits, most=13).judge() for seed in range(300)]) > 0.95


def test_one_choice_of_as_many_records_loses_more_than_the_others():
    """Several sets of classes of as few records meet two limits; the one that was suppressed did not lose most."""
    limits = [tacit.AttackRisk(average=0.67), tacit.AttackRisk(at_risk=0.25, threshold=0.4)]
    case = Case(0, limits)
    case.trees = {
        "k": {v: (v, "kR" if v == "k2" else "kL", "*") for v in ("k0", "k1", "k2")},
        "j": {v: (v, "jR" if v == "j3" else "jL", "*") for v in ("j0", "j1", "j2", "j3")},
    }
    for k, j in (("0211021211", "0203023132"), ("11101002112", "03311112103")):
        case.columns = {"k": [f"k{a}" for a in k], "j": [f"j{a}" for a in j]}
        case.secret, case.suppression = ["s0"] * len(k), 0.6
        assert case.judge()
