"""MinRisk: disclose k values of each record, those that cost the least expected loss."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.hierarchy import ground_labels
from tacit.data.microdata import Microdata
from tacit.errors import (
    Approximate,
    DisclosureRefused,
    Infeasible,
    InputError,
    SdcError,
    WeakProtection,
)
from tacit.fields import NaturalInt, PositiveFloat
from tacit.records.decision.dictionaries import Columns, take_columns
from tacit.records.decision.rules import Rule, find_rule
from tacit.records.decision.sensitivity import (
    Per,
    bound_losses,
    count_rules,
    departure,
    gammas,
    hide,
    losses,
    marginal_counts,
    product_candidates,
    risk_of,
    select_smallest,
)
from tacit.records.decision.side_information import FORMS, Posed, SideInformation
from tacit.records.suppression.local_suppression import blank_values, count_hidden
from tacit.registry import register
from tacit.spec import Method

#: Cells of dictionaries up to which a claim holds them, so that the risk is recomputed from them; and pairs of a
#: record and a row up to which that is done.
CLAIMED, PAIRS = 20_000, 1_000_000
#: Numbers of rules longer than this are told as a power of ten.
DIGITS = 15


@register
class MinRisk(SideInformation, Method):
    r"""Disclose k values, of each record, in total or of each attribute, with the least expected loss.

    An attacker who holds a dictionary finds the rows that are consistent with a released record and picks one of
    them. The loss of a record is its sensitivity times the chance that this succeeds; the risk is its mean,

    .. math:: R(\delta, \theta) = \frac1n \sum_i \frac{\Phi(\delta(x_i))}{|\rho(\delta(x_i), \theta)|}.

    All other values of the attributes are suppressed. The rule is the one of least risk against a known dictionary,
    of least mean risk under a prior over several, or of least largest risk over several.

    ``search="independence"`` is the paper's Algorithm 1 (one dictionary, k of each record, phi5): were
    attributes independent in the dictionary, the k smallest

    .. math:: \gamma_j = e^{w_{ji}} N / n_j(x_{ij})

    would be the best. How far that is from true is reported as the largest relative difference between counted and
    multiplied candidates, with the risk as counted and a bound that no rule can undercut.
    ``search="exact"`` looks at all sets of attributes: record by record, by dynamic programming over
    records (in total), or by an integer program. ``auto`` is exact where the sets can be listed. A rule without proof
    is reported with its bound and a warning.

    References
    ----------
    Lebanon, Scannapieco, Fouad, Bertino (2006), Beyond k-anonymity: a decision theoretic framework for
    assessing privacy risk, PSD 2006, LNCS 4302, 217-232, Algorithm 1 and equations (1) to (3).
    """

    kind: Literal["min_risk"] = "min_risk"
    k: NaturalInt = Field(description="values that are disclosed")
    per: Per = Field(
        default="record", description="k of each record, k in total, or k of each attribute"
    )
    search: Literal["auto", "exact", "independence"] = Field(
        default="auto",
        description="all sets of attributes, or the k smallest gammas as if attributes were independent",
    )
    seconds: PositiveFloat = Field(
        default=60.0, description="time for an integer program, where one is needed"
    )

    on_household = "together"
    on_links = "suppressed"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("suppression (cell)",)
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    @model_validator(mode="after")
    def _algorithm_fits(self) -> MinRisk:
        if self.search == "independence" and not self.can_multiply():
            raise ValueError(
                "search 'independence' goes with one dictionary, k of each record, sensitivity 'phi5' without interactions, and not with similarity of whole records"
            )
        return self

    def can_multiply(self) -> bool:
        """Return True when Algorithm 1 applies."""
        return (
            self.per == "record"
            and self.sensitivity == "phi5"
            and not self.interactions
            and len(self.dictionaries) < 2
            and not (self.consistency == "jaro" and self.level == "record")
        )

    def columns_named(self) -> tuple[str, ...]:
        """Return the attributes, and the columns that hold weights."""
        return (*(self.columns or ()), *self.weighing_columns())

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns in which cells may be suppressed."""
        return self.attributes(data)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no attributes, an unknown sensitivity, more values to disclose than there are."""
        found = super().faults(data) or list(self.own_faults(data))
        return found if found or not len(data) else list(self.faults_of_values(data))

    def faults_of_values(self, data: Microdata) -> Iterator[SdcError]:
        """Yield what the data lack."""
        names = self.attributes(data)
        if not self.dictionaries and not self.told(data):
            yield InputError(
                "min_risk: all attributes are sensitive, so that nobody is taken to know them. Name keys among the columns, or give dictionaries."
            )
            return
        torn = [(c, o) for c in names for o in data.linked_with(c) if o in self.weighing_columns()]
        if torn:
            yield InputError(
                f"min_risk: {torn[0][1]!r} holds weights and is linked with {torn[0][0]!r}, with which it would be suppressed"
            )
            return
        table = data.to_arrow(names)
        known = np.stack([table.column(c).is_valid().to_numpy() for c in names], axis=1)
        if self.per == "total":
            if self.k > known.sum():
                yield Infeasible(
                    "min_risk: k is more than the values that the records have. Lower k."
                )
            return
        counts = known.sum(axis=1 if self.per == "record" else 0)
        few = np.flatnonzero(counts < self.k)
        if not len(few):
            return
        where = f"record {few[0] + 1}" if self.per == "record" else f"column {names[few[0]]!r}"
        more = "" if len(few) == 1 else f", like {len(few) - 1:,} more,"
        yield Infeasible(
            f"min_risk: {where}{more} has fewer than k values to disclose, as missing ones cannot be. Lower k, or leave such records or columns out."
        )

    def known(self, data: Microdata) -> dict[str, Columns]:
        """Return the dictionaries; without any, the file itself, as k-anonymity assumes."""
        return self.given_dictionaries() or {"the file itself": take_columns(data, self.told(data))}

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        posed = self.pose(data, self.known(data))
        self.refuse_empty(posed)
        rule = self.find(posed, ctx)
        self.tell(posed, rule, ctx)
        return blank_values(data, posed.names, (posed.codes >= 0) & ~rule.shown)

    def refuse_empty(self, posed: Posed) -> None:
        """Refuse dictionaries that leave nothing to protect against: every rule would cost nothing."""
        held = posed.dictionaries.values()
        if any(not d.n for d in held):
            raise DisclosureRefused(
                "min_risk: a dictionary lists nobody, so that any rule would seem to cost nothing. Give one with the people "
                "whom the attacker may know, or none for the file itself."
            )
        if len(posed.codes) and all((d.count(posed.codes) == 0).all() for d in held):
            raise DisclosureRefused(
                "min_risk: no record fits anybody in the dictionaries, so that any rule would seem to cost nothing. Are values "
                "coded differently there?"
            )

    def find(self, posed: Posed, ctx: Context) -> Rule:
        """Return the best rule that was found."""
        if self.search != "independence":
            found = find_rule(
                posed.codes,
                list(posed.dictionaries.values()),
                posed.sensitivity,
                prior=self.prior_over(list(posed.dictionaries)),
                per=self.per,
                k=self.k,
                seconds=self.seconds,
                tick=ctx.tick,
            )
            if found is not None:
                return found
            if self.search == "exact" or not self.can_multiply():
                raise InputError(
                    "min_risk: there are too many sets of attributes to look at all. Name fewer columns, or take search='independence' with one dictionary, k of each record and phi5."
                )
        return self.multiply(posed, ctx)

    def multiply(self, posed: Posed, ctx: Context) -> Rule:
        """Return the rule of Algorithm 1, and note how independent the attributes are."""
        (theta,) = posed.dictionaries.values()
        known, weights = posed.codes >= 0, posed.sensitivity.weights
        shown = select_smallest(gammas(posed.codes, theta, weights), known, self.k)
        counts = marginal_counts(posed.codes, theta)
        exact = theta.count(hide(posed.codes, shown))
        product = product_candidates(counts, shown, theta.n)
        found = theta.count(posed.codes) > 0
        bound = risk_of(bound_losses(counts, known, weights, self.k, found))
        phi = posed.sensitivity.of(shown)
        with np.errstate(divide="ignore", invalid="ignore"):
            multiplied = np.where(product > 0, phi / product, 0.0)
        risk = risk_of(losses(exact, phi))
        ctx.note(
            departure_from_independence=departure(exact, product),
            risk_if_independent=risk_of(multiplied),
        )
        return Rule(shown, risk, min(bound, risk), "Algorithm 1, as if attributes were independent")

    def tell(self, posed: Posed, rule: Rule, ctx: Context) -> None:
        """Note the rule's risk and its bound, and warn where it is not proven to be the best."""
        known = posed.codes >= 0
        hidden = known & ~rule.shown
        held, titles = posed.dictionaries, self.public_names(list(posed.dictionaries))
        lost = {n: int((d.count(posed.codes) == 0).sum()) for n, d in held.items()}
        rules = count_rules(known, self.per, self.k)
        digits = len(str(rules)) if rules.bit_length() < 10_000 else int(rules.bit_length() * 0.301)
        ctx.note(
            **count_hidden(posed.names, hidden),
            disclosed=int(rule.shown.sum()),
            risk_of_rule=rule.risk,
            lower_bound=rule.bound,
            proven=rule.proven,
            how=rule.how,
            rules=rules if digits <= DIGITS else f"about 10^{digits - 1}",
            attacker=self.attacker(posed),
            dictionaries={n: d.n for n, d in zip(titles, held.values(), strict=True)},
            records_without_candidates=dict(zip(titles, lost.values(), strict=True)),
        )
        for title, count in lost.items():
            if 2 * count > len(known) and held[title].n:
                warnings.warn(
                    f"min_risk: {count:,} of {len(known):,} records fit nobody in dictionary {title!r} and cost nothing, whatever they show. Are values coded differently there?",
                    WeakProtection,
                    stacklevel=4,
                )
        if not rule.proven:
            warnings.warn(
                f"min_risk: the rule has risk {rule.risk:.6g}, and no rule can have less than {rule.bound:.6g}; that it is the best is not proven.",
                Approximate,
                stacklevel=4,
            )

    def attacker(self, posed: Posed) -> str:
        """Return what is assumed of the attacker's dictionary."""
        if len(posed.dictionaries) == 1:
            return "known dictionary"
        return "worst of several dictionaries" if self.prior is None else "prior over dictionaries"

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        names = self.attributes(data)
        yield Claim(
            "disclosed-cells",
            {"k": self.k, "per": self.per},
            "attributes",
            names,
            ("A missing value cannot be filled in from other columns.",),
        )
        known = self.given_dictionaries()
        cells = sum(len(v) for one in known.values() for c, v in one.items() if c in names)
        pairs = len(result) * sum(len(next(iter(one.values()), ())) for one in known.values())
        simple = self.consistency == "exact" and self.sensitivity in FORMS
        of_records = bool(self.weighing_columns()) or bool(set(names) & set(data.hierarchies))
        if known and cells <= CLAIMED and pairs <= PAIRS and simple and not of_records:
            yield self.claim_risk(result, known)

    def claim_risk(self, result: Microdata, known: Mapping[str, Columns]) -> Claim:
        """Return the claim on the risk of the released file, with all that is needed to recompute it."""
        posed = self.pose(result, known)
        each = {
            n: risk_of(losses(d.count(posed.codes), posed.sensitivity.of(posed.codes >= 0)))
            for n, d in posed.dictionaries.items()
        }
        rows = {
            n: {c: ground_labels(v).to_pylist() for c, v in columns.items() if c in posed.names}
            for n, columns in known.items()
        }
        return Claim(
            "decision-risk",
            {
                "risks": {n: write_number(r) for n, r in each.items()},
                "sensitivity": self.sensitivity,
                **({"constant": self.constant} if self.sensitivity == "constant" else {}),
                "weights": [write_number(self.weights.get(c, 1.0)) for c in posed.names],
                "interactions": [
                    [list(t.columns), write_number(float(t.weight))] for t in self.interactions
                ],
                "dictionaries": rows,
            },
            "attributes",
            posed.names,
            ("Attackers hold one of the dictionaries, and pick among the rows that fit.",),
            withheld=("risks", "weights", "interactions", "dictionaries"),
        )


def write_number(value: float) -> float | str:
    """Return a number as JSON can hold it."""
    return "inf" if math.isinf(value) else value
