"""Four rounding rules side by side: what they cost and what they give away, before any is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.table import Table
from tacit.plot.chart import Chart
from tacit.plot.lines import panels
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.rounding.effects import RULES, RoundingRule, RuleName, check_whole_numbers


@register
class RoundingEffects(Measure[Table]):
    """Bias, mean square error, expected chi-square and posterior of four rounding rules.

    For conventional, modified conventional, zero-restricted 50/50 and unbiased rounding to a base B:
    the moments of the rounding error under a uniform remainder, the expected chi-square distance
    E[sum (R(x) - x)^2 / x] for the ground cells of this table, and what a rounded value tells about
    the original one (the largest posterior probability, its entropy, the number of candidates).

    References
    ----------
    Cox and Kim (2006), Effects of rounding on the quality and confidentiality of statistical data,
    PSD 2006, LNCS 4302, 48-56. Errata: see :mod:`tacit.tables.rounding.effects`.
    """

    kind: Literal["rounding_effects"] = "rounding_effects"
    family: ClassVar[str] = "utility"
    runs_on: ClassVar[Where] = "cells"
    base: Annotated[int, Field(ge=2)] = Field(default=5, description="the base B")
    rule: RuleName = Field(
        default="zero_restricted_5050",
        description="the rule whose expected chi-square is the compared value",
    )

    better: ClassVar[Literal["lower", "higher"] | None] = "lower"

    def _measure(
        self, table: Table, other: Companions[Table], ctx: Context
    ) -> RoundingEffectsResult:
        del other, ctx
        values = check_whole_numbers(np.abs(table.value[table.ground & ~table.empty]))
        rows: list[dict[str, Any]] = []
        for name in RULES:
            rule = RoundingRule(name, self.base)
            known = rule.confidentiality()
            rows.append(
                {
                    "rule": name,
                    "bias class": rule.bias_class,
                    "bias": float(rule.bias),
                    "variance": float(rule.variance),
                    "mean square error": float(rule.mse),
                    "expected chi-square": float(sum(rule.expected_chi2(values))),
                    **known,
                }
            )
        chosen = next(r for r in rows if r["rule"] == self.rule)
        numbers = {f"{r['rule']}: mean square error": r["mean square error"] for r in rows}
        numbers |= {f"{r['rule']}: expected chi-square": r["expected chi-square"] for r in rows}
        numbers |= {f"{r['rule']}: largest posterior": r["largest posterior"] for r in rows}
        posteriors: dict[str, dict[int, float]] = {
            name: {x: float(p) for x, p in RoundingRule(name, self.base).posterior(4).items()}
            for name in RULES
        }
        return RoundingEffectsResult(
            kind=self.kind,
            title=f"Effects of rounding to base {self.base}",
            value=float(chosen["expected chi-square"]),
            numbers=numbers,
            frame=nw.from_native(pa.Table.from_pylist(rows), eager_only=True),
            explanation=(
                "Quality and confidentiality pull apart: a rule that is unbiased for every cell makes "
                "the nearer multiples likelier, and so tells more about the original."
            ),
            posteriors=posteriors,
        )


@dataclass(frozen=True, repr=False)
class RoundingEffectsResult(Result):
    """The four rules side by side."""

    posteriors: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the posterior of the original value under each rule, given one rounded value."""
        named = {rule.replace("_", " "): found for rule, found in self.posteriors.items()}
        told = "; ".join(f"{rule} {max(found.values()):.3f}" for rule, found in named.items())
        return panels(
            ((rule, x, p) for rule, found in named.items() for x, p in found.items()),
            title="What a rounded value tells",
            subtitle="chance of each original value, given the rounded one",
            x="original value",
            y="chance",
            alt=f"Bars of the posterior under four rules; largest probability: {told}.",
            ordinal=True,
        )
