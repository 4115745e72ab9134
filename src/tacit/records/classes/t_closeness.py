"""t-closeness: how far the sensitive values of a class depart from those of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import EachQuasi, Probability, SensitiveColumns
from tacit.plot.chart import Chart
from tacit.records.classes.class_values import (
    ClassValues,
    Missing,
    columns_of_interest,
    rank_texts,
    values_in_classes,
)
from tacit.records.classes.value_measure import ClassMeasure, ClassPart, ClassResult, Looked
from tacit.registry import register
from tacit.spec import Companions
from tacit.stats import class_models

Distance = Literal["equal", "ordered", "hierarchical"]


@register
class TCloseness(ClassMeasure):
    """Distance of each class's sensitive values from those of all records.

    The distance is the earth mover's: the least work that turns the distribution P of a class into the
    distribution Q of the whole, where moving a share d costs d times a ground distance in [0, 1].

    * equal: every two values are 1 apart; EMD = 1/2 sum |p_i - q_i|.
    * ordered: values i and j of m are |i - j| / (m - 1) apart, by rank;
      EMD = 1/(m - 1) sum_i |sum_{j <= i} (p_j - q_j)|.
    * hierarchical: two values are (level of their lowest common ancestor) / height apart;
      EMD = sum over inner nodes N of height(N)/H min(pos_extra(N), neg_extra(N)).

    The hierarchical sum telescopes: since min(pos, neg) at a node is its children's positive extras
    less its own, EMD is the mean, over the levels 0 .. H - 1, of the equal distance at that level.

    The paper states that its Table 5 has 0.167-closeness in salary and 0.278-closeness in disease.
    The first is reproduced. For the second, the definition with a tree of height 3 (siblings 1/3 apart)
    gives 8/27 = 0.296, as does linear programming; 5/18 = 0.278 follows when siblings are 1/4 apart.

    References
    ----------
    Li, Li, Venkatasubramanian (2007), t-closeness: privacy beyond k-anonymity and l-diversity, ICDE,
    106-115.
    """

    kind: Literal["t_closeness"] = "t_closeness"
    t: Probability = Field(
        default=0.2, description="the distance allowed; classes farther away violate it"
    )
    distance: Distance = Field(
        default="equal",
        description="how far two values are apart: equally, by rank, or by the column's hierarchy",
    )
    sensitive: SensitiveColumns = None
    order: tuple[str, ...] | None = Field(
        default=None,
        description="ordered only: the values of a text column from low to high (numbers and dates have an order)",
    )
    quasi: EachQuasi = None
    missing: Missing = Field(
        default="category",
        description="a missing sensitive value counts as a value of its own, 1 from all others, or its record is left out; it has no rank, so the ordered distance always leaves it out",
    )

    heading: ClassVar[str] = "t-closeness ({distance})"
    limit_field: ClassVar[str] = "t"
    figure: ClassVar[str] = "closeness"
    axis: ClassVar[str] = ""
    by_extreme: ClassVar[bool] = True
    explanation: ClassVar[str] = (
        "0 means that a class tells nothing beyond what all records tell; 1 is the farthest possible. "
        "The value compared before and after is the largest distance of any class."
    )

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: no hierarchy, no order."""
        return [*super()._faults(data), *self.own_faults(data)]

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield the columns without hierarchy, or whose values have no order."""
        columns = [c for c in columns_of_interest(data, self.sensitive) if c in data.columns]
        if self.distance == "hierarchical":
            for c in columns:
                try:
                    data.hierarchy(c)
                except SdcError as fault:
                    yield fault
        elif self.distance == "ordered" and self.order is None:
            schema = data.frame.collect_schema()
            for c in columns:
                kind = schema[c]
                if not (kind.is_numeric() or kind.is_temporal() or kind == nw.Boolean):
                    yield InputError(
                        f"t_closeness: column {c!r} is text, and its values have no order. Give order=, from low to "
                        "high, or choose distance='equal' or 'hierarchical'."
                    )
        elif self.distance == "ordered" and len(columns) > 1:
            yield InputError("t_closeness: order= is for one column: name it with sensitive=.")

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> TClosenessResult:
        del other
        return self._result(TClosenessResult, data, ctx)

    def count(self, data: Microdata, keys: Sequence[str], column: str) -> ClassValues:
        """Return how often each value occurs in each class, ranked or with the labels of its hierarchy."""
        ordered = self.distance == "ordered"
        found = values_in_classes(data, keys, column, "ignore" if ordered else self.missing)
        if ordered and self.order is not None:
            return in_order(found, self.order, column)
        if self.distance == "hierarchical":
            labels = labels_by_level(data.hierarchy(column), found.values, column)
            return replace(found, levels=labels)
        return found

    def figures(self, found: ClassValues) -> Floats:
        """Return the distance of each class."""
        rows = found.of_class, found.value, found.n, found.n_classes
        if self.distance == "ordered":
            return class_models.ordered_distance(*rows, len(found.values))
        if self.distance == "hierarchical":
            return class_models.hierarchical_distance(*rows, found.levels)
        return class_models.equal_distance(*rows)

    def detail(self, figures: Floats, bad: Flags) -> dict[str, Any]:
        """Return the distance of each class."""
        del bad
        return {"distance": figures}

    def rank(self, part: ClassPart) -> tuple[float, ...]:
        """Return by what parts are compared."""
        return (part.extreme,)

    def tell(self, looked: Looked) -> dict[str, Any]:
        """Return the largest distance, the mean over records, and how many are farther than t."""
        worst, n = looked.worst, looked.worst.records
        return {
            "largest distance (t)": worst.extreme,
            "average distance": float(worst.figures @ worst.sizes / n) if n else 0.0,
            f"records in classes farther than {self.t:g}": looked.violations,
        }


@dataclass(frozen=True, repr=False)
class TClosenessResult(ClassResult[ClassPart]):
    """Distances by quasi-identifier and sensitive column."""

    requested: float = 0.2

    @property
    def t(self) -> float:
        """Return the largest distance over classes, sensitive columns and quasi-identifiers."""
        return self.extreme

    def charts(self) -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, farthest first."""
        red = f"; red: bins beyond t = {self.requested:g}"
        title = "distance of {} from the whole"
        return self._charts(distance_bins, title, "distance of the record's class", red)


