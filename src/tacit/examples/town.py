"""An invented town: its residents, and the stays of some of them in its hospital.

Every part is drawn from a stream of random numbers of its own, so that a change to one leaves the
others as they were. Work is done on whole arrays of codes; :func:`patient_table` and
:func:`register_table` turn them into words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Floats, Ints
from tacit.data.hierarchy import TOP
from tacit.errors import InputError

Days = npt.NDArray[np.datetime64]

#: The calendar year of the admissions.
YEAR = 2024
#: Residents of the town for each patient in the file: 25,000 patients, 120,000 residents.
RESIDENTS_PER_PATIENT = 4.8
SMALLEST = 100

SEXES = ("F", "M")
OLDEST = 97
#: Relative number of residents at some ages; straight lines between. Women outlive men.
PYRAMID_AGES = (0, 5, 18, 22, 30, 45, 58, 66, 75, 85, 92, OLDEST)
PYRAMID = {
    "F": (1.00, 1.02, 1.08, 1.22, 1.30, 1.20, 1.32, 1.05, 0.78, 0.42, 0.12, 0.01),
    "M": (1.05, 1.07, 1.12, 1.20, 1.30, 1.20, 1.28, 0.97, 0.62, 0.25, 0.05, 0.003),
}
#: Relative chance of a hospital stay at some ages: high at birth, lowest in childhood, then rising.
ADMISSION_AGES = (0, 1, 5, 12, 20, 40, 60, 75, 90, 110)
ADMISSION = (6.0, 2.0, 0.7, 0.6, 1.0, 1.2, 1.8, 3.4, 4.2, 4.2)

#: County code, name, share of the population, and towns with their number of ZIP codes. The codes begin
#: with 00 and belong to no real place.
COUNTIES: tuple[tuple[str, str, float, Mapping[str, int]], ...] = (
    ("001", "Aldermark", 0.46, {"Old Quay": 6, "Merrowfield": 5, "Ashgate": 4, "Northwharf": 4}),
    ("002", "Brackwater", 0.28, {"Tansy Hill": 5, "Lowen": 4, "Kestrel Park": 4, "Millrace": 3}),
    ("003", "Corvale", 0.17, {"Hollin": 4, "Stanmoor": 3, "Fernlea": 3, "Upper Corvale": 2}),
    ("004", "Dunmere", 0.09, {"Perrin": 3, "Wick": 2, "Saltby": 2, "Greyholm": 2}),
)

ETHNICITIES = ("white", "hispanic", "black", "asian", "other")
#: Composition of each county: more mixed in the city than in the country.
ETHNICITY_BY_COUNTY = (
    (0.52, 0.18, 0.15, 0.10, 0.05),
    (0.63, 0.15, 0.11, 0.07, 0.04),
    (0.77, 0.10, 0.05, 0.04, 0.04),
    (0.84, 0.06, 0.03, 0.03, 0.04),
)

RARE_TRADE = "glassblower"
# fmt: off
#: Occupations by group: name to relative frequency among residents of working age.
OCCUPATIONS: Mapping[str, Mapping[str, float]] = {
    "health and care": {"nurse": 5.0, "care assistant": 4.5, "physician": 1.2, "pharmacist": 0.5},
    "education": {"teacher": 4.6, "childcare worker": 2.2, "lecturer": 0.6},
    "office and law": {"clerk": 9.0, "accountant": 2.5, "lawyer": 0.8, "manager": 6.0},
    "technical": {"engineer": 3.4, "software developer": 2.8, "laboratory technician": 1.0},
    "trade and hospitality": {"sales assistant": 8.0, "cook": 3.2, "waiter": 3.0, "hairdresser": 1.1},
    "crafts": {"electrician": 2.0, "carpenter": 1.8, "mechanic": 2.2, "plumber": 1.2, RARE_TRADE: 0.0},
    "transport and industry": {"driver": 4.6, "warehouse worker": 5.0, "machine operator": 4.2, "cleaner": 4.4},
    "land and public safety": {"farmer": 1.2, "gardener": 0.9, "police officer": 0.9, "firefighter": 0.3},
    "not employed": {"homemaker": 4.5, "unemployed": 4.0, "student": 0.0, "pupil": 0.0, "child": 0.0, "retired": 0.0},
}
# fmt: on
SECTORS = {
    "services": (
        "health and care",
        "education",
        "office and law",
        "technical",
        "trade and hospitality",
    ),
    "production": ("crafts", "transport and industry", "land and public safety"),
    "none": ("not employed",),
}


@dataclass(frozen=True)
class Illness:
    """How often, at what age, for whom, where, how long and at what price a diagnosis occurs.

    ``rate`` is relative; around the age ``peak`` it falls off as a normal curve of width ``spread``.
    ``female`` multiplies the rate for women, ``male`` for men. ``days`` is the median stay, ``daily``
    the price of a day and ``fixed`` that of the operation, in whole currency units.
    """

    code: str
    ward: str
    rate: float
    peak: float
    spread: float
    female: float
    male: float
    days: float
    daily: int
    fixed: int


ILLNESSES = (
    Illness("Z38", "neonatal", 60.0, 0, 0.35, 1.0, 1.0, 2.4, 650, 300),
    Illness("J21", "paediatrics", 7.0, 1, 1.1, 1.0, 1.3, 3.0, 820, 200),
    Illness("J45", "paediatrics", 1.5, 8, 6, 0.9, 1.2, 2.6, 780, 150),
    Illness("A09", "medicine", 1.1, 30, 60, 1.0, 1.0, 2.2, 690, 150),
    Illness("K35", "surgery", 2.4, 18, 14, 0.9, 1.1, 2.9, 880, 4200),
    Illness("S52", "orthopaedics", 1.6, 14, 16, 0.8, 1.2, 1.8, 800, 3100),
    Illness("O80", "obstetrics", 11.0, 30, 5.5, 1.0, 0.0, 2.3, 790, 1900),
    Illness("O82", "obstetrics", 4.2, 32, 5.5, 1.0, 0.0, 3.6, 840, 4700),
    Illness("F32", "psychiatry", 1.5, 42, 17, 1.3, 0.8, 17.0, 410, 0),
    Illness("F20", "psychiatry", 0.6, 34, 12, 0.8, 1.2, 24.0, 430, 0),
    Illness("F10", "psychiatry", 1.5, 48, 12, 0.5, 1.6, 7.0, 420, 0),
    Illness("B20", "infectious disease", 0.35, 41, 10, 0.5, 1.5, 8.5, 930, 400),
    Illness("G40", "neurology", 0.6, 40, 40, 1.0, 1.0, 3.4, 860, 250),
    Illness("E11", "medicine", 1.2, 66, 14, 0.9, 1.1, 5.6, 680, 200),
    Illness("K80", "surgery", 1.9, 55, 17, 1.4, 0.7, 3.4, 850, 5100),
    Illness("N39", "medicine", 1.6, 78, 18, 1.6, 0.7, 4.2, 670, 100),
    Illness("C50", "oncology", 1.7, 62, 13, 1.0, 0.01, 4.1, 1050, 7200),
    Illness("C61", "oncology", 1.8, 69, 8, 0.0, 1.0, 4.5, 1040, 8100),
    Illness("C34", "oncology", 1.0, 68, 10, 0.8, 1.2, 7.8, 1120, 5600),
    Illness("I20", "cardiology", 1.3, 68, 12, 0.7, 1.3, 2.9, 990, 4400),
    Illness("I21", "cardiology", 1.7, 70, 13, 0.6, 1.4, 5.7, 1350, 9800),
    Illness("I48", "cardiology", 1.8, 74, 11, 0.9, 1.1, 2.8, 960, 2100),
    Illness("I50", "cardiology", 2.9, 82, 10, 1.0, 1.0, 8.6, 760, 300),
    Illness("I63", "neurology", 2.0, 76, 12, 0.9, 1.1, 8.9, 990, 1500),
    Illness("J18", "medicine", 2.2, 76, 24, 0.9, 1.1, 7.2, 740, 200),
    Illness("J44", "medicine", 1.7, 72, 10, 0.9, 1.1, 6.8, 730, 150),
    Illness("H25", "ophthalmology", 1.1, 75, 8, 1.1, 0.9, 1.1, 600, 1700),
    Illness("M16", "orthopaedics", 2.3, 70, 10, 1.1, 0.9, 6.2, 820, 9400),
    Illness("S72", "orthopaedics", 2.6, 84, 8, 1.6, 0.7, 11.5, 830, 8700),
)
#: No ordinary bill reaches this; every planted one exceeds the second number.
COST_LIMIT, OUTLIER_COST = 150_000, 250_000
MISSING_OCCUPATION = 0.04
RARE_TRADES, CENTENARIANS = 3, 4


# -- the population and its stays --------------------------------------------------------------


@dataclass(frozen=True)
class Population:
    """The residents: codes of sex, ZIP and ethnicity, dates of birth, names."""

    sex: Ints
    birth: Days
    zip: Ints
    ethnicity: Ints
    name: pa.Array

    def ages(self) -> Ints:
        """Return completed years at the end of the year."""
        years: Ints = self.birth.astype("datetime64[Y]").astype(np.int64) + 1970
        return YEAR - years

    def code_triple(self) -> Ints:
        """Return sex, birth date and ZIP as one number each."""
        day: Ints = self.birth.astype(np.int64)
        triple: Ints = ((day - day.min()) * len(ZIPS) + self.zip) * 2 + self.sex
        return triple


@dataclass(frozen=True)
class Stays:
    """The stays: positions of the patients in the population, and what happened to them."""

    resident: Ints
    occupation: Ints
    admission: Days
    illness: Ints
    days: Ints
    cost: Ints


def draw(n: int, seed: int) -> tuple[Population, Stays]:
    """Draw the town and its hospital; each part has its own stream of random numbers."""
    if n < SMALLEST:
        raise InputError(f"the hospital example needs at least {SMALLEST} patients (got {n})")
    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(6)]
    population = draw_population(math.ceil(n * RESIDENTS_PER_PATIENT), streams[0], streams[1])
    # Patients are drawn without replacement, the chance of a stay depending on age: the n smallest of exponential waiting
    # times are a draw with these chances.
    chance = np.interp(population.ages(), ADMISSION_AGES, ADMISSION)
    waiting = streams[2].exponential(size=len(chance)) / chance
    resident = np.argsort(waiting, kind="stable")[:n].astype(np.int64)
    population = with_centenarians(population, resident, streams[3])
    return population, draw_stays(population, resident, streams[4], streams[5])


def draw_population(size: int, rng: np.random.Generator, names: np.random.Generator) -> Population:
    """Draw residents from the age pyramid, the ZIP codes and the composition of the counties."""
    ages = np.arange(OLDEST + 1)
    weights = np.stack([np.interp(ages, PYRAMID_AGES, PYRAMID[s]) for s in SEXES])
    sex, age = np.divmod(
        draw_columns(rng, weights.ravel()[None], np.zeros(size, dtype=np.int64)), len(ages)
    )
    first = (YEAR - age - 1970).astype("datetime64[Y]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    birth = first.astype("datetime64[D]") + (rng.random(size) * length).astype(np.int64)
    zips = draw_columns(rng, zip_weights()[None], np.zeros(size, dtype=np.int64))
    ethnicity = draw_columns(rng, np.array(ETHNICITY_BY_COUNTY), COUNTY_OF_ZIP[zips])
    return Population(sex, birth, zips, ethnicity, draw_names(names, size))


def with_centenarians(
    population: Population, resident: Ints, rng: np.random.Generator
) -> Population:
    """Give a few patients a birth date a hundred years ago, each in a year of its own."""
    old = rng.choice(resident, CENTENARIANS, replace=False)
    birth = population.birth.copy()
    years = np.array([YEAR - 105 + i for i in range(CENTENARIANS)])
    birth[old] = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]") + rng.integers(
        0, 365, CENTENARIANS
    )
    return Population(population.sex, birth, population.zip, population.ethnicity, population.name)


def draw_stays(
    population: Population, resident: Ints, rng: np.random.Generator, work: np.random.Generator
) -> Stays:
    """Draw diagnosis, dates, length and cost of each stay, and the patient's occupation."""
    n = len(resident)
    age, sex = population.ages()[resident], population.sex[resident]
    illness = draw_columns(rng, illness_weights(), sex * AGES + age)
    born = np.array([i.code == "Z38" for i in ILLNESSES])[illness]
    first, last = np.datetime64(f"{YEAR}-01-01"), np.datetime64(f"{YEAR}-12-31")
    earliest = np.maximum(population.birth[resident], first)
    wait = (rng.random(n) * ((last - earliest).astype(np.int64) + 1)).astype(np.int64)
    admission = np.where(born, earliest, earliest + wait)
    median = np.array([i.days for i in ILLNESSES])[illness] * (1 + np.maximum(age - 65, 0) / 60)
    days = np.maximum(np.rint(median * rng.lognormal(0, 0.45, n)), 1).astype(np.int64)
    daily, fixed = (
        np.array([getattr(i, f) for i in ILLNESSES])[illness] for f in ("daily", "fixed")
    )
    ordinary = (daily * days + fixed) * rng.lognormal(0, 0.18, n)
    cost = np.minimum(np.rint(ordinary), COST_LIMIT - 1).astype(np.int64)
    costly = rng.choice(n, n_outliers(n), replace=False)
    cost[costly] = OUTLIER_COST + rng.integers(1, 200_000, len(costly))
    jobs = draw_occupations(age, work)
    # Numbers are given on arrival: the order of the file tells nothing but the date of admission.
    order = np.argsort(admission, kind="stable")
    return Stays(
        resident[order], jobs[order], admission[order], illness[order], days[order], cost[order]
    )


