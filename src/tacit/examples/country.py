"""An invented census: households and persons in three levels of geography, drawn from a seed.

A country of regions, districts and enumeration areas of very unequal size; households of one to many, with a head, a
partner, children and others; age, sex, education, occupation, religion and income that depend on each other and on the place.
Nobody is described. All work is on whole arrays, so that half a million persons take a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.examples.plans import write_plan
from tacit.examples.town import labels

#: The year of the census, and the country of its code.
YEAR, COUNTRY = 2021, "XA"
SMALLEST = 1_000
#: Districts in a region, and households in an enumeration area on average.
DISTRICTS, AREA = 5, 110
#: Shares of household sizes 1, 2, ...
SIZES = np.array((0.17, 0.24, 0.20, 0.17, 0.10, 0.06, 0.03, 0.015, 0.01, 0.005))
RELATIONS = ("head", "partner", "child", "other")
EDUCATION = ("none", "primary", "secondary", "university")
RELIGIONS = ("majority", "second", "third", "none", "small community")
ORIGINS = ("XA", "XB", "XC", "XD", "XE", "XF")

ROLES: Mapping[str, object] = {
    "identifiers": ["name", "address"],
    "keys": ["region", "district", "age", "sex", "relation", "education", "birthplace"],
    "sensitive": ["religion"],
    "household": "household",
}


def draw_places(households: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Draw enumeration areas, few large and many small: region, district within it, and households of each."""
    areas = max(round(households / AREA), 15)
    regions = int(np.clip(areas // 350, 3, 20))
    districts = regions * DISTRICTS
    share = rng.dirichlet(np.full(districts, 1.5))
    counts = 1 + rng.multinomial(max(areas - districts, 0), share)
    district = np.repeat(np.arange(districts), counts)
    size = rng.gamma(9.0, 1.0, len(district))
    homes = 1 + rng.multinomial(households - len(district), size / size.sum())
    return district // DISTRICTS, district % DISTRICTS, homes.astype(np.int64)


def census_table(n: int = 500_000, seed: int = 1) -> pa.Table:
    """Return the census as a table of persons in enumeration order."""
    if n < SMALLEST:
        raise InputError(f"a census of at least {SMALLEST:,} persons is needed")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(31,)))
    size = draw_sizes(n, rng)
    homes = len(size)
    region, district, households = draw_places(homes, rng)
    area_of = np.repeat(np.arange(len(households)), households)
    urban = rng.beta(2, 2, int(region.max() + 1))[region[area_of]]
    home = np.repeat(np.arange(homes), size)
    first = np.cumsum(size) - size
    place_in_home = np.arange(len(home)) - first[home]
    relation = draw_relations(place_in_home, size[home], rng)
    age, sex = draw_ages(home, relation, first, rng)
    education = draw_education(age, urban[home], rng)
    occupation = draw_occupations(age, education, rng)
    birthplace = np.where(
        rng.random(homes)[home] < 0.9, 0, rng.integers(1, len(ORIGINS), homes)[home]
    )
    religion = rng.choice(len(RELIGIONS), homes, p=(0.62, 0.2, 0.08, 0.09, 0.01))[home]
    income = draw_incomes(age, education, urban[home], rng)
    area = area_of[home]
    # Region and number, such as 0307.
    known, of = np.unique((region + 1) * 100 + district + 1, return_inverse=True)
    return pa.table(
        {
            "region": labels([f"R{i + 1:02d}" for i in range(int(region.max()) + 1)], region[area]),
            "district": labels([f"{c:04d}" for c in known], of.ravel()[area]),
            "area": pa.array(1 + area),
            "household": pa.array(1_000_001 + home),
            "person": pa.array(1 + place_in_home),
            "name": invented_names(home, sex, rng),
            "address": pc.binary_join_element_wise("house", pa.array(home + 1).cast(pa.string()), "in area", pa.array(area + 1).cast(pa.string()), " "),
            "relation": labels(RELATIONS, relation),
            "sex": labels(("female", "male"), sex),
            "age": pa.array(age),
            "birthplace": labels(ORIGINS, birthplace),
            "education": labels(EDUCATION, education),
            "occupation": occupation,
            "religion": labels(RELIGIONS, religion),
            "income": income,
        }
    )  # fmt: skip


def draw_sizes(n: int, rng: np.random.Generator) -> Ints:
    """Return sizes of households that n persons fill exactly; the last may be cut short."""
    chance = SIZES / SIZES.sum()
    mean = float((chance * np.arange(1, len(SIZES) + 1)).sum())
    size = 1 + rng.choice(len(SIZES), int(n / mean + 8 * np.sqrt(n)), p=chance)
    passed = np.cumsum(size)
    last = int(np.searchsorted(passed, n))
    size[last] -= passed[last] - n
    return size[: last + 1].astype(np.int64)


