"""Protected table: counts of categories with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from tacit.arrays import Flags, Ints
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName
from tacit.graphics.base import Desk, ProtectedPlot, WithAmplitude
from tacit.graphics.protected_density import as_list
from tacit.registry import register
from tacit.treatment import OnStratum

#: The cell of values that are in no list.
OTHER = "other"
MOST_CELLS = 100_000
#: What the counts are called; a table of up to three columns leaves one of these free.
COUNT_NAMES = ("count", "counted", "noisy count", "records")


@register
class ProtectedTable(WithAmplitude):
    """A frequency table that may be published: noise on every cell, empty ones too.

    f'_c = f_c + eps_c as in a protected histogram. The categories are given, as those of the data would tell which
    values occur; what is in no list counts under "other". Margins are sums of published cells.

    References
    ----------
    Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, section 3.
    Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential privacy, NeurIPS 33.
    """

    kind: Literal["protected_table"] = "protected_table"
    columns: Annotated[
        tuple[ColumnName, ...], Field(min_length=1, max_length=3), BeforeValidator(as_list)
    ] = Field(description="one to three columns of categories")
    categories: dict[str, tuple[Any, ...]] = Field(
        default={},
        description="the categories of each column, chosen without the data; by default the value labels of the file",
    )
    nonneg: bool = Field(default=False, description="publish negative counts as 0")

    on_stratum: ClassVar[OnStratum | None] = "by"
    example: ClassVar[dict[str, Any]] = {
        "columns": ["sex"],
        "categories": {"sex": ["f", "m"]},
    }

    @model_validator(mode="after")
    def _names_its_columns(self) -> ProtectedTable:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must be different")
        strange = [c for c in self.categories if c not in self.columns]
        if strange:
            raise ValueError(
                f"categories are given of {strange[0]!r}, which is not among the columns"
            )
        if any(not v or len({as_text(x) for x in v}) < len(v) for v in self.categories.values()):
            raise ValueError("categories must be different, and at least one a column")
        return self

    def numeric_columns(self) -> tuple[str, ...]:
        """Return the columns that must hold numbers: none."""
        return ()

    def _draw(self, desk: Desk) -> ProtectedPlot:
        lists = {c: self.listed(desk.data, c) for c in self.columns}
        shape = tuple(len(v) + 1 for v in lists.values())
        places = np.zeros(len(desk.keep), dtype=np.int64)
        known = np.ones(len(desk.keep), dtype=bool)
        for (column, names), size in zip(lists.items(), shape, strict=True):
            place, there = find_places(desk, column, names)
            desk.require_known(there, column)
            places, known = places * size + place, known & there
        chosen, weights = desk.counted(places, known)
        counts = np.bincount(chosen, weights, minlength=math.prod(shape)).astype(np.float64)
        noisy = desk.main_noise("counts", counts.reshape(shape), {"of": "counts"})
        values = np.maximum(noisy, 0.0) if self.nonneg else noisy
        listed = [[*self.words(desk.data, c, v), OTHER] for c, v in lists.items()]
        grid = np.meshgrid(*map(np.asarray, listed), indexing="ij")
        frame = {c: g.ravel() for c, g in zip(self.columns, grid, strict=True)}
        count = next(n for n in COUNT_NAMES if n not in self.columns)
        return desk.finish(
            f"Protected table of {' by '.join(self.columns)}",
            "table",
            self.columns,
            values,
            {"categories": listed, "band": 2 * desk.queries[-1]["amplitude"]},
            {**frame, count: values.ravel()},
            {"cells": values.size},
        )

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: categories that are not known, more cells than a table holds."""
        found = super()._faults(data)
        if any(c not in data.columns for c in self.columns):
            return found
        lists = {c: self.listed(data, c) for c in self.columns}
        found += [
            InputError(
                f"{self.kind}: name the categories of {c!r} with categories=; those of the data would tell which values occur"
            )
            for c, listed in lists.items()
            if not listed
        ]
        if math.prod(len(v) + 1 for v in lists.values()) > MOST_CELLS:
            words = f"more than {MOST_CELLS:,} cells; use fewer categories"
            found.append(InputError(f"{self.kind}: {words}"))
        return found

    def words(self, data: Microdata, column: str, listed: tuple[Any, ...]) -> list[str]:
        """Return what categories are called: by their labels where these are listed, otherwise as they are given."""
        labels = [str(x) for x in data.columns[column].labels.values()]
        by_label = column not in self.categories and len({*labels, OTHER}) > len(labels)
        return labels if by_label else [as_text(v) for v in listed]

    def listed(self, data: Microdata, column: str) -> tuple[Any, ...]:
        """Return the categories of a column: given, or the labels of the file."""
        return self.categories.get(column) or tuple(data.columns[column].labels)


def find_places(desk: Desk, column: str, names: tuple[Any, ...]) -> tuple[Ints, Flags]:
    """Return each record's place in a list of categories (the last for others), and whether it has a value."""
    coded = desk.data.codes(column)
    where: Mapping[str, int] = {as_text(v): i for i, v in enumerate(names)}
    place = np.array([where.get(as_text(v), len(names)) for v in [*coded.values.to_pylist(), None]])
    codes = np.asarray(coded.codes)
    return place[codes].astype(np.int64), codes != coded.null


def as_text(value: Any) -> str:
    """Return a value as it is named in a list: 1.0 and 1 are the same."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
