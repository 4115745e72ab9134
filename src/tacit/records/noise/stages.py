"""Masking in stages: the difference that one stage made is masked by the next and added."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field
from pydantic_core import core_schema
from scipy.spatial import cKDTree

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.block import format_columns, list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix
from tacit.data.values import not_numeric
from tacit.engine.base import ROW
from tacit.errors import InputError, LowUtility, SdcError, UnknownMethod, WeakProtection
from tacit.fields import ColumnNames, RefuseOrKeep, RoundMasked
from tacit.registry import lookup, specs
from tacit.spec import Method
from tacit.stats.moments import scale_of, skewness

Residual = Literal["reflect", "restore"]
WhichResidual = Annotated[
    Residual,
    Field(
        description="reflect masks released minus original, as printed; restore masks original minus released, which protects little"
    ),
]

#: Released records whose nearest original is looked up at most, when linkage is measured.
LINKED = 20_000
#: Columns more skewed than this are watched, and a relative change of their skewness beyond this is told.
SKEWED, SKEWNESS_LOST = 1.0, 0.1

#: Where the schema of a method stands in the schema of a plan.
METHOD_SCHEMA = "#/$defs/method"


# -- a method as a parameter -------------------------------------------------------------------------


class AnyMethod:
    """How a field holds a method: given as one or as a mapping with its kind, written as a mapping."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        del source, handler
        return core_schema.no_info_plain_validator_function(
            as_method,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda method: method.to_dict()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        del schema, handler
        return {"type": "object", "title": "method"}


Stage = Annotated[Method, AnyMethod]


def as_method(value: Any) -> Method:
    """Return a method given as one or as a mapping with its kind."""
    if isinstance(value, Method):
        return value
    if not isinstance(value, Mapping) or "kind" not in value:
        raise ValueError("must be a method or a mapping with its kind, e.g. {kind: mdav, k: 3}")
    cls = lookup(str(value["kind"]))
    if not issubclass(cls, Method):
        raise UnknownMethod(f"must be a method that protects records; {value['kind']} is none")
    return cls(**{k: v for k, v in value.items() if k != "kind"})


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a list as a tuple, so that equal parameters are equal; refuse anything else."""
    if not isinstance(value, list | tuple):
        raise ValueError("must be a list of methods")  # noqa: TRY004 - pydantic takes no other error
    return tuple(value)


# -- what stages share -------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class StageResult:
    """What one stage did; the arrays hold values of records, keep them inside."""

    #: The method.
    kind: str
    #: What the method returned: the masked data for the first stage, else the masked residual.
    masked: Floats
    #: The data after this stage: X_k.
    released: Floats
    #: What the method noted.
    details: Mapping[str, Any]

    def groups(self) -> Ints:
        """Return a number per record that is shared by records which the method made equal."""
        return np.unique(self.masked, axis=0, return_inverse=True)[1].reshape(-1)


class Staged(Method):
    """Base of the methods that mask numeric columns in stages, which are methods among their parameters."""

    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns to mask; by default those of the first stage, or all that are neither identifiers nor weight, household or stratum",
    )
    missing: RefuseOrKeep = "refuse"
    whole: RoundMasked = False

    on_weight = "option"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"

    def sequence(self) -> tuple[Method, ...]:
        """Return the stages in order."""
        raise NotImplementedError

    def sign(self) -> Residual:
        """Return which way the residual is taken, where a method leaves it to a parameter."""
        sign: Residual = getattr(self, "residual", "reflect")
        return sign

    # -- parameters ----------------------------------------------------------------------------

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the parameters as plain data; ``public`` leaves out the secrets of the stages too."""
        found = super().to_dict(public=public)
        for name in found.keys() & type(self).model_fields.keys():
            value = getattr(self, name)
            if isinstance(value, Method):
                found[name] = value.to_dict(public=public)
            elif isinstance(value, tuple) and value and isinstance(value[0], Method):
                found[name] = [method.to_dict(public=public) for method in value]
        return found

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the JSON schema; methods among the parameters refer to the methods of a plan."""
        schema = super().model_json_schema(*args, **kwargs)
        for described in schema["properties"].values():
            for part in (described, described.get("items", {}), *described.get("anyOf", ())):
                if part.get("title") == "method":
                    del part["title"], part["type"]
                    part["$ref"] = METHOD_SCHEMA
        kinds = [kind for kind, spec in specs().items() if issubclass(spec, Method)]
        schema.setdefault("$defs", {})["method"] = {
            "type": "object",
            "description": "a method that protects records",
            "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds],
        }
        return schema

    # -- checks ------------------------------------------------------------------------------

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns masked."""
        stages = self.sequence()
        own = self.columns or getattr(stages[0], "columns", None)
        if own:
            return tuple(own)
        beside = {
            c
            for stage in stages
            for c in stage.columns_named()
            if c not in (getattr(stage, "columns", None) or ())
        }
        return tuple(c for c in list_maskable_columns(data) if c not in beside)

    def filled(self, data: Microdata) -> list[Method]:
        """Return the stages, those without columns with the masked ones."""
        targets = self.targets(data)
        return [
            stage.model_copy(update={"columns": targets})
            if "columns" in type(stage).model_fields and not getattr(stage, "columns", None)
            else stage
            for stage in self.sequence()
        ]

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to mask, and what each stage finds wrong."""
        found = super().faults(data)
        if found:
            return found
        targets = self.targets(data)
        if not targets:
            return [
                InputError(f"{self.kind}: the data have no numeric column to mask; name columns")
            ]
        if len(set(targets)) < len(targets):
            return [InputError(f"{self.kind}: columns must name each column once")]
        found.extend(not_numeric(data, targets, self.kind))
        for stage in self.filled(data):
            beyond = [c for c in getattr(stage, "columns", None) or () if c not in targets]
            if beyond:
                found.append(
                    InputError(
                        f"{self.kind}: the stage {stage.kind} masks {format_columns(beyond)}, which is not among the columns masked"
                    )
                )
            if not isinstance(stage, StageNoise):
                found.extend(stage.faults(data))
        return found

    # -- the work ------------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        block = read_block(data, self.targets(data), self.kind, missing=self.missing)
        if not block.complete.any():
            return data
        done = self.work(data, ctx)
        ctx.note(columns=list(block.columns))
        self.tell(block.x, done, ctx)
        return data.replace(block.released(done[-1].released, whole=self.whole))

    def intermediates(
        self, data: Microdata, *, seed: int | None = None, context: Context | None = None
    ) -> tuple[StageResult, ...]:
        """Return every stage's result as arrays, for the complete records in order.

        With the seed of a release these are the stages behind it. They are confidential: two of them
        together can give away the original.
        """
        self.check(data)
        return self.work(data, context or Context.start(seed))

    def work(self, data: Microdata, ctx: Context) -> tuple[StageResult, ...]:
        """Return the results of the stages (equation 5 and the recursion behind equation 6)."""
        columns = self.targets(data)
        block = read_block(data, columns, self.kind, missing=self.missing)
        x = block.x
        flat = [c for c, spread in zip(columns, np.ptp(x, axis=0), strict=True) if spread == 0]
        if flat:
            raise InputError(
                f"{self.kind}: {format_columns(flat)} is constant, so its z-scores are undefined. Leave it out."
            )
        stages = self.filled(data)
        base = self.base(data, columns, stages, block.complete)
        done: list[StageResult] = []
        for i, (stage, rng) in enumerate(zip(stages, ctx.rng.spawn(len(stages)), strict=True)):
            ctx.tick(f"stage {i + 1}: {stage.kind.replace('_', ' ')}", i / len(stages))
            child = Context(rng, ctx.seed, ctx.work.part(i, len(stages)))
            if not done:
                masked = mask_values(stage, base, columns, x, child)
                now = masked
            else:
                before = done[-1].released
                residual = before - x if self.sign() == "reflect" else x - before
                # Only the columns that the stage masks change.
                at = [columns.index(c) for c in getattr(stage, "columns", None) or columns]
                masked = np.zeros_like(residual)
                if isinstance(stage, StageNoise):
                    masked[:, at] = stage.noise_for(residual[:, at], before[:, at], x[:, at], child)
                else:
                    masked[:, at] = mask_values(stage, base, columns, residual, child)[:, at]
                now = before + masked
            done.append(StageResult(stage.kind, masked, now, dict(child.details)))
        return tuple(done)

    def base(
        self, data: Microdata, columns: Sequence[str], stages: Sequence[Method], complete: Any
    ) -> Microdata:
        """Return the records and columns that the stages may look at."""
        wanted = {*columns, data.weight, data.household, data.stratum}
        wanted |= {c for stage in stages for c in stage.columns_named()}
        lean = data.drop([c for c in data.columns if c not in wanted])
        return lean if complete.all() else lean.take(np.flatnonzero(complete))

    def tell(self, x: Floats, done: Sequence[StageResult], ctx: Context) -> None:
        """Note what was done, and warn of what this way of combining stages is known for."""
        last = done[-1].released
        spread = scale_of(x, ddof=1).spread
        skew = np.column_stack([skewness(x), skewness(last)])
        ctx.note(
            stages=[
                {**stage.to_dict(public=True), "done": dict(result.details)}
                for stage, result in zip(self.sequence(), done, strict=True)
            ],
            residual=self.sign(),
            largest_mean_change_in_sd=float(
                np.abs((last.mean(axis=0) - x.mean(axis=0)) / spread).max()
            ),
            skewness_before=[round(float(s), 4) for s in skew[:, 0]],
            skewness_after=[round(float(s), 4) for s in skew[:, 1]],
        )
        if self.sign() == "restore":
            self.warn_of_linkage(x, done, ctx)
        else:
            self.warn_of_skewness(skew, len(x))

    def warn_of_linkage(self, x: Floats, done: Sequence[StageResult], ctx: Context) -> None:
        """Measure how many records restoring gives back, and say so."""
        rng = ctx.rng.spawn(1)[0]
        at = np.sort(rng.permutation(len(x))[:LINKED])
        first, last = (own_record_share(x, stage.released, at) for stage in (done[0], done[-1]))
        ctx.note(linkage_risk=last, linkage_risk_first_stage=first, linkage_records=len(at))
        warnings.warn(
            f"{self.kind}: residual='restore' gives back what the first stage took. {last:.1%} of the released records are nearest to their own original ({first:.1%} after the first stage)",
            WeakProtection,
            stacklevel=5,
        )

    def warn_of_skewness(self, skew: Floats, n: int) -> None:
        """Warn where mirrored residuals changed the skewness of a skewed column."""
        before, after = skew.T
        # sqrt(6 / n) is the standard error of the skewness of normal data: small files are not accused.
        skewed = np.abs(before) > max(SKEWED, 4.0 * np.sqrt(6.0 / n))
        hurt = skewed & (np.abs(after - before) > SKEWNESS_LOST * np.abs(before))
        if hurt.any():
            warnings.warn(
                f"{self.kind}: reflected residuals changed the skewness of {int(hurt.sum())} skewed column(s) by more than {SKEWNESS_LOST:.0%}; mask them after a transformation such as the logarithm",
                LowUtility,
                stacklevel=5,
            )


class StageNoise(Staged):
    """Base of noise that is made from what an earlier stage took away."""

    first: Stage | None = Field(
        default=None,
        description="the masking that comes before; by default microaggregation by z-scores with k = 3. Left out where this is a stage of another method",
    )

    techniques: ClassVar[tuple[str, ...]] = ("microaggregation", "additive noise")

    def sequence(self) -> tuple[Method, ...]:
        """Return the first stage and this one."""
        return (self.first or micz(), self.model_copy(update={"first": None}))

    def noise_for(
        self, residual: Floats, released: Floats, original: Floats, ctx: Context
    ) -> Floats:
        """Return the noise to be added to what is released so far."""
        raise NotImplementedError


def micz() -> Method:
    """Return the first stage of the paper: microaggregation by the sum of z-scores, k = 3."""
    return as_method({"kind": "sort_by_zscores", "k": 3})


def check_stages(stages: Sequence[Method]) -> None:
    """Refuse a first masking inside a later stage."""
    for stage in stages[1:]:
        if isinstance(stage, StageNoise) and stage.first is not None:
            raise ValueError(
                f"{stage.kind} as a later stage takes what comes before it from the stages; leave out its 'first'"
            )


# -- one stage -----------------------------------------------------------------------------------------


def mask_values(
    stage: Method, base: Microdata, columns: Sequence[str], values: Floats, ctx: Context
) -> Floats:
    """Return what a method makes of some values, given as the columns of the records."""
    given = base.replace({c: pa.array(values[:, j]) for j, c in enumerate(columns)})
    result = stage.apply(given, context=ctx)
    schema = result.frame.collect_schema()
    if any(c not in result.columns or not schema[c].is_numeric() for c in columns):
        raise InputError(f"the stage {stage.kind} does not leave the masked columns as numbers")
    table = result.to_arrow(list(columns), with_row=True)
    rows = given.to_arrow([], with_row=True)
    if not table.column(ROW).equals(rows.column(ROW)):
        raise InputError(f"the stage {stage.kind} does not keep every record, which stages must")
    masked = matrix(table, columns)
    if not np.isfinite(masked).all():
        raise InputError(f"the stage {stage.kind} leaves values missing, which stages must not")
    return masked


def own_record_share(original: Floats, released: Floats, at: Ints) -> float:
    """Return the share of some released records whose nearest original is their own.

    Distances are Euclidean on columns divided by the original's standard deviations.
    """
    spread = original.std(axis=0)
    nearest = cKDTree(original / spread).query(released[at] / spread)[1]
    return float((nearest == at).mean())