def draw_occupations(age: Ints, rng: np.random.Generator) -> Ints:
    """Draw occupations by age; a few trades are rare and a few answers are missing (-1)."""
    shares = np.array([share for group in OCCUPATIONS.values() for share in group.values()])
    job = draw_columns(rng, shares[None], np.zeros(len(age), dtype=np.int64))
    studies = rng.random(len(age)) < np.interp(age, (18, 24, 30), (0.75, 0.25, 0.0))
    job = np.where((age < 30) & studies, JOB["student"], job)
    job = np.where(age < 18, JOB["pupil"], job)
    job = np.where(age < 6, JOB["child"], job)
    job = np.where(age >= 66, JOB["retired"], job)
    # The trade goes to those nearest to 45, of whom even a small file has enough.
    middle = np.argsort(np.abs(age - 45) + rng.random(len(age)), kind="stable")
    job[middle[:RARE_TRADES]] = JOB[RARE_TRADE]
    others = np.flatnonzero(job != JOB[RARE_TRADE])
    job[rng.choice(others, n_missing(len(age)), replace=False)] = -1
    return job


def draw_columns(rng: np.random.Generator, weights: Floats, row: Ints) -> Ints:
    """Draw, for each record, a column of the weight matrix with the chances of its row."""
    heaped = np.cumsum(weights, axis=1)
    shares = heaped / heaped[:, -1:]
    # One sorted list serves all rows: row i occupies the interval (i, i + 1].
    ladder = (shares + np.arange(len(shares))[:, None]).ravel()
    found = np.searchsorted(ladder, rng.random(len(row)) + row, side="right")
    columns = weights.shape[1]
    # The sum may have been rounded up into the next row.
    inside: Ints = np.minimum(found - row * columns, columns - 1)
    return inside


