"""The risk-utility framework for tables: one original against several protected versions.

A :class:`~tacit.Table`, an array or the counts of records are laid out as distributions (rows, most
often areas) of cells (columns, most often a cross-classification). The measures say what a version of it has lost, the risk says what it still
gives away, and :class:`TableComparison` measures both; :func:`tacit.compare` puts versions side by side.

References
----------
Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
PSD 2006, LNCS 4302, 68-81.
"""

from __future__ import annotations

from tacit.public import publish
from tacit.tables.compare.table_comparison import TableComparison, TableComparisonResult

__all__ = ["TableComparison", "TableComparisonResult"]
__getattr__, __dir__ = publish("framework", names=globals())
