"""The check before release: no released column may give back what the release claims to hide."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.claims import Claim
from tacit.data.base import claims_of
from tacit.data.checks.dependence import Relation, find_relations
from tacit.data.checks.effect import PERTURBS
from tacit.data.checks.hidden import codes_among
from tacit.data.microdata import Microdata
from tacit.registry import lookup
from tacit.spec import Method

#: Techniques after which a column may hold the values that it held, and those of other records.
MOVES = PERTURBS - {"rounding", "sampling"}

#: Claims that are untrue when the original values of their columns can be told.
HIDING = frozenset(
    {
        *("absent-columns", "absent-digits", "within-limits", "categories", "geography-threshold"),
        *("suppressed-together", "no-original-identifiers", "no-replicated-uniques"),
        *("k-anonymity", "weighted-k-anonymity", "k-combinations", "k-map", "k-agreement"),
        *("l-agreement", "l-diversity", "lkc-privacy", "t-closeness", "beta-likeness"),
        *("delta-disclosure", "delta-presence", "bounded-share", "attack-risk", "decision-risk"),
        *("disclosed-cells", "individual-risk", "population-uniques"),
    }
)


def hidden_dependence(
    original: Microdata,
    linked: Microdata,
    data: Microdata,
    later: Sequence[Method[Any]],
    allowed: Collection[str],
) -> tuple[list[str], list[str]]:
    """Return what is to be noted of released columns that tell hidden values, and why claims forbid the release.

    Records are followed up to ``linked``. The columns that ``later`` steps have changed are taken as hidden, and those of
    which they have taken some values away as told all the same where they are left.
    """
    changed, fewer = changed_later(linked, data, later)
    shown = linked.drop(c for c in linked.columns if c not in data.columns or c in changed)
    noted, refused = [], []
    carried = carried_weights(original, data)
    for found in find_relations(original, shown, carried, fewer):
        claim = None if found.hidden in allowed else undone_claim(found, claims_of(data))
        if claim is None:
            noted.append(found.sentence())
        else:
            refused.append(
                f"{found.sentence()}, of which the release claims '{claim.sentence()}'; treat these columns alike, leave one "
                f"out, or accept it by name with output: {{tells: [{found.hidden}]}}"
            )
    return noted, refused


def changed_later(
    linked: Microdata, data: Microdata, later: Sequence[Method[Any]]
) -> tuple[set[str], set[str]]:
    """Return the columns that hold other values than before some steps, and those that hold fewer of the same."""
    if not later:
        return set(), set()
    moving = [s for s in later if MOVES.intersection(s.techniques)]
    named = [set(s.targets(linked)) or set(linked.columns) for s in moving]
    changed, fewer = set[str]().union(*named), set[str]()
    for name in linked.columns:
        if name not in data.columns or name in changed:
            continue
        old, new = linked.codes(name), data.codes(name)
        place = codes_among(new, old.values)
        known = new.codes != new.null
        if (place[known] < 0).any():
            changed.add(name)
            continue
        times = np.bincount(place[known], minlength=old.size)
        if (times > np.bincount(old.codes, minlength=old.size)).any():
            changed.add(name)
        elif (~known).sum() > (old.codes == old.null).sum():
            fewer.add(name)
    return changed, fewer


def undone_claim(found: Relation, claims: Collection[Claim]) -> Claim | None:
    """Return a claim that reckons with the hidden values and not with the columns that tell them."""
    return next(
        (
            c
            for c in claims
            if c.model in HIDING
            and found.hidden in c.columns
            and not set(found.columns) <= {*c.columns}
        ),
        None,
    )


def carried_weights(original: Microdata, released: Microdata) -> list[str]:
    """Return the weight where steps have changed it for what it stands for, such as a sample, and none to hide it."""
    weight = original.weight
    if weight is None or weight not in released.columns:
        return []
    done = released.history[len(original.history) :]
    meant = any(lookup(a.kind).on_weight == "changed" for a in done)
    masked = any(a.kind == "weight_noise" or weight in column_names(a.parameters) for a in done)
    return [weight] if meant and not masked else []


def column_names(parameters: Mapping[str, Any]) -> set[str]:
    """Return the texts among the parameters of a step, which may be names of columns."""
    names: set[str] = set()
    for value in parameters.values():
        if isinstance(value, str):
            names.add(value)
        if isinstance(value, list | tuple):
            names.update(v for v in value if isinstance(v, str))
    return names
