"""Anonymise: every search against all nodes judged in plain Python, on random small files."""

import contextlib
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
import scipy.optimize

import tacit
from tacit.errors import Infeasible, InputError, InvalidParameter, RoleMissing
from tacit.records.classes.anonymise.evaluate import choose_fewest
from tacit.records.classes.anonymise.search import LocalSearch

#: Value to labels of levels 1 and 2; the label "m" stands at two levels for different sets.
TREES = {
    "a": {"1": ("m", "*"), "2": ("m", "*"), "3": ("n", "*")},
    "b": {"p": ("u", "m", "*"), "q": ("u", "m", "*"), "r": ("v", "m", "*"), "s": ("w", "x", "*")},
    "c": {"y": ("*",), "z": ("*",)},
}
HEIGHTS = {"a": 2, "b": 3, "c": 1}


def draw(seed, n=40, nulls=False):
    rng = np.random.default_rng(seed)
    values = {k: list(TREES[k]) + ([None] if nulls else []) for k in TREES}
    table = {k: [v[i] for i in rng.integers(0, len(v), n)] for k, v in values.items()}
    table["s"] = [str(v) for v in rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])]
    table["w"] = [float(v) for v in rng.integers(1, 4, n)]
    return table


def read(table, quasi=None, **roles):
    hierarchies = {
        k: tacit.hierarchy.Hierarchy.from_paths([[v, *path] for v, path in tree.items()])
        for k, tree in TREES.items()
    }
    keys = quasi or ["a", "b", "c"]
    return tacit.read(pa.table(table), keys=keys, hierarchies=hierarchies, **roles)


def label(key, value, level):
    if level == HEIGHTS[key]:
        return "*"
    if value is None:
        return None
    return (level, value if level == 0 else TREES[key][value][level - 1])


def leaves(key, value, level):
    if value is None and level < HEIGHTS[key]:
        return 1
    mine = label(key, value, level)
    return sum(label(key, v, level) == mine for v in TREES[key])


def judge(table, levels, passes, limit, charge, weights=None, overall=None):
    """Return (safe, cost, suppressed) of a node from the definitions.

    ``overall`` has loads of classes, which must not sum to more than 0: as few records as possible go.
    """
    n = len(table["a"])
    amount = weights or [1] * n
    classes = defaultdict(list)
    for i in range(n):
        classes[tuple(label(k, table[k][i], levels[k]) for k in TREES)].append(i)
    alive = list(classes.values())
    while True:
        released = [i for rows in alive for i in rows]
        kept = [rows for rows in alive if passes(rows, released)]
        if len(kept) == len(alive) and kept and overall:
            kept = keep_most(kept, overall)
        if len(kept) == len(alive):
            break
        alive = kept
    kept = {i for rows in alive for i in rows}
    gone = [i for i in range(n) if i not in kept]
    share = sum(amount[i] for i in gone) / sum(amount)
    cost = charge(table, levels, alive, gone, amount)
    return share <= limit + 1e-9, cost, len(gone)


def keep_most(classes, loads):
    """Keep as many records as possible with loads that sum to at most 0, by an integer program over classes."""
    sizes = np.array([len(rows) for rows in classes], dtype=float)
    load = np.array([[f(rows) for rows in classes] for f in loads])
    solved = scipy.optimize.milp(
        -sizes,
        constraints=scipy.optimize.LinearConstraint(load, ub=1e-9),
        integrality=np.ones(len(sizes)),
        bounds=scipy.optimize.Bounds(0, 1),
    )
    return [rows for rows, x in zip(classes, solved.x, strict=True) if x > 0.5]


def loss(table, levels, alive, gone, amount):
    total = 0.0
    for rows in alive:
        for i in rows:
            cells = [(leaves(k, table[k][i], levels[k]) - 1) / (len(TREES[k]) - 1) for k in TREES]
            total += amount[i] * sum(cells) / 3
    return (total + sum(amount[i] for i in gone)) / sum(amount)


def discernibility(table, levels, alive, gone, amount):
    sizes = [sum(amount[i] for i in rows) for rows in alive]
    return sum(s * s for s in sizes) + sum(amount[i] for i in gone) * sum(amount)


def precision(table, levels, alive, gone, amount):
    mean = sum(levels[k] / HEIGHTS[k] for k in TREES) / 3
    return (mean * (len(table["a"]) - len(gone)) + len(gone)) / len(table["a"])


