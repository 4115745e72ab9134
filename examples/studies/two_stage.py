"""Eight data sets and six maskings in one or two stages: what residuals give back, and at which risk.

The paper does not say which distributions it drew from, so its cells cannot be recomputed; its findings can. Here the
margins are t with five degrees of freedom or log-normal, joined by a normal copula of correlation +-0.9 or +-0.3. Loss is
the sum of squared distances of propensity scores from 1/2 (logistic regression on all terms up to the third
degree), risk the share of masked records whose nearest original is their own.

References
----------
Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302, 102-113: Tables 1 and 2.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from scipy import stats
from scipy.spatial import cKDTree
from scipy.special import expit

import tacit
from tacit.arrays import Floats
from tacit.errors import LowUtility, WeakProtection

METHODS = (
    "micz03",
    "micz03-noise100",
    "micz03-micmul10",
    "micz03-micpcp03",
    "micz03-micz03",
    "micz03-rank1",
)
DATASETS = tuple(itertools.product(("symmetric", "nonsymmetric"), ("high", "low"), ("neg", "pos")))
#: Records, and the data sets that are drawn.
SIZES: dict[str, tuple[int, tuple[tuple[str, str, str], ...]]] = {
    "small": (400, DATASETS[::3]),
    "paper": (10_000, DATASETS),
}


def run(*, size: str = "small", seed: int = 0, tick: Any = None) -> dict[str, Any]:
    """Return loss and risk of every masking on every data set, residuals reflected and restored."""
    n, datasets = SIZES[size]
    rows = []
    for residual in ("reflect", "restore"):
        for j, which in enumerate(datasets):
            if tick is not None:
                tick(f"{residual}: {' '.join(which)}", j / len(datasets))
            rows += mask_all(n, which, residual, seed)
    frame = nw.from_native(pa.Table.from_pylist(rows), eager_only=True)
    return {"loss and risk": frame}


def mask_all(
    n: int, which: tuple[str, str, str], residual: Literal["reflect", "restore"], seed: int
) -> list[dict[str, Any]]:
    """Return one row for each masking of one data set."""
    x = draw(n, *which, seed=seed)
    data = tacit.read({"a": x[:, 0], "b": x[:, 1]})
    rows = []
    for name, method in combinations(residual).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LowUtility)
            warnings.simplefilter("ignore", WeakProtection)
            masked = method.apply(data, seed=seed + DATASETS.index(which))
        y = np.column_stack([masked.column(c).to_numpy() for c in "ab"])
        rows.append(
            {"residual": residual, "data": "/".join(which), "method": name}
            | {"loss": propensity_loss(x, y), "risk": linkage_risk(x, y)}
        )
    return rows


def combinations(residual: Literal["reflect", "restore"]) -> dict[str, Any]:
    """Return the six maskings by name."""
    seconds = {
        "noise100": tacit.LocalNoise(partitions=100),
        "micmul10": tacit.Mdav(k=10),
        "micpcp03": tacit.SortByComponent(k=3),
        "micz03": tacit.SortByZscores(k=3),
        "rank1": tacit.RankSwap(percent=1),
    }
    first = tacit.SortByZscores(k=3)
    staged = {
        f"micz03-{name}": tacit.TwoStage(first=first, second=second, residual=residual)
        for name, second in seconds.items()
    }
    return {"micz03": first, **staged}


def draw(n: int, shape: str, size: str, sign: str, *, seed: int) -> Floats:
    """Return one data set of two columns."""
    r = {"high": 0.9, "low": 0.3}[size] * {"neg": -1, "pos": 1}[sign]
    rng = np.random.default_rng([seed, DATASETS.index((shape, size, sign))])
    u = stats.norm.cdf(rng.multivariate_normal([0, 0], [[1, r], [r, 1]], n))
    drawn = stats.t.ppf(u, 5) if shape == "symmetric" else stats.lognorm.ppf(u, 1)
    return np.asarray(drawn, dtype=np.float64)


def propensity_loss(x: Floats, y: Floats) -> float:
    """Return the sum of (e - 1/2)^2 for unpenalised logistic regression on all terms up to degree three."""
    z = np.vstack([x, y])
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    z /= np.abs(z).max(axis=0)
    powers = [(i, d - i) for d in range(4) for i in range(d + 1)]
    terms = np.column_stack([z[:, 0] ** i * z[:, 1] ** j for i, j in powers])
    design = np.linalg.qr(terms)[0] * np.sqrt(len(z))
    r = np.r_[np.ones(len(x)), np.zeros(len(y))]
    beta = np.zeros(design.shape[1])
    for _ in range(100):
        e = expit(design @ beta)
        slope = design.T @ (r - e)
        step = np.linalg.solve((design * (e * (1 - e))[:, None]).T @ design, slope)
        while log_likelihood(design @ (beta + step), r) < log_likelihood(design @ beta, r):
            step /= 2
            if np.abs(step).max() < 1e-12:
                break
        beta += step
        if np.abs(step).max() < 1e-10:
            break
    return float(((expit(design @ beta) - 0.5) ** 2).sum())


def log_likelihood(eta: Floats, r: Floats) -> float:
    """Return the log-likelihood of a logistic regression."""
    return float((r * eta - np.logaddexp(0, eta)).sum())


def linkage_risk(x: Floats, y: Floats) -> float:
    """Return the share of masked records whose nearest original, on columns of unit spread, is their own."""
    sd = x.std(axis=0)
    return float((cKDTree(x / sd).query(y / sd)[1] == np.arange(len(x))).mean())
