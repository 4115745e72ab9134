"""How well noise before tabulation protects and how much it costs: the diagnostics of the study.

After Massell, Zayatz and Funk (2006). Errata: in the printed beta the term |nominal - pre| must be the
nominal amount itself; the printed coefficient of variation lacks a square root.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.values import read_numeric_column
from tacit.engine.codes import group_ids
from tacit.errors import InputError, InvalidParameter
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.noise.noise_before_tabulation import SplitNoise, multipliers, random_directions
from tacit.result import Result


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """One table before and after noise, cell by cell."""

    #: Totals before and after.
    pre: Floats
    post: Floats
    #: Companies in the cell.
    companies: Ints
    #: The two largest company totals, unknown weights left out.
    first: Floats
    second: Floats
    #: The nominal perturbation: (p/100) first - (rest + protection by rounding); sensitive when >
    #: 0.
    prot: Floats

    @property
    def sensitive(self) -> Flags:
        """Return the cells that the extended p% rule calls sensitive."""
        return self.prot > 0

    @property
    def moved(self) -> Floats:
        """Return |post - pre|."""
        return np.abs(self.post - self.pre)

    @property
    def relative(self) -> Floats:
        """Return |post - pre| / pre, NaN where a cell is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.pre != 0, self.moved / np.abs(self.pre), np.nan)

    @property
    def multiplier(self) -> Floats:
        """Return the protection multipliers |post - pre| / prot of the sensitive cells."""
        return self.moved[self.sensitive] / self.prot[self.sensitive]

    @property
    def alpha(self) -> float:
        """Return the mean shortfall of protection over sensitive cells."""
        short = np.maximum(0.0, 1 - self.multiplier)
        return float(short.mean()) if len(short) else 0.0

    @property
    def beta(self) -> float:
        """Return the mean perturbation that was not needed, over safe and fully protected cells."""
        safe = ~self.sensitive & (self.pre != 0)
        full = self.sensitive & (self.moved >= self.prot) & (self.pre != 0)
        n = int(safe.sum() + full.sum())
        extra = self.relative[safe].sum()
        extra += ((self.moved - self.prot)[full] / np.abs(self.pre[full])).sum()
        return float(extra / n) if n else 0.0

    @property
    def beta_approximate(self) -> float:
        """Return the mean relative perturbation over all cells, as the paper approximates beta."""
        known = self.relative[self.pre != 0]
        return float(known.mean()) if len(known) else 0.0


def judge_cells(
    pre: Floats, post: Floats, behind: Companies, *, p: float, round_base: float | None = None
) -> NoisyCells:
    """Return totals before and after noise, judged by the extended p% rule (weights, rounding)."""
    if not 0 < p <= 100:
        raise InvalidParameter("p must lie in (0, 100]")
    rest = pre - behind.first - behind.second
    rounding = np.zeros(len(pre))
    if round_base is not None:
        if round_base <= 0:
            raise InvalidParameter("round_base must be positive")
        off = np.abs(pre - np.round(pre / round_base) * round_base)
        rounding = np.abs(round_base / 2 - off)
    prot = p / 100 * behind.first - (rest + rounding)
    # Sums of floats leave dust where the rule is met exactly.
    prot = np.where(np.abs(prot) < 1e-9 * np.maximum(1.0, np.abs(pre)), 0.0, prot)
    return NoisyCells(pre, post, behind.count, behind.first, behind.second, prot)


@dataclass(frozen=True, eq=False)
class Companies:
    """The companies of each cell: how many, and the two largest totals."""

    count: Ints
    first: Floats
    second: Floats


def companies_of(cell: Ints, company: Ints, x: Floats) -> Companies:
    """Return the two largest company totals of every cell, with one sort."""
    n_cells = int(cell.max(initial=-1)) + 1
    keys = cell * (int(company.max(initial=-1)) + 1) + company
    _, pair = np.unique(keys, return_inverse=True)
    n_pairs = int(pair.max(initial=-1)) + 1
    total = np.bincount(pair, weights=x, minlength=n_pairs)
    home = np.zeros(n_pairs, dtype=np.int64)
    home[pair] = cell
    order = np.lexsort((-total, home))
    sorted_home = home[order]
    start = np.searchsorted(sorted_home, np.arange(n_cells))
    count = np.bincount(home, minlength=n_cells)
    first, second = np.zeros(n_cells), np.zeros(n_cells)
    has = count > 0
    first[has] = total[order[start[has]]]
    two = count > 1
    second[two] = total[order[start[two] + 1]]
    return Companies(count, first, second)


CHANGE = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100)


