"""The claim that no output channel tells more of a person than its limits allow.

The claim carries what the paper takes to be public: the table of counts by input channel, what each output
channel is made of, and the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, class_sizes


@check_for("channel-safety")
def channels_are_safe(frame: Frame, claim: Claim) -> bool:
    """Recompute every output channel's shares from the counts and compare them with the limits.

    Each output channel of the frame must have as many people as the composition says, no input channel
    may be dealt out more or less than it has, every output channel needs a safe member, and its shares
    must keep within u and b. All in fractions.
    """
    given = claim.parameters
    column = claim.columns[0]
    found = class_sizes(frame, [column]).collect("pyarrow")
    sizes = dict(
        zip(found.get_column(column).to_list(), found.get_column(SIZE).to_list(), strict=True)
    )
    shares = [[Fraction(n, line["subjects"]) for n in line["counts"]] for line in given["inputs"]]
    left = [line["subjects"] for line in given["inputs"]]
    within = limit_test(given)
    for output in given["outputs"]:
        people = sum(output["subjects"])
        if people != sizes.pop(output["channel"], 0):
            return False
        for r, n in zip(output["members"], output["subjects"], strict=True):
            left[r - 1] -= n
        mixed = mixture([shares[r - 1] for r in output["members"]], output["subjects"])
        if not within(mixed) or not any(within(shares[r - 1]) for r in output["members"]):
            return False
    return not sizes and not any(left)


def mixture(shares: Sequence[Sequence[Fraction]], amounts: Sequence[int]) -> list[Fraction]:
    """Return the average of rows of shares, weighted (equation 1)."""
    total = sum(amounts)
    return [
        sum((p * n for p, n in zip(column, amounts, strict=True)), Fraction(0)) / max(total, 1)
        for column in zip(*shares, strict=True)
    ]


def limit_test(given: Mapping[str, Any]) -> Callable[[Sequence[Fraction]], bool]:
    """Return the test of a row of shares against u (6) and b (8); limits as they were written."""
    u = [Fraction(str(v)).limit_denominator(10**12) for v in given["u"].values()]
    c = [Fraction(str(v)).limit_denominator(10**12) for v in given["c"].values()]
    b = None if given["b"] is None else Fraction(str(given["b"])).limit_denominator(10**12)

    def within(shares: Sequence[Fraction]) -> bool:
        below = all(p <= limit for p, limit in zip(shares, u, strict=True))
        total = sum((p * w for p, w in zip(shares, c, strict=True)), Fraction(0))
        return below and (b is None or total <= b)

    return within
