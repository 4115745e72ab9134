"""LKC-privacy: k-anonymity and bounded confidence for an intruder who knows a few keys only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.codes import Cells, cells, dense_ids
from tacit.engine.subsets import all_subsets
from tacit.fields import ClassSize, PositiveInt, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.classes.class_values import columns_of_interest
from tacit.records.classes.value_measure import SensitiveMeasure
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats import class_models

#: Sets of keys shown in the chart.
SHOWN = 20


@register
class Lkc(SensitiveMeasure):
    r"""Records that an intruder who knows at most L of the keys could single out, or learn a value of.

    Data are LKC-private when on every set of at most L keys each class has at least K records, and no sensitive value
    has a share above C in it. An intruder rarely knows all keys: with L below their number far less must be changed than
    for k-anonymity on all of them. A class on fewer keys is a union of classes on more: where all sets of L keys
    hold the smaller ones do too. Where they do not, all sets are looked at to count the records that violate.

    References
    ----------
    Mohammed, Fung, Hung, Lee (2009), Anonymizing healthcare data: a case study on the blood transfusion service, KDD,
    1285-1294, definition 3.1.
    """

    kind: Literal["lkc"] = "lkc"
    known: PositiveInt = Field(
        default=2, description="L: the most keys that an intruder knows of a person"
    )
    k: ClassSize = Field(default=2, description="K: the records that every class must have")
    confidence: Probability = Field(
        default=0.5, description="C: the largest share that a sensitive value may have in a class"
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> LkcResult:
        del other
        parts: list[Subset] = []
        bad_records, records = 0, 0
        for name, keys in data.quasi_identifiers(self.quasi).items():
            for column in columns_of_interest(data, self.sensitive):
                ctx.tick(f"sets of keys of {name} with {column}")
                found = cells(data.frame, list(dict.fromkeys([*keys, column])))
                bad = np.zeros(len(found), dtype=bool)
                for subset in all_subsets(keys, self.known):
                    ctx.tick(f"{' x '.join(subset)} with {column}")
                    part, failed = self.look(found, subset, column)
                    parts.append(part)
                    bad |= failed
                records = found.total
                bad_records = max(bad_records, int(found.n[bad].sum()))
        share = bad_records / records if records else 0.0
        title = f"LKC-privacy with L = {self.known}, K = {self.k}, C = {self.confidence:g}"
        missed = f"{title}: {bad_records:,} of {records:,} records fall short of it"
        return LkcResult(
            kind=self.kind,
            title=title,
            value=share,
            numbers={
                "records": records,
                "sets of keys": len({p.keys for p in parts}),
                "smallest class": min((p.smallest for p in parts), default=0),
                "largest confidence": max((p.confidence for p in parts), default=0.0),
                "records that violate on some set": bad_records,
                "share of them": share,
            },
            frame=as_frame(
                {
                    "columns": [" x ".join(p.keys) for p in parts],
                    "sensitive": [p.column for p in parts],
                    "classes": [p.classes for p in parts],
                    "smallest": [p.smallest for p in parts],
                    "confidence": [p.confidence for p in parts],
                    "too small": [p.too_small for p in parts],
                    "too sure": [p.too_sure for p in parts],
                }
            ),
            explanation=(
                f"An intruder is taken to know at most {self.known} of the keys. The value compared before and after is the "
                "share of records that are in too small a class, or in one that tells too much, on some set of so many keys."
            ),
            shortfall=missed if bad_records and self.asked("known", "k", "confidence") else "",
            parts=tuple(parts),
            violations=bad_records,
        )

    def look(self, found: Cells, subset: tuple[str, ...], column: str) -> tuple[Subset, Flags]:
        """Return what one set of keys shows, and which cells fail on it."""
        of_class, n_classes = dense_ids(*found.columns(subset))
        value = found.keys[column]
        pairs, n_pairs = dense_ids([of_class, value.codes], [n_classes, value.size])
        n = np.bincount(pairs, weights=found.n, minlength=n_pairs)
        owner, kind = np.zeros(n_pairs, dtype=np.int64), np.zeros(n_pairs, dtype=np.int64)
        owner[pairs], kind[pairs] = of_class, value.codes
        sizes: Ints = np.bincount(of_class, weights=found.n, minlength=n_classes).astype(np.int64)
        counts = kind != value.null if self.missing == "ignore" else np.ones(n_pairs, dtype=bool)
        share = class_models.largest_share(owner[counts], n[counts], sizes)
        small = sizes < self.k
        sure = share > self.confidence + class_models.TOLERANCE
        part = Subset(
            keys=subset,
            column=column,
            classes=n_classes,
            smallest=int(sizes.min()) if n_classes else 0,
            confidence=float(share.max(initial=0.0)),
            too_small=int(sizes[small].sum()),
            too_sure=int(sizes[sure].sum()),
        )
        return part, (small | sure)[of_class]


@dataclass(frozen=True)
class Subset:
    """What one set of keys shows about one sensitive column; the last two count records."""

    keys: tuple[str, ...]
    column: str
    classes: int
    smallest: int
    confidence: float
    too_small: int
    too_sure: int


@dataclass(frozen=True, repr=False)
class LkcResult(Result):
    """Class sizes and confidences by set of keys; ``violations`` counts records that fail on some set."""

    parts: tuple[Subset, ...] = ()
    violations: int = 0

    def plot(self) -> Chart:
        """Return the sets of keys on which most records fail."""
        ranked = sorted(self.parts, key=lambda p: -(p.too_small + p.too_sure))[:SHOWN]
        items = [
            (f"{' x '.join(p.keys)}: {p.column}", float(max(p.too_small, p.too_sure)))
            for p in ranked
        ]
        return bars(items, title="Records that violate, by set of keys", y="records")
