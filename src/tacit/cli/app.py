"""The commands of ``tacit``. Each is a few lines over a library call."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sized
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

import tacit
from tacit.cli.keys import group as keys
from tacit.cli.recommend import recommend
from tacit.cli.render import Console, progress_bar
from tacit.cli.supervised import memory_sentence
from tacit.cli.texts import review, scrub
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    SdcError,
    SdcWarning,
    SpecError,
    explain_target,
    is_out_of_disk,
    is_out_of_memory,
    make_shortage_error,
)
from tacit.limits import memory_limit
from tacit.reveal import show_values
from tacit.storage.own_folders import (
    move_files,
    note_begun,
    refuse_existing,
    refuse_files,
    write_whole,
)

app = App(
    name="tacit",
    help="Statistical disclosure control: protect data about people and firms, and show that it worked. "
    "Every command takes --show-values: where an error is about values of the data, list them on this terminal.",
    version=tacit.__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
console = Console()
app.command(recommend)
app.command(scrub)
app.command(review)
app.command(keys)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return its exit code.

    0 done, 1 refused or failed, 2 wrong input, 3 released with a threshold missed, 130 interrupted.
    """
    tokens = sys.argv[1:] if arguments is None else arguments
    warnings.showwarning = show_warning
    try:
        with asked_for_values(tokens):
            tokens = [t for t in tokens if t != SHOW_VALUES]
            add_groups(tokens)
            code = app(tokens, exit_on_error=False, print_error=True)
    except KeyboardInterrupt:
        console.error("interrupted; nothing was written")
        return 130
    except SdcError as error:
        console.error(str(error))
        return 2 if isinstance(error, SpecError | ValueError) else 1
    except SystemExit as stop:
        return int(stop.code or 0)
    except OSError as error:
        if is_out_of_disk(error) or is_out_of_memory(error):
            console.error(str(make_shortage_error("the command", error)))
            return 1
        name = f" {Path(str(error.filename)).name[:60]!r}" if error.filename else ""
        console.error(f"cannot use the file{name}: {error.strerror or 'it failed'}")
        return 1
    except Exception as error:  # noqa: BLE001 - a message of a library may quote a record
        return report_unexpected(error)
    return code if isinstance(code, int) else 0


#: Taken by every command.
SHOW_VALUES = "--show-values"


def asked_for_values(tokens: list[str]) -> AbstractContextManager[None]:
    """List the values that an error is about where the person asked and sits at a terminal."""
    if SHOW_VALUES not in tokens:
        return nullcontext()
    if not sys.stderr.isatty():
        raise InvalidParameter(
            f"{SHOW_VALUES} prints values of the data, and does so on a terminal alone: not into a file or a log"
        )
    return show_values()


#: Groups of commands that are made when they are asked for: other commands need not wait for them.
GROUPS = {
    "apply": "Apply one method to a file and write the result. KIND is one of 'tacit methods'.",
    "measure": "Take one measure of a file. KIND is one of 'tacit methods'.",
    "table": "Build, judge, protect, audit and convert tables.",
    "party": "Compute on data that may not meet: run one party of an agreement over mutual TLS.",
    "census": "Census samples for trusted users: profiles, vetting, licences, extracts.",
}


def add_groups(tokens: list[str]) -> None:
    """Add the group that is asked for, and the names of the others."""
    asked = tokens[0] if tokens else ""
    # An earlier call in this process has left its own.
    for name in GROUPS.keys() & set(app):
        del app[name]
    for name, text in GROUPS.items():
        if name != asked:
            app.command(App(name=name, help=text))
    if asked == "table":
        from tacit.cli.tables import group

        app.command(group)
    elif asked == "party":
        from tacit.cli.parties import group

        app.command(group)
    elif asked == "census":
        from tacit.cli.census import group

        app.command(group)
    elif asked in GROUPS:
        from tacit.cli.generated import make_group

        app.command(make_group(asked, GROUPS[asked], tokens[1:]))


