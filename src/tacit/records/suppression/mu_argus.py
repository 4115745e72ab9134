"""mu-Argus: suppress cells until no checked combination of a few columns is rare."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, model_validator

from tacit.arrays import Flags, Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.in_blocks import constant_in_households
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.codes import Cells
from tacit.engine.relational import N, count_rows, counts
from tacit.engine.subsets import Packing, unordered_cells
from tacit.errors import InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import (
    ClassSize,
    ColumnName,
    ColumnNames,
    NaturalInt,
    PositiveFloat,
    PositiveInt,
)
from tacit.numerics.elementary import log2
from tacit.records.suppression.rare_combinations import (
    Combination,
    Suppression,
    count_missing,
)
from tacit.registry import register
from tacit.spec import Method
from tacit.treatment import OnLinks

Rating = Literal[0, 1, 2, 3, "not", "identifying", "more", "most"]

Importance = Annotated[
    Mapping[ColumnName, PositiveFloat] | Literal["entropy"],
    Field(
        description="how much a column's values are worth keeping (default 1), or entropy: as much as they tell"
    ),
]

RATINGS = ("not", "identifying", "more", "most")

#: mu-ARGUS metadata number the levels the other way round: 1 is the most identifying.
RATING_OF_IDLEVEL = {0: 0, 1: 3, 2: 2, 3: 1}

#: The priority of mu-ARGUS metadata that name none, and the weight of what need not be spared at all.
PRIORITY, SMALLEST_WEIGHT = 50, 1e-6

#: Columns that one machine word holds.
MOST_COLUMNS = 60

CAUTION = (
    "Only combinations of a few columns were checked: this is not an anonymous data system (ADS0), and "
    "records may still be unique on the whole quasi-identifier."
)


class CheckedSet(BaseModel):
    """Columns whose combinations of values must be held by k records."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: ColumnNames = Field(description="the columns")
    k: ClassSize = Field(description="records that must share every combination of their values")


