"""Suppression: whole columns, whole records, or single cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
from pydantic import Field, model_validator

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import row_numbers
from tacit.data.where import WhereRule, columns_of, where
from tacit.engine.base import ROW
from tacit.engine.relational import N, attach_counts
from tacit.errors import InputError, RoleMissing, SdcError
from tacit.fields import ClassSize, ColumnName, PositiveInt, Secret
from tacit.records.suppression.rare_combinations import count_missing
from tacit.registry import register
from tacit.spec import Method
from tacit.treatment import OnHousehold, OnLinks

Level = Literal["attribute", "tuple", "cell"]
Frame = nw.LazyFrame[Any]


@register
class Suppress(Method):
    """Withhold whole columns, whole records, or single cells.

    ``level="attribute"`` empties ``columns``. ``level="tuple"`` removes the records for which ``where``
    holds, or those in classes smaller than ``k`` on the keys. ``level="cell"`` empties ``columns`` of the
    records for which ``where`` holds; or values that fewer than ``threshold`` records share; or the
    listed ``cells``.

    With several quasi-identifiers, removing records for one can push a class of another below k, so the
    rule is applied until nothing changes.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, sections 3.2 and 4.1.
    """

    kind: Literal["suppress"] = "suppress"
    level: Level = Field(
        default="cell", description="what is withheld: whole columns, whole records or single cells"
    )
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="the columns to empty; for rare values by default the keys"
    )
    where: WhereRule | None = Secret(
        None, description="the records concerned, as a rule such as age > 90 and region == 'N'"
    )
    k: ClassSize | None = Field(
        default=None,
        description="tuple level: remove records in classes smaller than k on the keys",
    )
    threshold: PositiveInt | None = Field(
        default=None, description="cell level: empty values shared by fewer records than this"
    )
    cells: tuple[tuple[PositiveInt, PositiveInt | ColumnName], ...] = Secret(
        (),
        description="cell level: (record, column) pairs, both counted from 1; the column may be named",
    )
    mark: Literal["null", "top"] = Field(
        default="null",
        description="what stands in a suppressed cell: nothing, or the top of the column's hierarchy",
    )

    on_household = "together"
    on_links = "suppressed"
    techniques: ClassVar[tuple[str, ...]] = ("suppression",)
    example: ClassVar[Mapping[str, Any]] = {"threshold": 2}

    @model_validator(mode="after")
    def _one_rule(self) -> Suppress:
        given = {name for name in ("where", "k", "threshold", "cells") if getattr(self, name)}
        allowed = {
            "attribute": set[str](),
            "tuple": {"where", "k"},
            "cell": {"where", "threshold", "cells"},
        }[self.level]
        stray = sorted(given - allowed)
        if stray:
            raise ValueError(f"{stray[0]} does not go with level {self.level!r}")
        if allowed and len(given) != 1:
            raise ValueError(f"level {self.level!r} needs one of {', '.join(sorted(allowed))}")
        if not self.columns and (
            self.level == "attribute" or (self.level == "cell" and self.where)
        ):
            raise ValueError("columns must say what to empty")
        if self.columns and (self.level == "tuple" or self.cells):
            raise ValueError("columns does not go with removing records or with cells")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns to empty, those of the rule and those of the cells."""
        listed = [c for _, c in self.cells if isinstance(c, str)]
        return tuple(dict.fromkeys([*self.columns, *columns_of(self.where), *listed]))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no keys, cells that do not exist, a rule of the wrong kind, a top that cannot stand there."""
        found = super().faults(data) or list(self.own_faults(data))
        if self.mark == "top" and self.level != "tuple" and not found:
            found += top_faults(data, self.targets(data))
        return found

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what is wrong with keys, cells and the rule."""
        if (self.k or (self.threshold and not self.columns)) and not data.keys:
            yield RoleMissing(
                "suppress: no keys are declared. Declare them with tacit.read(..., keys=[...])."
            )
        if any(isinstance(c, int) and c > len(data.columns) for _, c in self.cells):
            yield InputError("suppress: a cell names a column number beyond the last column")
        elif self.cells and max(row for row, _ in self.cells) > len(data):
            yield InputError("suppress: a cell names a record number beyond the last record")
        if self.where:
            where(self.where, data.frame.collect_schema())

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns in which cells are emptied."""
        if self.cells:
            return tuple(by_column(self.cells, list(data.columns)))
        if self.level == "tuple":
            return ()
        return self.columns or data.keys

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that members lose values together, unless a mark of its own stands in their place."""
        del data
        if self.level == "tuple":
            return "records"
        return "together" if self.mark == "null" else "apart"

    def treats_links(self, data: Microdata) -> OnLinks:
        """Return that links go together, unless a mark of its own stands in their place."""
        del data
        if self.level == "tuple":
            return "records"
        return "suppressed" if self.mark == "null" else "warned"

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.level == "tuple":
            if self.where is not None:
                result = data.filter(~where(self.where, data.frame.collect_schema()).expr)
            else:
                assert self.k is not None
                result = drop_small_classes(data, self.k)
            ctx.note(level=self.level, removed=len(data) - len(result))
            return result
        columns = self.targets(data)
        result = data.with_frame(self.empty_cells(data, columns))
        if self.mark == "null":
            before, after = count_missing(data, columns), count_missing(result, columns)
            ctx.note(suppressed={c: after[c] - before[c] for c in columns})
        ctx.note(level=self.level, columns=list(columns))
        return result

    def empty_cells(self, data: Microdata, columns: Sequence[str]) -> Frame:
        """Return the frame with cells emptied."""
        names = data.frame.collect_schema().names()
        tops = {c: data.hierarchy(c).top if self.mark == "top" else None for c in columns}
        frame = data.frame
        if self.level == "attribute":
            keep = {c: nw.col(c).is_null() for c in columns}
        elif self.where is not None:
            kept = ~where(self.where, frame.collect_schema()).expr
            keep = dict.fromkeys(columns, kept)
        elif self.cells:
            numbers = row_numbers(data)
            keep = {
                c: ~nw.col(ROW).is_in([int(numbers[r - 1]) for r in rows])
                for c, rows in by_column(self.cells, list(data.columns)).items()
            }
        else:
            for i, c in enumerate(columns):
                frame = attach_counts(frame, [c], f"{N}{i}")
            keep = {c: nw.col(f"{N}{i}") >= self.threshold for i, c in enumerate(columns)}
        return frame.with_columns(*[hide_values(c, keep[c], tops[c]) for c in columns]).select(
            *names
        )

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        known = "The quasi-identifier holds every column that an intruder can find in other files."
        if self.k is not None:
            for name, columns in data.quasi.items():
                yield Claim("k-anonymity", {"k": self.k}, name, columns, (known,))
        if self.threshold is not None and self.mark == "null":
            columns = self.targets(data)
            asked = {"k": self.threshold, "combinations": [[c] for c in columns]}
            yield Claim("k-combinations", asked, "single columns", columns)