def report_unexpected(error: Exception) -> int:
    """Say that something broke without printing what may be data."""
    from cyclopts import CycloptsError

    if isinstance(error, CycloptsError):
        return 2
    if is_out_of_memory(error) or (isinstance(error, ImportError | SystemError) and memory_limit()):
        # A library that finds no room to be loaded says so in many ways.
        console.error(memory_sentence())
        return 1
    if is_out_of_disk(error):
        console.error(str(make_shortage_error("the command", error)))
        return 1
    if os.environ.get("TACIT_DEBUG"):
        traceback.print_exception(error)
        return 1
    place = traceback.extract_tb(error.__traceback__)[-1]
    console.error(
        f"something went wrong inside ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}). "
        "Nothing was released. Its message may hold data and is not shown; set TACIT_DEBUG=1 to see it."
    )
    return 1


def show_warning(message: Any, category: type[Warning], *_rest: Any, **_named: Any) -> None:
    """Print our own warnings as notes, others not at all."""
    if issubclass(category, SdcWarning):
        console.note(str(message))


@app.command
def run(
    plan: Path,
    /,
    *,
    out: Path | None = None,
    format: str | None = None,  # noqa: A002 - the word of the plan file
    seed: int | None = None,
    force: bool = False,
    sign: Path | None = None,
    study_seed: bool = False,
    reports: Annotated[
        list[Literal["pdf", "docx"]] | None, Parameter(consume_multiple=True, negative=())
    ] = None,
) -> int:
    """Run a plan: read, protect, measure before and after, and write the release folder.

    The exit code is 3 when the release was written and a measure misses its own threshold.

    Parameters
    ----------
    plan
        The plan file (YAML or TOML).
    out
        Folder of the release; by default the plan's own, relative to the plan.
    format
        Format of the released data; by default the plan's own, or csv.
    seed
        Overrides the plan's seed.
    force
        Replace a release that is already there.
    sign
        File of the office's private key, made by 'tacit key', with which the release is signed.
    study_seed
        Release for the public although a seed was given: whoever tries it can undo what was drawn.
    reports
        Write the public and the board's report in these formats too, beside HTML.
    """
    from tacit.plan import Plan
    from tacit.release.folders import refuse_target

    loaded = Plan.load(plan)
    if reports:
        output = loaded.output.model_copy(update={"reports": tuple(reports)})
        loaded = loaded.with_(output=output)
    target = out if out is not None else loaded.resolve(loaded.output.folder)
    source = str(loaded.resolve(loaded.source.path)) if loaded.source else "memory"
    refuse_target(Path(target), source, force=force)
    with progress_bar(console) as progress:
        release = loaded.run(seed=seed, progress=progress)
        progress("writing the release", None)
        folder = release.write(target, format=format, force=force, sign=sign, study_seed=study_seed)
    console.release(release, folder)
    return 3 if release.shortfalls else 0


@app.command
def check(plan: Path, /) -> int:
    """Check a plan: everything that is wrong with it, in one go, before any work.

    Parameters
    ----------
    plan
        The plan file (YAML or TOML).
    """
    from tacit.plan import Plan

    loaded = Plan.load(plan)
    loaded.check()
    for sentence in loaded.cautions():
        console.note(sentence)
    console.say(
        f"{plan.name}: {format_count(loaded.steps, 'step')} and {format_count(loaded.measures, 'measure')}, ready to run"
    )
    return 0


def format_count(things: Sized, noun: str) -> str:
    """Return ``1 step`` or ``2 steps``."""
    return f"{len(things)} {noun}{'' if len(things) == 1 else 's'}"


@app.command
def verify(release: Path, /, *, signer: Path | None = None, recipient: bool = False) -> int:
    """Verify a release: nothing changed, the newest of its place, claims recomputed, plan run again and compared.

    Parameters
    ----------
    release
        The release folder, with its confidential folder beside it.
    signer
        File of the public key that must have signed the release; by default the keys of 'tacit key trust'.
    recipient
        You were given the public folder alone: check files, claims and signature, and miss no ledger.
    """
    from tacit.release.verification import verify as verify_release

    result = verify_release(release, signer=signer, recipient=recipient)
    console.say(repr(result))
    if not result:
        raise DisclosureRefused("the release does not verify")
    return 0


