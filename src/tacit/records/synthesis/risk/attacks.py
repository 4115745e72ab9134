"""What the attacks on synthetic data share: success rates with Wilson intervals, and the excess over control records.

An attack on people of the original succeeds for two reasons: because synthetic records tell of them, and because they
tell of people in general. Control records, drawn from the same population and never seen by the synthesis, show the second
part. The risk is what is left: (original - control) / (1 - control).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from scipy.special import ndtri

from tacit.data.lined_up import shared_columns
from tacit.data.microdata import Microdata
from tacit.plot.chart import Chart
from tacit.plot.lines import intervals
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Success rates of an attack that is no better than guessing tell nothing about the data.
WEAK = "The attack did no better than guessing, so that it shows nothing: neither risk nor safety."


class SyntheticAttack(Measure):
    """A measure that sets synthetic records beside original ones and, where there are some, control records."""

    compares: ClassVar[bool] = True
    takes_control: ClassVar[bool] = True
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"


def files_beside(data: Microdata, other: Companions) -> tuple[list[Microdata], tuple[str, ...]]:
    """Return the original and the control records, and the columns that they share with the synthetic ones."""
    beside = [other.original, *([other.control] if other.control is not None else [])]
    return beside, shared_columns(data, beside)


@dataclass(frozen=True)
class Rate:
    """A success rate with its Wilson interval; ``more`` is half the width of an error that comes on top."""

    successes: int
    attacks: int
    level: float = 0.95
    more: float = 0.0

    @property
    def z(self) -> float:
        """Return the normal quantile of the interval."""
        return float(ndtri((1 + self.level) / 2))

    @property
    def value(self) -> float:
        """Return the middle of the Wilson interval, (s + z^2/2) / (n + z^2)."""
        return (self.successes + self.z**2 / 2) / (self.attacks + self.z**2)

    @property
    def error(self) -> float:
        """Return half the width of the Wilson interval."""
        n, s, z = self.attacks, self.successes, self.z
        own = z / (n + z**2) * math.sqrt(s * (n - s) / n + z**2 / 4) if n else 0.5
        return math.hypot(own, self.more)

    @property
    def interval(self) -> tuple[float, float]:
        """Return the Wilson interval."""
        return max(self.value - self.error, 0.0), min(self.value + self.error, 1.0)


def excess(rate: Rate, base: Rate) -> tuple[float, float, float]:
    """Return (r - c) / (1 - c) of a rate over another, and its interval by linear propagation of errors."""
    r, c = rate.value, base.value
    risk = (r - c) / (1 - c)
    error = math.hypot(rate.error / (1 - c), (r - 1) / (1 - c) ** 2 * base.error)
    return max(risk, 0.0), max(risk - error, 0.0), min(max(risk + error, 0.0), 1.0)


@dataclass(frozen=True, repr=False)
class AttackResult(Result):
    """An attack: how often it succeeded on the original, by guessing, and on control records."""

    success: Rate = Rate(0, 0)
    naive: Rate = Rate(0, 0)
    control: Rate | None = None

    def plot(self) -> Chart:
        """Return the success rates with their intervals."""
        rates = {"original": self.success, "guessing": self.naive}
        if self.control is not None:
            rates["control"] = self.control
        return intervals(
            ((name, "success", r.interval[0], r.value, r.interval[1]) for name, r in rates.items()),
            title=self.title,
            subtitle="success rates with Wilson intervals; control: people whom the synthesis has not seen",
            x="share of attacks that succeed",
        )


def judge(
    kind: str,
    title: str,
    success: Rate,
    naive: Rate,
    control: Rate | None,
    *,
    words: str,
    more: Mapping[str, Any] | None = None,
) -> AttackResult:
    """Put the result of an attack together."""
    risk = over = excess(success, naive)
    numbers: dict[str, Any] = {
        "attacks": success.attacks,
        "successes": success.successes,
        "success rate": success.value,
        "success rate, from": success.interval[0],
        "success rate, to": success.interval[1],
        "success by guessing": naive.value,
        "success over guessing": over[0],
    }
    if control is not None:
        risk = excess(success, control)
        numbers |= {
            "success on control records": control.value,
            "risk": risk[0],
            "risk, from": risk[1],
            "risk, to": risk[2],
        }
    numbers |= dict(more or {})
    said = [
        f"{words} It succeeded for {success.value:.1%} of those attacked; guessing would for {naive.value:.1%}."
    ]
    if success.value <= naive.value:
        said.append(WEAK)
    if control is None:
        said.append(
            "Without control records what the data tell of people in general cannot be told from what they tell of these people: pass control=."
        )
    else:
        said.append(
            f"Of control records it succeeded for {control.value:.1%}; what goes beyond, the risk, is {risk[0]:.1%} (from {risk[1]:.1%} to {risk[2]:.1%})."
        )
    return AttackResult(
        kind=kind,
        title=title,
        value=risk[0],
        numbers=numbers,
        explanation=" ".join(said),
        success=success,
        naive=naive,
        control=control,
    )
