"""Record linkage on plain arrays: nearest records under a metric, and agreement weights.

- :mod:`~tacit.linkage.nearest`: the nearest row of another matrix, exactly, with its ties;
- :mod:`~tacit.linkage.metrics`: distances as Euclidean ones in other coordinates;
- :mod:`~tacit.linkage.attack`: whose nearest record is their own, whatever the metric;
- :mod:`~tacit.linkage.agreement`: Fellegi and Sunter's weights by EM on pattern counts;
- :mod:`~tacit.linkage.assignment`: one-to-one links;
- :mod:`~tacit.linkage.intervals`: how close released values are to the true ones.
"""
