"""Review: a queue of uncertain words for people to decide on, and what they decided.

The queue is confidential: it shows words of the texts with a little of what stands around them. It is written with
rights for its owner alone. A decision is about a word: accepted ones are always found afterwards, rejected ones never.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tacit.data.corpus import SPAN_KINDS, Corpus, Findings, Span
from tacit.errors import InputError, UnreadableFile, explain_target
from tacit.storage.locks import hold_alone
from tacit.storage.own_folders import note_begun

#: Characters shown before and after a word.
AROUND = 40
#: Open words that a queue holds at most, the likeliest first; how many more there are is told.
MOST = 5_000
KEEP = "keep"
DECISIONS = ("", "accept", "reject")
#: What an entry of a queue holds in its file, before the decision.
PLAIN: Mapping[str, Callable[[Any], Any]] = {
    "word": str, "kind": str, "certainty": float, "times": int, "context": str,
}  # fmt: skip


@dataclass(frozen=True)
class Lists:
    """Words that are always found, with their kind, and words that never are."""

    accepted: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()

    @classmethod
    def of(cls, lists: Mapping[str, Iterable[str]]) -> Lists:
        """Return lists from words by kind."""
        accepted = {w: kind for kind, words in lists.items() if kind != KEEP for w in words}
        return cls(accepted, frozenset(lists.get(KEEP, ())))

    def joined(self, later: Lists) -> Lists:
        """Return both; what was said later holds."""
        accepted = {w: k for w, k in self.accepted.items() if w not in later.rejected}
        rejected = self.rejected - later.accepted.keys()
        return Lists({**accepted, **later.accepted}, rejected | later.rejected)

    def to_dict(self) -> dict[str, tuple[str, ...]]:
        """Return the words by kind."""
        found: dict[str, list[str]] = {}
        for word, kind in sorted(self.accepted.items()):
            found.setdefault(kind, []).append(word)
        if self.rejected:
            found[KEEP] = sorted(self.rejected)
        return {kind: tuple(words) for kind, words in found.items()}


@dataclass(frozen=True)
class Entry:
    """One word to decide on."""

    word: str
    kind: str
    certainty: float
    times: int
    context: str
    decision: str = ""


@dataclass(frozen=True)
class Queue:
    """Words to decide on, and texts that may identify by what they tell."""

    entries: Sequence[Entry]
    narratives: Sequence[Mapping[str, str]] = ()
    #: Open words that found no place; they come when others are decided.
    left_out: int = 0

    @property
    def open(self) -> int:
        """Return how many words wait for a decision."""
        return sum(not e.decision for e in self.entries)


def read_lists(path: str | Path) -> Lists:
    """Read words by kind from a YAML or JSON file."""
    import yaml

    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(f"the lists cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise UnreadableFile("the lists cannot be read as YAML or JSON") from None
    known = (*SPAN_KINDS, KEEP)
    if not isinstance(found, dict) or not all(
        k in known and isinstance(v, list) and all(isinstance(w, str) for w in v)
        for k, v in found.items()
    ):
        raise InputError(
            f"lists must be words by kind, such as {{name: [...], keep: [...]}}. Kinds: {', '.join(known)}."
        )
    return Lists.of(found)


def read_queue(path: str | Path) -> Queue:
    """Read a queue; every word of it, decided or not."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        entries = [
            Entry(**{n: made(e[n]) for n, made in PLAIN.items()}, decision=str(e["decision"] or ""))
            for e in found["queue"]
        ]
        narratives = [dict(entry) for entry in found.get("narratives") or ()]
        left_out = int(found.get("left_out") or 0)
    except OSError as error:
        raise UnreadableFile(f"the review queue cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreadableFile("the file is no review queue, or it is damaged") from None
    known = f"has no known kind; kinds are {', '.join(SPAN_KINDS)}"
    undecided = "is decided neither 'accept' nor 'reject'"
    wrong = [(i, undecided) for i, e in enumerate(entries, 1) if e.decision not in DECISIONS]
    wrong += [(i, known) for i, e in enumerate(entries, 1) if e.kind not in SPAN_KINDS]
    if wrong:
        number, why = wrong[0]
        raise InputError(f"entry {number} of the review queue {why}")
    return Queue(entries, narratives, left_out)


def read_decisions(path: str | Path) -> Lists:
    """Return what was decided in a queue."""
    entries = read_queue(path).entries
    accepted = {e.word: e.kind for e in entries if e.decision == "accept"}
    return Lists(accepted, frozenset(e.word for e in entries if e.decision == "reject"))


def write_queue(path: str | Path, queue: Queue) -> None:
    """Write a queue for its owner alone."""
    document = {
        "about": "CONFIDENTIAL. Words of the texts that may identify people. Set decision to accept or reject.",
        "queue": [
            vars(e) | {"certainty": round(e.certainty, 3), "decision": e.decision or None}
            for e in queue.entries
        ],
        "narratives": list(queue.narratives),
        "left_out": queue.left_out,
    }
    write_for_owner(Path(path), document)


def write_for_owner(target: Path, document: Any) -> None:
    """Write JSON that nobody but its owner can read; the file is whole, or as it was."""
    with explain_target(target):
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, aside = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=target.suffix)
        note_begun(aside)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(document, out, indent=1, ensure_ascii=False)
            Path(aside).replace(target.resolve())
        except BaseException:
            Path(aside).unlink()
            raise


