"""Synthesis: columns replaced by draws from models that were fitted to the original."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.in_blocks import constant_in_households, units_in_memory
from tacit.data.microdata import Microdata
from tacit.data.roles import Column
from tacit.data.values import read_numeric_column, unused_row_number
from tacit.data.where import columns_of as columns_of_rule
from tacit.engine.arrow import set_columns
from tacit.engine.base import ROW
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    SdcWarning,
    WeakProtection,
)
from tacit.numerics.streams import generator_of, spawn_sequences
from tacit.records.samples.weights.calibrate import Calibrate, claim_totals
from tacit.records.samples.weights.design import Design, copy_weights, recalculate
from tacit.records.synthesis.sequential import rules, together
from tacit.records.synthesis.sequential.margins import noise_of_margins
from tacit.records.synthesis.sequential.parameters import COPY, JOINT, SynthesisParameters
from tacit.records.synthesis.sequential.sequence import (
    Chain,
    Homes,
    Options,
    State,
    Step,
    Tick,
    in_threads,
    value_of,
)
from tacit.records.synthesis.sequential.variables import (
    Values,
    Variable,
    read_public,
    read_variable,
)
from tacit.registry import register

#: Share of values that came out as they were from which on a column is as good as given.
DETERMINED = 0.9


@register
class Synthesise(SynthesisParameters):
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

    on_household = "together"
    on_weight = "changed"
    on_stratum = "used"
    on_links = "carried"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("synthetic values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income", "job"]}

    # -- the work ----------------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        table = data.to_arrow(with_row=True)
        if not table.num_rows:
            return data
        replaced = self.replaced(data)
        check_old_weights(self, data)
        variables, original = self.read(data, table, ctx)
        if self.rho is None:
            # Beside noisy margins a refusal would be one more thing told of the original.
            self.check_rules(table, variables, original)
        copies = list(self.draw_copies(data, variables, original, ctx))
        tables = []
        for state in copies:
            new = {c: variables[c].restore(state[c]) for c in replaced}
            copy = set_columns(table, new)
            tables.append(weigh(self, data, table, copy, ctx))
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
        unique = together.flag_uniques(data, self.record(data)) if self.unlike else None
        chain = self.chain(data, variables, original)

        def again(state: State, redraw: together.Redraw, tick: Tick) -> State:
            if unique is None:
                return state
            return together.avoid_replicas(state, original, unique, redraw, tick)

        if self.method in JOINT:
            draw = together.fit_together(self, data, chain, ctx)
            for _ in range(self.copies):
                state = dict(original)
                draw(state, np.arange(chain.n))
                yield again(state, draw, ctx.tick)
            return
        streams = [generator_of(s) for s in spawn_sequences(ctx.rng, self.copies)]
        done = 0

        def draw_copy(number: int) -> State:
            rng = streams[number]

            def tick(message: str, part: float | None) -> None:
                ctx.tick(message, (done + (part or 0.0)) / self.copies)

            if self.proper:
                chain.fit(rng, tick, resample=True)
            return again(
                chain.draw(rng, tick),
                lambda state, rows: chain.fill(state, chain.whole_homes(rows), rng, tick),
                tick,
            )

        if self.proper:
            yield from map(draw_copy, range(self.copies))
            return
        chain.fit(ctx.rng, ctx.tick)
        for state in in_threads(draw_copy, self.copies, chain.n):
            done += 1
            yield state

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
        before = rules.dependencies(self.rules, self.sums, replaced)
        place = {c: i for i, c in enumerate(replaced)}
        preferred = list(self.order) or sorted(
            replaced,
            key=lambda c: (c not in shared, variables[c].numeric, variables[c].size, place[c]),
        )
        order = rules.put_in_order(preferred, before)
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
        marked = np.flatnonzero(rules.holds(self.head, table))
        head = first.copy()
        head[unit[marked[::-1]]] = marked[::-1]
        return Homes(unit, head)

    def check_rules(
        self, table: pa.Table, variables: Mapping[str, Variable], original: State
    ) -> None:
        """Refuse rules that the original itself does not keep: nothing could be learnt from it."""
        for setting in self.rules:
            found = np.flatnonzero(rules.holds(setting.when, table.select(list(setting.columns()))))
            for c, value in setting.values.items():
                wanted = value_of(variables[c], value, len(found))
                if (original[c].take(found).keys() != wanted.keys()).any():
                    warnings.warn(
                        f"synthesise: some original records do not keep the rule that sets column {c!r}; all synthetic ones will",
                        SdcWarning,
                        stacklevel=6,
                    )
        for total, parts in self.sums.items():
            if not rules.adds_up(table, total, parts):
                raise InputError(
                    f"synthesise: column {total!r} is not the sum of the columns that sums names, in some original records; correct the rule or the data"
                )
        for text in self.forbid:
            if rules.holds(text, table.select(list(columns_of_rule(text)))).any():
                raise InputError(
                    "synthesise: a combination that forbid names occurs in the original; correct the rule or the data"
                )

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
                rules.as_claim(self.rules, self.forbid, self.sums),
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
                {"uniques": together.hash_uniques(data, names)},
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


# -- weights: computed again, copied, old or none, and raked to known totals ------------------------


def plan_of_sample(spec: SynthesisParameters, data: Microdata) -> Design | None:
    """Return the design: the one given, or strata where they are declared."""
    if spec.design is not None or data.stratum is None:
        return spec.design
    return Design(kind="stratified", columns=(data.stratum,))


def check_old_weights(spec: SynthesisParameters, data: Microdata) -> None:
    """Refuse old weights that tell a size which was replaced; warn where nobody said what weights are made of."""
    if data.weight is None:
        return
    design = plan_of_sample(spec, data)
    if design is None:
        if spec.weights in ("rcal", "cpp"):
            warnings.warn(
                "synthesise: weights stay as they are, since neither design nor a stratum says what they are made of. If a replaced column was used to draw or to weigh the sample, say so with design=.",
                WeakProtection,
                stacklevel=6,
            )
        return
    touched = [c for c in design.columns if c in spec.replaced(data)]
    if spec.weights == "oldw" and touched and not spec.allow_disclosure:
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
    spec: SynthesisParameters,
    data: Microdata,
    before: pa.Table,
    after: pa.Table,
    ctx: Context,
) -> pa.Table:
    """Return the records of one copy with the weights that fit them."""
    name = data.weight
    if name is None:
        return after
    if spec.weights == "unw":
        ctx.note(weights="left out")
        return after.drop_columns([name])
    design = plan_of_sample(spec, data)
    told = "as they were: no column of the design was replaced"
    if (
        design is not None
        and spec.weights != "oldw"
        and set(design.columns) & set(spec.replaced(data))
    ):
        old = read_numeric_column(data, name).values.astype(np.float64)
        if spec.weights == "rcal":
            new: Floats = recalculate(design, old, before, after)
        else:
            new = copy_weights(design, old, before, after, ctx.rng)
        after = set_columns(after, {name: pa.array(new)})
        told = f"{spec.weights}, {design.kind} by {', '.join(design.columns)}"
    elif spec.weights == "oldw":
        told = "as they were"
    if spec.calibrate:
        raked = Calibrate(margins=spec.calibrate).apply(data.with_table(after))
        after = raked.to_arrow(with_row=True)
        told += "; raked"
    ctx.note(weights=told)
    return after
