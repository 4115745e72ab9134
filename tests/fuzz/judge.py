"""Every claim recomputed from its definition, in plain NumPy and SciPy, on the files of a release.

Nothing of tacit is used here. Of records the judge sees the released file and the claims of the statement; of a
table also the truth as it was drawn, and which cells are unsafe by how much.
"""

import csv
import hashlib
import hmac
import itertools
import json
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import Bounds, LinearConstraint, fsolve, linprog, milp, minimize

NEAR = 1e-6
JUDGES = {}


def judges(model):
    def keep(function):
        JUDGES[model] = function
        return function

    return keep


def read_csv(file):
    """Columns of texts; an empty field that was not quoted is missing."""
    text = file.read_text(encoding="utf-8-sig")
    with_marks = [split_line(line) for line in split_records(text)]
    names = [field for field, _ in with_marks[0]]
    rows = [[None if not f and not quoted else f for f, quoted in line] for line in with_marks[1:]]
    assert all(len(r) == len(names) for r in rows), "the released file is ragged"
    return {n: [r[i] for r in rows] for i, n in enumerate(names)}


def split_records(text):
    """Lines, with those inside quotes kept together."""
    lines, open_ = [], False
    for line in text.splitlines():
        if open_:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
        open_ ^= line.count('"') % 2 == 1
    return lines


def split_line(line):
    """Fields, each with whether it was quoted."""
    if '"' not in line:
        return [(f, False) for f in line.split(",")]
    fields = next(csv.reader([line]))
    found, rest = [], line
    for f in fields:
        quoted = rest.startswith('"')
        found.append((f, quoted))
        written = f'"{f.replace(chr(34), chr(34) * 2)}"' if quoted else f
        rest = rest[len(written) + 1 :]
    return found


# -- records -----------------------------------------------------------------------------------------


def rows_of(columns, names):
    return list(zip(*(columns[c] for c in names), strict=True))


@judges("k-anonymity")
def k_anonymity(columns, claim):
    return (
        min(Counter(rows_of(columns, claim["columns"])).values(), default=10**9)
        >= claim["parameters"]["k"]
    )


@judges("k-combinations")
def k_combinations(columns, claim):
    for names in claim["parameters"]["combinations"]:
        whole = Counter(r for r in rows_of(columns, names) if None not in r)
        if min(whole.values(), default=10**9) < claim["parameters"]["k"]:
            return False
    return True


@judges("k-agreement")
def k_agreement(columns, claim):
    p = claim["parameters"]
    for names in p.get("combinations") or [claim["columns"]]:
        rows = rows_of(columns, names)
        if min((len(agreeing(r, rows)) for r in rows), default=10**9) < p["k"]:
            return False
        whole = Counter(r for r in rows if None not in r)
        if p.get("in_full") and min(whole.values(), default=10**9) < p["k"]:
            return False
    return True


@judges("disclosed-cells")
def disclosed_cells(columns, claim):
    k, per = claim["parameters"]["k"], claim["parameters"]["per"]
    there = [[v is not None for v in columns[c]] for c in claim["columns"]]
    if per == "total":
        return sum(map(sum, there)) <= k
    lines = there if per == "attribute" else zip(*there, strict=True)
    return all(sum(line) <= k for line in lines)


@judges("decision-risk")
def decision_risk(columns, claim):
    """Record by record and row by row; the statement withholds what is needed, the ledger has it."""
    p, names = claim["parameters"], claim["columns"]
    for title, given in p.get("dictionaries", {}).items():
        n = max(map(len, given.values()), default=0)
        theta = rows_of({c: given.get(c, [None] * n) for c in names}, names)
        losses = []
        for row in rows_of(columns, names):
            known = {c for c, v in zip(names, row, strict=True) if v is not None}
            weights = [float(w) for c, w in zip(names, p["weights"], strict=True) if c in known]
            weights += [float(w) for some, w in p["interactions"] if known >= set(some)]
            phi = {"constant": p.get("constant"), "phi5": np.exp(sum(weights))}
            candidates = len(agreeing(row, theta))
            sensitivity = phi.get(p["sensitivity"], sum(weights))
            losses.append(sensitivity / candidates if candidates else 0.0)
        if losses and np.mean(losses) > float(p["risks"][title]) * (1 + NEAR):
            return False
    return True


def agreeing(row, rows):
    """Places of the rows that agree with one, a missing value agreeing with everything."""
    return [
        i
        for i, other in enumerate(rows)
        if all(a is None or b is None or a == b for a, b in zip(row, other, strict=True))
    ]


@judges("l-diversity")
def l_diversity(columns, claim):
    found = amounts(columns, claim).values()
    return all(is_diverse(np.array(list(a.values())), claim["parameters"]) for a in found)


@judges("l-agreement")
def l_agreement(columns, claim):
    p = claim["parameters"]
    secret = columns[p["sensitive"]]
    for names in p.get("combinations") or [claim["columns"]]:
        rows = rows_of(columns, names)
        for row in set(rows):
            same = [i for i, other in enumerate(rows) if other == row]
            whole = p["missing"] == "value" or (p.get("in_full") and None not in row)
            seen = {secret[i] for i in (same if whole else agreeing(row, rows))} - {None}
            if len(seen) < p["l"]:
                return False
    return True


def amounts(columns, claim, missing=None):
    """Amounts (records, or their weights) of each sensitive value in each class."""
    p = claim["parameters"]
    weight = [1.0] * len(columns[p["sensitive"]])
    if p.get("weight"):
        weight = [float(w or 0) for w in columns[p["weight"]]]
    found = {}
    for row, v, w in zip(
        rows_of(columns, claim["columns"]), columns[p["sensitive"]], weight, strict=True
    ):
        if v is not None or (missing or p.get("missing", "category")) == "category":
            inside = found.setdefault(row, {})
            inside[v] = inside.get(v, 0.0) + w
    return found


def is_diverse(parts, p):
    if p.get("variant", "distinct") == "distinct":
        return len(parts) >= p["l"]
    share = np.sort(parts / parts.sum())[::-1]
    if p["variant"] == "entropy":
        return -(share * np.log(share)).sum() >= np.log(p["l"]) - 1e-8
    tail = share[int(np.ceil(p["l"])) - 1 :].sum()
    return p["l"] <= 1 or share[0] < p.get("c", 3.0) * tail + 1e-9


