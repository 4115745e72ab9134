"""What a release by models claims: one claim per model, quasi-identifier and sensitive column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tacit.claims import Claim
from tacit.data.hierarchy import ground_label
from tacit.data.microdata import Microdata
from tacit.protect.anonymise.conditions import sensitive_columns
from tacit.spec import Measure

ASSUMED = "The quasi-identifier holds every column that an intruder can find in other files."
BY_WEIGHT = "The sum of weights stands for the people of the population who share the key values."

#: Model, parameters and further assumptions of each claim; the weight column where weights count.
Parts = Iterable[tuple[str, dict[str, Any], tuple[str, ...]]]
Maker = Callable[[Any, Microdata, Microdata, str | None, str | None], Parts]
MAKERS: dict[str, Maker] = {}


def claim_for(kind: str) -> Callable[[Maker], Maker]:
    """Register what a release claims that was made for one kind of measure."""

    def note(maker: Maker) -> Maker:
        MAKERS[kind] = maker
        return maker

    return note


def claims_of(
    models: Sequence[Measure[Any]], weights: str, data: Microdata, result: Microdata
) -> Iterable[Claim]:
    """Yield the claims of all models on all their quasi-identifiers."""
    in_k = None if weights == "records" else data.weight
    in_shares = data.weight if weights == "weighted" else None
    for model in models:
        for name, columns in data.quasi_identifiers(getattr(model, "quasi", None)).items():
            for claimed, parameters, more in MAKERS[model.kind](
                model, data, result, in_k, in_shares
            ):
                yield Claim(claimed, parameters, name, tuple(columns), (ASSUMED, *more))


@claim_for("k_anonymity")
def claim_k(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim k records, or weights that sum to k, in every class."""
    del data, result, in_shares
    if in_k is None:
        yield "k-anonymity", {"k": model.k}, ()
    else:
        yield "weighted-k-anonymity", {"k": model.k, "weight": in_k}, (BY_WEIGHT,)


@claim_for("l_diversity")
def claim_l(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim diversity of each sensitive column."""
    del result, in_k
    for column in sensitive_columns(model, data):
        told: dict[str, Any] = {"l": model.l, "variant": model.variant, "sensitive": column}
        if model.variant == "recursive":
            told["c"] = model.c
        yield "l-diversity", told | shared(model, in_shares), ()


@claim_for("t_closeness")
def claim_t(
    model: Any, data: Microdata, result: Microdata, in_k: str | None, in_shares: str | None
) -> Parts:
    """Claim closeness of each sensitive column to all released records."""
    del in_k
    for column in sensitive_columns(model, data):
        told: dict[str, Any] = {"t": model.t, "distance": model.distance, "sensitive": column}
        if model.order is not None:
            told["order"] = list(model.order)
        if model.distance == "hierarchical":
            # Only values that are released are named.
            values = result.codes(column).values.to_pylist()
            told["paths"] = {ground_label(v): list(data.hierarchy(column).path(v)) for v in values}
        yield "t-closeness", told | shared(model, in_shares), ()


def shared(model: Any, weight: str | None) -> dict[str, Any]:
    """Return the parameters that claims on values share."""
    told: dict[str, Any] = {} if model.missing == "category" else {"missing": model.missing}
    return told if weight is None else told | {"weight": weight}
