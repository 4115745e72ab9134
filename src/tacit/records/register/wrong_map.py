"""wrong-map: every released record points at exactly one subject, and it is the wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import Infeasible
from tacit.records.register.matching import Linked, SubjectMeasure, link
from tacit.registry import register
from tacit.result import Result, shown
from tacit.spec import Companions


@register
class WrongMap(SubjectMeasure):
    """Whether every released record points at exactly one subject that is not its own.

    The subjects are the records of the original data. Wrong-map needs more than two released records
    and more than two subjects: with one it cannot be, and with two whoever knows that records point at
    the wrong subject knows the right one, so both are refused. Swapping the whole quasi-identifier
    between records (a cyclic unit swap) does this.

    The formal definition prints g(f_c(s)) = s, which contradicts its own explanation; the explanation
    is followed.

    References
    ----------
    Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective,
    definition of wrong-map protection and Figure 15.
    """

    kind: Literal["wrong_map"] = "wrong_map"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> WrongMapResult:
        n_subjects = len(other.original)
        if n_subjects in (1, 2):
            raise Infeasible(
                "wrong_map: with one subject a wrong map cannot be, and with two the wrong subject gives "
                "the right one away. Release at least three subjects, or use k-map."
            )
        linked = link(data, other, self.quasi, self.subject, ctx)
        assert linked.in_subjects is not None
        wrong = (linked.in_subjects == 1) & ~linked.covers
        share = float((~wrong).mean()) if linked.n else 0.0
        return WrongMapResult(
            kind=self.kind,
            title="wrong-map against the subjects",
            value=share,
            records=linked.n,
            subjects=n_subjects,
            holds=bool(linked.n > 2 and wrong.all()),
            wrong=int(wrong.sum()),
            share=share,
            covered=int(linked.covers.sum()),
            pseudo_entities=linked.pseudo_entities,
            frame=linked.frame(wrong=wrong),
            explanation="Wrong-map protection holds when each record could be just one subject, a wrong one.",
            linked=linked,
        )


@dataclass(frozen=True, repr=False, kw_only=True)
class WrongMapResult(Result):
    """Which records point at one wrong subject; ``linked`` holds the detail as arrays."""

    records: int = shown("records")
    subjects: int = shown("subjects")
    holds: bool = shown("holds")
    wrong: int = shown("records that point at one wrong subject")
    share: float = shown("share that does not")
    covered: int = shown("records that cover their own subject")
    pseudo_entities: int = shown("pseudo-entities")
    linked: Linked
