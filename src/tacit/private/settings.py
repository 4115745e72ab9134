"""What a party's owner writes down: the agreement that all parties share, and the party's own settings.

The agreement names the run, the task and the addresses of all parties, and is the same file everywhere. The party's own file names
its data, certificate and folders; nothing of it leaves the party.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tacit.errors import InvalidParameter
from tacit.parameters import parameter_faults
from tacit.plan.files import read_document

Kind = Literal["logistic", "linear", "poisson", "multinomial", "cox", "union", "count"]


#: A level as it is written in the file: a number stands for its text.
Level = Annotated[str, BeforeValidator(lambda v: str(v) if type(v) in (int, float) else v)]


class Strict(BaseModel):
    """A mapping without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Task(Strict):
    """What is computed."""

    kind: Kind = Field(description="a model, 'union' or 'count'")
    formula: str = Field(default="", description="of a model: 'y ~ x1 + C(region)'")
    levels: Mapping[str, tuple[Level, ...]] = Field(
        default_factory=dict,
        description="the levels of every category, and the values of columns of numbers that have few",
    )
    sizes: str | None = Field(
        default=None, description="of a logistic model: the column with the number of trials"
    )
    event: str | None = Field(
        default=None,
        description="of a Cox model: the column that tells events from the end of observation",
    )
    times: tuple[float, ...] | None = Field(
        default=None, description="of a Cox model: the grid of survival times"
    )
    protocol: Literal["ring", "pairwise_masks", "shamir"] = Field(
        default="pairwise_masks", description="how sums are taken"
    )
    drop_outs: int = Field(
        default=0,
        ge=0,
        description="how many parties may go within a sum after handing in their part",
    )
    ridge: float = Field(
        default=0.0, ge=0, description="penalty on the squares of the coefficients"
    )
    firth: bool = Field(default=False, description="Firth's correction of a logistic model")
    tol: float = Field(
        default=1e-10, gt=0, le=1e-2, description="when the coefficients have settled"
    )
    max_iter: int = Field(default=25, ge=1, le=1000, description="the most rounds")
    threshold: int = Field(
        default=3,
        ge=0,
        description="the fewest records of others in a category, other than none; 0 judges nothing",
    )
    allow_two_party: bool = Field(
        default=False, description="go on with two parties, who learn each other's totals"
    )
    identifying: tuple[tuple[str, ...], ...] = Field(
        default=(),
        description="of a union: the identifying columns, one list for each way of matching",
    )
    data: tuple[str, ...] = Field(
        default=(), description="of a union: the columns that the initiator gets"
    )
    record_bytes: int = Field(
        default=64, ge=1, le=65_000, description="of a union: the size of a row"
    )
    dummies: int = Field(
        default=0, ge=0, description="of a union: how many rows of nobody a party may add at most"
    )
    group: Literal["ristretto255", "modp2048", "modp3072"] = Field(
        default="ristretto255", description="of a union: the group"
    )


class Agreement(Strict):
    """What all parties have agreed on: the same file at every party."""

    run: str = Field(
        min_length=1,
        max_length=64,
        pattern=r"^\w[\w.-]*$",
        description="the name of the run; never used twice",
    )
    task: Task = Field(description="what is computed")
    parties: Mapping[str, str] = Field(
        description="the address (host:port) of every party, the initiator's first"
    )


class PartySettings(Strict):
    """One party's own settings; paths are relative to the file."""

    name: str = Field(description="the party's name, as in the agreement and in its certificate")
    agreement: str = Field(default="agreement.yaml", description="the agreement's file")
    file: str = Field(alias="data", description="the party's data")
    authority: str = Field(description="the certificate of the consortium's authority")
    certificate: str = Field(description="the party's certificate")
    key: str = Field(description="the party's private key")
    journal: str = Field(
        default="journal", description="folder for what a run needs after a crash; confidential"
    )
    out: str = Field(
        default="result", description="folder for the result; made when it does not exist"
    )
    patience: float = Field(
        default=60.0,
        gt=0,
        description="seconds without a word after which a peer counts as missing",
    )
    dummies: int = Field(
        default=0, ge=0, description="of a union: rows of nobody that blur the sizes"
    )
    at_least: Mapping[Literal["only_mine", "only_theirs", "both"], int] = Field(
        default_factory=dict,
        description="of a union: the smallest sizes that the party is ready to reveal",
    )
    runs_with_a_peer: int = Field(
        default=1, ge=1, description="runs on the same data that a peer may take part in"
    )
    confirm: bool = Field(
        default=False,
        description="go on although a peer has had its runs, or an earlier run had other parties",
    )
    separator: str | None = Field(default=None, description="of a text file")
    encoding: str = Field(default="utf-8", description="of a text file")


