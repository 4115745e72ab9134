"""Linkage: how an intruder finds records of a release again.

- :mod:`~tacit.risk.linkage.metrics`, :mod:`~tacit.risk.linkage.nearest`: distances and the nearest record, exactly;
- :mod:`~tacit.risk.linkage.attack`, :mod:`~tacit.risk.linkage.assignment`: attacks by distance, one-to-one links, ties
  by their chance;
- :mod:`~tacit.risk.linkage.field_levels`, :mod:`~tacit.risk.linkage.level_tables`: levels of agreement of names, dates
  and numbers, and rules of blocking;
- :mod:`~tacit.risk.linkage.agreement`: agreement patterns of candidate pairs, and links by their weights;
- :mod:`~tacit.risk.linkage.fellegi_sunter`: the model, fitted by EM to pattern counts;
- :mod:`~tacit.risk.linkage.intervals`: interval disclosure;
- :mod:`~tacit.risk.linkage.series_attack`: linkage of time series.
"""
