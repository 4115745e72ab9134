"""How well a text was de-identified, where people (or a generator) have marked what should go and what should stay.

A gold span is **found** when spans that change the text cover all its letters and digits (names, nicknames, e-mail,
telephone, identifiers, addresses of the net, ages) or nine tenths of them (other kinds). What may stay does not count:
in a date everything but day and weekday, in an address the state and the first three digits of a ZIP code, and
everywhere generic words such as Road, Hospital, School and Co. **Precision** is the share of changed letters and digits
that lie inside gold spans; titles that touch one are neutral. A **keep** span is violated when its text changes.
Intervals are Wilson's, at 95 %.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import narwhals.stable.v2 as nw

from tacit.data.corpus import Document, Span
from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.plot.lines import intervals
from tacit.result import Result
from tacit.text.reading.words import TOKEN, cues

CUES = cues("evaluate")

#: Kinds of which every letter and digit must go.
WHOLE = frozenset(("name", "nickname", "email", "phone", "id", "url", "age"))
#: The share of letters and digits that must go of the other kinds.
MOST = 0.9
Z = 1.959963984540054
#: By what recall is told.
GROUPS = ("all", "kind", "role", "family", "style")


MONTH = r"jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
IN_DATE = re.compile(rf"({MONTH})\b|(\b(?:19|20)\d\d\b)|(\d+)|([^\W\d_]+)", re.IGNORECASE)


class SpanScore(NamedTuple):
    """The groups of one gold span, and whether it was found."""

    groups: tuple[str, ...]
    found: bool


@dataclass(frozen=True)
class DocumentScore:
    """What happened to one document."""

    spans: tuple[SpanScore, ...]
    #: Letters and digits changed, neutral ones left out, and those of them inside gold spans.
    changed: int
    right: int
    keeps: int
    violated: int
    #: Words and numbers: to be found, found, changed, changed rightly.
    tokens: tuple[int, int, int, int]

    @property
    def clean(self) -> bool:
        """Nothing was missed."""
        return all(found for _, found in self.spans)


@dataclass(frozen=True, repr=False)
class EvaluationResult(Result):
    """Recall by kind, role, family and style (``frame``), precision, and what was lost; ``value`` is recall."""

    by_kind: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return recall by kind with its intervals."""
        rows = []
        for kind, (found, n) in self.by_kind.items():
            low, high = wilson(found, n)
            rows.append((f"{kind} ({n:,})", "recall", low, found / n, high))
        return intervals(rows, title=self.title, x="recall, with intervals of 95 %")


