"""Train on synthetic, test on real: how a model learnt from the release predicts original records."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.lined_up import Files, Side, line_up, pick
from tacit.data.microdata import Microdata
from tacit.errors import InputError, require
from tacit.fields import ColumnName, ColumnNames, PositiveInt
from tacit.records.synthesis.risk.attacks import SyntheticAttack, files_beside
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions

#: Categories of a target that a model can be expected to tell apart.
CATEGORIES = 50


@register
class TrainOnSynthetic(SyntheticAttack):
    """How well a model learnt from synthetic records predicts original ones, against a model learnt from original ones.

    Boosted trees predict the ``target`` from the other columns. One model learns from synthetic records, the other from
    original ones; both are asked about the same original records that the second has not seen: the control records where
    there are some, else a third of the original. The score is accuracy for categories and R^2 for numbers, both against
    the best constant: 0 for the commonest category or the mean, 1 for certainty. The value is the synthetic score minus the
    original one; near 0 is good.

    References
    ----------
    Esteban, Hyland, Rätsch (2017), Real-valued (medical) time series generation with recurrent conditional GANs,
    arXiv:1706.02633.
    """

    kind: Literal["train_on_synthetic"] = "train_on_synthetic"
    target: ColumnName | None = Field(
        default=None, description="the column predicted; by default the first sensitive one"
    )
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns that it is predicted from; by default all other shared ones",
    )
    records: PositiveInt = Field(
        default=50_000, description="records that a model learns from, at most"
    )

    family: ClassVar[str] = "utility"
    better: ClassVar[Literal["lower", "higher"] | None] = "higher"
    example: ClassVar[Mapping[str, Any]] = {"target": "income", "columns": ["sex", "age"]}
    column_fields = ("target", "columns")

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Result:
        beside, shared = files_beside(data, other)
        target = self.target or next((c for c in other.original.sensitive if c in shared), None)
        if target is None:
            raise InputError(
                "train_on_synthetic needs a target: name it, or declare a sensitive column"
            )
        given = self.columns or tuple(c for c in shared if c != target)
        if target in given or not given:
            raise InputError(
                "train_on_synthetic needs columns to predict from, other than the target"
            )
        files = line_up([data, *beside], (*given, target), self.kind)
        synthetic, original = (known(s) for s in files.sides[:2])
        if len(files.sides) > 2:
            learn, test = original, known(files.sides[2])
        else:
            order = ctx.rng.permutation(len(original))
            third = max(len(order) // 3, 1)
            learn, test = original.take(order[third:]), original.take(order[:third])
        if min(len(learn), len(test), len(synthetic)) < 2:
            raise InputError("train_on_synthetic: too few records have a known target")
        scores = []
        for i, side in enumerate((synthetic, learn)):
            ctx.tick("learning", i / 2)
            scores.append(
                self.score(files, side.take(pick(len(side), self.records, ctx.rng)), test, ctx)
            )
        made, real = scores
        return Result(
            kind=self.kind,
            title=f"Prediction of {target}",
            value=made - real,
            numbers={
                "score, learnt from synthetic records": made,
                "score, learnt from original records": real,
                "difference": made - real,
                "records tested": len(test),
            },
            explanation=f"Boosted trees predict {target!r}: 0 is no better than a constant, 1 is certainty."
            + (
                ""
                if other.control is not None
                else " The synthesis has seen the records tested; control= gives others."
            ),
        )

    def score(self, files: Files, learn: Side, test: Side, ctx: Context) -> float:
        """Return how much better than a constant a model predicts the target of the test records."""
        seed = int(ctx.rng.integers(2**31))
        x, y, truth = learn.x[:, :-1], learn.x[:, -1], test.x[:, -1]
        if files.numeric[-1]:
            spread = float(((truth - truth.mean()) ** 2).sum())
            if spread == 0 or np.ptp(y) == 0:
                return 0.0
            guess = fit_and_ask("HistGradientBoostingRegressor", files, x, y, test, seed)
            return 1 - float(((truth - guess) ** 2).sum()) / spread
        codes, base = np.unique(y), most_common(truth)
        if len(codes) > CATEGORIES:
            raise InputError(
                f"train_on_synthetic: the target has more than {CATEGORIES} categories. Recode it."
            )
        constant = float((truth == base).mean())
        if constant == 1.0:
            return math.nan
        if len(codes) < 2:
            return (float((truth == codes[0]).mean()) - constant) / (1 - constant)
        guess = fit_and_ask("HistGradientBoostingClassifier", files, x, y, test, seed)
        return (float((guess == truth).mean()) - constant) / (1 - constant)


def known(side: Side) -> Side:
    """Return the records whose target is known."""
    return side.take(np.flatnonzero(np.isfinite(side.x[:, -1])))


def most_common(values: Floats) -> float:
    """Return the commonest value."""
    found, counts = np.unique(values, return_counts=True)
    return float(found[counts.argmax()])


def fit_and_ask(name: str, files: Files, x: Floats, y: Floats, test: Side, seed: int) -> Floats:
    """Fit boosted trees and return what they predict."""
    try:
        learner = getattr(importlib.import_module("sklearn.ensemble"), name)
    except ImportError:
        raise require("scikit-learn", "models", "train_on_synthetic") from None
    threads = importlib.import_module("threadpoolctl")
    # The library fails on a column without any value.
    told = np.flatnonzero(np.isfinite(x).any(axis=0)).tolist()
    if not len(told):
        return np.full(len(test), y.mean() if files.numeric[-1] else most_common(y))
    few: Ints = np.array(
        [
            i
            for i, j in enumerate(told)
            if not files.numeric[j] and max(s.x[:, j].max(initial=0.0) for s in files.sides) < 200
        ]
    )
    model = learner(
        max_iter=100,
        early_stopping=False,
        random_state=seed,
        categorical_features=few if len(few) else None,
    )
    with threads.threadpool_limits(1, user_api="openmp"):
        model.fit(x[:, told], y)
        return np.asarray(model.predict(test.x[:, told]))