def change_classes(relative: Floats) -> dict[str, int]:
    """Return how many cells changed by 0-1, 1-2, ... per cent, as in Figure 2 of the paper."""
    percent = 100 * relative[~np.isnan(relative)]
    counts, _ = np.histogram(percent, bins=[*CHANGE, np.inf])
    names = [f"{a}-{b}" for a, b in itertools.pairwise(CHANGE)] + [f">{CHANGE[-1]}"]
    return {n: int(k) for n, k in zip(names, counts, strict=True)}


def random_group_cv(cell: Ints, group: Ints, x: Floats, n_groups: int) -> Floats:
    """Return the coefficient of variation of each cell total by random groups.

    v = sum over groups of (G t_g - t)^2 / (G (G - 1)), and CV = sqrt(v) / t.
    """
    n = int(cell.max(initial=-1)) + 1
    parts = np.bincount(cell * n_groups + group, weights=x, minlength=n * n_groups)
    by_group = parts.reshape(n, n_groups)
    total = by_group.sum(axis=1)
    v = ((n_groups * by_group - total[:, None]) ** 2).sum(axis=1) / (n_groups * (n_groups - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total != 0, np.sqrt(v) / np.abs(total), np.nan)


@dataclass(frozen=True, repr=False)
class NoiseStudyResult(Result):
    """Alpha, beta and the rest for each table, over replicate draws."""

    changes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the change of sensitive and of all cells of the most detailed table."""
        return draw_changes(self.changes)


def draw_changes(changes: Mapping[str, Mapping[str, int]]) -> Chart:
    """Return how many cells of the last table changed by how much."""
    name = list(changes or {"": {}})[-1]
    return bars(
        [(k, float(v)) for k, v in changes.get(name, {}).items()],
        title=f"Cells by change in per cent: {name}",
        y="cells",
    )


def noise_study(
    data: Microdata,
    tables: Mapping[str, Sequence[str]],
    value: str,
    company: str,
    *,
    noise: SplitNoise | None = None,
    known_weight: str | None = None,
    p: float = 10.0,
    round_base: float | None = None,
    draws: int = 20,
    groups: int = 10,
    cv_threshold: float = 0.5,
    flag_threshold: float | None = None,
    magnitude: str = "record",
    seed: int | None = None,
) -> NoiseStudyResult:
    """Draw noise several times and report protection and damage for each table.

    Parameters
    ----------
    data
        The records; the weight role holds the weights that users do not know.
    tables
        Name to the columns that span the table.
    value, company
        The magnitude and the column that names the company.
    noise
        The distribution; by default split-triangular on 1.1 to 1.2.
    known_weight
        A column of weights that users know.
    p, round_base
        Of the extended p% rule.
    draws
        Replicates.
    groups
        Random groups of companies for the coefficients of variation.
    cv_threshold
        Cells with a larger coefficient of variation are not published for quality.
    flag_threshold
        Cells that change by more than this share are flagged, as are all sensitive cells.
    magnitude
        ``record`` or ``company``: who draws the size of the factor.
    seed
        Seed of the draws.
    """
    rng = np.random.default_rng(seed)
    drawn = noise or SplitNoise()
    x = numbers_or_ones(data, value)
    if (x < 0).any():
        raise InputError(f"{value!r} has negative values")
    owner = data.codes(company).codes.astype(np.int64)
    w, wk = numbers_or_ones(data, data.weight), numbers_or_ones(data, known_weight)
    unit = owner if magnitude == "company" else np.arange(len(x))
    group = rng.integers(0, groups, int(owner.max(initial=-1)) + 1)[owner]
    cells, behind, cv = {}, {}, {}
    for name, columns in tables.items():
        coded = [data.codes(c) for c in columns]
        ids, _ = group_ids([c.codes for c in coded], [c.size for c in coded], n_rows=len(x))
        cells[name] = np.unique(ids, return_inverse=True)[1]
        behind[name] = companies_of(cells[name], owner, x * wk)
        cv[name] = random_group_cv(cells[name], group, x * wk * w, groups)
    gathered: dict[str, list[NoisyCells]] = {name: [] for name in tables}
    cv_changes: dict[str, list[Floats]] = {name: [] for name in tables}
    for _ in range(draws):
        m = multipliers(drawn, random_directions(owner, rng), unit, rng)
        for name, cell in cells.items():
            pre, post = (np.bincount(cell, x * wk * f).astype(np.float64) for f in (w, m + w - 1))
            gathered[name].append(judge_cells(pre, post, behind[name], p=p, round_base=round_base))
            after = random_group_cv(cell, group, x * wk * (m + w - 1), groups)
            cv_changes[name].append(np.abs(after - cv[name]))
    rows = [
        study_row(name, gathered[name], cv_changes[name], cv_threshold, flag_threshold, cv[name])
        for name in tables
    ]
    shown = ("sensitive", "alpha", "beta")
    changes = {}
    for name, (first, *_) in gathered.items():
        changes[name] = change_classes(first.relative)
        changes[f"{name} (sensitive)"] = change_classes(first.relative[first.sensitive])
    return NoiseStudyResult(
        kind="noise_before_tabulation",
        title="Noise before tabulation",
        value=max((row["alpha"] for row in rows), default=0.0),
        numbers={f"{row['table']}: {key}": row[key] for row in rows for key in shown},
        frame=nw.from_native(pa.Table.from_pylist(rows), eager_only=True),
        explanation=(
            "alpha is the mean shortfall of protection over sensitive cells, beta the mean change that "
            "was not needed; both are means over the draws."
        ),
        changes=changes,
    )


def numbers_or_ones(data: Microdata, column: str | None) -> Floats:
    """Return the numbers of a column; ones where there is none."""
    if column is None:
        return np.ones(len(data))
    return np.asarray(read_numeric_column(data, column).values, dtype=np.float64)


def study_row(
    name: str,
    draws: Sequence[NoisyCells],
    cv_changes: Sequence[Floats],
    cv_threshold: float,
    flag_threshold: float | None,
    cv: Floats,
) -> dict[str, Any]:
    """Return one table's diagnostics over the draws."""
    one = draws[0]
    multiplier = np.concatenate([d.multiplier for d in draws])
    sensitive = np.concatenate([d.relative[d.sensitive] for d in draws])
    few = one.companies[one.sensitive] <= 2
    alphas, betas = [d.alpha for d in draws], [d.beta for d in draws]
    changed = np.concatenate(list(cv_changes))
    flagged = [
        int((d.sensitive | (np.nan_to_num(d.relative) > flag_threshold)).sum())
        if flag_threshold is not None
        else int(d.sensitive.sum())
        for d in draws
    ]
    low, high = quantiles(multiplier, (0.05, 0.95))
    return {
        "table": name,
        "cells": len(one.pre),
        "sensitive": int(one.sensitive.sum()),
        "of one or two companies": float(few.mean()) if len(few) else 1.0,
        "alpha": float(np.mean(alphas)),
        "alpha low": quantiles(np.array(alphas), (0.025,))[0],
        "alpha high": quantiles(np.array(alphas), (0.975,))[0],
        "beta": float(np.mean(betas)),
        "beta low": quantiles(np.array(betas), (0.025,))[0],
        "beta high": quantiles(np.array(betas), (0.975,))[0],
        "beta over all cells": float(np.mean([d.beta_approximate for d in draws])),
        "multipliers below 1": int((multiplier < 1).sum()),
        "smallest multiplier": float(multiplier.min()) if len(multiplier) else float("nan"),
        "multiplier 5%": low,
        "multiplier 95%": high,
        "median change of sensitive": float(np.median(sensitive))
        if len(sensitive)
        else float("nan"),
        "cv changed by less than 1 point": float((changed[~np.isnan(changed)] < 0.01).mean())
        if (~np.isnan(changed)).any()
        else 1.0,
        "not published for quality": int((np.nan_to_num(cv) > cv_threshold).sum()),
        "flagged": float(np.mean(flagged)),
    }


def quantiles(values: Floats, at: Iterable[float]) -> list[float]:
    """Return quantiles, NaN of nothing."""
    return [float(np.quantile(values, q)) if len(values) else float("nan") for q in at]


def calibrate(
    data: Microdata,
    tables: Mapping[str, Sequence[str]],
    value: str,
    company: str,
    *,
    grid: Sequence[tuple[float, float]] = ((1.05, 1.15), (1.08, 1.18), (1.1, 1.2), (1.12, 1.25)),
    alpha_weight: float = 1.0,
    beta_weight: float = 1.0,
    alpha_limit: float | None = None,
    **options: Any,
) -> tuple[SplitNoise, list[dict[str, float]]]:
    """Choose (a, b) from a grid: least weighted errors, or least beta with alpha within a limit.

    Returns the chosen distribution and one row per candidate; errors are the worst over the tables.
    """
    rows = []
    for a, b in grid:
        study = noise_study(data, tables, value, company, noise=SplitNoise(a, b), **options)
        assert study.frame is not None
        alpha = max(study.frame.get_column("alpha").to_list())
        beta = max(study.frame.get_column("beta").to_list())
        rows.append(
            {
                "a": a,
                "b": b,
                "alpha": alpha,
                "beta": beta,
                "loss": alpha_weight * alpha + beta_weight * beta,
            }
        )
    allowed = rows if alpha_limit is None else [r for r in rows if r["alpha"] <= alpha_limit]
    if not allowed:
        raise InputError("no candidate keeps alpha within the limit; widen the grid upwards")
    best = min(allowed, key=lambda r: r["loss"] if alpha_limit is None else r["beta"])
    return SplitNoise(best["a"], best["b"]), rows
