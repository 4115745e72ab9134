"""One evaluation: protect the data with a candidate and a seed, then measure risk and utility."""

from __future__ import annotations

import hashlib
import inspect
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tacit
from tacit.alternatives.rumap.candidates import Candidate, setting
from tacit.data.base import Data
from tacit.errors import Cancelled, InvalidParameter, SdcError, SdcWarning
from tacit.events import Stop, never
from tacit.kinds import kind_of
from tacit.plan.run import MEASURES, Run, protect, roles_of, why_left_out
from tacit.spec import Measure

Function = Callable[[Any, Any], float]
Gauge = Measure[Any] | Function


@dataclass(frozen=True)
class Values:
    """What one evaluation found: a number per gauge, or the reason why there is none."""

    risk: tuple[float, ...] = ()
    utility: tuple[float, ...] = ()
    seconds: float = 0.0
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bench:
    """Everything that evaluations share."""

    data: Data
    risk: tuple[Gauge, ...]
    utility: tuple[Gauge, ...]
    register: Any = None
    control: Any = None

    def evaluate(self, candidate: Candidate, seed: int, should_stop: Stop = never) -> Values:
        """Return risk and utility of one candidate under one seed.

        Random numbers depend on the seed and the step's place alone, and not on its parameters as in
        :meth:`tacit.Plan.run`: candidates with one seed then differ by their settings and not by their luck.
        Data drawn so are for study and never released: two settings with the same luck, side by side,
        would give the noise away.
        """
        run = Run.for_study(candidate.plan, seed, should_stop, self.register)
        return run.job.watch(lambda: self._evaluate(candidate, run))

    def _evaluate(self, candidate: Candidate, run: Run) -> Values:
        begun = time.perf_counter()
        found: list[tuple[float, ...]] = [(), ()]
        reason = ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                original, released = protect(candidate.plan, self.data, run)
                # A claim of an earlier step may no longer hold, and such data could not be released; the last step
                # has just checked its own.
                for action in released.history[:-1]:
                    for claim in action.claims:
                        claim.require(released.claim_view(), where=action.kind)
                found = [
                    tuple(self.gauge(g, i, original, released, run) for i, g in enumerate(gauges))
                    for gauges in (self.risk, self.utility)
                ]
            except Cancelled:
                raise
            except SdcError as error:
                reason = str(error)
        told = dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SdcWarning))
        seconds = time.perf_counter() - begun
        return Values(found[0], found[1], seconds, reason, tuple(told))

    def gauge(self, g: Gauge, i: int, original: Data, released: Data, run: Run) -> float:
        """Return one number."""
        if not isinstance(g, Measure):
            return float(g(original, released))
        reason = why_left_out(g, released, asked=True)
        if reason:
            raise SdcError(f"{g.kind} cannot be measured: {reason}")
        ctx = run.context(MEASURES + i, g, run.job.begin("measure"))
        found = g.measure(
            released, original=original, register=self.register, control=self.control, context=ctx
        )
        return float(found.value)


# -- gauges ------------------------------------------------------------------------------------------


def gauges_of(given: Any, axis: str) -> tuple[Gauge, ...]:
    """Return one measure or several as a tuple."""
    entries = [given] if isinstance(given, Measure) or callable(given) else list(given or ())
    if not entries:
        raise InvalidParameter(f"the map needs a measure of {axis}")
    for g in entries:
        if not (isinstance(g, Measure) or callable(g)):
            raise InvalidParameter(
                f"{axis}: {type(g).__name__} is neither a measure nor a function of the original and "
                "the released data"
            )
    return tuple(entries)


def lower_is_better(gauges: Sequence[Gauge], axis: str) -> bool:
    """Return whether less is better; refuse measures that disagree."""
    default = "lower" if axis == "risk" else "higher"
    sides = {getattr(g, "better", None) or default for g in gauges}
    if len(sides) > 1:
        raise InvalidParameter(
            f"{axis}: some measures are better when lower and some when higher; map them apart and "
            "combine the maps, or turn one round in a function"
        )
    return sides == {"lower"}


def label_of(g: Gauge) -> str:
    """Return a measure's name for an axis."""
    if isinstance(g, Measure):
        # What fits on an axis.
        given = {k: v for k, v in g.to_dict().items()
                 if k != "kind" and isinstance(v, str | int | float) and len(str(v)) <= 12}  # fmt: skip
        first, _, rest = g.kind.partition("_")
        name = f"{first}{'-' if len(first) == 1 else ' '}{rest.replace('_', ' ')}".strip()
        parts = ", ".join(setting(k, v) for k, v in given.items())
        return f"{name} ({parts})" if parts else name
    return str(getattr(g, "label", None) or getattr(g, "__name__", "function").replace("_", " "))


# -- identity ------------------------------------------------------------------------------------------


def data_identity(bench: Bench) -> str:
    """Return a fingerprint of everything that evaluations share."""
    digest = hashlib.sha256()
    for data in (bench.data, bench.register, bench.control):
        if data is None:
            continue
        digest.update(kind_of(data).fingerprint(data).encode())
        digest.update(json.dumps(roles_of(data).to_dict(), sort_keys=True, default=list).encode())
        for name, hierarchy in sorted(getattr(data, "hierarchies", {}).items()):
            digest.update(name.encode())
            for level in hierarchy.labels:
                digest.update(json.dumps(list(level)).encode())
            for parents in hierarchy.parents:
                digest.update(np.ascontiguousarray(parents).tobytes())
    gauges = [[identity(g) for g in gauges] for gauges in (bench.risk, bench.utility)]
    digest.update(json.dumps([tacit.__version__, gauges], sort_keys=True).encode())
    return digest.hexdigest()


def identity(g: Gauge) -> Any:
    """Return what a stored number depends on besides the data."""
    if isinstance(g, Measure):
        return g.to_dict()
    try:
        text = inspect.getsource(g)
    except (OSError, TypeError):
        text = ""
    kind = type(g)
    name = getattr(g, "__qualname__", f"{kind.__module__}.{kind.__qualname__}")
    return [getattr(g, "__module__", ""), name, text]


def evaluation_key(bench_identity: str, candidate: Candidate, seed: int) -> str:
    """Return the name under which an evaluation is stored; it tells nothing of what it is made from."""
    steps = [step.to_dict() for step in candidate.steps]
    text = json.dumps([bench_identity, steps, seed], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:40]
