"""Entropy distortion: how many bits about the original values a release has lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.data.microdata import Microdata
from tacit.data.paired import ValuePairs, links_lost, pair_values, refuse_lost_links
from tacit.data.values import as_frame
from tacit.engine.codes import Coded
from tacit.errors import ColumnNotFound
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.generalisation.precision import count_all_pairs
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Method


@register
class EntropyDistortion(Measure):
    """Bits lost about the original values, as a share of what full suppression would lose.

    A released cell stands for a node: the set of original values it may have been. With n the counts in
    the original column, the cell loses ``-log2(n(x) / n(node))`` bits; the distortion is the sum over all
    cells divided by the same sum when every node is the whole column (nonuniform entropy). For a column
    generalised as a whole this equals ``H(X|Y) / H(X)``.

    A label of the column's hierarchy stands for its leaves, and nothing or the top for the whole column;
    any other released value stands for the original values that were released as it. So a one-to-one
    replacement loses nothing on this scale, useless though it may be to an analyst: the share of cells
    changed is reported beside it. A removed record counts as suppressed, an added one not at all.

    References
    ----------
    Gionis, Tassa (2009), k-Anonymization with minimal loss of information, IEEE TKDE 21, 206-219.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, Figure 20.
    """

    kind: Literal["entropy_distortion"] = "entropy_distortion"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns compared; by default the keys, or all but the weight when no keys are declared",
    )

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"

    def columns_named(self) -> tuple[str, ...]:
        """Return nothing: a column may have been dropped from the release."""
        return ()

    def targets(self, original: Microdata) -> tuple[str, ...]:
        """Return the columns compared."""
        return (
            self.columns
            or original.keys
            or tuple(c for c in original.columns if c != original.weight)
        )

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> EntropyDistortionResult:
        original = other.original
        columns = self.targets(original)
        absent = [c for c in columns if c not in original.columns]
        if absent:
            raise ColumnNotFound(absent, list(original.columns), "the original")
        refuse_lost_links(original, data, self.kind)
        _, pairs = pair_values(original, data, columns) or count_all_pairs(original, data, columns)
        parts = {}
        for c in columns:
            ctx.tick(f"entropy distortion of {c}")
            parts[c] = column_loss(pairs[c], original.hierarchies.get(c))
        whole = Loss(*map(sum, zip(*parts.values(), strict=True)))
        return EntropyDistortionResult(
            kind=self.kind,
            title="Entropy distortion",
            value=whole.distortion,
            numbers={
                "distortion": whole.distortion,
                "bits lost": whole.lost,
                "bits lost by full suppression": whole.most,
                "share of cells changed": whole.share_changed,
            },
            frame=as_frame(
                {
                    "column": pa.array(list(parts), pa.string()),
                    "bits_lost": pa.array([p.lost for p in parts.values()], pa.float64()),
                    "bits_at_most": pa.array([p.most for p in parts.values()], pa.float64()),
                    "distortion": pa.array([p.distortion for p in parts.values()], pa.float64()),
                    "changed": pa.array([p.share_changed for p in parts.values()], pa.float64()),
                }
            ),
            explanation="0: the original values can be told from the release; 1: nothing is left of them.",
            parts={c: p.distortion for c, p in parts.items()},
        )


@dataclass(frozen=True, repr=False)
class EntropyDistortionResult(Result):
    """The distortion overall (``value``) and by column (``parts``)."""

    parts: Mapping[str, float] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the distortion of each column."""
        return bars(
            self.parts.items(), title=self.title, x="column", y="share of the information lost"
        )


class Loss(NamedTuple):
    """Bits lost, the most that could be lost, and cells changed, of how many."""

    lost: float = 0.0
    most: float = 0.0
    changed: int = 0
    cells: int = 0

    @property
    def distortion(self) -> float:
        """Return the share of bits lost; 0 when there were none to lose."""
        return self.lost / self.most if self.most > 0 else 0.0

    @property
    def share_changed(self) -> float:
        """Return the share of cells that changed."""
        return self.changed / self.cells if self.cells else 0.0


