"""Groups of k in the order of a robust principal component."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.sorting import robust_pca
from tacit.registry import register


@register
class SortByRobustComponent(GroupingMethod):
    """Replace numbers by the means of k records that are alike on a component that outliers cannot turn.

    The records are sorted along the first eigenvector of a robust covariance, and every k of them form a
    group. Above 50,000 records the covariance is that of a random sample of that many.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    Rousseeuw, van Driessen (1999), A fast algorithm for the minimum covariance determinant estimator,
    Technometrics 41, 212-223.
    """

    kind: Literal["sort_by_robust_component"] = "sort_by_robust_component"
    covariance: Literal["mcd", "mve", "ogk", "m_estimate", "classical"] = Field(
        default="mcd", description="the covariance whose first component sorts the records"
    )

    draws: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    form_groups = staticmethod(robust_pca)