@judges("t-closeness")
def t_closeness(columns, claim):
    p = claim["parameters"]
    distance = p.get("distance", "equal")
    classes = amounts(columns, claim, "ignore" if distance == "ordered" else None)
    values = {v for inside in classes.values() for v in inside}
    listed = p.get("order")
    rank = listed.index if listed else (lambda v: float(v) if is_number(v) else v)
    values = sorted(values, key=rank) if distance == "ordered" else list(values)
    whole = np.array([sum(inside.get(v, 0) for inside in classes.values()) for v in values])
    for inside in classes.values():
        part = np.array([inside.get(v, 0) for v in values])
        gap = part / part.sum() - whole / whole.sum()
        if distance == "equal":
            moved = np.abs(gap).sum() / 2
        elif distance == "ordered":
            moved = np.abs(np.cumsum(gap))[:-1].sum() / max(len(values) - 1, 1)
        else:
            moved = moved_in_tree(dict(zip(values, gap, strict=True)), p["paths"])
        if moved > p["t"] + 1e-8:
            return False
    return True


def moved_in_tree(gap, paths):
    """The mean over levels of what a class has more of than the whole."""
    height = len(next(iter(paths.values()))) - 1
    total = 0.0
    for level in range(height):
        sums = {}
        for v, share in gap.items():
            label = None if v is None else paths[v][level]
            sums[label] = sums.get(label, 0.0) + share
        total += sum(s for s in sums.values() if s > 0)
    return total / height


@judges("weighted-k-anonymity")
def weighted_k_anonymity(columns, claim):
    p, found = claim["parameters"], {}
    for row, w in zip(rows_of(columns, claim["columns"]), columns[p["weight"]], strict=True):
        found[row] = found.get(row, 0.0) + float(w or 0)
    return min(found.values(), default=np.inf) >= p["k"] - 1e-8


def shares_of_values(columns, claim):
    """Shares of each value among all, and in each class."""
    classes = amounts(columns, claim)
    whole = {}
    for inside in classes.values():
        for v, a in inside.items():
            whole[v] = whole.get(v, 0.0) + a
    total = sum(whole.values())
    parts = [{v: a / sum(c.values()) for v, a in c.items()} for c in classes.values()]
    return {v: a / total for v, a in whole.items()}, parts


@judges("beta-likeness")
def beta_likeness(columns, claim):
    p = claim["parameters"]
    whole, parts = shares_of_values(columns, claim)
    enhanced = p.get("variant", "enhanced") == "enhanced"
    return all(
        (share - whole[v]) / whole[v]
        <= min(p["beta"], -np.log(whole[v]) if enhanced else np.inf) + 1e-7
        for part in parts
        for v, share in part.items()
    )


@judges("delta-disclosure")
def delta_disclosure(columns, claim):
    p = claim["parameters"]
    whole, parts = shares_of_values(columns, claim)
    ignored = p.get("absent", "violates") == "ignored"
    for part in parts:
        for v, q in whole.items():
            if v in part:
                if abs(np.log2(part[v] / q)) > p["delta"] + 1e-9:
                    return False
            elif not ignored:
                return False
    return True


@judges("bounded-share")
def bounded_share(columns, claim):
    p = claim["parameters"]
    named, ignores = p.get("values"), p.get("missing", "category") == "ignore"
    for inside in amounts(columns, claim, "category").values():
        for v, a in inside.items():
            out = (ignores or named is not None) if v is None else named and v not in named
            if not out and a / sum(inside.values()) > p["alpha"] + 1e-7:
                return False
    return True


@judges("lkc-privacy")
def lkc_privacy(columns, claim):
    p = claim["parameters"]
    for size in range(1, min(p["known"], len(claim["columns"])) + 1):
        for names in itertools.combinations(claim["columns"], size):
            heavy = {"weight": p.get("k_weight"), "sensitive": p["sensitive"]}
            part = {"columns": names, "parameters": heavy}
            for inside in amounts(columns, part, "category").values():
                if sum(inside.values()) < p["k"] - 1e-8:
                    return False
            shares = {"alpha": p["confidence"], "sensitive": p["sensitive"]}
            shares |= {k: p[k] for k in ("weight", "missing") if k in p}
            if not bounded_share(columns, {"columns": names, "parameters": shares}):
                return False
    return True


@judges("attack-risk")
def attack_risk(columns, claim):
    p, rows = claim["parameters"], rows_of(columns, claim["columns"])
    if not rows:
        return True
    sizes = Counter(rows)
    chance = np.array([p.get("fraction", 1.0) / sizes[row] for row in rows])
    found = {
        "highest": chance.max(),
        "average": chance.mean(),
        "at_risk": (chance > p.get("threshold", 1.0) + 1e-9).mean(),
    }
    return all(found[name] <= p[name] + 1e-7 for name in found if name in p)


@judges("population-uniques")
def population_uniques(columns, claim):
    """Zayatz by its formula, Pitman by products and a search of the likelihood, the slide negative binomial by sums."""
    p, rows = claim["parameters"], rows_of(columns, claim["columns"])
    sizes = Counter(Counter(rows).values())
    n, big = len(rows), int(p["population"])
    if not sizes.get(1):
        return True
    if n == big:
        return sizes[1] <= p["threshold"] * big
    made = {"pitman": pitman, "zayatz": zayatz, "snb": slide_negative_binomial}
    if p["estimate"] in made:
        uniques = made[p["estimate"]](sizes, n, big)
    elif n <= 0.1 * big:
        uniques = first_known(pitman(sizes, n, big), zayatz(sizes, n, big))
    else:
        other = zayatz(sizes, n, big)
        uniques = min(other, first_known(slide_negative_binomial(sizes, n, big), other))
    return uniques <= p["threshold"] * big * (1 + 1e-3)


def first_known(value, other):
    return other if np.isnan(value) else value


def zayatz(sizes, n, big):
    seen = {s: m * stats.hypergeom.pmf(1, big, s, n) for s, m in sizes.items()}
    return sizes[1] * seen[1] / sum(seen.values()) * big / n


