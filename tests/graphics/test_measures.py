"""Protected plots hold protected values alone: what they give, what they spend, what they refuse."""

import contextlib
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from fuzz.judge import JUDGES
from studies import plot_attacks as attacks
from tacit.errors import DisclosureRefused, InputError, InvalidParameter, LowUtility, WeakProtection
from tacit.graphics.budget import BudgetLedger
from tacit.graphics.scale import standing_out
from tacit.registry import specs

KINDS = [k for k, s in specs().items() if getattr(s, "publishes", False)]


def people(n=4000, seed=1, **roles):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    return tacit.read(
        {
            "income": np.round(rng.lognormal(7.5, 0.5, n), 2),
            "age": rng.integers(16, 95, n),
            "sex": sex,
            "region": rng.choice(["N", "S", "E"], n),
            "time": np.round(rng.exponential(np.where(sex == "f", 30, 20)), 1),
            "event": rng.integers(0, 2, n),
            "home": np.repeat(np.arange(n), 3)[:n],
            "w": rng.uniform(1, 5, n),
        },
        **roles,
    )


GIVEN = {
    "protected_histogram": {"column": "income", "range": (0, 6000), "bins": 20},
    "protected_density": {
        "columns": ["income", "age"],
        "range": [(0, 6000), (0, 100)],
        "bandwidth": [300, 4],
        "points": 21,
    },
    "protected_table": {
        "columns": ["region", "sex"],
        "categories": {"region": ["N", "S", "E"], "sex": ["f", "m"]},
    },
    "protected_quantiles": {"column": "income", "range": (0, 6000)},
    "protected_box_plot": {
        "column": "income",
        "range": (0, 6000),
        "by": "region",
        "groups": ["N", "S", "E"],
    },
    "protected_qq_plot": {"column": "income", "range": (0, 6000), "against": "time"},
    "protected_hexbin": {"columns": ["income", "age"], "range": [(0, 6000), (0, 100)]},
    "protected_survival": {
        "time": "time",
        "event": "event",
        "end": 60,
        "by": "sex",
        "groups": ["f", "m"],
    },
    "protected_roc": {"score": "income", "outcome": "event", "range": (0, 6000)},
}
FOUND = {
    "protected_histogram": {"column": "income"},
    "protected_density": {"columns": ["income"]},
    "protected_quantiles": {"column": "income"},
    "protected_box_plot": {"column": "income"},
    "protected_qq_plot": {"column": "income"},
    "protected_hexbin": {"columns": ["income", "age"]},
    "protected_survival": {"time": "time", "event": "event"},
    "protected_roc": {"score": "income", "outcome": "event"},
}


def make(kind, parameters, **more):
    return specs()[kind](**parameters, **more)


def test_every_protected_plot_is_tried_here():
    assert set(KINDS) == set(GIVEN)


@pytest.mark.parametrize("kind", KINDS)
def test_claims_recompute_and_are_entered_in_the_budget(kind):
    data = people()
    plot = make(kind, GIVEN[kind]).measure(data)
    assert plot.claim.holds(plot.record)
    assert plot.claim.holds(json.loads(json.dumps(plot.record)))
    assert JUDGES["zcdp"](plot.record, plot.claim.to_dict())
    assert plot.rho == pytest.approx(0.5, rel=1e-5), "nothing was plugged in"
    (account,) = BudgetLedger.open().accounts().values()
    assert account.spent == pytest.approx(plot.rho)
    less = {**plot.record, "rho": plot.rho * 0.99}
    from tacit.graphics.base import make_claim

    assert not make_claim(less).holds(less)
    assert not JUDGES["zcdp"](less, make_claim(less).to_dict())
    assert not plot.claim.holds({**plot.record, "study": True})


@pytest.mark.parametrize("kind", FOUND)
def test_ranges_that_are_not_given_are_protected_and_spend(kind):
    plot = make(kind, FOUND[kind]).measure(people())
    plugged = [q for q in plot.record["queries"] if not q["main"]]
    assert plugged
    assert plot.rho == pytest.approx(0.5 + sum(q["rho"] for q in plugged), rel=1e-6)
    assert plot.claim.holds(plot.record)


