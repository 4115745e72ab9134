"""Texts: one module per format, found by the file's ending; ``tacit.read_texts``.

A format module has ``read(path, encoding) -> Iterable[Document]``. Offsets count characters of the text as it was
read: line ends and combining characters stay as they are. Of HTML, Word and PDF files the words are taken, and
offsets are those of the words.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.data.corpus import Corpus, Document
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcWarning, UnreadableFile
from tacit.io.corpora.columns import from_microdata, read_columns, read_records
from tacit.io.corpora.decode import existing
from tacit.io.corpora.gold import read_gold
from tacit.io.formats import by_ending

#: Files with columns, one of which holds the texts.
COLUMNS = (".csv", ".tsv", ".parquet", ".xlsx", ".db", ".sqlite", ".sqlite3", ".duckdb")


def read_texts(
    source: Any,
    *,
    gold: Any = None,
    encoding: str = "utf-8",
    record: Any = None,
    text: str | None = None,
    name: str | None = None,
    **options: Any,
) -> Corpus:
    """Read texts: a folder, files, or a column of a table.

    Parameters
    ----------
    source
        A folder (every text in it and below), a file, or several: plain text, JSON lines, HTML, Word (.docx), PDF.
        A file with columns (CSV, Parquet, Excel), the address of a database, or Microdata, where ``text``
        names the column.
    gold
        What people have marked: a JSON file, a folder of BRAT annotations (.ann), or spans by document. In a folder
        of texts, ``.ann`` files of the same name are read with ``gold=True``.
    encoding
        Encoding of plain text, HTML and JSON lines: ``utf-8``, ``latin-1``, ...
    record
        What is known of the person of each document, to be searched in its text: a file with a column ``document``
        and a column for each fact (CSV, JSON), a mapping from document to facts, or for a source with columns
        the names of the columns.
    text
        Column that holds the texts.
    name
        Column that names the documents; by default they are numbered.
    **options
        How to read a file with columns: see :class:`tacit.io.Options`.

    Returns
    -------
    Corpus
        The documents in order of their names; the source is never written to.
    """
    gold = None if gold is False else gold
    several = isinstance(source, Sequence) and not isinstance(source, str)
    if not (several or isinstance(source, (str, Path, Microdata))):
        raise InputError("texts are read from a folder, from files, or from a column of records")
    if isinstance(source, Microdata):
        return with_gold(from_microdata(source, text, name, record), gold, encoding)
    table = not several and ("://" in str(source) or Path(source).suffix.lower() in COLUMNS)
    if table or (not several and text is not None):
        found = read_columns(source, text, name, record, {"encoding": encoding, **options})
        return with_gold(found, gold, encoding)
    if options:
        raise InputError(
            f"read_texts has the option {next(iter(options))!r} for files with columns alone: name the column "
            "of the texts with text="
        )
    if gold is True and (several or not Path(source).is_dir()):
        raise InputError(
            "gold=True reads the .ann files of a folder; name the file of the gold spans instead"
        )
    files = [existing(p) for p in source] if several else list_files(source)
    folders = {f.absolute().parent for f in files} if several else {Path(source)}
    root = next(iter(folders)) if len(folders) == 1 else Path("/")
    documents = [
        document for file in files for document in read_file(file, name_of(file, root), encoding)
    ]
    if not documents:
        raise UnreadableFile("there are no texts: the files hold none")
    if len({d.name for d in documents}) < len(documents):
        # Records and decisions could not be told apart.
        raise InputError(
            "two documents have the same name. Give each its own: in JSON lines as 'name', or by the file's name"
        )
    found = Corpus(tuple(documents), "memory" if several else str(Path(source).absolute()))
    found = with_gold(found, source if gold is True else gold, encoding)
    return found if record is None else with_records(found, read_records(record))


def with_gold(corpus: Corpus, gold: Any, encoding: str) -> Corpus:
    """Return the corpus with what people have marked, where that is given."""
    return corpus if gold is None else read_gold(gold, encoding).put_on(corpus)


def list_files(source: Any) -> list[Path]:
    """Return the files of a folder that hold texts, in order; a single file as it is."""
    path, known = existing(source), by_ending("corpus")
    if not path.is_dir():
        if path.suffix.lower() not in known:
            raise UnreadableFile(
                f"cannot tell the format of {path.suffix!r} files as texts. Known endings: {', '.join(known)}; "
                f"with text= for the column, {', '.join(COLUMNS)}."
            )
        return [path]
    held = sorted(
        (f for f in path.rglob("*") if f.is_symlink() or not f.is_dir()),
        key=lambda f: str(f.relative_to(path)),
    )
    held = [f for f in held if not any(p.startswith(".") for p in f.relative_to(path).parts)]
    files = [f for f in held if f.suffix.lower() in known and f.is_file()]
    if not files:
        raise UnreadableFile(
            f"the folder {path.name!r} holds no texts. Known endings: {', '.join(known)}."
        )
    others = len(held) - len(files) - sum(f.suffix.lower() == ".ann" for f in held)
    if others:
        warnings.warn(
            f"{others:,} files of the folder are not read as texts and were left out. Known endings: "
            f"{', '.join(known)}.",
            SdcWarning,
            stacklevel=3,
        )
    return files


def name_of(file: Path, root: Path) -> str:
    """Return the name of a document: its path below the folder."""
    if root == file:
        return file.name
    full = file.absolute()
    found = full.relative_to(root.absolute()) if root.absolute() in full.parents else full.name
    # Bytes of a name that are no characters are spelt out.
    return str(found).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def read_file(file: Path, name: str, encoding: str) -> Iterable[Document]:
    """Return the documents of one file."""
    ending, known = file.suffix.lower(), by_ending("corpus")
    if ending not in known:
        raise UnreadableFile(
            f"cannot tell the format of {ending!r} files as texts. Known endings: {', '.join(known)}."
        )
    found: Iterable[Document] = known[ending].load_reader()(file, name, encoding)
    return found


def with_records(corpus: Corpus, records: Mapping[str, Mapping[str, Any]]) -> Corpus:
    """Return the corpus with what is known of the person of each document."""
    names = {d.name for d in corpus}
    stems: dict[str, list[str]] = {}
    for name in names:
        stems.setdefault(Path(name).stem, []).append(name)
    meant = {n: [n] if n in names else stems.get(n, []) for n in records}
    if strange := sum(not found for found in meant.values()):
        raise InputError(
            f"{strange:,} of the {len(records):,} known records name a document that is not among the texts; "
            "their column 'document' must hold names of files"
        )
    by_name = {found[0]: records[n] for n, found in meant.items()}
    if len(by_name) < len(records) or any(len(found) > 1 for found in meant.values()):
        raise InputError(
            "some known records fit several documents, or several records one document; name each document by its "
            "path below the folder"
        )
    return corpus.with_documents(replace(d, record=by_name.get(d.name, d.record)) for d in corpus)
