"""Masking in any number of stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from tacit.records.noise.stages import Stage, Staged, WhichResidual, as_tuple, check_stages
from tacit.registry import register
from tacit.spec import Method


@register
class MultiStage(Staged):
    """Mask numbers in stages, each masking the difference that is left between release and original.

        X1 = M1(X0),    X_k = X_(k-1) + M_k(X_(k-1) - X0),    k = 2, 3, ...

    The sum (6) of the paper is this recursion written out. ``residual="restore"`` takes X0 - X_(k-1)
    instead, which all but returns the original file when a later stage is accurate.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; equation (6).
    """

    kind: Literal["multi_stage"] = "multi_stage"
    stages: Annotated[Sequence[Stage], BeforeValidator(as_tuple)] = Field(
        min_length=2, description="the maskings in order, as a list"
    )
    residual: WhichResidual = "reflect"

    techniques: ClassVar[tuple[str, ...]] = ("masking in stages",)
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["age", "income"],
        "stages": [
            {"kind": "sort_by_zscores"},
            {"kind": "mdav"},
            {"kind": "mdav"},
        ],
    }

    @model_validator(mode="after")
    def _consistent(self) -> MultiStage:
        check_stages(self.stages)
        return self

    def sequence(self) -> tuple[Method, ...]:
        """Return the stages in order."""
        return tuple(self.stages)
