"""An experiment: which distance finds most records after microaggregation of given strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.plot.series import share_lines
from tacit.records.linkage.attack import Ties
from tacit.records.linkage.nearest import Tick
from tacit.records.linkage.series_attack import attack, ignore_progress, standard_attack
from tacit.records.microaggregation.microaggregate_series import microaggregated
from tacit.stats.series.distances import Distance
from tacit.stats.series.panel import Normalisation, Panel, normalise

#: The attacker who takes every point as a variable.
STANDARD = "standard"
#: The rows of the published tables; all exponents beta give the same links of one series.
DISTANCES: Mapping[str, Distance] = {
    **{f"Minkowski {q}": Distance(q=q) for q in (2, 3, 4, 5)},
    "correlation": Distance("correlation"),
    "STS": Distance("sts"),
    "DTW": Distance("dtw"),
}


@dataclass(frozen=True)
class Comparison:
    """Correct links by distance, number of series and group size.

    Attributes
    ----------
    records
        The number of records attacked.
    frame
        One row per distance, number of series per record and k: ``distance``, ``series``, ``k``, ``correct``,
        ``share``.
    """

    records: int
    frame: nw.DataFrame[Any]

    def table(self, value: str = "correct") -> nw.DataFrame[Any]:
        """Return one row per distance and one column per number of series and k, as the paper prints it."""
        wide: dict[str, dict[str, float]] = {}
        for row in self.frame.iter_rows(named=True):
            label = f"{row['series']} series, k = {row['k']}"
            wide.setdefault(row["distance"], {})[label] = row[value]
        rows = [{"distance": name, **cells} for name, cells in wide.items()]
        return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)

    def plot(self) -> Chart:
        """Return the share of records found over k, one line per distance, one panel per number of series."""
        return share_lines(self.frame.rows(named=True), records=self.records)


def compare_distances(
    original: Panel,
    ks: Sequence[int] = (2, 3, 6, 9, 12),
    distances: Mapping[str, Distance] = DISTANCES,
    *,
    pieces: Sequence[int] = (1,),
    how: Normalisation = "series_standard",
    ties: Ties = "expected",
    tick: Tick = ignore_progress,
) -> Comparison:
    """Return how many records each distance finds again after microaggregation.

    Parameters
    ----------
    original
        The panel; each of its series is microaggregated by itself.
    ks
        Group sizes.
    distances
        The distances by name. The standard attack, every point a variable standardised over the records,
        comes first.
    pieces
        Into how many pieces series are cut before masking; the pieces are linked as series.
    how
        How series are normalised, before masking and before linking.
    ties
        How a record counts that ties with others.
    tick
        Called with a message and the share done.

    References
    ----------
    Nin, Torra (2006), PSD 2006, LNCS 4302, 205-216; Tables 5 to 7.
    """
    if not ks or not pieces:
        raise InputError("compare_distances needs at least one group size and one number of pieces")
    rows: list[dict[str, Any]] = []
    cells = [(n, k) for n in pieces for k in ks]
    for i, (n, k) in enumerate(cells):
        cut = original.pieces(n)
        masked = microaggregated(cut, k, how=how, tick=tick)
        a, b = normalise(cut, how), normalise(masked, how)
        found = {STANDARD: standard_attack(cut, masked, ties)}
        for name, distance in distances.items():
            tick(f"linking by {name}", i / len(cells))
            found[name] = attack(a, b, distance, tick=tick).correct(ties)
        rows += [
            {
                "distance": name,
                "series": cut.n_series,
                "k": k,
                "correct": float(correct.sum()),
                "share": float(correct.mean()),
            }
            for name, correct in found.items()
        ]
    frame = nw.from_native(pa.Table.from_pylist(rows), eager_only=True)
    return Comparison(len(original), frame)


#: Records, points of a series, and group sizes.
SIZES: Mapping[str, tuple[int, int, tuple[int, ...]]] = {
    "small": (30, 12, (2, 3)),
    "paper": (200, 60, (2, 3, 6, 9, 12)),
}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return how many simulated series each distance finds again (the layout of Tables 5 to 7).

    The paper's quotations of shares are not distributed; these are random walks with drifts of their own.
    """
    records, points, ks = SIZES[size]
    rng = np.random.default_rng(seed)
    steps = rng.normal(rng.normal(0, 0.2, (records, 1)), 1.0, (records, points))
    panel = Panel.of(10 + np.cumsum(steps, axis=1))
    tick = ignore_progress if tick is None else tick
    found = compare_distances(panel, ks, pieces=(1, 2), tick=tick)
    return {"links": found.frame, "as printed": found.table()}