def entropy_lost(table, levels, alive, gone, amount):
    n = len(table["a"])
    lost = most = 0.0
    for k in TREES:
        ground = Counter(table[k])
        up = Counter(label(k, v, levels[k]) for v in table[k])
        for i in range(n):
            at_top = math.log(n / ground[table[k][i]])
            most += at_top
            now = math.log(up[label(k, table[k][i], levels[k])] / ground[table[k][i]])
            lost += at_top if i in gone else now
    return lost / most


def balanced_entropy(generalise, suppress):
    """The entropy of kept and of suppressed records, each with its factor and its own ground values."""

    def lost(table, levels, alive, gone, amount):
        n, total, hidden = len(table["a"]), sum(amount), set(gone)
        cost = most = 0.0
        for k in TREES:
            ground, up = Counter(), Counter()
            for i in range(n):
                ground[table[k][i]] += amount[i]
                up[label(k, table[k][i], levels[k])] += amount[i]
            for i in range(n):
                at_top = math.log(total / ground[table[k][i]])
                now = math.log(up[label(k, table[k][i], levels[k])] / ground[table[k][i]])
                most += amount[i] * at_top
                cost += amount[i] * (suppress * at_top if i in hidden else generalise * now)
        return cost / most

    return lost


def average_size(table, levels, alive, gone, amount):
    return len(table["a"]) / (len(alive) + bool(gone))


def ambiguity(table, levels, alive, gone, amount):
    total = len(gone) * math.prod(len(t) for t in TREES.values())
    total += sum(
        math.prod(leaves(k, table[k][i], levels[k]) for k in TREES) for rows in alive for i in rows
    )
    return total / len(table["a"])


def wrong_votes(table, levels, alive, gone, amount):
    right = sum(Counter(table["s"][i] for i in rows).most_common(1)[0][1] for rows in alive)
    return 1 - right / len(table["a"])


def kullback_leibler(table, levels, alive, gone, amount):
    n = len(table["a"])
    # A missing value is one more value that the top stands for.
    size_of = {k: len(TREES[k]) + (None in table[k]) for k in TREES}
    domain = math.prod(size_of.values())
    rows = list(zip(*(table[k] for k in TREES), strict=True))
    truth, told = Counter(rows), {}
    for members in alive:
        i = members[0]
        spread = math.prod(
            size_of[k] if levels[k] == HEIGHTS[k] else leaves(k, table[k][i], levels[k])
            for k in TREES
        )
        told |= dict.fromkeys(members, len(members) / n / spread)
    told |= dict.fromkeys(gone, len(gone) / n / domain)
    return sum(math.log(truth[rows[i]] / n / told[i]) for i in range(n)) / n


UTILITIES = {
    "loss": loss,
    "kullback_leibler": kullback_leibler,
    "discernibility": discernibility,
    "precision": precision,
    "entropy": entropy_lost,
    "average_class_size": average_size,
    "ambiguity": ambiguity,
    "classification": wrong_votes,
}


def size(k):
    return lambda rows, released: len(rows) >= k


def diverse(table, wanted, variant, c=3.0):
    def passes(rows, released):
        counts = sorted(Counter(table["s"][i] for i in rows).values(), reverse=True)
        if variant == "distinct":
            return len(counts) >= wanted
        if variant == "entropy":
            shares = [n / len(rows) for n in counts]
            return -sum(p * math.log(p) for p in shares) >= math.log(wanted) - 1e-12
        return wanted <= 1 or counts[0] < c * sum(counts[wanted - 1 :])

    return passes


def close(table, t):
    def passes(rows, released):
        part = Counter(table["s"][i] for i in rows)
        whole = Counter(table["s"][i] for i in released)
        far = sum(abs(part[v] / len(rows) - whole[v] / len(released)) for v in whole) / 2
        return far <= t + 1e-9

    return passes


def every_node():
    heights = [range(HEIGHTS[k] + 1) for k in TREES]
    return [dict(zip(TREES, levels, strict=True)) for levels in itertools.product(*heights)]


