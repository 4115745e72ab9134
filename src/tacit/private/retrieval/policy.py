"""Policy: which tables may be served to queries that nobody can see.

A server that answers private queries cannot audit them. Only protection that does not look at the query is safe with it:
what was fixed once and for all before the table was published. Protection that needs the query set, or its size, cannot work.

References
----------
Aguilar Melchor, Deswarte (2006), PSD 2006, LNCS 4302, 257-265, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tacit.engine.blocks import ROW
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, near_match
from tacit.private.retrieval.service import Server

Needs = Literal["nothing", "the size of the query set", "the whole query"]

#: What a server must know of a query for a way of protection to work.
INFORMATION_NEEDED: dict[str, Needs] = {
    "recoding": "nothing",
    "suppression": "nothing",
    "noise": "nothing",
    "rounding": "nothing",
    "swapping": "nothing",
    "microaggregation": "nothing",
    "pram": "nothing",
    "synthetic data": "nothing",
    "cell keys": "nothing",
    "suppressed tables": "nothing",
    "query set size control": "the size of the query set",
    "query overlap control": "the whole query",
    "query noise": "the whole query",
    "privacy budget": "the whole query",
    "audit": "the whole query",
}


def require_compatible(protection: Sequence[str]) -> None:
    """Refuse private queries for ways of protection that need to see them."""
    for way in protection:
        if way not in INFORMATION_NEEDED:
            hint = near_match(way, INFORMATION_NEEDED) or f"Known: {', '.join(INFORMATION_NEEDED)}."
            raise InvalidParameter(f"it is not known what {way!r} needs of a query. {hint}")
    hindered = [w for w in protection if INFORMATION_NEEDED[w] != "nothing"]
    if hindered:
        listed = "; ".join(f"{w} needs {INFORMATION_NEEDED[w]}" for w in hindered)
        raise DisclosureRefused(
            f"private queries cannot be combined with this protection: {listed}, and the server does not see it"
        )


def serve_release(
    folder: str | Path,
    *,
    columns: Sequence[str] | None = None,
    scheme: str = "simple",
    protection: Sequence[str] = (),
    **options: Any,
) -> Server:
    """Serve the records of a release, after all of its files and claims have been verified.

    Parameters
    ----------
    folder
        The public folder of a release of records.
    columns
        The columns to be served; all by default. A record is served as one line of JSON.
    protection
        What else the server does about queries, in the words of ``INFORMATION_NEEDED``; refused when it needs to see them.
    """
    from tacit.release.verification import verify

    require_compatible(protection)
    found = verify(folder)
    if not found.holds:
        raise DisclosureRefused(
            "this release is not served: its verification fails. Run tacit verify on the folder to see what is wrong."
        )
    return Server(released_lines(Path(folder), columns), scheme, **options)


def released_lines(folder: Path, columns: Sequence[str] | None) -> list[bytes]:
    """Return the records of a released file as lines of JSON."""
    import json

    from tacit.io.read import read
    from tacit.release.folders import Manifest

    manifest = Manifest.read(folder)
    name = manifest.names.get("data")
    if name is None:
        raise InputError("only releases of records can be served record by record")
    frame = read(folder / name).frame.collect("pyarrow")
    public = [c for c in frame.columns if c != ROW]
    wanted = list(columns) if columns is not None else public
    missing = [c for c in wanted if c not in public]
    if missing:
        raise InputError(
            f"the release has no column {missing[0]!r}. Columns: {', '.join(public[:20])}."
        )
    rows = frame.select(wanted).rows(named=True)
    return [json.dumps(row, default=str, ensure_ascii=False).encode() for row in rows]
