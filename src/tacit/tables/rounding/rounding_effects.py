"""Four rounding rules side by side: what they cost and what they give away, before any is used.

Write x = q B + r. Rounding changes the remainder only: it becomes 0 or B, and 0 stays 0. The rules differ
in the probability of going up, p(r); everything else follows from it, in exact fractions.

After Cox and Kim (2006). Errata of the paper, corrected here: row 1 of its Table 3 prints a sum that must
be divided by B - 1, row 2 lacks a division by B, so that its bound (8) is far too large (``as_printed``
gives it); (14), (15) and the unbiased column of Table 4 divide by B(B - 1) in place of B^2; Table 5 prints
B - 1 for B + 1 in its modified column; equation (6) sums over r although x is given. Its theorem that every
cell of a controlled rounding can go up with probability 1/2 fails in general: see ``half_rounding``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError, InvalidParameter
from tacit.plot.chart import Chart
from tacit.plot.lines import panels
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where

RuleName = Literal["conventional", "modified_conventional", "zero_restricted_5050", "unbiased"]
RULES: tuple[RuleName, ...] = get_args(RuleName)

HALF = Fraction(1, 2)


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
    PSD 2006, LNCS 4302, 48-56. Errata: see :mod:`tacit.tables.rounding.rounding_effects`.
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
            rows.append(
                {
                    "rule": name,
                    "bias class": rule.bias_class,
                    "bias": float(rule.bias),
                    "variance": float(rule.variance),
                    "mean square error": float(rule.mse),
                    "expected chi-square": float(sum(rule.expected_chi2(values))),
                    **rule.confidentiality(),
                }
            )
        chosen = next(r for r in rows if r["rule"] == self.rule)
        shown = ("mean square error", "expected chi-square", "largest posterior")
        numbers = {f"{r['rule']}: {name}": r[name] for name in shown for r in rows}
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


@dataclass(frozen=True)
class RoundingRule:
    """One rule and its base.

    >>> RoundingRule("unbiased", 10).mse
    Fraction(33, 2)
    """

    name: RuleName
    base: int

    def __post_init__(self) -> None:
        if self.name not in RULES:
            raise InvalidParameter(f"there is no rounding rule {self.name!r}: {', '.join(RULES)}")
        if not isinstance(self.base, int) or self.base < 2:
            raise InvalidParameter("the base must be a whole number from 2")

    def p_up(self, r: int) -> Fraction:
        """Return the probability that a remainder goes up."""
        B = self.base
        if not 0 <= r < B:
            raise InvalidParameter(f"a remainder lies between 0 and {B - 1}")
        if r == 0:
            return Fraction(0)
        if self.name == "unbiased":
            return Fraction(r, B)
        if self.name == "zero_restricted_5050":
            return HALF
        if 2 * r == B:
            return Fraction(1) if self.name == "conventional" else HALF
        return Fraction(int(2 * r > B))

    @property
    def bias_class(self) -> str:
        """Return unbiased (for every r), sum-unbiased (on average over r), or biased."""
        if self.name == "unbiased":
            return "unbiased"
        return "biased" if self.bias else "sum-unbiased"

    # -- moments, r uniform on 0 .. B - 1 (Tables 1 to 3) ---------------------------------------

    @property
    def mean(self) -> Fraction:
        """Return E[R]."""
        return Fraction(sum(self.p_up(r) for r in range(self.base)))

    @property
    def variance(self) -> Fraction:
        """Return V[R]."""
        return self.mean * self.base - self.mean**2

    @property
    def bias(self) -> Fraction:
        """Return E[R] - E[r]."""
        return self.mean - Fraction(self.base - 1, 2)

    def squared(self, r: int) -> Fraction:
        """Return E[(R - r)^2 | r]."""
        p = self.p_up(r)
        return r**2 * (1 - p) + (self.base - r) ** 2 * p

    @property
    def mse(self) -> Fraction:
        """Return E[(R - r)^2]."""
        return sum((self.squared(r) for r in range(self.base)), Fraction(0)) / self.base

    @property
    def sum_over_r(self) -> Fraction:
        """Return the sum over r >= 1 of E[(R - r)^2 | r] / r, as printed in row 1 of Table 3."""
        return sum((self.squared(r) / r for r in range(1, self.base)), Fraction(0))

    # -- rounding -------------------------------------------------------------------------------

    def round(self, x: npt.ArrayLike, rng: np.random.Generator) -> Ints:
        """Round whole numbers (negative ones with q = floor(x / B))."""
        values = check_whole_numbers(x)
        q, r = np.divmod(values, self.base)
        up = np.array([float(self.p_up(i)) for i in range(self.base)])[r]
        return (q + (rng.random(values.shape) < up)) * self.base

    # -- chi-square (Section 3) -----------------------------------------------------------------

    def expected_chi2(self, x: npt.ArrayLike) -> list[Fraction]:
        """Return E[(R(x) - x)^2 / x | x] of each value, 0 where x is 0; their sum is E[chi2 | x]."""
        values = check_whole_numbers(x)
        if (values < 0).any():
            raise InputError("chi-square needs values that are not negative")
        return [
            self.squared(int(v) % self.base) / int(v) if v else Fraction(0) for v in values.ravel()
        ]

    def chi2_bounds(
        self, x: npt.ArrayLike, *, as_printed: bool = False
    ) -> tuple[Fraction, Fraction]:
        """Return lower and upper bound of E[chi2] when only the quotients are known (corrected (8)).

        ``as_printed`` gives the paper's upper bound, and 0 below.
        """
        values = check_whole_numbers(x).ravel()
        q = values // self.base
        over = sum((Fraction(1, int(k)) for k in q[q >= 1]), Fraction(0))
        if as_printed:
            return Fraction(0), int((q == 0).sum()) * self.sum_over_r + self.mse * over
        below = int(((q == 0) & (values > 0)).sum())
        first = below * self.sum_over_r / (self.base - 1)
        share = self.mse / self.base
        under = sum((Fraction(1, int(k) + 1) for k in q[q >= 1]), Fraction(0))
        return first + share * under, first + share * over

    def expected_term(self, mean_q: Fraction | int) -> Fraction:
        """Return the expected term of one value when only E[q] is known (9)."""
        return (self.variance + self.bias**2) / (
            self.base * Fraction(mean_q) + Fraction(self.base - 1, 2)
        )

    # -- confidentiality (Section 4) ------------------------------------------------------------

    def posterior(
        self, m: int, prior: Sequence[Fraction | float] | None = None
    ) -> dict[int, Fraction]:
        """Return P[x | R(x) = m B], all values equally likely beforehand.

        Parameters
        ----------
        m
            The rounded value, in bases.
        prior
            Probabilities of the remainders 0 .. B - 1, if they are not equal.
        """
        if m < 0:
            raise InvalidParameter("the rounded value must not be negative")
        given, B = self.prior(prior), self.base
        values = range((m - 1) * B + 1 if m else 0, (m + 1) * B)
        return self.posterior_of(m * B, {x: given[x % B] for x in values})

    def posterior_of(self, rounded: int, prior: dict[int, Fraction | float]) -> dict[int, Fraction]:
        """Return P[x | R(x)] for any prior over whole values x."""
        weights = {}
        for x, p in prior.items():
            q, r = divmod(x, self.base)
            up = self.p_up(r)
            chance = (
                up if (q + 1) * self.base == rounded else 1 - up if q * self.base == rounded else 0
            )
            weights[x] = Fraction(p) * chance
        return normalise_probabilities(weights)

    def posterior_up(self) -> dict[int, Fraction]:
        """Return P[r | rounded up]."""
        return normalise_probabilities({r: self.p_up(r) for r in range(self.base)})

    def posterior_down(self) -> dict[int, Fraction]:
        """Return P[r | rounded down]."""
        return normalise_probabilities({r: 1 - self.p_up(r) for r in range(self.base)})

    def prior(self, given: Sequence[Fraction | float] | None) -> list[Fraction]:
        """Return the prior of the remainders; by default equal."""
        if given is None:
            return [Fraction(1, self.base)] * self.base
        chances = [Fraction(p) for p in given]
        if len(chances) != self.base or abs(float(sum(chances)) - 1) > 1e-9 or min(chances) < 0:
            raise InvalidParameter(f"the prior must be {self.base} probabilities that add up to 1")
        return chances

    def confidentiality(self, m: int = 1) -> dict[str, float]:
        """Return how much a rounded value tells: largest posterior, entropy, candidates, distance."""
        found = {x: p for x, p in self.posterior(m).items() if p > 0}
        chances = np.array([float(p) for p in found.values()])
        uniform = 1 / (self.base - 1)
        confidential = self.posterior_up() if m else self.posterior_down()
        inside = {r: confidential[r] for r in range(1, self.base)}
        total = float(sum(inside.values())) or 1.0
        distance = sum(abs(float(p) / total - uniform) for p in inside.values()) / 2
        return {
            "largest posterior": float(chances.max()),
            "entropy (bits)": float(-(chances * np.log2(chances)).sum()),
            "candidates": float(len(found)),
            "distance from uniform": distance,
        }


def averaging_posterior(rule: RoundingRule, rounded: Sequence[int]) -> dict[int, Fraction]:
    """Return P[x | several independent roundings of the same x]: the averaging attack."""
    if not rounded:
        raise InputError("give at least one rounded value")
    first = rule.posterior(rounded[0] // rule.base)
    for value in rounded[1:]:
        first = rule.posterior_of(value, dict(first))
    return first


def chi2_test(
    x: npt.ArrayLike, rounded: npt.ArrayLike, df: int | None = None
) -> tuple[float, int, float]:
    """Return chi-square of rounded against original values, its degrees of freedom and p-value.

    By default a two-way array has (rows - 1)(columns - 1) degrees, a list its positive values less 1.
    """
    from scipy.stats import chi2

    a, b = np.asarray(x, dtype=np.float64), np.asarray(rounded, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError("original and rounded values must have the same shape")
    if (a < 0).any():
        raise InputError("chi-square needs values that are not negative")
    at = a > 0
    statistic = float((((b - a)[at]) ** 2 / a[at]).sum())
    if df is None:
        df = (a.shape[0] - 1) * (a.shape[1] - 1) if a.ndim == 2 else int(at.sum()) - 1
    return statistic, df, float(chi2.sf(statistic, df)) if df > 0 else 1.0


def normalise_probabilities(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    """Return probabilities in order of value."""
    total = sum(weights.values(), Fraction(0))
    if not total:
        raise InputError("no value could have been rounded to this one")
    return {x: weights[x] / total for x in sorted(weights)}


def check_whole_numbers(x: npt.ArrayLike) -> Ints:
    """Return whole numbers, or refuse."""
    values = np.asarray(x)
    if values.dtype.kind not in "iu":
        rounded = np.rint(values)
        if not np.array_equal(rounded, values):
            raise InputError("these rounding rules need whole numbers")
        values = rounded
    return values.astype(np.int64)
