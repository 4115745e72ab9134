"""A toy method and a toy measure that keep every promise, and the same with one planted fault each."""

from __future__ import annotations

import random
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np

from tacit.claims import Claim
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric
from tacit.errors import Cancelled, InputError, WeakProtection
from tacit.result import Result
from tacit.spec import Measure, Method
from tacit.storage.values import LIVE


class ToyMethod(Method):
    """Round incomes to tens, one record after the other."""

    kind: Literal["toy_method"] = "toy_method"
    column: str = "income"

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    on_household = "apart"
    on_weight = "kept"
    on_stratum = "kept"
    on_links = "warned"
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)

    def _apply(self, data: Microdata, ctx: Any) -> Microdata:
        values = data.column(self.column).to_pylist()
        if any(isinstance(x, str) for x in values):
            raise InputError(self.refusal(values))
        made = []
        for place, value in enumerate(values):
            self.ask(ctx)
            made.append(self.change(value, place, ctx))
        ctx.note(**self.notes(values))
        return self.finish(data.replace({self.column: made}), values)

    def ask(self, ctx):
        ctx.tick("rounding")

    def change(self, value, place, ctx):
        del place, ctx
        return None if value is None else round(value, -1)

    def refusal(self, values):
        del values
        return f"toy_method: column {self.column!r} holds words, and it needs numbers."

    def notes(self, values):
        return {"records": len(values)}

    def finish(self, data, values):
        del values
        return data

    def _claims(self, data, result):
        del data, result
        yield Claim("within-limits", {"low": None, "high": self.limit()}, "values", (self.column,))

    def limit(self):
        return 1e9


@dataclass(frozen=True, repr=False)
class ToyResult(Result):
    """A result with a field of its own that its storage forgets; the sound toys leave it alone."""

    spread: float = field(default=0.0, metadata=LIVE)


class ToyMeasure(Measure):
    """The mean income, one record after the other."""

    kind: Literal["toy_measure"] = "toy_measure"
    column: str = "income"

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    on_household = "unused"
    on_weight = "unused"
    on_stratum = "unused"
    on_links = "unused"

    def _measure(self, data: Microdata, other: Any, ctx: Any) -> Result:
        del other
        values = data.column(self.column).to_pylist()
        if any(isinstance(x, str) for x in values):
            raise InputError(self.refusal(values))
        total = 0.0
        for place, value in enumerate(values):
            self.ask(ctx)
            total += self.weigh(value or 0.0, place, ctx)
        return self.make(total / max(1, len(values)), values)

    def ask(self, ctx):
        ctx.tick("adding")

    def weigh(self, value, place, ctx):
        del place, ctx
        return value

    def refusal(self, values):
        del values
        return f"toy_measure: column {self.column!r} holds words, and it needs numbers."

    def make(self, value, values):
        return ToyResult(
            "toy_measure", "Mean income", value, {"records": len(values), "mean": value}
        )


class OnEngine(ToyMethod):
    """Round incomes to tens in an expression, as its runs_on says."""

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "engine"

    def faults(self, data):
        return [*super().faults(data), *not_numeric(data, (self.column,), self.kind)]

    def _apply(self, data, ctx):
        ctx.tick("rounding")
        rounded = (nw.col(self.column) / 10).round() * 10
        return data.with_frame(data.frame.with_columns(rounded.alias(self.column)))


class OnEngineMeasure(ToyMeasure):
    """The mean income in an expression, as its runs_on says."""

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "engine"

    def faults(self, data):
        return [*super().faults(data), *not_numeric(data, (self.column,), self.kind)]

    def _measure(self, data, other, ctx):
        del other
        ctx.tick("adding")
        mean = data.frame.select(nw.col(self.column).mean()).collect("pyarrow").item(0, self.column)
        return self.make(mean, [])


SOUND = [ToyMethod(), ToyMeasure(), OnEngine(), OnEngineMeasure()]
#: Each toy with the property that catches it.
PLANTED: list[tuple[type, str]] = []


