"""Grouping methods side by side: loss, time, and what one gains over another.

The layouts are those of Tables 1 to 3 of Fayyoumi and Oommen (2006), A fixed structure learning automaton
micro-aggregation technique for secure statistical databases, PSD 2006, LNCS 4302, 114-128.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

import tacit
from tacit.arrays import Floats, Ints
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Loss, group_sizes, loss
from tacit.records.microaggregation.learning_automaton import best_run
from tacit.result import Result
from tacit.stats.moments import scale_of

Methods = Mapping[str, GroupingMethod]

#: The pair that the paper compares.
PUBLISHED: Methods = {"mdav": tacit.Mdav(seeds=1), "automaton": tacit.LearningAutomaton()}


@dataclass(frozen=True)
class Row:
    """One method on one file.

    Attributes
    ----------
    records, columns, k
        Size of the file and of the groups.
    column
        The column, where each is grouped by itself.
    method
        The name of the method.
    sse, percent
        SSE on standardised columns, and 100 SSE / SST.
    seconds
        CPU seconds.
    cycles
        Cycles of the learning automaton's best run.
    smallest, largest
        Sizes of groups.
    improvement
        100 (1 - percent / percent of the first method).
    """

    records: int
    columns: int
    k: int
    column: str | None
    method: str
    sse: float
    percent: float
    seconds: float
    cycles: int | None
    smallest: int
    largest: int
    improvement: float


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Methods side by side; ``rows`` and ``frame`` hold one line each."""

    rows: tuple[Row, ...] = ()

    def plot(self) -> Chart:
        """Return one bar per line: the loss."""
        several = len({(r.records, r.columns, r.k, r.column) for r in self.rows}) > 1
        items = [(label_of(r) if several else r.method, r.percent) for r in self.rows]
        return bars(items, title=self.title, y="100 SSE / SST")


def compare_methods(
    x: Floats,
    k: int | Sequence[int],
    methods: Methods = PUBLISHED,
    *,
    seed: int = 0,
    names: Sequence[str] | None = None,
    by_column: bool = False,
) -> Comparison:
    """Group the same records by several methods; improvements are over the first of them.

    Parameters
    ----------
    x
        The records; they are standardised.
    k
        Size of groups, or several; that of the methods is not looked at.
    methods
        Grouping Specs by a name of your choice.
    names
        Names of the columns.
    by_column
        Group each column by itself, one line each, as in Table 1 of Fayyoumi and Oommen (2006). Their
        Table 2, and Table 1 of Domingo-Ferrer and Sebé (2006), have all columns together.
    """
    z = scale_of(x).there(np.asarray(x, dtype=np.float64))
    titles = list(names) if names is not None else [f"v{j + 1}" for j in range(z.shape[1])]
    files = [(title, z[:, [j]]) for j, title in enumerate(titles)] if by_column else [(None, z)]
    sizes = [k] if isinstance(k, int) else list(k)
    rows = [
        row
        for title, part in files
        for size in sizes
        for row in compare_once(part, size, methods, title, seed)
    ]
    return report(rows)


def scalability(
    sizes: Iterable[tuple[int, int, int]], methods: Methods = PUBLISHED, *, seed: int = 0
) -> Comparison:
    """Compare methods on uniform random files of given records, columns and k (Table 3)."""
    rows: list[Row] = []
    for n, p, k in sizes:
        x = np.random.default_rng([seed, n, p]).uniform(size=(n, p))
        rows += compare_once(scale_of(x).there(x), k, methods, None, seed)
    return report(rows)


def compare_once(z: Floats, k: int, methods: Methods, column: str | None, seed: int) -> list[Row]:
    """Return one line per method."""
    rows: list[Row] = []
    for name, spec in methods.items():
        begun = time.process_time()
        labels, cycles = labels_of(z, spec.model_copy(update={"k": k}), seed)
        seconds = time.process_time() - begun
        found = [loss(part, ids) for part, ids in labels]
        whole = Loss(sum(f.within for f in found), sum(f.total for f in found))
        sizes = np.concatenate([group_sizes(ids) for _, ids in labels])
        first = rows[0].percent if rows else whole.percent
        rows.append(
            Row(
                len(z),
                z.shape[1],
                k,
                column,
                name,
                whole.within,
                whole.percent,
                seconds,
                cycles,
                int(sizes.min()),
                int(sizes.max()),
                100.0 * (1.0 - whole.percent / first) if first > 0 else 0.0,
            )
        )
    return rows


def labels_of(
    z: Floats, spec: GroupingMethod, seed: int
) -> tuple[list[tuple[Floats, Ints]], int | None]:
    """Return the records and labels of what is grouped together, and the cycles it took."""
    rng = np.random.default_rng(seed)
    if isinstance(spec, tacit.LearningAutomaton):
        options = spec.model_dump(include={"memory", "theta", "restarts", "start", "neighbours"})
        found = best_run(z, spec.k, rng=rng, **options)
        return [(z, found.labels)], found.cycles
    parts = [z[:, [j]] for j in range(z.shape[1])] if spec.each_column else [z]
    return [(part, spec.groups(part, rng, silent)) for part in parts], None


def silent(_message: str, _share: float | None) -> None:
    """Tell nobody."""


def report(rows: Sequence[Row]) -> Comparison:
    """Return the lines as a result."""
    best = min(rows, key=lambda r: r.percent)
    fields = list(Row.__dataclass_fields__)
    frame = nw.from_dict({f: [getattr(r, f) for r in rows] for f in fields}, backend="pyarrow")
    return Comparison(
        kind="compare_methods",
        title="Grouping methods compared",
        value=best.percent,
        numbers={label_of(r): r.percent for r in rows},
        frame=frame,
        explanation=(
            "The loss is 100 SSE / SST on standardised columns: the share of variation that is averaged away. "
            f"The lowest here is that of {best.method}."
        ),
        rows=tuple(rows),
    )


def label_of(row: Row) -> str:
    """Return a line in words."""
    where = f", {row.column}" if row.column else ""
    return f"{row.method}, k = {row.k}, {row.records} x {row.columns}{where}"


#: Records, columns and k of the files of Table 3: all are compared.
SIZES: Mapping[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "small": ((60, 120), (2,), (3,)),
    "paper": ((1_000, 5_000, 10_000), (2, 5, 10), (3, 5, 10)),
}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return loss and time of the methods on random files of growing size (Table 3)."""
    if tick is not None:
        tick("grouping random files", None)
    found = scalability(itertools.product(*SIZES[size]), seed=seed)
    return {"scalability": found.frame}
