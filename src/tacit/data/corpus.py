"""Corpus: documents of free text, each perhaps linked to a record.

A **Span** marks characters of one text: where they start and end, what kind of thing they name, and how certain that
is. Offsets count characters (code points) of the text exactly as it was read: nothing is normalised, so CRLF line
ends and combining characters keep their places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

from tacit.data.base import Action
from tacit.errors import SdcError

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
    """One text."""

    name: str
    text: str
    #: What must be found (``gold``) and what must stay (``keep``), where people have marked it.
    gold: tuple[Span, ...] | None = None
    keep: tuple[Span, ...] = ()
    #: What is known of the person: names, dates and numbers, which are searched in the text.
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Corpus:
    """Documents, in order."""

    kind: ClassVar[str] = "corpus"
    made_by: ClassVar[str] = 'texts: read them with tacit.read_texts("notes/")'

    documents: tuple[Document, ...]
    source: str = "memory"
    history: tuple[Action, ...] = ()

    def __len__(self) -> int:
        return len(self.documents)

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
