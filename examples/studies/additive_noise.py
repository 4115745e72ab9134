"""The R-U map of multivariate additive noise in closed form, and by simulation where there is none.

The model of Duncan, Keller-McNulty and Stokes (2001): n independent records X with covariance Sigma; the
sensitive columns are released with noise of covariance lambda^2 Sigma_11, the others as they are. Utility is
U = 1 / E(theta_hat_Y - theta)^2 for a user's task, risk is R = 1 / E(tau_hat - tau)^2 for an intruder who
knows which record is the target's.

Where the report prints something else than its own definitions give, the definitions are followed:

* The cap of Example 1 is printed as R_max = ($5000)^-1. Risk is the reciprocal of a *squared* error, (3.3), so
  that a tolerable error of 5 thousand dollars is R_max = 1 / 5^2 = 0.04, from which lambda^2 of about 0.15
  (0.1413 exactly) follows as printed.
* The text calls the curve of mean salary in Figure 1 the left-hand one. Salary has the larger utility (5.65
  against 2.90 unmasked), so its curve lies to the right.
* The text says that masking costs the difference of means more than mean salary. Relative to no masking both
  lose the same, lambda^2 / (1 + lambda^2), which is 13.04 % at 0.15.
* The conditional variance in Case 1 is printed with sigma_r^2; the variance of the response is meant:
  (1 - rho^2) (1 + lambda^2) sigma_r'^2 = (1 + lambda^2) sigma_e^2.
* Utility (4.5) of a slope on a masked regressor is said to decrease in lambda^2. It does for R^2 of at least 1/2;
  for a weaker relationship a little noise shrinks the estimate to its advantage, and U rises before it falls.
* "The shape depends on beta only through R^2" holds after multiplying U by beta^2.
* References to equations are off by one: the model called (4.2) is (4.1), R^2 called (4.7) is (4.6), the
  utilities called (4.6) and (4.8) are (4.5) and (4.7); the risk is (4.8).
* Risk (4.8) is called conservative. It is so against an intruder who links badly, but not against one who knows
  the distribution: see :func:`tacit.records.values.index_disclosure.bayes_risk`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from studies.noise_forms import sample_size, smallest_multiplier
from studies.noise_tasks import Combination, Custom, Slope, Task
from tacit.arrays import Floats
from tacit.errors import ColumnNotFound, Infeasible, InputError, InvalidParameter
from tacit.records.values.index_disclosure import (
    bayes_risk,
    check_positive_variance,
    conditional_variance,
    index_risk,
    multiplier,
)
from tacit.stats.moments import as_covariance, factor, weighted_covariance

if TYPE_CHECKING:
    from tacit.alternatives.rumap.points import Point
    from tacit.alternatives.rumap.result import RUMapResult
    from tacit.data.microdata import Microdata
    from tacit.plot.chart import Chart

__all__ = ["AdditiveNoiseMap", "Combination", "Custom", "Simulated", "Slope", "Task"]

Intruder = Literal["reads", "bayes", "all"]

#: The noise multipliers along a curve, unless others are given.
GRID = (0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
#: Points of a drawn curve.
FINE = 120
#: Numbers drawn at a time in a simulation: 32 MB.
BATCH = 1 << 22

INTRUDERS: dict[Intruder, str] = {
    "reads": "reads the released value",
    "bayes": "also knows the distribution",
    "all": "also uses all released columns",
}


@dataclass(frozen=True)
class Simulated:
    """Utility of a task at one noise multiplier, with its confidence limits, and the estimator's bias."""

    task: str
    lambda_squared: float
    utility: float
    low: float
    high: float
    bias: float
    replications: int


