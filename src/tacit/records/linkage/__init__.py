"""Linkage: how an intruder finds records of a release again.

- :mod:`~tacit.records.linkage.metrics`, :mod:`~tacit.records.linkage.nearest`: distances and the nearest record, exactly;
- :mod:`~tacit.records.linkage.attack`, :mod:`~tacit.records.linkage.assignment`: attacks by distance, one-to-one links, ties
  by their chance;
- :mod:`~tacit.records.linkage.field_levels`, :mod:`~tacit.records.linkage.level_tables`: levels of agreement of names, dates
  and numbers, and rules of blocking;
- :mod:`~tacit.records.linkage.agreement`: agreement patterns of candidate pairs, and links by their weights;
- :mod:`~tacit.records.linkage.fellegi_sunter`: the model, fitted by EM to pattern counts;
- :mod:`~tacit.records.linkage.intervals`: interval disclosure;
- :mod:`~tacit.records.linkage.series_attack`: linkage of time series.
"""

from __future__ import annotations

from tacit.public import publish_parts

__all__ = [
    "agreement",
    "assignment",
    "attack",
    "fellegi_sunter",
    "field_levels",
    "intervals",
    "level_tables",
    "metrics",
    "nearest",
    "series_attack",
]
__getattr__, __dir__ = publish_parts("linkage", __name__, __all__)
