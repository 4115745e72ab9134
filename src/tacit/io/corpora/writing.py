"""Texts out: plain files, JSON lines, marked-up HTML, BRAT standoff annotations."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tacit.data.corpus import Corpus, Document, Span
from tacit.errors import InputError, UnreadableFile, explain_target
from tacit.io.corpora.decode import read_text
from tacit.io.formats import FileFormat

FORMAT = FileFormat("corpus", writes=("txt", "jsonl", "html", "brat"), rank=6)

#: Where the texts of a release stand: a folder for formats of many files.
FOLDER = "texts"

STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c}"
    "pre{white-space:pre-wrap;font:inherit}mark{background:#ffe9a8;border-radius:3px;padding:0 .15em}"
    "mark::after{content:attr(data-kind);font-size:.7em;vertical-align:super;margin-left:.2em;color:#5c4a00}"
    "mark.uncertain{background:none;outline:1px dashed #8a6d00}"
)


def write_texts(corpus: Corpus, target: str | Path, form: str = "txt") -> Path:
    """Write a corpus: ``txt`` or ``brat`` to a folder, ``jsonl`` or ``html`` to a file.

    Marked are the spans that a look found in these very texts (``Document.found``), else what stands in place of
    something (``Document.marks``), else the gold spans.
    """
    if form not in WRITERS:
        raise InputError(f"texts are written as {', '.join(WRITERS)} (got {form!r})")
    path = Path(target)
    with explain_target(path):
        WRITERS[form](corpus, path)
    return path


def spans_shown(document: Document) -> tuple[Span, ...]:
    """Return the spans of the text as it stands, in order and without overlap."""
    spans = document.found.spans if document.found is not None else document.marks
    spans = spans or document.gold or ()
    kept: list[Span] = []
    for span in sorted(spans):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)


def write_plain(corpus: Corpus, folder: Path) -> None:
    """Write one file per text, as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for document in corpus:
        file = inside(folder, document.name, ".txt")
        file.write_text(document.text, encoding="utf-8", newline="")


def write_json_lines(corpus: Corpus, file: Path) -> None:
    """Write one object per line."""
    with file.open("w", encoding="utf-8", newline="\n") as out:
        for document in corpus:
            spans = [plain(s, found=document.found is not None) for s in spans_shown(document)]
            entry = {
                "name": document.name,
                "text": document.text,
                **({"spans": spans} if spans else {}),
            }
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")


def plain(span: Span, *, found: bool) -> dict[str, object]:
    """Return a span as plain data, with its certainty where it was found."""
    entry = {"start": span.start, "end": span.end, "kind": span.kind}
    return entry | ({"certainty": round(span.certainty, 4)} if found else {})


def write_html(corpus: Corpus, file: Path) -> None:
    """Write one page with every text, spans marked."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Texts</title>",
        f"<style>{STYLE}</style></head><body>",
    ]
    parts += [f"<h2>{html.escape(d.name)}</h2><pre>{mark_up(d)}</pre>" for d in corpus]
    file.write_text("".join([*parts, "</body></html>\n"]), encoding="utf-8", newline="\n")


def mark_up(document: Document) -> str:
    """Return a text as HTML with its spans marked."""
    pieces, at = [], 0
    for span in spans_shown(document):
        word = html.escape(document.text[span.start : span.end])
        pieces.append(html.escape(document.text[at : span.start]))
        pieces.append(f"<mark data-kind='{html.escape(span.kind)}'>{word}</mark>")
        at = span.end
    return "".join([*pieces, html.escape(document.text[at:])])


def write_brat(corpus: Corpus, folder: Path) -> None:
    """Write a text and its annotations side by side."""
    write_plain(corpus, folder)
    for document in corpus:
        lines = []
        for i, span in enumerate(spans_shown(document), 1):
            word = document.text[span.start : span.end].replace("\n", " ").replace("\r", " ")
            lines.append(f"T{i}\t{span.kind.upper()} {span.start} {span.end}\t{word}\n")
        inside(folder, document.name, ".ann").write_text(
            "".join(lines), encoding="utf-8", newline=""
        )


def inside(folder: Path, name: str, ending: str) -> Path:
    """Return the file of a document in a folder; nothing is written outside of it."""
    stem = Path(name).with_suffix("") if Path(name).suffix else Path(name)
    file = folder / stem.with_name(stem.name + ending)
    if folder.resolve() not in file.resolve().parents:
        raise InputError(
            "a document is named by a path that leads out of the folder; give it another name"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


WRITERS: Mapping[str, Callable[[Corpus, Path], None]] = {
    "txt": write_plain,
    "jsonl": write_json_lines,
    "html": write_html,
    "brat": write_brat,
}


def read_written(path: Path, form: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of what :func:`write_texts` wrote."""
    if form in ("txt", "brat"):
        for file in sorted(path.rglob("*.txt")):
            yield file.relative_to(path).with_suffix("").as_posix(), read_text(file, "utf-8")
        return
    text = read_text(path, "utf-8")
    try:
        if form == "jsonl":
            for line in text.split("\n"):
                if line:
                    entry = json.loads(line)
                    yield entry["name"], entry["text"]
            return
        for part in text.split("<h2>")[1:]:
            name, _, rest = part.partition("</h2><pre>")
            yield html.unescape(name), html.unescape(strip_marks(rest.partition("</pre>")[0]))
    except (ValueError, KeyError, TypeError):
        raise UnreadableFile("the released texts cannot be read") from None


def strip_marks(page: str) -> str:
    """Return the escaped text without the marks that :func:`mark_up` made."""
    pieces = page.split("<mark data-kind='")
    return pieces[0] + "".join(p.partition(">")[2].replace("</mark>", "", 1) for p in pieces[1:])
