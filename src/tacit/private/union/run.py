"""Run a private union in one process, for study: what comes out, what each side learnt, and what was sent."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter, WeakProtection
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Role, run_together
from tacit.private.parties.wire import Transcript
from tacit.private.union.records import longest_row, make_records
from tacit.private.union.ring import play_ring
from tacit.private.union.two_parties import (
    Consent,
    Outcome,
    Sizes,
    Terms,
    play_alice,
    play_bob,
    play_count,
)
from tacit.result import Result

if TYPE_CHECKING:
    from tacit.plot.chart import Chart

THREATS = (
    "Every party follows the protocol and looks at everything that it receives (honest but curious); channels are private "
    "and authenticated; parties do not collude."
)


@dataclass(frozen=True, repr=False)
class UnionResult(Result):
    """The rows of the union, without identifiers and in a drawn order; sizes, statement and transcript."""

    rows: tuple[dict[str, Any], ...] = ()
    sizes: Sizes | None = None
    transcript: Transcript = field(default_factory=Transcript)
    statement: str = ""

    def plot(self) -> Chart:
        """Return what each step of the protocol sent, in bytes."""
        from tacit.plot.families import bars

        items: dict[str, float] = {}
        for line in self.transcript.lines:
            items[line.step] = items.get(line.step, 0.0) + line.n_bytes
        return bars(list(items.items()), title="Bytes sent in each step", y="bytes")


def simulate(
    first: Any,
    *others: Any,
    identifying: Sequence[str] | Sequence[Sequence[str]],
    data: Sequence[str] | Sequence[Sequence[str]],
    group: str = "ristretto255",
    record_bytes: int | None = None,
    dummies: Sequence[int] = (),
    consent: Mapping[str, Consent] | None = None,
    names: Sequence[str] = (),
    watch: Any = None,
) -> UnionResult:
    """Unite files without duplicates, each party in its own role, all in this process.

    Parameters
    ----------
    first, others
        The parties' files, the initiator's first: frames, microdata, mappings of columns or lists of rows.
    identifying
        The identifying columns; or several lists of them, to match records that agree on any one (two parties only).
    data
        The columns that the initiator gets; one list for all, or one per party (their rows then have different columns).
    record_bytes
        The agreed size of a row; by default that of the longest row of all, which a real run cannot look up.
    dummies
        How many rows of nobody each party adds, to blur the sizes.
    consent
        By party, the smallest sizes that it is ready to reveal.
    """
    tables = [first, *others]
    parties = name_parties(tables, names)
    keys = as_lists(identifying)
    several = bool(data) and not isinstance(data[0], str)
    columns = as_lists(data) if several else [list(map(str, data))] * len(tables)
    if len(columns) != len(tables):
        raise InvalidParameter(
            f"data must be one list of columns, or one per party ({len(tables)})"
        )
    if len(tables) > 2 and consent:
        raise InvalidParameter(
            "consent= is for two parties: in a ring only the second party sees the sizes of overlaps"
        )
    unknown = [p for p in consent or () if p not in parties]
    if unknown or len(dummies) > len(tables):
        raise InvalidParameter("consent= and dummies= must belong to parties of the union")
    added = [*dummies, *([0] * (len(tables) - len(dummies)))]
    files = [make_records(t, keys, c, p) for t, c, p in zip(tables, columns, parties, strict=True)]
    size = record_bytes or max(longest_row(f.rows) for f in files)
    terms = Terms(group, tuple(tuple(k) for k in keys), size, max(added))
    roles: dict[str, Role[Outcome]] = {}
    for i, party in enumerate(parties):
        random = Randomness()
        if len(tables) == 2:
            play = play_bob if i else play_alice
            allowed = (consent or {}).get(party)
            roles[party] = play(
                party, parties[1 - i], files[i], terms, random, consent=allowed, dummies=added[i]
            )
        else:
            roles[party] = play_ring(party, parties, files[i], terms, random, dummies=added[i])
    done = run_together(roles, watch=watch)
    outcome: Outcome = done.results[parties[0]]
    return describe(parties, files, outcome, done.transcript, terms)


def count_overlap(
    first: Any,
    second: Any,
    *,
    identifying: Sequence[str],
    group: str = "ristretto255",
    consent: Mapping[str, Consent] | None = None,
    names: Sequence[str] = (),
) -> UnionResult:
    """Count the persons in both files; no row leaves its owner."""
    parties = name_parties([first, second], names)
    files = [
        make_records(t, [identifying], [], p) for t, p in zip((first, second), parties, strict=True)
    ]
    terms = Terms(group, (tuple(identifying),), 1)
    minima = consent or {}
    roles = {
        p: play_count(p, parties[1 - i], files[i], terms, Randomness(), consent=minima.get(p))
        for i, p in enumerate(parties)
    }
    done = run_together(roles)
    sizes: Sizes = done.results[parties[0]]
    return describe(parties, files, Outcome(sizes, ()), done.transcript, terms)


def describe(
    parties: Sequence[str],
    files: Sequence[Any],
    outcome: Outcome,
    transcript: Transcript,
    terms: Terms,
) -> UnionResult:
    """Return the result as the initiator sees it."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    rows, sizes = outcome.rows or (), outcome.sizes
    names = list(dict.fromkeys(c for row in rows for c in row))
    columns = {c: one_type([row.get(c) for row in rows]) for c in names}
    frame = nw.from_native(pa.table(columns), eager_only=True)
    numbers: dict[str, Any] = {
        "records of the initiator": len(files[0]),
        "records in the union": sizes.union,
        "messages": transcript.n_messages,
        "bytes sent": transcript.n_bytes,
    }
    if len(parties) == 2:
        numbers["records of the other side"] = sizes.other
        numbers["records in both files"] = sizes.both
        warn_of_extremes(sizes)
    statement = statement_of(parties, sizes, terms)
    told: dict[str, Any] = {"sizes": sizes, "transcript": transcript, "statement": statement}
    value = float(sizes.union)
    return UnionResult(
        "private_union", "Private union", value, numbers, frame, statement, rows=tuple(rows), **told
    )


