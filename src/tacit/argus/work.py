"""What a batch works on: its files, each of its tables with its rules and costs in our terms, and the records behind them."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.cells.dimension import Dimension
from tacit.data.microdata import Microdata
from tacit.data.paths import require_file
from tacit.data.table import Table
from tacit.engine import get_engine
from tacit.errors import InputError, UnreadableFile
from tacit.events import never_interrupted
from tacit.io import argus
from tacit.io.hrc import dimension_of
from tacit.io.lines import file_beside, write_lines
from tacit.io.rda import Description, Variable, read_rda
from tacit.io.read import assemble, read
from tacit.io.tab import FREQUENCY

#: Levels of cells that are called unsafe by hand, in per cent, when MAN does not say.
MANUAL_RANGE = 20.0


@dataclass
class Work:
    """One table of a batch while it is worked on."""

    line: int
    explanatory: Sequence[str]
    response: str | None
    shadow: str | None
    cost: str | None
    power: float
    data: Path
    metadata: Path
    rules: list[list[Any]] = field(default_factory=list)
    base: Table | None = None
    judged: Table | None = None
    current: Table | None = None
    recodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def is_count(self) -> bool:
        """Return True for a table of counts."""
        return self.response is None or self.response.lower() == FREQUENCY

    @property
    def cost_column(self) -> str | None:
        """Return the variable that holds the costs of cells, where it is one of its own."""
        own = self.cost and not self.cost.startswith("-") and self.cost != self.response
        return self.cost if own else None

    def numbers(self, rule: str) -> list[list[float]]:
        """Return the numbers of each rule of a name, in order."""
        return [numbers for name, numbers in self.rules if name == rule]

    def single(self, rule: str, blank: float) -> float:
        """Return the number of a rule that has one."""
        found = self.numbers(rule)
        return float(found[0][0]) if found else blank

    @property
    def manual_range(self) -> float:
        """Return the levels of cells called unsafe by hand, in per cent."""
        return self.single("MAN", MANUAL_RANGE)

    @property
    def uses_holdings(self) -> bool:
        """Return True when some rule is to judge holdings."""
        return any(
            any(n)
            for name, first in (("P", 2), ("NK", 2), ("FREQ", 1), ("REQ", 1))
            for n in self.numbers(name)[first:]
        )

    @property
    def top(self) -> int:
        """Return how many of the largest contributions the rules need."""
        needed = [int(n[-1]) + 1 for n in self.numbers("P") if len(n) > 1]
        needed += [int(n[0]) for n in self.numbers("NK")]
        return max(3, *needed) if needed else 3


def rules_of(work: Work) -> list[tuple[str, dict[str, Any]]]:
    """Return the rules of a table as ours, in the order in which they are tried.

    Of P and NK the first two judge records and the others holdings; of FREQ and REQ the first judges
    records and the second holdings. A rule of zeros holds a place.
    """
    missing = {"missing_safe": bool(work.single("MIS", 0))}
    found: list[tuple[str, dict[str, Any]]] = []

    def level(place: int, records: int) -> dict[str, Any]:
        return {"level": "record" if place < records else "holding", **missing}

    if work.is_count and any(any(n) for r in ("P", "NK") for n in work.numbers(r)):
        raise InputError("dominance and p% rules do not apply to a table of counts")
    for i, n in enumerate(work.numbers("NK")):
        if any(n):
            found.append(("dominance", {"n": int(n[0]), "k": n[1], **level(i, 2)}))
    for i, n in enumerate(work.numbers("P")):
        if any(n) and len(n) == 3:
            found.append(("pq", {"p": n[0], "q": n[1], "n": int(n[2]) or 1, **level(i, 2)}))
        elif any(n):
            size = int(n[1]) if len(n) > 1 else 1
            found.append(("p_percent", {"p": n[0], "n": size or 1, **level(i, 2)}))
    for i, n in enumerate(work.numbers("REQ")):
        if any(n):
            given = {"share": n[0], "second_share": n[1] or None, "minimum": int(n[2])}
            found.append(("request", {**given, "range": n[3], **level(i, 1)}))
    for i, n in enumerate(work.numbers("FREQ")):
        if n[0]:
            given = {"n": int(n[0]), "range": n[1] if len(n) > 1 else 0.0, "keep_levels": True}
            found.append(("minimum_frequency", {**given, **level(i, 1)}))
    zeros = [n[0] for n in work.numbers("ZERO") if any(n)]
    return found + [("zero_cells", {"range": x, **missing}) for x in zeros]


def cost_of(work: Work, *, distances: bool = False) -> dict[str, Any]:
    """Return the cost of SPECIFYTABLE as parameters of a suppression.

    The cost by distance (-3) is known to the modular method only, with one list of distances for all
    spanning variables.
    """
    words = dict.fromkeys(("-1", "freq", "frequency"), "frequency")
    words |= dict.fromkeys(("-2", "unity", "unit"), "unit")
    given = (work.cost or "").lower()
    if given == "-3":
        if not distances:
            raise InputError("the distance cost function (-3) is known to MOD only")
        return {"distance": distance_of(work)}
    return {"cost": words.get(given, "value"), "power": work.power}


def distance_of(work: Work) -> tuple[float, ...]:
    """Return the costs by distance that the description gives to all spanning variables alike."""
    described = read_rda(work.metadata)
    lists = set()
    for name in work.explanatory:
        found = described.variable(name).numbers("DISTANCE")
        if found:
            lists.add((*found, *[found[-1]] * (5 - len(found)))[:5])
    if len(lists) != 1:
        raise InputError(
            "the distance cost function (-3) needs the same <DISTANCE> for the spanning variables"
        )
    return lists.pop()


def seconds(minutes: float, name: str) -> dict[str, float]:
    """Return a limit in seconds under its name; 0 minutes set none."""
    return {name: 60 * minutes} if minutes > 0 else {}


def outcome(table: Table) -> str:
    """Return what a method did, in aggregates."""
    kind, unsafe, secondary = table.history[-1].kind, table.primary.sum(), table.secondary.sum()
    if table.changed is not None:
        return f"{kind} done, {len(table):,} cells"
    return f"{kind} done, {int(unsafe):,} unsafe and {int(secondary):,} secondary cells"


#: The letter of <CKM> to what the noise of a magnitude is measured by.
CKM_LETTERS = {"T": "top", "M": "mean", "D": "range", "V": "value"}


def magnitude_noise(variable: Variable) -> dict[str, Any]:
    """Return the parameters of cell-key noise that stand under a response in the description."""
    given: dict[str, Any] = {}
    letter, *numbers = parse_call(variable, "CKM")
    if letter == "N":
        raise InputError(f"the description excludes {variable.name!r} from the cell-key method (N)")
    if letter in CKM_LETTERS:
        given["scale_by"] = CKM_LETTERS[letter]
        if letter == "T" and numbers:
            given["top"] = int(float(numbers[0]))
    keywords = {"INCLUDEZEROS": "zeros", "PARITY": "parity", "SEPARATION": "separation"}
    for keyword, name in keywords.items():
        if variable.word(keyword) is not None:
            given[name] = str(variable.word(keyword)).upper().startswith("Y")
    form, *amounts = parse_call(variable, "SCALING")
    values = [float(a) for a in amounts]
    names: tuple[str, ...] = ()
    if form == "F" and len(values) >= 4:
        given["scaling"], names = "flex", ("sigma0", "sigma1", "xstar", "q")
    elif form == "N" and values:
        given["scaling"], names = "simple", ("sigma1",)
    given |= dict(zip(names, values, strict=False))
    if names and values[len(names) :]:
        given["epsilon"] = tuple(values[len(names) :])
    return given


def parse_call(variable: Variable, keyword: str) -> list[str]:
    """Return ``T(3)`` or ``F(0.1, 0.2)`` as a letter and its numbers; one empty text when absent."""
    text = "".join(variable.keywords.get(keyword, ()))
    return [part for part in re.split(r"[(),\s]+", text) if part] or [""]


# -- the records of a batch: read by their description, and made ready to be tabulated --------------


#: The column that says who asked for protection.
REQUEST_COLUMN = "__request__"
#: The code of records whose field is blank, where no missing code is described.
BLANK = "(blank)"


def read_records(file: Path, described: Description) -> Microdata:
    """Read records with their description; no column plays a role."""
    if described.spss or file.suffix.lower() == ".sav":
        data = read(str(file))
        absent = [v.name for v in described.variables if v.name not in data.columns]
        if absent:
            raise InputError(f"{file.name!r} has no variable {absent[0]!r}")
        return data
    require_file(file)
    read_fields = argus.cut_fixed_fields if described.separator is None else argus.free_fields
    texts = read_fields(file, described, "utf-8")
    columns = {}
    for variable, text in zip(described.variables, texts, strict=True):
        own = text.slice(1) if described.names_in_front else text
        if variable.numeric:
            if described.separator != ",":
                own = pc.replace_substring(own, ",", ".")
            own = argus.parse_numbers(own, variable)
        columns[variable.name] = own
    engine = get_engine("duckdb")
    frame = engine.number_rows(engine.from_arrow(pa.table(columns)))
    return assemble(frame, engine, {}, str(file), lambda t: t)


def prepare_records(
    data: Microdata, work: Work, described: Description
) -> tuple[Microdata, list[str]]:
    """Return records ready to be tabulated: no blank codes, no missing codes among numbers."""
    notes, columns = list[str](), dict[str, Any]()
    for name in work.explanatory:
        v = described.variable(name)
        column = data.column(v.name)
        if column.null_count:
            columns[v.name] = pc.fill_null(pc.cast(column, pa.string()), blank_code(v))
            notes.append(
                f"{column.null_count:,} records have no code of {v.name!r}: {blank_code(v)!r}"
            )
    used = {work.response if not work.is_count else None, work.shadow, work.cost}
    for used_name in sorted(str(u) for u in used if u is not None):
        if used_name.startswith("-") or used_name.lower() == FREQUENCY:
            continue
        v = described.variable(used_name)
        column = data.column(v.name)
        if pa.types.is_string(column.type):
            raise InputError(f"{v.name!r} is not described as a number (<NUMERIC>)")
        codes = [float(m) for m in v.missing if re.fullmatch(r"-?\d+(\.\d+)?", m)]
        values = pc.cast(column, pa.float64())
        absent = pc.or_(pc.is_null(values), pc.is_in(values, pa.array(codes, pa.float64())))
        n = int(pc.sum(absent).as_py() or 0)
        if n:
            columns[v.name] = pc.if_else(absent, 0.0, values)
            notes.append(f"{n:,} records have no value of {v.name!r} and contribute 0")
    asked = described.first("REQUEST")
    if work.numbers("REQ"):
        if asked is None:
            raise InputError("the request rule needs a variable with <REQUEST>")
        codes_asked = [*asked.keywords["REQUEST"], "1"][:2]
        texts = pc.utf8_trim_whitespace(pc.cast(data.column(asked.name), pa.string()))
        flags = np.zeros(len(texts), dtype=np.int64)
        for value, code in enumerate(codes_asked, 1):
            hit = pc.fill_null(pc.equal(texts, code), False)
            flags = np.where(np.asarray(hit), value, flags)
        columns[REQUEST_COLUMN] = flags
    return (data.replace(columns) if columns else data), notes


def blank_code(variable: Variable) -> str:
    """Return the code under which records without a code stand."""
    return variable.missing[0] if variable.missing else BLANK


def span(data: Microdata, variable: Variable, folder: Path) -> Dimension:
    """Return the dimension of a spanning variable with the codes of the records."""
    codes = pc.unique(data.column(variable.name)).to_pylist()
    words = [str(c) for c in codes if c is not None]
    known = Variable(
        variable.name,
        variable.start,
        variable.length,
        (*variable.missing, BLANK) if BLANK in words else variable.missing,
        variable.keywords,
    )
    return dimension_of(known, words, folder)


class BatchFiles:
    """The files that a batch reads and writes."""

    def __init__(self, file: Path, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"there is no folder {str(folder)!r}")
        self.file, self.folder = file, folder
        self.room = folder / f".{file.stem}-{secrets.token_hex(4)}.partial"
        self.outputs: dict[Path, Path] = {}
        self.writes = 0
        self.inputs: set[Path] = {file.resolve()}

    def source(self, name: str, *beside: Path) -> Path:
        """Return an input file, as named, beside the batch or in the folder; no output may replace it."""
        named, relative = Path(name), self.file.parent / re.sub(r"\\", "/", name)
        near = (file_beside(folder, name) for folder in (self.file.parent, self.folder, *beside))
        found: Path | None
        if named.is_absolute() and named.is_file():
            found = named
        else:
            found = relative if relative.is_file() else next((f for f in near if f), None)
        if found is None:
            raise UnreadableFile(
                f"no file {name!r} beside the batch file or in {str(self.folder)!r}"
            )
        self.inputs.add(found.resolve())
        return found

    def target(self, name: str) -> Path:
        """Return the place where a file is to appear; folders of other machines are left out."""
        plain = Path(name)
        if re.match(r"[A-Za-z]:|\\\\", name):
            plain = Path(re.split(r"[\\/]", name)[-1])
        final = plain if plain.is_absolute() else self.folder / re.sub(r"\\", "/", str(plain))
        if not final.parent.is_dir():
            raise InputError(f"there is no folder {str(final.parent)!r} to write {final.name!r} in")
        if final.resolve() in self.inputs:
            raise InputError(f"{final.name!r} is read by this batch and cannot be written by it")
        return final

    def stage_file(self, final: Path) -> Path:
        """Return where to write a file until the batch has succeeded."""
        self.room.mkdir(mode=0o700, exist_ok=True)
        self.writes += 1
        inner = self.room / str(self.writes)
        inner.mkdir()
        return inner / final.name

    def write_at_end(self, final: Path, lines: Sequence[str]) -> None:
        """Write lines that appear under a name when the batch has succeeded."""
        self.outputs[final] = self.stage_file(final)
        write_lines(self.outputs[final], lines)

    @never_interrupted
    def finish(self) -> list[Path]:
        """Move what was written into place."""
        for final, place in self.outputs.items():
            place.replace(final)
        return list(self.outputs)
