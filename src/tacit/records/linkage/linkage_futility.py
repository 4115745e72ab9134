"""Linkage futility: how many of an intruder's links between a sample and a register would be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.class_index import ClassIndex
from tacit.engine.relational import N, W, counts
from tacit.errors import InputError
from tacit.fields import EachQuasi, Probability, Secret
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.samples.posterior import expected_inverse
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role


@register
class LinkageFutility(Measure):
    r"""Expected share of false positives when somebody links the file to a register on the keys.

    A record whose key values F people of the register have is linked to one of them, rightly with chance

    .. math:: c (1 - d) / F,

    where c is the share of the population that the register covers and d the share of people whose key values differ in the
    two files (errors, time, swapped places). Records that nobody matches are not linked. Without a register F is
    estimated from weights: E(1/F | f) under the negative binomial model of individual_risk. Beside all links those
    are looked at that seem certain: one record, one person.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), PSD 2006, LNCS 4302, 375-382, section 6.
    Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination, NTTS, 225-232.
    """

    kind: Literal["linkage_futility"] = "linkage_futility"
    coverage: Probability = Field(
        default=1.0, description="share of the population that the register holds"
    )
    divergence: Probability = Secret(
        0.0,
        description="share of people whose key values differ in file and register, swapped ones among them",
    )
    threshold: Probability = Field(
        default=0.1, description="largest share of right links that is accepted"
    )
    quasi: EachQuasi = None

    on_weight = "used"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    axis: ClassVar[str] = "share of links that are right"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> LinkageFutilityResult:
        found: dict[str, Links] = {}
        for name, keys in data.quasi_identifiers(self.quasi).items():
            ctx.tick(f"links on {name}")
            if other.has_register:
                f, inverse, alone = by_register(data, other.register, keys)
            else:
                f, inverse, alone = by_weights(data, keys)
            found[name] = Links.of(f, inverse, alone, self.coverage * (1 - self.divergence))
        worst = max(found.values(), key=lambda links: links.right)
        title = f"Linkage on {', '.join(found)}"
        basis = "the register" if other.has_register else "the weights"
        return LinkageFutilityResult(
            kind=self.kind,
            title=title,
            value=worst.right,
            numbers={
                "records": worst.records,
                "links that would be made": worst.links,
                "expected share of right links": worst.right,
                "expected share of false positives": 1 - worst.right if worst.links else 0.0,
                "links that seem certain": worst.certain,
                **(
                    {"expected share of false positives among these": worst.certain_false}
                    if worst.certain
                    else {}
                ),
            },
            explanation=(
                f"By {basis}, {1 - worst.right:.0%} of the links that somebody could make on the keys would be wrong, and "
                "nothing in the file tells which. Who knows more than the keys links better."
                if worst.links
                else "No record could be linked."
            ),
            shortfall=(
                f"{title}: {worst.right:.3g} of the links would be right, at most {self.threshold:g} was asked for"
                if self.asked("threshold") and worst.right > self.threshold
                else ""
            ),
            parts=found,
        )


@dataclass(frozen=True)
class Links:
    """What somebody links on one quasi-identifier."""

    records: int
    links: int
    right: float
    certain: int
    certain_false: float

    @classmethod
    def of(cls, f: Ints, inverse: Floats, alone: Floats, chance: float) -> Links:
        """Sum over classes with f records, E(1/F), and the chance that one of the register is alone in them."""
        linked = inverse > 0
        links = int(f[linked].sum())
        right = float((f[linked] * inverse[linked]).sum()) * chance
        single = (f == 1) & (alone > 0)
        certain = int(np.count_nonzero(single))
        return cls(
            int(f.sum()),
            links,
            right / links if links else 0.0,
            certain,
            1 - chance * float(alone[single].mean()) if certain else 0.0,
        )


def by_register(
    data: Microdata, register_: Microdata, keys: Sequence[str]
) -> tuple[Ints, Floats, Floats]:
    """Return records, 1/F and whether F is 1 for each class of the file, with F counted in the register."""
    missing = [k for k in keys if k not in register_.columns]
    if missing:
        raise InputError(f"linkage_futility: the register has no column {missing[0]!r}.")
    ours, theirs = (counts(d.frame, keys).collect("pyarrow").to_native() for d in (data, register_))
    # As text, so that files of other types compare.
    texts = [pa.table({k: pc.cast(t.column(k), pa.string()) for k in keys}) for t in (ours, theirs)]
    index = ClassIndex.build(tuple(keys), pa.concat_tables(texts))
    people = np.bincount(
        index.find(texts[1]), theirs.column(N).to_numpy(), minlength=index.size
    ).astype(np.int64)
    matched = people[index.find(texts[0])]
    inverse = np.where(matched > 0, 1.0 / np.maximum(matched, 1), 0.0)
    return ours.column(N).to_numpy(), inverse, (matched == 1).astype(np.float64)


def by_weights(data: Microdata, keys: Sequence[str]) -> tuple[Ints, Floats, Floats]:
    """Return records, E(1/F) and the chance that F is 1 for each class of a weighted sample."""
    if data.weight is None:
        raise InputError(
            "linkage_futility needs a register (register=) or weights: declare them with tacit.read(..., weight=...)."
        )
    cells = counts(data.frame, keys, data.weight).collect("pyarrow").to_native()
    f, people = cells.column(N).to_numpy(), cells.column(W).to_numpy(zero_copy_only=False)
    p = np.clip(f / np.maximum(np.nan_to_num(people), f), 1e-12, 1.0)
    return f, expected_inverse(f, p), np.where(f == 1, p, 0.0)


@dataclass(frozen=True, repr=False)
class LinkageFutilityResult(Result):
    """Right and wrong links by quasi-identifier."""

    parts: Mapping[str, Links] = None  # type: ignore[assignment]

    @property
    def false_positives(self) -> float:
        """Return the expected share of false positives."""
        return float(self.numbers["expected share of false positives"])

    def plot(self) -> Chart:
        """Return the share of wrong links, all and those that seem certain."""
        items: list[tuple[str, float]] = []
        for name, links in self.parts.items():
            items += [(f"{name}, all links", 1 - links.right if links.links else 0.0),
                      (f"{name}, seem certain", links.certain_false)]  # fmt: skip
        return bars(items, title="Links that would be wrong", y="expected share")
