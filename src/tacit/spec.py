"""Spec: one frozen, validated, serialisable description of one thing to do.

A Spec's fields are declared once, with type, bound and a one-sentence description. The plan schema,
the command line, the reference page and the common test battery are derived from them.

There are two sorts, over any kind of data D: a :class:`Method` protects (``apply``: data to data), a
:class:`Measure` looks (``measure``: data to a :class:`~tacit.result.Result`). ``Method`` alone is a method for
records; ``Method[Table]`` is one for tables.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar, cast, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.base import Action, Around, Data, around_of
from tacit.data.microdata import D
from tacit.errors import (
    InputError,
    InvalidParameter,
    SdcError,
    WeakProtection,
    has_lone_surrogate,
    is_out_of_disk,
    is_out_of_memory,
    make_shortage_error,
)
from tacit.kept import reuse
from tacit.numbers import format_number
from tacit.parameters import parameter_faults, secret_fields, wants_number
from tacit.result import Result
from tacit.time_limits import LIMIT_REACHED, watch_limits
from tacit.treatment import OnHousehold, OnLinks, OnStratum, OnWeight

Role = Literal[
    "identifiers", "keys", "sensitive", "weight", "household", "stratum", "links", "hierarchies"
]
Where = Literal["engine", "cells", "records"]
#: Calls from where a step warns up to the code that asked for it.
OUTSIDE = 7
#: The result of a measure: what its ``_measure`` says that it returns.
R_co = TypeVar("R_co", bound=Result, covariant=True)


class Spec(BaseModel):
    """Base of everything that can stand in a plan."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        validate_default=False,
        allow_inf_nan=False,
    )

    family: ClassVar[str] = ""
    #: Roles that must be declared in the data before this can work.
    needs: ClassVar[frozenset[Role]] = frozenset()
    #: Where the work is done: all on the engine; on the reduced table of cells; or on the records
    #: themselves, which are then gathered in memory on one machine.
    runs_on: ClassVar[Where] = "engine"
    #: True when the result depends on the seed.
    random: ClassVar[bool] = False
    #: Parameters with which the reference page shows it and the common tests run it (on a small file
    #: with the columns id, sex, age, zip, job, income and disease); only what has no default.
    example: ClassVar[Mapping[str, Any]] = {}
    #: Parameters that name columns; they are checked before work.
    column_fields: ClassVar[tuple[str, ...]] = ("column", "columns", "sensitive")
    #: Parameters that name columns which must hold numbers.
    number_fields: ClassVar[tuple[str, ...]] = ()
    #: Parameters that name a file where they hold text; a plan finds it from its own folder.
    file_fields: ClassVar[tuple[str, ...]] = ()
    #: What this does with the roles of records, in the words of :mod:`tacit.treatment`; None for tables.
    on_household: ClassVar[OnHousehold | None] = None
    on_weight: ClassVar[OnWeight | None] = None
    on_stratum: ClassVar[OnStratum | None] = None
    on_links: ClassVar[OnLinks | None] = None
    #: For a Spec of several kinds of data: which parameter chooses the other.
    on_other_kind: ClassVar[str] = ""

    kind: str

    def __init__(self, *unnamed: Any, **values: Any) -> None:
        cls = type(self)
        if unnamed:
            first = next((n for n in cls.model_fields if n != "kind"), None)
            hint = f", e.g. {cls.__name__}({first}=...)" if first else "; it has none"
            raise InvalidParameter(f"{cls.__name__}: parameters are given by name{hint}")
        broken = [n for n in values if has_lone_surrogate(values[n])]
        if broken:
            raise InvalidParameter(
                f"{cls.__name__}: {broken[0]} holds a character that is no text (a lone surrogate)"
            )
        try:
            super().__init__(**values)
        except ValidationError as error:
            faults = parameter_faults(cls, error)
            raise InvalidParameter(f"{cls.__name__}: " + "; ".join(faults), faults) from None
        # Python takes True for 1; a plan that says so is mistaken.
        truths = [n for n in values if isinstance(values[n], bool) and wants_number(cls, n)]
        if truths:
            faults = [f"{n} must be a number (got {str(values[n]).lower()})" for n in truths]
            raise InvalidParameter(f"{cls.__name__}: " + "; ".join(faults), faults)

    @property
    def uses_chance(self) -> bool:
        """Return True when the result depends on the seed with the parameters as they are."""
        return self.random

    @classmethod
    def data_types(cls) -> tuple[type[Data], ...]:
        """Return the types of data that this can act on: the D of ``Method[D]``, each part of a union."""
        for base in cls.__mro__:
            arguments = base.__dict__.get("__pydantic_generic_metadata__", {}).get("args", ())
            if arguments and not isinstance(arguments[0], TypeVar):
                return tuple(get_args(arguments[0])) or (cast("type[Data]", arguments[0]),)
        return (cast("Any", D).__default__,)

    @classmethod
    def data_type(cls) -> type[Data]:
        """Return the type of data that this acts on; the first where there are several."""
        return cls.data_types()[0]

    def acts_on(self) -> type[Data]:
        """Return the type of data that this acts on with the parameters as they are."""
        return self.data_type()

    def with_files(self, find: Callable[[str], str]) -> Self:
        """Return this with the files that its parameters name (``file_fields``) where ``find`` says they are.

        A plan calls it before it checks and runs: files are named from the plan's folder. A subclass may put what a
        file holds in its place, so that the ledger keeps what the step was run with.
        """
        named = {n: getattr(self, n) for n in self.file_fields}
        found = {n: find(value) for n, value in named.items() if isinstance(value, str)}
        return self.model_copy(update=found) if found else self

    @classmethod
    def title(cls) -> str:
        """Return the first sentence of the docstring."""
        return (cls.__doc__ or "").strip().splitlines()[0].rstrip(".")

    @classmethod
    def secret_fields(cls) -> frozenset[str]:
        """Return the fields whose values would help an intruder."""
        return secret_fields(cls)

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the parameters as plain data, defaults left out; ``public`` leaves out secrets."""
        skip = set(self.secret_fields()) if public else set()
        values = self.model_dump(mode="json", exclude_defaults=True, exclude=skip, by_alias=True)
        return {"kind": self.kind, **{k: v for k, v in values.items() if k != "kind"}}

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the parameters name, so that they can be checked before work."""
        return self.columns_in(*self.column_fields)

    def columns_in(self, *fields: str) -> tuple[str, ...]:
        """Return the columns that some parameters name, as far as this has them."""
        names: list[str] = []
        for field in fields:
            value = getattr(self, field, None)
            if isinstance(value, str):
                names.append(value)
            elif isinstance(value, Iterable):
                names.extend(value)
        return tuple(names)

    def faults(self, data: Any) -> list[SdcError]:
        """Return everything that is wrong with using this on ``data``, before any work.

        Subclasses extend the list for what only they know, in ``_faults``.
        """
        found = self.type_fault(data)
        return [found] if found else [*cast("Data", data).faults_for(self), *self._faults(data)]

    def _faults(self, data: Any) -> list[SdcError]:
        """Return what is wrong besides, of data that are of the right kind."""
        del data
        return []

    def check_type(self, data: Any, what: str = "") -> None:
        """Refuse data of another kind, before anything asks them for what they do not have."""
        found = self.type_fault(data, what)
        if found:
            raise found

    def type_fault(self, data: Any, what: str = "") -> InputError | None:
        """Return why this cannot act on data of that kind; None when it can."""
        wanted = self.acts_on()
        if isinstance(data, wanted):
            return None
        hint = f" {self.on_other_kind}" if isinstance(data, self.data_types()) else ""
        return InputError(
            f"{self.kind}{what} works on {wanted.made_by} (got {type(data).__name__}).{hint}"
        )

    def check(self, data: Any) -> None:
        """Raise the first fault, naming all of them."""
        self.check_type(data)
        found = self.faults(data)
        if len(found) == 1:
            raise found[0]
        if found:
            raise InputError(f"{self.kind} cannot start: " + " ".join(str(f) for f in found))