def one_type(values: list[Any]) -> list[Any]:
    """Return values as they are, or as texts where parties have given one column types that do not go together."""
    import pyarrow as pa

    try:
        pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        return [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return values


def warn_of_extremes(sizes: Sizes) -> None:
    """Warn when sizes alone tell who is in the other file."""
    if sizes.both in (0, sizes.own, sizes.other):
        warnings.warn(
            "the sizes tell of every record whether it is in the other file: none, or all of one side, are. Set a minimum with "
            "consent= before such a run, or add rows of nobody with dummies=.",
            WeakProtection,
            stacklevel=4,
        )


def statement_of(parties: Sequence[str], sizes: Sizes, terms: Terms) -> str:
    """Say in words what each side learnt."""
    first, *rest = parties
    if len(parties) == 2:
        other = rest[0]
        learnt = (
            f"{first!r} learnt how many records {other!r} has, how many the union has, and the data columns of persons whom only {other!r} has, "
            f"without identifiers. {other!r} learnt how many records {first!r} has and how many the union has, hence how many are in both. "
        )
        if len(terms.keys) > 1:
            learnt += f"Of the records in both {first!r} also learnt by which ways of matching they agree, without knowing which records they are. "
        if sizes.other:
            share = sizes.both / sizes.other
            learnt += f"A given record of {other!r} is shared with a chance of {share:.2f}. "
    else:
        learnt = (
            f"{first!r} learnt the rows of the union without identifiers and the size of the list before it; {parties[1]!r}, who merged the lists, learnt "
            "the sizes of all files and overlaps; the others learnt sizes of lists that they passed on. "
        )
    return f"{learnt}Rows were matched by equal canonical identifiers only. {THREATS} Group: {terms.group}."


def as_lists(values: Sequence[Any]) -> list[list[str]]:
    """Return one list of names, or several, as several."""
    if not values:
        raise InvalidParameter("identifying columns must be named")
    if isinstance(values[0], str):
        return [[str(v) for v in values]]
    return [[str(v) for v in each] for each in values]


def name_parties(tables: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Return the names of the parties."""
    usual = ["alice", "bob", *(f"party_{i}" for i in range(3, len(tables) + 1))]
    chosen = list(names) or usual[: len(tables)]
    if len(tables) < 2 or len(chosen) != len(tables) or len(set(chosen)) < len(chosen):
        raise InvalidParameter(
            "a union needs at least two files, and as many different names as files"
        )
    return chosen