def invented_names(home: Ints, sex: Ints, rng: np.random.Generator) -> pa.Array:
    """Return names: one family name a household."""
    given = ("Ada", "Mia", "Ira", "Una", "Noa"), ("Ben", "Leo", "Tom", "Ivo", "Max")
    family = (
        "Alder",
        "Birch",
        "Cedar",
        "Elm",
        "Hazel",
        "Linden",
        "Maple",
        "Rowan",
        "Sorrel",
        "Yew",
    )
    full = [f"{g} {f}" for group in given for g in group for f in family]
    own = rng.integers(0, 10, int(home.max()) + 1)[home]
    return labels(full, sex * 50 + rng.integers(0, 5, len(home)) * 10 + own)


def draw_relations(place: Ints, size: Ints, rng: np.random.Generator) -> Ints:
    """Return head, partner, child or other."""
    partner = (place == 1) & (rng.random(len(place)) < 0.8)
    child = (place >= 1) & ~partner & (rng.random(len(place)) < 0.75)
    return np.select([place == 0, partner & (size > 1), child], [0, 1, 2], 3).astype(np.int64)


def draw_ages(
    home: Ints, relation: Ints, first: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return ages that fit the relation to the head, and sexes."""
    heads = np.clip(18 + rng.gamma(4.0, 8.5, len(first)), 18, 99)
    head = heads[home]
    n = len(home)
    partner = np.clip(head + rng.normal(-1, 5, n), 18, 99)
    child = np.clip(head - rng.normal(28, 6, n), 0, 70)
    other = rng.uniform(0, 95, n)
    age = np.select([relation == 0, relation == 1, relation == 2], [head, partner, child], other)
    of_head = rng.integers(0, 2, len(first))[home]
    own = rng.integers(0, 2, n)
    sex = np.select([relation == 0, relation == 1], [of_head, 1 - of_head], own)
    return age.astype(np.int64), sex.astype(np.int64)


def draw_education(age: Ints, urban: Floats, rng: np.random.Generator) -> Ints:
    """Return the highest level: more in towns and among the young, none below school age."""
    drive = rng.normal(size=len(age)) + 1.2 * urban - age / 70
    level = np.digitize(drive, (-1.4, 0.0, 1.3))
    most = np.digitize(age, (6, 12, 20))
    return np.minimum(level, most).astype(np.int64)


def draw_occupations(age: Ints, education: Ints, rng: np.random.Generator) -> pa.Array:
    """Return codes of four digits for those of working age who work; the first is what education opens."""
    n = len(age)
    works = (age >= 16) & (age < 70) & (rng.random(n) < 0.68)
    major = np.clip(9 - 2 * education + rng.integers(-1, 2, n), 0, 9)
    tail = np.minimum(rng.geometric(0.02, n), 999)
    code = major * 1000 + tail
    known, of = np.unique(np.where(works, code, 0), return_inverse=True)
    names = pa.array([f"{c:04d}" for c in known], pa.string())
    return names.take(pa.array(of.ravel(), mask=~works))


def draw_incomes(age: Ints, education: Ints, urban: Floats, rng: np.random.Generator) -> pa.Array:
    """Return yearly incomes of adults in whole tens."""
    base = 8.6 + 0.35 * education + 0.5 * urban + 0.01 * np.clip(age - 20, 0, 30)
    amount = np.exp(base + rng.normal(0, 0.6, len(age)))
    return pa.array((amount // 10 * 10).astype(np.int64), mask=age < 16)


def population_table(table: pa.Table) -> pa.Table:
    """Return inhabitants by region and district."""
    counted = table.group_by(["region", "district"]).aggregate([([], "count_all")])
    counted = counted.sort_by([("region", "ascending"), ("district", "ascending")])
    return counted.select(["region", "district", "count_all"]).rename_columns(
        ["region", "district", "population"]
    )


def write_census(folder: str | Path, n: int = 500_000, seed: int = 1) -> Path:
    """Write the example as files and return the path of its plan.

    The folder, made where needed, receives ``census.parquet``, ``population.csv`` (inhabitants of the districts),
    the control profile ``profile.yaml`` and ``census.yaml``, the plan that follows from it.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    table = census_table(n, seed)
    pq.write_table(table, target / "census.parquet", row_group_size=1 << 18)
    pa_csv.write_csv(population_table(table), target / "population.csv")
    # 20,000 inhabitants, or fewer where the whole country has few.
    threshold = {"THRESHOLD": str(20_000 if n >= 400_000 else max(n // 25, 100))}
    write_plan(target, "profile.yaml", threshold)
    write_plan(target, "application.yaml")
    return write_plan(target, "census.yaml", threshold)
