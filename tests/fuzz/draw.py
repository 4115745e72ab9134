"""Random frames, tables, parameters and plans, from a seed.

Values are unlikely texts and numbers of many digits, so that one of them in a message is no coincidence. What is
drawn keeps its own plain copy (columns, codes, sums), from which the judge recomputes everything.
"""

import datetime as dt
import functools
import inspect
import itertools
from dataclasses import dataclass, field

import numpy as np

import tacit
from fuzz.parameters import Parameters, word
from tacit.registry import specs
from tacit.spec import Method

#: Names of columns: plain ones, and some that need care.
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
ODD_NAMES = ("two words", "Größe", "select", "a-b", "1st", "per%", "quote'd")
# -- records -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """Drawn columns with what they are, and roles."""

    columns: dict[str, list]
    sorts: dict[str, str]
    roles: dict[str, object]
    hierarchies: dict[str, object] = field(default_factory=dict)

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def named(self, *sorts):
        """Columns of some sorts."""
        return [c for c, s in self.sorts.items() if s in sorts]

    @property
    def numbers(self):
        return self.named("amount", "whole")

    @property
    def groups(self):
        return self.named("text", "small", "flag", "day")

    def read(self, order=None, columns=None):
        """The frame as tacit reads it, its rows perhaps in another order."""
        held = self.columns if columns is None else columns
        if order is not None:
            held = {c: [v[i] for i in order] for c, v in held.items()}
        table = arrow(held, self.sorts)
        return tacit.read(table, **self.roles, hierarchies=dict(self.hierarchies))

    @functools.cached_property
    def tokens(self):
        """Values that no message may hold, as text."""
        found = set()
        for c, values in self.columns.items():
            if self.sorts[c] in ("text", "id"):
                found |= {v for v in values if v is not None}
            elif self.sorts[c] in ("amount", "whole"):
                found |= {s for v in values if v is not None for s in spelled(v)}
        return frozenset(found)


def spelled(value):
    """A number of many digits as it may be printed."""
    ways = {repr(value), f"{value:,}", f"{value:.2f}", f"{value:g}"}
    return {w for w in ways if sum(ch.isdigit() for ch in w) >= 6}


def arrow(columns, sorts):
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "id": pa.string(),
        "amount": pa.float64(),
        "whole": pa.int64(),
        "small": pa.int64(),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "weight": pa.float64(),
    }
    return pa.table({c: pa.array(v, types[sorts[c]]) for c, v in columns.items()})


