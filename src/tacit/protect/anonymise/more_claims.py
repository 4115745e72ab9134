"""What a release claims that was made for the models of ``more_conditions``."""

from __future__ import annotations

from typing import Any

from tacit.data.microdata import Microdata
from tacit.protect.anonymise.claims import Parts, claim_for, claim_k, claims_of, shared
from tacit.protect.anonymise.conditions import sensitive_columns
from tacit.protect.anonymise.more_conditions import risk_scale

__all__ = ["claims_of"]

KNOWN = "An intruder knows at most the stated number of keys of a person."
FRACTION = "The sampling fraction is the same for all classes."


@claim_for("beta_likeness")
def claim_beta(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim small gains of each sensitive column."""
    del result, in_k
    for column in sensitive_columns(model, data):
        told = {"beta": model.beta, "variant": model.variant, "sensitive": column}
        yield "beta-likeness", told | shared(model, in_shares), ()


@claim_for("delta_disclosure")
def claim_delta(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim small ratios of each sensitive column."""
    del result, in_k
    for column in sensitive_columns(model, data):
        told = {"delta": model.delta, "absent": model.absent, "sensitive": column}
        yield "delta-disclosure", told | shared(model, in_shares), ()


@claim_for("alpha_k")
def claim_alpha_k(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim classes of k, and small shares of each sensitive column."""
    yield from claim_k(model, data, result, in_k, in_shares)
    for column in sensitive_columns(model, data):
        told: dict[str, Any] = {"alpha": model.alpha, "sensitive": column}
        if model.values is not None:
            told["values"] = list(model.values)
        yield "bounded-share", told | shared(model, in_shares), ()


@claim_for("lkc")
def claim_lkc(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim classes of K and small shares on every set of at most L keys."""
    del result
    for column in sensitive_columns(model, data):
        told: dict[str, Any] = {
            "known": model.known,
            "k": model.k,
            "confidence": model.confidence,
            "sensitive": column,
        }
        if in_k is not None:
            told["k_weight"] = in_k
        yield "lkc-privacy", told | shared(model, in_shares), (KNOWN,)


@claim_for("attack_risk")
def claim_attack_risk(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim the limits on the probability of re-identification."""
    del result, in_k, in_shares
    scale = risk_scale(model, data)
    told: dict[str, Any] = {"attacker": model.attacker}
    told |= {
        name: getattr(model, name)
        for name in ("highest", "average", "at_risk")
        if getattr(model, name) is not None
    }
    if model.at_risk is not None:
        told["threshold"] = model.threshold
    if scale != 1:
        told["fraction"] = scale
    yield "attack-risk", told, (FRACTION,) if scale != 1 else ()
