"""Blanking: records with extreme values are left out, by a rule or at random with known probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.block import read_block
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric
from tacit.errors import Infeasible, InputError, SdcError
from tacit.fields import ColumnName, PositiveFloat, PositiveInt, PositiveShare
from tacit.records.noise.add_noise import noise
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.correction.retention import Distribution, retention_probability

LowerShare = Annotated[
    float, Field(ge=0, lt=1, description="share below the lower limit; 0 for none")
]
UpperShare = Annotated[PositiveShare, Field(description="share below the upper limit; 1 for none")]


@register
class Blank(Method):
    """Leave out records with extreme values, at random with a probability that analysts are told.

    A record is kept when every blanked value, plus a random number v of mean 0 and standard deviation
    ``sd``, lies between the column's lower and upper quantiles. For the ``response`` the probability

        P(Y) = Pr(q_l < Y + v < q_u) = G(q_u - Y) - G(q_l - Y)

    is released with each record, so that analysts weight by 1 / P(Y) and estimate without bias; selection
    on covariates needs no weight when the model is right given them. ``rule="plain"`` leaves out by the
    limits alone, which biases everything that depends on the response.

    In the combined protocol noise is added to the covariates first, and the noisy values are blanked.
    The paper's equation (21) uses upper limits only, although (10) and (11) are two-sided: the default
    has no lower limit.

    Anybody who knows q_u and sd can compute Y from P(Y). That matters only if Y itself is masked: a later step
    that changes or removes Y is refused. Mask Y before, or give ``probability_bins``, which coarsens the probabilities.

    References
    ----------
    Flossmann, Lechner (2006), Combining blanking and noise addition as a data disclosure limitation
    method, PSD 2006, LNCS 4302, 152-163.
    """

    kind: Literal["blank"] = "blank"
    response: ColumnName | None = Field(
        default=None, description="the column for which retention probabilities are released"
    )
    covariates: tuple[ColumnName, ...] = Field(
        default=(), description="further columns to blank on"
    )
    lower: LowerShare = 0.0
    upper: UpperShare = 0.95
    rule: Literal["randomised", "plain"] = Field(
        default="randomised", description="limits blurred by random numbers, or as they are"
    )
    sd: PositiveFloat | Mapping[ColumnName, PositiveFloat] | None = Field(
        default=None,
        description="standard deviation of the random numbers, one for all columns or by column",
    )
    distribution: Distribution = Field(
        default="normal", description="distribution of the random numbers"
    )
    probability: str = Field(
        default="retention",
        min_length=1,
        description="name of the column of retention probabilities",
    )
    probability_bins: PositiveInt | None = Field(
        default=None,
        description="release the mean probability of this many classes of equal size instead",
    )

    on_household = "records"
    on_links = "records"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("suppression (tuple)", "sampling")
    example: ClassVar[Mapping[str, Any]] = {"response": "income", "sd": 10, "upper": 0.8}
    column_fields = ("blanked",)

    @model_validator(mode="after")
    def _consistent(self) -> Blank:
        if self.response is None and not self.covariates:
            raise ValueError("name a response or covariates to blank on")
        if len(set(self.blanked)) < len(self.blanked):
            raise ValueError("each column can be blanked on once")
        if self.lower >= self.upper:
            raise ValueError("lower must lie below upper")
        if (self.rule == "randomised") != (self.sd is not None):
            raise ValueError("sd goes with rule 'randomised', and must be given there")
        if isinstance(self.sd, Mapping) and set(self.sd) != set(self.blanked):
            raise ValueError("sd must name every blanked column and no other")
        return self

    @property
    def blanked(self) -> tuple[str, ...]:
        """Return the columns blanked on."""
        return (*([self.response] if self.response else []), *self.covariates)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers, a name that is taken."""
        found = [*super().faults(data), *not_numeric(data, self.blanked, self.kind)]
        if self.weighs and self.probability in data.columns:
            found.append(
                InputError(
                    f"blank: there is a column {self.probability!r} already; give another name for the probabilities"
                )
            )
        return found

    def made_from(self, data: Microdata) -> Mapping[str, tuple[str, ...]]:
        """Return that probabilities tell the response, unless they are means of classes."""
        del data
        if not self.weighs or self.response is None:
            return {}
        return {self.probability: () if self.probability_bins else (self.response,)}

    @property
    def weighs(self) -> bool:
        """Return True when probabilities are released."""
        return self.rule == "randomised" and self.response is not None

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        block = read_block(data, self.blanked, self.kind, otherwise="")
        if not len(block.values):
            return data
        keep = np.ones(len(block.values), dtype=bool)
        risky, limits = {}, {}
        for j, c in enumerate(self.blanked):
            x = block.values[:, j]
            limits[c] = low, high = quantile_limits(x, self.lower, self.upper)
            sd = self.sd_of(c)
            seen = x if sd is None else x + noise(len(x), sd, self.distribution, ctx.rng)
            keep &= (seen > low) & (seen < high)
            risky[c] = (x <= low) | (x >= high)
        if not keep.any():
            raise Infeasible("blank: no record would be left. Move the limits outwards.")
        self.tell(keep, risky, ctx)
        kept = data.take(np.flatnonzero(keep))
        if not self.weighs or self.response is None:
            return kept
        sd = self.sd_of(self.response)
        assert sd is not None
        low, high = limits[self.response]
        p = retention_probability(block.values[keep, 0], low, high, sd, self.distribution)
        return kept.replace({self.probability: self.bin_probabilities(p)})

    def sd_of(self, column: str) -> float | None:
        """Return the standard deviation of a column's random numbers."""
        return self.sd[column] if isinstance(self.sd, Mapping) else self.sd

    def bin_probabilities(self, p: Floats) -> Floats:
        """Return the probabilities, or the means of classes of them."""
        if self.probability_bins is None:
            return p
        order = np.argsort(p, kind="stable")
        out = np.empty_like(p)
        for part in np.array_split(order, min(self.probability_bins, len(p))):
            out[part] = p[part].mean()
        return out

    def tell(self, keep: Flags, risky: Mapping[str, Flags], ctx: Context) -> None:
        """Note how many went, and how many of those beyond the limits."""
        ctx.note(
            dropped=int((~keep).sum()),
            risky_dropped_percent={c: percent_dropped(keep, r) for c, r in risky.items()},
            safe_dropped_percent={c: percent_dropped(keep, ~r) for c, r in risky.items()},
            probability_column=self.probability if self.weighs else None,
            distribution=self.distribution,
        )


def quantile_limits(x: Floats, lower: float, upper: float) -> tuple[float, float]:
    """Return two quantiles of a column, by linear interpolation; infinite where there is no limit."""
    low = float(np.quantile(x, lower)) if lower > 0 else -np.inf
    high = float(np.quantile(x, upper)) if upper < 1 else np.inf
    return low, high


def percent_dropped(keep: Flags, among: Flags) -> float | None:
    """Return how many of some records were left out, in per cent; None without any."""
    return 100.0 * float((~keep)[among].mean()) if among.any() else None
