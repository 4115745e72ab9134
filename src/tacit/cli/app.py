"""The commands of ``tacit``. Each is a few lines over a library call."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sized
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

import tacit
from tacit.cli.alternatives import compare, ru_map, tables, tiers
from tacit.cli.examples import example, experiment
from tacit.cli.keys import group as keys
from tacit.cli.options import Separator
from tacit.cli.recommend import recommend
from tacit.cli.render import console, progress_bar
from tacit.cli.supervised import memory_sentence
from tacit.cli.texts import review, scrub
from tacit.errors import (
    DisclosureRefused,
    InputError,
    InvalidParameter,
    SdcError,
    SdcWarning,
    SpecError,
    is_out_of_disk,
    is_out_of_memory,
    make_shortage_error,
)
from tacit.events import Job, Phase
from tacit.limits import memory_limit
from tacit.reveal import show_values
from tacit.storage.own_folders import refuse_existing, write_whole

app = App(
    name="tacit",
    help="Statistical disclosure control: protect data about people and firms, and show that it worked. "
    "Every command takes --show-values: where an error is about values of the data, list them on this terminal.",
    version=tacit.__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
app.command(recommend)
app.command(scrub)
app.command(review)
app.command(keys)
for command in (compare, tiers, tables, example, experiment):
    app.command(command)
app.command(ru_map, name="map")


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


#: The modules of those that are not made from the registry.
MODULES = {"table": "tables", "party": "parties", "census": "census"}


def add_groups(tokens: list[str]) -> None:
    """Add the group that is asked for, and the names of the others."""
    asked = tokens[0] if tokens else ""
    # An earlier call in this process has left its own.
    for name in GROUPS.keys() & set(app):
        del app[name]
    for name, text in GROUPS.items():
        if name != asked:
            app.command(App(name=name, help=text))
    if asked in MODULES:
        app.command(import_module(f"tacit.cli.{MODULES[asked]}").group)
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
    from tacit.plan.run import run_parts
    from tacit.release.folders import WRITING, refuse_target

    loaded = Plan.load(plan)
    if reports:
        output = loaded.output.model_copy(update={"reports": tuple(reports)})
        loaded = loaded.with_(output=output)
    target = out if out is not None else loaded.resolve(loaded.output.folder)
    source = str(loaded.resolve(loaded.source.path)) if loaded.source else "memory"
    refuse_target(Path(target), source, force=force)
    parts = (
        Phase("protect", "Running the plan", 8, len(run_parts(loaded))),
        Phase("write", "Writing the release", 2, len(WRITING)),
    )
    with progress_bar(console) as show:
        job = Job(show, phases=parts)
        release = loaded.run(seed=seed, on_event=job.begin("protect").listener)
        folder = release.write(
            target,
            format=format,
            force=force,
            sign=sign,
            study_seed=study_seed,
            on_event=job.begin("write").listener,
        )
        job.finish()
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

    with progress_bar(console) as show:
        result = verify_release(release, signer=signer, recipient=recipient, on_event=show)
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
    separator: Separator = None,
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
