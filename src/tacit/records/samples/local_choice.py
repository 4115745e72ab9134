"""Which neighbourhood: the one that best foretells counts that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
from scipy import stats

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.records.samples.local_counts import Fitting, fit_around
from tacit.records.samples.local_lattice import Lattice
from tacit.records.samples.sample_models import Hood

#: Cells whose counts are foretold, and the largest neighbourhood that is tried.
CENTRES, LARGEST = 400, 1100


def list_hoods(
    varied: int, degree: int, steps: tuple[float, ...] = (), metric: str = "sum"
) -> list[Hood]:
    """Return neighbourhoods that can carry the model, small ones first."""
    found: dict[int, Hood] = {}
    unit = max(steps, default=1.0)
    narrow = unit / min(steps, default=1.0)
    for c in (1, 2, 3, 4, 6, 8):
        for d in (2, 4, 6, 8, 12, None):
            if (d or c * varied) > c * varied or (2 * c * narrow + 1) ** varied > 200_000:
                continue
            hood = Hood(c * unit, None if d is None else d * unit, degree, steps, metric)
            size = hood.size(varied)
            if 2 * hood.parameters(varied) <= size <= LARGEST:
                found.setdefault(size, hood)
    # Sizes that differ by less than a half tell the same story.
    kept: list[Hood] = []
    for size in sorted(found):
        if not kept or size >= 1.5 * kept[-1].size(varied):
            kept.append(found[size])
    return kept


def choose_hood(
    lattice: Lattice,
    hoods: Sequence[Hood],
    tick: Callable[[float], None],
    **how: Unpack[Fitting],
) -> tuple[Hood, dict[Hood, float]]:
    """Return the best neighbourhood with the mean log-likelihood of unseen counts under each.

    Counts of cells one step from occupied ones are foretold from their neighbours alone. Which cells are asked depends on
    the counts beside them and not on their own, empty cells are among them, and they are the same for all.
    """
    varied = lattice.places.shape[1]
    if not hoods:
        raise InputError(
            "sample_risk: no neighbourhood of bearable size can carry the model with "
            f"{varied} ordinal keys; give radius=, or name fewer with ordinal=[...]."
        )
    places, groups = pick_centres(lattice)
    seen = lattice.index(1).gather(
        places, groups, np.zeros((1, varied), dtype=np.int64), outside="zero"
    )[0][:, 0]
    # Cells that cannot be occupied foretell themselves.
    places, groups, seen = places[seen >= 0], groups[seen >= 0], seen[seen >= 0]
    scores: dict[Hood, float] = {}
    for i, hood in enumerate(hoods):
        offsets = hood.offsets(varied)
        made = fit_around(lattice, places, groups, offsets, hood.degree, without_centre=True, **how)
        tick((i + 1) / len(hoods))
        scores[hood] = float(foretell(seen, made.mu, made.a).mean()) if len(seen) else 0.0
    return max(hoods, key=lambda h: (scores[h], -h.size(varied), -h.degree)), scores


def pick_centres(lattice: Lattice) -> tuple[Ints, Ints]:
    """Return cells one step from occupied ones; the same for the same cells, whatever the order of records."""
    rng = np.random.default_rng(0)
    cells, varied = lattice.places.shape
    picked = rng.choice(cells, size=min(CENTRES, 2 * cells), replace=True)
    step = np.zeros((len(picked), varied), dtype=np.int64)
    step[np.arange(len(picked)), rng.integers(0, varied, len(picked))] = rng.choice(
        [-1, 1], len(picked)
    )
    places = lattice.places[picked] + step
    inside = ((places >= 0) & (places <= lattice.places.max(axis=0))).all(axis=1)
    return places[inside], lattice.group[picked][inside]


def foretell(seen: Ints, mu: Floats, a: Floats) -> Floats:
    """Return the log-probability of counts."""
    poisson = a <= 1e-8
    shape = 1 / np.where(poisson, 1.0, a)
    logs = np.where(
        poisson,
        stats.poisson.logpmf(seen, mu),
        stats.nbinom.logpmf(seen, shape, shape / (shape + mu)),
    )
    # One count that was thought impossible should not decide alone.
    return np.maximum(logs, -20.0)