def test_the_lines_of_the_guide_work():
    data = people()
    assert tacit.ProtectedHistogram(column="income", amplitude=1.0).measure(data).plot().svg()
    values = tacit.ProtectedDensity(columns=["income", "age"]).measure(data).values
    assert values.shape == (101, 101)
    assert (values >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", ["given", "found"])
def test_one_record_changes_nothing_but_noisy_numbers(kind, case):
    """The structure, and with a given range every number that no noise went into, ignores an extreme record."""
    if case == "found" and kind not in FOUND:
        return
    parameters = (GIVEN if case == "given" else FOUND)[kind]
    table = people().to_arrow().to_pydict()
    other = {c: list(v) for c, v in table.items()}
    for column, value in (("income", 5_987.65), ("age", 99), ("time", 59.9), ("region", "S")):
        other[column][17] = value
    spec = make(kind, parameters)
    one, two = (spec.measure(tacit.read(t), seed=3) for t in (table, other))
    a, b = (json.dumps(p.plot().full()) for p in (one, two))
    numbers = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
    if case == "given":
        untouched = {
            "chart",
            "columns",
            "breaks",
            "grid",
            "range",
            "categories",
            "groups",
            "centres",
            "times",
            "edges",
            "probabilities",
            "bandwidth",
            "unit",
            "members",
        }
        for name in untouched & one.record.keys():
            assert one.record[name] == two.record[name], name
    for p in (one, two):
        assert "5987.65" not in json.dumps(p.record)
        assert "5987.65" not in json.dumps(p.plot().full())
    # Equal noise, neighbouring data: what differs, differs by no more than one record's influence.
    if case == "given" and kind == "protected_histogram":
        assert np.linalg.norm(one.values - two.values) <= np.sqrt(2) + 1e-9
    # Numbers aside the specification is the same; contours and hexagons are as many as the noisy values make.
    if case == "given" and one.record["chart"] not in ("contours", "hexbin"):
        assert numbers.sub("#", a) == numbers.sub("#", b)


def test_nothing_of_the_data_is_in_the_plot_object():
    data = people()
    values = set(data.column("income").to_pylist())
    for kind, parameters in FOUND.items():
        plot = make(kind, parameters).measure(data, seed=1)

        def numbers(thing):
            if isinstance(thing, dict):
                for v in thing.values():
                    yield from numbers(v)
            elif isinstance(thing, list | tuple):
                for v in thing:
                    yield from numbers(v)
            elif isinstance(thing, float):
                yield thing

        held = {v for v in numbers(dict(plot.record)) if not v.is_integer()}
        drawn = {v for v in numbers(plot.plot().full()) if not v.is_integer()}
        assert not (held | drawn) & values, kind


def test_a_seed_is_for_study():
    plot = make("protected_histogram", GIVEN["protected_histogram"]).measure(people(), seed=1)
    assert plot.study
    assert plot.claim is None
    assert "for study" in plot.plot().full()["title"]["subtitle"]
    assert "For study" in plot.explanation
    with pytest.raises(DisclosureRefused, match="seed was given"):
        tacit.release_plots(plot, "nowhere")


def test_the_budget_is_that_of_the_data():
    data = people()
    spec = make("protected_table", GIVEN["protected_table"], budget=1.2)
    first, second = spec.measure(data), spec.measure(data)
    assert first.values.tolist() != second.values.tolist()
    with pytest.raises(DisclosureRefused, match="does not suffice"):
        spec.measure(data)
    make("protected_table", GIVEN["protected_table"], rho=0.1).measure(data)
    spec.measure(people(seed=2))
    named = make("protected_table", GIVEN["protected_table"], budget=0.9, dataset="survey")
    with pytest.raises(DisclosureRefused, match="have an account"):
        named.measure(data)
    named.measure(people(seed=3))
    with pytest.raises(DisclosureRefused, match="does not suffice"):
        named.measure(people(seed=4))
    assert make("protected_table", GIVEN["protected_table"], budget=50).measure(people(seed=5))
    assert BudgetLedger.open().accounts().popitem()[1].limit == 3, "a query cannot raise the limit"


def test_the_same_noise_is_entered_once():
    from tacit.context import Context

    data, spec = people(), make("protected_table", GIVEN["protected_table"])
    ctx = Context.start(5, key=b"plan")
    one, two = spec.measure(data, context=ctx), spec.measure(data, context=ctx)
    assert one.values.tolist() == two.values.tolist()
    assert two.record["budget"]["spent"] == pytest.approx(0.5)


@given(st.lists(st.sampled_from([0.1, 0.3, 0.7]), min_size=1, max_size=8))
@settings(max_examples=8, deadline=None)
def test_plots_never_pass_the_budget(asked):
    data = people(60)
    for rho in asked:
        spec = make("protected_table", GIVEN["protected_table"], rho=rho, budget=1.0)
        with contextlib.suppress(DisclosureRefused):
            spec.measure(data)
        spent = BudgetLedger.open().accounts().values()
        assert all(a.spent <= 1.0 + 1e-9 for a in spent)


# -- roles -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_household_is_the_unit_and_multiplies_the_sensitivity(kind):
    plain, homes = people(), people(household="home")
    spec = make(kind, {**GIVEN[kind], "members": 3})
    one, two = spec.measure(plain), spec.measure(homes)
    assert (one.record["unit"], two.record["unit"]) == ("record", "household")
    main = [next(q for q in p.record["queries"] if q["main"]) for p in (one, two)]
    assert main[1]["sensitivity"] == pytest.approx(3 * main[0]["sensitivity"], rel=1e-5)
    assert two.claim.holds(two.record)
    assert two.rho == pytest.approx(one.rho, rel=1e-5), "by default noise grows instead of rho"
    forged = {**two.record, "members": 1, "unit": "record"}
    forged["queries"] = [{**q, "sensitivity": q["sensitivity"] / 3} for q in forged["queries"]]
    assert not two.claim.holds(forged)


def test_with_a_given_amplitude_rho_grows_with_the_household():
    spec = make(
        "protected_histogram", {**GIVEN["protected_histogram"], "amplitude": 2.0, "members": 3}
    )
    plot = spec.measure(people(household="home"), seed=1)
    assert plot.rho == pytest.approx(9 / 8)


def test_further_members_are_left_out():
    BudgetLedger.open().set_limit("d", 100)
    x = {"v": [1.0] * 60, "home": ["a"] * 30 + [None] * 30}
    spec = tacit.ProtectedHistogram(
        column="v", range=(0, 2), bins=2, members=4, rho=50, dataset="d"
    )
    plot = spec.measure(tacit.read(x, household="home"))
    assert plot.values[1] == pytest.approx(34, abs=4)


def test_weights_are_cut_at_their_limit():
    data = people(weight="w")
    given = {**GIVEN["protected_histogram"], "weighted": True}
    with pytest.raises(InvalidParameter, match="weighted needs weight_limit"):
        make("protected_histogram", given)
    plot = make("protected_histogram", {**given, "weight_limit": 4}, rho=0.5).measure(data)
    weights = np.minimum(data.column("w").to_numpy(), 4)
    inside = data.column("income").to_numpy() <= 6000
    assert plot.values.sum() == pytest.approx(weights[inside].sum(), abs=150)
    assert plot.record["queries"][0]["sensitivity"] == pytest.approx(4, rel=1e-4)
    assert plot.claim.holds(plot.record)
    with pytest.raises(tacit.SdcError, match="needs a weight"):
        make("protected_histogram", {**given, "weight_limit": 4}).measure(people())


# -- accuracy --------------------------------------------------------------------------------------


def test_plots_are_near_the_truth():
    data = people(50_000)
    income = data.column("income").to_numpy()
    histogram = make("protected_histogram", GIVEN["protected_histogram"]).measure(data, seed=1)
    exact, _ = np.histogram(income, np.linspace(0, 6000, 21))
    assert np.abs(histogram.values - exact).max() < 6
    quantiles = make("protected_quantiles", GIVEN["protected_quantiles"]).measure(data, seed=1)
    for p, v in zip((0.05, 0.25, 0.5, 0.75, 0.95), quantiles.values, strict=True):
        assert abs((income < v).mean() - p) * 50_000 < quantiles.record["rank_error"] + 50
    density = tacit.ProtectedDensity(columns="income").measure(data, seed=1)
    grid = np.array(density.record["grid"][0])
    assert density.values.sum() * (grid[1] - grid[0]) == pytest.approx(1.0)
    assert abs(grid[density.values.argmax()] - np.exp(7.5 - 0.25)) < 150
    roc = make("protected_roc", GIVEN["protected_roc"]).measure(data, seed=1)
    assert roc.numbers["area under the curve"] == pytest.approx(0.5, abs=0.02)
    table = make("protected_table", GIVEN["protected_table"]).measure(data, seed=1)
    assert table.values[:, :2].sum() == pytest.approx(50_000, abs=20)
    assert np.abs(table.values[:, 2]).max() < 6


def test_survival_follows_kaplan_and_meier():
    rng = np.random.default_rng(5)
    n = 30_000
    t, c = rng.exponential(20, n), rng.uniform(0, 80, n)
    data = tacit.read({"t": np.minimum(t, c), "e": (t <= c).astype(int)})
    plot = tacit.ProtectedSurvival(time="t", event="e", end=50, intervals=100).measure(data, seed=1)
    times = np.array(plot.record["times"])
    assert plot.values[0] == pytest.approx(np.exp(-times / 20), abs=0.03)
    assert (np.diff(plot.values[0]) <= 0).all()


def test_every_point_of_the_square_is_in_its_nearest_hexagon():
    from tacit.graphics.protected_hexbin import hexagons

    x = np.random.default_rng(1).random((3000, 2))
    centres, place = hexagons(x, 7)
    nearest = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2)
    assert nearest[np.arange(3000), place] == pytest.approx(nearest.min(axis=1))
    assert hexagons(np.array([[1.2, 0.5]]), 7)[1][0] == len(centres)


