"""Distance-based record linkage: whose nearest released record is their own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import format_columns, shared_maskable
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs
from tacit.errors import InputError, SdcError, SdcWarning
from tacit.fields import ColumnName, PositiveFloat, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.linkage import attack as attacks
from tacit.records.linkage.attack import TIE_RULES, Attack, Direction, Files, TieRule
from tacit.records.linkage.linking import (
    Fields,
    NothingToCompare,
    block_numbers,
    changed_columns,
    check_shared,
    check_values,
    count_disclosed_values,
    link_frame,
)
from tacit.records.linkage.metrics import Metric, condition_number, dependent_columns, known_scale
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Condition number of the correlations from which on Mahalanobis distance finds far more.
COLLINEAR = 100.0
WORST_CASE = "Mahalanobis, true covariance"

Cross = Literal["strongest", "zero", "true", "projection", "selftrain"]


@register
class DistanceLinkage(Measure):
    """Share of records that an intruder finds as the nearest record under a distance.

    The intruder holds the true values of some columns and links each record to the nearest one of the
    release. Squared distances between an original record a and a released one b:

    - ``euclidean`` (DBRL1): sum_i ((a_i - mean A_i) / sd A_i - (b_i - mean B_i) / sd B_i)^2;
    - ``distance_standardised`` (DBRL2): sum_i (a_i - b_i)^2 / Var(a_i - b_i), over all pairs (the
      reading that reproduces the paper's tables) or over true pairs;
    - ``mahalanobis``: (a - b)' S^-1 (a - b), S = Var A + Var B - C - C', C = Cov(A, B);
    - ``kernel``: K(a, a) - 2 K(a, b) + K(b, b) on standardised files.

    C is ``zero``; or ``true``, the worst case, where the intruder knows the covariance of the error; or a
    ``projection``: what can be told without a single link when one knows that values were averaged (S =
    Var A - Var B), that noise was added (S = Var B - Var A), or that residuals were redrawn (S in
    proportion to the residual covariance given the columns left alone; zero when none of these fits); or learnt from one's own links
    (``selftrain``); or a matrix. ``strongest`` tries all of these and the maximum is the risk to quote.
    Columns released as they are belong into ``block``: the nearest record is then looked for among those
    that agree on them.

    The paper's columns DBRLM-COV0 and DBRLM-COV are exchanged: all its numbers come out with the labels
    turned round, so that its conclusion that C = 0 performs better is reversed.

    References
    ----------
    Torra, Abowd, Domingo-Ferrer (2006), Using Mahalanobis distance-based record linkage for disclosure
    risk assessment, PSD 2006, LNCS 4302, 233-242.
    Pagliuca, Seri (1999), Some results of individual ranking method on the system of enterprise accounts
    annual survey, Esprit SDC Project, Deliverable MI-3/D2.
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 3 (own record and any parent).
    """

    kind: Literal["distance_linkage"] = "distance_linkage"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the numeric columns that the intruder knows; by default all that were changed, or all that both files share",
    )
    block: tuple[ColumnName, ...] = Field(
        default=(),
        description="further columns known, text or numbers, on which a link must agree exactly",
    )
    metric: Literal["euclidean", "distance_standardised", "mahalanobis", "kernel"] = Field(
        default="euclidean", description="how the intruder measures distance"
    )
    pairing: Literal["all", "true"] = Field(
        default="all",
        description="pairs over which differences are standardised (distance_standardised)",
    )
    cross_covariance: Cross | tuple[tuple[float, ...], ...] = Field(
        default="strongest",
        description="what a Mahalanobis intruder takes for the covariance of original and release: a reading or a matrix in the order of the columns",
    )
    rounds: PositiveInt = Field(
        default=14, description="most rounds in which the intruder trains on own links (selftrain)"
    )
    kernel: Literal["polynomial", "rbf"] = Field(
        default="polynomial", description="the kernel (kernel)"
    )
    degree: PositiveInt = Field(default=2, le=6, description="degree of the polynomial kernel")
    gamma: PositiveFloat = Field(
        default=1.0, description="factor of the inner product, or of the distance"
    )
    coef0: float = Field(default=1.0, ge=0, description="constant of the polynomial kernel")
    direction: Direction = Field(
        default="original_to_released",
        description="look for the nearest released record of each original one, or the other way round",
    )
    ties: TieRule = "expected"
    missing: Literal["refuse", "drop_pair_attribute"] = Field(
        default="refuse",
        description="refuse missing values, or compare a pair on the columns known in both and scale up",
    )
    one_to_one: bool = Field(
        default=False,
        description="link no released record twice: the pairing of least total distance, and the chance of a record over pairings that tie",
    )
    probabilities: bool = Field(
        default=False,
        description="add the chance that each link is right, by the Gaussian likelihood",
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    number_fields = ("columns",)
    column_fields = ("columns", "block")

    @model_validator(mode="after")
    def _consistent(self) -> DistanceLinkage:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if set(self.columns) & set(self.block):
            raise ValueError("block must not name a column whose distance is taken")
        if not isinstance(self.cross_covariance, str):
            sizes = {len(row) for row in self.cross_covariance}
            if sizes != {len(self.cross_covariance)}:
                raise ValueError("cross_covariance must be a square matrix")
            if len(self.columns) != len(self.cross_covariance):
                raise ValueError("a cross_covariance matrix needs columns, one for each row")
        if self.probabilities and self.metric != "mahalanobis":
            raise ValueError("probabilities need metric='mahalanobis', which whitens the error")
        if self.probabilities and self.one_to_one:
            raise ValueError("probabilities are those of separate links, not of one_to_one")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DistanceLinkageResult:
        known = self.known(other.original, data)
        warn_dependent(known, self)
        found, rounds = self.attacks(known, ctx)
        files, best = known.files, attacks.best_of(found, self.ties)
        n, correct = len(files.old), best.correct(self.ties)
        total = float(correct.sum())
        tried = attacks.counts(found, self.ties)
        condition = condition_of(files)
        numbers: dict[str, Any] = {
            "records attacked": len(files.queries),
            "of them in both files": n,
            "columns known": len(known.columns) + len(self.block),
            "attack": best.name,
            "correct links": total,
            "share of correct links": total / n,
            "share by chance": 1.0 / len(files.targets),
            "correct and without ties": int(best.count("unique")),
            "share linked to a record of the same released values": float(best.parent.sum()) / n,
            "condition number of the columns": condition,
        }
        if len(tried) > 1:
            numbers |= {f"correct by {name}": count for name, count in tried.items()}
        learnt = count_disclosed_values(other.original, data, files, correct)
        numbers |= {f"{c}: true values disclosed by correct links": v for c, v in learnt.items()}
        if best.pairing is not None:
            numbers["pairings of the same distance averaged"] = best.pairing.drawn
            numbers["standard error of correct links"] = best.pairing.error
        if best.probability is not None:
            numbers["correct links the intruder would expect"] = float(best.probability.sum())
        return DistanceLinkageResult(
            kind=self.kind,
            title="Distance-based record linkage",
            value=total / n,
            numbers=numbers,
            frame=frame_of_links(best, correct),
            explanation=explain_distance_linkage(self, best, total, n, condition),
            correct=total,
            share=total / n,
            attack=best.name,
            columns=(*self.block, *known.columns),
            by_rule={rule: best.count(rule) for rule in TIE_RULES},
            by_attack=tried,
            any_parent=float(best.parent.sum()) / n,
            condition=condition,
            rounds=tuple(rounds),
            disclosed=learnt,
        )

    def known(self, original: Microdata, data: Microdata) -> Fields:
        """Return the numbers of both files on the columns known, by default those that were changed.

        Constant columns are left out with a warning. Links stay within records equal on ``block``.
        """
        check_shared(self.columns, original, data)
        shared = shared_maskable(original, data)
        shared += [c for c in self.columns if c not in shared]
        both = pairs(original, data, shared, self.kind)
        if min(len(both.before), len(both.after), len(both.old)) < 2:
            raise InputError(
                f"{self.kind} needs at least two records that are in original and release"
            )
        changed = changed_columns(shared, both)
        free = [c for c in shared if c not in self.block]
        known = tuple(self.columns) or tuple(c for c in free if c in changed) or tuple(free)
        if not known:
            raise InputError(f"{self.kind} needs a numeric column that original and release share")
        at = [shared.index(c) for c in known]
        left = [i for i, c in enumerate(shared) if c not in known and c not in changed]
        files = Files(
            both.before[:, at],
            both.after[:, at],
            both.old,
            both.new,
            both.after[:, left],
            self.direction,
            block_numbers(original, data, self.block, self.kind) if self.block else None,
        )
        check_values(files, known, self.kind, missing=self.missing != "refuse")
        return without_constants(Fields(known, (True,) * len(known), files), self.kind)

    # -- the attacks -------------------------------------------------------------------------

    def attacks(self, known: Fields, ctx: Context) -> tuple[list[Attack], list[float]]:
        """Run each reading of the metric."""
        metrics, rounds = self.metrics(known, ctx)
        found = []
        for i, (name, metric) in enumerate(metrics.items()):
            ctx.tick(f"linking by {name}", i / len(metrics))
            found.append(
                attacks.attack(
                    known.files,
                    metric,
                    name,
                    one_to_one=self.one_to_one,
                    probability=self.probabilities,
                    tick=ctx.tick,
                )
            )
        return found, rounds

    def metrics(self, known: Fields, ctx: Context) -> tuple[dict[str, Metric], list[float]]:
        """Return the metrics to try by name, and the rounds of training."""
        files = known.files
        if self.metric == "euclidean":
            return {"Euclidean distance": attacks.make_standardised_metric(files)}, []
        if self.metric == "distance_standardised":
            name = f"differences standardised over {self.pairing} pairs"
            return {name: attacks.distance_standardised(files, self.pairing)}, []
        if self.metric == "kernel" and self.kernel == "rbf":
            return {"radial kernel": attacks.radial(files, gamma=self.gamma)}, []
        if self.metric == "kernel":
            made = attacks.polynomial(files, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
            return {f"kernel of degree {self.degree}": made}, []
        return self.readings(known, ctx)

    def readings(self, known: Fields, ctx: Context) -> tuple[dict[str, Metric], list[float]]:
        """Return Mahalanobis metrics by reading of the covariance, and the rounds of training."""
        files, cross = known.files, self.cross_covariance
        if not isinstance(cross, str):
            at = [self.columns.index(c) for c in known.columns]
            given = np.array(cross, dtype=np.float64)[np.ix_(at, at)]
            return {"Mahalanobis, given covariance": attacks.given_covariance(files, given)}, []
        found: dict[str, Metric] = {}
        rounds: list[float] = []
        if cross in ("projection", "strongest"):
            found |= {f"Mahalanobis, {name}": m for name, m in attacks.projections(files).items()}
        if cross in ("selftrain", "strongest"):
            found["Mahalanobis, self-trained"], rounds = attacks.self_trained(
                files, self.rounds, ctx.tick
            )
        if cross in ("zero", "strongest") or not (found or cross == "true"):
            found["Mahalanobis, zero covariance"] = attacks.zero_covariance(files)
        if cross in ("true", "strongest"):
            found[WORST_CASE] = attacks.true_covariance(files)
        return found, rounds


@dataclass(frozen=True, repr=False)
class DistanceLinkageResult(Result):
    """Correct links, by record in ``frame``: under the tie rule, and their share of the records that are in both files."""

    correct: float = 0.0
    share: float = 0.0
    #: The strongest attack, the columns it used, and its correct links under each tie rule.
    attack: str = ""
    columns: tuple[str, ...] = ()
    by_rule: Mapping[str, float] = field(default_factory=dict)
    by_attack: Mapping[str, float] = field(default_factory=dict)
    #: Share of links to a record with the released values of the own one (a member of its group).
    any_parent: float = 0.0
    #: Condition number of the correlations of the columns.
    condition: float = math.nan
    #: Correct links in each round of training, among the records trained on.
    rounds: tuple[float, ...] = ()
    #: By sensitive column, correct links that lead to the true value.
    disclosed: Mapping[str, float] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the share of records found by each attack, and by chance."""
        n = self.numbers["of them in both files"]
        items = [(name, count / n) for name, count in self.by_attack.items()]
        items += [
            ("a record of its group", self.any_parent),
            ("by chance", self.numbers["share by chance"]),
        ]
        return bars(
            items,
            title="Records found as the nearest record",
            subtitle=f"{n:,} records, knowing {', '.join(self.columns[:6])}"
            + (" ..." if len(self.columns) > 6 else ""),
            y="share of records",
        )


def frame_of_links(found: Attack, correct: Floats) -> nw.DataFrame[Any]:
    """Return the links by distance, not its square, and the chance that each is right where it was asked for."""
    links = found.links
    with np.errstate(invalid="ignore"):
        pairs = (("distance", links.distance), ("second", links.second))
        measured = {name: np.sqrt(np.maximum(squared, 0.0)) for name, squared in pairs}
    more = {} if found.probability is None else {"probability": found.probability}
    return link_frame(links, measured, correct, parent=found.parent, **more)


def without_constants(known: Fields, kind: str) -> Fields:
    """Return the files without columns that are constant in one of them."""
    files = known.files
    spread = np.minimum(known_scale(files.original).spread, known_scale(files.released).spread)
    flat = [c for c, s in zip(known.columns, spread, strict=True) if s == 0]
    if not flat:
        return known
    if len(flat) == len(known.columns):
        raise NothingToCompare(
            f"{kind}: every column compared is constant in one of the files, so nothing tells records apart"
        )
    warnings.warn(
        f"{kind}: {format_columns(flat)} is constant in one of the files and was left out",
        SdcWarning,
        stacklevel=5,
    )
    at = np.flatnonzero(spread > 0)
    columns = tuple(known.columns[i] for i in at)
    return Fields(columns, (True,) * len(at), files.columns(at))


def condition_of(files: Files) -> float:
    """Return the condition number of the columns' correlations; unknown with too few complete records."""
    try:
        return condition_number(attacks.make_pooled_metric(files))
    except SdcError:
        return math.nan


def warn_dependent(known: Fields, spec: DistanceLinkage) -> None:
    """Warn of columns that depend on each other, where the metric needs an inverse."""
    if spec.metric != "mahalanobis":
        return
    found = [known.columns[i] for i in dependent_columns(attacks.make_pooled_metric(known.files))]
    if found:
        warnings.warn(
            f"{spec.kind}: {format_columns(found)} depend on each other linearly; a pseudo-inverse was used",
            SdcWarning,
            stacklevel=5,
        )


def explain_distance_linkage(
    spec: DistanceLinkage, best: Attack, total: float, n: int, condition: float
) -> str:
    """Return what the numbers mean."""
    text = (
        f"An intruder who knows these columns and links each record to the nearest one ({best.name}) "
        f"finds {total:,.0f} of {n:,} records ({total / n:.1%})."
    )
    groups = float(best.parent.sum()) / n
    if groups > 1.5 * total / n:
        text += (
            f" Links lead to a record with the released values of the right one in {groups:.1%}."
        )
    if best.name == WORST_CASE:
        text += " This is the worst case: the covariance of the masking error is taken as known."
    if spec.metric != "mahalanobis" and math.isnan(condition):
        text += (
            " Too few records are complete to tell whether the columns are nearly collinear, in which case Mahalanobis "
            "distance may find far more."
        )
    if spec.metric != "mahalanobis" and condition > COLLINEAR:
        text += (
            " The columns are nearly collinear: an intruder who uses Mahalanobis distance may find far "
            "more; measure that as well."
        )
    return text
