"""What Specs for records do with household, weight, stratum and linked columns: the words, declared once.

Every Spec that acts on records has one word for each of these roles, as a class attribute (``on_household``,
``on_weight``, ``on_stratum``, ``on_links``): its own, or that of its base class. The words mean something to the base class, which acts on them
before and after the work; the sentences are for people: ``tacit methods``, the reference page, the assumptions
of claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

OnHousehold = Literal["together", "units", "by_value", "records", "apart", "new", "used", "unused"]
OnWeight = Literal["used", "option", "changed", "dropped", "kept", "unused"]
OnStratum = Literal["by", "dropped", "kept", "used", "unused"]
OnLinks = Literal["carried", "suppressed", "suppressed_or_warned", "warned", "records", "unused"]

HOUSEHOLD: Mapping[str, str] = {
    "together": "a column that is constant in households is changed once for all members, and stays constant",
    "units": "whole households are the units that are changed",
    "by_value": "equal values are changed alike, so that members who agree still agree; each record counts by itself",
    "records": "values stay; records are dropped or put in another order, members of a household by themselves",
    "apart": "members are changed apart; a warning before work names columns that are constant in households, where a majority vote may undo the change",
    "new": "records are made anew and belong to no household",
    "used": "members of a household count together",
    "unused": "not used; each record counts by itself",
}
WEIGHT: Mapping[str, str] = {
    "used": "counts, sums or estimates are weighted",
    "option": "used where a parameter asks for it; otherwise records count equally",
    "changed": "the weight itself is changed, so that weighted totals keep their meaning",
    "dropped": "not used, and not in the result",
    "kept": "not used; it stays with its record",
    "unused": "not used; records count equally",
}
STRATUM: Mapping[str, str] = {
    "by": "not used by itself; name it in the parameter that forms classes to work within strata",
    "dropped": "not used, and not in the result",
    "kept": "not used; it stays with its record",
    "used": "strata are treated by themselves",
    "unused": "not used",
}
LINKS: Mapping[str, str] = {
    "carried": "linked columns that follow from the changed one follow it; a warning before work names those that do not",
    "suppressed": "linked values of a record are suppressed together, and the household number with a column that counts members",
    "suppressed_or_warned": "linked values of a record are suppressed together; a warning before work names linked columns that are not generalised as well",
    "warned": "changed by themselves; a warning before work names linked columns that still tell them",
    "records": "values stay as they are, linked ones too",
    "unused": "not used",
}
#: Class attribute, what readers call the role, and its sentences.
ROLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "on_household": ("household", HOUSEHOLD),
    "on_weight": ("weight", WEIGHT),
    "on_stratum": ("stratum", STRATUM),
    "on_links": ("linked columns", LINKS),
}


def statements(spec: Any) -> Iterator[tuple[str, str]]:
    """Yield each role with what a Spec, or its class, does with it, in words; nothing for tables."""
    if all(data.kind != "records" for data in spec.data_types()):
        return
    for attribute, (role, words) in ROLES.items():
        said = getattr(spec, attribute)
        if said is not None:
            yield role, words[said]


def unstated(cls: Any) -> list[str]:
    """Return the class attributes that a Spec for records leaves unsaid, or says in unknown words."""
    return [a for a, (_, words) in ROLES.items() if getattr(cls, a) not in words]
