"""Noise before tabulation: every table made from the noisy file is complete and consistent."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric, read_numeric_column
from tacit.errors import ColumnNotFound, InputError, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, Secret
from tacit.records.noise.split_noise import (
    SplitNoise,
    balance_directions,
    derive_keyed_directions,
    multipliers,
    random_directions,
)
from tacit.registry import register
from tacit.spec import Method


@register
class NoiseBeforeTabulation(Method):
    """Multiply every record by a random factor that stays away from 1 (Evans, Zayatz and Slanta).

    A company draws a direction, up or down; each of its records draws a magnitude in (a - 1, b - 1) on
    that side, so that a cell of one company always moves by at least a - 1. A record of sampling weight w
    contributes x (m + w - 1): noise goes to the part that it stands for itself, and a weight that
    outsiders do not know protects already. In the file, x becomes x (m + w - 1) / w; tabulate with the
    same weights. Several columns of a record share its factor, so that their ratios stay true.

    References
    ----------
    Massell, Zayatz and Funk (2006), Protecting the confidentiality of survey tabular data by adding noise
    to the underlying microdata: application to the Commodity Flow Survey, PSD 2006, LNCS 4302, 304-317.
    Evans, Zayatz and Slanta (1998), Using noise for disclosure limitation of establishment tabular data,
    Journal of Official Statistics 14(4), 537-551.
    """

    kind: Literal["noise_before_tabulation"] = "noise_before_tabulation"
    columns: ColumnNames = Field(
        description="the magnitudes that get noise; they must not be negative"
    )
    company: ColumnName = Field(description="the column that names the company of a record")
    a: Annotated[float, Field(gt=1, lt=2)] = Secret(
        1.1, description="smallest factor above 1; 1 + p/100 or more protects single-company cells"
    )
    b: Annotated[float, Field(gt=1, lt=2)] = Secret(1.2, description="largest factor above 1")
    shape: Literal["triangular", "uniform", "normal"] = Field(
        default="triangular", description="shape of the distribution on each side"
    )
    direction: Literal["company", "record", "balanced"] = Field(
        default="company",
        description="who draws up or down; record is discouraged, balanced lets noise cancel in the cells of by",
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="columns whose cells the balanced directions look at"
    )
    magnitude: Literal["record", "establishment", "company"] = Field(
        default="record", description="who draws the size of the factor"
    )
    establishment: ColumnName | None = Field(
        default=None,
        description="the column that names the establishment, for magnitude='establishment'",
    )
    separate: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns with factors of their own, where ratios would give values away",
    )
    key: str | None = Secret(
        None,
        description="a secret text: the direction of a company then stays the same in every year",
    )
    small_weights: bool = Field(default=False, description="allow sampling weights below 1")

    on_weight = "used"
    on_stratum = "by"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("multiplicative noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "company": "job"}

    @model_validator(mode="after")
    def _sensible(self) -> NoiseBeforeTabulation:
        if self.a >= self.b:
            raise ValueError("a must be less than b")
        if self.direction == "balanced" and not self.by:
            raise ValueError("balanced directions need by, the columns of the table that matters")
        if self.magnitude == "establishment" and self.establishment is None:
            raise ValueError("magnitude='establishment' needs the column establishment")
        unknown = set(self.separate) - set(self.columns)
        if unknown:
            raise ValueError("separate must name some of columns")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: companies, establishments and cells that do not exist; columns without numbers."""
        found = [*super().faults(data), *not_numeric(data, self.columns, self.kind)]
        named = [self.company, *self.by, *([self.establishment] if self.establishment else [])]
        missing = [c for c in named if c not in data.columns]
        if missing:
            found.append(ColumnNotFound(missing, list(data.columns), "the data"))
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        company = data.codes(self.company)
        if (company.codes == company.null).any():
            raise InputError(f"{self.kind}: some records have no {self.company!r}")
        owner = company.codes.astype(np.int64)
        weight = self.weights(data)
        columns = {c: read_numeric_column(data, c) for c in self.columns}
        for name, column in columns.items():
            if (column.values[column.known] < 0).any():
                raise InputError(f"{self.kind}: {name!r} has negative values")
        unit = self.units(data, owner)
        new, shared = {}, None
        for name, column in columns.items():
            ctx.tick(f"noise for {name}")
            if shared is None or name in self.separate:
                up = self.directions(
                    data,
                    owner,
                    company.values.to_pylist(),
                    np.asarray(column.values, dtype=np.float64),
                    ctx,
                )
                drawn = multipliers(SplitNoise(self.a, self.b, self.shape), up, unit, ctx.rng)
                shared = drawn if name not in self.separate and shared is None else shared
            else:
                drawn = shared
            factor = (drawn + weight - 1) / weight
            new[name] = column.restore(column.values * factor)
        ctx.note(
            columns=list(self.columns),
            companies=len(company.values),
            weighted=data.weight is not None,
        )
        return data.replace(new)

    def weights(self, data: Microdata) -> Any:
        """Return the sampling weights, 1 where there are none."""
        if data.weight is None:
            return 1.0
        column = read_numeric_column(data, data.weight)
        weight = np.asarray(column.values, dtype=np.float64)
        if not column.known.all() or (weight <= 0).any():
            raise InputError(f"{self.kind}: sampling weights must be positive and complete")
        if (weight < 1).any():
            if not self.small_weights:
                raise InputError(
                    f"{self.kind}: some sampling weights are below 1; set small_weights if that is meant"
                )
            warnings.warn(
                "noise_before_tabulation: with weights below 1 a joint factor can fall below 0",
                WeakProtection,
                stacklevel=4,
            )
        return weight

    def units(self, data: Microdata, owner: Any) -> Any:
        """Return who draws each record's magnitude."""
        if self.magnitude == "company":
            return owner
        if self.magnitude == "establishment":
            assert self.establishment is not None
            return data.codes(self.establishment).codes.astype(np.int64)
        return np.arange(len(owner))

    def directions(
        self, data: Microdata, owner: Any, names: list[Any], x: Any, ctx: Context
    ) -> Any:
        """Return up or down for each record."""
        if self.key is not None:
            return derive_keyed_directions([str(n) for n in names], owner, self.key.encode())
        if self.direction == "record":
            warnings.warn(
                "noise_before_tabulation: with a direction for each record, the noise of a company cancels "
                "and single-company cells may hardly move",
                WeakProtection,
                stacklevel=4,
            )
            return ctx.rng.random(len(owner)) < 0.5
        if self.direction == "balanced":
            from tacit.engine.codes import group_ids

            coded = [data.codes(c) for c in self.by]
            cell, _ = group_ids(
                [c.codes for c in coded], [c.size for c in coded], n_rows=len(owner)
            )
            return balance_directions(owner, np.unique(cell, return_inverse=True)[1], x, ctx.rng)
        return random_directions(owner, ctx.rng)
