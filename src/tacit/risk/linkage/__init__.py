"""Record linkage on plain arrays: nearest records under a metric, and agreement weights.

- :mod:`~tacit.risk.linkage.nearest`: the nearest row of another matrix, exactly, with its ties;
- :mod:`~tacit.risk.linkage.metrics`: distances as Euclidean ones in other coordinates;
- :mod:`~tacit.risk.linkage.attack`: whose nearest record is their own, whatever the metric;
- :mod:`~tacit.risk.linkage.agreement`: Fellegi and Sunter's weights by EM on pattern counts;
- :mod:`~tacit.risk.linkage.assignment`: one-to-one links;
- :mod:`~tacit.risk.linkage.intervals`: how close released values are to the true ones.
"""
