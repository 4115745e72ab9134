"""Clusters first: records are grouped within clusters, so that no group mixes different kinds of records.

Each method of :data:`CLUSTERS` returns a cluster number a record. Its number of clusters is given, or
chosen from 1 to 9: by the Bayesian information criterion for Gaussian mixtures, by the index of Calinski
and Harabasz for the others (2 to 9). Large files are clustered on a random sample, and all records join
the cluster that the sample's model gives them.

References
----------
Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359, section 3.
Fraley, Raftery (2002), Model-based clustering, discriminant analysis, and density estimation, Journal of
the American Statistical Association 97, 611-631.
Kaufman, Rousseeuw (1990), Finding Groups in Data, Wiley: PAM and CLARA.
Caliński, Harabasz (1974), A dendrite method for cluster analysis, Communications in Statistics 3, 1-27.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, SdcWarning, require
from tacit.numerics.elementary import log
from tacit.records.microaggregation.grouping.loss import group_means, number_through, parts_of
from tacit.stats.moments import scale_of

Cluster = Literal["gmm", "kmeans", "medoids", "hierarchical"]
Transform = Literal["none", "log", "boxcox"]

#: Most clusters that are tried when the number is not given.
MOST = 9
#: Records on which a mixture or k-means is fitted, a tree is grown, and medoids are sought.
FIT_RECORDS = 20_000
TREE_RECORDS = 3_000
PAM_RECORDS = 500
CLARA_SAMPLES = 5


class Silence:
    """Ignores all warnings but tacit's own while any thread is within it; the last one out restores the filters.

    ``warnings.catch_warnings`` puts back what it found: of two threads the one that ends last would put back the
    other's silence, for the whole process and for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._filters = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            self._within += 1
            if self._within == 1:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", SdcWarning)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                self._filters.__exit__(kind, error, trace)


#: Strata are clustered side by side, in threads.
SILENCE = Silence()


def group_within_clusters(z: Floats, clusters: Ints, group: Callable[[Floats], Ints]) -> Ints:
    """Return the groups formed in each cluster by itself, numbered through."""
    parts = parts_of(clusters)
    return number_through(len(z), parts, (group(z[part]) for part in parts))