@app.command
def schema(*, out: Path | None = None) -> int:
    """Print the JSON schema of plans, for editors.

    Parameters
    ----------
    out
        Write it to this file instead.
    """
    from tacit.plan import schema as plan_schema

    refuse_existing(out)
    text = json.dumps(plan_schema(), indent=2)
    if out is None:
        sys.stdout.write(text + "\n")
    else:
        write_whole(out, text + "\n")
    return 0


@app.command
def methods(kind: str | None = None, /, *, family: str | None = None) -> int:
    """List the registered methods and measures, or explain one.

    Parameters
    ----------
    kind
        Show this one in full: what it does, its parameters, its references.
    family
        Only this family: protect, risk or utility; rules, tables or attacks for tables.
    """
    if kind is not None:
        from tacit.registry import lookup

        console.spec(lookup(kind.replace("-", "_")))
        return 0
    from tacit.registry import all_entries

    found = [e for e in all_entries() if family in (None, e.family)]
    if not found:
        families = sorted({e.family for e in all_entries()})
        raise SpecError(f"there is no family {family!r}. Families: {', '.join(families)}.")
    console.spec_list(found)
    return 0


@app.command
def budget(
    dataset: str | None = None, /, *, limit: float | None = None, apart_from: str | None = None
) -> int:
    """Show what protected plots have spent of each data set, or set what one may spend in all.

    Parameters
    ----------
    dataset
        The name of the data set, or the beginning of its fingerprint; by default all.
    limit
        What it may spend in all (rho). An act of the data holder.
    apart_from
        Another data set, which looks alike and is about other people. An act of the data holder.
    """
    from tacit.graphics.budget import BudgetLedger

    book = BudgetLedger.open()
    known = book.accounts()
    chosen = account_named(dataset, known)
    if (limit is not None or apart_from is not None) and chosen is None:
        raise InvalidParameter("--limit and --apart-from need the name of the data set")
    if apart_from is not None and chosen is not None:
        book.set_apart(chosen, account_named(apart_from, known) or apart_from)
        console.say(f"{chosen} has a budget of its own: it is about other people than {apart_from}")
    if limit is not None and chosen is not None:
        known = {chosen: book.set_limit(chosen, limit)}
    elif chosen is not None:
        known = {chosen: known[chosen]} if chosen in known else {}
        if apart_from is not None:
            return 0
    for name, account in known.items():
        short = name[:16] + "..." if len(name) == 64 else name
        console.say(f"{short}: {account.spent:.4g} of {account.limit:.4g} spent")
    if not known:
        console.say("no data set of that name" if dataset else "no data set has spent anything")
    return 0


def account_named(text: str | None, known: Mapping[str, Any]) -> str | None:
    """Return the account of that name, or whose fingerprint begins so; the name itself where there is none."""
    found = [d for d in known if text is not None and d.startswith(text)]
    if len(found) > 1 and text not in found:
        raise InvalidParameter("several data sets begin so; give more of the fingerprint")
    return text if text in found or not found else found[0]


@app.command
def profile(
    file: Path,
    /,
    *,
    out: Path | None = None,
    users: Annotated[Literal["researcher", "public"] | None, Parameter(name="--for")] = None,
    population: int | None = None,
    missing: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    force: bool = False,
) -> int:
    """Propose roles, missing codes and hierarchies for a file, and write a starting plan.

    With ``--for researcher`` or ``--for public`` the plan follows the rules that Statistics Netherlands
    published with mu-ARGUS for files under contract and for public ones.

    Parameters
    ----------
    file
        The data.
    out
        The plan to write; by default nothing is written.
    users
        Who is to get the file: researchers under contract, or the public.
    population
        People in the population, from which thresholds in the sample follow.
    missing
        Texts that stand for a missing answer.
    separator
        Separator of columns in text; guessed from the first line when not given.
    encoding
        Encoding of text.
    force
        Replace a plan that is already there.
    """
    from tacit.data.profiling.presets import preset_notes, preset_plan
    from tacit.data.profiling.profile import profile as profile_data
    from tacit.data.profiling.profile import starting_plan
    from tacit.plan import to_yaml

    if out is None and users is not None:
        raise InputError("--for writes a plan: say where with --out plan.yaml")
    if users is None and population is not None:
        raise InputError("--population goes with --for researcher or --for public")
    found = profile_data(
        tacit.read(file, missing=missing or (), separator=separator, encoding=encoding)
    )
    console.result(found)
    if out is not None:
        if not force:
            refuse_existing(out, "use --force to replace it")
        path = os.path.relpath(file.absolute(), out.absolute().parent)
        if users is None:
            plan = starting_plan(found, path)
        else:
            plan = preset_plan(found, path, users, population=population)
        write_whole(out, to_yaml(plan))
        console.say(f"\nA starting plan is in {out}; look it over, then: tacit check {out}")
        if users is not None:
            console.say("The numbers are a place to begin, and yours to decide. Think of this too:")
            for note in preset_notes(found, users):
                console.say(f"- {note}")
    return 0


