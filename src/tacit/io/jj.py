"""The JJ format: a table as a list of cells and a list of equations; CSPLIB files are the same.

The file holds, in lines: ``0``; the number of cells; ``id value weight status lb ub LPL UPL SPL`` for
each; the number of equations; ``0 terms : id (coefficient) ...`` for each. Suppression, rounding,
adjustment and audit programs read it. It holds the true values: keep it inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.status import Status, Statuses, is_empty, is_primary, is_secondary
from tacit.data.decimals import decimals_needed, format_all_digits, tidy_numbers
from tacit.data.table import Table
from tacit.errors import UnreadableFile
from tacit.io.formats import FileFormat
from tacit.io.lines import (
    iterate_numbered,
    number_at,
    open_atomically,
    write_lines,
)

FORMAT = FileFormat("table", reads=(".jj", ".csp"), reader="read_jj", rank=2)

Lines = Iterator[tuple[int, str]]

#: Equations are listed as ``id (coefficient)``.
TERM = re.compile(r"(\d+)\s*\(\s*([-+]?[0-9.]+(?:[eE][-+]?\d+)?)\s*\)")
LETTERS = {
    "s": Status.SAFE,
    "u": Status.UNSAFE,
    "z": Status.PROTECTED,
    "m": Status.SECONDARY,
}
#: Costs are whole numbers that fit in 31 bits.
LARGEST_COST = 2**31 - 1
#: Costs that are not whole are scaled so that the largest becomes this.
SCALED_COST = 10**6


def read_jj(path: str | Path, *, frequencies: str | Path | None = None) -> Table:
    """Read a table in JJ format as a bare list of cells and equations.

    Status ``u`` is unsafe, ``m`` a secondary suppression, ``z`` must be published, or is empty when
    the value (and the count, where known) is 0. The order of the cells is the order of the file.

    Parameters
    ----------
    path
        The file (``.jj``, ``.csp`` or any other ending).
    frequencies
        The companion with the contributors of each cell; by default the file of the same name with
        ``.frq`` added, where there is one. Its second number counts holdings, and is taken as the
        count of contributors where it is known; the first is then kept in ``extra["record_count"]``.

    Raises
    ------
    UnreadableFile
        Naming the line that is wrong.
    NotAdditive
        Naming the equations that do not hold.
    """
    file = Path(path)
    lines = iterate_numbered(file)
    opening = whole_number(lines, file, "0, the opening line")
    if opening != 0:
        raise UnreadableFile(f"{file.name!r}, line 1: a JJ file begins with a line 0")
    n = whole_number(lines, file, "the number of cells")
    cells, letters = read_cells(lines, n, file)
    matrix = read_equations(lines, n, file)
    rest = next(lines, None)
    if rest is not None:
        raise UnreadableFile(f"{file.name!r}, line {rest[0]}: more lines than equations")
    companion = Path(frequencies) if frequencies is not None else Path(f"{file}.frq")
    counts = extra = None
    if frequencies is not None or companion.is_file():
        counts, extra = read_frequencies(companion, n)
    status = np.array([LETTERS[x] for x in letters], dtype=np.int8)
    bare = (status == Status.PROTECTED) & (cells[:, 0] == 0)
    status[bare if counts is None else bare & (counts <= 0)] = Status.EMPTY
    return Table.from_cells(
        (),
        cells[:, 0],
        count=counts,
        status=status,
        weight=cells[:, 1],
        lower=cells[:, 2],
        upper=cells[:, 3],
        lower_level=cells[:, 4],
        upper_level=cells[:, 5],
        sliding_level=cells[:, 6],
        equations=matrix,
        source=str(file),
        extra=extra or {},
    )


def whole_number(lines: Lines, file: Path, what: str) -> int:
    """Read a line that holds one whole number."""
    number, line = next(lines, (0, ""))
    if not re.fullmatch(r"\d+", line.strip()):
        at = f"line {number}" if number else "its end"
        raise UnreadableFile(f"{file.name!r}, {at}: {what} is expected")
    return int(line)


def read_cells(lines: Lines, n: int, file: Path) -> tuple[Floats, list[str]]:
    """Read the cells: numbers (value, weight, bounds, levels) and status letters."""
    cells = np.empty((n, 7))
    letters: list[str] = []
    for i in range(n):
        number, line = next(lines, (0, ""))
        where = f"{file.name!r}, line {number}" if number else f"{file.name!r}, its end"
        words = line.split()
        if len(words) != 9:
            raise UnreadableFile(
                f"{where}: a cell is 'id value weight status lb ub LPL UPL SPL', 9 words"
            )
        if words[0] != str(i):
            raise UnreadableFile(f"{where}: the cell {i} is expected; cells are numbered from 0")
        if words[3].lower() not in LETTERS:
            raise UnreadableFile(f"{where}: the status is s, u, z or m")
        letters.append(words[3].lower())
        cells[i] = [number_at(w, where) for w in (*words[1:3], *words[4:])]
        if (cells[i, [1, 4, 5, 6]] < 0).any():
            raise UnreadableFile(f"{where}: the weight and the levels must not be negative")
    return cells, letters


def read_equations(lines: Lines, n: int, file: Path) -> sparse.csr_array:
    """Read the equations; a total stands at -1, whatever sign the file gave it."""
    m = whole_number(lines, file, "the number of equations")
    ends, columns, values = [0], list[int](), list[float]()
    for _ in range(m):
        number, line = next(lines, (0, ""))
        where = f"{file.name!r}, line {number}" if number else f"{file.name!r}, its end"
        head, colon, tail = line.partition(":")
        words, terms = head.split(), TERM.findall(tail)
        if not colon or len(words) != 2 or TERM.sub("", tail).strip():
            raise UnreadableFile(f"{where}: an equation is '0 terms : id (coefficient) ...'")
        if number_at(words[0], where) != 0:
            raise UnreadableFile(f"{where}: the right-hand side of an equation must be 0")
        if words[1] != str(len(terms)):
            raise UnreadableFile(f"{where}: {words[1]} terms are announced, {len(terms)} are there")
        own = [int(i) for i, _ in terms]
        if max(own, default=-1) >= n or len(set(own)) < len(own):
            raise UnreadableFile(f"{where}: a cell that does not exist, or twice the same")
        signs = [float(c) for _, c in terms]
        turned = sum(c > 0 for c in signs) == 1 and len(signs) > 2
        columns += own
        values += [-c for c in signs] if turned else signs
        ends.append(len(columns))
    return sparse.csr_array((np.array(values), np.array(columns, dtype=np.int64), ends), (m, n))


def read_frequencies(path: Path, n: int) -> tuple[Ints, dict[str, Ints]]:
    """Read the companion: records and holdings behind each cell."""
    pairs = []
    for number, line in iterate_numbered(path):
        words = line.split()
        if not 1 <= len(words) <= 2 or not all(re.fullmatch(r"\d+", w) for w in words):
            raise UnreadableFile(f"{path.name!r}, line {number}: 'frequency holdings' is expected")
        pairs.append([int(words[0]), int(words[-1]) if len(words) == 2 else 0])
    if len(pairs) != n:
        raise UnreadableFile(f"{path.name!r} has {len(pairs):,} lines for {n:,} cells")
    counts = np.array(pairs, dtype=np.int64).reshape(n, 2)
    if not counts[:, 1].any():
        return counts[:, 0], {}
    return counts[:, 1], {"record_count": counts[:, 0]}


def write_jj(table: Table, path: str | Path, *, unbounded: float | None = None) -> None:
    """Write a table in JJ format, with the contributors in a companion ``.frq`` where they are known.

    The file holds the true values of all cells: keep it inside.

    Parameters
    ----------
    table
        Any table; cells are numbered in its order.
    path
        The file.
    unbounded
        What stands for an upper (or lower) bound that outsiders do not know; by default a power of
        ten above ten times the largest value.

    Notes
    -----
    Weights are whole numbers from 1 to 2**31 - 1, scaled where they are not. An unsafe cell whose
    levels are all 0 gets an upper level of one unit in the last decimal, so that readers protect it
    from exact disclosure.
    """
    largest = max(1.0, float(np.abs(table.value).max(initial=0)))
    far = unbounded or 10.0 ** np.ceil(np.log10(10 * largest))
    lines = ["0", str(len(table)), *cell_lines(table, far)]
    matrix = table.equations
    lines += [str(matrix.shape[0]), *equation_lines(matrix)]
    with open_atomically(path) as room:
        write_lines(room, lines)
        if (table.count >= 0).any():
            write_lines(room.with_name(room.name + ".frq"), frequency_lines(table))


def cell_lines(table: Table, far: float) -> list[str]:
    """Return one line per cell."""
    unit = 10.0 ** -decimals_needed(table.value)
    primary, empty = is_primary(table.status), is_empty(table.status)
    low = np.clip(np.where(empty, 0.0, table.lower), -far, far)
    high = np.clip(np.where(empty, 0.0, table.upper), -far, far)
    none = (
        primary & (table.lower_level == 0) & (table.upper_level == 0) & (table.sliding_level == 0)
    )
    levels = [
        np.where(primary, table.lower_level, 0.0),
        np.where(none, unit, np.where(primary, table.upper_level, 0.0)),
        np.where(primary, table.sliding_level, 0.0),
    ]
    columns = (table.value, low, high, *levels)
    texts = [[format_all_digits(x) for x in tidy_numbers(column)] for column in columns]
    costs, letters = whole_costs(table), letters_of(table.status, primary, empty)
    rows = zip(texts[0], costs, letters, *texts[1:], strict=True)
    return [" ".join(map(str, (i, *row))) for i, row in enumerate(rows)]


def letters_of(status: Statuses, primary: Flags, empty: Flags) -> list[str]:
    """Return the status letter of each cell."""
    held = (status == Status.PROTECTED) | empty
    codes = np.select([primary, is_secondary(status), held], ["u", "m", "z"], "s")
    return [str(c) for c in codes]


def whole_costs(table: Table) -> list[int]:
    """Return the costs as whole numbers of at least 1."""
    costs = np.asarray(table.costs("value"), dtype=np.float64)
    top = float(costs.max(initial=1.0))
    rounded = np.maximum(np.round(costs), 1.0)
    if not np.allclose(costs, rounded, rtol=0, atol=1e-9) and table.weight is not None:
        costs = costs * max(1.0, SCALED_COST / top)
    if costs.max(initial=0) > LARGEST_COST:
        costs = costs * (LARGEST_COST / costs.max())
    return [max(1, int(c)) for c in np.round(costs)]


def equation_lines(matrix: sparse.csr_array) -> Iterator[str]:
    """Return one line per equation, the total first."""
    for row in range(matrix.shape[0]):
        at = slice(matrix.indptr[row], matrix.indptr[row + 1])
        terms = list(zip(matrix.indices[at].tolist(), matrix.data[at].tolist(), strict=True))
        terms.sort(key=lambda term: (term[1] > 0, term[0]))
        parts = " ".join(f"{cell} ({format_all_digits(c)})" for cell, c in terms)
        yield f"0 {len(terms)} : {parts}"


def frequency_lines(table: Table) -> list[str]:
    """Return the records and holdings behind each cell."""
    records = np.asarray(table.extra.get("record_count", table.count))
    if table.holdings is not None:
        holdings = table.holdings.count
    elif "record_count" in table.extra:
        holdings = table.count
    else:
        holdings = np.zeros(len(table), dtype=np.int64)
    return [f"{max(int(r), 0)} {max(int(h), 0)}" for r, h in zip(records, holdings, strict=True)]
