"""Risk-utility maps: many candidate plans, one picture, one choice."""

from __future__ import annotations

from tacit.plan.grids import chain, grid
from tacit.renamed import find_names
from tacit.rumap.combined import combine
from tacit.rumap.points import Point
from tacit.rumap.result import RUMapResult
from tacit.rumap.ru_map import RUMap
from tacit.rumap.surface import Surface

_HOMES = {
    "AdditiveNoiseMap": "tacit.rumap.additive_noise",
    "Combination": "tacit.rumap.noise_tasks",
    "Custom": "tacit.rumap.noise_tasks",
    "Slope": "tacit.rumap.noise_tasks",
}

__all__ = ["Point", "RUMap", "RUMapResult", "Surface", "chain", "combine", "grid", *_HOMES]  # noqa: PLE0604
__getattr__ = find_names("rumap", _HOMES)