#: The parts of a task that every kind has, and those that mean something for each.
ALWAYS = {"kind"}
_FIT = {
    "formula", "levels", "protocol", "drop_outs", "ridge", "tol", "max_iter", "threshold", "allow_two_party",
}  # fmt: skip
MEANT: Mapping[str, set[str]] = {
    "logistic": _FIT | {"sizes", "firth"},
    "linear": _FIT,
    "poisson": _FIT,
    "multinomial": _FIT,
    "cox": _FIT | {"event", "times"},
    "union": {"identifying", "data", "record_bytes", "group", "dummies"},
    "count": {"identifying", "group"},
}


def read_party(path: Path) -> tuple[PartySettings, Agreement]:
    """Read a party's file and the agreement that it names, or say everything that is wrong with them."""
    own = check(PartySettings, read_document(path), path.name)
    file = path.parent / own.agreement
    agreed = check(Agreement, read_document(file), file.name)
    faults = []
    if own.name not in agreed.parties:
        faults.append(
            f"the agreement names no party {own.name!r}; it has {', '.join(agreed.parties)}"
        )
    faults += [
        f"parties.{n} must be host:port (got {a!r})"
        for n, a in agreed.parties.items()
        if not is_address(a)
    ]
    if len(agreed.parties) < 2:
        faults.append("parties must have at least two entries")
    task = agreed.task
    if task.kind in ("union", "count"):
        if not task.identifying:
            faults.append("task.identifying must be given")
    elif not task.formula:
        faults.append("task.formula must be given")
    if task.kind == "count" and len(agreed.parties) != 2:
        faults.append("a count has exactly two parties")
    faults += [
        f"task.{n} means nothing for the kind {task.kind!r}; leave it out"
        for n in sorted(task.model_fields_set - ALWAYS)
        if n not in MEANT[task.kind]
    ]
    union_only = {"dummies", "at_least"} & own.model_fields_set
    if task.kind != "union" and union_only - ({"at_least"} if task.kind == "count" else set()):
        faults.append(f"{min(union_only)} means nothing for the kind {task.kind!r}; leave it out")
    if own.dummies > task.dummies and task.kind == "union":
        faults.append(
            f"dummies are more than were agreed on: task.dummies is {task.dummies} in the agreement"
        )
    if task.kind == "union" and len(agreed.parties) > 2 and own.at_least:
        faults.append("at_least is for two parties: in a ring only the second party sees overlaps")
    if task.kind == "count" and len(task.identifying) > 1:
        faults.append("a count matches in one way only: task.identifying must have one list")
    if task.kind == "cox" and (task.event is None or task.times is None):
        faults.append("task.event and task.times must be given for a Cox model")
    if faults:
        raise InvalidParameter(f"{path.name}: " + "; ".join(faults), faults)
    return own, agreed


def check(model: type[Any], document: Mapping[str, Any], name: str) -> Any:
    """Return a checked mapping, or say everything that is wrong with it."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        faults = parameter_faults(model, error)
        raise InvalidParameter(f"{name}: " + "; ".join(faults), faults) from None


def is_address(text: str) -> bool:
    """Return True for host:port."""
    host, _, port = text.rpartition(":")
    return bool(host) and port.isdigit() and 0 < int(port) < 65_536


def addresses(parties: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Return host and port of every party."""
    found = {}
    for name, text in parties.items():
        host, _, port = text.rpartition(":")
        found[name] = (host, int(port))
    return found
