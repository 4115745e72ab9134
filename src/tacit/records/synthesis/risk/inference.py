"""Attribute inference: a secret of a person read off the nearest synthetic record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.lined_up import Files, Side, line_up, nearest, pick
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.fields import ColumnName, ColumnNames, PositiveInt, Probability
from tacit.records.synthesis.risk.attacks import (
    AttackResult,
    Rate,
    SyntheticAttack,
    files_beside,
    judge,
)
from tacit.registry import register
from tacit.spec import Companions


@register
class Inference(SyntheticAttack):
    """How often a person's secret is that of the synthetic record nearest in what the attacker knows.

    The attacker knows the columns ``known`` of a person, takes the nearest synthetic record (Gower's distance) and its value
    of ``secret``. A number counts as found within ``tolerance`` of the true one, relative to it. Success by guessing is that
    of the secret of a random synthetic record. With control records the risk is the excess over them: (r - c) / (1 - c), in
    Wilson intervals: a good model of smokers tells much about any smoker, which is no fault of the synthesis.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
    """

    kind: Literal["inference"] = "inference"
    secret: ColumnName | None = Field(
        default=None, description="the column inferred; by default the first sensitive one"
    )
    known: ColumnNames | None = Field(
        default=None,
        description="the columns that the attacker knows; by default the keys, or all other shared ones",
    )
    tolerance: Probability = Field(
        default=0.05, description="relative error at which a number counts as found"
    )
    attacks: PositiveInt = Field(default=500, description="people attacked at most")

    example: ClassVar[Mapping[str, Any]] = {"secret": "income", "known": ["sex", "age"]}
    column_fields = ("secret", "known")

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> AttackResult:
        beside, shared = files_beside(data, other)
        secret = self.secret or next((c for c in other.original.sensitive if c in shared), None)
        if secret is None:
            raise InputError("inference needs a secret: name it, or declare a sensitive column")
        keys = tuple(c for c in other.original.keys if c in shared and c != secret)
        known = self.known or keys or tuple(c for c in shared if c != secret)
        if secret in known:
            raise InputError(f"inference: column {secret!r} cannot be known and secret at once")
        if not known:
            raise InputError("inference needs a column that the attacker knows")
        files = line_up([data, *beside], (*known, secret), self.kind)
        synthetic, original = files.sides[:2]
        rates = []
        for side in files.sides[1:]:
            ctx.tick("inference: attacking", 0.5)
            rates.append(
                self.rate(files, side.take(pick(len(side), self.attacks, ctx.rng)), synthetic)
            )
        targets = original.take(pick(len(original), self.attacks, ctx.rng))
        blind = synthetic.x[ctx.rng.integers(len(synthetic), size=len(targets)), -1]
        naive = Rate(int(self.found(files, targets.x[:, -1], blind).sum()), len(targets))
        return judge(
            self.kind, f"Inference of {secret}", rates[0], naive, rates[1] if len(rates) > 1 else None,
            words=f"The value of {secret!r} of the nearest synthetic record was taken for a person's own.",
        )  # fmt: skip

    def rate(self, files: Files, targets: Side, synthetic: Side) -> Rate:
        """Return how often the nearest record has the secret."""
        at = list(range(len(files.columns) - 1))
        near, _ = nearest(files, targets, synthetic, at)
        found = self.found(files, targets.x[:, -1], synthetic.x[near[:, 0], -1])
        return Rate(int(found.sum()), len(targets))

    def found(self, files: Files, truth: Floats, guess: Floats) -> Flags:
        """Return which guesses are right."""
        same = (truth == guess) | (np.isnan(truth) & np.isnan(guess))
        if not files.numeric[-1]:
            return np.asarray(same)
        return np.asarray(same | (np.abs(guess - truth) <= self.tolerance * np.abs(truth)))
