"""Small groups within large files: what a curious party solves for is judged by the rank of all that it is shown."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.special import expit

from tacit.errors import DisclosureRefused, Infeasible, InputError
from tacit.private import regression
from tacit.private.regression.fixed_point import FixedPoint

POINT = FixedPoint()


class Seen:
    """The totals that one party is told, and every message that it gets."""

    def __init__(self, who):
        self.who, self.totals, self.steps = who, [], []

    def __call__(self, message):
        self.steps.append(message.step)
        if message.receiver == self.who and message.step.endswith("total"):
            self.totals.append(POINT.decode(POINT.unpack(message.body["total"])))


def refused_without_a_total(fit):
    seen = Seen("b")
    with pytest.raises(DisclosureRefused):
        fit(seen)
    assert not any(s.startswith("sum") for s in seen.steps)


def files_with(n, seed, make):
    """Three owners of n records each; ``make`` adds columns that depend on the owner."""
    rng = np.random.default_rng(seed)
    files = {}
    for p in "abc":
        x = rng.normal(size=n)
        y = (rng.uniform(size=n) < expit(0.5 * x)).astype(float)
        files[p] = {"x": x, "y": y, **make(rng, p, x, y)}
    return files


# -- a category of few people in a large file --------------------------------------------------------------


def small_category(few):
    def make(rng, p, x, y):
        g = np.full(len(x), "u")
        g[: 20 if p == "b" else few] = "v"
        if p != "b":
            y[:few] = np.arange(few) % 2
        return {"g": g}

    return files_with(150, 6, make)


def solve_category(files, fit, totals):
    """Least squares on what is shown of the category alone: its weights, their product with x, and its slope."""
    own = files["b"]
    design = np.column_stack([np.ones(150), own["x"], own["g"] == "v"]).astype(float)
    rest = []
    for beta, total in zip(fit.history, totals[1:], strict=False):
        p = expit(design @ beta)
        square = np.zeros((3, 3))
        square[np.triu_indices(3)] = total[4:]
        square -= (design * (p * (1 - p))[:, None]).T @ design
        slope = total[1:4] - design.T @ (own["y"] - p)
        rest.append((beta, slope[2], square[0, 2], square[1, 2]))
    answers = sum(files[p]["y"][files[p]["g"] == "v"].sum() for p in "ac")
    m = sum(int((files[p]["g"] == "v").sum()) for p in "ac")

    def misfit(x):
        found = []
        for beta, slope, weight, product in rest:
            p = expit(beta[0] + beta[2] + beta[1] * x)
            w = p * (1 - p)
            found += [answers - p.sum() - slope, w.sum() - weight, (w * x).sum() - product]
        return np.array(found)

    starts = (np.random.default_rng(t).normal(size=m) for t in range(20))
    tried = [least_squares(misfit, s, xtol=1e-15, ftol=1e-15, gtol=1e-15) for s in starts]
    return np.sort(min(tried, key=lambda t: t.cost).x)


def test_records_of_a_small_category_are_not_solved():
    files = small_category(3)
    seen = Seen("b")
    fit = regression.logistic(files, "y ~ x + g", watch=seen, threshold=0)
    truth = np.concatenate([files[p]["x"][files[p]["g"] == "v"] for p in "ac"])
    found = solve_category(files, fit, seen.totals)
    np.testing.assert_allclose(
        found, np.sort(truth), atol=1e-4
    )  # the attack that the refusal is for
    refused_without_a_total(lambda w: regression.logistic(files, "y ~ x + g", watch=w))
    regression.logistic(small_category(25), "y ~ x + g")


# -- the judge: rank of all that is shown --------------------------------------------------------------------


def logistic_sums(design, y, beta):
    p = 1 / (1 + np.exp(-(design @ beta)))
    square = (design * (p * (1 - p))[:, None]).T @ design
    likelihood = y @ (design @ beta) + np.log(1 - p).sum()
    return np.concatenate([[likelihood], design.T @ (y - p), square[np.triu_indices(len(beta))]])


def poisson_sums(design, y, beta):
    mean = np.exp(design @ beta)
    square = (design * mean[:, None]).T @ design
    likelihood = (y * (design @ beta) - mean).sum()
    return np.concatenate([[likelihood], design.T @ (y - mean), square[np.triu_indices(len(beta))]])


def linear_sums(design, y, beta):
    square = design.T @ design
    return np.concatenate([[y @ y], design.T @ y, square[np.triu_indices(len(beta))]])


SUMS = {"logistic": logistic_sums, "poisson": poisson_sums, "linear": linear_sums}


def determined(sums, make_design, numbers, open_values, y, history):
    """Return which open values follow from all rounds to first order: a unit vector in the space of the equations' rows.

    Derivatives are taken along the imaginary axis, exact to the last digits; the values of the others that are not ``open`` are taken as
    known, which only helps the curious party.
    """
    places = np.argwhere(open_values)
    jacobian = np.empty((sum(len(sums(make_design(numbers), y, b)) for b in history), len(places)))
    for i, (row, column) in enumerate(places):
        moved = numbers.astype(complex)
        moved[row, column] += 1e-30j
        design = make_design(moved)
        jacobian[:, i] = np.concatenate([sums(design, y, b).imag for b in history]) / 1e-30
    jacobian /= np.maximum(np.abs(jacobian).max(1, keepdims=True), 1e-300)
    _, size, rows = np.linalg.svd(jacobian, full_matrices=False)
    kept = rows[size > 1e-11 * size.max(initial=1e-300)]
    return places, (kept**2).sum(0)


def try_groups(seed, threshold=3):
    """One random model with small categories, columns mostly of zeros and products: what passes determines no value of others."""
    rng = np.random.default_rng(seed)
    n, model = int(rng.integers(20, 70)), str(rng.choice(list(SUMS)))
    share, zeros = rng.uniform(0.02, 0.6), rng.uniform(0.0, 0.98)

    def make(rng, p, x, y):
        g = np.where(rng.uniform(size=n) < share, "v", "u")
        v = np.where(rng.uniform(size=n) < zeros, 0.0, rng.normal(size=n))
        extra = {"y": rng.poisson(np.exp(0.3 * x)).astype(float)} if model == "poisson" else {}
        return {"g": g, "v": v, **extra, **({"y": x + rng.normal(size=n)} if model == "linear" else {})}  # fmt: skip

    files = files_with(n, seed, make)
    terms = [
        ["x", "C(g)"], ["x", "C(g)", "x:C(g)"], ["x", "v"], ["x", "v", "C(g)"], ["x", "v", "x:v"],
        ["x", "v:C(g)"], ["x", "v", "C(g)", "x:C(g)", "v:C(g)"],
    ][int(rng.integers(7))]  # fmt: skip
    levels = {"g": ["u", "v"]}
    try:
        fit = getattr(regression, model)(
            files, "y ~ " + " + ".join(terms), levels=levels, threshold=threshold, tol=1e-6
        )
    except (DisclosureRefused, Infeasible, InputError):
        return None

    worst = 0.0
    for viewer in "abc":
        pool = {c: np.concatenate([files[p][c] for p in "abc" if p != viewer]) for c in "xvgy"}
        inside = pool["g"] == "v"
        numbers = np.column_stack([pool["x"], pool["v"], pool["y"]])
        used = np.array(["x" in " ".join(terms), "v" in " ".join(terms), model == "linear"])
        open_values = used & ((numbers != 0) | [True, False, True])

        def make_design(m, inside=inside):
            named = {"x": m[:, 0], "v": m[:, 1], "C(g)": inside}
            columns = [np.ones(len(m)), *(np.prod([named[f] for f in t.split(":")], axis=0) for t in terms)]  # fmt: skip
            return np.column_stack(columns)

        def sums(design, y, beta, m=None):
            return SUMS[model](design, y, beta)

        if model == "linear":
            # The response is unknown too: it travels as the last column of the design, and is taken off it.
            def with_response(m, make=make_design):
                return np.column_stack([make(m), m[:, 2]])

            shown = lambda d, y, b: linear_sums(d[:, :-1], d[:, -1], b)  # noqa: E731
            _, known = determined(shown, with_response, numbers, open_values, pool["y"], fit.history[:1])  # fmt: skip
        else:
            _, known = determined(sums, make_design, numbers, open_values, pool["y"], fit.history)
        worst = max(worst, float(known.max(initial=0.0)))
    return worst


#: A value of which a share smaller than this is free follows to several digits from the rounds (to first order).
FREE = 1e-8


def test_what_passes_determines_no_value():
    done = [try_groups(seed) for seed in (0, 2, 3, 10, 23, 28, 41, 46, 54, 1086)]
    assert all(worst is None or worst < 1 - FREE for worst in done), done
    assert any(worst is not None for worst in done)
    assert any(worst is None for worst in done)


def test_the_judge_finds_what_is_determined():
    """Without the gate the same models determine values of others."""
    assert max(try_groups(seed, threshold=0) for seed in (3, 25, 38)) > 1 - FREE


@pytest.mark.slow
def test_what_passes_determines_no_value_at_length():
    done = [try_groups(seed) for seed in range(1000, 1150)]
    assert all(worst is None or worst < 1 - FREE for worst in done), done
    assert 20 < sum(worst is not None for worst in done) < 130


# -- single values -------------------------------------------------------------------------------------------


def test_values_far_out_are_refused_before_they_are_told():
    """Of 400 others with a column of a lognormal distribution the largest follows to several digits."""

    def make(rng, p, x, y):
        return {"x": np.exp(0.8 * rng.normal(size=len(x)))}

    files = files_with(200, 200, make)
    fit = regression.logistic(files, "y ~ x", threshold=0)
    pool = {c: np.concatenate([files[p][c] for p in "ac"]) for c in "xy"}
    places, known = determined(
        logistic_sums,
        lambda m: np.column_stack([np.ones(len(m)), m]),
        pool["x"][:, None],
        np.ones((400, 1), bool),
        pool["y"],
        fit.history,
    )
    # The largest can move by the root of this share of what all others together do.
    assert 1 - known[places[:, 0] == pool["x"].argmax()][0] < 1e-4
    seen = Seen("b")
    with pytest.raises(DisclosureRefused, match="far from"):
        regression.logistic(files, "y ~ x", watch=seen)
    assert len(seen.totals) == 2  # the number of records, and the first round
    for own in files.values():
        own["x"] = np.log(own["x"])
    assert regression.logistic(files, "y ~ x").n_records == 600


def test_one_value_in_a_sum_of_squares_is_refused():
    """Records and sums of the others bound the largest value from below and above: here to one part in ten thousand."""
    files = files_with(100, 9, lambda rng, p, x, y: {"income": rng.uniform(1e4, 5e4, len(x))})
    files["c"]["income"][0] = 1e9
    seen = Seen("b")
    regression.linear(files, "x ~ income", watch=seen, threshold=0)
    first, second = seen.totals[1][5] - files["b"]["income"] @ files["b"]["income"], 1e9
    assert abs(np.sqrt(first) / second - 1) < 1e-4
    refused_without_a_total(lambda w: regression.linear(files, "x ~ income", watch=w))
    refused_without_a_total(lambda w: regression.linear(files, "income ~ x", watch=w))


# -- what a refusal tells ------------------------------------------------------------------------------------


def test_a_refusal_does_not_tell_which_category_is_small():
    """One bit for a crossing is opened, not one for a cell."""
    opened = {}

    def watch(message):
        if message.step.startswith("gate, cells") and "part" in message.body:
            opened[message.step] = np.asarray(message.body["part"]).size

    levels = {"g": list("uvwz")}
    files = files_with(80, 12, lambda rng, p, x, y: {"g": np.repeat(list("uvwz"), len(x) // 4)})
    files["c"]["g"][0] = "v"
    for p in "ac":
        files[p]["g"][files[p]["g"] == "w"] = "u"
    files["a"]["g"][0] = "w"
    with pytest.raises(DisclosureRefused, match=r"category \(g\)"):
        regression.linear(files, "x ~ g", levels=levels, watch=watch)
    assert set(opened.values()) == {1}


def test_which_groups_are_empty_is_told_to_their_viewer_alone():
    told = set()

    def watch(message):
        if "seen by" in message.step and ", groups" in message.step and "part" in message.body:
            viewer = message.step.partition("seen by ")[2].partition(",")[0]
            told.add((viewer, message.receiver))

    levels = {"g": ["u", "v", "w"]}
    files = files_with(150, 13, lambda rng, p, x, y: {"g": rng.choice(["u", "v"], len(x))})
    # The others of no party have none of them; c has none itself.
    for own in (files["a"], files["b"]):
        own["g"][:40] = "w"
    fit = regression.logistic(files, "y ~ x + g", levels=levels, watch=watch)
    assert fit.n_records == 450
    assert told == {(p, p) for p in "abc"}


def test_a_category_hides_within_each_step_of_time():
    rng = np.random.default_rng(14)
    files = {}
    for p in "abc":
        files[p] = {
            "x": rng.normal(size=300),
            "g": rng.choice(["u", "v"], 300, p=[0.8, 0.2]),
            "t": rng.permutation(np.arange(300.0)),
            "d": (rng.uniform(size=300) < 0.6).astype(float),
        }
    seen = Seen("b")
    fit = regression.cox(files, "t ~ x + g", event="d", watch=seen)
    steps = len(fit.times)
    assert steps >= 2
    for viewer in "abc":
        rest = [files[p] for p in "abc" if p != viewer]
        place = np.concatenate([np.searchsorted(fit.times, f["t"], side="right") for f in rest])
        inside = np.concatenate([f["g"] == "v" for f in rest])
        # Three sums of those who leave (exp(x'b), and its product with x) in ten rounds.
        counts = np.bincount(place[inside], minlength=steps + 1)[1:]
        assert counts.min() >= 20
