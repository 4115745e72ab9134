"""Tables across owners: log-linear fits, pooled tables and pooled records."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from tacit.arrays import Floats
from tacit.errors import InputError, InvalidParameter, WeakProtection
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Role, Together, run_together
from tacit.private.parties.wire import Transcript
from tacit.private.regression import loglinear
from tacit.private.regression.design import columns_of
from tacit.private.regression.files import COLLUSION, THREATS, check_number, name_files
from tacit.private.regression.fixed_point import FixedPoint
from tacit.private.regression.gate import Factor, Question, pass_gate
from tacit.private.regression.integration import play_owner, play_relay
from tacit.private.regression.sums import Protocol, SumSettings, add_securely
from tacit.private.union.records import rows_of
from tacit.result import Result

JUDGED_TABLES = (
    "Before they were shown, it was judged that they have no cell of 1 to {threshold} - 1 records of the others of a party, nor a group of "
    "others in one category alone; nothing more was learnt of these counts than that they pass, and which groups are empty. "
)


@dataclass(frozen=True, repr=False)
class LogLinearFit(Result):
    """A joint log-linear fit: the fitted table, its margins and its u-terms."""

    spec: loglinear.TableSpec = field(default_factory=lambda: loglinear.TableSpec({}))
    generators: tuple[tuple[str, ...], ...] = ()
    margins: tuple[Floats, ...] = ()
    fitted: Floats = field(default_factory=lambda: np.zeros(0))
    cycles: int = 0
    n_parameters: int = 0
    disclosure: loglinear.MarginReport | None = None
    transcript: Transcript = field(default_factory=Transcript)
    statement: str = ""

    def u_terms(self) -> dict[tuple[str, ...], Floats]:
        """Return the u-terms, which sum to zero over every axis."""
        return loglinear.u_terms(self.spec, self.fitted)

    def logit(self, response: str) -> dict[str, float]:
        """Return the coefficients of the logit model for a binary response."""
        return loglinear.logit_coefficients(self.spec, self.fitted, response)


def log_linear(
    parties: Any,
    margins: Sequence[Sequence[str]],
    *,
    categories: Mapping[str, Sequence[str]],
    protocol: Protocol = "pairwise_masks",
    tol: float = 1e-10,
    cycles: int = 10_000,
    disclosure_check: bool = True,
    threshold: int = 3,
    min_width: int = 3,
    allow_two_party: bool = False,
    modulus_bits: int = 128,
    watch: Any = None,
) -> LogLinearFit:
    """Fit a hierarchical log-linear model across owners, given by its generating margins.

    ``parties`` hold records, or tables of counts (arrays with the axes of ``categories``, in that order). Before margins are
    added it is judged that the others of no party have fewer than ``threshold`` records in one of their cells, other than none;
    ``disclosure_check=False`` leaves that out, and the bounds of cells afterwards.
    """
    files = name_files(parties)
    warned = check_number(files, allow_two_party=allow_two_party)
    spec = table_spec(categories)
    generators = loglinear.check_generators(spec, margins)
    judged, point = threshold if disclosure_check else 0, FixedPoint(modulus_bits, 0)
    done = add_margins(files, spec, generators, protocol, judged, point, watch)
    totals: list[Floats] = done.results[next(iter(files))]
    report = None
    if disclosure_check:
        report = loglinear.check_margins(
            spec, generators, totals, threshold=threshold, min_width=min_width
        )
        if report.exposed.any():
            warnings.warn(
                "the margins that were added bound small cells of the pooled table closely: merge categories, or fit a "
                "smaller model, before they are shown to others",
                WeakProtection,
                stacklevel=2,
            )
    if not loglinear.estimate_exists(spec, generators, totals):
        raise InputError(
            "the estimate of this model does not exist: no table without empty cells has the pooled margins. Fit a smaller model."
        )
    fitted, taken, settled = loglinear.fit_margins(spec, generators, totals, tol=tol, cycles=cycles)
    statement = (
        f"Every party learnt the pooled margins {', '.join('x'.join(g) for g in generators)}, and by subtracting its own those of the other "
        "parties together, of no single one of them. "
        + (JUDGED_TABLES.format(threshold=threshold) if disclosure_check else "It was not judged whether these hold small cells. ")
        + THREATS + COLLUSION[protocol] + warned
    )  # fmt: skip
    numbers = {
        "records": round(float(fitted.sum())),
        "cells": int(fitted.size),
        "cycles": taken,
        "settled": settled,
        "messages": done.transcript.n_messages,
        "bytes sent": done.transcript.n_bytes,
    }
    return LogLinearFit(
        "joint_log_linear",
        f"Joint log-linear fit of {len(files)} owners",
        float(fitted.sum()),
        numbers,
        None,
        statement,
        spec,
        tuple(generators),
        tuple(totals),
        fitted,
        taken,
        loglinear.count_parameters(spec, generators),
        report,
        done.transcript,
        statement,
    )


def table_spec(categories: Mapping[str, Sequence[str]]) -> loglinear.TableSpec:
    """Return the axes that owners agree on."""
    return loglinear.TableSpec({a: tuple(map(str, c)) for a, c in categories.items()})


def add_margins(
    files: Mapping[str, Any],
    spec: loglinear.TableSpec,
    generators: Sequence[tuple[str, ...]],
    protocol: Protocol,
    threshold: int,
    point: FixedPoint,
    watch: Any,
) -> Together:
    """Let every owner add the margins of its table."""

    def play(party: str) -> Role[list[Floats]]:
        counts = counts_of(spec, files[party], party)
        settings = SumSettings(party, list(files), Randomness(), protocol, point)
        return loglinear.play_margins(settings, spec, counts, generators, threshold)

    return run_together({p: play(p) for p in files}, watch=watch)


def compare_tables(smaller: LogLinearFit, larger: LogLinearFit) -> Result:
    """Compare two nested log-linear fits by G2 = 2 sum m1 log(m1 / m0)."""
    df = larger.n_parameters - smaller.n_parameters
    if df < 1 or larger.fitted.shape != smaller.fitted.shape:
        raise InvalidParameter("compare a model with a larger one of the same table")
    statistic = loglinear.deviance(larger.fitted, smaller.fitted)
    chance = float(stats.chi2.sf(statistic, df))
    return Result(
        "joint_comparison", "Two joint log-linear fits compared", statistic, {"G2": statistic, "df": df, "p value": chance}, None,
        "A large statistic favours the larger model.",
    )  # fmt: skip


def contingency_table(
    parties: Any,
    *,
    categories: Mapping[str, Sequence[str]],
    protocol: Protocol = "pairwise_masks",
    threshold: int = 3,
    allow_two_party: bool = False,
    watch: Any = None,
) -> tuple[Floats, Transcript]:
    """Add every cell of the parties' tables securely: the full pooled table becomes known to all.

    Refused, before anything is shown, where the others of a party have fewer than ``threshold`` records in a cell, other than
    none, or are all in one category of an axis.
    """
    files = name_files(parties)
    check_number(files, allow_two_party=allow_two_party)
    spec = table_spec(categories)
    done = add_margins(files, spec, [spec.axes], protocol, threshold, FixedPoint(128, 0), watch)
    return done.results[next(iter(files))][0], done.transcript


def sparse_table(
    parties: Mapping[str, Mapping[str, int]],
    *,
    protocol: Protocol = "pairwise_masks",
    group: str = "ristretto255",
    threshold: int = 3,
) -> dict[str, int]:
    """Add sparse tables: first the union of the labels of cells that are not empty, by the private union, then their counts.

    Every party learns the labels. Only sound when a label does not tell who has it. Counts are refused where the others of a party
    have fewer than ``threshold`` in a cell, other than none.
    """
    from tacit.private import union

    files = name_files(parties)
    check_number(files, allow_two_party=False)
    tables: list[Any] = [
        [{"label": c, "cell": c} for c in cells] or {"label": [], "cell": []}
        for cells in files.values()
    ]
    found = union.simulate(
        *tables, identifying=["label"], data=["cell"], group=group, names=list(files)
    )
    labels = sorted(row["cell"] for row in found.rows)

    def play(party: str) -> Role[list[int]]:
        settings = SumSettings(party, list(files), Randomness(), protocol, FixedPoint(128, 0))
        counts = np.array([files[party].get(c, 0) for c in labels], np.int64)
        cells = Factor("cell", np.arange(len(labels)), len(labels))
        question = Question(int(counts.sum()), (cells,), ((0,),), weights=counts)
        yield from pass_gate(settings, question, threshold=threshold, numbers=0, rounds=0)
        total = yield from add_securely(settings, counts.astype(np.float64))
        return [round(v) for v in total]

    done = run_together({p: play(p) for p in files})
    return dict(zip(labels, done.results[next(iter(files))], strict=True))


def integrate(
    parties: Any, *, laps: int = 6, watch: Any = None
) -> tuple[list[dict[str, Any]], Transcript]:
    """Bring the records of all parties together without telling whose they are, through a relay that sees ciphertext only."""
    files = name_files(parties)
    names = list(files)
    roles: dict[str, Role[Any]] = {
        p: play_owner(p, names, "relay", rows_of(t), laps, Randomness()) for p, t in files.items()
    }
    roles["relay"] = play_relay("relay", names, laps, Randomness())
    done = run_together(roles, watch=watch)
    return done.results[names[0]], done.transcript


def exists_by_party(
    parties: Any, margins: Sequence[Sequence[str]], *, categories: Mapping[str, Sequence[str]]
) -> dict[str, bool]:
    """Return, for every party alone, whether the estimate of a log-linear model exists; each can compute its own."""
    spec = table_spec(categories)
    generators = loglinear.check_generators(spec, margins)
    found = {}
    for party, file in name_files(parties).items():
        counts = counts_of(spec, file, party)
        found[party] = loglinear.estimate_exists(
            spec, generators, [spec.sum_over(counts, g) for g in generators]
        )
    return found


def counts_of(spec: loglinear.TableSpec, file: Any, who: str) -> Floats:
    """Return a party's table of counts: given as an array, or counted from records."""
    if isinstance(file, np.ndarray) or (
        isinstance(file, list | tuple) and file and isinstance(file[0], list | tuple)
    ):
        counts = np.asarray(file, np.float64)
        whole = np.isfinite(counts).all() and (counts == np.round(counts)).all()
        if not whole or (counts < 0).any():
            raise InputError(f"the table of {who!r} must hold whole numbers of at least 0")
        if counts.shape != spec.shape:
            raise InputError(
                f"the table of {who!r} must have the shape {spec.shape} (got {counts.shape})"
            )
        return counts
    return spec.count(columns_of(file, spec.axes, who), who)