def labels_by_level(hierarchy: Hierarchy, values: pa.Array, column: str) -> list[Ints]:
    """Return for each level the label code of each value, null's last.

    A value that was generalised already stands at its own level; below it counts as a label by itself.
    """
    lost = sum(ground_label(v) not in hierarchy.nodes for v in values.to_pylist())
    if lost:
        raise InputError(
            f"t_closeness: {lost} of the {len(values)} different values of column {column!r} are not in its "
            "hierarchy. Choose distance='equal', or give a hierarchy that covers them."
        )
    return [level.astype(np.int64) for level in hierarchy.lift(values)]


def in_order(found: ClassValues, order: Sequence[str], column: str) -> ClassValues:
    """Return the table with values coded by their place in ``order``."""
    texts = [ground_label(v) for v in found.values.to_pylist()]
    rank = rank_texts(texts, order, "t_closeness", f" of column {column!r}")
    value = rank[found.value] if texts else found.value
    by = np.lexsort([value, found.of_class])
    ordered = pa.array(sorted(texts, key=list(order).index))
    return replace(found, value=value[by], n=found.n[by], values=ordered)


def distance_bins(distances: Floats, sizes: Ints, limit: float) -> list[tuple[str, int, bool]]:
    """Return (label, records, beyond the limit) for tenths of the range of distances."""
    tenth = np.minimum((distances * 10 + class_models.TOLERANCE).astype(np.int64), 9)
    records = np.bincount(tenth, weights=sizes, minlength=10).astype(np.int64)
    return [
        (
            f"{i / 10:.1f}-{(i + 1) / 10:.1f}",
            int(records[i]),
            i / 10 >= limit - class_models.TOLERANCE,
        )
        for i in range(10)
    ]
