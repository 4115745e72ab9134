"""The claim that a released fit is no disguised record: enough degrees of freedom, and a table that agrees with itself.

The usual rule of output checking for regressions: at least ten residual degrees of freedom, and no saturated model.

References
----------
Bond, Brandt, de Wolf (2015), Guidelines for output checking, Data without Boundaries, section on modelling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tacit.claims import Claim, check_for


@check_for("regression-output", of="fit")
def output_is_safe(view: Mapping[str, Any], claim: Claim) -> bool:
    """Return True when the degrees of freedom suffice and standard errors follow from the covariance."""
    terms, errors, square = view["terms"], view["standard_errors"], view["covariance"]
    n = len(terms)
    if len(view["coefficients"]) != n or len(errors) != n or len(square) != n:
        return False
    if view["records"] - n < claim.parameters["residual_df"]:
        return False
    agrees = all(
        len(square[i]) == n
        and square[i][i] > 0
        and math.isclose(errors[i] ** 2, square[i][i], rel_tol=1e-9)
        and all(
            math.isclose(square[i][j], square[j][i], rel_tol=1e-6, abs_tol=1e-12) for j in range(n)
        )
        for i in range(n)
    )
    return agrees and all(math.isfinite(b) for b in view["coefficients"])
