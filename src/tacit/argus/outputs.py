"""The output formats of tau-ARGUS: CSV block, pivot, code-value, SBS, intermediate, JJ, cell key."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tacit.arrays import Floats
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.linked import distinct_rows
from tacit.data.cells.status import Status, is_primary, is_secondary
from tacit.data.decimals import decimals_needed, format_all_digits
from tacit.data.table import Table
from tacit.errors import DisclosureRefused, InputError, near_match
from tacit.io.hrc import write_hrc
from tacit.io.jj import write_jj
from tacit.io.lines import open_atomically, quote_field, write_lines
from tacit.io.rda import Description, Variable, write_rda

#: Each format with its number in a batch file.
NAMES = ("csv", "pivot", "code_value", "sbs", "intermediate", "jj", "ckm")
FORMATS = {name: number for number, name in enumerate(NAMES, 1)}
#: Formats that hold the true values of hidden cells.
CONFIDENTIAL = {"intermediate", "jj"}
HIDDEN, EMPTY = "x", "-"

OPTION = re.compile(r"([A-Z]{2})\s*([+-]?)")


@dataclass(frozen=True)
class Choices:
    """The two-letter options of WRITETABLE.

    Attributes
    ----------
    AS, SE, FL, QU
        Add the status; leave out empty cells; names on the first line; codes in quotes.
    HL
        SBS: add the level of each code in its hierarchy.
    SO, AR, HI
        Intermediate: status only; the attacker's intervals; holdings instead of records.
    TR
        JJ: take out trivial levels, where a parent has a single child.
    AO, AD, AC
        Cell key: the original, the difference, the cell key.
    """

    AS: bool = False
    SE: bool = False
    FL: bool = False
    QU: bool = False
    HL: bool = False
    SO: bool = False
    AR: bool = False
    HI: bool = False
    TR: bool = False
    AO: bool = False
    AD: bool = False
    AC: bool = False

    @classmethod
    def parse(cls, text: str) -> Choices:
        """Read options such as ``AS+FL+SE-``."""
        found: dict[str, bool] = {}
        rest = OPTION.sub("", text.upper()).strip(" ,;")
        known = [f.name for f in dataclasses.fields(cls)]
        for letters, sign in OPTION.findall(text.upper()):
            if letters not in known:
                raise InputError(f"there is no option {letters!r}; they are {', '.join(known)}")
            found[letters] = sign != "-"
        if rest:
            raise InputError(f"options are two letters and + or -, as in AS+FL+ (got {text!r})")
        return cls(**found)

    def __str__(self) -> str:
        return "".join(f.name + "+" for f in dataclasses.fields(self) if getattr(self, f.name))


def write_argus(
    table: Table,
    path: str | Path,
    format: str | int = "code_value",  # noqa: A002
    options: str | Choices = "",
    *,
    confidential: bool = False,
    decimals: int | None = None,
) -> list[Path]:
    """Write a table in one of tau-ARGUS' output formats.

    Parameters
    ----------
    table
        The table, protected.
    path
        The file.
    format
        ``csv`` (1, blocks of rows and columns), ``pivot`` (2, one line per cell with names in front),
        ``code_value`` (3, one line per cell), ``sbs`` (4, with Eurostat's flags: A too few
        contributors, B one dominates, C two dominate, D secondary, V published), ``intermediate``
        (5, a ready table with its description, to be read again), ``jj`` (6), ``ckm`` (7).
    options
        tau-ARGUS' letters, such as ``"AS+FL+"``; see :class:`Choices`.
    confidential
        Say that the file stays inside. The formats 5 and 6 hold the true values of all cells and
        need it; with it the formats 3 and 4 show hidden values beside their status, and 7 the
        originals, as tau-ARGUS does. Without it, hidden values are written as ``x``.
    decimals
        Decimals of the values; by default those of the source, or as many as they need.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    DisclosureRefused
        For a format that holds true values, without ``confidential=True``.
    """
    name = format_name(format)
    choices = Choices.parse(options) if isinstance(options, str) else options
    if name in CONFIDENTIAL and not confidential:
        raise DisclosureRefused(
            f"a file in the {name} format holds the true values of hidden cells: "
            "pass confidential=True, and keep it inside"
        )
    file = Path(path)
    if name == "intermediate":
        return write_intermediate(table, file, choices, decimals)
    if name == "jj":
        write_jj(without_trivial(table) if choices.TR else table, file)
        companion = file.with_name(file.name + ".frq")
        return [file, companion] if companion.is_file() else [file]
    places = places_of(table, decimals)
    writer = Lines(table, choices, confidential, places)
    lines = {
        "csv": writer.blocks,
        "pivot": writer.pivot,
        "code_value": writer.code_value,
        "sbs": writer.sbs,
        "ckm": writer.ckm,
    }[name]()
    with open_atomically(file) as room:
        write_lines(room, list(lines))
    return [file]


def format_name(given: str | int) -> str:
    """Return the name of a format from its name or number."""
    by_number = {str(n): name for name, n in FORMATS.items()}
    name = by_number.get(str(given), str(given).lower().replace("-", "_"))
    if name not in FORMATS:
        raise InputError(
            f"there is no output format {given!r}; they are 1 to 7 or {', '.join(FORMATS)}. "
            f"{near_match(name, FORMATS)}".strip()
        )
    return name


def places_of(table: Table, decimals: int | None) -> int:
    """Return the decimals to write."""
    if decimals is not None:
        return decimals
    going = table.published
    return max(int(table.extra.get("decimals", 0)), decimals_needed(going[~np.isnan(going)]))


@dataclass(frozen=True, eq=False)
class Lines:
    """Makes the lines of the public formats."""

    table: Table
    choices: Choices
    confidential: bool
    places: int

    def number(self, value: float) -> str:
        """Return a value with its decimals."""
        return f"{value + 0.0:.{self.places}f}"

    def quoted(self, text: str) -> str:
        """Return a text as a field."""
        return quote_field(text, always=self.choices.QU)

    def codes(self, cell: int) -> list[str]:
        """Return the codes of a cell as fields."""
        return [self.quoted(c) for c in self.table.codes(cell)]

    def texts(self, *, true: bool = False) -> list[str]:
        """Return each cell as published; ``true`` shows hidden values."""
        table = self.table
        changed = table.changed is not None
        values = table.value if true and not changed else table.published
        return [
            EMPTY if e else HIDDEN if np.isnan(v) or (h and not true) else self.number(float(v))
            for v, h, e in zip(values, table.hidden, table.marked_empty, strict=True)
        ]

    def cells(self, *, skip_empty: bool | None = None) -> list[int]:
        """Return the cells to write."""
        skip = self.choices.SE if skip_empty is None else skip_empty
        return [i for i in range(len(self.table)) if not (skip and self.table.marked_empty[i])]

    def by_cell(
        self, texts: Sequence[str], more: Mapping[str, Callable[[int], str]]
    ) -> Iterator[str]:
        """Yield one line per cell: codes, value and further columns; their names first where asked."""
        if self.choices.FL:
            value = "Freq" if self.table.frequency else self.table.response
            names = [*(self.table.names or ("cell",)), value, *more]
            yield ",".join(map(self.quoted, names))
        for i in self.cells():
            yield ",".join([*self.codes(i), texts[i], *(write(i) for write in more.values())])

    def code_value(self) -> Iterator[str]:
        """Return one line per cell: codes, value and, where asked, the status number."""
        status = self.choices.AS
        texts = self.texts(true=status and self.confidential)
        more = {"Status": lambda i: str(int(self.table.status[i]))} if status else {}
        return self.by_cell(texts, more)

    def pivot(self) -> Iterator[str]:
        """Return the code-value lines, always with names in front."""
        named = dataclasses.replace(self, choices=dataclasses.replace(self.choices, FL=True))
        return named.code_value()

    def blocks(self) -> Iterator[str]:
        """Return rows and columns, one block per combination of the other dimensions."""
        table = self.table
        if not table.is_product:
            raise InputError("blocks of rows and columns need a table that is a full product")
        texts = np.array(self.texts(), dtype=object).reshape(table.shape)
        *layers, across = table.dimensions
        down = layers.pop() if layers else None
        for place in itertools.product(*(range(len(d)) for d in layers)):
            for d, code in zip(layers, place, strict=True):
                yield f"{self.quoted(d.name)},{self.quoted(d.codes[code])}"
            title = self.quoted(down.name if down else "")
            yield ",".join([title, *map(self.quoted, across.codes)])
            grid = texts[place].reshape(-1, len(across))
            heads = down.codes if down else (table.response,)
            for head, row in zip(heads, grid, strict=True):
                yield ",".join([self.quoted(head), *row])

    def sbs(self) -> Iterator[str]:
        """Return codes, levels, value, contributors, flag and the share of the largest."""
        table, flags = self.table, sbs_flags(self.table)
        texts = self.texts(true=self.confidential)
        share = largest_share(table)
        for i in self.cells(skip_empty=True):
            levels = [
                str(int(d.depth[d.position[c]]))
                for d, c in zip(table.dimensions, table.codes(i), strict=False)
            ]
            closed = bool(table.hidden[i]) and not self.confidential
            count = "" if table.count[i] < 0 else str(int(table.count[i]))
            dominance = "" if not self.confidential or np.isnan(share[i]) else f"{share[i]:.3f}"
            shown = levels if self.choices.HL else []
            fields = [*self.codes(i), *shown, texts[i], HIDDEN if closed else count]
            yield ",".join([*fields, flags[i], dominance])

    def ckm(self) -> Iterator[str]:
        """Return the perturbed values and, inside, originals, differences and cell keys."""
        table, choices = self.table, self.choices
        asked = [name for name in ("AO", "AD", "AC") if getattr(choices, name)]
        if asked and not self.confidential:
            raise DisclosureRefused(
                f"the options {', '.join(asked)} undo the perturbation: pass confidential=True, "
                "and keep the file inside"
            )
        if choices.AC and "cell_key" not in table.extra:
            raise InputError("the table has no cell keys to write (option AC)")
        more: dict[str, tuple[bool, Callable[[int], str]]] = {
            "Orig": (choices.AO, lambda i: self.number(float(table.value[i]))),
            "Diff": (choices.AD, lambda i: self.number(float(table.published[i] - table.value[i]))),
            "CellKey": (choices.AC, lambda i: format_all_digits(float(table.extra["cell_key"][i]))),
        }
        columns = {title: write for title, (on, write) in more.items() if on}
        return self.by_cell(self.texts(), columns)


def largest_share(table: Table) -> Floats:
    """Return the share of the largest contributor in each cell; NaN where it is unknown."""
    source = table.holdings or table.contributors
    if source is None:
        return np.full(len(table), np.nan)
    total = np.abs(np.asarray(table.extra.get("rule_total", table.value), dtype=np.float64))
    return np.where(total > 0, source.top[:, 0] / np.where(total > 0, total, 1.0), np.nan)


def sbs_flags(table: Table) -> list[str]:
    """Return Eurostat's flags.

    A cell that a concentration rule calls unsafe is B when its largest contributor has at least half
    of it (or nothing is known of the contributors), and C otherwise.
    """
    share = largest_share(table)
    few = np.isin(table.status, (Status.UNSAFE_FREQUENCY, Status.UNSAFE_SINGLETON)) | (
        is_primary(table.status) & (table.count > 0) & (table.count < 3)
    )
    one = is_primary(table.status) & (np.isnan(share) | (share >= 0.5))
    flags = np.select(
        [few, one, is_primary(table.status), is_secondary(table.status)], ["A", "B", "C", "D"], "V"
    )
    return [str(f) for f in flags]


# -- intermediate --------------------------------------------------------------------------------


def write_intermediate(
    table: Table, file: Path, choices: Choices, decimals: int | None
) -> list[Path]:
    """Write a ready table with its description and hierarchies, to be read again."""
    if not table.dimensions:
        raise InputError("a table that is a bare list of equations is written as JJ")
    if table.given is not None and table.given.shape[0]:
        raise InputError("linked tables are written one by one: take them apart with split")
    places = max(places_of(table, decimals), decimals_needed(table.value))
    columns = intermediate_columns(table, choices, places)
    codes = table.columns_of_codes()
    cells = [i for i in range(len(table)) if not (choices.SE and table.empty[i])]
    lines = [
        ";".join(
            [
                *(quote_field(codes[n][i], ";", always=choices.QU) for n in table.names),
                *(column.texts[i] for column in columns),
            ]
        )
        for i in cells
    ]
    trees = {d.name: d for d in table.dimensions if not d.is_flat}
    hrc = {n: f"{file.stem}_{re.sub(r'[^A-Za-z0-9_-]', '_', n)}.hrc" for n in trees}
    # A leading string that no code begins with.
    leads = {
        n: next((x for x in "@#~^" if not any(c.startswith(x) for c in d.codes)), "@@")
        for n, d in trees.items()
    }
    spanning = [
        span_variable(d, table, hrc.get(d.name), leads.get(d.name)) for d in table.dimensions
    ]
    description = Description(
        (*spanning, *name_columns(columns, table.names)),
        ";",
        tabular=True,
        letters={"SAFE": "S", "UNSAFE": "U", "PROTECT": "P"},
    )
    with open_atomically(file) as room:
        write_lines(room, lines)
        write_rda(description, room.with_suffix(".rda"))
        for n, d in trees.items():
            write_hrc(d, room.with_name(hrc[n]), lead=leads[n])
    return [file, file.with_suffix(".rda"), *(file.with_name(n) for n in hrc.values())]


def span_variable(
    dimension: Dimension, table: Table, hrc: str | None, lead: str | None
) -> Variable:
    """Return the description of a spanning variable."""
    missing = tuple(table.extra.get("missing", {}).get(dimension.name, ()))[:2]
    keywords: dict[str, tuple[str, ...]] = {
        "RECODEABLE": (),
        "TOTCODE": (dimension.codes[dimension.total],),
    }
    if hrc is not None and lead is not None:
        keywords |= {"HIERARCHICAL": (), "HIERCODELIST": (hrc,), "HIERLEADSTRING": (lead,)}
    return Variable(dimension.name, missing=missing, keywords=keywords)


class Column(NamedTuple):
    """A column behind the codes: its name, its texts, and what the description says of it."""

    name: str
    texts: list[str]
    keywords: Mapping[str, tuple[str, ...]]


def intermediate_columns(table: Table, choices: Choices, places: int) -> list[Column]:
    """Return the columns behind the codes."""
    status = table.status
    # Empty, unsafe, secondary, protected, safe.
    sorts = [table.empty, is_primary(status), is_secondary(status), status == Status.PROTECTED]
    letters = [str(x) for x in np.select(sorts, ["E", "U", "M", "P"], "S")]
    if choices.SO:
        return [Column("Status", letters, {"STATUS": ()})]

    def exact(values: Floats) -> list[str]:
        return [format_all_digits(float(v)) for v in values]

    def fixed(values: Any) -> list[str]:
        return [f"{float(v) + 0.0:.{places}f}" for v in np.asarray(values)]

    by_holding = choices.HI and table.holdings is not None
    people = table.holdings if by_holding else table.contributors
    columns: list[Column] = []
    if not table.frequency:
        kind = {"NUMERIC": (), "DECIMALS": (str(places),)}
        columns.append(Column(table.response, fixed(table.value), kind))
    counts = people.count if by_holding and people is not None else table.count
    if (counts >= 0).any() or table.frequency:
        known = table.value if table.frequency and (table.count < 0).all() else counts
        name = table.response if table.frequency else "Freq"
        columns.append(Column(name, [str(int(max(c, 0))) for c in known], {"FREQUENCY": ()}))
    if "shadow" in table.extra:
        kind = {"NUMERIC": (), "SHADOW": ()}
        columns.append(Column("Shadow", fixed(table.extra["shadow"]), kind))
    if table.weight is not None:
        columns.append(Column("Cost", exact(table.weight), {"NUMERIC": (), "COSTVAR": ()}))
    if people is not None:
        tops = people.top.T
        columns += [Column(f"Top{i}", exact(x), {"MAXSCORE": ()}) for i, x in enumerate(tops, 1)]
    columns.append(Column("Status", letters, {"STATUS": ()}))
    columns.append(Column("Lower", exact(table.lower_level), {"NUMERIC": (), "LOWERPL": ()}))
    columns.append(Column("Upper", exact(table.upper_level), {"NUMERIC": (), "UPPERPL": ()}))
    if choices.AR:
        audit = audit_columns(table).items()
        columns += [Column(n, fixed(x), {"AUDIT": ()}) for n, x in audit]
    return columns


def audit_columns(table: Table) -> dict[str, Floats]:
    """Return the attacker's interval of every hidden cell, absolute and in per cent of the value."""
    from tacit.tables.attack.attacker import Attacker
    from tacit.tables.suppress.problem import problem_of

    attacker = Attacker(problem_of(table, singletons=False), table.hidden)
    reach = np.zeros((len(table), 2))
    for cell in np.flatnonzero(table.hidden):
        reach[cell] = [attacker.reach(int(cell), up=up) for up in (False, True)]
    size = np.where(table.value == 0, 1.0, np.abs(table.value))
    high = np.where(np.isinf(reach[:, 1]), 1e15, reach[:, 1])
    return {
        "Audit_low": table.value - reach[:, 0],
        "Audit_high": np.minimum(table.value + high, 1e15),
        "Range": np.minimum(reach[:, 0] + high, 1e15),
        "Low_percent": 100 * reach[:, 0] / size,
        "High_percent": np.minimum(100 * high / size, 1e15),
        "Range_percent": np.minimum(100 * (reach[:, 0] + high) / size, 1e15),
    }


