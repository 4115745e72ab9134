"""``tacit scrub`` and ``tacit review``: texts de-identified, and uncertain words decided on."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from tacit.cli.options import Many, split
from tacit.cli.render import console, progress_bar
from tacit.errors import InputError, InvalidParameter
from tacit.events import Listener


def scrub(
    source: Path,
    /,
    *,
    out: Path | None = None,
    review: Annotated[list[Path] | None, Parameter(consume_multiple=True, negative=())] = None,
    threshold: float | None = None,
    reduction: bool = False,
    strict: bool = False,
    language: str = "en",
    mode: Literal["substitute", "tag", "mask", "list"] = "substitute",
    dates: Literal["month", "shift"] = "month",
    kinds: Many = None,
    lists: Path | None = None,
    record: Many = None,
    gold: Path | None = None,
    text: str | None = None,
    columns: Many = None,
    identifiers: Many = None,
    person: str | None = None,
    encoding: str = "utf-8",
    table: str | None = None,
    format: str | None = None,  # noqa: A002 - the word of the plan file
    seed: int | None = None,
    marks: bool = False,
    force: bool = False,
    sign: Path | None = None,
) -> int:
    """De-identify texts: a folder of them, or the text columns of a table; write a release.

    What is certain is replaced. What is not certain enough stays, and is listed for review: with --review the queue
    goes to a file that holds words of the texts and is for you alone; decide on it with 'tacit review', run the
    same command again, and your decisions are honoured. The same in a plan: a step of kind scrub.

    Parameters
    ----------
    source
        A folder or file of texts (plain text, JSON lines, HTML, Word, PDF), or a table (CSV, Parquet, Excel).
    out
        Folder of the release; --mode list writes none.
    review
        Write the queue of uncertain words; to this file, or to review.json in the confidential folder.
    threshold
        Least certainty of what is replaced; by default 0.8, with --reduction 0.7.
    reduction
        Take back what a second look knows to be medicine, doses or common words.
    strict
        Mask words that no list knows as well.
    language
        Language pack: en, de.
    mode
        Replace by made-up alternatives, by the name of the kind, by a mask; or only list what is found.
    dates
        Leave month and year, or shift all dates of a person by the same days.
    kinds
        Kinds to look for; by default all.
    lists
        YAML or JSON file with words of this site that are always found, by kind, and under keep never.
    record
        What is known of each person: a file with a column 'document', or columns of the table.
    gold
        Spans that people have marked, as JSON or .ann files: recall and precision are measured.
    text
        Column of a table that holds the texts, each of which becomes a document.
    columns
        Text columns of a table that is released as a table.
    identifiers
        Columns of that table that name people: searched in the texts, then left out.
    person
        Column that tells whose text it is: texts of one person share made-up names.
    encoding
        Encoding of the texts.
    table
        Table of a database.
    format
        Format of the release: txt, jsonl, html or brat; for a table as in 'tacit run'.
    seed
        For study only.
    marks
        Mark in jsonl, html and brat what was put in place of something, by kind: what is not marked is then known to
        be real.
    force
        Replace a release that is already there.
    sign
        File of the office's private key.
    """
    import tacit
    from tacit.events import Job, Phase
    from tacit.plan.run import run_parts
    from tacit.release.folders import WRITING, confidential_folder, refuse_target
    from tacit.text.review import read_queue

    if mode == "list":
        useless = {"--out": out, "--review": review, "--gold": gold}
        for name in (n for n, value in useless.items() if value is not None):
            raise InvalidParameter(f"--mode list only counts and writes nothing; leave {name} out")
    elif out is None:
        raise InvalidParameter("name the folder of the release with --out")
    target = Path() if out is None else out.absolute()
    queue = None if out is None else queue_file(review, target, confidential_folder(target))
    if queue is not None and queue.exists():
        read_queue(queue)  # A damaged one is refused before any work.
    values: dict[str, Any] = {
        "threshold": threshold, "reduction": reduction, "strict": strict, "language": language, "mode": mode,
        "dates": dates, "kinds": tuple(split(kinds) or ()), "lists": None if lists is None else str(lists.absolute()),
        "columns": tuple(split(columns) or ()), "person": person, "marks": marks,
    }  # fmt: skip
    if queue is not None and queue.exists():
        values["review"] = str(queue.absolute())
    step = tacit.Scrub(**{k: v for k, v in values.items() if v not in (None, (), False)})
    reading = {"encoding": None if encoding == "utf-8" else encoding, "table": table, "text": text}
    plan = plan_for(step, source, split(identifiers), split(record), gold, reading)
    if mode == "list":
        return list_found(step, plan)
    refuse_format(format, "records" if step.columns else "corpus", marks=marks)
    refuse_target(target, str(source.absolute()), force=force)
    parts = (
        Phase("protect", "Searching the texts", 8, len(run_parts(plan))),
        Phase("write", "Writing the release", 2, len(WRITING)),
        Phase("write", "Writing the queue of uncertain words"),
    )
    with progress_bar(console) as show:
        job = Job(show, phases=parts)
        release = plan.run(seed=seed, on_event=job.begin("protect").listener)
        work = job.begin("write").listener
        folder = release.write(target, format=format, force=force, sign=sign, on_event=work)
        work = job.begin("write").listener
        made = None if queue is None else make_queue(step, plan, release, queue, work)
    console.release(release, folder)
    tell_review(release, queue, made)
    return 3 if release.shortfalls else 0


def plan_for(
    step: Any,
    source: Path,
    identifiers: list[str] | None,
    record: list[str] | None,
    gold: Path | None,
    reading: Mapping[str, str | None],
) -> Any:
    """Return the plan that does what the command says."""
    import tacit

    options: dict[str, Any] = {"path": str(source.absolute())}
    options |= {name: value for name, value in reading.items() if value is not None}
    options |= {} if gold is None else {"gold": str(gold.absolute())}
    about = {"language": step.language, "columns": step.columns}
    measures = [tacit.TextRisk(**about), tacit.TextUtility(**about)]
    if step.columns:
        steps = [step, tacit.Deidentify()] if identifiers else [step]
        roles = {"identifiers": tuple(identifiers or ())}
        return tacit.Plan(steps, source=options, roles=roles, measures=measures)
    if identifiers:
        raise InputError(
            "--identifiers goes with --columns; for texts name what is known with --record"
        )
    if record:
        options["record"] = tuple(record) if "text" in options else str(Path(record[0]).absolute())
    return tacit.Plan([step], source=options, measures=measures)


def queue_file(review: list[Path] | None, target: Path, confidential: Path) -> Path | None:
    """Return where the queue goes: the file named, or one beside the ledgers."""
    if review is None:
        return None
    if len(review) > 1:
        raise InvalidParameter("--review takes one file")
    if review and target.resolve() in review[0].resolve().parents:
        raise InvalidParameter(
            "the review queue is confidential, and --review names a file in the folder of the release; choose another"
        )
    return review[0] if review else confidential / "review.json"


def refuse_format(form: str | None, kind: str, *, marks: bool) -> None:
    """Refuse a format that the data cannot be written in, and marks in one that has no place for them."""
    from tacit.kinds import kind_named

    formats = kind_named(kind).formats
    if form is not None and form not in formats:
        raise InvalidParameter(f"--format must be one of {', '.join(formats)} (got {form!r})")
    if marks and form in (None, "txt"):
        raise InvalidParameter(
            "--marks goes with --format jsonl, html or brat; plain text has none"
        )


def make_queue(step: Any, plan: Any, release: Any, file: Path, on_event: Listener) -> Any:
    """Write the queue of a release, decisions of an earlier one included, and return it."""
    from tacit.context import Context
    from tacit.text.review import queue_of, read_queue, write_for_owner, write_over
    from tacit.text.scrub import queue_records

    decided = read_queue(file).entries if file.exists() else []
    if not step.columns:
        made = queue_of(release.data, decided)
    else:
        context = Context.start(0, on_event=on_event)
        made, records = queue_records(step, plan.read(), decided, context)
        numbers = file.with_name(f"{file.stem}-records.json")
        if records:
            write_for_owner(numbers, records)
        else:
            numbers.unlink(missing_ok=True)
    return write_over(file, made)


def tell_review(release: Any, file: Path | None, queue: Any) -> None:
    """Say how much waits for a decision."""
    if queue is None:
        left: dict[str, int] = next(
            (a.details["uncertain"] for a in release.history if a.kind == "scrub"), {}
        )
        if waiting := sum(left.values()):
            console.say(
                f"{waiting:,} words stayed that were not certain enough; decide on them with --review."
            )
        return
    done = sum(bool(e.decision) for e in queue.entries)
    console.say(
        f"Review: {done:,} decisions honoured, {queue.open:,} words wait in {file} (confidential): tacit review {file}"
    )
    if queue.left_out:
        console.say(f"{queue.left_out:,} further words, less certain, come when these are decided.")
    if telling := len({n["document"] for n in queue.narratives}):
        console.say(
            f"{telling:,} texts may identify by what they tell: read them; the queue lists them."
        )


def list_found(step: Any, plan: Any) -> int:
    """Print counts of what is found, by kind; nothing is written, and no word is shown."""
    from tacit.result import Summary

    told = step.apply(plan.read()).history[-1].details
    uncertain = sum(told["uncertain"].values())
    counted = {"texts": told["texts"], **told["found"], "not certain enough": uncertain}
    console.say(str(Summary(counted)))
    return 0


def review(
    queue: Path,
    /,
    *,
    accept: Annotated[list[int] | None, Parameter(consume_multiple=True, negative=())] = None,
    reject: Annotated[list[int] | None, Parameter(consume_multiple=True, negative=())] = None,
) -> int:
    """Decide on uncertain words of a review queue: accepted words are always found afterwards, rejected ones never.

    On a terminal each word is shown with a little of what stands around it, and you answer a (accept: it identifies
    somebody), r (reject: it does not), Enter (later) or q (stop). Elsewhere no word is printed: give the numbers of entries
    with --accept and --reject, or write "accept" or "reject" into the file as "decision".

    Parameters
    ----------
    queue
        The file that 'tacit scrub --review' wrote.
    accept
        Numbers of entries that identify somebody.
    reject
        Numbers of entries that do not.
    """
    from tacit.text.review import decide, read_queue, save_decisions

    found = read_queue(queue)
    if accept or reject:
        numbers = {*(accept or ()), *(reject or ())}
        entries = decide(found.entries, accept or (), reject or ())
        found = save_decisions(queue, [entries[n - 1] for n in numbers])
    elif sys.stdin.isatty() and sys.stdout.isatty():
        for decided in ask(found.entries):
            found = save_decisions(queue, [decided])
    counts = {d: sum(e.decision == d for e in found.entries) for d in ("accept", "reject")}
    console.say(
        f"{counts['accept']:,} accepted, {counts['reject']:,} rejected, {found.open:,} open"
    )
    return 0


def ask(entries: Sequence[Any]) -> Iterator[Any]:
    """Ask about each open word on the terminal, and yield those that are decided."""
    for number, entry in enumerate(entries, 1):
        if entry.decision:
            continue
        print(
            f"\n{number}. {entry.kind}, certainty {entry.certainty:.2f}, {entry.times} times\n   {entry.context}"
        )
        answer = "?"
        while answer not in ("a", "r", "q", ""):
            try:
                answer = input("   (a)ccept, (r)eject, Enter for later, (q)uit: ").strip().lower()
            except (EOFError, KeyboardInterrupt):
                answer = "q"
            answer = {"accept": "a", "reject": "r", "quit": "q"}.get(answer, answer)
        if answer == "q":
            break
        if answer:
            yield replace(entry, decision="accept" if answer == "a" else "reject")
