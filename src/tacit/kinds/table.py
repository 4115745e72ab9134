"""Tables in a plan and a release: built from records or read, judged, protected, published.

What tables need is imported when there is one: every plan asks each kind whether its source is theirs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from tacit.data.base import Data
from tacit.data.microdata import Microdata
from tacit.errors import DisclosureRefused, PlanError, SdcError
from tacit.io import read_any
from tacit.io.formats import by_ending, writable
from tacit.kinds.base import FORMULA, Kind, map_files

if TYPE_CHECKING:
    from tacit.data.table import Table

#: Extensions of files that hold a ready table and nothing else.
READY = tuple(by_ending("table"))
FULL = "full.table"


class Tables(Kind["Table"]):
    """A table: every cell with its truth inside, and what is published of each."""

    name: ClassVar[str] = "table"
    noun: ClassVar[str] = "cells"
    formats: ClassVar[tuple[str, ...]] = writable("table")
    stem: ClassVar[str] = "table"

    # -- coming in -----------------------------------------------------------------------------

    def holds_source(self, plan: Any) -> bool:
        """Return True for a file of a ready table."""
        if plan.table is not None and plan.table.ready:
            return True
        return Path(plan.source.path).suffix.lower() in READY

    def read(self, plan: Any) -> Table:
        """Read a ready table by its ending."""
        from tacit.data.table import Table

        path = Path(plan.resolve(plan.source.path))
        options: dict[str, Any] = {}
        if path.suffix.lower() == ".tab" and plan.table is not None and plan.table.metadata:
            options = {"metadata": plan.resolve(plan.table.metadata)}
        elif path.suffix.lower() not in READY:
            options = {**plan.table.reading(), "dimensions": resolve_dimensions(plan)}
        found = read_any(path, ready=True, **options)
        assert isinstance(found, Table)
        return found

    def build(self, plan: Any, other: Data) -> Table:
        """Tabulate records as the plan's table section says."""
        from tacit.data.table import Table

        assert isinstance(other, Microdata)
        if plan.table is None or not plan.table.dimensions:
            raise PlanError("the table section names no dimensions")
        options = plan.table.building()
        table = Table.from_microdata(
            other, resolve_dimensions(plan), options.pop("value", None), **options
        )
        # What was claimed of the records says nothing of the table.
        history = tuple(replace(action, claims=()) for action in other.history)
        return table.with_(history=history, source=other.source)

    def build_faults(self, plan: Any, other: Data) -> list[str]:
        """Return columns that the table section names and the records do not have."""
        from tacit.data.hierarchies.load import load as load_hierarchy

        if not isinstance(other, Microdata):
            return super().build_faults(plan, other)
        if plan.table is None or not plan.table.dimensions:
            return ["table: name the dimensions, such as {dimensions: {region: regions.hrc}}"]
        named = plan.table.columns_named()
        found = [
            f"table: there is no column {c!r} in the data" for c in named if c not in other.columns
        ]
        value, schema = plan.table.value, other.frame.collect_schema()
        if value in other.columns and not schema[value].is_numeric():
            found.append(f"table: column {value!r} does not hold numbers")
        dimensions = resolve_dimensions(plan)
        for column, rule in dimensions.items() if isinstance(dimensions, Mapping) else ():
            try:
                if rule is not None:
                    load_hierarchy(rule)
            except SdcError as error:
                found.append(f"table: dimension {column!r}: {error}")
        return found

    # -- looking -------------------------------------------------------------------------------

    def fingerprint(self, data: Table) -> str:
        """Return the SHA-256 of codes, values, status, levels and published values."""
        from tacit.data.fingerprint import table_fingerprint

        return table_fingerprint(data)

    def compare(self, before: Table, after: Table) -> dict[str, Any]:
        """Return how many cells have each status before and after."""
        return {"status before": before.tally(), "status after": after.tally()}

    def describe(self, data: Table) -> dict[str, Any]:
        """Return cells and columns."""
        return {"cells": count_published(data), "columns": [*data.names, data.response]}

    def outline(self, before: int, data: Table) -> dict[str, str]:
        """Return dimensions, cells and how many have each status."""
        del before
        by = " x ".join(f"{d.name} ({len(d)})" for d in data.dimensions) or "equations"
        states = ", ".join(f"{n:,} {word}" for word, n in data.tally().items())
        return {"table": by, "cells": f"{count_published(data):,}", "status": states}

    def size(self, before: int, data: Table) -> str:
        """Return how large the table is and how much of it is hidden, in words."""
        del before
        hidden = int((data.hidden & ~data.unpublished).sum())
        return f"{count_published(data):,} cells, {hidden:,} of them hidden"

    def default_measures(self, data: Table) -> list[str]:
        """Return the audit and what was lost."""
        del data
        return ["audit", "cell_loss"]

    # -- going out -----------------------------------------------------------------------------

    def check(self, data: Table) -> list[str]:
        """Refuse unsafe cells that nothing covers, and tables that no rule has judged."""
        from tacit.claims import table_gate

        return table_gate(data)

    def order_warning(self, data: Table) -> str:
        """Say that cells stand in the order of the source where that tells values."""
        from tacit.data.cells.shown import tells_values

        told = [d.name for i, d in enumerate(data.dimensions) if tells_values(data, i)]
        if not told:
            return ""
        listed = ", ".join(repr(n) for n in told)
        return f"the codes of {listed} keep the order of the source, which is that of values, hidden ones included"

    def shuffle(self, data: Table, rng: np.random.Generator) -> Table:
        """Return the table for writing in an order that does not tell which of the hidden cells is larger."""
        from tacit.data.cells.shown import BY_CODE

        del rng
        return data.with_(extra={**data.extra, BY_CODE: True})

    def escape_formulas(self, data: Table) -> Table:
        """Refuse codes that a spreadsheet would run: an apostrophe would make them other codes."""
        begun = [
            d.name for d in data.dimensions if any(re.match(FORMULA, c) for c in (d.name, *d.codes))
        ]
        if begun:
            raise DisclosureRefused(
                f"a code of {begun[0]!r} begins like a formula, which a spreadsheet would run; give the codes other names"
            )
        return data

    def undeclared(self, data: Table, original: Any, allowed: Collection[str]) -> list[str]:
        """Refuse dimensions whose codes name people."""
        del original
        from tacit.records.identifiers.columns.undeclared import sentences, undeclared_dimensions

        return sentences(undeclared_dimensions(data, allowed))

    def write_public(self, data: Table, folder: Path, form: str) -> dict[str, str]:
        """Write codes, published values (or intervals) and marks."""
        from tacit.io.released import write_released

        file = folder / f"{self.stem}.{form}"
        write_released(data, file)
        return {self.stem: file.name}

    def read_back(self, data: Table | None, folder: Path, names: Mapping[str, str]) -> Table | None:
        """Return the table as the file shows it; a file that shows anything else is refused."""
        if data is None:
            return None
        refuse_mismatch(data, folder / names[self.stem])
        return data

    def write_private(self, data: Table, folder: Path) -> None:
        """Keep the full table."""
        data.save(folder / FULL)

    def read_private(self, folder: Path) -> Table | None:
        """Read the full table."""
        from tacit.data.table import Table

        return Table.load(folder / FULL) if (folder / FULL).exists() else None


def count_published(table: Table) -> int:
    """Return how many cells are part of the publication, hidden ones included."""
    return len(table) - int(table.unpublished.sum())


def resolve_dimensions(plan: Any) -> Any:
    """Return the dimensions with file names relative to the plan."""
    return map_files(plan.table.dimensions, lambda file: str(plan.resolve(file)))


def refuse_mismatch(table: Table, file: Path) -> None:
    """Read the released file again: it must show what the table publishes, and nothing else."""
    from tacit.io.read import read

    back, wanted = read(file), table.released()
    same = len(back) == len(wanted) and list(back.columns) == wanted.columns
    for name in wanted.columns if same else ():
        if name in (table.response, "low", "high"):
            shown = back.column(name).cast(pa.float64(), safe=False).to_numpy()
            meant = (
                wanted[name]
                .to_arrow()
                .cast(pa.float64(), safe=False)
                .to_numpy(zero_copy_only=False)
            )
            same &= bool(np.allclose(shown, meant, rtol=1e-9, atol=1e-9, equal_nan=True))
    if not same:
        raise DisclosureRefused(
            "the released file does not match the pattern; nothing was released"
        )


KIND = Tables()
