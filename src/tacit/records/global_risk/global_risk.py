"""Global disclosure risk of masked microdata, for any chain of masking methods."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, PlainValidator, WithJsonSchema

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import ColumnNotFound, InputError, RoleMissing, SpecError, WeakProtection
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars, class_sizes_before_after
from tacit.records.global_risk.factors import (
    KeyFactor,
    Pairs,
    change_factor,
    custom_distances,
    is_ordered,
    ordered_factor,
    prefix_distances,
    tree_distances,
)
from tacit.records.global_risk.global_link import check_columns, joint_cells, record_sizes
from tacit.records.global_risk.search import (
    Linked,
    Search,
    Subset,
    Weights,
    matrix_fault,
    weights_of,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.storage.values import LIVE

KINDS = ("ordered", "unordered", "prefix", "tree")
PRESETS = ("min", "max", "diagonal", "one_over_max")
MEASURES = ("minimum", "weighted", "maximum")

#: Up to this many keys every subset is tabulated; with more, the search looks only where it must.
TABULATED = 6
#: More keys than this need a list of subsets.
LARGEST = 20


def check_kind(value: Any) -> Any:
    """Accept a kind of key: a name, ``{"prefix": length}`` or a function."""
    if callable(value) or value in KINDS:
        return value
    if isinstance(value, Mapping) and list(value) == ["prefix"]:
        length = value["prefix"]
        if isinstance(length, int) and not isinstance(length, bool) and length >= 1:
            return {"prefix": length}
    raise ValueError(
        "must be 'ordered', 'unordered', 'prefix', {'prefix': length}, 'tree' or a function"
    )


def check_weights(value: Any) -> Any:
    """Accept a preset, a matrix or a function w(i, j)."""
    if callable(value) or (isinstance(value, str) and value in PRESETS):
        return value
    try:
        matrix = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if isinstance(value, str) or matrix.ndim != 2:
        raise ValueError(
            f"must be one of {', '.join(PRESETS)}, a matrix or a function of two sizes"
        )
    fault = matrix_fault(matrix)
    if fault:
        raise ValueError(f"cannot be used: {fault}")
    return tuple(tuple(row) for row in matrix.tolist())


KindOfKey = Annotated[
    Any,
    PlainValidator(check_kind),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(KINDS)},
                {
                    "type": "object",
                    "properties": {"prefix": {"type": "integer", "minimum": 1}},
                    "required": ["prefix"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
WeightMatrix = Annotated[
    Any,
    PlainValidator(check_weights),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(PRESETS)},
                {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            ]
        }
    ),
]


@register
class GlobalRisk(Measure):
    """Disclosure risk of a whole masked file, between a minimal and a maximal measure.

    The intruder knows every key value of every person and uses whichever subset v of the keys serves
    best. With c_ij the linked records in clusters of size i in the masked and j in the original file, n the
    original records, and icf_k the inversion or change factor of key k,

        DR_W^v = prod_{k in v} (1 - icf_k) * 1 / (n w_11) * sum_ij w_ij c_ij / max(i, j),

    and the risk is the maximum over all v. Constant weights give the maximal measure; all weight on w_11,
    records unique in both files, gives the minimal one; every admissible W lies between.

    Original and masked records are linked by their hidden number. Records may have been dropped, sampled
    or added: an added one counts in the cluster sizes of the masked file only.

    References
    ----------
    Truta, Fotouhi, Barth-Jones (2004), Assessing global disclosure risk in masked microdata, Proceedings
    of the ACM Workshop on Privacy in the Electronic Society, 85-93.
    """

    kind: Literal["global_risk"] = "global_risk"
    columns: tuple[ColumnName, ...] = Field(
        default=(), description="the keys that the intruder knows; by default the declared keys"
    )
    kinds: Mapping[ColumnName, KindOfKey] = Field(
        default_factory=dict,
        description="how each key is compared: ordered, unordered, prefix, {prefix: length} or tree (by its hierarchy); "
        "by default ordered for numbers and dates, else tree where there is a hierarchy, else unordered",
    )
    weights: WeightMatrix = Field(
        default="one_over_max",
        description="weights of the weighted measure: min, max, diagonal, one_over_max, or a matrix by cluster size in "
        "the masked (rows) and the original file (columns)",
    )
    subsets: Literal["all"] | tuple[tuple[ColumnName, ...], ...] = Field(
        default="all", description="the subsets of keys that an intruder may use: all, or a list"
    )
    missing: Literal["refuse", "category"] = Field(
        default="refuse",
        description="whether missing key values are refused or are a value of their own",
    )
    report: Literal["minimum", "weighted", "maximum"] = Field(
        default="maximum", description="the measure that is the value of the result"
    )
    link: ColumnName | None = Field(
        default=None,
        description="a column of both files that links their records; by default the hidden record number",
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the parameters as plain data; functions have no such form and are refused."""
        if callable(self.weights) or any(callable(kind) for kind in self.kinds.values()):
            raise SpecError(
                "global_risk with a function as kind or weights cannot be written down; use a named kind, a preset or a matrix in plans"
            )
        return super().to_dict(public=public)

    def columns_named(self) -> tuple[str, ...]:
        """Return nothing: both files are checked when they are at hand."""
        return ()

    def targets(self, original: Microdata) -> tuple[str, ...]:
        """Return the keys, in order."""
        keys = self.columns or original.keys or tuple(self.kinds)
        if not keys:
            raise RoleMissing(
                "global_risk needs keys, and the data declare none. Declare them with tacit.read(..., keys=...) or list them in columns."
            )
        strange = [k for k in self.kinds if k not in keys]
        if strange:
            raise ColumnNotFound(strange, list(keys), "the keys")
        if len(set(keys)) < len(keys):
            raise InputError("global_risk: a key is listed twice in columns")
        return tuple(keys)

    def chosen(self, keys: tuple[str, ...]) -> list[Subset] | None:
        """Return the listed subsets as positions of keys, or None for all."""
        if self.subsets == "all":
            if len(keys) > LARGEST:
                raise InputError(
                    f"global_risk searches all subsets of up to {LARGEST} keys, and there are {len(keys)}; list the subsets or choose fewer columns"
                )
            return None
        strange = [k for subset in self.subsets for k in subset if k not in keys]
        if strange:
            raise ColumnNotFound(dict.fromkeys(strange), list(keys), "the keys")
        if not self.subsets or not all(self.subsets):
            raise InputError(
                "global_risk: subsets must list at least one subset, and none may be empty"
            )
        return [frozenset(keys.index(k) for k in subset) for subset in self.subsets]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> GlobalRiskResult:
        original = other.original
        keys = self.targets(original)
        chosen = self.chosen(keys)
        check_columns(original, data, keys, self.link)
        weights = weights_of(self.weights)
        if weights.fault:
            warnings.warn(f"global_risk: {weights.fault}", WeakProtection, stacklevel=4)
        ctx.tick("linking original and masked records", 0.0)
        cells = joint_cells(original, data, keys, self.link)
        if not cells.records(cells.in_both):
            raise InputError(
                "global_risk: no masked record is linked to an original one; measure before records are put in random order, or name a link column"
            )
        if self.missing == "refuse" and (gaps := cells.missing()):
            raise InputError(
                f"global_risk: missing values in {', '.join(map(repr, gaps))}; set missing='category' to count them as a value of their own"
            )
        factors = {
            key: self.factor(key, cells.pairs(i), original, data) for i, key in enumerate(keys)
        }
        table = cells.linked()
        search = Search(
            np.array([f.icf for f in factors.values()]),
            weights,
            cells.records(cells.in_original),
            lambda: ctx.tick("risk of subsets of keys"),
        )
        if chosen is not None:
            search.listed(table, chosen)
        elif len(keys) <= TABULATED:
            search.enumerate(table)
        else:
            search.branch_and_bound(table)
        counts = {
            "original records": search.n,
            "masked records": cells.records(cells.in_masked),
            "linked records": cells.records(cells.in_both),
        }
        files = Files(original, data, self.link, table, weights)
        return assemble_result(self.report, factors, search, counts, files)

    def factor(self, key: str, pairs: Pairs, original: Microdata, masked: Microdata) -> KeyFactor:
        """Return the inversion or change factor of one key."""
        kind = self.kinds.get(key) or default_kind(key, pairs, original)
        if callable(kind):
            return change_factor(pairs, "custom", custom_distances(pairs, kind, key))
        if kind == "ordered":
            return ordered_factor(pairs, key)
        if kind == "unordered":
            return change_factor(pairs, "unordered", np.ones(len(pairs.n)))
        if kind == "tree":
            holder = original if key in original.hierarchies else masked
            return change_factor(pairs, "tree", tree_distances(pairs, holder.hierarchy(key)))
        length = kind["prefix"] if isinstance(kind, Mapping) else None
        return change_factor(pairs, "prefix", prefix_distances(pairs, length, key))


