"""Every kernel, compiled and not, gives the same bits; so does every algorithm, with any number of threads."""

import copy
import dataclasses
import importlib
import pkgutil
from unittest import mock

import numpy as np
import pytest

import tacit
import tacit.numerics.kernels
from tacit.data.cells.dimension import Dimension
from tacit.data.cells.relations import roll_up
from tacit.errors import WeakProtection
from tacit.numerics.kernels import REGISTERED, Kernels, run_kernels
from tacit.private.retrieval.simple import multiply_many
from tacit.records.classes.anonymise.grouping import add_prices, merge_classes
from tacit.records.decision import sensitivity as decision
from tacit.records.generalisation import clusters_greedy, clusters_local
from tacit.records.generalisation.clusters_space import build
from tacit.records.linkage import agreement, nearest, series_attack
from tacit.records.microaggregation import mdav as blocking
from tacit.records.microaggregation.grouping import mdav_groups
from tacit.records.microaggregation.grouping.gower import Mixed, mdav_gower
from tacit.records.microaggregation.grouping.improve import improve
from tacit.records.microaggregation.grouping.pairs import Space, find_cheapest_pairing
from tacit.records.microaggregation.learning_automaton import omma
from tacit.records.samples.local_counts import fit_around
from tacit.records.samples.local_lattice import Lattice, neighbourhood
from tacit.records.suppression.local_cells import suppress_shared
from tacit.records.suppression.local_each import suppress_each
from tacit.records.suppression.local_problem import Demand, Problem
from tacit.records.suppression.rare_combinations import find_hitting_sets
from tacit.records.swapping import record_pairs
from tacit.records.swapping.rank_swap import rank_partners
from tacit.stats.robust import qn
from tacit.stats.series import warping
from tacit.stats.series.distances import Distance
from tacit.stats.series.panel import Panel
from tacit.tables.rounding import round_small_counts as small_counts
from tacit.tables.rounding.solve import solve_rounding
from tacit.tables.structure.detection import detect_structure

pytest.importorskip("numba")


def rng(seed=1):
    return np.random.default_rng(seed)


def quiet(*_):
    """Ignore progress."""


def records(n=60, p=2, seed=1):
    """Rounded, so that there are ties."""
    return np.round(rng(seed).normal(size=(n, p)), 1)


def judged(shape=(9, 8), seed=3, *, tree=True):
    """A table with counts, unsafe cells, single respondents and a hierarchy."""
    draw = rng(seed)
    lines = [(0, "p"), (1, "p1"), (1, "p2"), (1, "p3"), (0, "q"), (1, "q1"), (1, "q2")]
    lines += [(0, f"r{i}") for i in range(shape[0] - 5)]
    first = Dimension.from_tree("a", lines) if tree else Dimension.flat("a", list("abcdefghi"))
    axes = (
        first,
        *(Dimension.flat(f"d{i}", [f"{i}{j}" for j in range(n)]) for i, n in enumerate(shape[1:])),
    )
    ground = [len(d.leaves) for d in axes]
    count = draw.poisson(3.0, ground)
    value = np.round(count * draw.lognormal(3, 1, ground)) + (count > 0)
    table = tacit.Table.from_cells(
        axes, roll_up(value, axes), count=np.rint(roll_up(count, axes)).astype(int)
    )
    return tacit.MinimumFrequency(n=3, range=10).apply(table)


def by_subtables():
    with pytest.warns(WeakProtection):
        return tacit.SuppressHypercube(audit="subtable").apply(judged((6, 4)), seed=1).hidden


def counts(shape, seed=1, mean=1.5):
    return tacit.Table.from_array(rng(seed).poisson(mean, shape), totals=False)


def rounded_cube():
    return solve_rounding(counts((3, 3, 3)), 5, strategy="local_search", time_limit=600).values


def small_counts_of():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_counts, "EFFORT", 40_000)
        table = counts((4, 5))
        return [
            tacit.RoundSmallCounts(base=3, **more).apply(table, seed=17).published
            for more in ({}, {"focus": "largest"})
        ]


