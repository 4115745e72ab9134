"""What users estimate from masked data: means, their combinations, slopes, and anything by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from studies.noise_forms import Case, combination_utility, slope_utility
from tacit.arrays import Floats
from tacit.errors import InvalidParameter
from tacit.records.values.index_disclosure import check_positive_variance, multiplier

if TYPE_CHECKING:
    from studies.additive_noise import AdditiveNoiseMap


class Task(Protocol):
    """What a user estimates: a name, the truth, an estimator, and utility where it has a closed form."""

    @property
    def label(self) -> str:
        """Return the name of the task."""
        ...

    def truth(self, model: AdditiveNoiseMap) -> float:
        """Return the parameter when all means are 0."""
        ...

    def estimate(self, model: AdditiveNoiseMap, data: Floats, lambda_squared: float) -> Floats:
        """Return the estimates from masked samples, an array of (samples, n, columns)."""
        ...

    def utility(self, model: AdditiveNoiseMap, lambda_squared: Any) -> Any:
        """Return U in closed form."""
        ...


@dataclass(frozen=True)
class Combination:
    """A linear combination of means; ``Combination.of("a")`` is a mean, ``("a", "b")`` a difference."""

    coefficients: Mapping[str, float]
    name: str = ""

    @classmethod
    def of(cls, column: str, minus: str | None = None) -> Combination:
        """Return the mean of a column, or its difference from another's."""
        if minus is None:
            return cls({column: 1.0}, f"mean {column}")
        return cls({column: 1.0, minus: -1.0}, f"mean {column} − mean {minus}")

    @property
    def label(self) -> str:
        """Return the name of the task."""
        return self.name or " + ".join(f"{v:g} mean {c}" for c, v in self.coefficients.items())

    def vector(self, model: AdditiveNoiseMap) -> Floats:
        """Return the coefficients in the order of the model's columns."""
        a = np.zeros(len(model.names))
        for c, v in self.coefficients.items():
            a[model.index(c)] = v
        return a

    def truth(self, model: AdditiveNoiseMap) -> float:
        """Return 0: simulated means are."""
        del model
        return 0.0

    def estimate(self, model: AdditiveNoiseMap, data: Floats, lambda_squared: float) -> Floats:
        """Return the combination of the sample means."""
        del lambda_squared
        return data.mean(axis=1) @ self.vector(model)

    def utility(self, model: AdditiveNoiseMap, lambda_squared: Any) -> Any:
        """Return U in closed form."""
        return combination_utility(
            list(self.vector(model)), model.sigma, model.masked, model.n, lambda_squared
        )


@dataclass(frozen=True)
class Slope:
    """The slope of a response on a regressor; ``known``: the user is told lambda^2 and corrects."""

    response: str
    regressor: str
    known: bool = False

    @property
    def label(self) -> str:
        """Return the name of the task."""
        return f"slope of {self.response} on {self.regressor}{', λ² known' if self.known else ''}"

    def parts(self, model: AdditiveNoiseMap) -> tuple[Case | None, float, float, float]:
        """Return the case, the slope, the regressor's variance and the error's."""
        r, s = model.index(self.regressor), model.index(self.response)
        if r == s:
            raise InvalidParameter("a slope needs two different columns")
        variance = check_positive_variance(float(model.sigma[r, r]))
        beta = float(model.sigma[r, s]) / variance
        error = max(float(model.sigma[s, s]) - beta**2 * variance, 0.0)
        masked = (r in model.masked, s in model.masked)
        cases: dict[tuple[bool, bool], Case] = {(True, True): 1, (True, False): 2, (False, True): 3}
        return cases.get(masked), beta, variance, error

    def truth(self, model: AdditiveNoiseMap) -> float:
        """Return the slope of the model."""
        return self.parts(model)[1]

    def estimate(self, model: AdditiveNoiseMap, data: Floats, lambda_squared: float) -> Floats:
        """Return the least-squares slopes."""
        x = data[:, :, model.index(self.regressor)]
        y = data[:, :, model.index(self.response)]
        x = x - x.mean(axis=1, keepdims=True)
        found = (x * y).sum(axis=1) / (x * x).sum(axis=1)
        corrects = self.known and self.parts(model)[0] == 2
        return found * (1.0 + lambda_squared) if corrects else found

    def utility(self, model: AdditiveNoiseMap, lambda_squared: Any) -> Any:
        """Return U in closed form."""
        case, beta, variance, error = self.parts(model)
        l2 = multiplier(lambda_squared)
        if case is None:  # neither column is masked: as Case 1
            case = 1
        return slope_utility(case, beta, variance, error, model.n, l2, known=self.known)


@dataclass(frozen=True)
class Custom:
    """A task of one's own, for simulation: an estimator of (samples, n, columns), and the truth."""

    label: str
    estimator: Callable[[Floats], Floats]
    value: float

    def truth(self, model: AdditiveNoiseMap) -> float:
        """Return the parameter that is estimated."""
        del model
        return self.value

    def estimate(self, model: AdditiveNoiseMap, data: Floats, lambda_squared: float) -> Floats:
        """Return the estimates."""
        del model, lambda_squared
        return np.asarray(self.estimator(data), dtype=np.float64)

    def utility(self, model: AdditiveNoiseMap, lambda_squared: Any) -> Any:
        """Refuse: there is no closed form."""
        del model, lambda_squared
        raise InvalidParameter(f"{self.label!r} has no closed form; use simulate()")
