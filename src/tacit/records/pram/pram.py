"""PRAM: categories are changed at random, record by record, with known probabilities."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    field_validator,
    model_validator,
)

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.base import RANDOMISED
from tacit.data.block import format_columns
from tacit.data.in_blocks import (
    Change,
    Draws,
    change_households,
    change_records,
    constant_in_households,
    draws_of,
)
from tacit.data.microdata import Microdata
from tacit.data.where import WhereRule, columns_of, where
from tacit.engine.blocks import Tallies
from tacit.engine.codes import Coded, encode
from tacit.engine.relational import N, counts
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    SdcError,
    WeakProtection,
)
from tacit.fields import ColumnName, PositiveFloat, PositiveInt, Probability
from tacit.records.pram import (
    Part,
    Randomised,
    Transition,
    band,
    blocks,
    drift,
    equal,
    explicit,
    frequency,
    from_history,
    half_band,
    identity,
    invariant_matrix,
    most_even,
    one_parameter,
    optimal,
    parse,
    sdcmicro,
    two_stage,
    without,
)
from tacit.records.pram.randomised import (
    as_numpy,
    cast_levels,
    codes_among,
    combinations_of,
    cross_columns,
    part_numbers,
    plain_levels,
    strata,
)
from tacit.records.pram.shorthand import size as shorthand_size
from tacit.records.pram.shorthand import uses_frequencies
from tacit.registry import register
from tacit.spec import Method

Level = StrictBool | StrictInt | StrictFloat | str
Rows = tuple[tuple[float, ...], ...]

#: Largest shift of an expected frequency, as a share of all records, in a matrix said to be invariant.
STILL = 1e-9
DEFAULT_STAY, LEAST_STAY = 0.8, 0.05

FAMILIES = ("equal", "band", "half_band", "frequency")
INVARIANT = ("invariant", "one_parameter", "even", "optimal", "sdcmicro")


class Forbidden(BaseModel):
    """Moves that must not happen: from some categories, to some categories, when a rule holds."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    source: tuple[Level, ...] = Field(
        default=(), alias="from", description="original categories; by default any"
    )
    to: tuple[Level, ...] = Field(
        default=(), description="released categories; by default any other"
    )
    when: WhereRule | None = Field(
        default=None, description="only for records for which this rule on other columns holds"
    )


