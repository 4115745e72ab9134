"""t-closeness: how far the sensitive values of a class depart from those of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import EachQuasi, Probability, SensitiveColumns
from tacit.plot.chart import Chart
from tacit.plot.families import columns
from tacit.records.classes.class_result import ClassPart, ClassResult
from tacit.records.classes.class_values import (
    ClassValues,
    Missing,
    class_table,
    columns_of_interest,
    sensitive_faults,
    shortfall,
    values_in_classes,
)
from tacit.registry import register
from tacit.spec import Companions, Measure, Role
from tacit.stats import class_models

Distance = Literal["equal", "ordered", "hierarchical"]


@register
class TCloseness(Measure):
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

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no sensitive column, no hierarchy, no order."""
        found = [*super().faults(data), *sensitive_faults(data, self.sensitive, self.kind)]
        columns = [c for c in columns_of_interest(data, self.sensitive) if c in data.columns]
        if self.distance == "hierarchical":
            found += [f for c in columns if (f := hierarchy_fault(data, c)) is not None]
        if self.distance == "ordered":
            found += self.order_faults(data, columns)
        return found

    def order_faults(self, data: Microdata, columns: Sequence[str]) -> list[SdcError]:
        """Return the columns whose values have no order."""
        if self.order is not None:
            several = len(columns) > 1
            return (
                [InputError("t_closeness: order= is for one column: name it with sensitive=.")]
                if several
                else []
            )
        schema = data.frame.collect_schema()
        return [
            InputError(
                f"t_closeness: column {c!r} is text, and its values have no order. Give order=, from low to "
                "high, or choose distance='equal' or 'hierarchical'."
            )
            for c in columns
            if not (schema[c].is_numeric() or schema[c].is_temporal() or schema[c] == nw.Boolean)
        ]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> TClosenessResult:
        del other
        parts = []
        for name, keys in data.quasi_identifiers(self.quasi).items():
            for column in columns_of_interest(data, self.sensitive):
                ctx.tick(f"closeness of {column} on {name}")
                parts.append(self.part(data, name, keys, column))
        worst = max(parts, key=lambda part: part.largest)
        violations = max(part.violations for part in parts)
        numbers = {
            "records": worst.records,
            "classes": len(worst.sizes),
            "largest distance (t)": worst.largest,
            "average distance": worst.average,
            f"records in classes farther than {self.t:g}": violations,
        }
        title = (
            f"t-closeness ({self.distance}) of {', '.join(dict.fromkeys(p.column for p in parts))}"
        )
        return TClosenessResult(
            kind=self.kind,
            title=title,
            value=worst.largest,
            numbers=numbers,
            frame=worst.frame,
            explanation=(
                "0 means that a class tells nothing beyond what all records tell; 1 is the farthest possible. "
                "The value compared before and after is the largest distance of any class."
            ),
            parts=tuple(parts),
            requested=self.t,
            shortfall=shortfall(title, violations, worst.records, self.t)
            if self.asked("t")
            else "",
        )

    def part(self, data: Microdata, quasi: str, keys: Sequence[str], column: str) -> Closeness:
        """Return the distances of one column on one quasi-identifier."""
        ordered = self.distance == "ordered"
        found = values_in_classes(data, keys, column, "ignore" if ordered else self.missing)
        if ordered:
            ranked = found if self.order is None else in_order(found, self.order, column)
            distances = class_models.ordered_distance(
                ranked.of_class, ranked.value, ranked.n, ranked.n_classes, len(ranked.values)
            )
        elif self.distance == "hierarchical":
            distances = class_models.hierarchical_distance(
                found.of_class,
                found.value,
                found.n,
                found.n_classes,
                labels_by_level(data.hierarchy(column), found.values, column),
            )
        else:
            distances = class_models.equal_distance(
                found.of_class, found.value, found.n, found.n_classes
            )
        return Closeness(
            quasi=quasi,
            column=column,
            keys=tuple(keys),
            sizes=found.sizes,
            distances=distances,
            violations=int(found.sizes[distances > self.t + class_models.TOLERANCE].sum()),
            frame=class_table(found, {"distance": distances}),
        )