def check(spec, data, table, passes, limit, charge, weights=None, overall=None, sure=True):
    """Compare a search with every node; ``sure`` when what is suppressed follows from the definitions."""
    nodes = [
        (lv, *judge(table, lv, passes, limit, charge, weights, overall)) for lv in every_node()
    ]
    safe = [n for n in nodes if n[1]]
    if not safe:
        with pytest.raises(Infeasible, match="no node of the lattice is safe"):
            spec.search(data)
        return
    least = min(cost for _, _, cost, _ in safe)
    lattice = spec.search(data)
    assert lattice.proven or not sure
    assert lattice.gap == 0 or not sure
    if overall:
        # Which of equally many records go is free, so that costs are those of the product.
        nodes = [(lv, ok, lattice.at(lv).value, gone) for lv, ok, _, gone in nodes]
        safe = [n for n in nodes if n[1]]
        least = min(cost for _, _, cost, _ in safe)
    assert lattice.best.value == pytest.approx(least)
    wanted = {tuple(lv.values()) for lv, _, cost, _ in safe if cost <= least + 1e-9}
    assert {tuple(n.levels.values()) for n in lattice.ties} == wanted
    assert lattice.n_safe == len(safe)
    for levels, is_safe, cost, gone in nodes:
        node = lattice.at(levels)
        assert (node.safe, node.suppressed) == (is_safe, gone)
        assert node.value == pytest.approx(cost)
    released = spec.apply(data, seed=1)
    assert len(released) == len(table["a"]) - lattice.best.suppressed
    assert len(lattice.frame) == len(nodes)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("utility", UTILITIES)
def test_finds_the_optimum_for_k_anonymity(seed, utility):
    table = draw(seed, nulls=seed % 2 == 1)
    limit = [0.0, 0.1, 1.0][seed % 3]
    k = 2 + seed % 3
    target = {"target": "s"} if utility == "classification" else {}
    spec = tacit.Anonymise(
        models=[tacit.KAnonymity(k=k)], suppression=limit, utility=utility, **target
    )
    check(spec, read(table), table, size(k), limit, UTILITIES[utility])


def judge_balanced_entropy(seed):
    table = draw(seed, n=[12, 25, 40][seed % 3], nulls=seed % 2 == 1)
    balance, k = [0.1, 0.3, 0.7, 0.9, 0.5][seed % 5], 2 + seed % 3
    factors = (min(1.0, 2 - 2 * balance), min(1.0, 2 * balance))
    weighted = seed % 4 == 3
    data = read(table, weight="w") if weighted else read(table)
    weights = table["w"] if weighted else None
    spec = tacit.Anonymise(
        models=[tacit.KAnonymity(k=k)],
        suppression=[0.2, 0.6, 1.0][seed % 3],
        utility="entropy",
        balance=balance,
        weights="weighted" if weighted else "records",
    )
    passes = size(k)
    if weighted:
        passes = lambda rows, _: sum(weights[i] for i in rows) >= k  # noqa: E731
    check(spec, data, table, passes, spec.suppression, balanced_entropy(*factors), weights)


@pytest.mark.parametrize("seed", range(8))
def test_a_balance_charges_each_record_its_own_entropy(seed):
    """Suppressed records were charged the mean of the file."""
    judge_balanced_entropy(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 100))
def test_a_balance_charges_each_record_its_own_entropy_at_length(seed):
    judge_balanced_entropy(seed)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("variant", ["distinct", "entropy", "recursive"])
def test_finds_the_optimum_for_diversity(seed, variant):
    table = draw(seed + 10)
    limit = [0.0, 0.3][seed % 2]
    spec = tacit.Anonymise(
        models=[tacit.KAnonymity(k=2), tacit.LDiversity(l=2, sensitive="s", variant=variant)],
        suppression=limit,
    )
    both = diverse(table, 2, variant)
    check(spec, read(table), table, lambda r, a: len(r) >= 2 and both(r, a), limit, loss)


@pytest.mark.parametrize("seed", range(4))
def test_finds_the_optimum_for_closeness(seed):
    table = draw(seed + 20)
    limit = [0.0, 0.4][seed % 2]
    spec = tacit.Anonymise(models=[tacit.TCloseness(t=0.3, sensitive="s")], suppression=limit)
    check(spec, read(table), table, close(table, 0.3), limit, loss, sure=limit == 0)


