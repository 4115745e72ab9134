"""Microdata: records about people or firms, with roles; immutable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import TypeVar

from tacit.data.base import Action, Around, Data
from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.data.roles import Column, Links
from tacit.engine import codes as coding
from tacit.engine import relational
from tacit.engine.arrow import set_columns, sort_by_row
from tacit.engine.base import ROW, Engine, get_engine
from tacit.engine.memory import held_codes, held_table
from tacit.errors import (
    ColumnNotFound,
    HierarchyError,
    InputError,
    RoleMissing,
    SdcError,
    require_columns,
)

ARROW = (pa.Array, pa.ChunkedArray)


@dataclass(frozen=True, repr=False)
class Microdata:
    """Records with roles. Never changed: every verb returns new data.

    Make one with :func:`tacit.read`.

    Attributes
    ----------
    frame
        A narwhals lazy frame on the engine; it holds the columns and the hidden row number.
    columns
        What is known about each column, in order.
    quasi
        The named quasi-identifiers: name to key columns.
    hierarchies
        Generalisation hierarchies by column, bound to the values of the data as first read.
    engine
        Where the frame lives.
    history
        What has been done to the data since they were read.
    source
        Where the data came from, for the ledger.
    to_own
        Turns an Arrow table into the kind of frame that the user gave.
    links
        Groups of columns that tell each other. In a group with the household column the others count its
        members.
    """

    kind: ClassVar[str] = "records"
    made_by: ClassVar[str] = "microdata: read them with tacit.read(...)"

    frame: nw.LazyFrame[Any]
    columns: Mapping[str, Column]
    engine: Engine
    quasi: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    history: tuple[Action, ...] = ()
    source: str = "memory"
    to_own: Callable[[pa.Table], Any] = lambda table: table
    links: Links = ()

    def __post_init__(self) -> None:
        for name in ("columns", "quasi", "hierarchies"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getstate__(self) -> dict[str, Any]:
        """Return the data as they travel to another process: an Arrow table and what is known of it."""
        known = {
            n: dict(v) if isinstance(v, MappingProxyType) else v for n, v in vars(self).items()
        }
        return {**known, "frame": self.to_arrow(with_row=True), "engine": None, "to_own": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        engine = get_engine()
        own: Mapping[str, Any] = {"frame": engine.from_arrow(state["frame"]), "engine": engine}
        self.__dict__.update({**state, **own, "to_own": type(self).to_own})
        self.__post_init__()

    # -- roles -------------------------------------------------------------------------------

    @property
    def keys(self) -> tuple[str, ...]:
        """Return every key column, each once, in the order of declaration."""
        return tuple(dict.fromkeys(c for group in self.quasi.values() for c in group))

    def with_role(self, role: str) -> tuple[str, ...]:
        """Return the columns that play a role."""
        if role == "keys":
            return self.keys
        if role == "links":
            return tuple(c for group in self.links for c in group)
        return tuple(n for n, c in self.columns.items() if role in c.roles)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Return the columns that identify a person or firm directly."""
        return self.with_role("identifiers")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Return the sensitive columns."""
        return self.with_role("sensitive")

    @property
    def weight(self) -> str | None:
        """Return the weight column, if any."""
        return next(iter(self.with_role("weight")), None)

    @property
    def household(self) -> str | None:
        """Return the household column, if any."""
        return next(iter(self.with_role("household")), None)

    @property
    def stratum(self) -> str | None:
        """Return the stratum column, if any."""
        return next(iter(self.with_role("stratum")), None)

    @property
    def copies(self) -> str | None:
        """Return the column that numbers the copies of synthetic data, if there are several."""
        return next(iter(self.with_role("copy_number")), None)

    def linked_with(self, column: str) -> tuple[str, ...]:
        """Return the columns that are linked with one, the household column left out."""
        return tuple(
            c
            for group in self.links
            if column in group
            for c in group
            if c not in (column, self.household)
        )

    @property
    def counting(self) -> tuple[str, ...]:
        """Return the columns declared to count the members of a household."""
        home = self.household
        return tuple(c for group in self.links if home in group for c in group if c != home)

    def quasi_identifiers(self, name: str | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return the named quasi-identifiers, or the one of that name."""
        if name is None:
            if not self.quasi:
                raise RoleMissing(
                    "no keys are declared. Declare them with tacit.read(..., keys=[...])."
                )
            return self.quasi
        if name not in self.quasi:
            raise ColumnNotFound([name], list(self.quasi), "the quasi-identifiers")
        return {name: self.quasi[name]}

    def hierarchy(self, column: str) -> Hierarchy:
        """Return a column's hierarchy, or say that it has none."""
        if column not in self.hierarchies:
            raise RoleMissing(
                f"column {column!r} has no hierarchy. Give one with tacit.read(..., hierarchies="
                f"{{{column!r}: ...}}); tacit.hierarchy.flat() only allows it to be suppressed."
            )
        return self.hierarchies[column]

    # -- looking -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return relational.count_rows(self.frame)

    def __repr__(self) -> str:
        lines = [
            f"Microdata: {len(self):,} records, {len(self.columns)} columns ({self.engine.name})"
        ]
        lines += [f"  {name:<24} {column.role}" for name, column in self.columns.items()]
        lines += [f"  linked: {', '.join(group)}" for group in self.links]
        return "\n".join(lines)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column's values in record order."""
        return self.to_arrow([name]).column(name)

    def codes(self, name: str) -> coding.Coded:
        """Return a column as integer codes in record order, with its values ascending."""
        return coding.encode(self.column(name))

    def cells(
        self, keys: Sequence[str] | None = None, *, weight: str | None = None
    ) -> coding.Cells:
        """Return the distinct key tuples with their counts, coded; one group-by on the engine."""
        return coding.cells(self.frame, list(self.keys if keys is None else keys), weight)

    def to_arrow(self, columns: Sequence[str] | None = None, *, with_row: bool = False) -> pa.Table:
        """Return the records, in order, as an Arrow table."""
        names = list(self.columns) if columns is None else list(dict.fromkeys(columns))
        require_columns(names, self.columns, "the data")
        held = held_table(self.frame)
        table = (
            self.engine.to_arrow(self.frame.select(*names, ROW))
            if held is None
            else held.select([*names, ROW])
        )
        table = sort_by_row(table)
        return table if with_row else table.drop_columns([ROW])

    def to_pandas(self) -> Any:
        """Return the records as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return the records as a Polars frame."""
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def to_native(self) -> Any:
        """Return the records in the kind of frame they came in; Arrow for files."""
        return self.to_own(self.to_arrow())

    def claim_view(self) -> nw.LazyFrame[Any]:
        """Return what claims are recomputed on."""
        return self.frame

    def faults_for(self, spec: Any) -> list[SdcError]:
        """Return the columns and roles that a Spec names or needs and the data do not have, and numbers that are none."""
        from tacit.data.values import not_numeric

        found: list[SdcError] = []
        missing = [c for c in spec.columns_named() if c not in self.columns]
        if missing:
            found.append(ColumnNotFound(missing, list(self.columns), "the data"))
        found.extend(
            RoleMissing(
                f"{spec.kind} needs {role_with_article(role)}, and the data declare none. "
                f"Declare them with tacit.read(..., {role}=...) or in the plan's roles."
            )
            for role in sorted(spec.needs)
            if not (self.hierarchies if role == "hierarchies" else self.with_role(role))
        )
        if spec.number_fields:
            found.extend(not_numeric(self, spec.columns_in(*spec.number_fields), spec.kind))
        return found

    def around(self, spec: Any) -> Around[Microdata]:
        """Return what records do around the work of a Spec: households, linked columns, copies."""
        from tacit.data.around_records import AroundRecords

        return AroundRecords(self, spec)

    # -- changing (returns new data) -----------------------------------------------------------

    def with_frame(self, frame: nw.LazyFrame[Any]) -> Microdata:
        """Return the data with another frame; columns that are gone lose their description."""
        names = [n for n in frame.collect_schema().names() if n != ROW]
        columns = {n: self.columns.get(n, Column(n)) for n in names}
        quasi = {
            name: kept
            for name, group in self.quasi.items()
            if (kept := tuple(c for c in group if c in columns))
        }
        links = tuple(
            kept for group in self.links if len(kept := tuple(c for c in group if c in columns)) > 1
        )
        return replace(self, frame=frame, columns=columns, quasi=quasi, links=links)

    def with_table(self, table: pa.Table) -> Microdata:
        """Return the data with records from an Arrow table that has the row number."""
        return self.with_frame(self.engine.from_arrow(table))

    def replace(
        self, values: Mapping[str, pa.Array | pa.ChunkedArray | npt.NDArray[Any]]
    ) -> Microdata:
        """Return the data with whole columns replaced or added, values given in record order.

        Other columns are not fetched: they stay in the table that is in memory already, or on the engine,
        where the new columns are joined by row number.
        """
        here = held_table(self.frame) is not None
        table = self.to_arrow(None if here else [], with_row=True)
        given = {n: a if isinstance(a, ARROW) else pa.array(a) for n, a in values.items()}
        for name, column in given.items():
            if len(column) != table.num_rows:
                raise InputError(
                    f"column {name!r}: {len(column)} values for {table.num_rows} records"
                )
        if here:
            return self.with_table(set_columns(table, given))
        order = [*self.columns, *(n for n in given if n not in self.columns)]
        new = self.engine.from_arrow(set_columns(table, given))
        rest = self.frame.select(*[n for n in self.columns if n not in given], ROW)
        return self.with_frame(rest.join(new, on=ROW, how="left").select(*order, ROW))

    def with_stand_ins(self, columns: Iterable[str]) -> Microdata:
        """Return the data with columns that are still to come, one number in all of them: to check a plan by."""
        new = [nw.lit(1).alias(c) for c in columns if c not in self.columns]
        return self.with_frame(self.frame.with_columns(*new)) if new else self

    def drop(self, columns: Iterable[str]) -> Microdata:
        """Return the data without some columns."""
        gone = set(columns)
        if not gone:
            return self
        left = [*(n for n in self.columns if n not in gone), ROW]
        held = held_table(self.frame)
        return (
            self.with_frame(self.frame.select(*left))
            if held is None
            else self.with_table(held.select(left))
        )

    def filter(self, keep: nw.Expr) -> Microdata:
        """Return the records for which an expression holds."""
        return self.keep_rows(self.frame.filter(keep))

    def keep_rows(self, frame: nw.LazyFrame[Any]) -> Microdata:
        """Return the records whose numbers stand in a frame of the engine."""
        held = held_table(self.frame)
        if held is None:
            return self.with_frame(frame)
        rows = self.engine.to_arrow(frame.select(ROW)).column(ROW)
        return self.with_table(held.filter(pc.is_in(held.column(ROW), rows)))

    def take(self, positions: npt.NDArray[np.integer[Any]]) -> Microdata:
        """Return the records at positions 0, 1, ... of the present order; they keep their numbers."""
        if held_table(self.frame) is not None:
            return self.with_table(self.to_arrow(with_row=True).take(pa.array(positions)))
        kept = self.engine.from_arrow(self.to_arrow([], with_row=True).take(pa.array(positions)))
        order = [*self.columns, ROW]
        return self.with_frame(kept.join(self.frame, on=ROW, how="left").select(*order))

    def recode(self, column: str, mapping: pa.Table) -> Microdata:
        """Return the data with a column's values replaced by a table of ``old`` and ``new``."""
        held, coded = held_table(self.frame), held_codes(self.frame, [column])
        if held is not None and coded is not None:
            # Codes stand in the order of the table, whatever that is.
            return self.with_table(set_columns(held, {column: recode_coded(coded[0], mapping)}))
        return self.with_frame(relational.recode(self.frame, column, mapping, self.engine))

    def generalise(self, column: str, level: int) -> Microdata:
        """Return the data with a column raised to a level of its hierarchy; level 0 changes nothing.

        A missing value stays missing below the top; at the top it is suppressed like all others.
        """
        if level == 0:
            return self
        if level == self.hierarchy(column).height:
            top = self.hierarchy(column).top
            if held_table(self.frame) is not None:
                return self.replace({column: pa.repeat(top, len(self))})
            return self.with_frame(self.frame.with_columns(nw.lit(top).alias(column)))
        hierarchy = self.hierarchy(column)
        if not self.history:
            return self.recode(column, hierarchy.mapping(level))
        # An earlier step may have generalised the column already; its labels climb from where they are.
        values = relational.fetch_distinct(self.frame, column)
        labels = raise_labels(hierarchy, values.to_pylist(), level, column)
        return self.recode(column, pa.table({"old": values, "new": pa.array(labels, pa.string())}))

    def materialise(self) -> Microdata:
        """Return the data computed once, so that later steps do not repeat earlier ones."""
        return replace(self, frame=self.engine.materialise(self.frame))

    def with_action(self, action: Action) -> Microdata:
        """Return the data with one more step in its history."""
        return replace(self, history=(*self.history, action))

    def with_columns_described(self, columns: Mapping[str, Column]) -> Microdata:
        """Return the data with other descriptions for some columns."""
        return replace(self, columns={**self.columns, **columns})