def name_columns(columns: Sequence[Column], taken: Sequence[str]) -> Iterator[Variable]:
    """Yield the description of every column behind the codes, under a name that is free."""
    known = set(taken)
    for column in columns:
        name = column.name
        while name in known:
            name += "_"
        known.add(name)
        yield Variable(name, keywords=column.keywords)


# -- trivial levels ------------------------------------------------------------------------------


def without_trivial(table: Table) -> Table:
    """Return a bare table in which cells tied by a sum of one child are a single cell.

    The joined cell is unsafe when one of them is, with the largest levels.
    """
    matrix = table.equations
    size = np.diff(matrix.indptr)
    starts = matrix.indptr[:-1][size == 2]
    same = np.abs(matrix.data[starts] + matrix.data[starts + 1]) < 1e-12
    ends = starts[same]
    n = len(table)
    graph = sparse.csr_array(
        (np.ones(len(ends)), (matrix.indices[ends], matrix.indices[ends + 1])), shape=(n, n)
    )
    groups, own = connected_components(graph, directed=False)
    first = np.full(groups, n, dtype=np.int64)
    np.minimum.at(first, own, np.arange(n))
    rank = np.select([table.primary, table.secondary, table.fixed], [3, 2, 1], 0)
    best = np.lexsort((np.arange(n), -rank, own))
    lead = best[np.unique(own[best], return_index=True)[1]]

    def largest(values: Floats) -> Floats:
        out = np.full(groups, -np.inf)
        np.maximum.at(out, own, np.asarray(values, dtype=np.float64))
        return out

    kept = np.ones(matrix.shape[0], dtype=bool)
    kept[np.flatnonzero(size == 2)[same]] = False
    rows = matrix[kept]
    joined = sparse.csr_array(
        (rows.data, own[rows.indices], rows.indptr), shape=(rows.shape[0], groups)
    )
    return Table.from_cells(
        (),
        table.value[first],
        count=np.asarray(table.count)[first],
        status=table.status[lead],
        weight=None if table.weight is None else table.weight[first],
        lower=largest(table.lower),
        upper=-largest(-np.asarray(table.upper)),
        lower_level=largest(table.lower_level),
        upper_level=largest(table.upper_level),
        sliding_level=largest(table.sliding_level),
        equations=distinct_rows(joined),
        response=table.response,
        frequency=table.frequency,
        source=table.source,
    )
