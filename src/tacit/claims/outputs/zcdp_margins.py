"""The claim that records were drawn from margins with Gaussian noise: the account of zero-concentrated privacy."""

from __future__ import annotations

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame
from tacit.claims.registry import check_for


@check_for("zcdp-margins")
def adds_up_to_rho(frame: Frame, claim: Claim) -> bool:
    """Return True when the noise suffices for rho, and nothing but the columns drawn is released.

    One record in another's place moves k margins of counts by at most sqrt(2 k) together; noise of standard deviation
    sigma then costs rho = 2 k / (2 sigma^2). That the noise was drawn cannot be seen on the records.
    """
    k, sigma = claim.parameters["margins"], claim.parameters["sigma"]
    spent = 2 * k / (2 * sigma**2)
    shown = {n for n in frame.collect_schema().names() if not n.startswith("__")}
    return spent <= claim.parameters["rho"] * (1 + 1e-9) and shown <= {*claim.columns, "_copy"}
