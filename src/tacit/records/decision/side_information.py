"""What DecisionRisk and MinRisk share: the attacker's dictionaries, and the sensitivity of what is shown."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import AllowInfNan, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from tacit.arrays import Floats
from tacit.data.hierarchy import Hierarchy
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.errors import ColumnNotFound, InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, Secret
from tacit.records.decision.dictionaries import (
    Columns,
    Given,
    code_dictionary,
    code_values,
    learn_recoding,
    read_dictionary,
)
from tacit.records.decision.sensitivity import (
    LARGEST_EXPONENT,
    OWN_SENSITIVITIES,
    Codes,
    Dictionary,
    Sensitivity,
    Shape,
)
from tacit.spec import Spec

#: The forms of the paper.
FORMS = ("phi1", "phi2", "phi3", "phi4", "phi5", "constant")
#: Those that are no sums of weights.
SHAPES: Mapping[str, Shape] = {"phi5": "product", "constant": "constant"}
#: Weights of a prior sum to 1 this nearly.
ONE = 1e-9


def read_infinite(value: Any) -> Any:
    """Return the number for the word under which files hold an infinite weight."""
    return math.inf if value in ("inf", "infinite") else value


#: A weight: a number from 0 up, or infinite.
Weight = Annotated[float, AllowInfNan(True), BeforeValidator(read_infinite)]


class Interaction(BaseModel):
    """Columns that weigh more when they are shown together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: ColumnNames = Field(description="the columns, two or more")
    weight: Annotated[float | ColumnName, BeforeValidator(read_infinite)] = Field(
        description="what their being shown together adds, or the column that holds it for each record"
    )

    @model_validator(mode="after")
    def _sound(self) -> Interaction:
        if len(set(self.columns)) < 2:
            raise ValueError("an interaction is of two or more different columns")
        if not isinstance(self.weight, str):
            require_weight(self.weight)
        return self