class Method(Spec, Generic[D]):
    """A way of protecting data: ``apply`` returns new data and never changes the old."""

    family: ClassVar[str] = "protect"
    #: True when it may act on a file that holds several synthetic copies; else it would take them for one file.
    takes_copies: ClassVar[bool] = False
    #: True for a step that prepares data for protection and is itself none, such as a sensitivity rule.
    prepares: ClassVar[bool] = False
    #: True when the columns of a record move as one, so that one column that changes protects the others.
    moves_together: ClassVar[bool] = False
    #: The disclosure limitation techniques used, in the words of Sweeney's Figure 14.
    techniques: ClassVar[tuple[str, ...]] = ()
    #: True for a method that can use a population register.
    takes_register: ClassVar[bool] = False
    #: What is done with the roles of records unless a method says otherwise.
    on_household: ClassVar[OnHousehold | None] = "apart"
    on_weight: ClassVar[OnWeight | None] = "kept"
    on_stratum: ClassVar[OnStratum | None] = "kept"
    on_links: ClassVar[OnLinks | None] = "warned"

    @property
    def asks_register(self) -> bool:
        """Return True when the work needs a population register with these parameters."""
        return False

    @property
    def cuts_links(self) -> bool:
        """Return True when no record can be followed back to the original with these parameters."""
        return False

    def apply(
        self,
        data: D,
        *,
        seed: int | None = None,
        context: Context | None = None,
        register: D | None = None,
    ) -> D:
        """Protect ``data``.

        Parameters
        ----------
        data
            The data to protect; they are not changed.
        seed
            Seed of the random numbers; equal seeds give equal results.
        context
            Given by a plan run instead of a seed.
        register
            A population register, for a method that :attr:`asks_register`; a plan run has it in the context.

        Returns
        -------
        Microdata or Table
            The protected data. ``history[-1]`` says what was done and what is claimed; each claim
            has been recomputed on the result.
        """
        self.check(data)
        around = around_of(data, self)
        around.check()
        ctx = context or Context.start(seed)
        if register is not None:
            self.check_type(register, " with register=")
            ctx.register = register
        return ctx.watch("protect", self.title(), lambda: self._protect_timed(around, data, ctx))

    def _protect_timed(self, around: Around[D], data: D, ctx: Context) -> D:
        """Protect the data, recompute the claims, and enter both in the history."""
        ctx.tick(self.title(), 0.0)
        begun = time.perf_counter()
        with explain_limits(self.kind, data), watch_limits() as watch:
            result, claims = self._protect(around, ctx)
            for claim in claims:
                claim.require(result.claim_view(), where=self.kind)
            result = around.judge(result, ctx)
        if watch.reached:
            ctx.note(**{LIMIT_REACHED: True})
        action = self._action(ctx, claims, begun)
        ctx.tick(self.title(), 1.0)
        return result.with_action(action)

    def _action(self, ctx: Context, claims: tuple[Claim, ...], begun: float) -> Action:
        """Return what the history says of a protection that began at a moment (``time.perf_counter``)."""
        return Action(
            kind=self.kind,
            parameters=self.to_dict(public=True),
            techniques=self.techniques,
            details=dict(ctx.details),
            claims=claims,
            seconds=time.perf_counter() - begun,
            private=self.to_dict(),
        )

    def _protect(self, around: Around[D], ctx: Context) -> tuple[D, tuple[Claim, ...]]:
        """Do the work, with what its kind of data looks after before and after it."""
        for sentence in around.cautions(ctx.elsewhere):
            warnings.warn(f"{self.kind}: {sentence}", WeakProtection, stacklevel=OUTSIDE)
        result, claims = around.work(self._apply, self._claims_with, ctx)
        if not claims:
            return result, ()
        for sentence in around.doubts():
            warnings.warn(f"{self.kind}: {sentence}", WeakProtection, stacklevel=OUTSIDE)
        known = tuple(around.assumptions())
        return result, tuple(replace(c, assumptions=(*c.assumptions, *known)) for c in claims)

    def stated_share(self) -> float | None:
        """Return the share of records, or households, that it is to change, where a parameter says so."""
        return None

    def cautions(self, data: Any, elsewhere: frozenset[str] = frozenset()) -> list[str]:
        """Return what this leaves open on households and linked columns, before any work.

        ``elsewhere`` names the columns that other steps change.
        """
        return around_of(data, self).cautions(elsewhere)

    def treats_household(self, data: D) -> OnHousehold:
        """Return what is done with households with the parameters as they are."""
        del data
        return self.on_household or "apart"

    def treats_links(self, data: D) -> OnLinks:
        """Return what is done with linked columns with the parameters as they are."""
        del data
        return self.on_links or "warned"

    def targets(self, data: D) -> tuple[str, ...]:
        """Return the columns whose values this may change: its ``columns``, or else the keys it needs."""
        named = self.columns_in(*Spec.column_fields)
        return named or (cast("Any", data).keys if "keys" in self.needs else ())

    def adds(self, data: D) -> tuple[str, ...]:
        """Return the columns that the result has and the data have not; later steps of a plan may name them."""
        return tuple(c for c in self.made_from(data) if c not in cast("Any", data).columns)

    def removes(self, data: D) -> tuple[str, ...]:
        """Return the columns that the data have and the result has not; later steps of a plan find them gone."""
        del data
        return ()

    def made_from(self, data: D) -> Mapping[str, tuple[str, ...]]:
        """Return the columns that this computes from values of others, with those: who masks them must treat these."""
        del data
        return {}

    def _apply(self, data: D, ctx: Context) -> D:
        raise NotImplementedError

    def _claims(self, data: D, result: D) -> Iterable[Claim]:
        """Return what this method guarantees about ``result``."""
        del data, result
        return ()

    def _claims_with(self, data: D, result: D, ctx: Context) -> Iterable[Claim]:
        """Return the claims; a method whose claims need the register overrides this instead of ``_claims``."""
        del ctx
        return self._claims(data, result)


