"""Runs tau-ARGUS batch files with our own methods."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow.compute as pc

from tacit.argus.arb import Command, parse_batch
from tacit.argus.outputs import CONFIDENTIAL, Choices, format_name, write_argus
from tacit.argus.work import (
    REQUEST_COLUMN,
    BatchFiles,
    Work,
    cost_of,
    magnitude_noise,
    outcome,
    prepare_records,
    read_records,
    rules_of,
    seconds,
    span,
)
from tacit.context import Context
from tacit.data.cells.linked import link, split
from tacit.data.cells.status import Status
from tacit.data.cells.tabulation import tabulate
from tacit.data.hierarchies.argus import assign, read_recode
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.errors import (
    Cancelled,
    DisclosureRefused,
    Infeasible,
    InputError,
    LimitReached,
    SdcError,
    UnreadableFile,
)
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.io.hst import apply_hst
from tacit.io.lines import iterate_numbered
from tacit.io.p_tables import read_ptable
from tacit.io.rda import read_rda
from tacit.io.tab import read_tab
from tacit.registry import lookup
from tacit.spec import Method
from tacit.tables.noise.cell_keys import with_cell_keys

#: Method of ours for each of SUPPRESS'.
METHODS = {
    "GH": "suppress_hypercube",
    "MOD": "suppress_modular",
    "OPT": "suppress_exact",
    "NET": "suppress_network",
    "RND": "controlled_rounding",
    "CTA": "adjust",
    "CKM": "cell_key",
}
#: Methods that can take linked tables (table number 0).
LINKED = {"GH", "MOD"}
#: Rules that judge cells, in the order in which they are tried.
JUDGES = ("NK", "P", "REQ", "FREQ", "ZERO")


@dataclass(frozen=True)
class BatchResult:
    """What a batch file led to.

    Attributes
    ----------
    tables
        Every table, in its last state, in the order of SPECIFYTABLE.
    log
        What was done, line by line; aggregates only.
    files
        The files that were written.
    commands
        The commands that were run.
    """

    tables: tuple[Table, ...]
    log: tuple[str, ...]
    files: tuple[Path, ...]
    commands: tuple[Command, ...]

    def __repr__(self) -> str:
        return (
            f"BatchResult: {len(self.commands)} commands, {len(self.tables)} tables, "
            f"{len(self.files)} files written"
        )


def run_batch(
    path: str | Path,
    *,
    folder: str | Path | None = None,
    confidential: bool = False,
    seed: int | None = None,
    on_event: Listener = ignore_event,
    should_stop: Stop = never,
) -> BatchResult:
    """Run a tau-ARGUS batch file with our own methods.

    Files are looked up beside the batch file, whatever folder it names them in, and written there.
    Nothing is written unless the whole batch succeeds.

    Parameters
    ----------
    path
        The ``.arb`` file.
    folder
        Where to write, and where else to look for files; by default the batch file's own folder.
    confidential
        Write the formats 3, 4 and 7 as tau-ARGUS does, with the true values of hidden cells beside
        their status. By default hidden values are written as ``x``. The formats 5 and 6 always hold
        true values: they are made to be read by other programs inside.
    seed
        Seed of the random numbers.
    on_event, should_stop
        Called with events, and asked whether to stop, while working; see :mod:`tacit.events`.

    Returns
    -------
    BatchResult
        The tables, the log and the files.

    Raises
    ------
    InputError, Infeasible, LimitReached
        Naming the line and the command that failed; no file is left.

    Notes
    -----
    SOLVER is noted and has no effect: HiGHS solves. GOINTERACTIVE ends the batch. Every SUPPRESS starts
    from the judged table, so that methods can be compared in one batch. Where a ready table gives the
    status of cells and rules are given as well, a cell is unsafe when either says so.
    """
    file = Path(path)
    commands = parse_batch(file)
    parts = [Phase("protect", f"Line {c.line} of the batch, {c.name}") for c in commands]
    whole = Job(on_event, should_stop, [*parts, Phase("write", "Writing the files of the batch")])
    job = Batch(file, Path(folder) if folder is not None else file.parent, confidential)
    done: list[Command] = []

    def run(command: Command) -> bool:
        work = whole.begin("protect")
        job.context = lambda: Context.start(seed, work=work)
        done.append(command)
        with named(command, file.name):
            return job.run(command)

    def run_all() -> list[Path]:
        try:
            all(run(command) for command in commands)
            whole.begin("write")
            if job.logbook is not None:
                job.write_at_end(job.logbook, job.log)
            files = job.finish()
            whole.settled = True
            return files
        finally:
            shutil.rmtree(job.room, ignore_errors=True)

    files = whole.watch(run_all)
    tables = tuple(t for w in (*job.closed, *job.work) if (t := w.current) is not None)
    return BatchResult(tables, tuple(job.log), tuple(files), tuple(done))


@contextmanager
def named(command: Command, name: str) -> Iterator[None]:
    """Give errors the line and command where they happened."""
    try:
        yield
    except Cancelled:
        raise
    except SdcError as error:
        classes = (Infeasible, LimitReached, DisclosureRefused, UnreadableFile, InputError)
        made = next((c for c in classes if type(error) is c), InputError)
        raise made(f"{name!r}, line {command.line}, <{command.name}>: {error}") from error


class Batch(BatchFiles):
    """The state of a batch that runs."""

    def __init__(self, file: Path, folder: Path, confidential: bool) -> None:
        super().__init__(file, folder)
        self.confidential = confidential
        self.context: Callable[[], Context] = Context.start
        self.command: Command
        self.log: list[str] = []
        self.work: list[Work] = []
        self.closed: list[Work] = []
        self.logbook: Path | None = None
        self.data: Path | None = None
        self.tabular = False
        self.metadata: Path | None = None
        self.read = False
        self.records: dict[tuple[Path, Path], Microdata] = {}

    def run(self, command: Command) -> bool:
        """Run one command; False ends the batch."""
        self.command = command
        return getattr(self, f"do_{command.name.lower()}")(command.arguments) is not False

    def say(self, text: str) -> None:
        """Add a line to the log."""
        self.log.append(f"line {self.command.line}: {text}")

    def do_silent(self, given: Any) -> None:
        """Nothing opens a window."""

    def do_logbook(self, given: Any) -> None:
        """Remember where the log goes."""
        self.logbook = self.target(given[0])

    def do_openmicrodata(self, given: Any, *, tabular: bool = False) -> None:
        """Name the data: records, or a ready table."""
        self.data, self.tabular = self.source(given[0]), tabular
        self.say(f"{'table' if tabular else 'records'} {self.data.name!r}")

    def do_opentabledata(self, given: Any) -> None:
        """Name a ready table."""
        self.do_openmicrodata(given, tabular=True)

    def do_openmetadata(self, given: Any) -> None:
        """Name the description."""
        if self.data is None:
            raise InputError("OPENMICRODATA or OPENTABLEDATA must come before")
        self.metadata = self.source(given[0], self.data.parent)
        read_rda(self.metadata, tabular=self.tabular)
        self.say(f"description {self.metadata.name!r}")

    def do_specifytable(self, given: Any) -> None:
        """Specify a table."""
        if self.data is None or self.metadata is None:
            raise InputError("the data and OPENMETADATA must come before")
        if self.read:
            raise InputError("tables are specified before the data are read")
        names = ("explanatory", "response", "shadow", "cost")
        explanatory, response, shadow, cost = (given[name] for name in names)
        power = float(given.get("lambda", 1.0))
        files = self.data, self.metadata
        work = Work(self.command.line, explanatory, response, shadow, cost, power, *files)
        described = read_rda(self.metadata, tabular=self.tabular)
        for name in work.explanatory:
            if not described.variable(name).spans:
                raise InputError(f"{name!r} is not described as a spanning variable (<RECODEABLE>)")
        self.work.append(work)

    def do_safetyrule(self, given: Any) -> None:
        """Give the last table its rules."""
        if not self.work:
            raise InputError("SPECIFYTABLE must come before")
        if self.read:
            raise InputError("rules are given before the data are read")
        self.work[-1].rules = given

    def do_readmicrodata(self, _given: Any) -> None:
        """Tabulate the records for every table, and judge the cells."""
        self.require_ready(tabular=False)
        for number, work in enumerate(self.work, 1):
            work.base = self.tabulate_records(work)
            self.judge(work, number)
        self.read = True

    def do_readtable(self, given: Any) -> None:
        """Read the ready tables, and judge the cells."""
        self.require_ready(tabular=True)
        additivity = next((int(x) for x in given if x not in ("T", "F")), 0)
        for number, work in enumerate(self.work, 1):
            described = read_rda(work.metadata, tabular=True)
            named: dict[str, Any] = {"dimensions": work.explanatory, "response": work.response}
            probe = read_tab(work.data, described, **named, additivity=2, lower=-np.inf)
            work.base = read_tab(
                work.data,
                described,
                **named,
                additivity=additivity,
                trust_totals="T" in given,
                manual_range=work.manual_range,
                cost=work.cost_column,
                shadow=work.shadow,
                # Cells have no lower bound when some are negative.
                lower=-np.inf if bool((probe.value < 0).any()) else None,
            )
            changed = work.base.extra.get("recomputed", 0)
            if changed:
                self.say(
                    f"table {number}: {changed} listed totals did not add up and were recomputed",
                )
            self.judge(work, number)
        self.read = True

    def require_ready(self, *, tabular: bool) -> None:
        """Raise when there is nothing to read, or not of this kind."""
        if not self.work:
            raise InputError("SPECIFYTABLE must come before")
        if self.tabular != tabular:
            kind = "a ready table: use READTABLE" if self.tabular else "records: use READMICRODATA"
            raise InputError(f"the data are {kind}")
        if self.read:
            raise InputError("the data have been read already")

    def tabulate_records(self, work: Work) -> Table:
        """Return the table of the records."""
        key = (work.data, work.metadata)
        described = read_rda(work.metadata, tabular=False)
        if key not in self.records:
            self.records[key] = read_records(work.data, described)
        data, notes = prepare_records(self.records[key], work, described)
        for note in notes:
            self.say(note)
        spanning = [described.variable(n) for n in work.explanatory]
        dimensions = {v.name: span(data, v, work.metadata.parent) for v in spanning}
        weight = described.first("WEIGHT") if work.single("WGT", 0) else None
        holding = described.first("HOLDING") if work.uses_holdings else None
        if work.uses_holdings and holding is None:
            raise InputError("rules at holding level need a variable with <HOLDING>")
        value = None if work.is_count else described.variable(str(work.response)).name
        shadow = described.variable(work.shadow).name if work.shadow else None
        least = float(pc.min(data.column(value)).as_py() or 0.0) if value else 0.0
        table = tabulate(
            data,
            dimensions,
            value,
            holding=None if holding is None else holding.name,
            weight=None if weight is None else weight.name,
            request=REQUEST_COLUMN if work.numbers("REQ") else None,
            cost=described.variable(work.cost_column).name if work.cost_column else None,
            shadow=shadow if shadow != value else None,
            top=work.top,
            lower=-np.inf if least < 0 else None,
        )
        extra: dict[str, Any] = {"missing": {v.name: v.missing for v in spanning if v.missing}}
        if value is not None:
            extra["decimals"] = described.variable(value).decimals
        table = table.with_(extra={**table.extra, **extra})
        keys = described.first("RECORDKEY")
        return table if keys is None else with_cell_keys(table, data, keys.name)

    def judge(self, work: Work, number: int) -> None:
        """Apply recodes and rules to a table as it was read."""
        table = cast(Table, work.base)
        for variable, given in work.recodes.items():
            table = self.apply("recode_table", table, dimension=variable, **given)
        if any(name in JUDGES and any(n) for name, n in work.rules):
            status = np.where(table.status == Status.SAFE_MANUAL, Status.SAFE, table.status)
            if self.command.name != "READTABLE" or "T" not in self.command.arguments:
                table = table.with_(status=status.astype(np.int8))
        for kind, given in rules_of(work):
            table = self.apply(kind, table, **given)
        work.judged = work.current = table
        unsafe = int(table.primary.sum())
        self.say(f"table {number}: {len(table):,} cells, {unsafe:,} of them unsafe")

    def apply(self, kind: str, table: Table, **given: Any) -> Table:
        """Apply a method of ours; its warnings go to the log."""
        spec = cast(Method[Table], lookup(kind)(**given))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = spec.apply(table, context=self.context())
        self.log += [f"{kind}: {w.message}" for w in caught if issubclass(w.category, UserWarning)]
        return result

    def do_recode(self, given: Any) -> None:
        """Make a dimension of a table coarser, always from its original codes."""
        number, variable, how = given
        work = self.table(number)
        base = cast(Table, work.base)
        name = next((n for n in base.names if n.casefold() == variable.casefold()), None)
        if name is None:
            raise InputError(f"table {number} has no dimension {variable!r}; it has {base.names}")
        work.recodes[name] = self.recoding(base, name, how, work)
        self.judge(work, number)

    def recoding(self, table: Table, name: str, how: str | int, work: Work) -> dict[str, Any]:
        """Return a recode as our method takes it: a depth, branches to close, or groups."""
        if isinstance(how, int):
            return {"depth": how}
        file = self.source(str(how), work.data.parent)
        dimension = table.dimensions[table.names.index(name)]
        lines = [line.strip() for _, line in iterate_numbered(file)]
        if lines and lines[0].upper() == "<TREERECODE>":
            codes = tuple(line for line in lines[1:] if not line.startswith("//"))
            return {"collapse": codes}
        if not dimension.is_flat:
            raise InputError(f"{name!r} is hierarchical: recode it by <TREERECODE> or by a level")
        recode = read_recode(file, False, "utf-8")
        ground = [dimension.codes[i] for i in dimension.leaves]
        missing = table.extra.get("missing", {}).get(name, ())
        chosen = assign(recode, ground)
        groups: dict[str, list[str]] = {}
        for code, at in zip(ground, chosen, strict=True):
            if at >= 0 and code not in (*recode.missing, *missing):
                groups.setdefault(recode.spans[at].new, []).append(code)
        left = [c for c, at in zip(ground, chosen, strict=True) if at < 0 and c not in missing]
        if left:
            self.log.append(
                f"{file.name!r}: {len(left)} codes of {name!r} are not named and stay as they are"
            )
        return {"groups": {new: tuple(old) for new, old in groups.items()}}

    def do_apriori(self, given: Any) -> None:
        """Apply an a-priori file."""
        name, number, separator, *switches = given
        work = self.table(int(number))
        file = self.source(str(name), work.data.parent)
        ignore, expand = (*(bool(s) for s in switches), False, False)[:2]
        table = apply_hst(
            cast(Table, work.judged),
            file,
            str(separator),
            manual_range=work.manual_range,
            ignore_errors=ignore,
            expand_trivial=expand,
        )
        work.judged = work.current = table
        facts = table.extra["apriori"]
        self.say(
            f"table {number}: {facts['applied']} a-priori lines applied, {len(facts['skipped'])} passed over",
        )

    def do_solver(self, given: Any) -> None:
        """Note the solver; HiGHS solves."""
        self.say(f"solver {given[0]} noted; HiGHS is used")

    def do_suppress(self, given: Any) -> None:
        """Protect a table, or all tables as linked ones."""
        method, numbers, *rest = given
        number = int(numbers[0])
        words = rest[0] if rest else []
        if number == 0:
            if method not in LINKED:
                raise InputError(f"{method} does not take linked tables (table 0); GH and MOD do")
            self.linked(method, numbers)
            return
        work = self.table(number)
        table = cast(Table, work.judged)
        if method != "CKM" and table.extra.get("additive") is False:
            raise InputError(
                f"table {number} was read without its sums (READTABLE 2) and cannot be protected by "
                f"{method}; read it with 0 or 1"
            )
        parameters = self.parameters(method, numbers, words, work)
        work.current = self.protect(method, table, parameters)
        self.say(f"table {number}: {outcome(work.current)}")

    def protect(self, method: str, table: Table, given: dict[str, Any]) -> Table:
        """Apply a method; a-priori bounds so narrow that nothing protects are widened, and noted."""
        try:
            return self.apply(METHODS[method], table, **given)
        except Infeasible:
            if not given.get("apriori"):
                raise
        self.say(
            f"within the a-priori bounds of {given['apriori']:g} % some cells cannot be protected; the "
            "table's own bounds are taken",
        )
        return self.apply(METHODS[method], table, **{**given, "apriori": None})

    def linked(self, method: str, numbers: Sequence[float]) -> None:
        """Protect all tables together."""
        if len(self.work) < 2:
            raise InputError("linked tables (table 0) need at least two tables")
        tables = [cast(Table, self.table(i + 1).judged) for i in range(len(self.work))]
        joined = link(*tables)
        given = self.parameters(method, numbers, [], self.work[0])
        safe = self.protect(method, joined, given)
        for work, table in zip(self.work, split(safe, tables), strict=True):
            work.current = table
        self.say(f"{len(tables)} linked tables: {outcome(safe)}")

    def parameters(
        self, method: str, numbers: Sequence[float], words: Sequence[Any], work: Work
    ) -> dict[str, Any]:
        """Return the numbers of SUPPRESS as parameters of our method."""
        rest = [*numbers[1:]]

        def at(i: int, blank: float) -> float:
            return float(rest[i]) if i < len(rest) else blank

        if method == "RND":
            limit = seconds(at(2, 10), "time_limit")
            base = at(0, 5)
            base = int(base) if base == int(base) else base
            return {"base": base, "max_shift": int(at(1, 0)) + 1, **limit}
        if method == "CTA":
            return {"norm": "l1"}
        if method == "CKM":
            return self.ptables(words, work)
        priced = cost_of(work, distances=method == "MOD")
        if method == "GH":
            weights = priced if work.cost else {**priced, "cost": "log"}
            return {**weights, "apriori": at(0, 100) or None, "singletons": bool(at(2, 1))}
        if method == "MOD":
            alone = bool(at(1, 1)) or bool(at(2, 1))
            least = max((int(n[0]) for n in work.numbers("FREQ")), default=0)
            limits = seconds(at(0, 10), "exact_seconds")
            return {**priced, "singletons": alone, "together": least if at(3, 1) else 0, **limits}
        return {**priced, **seconds(at(0, 10), "time_limit")} if method == "OPT" else priced

    def ptables(self, words: Sequence[Any], work: Work) -> dict[str, Any]:
        """Return the perturbation tables: of the command, else of the description."""
        keys = read_rda(work.metadata, tabular=False).first("RECORDKEY")
        if keys is None:
            raise InputError("the cell-key method needs a variable with <RECORDKEY>")
        named = [w for w in words if isinstance(w, str) and w]
        wanted = "PFILE_FREQ" if work.is_count else "PFILE_CONT"
        name = named[0] if named else keys.word(wanted)
        if name is None:
            raise InputError(
                f"no perturbation table: name one, or give <{wanted}> in the description"
            )
        given: dict[str, Any] = {"ptable": str(self.source(name, work.data.parent))}
        read_ptable(given["ptable"])
        small = named[1] if len(named) > 1 else keys.word("PFILE_SEP")
        if small and not work.is_count:
            given["small_ptable"] = str(self.source(small, work.data.parent))
        if work.is_count:
            return given
        extra = next((w for w in words if isinstance(w, int | float)), None)
        described = read_rda(work.metadata, tabular=False).variable(work.response or "")
        return {**given, **magnitude_noise(described), **({} if extra is None else {"mu_c": extra})}

    def do_writetable(self, given: Any) -> None:
        """Write a table."""
        number, kind, options, name = given
        table = cast(Table, self.table(int(number)).current)
        if isinstance(options, str):
            chosen = Choices.parse(options)
        else:
            # Old batch files: 1 adds the status, 2 leaves out empty cells, 3 both.
            chosen = Choices(AS=bool(options & 1), SE=bool(options & 2))
        form = format_name(kind)
        final = self.target(str(name))
        place = self.stage_file(final)
        inside = self.confidential or form in CONFIDENTIAL
        written = write_argus(table, place, form, chosen, confidential=inside)
        for one in written:
            self.outputs[final.with_name(one.name)] = one
        note = " (true values: keep it inside)" if inside else ""
        self.say(f"table {number} written as {form} to {final.name!r}{note}")

    def do_versioninfo(self, given: Any) -> None:
        """Write which version runs."""
        from importlib.metadata import version

        self.write_at_end(self.target(given[0]), [f"tacit {version('tacit')}"])

    def do_clear(self, _given: Any) -> None:
        """Start over; tables are numbered from 1 again."""
        self.closed += self.work
        self.work, self.data, self.metadata, self.read = [], None, None, False
        self.say("cleared")

    def do_gointeractive(self, _given: Any) -> bool:
        """End the batch; there is no window to hand over to."""
        self.say("GOINTERACTIVE noted; the batch ends here")
        return False

    def table(self, number: int) -> Work:
        """Return a table by its number."""
        if not self.read:
            raise InputError("READMICRODATA or READTABLE must come before")
        if not 1 <= number <= len(self.work):
            raise InputError(f"there is no table {number}; there are {len(self.work)}")
        return self.work[number - 1]
