"""How the relations of a table fall into blocks, with pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.structure.detection import Form, Structure, detect_structure, statistics


@register
class BlockStructure(Measure[Table]):
    """Block-angular structure of a table's relations, and the width of its border.

    The relations are reordered into diagonal blocks and a border of linking cells (dual form: l/n) or of
    linking relations (primal form: l/m); a thin border means that parts of the table can be worked on
    nearly on their own. The compared value is the thinnest border with two blocks, as a share of its
    own dimension. The search is heuristic: a thinner border may exist.

    References
    ----------
    Castro and Baena (2006), Automatic structure detection in constraints of tabular data, PSD 2006,
    LNCS 4302, 12-24.
    """

    kind: Literal["block_structure"] = "block_structure"
    eps: Annotated[float, Field(ge=0)] = Field(
        default=0.1, description="imbalance allowed between blocks"
    )
    runs: Annotated[int, Field(ge=1)] = Field(default=4, description="descents from other starts")

    family: ClassVar[str] = "utility"
    runs_on: ClassVar[Where] = "cells"
    random = True
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"

    def _measure(
        self, table: Table, other: Companions[Table], ctx: Context
    ) -> BlockStructureResult:
        del other
        if table.equations.shape[0] < 2:
            raise InputError("block_structure needs a table with at least two relations")
        facts = statistics(table)
        numbers: dict[str, Any] = {
            "cells": facts["n"],
            "relations": facts["m"],
            "independent relations": facts["rank"],
            "components": facts["components"],
        }
        found: dict[str, Structure] = {}
        seed = int(ctx.rng.integers(2**31))
        asked: tuple[tuple[Form, int], ...] = (("dual", 2), ("primal", 2), ("dual", 4))
        for form, k in asked:
            if k > table.equations.shape[0 if form == "dual" else 1]:
                continue
            ctx.tick(f"finding blocks, {form} form, k = {k}", len(found) / 3)
            found[f"{form}, k = {k}"] = detect_structure(
                table, form, k, self.eps, runs=self.runs, seed=seed, tick=ctx.tick
            )
        for name, s in found.items():
            numbers[f"{name}: linking {s.border_words}"] = s.l
            numbers[f"{name}: share"] = s.share
        rows = [
            {"structure": name, **row}
            for name, s in found.items()
            for row in s.frame.rows(named=True)
        ]
        return BlockStructureResult(
            kind=self.kind,
            title="Block structure of the relations",
            value=min(s.share for s in found.values() if s.k == 2),
            numbers=numbers,
            frame=nw.from_native(pa.Table.from_pylist(rows), eager_only=True),
            explanation=(
                "Linking columns are cells, linking rows are relations, that tie the blocks together; "
                "found by a heuristic."
            ),
            structures=found,
        )


@dataclass(frozen=True, repr=False)
class BlockStructureResult(Result):
    """The structures that were found, by form and number of blocks."""

    structures: Mapping[str, Structure] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the picture of the thinnest border with two blocks."""
        two = [s for s in self.structures.values() if s.k == 2]
        return min(two, key=lambda s: s.share).plot()

    def charts(self) -> Iterable[Chart]:
        """Return pictures of the original order and of every structure."""
        every = list(self.structures.values())
        return (every[0].plot_original(), *(s.plot() for s in every))
