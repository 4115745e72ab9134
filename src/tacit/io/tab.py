"""Ready tables of tau-ARGUS (``.tab``): one cell per line, described by an ``.rda`` file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError, UnreadableFile
from tacit.io.formats import FileFormat
from tacit.io.hrc import dimension_of
from tacit.io.lines import file_beside, numbers_of, rows_of
from tacit.io.listed import Listed, Totals, table_of
from tacit.io.rda import Description, Variable, read_rda

FORMAT = FileFormat("table", reads=(".tab",), reader="read_tab", rank=3)

#: What READTABLE's number means.
ADDITIVITY: Mapping[int, Totals] = {0: "check", 1: "recompute", 2: "free"}

#: The response of a table of counts.
FREQUENCY = "<freq>"


def read_tab(
    path: str | Path,
    metadata: str | Path | Description | None = None,
    *,
    dimensions: Sequence[str] | Mapping[str, Dimension] | None = None,
    response: str | None = None,
    additivity: int = 0,
    trust_totals: bool = False,
    manual_range: float = 0.0,
    cost: str | None = None,
    shadow: str | None = None,
    lower: float | None = None,
    upper: float | None = None,
    encoding: str = "utf-8",
) -> Table:
    """Read a ready table of tau-ARGUS.

    Parameters
    ----------
    path
        The ``.tab`` file: one cell per line, columns in the order of the description.
    metadata
        The ``.rda`` file or a description that was read; by default the one beside the table.
    dimensions
        The spanning variables to use, by name, or name to dimension; by default all. Cells of a
        variable that is left out are taken at its total.
    response
        The cell value to use; by default the first, or the frequency where there is no value.
        ``<freq>`` takes the frequency.
    additivity
        0: totals must be listed and add up; 1: they are added up from the ground cells; 2: nothing
        need add up, and the table has no relations (it cannot be protected, only judged).
    trust_totals
        With ``additivity=1``, call totals that are not listed safe, whatever a rule says.
    manual_range
        Protection levels, in per cent of the value, of cells that the status column calls unsafe and
        for which no levels are given.
    cost, shadow
        Other variables to take as the cost and the shadow values than the ones so described.
    lower, upper
        What outsiders know of every cell: external bounds, by default 0 and no limit.
    encoding
        How the text is encoded; by default UTF-8 or else the 8-bit encoding of Windows.

    Raises
    ------
    NotAdditive
        Naming the sums that do not hold.
    UnreadableFile
        Naming the record that cannot be read.
    """
    file = Path(path)
    description = describe_table(file, metadata)
    separator = description.separator or ","
    rows = rows_of(file, separator, encoding)
    if description.names_in_front:
        rows = rows[1:]
    width = len(description.variables)
    ragged = next((i for i, row in enumerate(rows, 1) if len(row) not in {width, width + 1}), None)
    if ragged is not None or not rows:
        raise UnreadableFile(
            f"{file.name!r}, record {ragged or 1}: {width} fields are described"
            + (f" and {len(rows[ragged - 1])} found" if ragged else " and the file has no records")
        )
    columns = {v.name: [row[i] for row in rows] for i, v in enumerate(description.variables)}
    spanning = chosen_spanning(description, dimensions)
    columns = at_totals(columns, description, spanning)
    given = dimensions if isinstance(dimensions, Mapping) else {}
    # Code lists and hierarchies are beside the description, else beside the data.
    described = Path(description.source) if description.source != "memory" else file
    made = [
        own
        if isinstance(own := given.get(v.name), Dimension)
        else dimension_of(v, columns[v.name], described.parent, ordered=False)
        for v in spanning
    ]
    reader = Columns(file.name, columns, comma=separator != ",")
    variable = chosen_response(description, response)
    listed = listed_cells(description, reader, variable, spanning, cost=cost, shadow=shadow)
    if additivity not in ADDITIVITY:
        raise InputError("additivity is 0 (must hold), 1 (recompute) or 2 (not required)")
    table = table_of(
        made,
        listed,
        where=repr(file.name),
        totals=ADDITIVITY[additivity],
        trust_totals=trust_totals,
        lower=lower,
        upper=upper,
        response=variable.name,
        frequency=variable.has("FREQUENCY"),
        source=str(file),
        extra={
            "decimals": variable.decimals,
            "missing": {v.name: v.missing for v in spanning if v.missing},
        },
    )
    return with_manual_levels(table, manual_range)


def describe_table(file: Path, metadata: str | Path | Description | None) -> Description:
    """Return the description of a ready table."""
    if isinstance(metadata, Description):
        return metadata
    if metadata is not None:
        return read_rda(metadata, tabular=True)
    found = file_beside(file.parent, file.stem + ".rda")
    if found is None:
        raise UnreadableFile(
            f"no description {file.stem + '.rda'!r} beside {file.name!r}; pass metadata="
        )
    return read_rda(found, tabular=True)


def chosen_spanning(
    description: Description, dimensions: Sequence[str] | Mapping[str, Any] | None
) -> list[Variable]:
    """Return the spanning variables in the asked order."""
    if dimensions is None:
        return [v for v in description.variables if v.spans]
    names = list(dimensions)
    found = [description.variable(n) for n in names]
    wrong = next((v for v in found if not v.spans), None)
    if wrong is not None:
        raise InputError(f"{wrong.name!r} is not described as a spanning variable (<RECODEABLE>)")
    return found


def chosen_response(description: Description, response: str | None) -> Variable:
    """Return the variable whose values the cells have."""
    if response is not None and response.lower() == FREQUENCY:
        found = description.first("FREQUENCY")
        if found is None:
            raise InputError("the table has no <FREQUENCY> to take as the response")
        return found
    if response is not None:
        return description.variable(response)
    values = [v for v in description.variables if v.is_value]
    frequency = description.first("FREQUENCY")
    return values[0] if values else frequency  # type: ignore[return-value]


def at_totals(
    columns: Mapping[str, list[str]], description: Description, spanning: Sequence[Variable]
) -> dict[str, list[str]]:
    """Keep the cells that stand at the total of every spanning variable that is left out."""
    left = [v for v in description.variables if v.spans and v not in spanning]
    if not left:
        return dict(columns)
    n = len(next(iter(columns.values())))
    keep = [i for i in range(n) if all(columns[v.name][i] in {v.total, ""} for v in left)]
    return {name: [column[i] for i in keep] for name, column in columns.items()}


class Columns:
    """The columns of a file as numbers and words."""

    def __init__(self, name: str, columns: Mapping[str, Sequence[str]], *, comma: bool) -> None:
        self.name, self.columns, self.comma = name, columns, comma

    def numbers(self, variable: Variable | None) -> Floats | None:
        """Return a column of numbers; empty fields and ``-`` are 0."""
        if variable is None:
            return None
        texts = ["" if t == "-" else t for t in self.columns[variable.name]]
        where = f"{self.name!r}, column {variable.name!r}"
        return numbers_of(texts, where, comma=self.comma)


def listed_cells(
    description: Description,
    reader: Columns,
    response: Variable,
    spanning: Sequence[Variable],
    *,
    cost: str | None,
    shadow: str | None,
) -> Listed:
    """Return the cells that the file lists."""
    value = reader.numbers(response)
    assert value is not None
    count = reader.numbers(description.first("FREQUENCY"))
    tops = [
        column
        for v in description.variables
        if v.has("MAXSCORE") and (column := reader.numbers(v)) is not None
    ]
    dimmed = description.variable(shadow) if shadow else description.first("SHADOW")
    priced = description.variable(cost) if cost else description.first("COSTVAR")
    shadows = reader.numbers(dimmed)
    status = statuses_of(description, reader, value, count)
    lower, upper = (reader.numbers(description.first(k)) for k in ("LOWERPL", "UPPERPL"))
    return Listed(
        codes=[reader.columns[v.name] for v in spanning],
        value=value,
        count=count,
        status=status,
        weight=reader.numbers(priced),
        lower_level=only_unsafe(lower if lower is not None else upper, status),
        upper_level=only_unsafe(upper if upper is not None else lower, status),
        top=-np.sort(-np.stack(tops, axis=1), axis=1) if tops else None,
        sums=shadow_sums(shadows, value),
    )


def shadow_sums(shadows: Floats | None, value: Floats) -> dict[str, Floats]:
    """Return the shadow values, and what rules compare the largest contributions with."""
    if shadows is None:
        return {}
    if np.array_equal(shadows, value):
        return {"shadow": shadows}
    return {"shadow": shadows, "rule_total": np.abs(shadows)}


def only_unsafe(levels: Floats | None, status: npt.NDArray[np.int8] | None) -> Floats | None:
    """Return levels of unsafe cells; those of other cells mean nothing."""
    if levels is None or status is None:
        return None
    return np.where((status >= Status.UNSAFE) & (status <= Status.UNSAFE_MANUAL), levels, 0.0)


def statuses_of(
    description: Description,
    reader: Columns,
    value: Floats,
    count: Floats | None,
) -> npt.NDArray[np.int8] | None:
    """Return the status of each listed cell from its letter (or number, 1 to 14)."""
    variable = description.first("STATUS")
    if variable is None:
        return None
    known = {str(int(s)): s for s in Status}
    known |= {"E": Status.EMPTY, "M": Status.SECONDARY, "": Status.SAFE}
    for keyword, letter, status in (
        ("SAFE", "S", Status.SAFE_MANUAL),
        ("UNSAFE", "U", Status.UNSAFE_MANUAL),
        ("PROTECT", "P", Status.PROTECTED),
    ):
        known[description.letters.get(keyword, letter).upper()] = status
    out = np.empty(len(value), dtype=np.int8)
    for i, letter in enumerate(reader.columns[variable.name]):
        found = known.get(letter.upper())
        if found is None:
            raise UnreadableFile(
                f"{reader.name!r}, record {i + 1}: {letter!r} is no status; they are "
                + ", ".join(sorted(k for k in known if k and not k.isdigit()))
            )
        out[i] = found
    none = (value == 0) & (np.ones(len(value)) if count is None else count <= 0).astype(bool)
    safe = (out == Status.SAFE) | (out == Status.SAFE_MANUAL) | (out == Status.EMPTY)
    if count is not None:
        out[none & safe] = Status.EMPTY
    filled = np.flatnonzero((out == Status.EMPTY) & ~none)
    if len(filled):
        raise UnreadableFile(
            f"{reader.name!r}, record {int(filled[0]) + 1}: the cell is called empty and has a value"
        )
    return out


def with_manual_levels(table: Table, percent: float) -> Table:
    """Give cells that were called unsafe by hand, and have no levels, a percentage of their value."""
    bare = (table.status == Status.UNSAFE_MANUAL) & (table.sliding_level == 0)
    bare &= (table.lower_level == 0) & (table.upper_level == 0)
    if not bare.any() or percent <= 0:
        return table
    level = percent / 100 * np.abs(table.value)
    return table.with_(
        lower_level=np.where(bare, level, table.lower_level),
        upper_level=np.where(bare, level, table.upper_level),
    )