def default_kind(key: str, pairs: Pairs, original: Microdata) -> str:
    """Return ordered for numbers and dates in both files, tree where there is a hierarchy, else unordered."""
    both = (pairs.x.type, pairs.y.type)
    if all(is_ordered(t) and not pa.types.is_boolean(t) for t in both):
        return "ordered"
    return "tree" if key in original.hierarchies else "unordered"


# -- result ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peak:
    """One measure at its maximum.

    ``keys`` is the subset that maximises it, of several the largest, as a key without effect belongs to it; ``ties`` has
    every subset looked at that reaches the value.
    """

    value: float
    keys: tuple[str, ...]
    ties: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Clusters:
    """Cluster sizes of both files on a set of keys, in the paper's letters.

    ``F`` and ``f`` give the number of clusters of each size in the original and the masked file, ``n`` and
    ``t`` the number of records in them.
    """

    F: Mapping[int, int]
    f: Mapping[int, int]

    @property
    def n(self) -> Mapping[int, int]:
        """Return the original records in clusters of each size."""
        return {size: size * count for size, count in self.F.items()}

    @property
    def t(self) -> Mapping[int, int]:
        """Return the masked records in clusters of each size."""
        return {size: size * count for size, count in self.f.items()}


@dataclass(frozen=True)
class Files:
    """What a result needs to answer further questions."""

    original: Microdata = field(metadata=LIVE)
    masked: Microdata = field(metadata=LIVE)
    link: str | None
    table: Linked
    weights: Weights = field(metadata=LIVE)


