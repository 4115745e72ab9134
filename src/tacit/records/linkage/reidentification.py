"""Re-identification: how many records would be found, by whom, knowing what."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_numeric
from tacit.data.values import as_frame
from tacit.errors import Approximate, InputError, SdcWarning
from tacit.fields import ColumnName, ColumnNames, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.heat import share_map
from tacit.records.linkage.attack import Attack, parents, share_ties
from tacit.records.linkage.distance_linkage import DistanceLinkage
from tacit.records.linkage.linking import NothingToCompare, known_fields, list_known_columns
from tacit.records.linkage.nearest import Links
from tacit.records.linkage.probabilistic_linkage import ProbabilisticLinkage
from tacit.records.linkage.rows import distinct_rows
from tacit.records.values.interval_disclosure import IntervalDisclosure
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

Attacker = Literal["exact", "nearest", "mahalanobis", "kernel", "probabilistic", "interval"]

#: What each attacker does, in words for the report.
WORDS: dict[str, str] = {
    "exact": "looks for a record with exactly these values",
    "nearest": "takes the nearest record",
    "mahalanobis": "takes the nearest record by Mahalanobis distance",
    "kernel": "takes the nearest record by a kernel distance",
    "probabilistic": "weighs the agreement of columns",
    "interval": "reads the values off the record and is nearly right",
}
EVERYTHING = "everything"
#: Attacks that could not be run that are named in a sentence; ``not_run`` has all of them.
LISTED = 3

by_distance: Callable[..., Measure] = DistanceLinkage
by_weights: Callable[..., Measure] = ProbabilisticLinkage
by_intervals: Callable[..., Measure] = IntervalDisclosure


@dataclass(frozen=True)
class Knowledge:
    """What an intruder knows: a name and the columns."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Files:
    """What an intruder attacks, and the columns that they know."""

    columns: tuple[str, ...]
    original: Microdata
    released: Microdata
    ctx: Context

    @property
    def numbers(self) -> tuple[str, ...]:
        """Return the columns known that hold numbers; an intruder who compares numbers needs one."""
        numeric = shared_numeric(self.original, self.released)
        found = tuple(c for c in self.columns if c in numeric)
        if not found:
            raise NothingToCompare("needs numeric columns")
        return found

    def measure(self, spec: Measure) -> Any:
        """Return what a measure finds."""
        return spec.measure(self.released, original=self.original, context=self.ctx)


@dataclass(frozen=True)
class Finding:
    """What one attacker finds with some knowledge."""

    attacker: str
    knowledge: Knowledge
    correct: float
    share: float
    chance: float

    @property
    def identity(self) -> bool:
        """Return True when records are identified; intervals disclose values of a record found."""
        return self.attacker != "interval"


@dataclass(frozen=True)
class NotRun:
    """An attack that was not run, and why.

    It would have been ``useless`` when the columns hold nothing that this attacker compares.
    """

    attacker: str
    knowledge: Knowledge
    reason: str
    useless: bool

    @property
    def lowers(self) -> bool:
        """Return True when it may have identified more records than those that were run."""
        return not self.useless and self.attacker != "interval"


