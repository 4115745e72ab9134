"""The sections of a plan: typed models, declared once for files, faults, JSON schema and command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    field_validator,
)

from tacit.errors import InvalidParameter
from tacit.fields import ColumnName, name_as_text
from tacit.io.options import Options
from tacit.parameters import parameter_faults


def as_list(value: Any) -> Any:
    """Return a single name as a list of one; a number is the name of a column."""
    if isinstance(value, list | tuple):
        return tuple(name_as_text(v) for v in value)
    if isinstance(value, Mapping):
        return {name_as_text(k): as_list(v) for k, v in value.items()}
    name = name_as_text(value)
    return (name,) if isinstance(name, str) else value


def rule_to_plain(rule: Any) -> Any:
    """Return a hierarchy as it stands in a plan."""
    return rule.to_dict() if hasattr(rule, "to_dict") else rule


def rules_to_plain(rules: Any) -> Any:
    """Return hierarchies by column as they stand in a plan."""
    if isinstance(rules, Mapping):
        return {c: rule_to_plain(r) for c, r in rules.items()}
    return None if rules is None else list(rules)


NAMES_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
}
RULES_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [{"type": "string"}, {"type": "null"}, {"type": "object", "required": ["kind"]}]
    },
}
KEYS_SCHEMA: dict[str, Any] = {
    "anyOf": [
        *NAMES_SCHEMA["anyOf"],
        {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    ]
}

#: One column or several.
Names = Annotated[tuple[str, ...], BeforeValidator(as_list), WithJsonSchema(NAMES_SCHEMA)]
#: Key columns, or several named quasi-identifiers.
KeyNames = Annotated[
    dict[str, tuple[str, ...]] | tuple[str, ...],
    BeforeValidator(as_list),
    WithJsonSchema(KEYS_SCHEMA),
]


def as_groups(value: Any) -> Any:
    """Return a plain list of names as one group."""
    one = isinstance(value, list | tuple) and value and all(isinstance(v, str) for v in value)
    return (tuple(value),) if one else value


#: Groups of linked columns.
LinkGroups = Annotated[
    tuple[tuple[str, ...], ...],
    BeforeValidator(as_groups),
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
            },
        }
    ),
]
#: How columns generalise: a rule, a hierarchy or the path of a file, by column.
Rules = Annotated[
    Any, PlainSerializer(rules_to_plain, return_type=Any), WithJsonSchema(RULES_SCHEMA)
]
#: The dimensions of a table: hierarchies by column, or a list of columns.
Dimensions = Annotated[
    Any,
    PlainSerializer(rules_to_plain, return_type=Any),
    WithJsonSchema({"anyOf": [NAMES_SCHEMA, RULES_SCHEMA]}),
]


def name_options(value: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping with names as text, in parts of it too: YAML reads some names as numbers."""
    return {
        str(k): {str(n): part for n, part in v.items()} if isinstance(v, Mapping) else v
        for k, v in value.items()
    }


