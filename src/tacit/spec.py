"""Spec: one frozen, validated, serialisable description of one thing to do.

A Spec's fields are declared once, with type, bound and a one-sentence description. The plan schema,
the command line, the reference page and the common test battery are derived from them.

Two kinds act on microdata: a :class:`Method` protects (``apply``: data to data), a :class:`Measure`
looks (``measure``: data to a :class:`~tacit.result.Result`). Two act on tables in the same way: a
:class:`TableMethod` and a :class:`TableMeasure`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Action, Microdata
from tacit.data.table import Table
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, RoleMissing, SdcError
from tacit.result import Result

Role = Literal["identifiers", "keys", "sensitive", "weight", "household", "stratum", "hierarchies"]
Where = Literal["engine", "cells", "records"]


class Spec(BaseModel):
    """Base of everything that can stand in a plan."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, validate_default=False
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

    kind: str

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            faults = parameter_faults(type(self), error)
            raise InvalidParameter(f"{type(self).__name__}: " + "; ".join(faults), faults) from None

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
        for field in ("column", "columns"):
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
        if not isinstance(data, Microdata):
            return [wrong_data(self.kind, "microdata: read them with tacit.read(...)", data)]
        found: list[SdcError] = []
        missing = [c for c in self.columns_named() if c not in data.columns]
        if missing:
            found.append(ColumnNotFound(missing, list(data.columns), "the data"))
        found.extend(
            RoleMissing(
                f"{self.kind} needs {article(role)}, and the data declare none. "
                f"Declare them with tacit.read(..., {role}=...) or in the plan's roles."
            )
            for role in sorted(self.needs)
            if not has_role(data, role)
        )
        return found

    def check(self, data: Any) -> None:
        """Raise the first fault, naming all of them."""
        found = self.faults(data)
        if len(found) == 1:
            raise found[0]
        if found:
            raise InputError(f"{self.kind} cannot start: " + " ".join(str(f) for f in found))


class Method(Spec):
    """A way of protecting microdata: ``apply`` returns new data and never changes the old."""

    family: ClassVar[str] = "protect"
    #: True when the result depends on the seed.
    random: ClassVar[bool] = False
    #: The disclosure limitation techniques used, in the words of Sweeney's Figure 14.
    techniques: ClassVar[tuple[str, ...]] = ()

    def apply(
        self, data: Microdata, *, seed: int | None = None, context: Context | None = None
    ) -> Microdata:
        """Protect ``data``.

        Parameters
        ----------
        data
            The microdata to protect; they are not changed.
        seed
            Seed of the random numbers; equal seeds give equal results.
        context
            Given by a plan run instead of a seed.

        Returns
        -------
        Microdata
            The protected data. ``history[-1]`` says what was done and what is claimed; each claim
            has been recomputed on the result.
        """
        self.check(data)
        ctx = context or Context.start(seed)
        ctx.tick(self.title(), 0.0)
        begun = time.perf_counter()
        result = self._apply(data, ctx)
        claims = tuple(self._claims(data, result))
        for claim in claims:
            claim.require(result.frame, where=self.kind)
        action = Action(
            kind=self.kind,
            parameters=self.to_dict(public=True),
            techniques=self.techniques,
            details=dict(ctx.details),
            claims=claims,
            seconds=time.perf_counter() - begun,
        )
        ctx.tick(self.title(), 1.0)
        return result.with_action(action)

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        raise NotImplementedError

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        """Return what this method guarantees about ``result``."""
        del data, result
        return ()


