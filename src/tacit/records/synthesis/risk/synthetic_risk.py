"""How near synthetic records come to original ones: replicas, distances against control records, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.lined_up import Files, Side, line_up, nearest, pick
from tacit.data.microdata import Microdata
from tacit.fields import ColumnNames, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.synthesis.risk.attacks import Rate, SyntheticAttack, files_beside
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions


@register
class SyntheticRisk(SyntheticAttack):
    """Share of original uniques that synthetic records replicate, and how near records come to original ones.

    A record *replicates* an original one when it agrees with it on all ``columns`` (by default the keys). Counted are
    synthetic records that do, original records that are unique and replicated, and the sizes of the original classes that
    are replicated: k-anonymity of what was replicated. Replicating a large class tells of nobody.

    The *distance to the closest record* (Gower's) of synthetic records to the original is set beside that to control
    records of the same number: where the synthesis has learnt people rather than a population, synthetic records are
    closer to the original more often than half of the time. The value is the share of original records that are unique
    and replicated.

    References
    ----------
    Taub, Elliot, Pampaka, Smith (2018), Differential correct attribution probability for synthetic data: an exploration,
    PSD 2018, LNCS 11126, 122-137.
    Raab, Nowok, Dibben (2025), Practical privacy metrics for synthetic data, arXiv:2406.16826.
    Platzer, Reutterer (2021), Holdout-based empirical assessment of mixed-type synthetic data, Frontiers in Big Data 4,
    679939.
    """

    kind: Literal["synthetic_risk"] = "synthetic_risk"
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns on which a record is a replica; by default the keys, or all shared columns",
    )
    records: PositiveInt = Field(
        default=2000, description="synthetic records whose distances are computed, at most"
    )

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SyntheticRiskResult:
        beside, shared = files_beside(data, other)
        keys = tuple(c for c in other.original.keys if c in shared)
        judged = self.columns or keys or shared
        files = line_up([data, *beside], tuple(dict.fromkeys([*judged, *shared])), self.kind)
        at = [files.columns.index(c) for c in judged]
        numbers, sizes = count_replicas(files, at)
        ctx.tick("distances", 0.3)
        whole = list(range(len(files.columns)))
        numbers |= self.distances(files, whole, ctx)
        return SyntheticRiskResult(
            kind=self.kind,
            title="Nearness of synthetic records to original ones",
            value=numbers["replicated uniques, share of the original"],
            numbers=numbers,
            explanation=explain(numbers, judged),
            sizes=sizes,
        )

    def distances(self, files: Files, at: list[int], ctx: Context) -> dict[str, Any]:
        """Return distances of synthetic records to the original, and to control records of the same number."""
        synthetic, original = files.sides[:2]
        some = synthetic.take(pick(len(synthetic), self.records, ctx.rng))
        if len(files.sides) < 3:
            return describe_distances("original", closest(files, some, original, at))
        control = files.sides[2]
        n = min(len(original), len(control))
        near = closest(files, some, original.take(pick(len(original), n, ctx.rng)), at)
        apart = closest(files, some, control.take(pick(len(control), n, ctx.rng)), at)
        wins = int((near < apart).sum() + ctx.rng.binomial(int((near == apart).sum()), 0.5))
        rate = Rate(wins, len(near))
        return {
            **describe_distances("original", near),
            **describe_distances("control record", apart),
            "share closer to the original than to control records": rate.value,
            "share closer, from": rate.interval[0],
            "share closer, to": rate.interval[1],
        }


@dataclass(frozen=True, repr=False)
class SyntheticRiskResult(Result):
    """Nearness of synthetic records; ``sizes`` counts synthetic records by the size of the original class they replicate."""

    sizes: tuple[tuple[str, int], ...] = ()

    def plot(self) -> Chart:
        """Return how many synthetic records replicate original classes of which size."""
        return bars(
            [(name, float(n)) for name, n in self.sizes],
            title="Synthetic records by the original class that they replicate",
            y="synthetic records",
        )


def closest(files: Files, some: Side, others: Side, at: list[int]) -> Floats:
    """Return the distance of each record to the closest of another file."""
    return nearest(files, some, others, at)[1].min(axis=1)


def describe_distances(to: str, far: Floats) -> dict[str, float]:
    """Return a low quantile and the median of distances."""
    name = f"distance to the closest {to}"
    return {
        f"{name}, 5 % quantile": float(np.quantile(far, 0.05)),
        f"{name}, median": float(np.median(far)),
    }


def count_replicas(
    files: Files, at: list[int]
) -> tuple[dict[str, Any], tuple[tuple[str, int], ...]]:
    """Return how many records replicate original ones, and by the size of the original class."""
    synthetic, original = (np.nan_to_num(s.x[:, at], nan=-1e300) for s in files.sides[:2])
    kinds, ids = np.unique(np.vstack([original, synthetic]), axis=0, return_inverse=True)
    own, made = np.split(ids.ravel(), [len(original)])
    size = np.bincount(own, minlength=len(kinds))
    hit = np.bincount(made, minlength=len(kinds)) > 0
    of = size[made]
    uniques = int((size == 1).sum())
    replicated = int(((size == 1) & hit).sum())
    numbers = {
        "synthetic records that replicate an original one": float((of > 0).mean()),
        "original records that are unique": uniques,
        "of these replicated": replicated,
        "replicated uniques, share of the original": replicated / max(len(original), 1),
        "replicated uniques, share of uniques": replicated / uniques if uniques else 0.0,
        "smallest original class replicated (k)": int(of[of > 0].min()) if (of > 0).any() else 0,
        "median original class replicated": float(np.median(of[of > 0])) if (of > 0).any() else 0.0,
    }
    names = ("none", "1", "2", "3 to 4", "5 to 9", "10 or more")
    place = np.searchsorted([1, 2, 3, 5, 10], of, side="right")
    counts = np.bincount(place, minlength=len(names)).tolist()
    return numbers, tuple(zip(names, counts, strict=True))


def explain(numbers: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    """Return the outcome in plain words."""
    names = ", ".join(columns)
    said = [
        f"{numbers['synthetic records that replicate an original one']:.1%} of the synthetic records agree with an original one on {names}.",
        f"{numbers['of these replicated']:,} of {numbers['original records that are unique']:,} original records that are unique there appear again among them: whoever knows that somebody has such values would take the synthetic record for that person's.",
    ]
    if "share closer, from" in numbers:
        share = numbers["share closer to the original than to control records"]
        low = numbers["share closer, from"]
        verdict = (
            "more often than chance: the synthesis has learnt people of the original"
            if low > 0.5
            else "as often as chance would have it"
        )
        said.append(
            f"{share:.1%} of the synthetic records are closer to the original than to control records, {verdict}."
        )
    else:
        said.append(
            "Distances mean little by themselves: pass control= to compare them with people whom the synthesis has not seen."
        )
    said.append("None of this is a proof of anonymity.")
    return " ".join(said)
