"""Prosecutor, journalist and marketer: what each intruder can expect, and whether the attack pays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, classes
from tacit.errors import InputError
from tacit.fields import OneQuasi, PositiveFloat, PositiveShare, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.records.register.matching import link
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Role

Attacker = Literal["prosecutor", "journalist", "marketer"]
TOLERANCE = 1e-9


@register
class AttackRisk(Measure):
    r"""The probability that each record is re-identified, by three intruders, and whether an attack pays.

    A record in a class of f records, which F people of the population could be, is re-identified with probability

    * prosecutor, who knows that the person is in the data: 1 / f;
    * journalist, who does not and looks anybody up in a register: 1 / F;
    * marketer, who wants as many as possible: the mean of the journalist's probabilities, the expected share of correct
      matches.

    F is counted in a population register; without one it is f / ``fraction``, or else the sum of the weights of the class
    (at least f), or else f: the data are then taken for the whole population. With r the probabilities, the result has for
    each intruder the highest and the mean r, the share of records with r above ``threshold``, and the probability that at
    least one record is re-identified when each is attacked once,

    .. math:: 1 - \prod_i (1 - r_i).

    An intruder who pays ``cost`` for an attempt and gains ``gain`` by a success attacks where gain times r exceeds cost. The
    publisher has ``benefit`` from each record and loses ``loss`` by each that is re-identified.

    References
    ----------
    El Emam (2013), Guide to the de-identification of personal health information, CRC Press. Dankar, El Emam (2010), A method
    for evaluating marketer re-identification risk, EDBT/ICDT workshops, article 28. Wan, Vorobeychik, Xia, Clayton,
    Kantarcioglu, Ganta, Heatherly, Malin (2015), A game theoretic framework for analyzing re-identification risk, PLoS
    ONE 10(3), e0120592.
    """

    kind: Literal["attack_risk"] = "attack_risk"
    attacker: Attacker = Field(
        default="prosecutor", description="the intruder that the limits and the value are about"
    )
    threshold: Probability = Field(
        default=0.2, description="records with a higher probability than this are at risk"
    )
    highest: Probability | None = Field(
        default=None, description="the highest probability allowed for any record"
    )
    average: Probability | None = Field(default=None, description="the mean probability allowed")
    at_risk: Probability | None = Field(
        default=None, description="the share of records at risk allowed"
    )
    fraction: PositiveShare | None = Field(
        default=None,
        description="the sampling fraction of the data, to estimate the population without a register",
    )
    cost: PositiveFloat | None = Field(
        default=None, description="what an attempt on one record costs the intruder"
    )
    gain: PositiveFloat | None = Field(
        default=None, description="what a success is worth to the intruder"
    )
    benefit: PositiveFloat | None = Field(
        default=None, description="what publishing one record is worth to the publisher"
    )
    loss: PositiveFloat | None = Field(
        default=None, description="what one re-identification costs the publisher"
    )
    quasi: OneQuasi = None

    on_weight = "used"
    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    axis: ClassVar[str] = "mean probability of re-identification"

    @model_validator(mode="after")
    def _in_pairs(self) -> AttackRisk:
        if (self.cost is None) != (self.gain is None):
            raise ValueError("cost and gain go together")
        if (self.benefit is None) != (self.loss is None):
            raise ValueError("benefit and loss go together")
        if self.benefit is not None and self.cost is None:
            raise ValueError("benefit and loss need cost and gain")
        if self.attacker == "marketer" and not (self.highest is None and self.at_risk is None):
            raise ValueError("the marketer has a mean probability alone; use average")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> AttackRiskResult:
        keys = data.keys if self.quasi is None else data.quasi_identifiers(self.quasi)[self.quasi]
        ctx.tick("class sizes")
        own, people, source = self.class_sizes(data, other, keys, ctx)
        # Nobody finds a record that nobody could be.
        found = np.divide(1.0, people, out=np.zeros(len(people)), where=people > 0)
        risks = {"prosecutor": 1 / own, "journalist": found}
        attackers = {name: Attack.of(r, self.threshold) for name, r in risks.items()}
        chosen = "journalist" if self.attacker == "marketer" else self.attacker
        mine, r = attackers[chosen], risks[chosen]
        numbers: dict[str, Any] = {"records": len(own), "population from": source}
        for name, attack in attackers.items():
            numbers |= {
                f"{name}: highest probability": attack.highest,
                f"{name}: mean probability": attack.average,
                f"{name}: share above {self.threshold:g}": attack.at_risk,
                f"{name}: probability of at least one": attack.at_least_one,
            }
        numbers["marketer: expected share of correct matches"] = attackers["journalist"].average
        numbers["marketer: expected correct matches"] = float(risks["journalist"].sum())
        numbers |= self.profit(r)
        return AttackRiskResult(
            kind=self.kind,
            title="Re-identification by prosecutor, journalist and marketer",
            value=mine.average,
            numbers=numbers,
            frame=as_frame(
                {
                    "position": np.arange(len(own)),
                    "class size": own.astype(np.int64),
                    "population": people,
                    **risks,
                }
            ),
            explanation=(
                f"The value compared before and after is the mean probability of the {self.attacker}. {WORDS[source]} "
                "At least one record is re-identified with the stated probability if every record is attacked once."
            ),
            shortfall=self.missed(mine),
            attackers=attackers,
        )

    def class_sizes(
        self, data: Microdata, other: Companions, keys: tuple[str, ...], ctx: Context
    ) -> tuple[Floats, Floats, str]:
        """Return for each record the size of its class, the people it could be, and whence the latter is known."""
        ids, n = classes(data, keys)
        own = np.bincount(ids, minlength=n).astype(np.float64)[ids]
        if other.has_register:
            found = link(data, Companions(register=other.register), self.quasi, None, ctx)
            return own, found.candidates.astype(np.float64), "register"
        if self.fraction is not None:
            return own, own / self.fraction, "fraction"
        if data.weight is None:
            return own, own, "data"
        weights = data.column(data.weight).to_numpy().astype(np.float64)
        if not np.all(weights > 0):
            raise InputError(
                f"attack_risk: the weights in {data.weight!r} must be positive and not missing."
            )
        people = np.bincount(ids, weights=weights, minlength=n)[ids]
        return own, np.maximum(people, own), "weights"

    def profit(self, r: Floats) -> dict[str, Any]:
        """Return what the attack brings to the intruder and to the publisher."""
        if self.cost is None or self.gain is None:
            return {}
        worth = self.gain * r > self.cost + TOLERANCE * self.cost
        told: dict[str, Any] = {
            "records worth attacking": int(worth.sum()),
            "the intruder's expected profit": float((self.gain * r - self.cost)[worth].sum()),
        }
        if self.benefit is not None and self.loss is not None:
            told["the publisher's expected payoff"] = float(
                self.benefit * len(r) - self.loss * r[worth].sum()
            )
            told["records that the publisher had better keep"] = int(
                (worth & (self.loss * r > self.benefit)).sum()
            )
        return told

    def missed(self, attack: Attack) -> str:
        """Return which limits are not kept, in a sentence."""
        pairs = [
            ("highest probability", attack.highest, self.highest),
            ("mean probability", attack.average, self.average),
            (f"share of records above {self.threshold:g}", attack.at_risk, self.at_risk),
        ]
        clauses = [
            f"the {name} is {value:.4g}, and at most {limit:g} was asked for"
            for name, value, limit in pairs
            if limit is not None and value > limit + TOLERANCE
        ]
        return f"re-identification by {self.attacker}: {'; '.join(clauses)}" if clauses else ""


@dataclass(frozen=True)
class Attack:
    """What one intruder can expect."""

    highest: float
    average: float
    at_risk: float
    at_least_one: float

    @classmethod
    def of(cls, r: Floats, threshold: float) -> Attack:
        """Summarise the probabilities of all records."""
        if not len(r):
            return cls(0.0, 0.0, 0.0, 0.0)
        sure = bool((r >= 1).any())
        none = 0.0 if sure else float(np.exp(np.log1p(-r).sum()))
        above = float((r > threshold + TOLERANCE).mean())
        return cls(float(r.max()), float(r.mean()), above, 1 - none)


@dataclass(frozen=True, repr=False)
class AttackRiskResult(Result):
    """Risk by record and by intruder."""

    attackers: dict[str, Attack] = None  # type: ignore[assignment]

    @property
    def prosecutor(self) -> Attack:
        """Return what the prosecutor can expect."""
        return self.attackers["prosecutor"]

    @property
    def journalist(self) -> Attack:
        """Return what the journalist can expect."""
        return self.attackers["journalist"]

    @property
    def marketer(self) -> float:
        """Return the expected share of correct matches."""
        return self.attackers["journalist"].average

    def plot(self) -> Chart:
        """Return the probabilities of prosecutor and journalist side by side."""
        items = [
            (label, name, float(value))
            for name, attack in self.attackers.items()
            for label, value in (
                ("highest", attack.highest),
                ("mean", attack.average),
                ("share of records at risk", attack.at_risk),
                ("at least one", attack.at_least_one),
            )
        ]
        return grouped_bars(items, title="Re-identification by intruder", y="probability")


WORDS = {
    "register": "The population was counted in the register; a record that matches nobody there has probability 0.",
    "fraction": "The population was estimated from the sampling fraction.",
    "weights": "The population was estimated by the sums of weights.",
    "data": "No register, fraction or weights were given: the data were taken for the whole population.",
}