AGES = 111


def illness_weights() -> Floats:
    """Return the relative frequency of each diagnosis (column) by sex and age (row)."""
    age = np.arange(AGES)
    return np.stack(
        [
            [
                i.rate
                * (i.female if s == "F" else i.male)
                * math.exp(-(((a - i.peak) / i.spread) ** 2) / 2)
                for i in ILLNESSES
            ]
            for s in SEXES
            for a in age
        ]
    )


def n_outliers(n: int) -> int:
    """Return how many extraordinary bills are planted."""
    return max(1, n // 2_000)


def n_missing(n: int) -> int:
    """Return how many occupations are missing."""
    return round(MISSING_OCCUPATION * n)


# -- codes and names ---------------------------------------------------------------------------


def all_zips() -> list[tuple[str, str, int]]:
    """Return every ZIP code with its town and the position of its county."""
    return [
        (f"{code}{2 * place + 1}{i + 1}", town, county)
        for county, (code, _, _, towns) in enumerate(COUNTIES)
        for place, (town, many) in enumerate(towns.items())
        for i in range(many)
    ]


ZIPS = tuple(code for code, _, _ in all_zips())
COUNTY_OF_ZIP = np.array([county for _, _, county in all_zips()])
OCCUPATION_NAMES = tuple(job for group in OCCUPATIONS.values() for job in group)
JOB = {job: i for i, job in enumerate(OCCUPATION_NAMES)}


def zip_weights() -> Floats:
    """Return each ZIP's share of the population: Zipf's law within a county."""
    weights = np.zeros(len(ZIPS))
    for c, county in enumerate(COUNTIES):
        inside = np.flatnonzero(c == COUNTY_OF_ZIP)
        sizes = 1 / np.arange(1, len(inside) + 1) ** 0.9
        weights[inside] = county[2] * sizes / sizes.sum()
    return weights


def occupation_paths() -> list[tuple[str, ...]]:
    """Return each occupation's path: occupation, group, sector, top."""
    return [
        (job, group, sector, TOP)
        for sector, groups in SECTORS.items()
        for group in groups
        for job in OCCUPATIONS[group]
    ]


def region_paths() -> list[tuple[str, ...]]:
    """Return each ZIP's path: ZIP, town, county, city or country, top."""
    kind = ("city", "city", "country", "country")
    return [(code, town, COUNTIES[c][1], kind[c], TOP) for code, town, c in all_zips()]


ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "br",
    "dr",
    "kl",
    "tr",
    "st",
)
VOWELS = ("a", "e", "i", "o", "u", "ae", "ei", "ou")
CODAS = ("la", "lin", "mar", "na", "ris", "san", "ten", "vo", "wen", "zan", "bek", "dor")
NAME_ENDINGS = ("ley", "mund", "rik", "stad", "ven", "wick")
GIVEN = tuple(f"{a}{b}{c}".capitalize() for a in ONSETS for b in VOWELS for c in CODAS)


