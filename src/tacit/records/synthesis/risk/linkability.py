"""Linkability: two parts of a person's data brought together through the synthetic records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.lined_up import Files, Side, line_up, nearest, pick
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.fields import ColumnNames, PositiveInt
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
class Linkability(SyntheticAttack):
    """How often two halves of a person's record lead to the same synthetic record.

    The attacker holds two files without names: one with the columns ``first``, the other with ``second``. For each person
    the ``neighbours`` synthetic records nearest in either part are looked up (Gower's distance); where the two lists share
    a record the halves are taken for one person's. Success by guessing is the chance that two random lists share one. With
    control records the risk is the excess over them: (r - c) / (1 - c), in Wilson intervals.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
    Gower (1971), A general coefficient of similarity and some of its properties, Biometrics 27(4), 857-871.
    """

    kind: Literal["linkability"] = "linkability"
    first: ColumnNames | None = Field(
        default=None, description="the columns of the first file; by default every other one"
    )
    second: ColumnNames | None = Field(
        default=None, description="the columns of the second file; by default the rest"
    )
    neighbours: PositiveInt = Field(default=1, description="synthetic records looked up")
    attacks: PositiveInt = Field(default=500, description="people attacked at most")

    example: ClassVar[Mapping[str, Any]] = {"first": ["sex", "age"], "second": ["income", "job"]}
    column_fields = ("first", "second")

    @model_validator(mode="after")
    def _consistent(self) -> Linkability:
        if (self.first is None) != (self.second is None):
            raise ValueError("give the columns of both files, first and second, or of neither")
        if self.first and self.second and set(self.first) & set(self.second):
            raise ValueError("first and second must not share a column")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> AttackResult:
        beside, shared = files_beside(data, other)
        first, second = self.first or shared[::2], self.second or shared[1::2]
        if not first or not second:
            raise InputError("linkability needs at least two columns that the files share")
        files = line_up([data, *beside], (*first, *second), self.kind)
        synthetic, original = files.sides[:2]
        halves = (list(range(len(first))), list(range(len(first), len(first) + len(second))))
        rows = pick(len(original), self.attacks, ctx.rng)
        ctx.tick("linking original and released records", 0.2)
        success = self.rate(files, original.take(rows), synthetic, halves)
        seen = None
        if len(files.sides) > 2:
            control = files.sides[2]
            ctx.tick("linking control records", 0.6)
            seen = self.rate(
                files, control.take(pick(len(control), self.attacks, ctx.rng)), synthetic, halves
            )
        # Two random lists for each attack.
        n, k = len(synthetic), min(self.neighbours, len(synthetic))
        lists = [
            np.stack([ctx.rng.choice(n, k, replace=False) for _ in range(success.attacks)])
            for _ in "ab"
        ]
        naive = Rate(count_shared(lists[0], lists[1]), success.attacks)
        return judge(
            self.kind, "Linkability", success, naive, seen,
            words="Two parts of a person's data were linked where their nearest synthetic records were the same.",
        )  # fmt: skip

    def rate(
        self, files: Files, targets: Side, synthetic: Side, halves: tuple[list[int], list[int]]
    ) -> Rate:
        """Return how often the two lists of nearest records share one."""
        lists = [nearest(files, targets, synthetic, at, self.neighbours)[0] for at in halves]
        return Rate(count_shared(lists[0], lists[1]), len(targets))


def count_shared(one: Ints, two: Ints) -> int:
    """Return in how many rows two lists share an entry."""
    return int((one[:, :, None] == two[:, None, :]).any(axis=(1, 2)).sum())