def pitman(sizes, n, big):
    """E(S_1) = N prod (theta + alpha + i - 1) / (theta + i), at the most likely alpha and theta."""
    u = sum(sizes.values())
    if u in (1, n):
        return np.nan

    def unlikely(x):
        alpha = 1 / (1 + np.exp(-x[0]))
        theta = np.exp(x[1]) - alpha
        value = (
            np.log(theta + alpha * np.arange(1, u)).sum() - np.log(theta + np.arange(1, n)).sum()
        )
        value += sum(m * np.log(np.arange(1, s) - alpha).sum() for s, m in sizes.items())
        return -value

    starts = itertools.product((-9.0, -3.0, 0.0, 3.0), (-3.0, 0.0, 3.0, 7.0))
    how = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 4000, "maxfev": 4000}
    best = min(
        (minimize(unlikely, x, method="Nelder-Mead", options=how) for x in starts),
        key=lambda m: m.fun,
    )
    alpha = 1 / (1 + np.exp(-best.x[0]))
    theta = np.exp(best.x[1]) - alpha
    i = np.arange(1, big)
    return big * np.exp((np.log(theta + alpha + i - 1) - np.log(theta + i)).sum())


def slide_negative_binomial(sizes, n, big):
    """K P(F = 1) where as many classes are seen once and twice as were, F - 1 being negative binomial."""
    q = n / big
    if not sizes.get(2):
        return np.nan
    s = np.array(sorted(sizes))
    m = np.array([sizes[i] for i in s])
    grow = (s * q**2 * (1 - q**2) ** (s - 1) * m).sum() / (
        ((1 - q**2) ** s - (1 - q) ** s) * m
    ).sum()
    never = ((1 - q) ** s * m).sum() / (s * q * (1 - q) ** (s - 1) * m).sum()
    k = m.sum() + sizes[1] * grow * never**2
    f = np.arange(1, 4000)
    drawn = np.stack([stats.binom.pmf(j, f, q) for j in (1, 2)])

    def gaps(x):
        alpha, beta = np.exp(x[0]), 1 / (1 + np.exp(-x[1]))
        expected = k * drawn @ stats.nbinom.pmf(f - 1, alpha, beta)
        return np.log(np.maximum(expected, 1e-300)) - np.log([sizes[1], sizes[2]])

    found = []
    for start in itertools.product(
        (-4.0, -1.0, 1.0), (np.log(q) - 2, np.log(q), np.log(q) + 3, 0.0, 3.0)
    ):
        x, _, done, _ = fsolve(gaps, start, full_output=True)
        if done == 1 and np.abs(gaps(x)).max() < 1e-8:
            alpha, beta = np.exp(x[0]), 1 / (1 + np.exp(-x[1]))
            people = k * (1 + alpha * (1 - beta) / beta)
            found.append((round(abs(np.log(people / big)), 6), k * beta**alpha))
    return min(min(found)[1], big) if found else np.nan


@judges("k-map")
def k_map(columns, claim):
    """Every released class and its people; the statement withholds them, the ledger has them."""
    p = claim["parameters"]
    if "people" not in p:
        return True
    people = {tuple(row[:-1]): row[-1] for row in p["people"]["classes"]}
    return all(people.get(row, 0) >= p["k"] for row in rows_of(columns, claim["columns"]))


@judges("delta-presence")
def delta_presence(columns, claim):
    p = claim["parameters"]
    if "people" not in p:
        return True
    released = Counter(rows_of(columns, claim["columns"]))
    people = {tuple(row[:-1]): row[-1] for row in p["people"]["classes"]}
    if p["delta_min"] > 0 and p["people"]["elsewhere"]:
        return False
    for row in released.keys() | people.keys():
        if not people.get(row):
            if released[row]:
                return False
            continue
        presence = Fraction(released[row], people[row])
        if presence > p["delta_max"] + NEAR or presence < p["delta_min"] - NEAR:
            return False
    return True


@judges("margins-met")
def margins_met(columns, claim):
    p = claim["parameters"]
    if p.get("copies"):
        numbers = columns[p["copies"]]
        alone = {**claim, "parameters": {k: v for k, v in p.items() if k != "copies"}}
        return all(
            margins_met(
                {
                    c: [x for x, n in zip(v, numbers, strict=True) if n == k]
                    for c, v in columns.items()
                },
                alone,
            )
            for k in set(numbers)
        )
    weight = [float(w or 0) for w in columns[p["weight"]]]
    for table in p["margins"]:
        names = [c for c in table if c != "count"]
        left = {
            tuple(str(table[c][i]) for c in names): float(n) for i, n in enumerate(table["count"])
        }
        room = float(p.get("tolerance", 1e-6)) * max(sum(left.values()), 1.0) * 1.01
        lacking = 0.0
        for row, w in zip(rows_of(columns, names), weight, strict=True):
            if row in left:
                left[row] -= w
            elif None in row:
                lacking += w
            elif w:
                return False
        if min(left.values()) < -room or abs(sum(left.values()) - lacking) > room * len(left):
            return False
    return True


@judges("individual-risk")
def individual_risk(columns, claim):
    """E(1/F | f) over the negative binomial, of records that agree where both have a value if so asked."""
    p, rows = claim["parameters"], rows_of(columns, claim["columns"])
    n = len(rows)
    weight = [float(w or 0) for w in columns[p["weight"]]] if p.get("weight") else [1.0] * n
    amount, times = {}, Counter(rows)
    for row, w in zip(rows, weight, strict=True):
        amount[row] = amount.get(row, 0.0) + w / p.get("sampling_fraction", 1.0)
    wild = p.get("missing") == "wildcard"
    risk = {}
    for row in times:
        like = [r for r in times if r == row or (wild and agree(r, row))]
        risk[row] = mean_inverse(sum(times[r] for r in like), sum(amount[r] for r in like))
    if "threshold" in p and max(risk.values(), default=0) > p["threshold"] + 1e-6:
        return False
    return "average" not in p or not n or sum(risk[r] for r in rows) / n <= p["average"] + 1e-6


def agree(one, other):
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def mean_inverse(f, population):
    """E(1/F) with F - f negative binomial: a sum where it is short, else the integral of E(s^(F - 1))."""
    chance = f / population
    if chance >= 1:
        return 1 / f
    if population < 2000:
        more = np.arange(int(40 * population) + 400)
        return (stats.nbinom.pmf(more, f, chance) / (more + f)).sum()
    near = [1 - 10.0**k * chance for k in range(-2, 6) if 10.0**k * chance < 1]
    ends = [0.0, *sorted(near), 1.0]
    return sum(
        quad(lambda s: (chance / (1 - (1 - chance) * s)) ** f * s ** (f - 1), a, b, limit=200)[0]
        for a, b in itertools.pairwise(ends)
    )


