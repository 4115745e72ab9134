"""A-priori files (``.hst``): what is known or wanted of single cells before a table is protected.

One line per cell: a code for each dimension, a command, its numbers.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tacit.data.cells.dimension import Dimension
from tacit.data.cells.status import Status
from tacit.data.decimals import format_all_digits
from tacit.data.table import Table
from tacit.errors import InputError, SdcError, UnreadableFile
from tacit.io.lines import iterate_numbered, open_atomically, plain_number, quote_field, write_lines

#: Each command, with how many numbers may follow it.
COMMANDS = {
    "s": (0,),
    "u": (0,),
    "p": (0,),
    "m": (0,),
    "ml": (0,),
    "w": (1,),
    "c": (1,),
    "pl": (1, 2),
    "ab": (1, 2),
}


#: The command of a line that cannot be read.
FAULTY = ""


@dataclass(frozen=True)
class Instruction:
    """One line of an a-priori file."""

    line: int
    codes: tuple[str, ...]
    command: str
    numbers: tuple[float, ...] = ()
    #: Why the line cannot be read.
    fault: str = ""


def read_hst(
    path: str | Path,
    separator: str | None = None,
    *,
    dimensions: int | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> tuple[Instruction, ...]:
    """Read an a-priori file.

    Parameters
    ----------
    path
        The file.
    separator
        What parts the fields; it must occur in the first line. By default ``;`` or else ``,``.
    dimensions
        How many codes name a cell; by default found from the command in each line.
    ignore_errors
        Return a line that cannot be read as an instruction without a command, with its fault,
        instead of stopping.
    encoding
        How the text is encoded.

    Raises
    ------
    UnreadableFile
        Naming the first line that is wrong.
    """
    name = Path(path).name
    lines = [
        (n, line)
        for n, line in iterate_numbered(path, encoding)
        if not line.strip().startswith("//")
    ]
    if not lines:
        return ()
    mark = separator or (";" if ";" in lines[0][1] else ",")
    if mark not in lines[0][1]:
        raise UnreadableFile(f"{name!r}, line {lines[0][0]}: there is no separator {mark!r}")
    found = []
    for number, line in lines:
        try:
            found.append(instruction(line, mark, number, name, dimensions))
        except UnreadableFile as error:
            if not ignore_errors:
                raise
            found.append(Instruction(number, (), FAULTY, (), str(error)))
    return tuple(found)


def instruction(
    line: str, separator: str, number: int, name: str, dimensions: int | None
) -> Instruction:
    """Read one line: the command is the last word that is one, with the right numbers behind it."""
    where = f"{name!r}, line {number}"
    fields = next(csv.reader([line.replace("\t", " ")], delimiter=separator, skipinitialspace=True))
    fields = [f.strip() for f in fields]
    while fields and not fields[-1]:
        fields.pop()
    at = next(
        (i for i in reversed(range(len(fields))) if fields[i].lower() in COMMANDS and i > 0), None
    )
    if at is None:
        raise UnreadableFile(f"{where}: no command; they are {', '.join(COMMANDS)}")
    command = fields[at].lower()
    numbers = [plain_number(f, comma=separator != ",") for f in fields[at + 1 :]]
    if len(numbers) not in COMMANDS[command] or any(n is None for n in numbers):
        wanted = " or ".join(map(str, COMMANDS[command]))
        raise UnreadableFile(f"{where}: {command!r} is followed by {wanted} numbers")
    if dimensions is not None and at != dimensions:
        raise UnreadableFile(f"{where}: {dimensions} codes name a cell, and {at} were found")
    known = tuple(n for n in numbers if n is not None)
    return Instruction(number, tuple(fields[:at]), command, known)


class Change:
    """The arrays of a table while instructions are carried out."""

    def __init__(self, table: Table, manual_range: float | None) -> None:
        self.table, self.manual_range = table, manual_range
        self.status = table.status.copy()
        self.weight: np.ndarray | None = None
        self.lower, self.upper = np.array(table.lower_level), np.array(table.upper_level)

    def carry_out(self, command: str, numbers: Sequence[float], cell: int) -> None:
        """Carry out one command on one cell, or say why not."""
        now = Status(int(self.status[cell]))
        if command in {"w", "c"}:
            self.set_cost(cell, numbers[0])
        elif command == "ab":
            raise InputError("a-priori bounds (ab) are not carried out; use with_bounds")
        elif command == "pl":
            self.require(now, Status.UNSAFE, Status.UNSAFE_MANUAL, "given protection levels")
            if min(numbers) < 0:
                raise InputError("protection levels must not be negative")
            self.lower[cell], self.upper[cell] = numbers[0], numbers[-1]
        elif command == "s":
            self.require(now, Status.SAFE, Status.PROTECTED, "called safe")
            self.status[cell] = Status.SAFE_MANUAL
            self.lower[cell] = self.upper[cell] = 0.0
        elif command == "u":
            self.set_unsafe(cell, now)
        else:
            self.require(now, Status.SAFE, Status.SAFE_MANUAL, "published or hidden by hand")
            self.status[cell] = Status.PROTECTED if command == "p" else Status.SECONDARY_MANUAL

    def require(self, now: Status, first: Status, last: Status, what: str) -> None:
        """Refuse a command on a cell of another status."""
        if not first <= now <= last:
            raise InputError(f"a cell that is {now.word} cannot be {what}")

    def set_unsafe(self, cell: int, now: Status) -> None:
        """Call a cell unsafe, with the manual range."""
        self.require(now, Status.SAFE, Status.UNSAFE_MANUAL, "called unsafe")
        if self.manual_range is None:
            raise InputError("calling cells unsafe needs the manual safety range")
        level = self.manual_range / 100 * abs(float(self.table.value[cell]))
        self.status[cell] = Status.UNSAFE_MANUAL
        self.lower[cell] = max(self.lower[cell], level)
        self.upper[cell] = max(self.upper[cell], level)

    def set_cost(self, cell: int, cost: float) -> None:
        """Set the cost of a cell; 0 is read as 1."""
        if cost < 0:
            raise InputError("the cost of a cell must be positive")
        if self.weight is None:
            self.weight = np.array(self.table.costs("value"), dtype=np.float64)
        self.weight[cell] = cost or 1.0

    def result(self) -> Table:
        """Return the new table."""
        table = self.table.with_(status=self.status, lower_level=self.lower, upper_level=self.upper)
        return table if self.weight is None else table.with_weight(self.weight)


def apply_hst(
    table: Table,
    path: str | Path | Iterable[Instruction],
    separator: str | None = None,
    *,
    manual_range: float | None = 20.0,
    ignore_errors: bool = False,
    expand_trivial: bool = False,
) -> Table:
    """Apply an a-priori file to a table.

    Parameters
    ----------
    table
        The table, before it is protected.
    path
        The file, or instructions that were read.
    separator
        What parts the fields of the file.
    manual_range
        Protection levels, in per cent of the value, of cells that are called unsafe.
    ignore_errors
        Pass over lines that are wrong instead of stopping at the first.
    expand_trivial
        Apply each line also to the cells above and below it that hold the same, because a parent has
        a single child.

    Returns
    -------
    Table
        ``extra["apriori"]`` counts the lines that were applied, and lists those passed over with why.

    Raises
    ------
    InputError
        Naming the first line that cannot be applied: ``s`` makes a cell safe, ``u`` unsafe, ``p``
        protects it from being hidden, ``m`` and ``ml`` hide it, ``w`` and ``c`` set its cost, ``pl``
        its protection levels; a protected cell cannot become unsafe, nor an unsafe one protected.
    """
    if not table.dimensions:
        raise InputError("an a-priori file names cells by codes, and this table has only equations")
    skipped: list[tuple[int, str]] = []
    name = Path(path).name if isinstance(path, str | Path) else "instructions"
    if isinstance(path, str | Path):
        n = len(table.dimensions)
        every = read_hst(path, separator, dimensions=n, ignore_errors=ignore_errors)
    else:
        every = tuple(path)
    change = Change(table, manual_range)
    applied = 0
    for one in every:
        if one.fault:
            skipped.append((one.line, one.fault))
            continue
        try:
            cell = table.index(one.codes)
            for other in find_twins(table, cell) if expand_trivial else (cell,):
                change.carry_out(one.command, one.numbers, other)
        except SdcError as error:
            if not ignore_errors:
                cell_name = " x ".join(c or "total" for c in one.codes)
                raise InputError(f"{name!r}, line {one.line} ({cell_name}): {error}") from None
            skipped.append((one.line, str(error)))
        else:
            applied += 1
    made = change.result()
    facts = {"applied": applied, "skipped": tuple(skipped)}
    return made.with_(extra={**made.extra, "apriori": facts})


def find_twins(table: Table, cell: int) -> list[int]:
    """Return the cells that must hold the same as a cell because parents have single children."""
    chains = []
    for d, code in zip(table.dimensions, table.codes(cell), strict=True):
        chains.append([d.codes[c] for c in single_chain(d, d.position[code])])
    found = []
    for codes in itertools.product(*chains):
        try:
            found.append(table.index(codes))
        except InputError:
            continue
    return found


def single_chain(dimension: Dimension, code: int) -> list[int]:
    """Return a code with the ones tied to it by sums of a single child."""
    pairs = [(s.parent, s.children[0]) for s in dimension.sums if len(s.children) == 1]
    chain = {code}
    while True:
        more = {b for a, b in pairs if a in chain} | {a for a, b in pairs if b in chain}
        if more <= chain:
            return sorted(chain)
        chain |= more


def write_hst(
    table: Table,
    path: str | Path,
    *,
    previous: Table | None = None,
    hidden: float = 1.0,
    published: float = 10.0,
    separator: str = ",",
) -> int:
    """Write an a-priori file, from what has been set by hand or from last period's protected table.

    Parameters
    ----------
    table
        The table that is to be protected now.
    path
        The file.
    previous
        Last period's protected table. Cells that were hidden then get the cost ``hidden``, cells
        that were published then ``published`` times their own cost; cells that it lacks get no line.
        Hiding the same cells in every period keeps published figures from being combined.
    hidden, published
        See ``previous``.
    separator
        What parts the fields.

    Returns
    -------
    int
        How many lines were written.
    """
    if not table.dimensions:
        raise InputError("an a-priori file names cells by codes, and this table has only equations")
    lines = manual_lines(table)
    if previous is not None:
        lines = make_cost_lines(table, previous, hidden, published)
    texts = []
    for one in lines:
        codes = (quote_field(c, separator) for c in one.codes)
        texts.append(separator.join([*codes, one.command, *map(format_all_digits, one.numbers)]))
    with open_atomically(path) as room:
        write_lines(room, texts)
    return len(texts)


def manual_lines(table: Table) -> list[Instruction]:
    """Return lines for what was decided by hand: safe, unsafe with levels, published, hidden."""
    letters = {
        Status.SAFE_MANUAL: "s",
        Status.UNSAFE_MANUAL: "u",
        Status.PROTECTED: "p",
        Status.SECONDARY_MANUAL: "m",
    }
    lines = []
    for status, letter in letters.items():
        for cell in np.flatnonzero(table.status == status):
            codes = table.codes(int(cell))
            lines.append(Instruction(0, codes, letter))
            if letter == "u":
                levels = (float(table.lower_level[cell]), float(table.upper_level[cell]))
                lines.append(Instruction(0, codes, "pl", levels))
    if table.weight is not None:
        lines += [
            Instruction(0, table.codes(int(c)), "w", (float(table.weight[c]),))
            for c in np.flatnonzero(~table.empty)
            if table.weight[c] > 0
        ]
    return lines


def make_cost_lines(
    table: Table, previous: Table, hidden: float, published: float
) -> list[Instruction]:
    """Return cost lines that favour the cells hidden in the previous period."""
    if previous.names != table.names:
        raise InputError(
            f"the previous table has the dimensions {previous.names}, and this one {table.names}"
        )
    if hidden <= 0 or published <= 0:
        raise InputError("the costs of cells must be positive")
    before = {previous.codes(i): bool(h) for i, h in enumerate(previous.hidden)}
    costs = table.costs("value")
    lines = []
    for cell in np.flatnonzero(~table.empty):
        codes = table.codes(int(cell))
        if codes in before:
            price = hidden if before[codes] else max(published * float(costs[cell]), 2 * hidden)
            lines.append(Instruction(0, codes, "w", (price,)))
    return lines
