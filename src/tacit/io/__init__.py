"""Files: one module per family of formats, found by the file's extension.

A format module has ``read(path, options, engine) -> Loaded`` and, where the format can be written,
``write(data, path, options)``, and declares what it holds (:mod:`tacit.io.formats`).
"""

from __future__ import annotations

import importlib
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from tacit.data.roles import Column
from tacit.engine.relational import fetch_distinct
from tacit.errors import (
    DisclosureRefused,
    InputError,
    UnreadableFile,
    explain_target,
    has_lone_surrogate,
    near_match,
)
from tacit.io.formats import FileFormat as FileFormat
from tacit.io.formats import by_ending, writable
from tacit.io.options import Options as Options
from tacit.storage.own_folders import note_begun

#: Reads a list of cells in a file of records, where a plan says that these are a ready table.
CELLS = "tacit.io.sheets.read_table"


@dataclass(frozen=True)
class Loaded:
    """A frame on the engine, with the row number, and what the file says about its columns.

    ``roles`` holds roles that the file itself declares (mu-ARGUS metadata do); ``source`` replaces the
    path in the ledger, where the path itself must not stand there (a URL with a password).
    """

    frame: nw.LazyFrame[Any]
    columns: Mapping[str, Column] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None


def clean(options: Mapping[str, Any], doer: str = "tacit.read") -> Options:
    """Return options with lists as tuples; refuse unknown ones."""
    known = sorted(Options.model_fields)
    unknown = sorted(set(options) - set(known))
    if unknown:
        hint = near_match(unknown[0], known)
        raise InputError(
            f"{doer} has no option {', '.join(map(repr, unknown))}. {hint or 'Options: ' + ', '.join(known) + '.'}"
        )
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    if isinstance(values.get("missing"), str | int | float):
        values["missing"] = (values["missing"],)
    if has_lone_surrogate(values):
        raise InputError("an option holds a character that is no text (a lone surrogate)")
    bad = sorted(
        set(dict(values.get("types") or {}).values()) - {"text", "integer", "number", "date"}
    )
    if bad:
        raise InputError(f"types must be text, integer, number or date (got {bad[0]!r})")
    return Options(**values)


def format_of(path: Path) -> FileFormat:
    """Return the format for a file's extension, or say which extensions are known."""
    ending = path.suffix.lower()
    if path.is_dir():
        if not any(path.glob("**/*.parquet")):
            raise UnreadableFile(
                f"{path.name!r} is a folder, and it holds no Parquet files; name a file in it"
            )
        ending = ".parquet"
    if ending in by_ending("table"):
        raise UnreadableFile(
            f"{path.name!r} holds a table, not records; read it with tacit.io.read_any"
        )
    known = by_ending("records")
    if ending not in known:
        hint = near_match(ending, known)
        raise UnreadableFile(
            f"cannot tell the format of {path.name!r} from its ending. {hint + ' ' if hint else ''}"
            f"Known extensions: {', '.join(known)}."
        )
    return known[ending]


def write(data: Any, path: str | Path, *, overwrite: bool = False, **options: Any) -> Path:
    """Write data to a file in the format of its ending; labels and missing codes go along where they can.

    The file appears whole or not at all: it is written under another name beside the target.

    Parameters
    ----------
    data
        Microdata. What they hold is written, protected or not: a release checks that before.
    path
        The file to write.
    overwrite
        Replace an existing file. The file that the data were read from is never replaced.
    **options
        As in :func:`tacit.read`, where they make sense for writing: ``separator``, ``encoding``.
    """
    target = Path(path)
    ending = target.suffix.lower()
    written = [f".{name}" for name in writable("records")]
    if ending not in written:
        hint = near_match(ending, written)
        raise InputError(
            f"cannot write {target.name!r}: known extensions are {', '.join(written)}. {hint}".strip()
        )
    chosen = clean(options, "write")
    blank = [n for n in data.columns if n != n.strip()]
    form = by_ending("records")[ending]
    if blank and ending in form.strips_titles:
        raise InputError(
            f"the column name {blank[0]!r} has blanks at its ends, and {ending} files are read without them: "
            "rename the column, or write Parquet"
        )
    for file in (target, *companions(target)):
        refuse_target(file, data.source, overwrite=overwrite)
    with open_beside(target, overwrite=overwrite) as temporary:
        form.load().write(with_used_labels(data), temporary, chosen)
    return target


def with_used_labels(data: Any) -> Any:
    """Return the data with labels of values that occur, and of missing codes.

    The label of a category that was suppressed would tell that somebody had it.
    """
    columns = {}
    for name, column in data.columns.items():
        held = {*column.missing}
        if column.labels:
            held |= {*fetch_distinct(data.frame, column.name).to_pylist()}
        kept = {code: label for code, label in column.labels.items() if code in held}
        if len(kept) < len(column.labels):
            columns[name] = replace(column, labels=kept)
    return data.with_columns_described(columns) if columns else data


