"""CheckFit: the rule of output checking for fitted models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.fit import JointFit
from tacit.errors import InputError, SdcError
from tacit.registry import register
from tacit.spec import Method


@register
class CheckFit(Method[JointFit]):
    """Let a fitted model go only with enough degrees of freedom.

    n - p must be at least ``residual_df``: a model with as many coefficients as records is the records in disguise. The
    fit itself is not changed.

    References
    ----------
    Bond, Brandt, de Wolf (2015), Guidelines for output checking, Data without Boundaries, section on modelling.
    """

    kind: Literal["check_fit"] = "check_fit"
    residual_df: int = Field(default=10, ge=1, description="the fewest residual degrees of freedom")

    techniques: ClassVar[tuple[str, ...]] = ("output checking",)

    def _faults(self, data: JointFit) -> list[SdcError]:
        """Return what is wrong: too few degrees of freedom."""
        found = super()._faults(data)
        if data.n_records - len(data) < self.residual_df:
            words = f"the model leaves fewer than {self.residual_df} degrees of freedom; fit a smaller one"
            found.append(InputError(f"{self.kind}: {words}"))
        return found

    def _apply(self, data: JointFit, ctx: Context) -> JointFit:
        ctx.note(coefficients=len(data))
        return data

    def _claims(self, data: JointFit, result: JointFit) -> Iterable[Claim]:
        del data
        yield Claim(
            "regression-output", {"residual_df": self.residual_df}, "coefficients", result.names
        )
