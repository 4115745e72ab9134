"""Interval disclosure: how often the true value lies in a narrow interval around the released one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import shared_maskable
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnsLookedAt, PositiveFloat
from tacit.plot.chart import Chart
from tacit.plot.lines import SHARES, lines
from tacit.records.linkage.intervals import shares_within, widths_in_ranks, widths_in_sd
from tacit.records.linkage.linking import changed_columns, check_shared
from tacit.records.linkage.metrics import known_scale
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Widths at which the shares are shown beside the one asked for.
SD_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
RANK_WIDTHS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
ALL = "all columns"


@register
class IntervalDisclosure(Measure):
    """Share of records whose true values lie in narrow intervals around the released ones.

    The interval around the released value x' of a column is x' +- k sd (SDID: standard deviation of the
    released column, or of the original one), or runs over the released values at most k percent of the
    records' ranks away (RID). A record is disclosed when its original values lie inside on *all* columns.
    The share is given at a series of widths, for all columns together and for each.

    A value that is missing in the release is not disclosed; what is missing in the original is left out.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359; section 4.
    Mateo-Sanz, Sebé, Domingo-Ferrer (2004), Outlier protection in continuous microdata masking, PSD 2004,
    LNCS 3050, 201-215 (standard deviation intervals).
    Domingo-Ferrer, Torra (2001), A quantitative comparison of disclosure control methods for microdata, in
    Confidentiality, Disclosure and Data Access, 111-133 (rank intervals).
    """

    kind: Literal["interval_disclosure"] = "interval_disclosure"
    columns: ColumnsLookedAt = ()
    interval: Literal["sd", "rank"] = Field(
        default="sd", description="intervals of standard deviations, or windows of ranks"
    )
    width: PositiveFloat | None = Field(
        default=None,
        description="half width: standard deviations (by default 0.05) or percent of the ranks (by default 5)",
    )
    spread: Literal["released", "original"] = Field(
        default="released", description="whose standard deviation is taken"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _consistent(self) -> IntervalDisclosure:
        if self.interval == "rank" and self.width is not None and self.width > 100:
            raise ValueError("width of rank windows is a percentage, at most 100")
        return self

    @property
    def at(self) -> float:
        """Return the width at which the value is given."""
        return self.width or (0.05 if self.interval == "sd" else 5.0)

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> IntervalDisclosureResult:
        columns, before, after = read_both(self.columns, other.original, data, self.kind)
        if len(before) == 0:
            raise InputError(f"{self.kind} needs records that are in original and release")
        measured = known_scale(after if self.spread == "released" else before)
        ctx.tick("intervals", None)
        needed = {
            "sd": widths_in_sd(before, after, measured.spread),
            "rank": widths_in_ranks(before, after),
        }
        rows: list[tuple[str, float, str, float]] = []
        for interval, widths in (("sd", SD_WIDTHS), ("rank", RANK_WIDTHS)):
            wanted = {self.at} if interval == self.interval else set()
            for width in sorted({*widths, *wanted}):
                together, alone = shares_within(needed[interval], width)
                rows.append((interval, width, ALL, together))
                rows += [
                    (interval, width, c, float(s)) for c, s in zip(columns, alone, strict=True)
                ]
        shares = {
            column: share
            for interval, width, column, share in rows
            if interval == self.interval and width == self.at
        }
        words = (
            f"{self.at:g} standard deviations"
            if self.interval == "sd"
            else f"{self.at:g} % of the ranks"
        )
        names = ("interval", "width", "column", "share")
        return IntervalDisclosureResult(
            kind=self.kind,
            title="Interval disclosure",
            value=shares[ALL],
            numbers={
                "records": len(before),
                "half width": words,
                "share inside on all columns": shares[ALL],
                **{f"{c}: share inside": shares[c] for c in columns},
            },
            frame=as_frame(dict(zip(names, zip(*rows, strict=True), strict=True))),
            explanation=(
                f"{shares[ALL]:.1%} of the records have all their true values within {words} of the "
                "released ones: whoever finds such a record knows it nearly exactly."
            ),
            share=shares[ALL],
            by_column={c: shares[c] for c in columns},
            interval=self.interval,
        )


def read_both(
    asked: tuple[str, ...], original: Microdata, released: Microdata, kind: str
) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return the columns looked at, and their numbers before and after for the records in both files."""
    check_shared(asked, original, released)
    shared = list(asked) or shared_maskable(original, released)
    if not shared:
        raise InputError(f"{kind} needs a numeric column that original and release share")
    both = pairs(original, released, shared, kind)
    columns = asked or tuple(changed_columns(shared, both)) or tuple(shared)
    at = [shared.index(c) for c in columns]
    return columns, both.before[both.old][:, at], both.after[both.new][:, at]


@dataclass(frozen=True, repr=False)
class IntervalDisclosureResult(Result):
    """Shares at the width asked for; ``frame`` has them at every width, for both kinds of interval."""

    share: float = 0.0
    by_column: Mapping[str, float] = field(default_factory=dict)
    interval: str = "sd"

    def plot(self) -> Chart:
        """Return the share inside by width: all columns together, and each one."""
        assert self.frame is not None
        rows = [r for r in self.frame.rows(named=True) if r["interval"] == self.interval]
        words = "standard deviations" if self.interval == "sd" else "percent of the ranks"
        log = {"scale": {"type": "log"}, "axis": {"values": list(SD_WIDTHS)}}
        together = "; ".join(
            f"{r['width']:g}: {r['share']:.1%}" for r in rows if r["column"] == ALL
        )
        return lines(
            ((r["column"], r["width"], r["share"]) for r in rows),
            title="True values close to the released ones",
            subtitle=f"black: all columns together, {self.share:.1%} at the width asked for",
            x=f"half width of the interval, {words}",
            y="share of records inside",
            bold=ALL,
            x_axis=log if self.interval == "sd" else {},
            y_axis=SHARES,
            alt=f"Share of records inside on all columns by half width ({words}). {together}.",
        )
