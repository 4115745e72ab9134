"""Where a column lies and how far it spreads, as protected answers: ranges, quartiles, bin widths, bandwidths.

Nobody may publish the smallest and largest value, raw quartiles, or the standard deviation with the mean (from N, m and
s all values lie within m plus and minus sqrt(N) s). The paper protects robust statistics first and plugs them in.
So does this, with bounds that hold for all data: counts with noise over powers of two, which cover all numbers without
looking, find the range roughly; counts with noise in 256 bins within it find it finely, with the quartiles, the standard
deviation and the number of records.

References
----------
Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, section 3.1. Its example that
m + sqrt(N) s stays below 1.1 times the largest of ten log-normal values in more than half of all samples is not
reproduced: simulation gives 1 to 27 per cent, by the divisor of s and the bound.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import LowUtility
from tacit.graphics.base import Desk
from tacit.numerics.algebra import dot

#: Powers of two that are told apart: smaller numbers count as zero, larger ones as the largest.
SMALLEST, LARGEST = -40, 80
#: Bins within the rough range.
FINE_BINS = 256
#: Share of the records between the ends that are found.
NEARLY_ALL = 0.98
#: Amplitudes above which a bin counts as filled.
FILLED = 4.0
#: Powers of two that are looked at together, and amplitudes above which several count as filled.
TOGETHER, FILLED_TOGETHER = (1, 2, 4, 8, 16, 32), 4.5
#: Share of the records outside the range, beyond doubt, above which a warning is given.
MUCH = 0.05


@dataclass(frozen=True)
class Scale:
    """Protected facts about one column."""

    low: float
    high: float
    n: float
    q1: float
    q3: float
    sd: float

    @property
    def iqr(self) -> float:
        """Return the distance of the quartiles, never 0."""
        return max(self.q3 - self.q1, (self.high - self.low) / FINE_BINS)


def find_scale(
    desk: Desk, x: Floats, column: str, given: tuple[float, float] | None, weights: Floats | None
) -> Scale:
    """Return range, quartiles, standard deviation and number of records; what they spend is entered."""
    rho = desk.spec.plug_in
    low, high = rough_range(desk, x, column, rho / 3, weights) if given is None else given
    share = 1.0 if given is not None else 2 / 3
    edges = np.linspace(low, high, FINE_BINS + 1)
    inside = count_bins(x, edges, weights)
    noisy = desk.add_noise(
        f"spread of {column}", inside, {"of": "counts"}, rho=rho * share, main=False
    )
    amplitude = desk.queries[-1]["amplitude"]
    counts = noisy[1:-1]
    if given is None:
        warn_of_much_outside(desk, column, float(noisy[0] + noisy[-1]), float(noisy.sum()))
        first, last = filled_part(counts, amplitude)
        low, high = float(edges[first]), float(edges[last])
    rising = cumulate(counts)
    q1, q3 = invert(edges, rising, np.array([0.25, 0.75]))
    centres = (edges[1:] + edges[:-1]) / 2
    mass = np.diff(rising)
    mean = float(dot(mass, centres))
    sd = math.sqrt(max(float(dot(mass, (centres - mean) ** 2)), 0.0))
    n = max(float(noisy.sum()), 2.0)
    return Scale(low, high, n, float(q1), float(q3), max(sd, (high - low) / FINE_BINS))


def filled_part(counts: Floats, amplitude: float) -> tuple[int, int]:
    """Return the first and last border between which protected counts stand out of the noise.

    Bins are joined by twos, fours, ... until nearly all that is there lies between joined bins that stand out: many
    records tell the ends finely, few roughly.
    """
    total = counts.sum()
    size = 1
    while size < len(counts):
        joined = counts.reshape(-1, size).sum(axis=1)
        filled = np.flatnonzero(joined > FILLED * amplitude * math.sqrt(size))
        if len(filled):
            first, last = filled[0] * size, (filled[-1] + 1) * size
            outside = total - counts[first:last].sum()
            # Where noise could hide more than a few records, none are cut off.
            doubt = min(2 * amplitude * math.sqrt(len(counts) - (last - first)), MUCH * total)
            if outside <= (1 - NEARLY_ALL) * total + doubt:
                return max(int(first) - 1, 0), min(int(last) + 1, len(counts))
        size *= 2
    return 0, len(counts)


def count_bins(x: Floats, edges: Floats, weights: Floats | None = None) -> Floats:
    """Return what lies below the first edge, between edges (the last one included), and above."""
    place = np.searchsorted(edges, x, side="right")
    place = np.where(x == edges[-1], len(edges) - 1, place)
    return np.bincount(place, weights, minlength=len(edges) + 1).astype(np.float64)


def count_by_group(
    x: Floats, group: Ints, groups: Iterable[int], edges: Floats, weights: Floats | None
) -> Floats:
    """Return the counts of each group: below the first edge, between edges, and above."""
    return np.stack(
        [
            count_bins(x[group == k], edges, None if weights is None else weights[group == k])
            for k in groups
        ]
    )


def rough_range(
    desk: Desk, x: Floats, column: str, rho: float, weights: Floats | None
) -> tuple[float, float]:
    """Return the powers of two between which the column lies, but for a few records."""
    with np.errstate(divide="ignore"):
        power = np.where(x == 0, -np.inf, np.floor(np.log2(np.abs(np.where(x == 0, 1.0, x)))))
    inner = np.clip(power, SMALLEST - 1, LARGEST) - SMALLEST + 1
    octaves = LARGEST - SMALLEST + 1
    # Negative octaves, the zero, positive octaves, in the order of the numbers.
    place = (octaves + np.sign(x) * np.where(power < SMALLEST, 0, inner)).astype(np.int64)
    counts = np.bincount(place, weights, minlength=2 * octaves + 1).astype(np.float64)
    noisy = desk.add_noise(f"range of {column}", counts, {"of": "counts"}, rho=rho, main=False)
    found = standing_out(noisy, desk.queries[-1]["amplitude"])
    if found is None:
        warnings.warn(
            f"{desk.spec.kind}: the data are too few to find a range under noise. Give one with range=, from what is known without the data.",
            LowUtility,
            stacklevel=3,
        )
        found = (int(noisy.argmax()),) * 2
    low, high = octave(found[0] - octaves)[0], octave(found[1] - octaves)[1]
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def standing_out(noisy: Floats, amplitude: float) -> tuple[int, int] | None:
    """Return the first and last place of what stands out of the noise, alone or with its neighbours; None for nothing.

    A long tail may lie thinly over many powers of two, none of which stands out by itself.
    """
    low, high = len(noisy), -1
    for size in TOGETHER:
        sums = np.convolve(noisy, np.ones(size), "valid")
        above = FILLED if size == 1 else FILLED_TOGETHER
        hits = np.flatnonzero(sums > above * amplitude * math.sqrt(size))
        # Neighbours count apart from what stands out already, which would carry them.
        before, after = hits[hits + size <= low], hits[hits > high]
        if len(before):
            first = int(before[0])
            low = first + weak_part(noisy[first : first + size], amplitude)
        if len(after):
            last = int(after[-1])
            high = last + size - 1 - weak_part(noisy[last : last + size][::-1], amplitude)
    return (low, high) if high >= 0 else None


def weak_part(part: Floats, amplitude: float) -> int:
    """Return how many places at the beginning together do not stand out at all."""
    sums = np.cumsum(part[:-1])
    weak = np.flatnonzero(sums <= amplitude * np.sqrt(np.arange(1, len(part))))
    return int(weak[-1]) + 1 if len(weak) else 0


def octave(number: int) -> tuple[float, float]:
    """Return the borders of a power of two by its number: negative ones below zero, 0 for zero."""
    if number == 0:
        return 0.0, 0.0
    size = 2.0 ** (SMALLEST + abs(int(number)) - 1)
    return (size, 2 * size) if number > 0 else (-2 * size, -size)


def warn_of_much_outside(desk: Desk, column: str, outside: float, total: float) -> None:
    """Say that many records lie outside the protected range, as far as counts with noise tell."""
    doubt = 2 * desk.queries[-1]["amplitude"] * math.sqrt(2)
    if outside - doubt > MUCH * max(total, 1.0):
        warnings.warn(
            f"{desk.spec.kind}: about {min(outside / max(total, 1.0), 1.0):.0%} of the records of {column!r} lie outside the range that was found "
            "under noise, so that the plot shows the others only. Give one with range=, from what is known without the data.",
            LowUtility,
            stacklevel=2,
        )


def nice_step(width: float) -> float:
    """Return the nearest number of the form 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return min((1.0, 2.0, 2.5, 5.0, 10.0), key=lambda m: abs(math.log(width / (m * power)))) * power


