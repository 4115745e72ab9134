"""``tacit table``: build, judge, protect, audit, convert and show tables, and run ARGUS batch files."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import yaml
from cyclopts import App

import tacit
from tacit.cli.options import Force, Many, Metadata, SavePlot, TableFile, shell_command, with_help
from tacit.cli.render import console, progress_bar
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import DisclosureRefused, InputError, SpecError
from tacit.events import Job, Phase
from tacit.plan.sections import Tabulate
from tacit.registry import lookup
from tacit.spec import Measure, Method, Spec
from tacit.storage.own_folders import refuse_existing

group = App(
    name="table",
    help="Build, judge, protect, audit and convert tables. A .table file holds everything known of a table and is confidential.",
)

#: Extensions of files that hold what may be given away; written only from a protected table.
PUBLIC = (".csv", ".parquet", ".xlsx")


def open_table(path: Path, metadata: Path | None = None) -> Table:
    """Read a table file by its ending."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    if suffix == ".table":
        return Table.load(path)
    if suffix in (".jj", ".csp"):
        return tacit.tables.read_jj(path)
    if suffix == ".tab":
        return tacit.tables.read_tab(path, metadata)
    raise InputError(
        f"{path.name!r} is not a table file (.table, .jj, .tab); build one with: tacit table build"
    )


def keep_table(table: Table, path: Path, *, force: bool) -> None:
    """Write a table by the ending of the file."""
    suffix = path.suffix.lower()
    if path.exists() and not force:
        raise DisclosureRefused(f"{path.name!r} exists already; use --force to replace it")
    if suffix == ".table":
        table.save(path, overwrite=force)
    elif suffix in (".jj", ".csp"):
        tacit.tables.write_jj(table, path)
    elif suffix in PUBLIC:
        publish(table, path)
    else:
        raise InputError(
            f"a table is written as .table or .jj (confidential), or as {', '.join(PUBLIC)}"
        )


def publish(table: Table, path: Path) -> None:
    """Write what may be given away, after the checks that a release makes."""
    from tacit.data.base import claims_of
    from tacit.io.released import write_released
    from tacit.kinds.table import KIND, refuse_mismatch

    refusals = KIND.check(table)
    if refusals:
        raise DisclosureRefused("; ".join(refusals))
    for claim in claims_of(table):
        claim.require(table.claim_view(), where=path.name)
    write_released(table, path, overwrite=True)
    refuse_mismatch(table, path)


def parse_spec(text: str, base: type[Spec]) -> Any:
    """Return the Spec of ``kind``, ``kind name=value ...`` or ``{kind: ..., ...}``."""
    if text.lstrip().startswith("{"):
        entry = yaml.safe_load(text)
        if not isinstance(entry, dict) or "kind" not in entry:
            raise SpecError(f"no kind in {text!r}; write e.g. 'p_percent p=10'")
    else:
        kind, *rest = text.split()
        entry = {"kind": kind.replace("-", "_")}
        for part in rest:
            name, equals, value = part.partition("=")
            if not equals:
                raise SpecError(f"{part!r} is not name=value; write e.g. 'p_percent p=10'")
            entry[name.replace("-", "_")] = yaml.safe_load(value)
    cls = lookup(str(entry.pop("kind")))
    if not issubclass(cls, base) or not issubclass(cls.data_type(), Table):
        raise SpecError(f"{cls.model_fields['kind'].default} does not work on tables")
    return cls(**entry)


def parse_dimension(text: str) -> tuple[str, Any]:
    """Return column and hierarchy of ``column`` or ``column=file-or-rule``."""
    column, _, rule = text.partition("=")
    if not rule:
        return column, None
    return column, yaml.safe_load(rule) if rule.startswith("{") else rule