def planted(caught_by):
    """Add a toy with one fault, and say which property catches it."""

    def add(cls):
        PLANTED.append((cls, caught_by))
        return cls

    return add


# -- chance ---------------------------------------------------------------------------------------------


@planted("draws_only_if_it_says_so")
class Draws(ToyMethod):
    """Draw, though random is False."""

    def change(self, value, place, ctx):
        rounded = super().change(value, place, ctx)
        return rounded if rounded is None else rounded + 10 * int(ctx.rng.integers(0, 2))


@planted("draws_only_if_it_says_so")
class DrawsInVain(ToyMethod):
    """Draw numbers that happen not to show, though random is False."""

    def change(self, value, place, ctx):
        ctx.rng.random()
        return super().change(value, place, ctx)


@planted("draws_only_if_it_says_so")
class DrawsByBlocks(ToyMethod):
    """Draw from a block's own generator, though random is False."""

    def change(self, value, place, ctx):
        rounded = super().change(value, place, ctx)
        shift = 10 * int(ctx.block_rng(place).integers(0, 4))
        return rounded if rounded is None else rounded + shift


@planted("equal_seeds_give_equal_results")
class DrawsBeside(ToyMethod):
    """Draw from a generator that no seed governs."""

    random: ClassVar[bool] = True

    def change(self, value, place, ctx):
        return value if value is None else value + float(np.random.default_rng().normal())


@planted("equal_seeds_give_equal_results")
class MeasuresByChance(ToyMeasure):
    """Weigh the records by a generator that no seed governs."""

    def weigh(self, value, place, ctx):
        return value * float(np.random.default_rng().random())


@planted("leaves_global_randomness_alone")
class SetsTheSharedSeed(ToyMethod):
    """Set the generator that NumPy shares, so that equal seeds give equal results."""

    def change(self, value, place, ctx):
        np.random.seed(5)  # noqa: NPY002 - the planted fault
        return super().change(value, place, ctx)


@planted("leaves_global_randomness_alone")
class DrawsFromPython(ToyMeasure):
    """Draw from the generator that Python shares."""

    def weigh(self, value, place, ctx):
        random.random()
        return value


# -- records --------------------------------------------------------------------------------------------


@planted("position_does_not_matter")
class ByPosition(ToyMethod):
    """Round every other record of the file up."""

    def change(self, value, place, ctx):
        rounded = super().change(value, place, ctx)
        return rounded if rounded is None else rounded + 10 * (place % 2)


@planted("position_does_not_matter")
class WeighsByPosition(ToyMeasure):
    """Count every other record of the file twice."""

    def weigh(self, value, place, ctx):
        return value * (1 + place % 2)


@planted("missing_values_stay_missing")
class FillsIn(ToyMethod):
    """Take a missing value for zero."""

    def change(self, value, place, ctx):
        return super().change(value or 0.0, place, ctx)


@planted("changes_what_it_declares")
class ChangesAnother(ToyMethod):
    """Change the age as well, which is not declared."""

    def finish(self, data, values):
        return data.with_frame(data.frame.with_columns((nw.col("age") + 1).alias("age")))


@planted("changes_what_it_declares")
class AddsColumn(ToyMethod):
    """Add a column that is not declared."""

    def finish(self, data, values):
        return data.with_frame(data.frame.with_columns(nw.lit(1).alias("more")))


@planted("changes_what_it_declares")
class DropsColumn(ToyMethod):
    """Drop a column that is not declared."""

    def finish(self, data, values):
        return data.drop(["job"])


@planted("claims_hold")
class ClaimsFalsely(ToyMethod):
    """Claim a limit that most incomes exceed."""

    def limit(self):
        return 15


# -- confidentiality ------------------------------------------------------------------------------------


@planted("nothing_of_records_is_noted")
class NotesValue(ToyMethod):
    """Note the largest income."""

    def notes(self, values):
        return {"largest": max(x for x in values if x is not None)}


