"""Extracts: the part of released samples that a licence needs, logged, with a day on which it expires."""

from __future__ import annotations

import datetime as dt
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Ints
from tacit.census.access import Grant, today_here
from tacit.data.microdata import Microdata
from tacit.data.where import columns_of, where
from tacit.errors import ColumnNotFound, DisclosureRefused, InputError, explain_target
from tacit.numerics.streams import fresh_seed
from tacit.plan.files import read_document
from tacit.records.identifiers.columns.undeclared import sentences, undeclared_identifiers
from tacit.release.folders import MANIFEST, Manifest
from tacit.storage.chained_log import append_entry, read_chain
from tacit.storage.locks import hold_alone
from tacit.storage.own_folders import note_begun

#: Columns that every analysis needs; they come along without being asked for.
HOUSEHOLD = "household"
TECHNICAL = (HOUSEHOLD, "sample_weight", "pseudo_stratum")
#: Columns that number units of the sample: each extract has numbers of its own.
NUMBERED = (HOUSEHOLD, "pseudo_stratum")
#: The smallest number of records that a rule may select, unless the archive says otherwise.
AT_LEAST = 20


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Attributes
    ----------
    sources
        Release folders, or the data files in them, by name, such as ``XA 2021``: country and year.
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
    at_least: int = AT_LEAST,
    today: dt.date | None = None,
) -> dict[str, Any]:
    """Write an extract, log it, and return the entry of the log.

    Refused: a grant that is over or for other data, a file that is not the data of a release that verifies, a whole
    file, a rule that selects too few records of a release, columns that look like direct identifiers unless the release
    was allowed to hold them, and columns that do not exist. The file is
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
    at_least
        The smallest number of records of each release that a rule may select.
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
    parts = [take_part(name, path, request, at_least) for name, path in request.sources.items()]
    table = in_drawn_order(pa.concat_tables(parts, promote_options="default"))
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
    note_begun(folder)
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
            check_log(log)
            for place in files.values():
                try:
                    place.touch(0o600, exist_ok=False)
                except FileExistsError:
                    raise DisclosureRefused(
                        f"{place.name!r} exists already; extracts are not overwritten."
                    ) from None
                reserved.append(place)
            logged = append_entry(log, entry)
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
    return logged


def take_part(name: str, path: str | Path, request: Request, at_least: int = AT_LEAST) -> pa.Table:
    """Return the records and columns of one source, with its name in the first column."""
    data = read_release(name, path, request.variables)
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
    if request.rule and table.num_rows < at_least:
        raise DisclosureRefused(
            f"the rule selects fewer than {at_least} records of {name}; ask for a larger subpopulation."
        )
    return table.add_column(0, "source", pa.repeat(name, table.num_rows))


def in_drawn_order(table: pa.Table) -> pa.Table:
    """Return the records of each source in a new order, households and pseudo-strata numbered in it.

    Two extracts in the order of the released file, or with its numbers, could be joined into the whole file.
    """
    rng = np.random.default_rng(fresh_seed())
    source = codes_of(table, "source")
    unit = np.arange(table.num_rows)
    if HOUSEHOLD in table.column_names:
        unit = np.unique(units_of(table, HOUSEHOLD), return_inverse=True)[1].ravel()
    drawn = rng.permutation(len(unit))[unit]
    moved = table.take(pa.array(np.lexsort((rng.permutation(len(unit)), drawn, source))))
    for name in (n for n in NUMBERED if n in moved.column_names):
        _, first, of = np.unique(units_of(moved, name), return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first))[of.ravel()] + 1
        new = pa.array(number, mask=pc.is_null(moved.column(name)).to_numpy())
        moved = moved.set_column(moved.column_names.index(name), name, new)
    return moved


def units_of(table: pa.Table, name: str) -> Ints:
    """Return a number for each unit of each source; a record without one is a unit of its own."""
    codes, n = codes_of(table, name), table.num_rows
    return np.where(codes < 0, -1 - np.arange(n), codes_of(table, "source") * (n + 1) + codes)


def codes_of(table: pa.Table, name: str) -> Ints:
    """Return a column as codes, -1 where it is missing."""
    found = table.column(name).combine_chunks().dictionary_encode().indices
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)


def read_release(name: str, path: str | Path, variables: Sequence[str]) -> Microdata:
    """Return the data of a release that verifies; refuse any other file, and columns that name people."""
    from tacit.io.read import read
    from tacit.release.verification import verify

    given = Path(path)
    folder = given if given.is_dir() else given.parent
    if not (folder / MANIFEST).is_file():
        raise DisclosureRefused(
            f"the file of {name} is not in a release; extracts are taken of releases that tacit run has written."
        )
    manifest = Manifest.read(folder)
    if manifest.kind != "records":
        raise DisclosureRefused(f"the release of {name} does not hold records.")
    file = folder / manifest.names.get("data", "")
    if not given.is_dir() and given.resolve() != file.resolve():
        raise DisclosureRefused(f"the file of {name} is not the data of the release it lies in.")
    checked = verify(folder)
    if not checked:
        failed = ", ".join(check for check, holds, _ in checked.checks if not holds)
        raise DisclosureRefused(f"the release of {name} does not verify: {failed}.")
    data = read(file)
    # A release of an earlier version was not looked at when it was written.
    told = read_document(folder / "plan.yaml").get("output")
    allowed = told.get("allowed", ()) if isinstance(told, Mapping) else ()
    found = undeclared_identifiers(data, allowed)
    refusals = sentences({c: why for c, why in found.items() if c in variables})
    if refusals:
        raise DisclosureRefused(f"{name}: {'; '.join(refusals)}")
    return data


# -- the log ---------------------------------------------------------------------------------------------


def check_log(log: str | Path) -> list[dict[str, Any]]:
    """Return the entries of a log; refuse one from which entries were taken or in which they were changed.

    Entries taken from the end cannot be seen in the log itself: keep the number and hash of the last elsewhere.
    """
    return read_chain(Path(log), "the access log")


def expired(
    entries: Sequence[Mapping[str, Any]], today: dt.date | None = None
) -> list[dict[str, Any]]:
    """Return the entries whose extracts must have been destroyed or renewed."""
    day = (today or today_here()).isoformat()
    return [dict(e) for e in entries if e["expires"] < day]
