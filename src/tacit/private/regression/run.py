"""Joint fits in one process, for study, and their results; the same roles run over the network (``tacit party``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from tacit.arrays import Floats
from tacit.errors import InputError, InvalidParameter
from tacit.private.parties.randomness import Randomness
from tacit.private.parties.roles import Role, run_together
from tacit.private.parties.wire import Transcript
from tacit.private.regression import families, vertical
from tacit.private.regression.design import (
    Coding,
    Values,
    columns_of,
    make_coding,
    numbers_of,
    own_levels,
    parse_formula,
)
from tacit.private.regression.files import (
    COLLUSION,
    JUDGED,
    THREATS,
    check_number,
    name_files,
)
from tacit.private.regression.fixed_point import FixedPoint
from tacit.private.regression.gate import (
    FEW_VALUES,
    has_few_values,
)
from tacit.private.regression.newton import Found, Newton
from tacit.private.regression.questions import JointModel
from tacit.private.regression.sums import Protocol, SumSettings
from tacit.result import Result

if TYPE_CHECKING:
    from tacit.plot.chart import Chart
    from tacit.release.release import Release

PASSED = (
    "Before any total was shown, it was judged for the others of every party that no category, nor crossing of categories that the totals "
    "show, has few of their records or one response alone, and that their records, and those of every group that some of the numbers "
    "are about alone, hold more unknown values than numbers are shown; of these "
    "counts nothing was learnt but that they pass, and by each party which categories its others do not have. "
    "It was not examined whether integer programming finds how often each value of a column of whole or rounded numbers with more than "
    f"{FEW_VALUES} values occurs. "
)
UNJUDGED = "With a threshold of 0 it was not judged what these tell about records. "


@dataclass(frozen=True, repr=False)
class Fit(Result):
    """A joint fit: the coefficients that the pooled file would give."""

    coefficients: Mapping[str, float] = field(default_factory=dict)
    standard_errors: Mapping[str, float] = field(default_factory=dict)
    covariance: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    likelihood: float = float("nan")
    X2: float = float("nan")
    G2: float = float("nan")
    df: int = 0
    n_records: int = 0
    history: tuple[Floats, ...] = ()
    transcript: Transcript = field(default_factory=Transcript)
    #: What each party learnt, and against whom it is safe, in words.
    statement: str = ""
    #: Of a Cox model: the times at which its steps begin, which are coarser than the grid agreed where that would show too little.
    times: tuple[float, ...] = ()

    @property
    def iterations(self) -> int:
        """Return the number of steps that were taken."""
        return max(0, len(self.history) - 1)

    def plot(self) -> Chart:
        """Return the coefficients."""
        from tacit.plot.families import bars

        return bars(list(self.coefficients.items()), title=self.title, y="coefficient")

    def release(self, *, residual_df: int = 10) -> Release:
        """Return the fit as a release, to be written, signed and verified like any other.

        It is claimed, and rechecked on the file as written, that at least so many degrees of freedom are left.
        """
        from tacit.data.fit import JointFit
        from tacit.plan import Plan
        from tacit.private.regression.check_fit import CheckFit

        data = JointFit(
            self.kind.removeprefix("joint_"),
            self.title.partition(": ")[2],
            tuple(self.coefficients),
            np.array(list(self.coefficients.values())),
            self.covariance,
            self.n_records,
            self.statement,
        )
        return Plan([CheckFit(residual_df=residual_df)], title=self.title).run(data)


def logistic(
    parties: Any, formula: str, *, sizes: str | None = None, firth: bool = False, **options: Any
) -> Fit:
    """Fit a logistic regression across owners; ``sizes`` names a column with the number of trials."""
    return fit_jointly("logistic", parties, formula, extra=sizes, firth=firth, **options)


def linear(parties: Any, formula: str, **options: Any) -> Fit:
    """Fit a linear regression across owners."""
    return fit_jointly("linear", parties, formula, **options)


def poisson(parties: Any, formula: str, **options: Any) -> Fit:
    """Fit a Poisson regression across owners."""
    return fit_jointly("poisson", parties, formula, **options)


def multinomial(parties: Any, formula: str, **options: Any) -> Fit:
    """Fit a multinomial logit across owners, against the first category of the response."""
    return fit_jointly("multinomial", parties, formula, **options)


def cox(
    parties: Any, formula: str, *, event: str, times: Sequence[float] | None = None, **options: Any
) -> Fit:
    """Fit a proportional-hazards model across owners, ties by Breslow.

    ``times`` is the agreed grid of survival times; by default the times that occur, which shows them to all. Neighbouring times
    are joined until those who leave in one step hide each other: the fit is that of the pooled file on these steps (``Fit.times``).
    """
    return fit_jointly("cox", parties, formula, extra=event, times=times, **options)


def fit_jointly(
    model: str,
    parties: Any,
    formula: str,
    *,
    protocol: Protocol = "pairwise_masks",
    extra: str | None = None,
    levels: Mapping[str, Sequence[str]] | None = None,
    times: Sequence[float] | None = None,
    tol: float = 1e-10,
    max_iter: int = 25,
    ridge: float = 0.0,
    step_halving: bool = True,
    firth: bool = False,
    start: Sequence[float] | str = "zeros",
    threshold: int = 3,
    drop_outs: int = 0,
    modulus_bits: int = 128,
    frac_bits: int = 48,
    allow_two_party: bool = False,
    watch: Any = None,
) -> Fit:
    """Fit a model to the files of several owners without pooling them.

    Files come by name or as a list: frames, microdata, mappings of columns or lists of rows. ``levels`` holds the agreed levels of
    categories, and the values of columns of numbers that have few; by default all that occur, which shows them to all. The
    search starts at "zeros", at "ols" or at given coefficients. ``threshold`` is the fewest records of others in a category that a
    party may be left with when it subtracts its own, other than none; ``drop_outs`` how many parties may go within a sum after
    they have handed in their part (one that goes before ends the fit). With two parties each learns the other's statistics
    by subtracting its own: refused unless ``allow_two_party``.
    """
    files = name_files(parties)
    warned = check_number(files, allow_two_party=allow_two_party)
    parsed = parse_formula(formula)
    response = parsed.response
    named = dict.fromkeys([response, *parsed.columns, *([extra] if extra else [])])
    columns = {p: columns_of(t, list(named), p) for p, t in files.items()}
    seen = list(columns.values())
    coding = make_coding(parsed, levels, [own_levels(parsed, c) for c in seen])
    grid = time_grid([c[response] for c in seen], times) if model == "cox" else None
    categories = response_levels(seen, response, levels) if model == "multinomial" else []
    values = counted_values(model, coding, seen, levels)
    joint = JointModel(model, formula, coding, categories, extra, grid, values)
    begin = start if isinstance(start, str) else tuple(start)
    newton = Newton(tol, max_iter, ridge, step_halving, firth, begin, threshold)
    point = FixedPoint(modulus_bits, frac_bits)

    def play(party: str) -> Role[Found]:
        settings = SumSettings(party, list(files), Randomness(), protocol, point, drop_outs)
        return joint.prepare(columns[party], party)(settings, newton)

    done = run_together({p: play(p) for p in files}, watch=watch)
    found: Found = done.results[next(iter(files))]
    judged = threshold > 0
    return describe(joint, found, done.transcript, protocol, list(files), warned, judged=judged)


def counted_values(
    model: str,
    coding: Coding,
    seen: Sequence[Mapping[str, Values]],
    levels: Mapping[str, Sequence[Any]] | None,
) -> dict[str, tuple[float, ...]]:
    """Return the values of columns of numbers that are counted as categories: those agreed, and few at all others of some party."""
    named = [c for c in coding.formula.columns if c not in coding.levels]
    if model in ("linear", "poisson"):
        named.append(coding.formula.response)
    found: dict[str, tuple[float, ...]] = {}
    for name in named:
        known: set[float] = set()
        if levels and name in levels:
            known = set(numbers_of(name, np.asarray(list(levels[name])), "the agreement").tolist())
        else:
            columns = [numbers_of(name, own[name], "a party") for own in seen]
            few = [np.unique(values) for values in columns if has_few_values(values)]
            if len(few) >= len(columns) - 1:
                known = {v for values in few for v in values.tolist()}
        if known:
            found[name] = tuple(sorted(known))
    return found


def response_levels(seen: Sequence[Mapping[str, Values]], response: str, levels: Any) -> list[str]:
    """Return the categories of a multinomial response."""
    if levels and response in levels:
        return [str(v) for v in levels[response]]
    return sorted({str(v) for own in seen for v in np.unique(own[response].astype(str))})


def time_grid(seen: Sequence[Values], times: Sequence[float] | None) -> Floats:
    """Return the agreed survival times, or all that occur."""
    if times is not None:
        return np.unique(np.asarray(times, np.float64))
    return np.unique(np.concatenate([numbers_of("time", v, "a party") for v in seen]))


def describe(
    joint: JointModel,
    found: Found,
    transcript: Transcript,
    protocol: str,
    parties: Sequence[str],
    warned: str,
    *,
    judged: bool,
) -> Fit:
    """Return a fit as a result."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    model, names, beta = joint.kind, joint.names(), found.beta
    errors = np.sqrt(np.diag(found.covariance))
    df = found.n_records - len(names)
    z = beta / errors
    chance = 2 * (stats.t.sf(np.abs(z), df) if model == "linear" else stats.norm.sf(np.abs(z)))
    columns = {"term": names, "coefficient": beta, "standard_error": errors, "z": z}
    frame = nw.from_native(pa.table({**columns, "p_value": chance}), eager_only=True)
    family = families.FAMILIES.get(model)
    tail = dict(zip(family.fit_names if family else (), found.fit_statistics, strict=False))
    numbers: dict[str, Any] = {"records": found.n_records, "coefficients": len(names)}
    likelihood = found.likelihood
    if model == "linear":
        square = tail["sum of squares"]
        spread = tail["sum of y squared"] - tail["sum of y"] ** 2 / found.n_records
        numbers["R2"] = 1 - square / spread if spread > 0 else float("nan")
        numbers["sigma"] = float(np.sqrt(square / max(df, 1)))
        likelihood = -0.5 * found.n_records * (np.log(2 * np.pi * square / found.n_records) + 1)
    numbers |= {
        "log-likelihood": likelihood,
        "rounds": found.n_sums,
        "messages": transcript.n_messages,
        "bytes sent": transcript.n_bytes,
    }
    times = tuple(joint.grid[list(found.steps)].tolist()) if joint.grid is not None else ()
    if times:
        numbers["steps of time"] = len(times)
    statement = statement_of(parties, protocol, found, warned, judged=judged)
    return Fit(
        f"joint_{model}",
        f"Joint {model} fit of {len(parties)} owners: {joint.text}",
        float(likelihood),
        numbers,
        frame,
        statement,
        **estimates(names, beta, found.covariance, found.n_records),
        likelihood=float(likelihood),
        X2=tail.get("X2", float("nan")),
        G2=tail.get("G2", float("nan")),
        history=found.history,
        transcript=transcript,
        statement=statement,
        times=times,
    )


