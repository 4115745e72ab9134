"""Columns that nobody declared and that name people: no release holds them unless the plan says so by name."""

import warnings

import numpy as np
import pytest

import tacit
from tacit.errors import DisclosureRefused
from tacit.records.identifiers.columns.undeclared import undeclared_identifiers

N = 60
FIRST = [
    "John",
    "Mary",
    "Robert",
    "Linda",
    "James",
    "Patricia",
    "Michael",
    "Susan",
    "David",
    "Karen",
]
LAST = [
    "Smith",
    "Johnson",
    "Brown",
    "Miller",
    "Davis",
    "Wilson",
    "Anderson",
    "Taylor",
    "Thomas",
    "Moore",
]
PEOPLE = [f"{FIRST[i % 10]} {LAST[(i * 7 + i // 10) % 10]}" for i in range(N)]

#: Numbers with a check digit as payment cards have it.
CARDS = [
    4000056655665556, 4111111111111111, 4242424242424242, 5105105105105100, 5200828282828210,
    5454545454545454, 5555555555554444, 6011000990139424, 6011111111111117, 4012888888881881,
]  # fmt: skip
#: Column and values that tell who somebody is.
TELLING = {
    "name": [f"x{i}" for i in range(N)],
    "Surname": [LAST[i % 10] for i in range(N)],
    "x1": PEOPLE,
    "contact": [f"p{i}@mail.example" for i in range(N)],
    "remark": ["call 617-555-0143" if i == 7 else "none" for i in range(N)],
    "v3": [f"{100 + i}-{10 + i % 80}-{1000 + i}" for i in range(N)],
    "homeStreet": [f"{i} Elm" for i in range(N)],
    "latitude": [42 + i / 997 for i in range(N)],
    "phone": [6175550000 + i for i in range(N)],
    "case": [f"K{i:05d}" for i in range(N)],
    "patient_id": list(range(N)),
    "number": list(range(N)),
    "v8": [1000 + 7 * i + (i % 3) for i in range(N)],
    "phone2": [None if i % 7 == 0 else 6175550000.0 + i for i in range(N)],
    "visit_of_patient_no": [i // 3 for i in range(N)],
    "pid": [1000 + i // 2 for i in range(N)],
    "UTILITYID": [(i * 37) % 20 for i in range(N)],
    "v5": [CARDS[i % 10] for i in range(N)],
    "v6": [None if i % 5 == 0 else float(CARDS[i % 10]) for i in range(N)],
    "Vorname": [f"n{i % 20}" for i in range(N)],
    "prénom": [f"n{i % 20}" for i in range(N)],
    "Straße": [f"s{i % 20}" for i in range(N)],
    "bsn": [100_000_000 + i // 2 for i in range(N)],
    "v10": [f"{48 + i % 25 / 997:.6f}, {2 + i % 25 / 991:.6f}" for i in range(N)],
    "v11": [f"{i % 25:08x}-0000-4000-8000-{i % 25:012x}" for i in range(N)],
    "v12": ["12345678Z", "00000001R"] * (N // 2),
}
#: Column and values that many share, whatever their names.
HARMLESS = {
    "account_type": ["giro", "saving"] * (N // 2),
    "mobile": [True, False] * (N // 2),
    "vehicle": ["car", "van", "none"] * (N // 3),
    "town": ["A", "B", "C"] * (N // 3),
    "version": ["1.2", "1.3"] * (N // 2),
    "income": [1000.0 + i for i in range(N)],
    "job": ["shop assistant", "head teacher", "police officer"] * (N // 3),
    "month": ["May 2020", "June 2020"] * (N // 2),
    "number": [i % 9 for i in range(N)],
    "shop_id": [i % 5 for i in range(N)],
    "sorted": sorted(i % 25 for i in range(N)),
    "turnover": [10_000 - 7 * i for i in range(N)],
    "ratio": [i / 7 for i in range(N)],
    "nombre": [i % 15 for i in range(N)],
}


def file(columns):
    return tacit.read({"age": [30 + i % 3 for i in range(N)], **columns}, keys=["age"])


def plan(**output):
    return tacit.Plan([tacit.LocalSuppression(k=2)], output=output)


@pytest.mark.parametrize("column", TELLING)
def test_an_undeclared_identifier_is_refused_unless_named(column, tmp_path):
    data = file({column: TELLING[column]})
    with pytest.raises(
        DisclosureRefused, match=f"look like direct identifiers: '{column}'"
    ) as told:
        plan().run(data).write(tmp_path / "r")
    assert not (tmp_path / "r").exists()
    assert not any(str(v) in str(told.value) for v in TELLING[column] if v != "none")
    plan(allowed=[column]).run(data).write(tmp_path / "r")
    declared = tacit.read({"age": [30] * N, column: TELLING[column]}, sensitive=[column])
    assert not undeclared_identifiers(declared)


def test_what_many_share_is_released(tmp_path):
    data = file(HARMLESS)
    assert not undeclared_identifiers(data)
    plan().run(data).write(tmp_path / "r")


def test_replaced_columns_are_made_up(tmp_path):
    data = tacit.read({"age": [30] * N, "pid": PEOPLE_ID}, keys=["age"], identifiers=["pid"])
    tacit.Plan([tacit.Pseudonymise()]).run(data).write(tmp_path / "r")


PEOPLE_ID = [f"id{i}" for i in range(N)]


def test_a_table_of_names_is_refused(tmp_path):
    data = tacit.read({"who": PEOPLE * 5, "x": np.arange(1.0, 5 * N + 1)})
    release = tacit.Plan.from_dict(
        {
            "table": {"dimensions": ["who"], "value": "x"},
            "steps": [{"kind": "minimum_frequency", "n": 2}],
        }
    ).run(data)
    with pytest.raises(DisclosureRefused, match=r"'who' \(names of people\)"):
        release.write(tmp_path / "r")


def test_record_keys_never_leave(tmp_path):
    rng = np.random.default_rng(1)
    data = tacit.read({"pid": PEOPLE_ID, "age": rng.integers(20, 60, N)}, identifiers=["pid"])
    steps = [
        tacit.RecordKeys(identifier="pid", key="8f1c5b0e6d2a49b7a3f0c4d5e6978812"),
        tacit.Deidentify(),
    ]
    release = tacit.Plan(steps).run(data)
    folder = release.write(tmp_path / "r")
    assert list(tacit.read(folder / "data.csv").columns) == ["age"]
    assert list(release.data.columns) == ["age"]
    assert tacit.verify(folder, data)


def random_file(rng):
    """Columns of codes and numbers, and one of identifiers under a name that says nothing."""
    n = int(rng.integers(25, 80))
    made = [
        [f"{rng.integers(10**9):09d}x{i}" for i in range(n)],
        [f"u{rng.integers(10**6)}{i}@example.net" for i in range(n)],
        [f"{FIRST[rng.integers(10)]} {LAST[rng.integers(10)]}" for _ in range(n)],
        [f"{rng.integers(100, 999)}-{rng.integers(10, 99)}-{rng.integers(1000, 9999)}" for _ in range(n)],
    ]  # fmt: skip
    noise = {f"c{j}": rng.choice(list("abcd"), n).tolist() for j in range(int(rng.integers(1, 4)))}
    return noise, made[rng.integers(len(made))]


@pytest.mark.parametrize("seed", range(8))
def test_whatever_it_is_called_it_stays(seed):
    rng = np.random.default_rng(seed)
    noise, telling = random_file(rng)
    where = f"q{rng.integers(100)}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = undeclared_identifiers(tacit.read({**noise, where: telling}))
    assert list(found) == [where]


@pytest.mark.parametrize(
    "values",
    [
        ["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"],
        ["4111 1111 1111 1111", "5500005555555559"],
        ["07700 900123", "030 1234567 8"],
        ["AB123456C", "CE 65 43 21 D"],
        ["12 High Street", "7a Old Church Road, Leeds"],
        ["Hauptstraße 5", "Bahnhofstr. 17b"],
        ["LS1 4AB", "SW1A 2AA"],
        ["Dr. Mary Smith", "Mr Robert Brown"],
        ["J. Smith", "Brown, M."],
    ],
)
def test_forms_of_people_and_homes_are_known_though_records_share_them(values):
    data = tacit.read({"v1": values * 20, "x": list(range(20)) * len(values)})
    assert list(undeclared_identifiers(data)) == ["v1"]


def test_codes_and_places_are_no_forms_of_people():
    values = {
        "nace": ["A01", "C10.1", "G47", "H49.3"],
        "area": ["10 to 20 ha", "Graz", "St Pölten", "Linz 2"],
        "number": ["0012", "1234567890123", "98", "4111111111111112"],
        "group": ["A Brown", "B Green", "C White", "D Black"],
    }
    data = tacit.read({name: column * 20 for name, column in values.items()})
    assert undeclared_identifiers(data) == {}


def test_numbers_of_records_are_known_by_their_order_whatever_steps_have_done_to_it(tmp_path):
    """Two releases with such a column join record by record, as they would by the order of the source."""
    rng = np.random.default_rng(3)
    columns = {
        "age": rng.integers(20, 24, 2000),
        "v1": 100 + np.arange(2000) // 3,
        "x": rng.normal(size=2000),
    }
    numbered = {**columns, "v1": np.arange(2000) // 3}
    assert not undeclared_identifiers(tacit.read(columns))
    assert list(undeclared_identifiers(tacit.read(numbered))) == ["v1"]
    for steps in ([tacit.Scramble()], [tacit.Sample(share=0.6), tacit.Scramble()]):
        release = tacit.Plan(steps).run(tacit.read(numbered))
        with pytest.raises(DisclosureRefused, match="'v1' \\(numbers of records or households"):
            release.write(tmp_path / "r")
    masked = tacit.Plan([tacit.Mdav(columns=["v1"], k=7)]).run(tacit.read(numbered))
    assert masked.write(tmp_path / "masked").exists()
