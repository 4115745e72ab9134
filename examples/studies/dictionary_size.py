"""Figure 1 of Lebanon et al.: risk by values disclosed and by size of the dictionary, and estimated against true risk.

The item table of the paper is private; these are simulated items with attributes of unequal values. The records disclosed
are the first of the table, each with its attributes in a random order of its own, so that rules are nested; dictionaries are
beginnings of the table, so that they are nested too. Then theorems say what the figure shows: the risk grows with
the values disclosed, falls with the size of the dictionary, and is larger against a smaller dictionary than against the true one.

References
----------
Lebanon, Scannapieco, Fouad, Bertino (2006), Beyond k-anonymity: a decision theoretic framework for assessing
privacy risk, PSD 2006, LNCS 4302, 217-232, appendix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.plot.chart import Chart
from tacit.plot.lines import lines
from tacit.plot.paired import axis, diagonal
from tacit.records.decision.sensitivity import (
    Consistent,
    Dictionary,
    Sensitivity,
    hide,
    losses,
    risk_of,
)

#: Rows of the table, attributes, records disclosed.
SIZES = {"small": (4_000, 10, 300), "full": (400_000, 70, 2_000)}
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
#: Shares of the attributes that a record discloses.
DISCLOSED = (0.3, 0.5, 0.8, 1.0)
FORMS = {"additive": "sum", "multiplicative": "product"}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return the risk by dictionary, number of values disclosed and form, and pairs of estimated and true risk."""
    n, m, disclosed = SIZES[size]
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 12, m)
    items = [rng.choice(c, n, p=rng.dirichlet(np.ones(c))) for c in sizes]
    table = np.stack(items, axis=1).astype(np.int32)
    codes = table[:disclosed]
    rank = np.argsort(rng.random(codes.shape), axis=1)
    # Many attributes of weight 1 would make the exponential overwhelm everything.
    weights = rng.random(codes.shape) * min(1.0, 10 / m)
    rows = []
    for share in SHARES:
        if tick is not None:
            tick(f"dictionary of {share:.0%}", share)
        theta = Dictionary.of(table[: int(share * n)], [Consistent.equal(int(c)) for c in sizes])
        for k in sorted({round(d * m) for d in DISCLOSED}):
            shown = rank < k
            candidates = theta.count(hide(codes, shown))
            for name, form in FORMS.items():
                phi = Sensitivity(weights, form).of(shown)
                risk = risk_of(losses(candidates, phi))
                rows.append({"form": name, "dictionary": share, "k": k, "risk": risk})
    pairs = [
        {"form": a["form"], "k": a["k"], "own": a["dictionary"], "true": b["dictionary"],
         "estimated risk": a["risk"], "true risk": b["risk"]}
        for a in rows
        for b in rows
        if a["form"] == b["form"] and a["k"] == b["k"] and a["dictionary"] < b["dictionary"]
    ]  # fmt: skip
    return {"risk": as_frame(rows), "estimated and true risk": as_frame(pairs)}


def charts(tables: Mapping[str, Any]) -> dict[str, Chart]:
    """Return the two panels of the figure."""
    rows = [r for r in tables["risk"].rows(named=True) if r["form"] == "additive"]
    left = lines(
        [(f"{r['dictionary']:.0%}", r["k"], r["risk"]) for r in rows],
        title="More values disclosed, more risk; more people known, less",
        x="values disclosed of each record",
        y="risk (additive)",
        by="dictionary",
        marked=True,
        alt="Risk over the number of values disclosed, one line for each size of the dictionary; all rise, larger dictionaries lie lower.",
    )
    return {"risk": left, "bound": draw_bound(tables["estimated and true risk"].rows(named=True))}


def draw_bound(rows: list[dict[str, Any]]) -> Chart:
    """Return estimated over true risk: no point lies below the line."""
    some = [r for r in rows if r["form"] == "additive"]
    points = [
        {"x": r["true risk"], "y": r["estimated risk"], "own": f"{r['own']:.0%}"} for r in some
    ]
    high = max(max(p["x"], p["y"]) for p in points)
    spec = {
        "title": "A smaller dictionary of one's own bounds the true risk",
        "width": 320,
        "height": 320,
        "layer": [
            diagonal(0.0, high),
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "size": 40},
                "encoding": {
                    "x": axis("x", "true risk", 0.0, high),
                    "y": axis("y", "estimated risk", 0.0, high),
                    "color": {"field": "own", "type": "nominal", "title": "own dictionary"},
                },
            },
        ],
    }
    return Chart(spec, f"Estimated over true risk, {len(points)} points, none below the diagonal.")


def as_frame(rows: list[dict[str, Any]]) -> nw.DataFrame[Any]:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)
