"""Risk-utility maps: many candidate plans, one picture, one choice."""

from __future__ import annotations

from tacit.alternatives.rumap.combined import combine
from tacit.alternatives.rumap.points import Point
from tacit.alternatives.rumap.result import RUMapResult
from tacit.alternatives.rumap.ru_map import RUMap
from tacit.alternatives.rumap.surface import Surface
from tacit.plan.grids import chain, grid
from tacit.public import publish

__all__ = ["Point", "RUMap", "RUMapResult", "Surface", "chain", "combine", "grid"]
__getattr__, __dir__ = publish("rumap", names=globals())