def wilson(hits: int, n: int, z: float = Z) -> tuple[float, float]:
    """Return Wilson's interval for a share; from 0 to 1 when nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = hits / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return (middle - half if hits else 0.0), (middle + half if hits < n else 1.0)


def evaluate_texts(
    documents: Sequence[Document],
    found: Iterable[Sequence[Span]],
    outputs: Iterable[str] | None = None,
    title: str = "De-identification against marked texts",
) -> EvaluationResult:
    """Compare what was found in documents with what people marked in them.

    Parameters
    ----------
    documents
        With ``gold``; those without any marks are refused.
    found
        The accepted spans of each document.
    outputs
        The texts after replacement; when given, a span that left its text as it was counts as nothing.
    """
    texts = iter(outputs) if outputs is not None else None
    scores = [
        score_document(d, spans, next(texts) if texts is not None else None)
        for d, spans in zip(documents, found, strict=True)
    ]
    return summarise(scores, title)


def score_document(
    document: Document, spans: Sequence[Span], output: str | None = None
) -> DocumentScore:
    """Score one document."""
    if document.gold is None:
        raise InputError(
            "A document has no marks to compare with; give gold spans or leave it out."
        )
    text = document.text
    changing = sorted(spans)
    if output is not None:
        pieces = zip(changing, align(text, changing, output), strict=True)
        changing = [s for s, piece in pieces if piece != text[s.start : s.end]]
    covered, golden = bytearray(len(text)), bytearray(len(text))
    for spans_of, places in ((changing, covered), (document.gold, golden)):
        for s in spans_of:
            places[s.start : s.end] = b"\x01" * (s.end - s.start)
    family = document.name.rpartition("-")[0] or document.name
    scored = []
    for g in document.gold:
        role, style = g.entity.partition(" ")[0] or "none", g.source or "plain"
        groups = ("all", g.kind, role, family, style)
        scored.append(SpanScore(groups, is_found(text, g, covered)))
    kept = (range(k.start, k.end) for k in document.keep)
    violated = sum(any(covered[i] and text[i].isalnum() for i in inside) for inside in kept)
    changed, right, tokens = count_changes(text, covered, golden)
    return DocumentScore(tuple(scored), changed, right, len(document.keep), violated, tokens)


def align(text: str, spans: Sequence[Span], output: str) -> list[str]:
    """Return what stands in the output in place of each span: the text between spans is as it was."""
    between = []
    at = 0
    for s in spans:
        between.append(text[at : s.start])
        at = max(at, s.end)
    tail = text[at:]
    first = between[0] if between else tail
    pieces = []
    place, last = len(first), len(output) - len(tail)
    agrees = output.startswith(first) and output.endswith(tail)
    for part in between[1:]:
        following = output.find(part, place, last) if part else place
        agrees = agrees and following >= 0
        pieces.append(output[place:following])
        place = following + len(part)
    if not agrees:
        raise InputError("The output does not agree with the document outside the spans found.")
    return [*pieces, output[place:last]] if between else []


def is_found(text: str, gold: Span, covered: bytearray) -> bool:
    """Return whether enough of a gold span is covered."""
    must = list(required(text, gold)) or list(lettered(text, gold))
    hit = sum(covered[i] for i in must)
    whole = gold.kind in WHOLE or gold.kind == "date"
    return hit == len(must) if whole else hit >= MOST * len(must)


def lettered(text: str, gold: Span) -> Iterable[int]:
    """Return the places of letters and digits of a span."""
    return (i for i in range(gold.start, gold.end) if text[i].isalnum())


def required(text: str, gold: Span) -> Iterable[int]:
    """Yield the places of letters and digits that must go."""
    if gold.kind == "date":
        yield from day_places(text, gold)
        return
    if gold.kind in WHOLE:
        yield from lettered(text, gold)
        return
    for word in TOKEN.finditer(text, gold.start, gold.end):
        token = word.group()
        if not token[0].isalnum() or token.lower() in CUES.generic:
            continue
        if gold.kind == "address" and token.upper() in CUES.states:
            continue
        skip = 3 if gold.kind == "address" and len(token) == 5 and token.isdigit() else 0
        yield from range(word.start() + skip, word.end())


def day_places(text: str, gold: Span) -> Iterable[int]:
    """Yield the places of day and weekday in a date; where a number could be day or month, both."""
    parts = list(IN_DATE.finditer(text, gold.start, gold.end))
    named = any(p.group(1) for p in parts)
    numbers = [p for p in parts if p.group(3)]
    if not any(p.group(2) for p in parts) and len(numbers) == (2 if named else 3):
        # The last is the year; 14 Mar 05: the day comes first unless it stands after the month.
        numbers.pop()
    large = [p for p in numbers if int(p.group()) > 12]
    days = large if len(large) == 1 and not named else numbers
    for p in days:
        yield from range(p.start(), p.end())
    for p in parts:
        if p.group(4) and p.group(4).lower() not in {"of", "st", "nd", "rd", "th", "t", "z", "the"}:
            yield from range(p.start(), p.end())


def count_changes(
    text: str, covered: bytearray, golden: bytearray
) -> tuple[int, int, tuple[int, int, int, int]]:
    """Count changed letters and digits, and words, inside and outside gold spans."""
    changed = right = gold_words = found = changed_words = right_words = 0
    if not any(covered) and not any(golden):
        return 0, 0, (0, 0, 0, 0)
    for word in TOKEN.finditer(text):
        token = word.group()
        if not token[0].isalnum():
            continue
        a, b = word.span()
        hit = sum(covered[a:b])
        inside = sum(golden[a:b])
        if inside:
            gold_words += 1
            found += hit == b - a
        if hit:
            if not inside and token.lower() in CUES.titles and any(golden[max(0, a - 4) : b + 4]):
                continue
            changed_words += 1
            right_words += inside > 0
            changed += hit
            right += sum(1 for i in range(a, b) if covered[i] and golden[i])
    return changed, right, (gold_words, found, changed_words, right_words)


def summarise(scores: Sequence[DocumentScore], title: str) -> EvaluationResult:
    """Return recall by group, precision and the rest."""
    hits: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    for document in scores:
        for told, hit in document.spans:
            for group in zip(GROUPS, told, strict=True):
                sizes[group] += 1
                hits[group] += hit
    groups = sorted(sizes, key=lambda g: (GROUPS.index(g[0]), g[1]))
    bounds = [wilson(hits[g], sizes[g]) for g in groups]
    frame = nw.from_dict(
        {
            "by": [g[0] for g in groups],
            "group": [g[1] for g in groups],
            "spans": [sizes[g] for g in groups],
            "found": [hits[g] for g in groups],
            "recall": [hits[g] / sizes[g] for g in groups],
            "low": [b[0] for b in bounds],
            "high": [b[1] for b in bounds],
        },
        backend="pyarrow",
    )
    n, found = sizes["all", "all"], hits["all", "all"]
    low, high = wilson(found, n)
    changed, right = sum(s.changed for s in scores), sum(s.right for s in scores)
    keeps, violated = sum(s.keeps for s in scores), sum(s.violated for s in scores)
    words = [sum(s.tokens[i] for s in scores) for i in range(4)]
    numbers = {
        "documents": len(scores),
        "spans": n,
        "recall": share(found, n),
        "recall_low": low,
        "recall_high": high,
        "precision": share(right, changed),
        "keep_spans": keeps,
        "keep_violated": violated,
        "share_keep_violated": violated / keeps if keeps else 0.0,
        "share_without_miss": share(sum(s.clean for s in scores), len(scores)),
        "token_recall": share(words[1], words[0]),
        "token_precision": share(words[3], words[2]),
    }
    return EvaluationResult(
        kind="text_evaluation",
        title=title,
        value=numbers["recall"],
        numbers=numbers,
        frame=frame,
        explanation=(
            "Recall is the share of marked references that were covered whole; precision the share of changed letters "
            "and digits that belonged to one. What is found is de-identified, not anonymous."
        ),
        labels={
            "recall_low": "recall, lower end of 95 %",
            "recall_high": "recall, upper end of 95 %",
            "keep_spans": "expressions that must stay",
            "keep_violated": "of these changed",
            "share_keep_violated": "share of these changed",
            "share_without_miss": "documents without a miss",
            "token_recall": "recall by words",
            "token_precision": "precision by words",
        },
        by_kind={g[1]: (hits[g], sizes[g]) for g in groups if g[0] == "kind"},
    )


def share(part: int, whole: int) -> float:
    """Return a share; 1 of nothing."""
    return part / whole if whole else 1.0
