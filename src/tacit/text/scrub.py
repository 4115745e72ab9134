"""Scrub: find what identifies people in free text, and put something else in its place."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, ClassVar, Literal, Self, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field, field_validator

from tacit.claims import Claim
from tacit.claims.text.no_original_identifiers import digest, identifiers_in
from tacit.context import Context
from tacit.data.base import Data
from tacit.data.corpus import (
    SPAN_KINDS,
    Corpus,
    Document,
    Findings,
    Span,
    SpanKind,
    facts_of,
    require_text,
)
from tacit.data.in_blocks import Change, change_records, fold_records, ticker
from tacit.data.microdata import Microdata
from tacit.data.word_lists import check_folder
from tacit.engine.base import ROW
from tacit.errors import ColumnNotFound, InputError, SdcError, SdcWarning, WeakProtection
from tacit.fields import ColumnName, Probability, Secret
from tacit.registry import register
from tacit.spec import Method
from tacit.text import engine
from tacit.text.engine import CheckedTagger, Settings
from tacit.text.reading.words import tokenise
from tacit.text.review import (
    Entry,
    Lists,
    Queue,
    add_words,
    rank_words,
    read_decisions,
    read_lists,
    words_in,
)
from tacit.text.work import (
    Counted,
    Item,
    Scrubber,
    Task,
    add_tallies,
    items_of,
    look_batch,
    look_in,
    person_key,
    record_scrubbers,
    scrub_batch,
    scrub_block,
    scrub_counted,
    scrubbers,
    tally,
)

#: Bytes of a key that nobody can try out.
SHORTEST_KEY = 16
#: Said with every release of texts.
NOT_ANONYMOUS = (
    "The texts are de-identified, not anonymous: what they tell of a life, an illness or an event may still let "
    "somebody recognise a person."
)
#: What no check of texts can promise.
NAMES_NOT_PROMISED = (
    "Names are found by evidence, and no check can promise that none was missed; only values of the known record and "
    "identifiers of a known form are checked."
)
#: Which kinds of spans show themselves by a form.
FORM_OF: Mapping[str, str] = {
    "email": "email", "url": "url", "phone": "phone", "id": "ssn", "date": "date",
}  # fmt: skip
#: Parts of the names of key columns that are searched in the texts.
TELLING = ("name", "birth", "born", "dob", "date")
#: Action details: the columns whose texts were searched.
SCRUBBED = "scrubbed"


@register
class Scrub(Method[Corpus | Microdata]):
    """Find what identifies people in free text, and replace it.

    Detectors for names, nicknames, dates, addresses, phone numbers, ids, e-mail and web addresses, hospitals, employers,
    organisations and ages each give a certainty; evidence adds up as 1 - (1 - e1)(1 - e2)..., and medical
    words count against a name. What reaches the threshold is replaced by made-up alternatives, the same person
    always by the same one; dates become month and year. What is known of the person is searched in the text as well.

    On texts (``tacit.read_texts``) every document is searched; on records ``columns`` names the text columns, and the
    record's own identifiers are searched in its texts.

    The result is de-identified, not anonymous.

    References
    ----------
    Sweeney (1996), Replacing personally-identifying information in medical records, the Scrub system, AMIA.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 5.1, Figures 21 to 25.
    """

    kind: Literal["scrub"] = "scrub"
    threshold: Probability | None = Field(
        default=None,
        description="least certainty of what is replaced; by default 0.8, with reduction 0.7",
    )
    reduction: bool = Field(
        default=False,
        description="take back what a second look knows to be medicine, doses or common words",
    )
    strict: bool = Field(
        default=False,
        description="mask words that no list knows as well: fewer misses, more of the text lost",
    )
    language: str = Field(default="en", min_length=2, description="language pack: en, de")
    mode: Literal["substitute", "tag", "mask", "list"] = Field(
        default="substitute",
        description="replace by made-up alternatives, by the name of the kind, by a mask, or only list",
    )
    dates: Literal["month", "shift"] = Field(
        default="month",
        description="leave month and year, or shift all dates of a person by the same days",
    )
    kinds: tuple[SpanKind, ...] = Field(
        default=(),
        description="kinds to look for; by default all. Values of the known record, e-mail and web addresses and phone numbers are taken out in any case",
    )
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="text columns of records; without any the data are texts themselves"
    )
    known: tuple[ColumnName, ...] | None = Field(
        default=None,
        description="columns whose values are searched in the record's texts; by default identifiers, and keys that look like names or dates",
    )
    person: ColumnName | None = Field(
        default=None,
        description="column, or field of the known record, that tells whose text it is: texts of one person share made-up names and the shift of dates",
    )
    search: Literal["full", "straight", "cues"] = Field(
        default="full",
        description="full, or a baseline for comparison: straight search for the known record, or that with headings and salutations",
    )
    lists: dict[str, tuple[str, ...]] | str | None = Secret(
        default=None,
        description="words of this site that are always found, by kind, and under keep those that never are; a mapping, or the path of a YAML or JSON file",
    )
    knowledge: str | None = Secret(
        default=None,
        description="folder with list files of this site (names, places, medical words) that replace the bundled ones",
    )
    review: str | None = Secret(
        default=None, description="path of a review queue whose decisions are honoured"
    )
    marks: bool = Field(
        default=False,
        description="mark in released texts what was put in place of something, by kind: helps readers, and shows intruders that other names are real",
    )
    taggers: tuple[Any, ...] = Field(
        default=(),
        exclude=True,
        repr=False,
        description="functions of this site that yield spans of a text, in Python only",
    )

    on_other_kind: ClassVar[str] = (
        "Records: name their text columns with columns=. Texts have no columns: leave it out."
    )
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("substitution", "generalise values")
    file_fields: ClassVar[tuple[str, ...]] = ("lists", "knowledge", "review")

    @field_validator("taggers")
    @classmethod
    def _callable(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        if not all(callable(t) for t in value):
            raise ValueError(
                "must be functions that take a text and yield spans; a plan file cannot hold them"
            )
        return value

    @field_validator("lists")
    @classmethod
    def _kinds_known(cls, value: Any) -> Any:
        if isinstance(value, dict):
            strange = [k for k in value if k not in (*SPAN_KINDS, "keep")]
            if strange:
                raise ValueError(
                    f"has the kind {strange[0]!r}; kinds are {', '.join(SPAN_KINDS)}, and keep"
                )
        return value

    # -- one text ------------------------------------------------------------------------------

    def look(self, text: str, record: Mapping[str, Any] | None = None) -> Findings:
        """Return everything that was found in a text: certain spans, uncertain ones, and warnings."""
        require_text(text)
        warn_without_voter()
        (found,) = look_in(self.task(), [Item(text, facts_of(record or {}))])
        return found

    def find(self, text: str, record: Mapping[str, Any] | None = None) -> tuple[Span, ...]:
        """Return the spans that identify people, with start, end, kind and certainty.

        Parameters
        ----------
        text
            The text.
        record
            What is known of the person, such as ``{"name": ..., "birth": ...}``: it is searched in the text.
        """
        return self.look(text, record).spans

    def replace(self, text: str, *, key: bytes, record: Mapping[str, Any] | None = None) -> str:
        """Return the text with what identifies people replaced; equal keys give equal replacements.

        Parameters
        ----------
        text
            The text.
        key
            A secret, at least 16 bytes drawn at random: whoever has it can tell made-up names from real ones.
        record
            What is known of the person.
        """
        if not isinstance(key, bytes) or not key:
            raise InputError("replace needs a key of bytes, such as secrets.token_bytes(16)")
        if len(key) < SHORTEST_KEY:
            warnings.warn(
                f"scrub: a key of fewer than {SHORTEST_KEY} bytes can be guessed; draw one with secrets.token_bytes(16)",
                WeakProtection,
                stacklevel=2,
            )
        require_text(text)
        warn_without_voter()
        with scrubbers(self.task(), len(text), scrub_batch) as scrub:
            ((outcome,),) = scrub([Item(text, facts_of(record or {}), key)])
        return outcome.text

    def mark(self, corpus: Corpus) -> Corpus:
        """Return a corpus with what was found in each text (``Document.found``); nothing is replaced."""
        found = look_in(self.task(), [Item(d.text, d.record) for d in corpus])
        pairs = zip(corpus, found, strict=True)
        return corpus.with_documents(replace(d, found=f) for d, f in pairs)

    # -- settings ------------------------------------------------------------------------------

    def acts_on(self) -> type[Data]:
        """Return Microdata where text columns are named, else Corpus."""
        return Microdata if self.columns else Corpus

    def with_files(self, find: Callable[[str], str]) -> Self:
        """Return this with the words of its lists and decisions in place of the files."""
        here = super().with_files(find)
        if here.knowledge is not None:
            check_folder(here.knowledge)
        lists = here.lists or {}
        if here.review is None and not isinstance(lists, str):
            return here
        own = read_lists(lists) if isinstance(lists, str) else Lists.of(lists)
        decided = Lists() if here.review is None else read_decisions(here.review)
        merged = own.joined(decided).to_dict()
        return here.model_copy(update={"lists": merged or None, "review": None})

    @property
    def least(self) -> float:
        """Return the threshold that applies."""
        usual = 0.7 if self.reduction else 0.8
        return usual if self.threshold is None else self.threshold

    def task(self) -> Task:
        """Return how texts are searched with these parameters."""
        here = self.with_files(str)
        lists = Lists.of(cast("Mapping[str, Iterable[str]]", here.lists or {}))
        settings = Settings(
            # What reviewers accepted is held to be 0.99 certain, and always found.
            threshold=min(self.least, 0.99),
            reduction=self.reduction,
            strict=self.strict,
            language=self.language,
            mode=self.mode,
            dates=self.dates,
            kinds=self.kinds,
            accepted=lists.accepted or None,
            rejected=frozenset(word.lower() for word in lists.rejected),
            taggers=tuple(map(CheckedTagger, self.taggers)),
            lists=self.knowledge or "",
        )
        return Task(settings, self.search, self.forms(lists.rejected), self.marks)

    def forms(self, rejected: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the forms of identifiers that are not in the result: made-up ones have the same form."""
        from tacit.text.guard import FORMS

        if self.mode == "list" or self.search != "full":
            return ()
        asked = [f for k, f in FORM_OF.items() if not self.kinds or k in self.kinds]
        if self.mode == "substitute":
            asked = [f for f in asked if f == "date" and self.dates == "month"]
        # What reviewers asked to keep cannot be promised to be gone.
        return tuple(f for f in asked if not any(FORMS[f].search(word) for word in rejected))

    # -- a corpus, or columns of records -------------------------------------------------------

    def _faults(self, data: Any) -> list[SdcError]:
        """Add: columns that hold no text, and columns that are not there."""
        found = super()._faults(data)
        if self.marks and self.columns:
            words = "scrub: marks go with texts; a column has no place for them. Leave marks out."
            found.append(InputError(words))
        if self.columns:
            named = [*(self.known or ()), *([self.person] if self.person else ())]
            missing = [c for c in named if c not in data.columns]
            if missing:
                found.append(ColumnNotFound(missing, list(data.columns), "the data"))
            if set(self.columns) & set(self.known or ()):
                words = "a text column cannot be known of its own record; leave it out of known"
                found.append(InputError(f"scrub: {words}"))
            found += text_faults(self.kind, data, self.columns)
        elif self.person and all(self.person not in d.record for d in data):
            words = f"no known record has the field {self.person!r} that person names"
            found.append(InputError(f"scrub: {words}, and so nobody could tell whose text it is"))
        return found

    def targets(self, data: Corpus | Microdata) -> tuple[str, ...]:
        """Return the text columns."""
        del data
        return self.columns

    def _apply(self, data: Corpus | Microdata, ctx: Context) -> Any:
        if self.taggers:
            warnings.warn(
                "scrub: a tagger of this site stands in no plan file; whoever runs the plan again needs it",
                SdcWarning,
                stacklevel=4,
            )
        if self.search == "full":
            warn_without_voter()
            ctx.note(trained_voter=has_voter(self.language))
        task, secret = self.task(), ctx.rng.bytes(32)
        if isinstance(data, Microdata):
            return self._scrub_columns(data, task, secret, ctx)
        return self._scrub_documents(data, task, secret, ctx)

    def _scrub_documents(self, data: Corpus, task: Task, secret: bytes, ctx: Context) -> Corpus:
        whose = (str(d.record.get(self.person or "") or d.name) for d in data)
        keys = [person_key(secret, one) for one in whose]
        items = [Item(d.text, d.record, key) for d, key in zip(data, keys, strict=True)]
        with scrubbers(task, data.characters, scrub_batch, ticker(ctx)) as scrub:
            outcomes = [outcome for part in scrub(items) for outcome in part]
        told = tally(outcomes)
        self._tell(told)
        ctx.note(**told, known_records=sum(bool(d.record) for d in data))
        pairs = list(zip(data, outcomes, strict=True))
        if self.mode == "list":
            return data.with_documents(replace(d, found=made.found) for d, made in pairs)
        return data.with_documents(
            Document(d.name, o.text, record=d.record, origin=d, done=o.found, marks=o.marks)
            for d, o in pairs
        )

    def _scrub_columns(self, data: Microdata, task: Task, secret: bytes, ctx: Context) -> Microdata:
        known = self.known_columns(data)
        if not known and self.known is None:
            warnings.warn(f"scrub: {nothing_known(data)}", WeakProtection, stacklevel=5)

        def work(scrub: Scrubber[Counted]) -> Callable[[int, pa.Table], Change]:
            return lambda _block, table: scrub_block(
                table, self.columns, known, self.person, secret, scrub, keep=self.mode == "list"
            )

        with record_scrubbers(task, data, self.columns, scrub_counted, ctx) as scrub:
            result, tallies = change_records(data, work(scrub), ctx)
        told = add_tallies(tallies)
        self._tell(told)
        ctx.note(**told, known_columns=list(known), **{SCRUBBED: list(self.columns)})
        return result

    def _tell(self, told: Mapping[str, Any]) -> None:
        """Warn of narratives that identify by what they tell."""
        if told["narratives"] and self.mode != "list":
            warnings.warn(
                "scrub: some texts tell what may identify a person without a name: dated events of a life, a public "
                "office, a role that few have. Read them before release; the review queue lists them.",
                WeakProtection,
                stacklevel=6,
            )

    def known_columns(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns whose values are searched in the record's texts."""
        if self.known is not None:
            return self.known
        schema = data.frame.collect_schema()
        telling = {c for c in data.keys if any(part in c.lower() for part in TELLING)}
        keys = (c for c in data.keys if c in telling or schema[c] in (nw.Date, nw.Datetime))
        known = dict.fromkeys((*data.identifiers, *keys))
        return tuple(c for c in known if c not in self.columns)

    def _claims(self, data: Any, result: Any) -> Iterable[Claim]:
        if self.mode == "list" or self.search != "full":
            return
        task = self.task()

        def claim(model: str, facts: dict[str, Any], *assumptions: str, **more: Any) -> Claim:
            limits = (NOT_ANONYMOUS, NAMES_NOT_PROMISED, *assumptions)
            return Claim(model, facts, "texts", self.columns, limits, **more)

        if task.forms:
            usual = "Identifiers are written in one of the usual forms."
            yield claim("no-formatted-identifiers", {"forms": list(task.forms)}, usual)
        if self.columns:
            known = self.known_columns(data)
            if known:
                yield claim("no-known-values", {"known": list(known)}, CHECKED_BEFORE)
            return
        if any(d.record for d in data):
            yield claim("no-known-values", {"known": ["record"]})
        if not task.settings.rejected:
            salt = person_key(b"digest", result.fingerprint())
            found = {d.name: {digest(salt, v) for v in identifiers_in(d.text)} for d in data}
            kept = {name: sorted(digests) for name, digests in found.items() if digests}
            facts = {"digests": {"salt": salt.hex(), "documents": kept}}
            yield claim("no-original-identifiers", facts, withheld=("digests",))


CHECKED_BEFORE = (
    "Values of the record were looked up in its texts when the step ended; columns that are not in the file cannot be "
    "looked up again by its recipients."
)


def text_faults(kind: str, data: Any, columns: Sequence[str]) -> list[SdcError]:
    """Return which of the columns hold no text."""
    schema = data.frame.collect_schema() if columns else {}
    there = (c for c in columns if c in data.columns)
    return [
        InputError(f"{kind}: column {c!r} does not hold text")
        for c in there
        if schema[c] != nw.String
    ]


def has_voter(language: str) -> bool:
    """Return True when the trained voter can be asked about texts of a language."""
    voter = engine.crf_voter()
    return voter is not None and voter(tokenise("a"), language) is not None


def warn_without_voter() -> None:
    """Say aloud that the library of the trained voter is not installed."""
    if not has_voter("en"):
        warnings.warn(
            "scrub: python-crfsuite is not installed, and so the trained voter was not asked: fewer names are found. "
            "Install tacit[text].",
            WeakProtection,
            stacklevel=4,
        )


def nothing_known(data: Microdata) -> str:
    """Return why no value of the record could be searched in its texts."""
    dropped = any(a.kind in ("deidentify", "pseudonymise", "substitute") for a in data.history)
    if dropped:
        return (
            "the identifiers were removed by an earlier step, and so no name of the record could be searched in its "
            "texts. Put scrub before that step."
        )
    return (
        "the data declare no identifiers, and so no name of the record could be searched in its texts. Declare the "
        "columns that name people as identifiers, or name them with known=."
    )


def queue_records(
    step: Scrub, data: Microdata, decided: Iterable[Entry] = (), ctx: Context | None = None
) -> tuple[Queue, dict[str, int]]:
    """Return the queue of the text columns of records as they were before a step, and the record behind each token.

    Decisions on the entries of an earlier queue (``decided``) stay in the new one.
    """
    ctx = Context.start(0) if ctx is None else ctx
    task, known = step.task(), step.known_columns(data)
    columns = tuple(dict.fromkeys((*step.columns, *known)))

    def work(look: Scrubber[list[Findings]]) -> Callable[[int, pa.Table], Mapping[str, Any]]:
        def look_at_block(_block: int, table: pa.Table) -> dict[str, Any]:
            """Return the uncertain words of some records, and the rows that may identify by what they tell."""
            words: dict[str, Entry] = {}
            narratives = []
            rows = table.column(ROW).to_pylist()
            for column in step.columns:
                there, items = items_of(table, column, known)
                found = (findings for part in look(items) for findings in part)
                for i, item, findings in zip(there, items, found, strict=True):
                    add_words(words, words_in(item.text, findings.uncertain))
                    narratives += [(rows[i], reason) for reason in findings.warnings]
            return {"words": [astuple(e) for e in words.values()], "narratives": narratives}

        return look_at_block

    with record_scrubbers(task, data, step.columns, look_batch, ctx) as look:
        told = fold_records(data, columns, work(look), ctx)
    words: dict[str, Entry] = {}
    tokens: dict[int, str] = {}
    narratives = []
    for part in told:
        add_words(words, (Entry(*entry) for entry in part["words"]))
        for row, reason in part["narratives"]:
            token = tokens.setdefault(row, secrets.token_hex(6))
            narratives.append({"document": f"record {token}", "reason": reason})
    return rank_words(words, decided, narratives), {t: row + 1 for row, t in tokens.items()}
