"""Generalisation: replace values by their ancestors, in whole columns or in rare cells only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.hierarchy import Hierarchy
from tacit.data.microdata import Microdata, raise_labels
from tacit.data.values import drop_stale_descriptions
from tacit.errors import HierarchyError, RoleMissing, SdcError
from tacit.fields import ColumnName, NaturalInt, PositiveInt
from tacit.registry import register
from tacit.spec import Method

Levels = NaturalInt | Mapping[ColumnName, NaturalInt]


@register
class Generalise(Method):
    """Replace values by their ancestors in the hierarchy, in whole columns or in rare cells only.

    At the attribute level every value of a column becomes its ancestor at ``level``. At the cell level a
    value is raised, a level at a time, only while fewer than ``threshold`` records carry its label; what
    is common stays as it is.

    A column that has been generalised before may be raised further; a value that already stands higher
    than asked stays where it is. A missing value stays missing, but for a column raised to its top.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["generalise"] = "generalise"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns to generalise; by default the keys that have a hierarchy, or the columns of the mapping",
    )
    level: Annotated[Levels, Field(union_mode="left_to_right")] | None = Field(
        default=None,
        description="attribute level: the level of the hierarchy, one for all columns or a mapping of column to level",
    )
    threshold: PositiveInt | None = Field(
        default=None, description="cell level: labels carried by fewer records than this are raised"
    )

    on_household = "by_value"
    takes_copies: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values",)
    example: ClassVar[Mapping[str, Any]] = {"level": 1}

    @model_validator(mode="after")
    def _one_rule(self) -> Generalise:
        if (self.level is None) == (self.threshold is None):
            raise ValueError("give either level (whole columns) or threshold (rare cells)")
        if self.columns and isinstance(self.level, Mapping):
            raise ValueError(
                "columns does not go with a mapping of levels, which names the columns itself"
            )
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns named by the list or by the mapping of levels."""
        return tuple(self.level) if isinstance(self.level, Mapping) else self.columns

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns to generalise."""
        return self.columns_named() or tuple(c for c in data.keys if c in data.hierarchies)

    def level_of(self, column: str) -> int:
        """Return the level asked for a column."""
        assert self.level is not None
        return self.level[column] if isinstance(self.level, Mapping) else self.level

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no columns, no hierarchy, a level that does not exist."""
        return super().faults(data) or list(self.own_faults(data))

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what is wrong with columns and levels."""
        columns = self.targets(data)
        if not columns:
            yield RoleMissing(
                "generalise: no key has a hierarchy. Name columns and give hierarchies with tacit.read(..., hierarchies={...})."
            )
        for c in columns:
            if c not in data.hierarchies:
                yield RoleMissing(
                    f"generalise: column {c!r} has no hierarchy. Give one with tacit.read(..., hierarchies={{{c!r}: ...}})."
                )
            elif self.level is not None and self.level_of(c) > (height := data.hierarchy(c).height):
                yield HierarchyError(
                    f"generalise: level {self.level_of(c)} of column {c!r} does not exist: its hierarchy has levels 0 to {height}"
                )

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        result = data
        columns = self.targets(data)
        for c in columns:
            ctx.tick(f"generalise {c}")
            if self.threshold is None:
                result = result.generalise(c, self.level_of(c))
                continue
            cells = data.cells([c])
            known = cells.keys[c].codes != cells.keys[c].null
            values = cells.keys[c].decode(cells.keys[c].codes[known])
            labels = raise_rare_labels(
                data.hierarchy(c), values.to_pylist(), cells.n[known], self.threshold, c
            )
            result = result.recode(
                c, pa.table({"old": values, "new": pa.array(labels, pa.string())})
            )
        heights = {c: data.hierarchy(c).height for c in columns}
        levels = (
            {c: self.level_of(c) for c in columns} if self.threshold is None else "rare cells only"
        )
        ctx.note(columns=list(columns), levels=levels, heights=heights)
        return drop_stale_descriptions(result.materialise(), columns)


def raise_rare_labels(
    hierarchy: Hierarchy, values: list[Any], n: Ints, threshold: int, column: str
) -> list[str]:
    """Return a label per value: rare labels climb until enough records carry them, or to the top.

    A label counts the records that carry that very label in the release: records left below it do not
    help, since the label itself would single out the ones that were raised.
    """
    known = hierarchy.nodes
    texts = raise_labels(hierarchy, values, 0, column)
    at: list[tuple[int, int]] = [known[t] for t in texts]
    for level in range(hierarchy.height):
        carried: dict[str, int] = {}
        for (up, position), count in zip(at, n, strict=True):
            label = hierarchy.labels[up][position]
            carried[label] = carried.get(label, 0) + int(count)
        at = [
            (level + 1, hierarchy.climb(node, level + 1))
            if node[0] == level and carried[hierarchy.labels[level][node[1]]] < threshold
            else node
            for node in at
        ]
    return [hierarchy.labels[level][position] for level, position in at]