class Measuring(Protocol[R_co, D]):
    """What ``measure`` needs of a measure, and where type checkers find which Result it returns."""

    def _measure(self, data: D, other: Companions[D], ctx: Context, /) -> R_co: ...


class Measure(Spec, Generic[D]):
    """A way of looking at data: ``measure`` returns a Result."""

    family: ClassVar[str] = "risk"
    #: True when the measure compares with the data before protection.
    compares: ClassVar[bool] = False
    #: True when the measure needs a population register.
    needs_register: ClassVar[bool] = False
    #: True when the result itself may be published: a plan then takes it of the original data, once.
    publishes: ClassVar[bool] = False
    #: True when the measure looks at control records: people like those of the original whom no step has seen.
    takes_control: ClassVar[bool] = False
    #: Whether copies of synthetic data are measured one by one, or by the measure itself together.
    on_copies: ClassVar[Literal["each", "together"]] = "each"
    #: Which values are better on a risk-utility map; by default lower for risk, higher for utility.
    better: ClassVar[Literal["lower", "higher"] | None] = None
    #: A measure uses no role of records unless it says so.
    on_household: ClassVar[OnHousehold | None] = "unused"
    on_weight: ClassVar[OnWeight | None] = "unused"
    on_stratum: ClassVar[OnStratum | None] = "unused"
    on_links: ClassVar[OnLinks | None] = "unused"

    def asked(self, *names: str) -> bool:
        """Return True when one of some parameters was given; a default that nobody asked for is no promise."""
        return bool(self.model_fields_set.intersection(names))

    def measure(
        self: Measuring[R_co, D],
        data: D,
        *,
        original: D | None = None,
        register: D | None = None,
        control: D | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> R_co:
        """Measure ``data``, against the ``original``, a population ``register`` or ``control`` records where needed."""
        spec = cast("Measure[D]", self)
        spec.check(data)
        other = spec._companions(original, register, control)
        ctx = context or Context.start(seed)
        given = {"data": data, "original": original, "register": register, "control": control}

        def take() -> Result:
            return ctx.watch("measure", spec.title(), lambda: spec._taken(data, other, ctx))

        return cast("R_co", reuse(spec, given, ctx, take))

    def _companions(
        self, original: D | None, register: D | None, control: D | None
    ) -> Companions[D]:
        """Return the other data, checked; control records only for a measure that looks at them."""
        if self.compares and original is None:
            raise InputError(
                f"{self.kind} compares protected data with the original: "
                "pass original=, the data before protection."
            )
        if self.needs_register and register is None:
            raise InputError(
                f"{self.kind} needs a population register: pass register=, or name the file in the "
                "plan's measure."
            )
        if not self.takes_control:
            control = None
        given = {"original": original, "register": register, "control": control}
        for what, companion in given.items():
            if companion is not None:
                self.check_type(companion, f" with {what}=")
        return Companions(original=original, register=register, control=control)

    def _taken(self, data: D, other: Companions[D], ctx: Context) -> Result:
        """Return the result, marked when it comes of the measured data alone."""
        with explain_limits(self.kind, data):
            parts = around_of(data, self).parts()
            if parts:
                result = self._measure_copies(parts, other, ctx)
            else:
                result = self._measure(data, other, ctx)
        return result if self.compares or other.looked_at else replace(result, alone=True)

    def _measure_copies(self, parts: Sequence[D], other: Companions[D], ctx: Context) -> Result:
        """Measure every copy by itself; return the least favourable result, with the range of all.

        Taken together, the copies of one record would hide each other.
        """
        found = [self._measure(copy, other, ctx) for copy in parts]
        better = self.better or ("lower" if is_risk(type(self)) else "higher")
        values = [r.value for r in found]
        known = [r for r in found if not math.isnan(r.value)] or found
        worst = (max if better == "lower" else min)(known, key=lambda r: r.value)
        low, high = format_number(min(values)), format_number(max(values))
        said = f"Each of {len(found)} copies was measured by itself; shown is the least favourable, of values from {low} to {high}."
        return replace(worst, explanation=f"{worst.explanation} {said}".strip())

    def _measure(self, data: D, other: Companions[D], ctx: Context) -> Result:
        raise NotImplementedError


class Companions(Generic[D]):
    """The other data that a measure may look at; ``looked_at`` says whether it did, which decides what is public."""

    def __init__(
        self, original: D | None = None, register: D | None = None, control: D | None = None
    ) -> None:
        self._original = original
        self._register = register
        self._control = control
        self.looked_at = False

    @property
    def original(self) -> D:
        """Return the data before protection."""
        assert self._original is not None, "declare compares = True"
        self.looked_at = True
        return self._original

    @property
    def register(self) -> D:
        """Return the population register."""
        assert self._register is not None, "declare needs_register = True"
        self.looked_at = True
        return self._register

    @property
    def control(self) -> D | None:
        """Return records of people whom no step has seen, if there are any."""
        self.looked_at |= self._control is not None
        return self._control

    @property
    def has_original(self) -> bool:
        """Return True when the data before protection are at hand."""
        return self._original is not None

    @property
    def has_register(self) -> bool:
        """Return True when a population register is at hand."""
        return self._register is not None


@contextmanager
def explain_limits(kind: str, data: Data) -> Iterator[None]:
    """Say in a sentence that memory, or the range of a computer's numbers, did not suffice.

    Numbers near the largest or smallest possible leave it when they are squared or summed, in ways that
    no method can list beforehand; what is raised then may quote them, and what comes out may be nothing.
    """
    left: list[str] = []
    try:
        with np.errstate(
            over="call", invalid="call", divide="call", call=lambda fault, _: left.append(fault)
        ):
            yield
    except (ArithmeticError, ValueError, IndexError) as error:
        if not isinstance(error, SdcError):
            refuse_extremes(kind, data)
        raise
    except Exception as error:
        if not is_out_of_memory(error) and not is_out_of_disk(error):
            raise
        raise make_shortage_error(kind, error) from None
    if left:
        refuse_extremes(kind, data)
        warnings.warn(f"{kind}: {left[0]} in a computation", RuntimeWarning, stacklevel=3)


def refuse_extremes(kind: str, data: Data) -> None:
    """Refuse data with numbers that are infinite or nearly so."""
    extreme = around_of(data).extremes()
    if extreme:
        raise InputError(
            f"{kind} cannot work with the numbers in {', '.join(map(repr, extreme[:5]))}: some are infinite, or so "
            "large or small that their squares leave the range of a computer's numbers. Rescale the column, or "
            "make such values missing."
        ) from None


def is_risk(cls: type[Spec]) -> bool:
    """Return True for measures of what an intruder may learn."""
    return cls.family in ("risk", "attacks")