def draw_names(rng: np.random.Generator, size: int) -> pa.Array:
    """Return names put together from syllables, some common and some rare; they belong to nobody."""
    family = rng.permutation([name + ending for name in GIVEN for ending in NAME_ENDINGS])
    pools = (rng.permutation(GIVEN), family)
    ranks = [(rng.beta(1, 3, size) * len(pool)).astype(np.int64) for pool in pools]
    return pc.binary_join_element_wise(
        *(labels(p, r) for p, r in zip(pools, ranks, strict=True)), " "
    )


# -- tables ------------------------------------------------------------------------------------


def labels(names: Iterable[str], codes: Ints) -> pa.Array:
    """Return the names at these positions; -1 is a missing value."""
    return pa.array(list(names), type=pa.string()).take(pa.array(codes, mask=codes < 0))


def iso(days: Days) -> pa.Array:
    """Return dates as text, year first."""
    return pa.array(days).cast(pa.string())


def patient_table(population: Population, stays: Stays) -> pa.Table:
    """Return the stays as a table, one row per patient, in order of admission."""
    who = stays.resident
    # Given at a first contact long ago, so that a number does not tell the day of admission.
    given = np.random.default_rng(len(who)).permutation(len(who))
    number = pa.array(given + 1).cast(pa.string())
    return pa.table(
        {
            "patient_id": pc.binary_join_element_wise("P", pc.utf8_lpad(number, 7, "0"), ""),
            "name": population.name.take(pa.array(who)),
            "sex": labels(SEXES, population.sex[who]),
            "birth": iso(population.birth[who]),
            "zip": labels(ZIPS, population.zip[who]),
            "ethnicity": labels(ETHNICITIES, population.ethnicity[who]),
            "occupation": labels(OCCUPATION_NAMES, stays.occupation),
            "admission": iso(stays.admission),
            "ward": labels((i.ward for i in ILLNESSES), stays.illness),
            "diagnosis": labels((i.code for i in ILLNESSES), stays.illness),
            "length_of_stay": stays.days,
            "cost": stays.cost,
        }
    )


def register_table(population: Population) -> pa.Table:
    """Return the population register as a table."""
    return pa.table(
        {
            "name": population.name,
            "sex": labels(SEXES, population.sex),
            "birth": iso(population.birth),
            "zip": labels(ZIPS, population.zip),
        }
    )
