"""Gold spans: what people have marked in texts, as JSON or as BRAT standoff annotations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tacit.data.corpus import SPAN_KINDS, Corpus, Span
from tacit.errors import InputError, UnreadableFile
from tacit.io.corpora.decode import existing, read_text

#: Other names of kinds, as annotation schemes write them.
ALIASES: Mapping[str, str] = {
    "patient": "name", "doctor": "name", "person": "name", "username": "name", "location": "address",
    "street": "address", "city": "address", "zip": "address", "fax": "phone", "pager": "phone", "mrn": "id",
    "medicalrecord": "id", "idnum": "id", "ssn": "id", "organization": "organisation", "company": "employer",
    "web": "url",
}  # fmt: skip


@dataclass(frozen=True)
class Marks:
    """Gold and keep spans by document, not yet checked against the texts."""

    gold: Mapping[str, Any] = field(default_factory=dict)
    keep: Mapping[str, Any] = field(default_factory=dict)

    def put_on(self, corpus: Corpus) -> Corpus:
        """Return the corpus with its marks; every document must have some, even if none is in it."""
        stems = {name: name for name in self.gold}
        stems |= {Path(n).with_suffix("").as_posix(): n for n in self.gold}
        found = []
        for i, d in enumerate(corpus, 1):
            key = stems.get(d.name) or stems.get(Path(d.name).with_suffix("").as_posix())
            if key is None:
                raise InputError(
                    f"the gold spans name no document like number {i}; give each document an entry, an empty one "
                    "where nothing is to be found"
                )
            where = f"document {i}"
            gold = spans_of(self.gold[key], d.text, where)
            found.append(
                replace(d, gold=gold, keep=spans_of(self.keep.get(key) or (), d.text, where))
            )
        return corpus.with_documents(found)


def read_gold(source: Any, encoding: str = "utf-8") -> Marks:
    """Return the marks of a JSON file, a folder of .ann files, or a mapping from document to spans."""
    if isinstance(source, Mapping):
        return Marks(source)
    if not isinstance(source, (str, Path)):
        raise InputError(
            "gold spans come from a file, a folder, or a mapping from document to spans"
        )
    path = existing(source)
    if path.is_dir():
        files = sorted(path.rglob("*.ann"))
        if not files:
            raise UnreadableFile(f"the folder {path.name!r} holds no annotations (.ann)")
        return Marks(
            {f.relative_to(path).with_suffix("").as_posix(): read_brat(f, encoding) for f in files}
        )
    if path.suffix.lower() == ".ann":
        return Marks({path.stem: read_brat(path, encoding)})
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise UnreadableFile(f"the gold spans in {path.name!r} cannot be read as JSON") from None
    return marks_of(found, path)


def marks_of(found: Any, path: Path) -> Marks:
    """Return marks from JSON: {document: spans}, a list of documents, or one document."""
    if isinstance(found, Mapping) and "spans" in found:
        found = [{"name": path.stem, **found}]
    listed = found.get("documents", found.get("letters")) if isinstance(found, Mapping) else None
    if isinstance(listed, list):
        found = found.get("documents", found.get("letters"))
    if isinstance(found, Mapping):
        return Marks(found)
    if isinstance(found, list) and all(isinstance(d, Mapping) for d in found):
        named = [(str(d.get("name", d.get("id", ""))), d) for d in found]
        return Marks(
            {n: d.get("spans", d.get("gold", ())) for n, d in named},
            {n: d.get("keep", ()) for n, d in named},
        )
    raise UnreadableFile(
        f"the gold spans in {path.name!r} must be a mapping from document to spans, or a list of documents"
    )


def read_brat(file: Path, encoding: str) -> list[dict[str, Any]]:
    """Return the text-bound annotations of a BRAT file; each piece of a broken one is a span of its own."""
    found = []
    for number, line in enumerate(read_text(file, encoding).split("\n"), 1):
        if not line.startswith("T"):
            continue
        try:
            _, where, words, *_ = [*line.rstrip("\r").split("\t"), ""]
            kind, _, places = where.partition(" ")
            pieces = [[int(p) for p in piece.split()] for piece in places.split(";")]
            whole = {"text": words} if words and len(pieces) == 1 else {}
            found += [{"kind": kind, "start": a, "end": b, **whole} for a, b in pieces]
        except ValueError:
            raise UnreadableFile(
                f"line {number} of an .ann file is no annotation of BRAT"
            ) from None
    return found


def spans_of(entries: Any, text: str, where: str) -> tuple[Span, ...]:
    """Return spans from plain data, in order; refuse those that do not fit the text."""
    if not isinstance(entries, (list, tuple)):
        raise InputError(f"{where}: spans must be a list, and each needs start, end and kind")
    found = []
    for entry in entries:
        span = span_of(entry, where)
        if not 0 <= span.start < span.end <= len(text):
            raise InputError(
                f"{where}: a span does not lie within the text; offsets count characters from 0, with line ends as "
                "they are in the file"
            )
        told = entry.get("text") if isinstance(entry, Mapping) else None
        if isinstance(told, str) and text[span.start : span.end].split() != told.split():
            raise InputError(
                f"{where}: a span does not hold the words that it names; the text is another one"
            )
        found.append(span)
    return tuple(sorted(found))


def span_of(entry: Any, where: str) -> Span:
    """Return one span from plain data."""
    if isinstance(entry, Span):
        return entry
    try:
        if isinstance(entry, Mapping):
            kind = str(entry.get("kind", entry.get("type", entry.get("label", "other"))))
            start, end = int(entry["start"]), int(entry["end"])
        else:
            start, end, kind = int(entry[0]), int(entry[1]), str(entry[2])
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: a span needs start, end and kind") from None
    return Span(start, end, kind_of(kind))


def kind_of(name: str) -> str:
    """Return the kind of that name in any scheme; "other" for what is unknown."""
    plain = name.strip().lower()
    plain = ALIASES.get(plain.replace("_", "").replace("-", ""), plain)
    return plain if plain in SPAN_KINDS else "other"
