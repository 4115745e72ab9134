"""Global recoding: the categories of a column merged into fewer."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.in_blocks import unit_frame
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers, drop_stale_descriptions, not_numeric
from tacit.engine.relational import N, counts
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveInt
from tacit.registry import register
from tacit.spec import Method

Category = str | int | float


@register
class Recode(Method):
    """Merge the categories of a column into fewer ones.

    One of four schemes: ``groups`` lists old categories under each new one; ``breaks`` cuts numbers into
    classes [b1, b2), [b2, b3), ...; ``truncate`` drops trailing characters of a code; ``least`` merges every
    category with fewer records than that into ``into``. Categories that ``groups`` does not name are
    refused, kept, or made missing, as ``rest`` says. A missing value stays missing. Where the column is
    constant in declared households, ``least`` counts households.

    A hierarchy does the same in several levels, and lets precision be measured: see generalise.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    Kennickell, Lane (2006), Measuring the impact of data protection techniques on data utility: evidence
    from the Survey of Consumer Finances, PSD 2006, LNCS 4302, 291-303.
    """

    kind: Literal["recode"] = "recode"
    column: ColumnName = Field(description="the column to recode")
    groups: Mapping[str, tuple[Category, ...]] = Field(
        default_factory=dict, description="the old categories under each new one"
    )
    breaks: tuple[float, ...] = Field(
        default=(),
        description="ascending limits between classes of numbers; the first and last class are open",
    )
    labels: tuple[str, ...] = Field(
        default=(),
        description="names of the classes between breaks, one more than there are breaks",
    )
    truncate: PositiveInt | None = Field(
        default=None, description="number of trailing characters to drop from a code"
    )
    least: PositiveInt | None = Field(
        default=None, description="categories with fewer records than this are merged"
    )
    into: str | None = Field(
        default=None, description="the category into which rare ones are merged, old or new"
    )
    rest: Literal["refuse", "keep", "missing"] = Field(
        default="refuse", description="what happens to categories that groups does not name"
    )

    on_household = "by_value"
    takes_copies: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("generalise values",)
    example: ClassVar[Mapping[str, Any]] = {"column": "age", "breaks": [40]}

    @model_validator(mode="after")
    def _one_scheme(self) -> Recode:
        given = [n for n in ("groups", "breaks", "truncate", "least") if getattr(self, n)]
        if len(given) != 1:
            raise ValueError("give one of groups, breaks, truncate and least")
        if (self.least is None) != (self.into is None):
            raise ValueError("least and into go together")
        if list(self.breaks) != sorted(set(self.breaks)) or not np.isfinite(self.breaks).all():
            raise ValueError("breaks must be ascending finite numbers")
        if self.labels and len(self.labels) != len(self.breaks) + 1:
            raise ValueError("labels must be one more than breaks")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels must differ")
        listed = [str(c) for old in self.groups.values() for c in old]
        if len(set(listed)) < len(listed):
            raise ValueError("groups must name each old category once")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: breaks for a column without numbers."""
        found = super().faults(data)
        return [*found, *(not_numeric(data, [self.column], self.kind) if self.breaks else [])]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        frame = data.frame if self.least is None else unit_frame(data, [self.column])
        table = counts(frame, [self.column]).collect("pyarrow").to_native()
        old = table.column(self.column).combine_chunks()
        known = pc.is_valid(old)
        old, size = old.filter(known), table.column(N).filter(known).to_numpy()
        new = self.renamed(old, size)
        mapping = pa.table({"old": old, "new": pa.array(new, pa.string())})
        ctx.note(
            categories_before=len(old), categories_after=len({v for v in new if v is not None})
        )
        # A hierarchy knows the old values only.
        left = {c: h for c, h in data.hierarchies.items() if c != self.column}
        recoded = replace(data.recode(self.column, mapping), hierarchies=left)
        return drop_stale_descriptions(recoded, [self.column])

    def renamed(self, old: pa.Array, size: Any) -> list[str | None]:
        """Return the new category of each old one."""
        if self.breaks:
            values = as_numbers(old, self.column).values
            names = self.labels or class_names(self.breaks)
            return [names[i] for i in np.searchsorted(self.breaks, values, side="right")]
        text: list[str] = [str(v) for v in old.to_pylist()]
        if self.truncate is not None:
            if any(len(v) <= self.truncate for v in text):
                raise InputError(
                    f"recode: column {self.column!r} has codes of {self.truncate} characters or fewer, of which nothing would be left; truncate less"
                )
            return [v[: -self.truncate] for v in text]
        if self.least is not None:
            return [v if n >= self.least else self.into for v, n in zip(text, size, strict=True)]
        target = {str(c): name for name, group in self.groups.items() for c in group}
        if self.rest == "refuse" and (unnamed := sum(v not in target for v in text)):
            raise InputError(
                f"recode: groups leaves {unnamed} categories of column {self.column!r} unnamed. Name them, or give rest='keep' or 'missing'."
            )
        other = (lambda v: v) if self.rest == "keep" else (lambda _: None)
        return [target.get(v, other(v)) for v in text]

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del data, result
        allowed = self.labels if self.rest == "keep" else self.groups or self.labels
        if allowed:
            yield Claim("categories", {"allowed": sorted(allowed)}, "categories", (self.column,))


def class_names(breaks: tuple[float, ...]) -> list[str]:
    """Return the names of the classes between breaks."""
    text = [f"{b:g}" if float(f"{b:g}") == b else repr(b) for b in breaks]
    inner = [f"{a} to under {b}" for a, b in itertools.pairwise(text)]
    return [f"under {text[0]}", *inner, f"{text[-1]} and over"]
