"""Data and parameters with which every registered Spec is run."""

import functools

import numpy as np

import tacit
from tacit.data.table import Contributors
from tacit.registry import specs
from tacit.spec import Measure, Method

KEYS = ["sex", "age", "zip"]

COLUMNS = {
    "id": [f"p{i}" for i in range(12)],
    "sex": ["f", "m", "f", "m", "f", "m", "f", "m", "f", "m", "f", "m"],
    "age": [31, 32, 31, 32, 45, 46, 45, 46, 31, 32, 45, 46],
    "zip": [
        "02138",
        "02138",
        "02139",
        "02139",
        "02141",
        "02141",
        "02142",
        "02142",
        "02138",
        "02139",
        "02141",
        "02142",
    ],
    "job": ["née", "b", "a", "b", "née", "b", "a", "b", "née", "b", "a", "b"],
    "income": [10.5, 20.25, 30.0, 40.0, 55.0, 61.0, 70.0, 82.0, 90.0, 101.0, 11.0, 12.0],
    "disease": [
        "flu",
        "flu",
        "flu",
        "cold",
        "cold",
        "cold",
        "flu",
        "flu",
        "cold",
        "cold",
        "gout",
        "flu",
    ],
}


def hierarchies():
    return {
        "sex": tacit.hierarchy.flat(),
        "age": tacit.hierarchy.flat(),
        "zip": tacit.hierarchy.digits(5),
        "job": tacit.hierarchy.flat(),
        "income": tacit.hierarchy.flat(),
    }


def people(columns=None, *, engine="duckdb"):
    """The common data set, or one with the same columns."""
    source = COLUMNS if columns is None else columns
    return tacit.read(
        source,
        identifiers=["id"],
        keys=KEYS,
        sensitive=["disease"],
        hierarchies=hierarchies(),
        engine=engine,
    )


#: What a Spec of several kinds of data needs besides its example to act on records.
ON_RECORDS = {kind: {"columns": ["job"]} for kind in ("scrub", "text_risk", "text_utility")}


def example_of(kind):
    """The example parameters of a Spec, for records where it takes several kinds of data."""
    return {**specs()[kind].example, **ON_RECORDS.get(kind, {})}


def build(kind):
    """A Spec of that kind with its example parameters, for records where it takes several kinds."""
    return specs()[kind](**example_of(kind))


@functools.cache
def method_kinds():
    return [
        k for k, s in specs().items() if issubclass(s, Method) and tacit.Microdata in s.data_types()
    ]


@functools.cache
def measure_kinds():
    return [
        k
        for k, s in specs().items()
        if issubclass(s, Measure) and tacit.Microdata in s.data_types()
    ]


#: Turnover of firms: (region, size, firm group, turnover).
FIRMS = [
    ("N1", "small", 1, 12.0),
    ("N1", "small", 2, 9.0),
    ("N1", "small", 3, 7.0),
    ("N1", "large", 4, 230.0),
    ("N1", "large", 5, 40.0),
    ("N1", "large", 6, 35.0),
    ("N2", "small", 7, 15.0),
    ("N2", "small", 8, 14.0),
    ("N2", "small", 9, 13.0),
    ("N2", "large", 4, 120.0),
    ("N2", "large", 10, 90.0),
    ("N2", "large", 11, 80.0),
    ("S1", "small", 12, 22.0),
    ("S1", "small", 13, 20.0),
    ("S1", "small", 14, 18.0),
    ("S1", "large", 15, 310.0),
    ("S2", "small", 16, 25.0),
    ("S2", "small", 17, 21.0),
    ("S2", "small", 18, 11.0),
    ("S2", "large", 19, 150.0),
    ("S2", "large", 20, 140.0),
    ("S2", "large", 21, 100.0),
]

REGIONS = tacit.Dimension.from_tree(
    "region", [(0, "N"), (1, "N1"), (1, "N2"), (0, "S"), (1, "S1"), (1, "S2")]
)
SIZES = tacit.Dimension.flat("size", ["small", "large"])