def by_column(cells: Iterable[tuple[int, int | str]], names: Sequence[str]) -> dict[str, list[int]]:
    """Return the listed record numbers by column name."""
    found: dict[str, list[int]] = {}
    for row, column in cells:
        found.setdefault(names[column - 1] if isinstance(column, int) else column, []).append(row)
    return found


def hide_values(column: str, keep: nw.Expr, top: str | None) -> nw.Expr:
    """Return a column emptied where ``keep`` is false."""
    if top is None:
        return nw.when(keep).then(nw.col(column)).alias(column)
    return (
        nw.when(nw.col(column).is_null() | keep)
        .then(nw.col(column))
        .otherwise(nw.lit(top))
        .alias(column)
    )


def top_faults(data: Microdata, columns: Sequence[str]) -> Iterator[SdcError]:
    """Yield a fault for each column that has no hierarchy, or cannot hold the text of its top."""
    schema = data.frame.collect_schema()
    for c in columns:
        if c not in data.hierarchies:
            yield RoleMissing(
                f"suppress: column {c!r} has no hierarchy, so it has no top. Give one, or use mark='null'."
            )
        elif schema[c] != nw.String:
            yield InputError(
                f"suppress: column {c!r} does not hold text, so it cannot hold the top's label. Use mark='null'."
            )


def drop_small_classes(data: Microdata, k: int) -> Microdata:
    """Remove, on the engine, the records in classes smaller than k until none is left."""
    names = data.frame.collect_schema().names()
    left = len(data)
    while True:
        frame = data.frame
        for keys in data.quasi.values():
            frame = attach_counts(frame, keys).filter(nw.col(N) >= k).select(*names)
        data = data.with_frame(frame).materialise()
        before, left = left, len(data)
        if left == before:
            return data