@dataclass(frozen=True, repr=False)
class GlobalRiskResult(Result):
    """The three measures, each at its maximum over the subsets of keys, and what they are made of."""

    minimum: Peak = Peak(0.0, ())
    weighted: Peak = Peak(0.0, ())
    maximum: Peak = Peak(0.0, ())
    #: What masking did to each key.
    factors: Mapping[str, KeyFactor] = field(default_factory=dict)
    #: Keys that the most successful intruder leaves out: masking them further buys nothing.
    overmasked: tuple[str, ...] = ()
    #: The measure that ``value`` and ``overmasked`` are about.
    report: str = "maximum"
    files: Files | None = None

    @property
    def icf(self) -> Mapping[str, float]:
        """Return the inversion or change factor of each key."""
        return {key: f.icf for key, f in self.factors.items()}

    @property
    def peak(self) -> Peak:
        """Return the reported measure."""
        found: Peak = getattr(self, self.report)
        return found

    def table(self, keys: Sequence[str] | None = None) -> Linked:
        """Return both files rolled up to some keys (by default all)."""
        assert self.files is not None
        order = list(self.factors)
        names = order if keys is None else list(keys)
        strange = [k for k in names if k not in order]
        if strange or not names:
            raise ColumnNotFound(strange or [""], order, "the keys")
        return self.files.table.only(frozenset(order.index(k) for k in names))

    def matrix(self, keys: Sequence[str] | None = None) -> dict[tuple[int, int], int]:
        """Return the occupied entries of the classification matrix on some keys (by default all).

        ``matrix[i, j]`` is the number of linked records in clusters of size i in the masked and j in
        the original file.
        """
        i, j, c = self.table(keys).matrix()
        pairs = zip(i.tolist(), j.tolist(), strict=True)
        return dict(zip(pairs, c.tolist(), strict=True))

    def clusters(self, keys: Sequence[str] | None = None) -> Clusters:
        """Return how many clusters of each size both files have on some keys (by default all)."""
        table = self.table(keys)
        return Clusters(histogram(table.original.n), histogram(table.masked.n))

    def contributions(self, keys: Sequence[str] | None = None) -> Floats:
        """Return each masked record's part of the reported risk, in record order.

        Their sum over n is the risk on these keys (by default the maximising ones). An added record has
        none. One pass over both files on the engine.
        """
        files = self._held()
        names = self.peak.keys if keys is None else tuple(keys)
        self.table(names)
        i, j = record_sizes(files.original, files.masked, names, files.link)
        linked = j > 0
        parts = np.zeros(len(i))
        parts[linked] = self.gain(i[linked], j[linked])
        return parts * float(np.prod([1 - self.icf[k] for k in names]))

    def _held(self) -> Files:
        """Return both files, which a result that was stored no longer has."""
        if self.files is None or self.files.original is None:
            raise InputError(
                "this result was stored, and the files are no longer at hand; measure again"
            )
        return self.files

    def gain(self, i: Ints, j: Ints) -> Floats:
        """Return the part of a record in clusters of sizes i and j, before the factors."""
        files = self._held()
        if self.report == "minimum":
            return ((i == 1) & (j == 1)).astype(np.float64)
        if self.report == "maximum":
            return 1.0 / np.maximum(i, j)
        pairs, inverse = np.unique(np.stack([i, j]), axis=1, return_inverse=True)
        found = files.weights.gain(pairs[0], pairs[1])
        return found[inverse.ravel()]

    def top(self, count: int = 10) -> list[tuple[int, float]]:
        """Return the positions, from 0, of the masked records most at risk, with their part of the risk."""
        parts = self.contributions()
        order = np.argsort(-parts, kind="stable")[:count]
        return [(int(p), float(parts[p])) for p in order]

    def plot(self) -> Chart:
        """Return the three measures as bars."""
        items = [
            (f"{m} ({', '.join(getattr(self, m).keys)})", getattr(self, m).value) for m in MEASURES
        ]
        return bars(items, title=self.title, y="disclosure risk")

    def charts(self) -> Iterable[Chart]:
        """Return the measures, the factor of each key, and cluster sizes before and after."""
        yield self.plot()
        yield bars(
            self.icf.items(),
            title="How far masking broke the link",
            subtitle="0: order or values kept; 1: no better than chance",
            y="inversion or change factor",
        )
        if self.peak.keys:
            sizes = self.clusters(self.peak.keys)
            yield class_sizes_before_after(
                sizes.F, sizes.f, k=2, subtitle=", ".join(self.peak.keys)
            )


