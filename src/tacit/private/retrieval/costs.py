"""Costs of private retrieval: the survey's Table 1 as formulas, real sizes, and advice on which scheme to take.

All sizes are in bits. ``model`` costs are those of the survey; ``real`` costs are those of the messages of this package,
which differ where the survey's are ideal: Stern's cut ciphertexts (two per level), whole bytes, whole sides of the cube,
and prime powers that both sides of GR derive themselves (no setup).

Errata of the survey: the query of its citizens example with Stern's scheme is printed with s in place of s + 1; "over 512
kbit for any L" for Lipmaa's holds for L up to 8 only.

References
----------
Aguilar Melchor, Deswarte (2006), Single-database private information retrieval schemes: overview, performance study, and
usage with statistical databases, PSD 2006, LNCS 4302, 257-265, Table 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.errors import InvalidParameter
from tacit.private.retrieval.scheme import USUAL_KEY, cube_side
from tacit.private.retrieval.simple import DIMENSION, choose_shape
from tacit.result import Result

if TYPE_CHECKING:
    from tacit.plot.chart import Chart

STUDIED = ("ko", "stern", "lipmaa", "cms", "gr")


@dataclass(frozen=True)
class Cost:
    """The bits that one scheme exchanges, for records of ``length`` bits."""

    scheme: str
    n: float
    length: float
    depth: int
    setup: float
    query: float
    #: The answer for one chunk, and the bits of a record in it.
    reply: float
    chunk: float

    @property
    def expansion(self) -> float:
        """Return the bits of an answer per bit of a record."""
        return self.reply / self.chunk

    @property
    def download(self) -> float:
        """Return the bits of the answer for a whole record."""
        return max(1, math.ceil(self.length / self.chunk)) * self.reply

    @property
    def total(self) -> float:
        """Return the bits of query and answer together."""
        return self.query + self.download


def model_cost(
    scheme: str,
    n: float,
    length: float,
    *,
    k: int = 1024,
    s: int = 2,
    depth: int = 1,
    K: float | None = None,
) -> Cost:
    """Return the survey's Table 1 for one scheme."""
    if scheme not in STUDIED:
        raise InvalidParameter(f"the survey has no scheme {scheme!r}; it has {', '.join(STUDIED)}")
    if n < 1 or depth < 1 or s < 1:
        raise InvalidParameter("n, depth and s must be at least 1")
    side = n ** (1 / depth)
    L = depth
    big = (math.floor(math.log2(max(n, 2)) ** 2) + 1) if K is None else K
    setup, query, reply, chunk = {
        "ko": (k, L * k * side, k**L, 1),
        "stern": (3 * k, L * (s + 1) * k * side, s * ((s + 1) / s) ** L * k, s * k),
        "cms": (0, big**4 + 2 * big**5, big**5, 1),
        "lipmaa": (3 * k, L * (s + (L + 1) / 2) * k * (side - 1), (s + L) * k, s * k),
        "gr": (side * k, 2 * L * k, k * 5 ** (L - 1), k / 5),
    }[scheme]
    return Cost(scheme, n, length, depth, setup, query, reply, chunk)