@register
class MuArgus(Method):
    """Suppress single cells so that no checked combination of up to three columns is rare.

    Columns are rated not (0), identifying (1), more (2) or most identifying (3). Checked are every
    single rated column; every pair with a column rated at least more; every triple with a column
    rated most and another rated at least more. A combination of values held by fewer than k records
    is an outlier. In each record a set of cells is made missing that meets every outlier of the
    record: the set of smallest total importance (``exact``, a minimum-weight hitting set, ties to the
    fewest cells and then to the column order), or repeatedly the value that occurs in most outliers
    (``greedy``, ties to the least important and then to the column order). No record is removed.

    A missing cell takes its record out of other combinations' counts, which can make those rare in
    turn; so counting and suppressing are repeated until every complete combination occurs in at least
    k records. The answer is the smallest for each record in each round, not for the file as a whole.

    Without ratings, the identification levels of mu-ARGUS metadata are used if the file brought any,
    and otherwise every key is rated most identifying, so that all combinations up to ``max_dim``
    columns are checked. A key that the given ratings leave out is rated identifying. Without a column
    rated most, no triple is checked. ``dimensions`` checks all combinations of so many rated columns
    with a k for each dimension instead, and ``tables`` the listed ones; k is one more than the
    threshold of mu-ARGUS, at which a combination is still unsafe.

    Without importances, the suppression priorities of the metadata are used (0 to 100; 100 is spared most).
    With a household column, a value that is the same for all members of every household, or that the
    metadata call a household variable, is hidden in all records of the household or in none.

    Figure 30 of Sweeney's report is not a valid result of her own rule: with Ethnicity and Birth of
    tuple 8 suppressed, the pair (f, 02139) is still unique although Sex x ZIP is checked. Valid and
    smallest are {Ethnicity, ZIP} and {Birth, Sex}. Her text says that tuple 7 is unique on four
    attributes; three (Birth, Sex, ZIP) suffice.

    References
    ----------
    Hundepool, Willenborg (1996), mu- and tau-Argus: software for statistical disclosure control, Third
    International Seminar on Statistical Confidentiality, Bled. Sweeney (2000), Foundations of Privacy
    Protection from a Computer Science Perspective, section 6.3 and Figure 30.
    """

    kind: Literal["mu_argus"] = "mu_argus"
    k: ClassSize = Field(
        default=2, description="records that must share every checked combination of values"
    )
    ratings: Mapping[ColumnName, Rating] = Field(
        default_factory=dict,
        description="how identifying a column is: 0 or not, 1 or identifying, 2 or more, 3 or most",
    )
    recode: Mapping[ColumnName, NaturalInt] = Field(
        default_factory=dict, description="level of its hierarchy to which a column is raised first"
    )
    method: Literal["exact", "greedy"] = Field(
        default="exact",
        description="smallest set of cells for each record, or the most frequent value first",
    )
    importance: Importance = Field(default_factory=dict)
    max_dim: int = Field(default=3, ge=1, le=3, description="most columns in a checked combination")
    dimensions: Mapping[PositiveInt, ClassSize] = Field(
        default_factory=dict,
        description="number of columns to k: all combinations of so many rated columns, instead of those by rating",
    )
    tables: tuple[CheckedSet, ...] = Field(
        default=(),
        description="the combinations to check with their own k, instead of those by rating",
    )

    on_household = "together"
    on_links = "suppressed_or_warned"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values", "suppression (cell)")

    @model_validator(mode="after")
    def _consistent(self) -> MuArgus:
        if self.dimensions and self.tables:
            raise ValueError("give dimensions or tables, not both")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of the ratings, recodings, importances and tables."""
        listed = [c for one in self.tables for c in one.columns]
        return tuple(dict.fromkeys([*self.ratings, *self.recode, *self.weights_given(), *listed]))

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns in which cells may be suppressed, and those recoded."""
        return tuple(dict.fromkeys([*self.ranks(data), *self.recode]))

    def treats_links(self, data: Microdata) -> OnLinks:
        """Return that links are suppressed together; recoded columns are warned of."""
        del data
        return "suppressed_or_warned" if self.recode else "suppressed"

    def weights_given(self) -> Mapping[str, float]:
        """Return the importances that were given by column."""
        return {} if self.importance == "entropy" else self.importance

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to check, recodings without a hierarchy or above its top."""
        found = super().faults(data)
        return [*found, *self.own_faults(data, sound=not found)]

    def own_faults(self, data: Microdata, *, sound: bool) -> Iterator[SdcError]:
        """Yield what is wrong with ratings, dimensions and recodings; ``sound`` data have the columns named."""
        if not data.keys and not self.ratings and not self.tables:
            sound = False
            yield RoleMissing(
                "mu_argus needs ratings, or keys declared with tacit.read(..., keys=...)."
            )
        n_rated = len(self.ranks(data)) if sound else 0
        if self.dimensions and sound and max(self.dimensions) > n_rated:
            yield InputError(
                f"mu_argus: dimensions go up to the number of rated columns, {n_rated}."
            )
        if n_rated > MOST_COLUMNS:
            yield InputError(f"mu_argus: at most {MOST_COLUMNS} columns can be checked.")
        for column, level in self.recode.items():
            if column not in data.columns:
                continue
            if column not in data.hierarchies:
                yield RoleMissing(f"mu_argus: column {column!r} is recoded but has no hierarchy.")
            elif level > data.hierarchies[column].height:
                top = data.hierarchies[column].height
                yield InputError(f"mu_argus: column {column!r} has levels 0 to {top} only.")

    def ranks(self, data: Microdata) -> dict[str, int]:
        """Return each identifying column's rating, 1 to 3, in column order."""
        if self.tables:
            listed = {c for one in self.tables for c in one.columns}
            return {c: 3 for c in data.columns if c in listed}
        given = {
            c: RATINGS.index(r) if isinstance(r, str) else int(r) for c, r in self.ratings.items()
        } or metadata_ranks(data)
        left_out = 1 if given else 3
        ranks = {**dict.fromkeys(data.keys, left_out), **given}
        return {c: ranks[c] for c in data.columns if ranks.get(c, 0) > 0}

    def combinations(self, data: Microdata) -> list[tuple[str, ...]]:
        """Return the combinations of columns that are checked."""
        return [columns for columns, _ in self.checked(data)]

    def checked(self, data: Microdata) -> list[tuple[tuple[str, ...], int]]:
        """Return the combinations of columns that are checked, each with its k."""
        ranks = self.ranks(data)
        if self.tables:
            order = list(ranks)
            return [(tuple(sorted(o.columns, key=order.index)), o.k) for o in self.tables]
        if self.dimensions:
            return [
                (columns, self.dimensions[size])
                for size in sorted(self.dimensions)
                for columns in itertools.combinations(ranks, size)
            ]
        return [(columns, self.k) for columns in list_checked_combinations(ranks, self.max_dim)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        ranks, checked = self.ranks(data), self.checked(data)
        if any(k == 1 for _, k in checked):
            warnings.warn("mu_argus: k = 1 asks for no protection", WeakProtection, stacklevel=3)
        for column, level in self.recode.items():
            data = data.generalise(column, level)
        data = data.materialise() if self.recode else data
        missing = count_missing(data, list(ranks))
        wide = household_columns(data, list(ranks))
        ctx.tick("single columns")
        alone = {c[0]: k for c, k in checked if len(c) == 1 and c[0] not in wide}
        result = hide_rare_values(data, alone)
        rounds: list[dict[str, int]] = []
        if ranks:
            # On coded cells; the missing values are carried back to the records.
            columns = list(ranks)
            home = [] if data.household is None or not wide else [data.household]
            cells = unordered_cells(result.frame, [*columns, *home], data.engine)
            weights = np.append(self.weights(result, cells, columns), np.ones(len(home)))
            sets = [(tuple(columns.index(c) for c in names), k) for names, k in checked]
            own = cells.keys[home[0]] if home else None
            state = Suppression(cells, sets, own, [columns.index(c) for c in wide])
            state.run(weights, self.method, ctx)
            result, rounds = blank_cells(result, cells, state.hidden).materialise(), state.rounds
        after = count_missing(result, list(ranks))
        sizes = sorted({1, 2, 3, *(len(c) for c, _ in checked)})
        ctx.note(
            k=self.k,
            ratings={c: RATINGS[r] for c, r in ranks.items()},
            combinations={size: sum(len(c) == size for c, _ in checked) for size in sizes},
            suppressed={c: after[c] - missing[c] for c in ranks},
            rounds=rounds,
            household_wide=wide,
            remaining_uniques={
                name: count_rows(counts(result.frame, keys).filter(nw.col(N) == 1))
                for name, keys in result.quasi.items()
            },
            caution=CAUTION,
        )
        return result

    def weights(self, data: Microdata, cells: Cells, columns: Sequence[str]) -> Floats:
        """Return what a cell of each column is worth: by entropy, as given, or as the metadata say."""
        if self.importance == "entropy":
            return np.array([entropy(cells.keys[c].codes, cells.n) for c in columns])
        given = self.weights_given() or metadata_priorities(data, columns)
        return np.array([max(float(given.get(c, 1.0)), SMALLEST_WEIGHT) for c in columns])

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        checked = self.checked(data)
        assumed = (
            "An intruder links on no more than the checked combinations.",
            "A missing cell cannot be filled in from other columns.",
        )
        for k in dict.fromkeys(k for _, k in checked):
            listed = [list(c) for c, own in checked if own == k]
            held = {c for one in listed for c in one}
            columns = tuple(c for c in self.ranks(data) if c in held)
            asked = {"k": k, "combinations": listed}
            yield Claim("k-combinations", asked, "rated columns", columns, assumed)


def entropy(codes: npt.NDArray[Any], n: npt.NDArray[Any]) -> float:
    """Return the entropy of a column in bits: what a value tells on average."""
    share = np.bincount(codes, weights=n) / n.sum()
    told = share[share > 0]
    return float(-(told * log2(told)).sum())


def metadata_ranks(data: Microdata) -> dict[str, int]:
    """Return the ratings that the file's own metadata give."""
    levels = {n: c.format["idlevel"] for n, c in data.columns.items() if "idlevel" in c.format}
    return {n: RATING_OF_IDLEVEL.get(int(level), 1) for n, level in levels.items()}


def metadata_priorities(data: Microdata, columns: Sequence[str]) -> dict[str, float]:
    """Return the suppression priorities of mu-ARGUS metadata, if there are any; 50 is their default."""
    named = "suppression_weight"
    if not any(named in data.columns[c].format for c in columns):
        return {}
    return {c: float(data.columns[c].format.get(named, PRIORITY)) for c in columns}


def household_columns(data: Microdata, columns: Sequence[str]) -> list[str]:
    """Return the columns to be hidden in whole households: marked so, or the same for all members everywhere."""
    home = data.household
    if home is None:
        return []
    shared = constant_in_households(data, [c for c in columns if c != home])
    return [
        c for c in columns if c in shared or data.columns[c].format.get("household_variable", False)
    ]


def list_checked_combinations(ranks: Mapping[str, int], max_dim: int) -> list[tuple[str, ...]]:
    """Return the combinations that mu-Argus checks for ratings 1 to 3.

    In descending order of rating a combination must reach (1), (2, 1) or (3, 2, 1): the rule of the
    package, "level 1 x level at most 2 x level at most 3" in its own numbers.
    """
    least = {1: (1,), 2: (2, 1), 3: (3, 2, 1)}
    found = []
    for size in range(1, max_dim + 1):
        for combination in itertools.combinations(ranks, size):
            reached = sorted((ranks[c] for c in combination), reverse=True)
            if all(r >= bound for r, bound in zip(reached, least[size], strict=True)):
                found.append(combination)
    return found


# -- on the engine ---------------------------------------------------------------------------------


def hide_rare_values(data: Microdata, columns: Mapping[str, int]) -> Microdata:
    """Suppress values that fewer than their column's k records hold: no choice is left for single columns.

    Doing this first keeps columns such as numbers of persons out of the table of cells.
    """
    rare = {
        c: k
        for c, k in columns.items()
        if count_rows(counts(data.frame, [c]).filter((nw.col(N) < k) & ~nw.col(c).is_null()))
    }
    if not rare:
        return data
    kept = [nw.when(nw.len().over(c) >= k).then(nw.col(c)).alias(c) for c, k in rare.items()]
    return data.with_frame(data.frame.with_columns(*kept)).materialise()


def blank_cells(data: Microdata, cells: Cells, hidden: Flags) -> Microdata:
    """Return the data with the hidden columns of each cell missing in all its records."""
    names = list(cells.keys)
    changed = np.flatnonzero(hidden.any(axis=1))
    if not len(changed):
        return data
    packing = Packing.of([c.size for c in cells.keys.values()])
    packed = packing.pack([c.codes[changed] for c in cells.keys.values()])
    touched = [i for i in range(len(names)) if hidden[:, i].any()]
    flags = {f"__hide_{i}__": pa.array(hidden[changed, i].astype(np.int8)) for i in touched}
    right = [f"{name}right" for name in packing.names]
    table = pa.table({**dict(zip(right, map(pa.array, packed), strict=True)), **flags})
    order = data.frame.collect_schema().names()
    values = {name: coded.values for name, coded in cells.keys.items()}
    frame = packing.attach(data.frame, values, data.engine)
    frame = frame.join(
        data.engine.from_arrow(table), left_on=packing.names, right_on=right, how="left"
    )
    shown = [
        nw.when(nw.col(f"__hide_{i}__").fill_null(0) == 0).then(nw.col(names[i])).alias(names[i])
        for i in touched
    ]
    return data.with_frame(frame.with_columns(*shown).select(*order))


# -- interactive -----------------------------------------------------------------------------------


class Session:
    """Try recodings, look at the outliers, undo; then suppress what is left.

    Parameters
    ----------
    data
        The data, with hierarchies for the columns to recode.
    k
        Records that must share every checked combination.
    ratings
        As in :class:`MuArgus`; ``**options`` are its other parameters.
    """

    def __init__(
        self,
        data: Microdata,
        k: int = 2,
        ratings: Mapping[str, Rating] | None = None,
        **options: Any,
    ) -> None:
        self._data = data
        self._method = MuArgus(k=k, ratings=ratings or {}, **options)
        self._method.check(data)
        self._past: list[dict[str, int]] = [dict(self._method.recode)]
        self._future: list[dict[str, int]] = []
        self._columns = list(self._method.ranks(data))
        self._cells = unordered_cells(data.frame, self._columns, data.engine)
        self._lifts = {
            c: data.hierarchies[c].lift(self._cells.keys[c].values)
            for c in self._columns
            if c in data.hierarchies
        }

    @property
    def levels(self) -> dict[str, int]:
        """Return the present recodings."""
        return dict(self._past[-1])

    def recode(self, column: str, level: int) -> Session:
        """Raise a column to a level of its hierarchy (0 takes it back to the ground)."""
        levels = {c: v for c, v in {**self.levels, column: level}.items() if v}
        self._method.model_copy(update={"recode": {column: level}}).check(self._data)
        self._past.append(levels)
        self._future.clear()
        return self

    def undo(self) -> Session:
        """Take back the last recoding."""
        if len(self._past) == 1:
            raise InputError("there is nothing to undo")
        self._future.append(self._past.pop())
        return self

    def redo(self) -> Session:
        """Do again what was taken back."""
        if not self._future:
            raise InputError("there is nothing to redo")
        self._past.append(self._future.pop())
        return self

    def outliers(self) -> nw.DataFrame[Any]:
        """Return, for each checked combination, its rare combinations of values and their records."""
        columns, nulls = self._codes()
        rows = []
        for combination, k in self._method.checked(self._data):
            members = [self._columns.index(c) for c in combination]
            counted = Combination(tuple(members), k, columns, nulls, self._cells.n).counts
            rare = counted[(counted > 0) & (counted < k)]
            rows.append((combination, len(rare), int(rare.sum())))
        return as_frame(
            {
                "combination": [" x ".join(c) for c, _, _ in rows],
                "size": pa.array([len(c) for c, _, _ in rows], pa.int64()),
                "outliers": pa.array([values for _, values, _ in rows], pa.int64()),
                "records": pa.array([records for _, _, records in rows], pa.int64()),
            }
        )

    def apply(self) -> Microdata:
        """Recode as it stands now and suppress the cells of the outliers that are left."""
        return self._method.model_copy(update={"recode": self.levels}).apply(self._data)

    def _codes(self) -> tuple[list[npt.NDArray[Any]], list[int]]:
        columns: list[npt.NDArray[Any]] = []
        nulls: list[int] = []
        for name in self._columns:
            coded, level = self._cells.keys[name], self.levels.get(name, 0)
            if level:
                columns.append(self._lifts[name][level][coded.codes])
                nulls.append(len(self._data.hierarchy(name).labels[level]))
            else:
                columns.append(coded.codes)
                nulls.append(coded.null)
        return columns, nulls
