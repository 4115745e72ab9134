"""Noise before tabulation: every table made from the noisy file is complete and consistent."""

from __future__ import annotations

import functools
import hashlib
import hmac
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric, read_numeric_column
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, Secret
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import ndtr, ndtri
from tacit.registry import register
from tacit.spec import Method

Shape = Literal["triangular", "uniform", "normal"]


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
            # They depend on the key and the company alone: the same in every year.
            key = self.key.encode()
            bits = [hmac.digest(key, str(n).encode(), hashlib.sha256)[0] & 1 for n in names]
            return np.array(bits, dtype=bool)[owner]
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


@dataclass(frozen=True)
class SplitNoise:
    """A multiplier m with a <= m <= b or 2 - b <= m <= 2 - a, each side with probability 1/2.

    ``triangular`` peaks next to the gap: with k = 1 / (b - a)^2 its density is k (b - m) on (a, b), and
    mirrored below 1. ``uniform`` is flat on each side; ``normal`` is a normal of mean a and standard
    deviation (b - a) / 2, cut to (a, b).
    """

    a: float = 1.1
    b: float = 1.2
    shape: Shape = "triangular"

    def __post_init__(self) -> None:
        if not 1 < self.a < self.b < 2:
            raise InvalidParameter("the multipliers need 1 < a < b < 2")

    def magnitude(self, u: npt.ArrayLike) -> Floats:
        """Return |m - 1| for uniform numbers u in [0, 1), growing with u."""
        q = np.asarray(u, dtype=np.float64)
        width = self.b - self.a
        if self.shape == "triangular":
            return self.a - 1 + width * (1 - np.sqrt(1 - q))
        if self.shape == "uniform":
            return self.a - 1 + width * q
        return np.asarray(self.a - 1 + ndtri(0.5 + q * (ndtr(2.0) - 0.5)) * width / 2)

    def ppf(self, u: npt.ArrayLike) -> Floats:
        """Return the quantiles of m."""
        q = np.asarray(u, dtype=np.float64)
        up = q >= 0.5
        return np.where(
            up,
            1 + self.magnitude(np.where(up, 2 * q - 1, 0.0)),
            1 - self.magnitude(np.where(up, 0.0, 1 - 2 * q)),
        )

    @functools.cached_property
    def side(self) -> Any:
        """Return the distribution of (|m - 1| - (a - 1)) / (b - a), with SciPy's methods."""
        from scipy import stats

        sides = {"triangular": stats.triang(0.0), "uniform": stats.uniform()}
        return sides.get(self.shape) or stats.truncnorm(0.0, 2.0, scale=0.5)

    def pdf(self, m: npt.ArrayLike) -> Floats:
        """Return the density of m."""
        x = np.abs(np.asarray(m, dtype=np.float64) - 1) + 1
        width = self.b - self.a
        height = self.side.pdf((x - self.a) / width) / width / 2
        return np.where((x > self.a) & (x < self.b), height, 0.0)

    def cdf(self, m: npt.ArrayLike) -> Floats:
        """Return the distribution function of m."""
        x = np.asarray(m, dtype=np.float64)
        tail = self.side.sf((np.abs(x - 1) + 1 - self.a) / (self.b - self.a)) / 2
        return np.where(x < 1, tail, 1 - tail)

    @property
    def mean_change(self) -> float:
        """Return E|m - 1|."""
        return float(self.a - 1 + self.side.mean() * (self.b - self.a))

    @property
    def sd(self) -> float:
        """Return the standard deviation of m, whose mean is 1."""
        within = self.side.var() * (self.b - self.a) ** 2
        return float(np.sqrt(self.mean_change**2 + within))


#: The two distributions of the Commodity Flow Survey study.
D1, D2 = SplitNoise(1.1, 1.2), SplitNoise(1.05, 1.15)


def multipliers(
    noise: SplitNoise,
    direction: Flags,
    magnitude_unit: Ints,
    rng: np.random.Generator,
) -> Floats:
    """Return one multiplier per record: its direction, and the magnitude drawn for its unit."""
    n_units = int(magnitude_unit.max(initial=-1)) + 1
    size = noise.magnitude(rng.random(n_units))[magnitude_unit]
    return np.where(direction, 1 + size, 1 - size)


def random_directions(company: Ints, rng: np.random.Generator) -> Flags:
    """Return up or down for every record; all records of a company go the same way."""
    return (rng.random(int(company.max(initial=-1)) + 1) < 0.5)[company]


def balance_directions(company: Ints, cell: Ints, x: Floats, rng: np.random.Generator) -> Flags:
    """Return directions of companies that cancel in cells: each, by size, goes against its cells' drift.

    A greedy balance: companies in descending order of size (ties at random); each chooses the side that
    lowers the sum over its cells of the signed totals so far, at random where it is even.
    """
    from scipy import sparse

    n_companies, n_cells = int(company.max(initial=-1)) + 1, int(cell.max(initial=-1)) + 1
    table = sparse.csr_array((x, (company, cell)), shape=(n_companies, n_cells))
    size = np.asarray(table.sum(axis=1)).ravel()
    order = np.lexsort((rng.random(n_companies), -size))
    drift = np.zeros(n_cells)
    up = np.zeros(n_companies, dtype=bool)
    coin = rng.random(n_companies) < 0.5
    for c in order:
        at = slice(table.indptr[c], table.indptr[c + 1])
        cells, parts = table.indices[at], table.data[at]
        lean = float(dot(drift[cells], parts))
        up[c] = coin[c] if lean == 0 else lean < 0
        drift[cells] += parts if up[c] else -parts
    return up[company]
