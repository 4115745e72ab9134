"""Table: cells with values, status and protection levels, bound by additive relations; immutable."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.base import Action, Around, AroundTable
from tacit.data.cells import arrays, cell_names, protection, relations, shown
from tacit.data.cells.arrays import spread_over_cells
from tacit.data.cells.cell_names import CellName
from tacit.data.cells.contributors import Contributors
from tacit.data.cells.dimension import TOTAL, Dimension
from tacit.data.cells.status import (
    Status,
    Statuses,
    is_empty,
    is_fixed,
    is_hidden,
    is_primary,
    is_secondary,
)
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.public import checked

#: Techniques that publish every cell with another value, and claim something of all of them.
CHANGING = frozenset(
    {"rounding", "controlled rounding", "cell keys", "controlled tabular adjustment"}
)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A frequency or magnitude table with everything that its protection needs.

    Make one with :meth:`from_microdata`, :meth:`from_array`, :meth:`from_cells`, :meth:`link` or the
    readers of :mod:`tacit.tables`. ``value`` is the confidential truth; ``published`` is what is released.

    Attributes
    ----------
    dimensions
        The spanning variables; none for a table that is a bare list of equations.
    value
        The true value of every cell, totals included. In a product table cells are in C order.
    count
        Contributors of every cell; -1 where it is unknown.
    status
        :class:`~tacit.data.cells.status.Status` of every cell.
    weight
        The cost of hiding a cell, where the source gives one; see :meth:`costs`.
    lower, upper
        What an outsider knows beforehand: external bounds, by default 0 and no limit.
    lower_level, upper_level, sliding_level
        How far an attacker's interval must reach below and above the value, and how wide it must be.
    contributors, holdings
        The largest contributions by respondent, and by holding.
    changed
        The values that are published in place of the true ones (rounded, adjusted, with noise); NaN: hidden.
    interval
        Published intervals, cells x 2 (NaN where none).
    coordinates
        Cells x dimensions: the code of each cell; None for the full product.
    given
        The relations as a matrix where they do not follow from the dimensions.
    response
        What the values are: the name of a variable, or ``count``.
    frequency
        True for a table of counts.
    history
        What has been done to it.
    """

    kind: ClassVar[str] = "table"
    made_by: ClassVar[str] = "a table: build one with tacit.Table.from_microdata(...)"

    dimensions: tuple[Dimension, ...]
    value: Floats
    count: Ints
    status: Statuses
    lower: Floats
    upper: Floats
    lower_level: Floats
    upper_level: Floats
    sliding_level: Floats
    weight: Floats | None = None
    contributors: Contributors | None = None
    holdings: Contributors | None = None
    changed: Floats | None = None
    interval: Floats | None = None
    coordinates: npt.NDArray[np.int32] | None = None
    given: sparse.csr_array | None = None
    response: str = "value"
    frequency: bool = False
    history: tuple[Action, ...] = ()
    source: str = "memory"
    #: Facts for rules and reports that only some sources give (name to array of cells or plain value).
    extra: Mapping[str, Any] = field(default_factory=dict)

    # -- making --------------------------------------------------------------------------------

    @classmethod
    def from_cells(
        cls,
        dimensions: Sequence[Dimension],
        value: npt.ArrayLike,
        *,
        count: npt.ArrayLike | None = None,
        status: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        lower_level: npt.ArrayLike = 0.0,
        upper_level: npt.ArrayLike = 0.0,
        sliding_level: npt.ArrayLike = 0.0,
        coordinates: npt.ArrayLike | None = None,
        equations: sparse.csr_array | None = None,
        **more: Any,
    ) -> Table:
        """Make a table from all its cells, totals included; relations are checked.

        Parameters
        ----------
        dimensions
            The spanning variables; empty for a bare list of cells with ``equations``.
        value
            One value per cell: an array in the shape of the dimensions, or flat in C order, or one
            entry per row of ``coordinates``.
        count, status, weight, lower, upper, lower_level, upper_level, sliding_level
            See the class; single numbers hold for every cell. Without ``status``, cells with value
            and count 0 are empty and all others safe.
        coordinates
            Cells x dimensions, as positions of codes; by default the full product.
        equations
            Relations that do not follow from the dimensions.
        more
            Other fields of the class: contributors, holdings, response, frequency, source, extra.

        Raises
        ------
        NotAdditive
            Naming the relations that do not hold.
        InputError
            When a value is not a number, or lies outside its bounds: negative values need ``lower``.
        """
        values = np.ascontiguousarray(value, dtype=np.float64).ravel()
        n = len(values)
        if not np.isfinite(values).all():
            raise InputError(
                f"{int((~np.isfinite(values)).sum())} cells of the table have no value"
            )
        counts = spread_over_cells(-1 if count is None else count, n, np.int64)
        if status is None:
            empty = (values == 0) & (counts <= 0)
            states = np.where(empty, Status.EMPTY, Status.SAFE).astype(np.int8)
        else:
            states = np.array(np.broadcast_to(np.asarray(status).ravel(), (n,)), dtype=np.int8)
        table = cls(
            dimensions=tuple(dimensions),
            value=values,
            count=counts,
            status=states,
            lower=spread_over_cells(0.0 if lower is None else lower, n),
            upper=spread_over_cells(np.inf if upper is None else upper, n),
            lower_level=spread_over_cells(lower_level, n),
            upper_level=spread_over_cells(upper_level, n),
            sliding_level=spread_over_cells(sliding_level, n),
            weight=None if weight is None else spread_over_cells(weight, n),
            coordinates=None if coordinates is None else np.asarray(coordinates, dtype=np.int32),
            given=equations,
            **more,
        )
        expected = n if table.coordinates is None else len(table.coordinates)
        product = int(np.prod(table.shape)) if table.dimensions else n
        if table.coordinates is None and product != n:
            raise InputError(f"the dimensions make {product:,} cells, and {n:,} values were given")
        if expected != n:
            raise InputError(f"{expected:,} coordinates were given for {n:,} values")
        table.require_sound()
        return table

    @classmethod
    def from_array(
        cls,
        values: npt.ArrayLike,
        *,
        totals: bool = True,
        names: Sequence[str] | None = None,
        codes: Sequence[Sequence[str]] | None = None,
        count: npt.ArrayLike | None = None,
        **more: Any,
    ) -> Table:
        """Make a table from an array of one axis per dimension.

        Parameters
        ----------
        values
            The array; the last index of each axis is the total (or, with ``totals=False``, there are
            none and they are added).
        names, codes
            Names of the dimensions and of their ground codes; by default "axis 1", ... and "1", ...
        count, more
            As in :meth:`from_cells`; arrays in the shape of ``values``.
        """
        array, dimensions, count = arrays.with_dimensions(values, totals, names, codes, count)
        return cls.from_cells(dimensions, array, count=count, **more)

    @classmethod
    @checked
    def from_microdata(
        cls,
        data: Microdata,
        dimensions: Mapping[str, Any] | Sequence[str],
        value: str | None = None,
        **options: Any,
    ) -> Table:
        """Tabulate records on their engine, with all sub-totals and the largest contributors.

        Parameters
        ----------
        data
            The records.
        dimensions
            The spanning variables: column to hierarchy, dimension, file of one (None: flat).
        value
            The column to add up; without one, records are counted.
        options
            ``holding``, ``unit``, ``weight``, ``request``, ``waiver``, ``cost``, ``shadow``, ``top``,
            ``total``, ``lower``, ``upper``: see :func:`tacit.tables.tabulate`.
        """
        from tacit.data.cells.tabulation import tabulate

        return tabulate(data, dimensions, value, **options)

    @classmethod
    @checked
    def link(
        cls,
        *tables: Table,
        variables: Mapping[str, Dimension] | None = None,
        data: Microdata | None = None,
    ) -> Table:
        """Join tables that share cells into one system; see :func:`tacit.tables.link`."""
        from tacit.data.cells.linked import link

        return link(*tables, variables=variables, data=data)

    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the table with everything known of it (``.table``): confidential, for work in steps."""
        from tacit.data.cells.table_file import save_table

        return save_table(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Table:
        """Read what :meth:`save` wrote."""
        from tacit.data.cells.table_file import load_table

        return load_table(path)

    # -- shape ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of codes of each dimension."""
        return tuple(len(d) for d in self.dimensions)

    @property
    def is_product(self) -> bool:
        """Return True when the cells are the full product of the dimensions, in C order."""
        return bool(self.dimensions) and self.coordinates is None and self.given is None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the dimensions."""
        return tuple(d.name for d in self.dimensions)

    @functools.cached_property
    def equations(self) -> sparse.csr_array:
        """Return the relations: a sparse matrix M with M @ value = 0. Rows may be redundant."""
        if self.given is not None:
            return self.given
        if self.coordinates is None:
            return relations.product_equations(self.dimensions)
        from tacit.data.cells.linked import equations_of

        return equations_of(self.dimensions, self.coordinates)

    @functools.cached_property
    def places(self) -> npt.NDArray[np.int32]:
        """Return the code of each cell in each dimension: cells x dimensions."""
        if self.coordinates is not None:
            return self.coordinates
        if not self.dimensions:
            return np.zeros((len(self), 0), dtype=np.int32)
        return np.stack(np.unravel_index(np.arange(len(self)), self.shape), axis=1).astype(np.int32)

    @functools.cached_property
    def ground(self) -> Flags:
        """Return which cells are the parent in no relation."""
        if self.is_product:
            flags = np.ones(self.shape, dtype=bool)
            for axis, d in enumerate(self.dimensions):
                leaf = np.zeros(len(d), dtype=bool)
                leaf[d.leaves] = True
                flags &= leaf.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
            return flags.ravel()
        flags = np.ones(len(self), dtype=bool)
        m = self.equations.tocoo()
        flags[m.coords[1][m.data < 0]] = False
        return flags

    def subtables(self) -> Iterable[relations.Subtable]:
        """Yield the unstructured subtables, nearest to the grand total first."""
        if not self.is_product:
            raise InputError("only a table that is a full product has subtables by dimension")
        return relations.subtables(self.dimensions)

    # -- cells ---------------------------------------------------------------------------------

    def index(self, cell: CellName) -> int:
        """Return the position of one cell, named by position, codes, array index or mapping."""
        return cell_names.cell_index(self, cell)

    def code_of(self, dimension: Dimension, code: Any) -> int:
        """Return the position of a code; an empty text is the total."""
        return cell_names.code_index(dimension, code)

    @functools.cached_property
    def _lookup(self) -> dict[tuple[int, ...], int]:
        return {tuple(map(int, row)): i for i, row in enumerate(self.places)}

    def positions(self, cells: Any) -> Ints:
        """Return positions for a list of cell names, a boolean mask or an array of positions."""
        if isinstance(cells, np.ndarray) and cells.dtype == bool:
            return np.flatnonzero(cells.ravel())
        if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iu":
            return cells.astype(np.int64)
        return np.array([self.index(c) for c in cells], dtype=np.int64)

    def codes(self, cell: int) -> tuple[str, ...]:
        """Return the codes of one cell."""
        if not self.dimensions:
            return (str(cell),)
        row = (
            self.places[cell]
            if self.coordinates is not None
            else np.unravel_index(cell, self.shape)
        )
        return tuple(d.codes[int(c)] for d, c in zip(self.dimensions, row, strict=True))

    def describe_cell(self, cell: int) -> str:
        """Return a cell's codes for a message."""
        return " x ".join(self.codes(cell)) if self.dimensions else f"cell {cell}"

    @property
    def primary(self) -> Flags:
        """Return which cells are unsafe by themselves."""
        return is_primary(self.status)

    @property
    def secondary(self) -> Flags:
        """Return which cells are hidden to protect others."""
        return is_secondary(self.status)

    @property
    def empty(self) -> Flags:
        """Return which cells are known to be empty."""
        return is_empty(self.status)

    @property
    def marked_empty(self) -> Flags:
        """Return which cells a publication marks as empty: none where values are changed.

        Beside a mark, a 0 without one would be known to be a count that was rounded to 0.
        """
        return self.empty if self.changed is None else np.zeros(len(self), dtype=bool)

    @property
    def fixed(self) -> Flags:
        """Return which cells may not be hidden."""
        return is_fixed(self.status)

    @property
    def hidden(self) -> Flags:
        """Return which cells are not published (a published interval still hides the value)."""
        own = is_hidden(self.status) if self.changed is None else np.isnan(self.changed)
        return np.asarray(own | self.unpublished)

    @property
    def unpublished(self) -> Flags:
        """Return which cells are left out of what is published, whatever protects the table."""
        gone = self.extra.get("unpublished")
        return np.zeros(len(self), dtype=bool) if gone is None else np.asarray(gone, dtype=bool)

    @property
    def published(self) -> Floats:
        """Return what is published: the changed or true values, NaN where a cell is hidden."""
        if self.changed is None:
            return np.where(self.hidden, np.nan, self.value)
        gone = self.unpublished
        return np.where(gone, np.nan, self.changed) if gone.any() else self.changed

    @property
    def singleton(self) -> Flags:
        """Return which cells have exactly one contributor (by holding where those are known).

        A count of 1 has one contributor, whether or not contributors are listed beside it.
        """
        if self.holdings is not None:
            return np.asarray(self.holdings.count == 1)
        if self.frequency:
            return np.asarray(np.where(self.count < 0, self.value, self.count) == 1)
        return np.asarray(self.count == 1)

    @functools.cached_property
    def owner(self) -> Ints:
        """Return the only contributor of each singleton; -1 elsewhere.

        Where the source names nobody, an unknown respondent has a number below -1; a total and its only
        part with one contributor have the same one.
        """
        lone = self.singleton
        own = np.full(len(self), -1, dtype=np.int64)
        behind = self.holdings or self.contributors
        if behind is not None:
            own[lone] = behind.who[lone, 0]
        unknown = lone & (own < 0)
        if unknown.any():
            own[unknown] = -2 - relations.linked_singletons(self.equations, lone)[unknown]
        return own

    def costs(self, cost: str = "value", power: float = 1.0) -> Floats:
        """Return the cost of hiding each cell, always positive.

        Parameters
        ----------
        cost
            ``value`` (absolute value; the table's own weights where it has some), ``unit``,
            ``frequency``, ``log`` (log(1 + value)), or ``weight``.
        power
            Exponent; 0 gives log(1 + cost), as tau-ARGUS' lambda does.
        """
        return protection.hiding_costs(self, cost, power)

    # -- new tables ----------------------------------------------------------------------------

    def with_(self, **fields: Any) -> Table:
        """Return a table with some fields replaced."""
        return replace(self, **fields)

    def with_protection(
        self,
        cells: Any,
        lower: npt.ArrayLike = 0.0,
        upper: npt.ArrayLike = 0.0,
        sliding: npt.ArrayLike = 0.0,
        *,
        status: Status = Status.UNSAFE_MANUAL,
    ) -> Table:
        """Call cells unsafe, with the distances to which an attacker's interval must reach."""
        return protection.protect_cells(self, cells, lower, upper, sliding, status)

    def with_status(self, cells: Any, status: Status) -> Table:
        """Set the status of some cells."""
        states = self.status.copy()
        states[self.positions(cells)] = status
        return replace(self, status=states)

    def freeze(self, cells: Any) -> Table:
        """Say that some cells must be published."""
        return protection.freeze_cells(self, cells)

    def with_bounds(self, cells: Any, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Table:
        """Set what outsiders know of some cells beforehand."""
        at = self.positions(cells)
        low, high = np.array(self.lower), np.array(self.upper)
        low[at], high[at] = lower, upper
        table = replace(self, lower=low, upper=high)
        table.require_bounds()
        return table

    def with_weight(self, weight: npt.ArrayLike) -> Table:
        """Set the cost of hiding each cell."""
        costs = spread_over_cells(weight, len(self))
        if (costs < 0).any() or np.isnan(costs).any():
            raise InputError("the costs of cells must not be negative or missing")
        return replace(self, weight=costs)

    def with_hidden(self, cells: Any) -> Table:
        """Return the pattern in which exactly the unsafe cells and these ones are hidden."""
        return protection.hide_cells(self, cells)

    def with_changed(self, values: npt.ArrayLike) -> Table:
        """Return the table that publishes other values than the true ones."""
        # A zero has no sign: -0.0 would tell a value that was rounded down from an empty cell.
        return replace(self, changed=np.asarray(values, dtype=np.float64).ravel() + 0.0)

    def materialise(self) -> Table:
        """Return the table: its cells are computed already."""
        return self

    def claim_view(self) -> Table:
        """Return what claims are recomputed on: the full table as published."""
        return self

    def faults_for(self, spec: Any) -> list[SdcError]:
        """Return why a Spec cannot work on this table: its own ``faults`` know more."""
        if self.unpublished.any() and not CHANGING.isdisjoint(getattr(spec, "techniques", ())):
            return [
                InputError(
                    f"{spec.kind} changes and publishes every cell, and cells of this table are left out; "
                    "protect it by suppression, or leave out select_cells"
                )
            ]
        return []

    def around(self, spec: Any) -> Around[Table]:
        """Return what tables do around the work of a Spec: doubts about linked ones."""
        return AroundTable(self, spec)

    def with_action(self, action: Action) -> Table:
        """Return the table with one more thing done to it."""
        return replace(self, history=(*self.history, action))

    # -- soundness -----------------------------------------------------------------------------

    def broken(self, values: Floats | None = None) -> list[tuple[int, float]]:
        """Return the relations that do not hold, with their gaps, largest first."""
        return relations.broken_relations(self, values)

    def is_additive(self, values: Floats | None = None) -> bool:
        """Return True when every relation holds."""
        return not self.broken(values)

    def equation_text(self, row: int) -> str:
        """Return a relation in words: which total, over which dimension."""
        return relations.equation_text(self, row)

    def require_sound(self) -> None:
        """Raise when a relation does not hold or a value lies outside its bounds."""
        relations.require_sound(self)

    def require_bounds(self) -> None:
        """Raise when a value lies outside what outsiders know of it."""
        relations.require_bounds(self)

    # -- looking -------------------------------------------------------------------------------

    def to_array(self, values: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return what is published (or another array of cells) in the shape of the dimensions."""
        if not self.is_product:
            raise InputError("only a table that is a full product has an array form")
        return np.asarray(self.published if values is None else values).reshape(self.shape)

    def columns_of_codes(self) -> dict[str, list[str]]:
        """Return the codes of every cell by dimension, for frames and files."""
        if not self.dimensions:
            return {"cell": [str(i) for i in range(len(self))]}
        return {
            d.name: np.asarray(d.codes, dtype=object)[self.places[:, i]].tolist()
            for i, d in enumerate(self.dimensions)
        }

    @property
    def frame(self) -> nw.DataFrame[Any]:
        """Return every cell with everything known of it. Confidential: keep it inside."""
        return shown.frame_of(self)

    def released(self) -> nw.DataFrame[Any]:
        """Return what may be given away: codes, published value (or interval), and a mark."""
        return shown.released_frame(self)

    def tally(self) -> dict[str, int]:
        """Return how many cells have each status."""
        return shown.tally(self)

    def __repr__(self) -> str:
        return shown.table_text(self)

    def grid(self) -> str:
        """Return a small one- or two-way table as text; hidden cells are x, empty ones -, others not there."""
        return shown.grid_text(self)


__all__ = ["TOTAL", "CellName", "Contributors", "Table", "spread_over_cells"]
