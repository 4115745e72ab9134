"""null-map: no released record could be one of the subjects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.records.register.matching import Linked, SubjectMeasure, link
from tacit.registry import register
from tacit.result import Result, shown
from tacit.spec import Companions


@register
class NullMap(SubjectMeasure):
    """Whether any released record could be one of the people in the original data.

    The subjects are the records of the original data. The release adheres to null-map when no
    released record has a subject among its candidates; it may map to other people of the register, or
    to nobody (a pseudo-entity). Strong encryption of the keys does this.

    References
    ----------
    Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective,
    definition of null-map protection and Figure 16.
    """

    kind: Literal["null_map"] = "null_map"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> NullMapResult:
        linked = link(data, other, self.quasi, self.subject, ctx)
        assert linked.in_subjects is not None
        mapped = linked.in_subjects > 0
        share = float(np.mean(mapped)) if linked.n else 0.0
        return NullMapResult(
            kind=self.kind,
            title="null-map against the subjects",
            value=share,
            records=linked.n,
            subjects=linked.n_subjects,
            holds=not mapped.any(),
            mapped=int(mapped.sum()),
            share=share,
            pseudo_entities=linked.pseudo_entities,
            frame=linked.frame(),
            explanation="Null-map protection holds when no released record could be one of the subjects.",
            linked=linked,
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class NullMapResult(Result):
    """Which records map to subjects; ``linked`` holds the detail as arrays."""

    records: int = shown("records")
    subjects: int = shown("subjects")
    holds: bool = shown("holds")
    mapped: int = shown("records that map to a subject")
    share: float = shown("share that maps to a subject")
    pseudo_entities: int = shown("pseudo-entities")
    linked: Linked
