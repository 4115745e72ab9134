"""Probabilistic record linkage: agreement of fields, weighed by how much it tells."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.block import format_columns
from tacit.data.microdata import Microdata
from tacit.errors import Approximate, InputError, SdcError, Slow
from tacit.fields import ColumnName, PositiveFloat, PositiveInt, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.theme import PALETTE
from tacit.registry import register
from tacit.result import Result
from tacit.risk.linkage.agreement import (
    MARGIN,
    Candidates,
    Comparison,
    Model,
    Patterns,
    Scores,
    Zones,
    assign_weighted_links,
    best_links,
    candidates,
    count_patterns,
    em,
    fit_informed_model,
    level_shares,
    make_em_start,
    pair_weights,
    random_patterns,
    scores,
    true_patterns,
    zones,
)
from tacit.risk.linkage.attack import TIE_RULES, Attack, Ties, parents
from tacit.risk.linkage.linking import (
    Fields,
    block_numbers,
    count_disclosed_values,
    known_fields,
    list_known_columns,
)
from tacit.risk.linkage.metrics import known_scale
from tacit.spec import Companions, Measure

#: Comparisons of two records from which on a warning says that blocking would help.
MANY = 20_000_000_000
#: Change of a probability in one step of EM below which it is at rest.
AT_REST = 1e-8
RANDOM_PAIRS = 1_000_000


@register
class ProbabilisticLinkage(Measure):
    """Share of records that an intruder finds by weighing the agreement of fields.

    A pair of an original and a released record is compared field by field: equal or not, for numbers
    within tolerances of some standard deviations. With m the probability of a level of agreement among
    pairs of the same person and u among others, its weight is log2(m / u); weights of fields add up, a
    missing value weighs nothing. p (the share of pairs of the same person), m and u are fitted by the EM
    algorithm to the counts of agreement patterns, from p = 1 / max(n_A, n_B), m = 0.9, u = 0.1, fields
    being independent given whether a pair matches. Each record is linked to the released one of the
    largest weight. Since pure agreement ties heavily, weights of numbers are interpolated: they fall
    linearly from agreement at difference 0 to disagreement at twice the widest tolerance.

    Thresholds for two error rates split all pairs into links, possible links and no links. ``block``
    (equal values) and ``near`` (a number close by) limit the pairs that are looked at; pairs outside are
    taken for no links. Correlated columns break the independence: p is then too large, and the rates are
    guides only.

    References
    ----------
    Fellegi, Sunter (1969), A theory for record linkage, JASA 64, 1183-1210.
    Jaro (1989), Advances in record-linkage methodology as applied to matching the 1985 census of Tampa,
    Florida, JASA 84, 414-420.
    Torra, Abowd, Domingo-Ferrer (2006), Using Mahalanobis distance-based record linkage for disclosure
    risk assessment, PSD 2006, LNCS 4302, 233-242.
    """

    kind: Literal["probabilistic_linkage"] = "probabilistic_linkage"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns that the intruder knows, numeric or not; by default the keys and all numeric columns that were changed",
    )
    tolerances: tuple[PositiveFloat, ...] = Field(
        default=(0.1,),
        min_length=1,
        description="differences up to which numbers agree, in standard deviations; several give several levels of agreement",
    )
    interpolate: bool = Field(
        default=True, description="let the weight of a number fall linearly with the difference"
    )
    block: tuple[ColumnName, ...] = Field(
        default=(), description="compare only records that are equal on these columns"
    )
    near: ColumnName | None = Field(
        default=None, description="compare only records that are close on this numeric column"
    )
    within: PositiveFloat = Field(default=0.5, description="how close, in standard deviations")
    estimate: Literal["em", "random_pairs", "true"] = Field(
        default="em",
        description="fit m and u by EM; fit m, with u from a million random pairs; or, as the worst case, take m from the true pairs and u from the others",
    )
    false_match: Probability = Field(
        default=0.01, description="share of the pairs of different persons that may become links"
    )
    false_nonmatch: Probability = Field(
        default=0.1, description="share of the pairs of the same person that may become no links"
    )
    ties: Ties = Field(
        default="expected",
        description="how a record counts that ties with others: first in the file, only when alone, by its chance, or always",
    )
    one_to_one: bool = Field(
        default=False,
        description="link no released record twice: the pairing of largest total weight",
    )
    iterations: PositiveInt = Field(default=10_000, description="most steps of the EM algorithm")

    on_household = "unused"
    on_weight = "unused"
    on_stratum = "unused"
    on_links = "unused"
    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "zip", "income"]}

    @model_validator(mode="after")
    def _consistent(self) -> ProbabilisticLinkage:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if set(self.columns) & set(self.block):
            raise ValueError(
                "block must not name a column that is compared: within a block it is equal"
            )
        if list(self.tolerances) != sorted(set(self.tolerances), reverse=True):
            raise ValueError("tolerances must go from wide to narrow, each once")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns compared and those that limit the pairs."""
        return (*self.columns, *self.block, *((self.near,) if self.near else ()))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nearness on a column without numbers."""
        found = super().faults(data)
        if not found and self.near and not data.frame.collect_schema()[self.near].is_numeric():
            found.append(InputError(f"{self.kind}: near needs a numeric column"))
        return found

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> ProbabilisticLinkageResult:
        original = other.original
        columns = self.columns or tuple(
            c for c in list_known_columns(original, data, self.kind) if c not in self.block
        )
        if not columns:
            raise InputError(f"{self.kind} needs a column that original and release share")
        fields = known_fields(original, data, columns, self.kind)
        pairs = self.candidates(fields, original, data)
        comparison = comparison_of(fields, self.tolerances)
        model, patterns = self.fit(fields, pairs, comparison, ctx)
        how = scores(model, comparison, interpolated=self.interpolate)
        ctx.tick("linking", None)
        found = self.linked(fields, pairs, how, ctx)
        return self.result(fields, pairs, model, patterns, found, original, data)

    # -- steps -------------------------------------------------------------------------------

    def candidates(self, fields: Fields, original: Microdata, data: Microdata) -> Candidates:
        """Return the pairs to look at."""
        files, block, near, within = fields.files, None, None, np.inf
        if self.block:
            block = block_numbers(original, data, self.block, self.kind)
        if self.near:
            one = known_fields(original, data, (self.near,), self.kind).files
            near = (one.original[:, 0], one.released[:, 0])
            within = self.within * float(known_scale(one.original).spread[0])
        found = candidates(files.original, files.released, block=block, near=near, within=within)
        if found.pairs == 0:
            raise InputError(f"{self.kind}: no pair of records meets block and near")
        if found.work > MANY:
            warnings.warn(
                f"{self.kind}: {found.work:,} comparisons will take long; block or near would save most",
                Slow,
                stacklevel=5,
            )
        return found

    def fit(
        self, fields: Fields, pairs: Candidates, comparison: Comparison, ctx: Context
    ) -> tuple[Model, Patterns]:
        """Fit the probabilities of agreement to the pattern counts."""
        files = fields.files
        patterns = count_patterns(pairs, comparison, ctx.tick)
        n = max(len(files.original), len(files.released))
        start = make_em_start(comparison, 1.0 / n)
        if self.estimate == "true":
            own = true_patterns(files.original, files.released, files.old, files.new, comparison)
            return fit_informed_model(patterns, own, start), patterns
        if self.estimate == "random_pairs":
            drawn = random_patterns(
                files.original, files.released, comparison, RANDOM_PAIRS, ctx.rng
            )
            start = replace(start, u=level_shares(drawn, start))
        model = em(
            patterns,
            start,
            fixed_u=self.estimate == "random_pairs",
            tolerance=AT_REST,
            limit=self.iterations,
        )
        if not model.converged:
            warnings.warn(
                f"{self.kind}: the EM algorithm did not come to rest in {self.iterations:,} steps",
                Approximate,
                stacklevel=5,
            )
        against = [fields.columns[f] for f in model.list_contrary_fields()]
        if against:
            warnings.warn(
                f"{self.kind}: agreement on {format_columns(against)} speaks against a match, so the fitted "
                "model does not describe matches. Leave such columns out or widen the tolerances.",
                Approximate,
                stacklevel=5,
            )
        return model, patterns

    def linked(self, fields: Fields, pairs: Candidates, how: Scores, ctx: Context) -> Attack:
        """Link each original record and say which links are right."""
        files = fields.files
        truth = files.truth
        links = (
            assign_weighted_links(pairs, how)
            if self.one_to_one
            else best_links(pairs, how, ctx.tick)
        )
        if self.one_to_one:
            hit = (links.nearest == truth) & (truth >= 0)
        else:
            own = pair_weights(files.original, files.released[truth], how)
            hit = (truth >= 0) & pairs.holds(truth) & (own >= -links.distance - 2 * MARGIN)
        return Attack("weights of agreement", links, truth, hit, parents(files, links, truth))

    def result(
        self,
        fields: Fields,
        pairs: Candidates,
        model: Model,
        patterns: Patterns,
        found: Attack,
        original: Microdata,
        data: Microdata,
    ) -> ProbabilisticLinkageResult:
        """Put the result together."""
        files = fields.files
        n, correct = len(files.old), found.correct(self.ties)
        total = float(correct.sum())
        bounds = zones(model, patterns, self.false_match, self.false_nonmatch)
        weight = model.pattern_weights(patterns.levels)
        above, below = weight >= bounds.upper, weight <= bounds.lower
        numbers: dict[str, Any] = {
            "records attacked": len(files.original),
            "of them in both files": n,
            "columns known": len(fields.columns),
            "pairs compared": pairs.pairs,
            "correct links": total,
            "share of correct links": total / n,
            "share by chance": 1.0 / len(files.released),
            "correct and without ties": int(found.count("unique")),
            "share linked to a record of the same released values": float(found.parent.sum()) / n,
            "p": model.p,
            "pairs that are links": int(patterns.counts[above].sum()),
            "possible links": int(patterns.counts[~above & ~below].sum()),
            "no links": int(patterns.counts[below & ~above].sum()),
        }
        learnt = count_disclosed_values(original, data, files, correct)
        numbers |= {f"{c}: true values disclosed by correct links": v for c, v in learnt.items()}
        return ProbabilisticLinkageResult(
            kind=self.kind,
            title="Probabilistic record linkage",
            value=total / n,
            numbers=numbers,
            frame=link_frame(found, correct, bounds),
            explanation=(
                f"An intruder who knows {len(fields.columns)} columns and weighs their agreement finds "
                f"{total:,.0f} of {n:,} records ({total / n:.1%})."
            ),
            correct=total,
            share=total / n,
            columns=fields.columns,
            model=model,
            patterns=pattern_frame(fields.columns, patterns, model, bounds),
            zones=bounds,
            by_rule={rule: found.count(rule) for rule in TIE_RULES},
            any_parent=float(found.parent.sum()) / n,
            disclosed=learnt,
        )


@dataclass(frozen=True, repr=False)
class ProbabilisticLinkageResult(Result):
    """Correct links, by record in ``frame``; the fitted ``model`` and its ``patterns``.

    Attributes
    ----------
    correct, share
        Correct links under the tie rule, and their share of the records that are in both files.
    columns
        The columns compared.
    model
        p, m and u.
    patterns
        One row per agreement pattern: levels by column (null: missing), pairs, weight, the probability of
        a match, the zone, and the error rates when the threshold is there.
    zones
        The thresholds.
    by_rule
        Correct links under each tie rule.
    any_parent
        Share of links to a record with the released values of the own one.
    disclosed
        By sensitive column, correct links that lead to the true value.
    """

    correct: float = 0.0
    share: float = 0.0
    columns: tuple[str, ...] = ()
    model: Model = None  # type: ignore[assignment]
    patterns: nw.DataFrame[Any] = None  # type: ignore[assignment]
    zones: Zones = None  # type: ignore[assignment]
    by_rule: Mapping[str, float] = field(default_factory=dict)
    any_parent: float = 0.0
    disclosed: Mapping[str, float] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the weights of agreement and disagreement by column."""
        return grouped_bars(
            (
                (c, "disagrees" if k == 0 else "agrees", float(weights[k]))
                for c, weights in zip(self.columns, self.model.weights, strict=True)
                for k in dict.fromkeys((0, len(weights) - 1))
            ),
            title="What agreement on a column tells",
            subtitle=f"{self.share:.1%} of the records are found; weight = log2(m / u)",
            y="weight in bits",
            colours=(PALETTE[1], PALETTE[0]),
            texts="{:.1f}".format,
            alt="Weights of agreement by column",
        )