class SideInformation(Spec):
    """The dictionaries that an attacker may hold, and how sensitive the cells are that a record shows."""

    kind: str = ""
    columns: ColumnNames | None = Field(
        default=None,
        description="the attributes that are shown or not; by default the keys and the sensitive columns",
    )
    dictionaries: Mapping[str, Given] = Secret(
        {},
        description="what attackers may hold, by name: a file, or columns with their values; by default the file itself without sensitive columns",
    )
    prior: Mapping[str, float] | Literal["sampled"] | None = Field(
        default=None,
        description="chance of each dictionary (sum 1), or sampled: a random sample of them; without it the worst counts",
    )
    consistency: Literal["exact", "jaro"] = Field(
        default="exact",
        description="when values agree: equality, or texts that are similar by Jaro",
    )
    threshold: float = Field(
        default=0.8, gt=0, le=1, description="jaro: the similarity from which on texts agree"
    )
    level: Literal["attribute", "record"] = Field(
        default="attribute",
        description="jaro: every attribute must be similar enough, or their mean over a record",
    )
    sensitivity: str = Field(
        default="phi5",
        description="form of the sensitivity: phi1 to phi5, constant, or one named with tacit.risk.name_sensitivity",
    )
    weights: Mapping[ColumnName, Weight] = Field(
        default_factory=dict,
        description="how sensitive each attribute is (default 1, may be infinite)",
    )
    record_weight: ColumnName | None = Field(
        default=None,
        description="column that says how sensitive each record is: phi2; a factor in the others",
    )
    weight_columns: Mapping[ColumnName, ColumnName] = Field(
        default_factory=dict,
        description="for an attribute the column that holds its weight for each record",
    )
    interactions: tuple[Interaction, ...] = Field(
        default=(),
        description="phi4, phi5: sets of attributes that add a weight when shown together",
    )
    constant: PositiveFloat = Field(
        default=1.0, description="constant: the sensitivity of every record"
    )

    @model_validator(mode="after")
    def _one_attacker(self) -> SideInformation:
        for weight in self.weights.values():
            require_weight(weight)
        if self.prior == "sampled" and len(self.dictionaries) < 2:
            raise ValueError("prior 'sampled' needs two or more dictionaries")
        if isinstance(self.prior, Mapping):
            if set(self.prior) != set(self.dictionaries):
                raise ValueError("prior must name the dictionaries, each of them once")
            if any(not 0 <= p <= 1 for p in self.prior.values()):
                raise ValueError("prior must hold chances between 0 and 1")
            if abs(math.fsum(self.prior.values()) - 1) > ONE:
                raise ValueError("prior must sum to 1")
        return self

    @model_validator(mode="after")
    def _weights_that_count(self) -> SideInformation:
        form = self.sensitivity
        stray: Sequence[str] = {
            "phi1": ("record_weight", "weight_columns", "interactions"),
            "phi2": ("weights", "weight_columns", "interactions"),
            "phi3": ("interactions",),
            "constant": ("weights", "record_weight", "weight_columns", "interactions"),
        }.get(form, ())
        for name in stray:
            if getattr(self, name):
                raise ValueError(f"{name} does not go with sensitivity {form!r}")
        if form == "phi2" and self.record_weight is None:
            raise ValueError("sensitivity 'phi2' needs record_weight")
        if form == "phi4" and not self.interactions:
            raise ValueError("sensitivity 'phi4' needs interactions")
        if set(self.weights) & set(self.weight_columns):
            raise ValueError("an attribute has weights or weight_columns, not both")
        return self

    # -- what is compared ------------------------------------------------------------------------

    def attributes(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are shown or not."""
        return self.columns or tuple(dict.fromkeys((*data.keys, *data.sensitive)))

    def told(self, data: Microdata) -> tuple[str, ...]:
        """Return the attributes that an attacker knows of the file itself: sensitive ones only if they are keys."""
        hidden = set(data.sensitive) - set(data.keys)
        return tuple(c for c in self.attributes(data) if c not in hidden)

    def weighing_columns(self) -> tuple[str, ...]:
        """Return the columns that hold weights of records."""
        one = () if self.record_weight is None else (self.record_weight,)
        terms = (t.weight for t in self.interactions if isinstance(t.weight, str))
        return tuple(dict.fromkeys((*one, *self.weight_columns.values(), *terms)))

    def own_faults(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what is wrong with attributes and sensitivity on some data."""
        names = self.attributes(data)
        if not names:
            yield RoleMissing(
                f"{self.kind} needs the attributes: declare keys with tacit.read(..., keys=...), or name columns."
            )
            return
        terms = (c for t in self.interactions for c in t.columns)
        strange = [c for c in (*self.weights, *self.weight_columns, *terms) if c not in names]
        if strange:
            yield ColumnNotFound(list(dict.fromkeys(strange)), list(names), "the attributes")
        if self.sensitivity not in FORMS and self.sensitivity not in OWN_SENSITIVITIES:
            known = ", ".join((*FORMS, *OWN_SENSITIVITIES))
            yield InputError(
                f"{self.kind}: there is no sensitivity {self.sensitivity!r}. Take one of {known}, or name your own with tacit.risk.name_sensitivity."
            )

    def prior_over(self, names: Sequence[str]) -> tuple[float, ...] | None:
        """Return the weights of the dictionaries in order; None when the worst counts."""
        if len(names) == 1:
            return (1.0,)
        if self.prior == "sampled":
            return (1.0 / len(names),) * len(names)
        return None if self.prior is None else tuple(self.prior[n] for n in names)

    def public_names(self, names: Sequence[str]) -> list[str]:
        """Return names of dictionaries for numbers and notes: those that users gave may tell who an attacker is."""
        return [f"dictionary {i}" if self.dictionaries else n for i, n in enumerate(names, 1)]

    def given_dictionaries(self) -> dict[str, Columns]:
        """Return the columns of the dictionaries named in the parameters."""
        return {n: read_dictionary(g, n, self.kind) for n, g in self.dictionaries.items()}

    def pose(
        self,
        data: Microdata,
        known: Mapping[str, Columns],
        original: Microdata | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Posed:
        """Return the records and the dictionaries on codes, with the sensitivity of the records.

        ``original`` holds weights that were not released and tells what values were made from; ``hierarchies``
        are those of the dictionaries.
        """
        trees = {**data.hierarchies, **(hierarchies or {})}
        names = self.attributes(data)
        table = data.to_arrow(names)
        records = {c: code_values(table.column(c)) for c in names}
        recoded = {} if original is None else learn_recoding(data, original, names)
        coded, threshold = {}, self.threshold if self.consistency == "jaro" else None
        for title, columns in known.items():
            if table.num_rows and not len(next(iter(columns.values()), ())):
                warnings.warn(
                    f"{self.kind}: dictionary {title!r} is empty, so that nobody can be identified with it.",
                    WeakProtection,
                    stacklevel=4,
                )
            elif columns and not set(names) & set(columns):
                raise InputError(
                    f"{self.kind}: dictionary {title!r} has none of the attributes ({', '.join(names)}). Name its columns as in the data."
                )
            coded[title] = code_dictionary(
                records, columns, trees, threshold, title, recoded, by_record=self.level == "record"
            )
        codes = np.stack([records[c].codes for c in names], axis=1)
        return Posed(names, codes, coded, self.weigh(data, names, original))

    # -- sensitivity -----------------------------------------------------------------------------

    def weigh(
        self, data: Microdata, names: Sequence[str], original: Microdata | None
    ) -> Sensitivity:
        """Return the sensitivity of the records of some data."""
        n = len(data)

        def fetch(column: str) -> Floats:
            return self.fetch_weights(column, data, original)

        cells = np.ones((n, len(names)))
        if self.sensitivity != "phi2":
            for j, name in enumerate(names):
                column = self.weight_columns.get(name)
                cells[:, j] = self.weights.get(name, 1.0) if column is None else fetch(column)
        if self.record_weight is not None:
            factor = fetch(self.record_weight)[:, None]
            with np.errstate(invalid="ignore"):
                cells = np.where((cells == 0) | (factor == 0), 0.0, cells * factor)
        terms = tuple(
            (
                tuple(names.index(c) for c in t.columns),
                fetch(t.weight) if isinstance(t.weight, str) else np.full(n, float(t.weight)),
            )
            for t in self.interactions
        )
        own = None if self.sensitivity in FORMS else OWN_SENSITIVITIES[self.sensitivity]
        form = SHAPES.get(self.sensitivity, "sum")
        if form == "product":
            # Finite weights whose exponential is no number are refused.
            weights = [*cells.T, *(weight for _, weight in terms)]
            finite = np.sum([np.where(np.isfinite(w), w, 0.0) for w in weights], axis=0)
            if finite.max(initial=0.0) > LARGEST_EXPONENT:
                raise InputError(
                    f"{self.kind}: the weights of a record sum to more than {LARGEST_EXPONENT:g}, too much for the exponential of phi5. Take smaller weights, or phi3."
                )
        return Sensitivity(cells, form, terms, self.constant, own)

    def fetch_weights(self, column: str, data: Microdata, original: Microdata | None) -> Floats:
        """Return the weights that a column holds, of the data or, when it was not released, of the original."""
        values: pa.Array
        if column in data.columns:
            values = data.column(column).combine_chunks()
        elif original is not None and column in original.columns:
            table = original.to_arrow([column], with_row=True)
            rows = data.to_arrow([], with_row=True).column(ROW)
            at = pc.index_in(rows, value_set=table.column(ROW).combine_chunks())
            values = table.column(column).combine_chunks().take(at.combine_chunks())
        else:
            raise ColumnNotFound([column], list(data.columns), "the data")
        try:
            found = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(f"{self.kind}: column {column!r} does not hold numbers") from None
        if np.isnan(found).any() or (found < 0).any():
            raise InputError(
                f"{self.kind}: column {column!r} holds weights that are missing or negative; a weight is from 0 up"
            )
        return found


@dataclass(frozen=True)
class Posed:
    """Records and dictionaries on codes."""

    #: The attributes.
    names: tuple[str, ...]
    #: Records x attributes, -1 where missing.
    codes: Codes
    #: By name.
    dictionaries: Mapping[str, Dictionary]
    #: Of the records.
    sensitivity: Sensitivity


def require_weight(weight: float) -> None:
    """Refuse a weight that is negative or no number."""
    if math.isnan(weight) or weight < 0:
        raise ValueError("a weight is a number from 0 up, or infinite")