def group_records(cost: Cost, **options: Any) -> Cost:
    """Return the cost with as many records as fit in one chunk taken together: n becomes n / a."""
    a = int(cost.chunk // cost.length) if cost.length else 1
    if a < 2:
        return cost
    return model_cost(cost.scheme, cost.n / a, a * cost.length, depth=cost.depth, **options)


def real_cost(
    scheme: str, n: int, length: int, *, k: int = USUAL_KEY, s: int = 1, depth: int = 1
) -> Cost:
    """Return the sizes of this package's messages for records of ``length`` bits (whole bytes, padding included)."""
    n_bytes = math.ceil(length / 8)
    side = cube_side(n, depth)
    key = 8 * ((k + 7) // 8)
    if scheme == "simple":
        deep, columns = choose_shape(n, n_bytes)
        rows = deep * n_bytes
        return Cost(
            scheme, n, 8 * n_bytes, 1, 32 * DIMENSION * rows, 32 * columns, 32 * rows, 8 * n_bytes
        )
    if scheme == "download":
        return Cost(scheme, n, 8 * n_bytes, 1, 0, 0, 8 * n_bytes * n, 8 * n_bytes)
    if scheme == "chor":
        return Cost(scheme, n, 8 * n_bytes, 1, 0, 16 * ((n + 7) // 8), 16 * n_bytes, 8 * n_bytes)
    sized = [8 * (((s + i + 1) * k + 7) // 8) for i in range(depth)]
    digits = -(-k // (8 * (k // 5 // 8)))
    query, reply, chunk = {
        "ko": (depth * key * side, key * k ** (depth - 1), 1),
        "stern": (depth * sized[0] * side, sized[0] * 2 ** (depth - 1), 8 * (s * (k - 1) // 8)),
        "lipmaa": (sum(sized) * (side - 1), sized[-1], 8 * (s * (k - 1) // 8)),
        "cms": (2 * key, key, 1),
        "gr": (2 * depth * key, key * digits ** (depth - 1), 8 * (k // 5 // 8)),
    }[scheme]
    setup = 0 if scheme in ("cms", "gr") else key
    return Cost(scheme, n, 8 * n_bytes, depth, setup, query, reply, chunk)


def best_depth(
    scheme: str, n: int, length: int, *, k: int = USUAL_KEY, s: int = 1, most: int = 20
) -> Cost:
    """Return the cost with the depth that exchanges least."""
    single = scheme in ("cms", "simple", "chor", "download")
    depths: Iterable[int] = (1,) if single else range(1, most + 1)
    return min(
        (real_cost(scheme, n, length, k=k, s=s, depth=d) for d in depths), key=lambda c: c.total
    )


@dataclass(frozen=True, repr=False)
class CostCurves(Result):
    """What schemes exchange as one of n, the length of records and the depth grows."""

    along: str = ""
    costs: tuple[Cost, ...] = ()

    def plot(self) -> Chart:
        """Return one line per scheme: kilobytes per query and answer."""
        from tacit.plot.lines import lines

        points = [(c.scheme, float(getattr(c, self.along)), c.total / 8e3) for c in self.costs]
        grows = {"scale": {"type": "log"}}
        names = {"n": "records", "length": "bits of a record", "depth": "depth"}
        return lines(
            points, title="What schemes exchange", x=names[self.along], y="kilobytes per query", by="scheme",
            marked=True, x_axis=None if self.along == "depth" else grows, y_axis=grows,
        )  # fmt: skip


def compare_costs(
    schemes: Sequence[str],
    *,
    n: int | Iterable[int],
    length: int | Iterable[int],
    depth: int | Iterable[int] = 1,
    k: int = USUAL_KEY,
    s: int = 1,
) -> CostCurves:
    """Return the real costs of schemes along n, the length of records in bits, or the depth: exactly one of them is a list."""
    asked = {"n": n, "length": length, "depth": depth}
    lists = {a: list(v) for a, v in asked.items() if not isinstance(v, int)}
    if len(lists) != 1 or not all(lists.values()):
        raise InvalidParameter("exactly one of n, length and depth must be a list, and not empty")
    ((along, values),) = lists.items()
    fixed = {a: v for a, v in asked.items() if isinstance(v, int)}
    costs = tuple(
        real_cost(scheme, **{**fixed, along: v}, k=k, s=s) for scheme in schemes for v in values
    )
    best = min(costs, key=lambda c: c.total)
    return CostCurves(
        "retrieval_costs",
        f"Private retrieval: what schemes exchange along {along}",
        best.total / 8,
        {"scheme": best.scheme, along: getattr(best, along), "bytes per query": math.ceil(best.total / 8)},
        None,
        f"Least is exchanged by {best.scheme} at {along} = {getattr(best, along):,g}.",
        along=along,
        costs=costs,
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Advice(Result):
    """The schemes, ranked by what they exchange for a number of queries."""

    costs: tuple[Cost, ...] = ()

    @property
    def best(self) -> str:
        """Return the scheme to take."""
        return self.costs[0].scheme

    def plot(self) -> Chart:
        """Return the megabytes of every scheme."""
        from tacit.plot.families import bars

        items = [(c.scheme, c.total / 8e6) for c in self.costs]
        return bars(items, title=self.title, y="megabytes per query")


#: Bytes of a table that the server half of each scheme works through in a second, as measured; see benchmarks.
RATES = {
    "simple": 6e9,
    "chor": 1e9,
    "download": math.inf,
    "ko": 57e3,
    "stern": 28e3,
    "lipmaa": 28e3,
    "cms": 5e3,
    "gr": 100e3,
}


def advise(
    n: int,
    length: int,
    *,
    queries: int = 1,
    client_storage: float = math.inf,
    two_servers: bool = False,
    seconds: float = 60.0,
    k: int = USUAL_KEY,
) -> Advice:
    """Rank schemes for a table of n records of ``length`` bits.

    Parameters
    ----------
    queries
        How many are expected; setup is shared among them.
    client_storage
        Bits that a client can keep (hint, or whole table).
    two_servers
        True when two servers that do not collude hold the table.
    seconds
        How long the server may take for one answer; slower schemes are left out. Plain download always stays in.
    """
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    table = n * length / 8
    rows: list[tuple[float, Cost, str]] = []
    for scheme in ("simple", "download", *STUDIED, *(("chor",) if two_servers else ())):
        cost = best_depth(scheme, n, length, k=k)
        kept = {"simple": cost.setup, "download": n * length}.get(scheme, 0)
        total = cost.download if scheme == "download" else cost.setup + queries * cost.total
        slow = table / RATES[scheme]
        fault = (
            "needs more storage at the client than there is" if kept > client_storage
            else f"takes about {slow:,.0f} s for an answer" if slow > seconds
            else ""
        )  # fmt: skip
        if not fault or scheme == "download":
            rows.append((total, cost, fault))
    rows.sort(key=lambda r: r[0])
    columns = {
        "scheme": [c.scheme for _, c, _ in rows],
        "depth": [c.depth for _, c, _ in rows],
        "setup_bits": [float(c.setup) for _, c, _ in rows],
        "query_bits": [float(c.query) for _, c, _ in rows],
        "answer_bits": [float(c.download) for _, c, _ in rows],
        "all_queries_bits": [float(t) for t, _, _ in rows],
        "note": [f for _, _, f in rows],
    }
    frame = nw.from_native(pa.table(columns), eager_only=True)
    best = rows[0]
    return Advice(
        "retrieval_advice",
        "Private retrieval: what each scheme exchanges",
        best[0] / 8,
        {
            "scheme": best[1].scheme,
            "bytes in all": math.ceil(best[0] / 8),
            "schemes compared": len(rows),
        },
        frame,
        f"For {queries:,} queries on a table of {table / 1e6:,.3g} MB, {best[1].scheme} exchanges least. Downloading the whole table "
        "is always private.",
        costs=tuple(c for _, c, _ in rows),
    )