def comparison_of(fields: Fields, tolerances: tuple[float, ...]) -> Comparison:
    """Return how the fields are compared: numbers within tolerances, others by equality."""
    spread = known_scale(fields.files.original).spread
    return Comparison(
        tuple(
            tuple(t * s for t in tolerances) if is_number and s > 0 else (0.0,)
            for is_number, s in zip(fields.numeric, spread, strict=True)
        ),
        tuple(is_number and s > 0 for is_number, s in zip(fields.numeric, spread, strict=True)),
    )


def link_frame(found: Attack, correct: Any, bounds: Zones) -> nw.DataFrame[Any]:
    """Return the links, one row per record: positions in the two files count from 0."""
    links = found.links
    weight = -links.distance
    zone = np.where(
        weight >= bounds.upper, "link", np.where(weight <= bounds.lower, "no link", "possible")
    )
    table = pa.table(
        {
            "record": np.arange(len(links)),
            "link": links.nearest,
            "weight": weight,
            "second": -links.second,
            "ties": links.ties,
            "correct": correct,
            "parent": found.parent,
            "zone": zone,
        }
    )
    return nw.from_native(table, eager_only=True)


def pattern_frame(
    columns: tuple[str, ...], patterns: Patterns, model: Model, bounds: Zones
) -> nw.DataFrame[Any]:
    """Return the patterns by decreasing weight."""
    order = bounds.order
    weight = model.pattern_weights(patterns.levels)[order]
    above, below = weight >= bounds.upper, weight <= bounds.lower
    levels = patterns.levels[order]
    table = {c: pa.array(levels[:, f], mask=levels[:, f] < 0) for f, c in enumerate(columns)}
    table |= {
        "pairs": pa.array(patterns.counts[order]),
        "weight": pa.array(weight),
        "probability": pa.array(model.posterior(levels)),
        "false_match": pa.array(bounds.false_match),
        "false_nonmatch": pa.array(bounds.false_nonmatch),
        "zone": pa.array(np.where(above, "link", np.where(below, "no link", "possible"))),
    }
    return nw.from_native(pa.table(table), eager_only=True)