def cluster_labels(
    x: Floats,
    k: int,
    *,
    cluster: Cluster,
    clusters: int | None = None,
    transform: Transform = "none",
    rng: np.random.Generator,
    names: Sequence[str] = (),
) -> Ints:
    """Return a cluster number 0, 1, ... a record; every cluster has at least k records.

    Columns are transformed, then standardised. A cluster smaller than k joins the one with the nearest
    centre.

    The records ``x`` come in the columns' own units. ``transform`` takes of each column its logarithm, or Box and
    Cox's with the likeliest exponent; both need values above 0. ``names`` are the columns', for messages.
    """
    if clusters is not None and clusters * k > len(x):
        raise InputError(
            f"{clusters} clusters of at least {k} records need {clusters * k} records, and there are fewer. Give a smaller number of clusters."
        )
    y = transform_columns(x, transform, names)
    z = scale_of(y).there(y)
    ids = CLUSTERS[cluster](z, clusters, max(1, min(MOST, len(x) // k)), rng)
    return join_small_clusters(z, np.unique(ids, return_inverse=True)[1].astype(np.int64), k)


def transform_columns(x: Floats, transform: Transform, names: Sequence[str] = ()) -> Floats:
    """Return the columns transformed; logarithms of values that have none are refused by column."""
    if transform == "none":
        return x
    called = names or [f"number {j + 1}" for j in range(x.shape[1])]
    bad = [name for name, v in zip(called, x.T, strict=True) if (v <= 0).any()]
    if bad:
        raise InputError(
            f"transform {transform!r} needs values above 0, and column {', '.join(map(repr, bad))} has others. Shift the column, leave it out or give transform='none'."
        )
    if transform == "log":
        return log(x)
    from scipy import stats

    constant = np.ptp(x, axis=0) == 0
    return np.column_stack(
        [v if still else stats.boxcox(v)[0] for v, still in zip(x.T, constant, strict=True)]
    )


def join_small_clusters(z: Floats, labels: Ints, k: int) -> Ints:
    """Return clusters of at least k records: the smallest joins the nearest centre while it is smaller."""
    sizes = np.bincount(labels).astype(np.float64)
    centres = group_means(z, labels)
    into = np.arange(len(sizes))
    while len(sizes) > 1 and sizes.min() < k:
        small = int(sizes.argmin())
        away = ((centres - centres[small]) ** 2).sum(axis=1)
        away[small] = np.inf
        near = int(away.argmin())
        both = sizes[small] + sizes[near]
        centres[near] = (sizes[small] * centres[small] + sizes[near] * centres[near]) / both
        sizes[near] = both
        into[into == small] = near
        sizes, centres = np.delete(sizes, small), np.delete(centres, small, axis=0)
        into -= into > small
    return into[labels]


# -- the methods -----------------------------------------------------------------------------------


def gmm(z: Floats, clusters: int | None, most: int, rng: np.random.Generator) -> Ints:
    """Return the likeliest component of a Gaussian mixture; components and shape by BIC.

    Shapes: a full or a diagonal covariance for each component.
    """
    mixture = learner("mixture", "GaussianMixture", "clustering by a Gaussian mixture")
    sample = sample_records(z, FIT_RECORDS, rng)
    seed = int(rng.integers(2**31))
    best, lowest = None, np.inf
    # A fit that has not converged has a BIC all the same, only a worse one.
    with SILENCE:
        for n in [clusters] if clusters else range(1, most + 1):
            for shape in ("full", "diag"):
                model = mixture(n, covariance_type=shape, random_state=seed, reg_covar=1e-4)
                bic = model.fit(sample).bic(sample)
                if bic < lowest:
                    best, lowest = model, bic
    assert best is not None
    return np.asarray(best.predict(z), dtype=np.int64)


def kmeans(z: Floats, clusters: int | None, most: int, rng: np.random.Generator) -> Ints:
    """Return k-means clusters, the best of four starts."""
    means = learner("cluster", "KMeans", "clustering by k-means")
    sample = sample_records(z, FIT_RECORDS, rng)
    seed = int(rng.integers(2**31))

    def fit(n: int) -> Floats:
        with SILENCE:  # fewer distinct records than clusters
            return np.asarray(means(n, n_init=4, random_state=seed).fit(sample).cluster_centers_)

    return best_centres(z, sample, fit, clusters, most)


def hierarchical(z: Floats, clusters: int | None, most: int, rng: np.random.Generator) -> Ints:
    """Return the clusters of Ward's tree; above 3,000 records that of a sample, others to the nearest centre."""
    from scipy.cluster import hierarchy

    sample = sample_records(z, TREE_RECORDS, rng)
    tree = hierarchy.linkage(sample, "ward")

    def fit(n: int) -> Floats:
        cut = hierarchy.fcluster(tree, n, criterion="maxclust")
        return group_means(sample, np.unique(cut, return_inverse=True)[1].astype(np.int64))

    if len(sample) < len(z):
        return best_centres(z, sample, fit, clusters, most)
    cuts = [
        hierarchy.fcluster(tree, n, criterion="maxclust").astype(np.int64) - 1
        for n in ([clusters] if clusters else range(min(2, most), most + 1))
    ]
    return max(cuts, key=lambda cut: calinski_harabasz(z, cut))


def medoids(z: Floats, clusters: int | None, most: int, rng: np.random.Generator) -> Ints:
    """Return clusters about medoids: PAM up to 500 records, above that the best of five samples (CLARA)."""
    if len(z) <= PAM_RECORDS:
        samples = [z]
    else:
        samples = [sample_records(z, PAM_RECORDS, rng) for _ in range(CLARA_SAMPLES)]

    def fit(n: int) -> Floats:
        found = [sample[pam(sample, n)] for sample in samples]
        return min(
            found, key=lambda centres: float(np.sqrt(assign_to_centres(z, centres)[1]).sum())
        )

    return best_centres(z, z, fit, clusters, most)


CLUSTERS: dict[str, Callable[[Floats, int | None, int, np.random.Generator], Ints]] = {
    "gmm": gmm,
    "kmeans": kmeans,
    "medoids": medoids,
    "hierarchical": hierarchical,
}


# -- what they share -------------------------------------------------------------------------------


def learner(module: str, name: str, purpose: str) -> Any:
    """Return a class of scikit-learn, or say how to install it."""
    import importlib

    try:
        return getattr(importlib.import_module(f"sklearn.{module}"), name)
    except ImportError:
        raise require("scikit-learn", "models", purpose) from None


def sample_records(z: Floats, most: int, rng: np.random.Generator) -> Floats:
    """Return at most this many records, drawn at random when there are more."""
    return z if len(z) <= most else z[np.sort(rng.choice(len(z), size=most, replace=False))]


def best_centres(
    z: Floats, sample: Floats, fit: Callable[[int], Floats], clusters: int | None, most: int
) -> Ints:
    """Return the nearest centre of each record; the number of centres by Calinski and Harabasz."""
    if most == 1 and clusters is None:
        return np.zeros(len(z), dtype=np.int64)
    tried = [fit(n) for n in ([clusters] if clusters else range(2, most + 1))]
    best = max(tried, key=lambda c: calinski_harabasz(sample, assign_to_centres(sample, c)[0]))
    return assign_to_centres(z, best)[0]


def assign_to_centres(z: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """Return the nearest centre of each record and the squared distance to it."""
    best, label = np.full(len(z), np.inf), np.zeros(len(z), dtype=np.int64)
    for c, centre in enumerate(centres):
        away = ((z - centre) ** 2).sum(axis=1)
        closer = away < best
        best[closer], label[closer] = away[closer], c
    return label, best


def calinski_harabasz(z: Floats, labels: Ints) -> float:
    """Return the variance between clusters over that within, each by its degrees of freedom."""
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    n, g = len(z), int(labels.max()) + 1
    if g == 1 or g >= n:
        return 0.0
    within_sum = float(((z - group_means(z, labels)[labels]) ** 2).sum())
    total = float(((z - z.mean(axis=0)) ** 2).sum())
    if within_sum <= 0:
        return np.inf
    return (total - within_sum) / within_sum * (n - g) / (g - 1)


def pam(z: Floats, n_medoids: int) -> Ints:
    """Return the medoids found by PAM: greedy choice, then the best exchange while one helps."""
    away = np.sqrt(np.maximum(((z[:, None, :] - z[None, :, :]) ** 2).sum(axis=2), 0.0))
    chosen = [int(away.sum(axis=0).argmin())]
    while len(chosen) < n_medoids:
        gain = np.maximum(away[:, chosen].min(axis=1)[:, None] - away, 0.0).sum(axis=0)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
    medoids_now = np.array(chosen)
    while True:
        better = best_exchange(away, medoids_now)
        if better is None:
            return medoids_now
        out, into = better
        medoids_now[out] = into


def best_exchange(away: Floats, chosen: Ints) -> tuple[int, int] | None:
    """Return which medoid to exchange for which record, or None when no exchange lowers the cost.

    For a record nearest to medoid m, taking m out costs the step to its second medoid or to the new one;
    for all others the new one can only help (Kaufman, Rousseeuw 1990, all exchanges at once).
    """
    rank = np.argsort(away[:, chosen], axis=1, kind="stable")[:, :2]
    first = away[np.arange(len(away)), chosen[rank[:, 0]]]
    second = (
        away[np.arange(len(away)), chosen[rank[:, 1]]]
        if len(chosen) > 1
        else np.full(len(away), np.inf)
    )
    helped = np.minimum(away - first[:, None], 0.0)
    change = np.tile(helped.sum(axis=0), (len(chosen), 1))
    for m in range(len(chosen)):
        own = rank[:, 0] == m
        moved = np.minimum(away[own], second[own, None]) - first[own, None]
        change[m] += (moved - helped[own]).sum(axis=0)
    change[:, chosen] = np.inf
    out, into = np.unravel_index(int(change.argmin()), change.shape)
    if change[out, into] >= -1e-12 * max(float(first.sum()), 1.0):
        return None
    return int(out), int(into)
