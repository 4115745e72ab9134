"""Sample uniques of large sparse tables: how many are unique in the population, by models and in truth.

The census tables of the paper are not public. Two populations of the same kind are drawn: cells with a smooth intensity over
ordinal keys, times a gamma variable of shape 1.5 and mean 1, and a simple random sample. Table A has keys sex, age, income
and years of schooling, table B the size of the household besides, and is much sparser. tau 1 is the expected
number of sample uniques that are population uniques, tau 2 the expected number of correct matches.

References
----------
Rinott, Shlomo (2006), A generalized negative binomial smoothing model for sample disclosure risk estimation, PSD 2006, LNCS
4302, 82-93: the layout of its examples 1 to 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

import tacit
from tacit.arrays import Floats

Ints = npt.NDArray[np.int64]
NAMES = ("sex", "age", "income", "years", "size")


@dataclass(frozen=True)
class Design:
    """A table: how many categories its keys have, people, records, and the neighbourhoods that are tried."""

    shape: tuple[int, ...]
    people: int
    records: int
    neighbourhoods: tuple[dict[str, int], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the keys."""
        return NAMES[: len(self.shape)]

    def intensity(self) -> Floats:
        """Return how frequent each cell is, before chance; the middle of each key is the most frequent."""
        s, *keys = np.meshgrid(*(np.arange(k) for k in self.shape), indexing="ij")
        # Table A of 32 x 14 x 13, and B of 16 x 10 x 11 x 12: centres and scales of their keys.
        centre = (14, 6, 7) if len(keys) == 3 else (7, 4, 5, 3)
        scale = (10, 3.5, 2.5) if len(keys) == 3 else (4, 2.5, 2.5, 2.5)
        a, i, y, *more = ((k - c) / w for k, c, w in zip(keys, centre, scale, strict=True))
        log = -0.5 * a**2 - 0.5 * (i - 0.5 * y - 0.3 * (s == 0)) ** 2 - 0.5 * (y + 0.3 * a) ** 2
        last = -0.5 * (more[0] + 0.3 * a) ** 2 if more else 0.35 * (keys[2] == 8)
        return np.asarray(np.exp(log + last), dtype=np.float64)


A = Design((2, 32, 14, 13), 37_586, 3_759, ({"radius": 2}, {"radius": 3}))
B = Design(
    (2, 16, 10, 11, 12),
    746_949,
    7_470,
    tuple({"radius": 2, "reach": d} for d in (4, 6, 8)),
)
SMALL = Design((2, 32, 14, 13), 37_586, 3_759, ({"radius": 1},))
#: Designs and how often each is drawn.
SIZES: dict[str, tuple[tuple[str, Design, int], ...]] = {
    "small": (("A", SMALL, 2),),
    "paper": (("A", A, 3), ("B", B, 2)),
}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return tau 1 and tau 2, true and by each model, for every draw of every design."""
    rows = []
    for name, design, draws in SIZES[size]:
        for i in range(draws):
            if tick is not None:
                tick(f"table {name}, draw {i + 1} of {draws}", i / draws)
            rows += [{"table": name, "draw": i + 1} | row for row in estimate(design, seed + i + 1)]
    return {"estimates": nw.from_native(pa.Table.from_pylist(rows), eager_only=True)}


def estimate(design: Design, seed: int) -> list[dict[str, Any]]:
    """Return the truth and the estimate of each model on one draw."""
    population, sample = draw(design, seed)
    data, register = (as_file(counts, design) for counts in (sample, population))
    common = {"population": design.people, "ordinal": design.names[1:]}
    argus = tacit.SampleRisk(model="argus", **common).measure(data, register=register)
    rows = [
        {"model": "true", "tau 1": float(argus.true[0]), "tau 2": float(argus.true[1])},
        {"model": "argus", "tau 1": argus.tau1, "tau 2": argus.tau2},
    ]
    for where in design.neighbourhoods:
        made = tacit.SampleRisk(model="negative_binomial", **where, **common).measure(data)
        words = ", ".join(f"{k} {v}" for k, v in where.items())
        rows.append(
            {"model": f"negative binomial, {words}", "tau 1": made.tau1, "tau 2": made.tau2}
        )
    return rows


def draw(design: Design, seed: int) -> tuple[Ints, Ints]:
    """Return counts of the population and of a simple random sample."""
    rng = np.random.default_rng(seed)
    rate = design.intensity() * rng.gamma(1.5, 1 / 1.5, design.shape)
    population = rng.multinomial(design.people, (rate / rate.sum()).ravel())
    sample = rng.multivariate_hypergeometric(population, design.records, method="marginals")
    return population, sample


def as_file(counts: Ints, design: Design) -> tacit.Microdata:
    """Return the records of a table."""
    codes = np.unravel_index(np.repeat(np.arange(counts.size), counts), design.shape)
    return tacit.read(
        pa.table(dict(zip(design.names, codes, strict=True))), keys=list(design.names)
    )
