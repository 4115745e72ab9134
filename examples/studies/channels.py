"""Sweeps of risk tolerance and number of candidates on simulated channels (section 7 of the paper).

The paper's simulated data are not published, so its Tables 4 and 5 and Figures 7 to 11 are run on data
drawn by the same description; shapes can be compared, digits cannot. :func:`run` does them all.

References
----------
Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41, section 7.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow.csv

from tacit.arrays import Floats, Ints
from tacit.errors import InvalidParameter
from tacit.plot.chart import Chart
from tacit.plot.lines import lines
from tacit.records.channels.candidates import random_candidates
from tacit.records.channels.problem import Problem
from tacit.records.channels.solve import solve
from tacit.records.channels.study import StudyAnswer
from tacit.records.channels.table import ChannelTable
from tacit.records.channels.views import TOLERANCES, Frame, Row, frame_of, scale_limits

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Size:
    """How large an experiment is.

    Attributes
    ----------
    n_channels, subjects
        The simulated data.
    proportions
        Proportions of subjects at risk.
    candidates
        Numbers of random output channels; the last is used throughout.
    step
        Step of the risk tolerance in the fine sweep.
    """

    n_channels: int
    subjects: int
    proportions: tuple[float, ...]
    candidates: tuple[int, ...]
    step: float


SIZES: Mapping[str, Size] = {
    "small": Size(40, 200_000, (0.05, 0.1, 0.15, 0.2), (1, 4, 16, 64, 256), 0.1),
    "paper": Size(
        200,
        1_000_000,
        tuple(round(0.01 * k, 2) for k in range(1, 21)),
        tuple(2**k for k in range(12)),
        0.01,
    ),
}


# -- the simulation of section 7 -----------------------------------------------------------------


def by_tolerance(
    size: Size,
    *,
    tolerances: Sequence[float] = TOLERANCES,
    candidates: Literal["random", "exact"] = "random",
    seed: int = 0,
    tick: Progress | None = None,
) -> Frame:
    """Return loss, all-channel share and set size by proportion at risk and tolerance.

    These are Figures 7, 8 and 11 and Table 5.
    """
    cases = [(q, rt) for q in size.proportions for rt in tolerances]
    rows = []
    for n, (q, rt) in enumerate(cases):
        if tick:
            tick(f"proportion at risk {q}, risk tolerance {rt}", n / len(cases))
        base = simulate(size.n_channels, size.subjects, q, 1.0, seed)
        drawn = random_candidates(base, size.candidates[-1], 8, seed)
        found = timed(
            scale_limits(base, rt) if rt != 1 else base,
            drawn if candidates == "random" else "exact",
        )
        rows.append({"proportion at risk": q, "risk tolerance": rt, **found})
    return frame_of(rows)


def by_candidates(size: Size, *, proportion: float = 0.15, seed: int = 0) -> Frame:
    """Return loss and unused sets by number of candidate output channels at RT = 1 (Table 4).

    A longer list begins with the shorter one, so that the loss never rises.
    """
    problem = simulate(size.n_channels, size.subjects, proportion, 1.0, seed)
    drawn = random_candidates(problem, size.candidates[-1], 8, seed)
    return frame_of(
        [{"candidates": n, **timed(problem, drawn[:n])} for n in size.candidates if n <= len(drawn)]
    )


def by_steps(
    size: Size,
    *,
    proportions: Sequence[float] = (0.05, 0.15),
    seed: int = 0,
) -> Frame:
    """Return total and incremental gain of utility as the tolerance rises (Figures 9 and 10).

    The total gain is the loss at RT = 1 that is saved, as a share of that loss; the incremental gain is
    what one step adds.
    """
    steps = np.round(np.arange(1.0, 1.8 + size.step / 2, size.step), 6).tolist()
    table = by_tolerance(replace(size, proportions=tuple(proportions)), tolerances=steps, seed=seed)
    rows: list[Row] = []
    for q in proportions:
        part = table.filter(nw.col("proportion at risk") == q)
        loss = part.get_column("loss").to_numpy()
        gain = (loss[0] - loss) / loss[0] if loss[0] else np.zeros(len(loss))
        for rt, total, step in zip(steps, gain, np.diff(gain, prepend=0.0), strict=True):
            rows.append(
                {
                    "proportion at risk": q,
                    "risk tolerance": rt,
                    "total gain": float(total),
                    "incremental gain": float(step),
                }
            )
    return frame_of(rows)


def diminishing(table: Frame, *, least: float = 0.01) -> dict[float, float]:
    """Return, by proportion at risk, the tolerance from which on a 1 % step gains less than ``least``."""
    found = {}
    for q in dict.fromkeys(table.get_column("proportion at risk").to_list()):
        part = table.filter(nw.col("proportion at risk") == q)
        rt = part.get_column("risk tolerance").to_numpy()
        width = np.diff(rt, prepend=rt[0]) * 100
        step = part.get_column("incremental gain").to_numpy()
        enough = np.flatnonzero((step >= least * np.maximum(width, 1e-12)) & (width > 0))
        found[float(q)] = float(rt[enough[-1]]) if len(enough) else float(rt[0])
    return found


def timed(problem: Problem, candidates: Any) -> Row:
    """Return the numbers of one solution."""
    begun = time.perf_counter()
    found = solve(problem, candidates=candidates)
    return {
        "loss": found.loss,
        "loss outside the all-channel set": found.loss_without_all,
        "share in the all-channel set": found.share_in_all,
        "average set size": found.average_set_size,
        "unused": found.unused,
        "seconds": time.perf_counter() - begun,
    }


def run(
    folder: str | Path | None = None,
    *,
    size: str | Size = "small",
    seed: int = 0,
    tick: Progress | None = None,
) -> dict[str, Frame]:
    """Run every sweep of section 7; with a folder, write tables (csv) and charts (svg) there.

    Parameters
    ----------
    folder
        Where to write; by default nothing is written.
    size
        ``"small"`` (seconds), ``"paper"`` (200 channels, a million subjects; minutes), or a :class:`Size`.
    seed
        Seed of the simulated data and of the random candidates.
    tick
        Called with a message and a share.
    """
    if isinstance(size, str) and size not in SIZES:
        raise InvalidParameter(f"size must be one of {', '.join(SIZES)} (got {size!r})")
    chosen = SIZES[size] if isinstance(size, str) else size
    tables = {
        "tolerance": by_tolerance(chosen, seed=seed, tick=tick),
        "candidates": by_candidates(chosen, seed=seed),
        "steps": by_steps(chosen, seed=seed),
    }
    if folder is not None:
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            pyarrow.csv.write_csv(table.to_arrow(), target / f"{name}.csv")
        for name, chart in charts(tables).items():
            chart.save(target / f"{name}.svg")
    return tables


# -- simulated data -----------------------------------------------------------------------------


def simulate(
    n_channels: int = 200,
    subjects: int = 1_000_000,
    at_risk: float = 0.15,
    tolerance: float = 1.0,
    seed: int = 0,
    n_values: int = 2,
) -> Problem:
    """Draw a problem: ``u_k = 0.1 tolerance``, ``b = 0.15 tolerance``, ``c = (0.5, 1, 1, ...)``.

    Parameters
    ----------
    n_channels
        Number of input channels, R.
    subjects
        Number of subjects; the nearest multiple of ten is taken.
    at_risk
        Share of the subjects in risky channels.
    tolerance
        The factor RT on the limits; 1 leaves no room at all.
    seed
        Seed of the draw; it does not depend on the tolerance.
    n_values
        Number of risky values, K.
    """
    rng = np.random.default_rng(seed)
    total = max(1, round(subjects / 10)) * 10
    m = draw_sizes(rng, n_channels, total)
    risky = draw_risky(rng, m, at_risk)
    # A subject holds one value, so many values cannot all have half of a channel.
    most = min(0.5, 1 / n_values)
    counts = np.column_stack(
        [draw_counts(rng, m, high, total // 10, most) for high in draw_high(rng, risky, n_values)]
    )
    u = [round(0.1 * tolerance, 12)] * n_values
    c = [0.5] + [1.0] * (n_values - 1)
    return Problem.of(m, counts, u, round(sum(c) * 0.1 * tolerance, 12), c)


def draw_sizes(rng: np.random.Generator, n: int, total: int) -> Ints:
    drawn = rng.uniform(1_000, 12_000, n)
    m = np.maximum(1, np.floor(drawn * total / drawn.sum())).astype(np.int64)
    m[np.argsort(-drawn)[: max(0, total - int(m.sum()))]] += 1
    m[int(m.argmax())] += total - int(m.sum())
    return m


def draw_risky(rng: np.random.Generator, m: Ints, share: float) -> np.ndarray:
    order = rng.permutation(len(m))
    held = np.cumsum(m[order])
    risky = np.zeros(len(m), dtype=bool)
    risky[order[: int(np.searchsorted(held, share * m.sum()))]] = True
    return risky


def draw_high(rng: np.random.Generator, risky: np.ndarray, n_values: int) -> np.ndarray:
    """Which channels are risky for which value: at least one each."""
    high = rng.random((n_values, len(risky))) < 0.5
    high[rng.integers(n_values, size=len(risky)), np.arange(len(risky))] = True
    return high & risky


def draw_counts(
    rng: np.random.Generator, m: Ints, high: np.ndarray, wanted: int, most: float
) -> Ints:
    """Draw shares, then move the low ones towards 0.1 until the total is as wanted."""
    drawn = np.where(high, rng.uniform(0.1, most, len(m)), rng.uniform(0, 0.1, len(m)))
    counts = np.where(high, np.minimum(np.ceil(drawn * m), np.floor(most * m)), 0).astype(np.int64)
    low = ~high
    room = wanted - int(counts.sum())
    lack = 0.1 - drawn
    scale = (0.1 * m[low].sum() - room) / max(1e-9, float((m * lack)[low].sum()))
    share = np.clip(0.1 - scale * lack, 0.0, 0.1)
    counts[low] = np.floor(share[low] * m[low]).astype(np.int64)
    return settle_counts(counts, m, low, wanted)


def settle_counts(counts: Ints, m: Ints, low: np.ndarray, wanted: int) -> Ints:
    """Add single subjects to low channels, roomiest first, until the total is exact."""
    missing = wanted - int(counts.sum())
    while missing > 0:
        room: Floats = np.where(low, np.floor(0.1 * m) - counts, 0)
        order = np.argsort(-room, kind="stable")[: min(missing, int((room > 0).sum()))]
        if not len(order):
            break
        counts[order] += 1
        missing -= len(order)
    return counts


# -- charts --------------------------------------------------------------------------------------


def charts(tables: Mapping[str, Frame]) -> dict[str, Chart]:
    """Return the pictures of the sweeps, named after the figures of the paper."""
    tolerance, steps = tables["tolerance"], tables["steps"]
    risk, rt = "proportion at risk", "risk tolerance"
    return {
        "figure_7": curves(
            tolerance, x=risk, y="loss", by=rt, title="Information loss", percent=True
        ),
        "figure_8": curves(
            tolerance,
            x=risk,
            y="loss outside the all-channel set",
            by=rt,
            title="Information loss of subjects outside the all-channel set",
            percent=True,
        ),
        "figure_9": curves(
            steps, x=rt, y="total gain", by=risk, title="Total gain of utility", percent=True
        ),
        "figure_10": curves(
            steps, x=rt, y="incremental gain", by=risk, title="Gain of each step", percent=True
        ),
        "figure_11": curves(
            tolerance,
            x=risk,
            y="average set size",
            by=rt,
            title="Input channels told of an at-risk subject",
        ),
        "table_4": curves(
            tables["candidates"],
            x="candidates",
            y="loss",
            title="Information loss by number of candidate output channels",
            percent=True,
            log=True,
        ),
    }


def curves(
    table: Frame,
    *,
    x: str,
    y: str,
    title: str,
    by: str | None = None,
    percent: bool = False,
    log: bool = False,
) -> Chart:
    """Return one line for each group of rows."""
    rows = table.select(x, y, *([by] if by else [])).to_arrow().to_pylist()
    marks = list(dict.fromkeys(row[x] for row in rows))
    few = {"values": marks} if log or len(marks) <= 10 else {}
    scale = {"type": "log", "base": 2} if log else {"zero": False, "nice": False}
    return lines(
        ((str(row[by]) if by else y, row[x], row[y]) for row in rows),
        title=title,
        x=x,
        y=y,
        by=by or "",
        marked=True,
        x_axis={"scale": scale, "axis": {"grid": False, "offset": 6, **few}},
        y_axis={"axis": {"format": ".1~%" if percent else ",.3~r", "offset": 6}},
        alt=f"Line chart: {title}. {spoken(rows, x, y, by, percent=percent)}",
    )


def spoken(rows: Iterable[Row], x: str, y: str, by: str | None, *, percent: bool) -> str:
    """Return where each line begins and ends."""
    form = "{:.2%}".format if percent else "{:.3g}".format
    lines: dict[Any, list[Row]] = {}
    for row in rows:
        lines.setdefault(row[by] if by else "", []).append(row)
    return " ".join(
        f"{f'{by} {name}: ' if by else ''}{form(line[0][y])} at {x} {line[0][x]:g} to "
        f"{form(line[-1][y])} at {line[-1][x]:g}."
        for name, line in list(lines.items())[:12]
    )


def weight_or_threshold(
    table: ChannelTable,
    u: Mapping[str, float],
    b: float,
    c: Mapping[str, float],
    *,
    weight: Mapping[str, float],
    threshold: Mapping[str, float],
    integer: bool = True,
) -> Frame:
    """Compare raising weights c_k with lowering thresholds u_k (section 6.2).

    A lower u_k binds in every output channel; a higher c_k only where other risk comes on top. Each row
    gives the cost and the largest share of the values concerned. A row without cost cannot be met.
    """
    cases: dict[str, tuple[Mapping[str, float], Mapping[str, float]]] = {
        "as set": (u, c),
        "weights raised": (u, {**c, **weight}),
        "thresholds lowered": ({**u, **threshold}, c),
    }
    picked = [k for k, v in enumerate(table.values) if v in {**weight, **threshold}]
    rows: list[Row] = []
    for name, (limits, weights) in cases.items():
        try:
            found = StudyAnswer(
                table, solve(table.problem(limits, b, weights), integer=integer, time_limit=60)
            )
        except InvalidParameter:
            rows.append({"case": name, "cost": None, "loss": None, "largest share": None})
            continue
        top = float(found.shares[:, picked].max(initial=0.0))
        rows.append({"case": name, "cost": found.cost, "loss": found.loss, "largest share": top})
    return frame_of(rows)
