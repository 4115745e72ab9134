"""Groups of consecutive records of the file."""

from __future__ import annotations

from typing import Literal

from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.sorting import group_in_file_order
from tacit.registry import register


@register
class FileOrderGroups(GroupingMethod):
    """Replace numbers by the means of k consecutive records of the file.

    The first k records are a group, then the next k; what remains joins the last group. Nothing is sorted,
    so this is for files whose order means something, and a yardstick for other methods.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    """

    kind: Literal["file_order_groups"] = "file_order_groups"
    form_groups = staticmethod(group_in_file_order)
