"""Decision-theoretic risk: how likely identification is, times how much it would hurt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow.compute as pc
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.hierarchy import ground_labels
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.base import ROW
from tacit.errors import ColumnNotFound, InputError, SdcError
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.lines import lines
from tacit.records.decision.dictionaries import Columns, take_columns
from tacit.records.decision.sensitivity import (
    Certificate,
    concentrate,
    losses,
    precedes,
    risk_of,
    weigh,
)
from tacit.records.decision.side_information import Posed, SideInformation
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Points of the chart.
POINTS = 200
#: Whose dictionary it is, and what is said where none was given.
WHOSE: Mapping[str, tuple[str, str]] = {
    "given": ("as given", ""),
    "original": (
        "the original data",
        " No dictionary was given: the original data stood for it.",
    ),
    "own": (
        "the file itself",
        " No dictionary was given: the file itself stood for it, as k-anonymity assumes.",
    ),
}


@register
class DecisionRisk(SideInformation, Measure):
    r"""Expected loss of a release to an attacker with a dictionary: chance of identification times sensitivity.

    The candidates of a record are the dictionary rows that agree with it wherever both have a value; a value that was
    generalised agrees with all below it. An attacker picks one of them at random, so that

    .. math:: \ell(y, \theta) = \Phi(y) / |\rho(y, \theta)|, \qquad R = \frac1n \sum_i \ell(y_i, \theta),

    and a record without candidates costs nothing. The sensitivity :math:`\Phi` of what a record shows is the sum of the
    weights of its attributes (phi1), of the record (phi2), of both (phi3), with interactions (phi4), or the
    exponential of the sum (phi5), in which one very private attribute dominates.

    The dictionary is the register; or those in ``dictionaries``: then the risk is the mean under the ``prior``, or
    without one the largest. Without either the original stands for it, and without that the file itself, which is what
    k-anonymity assumes (sensitive columns are then known to nobody): with a constant sensitivity c, k-anonymous records cost at most c/k each.

    With ``identifier`` the original is the holder's own dictionary. Where it precedes a dictionary (which then has
    at least its people, and of them at most its values), the risk against it is an upper bound: that order is checked,
    and the certificate lists who contradicts it.

    References
    ----------
    Lebanon, Scannapieco, Fouad, Bertino (2006), Beyond k-anonymity: a decision theoretic framework for
    assessing privacy risk, PSD 2006, LNCS 4302, 217-232.
    Jaro (1978), UNIMATCH: a record linkage system, user's manual, US Bureau of the Census.
    """

    kind: Literal["decision_risk"] = "decision_risk"
    k: int | None = Field(
        default=None, ge=1, description="count the records with fewer than k candidates as well"
    )
    at_most: float | None = Field(
        default=None, ge=0, description="the risk that the release should not exceed"
    )
    identifier: ColumnName | None = Field(
        default=None,
        description="column of persons in the original and the dictionaries: certify the original's risk as a bound",
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no attributes, an unknown sensitivity."""
        return super().faults(data) or list(self.own_faults(data))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DecisionRiskResult:
        original = other.original if other.has_original else None
        if self.dictionaries and other.has_register:
            raise InputError(
                "decision_risk: give a register or dictionaries, not both; a register may be one of the dictionaries"
            )
        known, whose = self.known(data, other)
        trees = other.register.hierarchies if other.has_register else {}
        posed = self.pose(data, known, original, trees)
        ctx.tick("counting candidates", 0.1)
        found = Found.of(posed, self.prior_over(list(known)))
        certificates = self.certify(data, original, known)
        bound = None
        if certificates and original is not None:
            own = self.pose(data, {"own": take_columns(original, posed.names)}, original)
            bound = Found.of(own, (1.0,)).risk
        several, titles = len(found.names) > 1, self.public_names(found.names)
        n = len(found.loss)
        numbers: dict[str, Any] = {"records": n, "risk": found.risk}
        if several:
            numbers |= {f"risk, {t}": r for t, r in zip(titles, found.risks, strict=True)}
            numbers["largest risk"] = float(found.risks.max())
        if self.prior == "sampled":
            spread = float(found.risks.std(ddof=1)) if np.isfinite(found.risks).all() else np.inf
            numbers["standard error"] = spread / len(found.risks) ** 0.5
        numbers |= {
            f"rows of {t}": d.n for t, d in zip(titles, posed.dictionaries.values(), strict=True)
        } | {
            "expected identifications": float(found.chance.sum()),
            "largest chance of identification": float(found.chance.max(initial=0.0)),
            "largest loss": float(found.loss.max(initial=0.0)),
            "records without candidates": int((found.candidates == 0).sum()),
            "records that carry 50 % of the loss": concentrate(found.loss, 0.5),
            "records that carry 90 % of the loss": concentrate(found.loss, 0.9),
        }
        if self.k is not None:
            few = (found.candidates > 0) & (found.candidates < self.k)
            numbers[f"records with fewer than {self.k} candidates"] = int(few.sum())
        if bound is not None:
            numbers["risk against the original"] = bound
            numbers["bound certified"] = all(c.holds for c in certificates.values())
        return DecisionRiskResult(
            kind=self.kind,
            title="Expected loss by identification",
            value=found.risk,
            numbers=numbers,
            frame=as_frame(
                {
                    "position": np.arange(n),
                    "candidates": found.candidates,
                    "identification": found.chance,
                    "sensitivity": found.sensitivity,
                    "loss": found.loss,
                }
            ),
            explanation=self.explain(found, whose, certificates),
            shortfall=(
                f"the expected loss is {found.risk:.4g}, and at most {self.at_most:g} was asked for"
                if self.at_most is not None and found.risk > self.at_most
                else ""
            ),
            found=found,
            certificates=dict(certificates),
            assumptions=self.assume(found, whose),
        )

    def known(self, data: Microdata, other: Companions) -> tuple[dict[str, Columns], str]:
        """Return the dictionaries by name, and whose they are."""
        names = self.attributes(data)
        if not (self.dictionaries or other.has_register or self.told(data)):
            raise InputError(
                "decision_risk: all attributes are sensitive, so that nobody is taken to know them. Name keys among the columns, or give a register or dictionaries."
            )
        if self.dictionaries:
            return self.given_dictionaries(), "given"
        people = () if self.identifier is None else (self.identifier,)
        if other.has_register:
            return {"register": take_columns(other.register, (*names, *people))}, "given"
        if other.has_original:
            return {"the original": take_columns(other.original, self.told(data))}, "original"
        return {"the file itself": take_columns(data, self.told(data))}, "own"

    def certify(
        self, data: Microdata, original: Microdata | None, known: Mapping[str, Columns]
    ) -> dict[str, Certificate]:
        """Return for each dictionary whether the original precedes it."""
        person = self.identifier
        if person is None:
            return {}
        if original is None:
            raise InputError(
                "decision_risk: identifier asks for a bound from the holder's own dictionary: pass original=, the data before protection."
            )
        names = self.attributes(data)
        if person not in original.columns:
            raise ColumnNotFound([person], list(original.columns), "the original")
        if person in names:
            raise InputError(f"decision_risk: identifier {person!r} is among the attributes")
        rows = data.to_arrow([], with_row=True).column(ROW)
        present = original.to_arrow([], with_row=True).column(ROW)
        if not pc.all(pc.is_in(rows, value_set=present.combine_chunks())).as_py() and len(rows):
            raise InputError(
                "decision_risk: some records do not stem from the original, so its risk is no bound; leave out identifier"
            )
        own = as_texts(take_columns(original, (person, *names)))
        certificates = {}
        for title, columns in known.items():
            if person not in columns:
                raise InputError(
                    f"decision_risk: dictionary {title!r} has no column {person!r}, by which the bound is certified"
                )
            theirs = as_texts({c: v for c, v in columns.items() if c in (person, *names)})
            try:
                certificates[title] = precedes(own, theirs, person)
            except ValueError:
                raise InputError(
                    f"decision_risk: column {person!r} holds a person twice, in the original or in dictionary {title!r}"
                ) from None
        return certificates

    def assume(self, found: Found, whose: str) -> dict[str, str]:
        """Return what the number rests on."""
        attacker, _ = WHOSE[whose]
        if len(found.names) > 1:
            attacker = (
                "the worst of several" if self.prior is None else "several, with a prior over them"
            )
        similar = f"Jaro similarity of {self.threshold:g}, by {self.level}"
        return {
            "dictionary": attacker,
            "sensitivity": self.sensitivity,
            "consistency": "equality" if self.consistency == "exact" else similar,
            "candidates": "counted; the attacker picks one of them at random",
        }

    def explain(self, found: Found, whose: str, certificates: Mapping[str, Certificate]) -> str:
        """Return what the risk means, and what it assumes."""
        _, said = WHOSE[whose]
        text = f"A record costs {found.risk:.4g} on average: its sensitivity ({self.sensitivity}) times the chance that an attacker picks the right one of its candidates.{said}"
        if len(found.names) > 1:
            text += (
                " It is the largest over the dictionaries."
                if self.prior is None
                else " It is the mean under the prior over dictionaries."
            )
        lost = int((found.candidates == 0).sum())
        if lost:
            text += f" {lost:,} records have no candidate and count 0: nobody in the dictionary fits them, or values are coded differently there."
        for title, one in zip(self.public_names(found.names), certificates.values(), strict=False):
            text += f" Original and {title}: {one.sentence()}"
        return text