def nice_range(low: float, high: float, parts: int = 20) -> tuple[float, float]:
    """Return a range with round ends that holds another."""
    step = nice_step((high - low) / parts)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def bin_edges(scale: Scale, bins: int | None, rule: str) -> Floats:
    """Return the borders of bins: w_q = 2 (q3 - q1) N^(-1/3), or w_s = 3.49 s N^(-1/3), to a round number."""
    width = (
        (scale.high - scale.low) / bins
        if bins
        else (2 * scale.iqr if rule == "iqr" else 3.49 * scale.sd) * scale.n ** (-1 / 3)
    )
    span = scale.high - scale.low
    width = nice_step(min(max(width, span / 100), span / 4))
    first = math.floor(scale.low / width + 1e-9)
    last = math.ceil(scale.high / width - 1e-9)
    return np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * width


def smooth(values: Floats, passes: int) -> Floats:
    """Average each value with its two neighbours, along every axis, again and again; ends are repeated.

    Protection is unchanged, as nothing but protected values goes in. (The paper calls the map bijective;
    the three-point mean loses information for some lengths, which does not matter for safety.)
    """
    found = np.asarray(values, dtype=np.float64)
    for _ in range(passes):
        for axis in range(found.ndim):
            ends = [(0, 0)] * found.ndim
            ends[axis] = (1, 1)
            padded = np.moveaxis(np.pad(found, ends, mode="edge"), axis, 0)
            found = np.moveaxis((padded[:-2] + padded[1:-1] + padded[2:]) / 3, 0, axis)
    return found