@app.command
def example(
    folder: Path,
    /,
    *,
    of: Literal["hospital", "firms", "census", "notes", "parties"] | None = None,
    records: int | None = None,
    seed: int = 1,
) -> int:
    """Write example data: a generated hospital file, enterprises, a census, letters, or three parties; with a plan.

    Parameters
    ----------
    folder
        Where to write; made when it does not exist. A folder called after an example gets that one.
    of
        ``hospital``: patients, a register and hierarchies. ``firms``: enterprises and two hierarchies. ``census``:
        half a million persons in households and three levels of geography. ``notes``: letters, and a table with a
        column of notes. ``parties``: three hospitals that may not pool their files, for a joint fit. By default the
        name of the folder says it, or else hospital.
    records
        Number of patients, enterprises, persons or letters.
    seed
        Seed of the generator.
    """
    named = folder.name if folder.name in ("firms", "census", "notes", "parties") else "hospital"
    of = of or named  # type: ignore[assignment]
    with explain_target(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Written aside first: nothing of the same name is replaced.
        with TemporaryDirectory(prefix=".example-", dir=folder) as room:
            note_begun(room)
            plan = write_example(of, Path(room), records, seed)
            move_files(Path(room), folder)
    if of == "parties":
        console.say(f"Wrote three hospitals to {folder}; try: tacit party trial {folder}")
    else:
        console.say(f"Wrote the {of} example to {folder}; try: tacit run {folder / plan.name}")
    return 0


def write_example(of: str | None, folder: Path, records: int | None, seed: int) -> Path:
    """Write one of the examples; return its plan."""
    if of == "parties":
        from tacit.private.example import write_parties

        return write_parties(folder, n=records or 600, seed=seed)
    if of == "census":
        from tacit.examples.country import write_census

        return write_census(folder, n=records or 500_000, seed=seed)
    if of == "firms":
        from tacit.examples.firms_files import write_firms

        return write_firms(folder, n=records or 2_600, seed=seed)
    if of == "notes":
        from tacit.examples.notes import write_notes

        return write_notes(folder, n=records or 60, seed=seed)
    from tacit.examples import write_hospital

    return write_hospital(folder, n=records or 25_000, seed=seed)


@app.command
def compare(
    plans: list[Path],
    /,
    *,
    k: int | None = None,
    seed: int | None = None,
    plot: Path | None = None,
) -> int:
    """Run several plans on the same data and lay precision, k, drops and suppressions side by side.

    Parameters
    ----------
    plans
        The plan files; the source, roles and hierarchies are those of the first.
    k
        The class size to judge by.
    seed
        Seed given to every plan.
    plot
        Save the chart: svg, png, pdf or html.
    """
    import tacit
    from tacit.plan import Plan

    refuse_existing(plot)
    loaded = {path.stem: Plan.load(path) for path in plans}
    with progress_bar(console) as progress:
        progress("reading", None)
        data = next(iter(loaded.values())).read()
        progress("comparing", None)
        result = tacit.compare(data, loaded, k=k, seed=seed)
    console.result(result)
    if plot is not None:
        result.plot().save(plot)
    return 0


@app.command
def tiers(plans: list[Path], /, *, seed: int | None = None) -> int:
    """Run the plans of several products, the most open first, and check that each lies within the next.

    Parameters
    ----------
    plans
        The plan files; the source, roles and hierarchies are those of the first.
    seed
        Seed given to every plan.
    """
    from tacit.alternatives.tiers import Tiers
    from tacit.plan import Plan

    loaded = {path.stem: Plan.load(path) for path in plans}
    with progress_bar(console) as progress:
        progress("reading", None)
        data = next(iter(loaded.values())).read()
        progress("making the products", None)
        result = Tiers(loaded).check(data, seed=seed)
    console.result(result)
    return 0 if result.nested else 1


@app.command(name="map")
def ru_map(
    plan: Path,
    /,
    *,
    out: Path | None = None,
    seed: int | None = None,
    workers: int | None = None,
    resume: Path | None = None,
    max_risk: float | None = None,
    min_utility: float | None = None,
    force: bool = False,
) -> int:
    """Draw the risk-utility map of a plan's candidates, and choose one.

    Parameters
    ----------
    plan
        The plan file (YAML or TOML) with a map section: candidates, risk, utility.
    out
        Folder for map.html, map.svg, map.png, map.csv and the chosen plan; by default nothing is written.
    seed
        Overrides the plan's seed.
    workers
        Number of processes; by default as many as pay.
    resume
        Folder that keeps finished evaluations; an interrupted run goes on from there.
    max_risk
        Overrides the map's cap on risk.
    min_utility
        Overrides the map's floor of utility.
    force
        Replace a map that is already there.
    """
    from dataclasses import replace

    from tacit.alternatives.rumap import RUMap
    from tacit.alternatives.rumap.result import FILES
    from tacit.plan import Plan

    if out is not None:
        refuse_files(out, FILES, "map.html", force=force)
    made = RUMap.from_plan(Plan.load(plan))
    given: dict[str, Any] = {"workers": workers, "max_risk": max_risk, "min_utility": min_utility}
    made = replace(made, **{k: v for k, v in given.items() if v is not None})
    with progress_bar(console) as progress:
        progress("reading", None)
        result = made.run(seed=seed, progress=progress, resume=resume)
    console.result(result)
    if out is not None:
        result.write(out, force=force)
        console.say(
            f"\nThe map is in {out / 'map.html'}; it shows the settings, so keep it inside."
        )
        chosen = out / "plan.yaml"
        console.say(
            f"The chosen plan is {chosen}: tacit run {chosen}"
            if chosen.exists()
            else "No candidate can be chosen, so there is no plan."
        )
    return 0


@app.command
def agreement(
    release: Path,
    /,
    *,
    provider: str = "",
    recipient: str = "",
    purpose: str = "",
    access: str | None = None,
    could_link: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    will_link: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    destroy_by: str | None = None,
    out: Path | None = None,
) -> int:
    """Draft a data-use agreement for a release: seven clauses, lines left open to fill in.

    Parameters
    ----------
    release
        The release folder; its columns and access class go into the draft.
    provider
        Who gives the data.
    recipient
        Who gets them.
    purpose
        What they are for.
    access
        Access class (Pr, SPr, SPu); by default that of the release.
    could_link
        Columns that the recipient could link to other data.
    will_link
        Columns on which the recipient will link.
    destroy_by
        Day by which every copy is destroyed.
    out
        Write the draft to this file instead of printing it.
    """
    from tacit.governance import data_use_agreement
    from tacit.release.verification import read_statement

    refuse_existing(out)
    facts = read_statement(release)
    text = data_use_agreement(
        provider,
        recipient,
        purpose,
        facts["columns"],
        access or facts["access"] or "SPr",
        could_link=could_link or (),
        will_link=will_link or (),
        destroy_by=destroy_by,
        release=facts["title"],
    )
    if out is None:
        sys.stdout.write(text + "\n")
    else:
        write_whole(out, text + "\n")
        console.say(f"wrote the draft to {out}")
    return 0


@app.command
def experiment(
    name: Literal[
        "channels",
        "swap-or-shuffle",
        "blanking",
        "grouping",
        "series",
        "dictionaries",
        "individual-risk",
        "protected-plots",
        "sample-uniques",
        "two-stage",
        "two-groups",
        "pram",
        "mahalanobis",
        "synthetic-weights",
    ],
    /,
    *,
    out: Path,
    size: Literal["small", "paper"] = "small",
    seed: int = 0,
) -> int:
    """Run a published experiment again and write its tables and charts.

    Parameters
    ----------
    name
        ``channels``: the sweeps of Garfinkel, Gopal and Thompson (2007), section 7.
        ``swap-or-shuffle``: both simulations of Muralidhar, Sarathy and Dandekar (2006).
        ``blanking``: the four designs of Flossmann and Lechner (2006).
        ``grouping``: methods of microaggregation on growing files, Fayyoumi and Oommen (2006).
        ``series``: distances that find time series again, Nin and Torra (2006), on simulated series.
        ``dictionaries``: risk by size of the attacker's dictionary, Lebanon et al. (2006), on simulated items.
        ``synthetic-weights``: coverage with synthetic design variables, Mitra and Reiter (2006).
        ``individual-risk``: three estimators against the truth, Di Consiglio and Polettini (2006), on an invented census.
        ``protected-plots``: noise, attacks and efficiency of plots, Heitzig (2006), Figures 2, 3 and 5.
        ``sample-uniques``: population uniques among sample uniques by smoothing, Rinott and Shlomo (2006), on drawn tables.
        ``two-stage``: six maskings in one or two stages on eight data sets, Oganian and Karr (2006), on drawn data.
        ``two-groups``: groups of two on the CASC files and ratios to the optimum, Domingo-Ferrer and Sebé (2006).
        ``pram``: fifty matrices on a register, de Wolf (2006), on a drawn register.
        ``mahalanobis``: synthetic releases of Census and EIA against five distances, Torra et al. (2006).
    out
        Folder for the tables (csv) and charts (svg).
    size
        ``small`` takes seconds, ``paper`` has the size of the paper and takes minutes.
    seed
        Seed of the simulated data.
    """
    from tacit.cli.studies import run_study

    if not out.is_dir() or any(out.iterdir()):
        refuse_existing(out, "choose another folder")
    with progress_bar(console) as progress:
        tables = run_study(name, out, size=size, seed=seed, progress=progress)
    for title, table in tables.items():
        console.say(f"{title}: {len(table)} rows")
    console.say(f"wrote tables and charts to {out}")
    return 0


@app.command
def tables(
    original: Path,
    versions: list[Path],
    /,
    *,
    rows: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    columns: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    value: str | None = None,
    rounded: int | None = None,
    impute: Literal["zero", "row_average", "weighted_row_average"] | None = None,
    max_risk: float | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    missing: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    out: Path | None = None,
) -> int:
    """Compare protected versions of a table with the original: every loss, small-cell risk, the map.

    Parameters
    ----------
    original
        The original table (long or wide CSV or Excel), internal cells only.
    versions
        The protected versions, of the same layout.
    rows
        Variables that form the rows, for a table in long form.
    columns
        Variables that form the columns, for a table in long form.
    value
        Column with the cell values, for a table in long form.
    rounded
        Base to which the versions were rounded, for the exact binomial test.
    impute
        What stands for suppressed cells.
    max_risk
        Largest share of unprotected small cells, in percent, for the recommendation.
    separator
        Separator of columns in text; guessed from the first line when not given.
    encoding
        Encoding of text; by default utf-8.
    missing
        Texts that stand for a cell without a value.
    out
        Write the report (HTML) to this file.
    """
    import tacit

    refuse_existing(out)
    reading = {"rows": rows, "columns": columns, "value": value}
    measure = tacit.TableComparison.model_validate(
        {**reading, "rounded": rounded, "impute": impute}
    )
    given = (("separator", separator), ("encoding", encoding), ("missing", missing))
    options: dict[str, Any] = {name: value for name, value in given if value}

    def load(path: Path) -> Any:
        return tacit.read(path, **options).to_arrow() if options else path

    versions_by_name = {path.stem: load(path) for path in versions}
    result = tacit.compare(load(original), versions_by_name, [measure])
    console.result(result)
    if out is not None:
        result.document(title=original.stem, max_risk=max_risk).to_html(out)
        console.say(f"wrote the report to {out}; it is confidential")
    return 0