def write_frame(
    frame: Any,
    path: str | Path,
    *,
    decimals: int | Mapping[str, int] | None = None,
    overwrite: bool = False,
    more_sheets: Mapping[str, Sequence[Sequence[Any]]] | None = None,
    **options: Any,
) -> Path:
    """Write a frame to CSV, TSV, Parquet or Excel, as people and programs are to read it.

    The file appears whole or not at all. Numbers have no exponent in text, and no dust of binary
    arithmetic anywhere; in Excel a text is never a formula, whatever it begins with.

    Parameters
    ----------
    frame
        Any frame (Arrow, pandas, Polars, narwhals) or a dictionary of columns; NaN is written as nothing.
    path
        The file: ``.csv``, ``.tsv``, ``.txt``, ``.parquet`` or ``.xlsx``.
    decimals
        Decimals of the numbers, for all columns or by column; by default the fewest that hold every
        value of a column, or all digits where that needs more than nine.
    overwrite
        Replace an existing file.
    more_sheets
        Further sheets of a workbook: name to rows.
    **options
        ``separator``, ``encoding``, ``sheet``: see :class:`Options`.
    """
    from tacit.io.frame_files import write_frame as write_tidy

    chosen = clean(options, "write_frame")
    return write_tidy(frame, Path(path), chosen, decimals, overwrite, more_sheets or {})


def read_any(source: Any, *, ready: bool = False, **options: Any) -> Any:
    """Read records or a ready table, whichever the file holds.

    Parameters
    ----------
    source
        What :func:`tacit.read` takes, or the file of a table: ``.table``, ``.jj``, ``.csp``, ``.tab``.
    ready
        The file (CSV, Parquet, Excel) lists the cells of a table, not records: options are those of
        :func:`tacit.tables.read_table`.
    **options
        Options of the reader that is chosen by the ending.

    Returns
    -------
    Microdata or Table
    """
    from tacit.io.read import read

    ending = Path(source).suffix.lower() if isinstance(source, str | Path) else ""
    form = by_ending("table").get(ending)
    if form is not None:
        return form.load_reader()(source, **options)
    if not ready:
        return read(source, **options)
    module, _, name = CELLS.rpartition(".")
    return getattr(importlib.import_module(module), name)(source, **options)


def companions(target: Path) -> tuple[Path, ...]:
    """Return the files that are written with a data file: mu-ARGUS needs its metadata."""
    ending = target.suffix.lower()
    form = by_ending("records").get(ending)
    beside = None if form is None else form.beside.get(ending)
    return () if beside is None else (target.with_suffix(beside),)


def refuse_target(target: Path, source: str, *, overwrite: bool) -> None:
    """Refuse to write over the source, or over anything unless told to."""
    with explain_target(target):
        there = target.exists()
    origin = Path(source)
    if source != "memory" and "://" not in source and origin.exists():
        origins = {origin.resolve(), *(p.resolve() for p in companions(origin))}
        inside = origin.is_dir() and origin.resolve() in target.resolve().parents
        if target.resolve() in origins or inside:
            raise DisclosureRefused(
                f"{target.name!r} is the file the data were read from; write to another name"
            )
    if there and not overwrite:
        raise DisclosureRefused(
            f"{target.name!r} exists; choose another name, or pass overwrite=True to replace it"
        )
    if target.is_dir() and not is_folder_of_parts(target):
        raise DisclosureRefused(
            f"{target.name!r} is a folder with other files, which are never replaced by data; choose another name"
        )


def is_folder_of_parts(folder: Path) -> bool:
    """Return True for what an engine writes in place of one file: parts of a table and marks, nothing else."""
    names = [p.name for p in folder.iterdir() if p.is_file() and not p.is_symlink()]
    parts = [
        n for n in names if re.fullmatch(r"part-.*\.parquet|_SUCCESS|_tacit\.json|\..+\.crc", n)
    ]
    return len(parts) == sum(1 for _ in folder.iterdir())


@contextmanager
def open_beside(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """Give a temporary folder beside the target; on success move what was written into place."""
    room = target.parent / f".{target.stem}-{secrets.token_hex(4)}.partial"
    with explain_target(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        room.mkdir(mode=0o700)
        note_begun(room)
        try:
            yield room / target.name
            for made in room.iterdir():
                refuse_target(target.parent / made.name, "memory", overwrite=overwrite)
            # The data file goes last: when it is there, all is there.
            for made in sorted(room.iterdir(), key=lambda p: p.name == target.name):
                put_in_place(made, target.parent / made.name)
        finally:
            shutil.rmtree(room, ignore_errors=True)


def put_in_place(made: Path, final: Path) -> None:
    """Move what was written to its name; a folder of parts that is there stands aside until then."""
    if not final.is_dir():
        made.replace(final)
        return
    aside = final.with_name(f".{final.name}-replaced-{secrets.token_hex(4)}")
    final.rename(aside)
    try:
        made.rename(final)
    except BaseException:
        aside.rename(final)
        raise
    shutil.rmtree(aside, ignore_errors=True)