@judges("absent-columns")
def absent_columns(columns, claim):
    return not any(c in columns for c in claim["columns"])


@judges("categories")
def categories(columns, claim):
    allowed = {plain(v) for v in claim["parameters"]["allowed"]}
    return all(plain(v) in allowed for c in claim["columns"] for v in columns[c] if v is not None)


def plain(value):
    """A category as text, whichever way numbers and truths are written."""
    text = str(value)
    return text.lower() if text.lower() in ("true", "false") else text


@judges("within-limits")
def within_limits(columns, claim):
    low, high = claim["parameters"]["low"], claim["parameters"]["high"]
    if not all(is_number(v) for c in claim["columns"] for v in columns[c] if v is not None):
        return False
    x = np.array([float(v) for c in claim["columns"] for v in columns[c] if v is not None])
    return bool((low is None or (x >= low).all()) and (high is None or (x <= high).all()))


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@judges("channel-safety")
def channel_safety(columns, claim):
    given = claim["parameters"]
    people = Counter(columns[claim["columns"][0]])
    table = np.array(
        [[Fraction(n) for n in line["counts"]] for line in given["inputs"]], dtype=object
    )
    size = [Fraction(line["subjects"]) for line in given["inputs"]]
    u = [Fraction(str(v)) for v in given["u"].values()]
    c = [Fraction(str(v)) for v in given["c"].values()]
    b = None if given["b"] is None else Fraction(str(given["b"]))
    slack = Fraction(1, 10**9)

    def safe(shares):
        total = sum(s * w for s, w in zip(shares, c, strict=True))
        return all(s <= limit + slack for s, limit in zip(shares, u, strict=True)) and (
            b is None or total <= b + slack
        )

    dealt = [Fraction(0)] * len(size)
    seen = Counter()
    for out in given["outputs"]:
        n = sum(out["subjects"])
        seen[str(out["channel"])] += n
        mixed = [Fraction(0)] * len(u)
        for r, k in zip(out["members"], out["subjects"], strict=True):
            dealt[r - 1] += k
            mixed = [m + x / size[r - 1] * k for m, x in zip(mixed, table[r - 1], strict=True)]
        if not safe([m / max(n, 1) for m in mixed]):
            return False
    return dealt == size and +seen == Counter({str(k): v for k, v in people.items()})


@judges("constant-in-households")
def constant_in_households(columns, claim):
    home = columns.get(claim["parameters"]["household"], [])
    shown = {}
    for c in set(claim["columns"]) & set(columns):
        for h, v in zip(home, columns[c], strict=bool(home)):
            shown.setdefault((c, h), set()).add(v)
    return all(len(values) == 1 for (_, h), values in shown.items() if h is not None)


@judges("suppressed-together")
def suppressed_together(columns, claim):
    given = claim["parameters"]
    home = columns.get(given.get("household"))
    for c in set(given["constant"]) & set(columns) if home else ():
        gone = {}
        for h, v in zip(home, columns[c], strict=True):
            gone.setdefault(h, set()).add(v is None)
        if any(len(g) > 1 for h, g in gone.items() if h is not None):
            return False
    for c in set(given["counting"]) & set(columns) if home else ():
        if any(v is None and h is not None for h, v in zip(home, columns[c], strict=True)):
            return False
    for group in given["links"]:
        for one, other in itertools.permutations([c for c in group if c in columns], 2):
            pairs = list(zip(columns[one], columns[other], strict=True))
            for v, beside in pairs:
                told = {a for a, b in pairs if b == beside and a is not None}
                if v is None and beside is not None and len(told) <= 1:
                    return False
    return True


@judges("whole-households")
def whole_households(columns, claim):
    """Sizes of the households in the file, against those that the claim gives for them in the source."""
    (home,) = claim["columns"]
    if home not in columns:
        return True
    members = Counter(h for h in columns[home] if h is not None)
    told = {int(size): int(n) for size, n in claim["parameters"]["sizes"]}
    return Counter(members.values()) == {size: n for size, n in told.items() if n}


@judges("numbered-in-order")
def numbered_in_order(columns, claim):
    (home,) = claim["columns"]
    numbers = columns.get(home, [])
    if any(h is None or not h.isdecimal() for h in numbers):
        return False
    return {int(h) for h in numbers} == set(range(1, len(set(numbers)) + 1))


@judges("constant-value")
def constant_value(columns, claim):
    value = plain(claim["parameters"]["value"])
    return all(
        v is not None and same_value(plain(v), value)
        for c in claim["columns"]
        for v in columns.get(c, [])
    )


def same_value(one, other):
    """Whether two texts are the same, or the same number."""
    return one == other or (
        is_number(one) and is_number(other) and abs(float(one) - float(other)) < 1e-9
    )


@judges("absent-digits")
def absent_digits(columns, claim):
    keep = claim["parameters"]["keep"]
    return all(v is None or len(v) <= keep for c in claim["columns"] for v in columns.get(c, []))


@judges("geography-threshold")
def geography_threshold(columns, claim):
    """Every part of the smallest units that sums and differences of shown places can tell is large enough, or empty."""
    p, names = claim["parameters"], claim["columns"]
    shown = set(rows_of(columns, names))
    units = [(tuple(map(str, u[:-1])), int(u[-1])) for u in p["units"]]
    places = {
        codes[: d + 1] for codes, _ in units for d in range(len(names)) if matches(codes, d, shown)
    }
    # Units that the same shown places hold cannot be told apart; any difference is a union of such parts.
    parts = Counter()
    for codes, people in units:
        parts[frozenset(place for place in places if codes[: len(place)] == place)] += people
    return all(n >= p["at_least"] or n == 0 for n in parts.values())


def matches(codes, depth, shown):
    """Whether the file shows a unit at some depth: its code below the codes above it."""
    return any(row[: depth + 1] == codes[: depth + 1] for row in shown)


@judges("regression-output")
def regression_output(fit, claim):
    """Degrees of freedom, and a covariance that is one and whose diagonal gives the standard errors."""
    square = np.array(fit["covariance"], dtype=float)
    errors, n = np.array(fit["standard_errors"], dtype=float), len(fit["terms"])
    if square.shape != (n, n) or errors.shape != (n,) or len(fit["coefficients"]) != n:
        return False
    return bool(
        fit["records"] - n >= claim["parameters"]["residual_df"]
        and np.isfinite(np.array(fit["coefficients"], dtype=float)).all()
        and np.allclose(square, square.T, rtol=1e-6, atol=1e-12)
        and np.linalg.eigvalsh(square).min() > -1e-9 * np.abs(square).max()
        and np.allclose(np.sqrt(np.diag(square)), errors, rtol=1e-6, atol=0)
    )


