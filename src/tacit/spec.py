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
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    Union,
    cast,
    get_args,
    get_origin,
)

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from typing_extensions import TypeVar

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.base import Action, Data
from tacit.data.checks.effect import (
    FEWEST,
    JUDGED,
    NOT_JUDGED,
    NOTHING,
    WEAK,
    is_unchanged,
    perturbs,
    weak_columns,
)
from tacit.data.copies import split_copies
from tacit.data.microdata import Microdata
from tacit.data.sources import keep_sources, with_sources
from tacit.data.together import (
    SUPPRESSES,
    Gone,
    Suppressed,
    Ways,
    carry_linked,
    count_suppressed,
    open_ends,
    suppress_together,
)
from tacit.data.values import extreme_columns
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    SdcError,
    WeakProtection,
    has_lone_surrogate,
    is_out_of_disk,
    is_out_of_memory,
    make_shortage_error,
)
from tacit.numbers import format_number
from tacit.result import Result
from tacit.treatment import (
    HOUSEHOLD,
    LINKS,
    STRATUM,
    WEIGHT,
    OnHousehold,
    OnLinks,
    OnStratum,
    OnWeight,
)

Role = Literal[
    "identifiers", "keys", "sensitive", "weight", "household", "stratum", "links", "hierarchies"
]
Where = Literal["engine", "cells", "records"]
#: Said of linked tables when nothing tells whether two of their dimensions are one variable.
APART = (
    "{pair} are taken as different variables, as no table has both; if one classifies the other, cells may follow "
    "from the tables together. Give data= or variables= when the tables are linked."
)
#: The kind of data that a Spec acts on; records unless it says otherwise.
D = TypeVar("D", bound=Data, default=Microdata)


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
    #: Parameters with which the reference page shows it and the common tests run it (on a small file
    #: with the columns id, sex, age, zip, job, income and disease); only what has no default.
    example: ClassVar[Mapping[str, Any]] = {}
    #: What this does with the roles of records, in the words of :mod:`tacit.treatment`; None for tables.
    #: Parameters that name a file where they hold text; a plan finds it from its own folder.
    file_fields: ClassVar[tuple[str, ...]] = ()
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

    @classmethod
    def data_types(cls) -> tuple[type[Data], ...]:
        """Return the types of data that this can act on: the D of ``Method[D]``, each part of a union."""
        for base in cls.__mro__:
            arguments = base.__dict__.get("__pydantic_generic_metadata__", {}).get("args", ())
            if arguments and not isinstance(arguments[0], TypeVar):
                return tuple(get_args(arguments[0])) or (cast("type[Data]", arguments[0]),)
        return (Microdata,)

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
        return frozenset(
            name
            for name, info in cls.model_fields.items()
            if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("secret")
        )

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the parameters as plain data, defaults left out; ``public`` leaves out secrets."""
        skip = set(self.secret_fields()) if public else set()
        values = self.model_dump(mode="json", exclude_defaults=True, exclude=skip, by_alias=True)
        return {"kind": self.kind, **{k: v for k, v in values.items() if k != "kind"}}

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the parameters name, so that they can be checked before work."""
        names: list[str] = []
        for field in ("column", "columns", "sensitive"):
            value = getattr(self, field, None)
            if isinstance(value, str):
                names.append(value)
            elif isinstance(value, Iterable):
                names.extend(value)
        return tuple(names)

    def faults(self, data: Any) -> list[SdcError]:
        """Return everything that is wrong with using this on ``data``, before any work.

        Subclasses extend the list for what only they know.
        """
        found = self.type_fault(data)
        return [found] if found else cast("Data", data).faults_for(self)

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
    #: True when the result depends on the seed.
    random: ClassVar[bool] = False
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

    @property
    def asks_register(self) -> bool:
        """Return True when the work needs a population register with these parameters."""
        return False

    @property
    def cuts_links(self) -> bool:
        """Return True when no record can be followed back to the original with these parameters."""
        return False

    @property
    def uses_chance(self) -> bool:
        """Return True when the result depends on the seed with the parameters as they are."""
        return self.random

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
        if isinstance(data, Microdata) and data.copies and not self.takes_copies:
            raise InputError(
                f"{self.kind}: the data hold synthetic copies, numbered in {data.copies!r}, and it would take them for records of one file. "
                "Apply it before the synthesis, or make one copy."
            )
        ctx = context or Context.start(seed)
        if register is not None:
            self.check_type(register, " with register=")
            ctx.register = register
        ctx.tick(self.title(), 0.0)
        begun = time.perf_counter()
        with explain_limits(self.kind, data):
            result, claims = self._protect(data, ctx)
            for claim in claims:
                claim.require(result.claim_view(), where=self.kind)
            result = self._judge_effect(data, result, ctx)
        action = Action(
            kind=self.kind,
            parameters=self.to_dict(public=True),
            techniques=self.techniques,
            details=dict(ctx.details),
            claims=claims,
            seconds=time.perf_counter() - begun,
            private=self.to_dict(),
        )
        ctx.tick(self.title(), 1.0)
        return result.with_action(action)

    def _protect(self, data: D, ctx: Context) -> tuple[D, tuple[Claim, ...]]:
        """Do the work, with households and linked columns looked after before and after it."""
        if not isinstance(data, Microdata):
            other = self._apply(data, ctx)
            claims = tuple(self._claims_with(data, other, ctx))
            apart = list_apart(data) if claims else []
            for pair in apart:
                warnings.warn(
                    f"{self.kind}: {APART.format(pair=pair)}", WeakProtection, stacklevel=3
                )
            known = tuple(
                f"{pair} are different variables: none classifies the other" for pair in apart
            )
            return other, tuple(replace(c, assumptions=(*c.assumptions, *known)) for c in claims)
        ways = self._ways(data, ctx.elsewhere)
        for sentence in open_ends(data, ways):
            warnings.warn(f"{self.kind}: {sentence}", WeakProtection, stacklevel=3)
        if data.links:
            ctx.note(changed_columns=list(ways.changed))
        result: Any = self._apply(cast("Any", data), ctx)
        self._keep_weights_numbers(result)
        done = Suppressed()
        if ways.links in SUPPRESSES and (data.links or data.household is not None):
            result, done = self._suppress_together(data, result, ways.changed, ctx)
        elif ways.links == "carried" and data.links:
            result, followers = carry_linked(data, result, ways)
            if followers:
                ctx.note(carried_along=followers)
        if not ctx.details.get("links_lost"):
            result = with_sources(keep_sources(self.kind, data, result), self.made_from(data))
        claims = (
            *self._claims_with(cast("Any", data), result, ctx),
            *suppression_claims(data, done),
        )
        known = tuple(role_assumptions(self, data, ways))
        return result, tuple(replace(c, assumptions=(*c.assumptions, *known)) for c in claims)

    def _judge_effect(self, data: D, result: D, ctx: Context) -> D:
        """Refuse a step that was to change values and changed none; warn of one that hardly changed any."""
        both = isinstance(data, Microdata) and isinstance(result, Microdata)
        if not both or self.prepares or not perturbs(self.techniques):
            return result
        before, after = cast("Microdata", data), cast("Microdata", result).materialise()
        lost = ctx.details.get("links_lost") or after.copies
        if lost or len(before) < (FEWEST if self.uses_chance else 1):
            return cast("D", after)
        targets = tuple(dict.fromkeys(self.targets(before)))
        if is_unchanged(before, after, targets):
            what = ", ".join(map(repr, targets)) or "the records"
            raise DisclosureRefused(NOTHING.format(kind=self.kind, what=what))
        judged = JUDGED.intersection(self.techniques) and not NOT_JUDGED.intersection(
            self.techniques
        )
        weak = list(weak_columns(before, after, targets, self.techniques)) if judged else []
        if weak and not (self.moves_together and len(weak) < len(targets)):
            sentence = WEAK.format(kind=self.kind, what=", ".join(map(repr, weak)))
            ctx.note(weak=sentence)
            warnings.warn(sentence, WeakProtection, stacklevel=4)
        return cast("D", after)

    def _keep_weights_numbers(self, result: Microdata) -> None:
        """Refuse a result whose weights are no numbers any more: nothing after it could add them up."""
        weight = result.weight
        schema = result.frame.collect_schema()
        if weight is not None and weight in schema and not schema[weight].is_numeric():
            raise InputError(
                f"{self.kind}: the weights in column {weight!r} would not be numbers any more. Leave the column out of "
                "what is replaced, drop it, or do not declare it as the weight."
            )

    def _suppress_together(
        self, data: Microdata, result: Any, changed: tuple[str, ...], ctx: Context
    ) -> tuple[Any, Suppressed]:
        """Suppress what would still stand elsewhere; do the work again where that undid a claim.

        Each round has more missing values than the one before, so that there is a last.
        """
        missing = -1
        while True:
            result, done = suppress_together(data, result, changed)
            if not done.columns:
                return result, done
            gone = count_suppressed(data, result)
            claims = self._claims_with(cast("Any", data), result, ctx)
            if gone.cells == missing or all(c.holds(result.claim_view()) for c in claims):
                break
            missing = gone.cells
            ctx.tick("suppressing again, with households and linked columns", None)
            # The mark in the history tells that values may have been generalised already.
            marked = replace(result, history=(*data.history, Action(self.kind, {})))
            result = replace(cast("Any", self._apply(marked, ctx)), history=data.history)
        self._tell_suppressed(gone, done, ctx)
        return result, done

    def _tell_suppressed(self, gone: Gone, done: Suppressed, ctx: Context) -> None:
        """Correct what the method noted about its own cells by what went with them."""
        noted = ctx.details.get("suppressed", {})
        more = gone.cells > sum(noted.values()) if isinstance(noted, Mapping) else True
        told = {"suppressed": gone.columns, "cells": gone.cells, "records": gone.records}
        # The search was the best for its own cells; of these cells nobody has shown it.
        unproven = dict.fromkeys(("lightest_for_each_record", "proven"), False) if more else {}
        ctx.note(
            suppressed_together=list(done.columns),
            **{n: value for n, value in {**told, **unproven}.items() if n in ctx.details},
        )

    def cautions(self, data: Any, elsewhere: frozenset[str] = frozenset()) -> list[str]:
        """Return what this leaves open on households and linked columns, before any work.

        ``elsewhere`` names the columns that other steps change.
        """
        if not isinstance(data, Microdata):
            return []
        return open_ends(data, self._ways(data, elsewhere))

    def _ways(self, data: Microdata, elsewhere: frozenset[str]) -> Ways:
        """Return how households and links are treated; what is not said is taken as not treated."""
        before = {c for a in data.history for c in a.details.get("changed_columns", ())}
        return Ways(
            self.kind,
            self.treats_household(data),
            self.treats_links(data),
            tuple(dict.fromkeys(self.targets(data))),
            elsewhere | before,
            draws=self.uses_chance,
        )

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return what is done with households with the parameters as they are."""
        del data
        return self.on_household or "apart"

    def treats_links(self, data: Microdata) -> OnLinks:
        """Return what is done with linked columns with the parameters as they are."""
        del data
        return self.on_links or "warned"

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns whose values this may change: its ``columns``, or else the keys it needs."""
        named = Spec.columns_named(self)
        return named or (data.keys if "keys" in self.needs else ())

    def adds(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that the result has and the data have not; later steps of a plan may name them."""
        return tuple(c for c in self.made_from(data) if c not in data.columns)

    def removes(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that the data have and the result has not; later steps of a plan find them gone."""
        del data
        return ()

    def made_from(self, data: Microdata) -> Mapping[str, tuple[str, ...]]:
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


def list_apart(data: Data) -> list[str]:
    """Return pairs of dimensions of linked tables that are taken as different variables, though nothing says so."""
    return list(getattr(data, "extra", {}).get("apart", ()))


def suppression_claims(data: Microdata, done: Suppressed) -> Iterable[Claim]:
    """Yield the claim about what was suppressed together, if anything was."""
    if done.columns:
        yield Claim(
            "suppressed-together",
            {
                **({} if data.household is None else {"household": data.household}),
                "constant": list(done.constant),
                "links": [list(group) for group in done.links],
                "counting": list(done.counting),
            },
            "households and linked columns",
            done.columns,
            ("Columns that are not declared as linked do not tell the missing values.",),
        )


def role_assumptions(spec: Method[Any], data: Microdata, ways: Ways) -> Iterator[str]:
    """Yield how the declared roles were treated: what a claim rests on besides its own assumptions."""
    if data.household is not None:
        yield f"Household: {HOUSEHOLD[ways.household]}."
    if data.weight is not None and spec.on_weight is not None:
        yield f"Weight: {WEIGHT[spec.on_weight]}."
    if data.stratum is not None and spec.on_stratum is not None:
        yield f"Stratum: {STRATUM[spec.on_stratum]}."
    if data.links:
        yield f"Linked columns: {LINKS[ways.links]}."


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

    def asked(self, *names: str) -> bool:
        """Return True when one of some parameters was given; a default that nobody asked for is no promise."""
        return bool(self.model_fields_set.intersection(names))

    def measure(
        self,
        data: D,
        *,
        original: D | None = None,
        register: D | None = None,
        control: D | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> Result:
        """Measure ``data``, against the ``original``, a population ``register`` or ``control`` records where needed."""
        self.check(data)
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
        if control is not None and not self.takes_control:
            control = None
        given = {"original": original, "register": register, "control": control}
        for what, companion in given.items():
            if companion is not None:
                self.check_type(companion, f" with {what}=")
        ctx = context or Context.start(seed)
        other = Companions(original=original, register=register, control=control)
        with explain_limits(self.kind, data):
            if isinstance(data, Microdata) and data.copies and self.on_copies == "each":
                result = self._measure_copies(data, cast("Any", other), ctx)
            else:
                result = self._measure(data, other, ctx)
        return result if self.compares or other.looked_at else replace(result, alone=True)

    def _measure_copies(self, data: Microdata, other: Any, ctx: Context) -> Result:
        """Measure every copy by itself; return the least favourable result, with the range of all.

        Taken together, the copies of one record would hide each other.
        """
        found = [self._measure(cast("Any", copy), other, ctx) for copy in split_copies(data)]
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
    extreme = extreme_columns(data)
    if extreme:
        raise InputError(
            f"{kind} cannot work with the numbers in {', '.join(map(repr, extreme[:5]))}: some are infinite, or so "
            "large or small that their squares leave the range of a computer's numbers. Rescale the column, or "
            "make such values missing."
        ) from None


def is_risk(cls: type[Spec]) -> bool:
    """Return True for measures of what an intruder may learn."""
    return cls.family in ("risk", "attacks")


def wants_number(cls: type[Spec], name: str) -> bool:
    """Return True for a field that is a number, or a number or nothing."""
    kinds = simple_kinds(cls.model_fields[name].annotation) if name in cls.model_fields else set()
    return bool(kinds & {int, float}) and bool not in kinds


def simple_kinds(annotation: Any) -> set[Any]:
    """Return the types behind ``Annotated`` and unions."""
    if get_origin(annotation) is Annotated:
        return simple_kinds(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return {k for a in get_args(annotation) for k in simple_kinds(a)}
    return {annotation}


def parameter_faults(cls: type[BaseModel], error: ValidationError) -> list[str]:
    """Return one clause per fault: ``k must be at least 2 (got 0)``."""
    secrets = cls.secret_fields() if issubclass(cls, Spec) else frozenset()
    return [fault_clause(fault, cls, secrets) for fault in error.errors(include_url=False)]


def fault_clause(fault: Mapping[str, Any], cls: type[BaseModel], secrets: frozenset[str]) -> str:
    """Turn one pydantic fault into a clause in our words."""
    from tacit.errors import near_match

    path = ".".join(str(p) for p in fault["loc"] if not str(p).startswith("function-"))
    context = fault.get("ctx", {})
    kind = fault["type"]
    if kind == "missing":
        return f"{path} must be given"
    if kind == "extra_forbidden":
        hint = near_match(path, [n for n in cls.model_fields if n != "kind"])
        known = ", ".join(n for n in cls.model_fields if n != "kind") or "none"
        return f"there is no parameter {path!r}. {hint or f'Parameters: {known}'}".rstrip()
    wording = {
        "greater_than_equal": "must be at least {ge}",
        "greater_than": "must be greater than {gt}",
        "less_than_equal": "must be at most {le}",
        "less_than": "must be less than {lt}",
        "literal_error": "must be one of {expected}",
        "int_parsing": "must be a whole number",
        "int_type": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_parsing": "must be a number",
        "finite_number": "must be a finite number",
        "int_parsing_size": "must be a whole number of fewer digits",
        "float_type": "must be a number",
        "string_type": "must be text",
        "bool_parsing": "must be true or false",
        "tuple_type": "must be a list",
        "list_type": "must be a list",
        "dict_type": "must be a mapping",
        "too_short": "must have at least {min_length} entries",
        "string_too_short": "must not be empty",
    }
    if kind in wording:
        text = f"{path} {wording[kind].format(**context)}"
    else:
        text = f"{path} {fault['msg'][:1].lower()}{fault['msg'][1:]}".strip()
        text = text.replace("value error, ", "")
    got = fault.get("input")
    plain = isinstance(got, str | int | float | bool) or got is None
    top = str(fault["loc"][0]) if fault["loc"] else ""
    return text if not plain or top in secrets or not path else f"{text} (got {shown(got)})"


def shown(got: Any) -> str:
    """Return what was given, cut where it would fill the screen."""
    try:
        text = repr(got)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."