def smoothed_amplitude(shape: tuple[int, ...], passes: int) -> float:
    """Return the standard deviation that white noise of amplitude 1 keeps after smoothing, away from the ends."""
    kept = 1.0
    for n in shape:
        impulse = np.zeros(2 * passes + 1 if n > 2 * passes else n)
        impulse[len(impulse) // 2] = 1.0
        kept *= float(np.sqrt((smooth(impulse, passes) ** 2).sum()))
    return kept


def as_shares(values: Floats) -> Floats:
    """Return max(v, 0) / sum max(v, 0): the non-negative, normalised version."""
    positive = np.maximum(values, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(values.shape, 1.0 / values.size)


def mass_level(values: Floats, mass: float) -> float:
    """Return the level whose region above encloses a mass: sorted descending, where the sum first reaches it."""
    ordered = np.sort(as_shares(values).ravel())[::-1]
    place = int(np.searchsorted(np.cumsum(ordered), mass - 1e-12))
    return float(ordered[min(place, len(ordered) - 1)])


def cumulate(counts: Floats) -> Floats:
    """Return a distribution function at the borders of bins from protected counts: 0 first, 1 last, rising."""
    from sklearn.isotonic import isotonic_regression

    # The nearest rising sequence, in least squares (pool adjacent violators).
    total = np.insert(np.cumsum(counts), 0, 0.0)
    rising = np.maximum(isotonic_regression(np.asarray(total, dtype=np.float64)), 0.0)
    if rising[-1] <= rising[0]:
        return np.linspace(0.0, 1.0, len(rising))
    return np.asarray((rising - rising[0]) / (rising[-1] - rising[0]))


def invert(borders: Floats, rising: Floats, shares: Floats) -> Floats:
    """Return where a distribution function that is linear between borders reaches some shares."""
    grow = rising + np.arange(len(rising)) * 1e-15
    return np.asarray(np.interp(shares, grow, borders))
