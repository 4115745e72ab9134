"""Many matrices side by side: unsafe combinations against information lost, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.engine.codes import Cells
from tacit.errors import ColumnNotFound, InvalidParameter
from tacit.plot.chart import Chart
from tacit.plot.maps.ru_map import ru_chart
from tacit.records.pram.matrices import explicit, parse
from tacit.records.pram.tables import (
    Matrices,
    apply_along_axis,
    cell_risk,
    coefficients_of_variation,
    corrected,
    expected,
    expected_information_loss,
    relative_differences,
    true_variance,
)
from tacit.records.pram.transition import Transition
from tacit.result import Result

Candidate = Mapping[str, Any]

#: The losses that a candidate is judged by, in words.
LOSSES = {
    "information_loss": "expected information loss",
    "changed": "share of records changed",
    "cv": "median CV of corrected counts",
    "largest_cv": "largest CV of corrected counts",
    "rd": "median relative difference of corrected cells",
}
#: Cells of the crossing that is compared on.
LARGEST = 50_000_000


@dataclass(frozen=True)
class Compared:
    """What one choice of matrices does.

    Attributes
    ----------
    method, label
        The randomised columns, and the candidate's name.
    unsafe
        Combinations that stay unsafe.
    information_loss
        Expected information loss over the randomised variables together, in the chosen base.
    changed
        Expected share of records in which at least one variable changes.
    cv, largest_cv
        Median and largest coefficient of variation of corrected one-way counts; the worst variable's.
    epsilon
        Local differential privacy of a record: the sum over the variables.
    rd, largest_rd, infinite
        RD, mRD and #Inf of the crossing as corrected from one simulated release; None without.
    """

    method: str
    label: str
    unsafe: int
    information_loss: float
    changed: float
    cv: float
    largest_cv: float
    epsilon: float
    rd: float | None = None
    largest_rd: float | None = None
    infinite: int | None = None


@dataclass(frozen=True)
class Spot:
    """A candidate on the chart: what :func:`tacit.plot.maps.ru_map.ru_chart` reads."""

    method: str
    label: str
    risk: float
    utility: float
    risk_interval: None = None
    utility_interval: None = None


@dataclass(frozen=True, repr=False)
class PramComparison(Result):
    """Candidates with their risk and loss (``candidates``), and the best of them (``frontier``)."""

    candidates: tuple[Compared, ...] = ()
    frontier: tuple[str, ...] = ()
    rare: int = 0

    def plot(self) -> Chart:
        """Return unsafe combinations against information lost; the stairs join the candidates none beats."""
        return self.against("information_loss")

    def against(self, loss: str) -> Chart:
        """Return unsafe combinations against a loss: a key of :data:`LOSSES`."""
        if loss not in LOSSES:
            raise InvalidParameter(f"no loss is called {loss!r}; choose one of {', '.join(LOSSES)}")
        if any(getattr(c, loss) is None for c in self.candidates):
            raise InvalidParameter(f"{loss} needs a simulated release: give rng to rate_matrices")
        spots = [
            Spot(c.method, c.label, float(c.unsafe), float(getattr(c, loss)))
            for c in self.candidates
        ]
        best = find_unbeaten(spots)
        return ru_chart(
            spots,
            risk_label="unsafe combinations",
            utility_label=LOSSES[loss],
            frontier=[s for s in spots if s.label in best],
            curves={},
            higher_utility_is_better=False,
            title="PRAM matrices: risk against loss",
            subtitle=f"{self.rare:,} combinations are rare before randomisation",
        )

    def charts(self) -> Iterable[Chart]:
        """Return the scatter against information loss, precision and, where simulated, difference."""
        yield self.plot()
        yield self.against("largest_cv")
        if all(c.rd is not None for c in self.candidates):
            yield self.against("rd")


def rate_matrices(
    cells: Cells,
    candidates: Mapping[str, Candidate],
    *,
    tau: float = 100.0,
    exclude: Mapping[str, Sequence[Any]] | None = None,
    base: float = 10.0,
    rng: np.random.Generator | None = None,
) -> PramComparison:
    """Return risk and loss of several choices of matrices on the same table.

    Parameters
    ----------
    cells
        The identifying combination, as ``data.cells(["region", "marital", "sex"])`` gives it; cells with a
        missing value are left out.
    candidates
        By name, the matrix of each randomised column: a shorthand such as ``"7F(0.75)"``, rows, or a
        :class:`~tacit.records.pram.Transition`. Categories are in ascending order.
    tau
        The threshold below which a combination is rare.
    exclude
        By column, categories whose combinations are not counted, such as a code for unknown.
    base
        Of the logarithm in the information loss.
    rng
        When given, one release per candidate is simulated for RD, mRD and #Inf.

    Returns
    -------
    PramComparison
        ``frame`` has one row per candidate; ``plot()`` is the risk-utility scatter.
    """
    names = list(cells.keys)
    table = dense_table(cells)
    counted = counted_cells(cells, exclude or {})
    rare = int(((table > 0) & (table < tau) & counted).sum())
    found = []
    for name, candidate in candidates.items():
        strangers = [c for c in candidate if c not in names]
        if strangers:
            raise ColumnNotFound(strangers, names, f"the combination of candidate {name!r}")
        matrices = [
            as_matrix(candidate[c], table, axis) if c in candidate else None
            for axis, c in enumerate(names)
        ]
        found.append(compared(name, names, table, counted, matrices, tau, base, rng))
    best = find_unbeaten([Spot("", c.label, float(c.unsafe), c.information_loss) for c in found])
    return PramComparison(
        kind="pram_comparison",
        title=f"PRAM matrices on {' x '.join(names)}",
        value=float(min((c.unsafe for c in found), default=rare)),
        numbers={
            "rare combinations before": rare,
            **{f"{c.label}: unsafe": c.unsafe for c in found},
        },
        frame=as_frame(found, best),
        explanation=(
            "A combination is unsafe when its count is below tau and a released record of it is true with "
            "a probability above count / tau. Loss is the expected information loss of the randomised variables."
        ),
        candidates=tuple(found),
        frontier=best,
        rare=rare,
    )


def dense_table(cells: Cells) -> Floats:
    """Return cells as a table with one axis per key, categories ascending; missing values are left out."""
    columns, sizes = cells.columns()
    shape = tuple(s - 1 for s in sizes)
    if int(np.prod(shape, dtype=np.float64)) > LARGEST:
        raise InvalidParameter(
            f"the combination has more than {LARGEST:,} possible cells; compare on fewer columns"
        )
    known = np.logical_and.reduce([c < s for c, s in zip(columns, shape, strict=True)])
    table = np.zeros(shape)
    np.add.at(table, tuple(c[known] for c in columns), cells.n[known].astype(np.float64))
    return table


def counted_cells(cells: Cells, exclude: Mapping[str, Sequence[Any]]) -> Any:
    """Return which cells are counted, as an array that fits the table by broadcasting."""
    counted: Any = np.ones((1,) * len(cells.keys), dtype=bool)
    for axis, (name, coded) in enumerate(cells.keys.items()):
        shut = set(exclude.get(name, ()))
        use = np.array([v not in shut for v in coded.values.to_pylist()], dtype=bool)
        counted = counted & np.expand_dims(use, [i for i in range(len(cells.keys)) if i != axis])
    return counted


def as_matrix(given: Any, table: Floats, axis: int) -> Transition:
    """Return a candidate's matrix for one axis."""
    if isinstance(given, Transition):
        return given
    margin = table.sum(axis=tuple(i for i in range(table.ndim) if i != axis))
    return parse(given, margin) if isinstance(given, str) else explicit(given)