@dataclass(frozen=True)
class Closeness(ClassPart):
    """Distances by class of one sensitive column on one quasi-identifier."""

    distances: Floats

    @property
    def extreme(self) -> float:
        """Return the distance of the farthest class."""
        return self.largest

    @property
    def largest(self) -> float:
        """Return the distance of the farthest class; 0 when there are no records."""
        return float(self.distances.max(initial=0.0))

    @property
    def average(self) -> float:
        """Return the mean distance over records."""
        return float(self.distances @ self.sizes / self.records) if self.records else 0.0


@dataclass(frozen=True, repr=False)
class TClosenessResult(ClassResult[Closeness]):
    """Distances by quasi-identifier and sensitive column."""

    requested: float = 0.2

    @property
    def t(self) -> float:
        """Return the largest distance over classes, sensitive columns and quasi-identifiers."""
        return self.extreme

    def charts(self) -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, farthest first."""
        for part in self.worst_first():
            yield columns(
                distance_bins(part.distances, part.sizes, self.requested),
                title=f"Records by distance of {part.column} from the whole",
                subtitle=f"{part.quasi}: {', '.join(part.keys)}; red: bins beyond t = {self.requested:g}",
                x="distance of the record's class",
            )


def labels_by_level(hierarchy: Hierarchy, values: pa.Array, column: str) -> list[Ints]:
    """Return for each level the label code of each value, null's last.

    A value that was generalised already stands at its own level; below it counts as a label by itself.
    """
    places = [place_of(hierarchy, ground_label(v)) for v in values.to_pylist()]
    lost = sum(place is None for place in places)
    if lost:
        raise InputError(
            f"t_closeness: {lost} of the {len(places)} different values of column {column!r} are not in its "
            "hierarchy. Choose distance='equal', or give a hierarchy that covers them."
        )
    codes = [np.full(len(places) + 1, len(labels), dtype=np.int64) for labels in hierarchy.labels]
    for i, place in enumerate(places):
        assert place is not None
        own, position = place
        for level, code in enumerate(codes):
            if own < level:
                position = int(hierarchy.parents[level - 1][position])
            code[i] = position if own <= level else len(hierarchy.labels[level]) + 1 + i
    return codes


def place_of(hierarchy: Hierarchy, text: str) -> tuple[int, int] | None:
    """Return the lowest level that has a label, and its position there."""
    if text in hierarchy.position:
        return 0, hierarchy.position[text]
    return next(
        (
            (level, labels.index(text))
            for level, labels in enumerate(hierarchy.labels)
            if text in labels
        ),
        None,
    )


def in_order(found: ClassValues, order: Sequence[str], column: str) -> ClassValues:
    """Return the table with values coded by their place in ``order``."""
    place = {label: i for i, label in enumerate(order)}
    texts = [ground_label(v) for v in found.values.to_pylist()]
    missing = sum(text not in place for text in texts)
    if missing:
        raise InputError(
            f"t_closeness: order= lacks {missing} of the {len(texts)} different values of column {column!r}. "
            "List every value, from low to high."
        )
    # Only values that occur have a rank: m is the number of different values in the table.
    rank = np.argsort(np.argsort([place[text] for text in texts])).astype(np.int64)
    value = rank[found.value] if texts else found.value
    by = np.lexsort([value, found.of_class])
    return replace(
        found, value=value[by], n=found.n[by], values=pa.array(sorted(texts, key=place.__getitem__))
    )


def hierarchy_fault(data: Microdata, column: str) -> SdcError | None:
    """Return the fault of a column without hierarchy."""
    try:
        data.hierarchy(column)
    except SdcError as fault:
        return fault
    return None


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