# -- attacks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.02, 0.5])
def test_no_attacker_beats_the_stated_level(rho):
    """The most powerful test of one record's presence succeeds no more often than rho allows."""
    spec = tacit.ProtectedDensity(
        columns="v",
        range=(0, 10),
        bandwidth=1.0,
        points=21,
        smoothing=0,
        renormalise=False,
        rho=rho,
    )
    rest = np.linspace(1, 9, 30)
    from tacit.graphics.kde import kernel_sums

    def published(x, seeds):
        data = tacit.read({"v": x})
        return np.stack([spec.measure(data, seed=s).values for s in seeds])

    n = 250
    grid = np.linspace(0, 10, 21)
    own = kernel_sums(np.array([5.0]), grid, 1.0)
    base = kernel_sums(np.rint(rest * 16) / 16, grid, 1.0)
    hits = attacks.guess_presence(published(np.append(rest, 5.0), range(n)), base, own).mean()
    false = attacks.guess_presence(published(rest, range(n, 2 * n)), base, own).mean()
    allowed = attacks.presence_advantage(rho)
    assert hits - false <= allowed + 4 * np.sqrt(0.5 / n)
    assert hits - false >= allowed - 0.25, "the attack is a real one"


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (
            "protected_histogram",
            {"column": "v", "amplitude": 0},
            "amplitude must be greater than 0",
        ),
        ("protected_histogram", {"column": "v", "amplitude": 1, "rho": 1}, "not both"),
        ("protected_histogram", {"column": "v", "breaks": [1, 1]}, "breaks must be"),
        ("protected_histogram", {"column": "v", "breaks": [1, 2], "bins": 3}, "not both"),
        ("protected_histogram", {"column": "v", "range": [3, 1]}, "range must be"),
        ("protected_density", {"columns": ["v"], "bandwidth": "local"}, "h0 goes with"),
        ("protected_density", {"columns": ["v"], "h0": 3}, "h0 goes with"),
        ("protected_density", {"columns": ["v", "v"]}, "columns must be different"),
        ("protected_density", {"columns": ["v", "u"], "bandwidth": 3}, "one number for each"),
        ("protected_density", {"columns": ["v"], "masses": [1.0]}, "masses must"),
        ("protected_quantiles", {"column": "v", "probabilities": [0.5, 0.2]}, "probabilities must"),
        ("protected_box_plot", {"column": "v", "by": "g"}, "by and groups go together"),
        ("protected_table", {"columns": ["v"], "categories": {"u": [1]}}, "not among the columns"),
        ("protected_hexbin", {"columns": ["v"]}, "at least 2 entries"),
        ("protected_survival", {"time": "v", "event": "v"}, "different columns"),
    ],
)
def test_bad_parameters_give_one_sentence(kind, given, said):
    with pytest.raises(InvalidParameter, match=said):
        specs()[kind](**given)


