"""The problem of channel expansion: input channels, limits on risk, and who is risky.

Notation of Garfinkel, Gopal and Thompson (2007): ``m_r`` subjects in input channel r, of whom
``m_r^k`` hold the risky value k; ``P_rk = m_r^k / m_r``; ``P_k`` the share among all subjects;
``A_r = sum_k c_k P_rk``. Limits are read as fractions and compared without rounding, so that a
share equal to its limit is safe.

References
----------
Garfinkel, R., Gopal, R., Thompson, S. (2007), "Releasing individually identifiable microdata with
privacy protection against stochastic threat: An application to health information", Information
Systems Research 18(1), 23-41.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError, InvalidParameter

_PRECISION = 10**12


@dataclass(frozen=True, eq=False)
class Problem:
    """Input channels with the limits that every output channel must respect.

    Attributes
    ----------
    m
        Subjects in each of the R input channels.
    counts
        Subjects holding each risky value, R x K; all others hold the harmless value.
    u
        Largest share of each risky value that a channel may show (equation 3).
    b
        Largest weighted sum of those shares (equation 4).
    c
        Weight of each value in that sum.
    names
        Names of the input channels, for display.
    min_safe_share
        Least share of subjects from safe input channels in every output channel; zero is the
        paper's condition (5), which looks at the label alone.
    """

    m: Ints
    counts: Ints
    u: tuple[Fraction, ...]
    b: Fraction
    c: tuple[Fraction, ...]
    names: tuple[str, ...] | None = None
    min_safe_share: Fraction = Fraction(0)

    @classmethod
    def of(
        cls,
        m: ArrayLike,
        counts: ArrayLike,
        u: Sequence[float | Fraction] | float,
        b: float | Fraction | None = None,
        c: Sequence[float | Fraction] | None = None,
        names: Sequence[str] | None = None,
        min_safe_share: float | Fraction = 0,
    ) -> Problem:
        """Build and check a problem from plain lists and numbers.

        A single ``u`` serves all values; without ``b`` there is no aggregate rule; weights ``c``
        are 1 unless given.
        """
        sizes, table = _whole_numbers(m, counts)
        n_values = table.shape[1]
        limits = [u] * n_values if isinstance(u, int | float | Fraction) else list(u)
        weights = [1] * n_values if c is None else list(c)
        exact_c = tuple(_fraction(value, "c") for value in weights)
        exact_b = max([Fraction(1), *exact_c]) if b is None else _fraction(b, "b")
        problem = cls(
            m=sizes,
            counts=table,
            u=tuple(_fraction(value, "u") for value in limits),
            b=exact_b,
            c=exact_c,
            names=None if names is None else tuple(names),
            min_safe_share=_fraction(min_safe_share, "min_safe_share"),
        )
        problem.check()
        return problem

    def check(self) -> None:
        """Raise when the parameters or the counts are impossible, or no safe release exists."""
        _check_counts(self)
        _check_parameters(self)
        _check_feasible(self)

    @property
    def n_channels(self) -> int:
        """R, the number of input channels."""
        return len(self.m)

    @property
    def n_values(self) -> int:
        """K, the number of risky values."""
        return int(self.counts.shape[1])

    @cached_property
    def subjects(self) -> int:
        """The number of subjects in the data set."""
        return int(self.m.sum())

    @cached_property
    def P_rk(self) -> Floats:  # noqa: N802 -- the paper's letters
        """Share of each risky value in each input channel, R x K."""
        return np.asarray(self.counts / np.maximum(self.m, 1)[:, None], dtype=np.float64)

    @cached_property
    def P_k(self) -> Floats:  # noqa: N802 -- the paper's letters
        """Share of each risky value among all subjects."""
        return np.asarray(self.counts.sum(axis=0) / max(self.subjects, 1), dtype=np.float64)

    @cached_property
    def A_r(self) -> Floats:  # noqa: N802 -- the paper's letters
        """Weighted sum of shares of each input channel."""
        return np.asarray(self.P_rk @ np.array([float(v) for v in self.c]), dtype=np.float64)

    @cached_property
    def rows(self) -> NDArray[np.object_]:
        """Exact coefficients of the cone of safe assignments, one row per rule: ``rows @ x <= 0``.

        The K value rules (7), then the aggregate rule (9) with its sign turned.
        """
        share = np.empty((self.n_channels, self.n_values), dtype=object)
        for r, size in enumerate(self.m.tolist()):
            for k, count in enumerate(self.counts[r].tolist()):
                share[r, k] = Fraction(count, size)
        rows = np.empty((self.n_values + 1, self.n_channels), dtype=object)
        for k, limit in enumerate(self.u):
            rows[k] = [p - limit for p in share[:, k]]
        rows[-1] = [
            sum((w * p for w, p in zip(self.c, line, strict=True)), -self.b) for line in share
        ]
        return rows

    @cached_property
    def k_risky(self) -> Flags:
        """Whether channel r is risky for value k (equation 3), R x K."""
        return np.asarray(self.rows[:-1] > 0, dtype=np.bool_).T

    @cached_property
    def aggregate_risky(self) -> Flags:
        """Whether channel r breaks the aggregate rule (equation 4)."""
        return np.asarray(self.rows[-1] > 0, dtype=np.bool_)

    @cached_property
    def risky(self) -> Flags:
        """Whether channel r is risky for any value or in the aggregate."""
        return np.asarray(self.k_risky.any(axis=1) | self.aggregate_risky, dtype=np.bool_)

    @property
    def safe(self) -> Flags:
        """Whether channel r may be released as it is."""
        return np.asarray(~self.risky, dtype=np.bool_)

    def a_priori_safe(self, channels: Sequence[int]) -> bool:
        """Whether a set of input channels holds a safe one (condition 5)."""
        return bool(self.safe[list(channels)].any())

    def psi(self, channels: Sequence[int]) -> int:
        """Cost of naming a set of input channels: the full sizes of its members (6.1)."""
        return int(self.m[list(channels)].sum())

    def label(self, channel: int) -> str:
        """Name of an input channel, or its number from 1."""
        return self.names[channel] if self.names else str(channel + 1)


def _fraction(value: Any, name: str) -> Fraction:
    """Read a number as the fraction it was written as (0.1 is 1/10)."""
    try:
        exact = value if isinstance(value, Fraction) else Fraction(float(value))
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(f"{name} must be a finite number; got {value!r}.") from None
    return exact.limit_denominator(_PRECISION)


def _whole_numbers(m: ArrayLike, counts: ArrayLike) -> tuple[Ints, Ints]:
    sizes, table = np.asarray(m), np.asarray(counts)
    if table.ndim == 1 and table.size == 0:
        table = table.reshape(len(sizes), 0)
    if sizes.ndim != 1 or table.ndim != 2 or len(sizes) != len(table):
        raise InputError("counts needs one line for each input channel of m; check their lengths.")
    for values in (sizes, table):
        numeric = values.dtype.kind in "iuf" or values.size == 0
        if not numeric or (values.dtype.kind == "f" and not np.all(values == np.floor(values))):
            raise InputError("m and counts must be whole numbers of subjects.")
    return sizes.astype(np.int64), table.astype(np.int64)


def _check_counts(problem: Problem) -> None:
    if (problem.m < 1).any():
        raise InputError("every input channel needs at least one subject; drop the empty ones.")
    if (problem.counts < 0).any():
        raise InputError("counts must not be negative.")
    if (problem.counts.sum(axis=1) > problem.m).any():
        raise InputError(
            "the counts of the risky values exceed the size of an input channel; a subject holds "
            "one value, so combine several conditions into a value of their own."
        )
    if problem.names is not None and len(problem.names) != problem.n_channels:
        raise InputError("names needs one entry for each input channel.")


def _check_parameters(problem: Problem) -> None:
    for name, values in (("u", problem.u), ("c", problem.c)):
        if len(values) != problem.n_values:
            raise InvalidParameter(
                f"{name} has {len(values)} entries for {problem.n_values} risky values; give one each."
            )
    for k, limit in enumerate(problem.u, start=1):
        if not 0 < limit <= 1:
            raise InvalidParameter(
                f"u for value {k} is {float(limit):g}; it must lie above 0 and at most 1."
            )
    for k, weight in enumerate(problem.c, start=1):
        if weight < 0:
            raise InvalidParameter(
                f"c for value {k} is {float(weight):g}; it must not be negative."
            )
    if problem.b <= 0:
        raise InvalidParameter(f"b is {float(problem.b):g}; it must be above 0.")
    if not 0 <= problem.min_safe_share <= 1:
        raise InvalidParameter(
            f"min_safe_share is {float(problem.min_safe_share):g}; it must lie between 0 and 1."
        )


def _check_feasible(problem: Problem) -> None:
    """Raise unless the channel of all subjects is safe, which decides feasibility (section 3.1)."""
    if not problem.n_channels:
        return
    totals = [Fraction(int(n), problem.subjects) for n in problem.counts.sum(axis=0)]
    for k, (share, limit) in enumerate(zip(totals, problem.u, strict=True), start=1):
        if share > limit:
            raise InvalidParameter(
                f"u for value {k} is {float(limit):g}, below the share of that value among all "
                "subjects, so even one channel of everybody is unsafe; raise it."
            )
    if sum((w * p for w, p in zip(problem.c, totals, strict=True)), Fraction(0)) > problem.b:
        raise InvalidParameter(
            f"b is {float(problem.b):g}, below the weighted sum of shares among all subjects, so "
            "even one channel of everybody is unsafe; raise b or lower c."
        )
    if not problem.risky.any():
        return
    if not problem.safe.any():
        raise InputError(
            "no input channel is safe, so no output channel can hold a safe one (condition 5); "
            "raise u or b, or use coarser input channels."
        )
    safe_share = Fraction(int(problem.m[problem.safe].sum()), problem.subjects)
    if problem.min_safe_share > safe_share:
        raise InvalidParameter(
            f"min_safe_share is {float(problem.min_safe_share):g}, above the share of subjects in "
            "safe input channels; lower it."
        )