@pytest.mark.parametrize("seed", range(4))
def test_weights_count_in_k_limit_and_utility(seed):
    table = draw(seed + 30)
    data = read(table, weight="w")
    weights = table["w"]
    heavy = lambda rows, _: sum(weights[i] for i in rows) >= 5  # noqa: E731
    models = [tacit.KAnonymity(k=5)]
    spec = tacit.Anonymise(models=models, suppression=0.2, weights="weighted")
    check(spec, data, table, heavy, 0.2, loss, weights)
    spec = tacit.Anonymise(models=models, suppression=0.2, weights="weighted_k")
    check(spec, data, table, heavy, 0.2, loss)
    spec = tacit.Anonymise(models=models, suppression=0.2)
    check(spec, data, table, size(5), 0.2, loss)


def test_several_quasi_identifiers_each_hold():
    table = draw(3)
    data = read(table, quasi={"one": ["a", "b"], "two": ["b", "c"]})
    released = tacit.Anonymise(models=[tacit.KAnonymity(k=4)], suppression=0.3).apply(data)
    assert tacit.KAnonymity(k=4).measure(released).k >= 4
    assert {c.quasi_identifier for c in released.history[-1].claims} == {"one", "two"}


def test_a_limit_on_levels_and_importance_are_honoured():
    data = read(draw(1))
    spec = tacit.Anonymise(models=[tacit.KAnonymity(k=3)], suppression=0.5, levels={"b": (1, 2)})
    assert 1 <= spec.search(data).best.levels["b"] <= 2
    plain = tacit.Anonymise(models=[tacit.KAnonymity(k=3)]).search(data).best.levels
    dear = tacit.Anonymise(models=[tacit.KAnonymity(k=3)], importance={"b": 50.0})
    assert dear.search(data).best.levels["b"] <= plain["b"]


def test_a_cheap_suppression_is_used_more():
    data = read(draw(2))

    def suppressed(balance):
        spec = tacit.Anonymise(models=[tacit.KAnonymity(k=4)], suppression=1.0, balance=balance)
        return spec.search(data).best.suppressed

    assert suppressed(0.1) >= suppressed(0.5) >= suppressed(0.9)


def test_an_unfinished_search_states_its_gap():
    data = read(draw(5, n=300))
    spec = tacit.Anonymise(models=[tacit.KAnonymity(k=3)], suppression=1.0)
    task = spec.pose(data)
    from tacit.records.classes.anonymise.search import BoxSearch, Found, Limits, States

    states, found = States(task.problem), Found(1)
    BoxSearch(task, states, found, lambda _: None).run(Limits(work=1))
    lattice = spec.report(task, found)
    best = spec.search(data).best.value
    assert not lattice.proven
    assert lattice.bound <= best <= lattice.best.value
    assert lattice.gap == pytest.approx((lattice.best.value - lattice.bound) / lattice.best.value)