def build(
    source: Path,
    dimension: list[str] | None,
    *,
    out: Path,
    force: bool = False,
    ready: bool = False,
    encoding: str | None = None,
    missing_codes: list[str] | None = None,
    **given: Any,
) -> int:
    """Build a table from records, or read a ready one, and keep it as a .table file."""
    if not dimension:
        raise InputError("name the dimensions: --dimension region=regions.hrc size")
    chosen = {k: v for k, v in given.items() if v is not None}
    section = Tabulate(
        dimensions=dict(parse_dimension(text) for text in dimension), ready=ready, **chosen
    )
    with progress_bar(console) as show:
        job = Job(show, phases=(Phase("read", "Reading the data"),))
        job.begin("read")
        if ready:
            if missing_codes:
                raise InputError("--missing-codes is for records; a ready table has a status")
            table = tacit.tables.read_table(
                source,
                dimensions=section.dimensions,
                encoding=encoding or "utf-8",
                **section.reading(),
            )
        else:
            records = read_records(source, section.separator, encoding, missing_codes)
            options = section.building()
            table = Table.from_microdata(
                records, section.dimensions, options.pop("value", None), **options
            )
    keep_table(table, out, force=force)
    console.say(f"{summary_line(table)}\nwrote {out}; it is confidential")
    return 0


#: How text is read, in the words of the command line.
READING: tuple[tuple[str, tuple[Any, str, Any]], ...] = (
    ("separator", (str | None, "separator of columns in text; guessed when not given", None)),
    ("encoding", (str | None, "encoding of text; by default utf-8", None)),
    ("missing_codes", (Many, "texts or codes in records that stand for a missing answer", None)),
)


def read_records(
    source: Path, separator: str | None, encoding: str | None, missing: list[str] | None
) -> Any:
    """Read records as the command line says."""
    given = (("separator", separator), ("encoding", encoding), ("missing", missing))
    options: dict[str, Any] = {name: value for name, value in given if value}
    return tacit.read(source, **options)


def add_build() -> None:
    """Add ``tacit table build``; its options are the fields of a plan's table section."""
    text = "spanning variables: column, column=hierarchy-file or 'column={kind: ...}'"
    fields = {
        name: info
        for name, info in Tabulate.model_fields.items()
        if name not in ("dimensions", "ready", "lower", "upper", "totals")
    }
    options: dict[str, tuple[Any, str, Any]] = {
        "dimension": (Many, text, None),
        **{
            n: (int | None if n == "top" else str | None, i.description or "", None)
            for n, i in fields.items()
        },
        **dict(READING),
        "ready": (bool, "the source is a table and not records", False),
        "out": (Path, "the file to write (.table)", inspect.Parameter.empty),
        "force": (bool, "replace a file that is already there", False),
    }
    described = "the records, or (with --ready) a table in long form, one row per cell"

    def command(source: Path, **values: Any) -> int:
        return build(source, values.pop("dimension", None), **values)

    given = {n: (with_help(kind, words), default) for n, (kind, words, default) in options.items()}
    shell_command(command, described, given, build.__doc__)
    group.command(command, name="build")


add_build()


def summary_line(table: Table) -> str:
    """Return what a table is, without any value."""
    by = " x ".join(f"{d.name} ({len(d)})" for d in table.dimensions) or "equations"
    states = ", ".join(f"{n:,} {word}" for word, n in table.tally().items())
    return f"{table.response} by {by}: {len(table):,} cells ({states})"


@group.command
def rules(
    table: TableFile,
    /,
    *,
    rule: Many = None,
    out: Path,
    metadata: Metadata = None,
    force: Force = False,
) -> int:
    """Judge a table by sensitivity rules: unsafe cells and the protection each of them needs.

    Parameters
    ----------
    rule
        Rules in turn, each 'kind name=value ...', e.g. 'p_percent p=10' 'minimum_frequency n=3'.
    out
        The file to write (.table or .jj).
    """
    for text in rule or ():
        spec = parse_spec(text, Method)
        if spec.family != "rules" and spec.kind != "recode_table":
            raise SpecError(
                f"{spec.kind} is not a rule; use: tacit table protect --method {spec.kind}"
            )
    return chain(table, rule, "--rule 'p_percent p=10'", None, out, metadata, force=force)


