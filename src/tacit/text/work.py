"""Many texts at once: in this process, or in several where there is enough to do."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
import multiprocessing
import os
import pickle
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.context import Context
from tacit.data.corpus import Findings, Span
from tacit.data.in_blocks import Change, ticker
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.events import result_of
from tacit.text import engine
from tacit.text.engine import Settings
from tacit.text.guard import guard_text, known_places, move_marks
from tacit.text.replace import pieces_of

#: Characters of text that pay for starting further processes.
WORTH_STARTING = 2_000_000
#: Texts that one process takes at a time.
BATCH = 500
#: Parts that wait for each process, so that it need not wait for the next one.
AHEAD = 3
#: New texts, and what was found in the old ones.
Counted = tuple[list[str], dict[str, Any]]
#: Records of a block whose texts are taken out of it at a time.
SLICE = 4096
#: Bounds of the bins in which certainties are told.
BINS = (0.5, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Task:
    """How texts are searched and what is done with what is found."""

    settings: Settings
    #: "full", or one of the two baselines.
    search: str = "full"
    #: Forms of identifiers that must not stand in the result.
    forms: tuple[str, ...] = ()
    #: Whether to tell where the new text holds something else.
    marks: bool = False


@dataclass(frozen=True)
class Item:
    """One text with what is known of its person, and its key."""

    text: str
    record: Mapping[str, Any]
    key: bytes = b""
    #: What was found in it, where its parts were looked at already.
    found: Findings | None = None


@dataclass(frozen=True)
class Outcome:
    """The new text, what was found in the old one, and how many places the last look took out."""

    text: str
    found: Findings
    caught: int = 0
    #: Where the new text holds something in place of what was found.
    marks: tuple[Span, ...] = ()


def look_at(task: Task, item: Item) -> Findings:
    """Find what identifies people in one text, by the engine or by a baseline."""
    if item.found is not None:
        return item.found
    if task.search == "straight":
        return Findings(straight_search(item.text, item.record))
    if task.search == "cues":
        return Findings(search_with_cues(item.text, item.record))
    return engine.find_spans(item.text, task.settings, item.record or None)


def scrub_text(task: Task, item: Item) -> Outcome:
    """Find and replace in one text, then look once more."""
    found = look_at(task, item)
    if task.settings.mode == "list":
        return Outcome(item.text, found)
    pieces = list(pieces_of(item.text, found.spans, task.settings, item.key))
    new, at = "".join(piece for piece, _ in pieces), 0
    marks: list[Span] = []
    for piece, kind in pieces if task.marks else ():
        if kind and piece:
            marks.append(Span(at, at + len(piece), kind))
        at += len(piece)
    if task.search != "full":
        return Outcome(new, found, marks=tuple(marks))
    new, removed = guard_text(new, item.text, item.record, task.forms, task.settings.rejected)
    return Outcome(new, found, len(removed), move_marks(marks, removed) if task.marks else ())


def scrub_batch(task: Task, items: Sequence[Item]) -> list[Outcome]:
    """Find and replace in several texts."""
    return [scrub_text(task, item) for item in items]


def look_batch(task: Task, items: Sequence[Item]) -> list[Findings]:
    """Find what identifies people in several texts; nothing is replaced."""
    return [look_at(task, item) for item in items]


def look_at_part(task: Task, text: str, record: Mapping[str, Any]) -> Findings:
    """Find what identifies people in a part of a long text."""
    return engine.find_in_part(text, task.settings, record or None)


def person_key(secret: bytes, person: str) -> bytes:
    """Return the key of one person or document: nobody without the secret can work it out."""
    return hmac.new(secret, person.encode(), hashlib.sha256).digest()


def scrub_counted(task: Task, items: Sequence[Item]) -> Counted:
    """Return the new texts, and what was found in the old ones in numbers alone: little to send between processes."""
    outcomes = scrub_batch(task, items)
    return [outcome.text for outcome in outcomes], tally(outcomes)


R = TypeVar("R")
#: Takes texts and gives what was made of them, part by part and in order.
Scrubber = Callable[[Iterable[Item]], Iterator[R]]


def go_on() -> None:
    """Never stop."""


def look_in(
    task: Task, items: Sequence[Item], tick: Callable[[], None] = go_on
) -> Iterator[Findings]:
    """Yield what identifies people in each text: found in several processes where that pays."""
    with scrubbers(task, sum(len(item.text) for item in items), look_batch, tick) as look:
        for part in look(items):
            yield from part


@contextmanager
def scrubbers(
    task: Task,
    characters: int,
    work: Callable[[Task, Sequence[Item]], R],
    tick: Callable[[], None] = go_on,
) -> Iterator[Scrubber[R]]:
    """Give a function that does the work on texts: in several processes where that pays."""
    count = worker_count() if characters >= WORTH_STARTING and travels(task) else 1
    if count < 2:
        yield Here(task, work, tick)
        return
    from tacit.solve.processes import bare_main

    pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))

    def results(calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Yield what the processes made, in order; no more is on its way than keeps them busy."""
        running: deque[Future[Any]] = deque()
        for call in calls:
            with bare_main():
                running.append(pool.submit(*call))
            if len(running) > AHEAD * count:
                tick()
                yield result_of(running.popleft())
        while running:
            tick()
            yield result_of(running.popleft())

    def shared(items: Iterable[Item]) -> Iterator[R]:
        waiting: deque[Sequence[Item]] = deque()

        def calls() -> Iterator[tuple[Any, ...]]:
            """Yield one call for several texts, or for each part of a long one; the texts themselves wait."""
            for group in batches(items):
                waiting.append(group)
                if not is_shared_out(task, group):
                    yield work, task, group
                    continue
                (item,) = group
                for part in engine.parts_of(item.text):
                    yield look_at_part, task, item.text[part.start : part.end], item.record

        made = results(calls())
        for first in made:
            group = waiting.popleft()
            if not is_shared_out(task, group):
                yield first
                continue
            (item,) = group
            parts = engine.parts_of(item.text)
            founds = itertools.chain([first], itertools.islice(made, len(parts) - 1))
            found = engine.join_parts(item.text, parts, founds, task.settings)
            yield work(task, [replace(item, found=found)])

    try:
        yield shared
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def is_shared_out(task: Task, group: Sequence[Item]) -> bool:
    """Return True for a text by itself that is so long that several processes take its parts."""
    return len(group) == 1 and len(group[0].text) > engine.PART and task.search == "full"


