"""Regression across owners: the fit that the pooled file would give, without pooling it.

``logistic``, ``linear``, ``poisson``, ``multinomial`` and ``cox`` by Newton's method on secure sums; ``log_linear`` by margins;
``contingency_table`` and ``sparse_table`` add tables, ``integrate`` brings records together without telling whose they are, and
``vertical_linear`` is for owners of different columns. ``add_statistics`` adds any statistic, and ``count_shared`` counts persons whom several
owners hold.
"""

from tacit.private.regression.fixed_point import FixedPoint
from tacit.private.regression.joint_tables import (
    LogLinearFit,
    compare_tables,
    contingency_table,
    exists_by_party,
    integrate,
    log_linear,
    sparse_table,
)
from tacit.private.regression.run import (
    FITS,
    Fit,
    compare,
    cox,
    linear,
    logistic,
    multinomial,
    poisson,
    vertical_linear,
)
from tacit.private.regression.statistics import (
    Statistics,
    add_statistics,
    compare_routes,
    count_shared,
)
from tacit.private.regression.sums import SumSettings, add_securely
from tacit.public import publish

__all__ = [
    "FITS",
    "Fit",
    "FixedPoint",
    "LogLinearFit",
    "Statistics",
    "SumSettings",
    "add_securely",
    "add_statistics",
    "compare",
    "compare_routes",
    "compare_tables",
    "contingency_table",
    "count_shared",
    "cox",
    "exists_by_party",
    "integrate",
    "linear",
    "log_linear",
    "logistic",
    "multinomial",
    "poisson",
    "sparse_table",
    "vertical_linear",
]

__getattr__, __dir__ = publish("private.regression", names=globals())
