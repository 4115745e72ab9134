"""Engines: where relational work is done. DuckDB is embedded; Spark takes data beyond one machine."""

from __future__ import annotations

from tacit.engine.base import Engine, get_engine

__all__ = ["Engine", "get_engine"]