def k_similar():
    space_rows = np.stack([rng(7).integers(0, 4**h, 150) for h in (3, 2, 1)], axis=1)
    lifts = [[np.arange(4**h) // 4**level for level in range(h + 1)] for h in (3, 2, 1)]
    distinct, count = np.unique(space_rows, axis=0, return_counts=True)
    space = build(lifts, list(distinct.T), count)
    start, _ = clusters_greedy.greedy(space, 3)
    found, _ = clusters_local.improve(space, 3, start, seconds=600)
    return found.cell, found.cluster, found.n


def swapped():
    draw = rng(5)
    town = draw.integers(0, 12, 300)
    make_up = draw.integers(0, 6, 300)
    areas = np.stack([town // 4, town], axis=1)
    must, risk = draw.random((300, 2)) < 0.1, draw.random((300, 2))
    return record_pairs.swap_partners(
        areas, [make_up, make_up // 2], must, risk, 0.2, rng(2), quiet
    )


def linked():
    a, b = records(300, 3, 1), records(280, 3, 2)
    found = nearest.find_nearest_rows(a, b)
    chance = nearest.match_probability(a, b, found)
    return found.nearest, found.distance, found.second, found.ties, chance


def agreeing():
    draw = rng(4)
    original = tacit.read({c: draw.integers(0, 9, 200).astype(float) for c in "xyz"})
    released = tacit.AddNoise(columns=["x", "y"], relative=0.2).apply(original, seed=1)
    spec = tacit.ProbabilisticLinkage(columns=["x", "y", "z"])
    found = spec.measure(released, original=original, seed=1)
    return repr(found.summary())


def agreeing_on_many_columns():
    """Count only the patterns that occur, as where there could be millions."""
    with mock.patch.object(agreement, "PATTERN_LIMIT", 1):
        return agreeing()


def agreeing_by_levels():
    names = ["Meier", "Meyer", "Maier", "Schmidt", "Schmitt", "Smith", "Lee", "Li"]
    draw = rng(5)
    original, released = (
        tacit.read(
            {
                "name": draw.choice(names, 90),
                "town": draw.choice(list("abc"), 90),
                "x": draw.integers(0, 9, 90),
            }
        )
        for _ in range(2)
    )
    spec = tacit.ProbabilisticLinkage(
        comparisons={
            "name": {"by": "jaro_winkler"},
            "town": {},
            "x": {"by": "number", "levels": [2]},
        },
        term_frequencies=["name"],
        blocks=[["town"], [{"column": "name", "by": "soundex"}]],
        estimate="true",
    )
    return repr(spec.measure(released, original=original, seed=1).summary())


def structure():
    found = detect_structure(judged((9, 8, 5)).equations, seed=3)
    return found.row_block, found.column_block


def series_links():
    a, b = (Panel.of(rng(s).normal(size=(14, 2, 9)).round(1)) for s in (1, 2))
    out = []
    for combine in ("sum", "rss", "max"):
        found = series_attack.link(a, b, Distance("dtw", combine=combine, window=4))
        out += [found.nearest, found.distance, found.second, found.ties]
    x, n = a.values[:, 0], a.lengths[:, 0]
    for all_pairs in (True, False):
        out += warping.warping_costs(x, n, b.values[:, 0], n, 9, all_pairs=all_pairs)
    return out


def hidden_cells():
    codes = rng(6).integers(0, 4, (260, 5))
    weights, fixed = np.ones(5), np.zeros(5, dtype=bool)
    problem = Problem(codes, (Demand(tuple(range(codes.shape[1])), 3),), weights, fixed)
    return (
        suppress_each(problem, greedy=False, tick=quiet),
        suppress_shared(dataclasses.replace(problem, in_full=False), tick=quiet),
        suppress_each(
            dataclasses.replace(problem, kinds=2, sensitive=np.arange(len(codes)) % 3),
            greedy=False,
            tick=quiet,
        ),
    )


def hitting_sets():
    sets = rng(7).integers(1, 1 << 9, 40)
    patterns = rng(8).integers(1, 1 << 40, (1, 30))
    return find_hitting_sets(patterns, sets, np.arange(1.0, 10.0), 60, 200_000)


def adjusted():
    values = np.round(rng(2).lognormal(5, 1, (5, 5))) + 1
    table = tacit.Table.from_array(values, totals=False)
    at = rng(3).choice(np.flatnonzero(table.ground), 5, replace=False)
    table = table.with_protection(at, lower=0.2 * table.value[at], upper=0.2 * table.value[at])
    return [
        tacit.AdjustMdi(**more).apply(table, seed=1).published
        for more in ({}, {"search": "exhaustive"})
    ]


def mixed_groups():
    draw = rng(8)
    data = Mixed.of(
        draw.random((90, 2)),
        draw.integers(0, 4, (90, 1)),
        draw.integers(0, 3, (90, 1)),
        (np.ones(2), np.ones(1), np.ones(1)),
    )
    return mdav_gower(data, 3, tick=quiet)


def improved():
    x = records(70)
    start = mdav_groups.mdav(x, 3, rng=rng(), tick=quiet)
    return improve(x - x.mean(axis=0), start, 3, rng=rng(), tick=quiet)


def merged_rows():
    """Rows that fit into one number, and rows that do not."""
    codes = rng().integers(0, 3, size=(60, 4)).astype(np.int32)
    n, weight = np.ones(60, dtype=np.int64), rng(2).random(60)
    narrow = merge_classes(codes, [3] * 4, n, weight)
    wide = merge_classes(codes, [2**20] * 4, n, weight)
    prices = add_prices(codes, np.array([0, 3, 6, 9]), rng(3).random(12), 0.5)
    return [*narrow, *wide, prices]


def candidates():
    """Long lists at the first attributes, short ones at the last, and values that agree with two."""
    rows = rng().integers(-1, 5, (400, 4)).astype(np.int32)
    shown = rng(2).integers(-1, 5, (60, 4)).astype(np.int32)
    pairs = decision.Consistent.of([[i, (i + 1) % 5] for i in range(5)])
    equal = decision.Consistent.equal(5)
    theta = decision.Dictionary.of(rows, [equal, pairs, equal, pairs])
    return theta.count(shown), theta.count(shown[:1])


def local_counts():
    """Counts around a few cells, some of them isolated, with cells beyond the edge empty and left out."""
    places = np.unique(rng(4).integers(0, 9, (40, 2)), axis=0)
    lattice = Lattice(places, places[:, 0] % 2, rng(5).integers(1, 5, len(places)))
    made = [
        fit_around(
            lattice,
            places[:6],
            lattice.group[:6],
            neighbourhood(2, c, None),
            2,
            outside=out,
            lower=True,
        )
        for c, out in ((1, "zero"), (2, "drop"))
    ]
    return [v for fit in made for v in (fit.a, fit.mu, fit.likelihood, fit.status, fit.degree)]


#: What drives the kernels of each module.
def retrieved():
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 256, (5, 40), dtype=np.uint8)
    return multiply_many(matrix, rng.integers(0, 2**32, (5, 40), dtype=np.uint32))


ALGORITHMS = {
    "private retrieval": retrieved,
    "hypercube": lambda: tacit.SuppressHypercube().apply(judged((6, 4, 3)), seed=1).hidden,
    "hypercube, by subtables": by_subtables,
    "network": lambda: tacit.SuppressNetwork().apply(judged(), seed=1).hidden,
    "linear": lambda: tacit.SuppressLinear().apply(judged((7, 4)), seed=1).hidden,
    "gauss": lambda: tacit.SuppressGauss().apply(judged(), seed=1).hidden,
    "rounding by flow": lambda: solve_rounding(counts((6, 5)), 5).values,
    "unbiased rounding": lambda: (
        tacit.ControlledRounding(base=5, mode="unbiased_2d").apply(counts((6, 5)), seed=1).published
    ),
    "rounding by search": rounded_cube,
    "halves": lambda: (
        tacit.HalfRounding(base=5, target="unbiased").apply(counts((6, 5)), seed=1).published
    ),
    "small counts": small_counts_of,
    "fitting": adjusted,
    "structure": structure,
    "series": series_links,
    "local counts": local_counts,
    "rank pairs": lambda: rank_partners(300, 20, rng()),
    "robust scale": lambda: qn(rng().normal(size=300)),
    "agreement": agreeing,
    "agreement, patterns that occur": agreeing_on_many_columns,
    "agreement by levels": agreeing_by_levels,
    "nearest": linked,
    "k-Similar": k_similar,
    "swapping": swapped,
    "local suppression": hidden_cells,
    "hitting sets": hitting_sets,
    "lattice": merged_rows,
    "candidates": candidates,
    "automaton": lambda: omma(records(), 3, rng=rng()).labels,
    "forest": lambda: tacit.MuApproximation(k=4).groups(records(80), rng(), quiet),
    "improvement": improved,
    "exhaustive": lambda: tacit.OptimalGroups(k=3).groups(records(10), rng(), quiet),
    "pairs": lambda: find_cheapest_pairing(Space.of_records(records(12)), "sse", quiet).value,
    "mdav": lambda: mdav_groups.mdav(records(150, 3), 3, rng=rng(), tick=quiet),
    "mdav, one seed": lambda: mdav_groups.form_mdav_groups(records(150), 4, 1, quiet),
    "v_mdav": lambda: tacit.VMdav(k=3, gamma=0.8).groups(records(150, 3), rng(), quiet),
    "ward": lambda: tacit.WardGroups(k=3).groups(records(50), rng(), quiet),
    "univariate": lambda: tacit.OptimalUnivariate(k=3).groups(records(70, 1), rng(), quiet),
    "path": lambda: tacit.PathGroups(k=3).groups(records(60), rng(), quiet),
    "spanning tree": lambda: tacit.SpanningTreeGroups(k=3).groups(records(60), rng(), quiet),
    "gower": mixed_groups,
}


def same(one, two):
    """Compare two results to the last bit."""
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
    return one == two or (one != one and two != two)  # noqa: PLR0124 - NaN


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_result_with_and_without_compiling(name):
    with run_kernels("compiled"):
        compiled = ALGORITHMS[name]()
    with run_kernels("plain"):
        plain = ALGORITHMS[name]()
    assert same(compiled, plain)


def both_ways(module, name, plain, compiled):
    """Run a kernel compiled, and its plain form on copies; what they return and write must be equal."""

    def run(*args):
        again = copy.deepcopy(args)
        found = compiled(*args)
        with np.errstate(all="ignore"):
            expected = plain(*again)
        numbers = [
            np.asarray(v).tolist()
            for v in (found if isinstance(found, tuple) else (found,))
            if v is not None
        ]
        wanted = [
            np.asarray(v).tolist()
            for v in (expected if isinstance(expected, tuple) else (expected,))
            if v is not None
        ]
        assert same(numbers, wanted), f"{module}.{name} returns something else"
        assert same(args, again), f"{module}.{name} writes something else"
        return found

    return run


def callees(kernels, name):
    """All kernels of a module that one of them calls, itself included."""
    found, waiting = set(), [name]
    functions = {f.__name__: f for group in (*kernels.needs, kernels) for f in group.functions}
    while waiting:
        one = functions.get(waiting.pop())
        if one is not None and one not in found:
            found.add(one)
            waiting += one.__code__.co_names
    return found


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_call_of_a_kernel_is_the_same_both_ways(name, monkeypatch):
    original = Kernels.compiled

    def checked(self):
        plain = self.plain()
        return {n: both_ways(self.module, n, plain[n], f) for n, f in original(self).items()}

    monkeypatch.setattr(Kernels, "compiled", checked)
    with run_kernels("compiled"):
        ALGORITHMS[name]()


def test_no_kernel_is_left_out(monkeypatch):
    for found in pkgutil.walk_packages(tacit.__path__, "tacit."):
        source = found.module_finder.find_spec(found.name).loader.get_source(found.name)
        if "= Kernels(" in source:
            importlib.import_module(found.name)
    original, used = Kernels.compiled, set()

    def recorded(kernels, name, function):
        def run(*args):
            used.update(callees(kernels, name))
            return function(*args)

        return run

    monkeypatch.setattr(
        Kernels,
        "compiled",
        lambda self: {n: recorded(self, n, f) for n, f in original(self).items()},
    )
    with run_kernels("compiled"):
        for algorithm in ALGORITHMS.values():
            algorithm()
    own = [k for k in REGISTERED.values() if k.module.startswith("tacit.")]
    missing = [(k.module, f.__name__) for k in own for f in k.functions if f not in used]
    assert not missing


# -- threads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["compiled", "plain"])
def test_the_number_of_threads_does_not_matter(mode, monkeypatch):
    x = rng(3).normal(size=(900, 3))
    found = []
    for workers in (1, 2, 5):
        for module in (nearest, agreement, series_attack):
            monkeypatch.setattr(module, "WORKERS", workers)
        monkeypatch.setattr(nearest, "CHUNK", 2)
        monkeypatch.setattr(series_attack, "CHUNK", 3)
        monkeypatch.setattr(agreement, "CHUNK", 16)
        with run_kernels(mode):
            blocks = blocking.blocked_mdav(x, 3, 4, tick=quiet, workers=workers)
            found.append(([blocks.labels, blocks.gap], linked(), agreeing(), series_links()))
    assert same(found[0], found[1])
    assert same(found[0], found[2])