def firms(*, judged=True):
    """The common table: region (a tree) by size, with contributors; two cells are unsafe."""
    cells = [(r, s) for r in range(len(REGIONS)) for s in range(len(SIZES))]
    under = [[set(np.flatnonzero(row)) for row in d.closure.toarray()] for d in (REGIONS, SIZES)]
    ground = [{c: i for i, c in enumerate(d.leaves.tolist())} for d in (REGIONS, SIZES)]
    place = [(ground[0][REGIONS.position[r]], ground[1][SIZES.position[s]]) for r, s, _, _ in FIRMS]
    values, counts, tops, who = [], [], [], []
    for r, s in cells:
        parts: dict[int, float] = {}
        for (a, b), (_, _, firm, turnover) in zip(place, FIRMS, strict=True):
            if a in under[0][r] and b in under[1][s]:
                parts[firm] = parts.get(firm, 0.0) + turnover
        ranked = sorted(parts.items(), key=lambda item: -item[1])
        values.append(sum(parts.values()))
        counts.append(len(parts))
        tops.append([x for _, x in ranked[:3]] + [0.0] * (3 - len(ranked)))
        who.append([f for f, _ in ranked[:3]] + [-1] * (3 - len(ranked)))
    nobody = np.zeros((len(cells), 3), dtype=bool)
    behind = Contributors(np.array(counts), np.array(tops), np.array(who), asked=nobody)
    table = tacit.Table.from_cells(
        (REGIONS, SIZES), values, count=counts, contributors=behind, response="turnover"
    )
    if not judged:
        return table
    table = table.with_protection([("S1", "large")], lower=31.0, upper=31.0)
    return table.with_protection([("N1", "large")], lower=23.0, upper=23.0)


@functools.cache
def table_method_kinds():
    return [k for k, s in specs().items() if issubclass(s, Method) and s.data_type() is tacit.Table]


@functools.cache
def table_measure_kinds():
    return [
        k for k, s in specs().items() if issubclass(s, Measure) and s.data_type() is tacit.Table
    ]


#: Specs that take tables of counts alone.
OF_COUNTS = {"direct_disclosure", "k_disclosure"}


def fitting(kind):
    """The common table, or one of counts for a Spec that takes no other."""
    if kind not in OF_COUNTS:
        return firms()
    counts = np.array([[4, 0, 0], [5, 0, 1], [3, 2, 1]])
    return tacit.Table.from_array(counts, count=counts, totals=False, frequency=True)


#: Letters about people who do not exist, two of them with what is known of the person.
LETTERS = {
    "a": "Dear Dr. Lang,\r\n\r\nI saw Virginia Townsend, a 45 year old teacher, on February 2, 1994 for diabetes mellitus. Call 617-555-0142.\n",
    "b": "RE: Bert Kowalski  MRN 48213375\nMr. Kowalski takes insulin. Hodgkin's disease was ruled out. bert.k@example.com\n",
    "c": "No change since last week. Parkinson's disease, stable on levodopa 100 mg.",
    "d": "née Straße, dob 05/26/86; mother Dot lives at 18 Huntington Avenue, Boston, MA 02151.",
}
KNOWN = {"a": {"name": "Virginia Townsend", "birth": "1949-03-01"}, "b": {"name": "Bert Kowalski"}}


def texts(letters=None):
    """The common texts, or others of the same names."""
    given = LETTERS if letters is None else letters
    return tacit.Corpus(
        tuple(
            tacit.Document(name, text, record=KNOWN.get(name, {})) for name, text in given.items()
        )
    )


def build_for_texts(kind):
    """A Spec of that kind with its example parameters, for texts."""
    return specs()[kind](**specs()[kind].example)


@functools.cache
def text_method_kinds():
    return [
        k for k, s in specs().items() if issubclass(s, Method) and tacit.Corpus in s.data_types()
    ]


@functools.cache
def text_measure_kinds():
    return [
        k for k, s in specs().items() if issubclass(s, Measure) and tacit.Corpus in s.data_types()
    ]