def test_bad_data_give_one_sentence():
    spec = tacit.ProtectedHistogram(column="v", range=(0, 5), bins=5)
    with pytest.raises(InputError, match="at least 5 records"):
        spec.measure(tacit.read({"v": [1.0, 2.0, 3.0]}), seed=1)
    with pytest.raises(
        InputError, match=r"missing values\. Impute them first, or give missing='drop'"
    ):
        spec.measure(tacit.read({"v": [1.0, None] * 20}), seed=1)
    dropped = tacit.ProtectedHistogram(column="v", range=(0, 5), bins=5, missing="drop")
    with pytest.warns(LowUtility, match="fewer than 30"):
        assert dropped.measure(tacit.read({"v": [1.0, None] * 20}), seed=1).values.sum() < 30
    with pytest.raises(InputError, match="infinite"):
        spec.measure(tacit.read({"v": [1.0, float("inf")] * 20}), seed=1)
    with pytest.raises(InputError, match="does not hold numbers"):
        spec.measure(tacit.read({"v": ["a"] * 20}), seed=1)
    with pytest.raises(InputError, match="never shown"):
        spec.measure(tacit.read({"v": [1.0] * 40}, identifiers=["v"]), seed=1)
    with pytest.raises(InputError, match="name the categories of 'v'"):
        tacit.ProtectedTable(columns="v").measure(tacit.read({"v": [1.0] * 40}), seed=1)
    BudgetLedger.open().set_limit("d", 9)
    with pytest.warns(WeakProtection, match="hides little"):
        tacit.ProtectedHistogram(
            column="v", range=(0, 5), bins=5, amplitude=0.3, dataset="d"
        ).measure(tacit.read({"v": [1.0] * 40}), seed=1)
    with pytest.raises(InvalidParameter, match="less than a quarter of the grid"):
        tacit.ProtectedDensity(columns="v", range=(0, 100), points=11, bandwidth=0.1).measure(
            tacit.read({"v": [1.0] * 40}), seed=1
        )


