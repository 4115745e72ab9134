"""The claim that every record keeps given rules: structural values, forbidden combinations, sums."""

from __future__ import annotations

from functools import reduce
from typing import Any

import narwhals.stable.v2 as nw

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame
from tacit.claims.registry import check_for
from tacit.data.where import where

#: How far a sum may lie from its parts, relative to its size: the error of adding.
DUST = 1e-9


@check_for("rules-kept")
def keeps_rules(frame: Frame, claim: Claim) -> bool:
    """Return True when no record breaks a rule."""
    schema = frame.collect_schema()
    broken = [where(text, schema).expr for text in claim.parameters["forbid"]]
    for setting in claim.parameters["settings"]:
        when = where(setting["when"], schema).expr
        broken += [when & differs(c, value, schema[c]) for c, value in setting["set"].items()]
    for total, parts in claim.parameters["sums"].items():
        broken.append(breaks_sum(total, parts))
    if not broken:
        return True
    count = nw.any_horizontal(*broken, ignore_nulls=True).cast(nw.Int64).sum().alias("n")
    return not frame.select(count).collect("pyarrow").item(0, "n")


def differs(column: str, value: Any, dtype: Any) -> nw.Expr:
    """Return where a column has another value than the one that is set."""
    if value is None:
        return ~nw.col(column).is_null()
    if dtype == nw.String:
        value = str(value)
    return (nw.col(column) != nw.lit(value)).fill_null(value=True)


def breaks_sum(total: str, parts: list[str]) -> nw.Expr:
    """Return where a column is not the sum of others, missing ones counting nothing."""
    known = [~nw.col(p).is_null() for p in parts]
    some = reduce(lambda a, b: a | b, known)
    added = reduce(lambda a, b: a + b, [nw.col(p).fill_null(0).cast(nw.Float64) for p in parts])
    size = reduce(
        lambda a, b: a + b, [nw.col(p).fill_null(0).abs().cast(nw.Float64) for p in parts]
    )
    gap = (nw.col(total).cast(nw.Float64) - added).abs() > DUST * (size + 1.0)
    return (some & gap.fill_null(value=True)) | (~some & ~nw.col(total).is_null())