@dataclass(frozen=True, eq=False)
class AdditiveNoiseMap:
    """The R-U map of additive noise with the correlation structure of the data.

    Attributes
    ----------
    covariance
        Covariance matrix of the columns, Sigma: symmetric and positive semidefinite.
    n
        Number of records.
    names
        Names of the columns; by default X1, X2, ...
    sensitive
        The columns that are masked; by default all.
    lambda_squared
        The noise multipliers along the curves; 0 has infinite risk, and is left out of logarithmic plots.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences.
    """

    covariance: Any
    n: int
    names: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    lambda_squared: tuple[float, ...] = GRID
    sigma: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            sigma = as_covariance(self.covariance)
        except ValueError as error:
            raise InvalidParameter(str(error)) from None
        put = object.__setattr__
        put(self, "sigma", sigma)
        put(self, "n", sample_size(self.n, 1))
        put(self, "names", tuple(self.names) or tuple(f"X{i + 1}" for i in range(len(sigma))))
        if len(self.names) != len(sigma) or len(set(self.names)) < len(sigma):
            raise InvalidParameter(
                "names must give each column of the covariance a name of its own"
            )
        put(self, "sensitive", tuple(self.sensitive) or self.names)
        put(self, "lambda_squared", tuple(float(v) for v in np.atleast_1d(self.lambda_squared)))
        multiplier(self.lambda_squared)
        for name in self.sensitive:
            check_positive_variance(float(self.sigma[self.index(name), self.index(name)]))

    @classmethod
    def from_microdata(
        cls,
        data: Microdata,
        columns: Sequence[str],
        sensitive: Sequence[str] = (),
        lambda_squared: Sequence[float] = GRID,
    ) -> AdditiveNoiseMap:
        """Estimate the covariance from the complete records of some numeric columns."""
        from tacit.data.paired import matrix, weights_of
        from tacit.data.values import not_numeric

        table = data.to_arrow(columns)
        for fault in not_numeric(data, columns, "AdditiveNoiseMap"):
            raise fault
        values = matrix(table, columns)
        complete = np.isfinite(values).all(axis=1)
        if complete.sum() < 2:
            raise InputError("AdditiveNoiseMap needs at least two records without missing values")
        sigma = weighted_covariance(values[complete], weights_of(data)[complete])
        return cls(
            sigma, int(complete.sum()), tuple(columns), tuple(sensitive), tuple(lambda_squared)
        )

    def index(self, name: str) -> int:
        """Return the position of a column."""
        if name not in self.names:
            raise ColumnNotFound([name], list(self.names), "the map")
        return self.names.index(name)

    @property
    def masked(self) -> list[int]:
        """Return the positions of the masked columns."""
        return [self.index(name) for name in self.sensitive]

    def variance(self, name: str) -> float:
        """Return the variance of a column."""
        return float(self.sigma[self.index(name), self.index(name)])

    def released_covariance(self, lambda_squared: float) -> Floats:
        """Return the covariance of the release: the masked block is (1 + lambda^2) times as large."""
        released = self.sigma.copy()
        released[np.ix_(self.masked, self.masked)] *= 1.0 + float(multiplier(lambda_squared))
        return released

    # -- utility and risk ----------------------------------------------------------------------

    def utility(self, task: Task, lambda_squared: Any = None, *, relative: bool = False) -> Any:
        """Return U of a task, by default along the grid; ``relative``: as a share of no masking."""
        found = task.utility(self, self.grid(lambda_squared))
        return found / task.utility(self, 0.0) if relative else found

    def risk(
        self,
        target: str,
        lambda_squared: Any = None,
        *,
        intruder: Intruder = "reads",
        relative: bool = False,
    ) -> Any:
        """Return R of a masked column, by default along the grid; infinite at 0.

        ``relative`` multiplies by the column's variance: 1 is what guessing the mean would give.
        """
        l2, variance = self.grid(lambda_squared), self.target_variance(target)
        scale = variance if relative else 1.0
        if intruder == "reads":
            return index_risk(variance, l2) * scale
        if intruder == "bayes":
            return bayes_risk(variance, l2) * scale
        left = np.vectorize(lambda v: self.left_given_all(target, float(v)), otypes=[float])(l2)
        with np.errstate(divide="ignore"):
            return scale / left

    def left_given_all(self, target: str, lambda_squared: float) -> float:
        """Return the variance of a masked column that all released columns leave, for normal data."""
        return conditional_variance(self.sigma, self.masked, self.index(target), lambda_squared)

    def target_variance(self, target: str) -> float:
        """Return the variance of a target; refuse a column that is not masked."""
        if self.index(target) not in self.masked:
            raise InvalidParameter(f"{target!r} is not masked, so its risk is infinite")
        return self.variance(target)

    def grid(self, lambda_squared: Any) -> Any:
        """Return the noise multipliers to work at."""
        return multiplier(self.lambda_squared if lambda_squared is None else lambda_squared)

    def lambda_for_risk(
        self, max_risk: Mapping[str, float], *, intruder: Intruder = "reads"
    ) -> float:
        """Return the least lambda^2 that keeps every target's risk at its cap or below.

        Raises
        ------
        Infeasible
            When no noise can do it, because the intruder knows as much without the masked columns.
        """
        if not max_risk:
            raise InvalidParameter("max_risk needs at least one target")
        return max(self.lambda_for_one(c, cap, intruder) for c, cap in max_risk.items())

    def lambda_for_error(
        self, errors: Mapping[str, float], *, intruder: Intruder = "reads"
    ) -> float:
        """Return the least lambda^2 that leaves the intruder these root mean squared errors."""
        if not all(e > 0 for e in errors.values()):
            raise InvalidParameter("errors must be greater than 0")
        return self.lambda_for_risk({c: e**-2 for c, e in errors.items()}, intruder=intruder)

    def lambda_for_one(self, target: str, max_risk: float, intruder: Intruder) -> float:
        """Return the least lambda^2 for one target."""
        variance = self.target_variance(target)
        least = smallest_multiplier(variance, max_risk)
        if intruder == "reads":
            return least
        others = [i for i in range(len(self.names)) if i not in self.masked]
        use = [*others, self.index(target)] if intruder == "all" else [self.index(target)]
        left = residual_variance(self.sigma[np.ix_(use, use)])
        if max_risk * left <= 1.0:
            raise Infeasible(
                f"no noise on {target!r} meets the cap: an intruder who never sees it predicts it better than that"
            )
        if intruder == "bayes":
            return 1.0 / (max_risk * variance - 1.0)
        return self.solve_given_all(target, max_risk)

    def solve_given_all(self, target: str, max_risk: float) -> float:
        """Return lambda^2 at which the risk given all columns equals the cap, by bisection on its log."""
        from scipy.optimize import brentq

        def excess(log_l2: float) -> float:
            return self.left_given_all(target, math.exp(log_l2)) * max_risk - 1.0

        low, high = -30.0, 1.0
        while excess(high) < 0:
            high += 2.0
            if high > 60.0:
                raise Infeasible(f"no noise on {target!r} meets the cap, or only beyond all bounds")
        return math.exp(brentq(excess, low, high, xtol=1e-13)) if excess(low) < 0 else 0.0

    def value_of_lambda(self, response: str, regressor: str, lambda_squared: Any = None) -> Any:
        """Return what telling lambda^2 is worth for a slope: U corrected over U as it is (Figure 2).

        Below 1 the bias is smaller than the variance that its correction adds: the user had better leave
        the estimate alone.
        """
        told = self.utility(Slope(response, regressor, known=True), lambda_squared)
        return told / self.utility(Slope(response, regressor), lambda_squared)

    # -- map and picture -----------------------------------------------------------------------

    def points(
        self,
        task: Task,
        target: str,
        *,
        intruder: Intruder = "reads",
        relative: bool = False,
        method: str = "",
    ) -> tuple[Point, ...]:
        """Return the curve of a task as points of a map."""
        from tacit.alternatives.rumap.points import Point

        utility = np.atleast_1d(self.utility(task, relative=relative))
        risk = np.atleast_1d(self.risk(target, intruder=intruder, relative=relative))
        return tuple(
            Point(method or task.label, f"{l2:g}", {"lambda_squared": l2}, float(r), float(u))
            for l2, r, u in zip(self.lambda_squared, risk, utility, strict=True)
        )

    def map(
        self,
        task: Task,
        target: str,
        *,
        intruder: Intruder = "reads",
        relative: bool = False,
        max_risk: float | None = None,
        min_utility: float | None = None,
    ) -> RUMapResult:
        """Return the map of one task and one target, from which a multiplier can be chosen."""
        from tacit.alternatives.rumap.points import Point
        from tacit.alternatives.rumap.result import RUMapResult

        if max_risk is not None and not max_risk > 0:
            raise InvalidParameter("max_risk must be greater than 0")
        at_zero = float(self.utility(task, 0.0, relative=relative))
        return RUMapResult.from_points(
            self.points(task, target, intruder=intruder, relative=relative, method="noise"),
            risk_label=risk_words(target, intruder, relative),
            utility_label=f"{utility_words(relative)} for {task.label}",
            reference=Point("no masking", "", {}, math.inf, at_zero),
            max_risk=max_risk,
            min_utility=min_utility,
            log_risk=True,
            title=f"R-U map of additive noise: {task.label}",
            notes=self.notes(intruder),
        )

    def notes(self, intruder: Intruder) -> tuple[str, ...]:
        """Return what the reader of a map should know."""
        found = []
        if intruder == "reads":
            found.append(
                "The intruder reads the released value; one who also knows the distribution does better."
            )
        if 0 in self.lambda_squared:
            found.append("No noise has infinite risk, and is left off the logarithmic axis.")
        return tuple(found)

    def plot(
        self,
        tasks: Sequence[Task],
        target: str,
        *,
        intruder: Intruder = "reads",
        relative: bool = False,
        max_risk: float | None = None,
        mark: float | None = None,
        log: bool = True,
        title: str = "R-U confidentiality map of additive noise",
    ) -> Chart:
        """Return the curves of several tasks for one target.

        Parameters
        ----------
        tasks
            One curve each.
        target, intruder, relative
            Whose risk, against whom, and whether both axes are scale-free.
        max_risk
            Drawn as a horizontal line.
        mark
            A noise multiplier to mark on every curve.
        log
            Draw risk on a logarithmic axis.
        title
            Heading.
        """
        from studies.noise_map import Curve, noise_chart

        if max_risk is not None and not max_risk > 0:
            raise InvalidParameter("max_risk must be greater than 0")
        fine = densify_multipliers(self.lambda_squared)
        options: dict[str, Any] = {"intruder": intruder, "relative": relative}
        risks = tuple(self.risk(target, fine, **options).tolist())
        at = None if mark is None else float(self.risk(target, mark, **options))
        curves = [
            Curve(
                task.label,
                fine,
                tuple(np.broadcast_to(self.utility(task, fine, relative=relative), len(fine))),
                risks,
                unmasked=float(self.utility(task, 0.0, relative=relative)),
                mark=None
                if at is None
                else (float(self.utility(task, mark, relative=relative)), at),
            )
            for task in tasks
        ]
        return noise_chart(
            curves,
            x=utility_words(relative),
            y=risk_words(target, intruder, relative),
            cap=max_risk,
            mark=mark,
            log=log,
            title=title,
        )

    # -- simulation ----------------------------------------------------------------------------

    def simulate(
        self,
        tasks: Sequence[Task],
        *,
        replications: int = 2000,
        seed: int | None = None,
        level: float = 0.95,
        records: Floats | None = None,
    ) -> list[Simulated]:
        """Return utilities by simulation, for tasks without closed form too.

        Every replication draws n records, normal with the map's covariance and mean 0, or with
        replacement from ``records``; all multipliers share the draws, so that differences along a curve
        are sharper than the intervals suggest.

        Parameters
        ----------
        tasks
            What users estimate; :class:`Custom` for estimators of one's own.
        replications
            How many samples are drawn; at least 2.
        seed
            Equal seeds give equal results.
        level
            Confidence level of the limits.
        records
            Records (rows) to draw from instead of the normal distribution.
        """
        if replications < 2 or not 0 < level < 1:
            raise InvalidParameter(
                "simulate needs at least 2 replications and a level between 0 and 1"
            )
        rng = np.random.default_rng(seed)
        roots = factor(self.sigma), factor(self.sigma[np.ix_(self.masked, self.masked)])
        shape = (len(tasks), len(self.lambda_squared))
        sums = np.zeros((3, *shape))
        step = max(1, BATCH // (self.n * len(self.names)))
        for start in range(0, replications, step):
            size = min(step, replications - start)
            x = self.draw(size, roots[0], rng, records)
            e = rng.standard_normal((size, self.n, roots[1].shape[1])) @ roots[1].T
            for j, l2 in enumerate(self.lambda_squared):
                y = x.copy()
                y[:, :, self.masked] += math.sqrt(l2) * e
                for i, task in enumerate(tasks):
                    error = task.estimate(self, y, l2) - task.truth(self)
                    sums[:, i, j] += (error.sum(), (error**2).sum(), (error**4).sum())
        return [
            estimate_utility_limits(task.label, l2, sums[:, i, j], replications, level)
            for i, task in enumerate(tasks)
            for j, l2 in enumerate(self.lambda_squared)
        ]

    def draw(
        self, size: int, root: Floats, rng: np.random.Generator, records: Floats | None
    ) -> Floats:
        """Return samples of n records: (size, n, columns)."""
        if records is None:
            return rng.standard_normal((size, self.n, root.shape[1])) @ root.T
        source = np.asarray(records, dtype=np.float64)
        if source.ndim != 2 or source.shape[1] != len(self.names) or not len(source):
            raise InvalidParameter("records must have one column for each column of the map")
        # Centred, so that a mean's truth is 0 as in the normal model.
        return (source - source.mean(axis=0))[rng.integers(0, len(source), (size, self.n))]

    def simulated_points(
        self, task: Task, target: str, *, intruder: Intruder = "reads", **options: Any
    ) -> tuple[Point, ...]:
        """Return a simulated curve as points of a map, with limits; options as for :meth:`simulate`."""
        from tacit.alternatives.rumap.points import Point

        risk = np.atleast_1d(self.risk(target, intruder=intruder))
        return tuple(
            Point(
                task.label,
                f"{s.lambda_squared:g}",
                {"lambda_squared": s.lambda_squared},
                float(r),
                s.utility,
                utility_interval=(s.low, s.high),
                replicates=s.replications,
                detail={"bias": s.bias},
            )
            for s, r in zip(self.simulate([task], **options), risk, strict=True)
        )

    # -- telling the user ----------------------------------------------------------------------

    def report_to_user(self, lambda_squared: float, *, reveal: bool = True) -> str:
        """Return what users may be told: what was masked, what stays valid, and how to correct the rest.

        Nothing of the data goes into it but the names of the columns; lambda^2 only with ``reveal``.
        """
        l2 = float(multiplier(lambda_squared))
        size = f"λ² = {l2:g} times" if reveal else "an undisclosed multiple of"
        lines = [
            f"Masked with random noise: {', '.join(self.sensitive)}.",
            f"The noise has mean 0 and {size} the columns' own covariance, and does not depend on the values.",
            "Means, and slopes with a masked response, are unbiased but less precise.",
            "Correlations between masked columns, and slopes with both columns masked, are as in the original.",
        ]
        if not reveal:
            return "\n".join(
                [
                    *lines,
                    "Variances of masked columns are too large; slopes on a masked regressor with an unmasked response, and correlations between masked and unmasked columns, are too small.",
                ]
            )
        return "\n".join(
            [
                *lines,
                f"Divide variances and covariances of masked columns by {1 + l2:g}.",
                f"Multiply correlations between a masked and an unmasked column by {math.sqrt(1 + l2):.6g}.",
                f"Multiply slopes of an unmasked response on a masked regressor by {1 + l2:g}, and their standard errors too.",
            ]
        )


def densify_multipliers(lambda_squared: Sequence[float]) -> tuple[float, ...]:
    """Return the multipliers with as many more between them as a smooth curve needs."""
    some = sorted({v for v in lambda_squared if v > 0})
    between = np.geomspace(some[0], some[-1], FINE).tolist() if len(some) > 1 else []
    return tuple(sorted({*lambda_squared, *between}))


def estimate_utility_limits(
    task: str, lambda_squared: float, sums: Floats, replications: int, level: float
) -> Simulated:
    """Return utility and its limits from the sums of the errors, their squares and fourth powers."""
    from scipy.stats import norm

    bias, error, fourth = (float(v) / replications for v in sums)
    spread = math.sqrt(max(fourth - error**2, 0.0) / (replications - 1))
    half = float(norm.ppf((1.0 + level) / 2.0)) * spread
    low, high = 1.0 / (error + half) if error + half else math.inf, math.inf
    if error > half:
        high = 1.0 / (error - half)
    utility = 1.0 / error if error else math.inf
    return Simulated(task, lambda_squared, utility, low, high, bias, replications)


def residual_variance(sigma: Floats) -> float:
    """Return the variance of the last column that the others leave."""
    if len(sigma) == 1:
        return float(sigma[0, 0])
    own = sigma[-1, :-1]
    return float(sigma[-1, -1] - own @ np.linalg.pinv(sigma[:-1, :-1], hermitian=True) @ own)


def utility_words(relative: bool) -> str:
    """Return the name of the utility axis."""
    return "data utility, share of no masking" if relative else "data utility U = 1 / MSE"


def risk_words(target: str, intruder: Intruder, relative: bool) -> str:
    """Return the name of the risk axis."""
    scale = " × variance" if relative else ""
    return f"disclosure risk R of {target}{scale}; the intruder {INTRUDERS[intruder]}"