@dataclass(frozen=True)
class Found:
    """Risk by dictionary and loss by record."""

    #: The dictionaries, and the risk against each.
    names: tuple[str, ...]
    risks: Floats
    #: The mean under the prior, or the largest.
    risk: float
    #: One number a record: against the dictionary, or the worst of them; under a prior, the fewest candidates and the
    #: prior means.
    candidates: Ints
    chance: Floats
    sensitivity: Floats
    loss: Floats

    @classmethod
    def of(cls, posed: Posed, prior: tuple[float, ...] | None) -> Found:
        """Count candidates against every dictionary."""
        phi = posed.sensitivity.of(posed.codes >= 0)
        counts = np.stack([d.count(posed.codes) for d in posed.dictionaries.values()])
        each = np.stack([losses(c, phi) for c in counts])
        chances = np.stack([losses(c, 1.0) for c in counts])
        risks, names = np.array([risk_of(one) for one in each]), tuple(posed.dictionaries)
        if prior is None:
            at = int(risks.argmax())
            return cls(names, risks, float(risks[at]), counts[at], chances[at], phi, each[at])
        some = [c for c, p in zip(counts, prior, strict=True) if p > 0]
        fewest = np.min([np.where(c > 0, c, np.iinfo(np.int64).max) for c in some], axis=0)
        fewest[fewest == np.iinfo(np.int64).max] = 0
        risk, chance, loss = (weigh(prior, values) for values in (risks, chances, each))
        return cls(names, risks, float(risk), fewest, chance, phi, loss)


