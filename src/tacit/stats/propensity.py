"""Propensity scores: the chance that a record stems from the original rather than from the masked file."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import require
from tacit.stats.designs import polynomial
from tacit.stats.regression import fit

Model = Literal["logistic", "tree", "boosted"]
Tick = Callable[[str, float | None], None]

#: Terms of a logistic model at most; a lower degree is taken where there would be more.
TERMS = 600
#: Parts that boosted trees are fitted on in turn, each record scored by a model that has not seen it.
FOLDS = 2


@dataclass(frozen=True)
class Scores:
    """Propensity scores."""

    #: Of every record of the pooled files.
    score: Floats
    #: Coefficients beside the constant (logistic), or 0.
    terms: int = 0
    #: Degree of the polynomial used (logistic), or 0.
    degree: int = 0
    #: True when a logistic model predicts some records with certainty.
    separated: bool = False
    #: False when the iterations of a logistic model were capped.
    converged: bool = True

    def squared(self, share: float) -> float:
        """Return U: the sum of squared distances of the scores from the share of the original."""
        return float(((self.score - share) ** 2).sum())


def possible_degree(groups: Sequence[int], degree: int) -> tuple[int, int]:
    """Return the highest degree up to the wanted one whose terms are not too many, and their number."""
    best = (1, len(groups))
    for d in range(2, degree + 1):
        n = term_count(groups, d)
        if n > TERMS:
            break
        best = (d, n)
    return best


def term_count(groups: Sequence[int], degree: int) -> int:
    """Return the number of products of up to ``degree`` columns, no two dummies of one category.

    Counted by the generating function: each column of numbers may come any number of times, each set
    of dummies once.
    """
    counts = np.zeros(degree + 1)
    counts[0] = 1.0
    sizes: dict[int, int] = {}
    for g in groups:
        if g < 0:
            for d in range(1, degree + 1):
                counts[d] += counts[d - 1]
        else:
            sizes[g] = sizes.get(g, 0) + 1
    for size in sizes.values():
        counts[1:] += size * counts[:-1]
    return int(counts.sum()) - 1


def logistic_scores(x: Floats, r: Floats, groups: Sequence[int], degree: int) -> Scores:
    """Return scores of an unpenalised logistic regression with all products of up to ``degree`` columns."""
    degree, _ = possible_degree(groups, degree)
    found = fit(x, r, "logit", expand=polynomial(x, degree, groups))
    return Scores(found.fitted, found.rank - 1, degree, found.separated, found.converged)


def tree_scores(x: Floats, r: Floats, leaf: int, seed: int) -> Scores:
    """Return the shares of the original in the leaves of a classification tree."""
    trees = learners()["tree"]
    model = trees(min_samples_leaf=leaf, min_impurity_decrease=0.0, random_state=seed)
    model.fit(x, r)
    return Scores(np.asarray(model.predict_proba(x)[:, list(model.classes_).index(1.0)]))


def fit_boosted_scores(x: Floats, r: Floats, leaf: int, fold: Ints, seed: int) -> Scores:
    """Return scores of boosted trees, each record's from a model fitted without its fold."""
    boosted = learners()["boosted"]
    threads = importlib.import_module("threadpoolctl")  # comes with scikit-learn
    score = np.full(len(r), r.mean())
    # Its threads wait for each other by spinning, which costs more than they gain on small files.
    with threads.threadpool_limits(1, user_api="openmp"):
        for f in range(FOLDS):
            learn, ask = fold != f, fold == f
            if len(np.unique(r[learn])) < 2 or not ask.any():
                continue
            model = boosted(
                max_iter=50,
                max_leaf_nodes=15,
                min_samples_leaf=leaf,
                early_stopping=False,
                random_state=seed,
            )
            model.fit(x[learn], r[learn])
            score[ask] = model.predict_proba(x[ask])[:, list(model.classes_).index(1.0)]
    return Scores(score)


def learners() -> dict[str, Any]:
    """Return the tree models, or name what to install for them."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise require("scikit-learn", "models", "a propensity model with trees") from None
    return {"tree": DecisionTreeClassifier, "boosted": HistGradientBoostingClassifier}


def permute_labels(
    score: Callable[[Floats], Scores],
    r: Floats,
    n: int,
    rng: np.random.Generator,
    tick: Tick,
) -> Floats:
    """Return U for n random exchanges of the files' labels: its distribution when the files are alike."""
    share = float(r.mean())
    found = np.empty(n)
    for i in range(n):
        tick("null distribution", i / n)
        found[i] = score(rng.permutation(r)).squared(share)
    return found
