"""PRAM: categories are changed at random, record by record, with known probabilities."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    change_households,
    change_records,
    constant_in_households,
    draws_of,
)
from tacit.data.microdata import Microdata
from tacit.data.where import WhereRule, columns_of
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
from tacit.records.pram import invariant, matrices
from tacit.records.pram.bundle import Part, Randomised, from_history
from tacit.records.pram.drawing import (
    Categories,
    Prepared,
    compute_changed_share,
    embed_free_matrix,
    randomise_block,
    stratum_counts,
    warn_of_many,
)
from tacit.records.pram.optimise import optimal
from tacit.records.pram.randomised import (
    as_numpy,
    cast_levels,
    codes_among,
    combinations_of,
    cross_columns,
    flags_in,
    plain_levels,
    rule_columns,
    strata,
    with_rules,
)
from tacit.records.pram.transition import Transition
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
            text = str(self.matrix)
            matrices.parse(text, np.ones(matrices.shorthand_size(text)))
        if not isinstance(self.matrix, str | Mapping):
            matrices.explicit(self.matrix)
        stays = self.stay.values() if isinstance(self.stay, Mapping) else [self.stay]
        if not all(p is None or 0 < p <= 1 for p in stays):
            raise ValueError("stay must be greater than 0 and at most 1")
        if isinstance(self.stay, Mapping) and self.matrix not in (*FAMILIES, "even", "optimal"):
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
            or (shorthand and matrices.uses_frequencies(str(self.matrix)))
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
        return [*super()._faults(data), *(InputError(f"pram: {s}") for s in self.clashes(data))]

    def clashes(self, data: Microdata) -> Iterator[str]:
        """Yield what would leave users unable to tell which matrix a record got."""
        wrong = [c for c in self.drawn if c in (*data.identifiers, data.weight, data.household)]
        if wrong:
            yield f"{format_columns(wrong)} is an identifier, weight or household number, not a category; remove or recode it instead"
        pairs = itertools.combinations(self.drawn, 2)
        linked = [(c, d) for c, d in pairs if d in data.linked_with(c) and not self.joint]
        if linked:
            one, other = linked[0]
            yield f"columns {one!r} and {other!r} are linked, and drawn apart each would tell the other; randomise one of them, which the other follows, or give joint"
        earlier = from_history(data.history)
        done = {c for v in earlier for c in v.columns}
        again = [c for c in self.drawn if c in done]
        if again:
            yield f"{format_columns(again)} was randomised before; use one matrix, the product of both, instead"
        needed = {c for v in earlier for c in (*v.by, *(c for r in v.rules for c in columns_of(r)))}
        asked = {*self.by, *self.rule_columns}
        crossed = [c for c in self.drawn if c in needed] + sorted(asked & done)
        if crossed:
            yield f"{format_columns(crossed)} is randomised and also tells which matrix another column gets, so that users could not correct for it; randomise them jointly, or leave it out of by and when"

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.stay == 1:
            said = "pram: stay is 1, so no value changes and the column is released as it is"
            warnings.warn(said, WeakProtection, stacklevel=3)
        groups = [self.drawn] if self.joint else [(c,) for c in self.drawn]
        made = [self.prepare(data, group, stream, ctx) for stream, group in enumerate(groups)]
        prepared = [plan for plan in made if plan is not None]
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
        flags = flags_in(cells, self.rules)
        stratum, n_strata = strata([cells.column(c) for c in by], flags, len(codes))
        first = np.unique(stratum, return_index=True)[1]
        tables = stratum_counts(codes, stratum, n, variable.size, n_strata)
        categories = Categories.of(
            self.drawn[0], () if self.joint else variable.levels[0], variable.size
        )
        closed = [self.closed(categories, [f[i] for f in flags]) for i in first]
        given = self.given_frequencies(categories)
        crossed = self.cross_with_combinations(data, variable) if self.combination else None
        parts = tuple(
            Part(
                tuple(plain_levels(cells.column(c).take([i]).combine_chunks())[0] for c in by),
                tuple(bool(f[i]) for f in flags),
                self.matrix_for(t if given is None else given, categories, shut, crossed, ctx),
            )
            for i, t, shut in zip(first, tables, closed, strict=True)
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
            found = [given]
        elif len(coded) == 1:
            warn_of_many(group[0], len(coded[0].values), records)
            found = [coded[0].values]
        else:
            found = combinations_of(coded)
        return Randomised(tuple(group), tuple(tuple(plain_levels(v)) for v in found), ())

    def closed(self, categories: Categories, holds: Sequence[bool]) -> Flags | None:
        """Return the moves that are forbidden in a stratum, where these rules hold; None for none."""
        if not self.forbidden:
            return None
        every = range(categories.size)
        shut = np.zeros((categories.size, categories.size), dtype=bool)
        true = {rule for rule, flag in zip(self.rules, holds, strict=True) if flag}
        for f in self.forbidden:
            if f.when is None or f.when in true:
                rows, columns = (
                    categories.all_of(v, "forbidden") or every for v in (f.source, f.to)
                )
                shut[np.ix_(rows, columns)] = True
        np.fill_diagonal(shut, val=False)
        return shut

    def given_frequencies(self, categories: Categories) -> Floats | None:
        """Return the frequencies that were given, in the order of the categories."""
        if self.frequencies is None:
            return None
        t = categories.numbers(self.frequencies, "frequencies")
        if np.isnan(t).any():
            raise InvalidParameter(
                "pram: frequencies must be given for every category of the column"
            )
        if (t < 0).any() or t.sum() <= 0:
            raise InvalidParameter("pram: frequencies must be at least 0, and not all 0")
        return t

    def cross_with_combinations(self, data: Microdata, variable: Randomised) -> Floats:
        """Return the counts of the column's categories by the cells of the combination."""
        part = Part((), (), matrices.identity(variable.size))
        named = Randomised(variable.columns, variable.levels, (part,))
        found = cross_columns(data, (*variable.columns, *self.combination), [named], self.kind)
        return found.total(lambda slab: slab.table).T

    # -- the matrix of one stratum ---------------------------------------------------------------

    def matrix_for(
        self,
        counts: Floats,
        categories: Categories,
        closed: Flags | None,
        cells: Floats | None,
        ctx: Context,
    ) -> Transition:
        """Return the checked matrix of a stratum with these frequencies."""
        n = categories.size
        if self.uses_frequencies and counts.sum() <= 0:
            return matrices.identity(n)
        kept = categories.all_of(self.fixed, "fixed")
        free = np.setdiff1d(np.arange(n), kept)
        if self.uses_frequencies and counts[free].sum() <= 0:
            return matrices.identity(n)
        inner = None if closed is None else closed[np.ix_(free, free)]
        stay = self.stays(categories, free)
        if cells is not None:
            # Records with a missing value elsewhere are in no cell, yet they count.
            cells = np.column_stack([cells, counts - cells.sum(axis=1)])[free]
        matrix = self.build_matrix(counts[free], stay, inner, cells, categories, ctx)
        if self.invariant and self.matrix not in INVARIANT:
            matrix = invariant.two_stage(matrix, counts[free])
        if inner is not None and self.matrix not in ("even", "optimal"):
            matrix = invariant.without(matrix, inner, counts[free] if self.is_invariant else None)
        if kept:
            matrix = embed_free_matrix(matrix, free, n)
        if self.is_invariant and invariant.drift(matrix, counts) > STILL:
            raise DisclosureRefused(
                "pram: the matrix is not invariant for these frequencies, so nothing was released"
            )
        return matrix

    def stays(self, categories: Categories, free: Ints) -> Any:
        """Return the stay probability, or one per free category."""
        usual = LEAST_STAY if self.matrix == "optimal" else DEFAULT_STAY
        if not isinstance(self.stay, Mapping):
            return usual if self.stay is None else self.stay
        p = categories.numbers(self.stay, "stay")[free]
        if np.isnan(p).any():
            raise InvalidParameter("pram: stay must be given for every category of the column")
        return p

    def build_matrix(
        self,
        t: Floats,
        stay: Any,
        closed: Flags | None,
        cells: Floats | None,
        categories: Categories,
        ctx: Context,
    ) -> Transition:
        """Return the matrix before forbidden moves are closed."""
        n = len(t)
        match self.matrix:
            case "invariant":
                return invariant.invariant(t, stay)
            case "one_parameter":
                return invariant.one_parameter(t, stay)
            case "even":
                return invariant.most_even(t, stay, closed)
            case "optimal":
                table = t if cells is None else cells
                return optimal(table, self.tau, least_stay=stay, cost=self.cost, forbidden=closed)
            case "sdcmicro":
                return invariant.sdcmicro(t, stay, self.alpha, ctx.rng)
            case "equal" | "band" | "half_band" | "frequency" if n < 2:
                return matrices.identity(n)
            case "equal":
                return matrices.equal(n, stay)
            case "band":
                return matrices.band(n, stay, min(self.reach + 1, n))
            case "half_band":
                return matrices.half_band(n, stay)
            case "frequency":
                return matrices.frequency(t, stay)
            case str():
                return matrices.parse(self.matrix, t)
            case Mapping():
                return matrices.explicit(categories.rows(self.matrix))
        matrix = matrices.explicit(self.matrix)
        if matrix.size != n:
            raise InvalidParameter(
                f"pram: the matrix is for {matrix.size} categories, and the column has {n}; list them in levels"
            )
        return matrix
