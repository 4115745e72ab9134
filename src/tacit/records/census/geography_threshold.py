"""A population threshold for geographic units: small ones are pooled, and no subtraction tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions
from tacit.engine.base import ROW
from tacit.engine.relational import N, W, counts
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, ColumnNames, NaturalInt, Secret
from tacit.records.census.units import (
    Codes,
    Geography,
    read_geography,
    read_texts,
    refuse_strangers,
)
from tacit.registry import register
from tacit.spec import Method

#: Thresholds by name: most countries, the United States, and all administrative geography removed.
PRESETS: Mapping[str, int] = {"standard": 20_000, "us": 100_000}


@register
class GeographyThreshold(Method):
    """Show geographic units with enough inhabitants, and pool the others so that none can be told.

    From coarse to fine, within each parent that is shown: units with at least ``at_least`` inhabitants are shown, the rest
    becomes one residual. While the residual has fewer, the smallest shown unit joins it, because otherwise the
    parent minus its shown units would be a small unit. What lies below a hidden unit is hidden with it. The whole
    country is the parent of the coarsest units.

    Inhabitants come from a file of the latest census, not from the data, so that every census of a country
    shows the same units; ``harmonised`` maps the codes of an older census to those of the file.

    References
    ----------
    McCaa, Ruggles, Davern, Swenson, Palipudi (2006), IPUMS-International high precision population census microdata samples:
    balancing the privacy-quality tradeoff by means of restricted access extracts, PSD 2006, LNCS 4302, 375-382, section 5.
    """

    kind: Literal["geography_threshold"] = "geography_threshold"
    columns: ColumnNames = Field(description="geographic columns, coarse to fine")
    population: str | Mapping[ColumnName, tuple[Any, ...]] | None = Secret(
        None,
        description="a file (CSV or Parquet) with a row for each finest unit: its codes under the names of the columns, and its inhabitants; or the same as columns",
    )
    at_least: NaturalInt | Literal["standard", "us", "none_shown"] = Field(
        default="standard",
        description="inhabitants of a unit that is shown; standard is 20,000, us is 100,000, none_shown removes the columns",
    )
    inhabitants: str = Field(
        default="population", min_length=1, description="the column of the file with inhabitants"
    )
    harmonised: str | Mapping[ColumnName, Mapping[str, str]] | None = Secret(
        None,
        description="codes of this census in those of the file: old code to new by column, or a file with the columns column, code and harmonised",
    )
    residual: str = Field(
        default="other", min_length=1, description="the word for units that are pooled"
    )
    remove: tuple[ColumnName, ...] = Field(
        default=(), description="finer geography that is removed altogether"
    )
    estimate: bool = Field(
        default=False,
        description="take inhabitants from the data themselves, weighted where a weight is declared, and not from a file",
    )

    on_household = "by_value"
    on_weight = "option"
    techniques: ClassVar[tuple[str, ...]] = ("generalise values",)
    file_fields: ClassVar[tuple[str, ...]] = ("population", "harmonised")
    example: ClassVar[Mapping[str, Any]] = {
        "columns": ["zip"],
        "population": {
            "zip": ["02138", "02139", "02141", "02142"],
            "population": [9, 30, 25, 40],
        },
        "at_least": 20,
    }
    column_fields = ("columns", "remove")

    @model_validator(mode="after")
    def _consistent(self) -> GeographyThreshold:
        if self.threshold and (self.population is None) != self.estimate:
            raise ValueError(
                "give population, a file with the inhabitants of the latest census, or allow estimate from the data"
            )
        if not self.threshold and self.population is not None:
            raise ValueError("population goes with a threshold above 0")
        if set(self.remove) & set(self.columns):
            raise ValueError("remove must not name a column that is shown")
        return self

    @property
    def threshold(self) -> int | None:
        """Return the inhabitants of a unit that is shown; 0 shows all, None shows none."""
        if self.at_least == "none_shown":
            return None
        return PRESETS[self.at_least] if isinstance(self.at_least, str) else self.at_least

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are pooled or removed."""
        del data
        return (*self.columns, *self.remove)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: codes that are no codes, files that cannot be read, no weight to estimate from."""
        found = super().faults(data)
        if found:
            return found
        schema = data.frame.collect_schema()
        found += [
            InputError(f"geography_threshold: column {c!r} must hold codes: text or whole numbers.")
            for c in self.columns
            if not (schema[c] == nw.String or schema[c].is_integer())
        ]
        try:
            self.geography_of_file()
            self.read_harmonised()
        except SdcError as error:
            found.append(error)
        return found

    def geography_of_file(self) -> Geography | None:
        """Return the units of the file, if one is needed."""
        if not self.threshold or self.population is None:
            return None
        return read_geography(self.population, self.columns, self.inhabitants)

    def read_harmonised(self) -> Mapping[str, Mapping[str, str]]:
        """Return the new code of each old one by column."""
        if self.harmonised is None:
            return {}
        if not isinstance(self.harmonised, str):
            found: dict[str, Mapping[str, str]] = dict(self.harmonised)
        else:
            table = read_texts(self.harmonised)
            if not {"column", "code", "harmonised"} <= set(table.column_names):
                raise InputError(
                    "geography_threshold: the file of harmonised codes needs the columns column, code and harmonised."
                )
            rows = table.select(["column", "code", "harmonised"]).to_pylist()
            found = {}
            for row in rows:
                found.setdefault(row["column"], {})[row["code"]] = row["harmonised"]  # type: ignore[index]
        strangers = [c for c in found if c not in self.columns]
        if strangers:
            raise InputError(
                f"geography_threshold: harmonised names column {strangers[0]!r}, which is not among columns."
            )
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.threshold is None:
            ctx.note(geography="all removed", columns=list(self.columns))
            return data.drop([*self.columns, *self.remove])
        left = data.drop(self.remove)
        cells = counts(left.frame, self.columns, data.weight).collect("pyarrow").to_native()
        units = self.harmonise(cells)
        geography = self.geography_of_file() or estimated(self.columns, units, cells)
        labels, told = geography.labels(self.threshold, self.residual)
        if self.threshold:
            people = {codes for codes in geography.known() if codes} - empty_units(geography)
            refuse_strangers(cut(u) for u in units if cut(u) not in people and cut(u))
        ctx.note(
            at_least=self.threshold,
            units=told,
            inhabitants="estimated from the data" if self.estimate else "of the file",
        )
        result = replace_tuples(left, self.columns, cells, [released(u, labels) for u in units])
        return drop_stale_descriptions(result, self.columns)

    def harmonise(self, cells: pa.Table) -> list[tuple[str | None, ...]]:
        """Return the codes of each combination that the data hold, in the codes of the file."""
        mapped = self.read_harmonised()
        texts = []
        for column in self.columns:
            new = mapped.get(column, {})
            values = pc.cast(cells.column(column), pa.string()).to_pylist()
            texts.append([new.get(v, v) if v is not None else None for v in values])
        return list(zip(*texts, strict=True))

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        if self.threshold is None:
            yield Claim("absent-columns", {}, "geography", (*self.columns, *self.remove))
            return
        if self.remove:
            yield Claim("absent-columns", {}, "finer geography", self.remove)
        if not self.threshold:
            return
        cells = counts(data.frame, self.columns, data.weight).collect("pyarrow").to_native()
        geography = self.geography_of_file() or estimated(
            self.columns, self.harmonise(cells), cells
        )
        yield Claim(
            "geography-threshold",
            {
                "at_least": self.threshold,
                "units": [[*codes, n] for codes, n in sorted(geography.inhabitants.items())],
            },
            "geographic units",
            self.columns,
            (
                "Other releases do not show other units of the same places.",
                "Inhabitants are those of the file."
                if not self.estimate
                else "Inhabitants are estimated from the data.",
            ),
            withheld=("units",),
        )


def known_depth(unit: Sequence[str | None]) -> int:
    """Return how many codes of a unit are known before the first that is missing."""
    return next((i for i, code in enumerate(unit) if code is None), len(unit))


def cut(unit: tuple[str | None, ...]) -> Codes:
    """Return the codes of a unit up to the first that is missing."""
    return unit[: known_depth(unit)]  # type: ignore[return-value]


def empty_units(geography: Geography) -> set[Codes]:
    """Return the units in which nobody lives."""
    found: set[Codes] = set()
    for depth in range(1, len(geography.columns) + 1):
        for parent, children in geography.children(depth).items():
            found |= {(*parent, code) for code, n in children.items() if not n}
    return found


def estimated(
    columns: Sequence[str], units: Sequence[tuple[str | None, ...]], cells: pa.Table
) -> Geography:
    """Return units with the inhabitants that the data themselves give; records without a code are not counted."""
    weighted = W in cells.column_names
    n = cells.column(W if weighted else N).to_pylist()
    found: dict[Codes, float] = {}
    for unit, people in zip(units, n, strict=True):
        if None not in unit:
            codes: Codes = unit  # type: ignore[assignment]
            found[codes] = found.get(codes, 0.0) + (people or 0.0)
    # Rounded down: a unit must reach the threshold, not nearly so.
    return Geography(tuple(columns), {u: int(p) for u, p in found.items()})


def released(unit: tuple[str | None, ...], labels: Mapping[Codes, Codes]) -> tuple[str | None, ...]:
    """Return what a unit is called in the release; nothing is said below a code that is missing."""
    known = cut(unit)
    found = labels.get(known, known)
    return (*found, *[None] * (len(unit) - len(found)))


def replace_tuples(
    data: Microdata,
    columns: Sequence[str],
    cells: pa.Table,
    new: Sequence[tuple[str | None, ...]],
) -> Microdata:
    """Return the data with combinations of values replaced together; a missing value is a value here.

    Joins do not match nulls, so they are compared as text with a mark beside it.
    """
    texts, marks, fresh = (
        [f"__{what}{i}__" for i in range(len(columns))] for what in ("text", "null", "new")
    )
    table = {}
    for i, column in enumerate(columns):
        values = pc.cast(cells.column(column), pa.string())
        table[texts[i]] = pc.fill_null(values, "")
        table[marks[i]] = pc.is_null(values)
        table[fresh[i]] = pa.array([unit[i] for unit in new], pa.string())
    listed = data.engine.from_arrow(pa.table(table))
    frame = data.frame.with_columns(
        *[nw.col(c).cast(nw.String).fill_null("").alias(t) for c, t in zip(columns, texts, strict=True)],
        *[nw.col(c).is_null().alias(m) for c, m in zip(columns, marks, strict=True)],
    )  # fmt: skip
    joined = frame.join(listed, on=[*texts, *marks], how="left")
    order = [*data.columns, ROW]
    replaced = joined.with_columns(
        *[nw.col(f).alias(c) for f, c in zip(fresh, columns, strict=True)]
    )
    return data.with_frame(replaced.select(*order)).materialise()