def histogram(sizes: Ints) -> dict[int, int]:
    """Return how often each size occurs."""
    found = np.unique_counts(sizes)
    return dict(zip(found.values.tolist(), found.counts.tolist(), strict=True))


def assemble_result(
    report: str, factors: Mapping[str, KeyFactor], search: Search, counts: Any, files: Files
) -> GlobalRiskResult:
    """Put the result together."""
    keys = tuple(factors)
    peaks: dict[str, Any] = {name: peak(search, m, keys) for m, name in enumerate(MEASURES)}
    chief = peaks[report]
    overmasked = tuple(k for k in keys if k not in chief.keys) if chief.value > 0 else ()
    numbers = {
        **counts,
        **{f"{name} risk": p.value for name, p in peaks.items()},
        f"keys of the {report}": ", ".join(chief.keys) or "none",
        "inversion or change factors": {k: f.icf for k, f in factors.items()},
        "keys unchanged (factor 0)": sum(f.icf == 0 for f in factors.values()),
        "keys spoiled (factor 1)": sum(f.icf == 1 for f in factors.values()),
        "subsets looked at": len(search.seen),
    }
    return GlobalRiskResult(
        kind="global_risk",
        title="Global disclosure risk",
        value=chief.value,
        numbers=numbers,
        frame=subset_table(search, keys, report),
        explanation=explain_global_risk(report, chief, overmasked),
        factors=factors,
        overmasked=overmasked,
        report=report,
        files=files,
        **peaks,
    )


def peak(search: Search, measure: int, keys: tuple[str, ...]) -> Peak:
    """Return the maximum of one measure."""
    found = [tuple(keys[k] for k in sorted(s)) for s in search.maximisers(measure)]
    value = max(float(search.risks(s)[measure]) for s in search.seen)
    return Peak(value, found[0], tuple(found))


def subset_table(search: Search, keys: tuple[str, ...], report: str) -> nw.DataFrame[Any]:
    """Return one row per subset that was looked at, the highest reported risk first."""
    risks = {s: search.risks(s) for s in search.seen}
    chief = MEASURES.index(report)
    order = sorted(risks, key=lambda s: (-risks[s][chief], -len(s), sorted(s)))
    columns = {
        "keys": pa.array(["+".join(keys[k] for k in sorted(s)) for s in order], pa.string()),
        "n_keys": pa.array([len(s) for s in order], pa.int64()),
        "factor": pa.array([search.factor(s) for s in order], pa.float64()),
        **{
            name: pa.array([float(risks[s][m]) for s in order], pa.float64())
            for m, name in enumerate(MEASURES)
        },
    }
    return as_frame(columns)


def explain_global_risk(report: str, chief: Peak, overmasked: tuple[str, ...]) -> str:
    """Return the result in words."""
    text = (
        f"An intruder who knows every key value does best with {', '.join(chief.keys) or 'no key'}; the {report} risk is then "
        f"{chief.value:.3f}, as a share of the original records."
    )
    if overmasked:
        many = len(overmasked) > 1
        text += (
            f" {', '.join(overmasked)} {'are' if many else 'is'} over-masked: an intruder gains by leaving {'them' if many else 'it'} out, "
            f"so further masking of {'them' if many else 'it'} does not lower the risk."
        )
    return text