def draw_frame(rng, *, households=False):
    """A frame of up to 60 records with columns of every sort, some of them with a role."""
    n = int(rng.choice([0, 1, 2, 5, *rng.integers(8, 60, 16)]))
    names = list(rng.permutation(NAMES))
    if rng.random() < 0.15:
        names[int(rng.integers(4))] = str(rng.choice(ODD_NAMES))
    sorts = ["text", "text", "amount", "amount"]
    sorts += rng.choice(["text", "small", "flag", "day", "amount", "whole"], 4).tolist()
    sorts = dict(zip(names[: int(rng.integers(4, 9))], sorts, strict=False))
    columns = {c: draw_column(rng, s, n) for c, s in sorts.items()}
    for c, full in columns.items():
        gone = rng.random(n) < rng.choice([0.0, 0.0, 0.0, 0.1, 0.4])
        columns[c] = [None if m else v for v, m in zip(full, gone, strict=True)]
    if rng.random() < 0.5:
        columns["person"], sorts["person"] = [f"ID{word(rng)}" for _ in range(n)], "id"
    if rng.random() < 0.3:
        columns["weighing"], sorts["weighing"] = rng.uniform(1, 9, n).round(6).tolist(), "weight"
    if households or rng.random() < 0.3:
        homes = [f"HH{word(rng)}" for _ in range(n // 3 + 1)]
        columns["home"], sorts["home"] = rng.choice(homes, n).tolist(), "text"
        if rng.random() < 0.5:
            size = {h: columns["home"].count(h) for h in homes}
            columns["members"], sorts["members"] = [size[h] for h in columns["home"]], "small"
    first = next(iter(columns))
    if rng.random() < 0.2:
        twin = {v: word(rng) for v in columns[first] if v is not None}
        columns["twin"], sorts["twin"] = [twin.get(v) for v in columns[first]], "text"
    frame = Frame(columns, sorts, {})
    roles = draw_roles(rng, frame, first) | ({"household": "home"} if households else {})
    return Frame(columns, sorts, roles, draw_hierarchies(rng, frame))


def draw_column(rng, sort, n):
    if sort == "text":
        levels = [word(rng) for _ in range(int(rng.integers(1, 6)))]
        return rng.choice(levels, n, p=uneven(rng, len(levels))).tolist()
    if sort == "small":
        return rng.integers(0, int(rng.choice([2, 5, 90])), n).tolist()
    if sort == "flag":
        return (rng.random(n) < 0.4).tolist()
    if sort == "day":
        first = dt.date(1950, 1, 1)
        return [first + dt.timedelta(int(d)) for d in rng.integers(0, 20_000, n)]
    if sort == "whole":
        return (rng.lognormal(13, 1, n).astype(int) + 100_003).tolist()
    x = rng.lognormal(11, 1, n) + 0.01 * rng.random(n)
    turn = rng.random()
    if turn < 0.1:
        x = np.full(n, 123_457.25)
    elif turn < 0.3:
        x = x * rng.choice([-1, 1], n)
    elif turn < 0.45:
        x = np.where(rng.random(n) < 0.4, 0.0, x)
    return x.round(3).tolist()


def uneven(rng, n):
    p = rng.dirichlet(np.full(n, 1.0)) + 0.01
    return p / p.sum()


def draw_roles(rng, frame, first):
    roles = {}
    groups = [c for c in frame.groups if c != "home"]
    if rng.random() < 0.85 and groups:
        chosen = rng.permutation(groups)[: int(rng.integers(1, 5))].tolist()
        filled = [c for c in chosen if any(v is not None for v in frame.columns[c])]
        roles["keys"] = filled
        if len(filled) > 1 and rng.random() < 0.2:
            roles["keys"] = {"first": filled[:2], "second": filled[1:]}
    taken = (
        set(itertools.chain(*roles.get("keys", {}).values()))
        if isinstance(roles.get("keys"), dict)
        else set(roles.get("keys", ()))
    )
    free = [c for c in [*frame.groups, *frame.numbers] if c not in taken and c != "home"]
    if free and rng.random() < 0.5:
        roles["sensitive"] = [str(rng.choice(free))]
    if "person" in frame.columns:
        roles["identifiers"] = ["person"]
    if "weighing" in frame.columns and rng.random() < 0.8:
        roles["weight"] = "weighing"
    if "home" in frame.columns and rng.random() < 0.8:
        roles["household"] = "home"
    links = [[first, "twin"]] if "twin" in frame.columns else []
    links += [["home", "members"]] if "household" in roles and "members" in frame.columns else []
    if links and "links" in inspect.signature(tacit.read).parameters and rng.random() < 0.8:
        roles["links"] = links
    strata = [c for c in free if c in frame.groups and c not in roles.get("sensitive", ())]
    if strata and rng.random() < 0.2:
        roles["stratum"] = str(rng.choice(strata))
    return roles


def draw_hierarchies(rng, frame):
    found = {}
    for c in frame.groups:
        values = sorted({str(v) for v in frame.columns[c] if v is not None})
        if not values or rng.random() < 0.4:
            continue
        if frame.sorts[c] == "day":
            found[c] = tacit.hierarchy.dates()
        elif frame.sorts[c] == "text" and len(values) > 2 and rng.random() < 0.6:
            half = len(values) // 2
            groups = {f"g1{word(rng, 3)}": values[:half], f"g2{word(rng, 3)}": values[half:]}
            found[c] = tacit.hierarchy.from_tree({"*": groups})
        else:
            found[c] = tacit.hierarchy.flat()
    return found


# -- tables ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """A table as it was drawn: trees of codes, records in ground cells, and what follows from them.

    ``parts`` are the dimensions of each table, more than one where tables are linked.
    """

    trees: dict[str, list[tuple[int, str]]]
    records: list[dict]
    parts: tuple[tuple[str, ...], ...]
    value: str | None
    lower: float
    top: int
    weighted: bool

    def children(self, name):
        """Parent to children, the total included."""
        stack, found = ["Total"], {}
        for depth, code in self.trees[name]:
            del stack[depth + 1 :]
            found.setdefault(stack[-1], []).append(code)
            stack.append(code)
        return found

    def above(self, name):
        """Each code with all codes that it counts in, itself included."""
        parent = {c: p for p, cs in self.children(name).items() for c in cs}
        found = {}
        for code in ["Total", *(c for _, c in self.trees[name])]:
            line = [code]
            while line[-1] in parent:
                line.append(parent[line[-1]])
            found[code] = line
        return found

    def codes(self, name):
        return ["Total", *(c for _, c in self.trees[name])]

    @functools.cached_property
    def truth(self):
        """The true value of every cell, by its codes in the order of the dimensions."""
        names = list(self.trees)
        cells = {}
        for part in self.parts:
            codes = [self.codes(n) if n in part else ["Total"] for n in names]
            cells |= dict.fromkeys(itertools.product(*codes), 0.0)
        lines = {n: self.above(n) for n in names}
        for r in self.records:
            amount = (1.0 if self.value is None else r[self.value]) * (
                r["w"] if self.weighted else 1.0
            )
            for cell in itertools.product(*(lines[n][r[n]] for n in names)):
                if cell in cells:
                    cells[cell] += amount
        return cells

    @functools.cached_property
    def relations(self):
        """Rows of {cell: sign}, parents with -1: every sum of every table."""
        names = list(self.trees)
        rows = {}
        for part in self.parts:
            for axis in part:
                rest = [self.codes(n) if n in part and n != axis else ["Total"] for n in names]
                at = names.index(axis)
                for parent, children in self.children(axis).items():
                    for others in itertools.product(*(r for i, r in enumerate(rest) if i != at)):
                        row = {put(others, at, parent): -1.0}
                        row |= {put(others, at, c): 1.0 for c in children}
                        rows[tuple(sorted(row.items()))] = row
        return list(rows.values())

    def subtables(self):
        """Lists of relations: one sum of every dimension each, crossed."""
        names = list(self.trees)
        for sums in itertools.product(*(self.children(n).items() for n in names)):
            rows = []
            for at, (parent, children) in enumerate(sums):
                rest = [[p, *cs] for i, (p, cs) in enumerate(sums) if i != at]
                for others in itertools.product(*rest):
                    row = {put(others, at, parent): -1.0}
                    rows.append(row | {put(others, at, c): 1.0 for c in children})
            yield rows

    def read(self):
        """The table as tacit builds it."""
        columns = {n: [r[n] for r in self.records] for n in self.trees}
        columns |= {c: [r[c] for r in self.records] for c in ("x", "w", "firm")}
        sorts = dict.fromkeys(self.trees, "text") | {"x": "amount", "w": "amount", "firm": "text"}
        data = tacit.read(arrow(columns, sorts), weight="w" if self.weighted else None)
        tables = [
            tacit.Table.from_microdata(
                data,
                {n: tacit.Dimension.from_tree(n, self.trees[n]) for n in part},
                self.value,
                lower=self.lower,
                top=self.top,
            )
            for part in self.parts
        ]
        return tables[0] if len(tables) == 1 else tacit.Table.link(*tables)


def put(others, at, code):
    return (*others[:at], code, *others[at:])


def draw_grid(rng):
    """Records of firms by one to three dimensions, some of them trees, sometimes as linked tables."""
    size = int(rng.choice([1, 2, 2, 2, 3]))
    trees = {
        n: draw_tree(rng, most=5 if size < 3 else 3) for n in ("region", "trade", "size")[:size]
    }
    n = int(rng.choice([0, 1, *rng.integers(5, 70, 10)]))
    leaves = {name: leaf_codes(tree) for name, tree in trees.items()}
    amounts = rng.lognormal(6, 1.2, n).round(int(rng.choice([0, 2])))
    lower = 0.0
    if rng.random() < 0.15:
        amounts, lower = amounts * rng.choice([1, 1, -1], n), -1e9
    records = [
        {name: str(rng.choice(codes)) for name, codes in leaves.items()}
        | {"x": float(amounts[i]), "w": float(rng.integers(1, 5)), "firm": f"F{rng.integers(12)}"}
        for i in range(n)
    ]
    names = tuple(trees)
    parts = (names,)
    if size > 1 and rng.random() < 0.25:
        parts = ((names[0], names[1]), (names[0], names[2])) if size == 3 else (names, names[:1])
    value = None if lower == 0 and rng.random() < 0.45 else "x"
    return Grid(
        trees,
        records,
        parts,
        value,
        lower,
        int(rng.choice([3, 6])),
        weighted=bool(rng.random() < 0.15),
    )


def draw_tree(rng, most):
    lines = []
    for _ in range(int(rng.integers(1, most + 1))):
        lines.append((0, word(rng, 4)))
        if rng.random() < 0.3:
            lines += [(1, word(rng, 4)) for _ in range(int(rng.integers(1, 4)))]
    return lines


def leaf_codes(lines):
    after = [d for d, _ in lines[1:]] + [0]
    return [c for (d, c), following in zip(lines, after, strict=True) if following <= d]


@functools.cache
def kinds(data_type, base):
    """The kinds of methods or measures on records or tables."""
    return [k for k, s in specs().items() if issubclass(s, base) and s.data_type() is data_type]


# -- plans -------------------------------------------------------------------------------------------

#: Steps on tables that belong together: drawn alone, most plans would be refused at once.
RULES = ("minimum_frequency", "p_percent", "dominance", "pq", "zero_cells", "set_status")


def draw_record_plan(rng, frame, data):
    """Steps on records in any order; identifiers are looked after in most plans, at any place."""
    pool = kinds(tacit.Microdata, Method)
    steps = [str(k) for k in rng.choice(pool, int(rng.integers(1, 5)))]
    if "identifiers" in frame.roles and rng.random() < 0.97:
        steps = [str(rng.choice(["deidentify", "pseudonymise", "substitute"])), *steps[:3]]
    draw = Parameters(rng, frame=frame)
    return [sound(draw, kind, data) for kind in rng.permutation(steps).tolist()]


def draw_table_plan(rng, grid, table):
    """Steps on a table: mostly a rule first, then anything; one plan in five in any order."""
    pool = [k for k in kinds(tacit.Table, Method) if k != "request"]
    rules = [str(k) for k in rng.choice(RULES[: 5 if grid.value else 1], int(rng.integers(0, 3)))]
    others = [k for k in pool if k not in RULES] if rng.random() < 0.7 else pool
    steps = [*rules, *(str(k) for k in rng.choice(others, int(rng.integers(1, 3))))][:4]
    if rng.random() < 0.2:
        steps = rng.permutation(steps).tolist()
    draw = Parameters(rng, grid=grid)
    return [sound(draw, kind, table) for kind in steps]


def sound(draw, kind, data, tries=8):
    """Parameters that fit the data, if some are found soon; else ones that are refused."""
    for _ in range(tries):
        entry = draw.spec(kind)
        try:
            spec = specs()[kind](**{k: v for k, v in entry.items() if k != "kind"})
            if not spec.faults(data):
                break
        except tacit.SdcError:
            continue
    return entry


# -- texts and fits ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class DrawnLetter:
    """A letter with what is known of the person it is about."""

    text: str
    record: dict[str, str]

    @property
    def secrets(self):
        return [w for v in self.record.values() for w in (v, *v.split()) if len(w) > 4]


GIVEN = ("Virginia", "Bert", "Ottoline", "Casimir", "Dorothea", "Ludmila", "Percival", "Zelda")
FAMILY = (
    "Townsend",
    "Kowalski",
    "Abernathy",
    "Oyelaran",
    "Featherstone",
    "Zabriskie",
    "Quillfeather",
)
SENTENCES = (
    "I saw {name} on {day} for diabetes mellitus.",
    "RE: {name}  MRN {number}",
    "Call {phone} or write to {mail}.",
    "{title} {family} takes insulin, 100 mg.",
    "Date of birth {birth}; mother lives at 18 Huntington Avenue, Boston.",
    "No change since last week.",
    "{given} was well when seen again.",
    "See https://example.org/{number} for the scan.",
)


def draw_letters(rng):
    """Up to six letters of a few sentences in any order, in files named after the people."""
    found = {}
    for i in range(int(rng.integers(1, 7))):
        given, family = str(rng.choice(GIVEN)), str(rng.choice(FAMILY))
        birth = dt.date(1930, 1, 1) + dt.timedelta(int(rng.integers(0, 25_000)))
        record = {
            "name": f"{given} {family}",
            "birth": birth.isoformat(),
            "number": str(rng.integers(10**7, 10**8)),
            "phone": f"617-555-{rng.integers(1000, 9999)}",
            "mail": f"{word(rng).lower()}@example.com",
        }
        said = record | {"given": given, "family": family, "birth": f"{birth:%m/%d/%Y}"}
        said |= {"day": f"{birth:%B} {birth.day}, 1994", "title": str(rng.choice(["Mr.", "Mrs."]))}
        lines = rng.choice(SENTENCES, int(rng.integers(1, len(SENTENCES))), replace=False)
        known = rng.choice(list(record), int(rng.integers(0, 4)), replace=False).tolist()
        ending = str(rng.choice([" ", "\n", "\r\n\r\n"]))
        text = ending.join(str(line).format(**said) for line in lines)
        found[f"{family}-{word(rng)}{i}"] = DrawnLetter(text, {c: record[c] for c in known})
    return found


def draw_text_plan(rng):
    """One to three scrubs with any of their switches."""
    return [
        {"kind": "scrub"}
        | ({"mode": str(rng.choice(["substitute", "tag", "mask"]))} if rng.random() < 0.7 else {})
        | ({"dates": str(rng.choice(["month", "shift"]))} if rng.random() < 0.5 else {})
        | ({"strict": True} if rng.random() < 0.3 else {})
        | ({"reduction": True} if rng.random() < 0.2 else {})
        | ({"search": str(rng.choice(["straight", "cues"]))} if rng.random() < 0.2 else {})
        | ({"kinds": ["name", "date"]} if rng.random() < 0.1 else {})
        for _ in range(int(rng.choice([1, 1, 1, 2, 3])))
    ]


def draw_fit(rng):
    """A fit of a few terms on few or many records; one in five has a covariance that is none."""
    from tacit.data.fit import JointFit

    p = int(rng.integers(1, 6))
    half = rng.normal(0, 1, (p, p))
    square = half @ half.T + 0.01 * np.eye(p)
    if rng.random() < 0.2:
        square[0, -1] -= 3.0
    names = ("(constant)", *(word(rng) for _ in range(p - 1)))
    return JointFit("linear", "y ~ x", names, rng.normal(0, 5, p), square, int(rng.integers(1, 80)))
