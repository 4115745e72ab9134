"""Risk-utility maps: many candidate plans, one picture, one choice."""

from __future__ import annotations

from tacit.alternatives.rumap.combined import combine
from tacit.alternatives.rumap.points import Point
from tacit.alternatives.rumap.result import RUMapResult
from tacit.alternatives.rumap.ru_map import RUMap
from tacit.alternatives.rumap.surface import Surface
from tacit.plan.grids import chain, grid
from tacit.renamed import find_names

_HOMES = {
    "AdditiveNoiseMap": "tacit.alternatives.rumap.additive_noise",
    "Combination": "tacit.alternatives.rumap.noise_tasks",
    "Custom": "tacit.alternatives.rumap.noise_tasks",
    "Slope": "tacit.alternatives.rumap.noise_tasks",
}

__all__ = ["Point", "RUMap", "RUMapResult", "Surface", "chain", "combine", "grid", *_HOMES]  # noqa: PLE0604
__getattr__ = find_names("rumap", _HOMES)
