"""Synthesis: columns replaced by draws from models that were fitted to the original."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.base import Action
from tacit.data.in_blocks import constant_in_households, units_in_memory
from tacit.data.margins import Totals
from tacit.data.margins import columns_of as columns_of_totals
from tacit.data.microdata import Microdata
from tacit.data.roles import Column
from tacit.data.values import read_numeric_column, unused_row_number
from tacit.data.where import WhereRule
from tacit.data.where import columns_of as columns_of_rule
from tacit.engine.base import ROW
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    RoleMissing,
    SdcError,
    SdcWarning,
    WeakProtection,
)
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, PositiveInt
from tacit.numerics.streams import generator_of, spawn_sequences
from tacit.records.samples.weights.calibrate import Calibrate, claim_totals
from tacit.records.samples.weights.design import Design, WeightWay, copy_weights, recalculate
from tacit.records.synthesis.sequential.margins import noise_of_margins
from tacit.records.synthesis.sequential.replicas import (
    avoid_replicas,
    flag_uniques,
    hash_uniques,
)
from tacit.records.synthesis.sequential.rules import (
    Setting,
    adds_up,
    as_claim,
    dependencies,
    holds,
    put_in_order,
)
from tacit.records.synthesis.sequential.sequence import (
    Chain,
    Homes,
    Options,
    State,
    Step,
    Way,
    in_threads,
    value_of,
)
from tacit.records.synthesis.sequential.together import (
    Redraw,
    draw_copula,
    draw_margins,
    draw_possible,
)
from tacit.records.synthesis.sequential.variables import (
    Values,
    Variable,
    read_public,
    read_variable,
)
from tacit.registry import register
from tacit.spec import Method
from tacit.treatment import OnHousehold

Joint = Literal["copula", "ipf"]
#: Methods that draw all columns together.
JOINT = ("copula", "ipf")
#: Methods for numbers alone.
OF_NUMBERS = ("linear", "spline", "count")
#: Share of values that came out as they were from which on a column is as good as given.
DETERMINED = 0.9
#: The column that numbers the copies.
COPY = "_copy"


@register
class Synthesise(Method):
    """Replace columns by synthetic values, drawn from models fitted to the original records.

    Columns are drawn one after the other, each given those left alone and those drawn before it: f(y1 | x),
    f(y2 | x, y1), ... With ``cart`` a tree is grown over the predictors and the new value is that of a random record of
    the leaf; numbers are smoothed within the leaf. ``linear``, ``logit``, ``multinomial``, ``spline`` and ``count``
    draw coefficients from their large-sample posterior and then values; ``sample`` takes the value of any record of the
    same class. ``copula`` and ``ipf`` draw all columns together: from a Gaussian copula, or from the table of largest
    entropy that has given margins, with ``rho`` from noisy ones.

    Without ``columns`` everything but identifiers, weight and household is replaced. With several ``copies`` the
    records stand once for each, numbered in the column ``_copy``. The original weights no longer fit, and may tell what
    was replaced, where a column of the sampling design is synthesised: see ``weights`` and ``design``.

    Synthetic values are no proof of anonymity: where models fit too well, or leaves are small, they come close to the
    original. Measure it (:class:`~tacit.records.synthesis.risk.synthetic_risk.SyntheticRisk`).

    References
    ----------
    Reiter (2005), Using CART to generate partially synthetic public use microdata, Journal of Official Statistics 21(3),
    441-462.
    Mitra, Reiter (2006), Adjusting survey weights when altering identifying design variables via synthetic data, PSD 2006,
    LNCS 4302, 177-188.
    Nowok, Raab, Dibben (2016), synthpop: bespoke creation of synthetic data in R, Journal of Statistical Software 74(11).
    Bun, Steinke (2016), Concentrated differential privacy: simplifications, extensions, and lower bounds, TCC 2016,
    LNCS 9985, 635-658.
    """

    kind: Literal["synthesise"] = "synthesise"
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns that are replaced; by default all but identifiers, weight and household",
    )
    method: Way | Joint = Field(default="cart", description="the model of every column")
    methods: Mapping[ColumnName, Way] = Field(
        default_factory=dict, description="another model for some columns"
    )
    copies: PositiveInt = Field(default=1, le=1000, description="how many times all is drawn")
    order: tuple[ColumnName, ...] = Field(
        default=(),
        description="the order in which columns are drawn; by default categories before numbers, few categories first",
    )
    predictors: Mapping[ColumnName, tuple[ColumnName, ...]] = Field(
        default_factory=dict,
        description="the columns that a column is drawn given; by default all left alone and all drawn before it",
    )
    categorical: tuple[ColumnName, ...] = Field(
        default=(), description="columns of numbers that are codes of categories"
    )
    leaf: PositiveInt = Field(
        default=5, ge=2, description="cart: smallest number of records in a leaf"
    )
    smooth: bool = Field(
        default=True,
        description="cart and copula: spread numbers within their leaf, or between neighbours, rather than repeat original ones",
    )
    degree: Literal[1, 2, 3] = Field(
        default=1, description="regressions: predictors multiplied in a term"
    )
    proper: bool = Field(
        default=False, description="cart: fit the models of every copy to another bootstrap sample"
    )
    within: tuple[ColumnName, ...] = Field(
        default=(), description="sample: take values only from records of the same class of these"
    )
    margins: tuple[ColumnNames, ...] = Field(
        default=(), description="ipf: the margins of the table; by default all pairs of columns"
    )
    bins: PositiveInt = Field(default=20, ge=2, description="ipf: cells of a column of numbers")
    rho: PositiveFloat | None = Field(
        default=None,
        description="ipf: noise for zero-concentrated differential privacy with this rho, over all margins together",
    )
    categories: Mapping[ColumnName, tuple[bool | int | float | str | None, ...]] = Field(
        default_factory=dict,
        description="ipf with rho: the values that a column may take, chosen without the data, null for a missing one; by default the value labels of the file. Whatever is not listed counts as the last",
    )
    rules: tuple[Setting, ...] = Field(
        default=(),
        description="structural values: {when: age < 16, set: {income: 0, job: null}}",
    )
    forbid: tuple[WhereRule, ...] = Field(
        default=(), description="combinations that no synthetic record may show"
    )
    sums: Mapping[ColumnName, ColumnNames] = Field(
        default_factory=dict,
        description="columns that are the sum of others: {total: [wage, pension]}",
    )
    ranges: Mapping[ColumnName, tuple[float | None, float | None]] = Field(
        default_factory=dict, description="smallest and largest value of columns of numbers"
    )
    head: WhereRule | None = Field(
        default=None,
        description="what marks the head of a household, who is drawn first; by default its first record",
    )
    unlike: bool = Field(
        default=False,
        description="draw records again that repeat an original record which is unique in the original",
    )
    weights: WeightWay = Field(
        default="rcal",
        description="weights of the synthetic records: rcal (computed again), cpp (copied from a record of the same cell), oldw (as they are), unw (none)",
    )
    design: Design | None = Field(
        default=None,
        description="how the sample was drawn; by default stratified by the stratum, where one is declared",
    )
    calibrate: tuple[Totals, ...] = Field(
        default=(), description="known totals to which the weights of every copy are raked"
    )
    allow_disclosure: bool = Field(
        default=False,
        description="release old weights although they tell the sizes that were replaced",
    )

    on_household = "together"
    on_weight = "changed"
    on_stratum = "used"
    on_links = "carried"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("synthetic values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income", "job"]}

    @model_validator(mode="after")
    def _consistent(self) -> Synthesise:
        named = [*(self.columns or ())]
        if len(set(named)) < len(named):
            raise ValueError("columns must name each column once")
        if self.method in JOINT:
            self._check_joint()
        elif self.rho is not None or self.margins:
            raise ValueError("margins and rho are for the method ipf")
        for low, high in self.ranges.values():
            if low is not None and high is not None and low > high:
                raise ValueError("a range is given as [low, high]")
        if self.order and self.columns and set(self.order) != set(self.columns):
            raise ValueError("order must name the columns that are replaced, each once")
        for column, given in self.predictors.items():
            if column in given:
                raise ValueError(f"column {column!r} cannot be drawn given itself")
        if self.columns:
            replaced = set(self.columns)
            ruled = {c for s in self.rules for c in s.values} | set(self.sums)
            stray = [c for c in (*self.methods, *self.predictors, *ruled) if c not in replaced]
            if stray:
                raise ValueError(
                    f"column {stray[0]!r} has a method, predictors or a rule, and is not among the columns that are replaced"
                )
        if self.calibrate and self.weights == "unw":
            raise ValueError("without weights there is nothing to calibrate")
        return self

    def _check_joint(self) -> None:
        """Refuse what models of all columns together cannot do."""
        given: dict[str, Any] = {
            "methods": self.methods, "order": self.order, "predictors": self.predictors,
            "within": self.within, "head": self.head,
        }  # fmt: skip
        if self.method == "ipf":
            given["degree"] = self.degree if self.degree != 1 else ()
        else:
            given |= {"margins": self.margins, "rho": self.rho}
        used = [name for name, value in given.items() if value]
        if used:
            raise ValueError(
                f"the method {self.method} draws all columns together and takes no {used[0]}"
            )
        if any(c in self.sums for m in self.margins for c in m):
            raise ValueError("a sum follows from its parts, and is no column of a margin")
        if self.categories and self.rho is None:
            raise ValueError(
                "categories are listed for rho; without it those of the data are drawn"
            )
        for column, listed in self.categories.items():
            if not listed or len(set(map(repr, listed))) < len(listed):
                raise ValueError("categories must be different, and at least one a column")
            if column in self.ranges:
                raise ValueError(f"column {column!r} has categories or a range, not both")
        if self.rho is not None and self.unlike:
            raise ValueError("unlike compares with the original, which rho does not allow for")

    # -- what is concerned ---------------------------------------------------------------------------

    def replaced(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are synthesised."""
        return self.columns or self.record(data)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that change: those synthesised, and the weight."""
        changed = self.weights != "oldw" or bool(self.calibrate)
        weight = data.with_role("weight") if changed else ()
        return (*self.replaced(data), *weight)

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that a parameter names."""
        named = [
            *(self.columns or ()), *self.methods, *self.order, *self.predictors, *self.categorical,
            *(c for given in self.predictors.values() for c in given), *self.within,
            *(c for m in self.margins for c in m), *self.sums, *self.ranges, *self.categories,
            *(c for parts in self.sums.values() for c in parts),
            *(c for s in self.rules for c in (*s.values, *s.columns())),
            *(c for text in self.forbid for c in columns_of_rule(text)),
            *columns_of_rule(self.head), *(self.design.columns if self.design else ()),
            *(c for t in self.calibrate for c in columns_of_totals(t)),
        ]  # fmt: skip
        return tuple(dict.fromkeys(named))

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return that the models of all columns together know no households."""
        del data
        return "apart" if self.method in JOINT else "together"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns that cannot be synthesised, methods that do not fit, weights that are not there."""
        found = super().faults(data)
        if found:
            return found
        if data.copies is not None:
            return [InputError("synthesise: the data hold copies already; synthesise the original")]
        replaced = self.replaced(data)
        fixed = {*data.identifiers, data.weight, data.household}
        found += [
            InputError(
                f"synthesise: column {c!r} is an identifier, the weight or the household, and cannot be replaced. Drop it, or leave it as it is."
            )
            for c in replaced
            if c in fixed
        ]
        if not replaced:
            found.append(InputError("synthesise: there is no column to replace"))
        if COPY in data.columns and self.copies > 1:
            found.append(InputError(f"synthesise: column {COPY!r} exists already; rename it"))
        ruled = [
            *(c for s in self.rules for c in s.values), *self.sums, *self.ranges,
            *self.methods, *self.predictors, *(c for m in self.margins for c in m),
            *self.categories,
        ]  # fmt: skip
        found += [
            InputError(
                f"synthesise: column {c!r} has a rule, range, method, predictors or margin, and is not among the columns that are replaced"
            )
            for c in dict.fromkeys(ruled)
            if c not in replaced
        ]
        schema = data.frame.collect_schema()
        found += [
            InputError(f"synthesise: column {c!r} does not hold numbers, and {what}")
            for c, what in self.numbers_wanted(replaced)
            if not schema[c].is_numeric()
        ]
        if (self.design or self.calibrate) and data.weight is None:
            found.append(
                RoleMissing(
                    "synthesise: a design and totals are for weights, and the data declare none. Declare them with tacit.read(..., weight=...)."
                )
            )
        if self.head is not None and data.household is None:
            found.append(RoleMissing("synthesise: head needs households; declare household=..."))
        kept = [c for c in data.columns if c not in replaced]
        if self.rho is not None and kept:
            found.append(
                InputError(
                    f"synthesise: rho covers the columns that are replaced, and {len(kept)} others would be released as they are. Drop them first."
                )
            )
        if self.rho is not None:
            found += self.unlisted(data, replaced)
            before = [a.kind for a in data.history if not leaves_out(a)]
            if before:
                found.append(
                    InputError(
                        f"synthesise: rho is for one record of the data as they are read, and {before[0]} before it may change or drop others for the sake of one. Synthesise first; what comes after it costs nothing."
                    )
                )
        return found

    def unlisted(self, data: Microdata, replaced: Iterable[str]) -> Iterable[SdcError]:
        """Yield the columns of which categories or limits would have to be taken from the data."""
        schema = data.frame.collect_schema()
        for c in replaced:
            if c in self.ranges or c in self.sums or self.listed(data, c):
                continue
            if schema[c].is_numeric() or schema[c].is_temporal():
                yield InputError(
                    f"synthesise: private margins of the numbers in {c!r} need limits that do not come from the data; give ranges={{{c!r}: [low, high]}}"
                )
            else:
                yield InputError(
                    f"synthesise: private margins of {c!r} need its categories, as those of the data would tell which values occur; give categories={{{c!r}: [...]}}"
                )

    def listed(self, data: Microdata, column: str) -> tuple[Any, ...]:
        """Return the categories of a column: given, or the labels of the file; nothing for numbers in limits."""
        if column in self.ranges:
            return ()
        return tuple(self.categories.get(column) or data.columns[column].labels)

    def numbers_wanted(self, replaced: Iterable[str]) -> Iterable[tuple[str, str]]:
        """Yield columns that must hold numbers, and why."""
        for c in replaced:
            way = self.methods.get(c, self.method)
            if way in OF_NUMBERS:
                yield c, f"the method {way} is for numbers"
        for total, parts in self.sums.items():
            for c in (total, *parts):
                yield c, "it is part of a sum"

    # -- the work ----------------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        table = data.to_arrow(with_row=True)
        if not table.num_rows:
            return data
        replaced = self.replaced(data)
        self.check_weights(data, replaced)
        variables, original = self.read(data, table, ctx)
        if self.rho is None:
            # Beside noisy margins a refusal would be one more thing told of the original.
            self.check_rules(table, variables, original)
        copies = list(self.draw_copies(data, variables, original, ctx))
        tables = []
        for number, state in enumerate(copies, 1):
            new = {c: variables[c].restore(state[c]) for c in replaced}
            copy = set_values(table, new)
            tables.append(self.weigh(data, table, copy, replaced, ctx, number))
        if self.rho is None:
            # Beside noisy margins it would be one more thing told of the original.
            ctx.note(unchanged=self.tell_unchanged(copies[0], original, replaced))
        ctx.note(
            columns=len(replaced),
            copies=self.copies,
            synthesis="full" if set(replaced) >= set(self.record(data)) else "partial",
        )
        return self.stack(data, tables)

    def tell_unchanged(
        self, state: State, original: State, replaced: tuple[str, ...]
    ) -> dict[str, float]:
        """Return the share of values that came out as they were, and warn where that is nearly all."""
        shares = {c: share_unchanged(state[c], original[c]) for c in replaced}
        close = [c for c, share in shares.items() if share > DETERMINED and varies(original[c])]
        if close:
            warnings.warn(
                f"synthesise: {', '.join(map(repr, close))} came out nearly as in the original, since the columns that it is drawn given determine it. Replace those as well, or name fewer predictors.",
                WeakProtection,
                stacklevel=6,
            )
        return shares

    def record(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that a full synthesis replaces: what a record says."""
        apart = {*data.identifiers, data.weight, data.household, data.copies}
        return tuple(c for c in data.columns if c not in apart)

    def read(
        self, data: Microdata, table: pa.Table, ctx: Context
    ) -> tuple[dict[str, Variable], State]:
        """Return the columns that are drawn, or drawn given, as codes and numbers."""
        replaced = self.replaced(data)
        needed = {*replaced, *self.columns_named()}
        classes = {
            *self.categorical,
            *(c for c in replaced if self.methods.get(c, self.method) in ("logit", "multinomial")),
        }
        variables: dict[str, Variable] = {}
        original: State = {}
        left_out = 0
        for c in dict.fromkeys([*self.record(data), *replaced]):
            try:
                if self.rho is not None:
                    variables[c], original[c] = read_public(
                        data, c, table.column(c), self.listed(data, c), self.public_decimals(c)
                    )
                    continue
                variables[c], original[c] = read_variable(
                    data, c, table.column(c), categorical=c in classes
                )
            except InputError:
                # What nobody asked for need not be drawn given: names, free text, numbers beyond all bounds.
                if c in needed:
                    raise
                left_out += 1
        if left_out:
            ctx.note(predictors_left_out=left_out)
        for setting in self.rules:
            for c, value in setting.values.items():
                variables[c] = variables[c].with_value(value)
        return variables, original

    def public_decimals(self, column: str) -> int:
        """Return decimals that are fine enough for bins of given limits, and do not come from the data."""
        if column in self.sums:
            return max(map(self.public_decimals, self.sums[column]))
        low, high = self.ranges.get(column, (None, None))
        if low is None or high is None or not high > low:
            return 0
        return max(0, 1 - math.floor(math.log10((high - low) / self.bins)))

    def draw_copies(
        self, data: Microdata, variables: dict[str, Variable], original: State, ctx: Context
    ) -> Iterable[State]:
        """Yield the copies."""
        replaced = self.replaced(data)
        unique = flag_uniques(data, self.record(data)) if self.unlike else None
        chain = self.chain(data, variables, original)
        if self.method in JOINT:
            draw = draw_possible(self.fit_together(data, variables, original, ctx), chain)
            everyone = np.arange(len(original[replaced[0]]))
            for _ in range(self.copies):
                state = dict(original)
                draw(state, everyone)
                yield (
                    state
                    if unique is None
                    else avoid_replicas(state, original, unique, draw, ctx.tick)
                )
            return
        streams = [generator_of(s) for s in spawn_sequences(ctx.rng, self.copies)]
        done = 0

        def draw_copy(number: int) -> State:
            rng = streams[number]

            def tick(message: str, part: float | None) -> None:
                ctx.tick(message, (done + (part or 0.0)) / self.copies)

            def redraw_rows(state: State, rows: Ints) -> None:
                chain.fill(state, chain.whole_homes(rows), rng, tick)

            if self.proper:
                chain.fit(rng, tick, resample=True)
            state = chain.draw(rng, tick)
            return (
                state
                if unique is None
                else avoid_replicas(state, original, unique, redraw_rows, tick)
            )

        if self.proper:
            yield from map(draw_copy, range(self.copies))
            return
        chain.fit(ctx.rng, ctx.tick)
        for state in in_threads(draw_copy, self.copies, chain.n):
            done += 1
            yield state

    def fit_together(
        self, data: Microdata, variables: dict[str, Variable], original: State, ctx: Context
    ) -> Redraw:
        """Fit the model of all columns together."""
        replaced = [c for c in self.replaced(data) if c not in self.sums]
        ctx.tick("fitting", 0.0)
        if self.method == "copula":
            given = [c for c in variables if c not in replaced and c not in self.sums]
            return draw_copula(
                replaced, given, variables, original, smooth=self.smooth, rng=ctx.rng
            )
        redraw, table = draw_margins(
            replaced, self.tables(data), variables, original,
            bins=self.bins, ranges=self.ranges, rho=self.rho, rng=ctx.rng,
        )  # fmt: skip
        ctx.note(cells=len(table.shares), margins=len(self.tables(data)))
        if self.rho is not None:
            ctx.note(rho=self.rho, sigma=table.sigma)
        return redraw

    def chain(self, data: Microdata, variables: dict[str, Variable], original: State) -> Chain:
        """Return the sequence of columns with their predictors and rules."""
        replaced = self.replaced(data)
        joint = self.method in JOINT
        shared = set() if joint else set(constant_in_households(data, replaced))
        order = self.ordered(variables, replaced, shared)
        alone = [c for c in variables if c not in replaced]
        steps, done = [], list[str]()
        for c in order:
            given = self.predictors.get(c) or (*alone, *done)
            late = [p for p in given if p in replaced and p not in done]
            if late:
                raise InvalidParameter(
                    f"synthesise: column {c!r} is drawn given {late[0]!r}, which is drawn after it; change the order"
                )
            if c in shared:
                # Given what is the head's alone, members of one household would be drawn as different ones.
                given = tuple(p for p in given if p not in done or p in shared)
            done.append(c)
            forbid = tuple(
                text
                for text in self.forbid
                if c in columns_of_rule(text)
                and not {p for p in columns_of_rule(text) if p in replaced} - set(done)
            )
            steps.append(
                Step(
                    column=c,
                    way=self.methods.get(c, self.method if self.method not in JOINT else "cart"),  # type: ignore[arg-type]
                    predictors=tuple(p for p in given if p in variables),
                    shared=c in shared,
                    settings=tuple((s.when, s.values[c]) for s in self.rules if c in s.values),
                    forbid=forbid,
                    limits=self.ranges.get(c, usual_limits(original[c])),
                    parts=tuple(self.sums.get(c, ())),
                )
            )
        options = Options(self.leaf, self.smooth, self.degree, self.within)
        homes = None if joint else self.homes(data)
        return Chain(variables, original, steps, options, homes, ranges=self.ranges)

    def ordered(
        self, variables: Mapping[str, Variable], replaced: tuple[str, ...], shared: set[str]
    ) -> list[str]:
        """Return the order in which columns are drawn."""
        before = dependencies(self.rules, self.sums, replaced)
        place = {c: i for i, c in enumerate(replaced)}
        preferred = list(self.order) or sorted(
            replaced,
            key=lambda c: (c not in shared, variables[c].numeric, variables[c].size, place[c]),
        )
        order = put_in_order(preferred, before)
        if self.order and order != preferred:
            raise InvalidParameter(
                "synthesise: a rule looks at a column that is drawn later; put the columns of rules, and the parts of sums, first"
            )
        return order

    def homes(self, data: Microdata) -> Homes | None:
        """Return the households, their head being the first record that is marked as such."""
        if data.household is None:
            return None
        first, unit = units_in_memory(data)
        if self.head is None:
            return Homes(unit, first)
        table = data.to_arrow(columns_of_rule(self.head))
        marked = np.flatnonzero(holds(self.head, table))
        head = first.copy()
        head[unit[marked[::-1]]] = marked[::-1]
        return Homes(unit, head)

    def check_rules(
        self, table: pa.Table, variables: Mapping[str, Variable], original: State
    ) -> None:
        """Refuse rules that the original itself does not keep: nothing could be learnt from it."""
        for setting in self.rules:
            found = np.flatnonzero(holds(setting.when, table.select(list(setting.columns()))))
            for c, value in setting.values.items():
                wanted = value_of(variables[c], value, len(found))
                if (original[c].take(found).keys() != wanted.keys()).any():
                    warnings.warn(
                        f"synthesise: some original records do not keep the rule that sets column {c!r}; all synthetic ones will",
                        SdcWarning,
                        stacklevel=6,
                    )
        for total, parts in self.sums.items():
            if not adds_up(table, total, parts):
                raise InputError(
                    f"synthesise: column {total!r} is not the sum of the columns that sums names, in some original records; correct the rule or the data"
                )
        for text in self.forbid:
            if holds(text, table.select(list(columns_of_rule(text)))).any():
                raise InputError(
                    "synthesise: a combination that forbid names occurs in the original; correct the rule or the data"
                )

    # -- weights -----------------------------------------------------------------------------------

    def plan_of_sample(self, data: Microdata) -> Design | None:
        """Return the design: the one given, or strata where they are declared."""
        if self.design is not None or data.stratum is None:
            return self.design
        return Design(kind="stratified", columns=(data.stratum,))

    def check_weights(self, data: Microdata, replaced: tuple[str, ...]) -> None:
        """Refuse old weights that tell a size which was replaced; warn where nobody said what weights are made of."""
        if data.weight is None:
            return
        design = self.plan_of_sample(data)
        if design is None:
            if self.weights in ("rcal", "cpp"):
                warnings.warn(
                    "synthesise: weights stay as they are, since neither design nor a stratum says what they are made of. If a replaced column was used to draw or to weigh the sample, say so with design=.",
                    WeakProtection,
                    stacklevel=6,
                )
            return
        touched = [c for c in design.columns if c in replaced]
        if self.weights == "oldw" and touched and not self.allow_disclosure:
            if design.is_size:
                raise DisclosureRefused(
                    f"synthesise: the old weights tell the size that replaces column {touched[0]!r}: it is the total over n times the weight. Use weights='rcal', or give allow_disclosure=true."
                )
            warnings.warn(
                f"synthesise: old weights may tell the {touched[0]!r} that was replaced; weights='rcal' computes them again",
                WeakProtection,
                stacklevel=6,
            )

    def weigh(
        self,
        data: Microdata,
        before: pa.Table,
        after: pa.Table,
        replaced: tuple[str, ...],
        ctx: Context,
        number: int,
    ) -> pa.Table:
        """Return the records of one copy with the weights that fit them."""
        name = data.weight
        if name is None:
            return after
        if self.weights == "unw":
            ctx.note(weights="left out")
            return after.drop_columns([name])
        design = self.plan_of_sample(data)
        told = "as they were: no column of the design was replaced"
        if design is not None and self.weights != "oldw" and set(design.columns) & set(replaced):
            old = read_numeric_column(data, name).values.astype(np.float64)
            if self.weights == "rcal":
                new: Floats = recalculate(design, old, before, after)
            else:
                new = copy_weights(design, old, before, after, ctx.rng)
            after = set_values(after, {name: pa.array(new)})
            told = f"{self.weights}, {design.kind} by {', '.join(design.columns)}"
        elif self.weights == "oldw":
            told = "as they were"
        if self.calibrate:
            after = self.rake(data, after)
            told += "; raked"
        if number == 1:
            ctx.note(weights=told)
        return after

    def rake(self, data: Microdata, table: pa.Table) -> pa.Table:
        """Return one copy with its weights raked to known totals."""
        done = Calibrate(margins=self.calibrate).apply(data.with_table(table))
        return done.to_arrow(with_row=True)

    def stack(self, data: Microdata, tables: list[pa.Table]) -> Microdata:
        """Return the copies as one file: the first keeps the numbers of the records, later ones get new ones."""
        if len(tables) == 1:
            return data.with_table(tables[0])
        n, start = tables[0].num_rows, unused_row_number(data)
        numbered = []
        for i, table in enumerate(tables):
            rows = table.column(ROW).to_numpy() if i == 0 else start + (i - 1) * n + np.arange(n)
            plain = table.drop_columns([ROW])
            copy = plain.append_column(COPY, pa.array(np.full(n, i + 1, dtype=np.int64)))
            numbered.append(copy.append_column(ROW, pa.array(rows, type=pa.int64())))
        result = data.with_table(pa.concat_tables(numbered))
        label = "number of the synthetic copy"
        return result.with_columns_described(
            {COPY: Column(COPY, frozenset({"copy_number"}), label)}
        )

    # -- claims ------------------------------------------------------------------------------------

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        replaced = self.replaced(data)
        if not len(data):
            return
        if self.rules or self.forbid or self.sums:
            ruled = [
                c for c in self.columns_named()
                if c in {*self.sums, *(p for parts in self.sums.values() for p in parts)}
                or any(c in s.values or c in s.columns() for s in self.rules)
                or any(c in columns_of_rule(text) for text in self.forbid)
            ]  # fmt: skip
            yield Claim(
                "rules-kept",
                as_claim(self.rules, self.forbid, self.sums),
                "the rules",
                tuple(ruled),
            )
        for c, (low, high) in self.ranges.items():
            if c in replaced:
                yield Claim("within-limits", {"low": low, "high": high}, "ranges", (c,))
        if data.household is not None and self.method not in JOINT:
            shared = constant_in_households(data, replaced)
            copies = {"copies": result.copies} if result.copies else {}
            if shared:
                yield Claim(
                    "constant-in-households",
                    {"household": data.household, **copies},
                    "households",
                    shared,
                )
        if self.calibrate and data.weight is not None:
            yield claim_totals(self.calibrate, result)
        if self.unlike:
            names = self.record(data)
            yield Claim(
                "no-replicated-uniques",
                {"uniques": hash_uniques(data, names)},
                "records that are unique in the original",
                names,
                ("Records that are nearly, not exactly, as in the original are not counted.",),
                withheld=("uniques",),
            )
        if self.rho is not None:
            k = len(self.tables(data))
            yield Claim(
                "zcdp-margins",
                {"rho": self.rho, "margins": k, "sigma": noise_of_margins(k, self.rho)},
                "the margins that the records are drawn from",
                replaced,
                (
                    "Neighbouring files differ in one record; the number of records is public.",
                    "Names and types of columns are public; categories and limits were given and do not come from the data.",
                    "Noise of protected plots, and of other releases of the same data, adds up.",
                    "The seed stays secret: leave it out, and one is drawn.",
                ),
            )

    def tables(self, data: Microdata) -> tuple[tuple[str, ...], ...]:
        """Return the margins of an ipf synthesis: those given, or all pairs."""
        replaced = tuple(c for c in self.replaced(data) if c not in self.sums)
        if self.margins:
            return self.margins
        pairs = tuple((a, b) for i, a in enumerate(replaced) for b in replaced[i + 1 :])
        return pairs or (replaced,)


def leaves_out(action: Action) -> bool:
    """Return True for a step that left columns out and looked at no value."""
    dropped = action.kind == "deidentify" and action.parameters.get("how", "drop") == "drop"
    return dropped or action.kind == "remove_columns"


def share_unchanged(new: Values, old: Values) -> float:
    """Return the share of values that are those of the same record before, numbers within a hundredth of their spread."""
    same = new.codes == old.codes
    if new.numbers is not None and old.numbers is not None:
        same &= np.abs(new.numbers - old.numbers) <= 0.01 * float(old.numbers.std())
    return float(same.mean())


def varies(values: Values) -> bool:
    """Return True when no value is that of nearly all records."""
    _, counts = np.unique(values.keys(), return_counts=True)
    return bool(counts.max(initial=0) < DETERMINED * len(values))


def usual_limits(values: Values) -> tuple[float | None, float | None]:
    """Return 0 as the lower limit of numbers none of which is negative."""
    numbers = values.numbers
    some = numbers is not None and len(numbers) > 0 and bool((numbers >= 0).all())
    return (0.0 if some else None), None


def set_values(table: pa.Table, new: Mapping[str, Any]) -> pa.Table:
    """Return a table with columns replaced."""
    for name, column in new.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table
