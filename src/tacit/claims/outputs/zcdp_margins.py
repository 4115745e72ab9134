"""The claim that records were drawn from margins with Gaussian noise: the account of zero-concentrated privacy."""

from __future__ import annotations

import math

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame
from tacit.claims.outputs.zcdp import spent_by


@check_for("zcdp-margins")
def adds_up_to_rho(frame: Frame, claim: Claim) -> bool:
    """Return True when the noise suffices for rho, and nothing but the columns drawn is released.

    One record in another's place moves a margin of counts by at most sqrt(2). A margin is a query of counts, as those of
    protected plots are; those judge a record more or less, which moves it by 1. That the noise was drawn cannot be seen
    on the records.
    """
    k, sigma = claim.parameters["margins"], claim.parameters["sigma"]
    query = {
        "mechanism": "discrete gaussian",
        "bound": {"of": "counts"},
        "step": 1,
        "amplitude": sigma,
    }
    spent = k * spent_by(query, math.sqrt(2))
    shown = {n for n in frame.collect_schema().names() if not n.startswith("__")}
    return spent <= claim.parameters["rho"] * (1 + 1e-9) and shown <= {*claim.columns, "_copy"}
