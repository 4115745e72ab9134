"""Two-stage masking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from tacit.records.noise.stages import Stage, Staged, WhichResidual, check_stages, micz
from tacit.registry import register
from tacit.spec import Method


@register
class TwoStage(Staged):
    """Mask numbers strongly, then add a masked version of the difference this made.

    With M1 and M2 two maskings of numeric columns and X0 the data,

        X1 = M1(X0),    X2 = X1 + M2(X1 - X0).

    The first, say microaggregation, takes spread from the data; the masked difference gives spread of the
    same size and shape back, but no record its own. Where both keep column means, so does the result.

    The text of the paper speaks of approximating X0 - X1 while its equation (5) prints X1 - X0. The printed
    sign (``reflect``) is the one that protects: with the other (``restore``) an accurate M2 all but
    returns the original file. Reflected differences have the covariance of the true ones but the opposite
    skewness.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; equation (5).
    """

    kind: Literal["two_stage"] = "two_stage"
    first: Stage | None = Field(
        default=None,
        description="the first masking; by default microaggregation by z-scores with k = 3",
    )
    second: Stage = Field(description="the masking of the difference that the first one made")
    residual: WhichResidual = "reflect"

    techniques: ClassVar[tuple[str, ...]] = ("masking in stages",)
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["age", "income"],
        "second": {"kind": "mdav", "k": 3},
    }

    @model_validator(mode="after")
    def _consistent(self) -> TwoStage:
        check_stages(self.sequence())
        return self

    def sequence(self) -> tuple[Method, ...]:
        """Return the stages in order."""
        return (self.first or micz(), self.second)
