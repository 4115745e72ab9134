"""How safe and how accurate protected plots are: Figures 2, 3 and 5 of Heitzig (2006).

Samples of 100 standard normal numbers, of which one, at 0, is attacked by somebody who knows the others; and the
sample of 13 of Figure 4, whose outlier at 51 is attacked. The paper's Figure 3 gives the bandwidth that serves best as
"about 8", which cannot be in units of its samples; the curve here has its own.

Efficiency compares distribution functions: F is the true one, F_e that of the sample, F_u that of the unprotected
histogram and F_p that of the protected one; the last two are linear between the borders of bins, and F_p is divided by
its total (without that the efficiencies are far below the printed ones). The second measure of section 3.3 prints 0.69
for a = 1 and 0.90 for a = 1/2; simulation with nine bins of 0.64 gives 0.60 and 0.85, as the place of the bins is not
stated fully. The first measure is reproduced.

Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, LNCS 4302.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.stats import norm

from tacit.arrays import Floats
from tacit.cli.studies import load_study
from tacit.context import Context
from tacit.graphics.kde import kernel_sums, local_bandwidths
from tacit.plot.chart import Chart
from tacit.plot.lines import lines

attacks = load_study("plot_attacks")

#: The bins of Figure 1: nine of width 0.64.
BINS = np.linspace(-2.88, 2.88, 10)
GRID = np.linspace(-3, 3, 61)
#: Figure 4; the last is the outlier that is attacked.
SAMPLE = np.array([-21, -15, -11, -9, -7, -3, 3, 7, 9, 11, 15, 21, 51], dtype=np.float64)
WIDE = np.linspace(-60, 90, 151)
#: Amplitudes, bandwidths, draws.
SIZES = {
    "small": ((0.25, 0.5, 1.0, 2.0), (0.4, 1.0), 200),
    "paper": ((0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0), (0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.5), 4000),
}


def draw_sample(rng: np.random.Generator) -> Floats:
    """Return 100 standard normal numbers."""
    return rng.standard_normal(100)


def figure_2(amplitudes: tuple[float, ...], draws: int, seed: int) -> list[dict[str, Any]]:
    """Return error of the attack and both efficiencies of a histogram, by amplitude."""
    rows = []
    for a in amplitudes:
        found = histogram_efficiency(draw_sample, norm.cdf, BINS, a, draws=draws, seed=seed)
        error = attacks.histogram_attack_error(a, BINS, draws=5 * draws, seed=seed)
        rows.append(
            {
                "amplitude": a,
                "standard error": error,
                "efficiency": found.against_truth,
                "efficiency against the sample": found.against_sample,
            }
        )
    return rows


def figure_3(bandwidths: tuple[float, ...], draws: int, seed: int) -> list[dict[str, Any]]:
    """Return the amplitude that a density needs for an error of 1 and of 1.5, and what it then is worth."""
    rows = []
    for h in bandwidths:
        for wanted in (1.0, 1.5):
            error = partial(
                attacks.density_attack_error, grid=GRID, h=h, draws=5 * draws, seed=seed
            )
            a = attacks.amplitude_for_error(error, wanted)
            worth = density_efficiency(draw_sample, norm.cdf, GRID, h, a, draws=draws, seed=seed)
            rows.append({"bandwidth": h, "error": wanted, "amplitude": a, "efficiency": worth})
    return rows


def local_curve(x: Floats, trim: int) -> Floats:
    """Return the density of local bandwidths (beta = 2, h_0 = 2), trimmed or not."""
    return kernel_sums(x, WIDE, local_bandwidths(x, 2.0, 2.0), trim) / (len(x) - trim)


def figure_5(amplitudes: tuple[float, ...], draws: int, seed: int) -> list[dict[str, Any]]:
    """Return the error of the attack on the outlier, by amplitude, without and with trimming."""
    rng = np.random.default_rng(seed)
    known, n = SAMPLE[:-1], len(SAMPLE)
    rows = []
    for trim in (0, 1):
        true = local_curve(SAMPLE, trim)
        candidates = np.stack([local_curve(np.append(known, y), trim) for y in WIDE])
        for a in amplitudes:
            # The paper's amplitudes are those of a histogram; here in units of one kernel of bandwidth 60.
            seen = true + rng.standard_normal((draws, len(WIDE))) * a / (n * 60)
            fit = 2 * seen @ candidates.T - (candidates**2).sum(axis=1)
            error = np.sqrt(((WIDE[fit.argmax(axis=1)] - SAMPLE[-1]) ** 2).mean())
            rows.append({"trimmed": trim, "amplitude": a, "standard error": float(error)})
    return rows


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return the numbers behind Figures 2, 3 and 5."""
    amplitudes, bandwidths, draws = SIZES[size]
    say = tick or (lambda *_: None)
    say("figure 2", 0.0)
    histogram = figure_2(amplitudes, draws, seed)
    say("figure 3", 0.3)
    density = figure_3(bandwidths, draws, seed)
    say("figure 5", 0.9)
    return {
        "histogram": as_frame(histogram),
        "density": as_frame(density),
        "outlier": as_frame(figure_5(amplitudes, draws, seed)),
    }