@planted("nothing_of_records_is_noted")
class NotesText(ToyMethod):
    """Note where somebody lives, deep inside."""

    def finish(self, data, values):
        self.told.update(trace=[{"of": {"zip": data.column("zip")[0].as_py()}}])
        return data

    def notes(self, values):
        object.__setattr__(self, "told", {})
        return super().notes(values)

    def _apply(self, data, ctx):
        done = super()._apply(data, ctx)
        ctx.note(**self.told)
        return done


@planted("nothing_of_records_is_noted")
class WarnsOfValue(ToyMethod):
    """Name an income in a warning."""

    def finish(self, data, values):
        warnings.warn(f"the income {values[3]} stands out", WeakProtection, stacklevel=2)
        return data


@planted("nothing_of_records_is_noted")
class ClaimsWithValue(ToyMethod):
    """Put the largest income into a claim, and so into the ledger."""

    def _claims(self, data, result):
        largest = max(x for x in data.column(self.column).to_pylist() if x is not None)
        yield Claim("within-limits", {"low": None, "high": largest}, "values", (self.column,))
        yield Claim(
            "within-limits",
            {"low": None, "high": 1e9},
            "values",
            (self.column,),
            (f"up to {largest}.",),
        )


@planted("nothing_of_records_is_noted")
class ExplainsWithValue(ToyMeasure):
    """Name a disease in the sentence for the report."""

    def make(self, value, values):
        return Result("toy_measure", "Mean income", value, {}, None, f"{values[1]} is the most.")


@planted("hard_data_give_a_result_or_a_sentence")
class RefusesWithValue(ToyMethod):
    """Quote what cannot be rounded."""

    def refusal(self, values):
        return f"toy_method: {values[2]!r} is no number, and it needs numbers."


@planted("hard_data_give_a_result_or_a_sentence")
class MeasureRefusesWithValue(ToyMeasure):
    """Quote what cannot be added."""

    def refusal(self, values):
        return f"toy_measure: {values[2]!r} is no number, and it needs numbers."


# -- cancellation ---------------------------------------------------------------------------------------


@planted("can_be_cancelled_in_the_middle")
class NeverAsks(ToyMethod):
    """Work without asking whether to stop."""

    def ask(self, ctx):
        pass


@planted("can_be_cancelled_in_the_middle")
class MeasureNeverAsks(ToyMeasure):
    """Measure without asking whether to stop."""

    def ask(self, ctx):
        pass


@planted("can_be_cancelled_in_the_middle")
class DoesNotListen(ToyMethod):
    """Ask whether to stop, and work on all the same."""

    def ask(self, ctx):
        with suppress(Cancelled):
            ctx.tick("rounding")


# -- storage and engine ---------------------------------------------------------------------------------


@planted("result_survives_storing")
class ForgetsField(ToyMeasure):
    """Give a result whose storage forgets a field."""

    def make(self, value, values):
        return ToyResult("toy_measure", "Mean income", value, spread=3.5)


@planted("records_are_gathered_only_if_it_says_so")
class Gathers(ToyMethod):
    """Gather the column by the data's own verb, though runs_on says engine."""

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "engine"


@planted("records_are_gathered_only_if_it_says_so")
class Collects(OnEngineMeasure):
    """Collect the frame by narwhals' verb."""

    def _measure(self, data, other, ctx):
        frame = data.frame.select(self.column).collect("pyarrow")
        return self.make(float(sum(frame[self.column].to_list())), [])


@planted("records_are_gathered_only_if_it_says_so")
class CollectsRows(OnEngineMeasure):
    """Fetch rows by DuckDB's own verb."""

    def _measure(self, data, other, ctx):
        rows = data.frame.select(self.column).to_native().fetchall()
        return self.make(float(sum(r[0] for r in rows)), [])


@planted("records_are_gathered_only_if_it_says_so")
class ReadsAll(OnEngineMeasure):
    """Read every batch into one table."""

    def _measure(self, data, other, ctx):
        table = data.engine.in_order(data.frame, lambda reader: reader.read_all())
        return self.make(float(sum(table[self.column].to_pylist())), [])