@register
class Pram(Method):
    """Change categories at random with known probabilities.

    Every record draws its released category l from the row k of a transition matrix P that belongs to
    its original category. Then E(T_X) = P^T T for the table T of the column, and users who know P get
    unbiased tables back: T_hat = (P^-1)^T T_X. Therefore the matrix is public: it stands in the history
    of the data, and ``tacit.records.pram.write_matrices`` puts it in a file.

    ``matrix`` is one of

    - ``invariant``: two stages, R = P Q with Q the backward matrix of P = nE(stay); expected frequencies
      stay what they are, and no category stays with less than probability ``stay``;
    - ``one_parameter``: invariant with p_kk = 1 - theta min(T) / T_k, theta = 1 - stay;
    - ``even``: the invariant matrix of largest entropy with every p_kk at least ``stay``;
    - ``optimal``: the invariant matrix that changes fewest records (or moves them the fewest places,
      ``cost``) among those that leave no category of ``combination`` unsafe below ``tau``;
    - ``sdcmicro``: alpha P Q + (1 - alpha) I with the diagonal of P uniform between ``stay`` and 1;
    - ``equal``, ``band`` (at most ``reach`` places away), ``half_band``, ``frequency``: diagonal
      ``stay``, the rest shared equally, among neighbours, with the next, or by frequency;
    - a shorthand such as ``89B(0.6;2)`` or ``Block(3;1;4E(0.8);3E(0.6))``;
    - rows of numbers, or a mapping from category to category to probability.

    An invariant matrix is made from the frequencies of the file and gives them away: they are its left
    eigenvector. A release leaves such a matrix out; made from published ``frequencies``, it is published.

    Where a household is declared and the column is constant in households, each household draws once.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg, de Wolf (1998), Post randomisation for statistical disclosure
    control: theory and implementation, Journal of Official Statistics 14, 463-478.
    de Wolf (2006), Risk, utility and PRAM, PSD 2006, LNCS 4302, 189-204. Its footnote on the half band prints
    one entry twice; its formula (18) is 0/0 for two categories, which are shared equally here.
    Van den Hout, Elamir (2006), Statistical disclosure control using post randomisation: variants and
    measures for disclosure risk, Journal of Official Statistics 22, 711-731.
    """

    kind: Literal["pram"] = "pram"
    column: ColumnName | None = Field(default=None, description="the column to randomise")
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="several columns, randomised independently, or as one with joint"
    )
    matrix: str | Rows | Mapping[str, Mapping[str, float]] = Field(
        default="invariant", description="kind of matrix, shorthand, rows, or mapping of categories"
    )
    stay: float | Mapping[str, float] | None = Field(
        default=None,
        description="stay probability, for all categories or by category; by default 0.8 (the least allowed, 0.05, in an optimal matrix)",
    )
    reach: PositiveInt = Field(default=1, description="most places that a band moves a category")
    invariant: bool = Field(
        default=False, description="make any other matrix invariant by a second stage, R = P Q"
    )
    joint: bool = Field(default=False, description="cross the columns into one variable")
    by: tuple[ColumnName, ...] = Field(default=(), description="strata, each with its own matrix")
    levels: tuple[Level, ...] | None = Field(
        default=None,
        description="all categories in their order; by default those that occur, ascending",
    )
    fixed: tuple[Level, ...] = Field(
        default=(),
        description="categories, such as a code for unknown, that no record leaves or enters",
    )
    forbidden: tuple[Forbidden, ...] = Field(
        default=(),
        description="moves that must not happen: from, to, and a rule on other columns (when)",
    )
    frequencies: Mapping[str, float] | None = Field(
        default=None,
        description="frequencies by category from which matrices are made, instead of the file's own",
    )
    alpha: Probability = Field(default=0.5, description="share of the two-stage matrix in sdcmicro")
    tau: PositiveFloat = Field(default=100.0, description="threshold of an optimal matrix")
    combination: tuple[ColumnName, ...] = Field(
        default=(), description="columns with which an optimal matrix must make the column safe"
    )
    cost: Literal["changes", "distance"] = Field(
        default="changes",
        description="what an optimal matrix keeps small: changes, or places moved",
    )
    missing: Literal["keep", "refuse"] = Field(
        default="keep", description="keep missing values as they are, or refuse them"
    )

    on_household = "together"
    on_stratum = "by"
    on_links = "carried"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("substitution at random",)
    example: ClassVar[Mapping[str, Any]] = {"column": "sex"}

    @field_validator("matrix", "stay", "frequencies", mode="before")
    @classmethod
    def _keys_as_text(cls, given: Any) -> Any:
        """Take categories that are numbers as keys of a mapping, as YAML reads them."""
        if not isinstance(given, Mapping):
            return given
        return {str(k): cls._keys_as_text(v) for k, v in given.items()}

    @model_validator(mode="after")
    def _consistent(self) -> Pram:
        if (self.column is None) == (not self.columns):
            raise ValueError("give column, or columns, and not both")
        if len(set(self.drawn)) < len(self.drawn):
            raise ValueError("columns must name each column once")
        if self.joint and len(self.drawn) < 2:
            raise ValueError("joint needs at least two columns")
        listed = (self.levels, self.fixed, self.frequencies, self.forbidden)
        if any(listed) and (self.joint or len(self.drawn) > 1):
            raise ValueError(
                "levels, fixed, frequencies and forbidden are for one column at a time: use one step per column"
            )
        touched = {*self.by, *self.combination, *self.rule_columns}
        if touched & set(self.drawn):
            raise ValueError(
                "by, combination and when must not name a column that is randomised, since the rule would be broken by the draw"
            )
        if self.by_name and self.matrix not in (*FAMILIES, *INVARIANT):
            parse(str(self.matrix), np.ones(shorthand_size(str(self.matrix))))
        if not isinstance(self.matrix, str | Mapping):
            explicit(self.matrix)
        stays = self.stay.values() if isinstance(self.stay, Mapping) else [self.stay]
        if not all(p is None or 0 < p <= 1 for p in stays):
            raise ValueError("stay must be greater than 0 and at most 1")
        if self.stays_differ and self.matrix not in (*FAMILIES, "even", "optimal"):
            raise ValueError(f"stay by category is for {', '.join(FAMILIES)}, even and optimal")
        if self.stay is not None and not (self.by_name and self.matrix in (*FAMILIES, *INVARIANT)):
            raise ValueError("a shorthand or a full matrix has its stay probabilities in itself")
        if self.fixed and not self.by_name:
            raise ValueError("fixed is for a matrix by name; a full one says itself what stays")
        if self.combination and (self.matrix != "optimal" or len(self.drawn) > 1):
            raise ValueError("combination is for an optimal matrix of one column")
        if self.combination and (self.by or self.rules or self.frequencies):
            raise ValueError("combination goes with neither by, when nor frequencies")
        return self

    @property
    def drawn(self) -> tuple[str, ...]:
        """Return the columns that are randomised."""
        return self.columns or (() if self.column is None else (self.column,))

    @property
    def by_name(self) -> bool:
        """Return True when the matrix is given by a name or a shorthand."""
        return isinstance(self.matrix, str)

    @property
    def stays_differ(self) -> bool:
        """Return True when stay is given by category."""
        return isinstance(self.stay, Mapping)

    @property
    def is_invariant(self) -> bool:
        """Return True when the matrix keeps expected frequencies."""
        return self.invariant or self.matrix in INVARIANT

    @property
    def uses_frequencies(self) -> bool:
        """Return True when the matrix is made from frequencies."""
        shorthand = isinstance(self.matrix, str) and self.matrix not in (*FAMILIES, *INVARIANT)
        return (
            self.is_invariant
            or self.matrix == "frequency"
            or (shorthand and uses_frequencies(str(self.matrix)))
        )

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the rules of forbidden moves, each once."""
        return tuple(dict.fromkeys(f.when for f in self.forbidden if f.when is not None))

    @property
    def rule_columns(self) -> tuple[str, ...]:
        """Return the columns that the rules look at."""
        return tuple(dict.fromkeys(c for rule in self.rules for c in columns_of(rule)))

    def stated_share(self) -> float | None:
        """Return the share that is to change."""
        if self.stay is None:
            return None
        kept = self.stay.values() if isinstance(self.stay, Mapping) else (self.stay,)
        return 1 - min(kept, default=1.0)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are randomised."""
        del data
        return self.drawn

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that is read."""
        return tuple(dict.fromkeys((*self.drawn, *self.by, *self.combination, *self.rule_columns)))

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that are no categories, and columns that an earlier PRAM step depends on."""
        found = super()._faults(data)
        found += self.clashes(data)
        return found

    def clashes(self, data: Microdata) -> list[SdcError]:
        """Return what would leave users unable to tell which matrix a record got."""
        found: list[SdcError] = []
        wrong = [c for c in self.drawn if c in (*data.identifiers, data.weight, data.household)]
        if wrong:
            found.append(
                InputError(
                    f"pram: {format_columns(wrong)} is an identifier, weight or household number, not a category; remove or recode it instead"
                )
            )
        told = [
            (c, other)
            for i, c in enumerate(self.drawn)
            for other in self.drawn[i + 1 :]
            if other in data.linked_with(c) and not self.joint
        ]
        if told:
            found.append(
                InputError(
                    f"pram: columns {told[0][0]!r} and {told[0][1]!r} are linked, and drawn apart each would tell the other; randomise one of them, which the other follows, or give joint"
                )
            )
        earlier = from_history(data.history)
        done = {c for v in earlier for c in v.columns}
        again = [c for c in self.drawn if c in done]
        if again:
            found.append(
                InputError(
                    f"pram: {format_columns(again)} was randomised before; use one matrix, the product of both, instead"
                )
            )
        needed = {c for v in earlier for c in (*v.by, *(c for r in v.rules for c in columns_of(r)))}
        asked = {*self.by, *self.rule_columns}
        crossed = [c for c in self.drawn if c in needed] + sorted(asked & done)
        if crossed:
            found.append(
                InputError(
                    f"pram: {format_columns(crossed)} is randomised and also tells which matrix another column gets, so that users could not correct for it; randomise them jointly, or leave it out of by and when"
                )
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.stay == 1:
            warnings.warn(
                "pram: stay is 1, so no value changes and the column is released as it is",
                WeakProtection,
                stacklevel=3,
            )
        groups = [self.drawn] if self.joint else [(c,) for c in self.drawn]
        prepared = [
            found
            for stream, group in enumerate(groups)
            if (found := self.prepare(data, group, stream, ctx)) is not None
        ]
        result, tallies = data, Tallies()
        for plan in prepared:
            ctx.tick(f"randomising {plan.variable.name}", plan.stream / len(groups))
            result, told = self.randomise(result, plan, ctx)
            tallies += told
        diagonals = [float(p.matrix.diagonal.min()) for q in prepared for p in q.variable.parts]
        epsilon = sum((q.variable.epsilon for q in prepared), 0.0)
        ctx.note(
            epsilon="infinite" if np.isinf(epsilon) else epsilon,
            smallest_stay_probability=min([1.0, *diagonals]),
            changed_share={
                q.variable.name: compute_changed_share(tallies, q.stream) for q in prepared
            },
            **{RANDOMISED: [q.variable.to_dict() for q in prepared]},
        )
        return result

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        shared = self.drawn_by_household(data)
        if shared:
            yield Claim(
                "constant-in-households",
                {"household": data.household},
                f"households of {data.household}",
                shared,
                ("Nothing else in the file tells what a household had.",),
            )

    def drawn_by_household(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns of which each household draws once."""
        if data.household is None:
            return ()
        by = self.by if self.uses_frequencies else ()
        also = [*by, *rule_columns(self.rules)]
        shared = constant_in_households(with_rules(data, self.rules), self.drawn, also)
        return () if self.joint and set(shared) != set(self.drawn) else shared

    def prepare(
        self, data: Microdata, group: Sequence[str], stream: int, ctx: Context
    ) -> Prepared | None:
        """Return one variable with its matrices, from one table of counts; None without a category."""
        # A matrix that is made without frequencies is the same in all strata.
        by = self.by if self.uses_frequencies else ()
        cells = self.count_cells(data, group, by)
        n = as_numpy(cells.column(N)).astype(np.float64)
        coded = [encode(cells.column(c)) for c in group]
        variable = self.categories(coded, group, int(n.sum()))
        if variable.size == 0 or not len(n):
            return None
        codes = codes_among(coded, variable, self.kind)
        if self.missing == "refuse" and (codes < 0).any():
            raise InputError(
                f"pram: {variable.name} has missing values. Impute them first, or give missing='keep'."
            )
        flags = [as_numpy(cells.column(r)).astype(bool) for r in rule_columns(self.rules)]
        stratum, n_strata = strata([cells.column(c) for c in by], flags, len(codes))
        first = first_of_each(stratum, n_strata)
        tables = stratum_counts(codes, stratum, n, variable.size, n_strata)
        levels = () if self.joint else variable.levels[0]
        # Categories may be named as they are, or as text.
        places = {key: i for i, v in enumerate(levels) for key in (str(v), v)}
        closed = [self.closed(places, variable.size, [f[i] for f in flags]) for i in first]
        given = self.given_frequencies(variable, places)
        crossed = self.cross_with_combinations(data, variable) if self.combination else None
        matrices = [
            self.matrix_for(t if given is None else given, variable, places, shut, crossed, ctx)
            for t, shut in zip(tables, closed, strict=True)
        ]
        parts = tuple(
            Part(
                tuple(plain_levels(cells.column(c).take([i]).combine_chunks())[0] for c in by),
                tuple(bool(f[i]) for f in flags),
                m,
            )
            for i, m in zip(first, matrices, strict=True)
        )
        own = self.combination != () or (self.uses_frequencies and given is None)
        made = Randomised(variable.columns, variable.levels, parts, by, self.rules, own)
        return Prepared(made, tuple(closed), stream)

    def count_cells(self, data: Microdata, group: Sequence[str], by: Sequence[str]) -> pa.Table:
        """Return the categories, strata and rules that occur, ascending, with their counts."""
        marked = with_rules(data, self.rules)
        keys = list(dict.fromkeys([*group, *by, *rule_columns(self.rules)]))
        cells = counts(marked.frame, keys).collect("pyarrow").to_native()
        # Engines return groups in any order; a fixed one keeps matrices and draws the same.
        return cells.take(pc.sort_indices(cells, [(k, "ascending") for k in keys]))

    def randomise(self, data: Microdata, plan: Prepared, ctx: Context) -> tuple[Microdata, Tallies]:
        """Return the data with one variable randomised, by household where it is constant there."""
        group = plan.variable.columns
        also = [*plan.variable.by, *rule_columns(self.rules)]
        marked = with_rules(data, self.rules)
        shared = constant_in_households(marked, group, also)
        change = partial(randomise_block, plan, draws_of(ctx), self.kind)
        if set(shared) == set(group):
            ctx.note(by_household=sorted({*ctx.details.get("by_household", ()), *group}))
            result, told = change_households(marked, group, change, ctx, also)
        else:
            self.warn_of_households(marked, group)
            result, told = change_records(marked, change, ctx)
        return result.drop(rule_columns(self.rules)), told

    def warn_of_households(self, data: Microdata, group: Sequence[str]) -> None:
        """Warn when members of a household draw apart although they share the column's value."""
        shared = constant_in_households(data, group)
        if shared:
            warnings.warn(
                f"pram: {format_columns(shared)} is constant in households, but what is drawn with it is not, so that members draw apart and a majority vote may undo the change. Randomise it by itself, without by and when.",
                WeakProtection,
                stacklevel=5,
            )

    def categories(self, coded: Sequence[Coded], group: Sequence[str], records: int) -> Randomised:
        """Return the variable with its categories in order, and no matrix yet."""
        if self.levels is not None:
            given = cast_levels(self.levels, coded[0].values.type, group[0])
            if len(pc.unique(given)) < len(given):
                raise InvalidParameter("pram: levels must name each category once")
            return Randomised((group[0],), (tuple(plain_levels(given)),), ())
        if len(coded) == 1:
            warn_of_many(group[0], len(coded[0].values), records)
            return Randomised(tuple(group), (tuple(plain_levels(coded[0].values)),), ())
        levels = tuple(tuple(plain_levels(values)) for values in combinations_of(coded))
        return Randomised(tuple(group), levels, ())

    def place(self, level: Any, places: Mapping[Any, int], what: str) -> int:
        """Return the place of a category that a parameter names, as it is or as text."""
        found = places.get(level, places.get(str(level)))
        if found is None:
            raise InvalidParameter(
                f"pram: {what} names a category that column {self.drawn[0]!r} does not have; list all categories in levels"
            )
        return found

    def closed(self, places: Mapping[Any, int], size: int, holds: Sequence[bool]) -> Flags | None:
        """Return the moves that are forbidden in a stratum, where these rules hold; None for none."""
        if not self.forbidden:
            return None
        shut = np.zeros((size, size), dtype=bool)
        true = {rule for rule, flag in zip(self.rules, holds, strict=True) if flag}
        for f in self.forbidden:
            if f.when is not None and f.when not in true:
                continue
            rows = [self.place(v, places, "forbidden") for v in f.source] or list(range(size))
            columns = [self.place(v, places, "forbidden") for v in f.to] or list(range(size))
            shut[np.ix_(rows, columns)] = True
        np.fill_diagonal(shut, val=False)
        return shut

    def given_frequencies(self, variable: Randomised, places: Mapping[Any, int]) -> Floats | None:
        """Return the frequencies that were given, in the order of the categories."""
        if self.frequencies is None:
            return None
        t = np.full(variable.size, np.nan)
        for level, count in self.frequencies.items():
            t[self.place(level, places, "frequencies")] = count
        if np.isnan(t).any():
            raise InvalidParameter(
                "pram: frequencies must be given for every category of the column"
            )
        if (t < 0).any() or t.sum() <= 0:
            raise InvalidParameter("pram: frequencies must be at least 0, and not all 0")
        return t

    def cross_with_combinations(self, data: Microdata, variable: Randomised) -> Floats:
        """Return the counts of the column's categories by the cells of the combination."""
        named = Randomised(
            variable.columns, variable.levels, (Part((), (), identity(variable.size)),)
        )
        found = cross_columns(data, (*variable.columns, *self.combination), [named], self.kind)
        return found.total(lambda slab: slab.table).T

    # -- the matrix of one stratum ---------------------------------------------------------------

    def matrix_for(
        self,
        counts: Floats,
        variable: Randomised,
        places: Mapping[Any, int],
        closed: Flags | None,
        cells: Floats | None,
        ctx: Context,
    ) -> Transition:
        """Return the checked matrix of a stratum with these frequencies."""
        n = variable.size
        if self.uses_frequencies and counts.sum() <= 0:
            return identity(n)
        kept = [self.place(v, places, "fixed") for v in self.fixed]
        free = np.setdiff1d(np.arange(n), kept)
        if self.uses_frequencies and counts[free].sum() <= 0:
            return identity(n)
        inner = None if closed is None else closed[np.ix_(free, free)]
        stay = self.stays(variable, places, free)
        if cells is not None:
            # Records with a missing value elsewhere are in no cell, yet they count.
            cells = np.column_stack([cells, counts - cells.sum(axis=1)])[free]
        matrix = self.build_matrix(counts[free], stay, inner, cells, places, ctx)
        if self.invariant and self.matrix not in INVARIANT:
            matrix = two_stage(matrix, counts[free])
        if inner is not None and self.matrix not in ("even", "optimal"):
            matrix = without(matrix, inner, counts[free] if self.is_invariant else None)
        if kept:
            matrix = embed_free_matrix(matrix, free, n)
        if self.is_invariant and drift(matrix, counts) > STILL:
            raise DisclosureRefused(
                "pram: the matrix is not invariant for these frequencies, so nothing was released"
            )
        return matrix

    def stays(self, variable: Randomised, places: Mapping[Any, int], free: Ints) -> Any:
        """Return the stay probability, or one per free category."""
        usual = LEAST_STAY if self.matrix == "optimal" else DEFAULT_STAY
        if not isinstance(self.stay, Mapping):
            return usual if self.stay is None else self.stay
        p = np.full(variable.size, np.nan)
        for level, value in self.stay.items():
            p[self.place(level, places, "stay")] = value
        if np.isnan(p[free]).any():
            raise InvalidParameter("pram: stay must be given for every category of the column")
        return p[free]

    def build_matrix(
        self,
        t: Floats,
        stay: Any,
        closed: Flags | None,
        cells: Floats | None,
        places: Mapping[Any, int],
        ctx: Context,
    ) -> Transition:
        """Return the matrix before forbidden moves are closed."""
        n = len(t)
        match self.matrix:
            case "invariant":
                return invariant_matrix(t, stay)
            case "one_parameter":
                return one_parameter(t, stay)
            case "even":
                return most_even(t, stay, closed)
            case "optimal":
                return optimal(
                    t if cells is None else cells,
                    self.tau,
                    least_stay=stay,
                    cost=self.cost,
                    forbidden=closed,
                )
            case "sdcmicro":
                return sdcmicro(t, stay, self.alpha, ctx.rng)
            case "equal" | "band" | "half_band" | "frequency" if n < 2:
                return identity(n)
            case "equal":
                return equal(n, stay)
            case "band":
                return band(n, stay, min(self.reach + 1, n))
            case "half_band":
                return half_band(n, stay)
            case "frequency":
                return frequency(t, stay)
            case str():
                return parse(self.matrix, t)
            case Mapping():
                return explicit(self.mapped(places, n))
        matrix = explicit(self.matrix)
        if matrix.size != n:
            raise InvalidParameter(
                f"pram: the matrix is for {matrix.size} categories, and the column has {n}; list them in levels"
            )
        return matrix

    def mapped(self, places: Mapping[Any, int], size: int) -> Floats:
        """Return the rows of a matrix that is given by category; a category left out stays as it is."""
        assert isinstance(self.matrix, Mapping)
        p = np.eye(size)
        for source, row in self.matrix.items():
            i = self.place(source, places, "matrix")
            p[i] = 0.0
            for target, value in row.items():
                p[i, self.place(target, places, "matrix")] = value
        return p


@dataclass(frozen=True)
class Prepared:
    """A variable with its matrices, the moves closed to each stratum, and the stream it draws from."""

    variable: Randomised
    closed: tuple[Flags | None, ...]
    stream: int


def rule_columns(rules: Sequence[str]) -> list[str]:
    """Return the hidden columns that say for which records rules hold."""
    return [f"__rule{i}__" for i in range(len(rules))]


def with_rules(data: Microdata, rules: Sequence[str]) -> Microdata:
    """Return the data with a hidden column a rule: True where it holds."""
    if not rules:
        return data
    schema = data.frame.collect_schema()
    flags = [
        where(rule, schema).expr.alias(name)
        for rule, name in zip(rules, rule_columns(rules), strict=True)
    ]
    return data.with_frame(data.frame.with_columns(*flags))


def randomise_block(plan: Prepared, draws: Draws, kind: str, block: int, table: pa.Table) -> Change:
    """Return a block with one variable redrawn, and how many of its values changed."""
    variable = plan.variable
    codes = codes_among([table.column(c) for c in variable.columns], variable, kind)
    by = [table.column(c) for c in variable.by]
    flags = [as_numpy(table.column(r)).astype(bool) for r in rule_columns(variable.rules)]
    stratum = part_numbers(variable, by, flags, len(codes), kind)
    matrices = [p.matrix for p in variable.parts]
    released = draw(codes, stratum, matrices, draws(block, plan.stream))
    check_moves(codes, released, stratum, plan.closed)
    known = codes >= 0
    changed = int((released != codes)[known].sum())
    tally = {"stream": plan.stream, "known": int(known.sum()), "changed": changed}
    return Change(release_columns(table, variable, released), tally=tally)


def release_columns(table: pa.Table, variable: Randomised, released: Ints) -> dict[str, pa.Array]:
    """Return the released columns; records with a missing value keep what they have."""
    known = released >= 0
    found = {}
    for c, levels in zip(variable.columns, variable.levels, strict=True):
        kind = table.column(c).type
        values = cast_levels(levels, kind, c)
        drawn = values.take(pa.array(released, mask=~known))
        if not known.all():
            own = table.column(c).combine_chunks().cast(values.type)
            drawn = pc.if_else(pa.array(known), drawn, own)
        found[c] = drawn if drawn.type == kind else drawn.cast(kind)
    return found


def compute_changed_share(tallies: Tallies, stream: int) -> float:
    """Return the share of a variable's known values that changed; of households, where these drew."""
    mine = [t for t in tallies if t["stream"] == stream]
    known = sum(t["known"] for t in mine)
    return sum(t["changed"] for t in mine) / known if known else 0.0


# -- on arrays ---------------------------------------------------------------------------------------


def first_of_each(stratum: Ints, n: int) -> Ints:
    """Return a record of each stratum."""
    first = np.zeros(n, dtype=np.int64)
    if n == 1:
        return first
    first[stratum[::-1]] = np.arange(len(stratum))[::-1]
    return first


def stratum_counts(codes: Ints, stratum: Ints, n: Floats, size: int, n_strata: int) -> Floats:
    """Return the frequencies of the categories in each stratum, from cells of n records."""
    known = codes >= 0
    ids = stratum[known] * size + codes[known]
    found = np.bincount(ids, weights=n[known], minlength=n_strata * size)
    return np.asarray(found, dtype=np.float64).reshape(n_strata, size)


def embed_free_matrix(matrix: Transition, free: Ints, n: int) -> Transition:
    """Return the matrix of all categories from that of the free ones; the others stay."""
    rest = np.setdiff1d(np.arange(n), free)
    joined = blocks([matrix, identity(len(rest))]).dense()
    order = np.argsort(np.concatenate([free, rest]), kind="stable")
    return explicit(joined[np.ix_(order, order)])


def draw(
    codes: Ints, stratum: Ints, matrices: Sequence[Transition], rng: np.random.Generator
) -> Ints:
    """Return released codes; missing ones (-1) stay, and each stratum draws from its own matrix."""
    out = codes.copy()
    for i, matrix in enumerate(matrices):
        group = np.flatnonzero((codes >= 0) & (stratum == i))
        out[group] = matrix.draw(codes[group], rng)
    return out


def check_moves(codes: Ints, released: Ints, stratum: Ints, closed: Sequence[Flags | None]) -> None:
    """Refuse a draw that made a forbidden move, or filled in or blanked a value."""
    if ((codes < 0) != (released < 0)).any():
        raise DisclosureRefused("pram: missing values did not stay as they were")
    moved = np.flatnonzero(codes != released)
    for s, shut in enumerate(closed):
        here = moved[stratum[moved] == s] if shut is not None else moved[:0]
        if shut is not None and shut[codes[here], released[here]].any():
            raise DisclosureRefused("pram: a forbidden move was made, so nothing was released")


def warn_of_many(column: str, categories: int, records: int) -> None:
    """Warn when a column has nearly as many categories as records: the public list of them tells much."""
    if categories > max(20, records // 2):
        warnings.warn(
            f"pram: column {column!r} has {categories} categories for {records} records; the matrices that users need name every one. Recode it first.",
            WeakProtection,
            stacklevel=6,
        )
