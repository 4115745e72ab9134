"""Risk-utility maps: many candidate plans, one picture, one choice."""

from __future__ import annotations

from tacit.plan.grids import chain, grid
from tacit.rumap.combined import combine
from tacit.rumap.points import Point
from tacit.rumap.result import RUMapResult
from tacit.rumap.ru_map import RUMap
from tacit.rumap.surface import Surface

__all__ = ["Point", "RUMap", "RUMapResult", "Surface", "chain", "combine", "grid"]
