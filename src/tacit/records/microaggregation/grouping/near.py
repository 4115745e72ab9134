"""Records or their distances: squared distances of pairs, nearest records, alike records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from tacit.arrays import Floats, Ints
from tacit.errors import InputError

#: Records whose distances are all kept: looking them up is faster than computing them again.
KEPT = 4_000


@dataclass(frozen=True, eq=False)
class Space:
    """What is grouped: records, or the squared distances between them."""

    #: Number of records.
    n: int
    #: The records, n x p; without columns when only distances are known.
    x: Floats
    #: Squared distances, n x n; empty when they are computed as needed.
    squared: Floats

    @classmethod
    def of_records(cls, x: Floats) -> Space:
        """Return the Euclidean space of records, or refuse what cannot be grouped."""
        if x.ndim != 2 or len(x) < 2:
            raise InputError("groups of two need a matrix of at least two records")
        if not np.isfinite(x).all():
            raise InputError("the records must hold finite numbers; leave out or impute others")
        x = np.ascontiguousarray(x, dtype=np.float64)
        return cls(len(x), x, cdist(x, x, "sqeuclidean") if len(x) <= KEPT else np.empty((0, 0)))

    @classmethod
    def of_distances(cls, distances: Floats) -> Space:
        """Return the space of given distances, or refuse what are none."""
        d = np.asarray(distances, dtype=np.float64)
        if d.ndim != 2 or d.shape[0] != d.shape[1] or len(d) < 2:
            raise InputError("distances must be a square matrix of at least two records")
        if not np.isfinite(d).all() or (d < 0).any() or (d != d.T).any() or np.diag(d).any():
            raise InputError(
                "distances must be finite, not negative, symmetric, and 0 on the diagonal"
            )
        return cls(len(d), np.empty((len(d), 0)), d**2)

    @property
    def euclidean(self) -> bool:
        """Return True when the records are known."""
        return self.x.shape[1] > 0

    def between(self, u: Ints, v: Ints) -> Floats:
        """Return the squared distances of pairs."""
        if len(self.squared):
            return self.squared[u, v]
        found: Floats = ((self.x[u] - self.x[v]) ** 2).sum(axis=1)
        return found

    def near(self, count: int) -> Ints:
        """Return the nearest other records of each record, ascending."""
        if self.euclidean:
            return find_nearest_records(self.x, count)[0]
        own = np.diag(np.full(self.n, -1.0))
        return np.argsort(self.squared + own, axis=1, kind="stable")[:, 1 : count + 1]

    def total(self) -> float:
        """Return SST."""
        if self.euclidean:
            return float(((self.x - self.x.mean(axis=0)) ** 2).sum())
        return float(self.squared.sum()) / (2.0 * self.n)

    def points(self) -> tuple[Space, Ints, Ints]:
        """Return the distinct records, the distinct record of each record, and how many share it."""
        if self.euclidean:
            twin = np.unique(self.x, axis=0, return_index=True, return_inverse=True)
            label = twin[1][twin[2].reshape(-1)]
        else:
            label = (self.squared == 0.0).argmax(axis=1)
            # Only records with the same distances to all others are one point.
            same = (self.squared == self.squared[label]).all(axis=1)
            label = np.where(same, label, np.arange(self.n))
        first, point, m = np.unique(label, return_inverse=True, return_counts=True)
        squared = self.squared[np.ix_(first, first)] if len(self.squared) else self.squared
        space = Space(len(first), self.x[first], squared)
        return space, point.astype(np.int64), m.astype(np.int64)


def connected_parts(n: int, edges: Ints) -> Ints:
    """Return the part of each of n records that edges connect to one another."""
    graph = sparse.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    return sparse.csgraph.connected_components(graph, directed=False)[1].astype(np.int64)


def find_nearest_records(x: Floats, count: int) -> tuple[Ints, Floats]:
    """Return the nearest other records of each record, ascending, and their squared distances.

    Among those found, equal distances are in record order.
    """
    n = len(x)
    count = min(count, n - 1)
    index = cKDTree(x).query(x, count + 1)[1].reshape(n, count + 1)
    here = np.arange(n)[:, None]
    # A record with many twins need not be among its own nearest: the last goes instead.
    own = index == here
    own[~own.any(axis=1), -1] = True
    index = index[~own].reshape(n, count).astype(np.int64)
    squared = ((x[index] - x[:, None, :]) ** 2).sum(axis=2)
    order = np.lexsort((index, squared), axis=1)
    return np.take_along_axis(index, order, axis=1), np.take_along_axis(squared, order, axis=1)