@dataclass(frozen=True)
class Here(Generic[R]):
    """Works in the process it is in; it travels to the workers of an engine."""

    task: Task
    work: Callable[[Task, Sequence[Item]], R]
    tick: Callable[[], None] = go_on

    def __call__(self, items: Iterable[Item]) -> Iterator[R]:
        """Yield what becomes of the texts, part by part."""
        for part in batches(items):
            self.tick()
            yield self.work(self.task, part)


def batches(items: Iterable[Item]) -> Iterator[Sequence[Item]]:
    """Yield the texts in parts of so many texts or characters; a long text is a part by itself."""
    held: list[Item] = []
    size = 0
    for item in items:
        if held and (len(held) == BATCH or size + len(item.text) > engine.PART):
            yield held
            held, size = [], 0
        held.append(item)
        size += len(item.text)
    if held:
        yield held


def worker_count() -> int:
    """Return how many processes may work: those that this one may use, unless it is itself a worker."""
    if multiprocessing.current_process().daemon or multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def travels(task: Task) -> bool:
    """Return True when the task can be sent to other processes: a site's own tagger may not."""
    try:
        pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def tally(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what was found in some texts, in numbers that JSON can hold."""
    found = [outcome.found for outcome in outcomes]
    spans = [s for f in found for s in f.spans]
    certainty: Counter[str] = Counter()
    for span in spans:
        low = max((b for b in BINS if span.certainty >= b), default=0.0)
        high = min((b for b in BINS if b > span.certainty), default=1.0)
        certainty[f"{low:g} to {high:g}"] += 1
    expected = risk = 0.0
    for f in found:
        left = [s.certainty for s in f.uncertain]
        expected, risk = expected + sum(left), risk + at_risk(left)
    return {
        "texts": len(found),
        "texts_with_findings": sum(bool(f.spans) for f in found),
        "found": dict(Counter(s.kind for s in spans)),
        "certainty": dict(certainty),
        "uncertain": dict(Counter(s.kind for f in found for s in f.uncertain)),
        "narratives": sum(bool(f.warnings) for f in found),
        "caught": sum(outcome.caught for outcome in outcomes),
        "expected_left": expected,
        "at_risk": risk,
    }


def at_risk(certainties: Iterable[float]) -> float:
    """Return the chance that at least one of some spans identifies somebody: the noisy-or of their certainties."""
    return 1.0 - math.prod(1.0 - min(c, 1.0) for c in certainties)


def add_tallies(tallies: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return several tallies as one."""
    total = tally(())
    for one in tallies:
        for name, value in one.items():
            if isinstance(value, Mapping):
                total[name] = dict(sorted((Counter(total[name]) + Counter(value)).items()))
            else:
                total[name] += value
    return total


# -- texts of records ------------------------------------------------------------------------------------


def scrub_block(
    table: pa.Table,
    columns: Iterable[str],
    known: Iterable[str],
    person: str | None,
    secret: bytes,
    scrub: Scrubber[Counted],
    *,
    keep: bool,
) -> Change:
    """Return what becomes of the texts of one block of records; few of them are taken out of it at a time."""
    parts = [table.slice(start, SLICE) for start in range(0, max(len(table), 1), SLICE)]
    new: dict[str, pa.Array] = {}
    tallies: list[Mapping[str, Any]] = []

    def keyed_items(table: pa.Table, column: str) -> Iterator[Item]:
        rows = table.column(ROW).to_pylist()
        people = [None] * len(rows) if person is None else table.column(person).to_pylist()
        for i, item in zip(*items_of(table, column, known), strict=True):
            whose = f"row {rows[i]}" if people[i] is None else f"person {people[i]}"
            yield replace(item, key=person_key(secret, whose))

    def new_texts(made: Iterable[Counted]) -> Iterator[str]:
        for texts, told in made:
            tallies.append(told)
            yield from texts

    for column in columns:
        made = new_texts(scrub(i for part in parts for i in keyed_items(part, column)))
        if keep:
            deque(made, maxlen=0)
            continue
        kind = table.schema.field(column).type
        arrays = []
        for part in parts:
            texts = part.column(column).to_pylist()
            arrays.append(pa.array([next(made) if text else text for text in texts], kind))
        new[column] = pa.concat_arrays(arrays)
    return Change(new, tally=add_tallies(tallies))


def items_of(table: pa.Table, column: str, known: Iterable[str]) -> tuple[list[int], list[Item]]:
    """Return the places of a block that hold text, and each text with what is known of its record."""
    facts = {c: table.column(c).to_pylist() for c in known}
    texts = table.column(column).to_pylist()
    there = [i for i, text in enumerate(texts) if text]
    return there, [
        Item(texts[i], {c: values[i] for c, values in facts.items() if values[i] is not None})
        for i in there
    ]


@contextmanager
def record_scrubbers(
    task: Task,
    data: Microdata,
    columns: Iterable[str],
    work: Callable[[Task, Sequence[Item]], R],
    ctx: Context,
) -> Iterator[Scrubber[R]]:
    """Give a function that does the work on texts of records, wherever their engine calls it."""
    if data.engine.name == "spark":
        # Blocks are shared out already, and the function travels to them.
        yield Here(task, work)
        return
    sums = [nw.col(c).str.len_chars().sum().alias(f"n{i}") for i, c in enumerate(columns)]
    characters = sum(n or 0 for n in data.frame.select(*sums).collect("pyarrow").row(0))
    with scrubbers(task, characters, work, ticker(ctx)) as scrub:
        yield scrub


# -- two baselines, for comparison: a search for the known record, and where letters name people ---


#: Name tokens: a word with a capital letter, or an initial.
NAME = r"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}"
#: Where letters name people; the place of the name is the group.
CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("name", re.compile(rf"^(?:RE|Re|Patient|Name|To|From|cc)\s?: ?({NAME})", re.MULTILINE)),
    ("name", re.compile(rf"\bRE: ?({NAME})")),
    ("name", re.compile(rf"^Dear (?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?({NAME})", re.MULTILINE)),
    ("name", re.compile(rf"^({NAME}), ?(?:M\.D\.|MD|R\.N\.|RN|Ph\.D\.)", re.MULTILINE)),
    (
        "date",
        re.compile(
            r"^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, )?([A-Z][a-z]+ \d{1,2}, \d{4})$",
            re.MULTILINE,
        ),
    ),
    ("date", re.compile(r"\bDOB:? ?([\d/.-]{6,10})")),
    ("id", re.compile(r"(?:CH#|MRN:?|No\.) ?([\d-]{4,20})")),
    ("address", re.compile(r"^([A-Z][A-Za-z ]{2,40}, [A-Z]{2} \d{5}(?:-\d{4})?)$", re.MULTILINE)),
)


def straight_search(text: str, record: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return where fields of the known record stand in the text."""
    return without_overlap(
        Span(a, b, "other", 1.0, "known record") for a, b in known_places(text, record)
    )


def search_with_cues(text: str, record: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return the same, and what stands after headings and salutations and before signatures."""
    cued = ((kind, found.span(1)) for kind, pattern in CUES for found in pattern.finditer(text))
    spans = (Span(a, b, kind, 1.0, "cue") for kind, (a, b) in cued)
    return without_overlap([*straight_search(text, record), *spans])


def without_overlap(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order; of those that overlap the longer one."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if kept and span.start < kept[-1].end:
            if span.end - span.start > kept[-1].end - kept[-1].start:
                kept[-1] = span
            continue
        kept.append(span)
    return tuple(kept)