def as_frame(rows: list[dict[str, Any]]) -> nw.DataFrame[Any]:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)


def charts(tables: Mapping[str, Any]) -> dict[str, Chart]:
    """Return the three figures."""
    two = tables["histogram"].rows(named=True)
    three = tables["density"].rows(named=True)
    five = tables["outlier"].rows(named=True)
    names = ("standard error", "efficiency", "efficiency against the sample")
    return {
        "figure_2": lines(
            [(name, r["amplitude"], r[name]) for name in names for r in two],
            title="Histogram: more noise, less to be learnt and less to be seen",
            x="amplitude of the noise",
            y="standard error, efficiency",
            dashed=True,
            marked=True,
        ),
        "figure_3": lines(
            [(f"error {r['error']:g}", r["bandwidth"], r["amplitude"]) for r in three],
            title="Density: wider kernels need less noise",
            x="bandwidth",
            y="amplitude needed",
            dashed=True,
            marked=True,
        ),
        "figure_5": lines(
            [
                ("trimmed" if r["trimmed"] else "not trimmed", r["amplitude"], r["standard error"])
                for r in five
            ],
            title="Outlier under local bandwidths: trimming helps where there is little noise",
            x="amplitude of the noise",
            y="standard error of the attack",
            dashed=True,
            marked=True,
        ),
    }


# -- efficiency


@dataclass(frozen=True)
class Efficiency:
    """E|F_u - F|^2 / E|F_p - F|^2, and the same against the distribution of the sample."""

    against_truth: float
    against_sample: float


def histogram_efficiency(
    samples: Callable[[np.random.Generator], Floats],
    truth: Callable[[Floats], Floats],
    breaks: Floats,
    amplitude: float,
    *,
    draws: int = 1000,
    seed: int | None = None,
) -> Efficiency:
    """Simulate the efficiencies of a protected histogram.

    Parameters
    ----------
    samples
        Draws one sample.
    truth
        The true distribution function.
    breaks, amplitude
        Of the histogram.
    draws, seed
        Of the simulation.
    """
    rng = Context.start(seed).rng
    edges = np.asarray(breaks, dtype=np.float64)
    fine = np.linspace(edges[0] - 1, edges[-1] + 1, 2001)
    real = truth(fine)
    sums = np.zeros(4)
    for _ in range(draws):
        x = np.sort(samples(rng))
        counts, _ = np.histogram(x, edges)
        noisy = counts + amplitude * rng.standard_normal(len(counts))
        empirical = np.searchsorted(x, fine, side="right") / len(x)
        unprotected, protected = (step_free(c, edges, fine) for c in (counts, noisy))
        sums += [
            ((unprotected - real) ** 2).sum(),
            ((protected - real) ** 2).sum(),
            ((unprotected - empirical) ** 2).sum(),
            ((protected - empirical) ** 2).sum(),
        ]
    return Efficiency(float(sums[0] / sums[1]), float(sums[2] / sums[3]))


def step_free(counts: npt.NDArray[np.generic], edges: Floats, at: Floats) -> Floats:
    """Return the distribution function of a histogram, linear between borders and divided by its total."""
    total = np.insert(np.cumsum(np.asarray(counts, dtype=np.float64)), 0, 0.0)
    return np.asarray(np.interp(at, edges, total / total[-1]))


def density_efficiency(
    samples: Callable[[np.random.Generator], Floats],
    truth: Callable[[Floats], Floats],
    grid: Floats,
    h: float,
    amplitude: float,
    *,
    draws: int = 300,
    seed: int | None = None,
) -> float:
    """Simulate E|F_u - F|^2 / E|F_p - F|^2 of a protected density of constant bandwidth (Figure 3)."""
    rng = Context.start(seed).rng
    real = truth(grid)
    sums = np.zeros(2)
    for _ in range(draws):
        curve = kernel_sums(samples(rng), grid, h)
        noisy = curve + amplitude * rng.standard_normal(len(grid))
        sums += [
            ((np.cumsum(c) / c.sum() - real) ** 2).sum() for c in (curve, np.maximum(noisy, 0.0))
        ]
    return float(sums[0] / sums[1])