class Section(BaseModel):
    """A part of a plan: frozen, and no option that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: The option that a bare string gives.
    main: ClassVar[str] = ""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            faults = [
                f.replace("there is no parameter", "there is no option")
                for f in parameter_faults(type(self), error)
            ]
            raise InvalidParameter("; ".join(faults), faults) from None

    @classmethod
    def of(cls, value: Any) -> Any:
        """Return a section from a string or a mapping; anything else is a fault."""
        if isinstance(value, cls):
            return value
        if cls.main and isinstance(value, str):
            return cls(**{cls.main: value})
        if isinstance(value, Mapping):
            return cls(**name_options(value))
        example = f"{{{next(iter(cls.model_fields))}: ...}}"
        raise InvalidParameter(f"it must be a mapping such as {example}", ["it must be a mapping"])

    def given(self) -> dict[str, Any]:
        """Return what was said, as plain data, defaults left out."""
        return self.model_dump(exclude_defaults=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the section as a plan file holds it."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Roles(Section):
    """What the columns are."""

    identifiers: Names = Field(
        default=(), description="columns that name people or firms; they never leave"
    )
    keys: KeyNames = Field(
        default=(), description="key columns, or several named quasi-identifiers"
    )
    sensitive: Names = Field(default=(), description="columns whose value must not become known")
    weight: ColumnName | None = Field(default=None, description="column with the sampling weight")
    household: ColumnName | None = Field(default=None, description="column with the household")
    stratum: ColumnName | None = Field(default=None, description="column with the stratum")
    copy_number: ColumnName | None = Field(
        default=None, description="column that numbers the copies of synthetic data"
    )
    links: LinkGroups = Field(
        default=(),
        description="groups of columns that tell each other, such as [[region, nuts]]; with the household column: those that count its members",
    )


class Source(Options, Section):
    """A file to read: its path, and options for reading it."""

    main: ClassVar[str] = "path"

    path: str = Field(
        min_length=1, description="the file, relative to the plan, or the address of a database"
    )

    text: ColumnName | None = Field(
        default=None,
        description="texts: the column that holds them; each record is then a document",
    )
    name: ColumnName | None = Field(
        default=None, description="texts: the column that names the documents"
    )
    record: str | tuple[str, ...] | None = Field(
        default=None,
        description="texts: what is known of each person and searched in the text: a file with a column document, or columns of the source",
    )
    gold: str | Literal[True] | None = Field(
        default=None,
        description="texts: spans that people have marked: a JSON file, a folder of .ann files, or true for those beside the texts",
    )

    def options(self) -> dict[str, Any]:
        """Return the options for reading that were given."""
        return {k: v for k, v in self.given().items() if k in Options.model_fields}

    def text_options(self) -> dict[str, Any]:
        """Return the options for reading texts that were given."""
        return {k: v for k, v in self.given().items() if k in ("text", "name", "record", "gold")}

    def to_public(self) -> dict[str, Any]:
        """Return the section without folders, passwords, queries and what was known of people."""
        inside = ("query", "record", "gold")
        shown = {k: v for k, v in self.to_dict().items() if k not in inside}
        for name in ("path", "metadata"):
            if shown.get(name):
                shown[name] = public_path(str(shown[name]))
        return shown


class Population(Source):
    """A population register with the same keys, for measures and models that need one."""

    roles: Roles = Field(default=Roles(), description="roles of the register's columns")


class Control(Population):
    """Records of people whom no step has seen: drawn as the source was, and left out of it."""


class Tabulate(Section):
    """The table to build from the records, or how to read a ready one."""

    dimensions: Dimensions = Field(
        default=None, description="spanning variables: {column: hierarchy}, or a list"
    )
    value: str | None = Field(
        default=None, description="column to add up; without one records are counted"
    )
    holding: str | None = Field(
        default=None, description="column that names the holding of a record"
    )
    unit: str | None = Field(
        default=None, description="column that names the respondent of a record"
    )
    weight: str | None = Field(default=None, description="column with sampling weights")
    request: str | None = Field(
        default=None, description="column that says who asked for protection"
    )
    waiver: str | None = Field(default=None, description="column that says who waived protection")
    cost: str | None = Field(
        default=None, description="column added up to the cost of hiding a cell"
    )
    shadow: str | None = Field(
        default=None, description="column whose contributions the rules judge"
    )
    top: int | None = Field(
        default=None, ge=1, description="how many of the largest contributions are kept"
    )
    total: str | None = Field(default=None, description="the code of totals")
    lower: float | str | None = Field(
        default=None, description="what outsiders know as the least value of a cell"
    )
    upper: float | str | None = Field(
        default=None, description="what outsiders know as the largest value of a cell"
    )
    missing: str | None = Field(
        default=None, description="what to do with records whose code is missing"
    )
    ready: bool = Field(default=False, description="the source is a table and not records")
    count: str | None = Field(
        default=None, description="ready: column with the number of contributors"
    )
    status: str | None = Field(default=None, description="ready: column with the status of a cell")
    metadata: str | None = Field(
        default=None, description="ready: the .rda file that describes a .tab table"
    )
    totals: Any = Field(default=None, description="ready: whether totals are in the file")
    separator: str | None = Field(default=None, description="ready: separator of columns")

    @field_validator("dimensions")
    @classmethod
    def _dimensions(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {str(name_as_text(c)): rule for c, rule in value.items()}
        names = as_list(value)
        if value is not None and not (
            isinstance(names, tuple) and all(isinstance(n, str) for n in names)
        ):
            raise ValueError("must be {column: hierarchy}, or a list of columns")
        return names

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "value", "holding", "unit", "weight", "request", "waiver", "cost", "shadow",
    )  # fmt: skip
    BUILDING: ClassVar[tuple[str, ...]] = (*COLUMNS, "top", "total", "lower", "upper", "missing")

    def columns_named(self) -> list[str]:
        """Return every column that must be in the records."""
        return [*self.dimensions, *(c for n in self.COLUMNS if (c := getattr(self, n)))]

    def building(self) -> dict[str, Any]:
        """Return the options of a tabulation."""
        return {k: v for k, v in self.given().items() if k in self.BUILDING}

    def reading(self) -> dict[str, Any]:
        """Return the options of reading a ready table."""
        return {k: v for k, v in self.given().items() if k not in ("ready", "dimensions")}


class Output(Section):
    """Where the release goes and in which format."""

    main: ClassVar[str] = "folder"

    folder: str = Field(default="release", min_length=1, description="folder of the release")
    format: str = Field(default="", description="format of the released data; by default csv")
    order: Literal["drawn", "kept"] = Field(
        default="drawn",
        description="order of released records, numbers of households included: drawn, or kept as in the source (also written keep)",
    )
    tells: Names = Field(
        default=(),
        description="columns whose hidden values other released columns may tell: noted in the statement, not refused",
    )
    formulas: Literal["keep", "escape"] = Field(
        default="keep",
        description="text in released CSV that a spreadsheet would run as a formula: kept as it is, or written behind an apostrophe",
    )
    allowed: Names = Field(
        default=(),
        description="columns that may be released although they have no role and look like direct identifiers",
    )
    reports: tuple[Literal["pdf", "docx"], ...] = Field(
        default=(), description="further formats of the reports, beside HTML: pdf, docx"
    )

    @field_validator("order", mode="before")
    @classmethod
    def _keep_is_kept(cls, order: Any) -> Any:
        return "kept" if order == "keep" else order


Pooling = Literal["max", "mean", "min"]


class MapSpec(Section):
    """A risk-utility map: candidates to compare (after the steps), measures and limits."""

    candidates: Any = Field(
        default=None, description="by name: a step with lists of values, or a list of steps"
    )
    risk: Any = Field(default=None, description="the measure of risk, or several")
    utility: Any = Field(default=None, description="the measure of utility, or several")
    replicates: int = Field(
        default=1, ge=1, description="runs of every candidate that depends on the seed"
    )
    max_risk: float | None = Field(default=None, ge=0, description="cap on risk")
    min_utility: float | None = Field(default=None, description="floor of utility")
    workers: int | None = Field(default=None, ge=1, description="number of processes")
    risk_pooling: Pooling = Field(default="max", description="how several risks make one number")
    utility_pooling: Pooling = Field(
        default="mean", description="how several utilities make one number"
    )
    common_random_numbers: bool = Field(
        default=True, description="same seed for every candidate of a replicate"
    )
    confidence: float = Field(default=0.95, gt=0, lt=1, description="level of the intervals")
    log_risk: bool = Field(default=False, description="draw risk on a logarithmic axis")
    risk_label: str = Field(default="", description="words for the axis of risk")
    utility_label: str = Field(default="", description="words for the axis of utility")
    title: str = Field(default="", description="heading of the map")

    def options(self) -> dict[str, Any]:
        """Return what was said besides candidates and measures."""
        return {k: v for k, v in self.given().items() if k not in ("candidates", "risk", "utility")}


def public_path(path: str) -> str:
    """Return a path without its folders; of an address only what kind of database it is."""
    if "://" in path:
        return path.split("://", 1)[0] + "://"
    return path.replace("\\", "/").rsplit("/", 1)[-1]