# -- tables ------------------------------------------------------------------------------------------


@dataclass
class Published:
    """A table as the public sees it, beside what only its owner knows; cells in the file's order.

    ``rows`` are relations as {position: sign}; ``subtables`` lists of such rows.
    """

    value: np.ndarray
    shown: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unsafe: np.ndarray
    down: np.ndarray
    up: np.ndarray
    slide: np.ndarray
    least: np.ndarray
    most: np.ndarray
    owner: np.ndarray
    lone: np.ndarray
    counts: bool
    rows: list
    subtables: list | None
    extra: dict
    count: np.ndarray
    fixed: np.ndarray
    status: np.ndarray
    held: np.ndarray | None
    cells: list
    names: list
    changed: bool = False

    @property
    def hidden(self):
        return np.isnan(self.shown)

    @property
    def room(self):
        low, high = self.common_knowledge()
        return np.maximum(self.value - low, 0), np.maximum(high - self.value, 0)

    def common_knowledge(self):
        """The least and the most of every cell, for whoever knows what a publication of such tables always shows.

        Counts are whole numbers. Unless the rule lets empty cells be hidden, a count that is not shown is no 0, and a
        total is no less than the number of its parts that are not 0; of cells that no publication holds nothing is known.
        """
        if not self.whole:
            return self.least, self.most
        low, high = np.ceil(self.least - NEAR), np.floor(self.most + NEAR)
        never = np.zeros(len(self.value), dtype=bool) | self.extra.get("unpublished", False)
        if ((self.value == 0) & ~self.fixed & ~never).any():
            return low, high
        veiled = (self.hidden | ~np.isnan(self.low)) if self.changed else ~never
        low = np.where(veiled & ~never & (self.value > 0), np.maximum(low, 1), low)
        for _ in self.value:
            for row in self.rows:
                parts = [c for c, s in row.items() if s == 1]
                totals = [c for c, s in row.items() if s == -1]
                if len(totals) == 1 and len(parts) == len(row) - 1:
                    (total,) = totals
                    together = min(low[parts].sum(), max(low[total], self.value[total]))
                    low[total] = max(low[total], together)
        return low, high

    @property
    def whole(self):
        return self.counts and bool((self.value == np.rint(self.value)).all())

    @property
    def in_whole_numbers(self):
        """Whether attackers solve programs in whole numbers: of counts that are hidden, and not changed."""
        return self.whole and not self.changed

    def tiny(self, cell):
        return 1.0 if self.counts else 1e-3 * max(1.0, abs(self.value[cell]))


def matrix(rows, n):
    m = np.zeros((len(rows), n))
    for i, row in enumerate(rows):
        for cell, sign in row.items():
            m[i, cell] += sign
    return m


def reach(m, unknown, down, up, cell, sign, still=(), *, whole=False):
    """How far a cell can lie from its true value on one side, given all relations; for some in whole numbers."""
    cells = np.flatnonzero(unknown)
    if cell not in cells:
        return 0.0
    a = m[:, cells]
    a = a[np.abs(a).sum(axis=1) > 0]
    bounds = [(0, 0) if c in still else (-down[c], up[c]) for c in cells.tolist()]
    # Bounds far beyond the values count as none: programs lose their digits there.
    bounds = [(None if lo < -1e7 else lo, None if hi > 1e7 else hi) for lo, hi in bounds]
    cost = np.where(cells == cell, -float(sign), 0.0)
    if not len(a):
        lo, hi = bounds[list(cells).index(cell)]
        end = hi if sign > 0 else lo
        return np.inf if end is None else abs(end)
    found = linprog(cost, A_eq=a, b_eq=np.zeros(len(a)), bounds=bounds, method="highs")
    if found.status == 3:
        return np.inf
    assert found.status == 0, found.message
    if whole and np.abs(found.x - np.rint(found.x)).max() > NEAR:
        ends = np.array(
            [[-np.inf if lo is None else lo, np.inf if hi is None else hi] for lo, hi in bounds]
        )
        found = milp(
            cost,
            constraints=LinearConstraint(a, 0.0, 0.0),
            bounds=Bounds(*ends.T),
            integrality=np.ones(len(cells)),
        )
        assert found.status == 0, found.message
    return max(0.0, -found.fun)


def enough(t, m, unknown, down, up, *, levels=True):
    """Whether every unsafe cell has the room that its levels ask for."""
    keep = 1 - 2 * NEAR
    for cell in np.flatnonzero(t.unsafe).tolist():
        below, above, width = min(t.down[cell], t.room[0][cell]), t.up[cell], t.slide[cell]
        if not levels:
            below = above = width = 0.0
        if max(below, above, width) <= 0:
            width = t.tiny(cell)
        far_down, far_up = (
            reach(m, unknown, down, up, cell, s, whole=t.in_whole_numbers) for s in (-1, 1)
        )
        slack = 1e-7 * max(1.0, abs(t.value[cell]))
        if (
            far_down + slack < below * keep
            or far_up + slack < above * keep
            or far_down + far_up + slack < width * keep
        ):
            return False
    return True


def guarded(t, claim):
    """Unsafe cells that single respondents must not learn: a claim may leave out those with status 5 (frequency)."""
    spared = claim["parameters"].get("spared") == "frequency"
    return t.unsafe & ~(t.status == 5) if spared else t.unsafe


def found_by_neighbours(t, m, unknown, down, up, targets):
    """Whether the only respondent of a cell deduces another's unsafe one in a shared relation, within bounds."""
    shares = (np.abs(m).T @ np.abs(m)) > 0
    for known in np.flatnonzero((t.unsafe | unknown) & t.lone).tolist():
        for target in np.flatnonzero(targets & shares[known]).tolist():
            if target == known or t.owner[target] == t.owner[known]:
                continue
            ways = [
                reach(m, unknown, down, up, target, s, still=(known,), whole=t.in_whole_numbers)
                for s in (-1, 1)
            ]
            if max(ways) < t.tiny(target) * (1 - 1e-4):
                return True
    return False