@group.command
def protect(
    table: Path,
    /,
    *,
    method: Many = None,
    seed: int | None = None,
    out: Path,
    metadata: Metadata = None,
    force: Force = False,
) -> int:
    """Protect a table by one or more methods in turn; each ends with the proof of its claim.

    Parameters
    ----------
    table
        The table (.table, .jj, .tab), judged by rules before.
    method
        Methods in turn, each 'kind name=value ...', e.g. 'suppress_modular cost=unit'.
    seed
        Seed of the random numbers.
    out
        The file to write: .table or .jj (confidential), or .csv, .parquet, .xlsx (what may be published).
    """
    return chain(table, method, "--method suppress_modular", seed, out, metadata, force=force)


def chain(
    path: Path,
    texts: list[str] | None,
    hint: str,
    seed: int | None,
    out: Path,
    metadata: Path | None,
    *,
    force: bool,
) -> int:
    """Apply Specs in turn and write the result."""
    from tacit.tables.suppress.suppression import Suppression

    if not texts:
        raise InputError(f"nothing to do: say what, e.g. {hint}")
    specs = [parse_spec(text, Method) for text in texts]
    if out.exists() and not force:
        raise DisclosureRefused(f"{out.name!r} exists already; use --force to replace it")
    with progress_bar(console) as show:
        job = Job(show, phases=[Phase("protect", spec.title()) for spec in specs])
        current = open_table(path, metadata)
        hides = any(isinstance(spec, Suppression) for spec in specs)
        if hides and not current.primary.any():
            console.note("no cell of this table is unsafe; judge it first with: tacit table rules")
        for step, spec in enumerate(specs, 1):
            work = job.begin("protect").listener
            context = Context.start(seed, step=step, on_event=work)
            current = spec.apply(current, context=context)
            console.action(current)
    keep_table(current, out, force=force)
    console.say(f"{summary_line(current)}\nwrote {out}")
    return 0


@group.command
def audit(
    table: TableFile,
    /,
    *,
    measure: Many = None,
    original: Path | None = None,
    metadata: Metadata = None,
    plot: SavePlot = None,
    out: Path | None = None,
) -> int:
    """Attack a table: the interval of every hidden cell, and the unsafe cells that are exposed.

    The exit code is 1 when an unsafe cell is exposed.

    Parameters
    ----------
    measure
        What to measure, each 'kind name=value ...'; by default the audit.
    original
        The table before protection, for measures that compare.
    out
        Write the detail, one row per cell, as CSV. Confidential.
    """
    refuse_existing(plot)
    refuse_existing(out)
    specs = [parse_spec(text, Measure) for text in measure or ["audit"]]
    exposed = 0
    with progress_bar(console) as show:
        job = Job(show, phases=[Phase("measure", spec.title()) for spec in specs])
        current = open_table(table, metadata)
        before = open_table(original) if original else None
        results = [
            s.measure(
                current,
                original=before,
                context=Context.start(1, on_event=job.begin("measure").listener),
            )
            for s in specs
        ]
    for result in results:
        console.result(result)
        exposed += len(getattr(result, "exposed", ()))
    if plot is not None:
        results[0].plot().save(plot)
    if out is not None and results[0].frame is not None:
        import pyarrow.csv

        pyarrow.csv.write_csv(results[0].frame.to_arrow(), out)
        console.say(f"wrote {out}; it is confidential")
    return 1 if exposed else 0


@group.command
def convert(
    table: TableFile, out: Path, /, *, metadata: Metadata = None, force: Force = False
) -> int:
    """Write a table in another format: .table and .jj hold everything, .csv .parquet .xlsx what may be published.

    Parameters
    ----------
    out
        The file to write.
    """
    keep_table(open_table(table, metadata), out, force=force)
    console.say(f"wrote {out}")
    return 0


@group.command
def show(table: TableFile, /, *, metadata: Metadata = None) -> int:
    """Print a small table as it would be published (hidden cells are x), of a large one its statuses."""
    console.say(repr(open_table(table, metadata)))
    return 0


@group.command
def batch(job: Path, /, *, folder: Path | None = None) -> int:
    """Run a tau-ARGUS batch file (.arb) with tacit's own methods.

    Parameters
    ----------
    job
        The batch file.
    folder
        Where output files go; by default where the batch file says, beside it.
    """
    with progress_bar(console) as show:
        result = tacit.tables.run_batch(job, folder=folder, on_event=show)
    console.say(repr(result))
    return 0