@pytest.mark.parametrize("seed", range(12))
def test_halves_of_the_keys_bound_every_node(seed):
    from tacit.records.classes.anonymise.search import (
        Limits,
        bound_by_halves,
        can_part,
        charge_only,
    )

    table = draw(seed, nulls=seed % 2 == 1)
    limit = [0.0, 0.1, 1.0][seed % 3]
    spec = tacit.Anonymise(
        models=[
            tacit.KAnonymity(k=2 + seed % 4),
            tacit.LDiversity(l=2, variant="entropy", sensitive="s"),
        ],
        suppression=limit,
        utility=["loss", "precision"][seed % 2],
        importance={"b": 2.0},
        balance=[0.5, 0.7][seed // 6],
    )
    task = spec.pose(read(table))
    assert can_part(task)
    least, work = bound_by_halves(task, Limits(), lambda _: None)
    assert work > 0
    lattice = None
    with contextlib.suppress(Infeasible):
        lattice = spec.search(read(table), top=1)
    assert least >= 0
    assert lattice is None or least <= lattice.best.value + 1e-12
    # Each half has the value that judging its nodes gives.
    part = charge_only(task, [0, 1])
    values = [
        part.judge(part.problem.raise_state(part.problem.base, (a, b, 1))[0])
        for a in range(3)
        for b in range(4)
    ]
    assert all(
        0 <= node.value <= part.objective.top * part.objective.suppress + 1e-12 for node in values
    )


def test_work_counts_every_set_of_keys_that_is_judged():
    from tacit.records.classes.anonymise.search import States

    data = read(draw(5))
    work = []
    for model in (tacit.KAnonymity(k=3), tacit.Lkc(known=2, k=3, confidence=0.9, sensitive="s")):
        problem = tacit.Anonymise(models=[model]).pose(data).problem
        states = States(problem)
        states.at(problem.high)
        work.append(states.work)
    assert work[1] == 4 * work[0]  # all keys, and three pairs of them


def test_local_search_reaches_the_optimum_of_small_lattices():
    from tacit.records.classes.anonymise.search import Found, Limits, States

    for seed in range(5):
        spec = tacit.Anonymise(models=[tacit.KAnonymity(k=3)], suppression=0.3)
        data = read(draw(seed))
        task = spec.pose(data)
        found = Found(1)
        search = LocalSearch(
            task, States(task.problem), found, np.random.default_rng(0), lambda _: None
        )
        search.run(Limits())
        assert found.incumbent.value == pytest.approx(spec.search(data).best.value)


def test_a_plan_holds_the_models(tmp_path):
    spec = tacit.Anonymise(
        models=[{"kind": "k_anonymity", "k": 3}, tacit.LDiversity(l=2, sensitive="s")],
        suppression=0.1,
    )
    plan = tacit.Plan([spec])
    plan.save(tmp_path / "plan.yaml")
    again = tacit.Plan.load(tmp_path / "plan.yaml").steps[0]
    assert again == spec
    assert again.to_dict()["models"] == [
        {"kind": "k_anonymity", "k": 3},
        {"kind": "l_diversity", "sensitive": "s"},
    ]


def test_mistakes_get_one_sentence():
    data = read(draw(1))
    with pytest.raises(InputError, match="uniqueness is not a model that anonymise can aim at"):
        tacit.Anonymise(models=[tacit.Uniqueness()]).apply(data)
    with pytest.raises(InvalidParameter, match="each model has a kind"):
        tacit.Anonymise(models=[3])
    with pytest.raises(RoleMissing, match="needs a column with the weight role"):
        tacit.Anonymise(models=[tacit.KAnonymity(k=2)], weights="weighted").apply(data)
    with pytest.raises(InputError, match="levels of 'a' must lie between 0 and 2"):
        tacit.Anonymise(models=[tacit.KAnonymity(k=2)], levels={"a": (1, 5)}).apply(data)
    bare = tacit.read(pa.table(draw(1)), keys=["a", "b"])
    with pytest.raises(InputError, match="key 'a' has no hierarchy"):
        tacit.Anonymise(models=[tacit.KAnonymity(k=2)]).apply(bare)
    lattice = tacit.Anonymise(models=[tacit.KAnonymity(k=2)]).search(data)
    with pytest.raises(InputError, match="has levels 0 to 2 here"):
        lattice.at({"a": 7})


@pytest.mark.parametrize("variant", ["distinct", "entropy", "recursive"])
def test_a_node_at_which_nothing_is_kept_is_judged(variant):
    models = [
        tacit.KAnonymity(k=50),
        tacit.LDiversity(l=2, sensitive="s", variant=variant),
        tacit.TCloseness(t=0.1, sensitive="s"),
    ]
    node = tacit.Anonymise(models=models, suppression=1.0).search(read(draw(1))).at([0, 0, 0])
    assert (node.suppressed, node.classes) == (40, 0)


def test_the_lattice_prints_and_plots_itself():
    lattice = tacit.Anonymise(models=[tacit.KAnonymity(k=3)], suppression=0.1).search(read(draw(1)))
    assert "proven" in repr(lattice)
    assert "of them safe" in lattice.plot().alt
    assert [n.value for n in lattice.top(3)] == sorted(n.value for n in lattice.top(3))


def shares(values, rows, amount):
    """Return the share of each value among rows."""
    total = sum(amount[i] for i in rows)
    sums = defaultdict(float)
    for i in rows:
        sums[values[i]] += amount[i] / total
    return sums


def gains_little(table, beta, variant, amount):
    def passes(rows, released):
        part, whole = shares(table["s"], rows, amount), shares(table["s"], released, amount)
        return all(
            (part[v] - q) / q <= (beta if variant == "basic" else min(beta, -math.log(q))) + 1e-9
            for v, q in whole.items()
        )

    return passes


def changes_little(table, delta, absent, amount):
    def passes(rows, released):
        part, whole = shares(table["s"], rows, amount), shares(table["s"], released, amount)
        return all(
            abs(math.log2(part[v] / q)) < delta - 1e-9 if part[v] else absent == "ignored"
            for v, q in whole.items()
        )

    return passes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("variant", ["basic", "enhanced"])
def test_finds_the_optimum_for_likeness(seed, variant):
    table = draw(seed + 40)
    limit = [0.0, 0.4][seed % 2]
    model = tacit.BetaLikeness(beta=1.2, variant=variant, sensitive="s")
    weights = "weighted" if seed == 3 else "records"
    data = read(table, weight="w")
    spec = tacit.Anonymise(models=[model], suppression=limit, weights=weights)
    amount = table["w"] if seed == 3 else [1] * 40
    passes = gains_little(table, 1.2, variant, amount)
    weights = table["w"] if seed == 3 else None
    check(spec, data, table, passes, limit, loss, weights, sure=limit == 0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("absent", ["violates", "ignored"])
def test_finds_the_optimum_for_delta_disclosure(seed, absent):
    table = draw(seed + 50)
    table["s"] = [
        "0" if v in "23" else v for v in table["s"]
    ]  # rare values would leave nothing safe
    limit = [0.0, 0.4][seed % 2]
    spec = tacit.Anonymise(
        models=[tacit.DeltaDisclosure(delta=1.1, absent=absent, sensitive="s")], suppression=limit
    )
    passes = changes_little(table, 1.1, absent, [1] * 40)
    check(spec, read(table), table, passes, limit, loss, sure=limit == 0)


@pytest.mark.parametrize("seed", range(6))
def test_finds_the_optimum_for_alpha_k(seed):
    table = draw(seed + 60)
    table["s"] = [None if v == "3" else v for v in table["s"]]
    # With the smaller alpha the class of all records fails, and only small classes can be kept.
    limit, alpha = [(0.0, 0.55), (0.3, 0.55), (0.8, 0.4)][seed // 2]
    values = None if seed != 3 else ("1", "2")
    missing = ["category", "ignore"][seed % 2]
    model = tacit.AlphaK(alpha=alpha, k=3, values=values, missing=missing, sensitive="s")
    spec = tacit.Anonymise(models=[model], suppression=limit)

    def passes(rows, released):
        part = shares(table["s"], rows, [1] * 40)
        counted = [
            p
            for v, p in part.items()
            if (v in values if values else v is not None or missing == "category")
        ]
        return len(rows) >= 3 and max(counted, default=0) <= alpha + 1e-9

    check(spec, read(table), table, passes, limit, loss)


@pytest.mark.parametrize("seed", range(4))
def test_lkc_holds_and_is_optimal_without_suppression(seed):
    table = draw(seed + 70)
    model = tacit.Lkc(known=2, k=3, confidence=0.8, sensitive="s")
    spec = tacit.Anonymise(models=[model])
    data = read(table)

    def safe(levels):
        for size in (1, 2):
            for keys in itertools.combinations(TREES, size):
                classes = defaultdict(list)
                for i in range(40):
                    classes[tuple(label(k, table[k][i], levels[k]) for k in keys)].append(i)
                for rows in classes.values():
                    if len(rows) < 3 or max(shares(table["s"], rows, [1] * 40).values()) > 0.8:
                        return False
        return True

    nodes = [lv for lv in every_node() if safe(lv)]
    lattice = spec.search(data)
    assert lattice.proven
    assert lattice.n_safe == len(nodes)
    everyone = [list(range(40))]
    least = min(loss(table, lv, everyone, [], [1] * 40) for lv in nodes)
    assert lattice.best.value == pytest.approx(least)
    some = tacit.Anonymise(models=[model], suppression=0.3, weights="weighted")
    released = some.apply(read(table, weight="w"))
    assert released.history[-1].claims[0].model == "lkc-privacy"
    # Fewer keys known, less to do.
    assert (
        lattice.best.value
        <= tacit.Anonymise(models=[tacit.Lkc(known=3, k=3, confidence=0.8, sensitive="s")])
        .search(data)
        .best.value
        + 1e-9
    )


@pytest.mark.parametrize("seed", range(6))
def test_finds_the_optimum_for_attack_risk(seed):
    table = draw(seed + 80)
    limit = [0.0, 0.3][seed % 2]
    scale = 0.5 if seed == 5 else 1.0
    options = {"average": 0.15 * scale} if seed < 4 else {"at_risk": 0.1, "threshold": 0.3 * scale}
    if seed == 5:
        options |= {"attacker": "journalist", "fraction": 0.5}
    models = [tacit.AttackRisk(highest=0.5 * scale, **options)]
    if seed == 3:  # beside a model that compares with the whole
        models.append(tacit.TCloseness(t=0.35, sensitive="s"))
        data = read(table)
        released = tacit.Anonymise(models=models, suppression=limit).apply(data)
        assert all(claim.holds(released.claim_view()) for claim in released.history[-1].claims)
        return

    def load(rows):
        if seed < 4:
            return 1 - 0.15 * len(rows)
        return len(rows) * ((1 / len(rows) > 0.3) - 0.1)

    spec = tacit.Anonymise(models=models, suppression=limit)
    check(spec, read(table), table, size(2), limit, loss, overall=[load])


def lone_key(sizes, weights=None):
    """One key whose classes have the given sizes, at its one level."""
    values = [f"v{i}" for i, n in enumerate(sizes) for _ in range(n)]
    paths = [[f"v{i}", "*"] for i in range(len(sizes))]
    tree = {"a": tacit.hierarchy.Hierarchy.from_paths(paths)}
    table = {"a": values} | ({} if weights is None else {"w": weights})
    roles = {} if weights is None else {"weight": "w"}
    return tacit.read(pa.table(table), keys=["a"], hierarchies=tree, **roles)


def test_only_as_many_classes_of_a_size_go_as_must():
    """Two of the three singles do; all three were dropped, which is more than allowed."""
    spec = tacit.Anonymise(
        models=[tacit.AttackRisk(average=0.67)], suppression=0.4, levels={"a": (0, 0)}
    )
    found = spec.search(lone_key([1, 1, 1, 2]))
    assert found.proven
    assert found.best.suppressed == 2
    assert "with the fewest records suppressed" in found.explanation
    assert len(spec.apply(lone_key([1, 1, 1, 2]))) == 3


def fewest_by_trying(sizes, holds):
    """The fewest records to drop, by trying every set of classes."""
    return min(
        sum(n for n, gone in zip(sizes, choice, strict=True) if gone)
        for choice in itertools.product([False, True], repeat=len(sizes))
        if holds([n for n, gone in zip(sizes, choice, strict=True) if not gone])
    )


def judge_limits_on_the_whole(rng):
    """Compare one random file and limit with every set of classes; return whether it was said to be proven."""
    sizes = rng.choice([1, 1, 1, 2, 2, 3, 4, 5, 7], rng.integers(2, 11)).tolist()
    average = float(rng.choice([0.0, 0.2, 0.3, 0.45, 0.5, 2 / 3, 0.67, 1.0]))
    at_risk, threshold = (
        float(rng.choice([0.0, 0.1, 0.25, 0.5])),
        float(rng.choice([0.2, 1 / 3, 0.5])),
    )
    which = rng.integers(3)
    limits = ({"average": average} if which != 1 else {}) | (
        {"at_risk": at_risk, "threshold": threshold} if which != 0 else {}
    )

    def holds(kept):
        n = sum(kept)
        mean = which == 1 or len(kept) <= (average + 1e-9) * n
        risky = sum(s for s in kept if 1 / s > threshold + 1e-9)
        return mean and (which == 0 or risky <= (at_risk + 1e-9) * n)

    fewest, allowed = fewest_by_trying(sizes, holds), float(rng.choice([0.0, 0.1, 0.3, 0.6, 0.95]))
    spec = tacit.Anonymise(
        models=[tacit.AttackRisk(**limits)], suppression=allowed, levels={"a": (0, 0)}
    )
    if fewest > allowed * sum(sizes) + 1e-6:
        with pytest.raises(Infeasible, match="no node of the lattice is safe"):
            spec.search(lone_key(sizes))
        return True
    found = spec.search(lone_key(sizes))
    assert found.best.suppressed >= fewest
    assert found.best.suppressed == fewest or not found.proven
    return found.proven


def test_limits_on_the_whole_are_met_with_the_fewest_records():
    rng = np.random.default_rng(1)
    assert all(judge_limits_on_the_whole(rng) for _ in range(40))


@pytest.mark.slow
def test_limits_on_the_whole_are_met_with_the_fewest_records_at_length():
    rng = np.random.default_rng(2)
    assert np.mean([judge_limits_on_the_whole(rng) for _ in range(1500)]) > 0.99


@pytest.mark.parametrize("seed", range(12))
def test_the_fewest_of_weighted_classes(seed):
    """Costs that are weights, and loads of several limits, against every choice."""
    rng = np.random.default_rng(seed)
    m, kinds = 1 + seed % 2, 6
    cost = rng.choice([0.0, 0.5, 1.0, 1.7, 2.0, 3.25], kinds)
    loads, count = (
        rng.choice([-0.7, -0.2, 0.0, 0.3, 0.5, 1.1], (m, kinds)),
        rng.integers(1, 4, kinds),
    )
    best = min(
        float(cost @ x)
        for x in itertools.product(*(range(c + 1) for c in count))
        if (loads @ (count - np.array(x)) <= 1e-9).all()
    )
    found = choose_fewest(cost, loads, count)
    assert (found.number <= count).all()
    assert (loads @ (count - found.number) <= 1e-8).all()
    assert found.proven
    assert cost @ found.number == pytest.approx(best)


def test_a_claim_of_each_model_fails_on_the_data_before():
    table = draw(3)
    data = read(table)
    models = [
        tacit.BetaLikeness(beta=0.6, sensitive="s"),
        tacit.DeltaDisclosure(delta=1, absent="ignored", sensitive="s"),
        tacit.AlphaK(alpha=0.6, k=3, sensitive="s"),
        tacit.Lkc(known=2, k=3, confidence=0.7, sensitive="s"),
        tacit.AttackRisk(average=0.1),
    ]
    for model in models:
        released = tacit.Anonymise(models=[model], suppression=0.5).apply(data)
        for claim in released.history[-1].claims:
            assert claim.holds(released.claim_view())
            assert not claim.holds(data.claim_view()), claim.model


def test_models_that_cannot_be_aimed_at_say_why():
    data = read(draw(1), weight="w")
    anonymise = lambda model, **o: tacit.Anonymise(models=[model], **o).search(data)  # noqa: E731
    with pytest.raises(InputError, match="attack_risk needs a limit"):
        anonymise(tacit.AttackRisk())
    with pytest.raises(InputError, match="attack_risk counts records"):
        anonymise(tacit.AttackRisk(average=0.1), weights="weighted")
    with pytest.raises(InputError, match="sums of weights are not used here"):
        anonymise(tacit.AttackRisk(average=0.1, attacker="journalist"))
    two = read(draw(1), quasi={"one": ["a", "b"], "two": ["b", "c"]})
    with pytest.raises(InputError, match="name it with quasi="):
        tacit.Anonymise(models=[tacit.AttackRisk(average=0.1)]).search(two)
    with pytest.raises(InputError, match="leave together= at false"):
        anonymise(tacit.LDiversity(l=2, together=True, sensitive=["s", "w"]))


@pytest.mark.parametrize("seed", range(4))
def test_squared_error_of_every_node_by_hand(seed):
    rng = np.random.default_rng(seed)
    n, k = 30, 3
    table = {"x": rng.integers(0, 20, n), "y": rng.integers(0, 6, n)}
    rule = tacit.hierarchy.intervals([2, 4, 8])
    data = tacit.read(pa.table(table), keys=["x", "y"], hierarchies={"x": rule, "y": rule})
    spec = tacit.Anonymise(models=[tacit.KAnonymity(k=k)], suppression=0.5, utility="squared_error")
    lattice = spec.search(data)
    values = []
    for levels in itertools.product(range(5), range(5)):
        width = [(1, 2, 4, 8, 1000)[level] for level in levels]
        classes = defaultdict(list)
        for i in range(n):
            classes[table["x"][i] // width[0], table["y"][i] // width[1]].append(i)
        lost = []
        for key in ("x", "y"):
            column, mean = table[key].astype(float), table[key].mean()
            cost = 0.0
            for rows in classes.values():
                centre = column[rows].mean() if len(rows) >= k else mean
                cost += ((column[rows] - centre) ** 2).sum()
            lost.append(cost / ((column - mean) ** 2).sum())
        node = lattice.at(dict(zip(("x", "y"), levels, strict=True)))
        assert node.value == pytest.approx(np.mean(lost))
        if node.safe:
            values.append(node.value)
    assert lattice.proven
    assert lattice.best.value == pytest.approx(min(values))
