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


def rules_to_plain(rules: Any) -> Any:
    """Return hierarchies by column as they stand in a plan."""
    if isinstance(rules, Mapping):
        return {c: r.to_dict() if hasattr(r, "to_dict") else r for c, r in rules.items()}
    return None if rules is None else list(rules)


LIST_SCHEMA: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
NAMES_SCHEMA: dict[str, Any] = {"anyOf": [{"type": "string"}, LIST_SCHEMA]}
RULES_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [{"type": "string"}, {"type": "null"}, {"type": "object", "required": ["kind"]}]
    },
}
KEYS_SCHEMA: dict[str, Any] = {
    "anyOf": [*NAMES_SCHEMA["anyOf"], {"type": "object", "additionalProperties": LIST_SCHEMA}]
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
    WithJsonSchema({"type": "array", "items": NAMES_SCHEMA}),
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


def option(description: str, default: Any = None, **bounds: Any) -> Any:
    """Return an option of a section that may be left out, with what it says."""
    return Field(default=default, description=description, **bounds)


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

    identifiers: Names = option("columns that name people or firms; they never leave", ())
    keys: KeyNames = option("key columns, or several named quasi-identifiers", ())
    sensitive: Names = option("columns whose value must not become known", ())
    weight: ColumnName | None = option("column with the sampling weight")
    household: ColumnName | None = option("column with the household")
    stratum: ColumnName | None = option("column with the stratum")
    copy_number: ColumnName | None = option("column that numbers the copies of synthetic data")
    links: LinkGroups = option(
        "groups of columns that tell each other, such as [[region, nuts]]; with the household column: those that count its members",
        (),
    )


class Source(Options, Section):
    """A file to read: its path, and options for reading it."""

    main: ClassVar[str] = "path"

    path: str = Field(
        min_length=1, description="the file, relative to the plan, or the address of a database"
    )

    text: ColumnName | None = option(
        "texts: the column that holds them; each record is then a document"
    )
    name: ColumnName | None = option("texts: the column that names the documents")
    record: str | tuple[str, ...] | None = option(
        "texts: what is known of each person and searched in the text: a file with a column document, or columns of the source"
    )
    gold: str | Literal[True] | None = option(
        "texts: spans that people have marked: a JSON file, a folder of .ann files, or true for those beside the texts"
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

    roles: Roles = option("roles of the register's columns", Roles())


class Control(Population):
    """Records of people whom no step has seen: drawn as the source was, and left out of it."""


class Tabulate(Section):
    """The table to build from the records, or how to read a ready one."""

    dimensions: Dimensions = option("spanning variables: {column: hierarchy}, or a list")
    value: str | None = option("column to add up; without one records are counted")
    holding: str | None = option("column that names the holding of a record")
    unit: str | None = option("column that names the respondent of a record")
    weight: str | None = option("column with sampling weights")
    request: str | None = option("column that says who asked for protection")
    waiver: str | None = option("column that says who waived protection")
    cost: str | None = option("column added up to the cost of hiding a cell")
    shadow: str | None = option("column whose contributions the rules judge")
    top: int | None = option("how many of the largest contributions are kept", ge=1)
    total: str | None = option("the code of totals")
    lower: float | str | None = option("what outsiders know as the least value of a cell")
    upper: float | str | None = option("what outsiders know as the largest value of a cell")
    missing: str | None = option("what to do with records whose code is missing")
    ready: bool = option("the source is a table and not records", False)
    count: str | None = option("ready: column with the number of contributors")
    status: str | None = option("ready: column with the status of a cell")
    metadata: str | None = option("ready: the .rda file that describes a .tab table")
    totals: Any = option("ready: whether totals are in the file")
    separator: str | None = option("ready: separator of columns")

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

    folder: str = option("folder of the release", "release", min_length=1)
    format: str = option("format of the released data; by default csv", "")
    order: Literal["drawn", "kept"] = option(
        "order of released records, numbers of households included: drawn, or kept as in the source (also written keep)",
        "drawn",
    )
    tells: Names = option(
        "columns whose hidden values other released columns may tell: noted in the statement, not refused",
        (),
    )
    formulas: Literal["keep", "escape"] = option(
        "text in released CSV that a spreadsheet would run as a formula: kept as it is, or written behind an apostrophe",
        "keep",
    )
    allowed: Names = option(
        "columns that may be released although they have no role and look like direct identifiers",
        (),
    )
    reports: tuple[Literal["pdf", "docx"], ...] = option(
        "further formats of the reports, beside HTML: pdf, docx", ()
    )

    @field_validator("order", mode="before")
    @classmethod
    def _keep_is_kept(cls, order: Any) -> Any:
        return "kept" if order == "keep" else order


Pooling = Literal["max", "mean", "min"]


class MapSpec(Section):
    """A risk-utility map: candidates to compare (after the steps), measures and limits."""

    candidates: Any = option("by name: a step with lists of values, or a list of steps")
    risk: Any = option("the measure of risk, or several")
    utility: Any = option("the measure of utility, or several")
    replicates: int = option("runs of every candidate that depends on the seed", 1, ge=1)
    max_risk: float | None = option("cap on risk", ge=0)
    min_utility: float | None = option("floor of utility")
    workers: int | None = option("number of processes", ge=1)
    risk_pooling: Pooling = option("how several risks make one number", "max")
    utility_pooling: Pooling = option("how several utilities make one number", "mean")
    common_random_numbers: bool = option("same seed for every candidate of a replicate", True)
    confidence: float = option("level of the intervals", 0.95, gt=0, lt=1)
    log_risk: bool = option("draw risk on a logarithmic axis", False)
    risk_label: str = option("words for the axis of risk", "")
    utility_label: str = option("words for the axis of utility", "")
    title: str = option("heading of the map", "")

    def options(self) -> dict[str, Any]:
        """Return what was said besides candidates and measures."""
        return {k: v for k, v in self.given().items() if k not in ("candidates", "risk", "utility")}


def public_path(path: str) -> str:
    """Return a path without its folders; of an address only what kind of database it is."""
    if "://" in path:
        return path.split("://", 1)[0] + "://"
    return path.replace("\\", "/").rsplit("/", 1)[-1]