def free_ways(m, unknown):
    """A basis of all movements of the unknown cells, ignoring bounds: cells x dimension."""
    cells = np.flatnonzero(unknown)
    a = m[:, cells]
    _, s, v = np.linalg.svd(a, full_matrices=True)
    rank = int((s > 1e-9 * max(1.0, s.max(initial=0.0))).sum())
    full = np.zeros((m.shape[1], len(cells) - rank))
    full[cells] = v[rank:].T
    return full


def found_by_sums(t, m, unknown, targets):
    """Whether an unsafe cell moves only as a single respondent's does, whatever the bounds."""
    ways = free_ways(m, unknown)
    lone, unsafe = np.flatnonzero(unknown & t.lone), np.flatnonzero(unknown & targets)
    for a, b in itertools.product(lone.tolist(), unsafe.tolist()):
        if a == b or t.owner[a] == t.owner[b] or not np.abs(ways[b]).max(initial=0) > 1e-7:
            continue
        if np.abs(ways[a]).max(initial=0) <= 1e-7:
            continue
        rest = ways[b] - ways[a] * (ways[a] @ ways[b]) / (ways[a] @ ways[a])
        if np.abs(rest).max() < 1e-7:
            return True
    return False


def protected(t, claim, unknown, down, up, *, far=True, levels=True, rows=None):
    m = matrix(t.rows if rows is None else rows, len(t.value))
    if not enough(t, m, unknown, down, up, levels=levels):
        return False
    if not claim["parameters"].get("singletons"):
        return True
    targets = guarded(t, claim)
    return not found_by_neighbours(t, m, unknown, down, up, targets) and not (
        far and found_by_sums(t, m, unknown, targets)
    )


@judges("protected-intervals")
def protected_intervals(t, claim):
    return protected(t, claim, t.hidden, *t.room)


def narrowed(t, claim):
    down, up = t.room
    if claim["parameters"].get("apriori") is None:
        return down, up
    around = claim["parameters"]["apriori"] / 100 * np.abs(t.value)
    return np.minimum(down, around), np.minimum(up, around)


@judges("protected-in-table")
def protected_in_table(t, claim):
    levels = bool(claim["parameters"].get("intervals"))
    return protected(t, claim, t.hidden, *narrowed(t, claim), far=False, levels=levels)


@judges("protected-in-subtables")
def protected_in_subtables(t, claim):
    if t.subtables is None:
        return True
    levels = bool(claim["parameters"].get("intervals"))
    whole = t.unsafe
    try:
        for rows in t.subtables:
            inside = np.zeros(len(t.value), dtype=bool)
            inside[[c for row in rows for c in row]] = True
            t.unsafe = whole & inside
            if not protected(
                t,
                claim,
                t.hidden & inside,
                *narrowed(t, claim),
                far=False,
                levels=levels,
                rows=rows,
            ):
                return False
    finally:
        t.unsafe = whole
    return True


@judges("not-deducible")
def not_deducible(t, claim):
    m = matrix(t.rows, len(t.value))
    if (t.unsafe & ~t.hidden).any():
        return False
    ways = free_ways(m, t.hidden)
    if (np.abs(ways[t.unsafe]).max(axis=1, initial=0) <= 1e-7).any():
        return False
    if t.whole and not protected(t, claim, t.hidden, *t.room, far=False, levels=False):
        return False
    return not (
        claim["parameters"].get("singletons") and found_by_sums(t, m, t.hidden, guarded(t, claim))
    )


def within(t):
    down, up = t.room
    has = ~np.isnan(t.low)
    return (
        np.where(has, np.minimum(down, np.maximum(t.value - t.low, 0)), down),
        np.where(has, np.minimum(up, np.maximum(t.high - t.value, 0)), up),
    )


@judges("protected-by-published-intervals")
def protected_by_published_intervals(t, claim):
    return protected(t, claim, t.hidden & ~np.isnan(t.low), *within(t), far=False)


@judges("protected-with-intervals")
def protected_with_intervals(t, claim):
    unknown = t.hidden | (t.high > t.low)
    if not intervals_hold_the_truth(t, claim) or (t.unsafe & ~unknown).any():
        return False
    return protected(t, claim, unknown, *within(t))


@judges("intervals-hold-the-truth")
def intervals_hold_the_truth(t, claim):
    has = ~np.isnan(t.low)
    slack = NEAR * np.maximum(1, np.abs(t.value))
    true = (t.value >= t.low - slack) & (t.value <= t.high + slack)
    shown = np.isnan(t.shown) | ((t.shown >= t.low - slack) & (t.shown <= t.high + slack))
    return bool((true & shown)[has].all())


@judges("additive")
def additive(t, claim):
    for row in t.rows:
        at, signs = np.array(list(row)), np.array(list(row.values()))
        x = t.shown[at]
        if np.isnan(x).any():
            if claim["parameters"].get("base") is not None:
                return False
            continue
        if abs(x @ signs) > 2 * NEAR * max(1.0, np.abs(x).sum()):
            return False
    return True


@judges("rounded")
def rounded(t, claim):
    p = claim["parameters"]
    base = float(p["base"])
    steps = t.shown / base
    if np.isnan(steps).any() or (np.abs(steps - np.rint(steps)) > NEAR).any():
        return False
    totals = {next(c for c, s in row.items() if s < 0) for row in t.rows}
    for cell, (x, k) in enumerate(zip(t.value / base, np.rint(steps), strict=True)):
        total = cell in totals
        slack = p["y"] if total else p["max_shift"] - 1
        even = abs(x - round(x)) < 1e-9 * max(1.0, abs(x))
        low, high = (round(x), round(x)) if even else (np.floor(x), np.ceil(x))
        extra = 1 if p["free_zeros"] and even and not total else 0
        if not low - slack <= k <= high + slack + extra:
            return False
    return True


@judges("adjacent-multiples")
def adjacent_multiples(t, claim):
    base = float(claim["parameters"]["base"])
    steps = t.shown / base
    whole = np.abs(steps - np.rint(steps)) < NEAR
    return bool((whole & (np.abs(t.shown - t.value) < base)).all())


@judges("no-small-counts")
def no_small_counts(t, claim):
    x = t.shown[~np.isnan(t.shown)]
    return bool(((x == 0) | ((x >= claim["parameters"]["base"]) & (x == np.floor(x)))).all())


