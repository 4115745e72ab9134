"""Extracts: the part of released samples that a licence needs, logged, with a day on which it expires."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tacit.census.access import Grant, today_here
from tacit.data.where import columns_of, where
from tacit.errors import ColumnNotFound, DisclosureRefused, InputError, explain_target
from tacit.locks import hold_alone

#: Columns that every analysis needs; they come along without being asked for.
TECHNICAL = ("household", "sample_weight", "pseudo_stratum")


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes
    ----------
    sources
        Released files by name, such as ``XA 2021``: country and year.
    variables
        The columns wanted.
    rule
        The subpopulation, as a rule such as ``age >= 65 and sex == 'female'``; empty for all records.
    """

    sources: Mapping[str, str | Path]
    variables: Sequence[str]
    rule: str = ""


def build_extract(
    request: Request,
    grant: Grant,
    out: str | Path,
    log: str | Path,
    *,
    today: dt.date | None = None,
) -> dict[str, Any]:
    """Write an extract, log it, and return the entry of the log.

    Refused: a grant that is over or for other data, a whole file, and columns that do not exist. The file is
    put in place after it is logged, so that none is without an entry, and only its owner may read it: pass it on encrypted,
    with a password that travels another way.

    Parameters
    ----------
    request
        What is asked for.
    grant
        The licence.
    out
        The file to write: csv, parquet or what else tacit writes.
    log
        The access log, one JSON object a line; each entry holds the hash of the one before.
    today
        The day, for tests.
    """
    from tacit.io import write
    from tacit.io.read import read

    target, day = Path(out), today or today_here()
    if not request.sources or not request.variables:
        raise InputError("an extract needs at least one source and one variable.")
    if target.exists():
        raise DisclosureRefused(f"{target.name!r} exists already; extracts are not overwritten.")
    for name in request.sources:
        grant.require(name, day)
    check_log(log)
    parts = [take_part(name, path, request) for name, path in request.sources.items()]
    table = pa.concat_tables(parts, promote_options="default")
    if not table.num_rows:
        raise InputError("no record is in this extract; look at the rule.")
    with explain_target(target), draft_beside(target) as draft:
        write(read(table), draft)
        with draft.open("rb") as made:
            digest = hashlib.file_digest(made, "sha256").hexdigest()
        entry = {
            "time": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "name": grant.name,
            "institution": grant.institution,
            "sources": list(request.sources),
            "variables": list(request.variables),
            "rule": request.rule,
            "records": table.num_rows,
            "file": target.name,
            "sha256": digest,
            "expires": grant.expires.isoformat(),
        }
        return log_and_place(Path(log), entry, draft, target)


@contextmanager
def draft_beside(target: Path) -> Iterator[Path]:
    """Give a file of the same name in a new folder beside, which only its owner may enter; it is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix=".extract-", dir=target.parent))
    try:
        yield folder / target.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def log_and_place(log: Path, entry: Mapping[str, Any], draft: Path, target: Path) -> dict[str, Any]:
    """Log an extract, then put it and what was written with it in place, for its owner alone.

    The log is held alone from the check of its chain to the new line, so that several may make extracts at once.
    """
    files = {f: target.with_name(f.name) for f in sorted(draft.parent.iterdir())}
    reserved: list[Path] = []
    with ExitStack() as held:
        try:
            held.enter_context(hold_alone(log, "the access log"))
            previous = check_log(log)
            for place in files.values():
                reserve(place)
                reserved.append(place)
            numbered = {
                "number": len(previous) + 1,
                **entry,
                "previous": previous[-1]["hash"] if previous else "",
            }
            append_entry(log, numbered)
        except BaseException as error:
            for place in reserved:
                place.unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            raise DisclosureRefused(
                "the access log cannot be written, so that the extract was not made."
            ) from None
        for made, place in files.items():
            made.chmod(0o600)
            made.replace(place)
    return {**numbered, "hash": hash_of(numbered)}


def reserve(place: Path) -> None:
    """Take a name for a file; refuse where it is taken already."""
    try:
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise DisclosureRefused(
            f"{place.name!r} exists already; extracts are not overwritten."
        ) from None


def take_part(name: str, path: str | Path, request: Request) -> pa.Table:
    """Return the records and columns of one source, with its name in the first column."""
    from tacit.io.read import read

    data = read(path)
    wanted = list(dict.fromkeys(request.variables))
    missing = [c for c in wanted if c not in data.columns]
    if missing:
        raise ColumnNotFound(missing, list(data.columns), name)
    technical = [c for c in TECHNICAL if c in data.columns and c not in wanted]
    if not request.rule and set(data.columns) <= {*wanted, *technical}:
        raise DisclosureRefused(
            f"this would be the whole file of {name}; extracts hold the variables or the subpopulation that the research needs."
        )
    if request.rule:
        columns_of(request.rule)
        data = data.filter(where(request.rule, data.frame.collect_schema()).expr)
    table = data.to_arrow([*wanted, *technical])
    return table.add_column(0, "source", pa.repeat(name, table.num_rows))


# -- the log ---------------------------------------------------------------------------------------------


def append_entry(log: Path, entry: Mapping[str, Any]) -> None:
    """Add one line, on disk before this returns; only the owner may read a new log."""
    line = json.dumps({**entry, "hash": hash_of(entry)}, ensure_ascii=False) + "\n"
    handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def hash_of(entry: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an entry without its own hash."""
    plain = {k: v for k, v in entry.items() if k != "hash"}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()  # fmt: skip


def check_log(log: str | Path) -> list[dict[str, Any]]:
    """Return the entries of a log; refuse one from which entries were taken or in which they were changed.

    Entries taken from the end cannot be seen in the log itself: keep the number and hash of the last elsewhere.
    """
    path = Path(log)
    if not path.exists():
        return []
    entries: list[dict[str, Any]] = []
    last = ""
    for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            sound = entry["number"] == i and entry["previous"] == last and entry["hash"] == hash_of(entry)  # fmt: skip
        except (ValueError, KeyError, TypeError):
            sound = False
        if not sound:
            raise DisclosureRefused(
                f"the access log {path.name!r} was changed at entry {i}; nothing is given out until that is explained."
            )
        entries.append(entry)
        last = entry["hash"]
    return entries


def expired(
    entries: Sequence[Mapping[str, Any]], today: dt.date | None = None
) -> list[dict[str, Any]]:
    """Return the entries whose extracts must have been destroyed or renewed."""
    day = (today or today_here()).isoformat()
    return [dict(e) for e in entries if e["expires"] < day]
