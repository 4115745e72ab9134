"""Probabilistic record linkage: agreement of fields, weighed by how much it tells."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import format_columns
from tacit.data.microdata import Microdata
from tacit.errors import Approximate, InputError, SdcError, Slow
from tacit.fields import ColumnName, PositiveFloat, PositiveInt, Probability
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.theme import PALETTE
from tacit.records.linkage import agreement
from tacit.records.linkage.agreement import MARGIN, Candidates, Comparison, Scores
from tacit.records.linkage.attack import TIE_RULES, Attack, TieRule, parents, share_ties
from tacit.records.linkage.fellegi_sunter import (
    EDGE,
    Model,
    Patterns,
    Zones,
    em,
    fit_by_rules,
    fit_informed_model,
    fit_share,
    is_identified,
    level_shares,
    make_em_start,
    zones,
)
from tacit.records.linkage.field_levels import (
    BlockRule,
    FieldComparison,
    block_by_rule,
    compare_fields,
    list_rule_columns,
)
from tacit.records.linkage.linking import (
    Fields,
    block_numbers,
    count_disclosed_values,
    known_fields,
    link_curve,
    link_frame,
    list_known_columns,
    name_zones,
    pattern_frame,
)
from tacit.records.linkage.metrics import known_scale
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Comparisons of two records from which on a warning says that blocking would help.
MANY = 20_000_000_000
#: Change of a probability in one step of EM below which it is at rest.
AT_REST = 1e-8
RANDOM_PAIRS = 1_000_000
NAME = "weights of agreement"


@register
class ProbabilisticLinkage(Measure):
    """Share of records that an intruder finds by weighing the agreement of fields.

    A pair of an original and a released record is compared field by field: equal or not, numbers within
    tolerances of some standard deviations, or by levels of your own (``comparisons``): texts by Jaro and Winkler's
    similarity or by edits, numbers by absolute or relative difference, dates by days and slips of the pen. With m
    the probability of a level of agreement among pairs of the same person and u among others, its weight is
    log2(m / u); weights of fields add up, a missing value weighs nothing. Equality on a value v of a column of
    ``term_frequencies`` weighs log2(m / f_v), f_v being the share of v in the release: rare names tell more. Each
    record is linked to the released one of the largest weight. Since pure agreement ties heavily, weights of
    numbers without levels of their own are interpolated: they fall linearly from agreement at difference 0 to
    disagreement at twice the widest tolerance.

    p (the share of pairs of the same person), m and u are fitted by the EM algorithm to the counts of agreement
    patterns, from p = 1 / max(n_A, n_B), m = 0.9, u = 0.1, fields being independent given whether a pair matches.

    ``block`` (equal values) and ``near`` (a number close by) limit the pairs that are looked at. ``blocks`` are
    several rules, of which a pair must meet one, and is looked at once: a typing error in one key then loses
    nobody. With them u comes from random pairs, m is fitted rule by rule to the fields that the rule does not use,
    and p is a share of all pairs. Pairs outside are taken for no links.

    Thresholds for two error rates split all pairs into links, possible links and no links, and ``curve`` tells how
    many links above each weight are right. Correlated columns break the independence: p is then too large, and the
    rates are guides only.

    References
    ----------
    Fellegi, Sunter (1969), A theory for record linkage, JASA 64, 1183-1210.
    Jaro (1989), Advances in record-linkage methodology as applied to matching the 1985 census of Tampa,
    Florida, JASA 84, 414-420.
    Winkler (1990), String comparator metrics and enhanced decision rules in the Fellegi-Sunter model of record
    linkage, Proceedings of the Section on Survey Research Methods, ASA, 354-359.
    Winkler (2000), Frequency-based matching in the Fellegi-Sunter model of record linkage, Statistical Research
    Report RR2000/06, US Bureau of the Census.
    Torra, Abowd, Domingo-Ferrer (2006), Using Mahalanobis distance-based record linkage for disclosure
    risk assessment, PSD 2006, LNCS 4302, 233-242.
    """

    kind: Literal["probabilistic_linkage"] = "probabilistic_linkage"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns that the intruder knows, numeric or not; by default those of comparisons, or the keys and all numeric columns that were changed",
    )
    comparisons: Mapping[ColumnName, FieldComparison] = Field(
        default_factory=dict,
        description="levels of agreement of columns: by (exact, jaro_winkler, edit, number, relative, date) and levels from loose to strict",
    )
    term_frequencies: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns in which equality on a rare value tells more than on a common one",
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
    blocks: tuple[BlockRule, ...] = Field(
        default=(),
        description="compare records that meet one of these rules: each a list of columns, or of keys made from them (column, by: first letters, soundex, year or month), on which both are equal",
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
    ties: TieRule = "expected"
    one_to_one: bool = Field(
        default=False,
        description="link no released record twice: the pairing of largest total weight",
    )
    iterations: PositiveInt = Field(default=10_000, description="most steps of the EM algorithm")

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
        outside = [c for c in self.comparisons if self.columns and c not in self.columns]
        if outside:
            raise ValueError(f"comparisons name {outside[0]!r}, which is not among the columns")
        if self.blocks and (self.block or self.near):
            raise ValueError("give either blocks, or block and near")
        if any(not rule for rule in self.blocks):
            raise ValueError("each rule of blocks must name a column")
        for column in self.term_frequencies:
            how = self.comparisons.get(column)
            if how is not None and how.by not in ("exact", "jaro_winkler", "edit"):
                raise ValueError(f"term_frequencies are for texts and categories, not by {how.by}")
            if column not in (self.columns or (*self.comparisons, column)):
                raise ValueError(
                    f"term_frequencies name {column!r}, which is not among the columns"
                )
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns compared and those that limit the pairs."""
        rules = (c for rule in self.blocks for c in list_rule_columns(rule))
        near = (self.near,) if self.near else ()
        named = (*self.columns, *self.comparisons, *self.term_frequencies, *self.block, *near)
        return tuple(dict.fromkeys((*named, *rules)))

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
        named = tuple(dict.fromkeys((*self.comparisons, *self.term_frequencies)))
        columns = self.columns or (
            named
            if self.comparisons
            else tuple(
                c
                for c in dict.fromkeys((*list_known_columns(original, data, self.kind), *named))
                if c not in self.block
            )
        )
        if not columns:
            raise InputError(f"{self.kind} needs a column that original and release share")
        ctx.tick("comparing values", None)
        fields, comparison = compare_fields(
            known_fields(original, data, columns, self.kind),
            original,
            data,
            self.comparisons,
            self.term_frequencies,
            self.tolerances,
            self.kind,
        )
        rules = self.candidates(fields, original, data)
        model, patterns = self.fit(fields, rules, comparison, ctx)
        rare = weigh_rare_values(fields, model, self.term_frequencies)
        how = agreement.scores(model, comparison, interpolated=self.interpolate, bonus=rare)
        ctx.tick("linking", None)
        found = self.linked(fields, rules, how, ctx)
        return self.result(fields, model, patterns, found, original, data)

    # -- steps -------------------------------------------------------------------------------

    def candidates(self, fields: Fields, original: Microdata, data: Microdata) -> list[Candidates]:
        """Return the pairs to look at, by rule."""
        files, block, near, within = fields.files, None, None, np.inf
        if self.blocks:
            blocks = [block_by_rule(original, data, rule, self.kind) for rule in self.blocks]
            found = agreement.candidates_by_rule(files.original, files.released, blocks)
        else:
            if self.block:
                block = block_numbers(original, data, self.block, self.kind)
            if self.near:
                one = known_fields(original, data, (self.near,), self.kind).files
                near = (one.original[:, 0], one.released[:, 0])
                within = self.within * float(known_scale(one.original).spread[0])
            found = [
                agreement.candidates(
                    files.original, files.released, block=block, near=near, within=within
                )
            ]
        if sum(rule.pairs for rule in found) == 0:
            what = "a rule of blocks" if self.blocks else "block and near"
            raise InputError(f"{self.kind}: no pair of records meets {what}")
        work = sum(rule.work for rule in found)
        if work > MANY:
            warnings.warn(
                f"{self.kind}: {work:,} comparisons will take long; block or near would save most",
                Slow,
                stacklevel=5,
            )
        return found

    def fit(
        self, fields: Fields, rules: list[Candidates], comparison: Comparison, ctx: Context
    ) -> tuple[Model, Patterns]:
        """Fit the probabilities of agreement to the pattern counts."""
        files = fields.files
        counted = [agreement.count_new_patterns(rule, comparison, ctx.tick) for rule in rules]
        patterns = (
            counted[0][0]
            if len(counted) == 1
            else agreement.add_patterns([new for _, new in counted])
        )
        n = max(len(files.original), len(files.released))
        start = make_em_start(comparison.n_levels, 1.0 / n)
        if self.blocks or self.estimate == "random_pairs":
            drawn = agreement.random_patterns(
                files.original, files.released, comparison, RANDOM_PAIRS, ctx.rng
            )
            start = replace(start, u=level_shares(drawn, start))
        if self.blocks:
            start = replace(start, u=compute_level_shares(fields, comparison, start.u))
        if self.estimate == "true":
            own = agreement.true_patterns(
                files.original, files.released, files.old, files.new, comparison
            )
            informed = fit_informed_model(patterns, own, start)
            if not self.blocks:
                return informed, patterns
            pairs = float(len(files.original)) * len(files.released)
            return replace(informed, u=start.u, p=len(files.old) / pairs), patterns
        if self.blocks:
            model = self.fit_rules(fields, [every for every, _ in counted], patterns, start)
        else:
            model = em(
                patterns,
                start,
                fixed_u=self.estimate == "random_pairs",
                tolerance=AT_REST,
                limit=self.iterations,
            )
        self.warn_of_model(model, fields)
        return model, patterns

    def fit_rules(
        self, fields: Fields, counted: list[Patterns], patterns: Patterns, start: Model
    ) -> Model:
        """Fit m rule by rule, and p to all pairs that were looked at."""
        files = fields.files
        used = [
            [f for f, c in enumerate(fields.columns) if c in list_rule_columns(rule)]
            for rule in self.blocks
        ]
        matches = 0.5 * min(len(files.original), len(files.released))
        model, untold = fit_by_rules(
            list(zip(counted, used, strict=True)),
            start,
            matches,
            tolerance=AT_REST,
            limit=self.iterations,
        )
        if untold:
            names = format_columns([fields.columns[f] for f in untold])
            warnings.warn(
                f"{self.kind}: how often {names} agree among pairs of the same person cannot be told from these "
                "blocks, and is taken to be 90 %. Add a rule without such columns, or compare more columns.",
                Approximate,
                stacklevel=6,
            )
        return fit_share(patterns, model, float(len(files.original)) * len(files.released))

    def warn_of_model(self, model: Model, fields: Fields) -> None:
        """Warn of a fit that was stopped, or that does not describe matches."""
        if not model.converged:
            warnings.warn(
                f"{self.kind}: the EM algorithm did not come to rest in {self.iterations:,} steps",
                Approximate,
                stacklevel=6,
            )
        against = [fields.columns[f] for f in model.list_contrary_fields()]
        if against:
            warnings.warn(
                f"{self.kind}: agreement on {format_columns(against)} speaks against a match, so the fitted "
                "model does not describe matches. Leave such columns out or widen the tolerances.",
                Approximate,
                stacklevel=6,
            )

    def linked(self, fields: Fields, rules: list[Candidates], how: Scores, ctx: Context) -> Attack:
        """Link each original record and say which links are right."""
        files = fields.files
        truth = files.truth
        if self.one_to_one:
            links, pairing = agreement.assign_weighted_links(rules, how, truth)
            same = parents(files, links, truth, pairing.chance)
            return Attack(NAME, links, truth, pairing.chance > 0, same, pairing=pairing)
        links = agreement.best_links(rules, how, ctx.tick)
        own = agreement.pair_weights(files.original, files.released[truth], how)
        looked_at = np.any([rule.holds(truth) for rule in rules], axis=0)
        hit = (truth >= 0) & looked_at & (own >= -links.distance - 2 * MARGIN)
        return Attack(NAME, links, truth, hit, parents(files, links, truth, share_ties(hit, links)))

    def result(
        self,
        fields: Fields,
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
        links, rates = found.links, (self.false_match, self.false_nonmatch)
        bounds = zones(model, patterns, *rates, blocked=bool(self.blocks))
        weight = model.pattern_weights(patterns.levels)
        above, below = weight >= bounds.upper, weight <= bounds.lower
        numbers: dict[str, Any] = {
            "records attacked": len(files.original),
            "of them in both files": n,
            "columns known": len(fields.columns),
            "pairs compared": int(patterns.counts.sum()),
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
        if found.pairing is not None:
            numbers["pairings of the same weight averaged"] = found.pairing.drawn
            numbers["standard error of correct links"] = found.pairing.error
        if self.blocks:
            numbers["records with a candidate"] = int((links.nearest >= 0).sum())
        learnt = count_disclosed_values(original, data, files, correct)
        numbers |= {f"{c}: true values disclosed by correct links": v for c, v in learnt.items()}
        return ProbabilisticLinkageResult(
            kind=self.kind,
            title="Probabilistic record linkage",
            value=total / n,
            numbers=numbers,
            frame=link_frame(
                links,
                {"weight": -links.distance, "second": -links.second},
                correct,
                parent=found.parent,
                zone=name_zones(-links.distance, bounds),
            ),
            explanation=self.explain(fields, total, n, patterns),
            correct=total,
            share=total / n,
            columns=fields.columns,
            model=model,
            patterns=pattern_frame(fields.columns, patterns, model, bounds),
            zones=bounds,
            by_rule={rule: found.count(rule) for rule in TIE_RULES},
            any_parent=float(found.parent.sum()) / n,
            disclosed=learnt,
            curve=link_curve(links, correct, n),
        )

    def explain(self, fields: Fields, total: float, n: int, patterns: Patterns) -> str:
        """Return what the numbers mean."""
        text = (
            f"An intruder who knows {len(fields.columns)} columns and weighs their agreement finds "
            f"{total:,.0f} of {n:,} records ({total / n:.1%})."
        )
        told = self.blocks or self.estimate == "true"
        if not told and not is_identified(patterns, fixed_u=self.estimate == "random_pairs"):
            text += " There are too few agreement patterns to tell p, m and u; they rest on where the search began."
        return text


@dataclass(frozen=True, repr=False)
class ProbabilisticLinkageResult(Result):
    """Correct links, by record in ``frame``: under the tie rule, and their share of the records that are in both files."""

    correct: float = 0.0
    share: float = 0.0
    #: The columns compared.
    columns: tuple[str, ...] = ()
    #: p, m and u.
    model: Model = None  # type: ignore[assignment]
    #: One row per agreement pattern: levels by column (null: missing), pairs, weight, the probability of a match, the
    #: zone, and the error rates when the threshold is there.
    patterns: nw.DataFrame[Any] = None  # type: ignore[assignment]
    zones: Zones = None  # type: ignore[assignment]
    #: Correct links under each tie rule.
    by_rule: Mapping[str, float] = field(default_factory=dict)
    #: Share of links to a record with the released values of the own one.
    any_parent: float = 0.0
    #: By sensitive column, correct links that lead to the true value.
    disclosed: Mapping[str, float] = field(default_factory=dict)
    #: By weight of the links, from the highest: how many there are, the share of them that is right (``precision``) and
    #: the share of all records in both files found so far (``recall``).
    curve: nw.DataFrame[Any] = None  # type: ignore[assignment]

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


# -- how common values are ---------------------------------------------------------------------------


def value_shares(values: Floats, others: Floats) -> Floats:
    """Return the share of each value, coded from 0 in both files, among those that are known."""
    known = values[np.isfinite(values)].astype(np.int64)
    size = int(max(np.nanmax(values, initial=0.0), np.nanmax(others, initial=0.0))) + 1
    return np.bincount(known, minlength=size) / max(len(known), 1)


def compute_level_shares(
    fields: Fields, comparison: Comparison, drawn: Sequence[Floats]
) -> tuple[Floats, ...]:
    """Return u by field: exactly over all pairs for codes and texts, as ``drawn`` from random pairs for others."""
    out = []
    files = fields.files
    for f, u in enumerate(drawn):
        table = comparison.table(f)
        equality = table is None and comparison.tolerances[f] == (0.0,)
        coded = comparison.by_level[f] and (equality or comparison.tolerances[f] == ())
        if not coded:
            out.append(u)
            continue
        a, b = files.original[:, f], files.released[:, f]
        left, right = value_shares(a, b), value_shares(b, a)
        found = np.zeros(len(u))
        if table is None:
            found[1] = left @ right
        else:
            rows = np.repeat(np.arange(len(table)), np.diff(table.start))
            found += np.bincount(table.level, left[rows] * right[table.other], minlength=len(u))
        found[0] = 1.0 - found.sum()
        out.append(np.clip(found, EDGE, 1 - EDGE))
    return tuple(out)


def weigh_rare_values(
    fields: Fields, model: Model, columns: Sequence[str]
) -> tuple[Floats | None, ...]:
    """Return, by field, what equality on each value weighs more than on average: log2(u / f_v).

    f_v is the share of the value in the release.
    """
    out: list[Floats | None] = []
    for f, column in enumerate(fields.columns):
        if column not in columns:
            out.append(None)
            continue
        a, b = fields.files.original[:, f], fields.files.released[:, f]
        share = value_shares(b, a)
        bonus = np.zeros(len(share))
        there = share > 0
        bonus[there] = np.log2(model.u[f][-1] / share[there])
        out.append(bonus)
    return tuple(out)