class Measure(Spec):
    """A way of looking at microdata: ``measure`` returns a Result."""

    family: ClassVar[str] = "risk"
    #: True when the measure compares with the data before protection.
    compares: ClassVar[bool] = False
    #: True when the measure needs a population register.
    needs_register: ClassVar[bool] = False
    #: Which values are better on a risk-utility map; by default lower for risk, higher for utility.
    better: ClassVar[Literal["lower", "higher"] | None] = None

    def measure(
        self,
        data: Microdata,
        *,
        original: Microdata | None = None,
        register: Microdata | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> Result:
        """Measure ``data``, against the ``original`` or a population ``register`` where needed."""
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
        ctx = context or Context.start(seed)
        return self._measure(data, Companions(original=original, register=register), ctx)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Result:
        raise NotImplementedError


class TableSpec(Spec):
    """Base of what acts on a table."""

    def faults(self, data: Any) -> list[SdcError]:
        """Return everything that is wrong with using this on a table, before any work."""
        if not isinstance(data, Table):
            hint = "a table: build one with tacit.Table.from_microdata(...)"
            return [wrong_data(self.kind, hint, data)]
        return []


class TableMethod(TableSpec):
    """A way of judging or protecting a table: ``apply`` returns a new table."""

    family: ClassVar[str] = "tables"
    #: True when the result depends on the seed.
    random: ClassVar[bool] = False
    techniques: ClassVar[tuple[str, ...]] = ()

    def apply(
        self, table: Table, *, seed: int | None = None, context: Context | None = None
    ) -> Table:
        """Judge or protect ``table``, which is not changed.

        Parameters
        ----------
        table
            The table.
        seed
            Seed of the random numbers; equal seeds give equal results.
        context
            Given by a plan run instead of a seed.

        Returns
        -------
        Table
            The new table. ``history[-1]`` says what was done and what is claimed; each claim has been
            recomputed on the result.
        """
        self.check(table)
        ctx = context or Context.start(seed)
        ctx.tick(self.title(), 0.0)
        begun = time.perf_counter()
        result = self._apply(table, ctx)
        claims = tuple(self._claims(table, result))
        for claim in claims:
            claim.require(result, where=self.kind)
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

    def _apply(self, table: Table, ctx: Context) -> Table:
        raise NotImplementedError

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        """Return what this method guarantees about ``result``."""
        del table, result
        return ()


class TableMeasure(TableSpec):
    """A way of looking at a table: ``measure`` returns a Result."""

    family: ClassVar[str] = "attacks"
    #: True when the measure compares with the table before protection.
    compares: ClassVar[bool] = False
    better: ClassVar[Literal["lower", "higher"] | None] = None

    def measure(
        self,
        table: Table,
        *,
        original: Table | None = None,
        seed: int | None = None,
        context: Context | None = None,
    ) -> Result:
        """Measure ``table``, against the ``original`` where needed."""
        self.check(table)
        if self.compares and original is None:
            raise InputError(
                f"{self.kind} compares a protected table with the original: pass original=."
            )
        return self._measure(table, original, context or Context.start(seed))

    def _measure(self, table: Table, original: Table | None, ctx: Context) -> Result:
        raise NotImplementedError


class Companions:
    """The other data that a measure may look at."""

    def __init__(
        self, original: Microdata | None = None, register: Microdata | None = None
    ) -> None:
        self._original = original
        self._register = register

    @property
    def original(self) -> Microdata:
        """Return the data before protection."""
        assert self._original is not None, "declare compares = True"
        return self._original

    @property
    def register(self) -> Microdata:
        """Return the population register."""
        assert self._register is not None, "declare needs_register = True"
        return self._register

    @property
    def has_original(self) -> bool:
        """Return True when the data before protection are at hand."""
        return self._original is not None

    @property
    def has_register(self) -> bool:
        """Return True when a population register is at hand."""
        return self._register is not None


def wrong_data(kind: str, hint: str, data: Any) -> InputError:
    """Return the error for data of a kind on which a Spec cannot act."""
    return InputError(f"{kind} works on {hint} (got {type(data).__name__}).")


def has_role(data: Microdata, role: str) -> bool:
    """Return True when the data declare at least one column of that role."""
    return bool(data.hierarchies if role == "hierarchies" else data.with_role(role))


def article(role: str) -> str:
    """Return a role with its article."""
    return (
        role if role.endswith("s") else f"a {role}" if role != "sensitive" else "sensitive columns"
    )


def snake(name: str) -> str:
    """Return a class name as a kind: ``KAnonymity`` becomes ``k_anonymity``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def parameter_faults(cls: type[BaseModel], error: ValidationError) -> list[str]:
    """Return one clause a fault: ``k must be at least 2 (got 0)``."""
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
    return text if not plain or top in secrets or not path else f"{text} (got {got!r})"