@judges("moved-far-enough")
def moved_far_enough(t, claim):
    for cell in np.flatnonzero(t.unsafe & ~t.hidden).tolist():
        down, up = t.down[cell], t.up[cell]
        if max(down, up) <= 0:
            down = up = max(t.slide[cell], t.tiny(cell))
        moved = t.shown[cell] - t.value[cell]
        slack = 2 * NEAR * max(1.0, abs(t.value[cell]))
        if not ((up > 0 and moved >= up - slack) or (down > 0 and -moved >= down - slack)):
            return False
    return True


@judges("cell-keys")
def cell_keys(t, claim):
    if t.hidden.any() or (t.shown[t.fixed] != t.value[t.fixed]).any():
        return False
    plan = json.loads(t.extra["perturbation"])
    keys = t.extra.get(t.extra.get("used_key", "cell_key"))
    if not t.counts or keys is None or "weighted_count" in t.extra:
        return True
    line, moves, bounds = (np.array(plan["main"][k]) for k in ("i", "v", "bound"))
    for cell in np.flatnonzero(~t.fixed).tolist():
        n = t.value[cell]
        own = line == min(n, line.max())
        change = t.shown[cell] - n
        if n == 0:
            expected = 0.0
        else:
            expected = moves[own][
                np.flatnonzero(keys[cell] < np.append(bounds[own][:-1], np.inf))[0]
            ]
        if abs(change - expected) > NEAR * max(1.0, n):
            return False
    return True


@judges("open-sums")
def open_sums(t, claim):
    """The unsafe parts of a total, with fewer than n people together, have no sum that follows."""
    m, p = matrix(t.rows, len(t.value)), claim["parameters"]
    down, up = within(t)
    people = np.where((t.count < 0) & t.counts, t.value, t.count)
    if p["weighted"] and "weighted_count" in t.extra:
        people = t.extra["weighted_count"]
    if p["level"] != "record" and t.held is not None:
        people = t.held
    for row in t.rows:
        parts = [c for c, s in row.items() if s > 0 and t.unsafe[c] and people[c] > 0]
        if len(parts) < 2 or sum(people[c] for c in parts) >= p["n"]:
            continue
        total = sum(t.value[c] for c in parts)
        least = 1.0 if t.counts else 1e-3 * max(1.0, abs(total))
        if sum(reach_sum(m, t.hidden, down, up, parts, s) for s in (1, -1)) < least * (1 - 1e-4):
            return False
    return True


def reach_sum(m, unknown, down, up, parts, sign):
    """How far the sum of some cells can move in one direction, given all relations."""
    cells = np.flatnonzero(unknown)
    cost = np.where(np.isin(cells, parts), -float(sign), 0.0)
    if not cost.any():
        return 0.0
    bounds = [
        (None if down[c] > 1e7 else -down[c], None if up[c] > 1e7 else up[c])
        for c in cells.tolist()
    ]
    found = linprog(cost, A_eq=m[:, cells], b_eq=np.zeros(len(m)), bounds=bounds, method="highs")
    return np.inf if found.status == 3 else -found.fun


@judges("k-disclosure")
def k_disclosure(t, claim):
    p, m = claim["parameters"], matrix(t.rows, len(t.value))
    k, most = p["k"], p.get("up_to")
    axes = [t.names.index(d) for d in p.get("dimensions") or ()]
    down, up = within(t)
    for row in t.rows:
        total = next(c for c, s in row.items() if s < 0)
        for part in [c for c, s in row.items() if s > 0] if len(row) > 2 else ():
            rest = t.value[total] - t.value[part]
            if t.value[part] <= 0 or rest > k or (most is not None and t.value[part] > most):
                continue
            if axes and all(t.cells[total][i] == t.cells[part][i] for i in axes):
                continue
            if rest + reach_apart(m, t.hidden, down, up, total, part) < (k + 1) * (1 - 2 * NEAR):
                return False
    return True


def reach_apart(m, unknown, down, up, total, part):
    """How far a total can move away from one of its parts, given all relations."""
    cells = np.flatnonzero(unknown)
    cost = np.where(cells == part, 1.0, 0.0) - np.where(cells == total, 1.0, 0.0)
    if not len(cells) or not cost.any():
        return 0.0
    bounds = [(-down[c], None if up[c] > 1e7 else up[c]) for c in cells.tolist()]
    bounds = [(None if lo < -1e7 else lo, hi) for lo, hi in bounds]
    found = linprog(cost, A_eq=m[:, cells], b_eq=np.zeros(len(m)), bounds=bounds, method="highs")
    return np.inf if found.status == 3 else -found.fun


@judges("zcdp")
def zcdp(record, claim):
    """One unit's records are put at random places; what they move at most decides what is spent."""
    rng = np.random.default_rng(1)
    p = claim["parameters"]
    units = p["members"] * (record["weight_limit"] or 1)
    shared, apart = 0.0, Counter()
    for q in record["queries"]:
        if q["mechanism"] == "exponential":
            spent = (
                q["epsilon"] * max(q["bound"]["norm"], 0.5) * units / q["sensitivity"]
            ) ** 2 / 8
        else:
            spent = (units * moved(q["bound"], rng)) ** 2 / (2 * q["amplitude"] ** 2)
        if q.get("group") is None:
            shared += spent
        else:
            apart[q["group"]] += spent
    if record["study"] or (p["unit"] == "record" and p["members"] != 1):
        return False
    return shared + max(apart.values(), default=0.0) <= p["rho"] * (1 + NEAR)


def moved(bound, rng):
    """The largest norm of what one record adds, over places of it on a long grid."""
    if bound["of"] == "counts":
        return 1.0
    found = 1.0
    for step, h in zip(bound["steps"], bound["bandwidth"], strict=True):
        grid = np.arange(-int(12 * h / step) - 2, int(12 * h / step) + 3) * step
        places = np.append(rng.uniform(0, step, 100), 0.0)
        kernels = stats.norm.pdf(grid[None, :], places[:, None], h)
        found *= np.sqrt((kernels**2).sum(axis=1)).max()
    return found * (1 + np.sqrt(2) * bound["affected"])


# -- samples of households, fits, records drawn from noisy counts ---------------------------------------------


