"""ADS0: whether a correct link between a released record and its subject can be told from others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.hierarchy import TOP, Hierarchy, ground_label
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.codes import encode, group_ids
from tacit.fields import ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.register.matching import Linked, SubjectMeasure, index_of, link
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions

VIOLATED, NOT_LINKED = "violated", "not linked to its subject"
CATEGORIES = ("a", "b", "c", VIOLATED, NOT_LINKED)


@register
class Ads0(SubjectMeasure):
    """Whether the release is an anonymous data system: property 9, record by record.

    A released record whose subject is among its candidates must have at least one of: (a) another
    candidate in the register; (b) another released record that also has the subject among its
    candidates; (c) released facts that are not true, so that the correct link tells nothing. A record
    with none of them violates property 9, and the release is not an ADS0.

    Facts are the columns besides the keys. Condition (c) asks that none of them tells the truth: each
    is missing, suppressed, or differs from the true value and is not one of its generalisations. Where
    no fact is released, (c) does not help: the link itself then discloses who took part.

    References
    ----------
    Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective,
    definition of a basic anonymous data system, property 9.
    """

    kind: Literal["ads0"] = "ads0"
    facts: ColumnNames | None = Field(
        default=None,
        description="columns whose truth matters; by default all without a role and the sensitive ones",
    )

    column_fields = ("facts",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Ads0Result:
        linked = link(data, other, self.quasi, self.subject, ctx)
        open_ = linked.covers & (linked.candidates < 2) & (linked.reached < 2)
        facts = self.fact_columns(data, other.original)
        untrue = find_untrue_records(data, other.original, facts, open_)
        hidden = (linked.candidates >= 2, linked.reached >= 2, open_ & untrue, np.True_)
        category = np.select([linked.covers & way for way in hidden], range(4), 4)
        violated = category == CATEGORIES.index(VIOLATED)
        share = float(violated.mean()) if linked.n else 0.0
        tally = np.bincount(category, minlength=len(CATEGORIES))
        meaning = (
            "another candidate (a)",
            "another record (b)",
            "untrue facts (c)",
            VIOLATED,
            NOT_LINKED,
        )
        labels = tuple(CATEGORIES[c] for c in category)
        return Ads0Result(
            kind=self.kind,
            title="ADS0: property 9, record by record",
            value=share,
            numbers={
                "records": linked.n,
                "is an ADS0": not violated.any(),
                **{name: int(tally[i]) for i, name in enumerate(meaning)},
                "share violated": share,
                "pseudo-entities": linked.pseudo_entities,
            },
            frame=linked.frame(category=pa.array(labels, pa.string())),
            explanation=(
                "A violating record can be linked to its subject with certainty, and what it tells is true. "
                "The statement holds for the keys declared and the register used."
            ),
            linked=linked,
            categories=labels,
        )

    def fact_columns(self, data: Microdata, original: Microdata) -> list[str]:
        """Return the columns whose truth matters and that both data have."""
        if self.facts is not None:
            return [c for c in self.facts if c in original.columns]
        roles = {"identifiers", "keys", "weight", "household", "stratum"}
        return [
            name
            for name, column in data.columns.items()
            if not column.roles & roles and name in original.columns and name != self.subject
        ]


@dataclass(frozen=True, repr=False)
class Ads0Result(Result):
    """Property 9 by record; ``linked`` holds the detail as arrays."""

    linked: Linked = None  # type: ignore[assignment]
    categories: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return True when no record violates property 9."""
        return VIOLATED not in self.categories

    @property
    def violating(self) -> tuple[int, ...]:
        """Return the positions, from 0, of the records that violate property 9."""
        return tuple(i for i, c in enumerate(self.categories) if c == VIOLATED)

    def plot(self) -> Chart:
        """Return the number of records in each category."""
        items = [(c, float(self.categories.count(c))) for c in CATEGORIES]
        return bars(items, title="Records by condition of property 9", y="records")


def find_untrue_records(
    data: Microdata, original: Microdata, facts: Sequence[str], ask: Flags
) -> Flags:
    """Return for each asked record whether none of its facts tells the truth."""
    if not facts or not ask.any():
        return np.zeros(len(ask), dtype=bool)
    released = data.to_arrow(list(facts), with_row=True)
    true = original.to_arrow(list(facts), with_row=True)
    asked = np.flatnonzero(ask)
    own = index_of(released.column(ROW).to_numpy()[asked], true.column(ROW).to_numpy())
    result = np.zeros(len(ask), dtype=bool)
    result[asked] = True
    for name in facts:
        shown = released.column(name).take(pa.array(asked))
        told = reveals_truth(
            shown, true.column(name).take(pa.array(own)), data.hierarchies.get(name)
        )
        result[asked] &= ~told
    return result


def reveals_truth(shown: Any, true: Any, hierarchy: Hierarchy | None) -> Flags:
    """Return where a shown value tells the true one: equal, or one of its generalisations."""
    a, b = encode(shown), encode(true)
    ids, _ = group_ids([a.codes, b.codes], [a.size, b.size])
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    seen, truth = a.decode(a.codes[first]).to_pylist(), b.decode(b.codes[first]).to_pylist()
    pairs = [is_told(s, t, hierarchy) for s, t in zip(seen, truth, strict=True)]
    return np.array(pairs, dtype=bool)[which]


def is_told(shown: Any, true: Any, hierarchy: Hierarchy | None) -> bool:
    """Return whether one shown value tells the true one."""
    if shown is None or true is None:
        return False
    text = ground_label(shown)
    if text == TOP:
        return False
    if hierarchy is not None and ground_label(true) in hierarchy.position:
        return text != hierarchy.top and hierarchy.level_of(true, shown) is not None
    return text == ground_label(true)
