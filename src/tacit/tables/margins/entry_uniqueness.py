"""Which cells of a table of counts are given away by its margins, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.fields import Secret
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.attack.audit import codes_of_cells
from tacit.tables.margins.entry_bounds import (
    Options,
    Question,
    bound_entries,
    ground_places,
    linear_is_wrong,
    question_of_pattern,
    question_of_table,
)
from tacit.tables.margins.integer_bounds import EntryRanges, runs
from tacit.tables.margins.margins import family_words, margin_advice

Cell = tuple[str, ...]


@register
class EntryUniqueness(Measure[Table]):
    """Entries that take one value in all tables of counts with the released margins.

    For each hidden entry e the smallest and largest x_e over all x >= 0 of whole numbers with the
    published margins are found; where they are equal, the entry is disclosed though it is not published.
    Linear bounds can be far wider than these. Deciding uniqueness is coNP-complete already for line
    sums of r x c x 3 tables and polynomial for long tables, with all sides fixed but one. Decomposable
    families of margins have a formula, max(0, sum n_C - sum n_S) and min n_C; all others are solved by
    integer programs that use every table found for all entries, or by n-fold programming. What is not
    settled in time keeps its proven bracket, is marked undecided, and is never called unique.

    References
    ----------
    Onn (2006), Entry uniqueness in margined tables, PSD 2006, LNCS 4302, 94-101.
    De Loera, Hemmecke, Onn and Weismantel (2008), N-fold integer programming, Discrete Optimization 5,
    231-241.
    Dobra and Fienberg (2000), Bounds for cell entries in contingency tables given marginal totals and
    decomposable graphs, PNAS 97, 11885-11892.
    """

    kind: Literal["entry_uniqueness"] = "entry_uniqueness"
    margins: Literal["published"] | tuple[tuple[str, ...], ...] | None = Field(
        default=None,
        description="the dimensions of each released margin; by default all margins that sum over one "
        "dimension; published: the cells that the table's own pattern does not hide, for any table",
    )
    entries: Literal["all", "protected"] | tuple[Cell, ...] = Secret(
        default="all",
        description="the entries to bound: all, the protected ones, or a list of their codes",
    )
    protected: Literal["unsafe"] | tuple[Cell, ...] = Secret(
        default="unsafe",
        description="entries that must not be unique: unsafe cells, or a list of their codes",
    )
    engine: Literal["auto", "mip", "nfold", "enumerate", "lp"] = Field(
        default="auto", description="how entries are bounded; lp gives bounds that are not exact"
    )
    value_set: bool = Field(
        default=False,
        description="find every value that occurs, gaps included, not only the bounds",
    )
    long_axis: str | None = Field(
        default=None,
        description="the dimension along which layers lie (n-fold); by default the largest",
    )
    graver_complexity: Annotated[int, Field(ge=2)] | None = Field(
        default=None,
        description="the Graver complexity of the layers (n-fold), where it is not known here",
    )
    time_limit: Annotated[float, Field(gt=0)] | None = Field(
        default=60.0, description="seconds an entry; then it stays undecided"
    )
    groups: bool = Field(
        default=True,
        description="where a margin sums over a hierarchy, its groups are published as well",
    )
    known_zeros: bool = Field(
        default=False, description="cells of status empty are known to everybody to be empty"
    )

    family: ClassVar[str] = "attacks"
    runs_on: ClassVar[Where] = "cells"

    def _measure(
        self, table: Table, other: Companions[Table], ctx: Context
    ) -> EntryUniquenessResult:
        del other
        question, hidden = self.ask(table)
        guarded = self.guarded(table, hidden)
        entries = self.chosen(table, hidden, guarded)
        options = Options(
            self.engine,
            self.value_set,
            self.long_position(table),
            self.graver_complexity,
            self.time_limit,
        )
        ctx.tick("bounding entries", 0.0)
        found, way = bound_entries(
            question, entries, options, lambda share: ctx.tick("bounding entries", min(1.0, share))
        )
        frame = entry_frame(table, hidden, entries, found, guarded, self)
        numbers = self.numbers(found, entries, guarded)
        unique = int(found.unique[entries].sum())
        return EntryUniquenessResult(
            kind=self.kind,
            title="Entries given away by margins",
            value=unique / len(entries) if len(entries) else 0.0,
            numbers=numbers,
            frame=frame,
            explanation=self.explain(question, way),
            ranges=found,
            cells=hidden,
        )

    def ask(self, table: Table) -> tuple[Question, Ints]:
        """Return the question, and the cells of the table that are its unknowns."""
        if self.margins == "published":
            return question_of_pattern(table)
        question = question_of_table(
            table, self.margins, groups=self.groups, known_zeros=self.known_zeros
        )
        return question, np.flatnonzero(table.ground)

    def guarded(self, table: Table, hidden: Ints) -> Ints:
        """Return the protected entries as places among the unknowns."""
        if self.protected == "unsafe":
            return np.flatnonzero(table.primary[hidden])
        return self.places(table, hidden, self.protected)

    def chosen(self, table: Table, hidden: Ints, guarded: Ints) -> Ints:
        """Return the entries to bound as places among the unknowns."""
        if self.entries == "all":
            return np.arange(len(hidden))
        return guarded if self.entries == "protected" else self.places(table, hidden, self.entries)

    def places(self, table: Table, hidden: Ints, cells: tuple[Cell, ...]) -> Ints:
        """Return named cells as places among the unknowns."""
        at = table.positions([int(c[0]) if not table.dimensions else c for c in cells])
        if self.margins != "published":
            return ground_places(table, at)
        found = np.searchsorted(hidden, at)
        for i, cell in zip(found, at, strict=True):
            if i >= len(hidden) or hidden[i] != cell:
                raise InputError(
                    f"{table.describe_cell(int(cell))} is published: name hidden cells"
                )
        return found

    def long_position(self, table: Table) -> int | None:
        """Return the position of the long axis."""
        if self.long_axis is None:
            return None
        if self.long_axis not in table.names:
            raise InputError(f"there is no dimension {self.long_axis!r}; there are {table.names}")
        return table.names.index(self.long_axis)

    def numbers(self, found: EntryRanges, entries: Ints, guarded: Ints) -> dict[str, Any]:
        """Return the numbers of the summary."""
        false_safe, tighter = linear_is_wrong(found, entries)
        unique, varies = found.unique[entries], found.varies[entries]
        numbers: dict[str, Any] = {
            "entries": len(entries),
            "unique": int(unique.sum()),
            "not unique": int(varies.sum()),
            "uniqueness undecided": int((~unique & ~varies).sum()),
            "bounds exact": int(found.exact[entries].sum()),
            "protected entries": len(guarded),
            "protected and unique": int(found.unique[np.intersect1d(guarded, entries)].sum()),
            "unique though linear bounds say safe": int(false_safe.sum()),
            "tighter than linear bounds": int(tighter.sum()),
        }
        if self.value_set:
            numbers["entries with gaps"] = sum(
                v[-1] - v[0] + 1 > len(v) for v, complete in found.values.values() if complete
            )
        return {**numbers, **found.counts}

    def explain(self, question: Question, way: str) -> str:
        """Return what was done, in a sentence or two."""
        words = {
            "closed form": "Bounds by formula: the family of margins is decomposable.",
            "mip": "Bounds by integer programs over all tables of counts.",
            "nfold": "Bounds by n-fold programming over the layers of the table.",
            "enumerate": "All tables of counts were listed.",
            "lp": "Bounds of the linear relaxation, rounded inwards: not exact.",
        }
        if not question.axes:
            return f"Published: what the table's pattern does not hide. {words[way]}"
        flat = all(a.is_flat for a in question.axes)
        advice = margin_advice(question.shape, question.families, flat=flat)
        published = family_words(question.families, [a.name for a in question.axes])
        return (
            f"Published: {published}. {words[way]} Kind of problem: {advice.kind}; {advice.text}."
        )


@dataclass(frozen=True, repr=False)
class EntryUniquenessResult(Result):
    """The bounds of every entry; ``witness`` gives two tables that differ in it."""

    ranges: EntryRanges | None = field(default=None, repr=False)
    cells: Ints | None = field(default=None, repr=False)

    def plot(self) -> Chart:
        """Return how many entries are unique, open and undecided."""
        names = ("unique", "not unique", "uniqueness undecided")
        return bars(
            [(k, float(self.numbers[k])) for k in names],
            title="Entries given away by margins",
            y="entries",
        )

    def witness(self, place: int) -> Mapping[int, tuple[float, float]]:
        """Return two possible tables that hold the extremes met of an entry.

        Parameters
        ----------
        place
            The place of the entry among the unknowns (``cells``).

        Returns
        -------
        Mapping
            For each cell (its position in the table) that differs between the two, its values.
        """
        if self.ranges is None or self.cells is None or self.ranges.low_at[place] < -1:
            raise InputError("bounds by formula build no tables: ask with engine='mip'")
        low, high = self.ranges.witness(place)
        apart = np.flatnonzero(low != high)
        return {int(self.cells[i]): (float(low[i]), float(high[i])) for i in apart}


def entry_frame(
    table: Table,
    hidden: Ints,
    entries: Ints,
    found: EntryRanges,
    guarded: Ints,
    spec: EntryUniqueness,
) -> nw.DataFrame[Any]:
    """Return one row per entry: codes, bounds, linear bounds, whether it is unique, and how sure that is."""
    codes = codes_of_cells(table, hidden[entries])
    unique, varies = found.unique[entries], found.varies[entries]
    open_word = "not exact" if spec.engine == "lp" else "undecided"
    data: dict[str, Any] = {
        **codes,
        "lower": found.lower[entries],
        "upper": found.upper[entries],
        "lp_lower": pa.array(found.linear_lower[entries], from_pandas=True),
        "lp_upper": pa.array(found.linear_upper[entries], from_pandas=True),
        "unique": pa.array(
            [True if u else False if v else None for u, v in zip(unique, varies, strict=True)],
            pa.bool_(),
        ),
        "status": np.where(found.exact[entries], "exact", open_word).tolist(),
        "protected": np.isin(entries, guarded),
    }
    if spec.value_set:
        sets = [found.values.get(int(e), ((), False)) for e in entries]
        data["values"] = pa.array([runs(v) for v, _ in sets], pa.string())
        data["values_complete"] = pa.array([c for _, c in sets], pa.bool_())
    return nw.from_native(pa.table(data), eager_only=True)
