"""Noise whose distribution is found by deconvolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.errors import InputError
from tacit.records.noise.deconvolution import deconvolve
from tacit.records.noise.stages import StageNoise
from tacit.registry import register

#: Unknown probabilities that the solver takes on at most.
MOST = 1_000_000


@register
class DeconvolutionNoise(StageNoise):
    """Mask numbers, then add noise of the distribution that turns the masked data back into the original's.

    The density f_E of the noise solves f_X1 * f_E = f_X0, a convolution: X1 = M1(X0) is known, X0 is
    known, so f_E can be found and drawn from, without a look at where a record came from. Both densities are shares of
    records on a grid; f_E is the distribution on grid offsets of least squared error, found by projected
    gradients to the accuracy of the stopping rule. The misfit that is left, a total variation distance
    between 0 and 1, is noted. For one, two or three columns: a grid has cells ** columns cells.

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 3.
    """

    kind: Literal["deconvolution_noise"] = "deconvolution_noise"
    cells: int = Field(default=20, ge=2, description="grid cells in each dimension")

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"], "cells": 8}

    def noise_for(
        self, residual: Floats, released: Floats, original: Floats, ctx: Context
    ) -> Floats:
        """Return draws from the deconvolved distribution, with the mean that is missing."""
        del residual
        p = released.shape[1]
        if (2 * self.cells) ** p > MOST:
            raise InputError(
                f"deconvolution_noise: a grid of {self.cells} cells in each of {p} dimensions is too large. Mask fewer columns, or take fewer cells, local_noise or restoring_noise."
            )
        found = deconvolve(released, original, self.cells, ctx.tick)
        ctx.note(cells=self.cells, misfit=found.misfit)
        noise = found.draw(len(released), ctx.rng)
        wanted = original.mean(axis=0) - released.mean(axis=0)
        return noise + (wanted - noise.mean(axis=0))