def save_decisions(path: str | Path, decided: Iterable[Entry]) -> Queue:
    """Write decisions into a queue as it is now, and return it: what others decided meanwhile stays."""
    with hold_queue(path):
        queue, mine = read_queue(path), {e.word: e for e in decided}
        entries = [
            replace(e, decision=mine.pop(e.word).decision) if e.word in mine else e
            for e in queue.entries
        ]
        queue = replace(queue, entries=[*entries, *mine.values()])
        write_queue(path, queue)
    return queue


def write_over(path: str | Path, queue: Queue) -> Queue:
    """Write a new queue in place of an old one, and return it: what was decided in the old one stays."""
    Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with hold_queue(path):
        old = read_queue(path).entries if Path(path).exists() else ()
        before = {e.word: e for e in old if e.decision}
        entries = [e for e in queue.entries if e.word not in before]
        queue = replace(queue, entries=[*entries, *before.values()])
        write_queue(path, queue)
    return queue


@contextmanager
def hold_queue(path: str | Path) -> Iterator[None]:
    """Hold a queue alone while it is read and written."""
    with explain_target(Path(path)), hold_alone(Path(path), "the review queue"):
        yield


def queue_of(corpus: Corpus, decided: Iterable[Entry] = ()) -> Queue:
    """Return the uncertain words of a corpus and its narratives."""
    words: dict[str, Entry] = {}
    narratives = []
    for document in corpus:
        findings = document.done or document.found or Findings(())
        text = document.text if document.origin is None else document.origin.text
        add_words(words, words_in(text, findings.uncertain))
        narratives += [{"document": document.name, "reason": why} for why in findings.warnings]
    return rank_words(words, decided, narratives)


def words_in(text: str, spans: Iterable[Span]) -> Iterator[Entry]:
    """Yield the words of a text that some spans mark."""
    for span in spans:
        word = text[span.start : span.end]
        yield Entry(word, span.kind, span.certainty, 1, around(text, span.start, span.end))


def add_words(words: dict[str, Entry], more: Iterable[Entry]) -> None:
    """Count words: each is shown where it is most certain."""
    for entry in more:
        known = words.get(entry.word)
        shown = entry if known is None or entry.certainty > known.certainty else known
        times = entry.times + (0 if known is None else known.times)
        words[entry.word] = replace(shown, times=times)


def rank_words(
    words: Mapping[str, Entry],
    decided: Iterable[Entry],
    narratives: Sequence[Mapping[str, str]],
) -> Queue:
    """Return a queue: the likeliest words first, those decided on before last."""
    before = {e.word: e for e in decided if e.decision}
    open_words = sorted(
        (e for w, e in words.items() if w not in before), key=lambda e: (-e.certainty, e.word)
    )
    left_out = max(0, len(open_words) - MOST)
    return Queue([*open_words[:MOST], *before.values()], narratives, left_out)


def around(text: str, start: int, end: int) -> str:
    """Return a word with a little of what stands around it."""
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    return " ".join(f"{before}>>{text[start:end]}<<{after}".split())


def decide(entries: Iterable[Entry], accept: Iterable[int], reject: Iterable[int]) -> list[Entry]:
    """Return the queue with decisions on entries by their number, counted from 1."""
    listed, accept, reject = list(entries), list(accept), list(reject)
    if both := set(accept) & set(reject):
        raise InputError(f"entry {min(both)} is both accepted and rejected; give it once")
    for numbers, decision in ((accept, "accept"), (reject, "reject")):
        for number in numbers:
            if not 1 <= number <= len(listed):
                raise InputError(f"the queue has no entry {number}; it has {len(listed)}")
            listed[number - 1] = replace(listed[number - 1], decision=decision)
    return listed
