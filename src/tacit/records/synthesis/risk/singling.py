"""Singling out: conditions read off synthetic records that hold for one person of the original alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field
from scipy.optimize import brentq

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.lined_up import Files, Side, line_up
from tacit.data.microdata import Microdata
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

#: Draws of a condition for each that is wanted.
EFFORT = 30
#: Logarithm of the spread of counts at most.
MOST_SPREAD = 60.0
#: Bootstrap samples for the error of a rate that is carried to another length.
DRAWS = 100


@register
class Singling(SyntheticAttack):
    """How often a condition read off the synthetic records holds for exactly one original record.

    The attacker draws a synthetic record and some columns, and says: this value of a category, at least (or at most) this
    number, the side being the one away from the median. Conditions that hold for one synthetic record alone are kept and
    tried on the original: one that holds for exactly one record has singled a person out. Success by guessing comes from
    conditions whose values are drawn column by column. With control records the risk is the excess over them, in Wilson
    intervals: (r - c) / (1 - c). A longer control file is thinned to the length of the original. Of a shorter one the number
    of records that meet a condition is taken for negative binomial, and the rate at the original's length follows.

    References
    ----------
    Giomi, Boenisch, Wehmeyer, Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    Proceedings on Privacy Enhancing Technologies 2023(2), 312-328.
    Cohen, Nissim (2020), Towards formalizing the GDPR's notion of singling out, PNAS 117(15), 8344-8352.
    Wilson (1927), Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22(158), 209-212.
    """

    kind: Literal["singling"] = "singling"
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns that conditions are about; by default all shared ones that describe people",
    )
    together: PositiveInt = Field(default=3, description="columns in one condition, at most")
    attacks: PositiveInt = Field(default=500, description="conditions tried")

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> AttackResult:
        beside, shared = files_beside(data, other)
        columns = self.columns or shared
        files = line_up([data, *beside], columns, self.kind)
        synthetic, original = files.sides[:2]
        control = files.sides[2] if len(files.sides) > 2 else None
        if control is not None and len(control) > len(original):
            control = control.take(ctx.rng.permutation(len(control))[: len(original)])
        told = Guesses(files, synthetic, min(self.together, len(columns)), ctx.rng)
        attacks = told.singling(self.attacks, ctx)
        blind = told.blind(self.attacks)
        rates = [
            Rate(int((count_met(original, g) == 1).sum()), max(len(g), 1)) for g in (attacks, blind)
        ]
        seen = None
        if control is not None:
            met = count_met(control, attacks)
            seen = rate_single(met, len(original) / max(len(control), 1), ctx.rng)
        rough = ""
        if len(attacks) < self.attacks / 2:
            rough = f" Only {len(attacks):,} of {self.attacks:,} conditions could be found that hold for one synthetic record alone, so that the rates are rough."
        return judge(
            self.kind, "Singling out", rates[0], rates[1], seen,
            words="A condition read off one synthetic record was tried on the original: it singles somebody out when it holds for one record alone." + rough,
            more={"conditions that single out a synthetic record": len(attacks)},
        )  # fmt: skip


Condition = tuple[Ints, Floats, Ints]


class Guesses:
    """Draws conditions from synthetic records."""

    def __init__(self, files: Files, side: Side, width: int, rng: np.random.Generator) -> None:
        self.files, self.side, self.width, self.rng = files, side, width, rng
        known = [c[np.isfinite(c)] for c in side.x.T]
        self.median = np.array([np.median(c) if len(c) else 0.0 for c in known])

    def of(self, columns: Ints, values: Floats) -> Condition:
        """Return the condition of some values: equal for categories, away from the median for numbers."""
        number = self.files.numeric[columns] & np.isfinite(values)
        away = np.where(values > self.median[columns], 1, -1)
        return columns, values, np.where(number, away, 0)

    def singling(self, wanted: int, ctx: Context) -> list[Condition]:
        """Return conditions that hold for one synthetic record."""
        found: list[Condition] = []
        for attempt in range(EFFORT * wanted):
            if len(found) >= wanted:
                break
            if attempt % 200 == 0:
                ctx.tick("conditions", len(found) / wanted)
            row = self.side.x[self.rng.integers(len(self.side))]
            columns = self.rng.choice(len(row), self.width, replace=False)
            condition = self.of(columns, row[columns])
            if holds(self.side.x, condition).sum() == 1:
                found.append(condition)
        return found

    def blind(self, wanted: int) -> list[Condition]:
        """Return conditions whose values are drawn column by column."""
        found = []
        for _ in range(wanted):
            columns = self.rng.choice(self.side.x.shape[1], self.width, replace=False)
            rows = self.rng.integers(len(self.side), size=self.width)
            values = self.side.x[rows, columns]
            sides = np.where(
                self.files.numeric[columns] & np.isfinite(values),
                self.rng.choice([-1, 1], self.width),
                0,
            )
            found.append((columns, values, sides))
        return found


def holds(x: Floats, condition: Condition) -> Flags:
    """Return the records for which a condition holds."""
    columns, values, sides = condition
    found = np.ones(len(x), dtype=bool)
    for j, value, side in zip(columns, values, sides, strict=True):
        column = x[:, j]
        if side > 0:
            found &= column >= value
        elif side < 0:
            found &= column <= value
        else:
            found &= (column == value) | (np.isnan(column) & np.isnan(value))
    return found


def count_met(side: Side, conditions: list[Condition]) -> Ints:
    """Return for how many records of a file each condition holds."""
    return np.array([int(holds(side.x, c).sum()) for c in conditions], dtype=np.int64)


def rate_single(met: Ints, ratio: float, rng: np.random.Generator) -> Rate:
    """Return the rate of :func:`share_single`; what carrying it to another length adds to its error by the bootstrap."""
    n = max(len(met), 1)
    share = share_single(met, ratio)
    found = Rate(round(share * n), n)
    if ratio <= 1 or not len(met):
        return found
    again = [share_single(rng.choice(met, len(met)), ratio) for _ in range(DRAWS)]
    added = max(float(np.var(again)) - share * (1 - share) / n, 0.0)
    return replace(found, more=found.z * math.sqrt(added))


def share_single(met: Ints, ratio: float) -> float:
    """Return the share of conditions that one record of a file ``ratio`` times as long would meet.

    Records that meet a condition are counted; over all conditions the counts are negative binomial with mean m and
    shape r, the Poisson distribution with a gamma-distributed mean. m and r are those that give the observed shares
    p0 of conditions that none meets and p1 that one does: p0 = (1 + m/r)^-r, p1 = p0 m / (1 + m/r). A longer file has
    the mean m times ``ratio``.
    """
    if not len(met):
        return 0.0
    p0, p1 = float((met == 0).mean()), float((met == 1).mean())
    if ratio <= 1 or p1 == 0.0:
        return p1
    # Where every condition is met, half a condition stands for those that none meets.
    p0 = max(p0, 0.5 / len(met))
    odds = p1 / p0
    # With x = 1 + m/r, m = x p1/p0, and -log p0 = p1/p0 y / (1 - exp(-y)) for y = log x.
    wanted = min(-math.log(p0) / odds, MOST_SPREAD)
    if wanted <= 1.0:
        return ratio * odds * math.exp(-ratio * odds)
    y = float(brentq(lambda y: y / -math.expm1(-y) - wanted, 1e-9, MOST_SPREAD))
    over = math.expm1(y)
    mean, shape = odds * (over + 1), odds * (over + 1) / over
    return float(ratio * mean * (1 + ratio * over) ** (-shape - 1))
