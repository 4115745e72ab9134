"""Table: cells with values, status and protection levels, bound by additive relations; immutable."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.data.base import Action
from tacit.data.cells import relations
from tacit.data.cells.dimension import TOTAL, Dimension
from tacit.data.cells.status import (
    Flags,
    Status,
    Statuses,
    is_empty,
    is_fixed,
    is_hidden,
    is_primary,
    is_secondary,
)
from tacit.data.cells.written_order import written_cells
from tacit.data.decimals import decimals_shown
from tacit.data.microdata import Microdata
from tacit.errors import InputError, NotAdditive, SdcError
from tacit.numerics import elementary

if TYPE_CHECKING:
    from tacit.data.hierarchy import Hierarchy

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Techniques that publish every cell with another value, and claim something of all of them.
CHANGING = frozenset(
    {"rounding", "controlled rounding", "cell keys", "controlled tabular adjustment"}
)
#: One cell: its position, its codes, or its array index (one number per dimension).
CellName = int | Sequence[str] | Sequence[int] | Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Contributors:
    """Who stands behind each cell: how many units, and the largest contributions.

    Attributes
    ----------
    count
        Units (records or holdings) with a contribution in each cell.
    top
        The largest contributions, descending, padded with 0: cells x t. Unweighted.
    who
        An integer for the unit behind each of them, -1 where there is none or it is unknown.
    weight
        The sampling weights of those contributions, if the table is weighted.
    asked, waived
        Whether that unit asked for protection (request rule), or waived it.
    """

    count: Ints
    top: Floats
    who: npt.NDArray[np.int64]
    weight: Floats | None = None
    asked: Flags | None = None
    waived: Flags | None = None

    @property
    def t(self) -> int:
        """Return how many of the largest contributions are kept."""
        return int(self.top.shape[1])

    def take(self, cells: Ints) -> Contributors:
        """Return the contributors of some cells."""

        def picked(a: Any) -> Any:
            return None if a is None else a[cells]

        return Contributors(
            self.count[cells],
            self.top[cells],
            self.who[cells],
            picked(self.weight),
            picked(self.asked),
            picked(self.waived),
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
        array = as_cells(values)
        if array.ndim < 1 or min(array.shape) < (2 if totals else 1):
            raise InputError(
                "an array with totals needs at least two entries on each axis"
                if totals
                else "the array has no cells"
            )
        labels = names or relations.letters(array.ndim)
        dimensions = []
        for axis, size in enumerate(array.shape):
            ground = codes[axis] if codes else [str(i + 1) for i in range(size - totals)]
            dimensions.append(Dimension.flat(labels[axis], ground, last=True))
        if not totals:
            array = relations.roll_up(array, dimensions)
            if count is not None:
                count = relations.roll_up(as_cells(count), dimensions)
        return cls.from_cells(dimensions, array, count=count, **more)

    @classmethod
    def from_microdata(
        cls,
        data: Microdata,
        dimensions: Mapping[str, Hierarchy | Dimension | Mapping[str, Any] | str | None]
        | Sequence[str],
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
        if isinstance(cell, int | np.integer):
            if not 0 <= cell < len(self):
                raise InputError(f"there is no cell {int(cell)}; the table has {len(self):,}")
            return int(cell)
        if isinstance(cell, Mapping):
            unknown = set(cell) - set(self.names)
            if unknown:
                raise InputError(f"no dimension {min(unknown)!r}; there are {self.names}")
            cell = [cell.get(d.name, d.codes[d.total]) for d in self.dimensions]
        if len(cell) != len(self.dimensions):
            raise InputError(
                f"a cell of this table is named by {len(self.dimensions)} codes ({self.names})"
            )
        place = [self.code_of(d, c) for d, c in zip(self.dimensions, cell, strict=True)]
        if self.coordinates is None:
            return int(np.ravel_multi_index(place, self.shape))
        found = self._lookup.get(tuple(place))
        if found is None:
            raise InputError(f"the table has no cell {tuple(cell)}")
        return found

    def code_of(self, dimension: Dimension, code: Any) -> int:
        """Return the position of a code; an empty text is the total."""
        if isinstance(code, int | np.integer):
            if not -len(dimension) <= code < len(dimension):
                raise InputError(f"{dimension.name!r} has no position {int(code)}")
            return int(code) % len(dimension)
        if code == "" and "" not in dimension.position:
            return dimension.total
        if code not in dimension.position:
            from tacit.errors import near_match

            raise InputError(
                f"the dimension {dimension.name!r} has no code {code!r}. "
                f"{near_match(str(code), dimension.codes)}".strip()
            )
        return dimension.position[code]

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
            own[unknown] = -2 - linked_singletons(self.equations, lone)[unknown]
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
        if cost == "weight" or (cost == "value" and self.weight is not None):
            base = np.ones(len(self)) if self.weight is None else self.weight
        elif cost == "value":
            base = np.abs(self.value)
        elif cost == "unit":
            base = np.ones(len(self))
        elif cost == "frequency":
            if (self.count < 0).all():
                raise InputError("cost='frequency' needs the contributors of each cell")
            base = np.maximum(self.count, 0).astype(np.float64)
        elif cost == "log":
            base = elementary.log1p(np.abs(self.value))
        else:
            raise InputError(f"there is no cost {cost!r}: value, unit, frequency, log or weight")
        if (base < 0).any() or np.isnan(base).any():
            raise InputError("the costs of cells must not be negative or missing")
        with np.errstate(over="ignore"):
            scaled = elementary.log1p(base) if power == 0 else elementary.power(base, power)
        if not np.isfinite(scaled).all():
            raise InputError(
                f"power={power:g} is too large for the costs of these cells: they leave the range of numbers. Take a "
                "smaller power, or cost='log'."
            )
        smallest = scaled[scaled > 0].min(initial=1.0)
        return np.maximum(scaled, min(1.0, smallest) * 1e-3)

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
        at = self.positions(cells)
        for name, level in (("lower", lower), ("upper", upper), ("sliding", sliding)):
            if (np.asarray(level, dtype=float) < 0).any() or np.isnan(level).any():
                raise InputError(f"the {name} protection level must not be negative")
        frozen = at[self.status[at] == Status.PROTECTED]
        if len(frozen):
            raise InputError(
                f"{self.describe_cell(int(frozen[0]))} must be published and cannot be unsafe as well"
            )
        table = self.with_status(at, status)
        levels = {}
        for name, level in (
            ("lower_level", lower),
            ("upper_level", upper),
            ("sliding_level", sliding),
        ):
            array = np.array(getattr(self, name), dtype=np.float64)
            array[at] = level
            levels[name] = array
        return table.with_(**levels)

    def with_status(self, cells: Any, status: Status) -> Table:
        """Set the status of some cells."""
        states = self.status.copy()
        states[self.positions(cells)] = status
        return replace(self, status=states)

    def freeze(self, cells: Any) -> Table:
        """Say that some cells must be published."""
        at = self.positions(cells)
        unsafe = at[self.primary[at]]
        if len(unsafe):
            raise InputError(
                f"{self.describe_cell(int(unsafe[0]))} is unsafe: it cannot be published as it is"
            )
        return self.with_status(at[~self.empty[at]], Status.PROTECTED)

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
        states = self.status.copy()
        states[is_secondary(states)] = Status.SAFE
        at = self.positions(cells)
        at = at[~is_primary(states[at])]
        held = at[is_fixed(states[at])]
        if len(held):
            raise InputError(
                f"{self.describe_cell(int(held[0]))} is empty or must be published; it cannot be hidden"
            )
        states[at] = Status.SECONDARY
        return replace(self, status=states, changed=None, interval=None)

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

    def with_action(self, action: Action) -> Table:
        """Return the table with one more thing done to it."""
        return replace(self, history=(*self.history, action))

    # -- soundness -----------------------------------------------------------------------------

    def broken(self, values: Floats | None = None) -> list[tuple[int, float]]:
        """Return the relations that do not hold, with their gaps, largest first."""
        gap, allowed = relations.gaps(self.equations, self.value if values is None else values)
        wrong = np.flatnonzero(np.abs(gap) > allowed)
        return [
            (int(i), float(gap[i])) for i in wrong[np.argsort(-np.abs(gap[wrong]), kind="stable")]
        ]

    def is_additive(self, values: Floats | None = None) -> bool:
        """Return True when every relation holds."""
        return not self.broken(values)

    def equation_text(self, row: int) -> str:
        """Return a relation in words: which total, over which dimension."""
        m = self.equations
        cells = m.indices[m.indptr[row] : m.indptr[row + 1]]
        signs = m.data[m.indptr[row] : m.indptr[row + 1]]
        parents = cells[signs < 0]
        parent = self.describe_cell(int(parents[0] if len(parents) else cells[0]))
        if not self.dimensions:
            return f"equation {row} ({parent} and {len(cells) - 1} others)"
        moved = [
            d.name
            for d, column in zip(self.dimensions, self.places[cells].T, strict=True)
            if len(np.unique(column)) > 1
        ]
        return f"{parent} over {', '.join(moved) or 'itself'}"

    def require_sound(self) -> None:
        """Raise when a relation does not hold or a value lies outside its bounds."""
        self.require_bounds()
        wrong = self.broken()
        if wrong:
            listed = [f"{self.equation_text(i)} (gap {g:g})" for i, g in wrong[:10]]
            more = f" and {len(wrong) - 10:,} more" if len(wrong) > 10 else ""
            raise NotAdditive(
                f"{len(wrong):,} of {self.equations.shape[0]:,} sums of the table do not hold: "
                + "; ".join(listed)
                + more
            )

    def require_bounds(self) -> None:
        """Raise when a value lies outside what outsiders know of it."""
        slack = relations.TOLERANCE * np.maximum(1.0, np.abs(self.value))
        outside = np.flatnonzero(
            (self.value < self.lower - slack) | (self.value > self.upper + slack)
        )
        if len(outside):
            hint = (
                " Negative values need lower=, the bound that outsiders know."
                if (self.value < 0).any()
                else ""
            )
            raise InputError(
                f"{len(outside):,} cells lie outside their bounds, the first is "
                f"{self.describe_cell(int(outside[0]))}.{hint}"
            )

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
        import pyarrow as pa

        columns: dict[str, Any] = {
            **self.columns_of_codes(),
            self.response: self.value,
            "count": self.count,
            "status": [Status(int(s)).word for s in self.status],
            "published": pa.array(self.published, from_pandas=True),
            "lower_level": self.lower_level,
            "upper_level": self.upper_level,
            "sliding_level": self.sliding_level,
        }
        return nw.from_native(pa.table(columns), eager_only=True)

    def released(self) -> nw.DataFrame[Any]:
        """Return what may be given away: codes, published value (or interval), and a mark."""
        import pyarrow as pa

        columns: dict[str, Any] = {
            **self.columns_of_codes(),
            self.response: pa.array(self.published, from_pandas=True),
        }
        if self.interval is not None:
            columns["low"] = pa.array(self.interval[:, 0], from_pandas=True)
            columns["high"] = pa.array(self.interval[:, 1], from_pandas=True)
        columns["mark"] = np.where(self.hidden, "x", np.where(self.marked_empty, "-", "")).tolist()
        shown = pa.table(columns).take(pa.array(written_cells(self)))
        return nw.from_native(shown, eager_only=True)

    def tally(self) -> dict[str, int]:
        """Return how many cells have each status."""
        ids, n = np.unique(self.status, return_counts=True)
        return {Status(int(i)).word: int(k) for i, k in zip(ids, n, strict=True)}

    def __repr__(self) -> str:
        by = " x ".join(f"{d.name} ({len(d)})" for d in self.dimensions) or "equations"
        head = f"Table of {self.response} by {by}: {len(self):,} cells"
        states = ", ".join(f"{n:,} {word}" for word, n in self.tally().items())
        lines = [head, states]
        if self.is_product and len(self.shape) <= 2 and len(self) <= 400:
            lines.append(self.grid())
        return "\n".join(lines)

    def grid(self) -> str:
        """Return a small one- or two-way table as text; hidden cells are x, empty ones -, others not there."""
        form = f",.{decimals_shown(self.published)}f"
        shown = np.array(
            [
                "" if u else "x" if h else "-" if e else f"{v:{form}}"
                for v, h, e, u in zip(
                    self.published, self.hidden, self.marked_empty, self.unpublished, strict=True
                )
            ],
            dtype=object,
        ).reshape(self.shape if len(self.shape) == 2 else (1, -1))
        rows = self.dimensions[0].codes if len(self.shape) == 2 else ("",)
        body = [
            ["", *self.dimensions[-1].codes],
            *([r, *line] for r, line in zip(rows, shown, strict=True)),
        ]
        widths = [max(len(str(line[i])) for line in body) for i in range(len(body[0]))]
        return "\n".join(
            "  ".join(
                str(x).ljust(w) if i == 0 else str(x).rjust(w)
                for i, (x, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in body
        )


def linked_singletons(equations: sparse.csr_array, lone: Flags) -> Ints:
    """Return a number for each cell, equal where a singleton total has one singleton part."""
    from scipy.sparse.csgraph import connected_components

    n = len(lone)
    m = equations.tocoo()
    row, cell, sign = m.coords[0], m.coords[1], m.data
    parent = np.full(equations.shape[0], -1, dtype=np.int64)
    at = (sign < 0) & lone[cell]
    parent[row[at]] = cell[at]
    ends = (sign > 0) & lone[cell] & (parent[row] >= 0)
    tied = sparse.csr_array(
        (np.ones(int(ends.sum()), dtype=np.int8), (parent[row[ends]], cell[ends])), shape=(n, n)
    )
    return np.asarray(connected_components(tied, directed=False)[1], dtype=np.int64)


def spread_over_cells(value: npt.ArrayLike, n: int, dtype: Any = np.float64) -> npt.NDArray[Any]:
    """Return one entry per cell; a single number takes no memory."""
    array = np.asarray(value, dtype=dtype)
    if array.ndim == 0:
        return np.broadcast_to(array, (n,))
    flat = array.ravel()
    if len(flat) != n:
        raise InputError(f"{len(flat):,} entries were given for {n:,} cells")
    return flat


__all__ = ["TOTAL", "CellName", "Contributors", "Table", "spread_over_cells"]


def as_cells(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return cells as an array of numbers, or say why they are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            "the array does not hold the cells of a table: it needs numbers, and as many in every row"
        ) from None
