"""Outliers to median: values far from the middle become the middle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import classes, read_numeric_column
from tacit.fields import ColumnName, ColumnNames, PositiveFloat
from tacit.registry import register
from tacit.spec import Method

#: Makes the median absolute deviation estimate the standard deviation of a normal distribution.
MAD_TO_SD = 1.4826

#: The same for the mean absolute deviation: sqrt(pi / 2).
MEAN_AD_TO_SD = float(np.sqrt(np.pi / 2))


@register
class OutlierToMedian(Method):
    """Replace values far from the median by the median.

    A value is an outlier when ``|x - median| > c * 1.4826 * MAD``, with MAD the median of the absolute
    deviations from the median; the factor makes c a number of standard deviations for normal data. When
    more than half of the values are equal the MAD is 0 and would make every other value an outlier; the
    scale is then 1.2533 times the mean absolute deviation, and the notes say so.

    Whole-number columns stay whole: their outliers become the whole number nearest to the median.

    References
    ----------
    Iglewicz, Hoaglin (1993), How to Detect and Handle Outliers, ASQC Quality Press.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["outlier_to_median"] = "outlier_to_median"
    columns: ColumnNames = Field(description="the numeric columns to treat")
    c: PositiveFloat = Field(
        default=3.0, description="how many robust standard deviations from the median are too far"
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="treat each class of these columns by itself"
    )

    on_stratum = "by"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("outlier to median",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    number_fields = ("columns",)
    column_fields = ("columns", "by")

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        groups, n_groups = classes(data, self.by)
        new, changed, flat = {}, {}, []
        for c in self.columns:
            column = read_numeric_column(data, c)
            middle, scale, zero = centre_and_scale(
                column.values.astype(np.float64), column.known, groups, n_groups
            )
            far = outliers(column.values, column.known, middle[groups], scale[groups], self.c)
            replacement = nearest_whole(middle) if column.whole else middle
            new[c] = column.restore(np.where(far, replacement[groups], column.values))
            changed[c] = int(far.sum())
            flat += [c] if zero else []
        ctx.note(changed=changed, mad_zero=flat)
        return data.replace(new)


def outliers(
    values: npt.NDArray[np.number], known: Flags, middle: Floats, scale: Floats, c: float
) -> Flags:
    """Return which values are too far from the middle."""
    return known & (np.abs(values - middle) > c * scale)


def centre_and_scale(
    values: Floats, known: Flags, groups: Ints, n_groups: int
) -> tuple[Floats, Floats, bool]:
    """Return the median and the robust standard deviation of each group; True when a MAD was 0."""
    x, g = values[known], groups[known]
    middle = group_medians(x, g, n_groups)
    deviation = np.abs(x - middle[g])
    mad = group_medians(deviation, g, n_groups)
    size = np.maximum(np.bincount(g, minlength=n_groups), 1)
    mean = np.bincount(g, weights=deviation, minlength=n_groups) / size
    fallback = (mad == 0) & (mean > 0)
    return middle, np.where(fallback, MEAN_AD_TO_SD * mean, MAD_TO_SD * mad), bool(fallback.any())


def group_medians(values: Floats, groups: Ints, n_groups: int) -> Floats:
    """Return the median of each group; 0 for a group without values."""
    order = np.lexsort((values, groups))
    size = np.bincount(groups, minlength=n_groups)
    start = np.cumsum(size) - size
    filled = size > 0
    medians = np.zeros(n_groups)
    low = order[(start + (size - 1) // 2)[filled]]
    high = order[(start + size // 2)[filled]]
    medians[filled] = values[low] / 2 + values[high] / 2
    return medians


def nearest_whole(values: Floats) -> Ints:
    """Return the nearest whole numbers, half away from zero."""
    return (np.sign(values) * np.floor(np.abs(values) + 0.5)).astype(np.int64)