def test_value_labels_serve_as_categories():
    from dataclasses import replace

    data = tacit.read({"v": [1, 2, 2, 3] * 20})
    column = replace(data.columns["v"], labels={1: "one", 2: "two"})
    data = data.with_columns_described({"v": column})
    plot = tacit.ProtectedTable(columns="v", rho=50).measure(data, seed=1)
    assert plot.record["categories"] == [["one", "two", "other"]]
    assert plot.values == pytest.approx([20, 40, 20], abs=2)


def test_a_column_is_drawn_against_itself():
    data = tacit.read({"x": [float(i % 7) for i in range(60)]})
    spec = tacit.ProtectedQqPlot(column="x", against="x", range=(0, 7), bins=10, points=7)
    assert spec.measure(data, seed=1).record["columns"]


def test_a_table_names_its_columns_and_is_checked_before_it_runs():
    data = tacit.read({"count": ["a", "b"] * 20, "sex": ["f", "m", "m", "m"] * 10})
    lists = {"count": ["a", "b"], "sex": ["f", "m"]}
    spec = tacit.ProtectedTable(columns=["count", "sex"], categories=lists)
    assert spec.measure(data).frame.columns == ["count", "sex", "counted"]
    wrong = tacit.ProtectedTable(columns=["sex"])
    assert "name the categories of 'sex'" in str(wrong.faults(data)[0])


def test_labelled_codes_are_counted_where_they_belong():
    data = tacit.read({"alive": [0.0] * 300 + [1.0] * 700})
    known = tacit.data.roles.Column("alive", labels={0.0: "no", 1.0: "yes"})
    data = data.with_columns_described({"alive": known})
    made = tacit.ProtectedTable(columns=["alive"]).measure(data)
    assert made.frame.get_column("alive").to_list() == ["no", "yes", "other"]
    assert made.values == pytest.approx([300, 700, 0], abs=12)


def test_a_thin_tail_over_many_powers_of_two_is_in_the_range():
    rng = np.random.default_rng(3)
    held = []
    for _ in range(50):
        noisy = rng.normal(0, 20, 243)
        noisy[130:150] += 45.0
        first, last = standing_out(noisy, 20.0)
        held.append(min(last, 149) - max(first, 130) + 1)
        noisy[149] += 1e5
        assert standing_out(noisy, 20.0)[1] == 149
    # Each is expected at little more than half of what stands out by itself.
    assert np.median(held) >= 15
    assert min(held) >= 8
    assert standing_out(rng.normal(0, 1, 243), 20.0) is None


def test_records_outside_the_range_that_was_found_are_told():
    x = np.r_[np.full(4000, 5.0), 2.0 ** np.linspace(20, 70, 900)]
    with pytest.warns(LowUtility, match="lie outside the range that was found"):
        tacit.ProtectedQuantiles(column="x", plug_in=0.0002).measure(tacit.read({"x": x}))