def estimates(
    names: Sequence[str], beta: Floats, covariance: Floats, n_records: int
) -> dict[str, Any]:
    """Return what every fit holds of its coefficients."""
    errors = np.sqrt(np.diag(covariance))
    return {
        "coefficients": dict(zip(names, beta.tolist(), strict=True)),
        "standard_errors": dict(zip(names, errors.tolist(), strict=True)),
        "covariance": covariance,
        "df": n_records - len(names),
        "n_records": n_records,
    }


def statement_of(
    parties: Sequence[str], protocol: str, found: Found, warned: str, *, judged: bool = True
) -> str:
    """Say in words what each side learnt."""
    rounds = (
        f"how many had the event in each of {len(found.steps)} steps of time, and in every round the sums over those still at risk in each "
        "step; and which steps of the agreed grid had too few records of others for somebody and were joined"
        if found.steps
        else "and in every round likelihood, slope and information at common coefficients"
    )
    return (
        f"Every party learnt the totals of {found.n_sums} secure sums over all {len(parties)} parties: the number of records, {rounds}. "
        "By subtracting its own part it knows the same totals of the other parties together, of no single one of them. "
        + (PASSED if judged else UNJUDGED) + THREATS + COLLUSION[protocol] + (JUDGED if judged else "") + warned
    )  # fmt: skip