@judges("zcdp-margins")
def zcdp_margins(columns, claim):
    """A record that becomes another leaves one cell and enters one in each of k margins: two squares of 1 each."""
    p = claim["parameters"]
    moved_at_most = sum(1.0 + 1.0 for _ in range(p["margins"]))
    spent = moved_at_most / (2 * p["sigma"] ** 2)
    return spent <= p["rho"] * (1 + NEAR) and set(columns) <= {*claim["columns"], "_copy"}


# -- rules, repeated records and texts ------------------------------------------------------------------------


class Cell:
    """A value of a record as a rule sees it: a comparison with a missing one does not hold."""

    def __init__(self, text):
        self.value = number(text)

    def order(self, other, compare):
        other = other.value if isinstance(other, Cell) else other
        try:
            return self.value is not None and other is not None and compare(self.value, other)
        except TypeError:
            return False

    def __lt__(self, other):
        return self.order(other, lambda a, b: a < b)

    def __le__(self, other):
        return self.order(other, lambda a, b: a <= b)

    def __gt__(self, other):
        return self.order(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self.order(other, lambda a, b: a >= b)

    def __eq__(self, other):
        other = other.value if isinstance(other, Cell) else other
        return self.value == other or (other is not None and plain(self.value) == plain(other))

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.value)

    def __bool__(self):
        return self == True  # noqa: E712 - a column of truth values


def number(text):
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


@judges("rules-kept")
def rules_kept(columns, claim):
    """Every rule is read by Python itself, record by record."""
    p = claim["parameters"]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def holds(rule, row):
        names = {}

        def stand_in(found):
            if found.group(1) is None:
                return found.group(0)
            names[f"named_{len(names)}"] = found.group(1).replace("``", "`")
            return f"named_{len(names) - 1}"

        quoted = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`((?:[^`]|``)+)`"""
        text = re.sub(quoted, stand_in, rule)
        known = {n: Cell(row.get(names.get(n, n))) for n in {*names, *row}}
        return bool(eval(text, {"__builtins__": {}}, known))

    for row in rows:
        if any(holds(rule, row) for rule in p["forbid"]):
            return False
        for setting in p["settings"]:
            if holds(setting["when"], row) and not all(
                Cell(row[c]) == v for c, v in setting["set"].items()
            ):
                return False
        for total, parts in p["sums"].items():
            known = [float(row[c]) for c in parts if row[c] is not None]
            told = None if row[total] is None else float(row[total])
            if (told is None) != (not known):
                return False
            if known and abs(told - sum(known)) > NEAR * (sum(map(abs, known)) + 1):
                return False
    return True


@judges("no-replicated-uniques")
def no_replicated_uniques(columns, claim):
    """The numbers of the released records, with every value as a number where it is one, and as a text."""
    sought = {int(text, 16) for text in claim["parameters"]["uniques"]}

    def mark(text):
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    def of_record(values, *, as_numbers):
        found = 0
        for value in values:
            read = number(value) if as_numbers else value
            text = "\0" if value is None else repr(read) if isinstance(read, float) else value
            found = ((found ^ mark(text)) * 0x9E3779B97F4A7C15) % 2**64
            found ^= found >> 29
        return found

    rows = list(zip(*(columns[c] for c in claim["columns"]), strict=True))
    return not any(
        of_record(row, as_numbers=way) in sought for row in rows for way in (True, False)
    )


@dataclass(frozen=True)
class Letter:
    """A text as it was written, under the name that only its owner knows, with what is known of its person."""

    name: str
    text: str
    record: dict


@dataclass(frozen=True)
class Written:
    """The texts of a release."""

    documents: list


@judges("no-known-values")
def no_known_values(columns, claim):
    """No value of several words, or of five digits or more, of the record stands in its own text."""
    if isinstance(columns, Written):
        return not any(
            not no_known_values(
                {"text": [d.text], **{c: [v] for c, v in d.record.items()}},
                {"columns": ["text"], "parameters": {"known": list(d.record)}},
            )
            for d in columns.documents
        )
    known = [c for c in claim["parameters"]["known"] if c in columns]
    for column in claim["columns"]:
        for i, text in enumerate(columns[column]):
            words = f" {' '.join(re.findall(r'[a-z0-9]+', (text or '').lower()))} "
            for c in known:
                parts = re.findall(r"[a-z0-9]+", (columns[c][i] or "").lower())
                long = len(parts) > 1 or (len("".join(parts)) >= 5 and "".join(parts).isdigit())
                if long and f" {' '.join(parts)} " in words:
                    return False
    return True


@judges("no-formatted-identifiers")
def no_formatted_identifiers(columns, claim):
    """Word by word: signs of an address, and the lengths of numbers between separators."""

    def shape(word):
        parts = re.split(r"[-./]", word.strip("()[],;:.!?"))
        return tuple(len(x) for x in parts) if parts and all(x.isdigit() for x in parts) else ()

    shapes = {
        "ssn": lambda w: shape(w) == (3, 2, 4) and w.count("-") == 2,
        "phone": lambda w: shape(w) == (3, 3, 4) and "/" not in w,
        "date": lambda w: shape(w)[2:] == (4,) and "/" in w and max(shape(w)[:2]) < 3 and w.split("/")[2][:2] in ("19", "20"),
        "email": lambda w: re.fullmatch(r"[\w.%+-]+@[\w-]+\.[a-zA-Z]\S*", w) is not None,
        "url": lambda w: w.lower().startswith(("http://", "https://", "ftp://")),
    }  # fmt: skip
    texts = (
        [d.text for d in columns.documents]
        if isinstance(columns, Written)
        else [text for c in claim["columns"] for text in columns[c] if text]
    )
    words = [w for text in texts for w in text.split()]
    return not any(shapes[form](w) for form in claim["parameters"]["forms"] for w in words)


@judges("no-original-identifiers")
def no_original_identifiers(view, claim):
    """No word of a document, as it stands or by its digits alone, is one whose digest the ledger keeps."""
    kept = claim["parameters"]["digests"]
    salt = bytes.fromhex(kept["salt"])
    for document in view.documents:
        words = [w.strip(".:!?'<>\"(),;").lower() for w in document.text.split()]
        runs = [re.sub(r"\D", "", m) for m in re.findall(r"\(?\d[\d().\- ]{8,}\d", document.text)]
        marks = {
            hmac.new(salt, w.encode(), "sha256").hexdigest()[:20] for w in [*words, *runs] if w
        }
        if marks & set(kept["documents"].get(document.name, ())):
            return False
    return True
