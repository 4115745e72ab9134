"""Groups of two and three on the CASC files: losses side by side, and how far from the optimum small samples are.

Columns are standardised. EIA-600 are the first 600 records, standardised with all 4,092; the ten columns of revenues and
sales give the published figures, not the eleven that the paper names. MDAV is the variant with one seed a
round, which is the one that the paper's figures come from. Its samples of fifteen records were not published, so
others are drawn.

References
----------
Domingo-Ferrer, Sebé (2006), Optimal multivariate 2-microaggregation for microdata protection: a 2-approximation, PSD 2006,
LNCS 4302, 129-138: Tables 1 and 2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

import tacit
from tacit.arrays import Floats
from tacit.cli.studies import load_study
from tacit.context import ignore_progress
from tacit.errors import InvalidParameter, WeakProtection
from tacit.records.microaggregation.grouping.loss import Tick, loss
from tacit.records.microaggregation.grouping.near import Space
from tacit.records.microaggregation.optimal_groups import ALL_SUBSETS, over_subsets
from tacit.records.microaggregation.two_approximation import two_microaggregation

casc_files = load_study("casc_files")
grouping_methods = load_study("grouping_methods")

METHODS = {
    "mdav": tacit.Mdav(k=2, seeds=1),
    "mdav, two seeds": tacit.Mdav(k=2),
    "mu-approx": tacit.MuApproximation(k=2),
    "2-mu-approx": tacit.TwoApproximation(),
}
#: Records of each file at most, and samples of fifteen records.
SIZES = {"small": (120, 20), "paper": (None, 60)}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return the losses of the methods on each file, and optimum over approximation on each sample."""
    most, samples = SIZES[size]
    rows = []
    for i, (name, z) in enumerate(files().items()):
        if tick is not None:
            tick(f"grouping {name}", i / 4)
        with warnings.catch_warnings():
            # That means of two give outliers away is not what is compared here.
            warnings.simplefilter("ignore", WeakProtection)
            found = grouping_methods.compare_once(z[:most], 2, METHODS, None, seed)
        rows += [
            {"file": name, "method": r.method, "sse": r.sse, "loss, %": r.percent}
            | {"seconds": r.seconds}
            for r in found
        ]
    if tick is not None:
        tick("optimal groups of samples", 0.75)
    census = casc_files.standardise(casc_files.read_numbers("census"))
    made = ratio_experiment(census, rng=np.random.default_rng(seed), samples=samples)
    ratios = [
        {"sample": i + 1, "optimal sse": float(a), "approx sse": float(b), "ratio": float(c)}
        for i, (a, b, c) in enumerate(zip(made.optimal, made.approximate, made.ratio, strict=True))
    ]
    return {"losses": as_frame(rows), "ratios": as_frame(ratios)}


def files() -> dict[str, Floats]:
    """Return the three files of the paper's Table 1, standardised."""
    eia = casc_files.standardise(casc_files.read_numbers("eia"))
    return {
        "Census": casc_files.standardise(casc_files.read_numbers("census")),
        "Tarragona": casc_files.standardise(casc_files.read_numbers("tarragona")),
        "EIA-600": eia[:600],
    }


def as_frame(rows: list[dict[str, Any]]) -> Any:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)


@dataclass(frozen=True, eq=False)
class RatioExperiment:
    """The optimal SSE and that of the 2-approximation on random samples (Table 2 of the paper).

    Attributes
    ----------
    optimal, approximate
        SSE of each sample.
    """

    optimal: Floats
    approximate: Floats

    @property
    def ratio(self) -> Floats:
        """Return optimal / approximate: between 1/2 and 1; 1 when both are 0."""
        return np.divide(
            self.optimal,
            self.approximate,
            out=np.ones(len(self.optimal)),
            where=self.approximate > 0,
        )

    @property
    def exact(self) -> float:
        """Return the share of samples in which the approximation is the optimum."""
        return float(np.isclose(self.ratio, 1.0, rtol=0, atol=1e-9).mean())


def ratio_experiment(
    x: Floats,
    *,
    rng: np.random.Generator,
    size: int = 15,
    samples: int = 10,
    tick: Tick = ignore_progress,
) -> RatioExperiment:
    """Return how close the 2-approximation comes to the optimum on random samples of the records.

    Parameters
    ----------
    x
        Records, standardised if that is wanted.
    rng
        Draws the samples, each without replacement.
    size
        Records in a sample; up to 18, since all subsets are looked at.
    samples
        Number of samples.
    tick
        Told about progress.
    """
    if not 2 <= size <= min(ALL_SUBSETS, len(x)):
        raise InvalidParameter(f"size must be 2 to {ALL_SUBSETS} and at most the number of records")
    found = np.empty((samples, 2))
    for i in range(samples):
        tick("samples", i / samples)
        sample = x[rng.choice(len(x), size, replace=False)]
        best = over_subsets(Space.of_records(sample).squared, 2)
        found[i] = loss(sample, best).within, two_microaggregation(sample).sse
    return RatioExperiment(found[:, 0], found[:, 1])