@register
class Reidentification(Measure):
    """How many records would be re-identified, by whom, knowing what.

    A grid of intruders is set on the release. They know the true values of some columns of everybody:
    each column by itself, all of them, pairs, or sets that you name. ``exact`` looks for records with
    exactly these values; ``nearest``, ``mahalanobis`` (every reading of the covariance, the strongest
    counts) and ``kernel`` take the nearest record on the numeric columns among those that agree on the
    others; ``probabilistic`` weighs the agreement of all columns, text too. A record counts by its chance among those that tie. ``interval``
    is of another kind: it says how many true values lie within 0.05 standard deviations of the released
    ones, for an intruder who has found the record. The value is the worst share of records identified. An attack that
    cannot be run is listed with the reason in ``not_run``; where it might have found more, the value is a lower bound, and
    the result says so.

    Values that were generalised (an age turned into a range of ages) equal no original value, so that these
    attackers cannot use them; k-anonymity and k-map are the measures for such columns.

    References
    ----------
    Torra, Abowd, Domingo-Ferrer (2006), Using Mahalanobis distance-based record linkage for disclosure
    risk assessment, PSD 2006, LNCS 4302, 233-242.
    Domingo-Ferrer, Torra (2001), A quantitative comparison of disclosure control methods for microdata, in
    Confidentiality, Disclosure and Data Access, 111-133.
    """

    kind: Literal["reidentification"] = "reidentification"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns that an intruder may know; by default the keys and all numeric columns that were changed",
    )
    subsets: Literal["all", "single", "pairs"] = Field(
        default="single",
        description="what is known: all columns together; also each by itself; also every pair",
    )
    known: Mapping[str, ColumnNames] = Field(
        default_factory=dict, description="further sets of columns that an intruder knows, by name"
    )
    attackers: tuple[Attacker, ...] = Field(
        default=("exact", "nearest", "mahalanobis", "kernel", "probabilistic", "interval"),
        min_length=1,
        description="who attacks",
    )
    records: PositiveInt | None = Field(
        default=None, ge=2, description="attack only a random sample of this many original records"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "zip", "income"]}

    @model_validator(mode="after")
    def _consistent(self) -> Reidentification:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if set(self.attackers) == {"interval"}:
            raise ValueError("interval identifies nobody: name another attacker too")
        if EVERYTHING in self.known:
            raise ValueError(f"known must not name a set {EVERYTHING!r}: that is all columns")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that an intruder is said to know."""
        return tuple(dict.fromkeys([*self.columns, *(c for g in self.known.values() for c in g)]))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> ReidentificationResult:
        original = other.original
        columns = self.columns or tuple(list_known_columns(original, data, self.kind))
        if not columns:
            raise InputError(f"{self.kind} needs a column that original and release share")
        if self.records is not None and self.records < len(original):
            chosen = np.sort(ctx.rng.choice(len(original), self.records, replace=False))
            original = original.take(chosen)
        found: list[Finding | NotRun] = []
        notes: list[str] = []
        quiet = replace(ctx, work=ctx.work.quiet())
        grid = [(who, what) for what in self.knowledge(columns) for who in self.attackers]
        for i, (who, what) in enumerate(grid):
            ctx.tick(f"{who}, knowing {what.name}", i / len(grid))
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always", SdcWarning)
                found.append(run_attack(who, what, Files(what.columns, original, data, quiet)))
            notes += [str(w.message) for w in heard if issubclass(w.category, SdcWarning)]
        findings = [f for f in found if isinstance(f, Finding)]
        not_run = [f for f in found if isinstance(f, NotRun)]
        if not any(f.identity for f in findings):
            reasons = list(dict.fromkeys(a.reason for a in not_run if a.lowers))
            raise InputError(
                f"{self.kind}: no attacker could use these columns. "
                + (" ".join(reasons) or "Name columns with numbers, or ")
                + ("" if reasons else "attackers that compare text (exact, probabilistic).")
            )
        if missed := [a for a in not_run if a.lowers]:
            warnings.warn(f"{self.kind}: {tell_not_run(missed)}", Approximate, stacklevel=4)
        named = [f for f in findings if f.identity]
        worst = max(named, key=lambda f: f.share)
        sentences = tuple(summarise_attackers(named))
        numbers: dict[str, Any] = {
            "records attacked": len(original),
            "strongest attacker": worst.attacker,
            "knowing": worst.knowledge.name,
            "records identified": worst.correct,
            "share identified": worst.share,
            "share by chance": worst.chance,
        }
        if missed:
            numbers["share identified is a lower bound"] = "yes"
            numbers["attacks that could not be run"] = len(missed)
        for name in dict.fromkeys(f.attacker for f in findings):
            top = max((f for f in findings if f.attacker == name), key=lambda f: f.share)
            numbers[f"most by {name}"] = top.share
        return ReidentificationResult(
            kind=self.kind,
            title="Re-identification",
            value=worst.share,
            numbers=numbers,
            frame=finding_frame(findings),
            explanation=" ".join([*([tell_not_run(missed)] if missed else []), *sentences[:3]]),
            findings=tuple(findings),
            not_run=tuple(not_run),
            worst=worst,
            sentences=sentences,
            notes=tuple(dict.fromkeys(notes)),
        )

    def knowledge(self, columns: Sequence[str]) -> list[Knowledge]:
        """Return what intruders know: named sets, single columns, pairs, everything."""
        sets = [Knowledge(name, tuple(group)) for name, group in self.known.items()]
        if len(columns) > 1 and self.subsets != "all":
            sets += [Knowledge(c, (c,)) for c in columns]
        if len(columns) > 2 and self.subsets == "pairs":
            sets += [Knowledge(" + ".join(pair), pair) for pair in combinations(columns, 2)]
        return [*sets, Knowledge(EVERYTHING, tuple(columns))]


# -- attackers ---------------------------------------------------------------------------------------


def run_attack(who: str, what: Knowledge, files: Files) -> Finding | NotRun:
    """Return what an attacker finds, or why the attack could not be run."""
    try:
        correct, n, targets = RUN[who](files)
    except InputError as error:
        return NotRun(who, what, str(error), isinstance(error, NothingToCompare))
    return Finding(who, what, correct, correct / n, 1.0 / targets)


def tell_not_run(missed: Sequence[NotRun]) -> str:
    """Return which attacks could not be run, why, and what that means for the result."""
    who = ", ".join(
        f"{a.attacker} knowing {describe_knowledge(a.knowledge)} ({a.reason.rstrip('.')})"
        for a in missed[:LISTED]
    )
    more = f", and {len(missed) - LISTED} more" if len(missed) > LISTED else ""
    several = "attacks" if len(missed) > 1 else "attack"
    return f"{len(missed)} {several} could not be run, so the share of records identified is a lower bound: {who}{more}."


Outcome = tuple[float, int, int]


def exact_match(known: Files) -> Outcome:
    """Link records that are equal on all columns; a missing value equals a missing one."""
    fields = known_fields(known.original, known.released, known.columns, "reidentification")
    files = fields.files
    both = distinct_rows(np.concatenate([files.original, files.released]))
    n = len(files.original)
    mine, theirs = both.of[:n], both.of[n:]
    ties = np.bincount(theirs, minlength=len(both))[mine]
    truth = files.truth
    hit = (truth >= 0) & (theirs[truth] == mine)
    first = np.full(len(both), -1, dtype=np.int64)
    first[theirs[::-1]] = np.arange(len(theirs))[::-1]
    zero = np.zeros(n)
    links = Links(first[mine], zero, zero, ties)
    found = Attack("exact", links, truth, hit, parents(files, links, truth, share_ties(hit, links)))
    return found.count("expected"), len(files.old), len(theirs)


def nearest_match(**options: Any) -> Callable[..., Outcome]:
    """Return an attacker who links by distance, missing values being left out pair by pair."""

    def run(files: Files) -> Outcome:
        numbers = files.numbers
        text = tuple(c for c in files.columns if c not in numbers)
        # With one number the Mahalanobis distance is the Euclidean one.
        if options["metric"] == "mahalanobis" and len(numbers) < 2:
            raise NothingToCompare("needs numeric columns")
        known: dict[str, Any] = {"columns": numbers, "block": text}
        return outcome(
            files.measure(by_distance(missing="drop_pair_attribute", **known, **options))
        )

    return run


def probabilistic_match(files: Files) -> Outcome:
    """Link by the weights of agreement."""
    return outcome(files.measure(by_weights(columns=files.columns)))


def interval_match(files: Files) -> Outcome:
    """Say how many records have all true values close to the released ones."""
    found = files.measure(by_intervals(columns=files.numbers))
    n = int(found.numbers["records"])
    return found.value * n, n, n


def outcome(found: Any) -> Outcome:
    """Return correct links, records and targets of a linkage measure."""
    n = int(found.numbers["of them in both files"])
    return float(found.correct), n, round(1.0 / found.numbers["share by chance"])


RUN: dict[str, Callable[..., Outcome]] = {
    "exact": exact_match,
    "nearest": nearest_match(metric="euclidean"),
    "mahalanobis": nearest_match(metric="mahalanobis"),
    "kernel": nearest_match(metric="kernel"),
    "probabilistic": probabilistic_match,
    "interval": interval_match,
}


# -- the result --------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ReidentificationResult(Result):
    """Who finds how many records, knowing what; one row each in ``frame``."""

    findings: tuple[Finding, ...] = ()
    #: The attacks that were not run, each with the reason.
    not_run: tuple[NotRun, ...] = ()
    #: The attack that identifies most records.
    worst: Finding = None  # type: ignore[assignment]
    #: The result in plain words, strongest attack first, and the warnings of the attacks, each once.
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lower_bound(self) -> bool:
        """Return True when an attack that could not be run might have identified more records."""
        return any(a.lowers for a in self.not_run)

    @property
    def correct(self) -> float:
        """Return how many records the strongest attack identifies."""
        return self.worst.correct

    @property
    def share(self) -> float:
        """Return the share of records that the strongest attack identifies."""
        return self.worst.share

    def plot(self) -> Chart:
        """Return a map of shares: who attacks by what is known."""
        cells = [(f.knowledge.name, f.attacker, f.share) for f in self.findings]
        there = {f.attacker for f in self.findings}
        close = (
            "; interval: all values within 0.05 sd of the true ones" if "interval" in there else ""
        )
        most = "at least" if self.lower_bound else "at most"
        return share_map(
            cells,
            [name for name in WORDS if name in there],
            title="Records found, by whom, knowing what",
            subtitle=f"{most} {self.share:.1%} of the records are identified{close}",
            x="attacker",
            y="known",
            apart="interval",
        )


def summarise_attackers(findings: Sequence[Finding]) -> Iterable[str]:
    """Return one sentence for the strongest attacker of each knowledge, strongest first."""
    best: dict[str, Finding] = {}
    for f in findings:
        if f.knowledge.name not in best or f.share > best[f.knowledge.name].share:
            best[f.knowledge.name] = f
    for f in sorted(best.values(), key=lambda f: -f.share):
        what = describe_knowledge(f.knowledge)
        times = f.share / f.chance
        yield (
            f"Whoever knows {what} and {WORDS[f.attacker]} finds {f.share:.1%} of the records, "
            f"{times:,.0f} times as many as by chance."
        )


def describe_knowledge(knowledge: Knowledge) -> str:
    """Return what an intruder knows, in words."""
    columns = knowledge.columns
    if knowledge.name == EVERYTHING:
        return columns[0] if len(columns) == 1 else "all of these columns"
    if knowledge.name in (columns[0], " + ".join(columns)):
        return " and ".join(columns)
    return f"what the {knowledge.name} knows ({', '.join(columns)})"


def finding_frame(findings: Sequence[Finding]) -> nw.DataFrame[Any]:
    """Return the findings, one row each."""
    return as_frame(
        {
            "attacker": [f.attacker for f in findings],
            "known": [f.knowledge.name for f in findings],
            "columns": [", ".join(f.knowledge.columns) for f in findings],
            "n_columns": [len(f.knowledge.columns) for f in findings],
            "identity": [f.identity for f in findings],
            "correct": [f.correct for f in findings],
            "share": [f.share for f in findings],
            "chance": [f.chance if f.identity else None for f in findings],
            "times_chance": [f.share / f.chance if f.identity else None for f in findings],
        }
    )


# -- a table over several releases -------------------------------------------------------------------

METHODS: dict[str, Measure] = {
    "DBRL1": by_distance(metric="euclidean", ties="first"),
    "DBRL2": by_distance(metric="distance_standardised", ties="first"),
    "Mahalanobis, zero": by_distance(metric="mahalanobis", cross_covariance="zero", ties="first"),
    "Mahalanobis, true": by_distance(metric="mahalanobis", cross_covariance="true", ties="first"),
    "kernel": by_distance(metric="kernel", ties="first"),
    "probabilistic": by_weights(),
}


@dataclass(frozen=True, repr=False)
class LinkageTable(Result):
    """Correct links by release, columns known and method (``cells``); one row each in ``frame``."""

    cells: Mapping[tuple[str, str, str], float] = field(default_factory=dict)

    def table(self) -> nw.DataFrame[Any]:
        """Return one row per release and set of columns, one column per method."""
        rows = list(dict.fromkeys((r, c) for r, c, _ in self.cells))
        methods = list(dict.fromkeys(m for _, _, m in self.cells))
        columns: dict[str, Any] = {"release": [r for r, _ in rows], "known": [c for _, c in rows]}
        columns |= {m: [self.cells.get((*row, m)) for row in rows] for m in methods}
        return as_frame(columns)

    def plot(self) -> Chart:
        """Return a map of the shares."""
        assert self.frame is not None
        several = len({r for r, _, _ in self.cells}) > 1
        cells = [
            (f"{r['release']}: {r['known']}" if several else r["known"], r["method"], r["share"])
            for r in self.frame.rows(named=True)
        ]
        methods = list(dict.fromkeys(m for _, _, m in self.cells))
        return share_map(
            cells, methods, title=self.title, subtitle="share of correct links", x="", y="known"
        )


def linkage_table(
    original: Microdata,
    releases: Mapping[str, Microdata],
    known: Sequence[Sequence[str]],
    methods: Mapping[str, Measure] = METHODS,
) -> LinkageTable:
    """Attack several releases with several methods, knowing several sets of columns.

    Parameters
    ----------
    original
        The data before protection.
    releases
        The protected data by name.
    known
        Sets of columns that the intruder knows.
    methods
        Linkage measures by name; their columns are set to each of the sets.

    Returns
    -------
    LinkageTable
        ``.table()`` has one column per method, as the tables of Torra, Abowd and Domingo-Ferrer (2006);
        ``.frame`` one row per cell, with the share; ``.plot()`` a map.
    """
    rows: list[dict[str, Any]] = []
    for name, release in releases.items():
        for columns in known:
            for method, measure in methods.items():
                spec = measure.model_copy(update={"columns": tuple(columns)})
                correct, n, _ = outcome(spec.measure(release, original=original, seed=0))
                row = {"release": name, "known": ", ".join(columns), "method": method}
                rows.append({**row, "correct": correct, "share": correct / n})
    worst = max(rows, key=lambda r: r["share"])
    return LinkageTable(
        kind="linkage_table",
        title="Correct links by method",
        value=worst["share"],
        numbers={f"worst {key}": worst[key] for key in ("release", "known", "method", "share")},
        frame=as_frame(pa.Table.from_pylist(rows)),
        explanation="Each cell is an attack on one release by an intruder who knows those columns.",
        cells={(r["release"], r["known"], r["method"]): r["correct"] for r in rows},
    )