@dataclass(frozen=True, repr=False)
class DecisionRiskResult(Result):
    """Loss by record (``frame``), risk by dictionary, the certificate of the bound and what is assumed."""

    found: Found = None  # type: ignore[assignment]
    certificates: Mapping[str, Certificate] = field(default_factory=dict)
    assumptions: Mapping[str, str] = field(default_factory=dict)

    @property
    def risk(self) -> float:
        """Return R: against the dictionary, under the prior, or the largest."""
        return self.found.risk

    @property
    def risks(self) -> Mapping[str, float]:
        """Return the risk against each dictionary."""
        return dict(zip(self.found.names, map(float, self.found.risks), strict=True))

    def violating(self, k: int) -> Ints:
        """Return the positions of records with fewer than k candidates: under a constant c they cost over c/k."""
        return np.flatnonzero((self.found.candidates > 0) & (self.found.candidates < k))

    def plot(self) -> Chart:
        """Return the share of the loss that the records with the largest losses carry."""
        loss = np.sort(np.where(np.isinf(self.found.loss), 0.0, self.found.loss))[::-1]
        total = float(loss.sum())
        carried = (
            np.concatenate([[0.0], np.cumsum(loss)]) / total if total else np.zeros(len(loss) + 1)
        )
        at = np.unique(np.linspace(0, len(loss), POINTS).round().astype(int))
        share = at / max(1, len(loss))
        points = [
            ("loss", float(100 * x), float(100 * carried[i]))
            for x, i in zip(share, at, strict=True)
        ]
        half = self.numbers["records that carry 50 % of the loss"]
        return lines(
            points,
            title="How few records carry the expected loss",
            x="% of records, largest loss first",
            y="% of the loss",
            alt=f"Cumulated loss over records, largest first: {half:,} of {len(loss):,} records carry half of it.",
        )


def as_texts(columns: Columns) -> dict[str, list[str | None]]:
    """Return columns as the texts by which they are compared."""
    return {c: ground_labels(v).to_pylist() for c, v in columns.items()}