def role_with_article(role: str) -> str:
    """Return a role with its article."""
    if role == "sensitive":
        return "sensitive columns"
    return role if role.endswith("s") else f"a {role}"


def recode_coded(column: coding.Coded, mapping: pa.Table) -> pa.Array:
    """Return the new values of a coded column; null, and what the mapping lacks, becomes null."""
    old, new = (mapping.column(i).combine_chunks() for i in range(2))
    at = pc.index_in(column.values, old)
    codes = pa.array(column.codes, mask=column.codes == column.null)
    return new.take(at).take(codes)


D = TypeVar("D", bound=Data, default=Microdata)


def raise_labels(hierarchy: Hierarchy, values: Iterable[Any], level: int, column: str) -> list[str]:
    """Return the labels of present values at a level; a value that is above it already stays."""
    if not 0 <= level <= hierarchy.height:
        raise HierarchyError(
            f"level {level} of column {column!r} does not exist: its hierarchy has levels 0 to {hierarchy.height}"
        )
    present = list(values)
    strange = sum(ground_label(v) not in hierarchy.nodes for v in present)
    if strange:
        raise HierarchyError(
            f"{strange} of the different values in column {column!r} are no labels of its hierarchy; "
            "generalise before steps that replace values"
        )
    return [hierarchy.label_at(v, level) for v in present]
