"""Four Monte Carlo designs of noise and blanking: naive estimates, and those freed from both.

y = 0.5 + x1 - x2 + e with standard normal covariates of correlation 0.25. Noise of variance s is added to x1;
a record is kept when x1 + noise + v1 and y + v2 both lie below the theta quantile of the noisy x1 and of y,
with v standard normal. The analyst weights by one over the probability that y was kept, and extrapolates
the noise away (BSIMEX). The designs are those of Tables 2 to 5 of the paper.

References
----------
Flossmann, Lechner (2006), Combining blanking and noise addition as a data disclosure limitation method,
PSD 2006, LNCS 4302, 152-163.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.stats.correction.retention import retention_probability
from tacit.stats.correction.simex_fit import linear_simex

#: Variance of the noise, and the quantile above which values are risky.
DESIGNS = {1: (0.01, 0.95), 2: (0.01, 0.90), 3: (0.5, 0.95), 4: (0.5, 0.90)}
TRUE = np.array([0.5, 1.0, -1.0])
NAMES = ("alpha", "beta", "gamma")
#: Records and replications.
SIZES = {"small": (1000, 20), "paper": (1000, 300)}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return one row for each design and estimator, and one on what was dropped."""
    n, replications = SIZES[size]
    estimates: list[dict[str, Any]] = []
    dropped: list[dict[str, Any]] = []
    for i, (design, (variance, theta)) in enumerate(DESIGNS.items()):
        if tick is not None:
            tick(f"design {design}", i / len(DESIGNS))
        rng = np.random.default_rng([seed, design])
        found = [replicate(n, variance, theta, rng) for _ in range(replications)]
        for name in ("true data", "naive", "bsimex"):
            values = np.array([f[name] for f in found])
            estimates.append(
                {"design": design, "noise variance": variance, "theta": theta, "estimator": name}
                | dict(zip(NAMES, values.mean(axis=0).tolist(), strict=True))
                | {
                    f"rmse {parameter}": float(np.sqrt(((values[:, j] - TRUE[j]) ** 2).mean()))
                    for j, parameter in enumerate(NAMES)
                }
            )
        means = np.mean([f["dropped"] for f in found], axis=0).tolist()
        dropped.append(
            {"design": design, "dropped": means[0], "risky y dropped, %": means[1]}
            | {"risky x1 dropped, %": means[2]}
        )
    return {"estimates": as_frame(estimates), "dropped": as_frame(dropped)}


def replicate(n: int, variance: float, theta: float, rng: np.random.Generator) -> dict[str, Any]:
    """Return the estimates from one simulated file, and what blanking dropped from it."""
    root = np.linalg.cholesky(np.array([[1.0, 0.25], [0.25, 1.0]]))
    x = rng.standard_normal((n, 2)) @ root.T
    y = TRUE[0] + x @ TRUE[1:] + rng.standard_normal(n)
    noisy = x + np.sqrt(variance) * rng.standard_normal((n, 1)) * [1.0, 0.0]
    limit_x, limit_y = np.quantile(noisy[:, 0], theta), np.quantile(y, theta)
    kept = (noisy[:, 0] + rng.standard_normal(n) < limit_x) & (y + rng.standard_normal(n) < limit_y)
    weights = 1 / retention_probability(y[kept], -np.inf, float(limit_y), 1.0)
    design = np.column_stack([np.ones(kept.sum()), noisy[kept]])
    fitted = linear_simex(noisy[kept], y[kept], weights, np.diag([variance, 0.0]), rng=rng)
    risky = n * (1 - theta)
    return {
        "true data": least_squares(np.column_stack([np.ones(n), x]), y),
        "naive": least_squares(design, y[kept]),
        "bsimex": fitted.corrected,
        # As the paper counts them: original values above the quantile of the noisy ones.
        "dropped": [
            float((~kept).sum()),
            100 * float(((y > limit_y) & ~kept).sum()) / risky,
            100 * float(((x[:, 0] > limit_x) & ~kept).sum()) / risky,
        ],
    }


def least_squares(x: Floats, y: Floats) -> Floats:
    """Return the coefficients of an unweighted regression."""
    return np.asarray(np.linalg.lstsq(x, y, rcond=None)[0])


def as_frame(rows: list[dict[str, Any]]) -> nw.DataFrame[Any]:
    """Return rows as a frame."""
    return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)