def column_loss(found: ValuePairs, hierarchy: Hierarchy | None) -> Loss:
    """Return the loss of one column from its pairs of values; those of removed records became nothing."""
    gone = np.flatnonzero(found.removed)
    x, x_texts = coded_texts(found.old, gone)
    y, y_texts = coded_texts(found.new, np.full(len(gone), found.new.null))
    n = np.concatenate([found.n, found.removed[gone]])
    known = np.array([t is not None for t in x_texts])[x]
    n_x = np.bincount(x, weights=n, minlength=len(x_texts)).astype(np.float64)
    total = float(n.sum())
    # The node of a released value holds the values seen to be released as it; and its leaves in the hierarchy, provided
    # it was used for one of them at all (a label used as a mere pseudonym means nothing).
    members: list[set[int]] = [set() for _ in y_texts]
    for i, j in zip(x.tolist(), y.tolist(), strict=True):
        members[j].add(i)
    if hierarchy is not None:
        places = [-1 if t is None else hierarchy.position.get(t, -1) for t in x_texts]
        ground = np.array(places, dtype=np.int64)
        for text, mine in zip(y_texts, members, strict=True):
            if text is None or text not in hierarchy.nodes:
                continue
            level, position = hierarchy.nodes[text]
            below = (ground >= 0) & (hierarchy.up[level][ground] == position)
            leaves = set(np.flatnonzero(below | (level == hierarchy.height)).tolist())
            if mine & leaves:
                mine |= leaves
    held = np.array([n_x[list(m)].sum() for m in members])
    suppressed = np.array([t is None for t in y_texts])[y]
    n_node = np.where(suppressed, total, held[y])
    changed = np.array([x_texts[i] != y_texts[j] for i, j in zip(x, y, strict=True)], dtype=bool)
    return Loss(
        lost=bits(n_x[x], n_node, n, known),
        most=bits(n_x[x], np.full(len(x), total), n, known),
        changed=int(n[changed].sum()),
        cells=int(n.sum()),
    )


def bits(n_x: Floats, n_node: Floats, n: Ints, known: Flags) -> float:
    """Return sum of -log2(n(x) / n(node)) over cells whose original value is known."""
    return float(np.sum(n[known] * np.log2(n_node[known] / n_x[known]))) + 0.0


def coded_texts(column: Coded, more: Ints) -> tuple[Ints, list[str | None]]:
    """Return the text of each value of a column, more codes of it after them, as codes; and the texts."""
    texts = [*(ground_label(v) for v in column.values.to_pylist()), None]
    found = {t: i for i, t in enumerate(dict.fromkeys(texts))}
    at = np.array([found[t] for t in texts], dtype=np.int64)
    return at[np.concatenate([column.codes, more])], list(found)


def rank_techniques(
    data: Microdata,
    methods: Sequence[Method],
    *,
    seed: int | None = None,
    columns: Sequence[str] = (),
) -> EntropyDistortionResult:
    """Return methods ranked by the entropy distortion that they cause in the same data.

    Parameters
    ----------
    data
        The data on which every method is tried.
    methods
        The methods to compare.
    seed
        Seed of each trial.
    columns
        The columns compared; by default as in :class:`EntropyDistortion`.

    Returns
    -------
    EntropyDistortionResult
        ``frame`` has one row per method, least distortion first: its rank, kind, public parameters,
        distortion and the share of cells changed. Methods that give the records new row numbers cannot
        be compared record by record; they come last, without a number. ``value`` is the range between
        the least and the greatest distortion.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, Figure 20.
    """
    measure = EntropyDistortion(columns=tuple(columns))
    tried = []
    for method in methods:
        released = method.apply(data, seed=seed)
        found = None if links_lost(data, released) else measure.measure(released, original=data)
        tried.append((method, found))
    tried.sort(key=lambda entry: (entry[1] is None, entry[1].value if entry[1] else 0.0))
    values = [None if r is None else r.value for _, r in tried]
    frame = as_frame(
        {
            "rank": pa.array(
                [i if v is not None else None for i, v in enumerate(values, 1)], pa.int64()
            ),
            "method": pa.array([m.kind for m, _ in tried], pa.string()),
            "parameters": pa.array([describe_method(m) for m, _ in tried], pa.string()),
            "distortion": pa.array(values, pa.float64()),
            "changed": pa.array(
                [None if r is None else r.numbers["share of cells changed"] for _, r in tried],
                pa.float64(),
            ),
        }
    )
    known = [v for v in values if v is not None]
    named = {
        f"{i}. {describe_method(m, kind=True)}": v
        for i, ((m, _), v) in enumerate(zip(tried, values, strict=True), 1)
        if v is not None
    }
    return EntropyDistortionResult(
        kind="entropy_distortion",
        title="Techniques by entropy distortion",
        value=max(known) - min(known) if known else 0.0,
        numbers=named,
        frame=frame,
        explanation="Each technique was tried on the same data. The order depends on the data and on the parameters.",
        parts=named,
    )


def describe_method(method: Method, *, kind: bool = False) -> str:
    """Return a method's public parameters in one line."""
    values = ", ".join(f"{k}={v}" for k, v in method.to_dict(public=True).items() if k != "kind")
    return f"{method.kind}({values})" if kind else values
