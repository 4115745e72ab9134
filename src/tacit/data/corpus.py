"""Corpus: documents of free text, each perhaps linked to a record.

A **Span** marks characters of one text: where they start and end, what kind of thing they name, and how certain that
is. Offsets count characters (code points) of the text exactly as it was read: nothing is normalised, so CRLF line
ends and combining characters keep their places.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

from tacit.data.base import Action
from tacit.errors import InputError, SdcError

SpanKind = Literal[
    "name",
    "nickname",
    "date",
    "address",
    "phone",
    "id",
    "email",
    "url",
    "hospital",
    "employer",
    "organisation",
    "age",
    "other",
]
#: The kinds of things that identify people; "other" is what was found without knowing what it is.
SPAN_KINDS: tuple[str, ...] = get_args(SpanKind)


def require_text(text: Any) -> None:
    """Refuse what is no text, and halves of characters, which no file can hold."""
    if not isinstance(text, str):
        raise InputError(
            f"a text must be a str, and this is {type(text).__name__}; decode bytes first"
        )
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise InputError(
            "a text holds half of a character (a surrogate), which no file can hold; read it anew with its encoding"
        ) from None


def facts_of(record: Any, where: str = "a known record") -> dict[str, Any]:
    """Return what is known of one person: each field a value, or several in a list."""
    if isinstance(record, Mapping):
        values = [v if isinstance(v, (list, tuple, set)) else (v,) for v in record.values()]
        if not any(isinstance(one, (Mapping, list)) for several in values for one in several):
            return dict(record)
    raise InputError(
        f'{where}: what is known must be fields with plain values, such as {{"name": ...}}'
    )


@dataclass(frozen=True, order=True)
class Span:
    """Characters ``start`` up to, without, ``end`` of one text."""

    start: int
    end: int
    kind: str
    certainty: float = 1.0
    #: Who found it, in a word for people: "titled name", "prior occurrence", "reader".
    source: str = ""
    #: Spans of one person or thing in one document share this; empty when nothing is known.
    entity: str = ""


@dataclass(frozen=True)
class Document:
    """One text. Offsets of ``gold``, ``keep``, ``found`` and ``marks`` are those of ``text``, of ``done`` those of its origin's.

    Nothing of it stands in its ``repr``: texts, names of files and records are confidential.
    """

    name: str = field(repr=False)
    text: str = field(repr=False)
    #: What must be found (``gold``) and what must stay (``keep``), where people have marked it.
    gold: tuple[Span, ...] | None = field(default=None, repr=False)
    keep: tuple[Span, ...] = field(default=(), repr=False)
    #: What is known of the person: names, dates and numbers, which are searched in the text.
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: What a look at this text found, above and below the threshold; None before anybody looked.
    found: Findings | None = field(default=None, repr=False)
    #: The document from which this one was made, and what was replaced and left in it.
    origin: Document | None = field(default=None, repr=False)
    done: Findings | None = field(default=None, repr=False)
    #: Where this text holds something in place of what was found, by kind; empty unless that was asked for.
    marks: tuple[Span, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        require_text(self.name)
        require_text(self.text)

    def __repr__(self) -> str:
        return f"Document: {len(self.text):,} characters"


@dataclass(frozen=True)
class Findings:
    """Spans of one text: those that are certain enough, those that are not, and warnings about the narrative."""

    spans: tuple[Span, ...]
    uncertain: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class Corpus:
    """Documents, in order. Make one with :func:`tacit.read_texts`, or :meth:`Corpus.of` texts in memory."""

    kind: ClassVar[str] = "corpus"
    made_by: ClassVar[str] = 'texts: read them with tacit.read_texts("notes/")'

    documents: tuple[Document, ...]
    source: str = "memory"
    history: tuple[Action, ...] = ()

    @classmethod
    def of(cls, texts: Mapping[str, str] | Iterable[str]) -> Corpus:
        """Return a corpus of texts by name, or of texts that are numbered."""
        if isinstance(texts, str):
            raise InputError("one text alone goes in a list: Corpus.of([text])")
        if isinstance(texts, Mapping):
            return cls(tuple(Document(str(name), text) for name, text in texts.items()))
        return cls(tuple(Document(f"text-{i}", text) for i, text in enumerate(texts, 1)))

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __repr__(self) -> str:
        marked = sum(d.gold is not None for d in self.documents)
        known = sum(bool(d.record) for d in self.documents)
        facts = [f"{len(self):,} documents", f"{self.characters:,} characters"]
        facts += [f"{marked:,} with gold spans"] if marked else []
        facts += [f"{known:,} with a known record"] if known else []
        return f"Corpus: {', '.join(facts)}"

    @property
    def characters(self) -> int:
        """Return the characters of all texts together."""
        return sum(len(d.text) for d in self.documents)

    @property
    def has_gold(self) -> bool:
        """Return True when people have marked every text."""
        return bool(self.documents) and all(d.gold is not None for d in self.documents)

    def with_documents(self, documents: Iterable[Document]) -> Corpus:
        """Return the corpus with other documents."""
        return replace(self, documents=tuple(documents))

    def with_action(self, action: Action) -> Corpus:
        """Return the corpus with one more step in its history."""
        return replace(self, history=(*self.history, action))

    def materialise(self) -> Corpus:
        """Return the corpus: its texts are in memory."""
        return self

    def claim_view(self) -> Corpus:
        """Return what claims are recomputed on."""
        return self

    def faults_for(self, spec: Any) -> list[SdcError]:
        """Return why a Spec cannot work on these texts, as far as its declarations tell."""
        del spec
        return []

    def fingerprint(self) -> str:
        """Return the SHA-256 of names, texts and known records, in order."""
        digest = hashlib.sha256()
        for document in self.documents:
            known = {str(k): str(v) for k, v in document.record.items()}
            facts = json.dumps([document.name, document.text, known], sort_keys=True)
            digest.update(facts.encode() + b"\n")
        return digest.hexdigest()