def compared(
    name: str,
    names: Sequence[str],
    table: Floats,
    counted: Any,
    matrices: Matrices,
    tau: float,
    base: float,
    rng: np.random.Generator | None,
) -> Compared:
    """Return what one choice of matrices does."""
    risk = cell_risk(table, matrices, tau)
    axes = [i for i, m in enumerate(matrices) if m is not None]
    rest = tuple(i for i in range(table.ndim) if i not in axes)
    part = table.sum(axis=rest)
    used = [m for m in matrices if m is not None]
    spread = [
        coefficients_of_variation(margin, true_variance(margin, [m]))
        for margin, m in (
            (part.sum(axis=tuple(j for j in range(part.ndim) if j != i)), m)
            for i, m in enumerate(used)
        )
    ]
    stayed = part.copy()
    for i, m in enumerate(used):
        stayed = apply_along_axis(stayed, i, lambda x, m=m: m.diagonal[:, None] * x)  # type: ignore[misc]
    realised = None
    if rng is not None:
        estimate = corrected(simulate_table(table, matrices, rng), matrices)
        realised = relative_differences([table], [estimate])
    return Compared(
        method=", ".join(names[i] for i in axes),
        label=name,
        unsafe=int((risk.unsafe & counted).sum()),
        information_loss=expected_information_loss(part, expected(part, used), used, base=base),
        changed=float(1.0 - stayed.sum() / table.sum()),
        cv=max((median for median, _ in spread), default=0.0),
        largest_cv=max((largest for _, largest in spread), default=0.0),
        epsilon=sum(m.epsilon for m in used),
        rd=None if realised is None else realised.median,
        largest_rd=None if realised is None else realised.largest,
        infinite=None if realised is None else realised.infinite,
    )


def simulate_table(table: Floats, matrices: Matrices, rng: np.random.Generator) -> Floats:
    """Return a released table drawn from an original one of whole counts, without records."""
    out = np.rint(table).astype(np.int64)
    for axis, matrix in enumerate(matrices):
        if matrix is None:
            continue
        p = matrix.dense()
        p = p / p.sum(axis=1, keepdims=True)
        moved = np.moveaxis(out, axis, 0)
        flat = moved.reshape(len(p), -1)
        drawn = np.zeros_like(flat)
        for k, row in enumerate(p):
            drawn += rng.multinomial(flat[k], row).T
        out = np.moveaxis(drawn.reshape(moved.shape), 0, axis)
    return out.astype(np.float64)


def find_unbeaten(spots: Sequence[Spot]) -> tuple[str, ...]:
    """Return the candidates that no other beats in both risk and loss, least loss first."""
    best: list[str] = []
    lowest = np.inf
    for spot in sorted(spots, key=lambda s: (s.utility, s.risk)):
        if spot.risk < lowest:
            best.append(spot.label)
            lowest = spot.risk
    return tuple(best)


def as_frame(found: Sequence[Compared], best: Sequence[str]) -> nw.DataFrame[Any]:
    """Return one row per candidate."""
    columns: dict[str, Any] = {
        "candidate": pa.array([c.label for c in found], pa.string()),
        "columns": pa.array([c.method for c in found], pa.string()),
        "unsafe": pa.array([c.unsafe for c in found], pa.int64()),
    }
    for name in ("information_loss", "changed", "cv", "largest_cv", "epsilon", "rd", "largest_rd"):
        columns[name] = pa.array([getattr(c, name) for c in found], pa.float64())
    columns["infinite"] = pa.array([c.infinite for c in found], pa.int64())
    columns["on_frontier"] = pa.array([c.label in best for c in found], pa.bool_())
    return nw.from_native(pa.table(columns), eager_only=True)
