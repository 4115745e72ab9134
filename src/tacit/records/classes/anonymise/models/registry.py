"""The protection models that a search can aim at: the conditions of each, and what it claims."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tacit.claims import Claim
from tacit.data.microdata import Microdata
from tacit.records.classes.anonymise.models import condition, population, values
from tacit.records.classes.anonymise.models.condition import Condition, Made, Parts, Setting
from tacit.spec import Measure

Maker = Callable[[Any, Setting], Sequence[Condition]]
Claimer = Callable[[Any, Made], Parts]

ASSUMED = "The quasi-identifier holds every column that an intruder can find in other files."
#: By kind of measure: what makes its conditions, and its claims.
MODELS: Mapping[str, tuple[Maker, Claimer]] = {
    "alpha_k": (values.from_alpha_k, values.claim_alpha_k),
    "attack_risk": (condition.from_attack_risk, condition.claim_attack_risk),
    "beta_likeness": (values.from_values, values.claim_values),
    "delta_disclosure": (values.from_values, values.claim_values),
    "delta_presence": (population.from_delta_presence, population.claim_delta_presence),
    "individual_risk": (population.from_individual_risk, population.claim_risk),
    "k_anonymity": (condition.from_k_anonymity, condition.claim_k),
    "k_map": (population.from_k_map, population.claim_k_map),
    "l_diversity": (values.from_l_diversity, values.claim_values),
    "lkc": (values.from_lkc, values.claim_values),
    "population_uniqueness": (population.from_population_uniqueness, population.claim_few_uniques),
    "t_closeness": (values.from_values, values.claim_values),
}


def make_conditions(models: Sequence[Measure], setting: Setting) -> list[Condition]:
    """Return the conditions of all models."""
    return [c for model in models for c in MODELS[model.kind][0](model, setting)]


def model_faults(models: Sequence[Measure], method: str) -> list[str]:
    """Return a clause for each model that no class can be tested for."""
    known = ", ".join(sorted(MODELS))
    return [
        f"{m.kind} is not a model that {method} can aim at; it knows {known}"
        for m in models
        if m.kind not in MODELS
    ]


def further_groups(
    models: Sequence[Measure[Any]], data: Microdata
) -> Mapping[str, tuple[str, ...]]:
    """Return the sets of keys, beside the quasi-identifiers, on which models are judged."""
    found = (values.few_keys(model, data).items() for model in models if model.kind == "lkc")
    return dict(itertools.chain.from_iterable(found))


def claims_of(
    models: Sequence[Measure[Any]],
    weights: str,
    data: Microdata,
    result: Microdata,
    register: Microdata | None = None,
    levels: Mapping[str, int] | None = None,
) -> Iterable[Claim]:
    """Yield the claims of all models on all their quasi-identifiers."""
    in_k = None if weights == "records" else data.weight
    in_shares = data.weight if weights == "weighted" else None
    for model in models:
        for name, columns in data.quasi_identifiers(getattr(model, "quasi", None)).items():
            made = Made(data, result, tuple(columns), in_k, in_shares, register, levels or {})
            for part in MODELS[model.kind][1](model, made):
                known = (ASSUMED, *part.assumptions)
                yield Claim(part.model, part.parameters, name, made.columns, known, part.withheld)