def compare(smaller: Fit, larger: Fit) -> Result:
    """Test a model against a larger one that contains it, by the ratio of their likelihoods.

    A large statistic favours the larger model (the paper says it the wrong way round).
    """
    extra = len(larger.coefficients) - len(smaller.coefficients)
    if extra < 1 or smaller.n_records != larger.n_records:
        raise InvalidParameter("compare a model with a larger one on the same records")
    statistic = max(0.0, 2 * (larger.likelihood - smaller.likelihood))
    chance = float(stats.chi2.sf(statistic, extra))
    better = "The larger model fits better than chance would let it."
    words = better if chance < 0.05 else "The smaller model suffices."
    numbers = {"G2": statistic, "df": extra, "p value": chance}
    return Result("joint_comparison", "Two joint fits compared", statistic, numbers, None, words)


def vertical_linear(parties: Any, *, response: str, watch: Any = None) -> Fit:
    """Fit a linear regression when owners hold different columns of the same persons, in the same order.

    The response is a column of one of them; all other columns of all owners explain it.
    """
    files = {p: columns_of(t, None, p) for p, t in name_files(parties).items()}
    holder = [p for p, c in files.items() if response in c]
    if len(holder) != 1:
        raise InvalidParameter(f"the response {response!r} must be a column of exactly one owner")
    order = [holder[0], *(p for p in files if p != holder[0])]
    if len({len(next(iter(c.values()))) for c in files.values()}) > 1:
        raise InputError(
            "the owners' files must hold the same persons in the same order: their lengths differ"
        )
    roles: dict[str, Role[vertical.VerticalFit]] = {}
    for p in order:
        names = [c for c in files[p] if c != response]
        held = [numbers_of(c, files[p][c], p) for c in names]
        x = np.column_stack(held) if held else np.zeros((len(files[p][response]), 0))
        y = numbers_of(response, files[p][response], p) if p == holder[0] else None
        roles[p] = vertical.play_vertical(p, order, names, x, y, Randomness())
    done = run_together(roles, watch=watch)
    fit: vertical.VerticalFit = done.results[order[0]]
    statement = (
        "Every owner learnt the products of all columns with each other (X'X), and of each other owner that its columns lie in a space of "
        "known dimension. Columns with few values, one value often, or whole or rounded numbers would be found in it and were refused; what else "
        "is known of a column "
        "may still narrow it down. " + THREATS
    )
    return Fit(
        "joint_vertical",
        f"Joint linear fit of {len(files)} owners of columns",
        fit.sigma2,
        {
            "records": fit.n_records,
            "coefficients": len(fit.names),
            "sigma": float(np.sqrt(fit.sigma2)),
        },
        None,
        statement,
        **estimates(fit.names, fit.beta, fit.covariance, fit.n_records),
        transcript=done.transcript,
        statement=statement,
    )


FITS: Mapping[str, Callable[..., Fit]] = {
    "logistic": logistic, "linear": linear, "poisson": poisson, "multinomial": multinomial, "cox": cox,
}  # fmt: skip
