"""An example that behaves like the real thing: a town hospital, its patients and its population register.

Everything is drawn from a seed, so nobody is described. The population comes first: an age pyramid,
fifty-six ZIP codes of very unequal size, invented names. The hospital then draws its patients from
the population, so that the register in which an intruder would look them up holds every one of them.

A few things are planted, and :func:`hospital_facts` says what they are: people of a hundred years and
more, a rare trade, extraordinary bills, missing answers. They are counted from the arrays as drawn,
without any of tacit's own counting, and so serve as known answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv

from tacit.data.cells.dimension import Dimension
from tacit.data.corpus import Corpus
from tacit.data.hierarchies.dates import dates
from tacit.data.hierarchies.rules import digits, flat
from tacit.data.hierarchy import Hierarchy
from tacit.data.microdata import Microdata
from tacit.engine.base import Engine
from tacit.examples import country, town
from tacit.examples import firms as trade
from tacit.examples import letters as packed
from tacit.io.read import read
from tacit.public import publish

__all__ = [
    "HospitalFacts",
    "census",
    "firm_dimensions",
    "firms",
    "hospital",
    "hospital_facts",
    "hospital_hierarchies",
    "hospital_register",
    "letters",
    "write_hospital",
]

IDENTIFIERS = ("patient_id", "name")
KEYS = ("sex", "birth", "zip", "ethnicity")
SENSITIVE = ("diagnosis",)


def hospital(n: int = 25_000, seed: int = 1, engine: str | Engine = "duckdb") -> Microdata:
    """Return a year of hospital stays, one record per patient, with roles and hierarchies.

    Columns: patient_id, name, sex, birth, zip, ethnicity, occupation, admission, ward, diagnosis,
    length_of_stay, cost. Sex, birth date, ZIP and ethnicity are the keys, diagnosis is sensitive.

    Parameters
    ----------
    n
        Number of patients, at least 100.
    seed
        Equal seeds give equal data.
    engine
        Where the data should live.

    Returns
    -------
    Microdata
        What is planted in them is told by :func:`hospital_facts`.
    """
    return read(
        town.patient_table(*town.draw(n, seed)),
        identifiers=IDENTIFIERS,
        keys=KEYS,
        sensitive=SENSITIVE,
        hierarchies=hospital_hierarchies(),
        engine=engine,
    )


def hospital_register(n: int = 25_000, seed: int = 1, engine: str | Engine = "duckdb") -> Microdata:
    """Return the population register of the town whose hospital :func:`hospital` is.

    It holds name, sex, birth date and ZIP of every resident, patients included: what an intruder could
    buy. Use it with the measures that ask for a register.
    """
    population, _ = town.draw(n, seed)
    return read(
        town.register_table(population),
        identifiers="name",
        keys=("sex", "birth", "zip"),
        engine=engine,
    )


def hospital_hierarchies() -> dict[str, Any]:
    """Return the hierarchies of the hospital's keys and of its occupations."""
    return {
        "birth": dates("%Y-%m-%d"),
        "zip": digits(5, mask=[1, 2]),
        "sex": flat(),
        "ethnicity": flat(),
        "occupation": Hierarchy.from_paths(town.occupation_paths()),
    }


def firms(n: int = 2_600, seed: int = 1, engine: str | Engine = "duckdb") -> Microdata:
    """Return enterprises with region, activity, size, turnover and group, for tables; made up."""
    return trade.firms(n, seed, engine=engine)


def firm_dimensions() -> dict[str, Dimension]:
    """Return the trees of the enterprises' regions and activities."""
    return {"region": trade.region_tree(), "activity": trade.activity_tree()}


def letters(
    n: int = 1000,
    seed: int = 1,
    families: Sequence[str] | None = None,
    split: str | None = None,
    language: str | None = "en",
) -> Corpus:
    """Return letters and notes about people who do not exist, with what identifies them and what must stay marked.

    They were written beforehand, some of each family; the repository's ``examples/letters`` writes as many more as are
    wanted. Each document is called after its family and its number in it. A gold span names who is meant (``entity``:
    "patient", "family 1", "provider 2", "other 1") and what is special about the writing (``source``: "ordinary word",
    "all caps", "typo" and so on).

    Parameters
    ----------
    n
        Number of documents, taken from the families in turn.
    seed
        Which documents of each family are taken; equal seeds give equal documents.
    families
        Names of families, such as "discharge" or "nursing"; all of the language when not given.
    split
        "train", "calibrate" or "test": families that belong together. The wording of one split, and part of its
        names and medical words, occur in no other.
    language
        "en", "de", or None for both.
    """
    return packed.take_letters(n, seed, families, split, language)


def census(n: int = 500_000, seed: int = 1, engine: str | Engine = "duckdb") -> Microdata:
    """Return a full-count census of ``n`` persons in enumeration order, with roles.

    Columns: region, district, area, household, person, name, address, relation, sex, age, birthplace, education,
    occupation, religion, income. Age, sex, relation to the head, education, birthplace, region and district are the keys, religion is
    sensitive, and the household column tells who lives together.

    Parameters
    ----------
    n
        Number of persons, at least 1,000.
    seed
        Equal seeds give equal data.
    engine
        Where the data should live.
    """
    return read(country.census_table(n, seed), engine=engine, **country.ROLES)  # type: ignore[arg-type]


@dataclass(frozen=True)
class HospitalFacts:
    """What is true of the hospital data, counted without tacit.

    Attributes
    ----------
    records, residents
        Sizes of the file and of the register.
    uniques
        Records that are alone in the file on sex, birth date and ZIP.
    register_uniques
        Records whose sex, birth date and ZIP only one resident has: they are re-identified by name.
    classes
        Different combinations of sex, birth date and ZIP in the file.
    missing_occupation
        Records without an occupation.
    centenarians
        Records born before everyone else, a hundred years ago or more; each birth date occurs once.
    rare_trade
        Records with an occupation that nobody else has.
    outlier_costs
        Records whose cost is above 250,000; every other one is below 150,000.
    diagnoses
        Records by diagnosis.
    """

    records: int
    residents: int
    uniques: int
    register_uniques: int
    classes: int
    missing_occupation: int
    centenarians: int
    rare_trade: int
    outlier_costs: int
    diagnoses: Mapping[str, int]


def hospital_facts(n: int = 25_000, seed: int = 1) -> HospitalFacts:
    """Return the known answers for the data of the same ``n`` and ``seed``."""
    population, stays = town.draw(n, seed)
    everyone = population.code_triple()
    theirs = everyone[stays.resident]
    _, inverse, sizes = np.unique(theirs, return_inverse=True, return_counts=True)
    combinations, residents = np.unique(everyone, return_counts=True)
    in_register = residents[np.searchsorted(combinations, theirs)]
    counts = np.bincount(stays.illness, minlength=len(town.ILLNESSES))
    return HospitalFacts(
        records=n,
        residents=len(population.sex),
        uniques=int(np.count_nonzero(sizes[inverse] == 1)),
        register_uniques=int(np.count_nonzero(in_register == 1)),
        classes=len(sizes),
        missing_occupation=town.n_missing(n),
        centenarians=town.CENTENARIANS,
        rare_trade=town.RARE_TRADES,
        outlier_costs=town.n_outliers(n),
        diagnoses={i.code: int(c) for i, c in zip(town.ILLNESSES, counts, strict=True)},
    )


def write_hospital(folder: str | Path, n: int = 25_000, seed: int = 1) -> Path:
    """Write the example as files and return the path of its plan.

    The folder, made where needed, receives ``hospital.csv``, ``register.csv`` (the population), the
    hierarchies ``occupation.csv`` and ``region.csv`` (ZIP to town, county and country: another way to
    generalise it than by digits), and two plans: ``hospital.yaml``, which is returned, and
    ``hospital-strict.yaml``, which defends against more intruders.
    """
    from tacit.examples.plans import write_plan

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    population, stays = town.draw(n, seed)
    pa_csv.write_csv(town.patient_table(population, stays), target / "hospital.csv")
    pa_csv.write_csv(town.register_table(population), target / "register.csv")
    write_paths(town.occupation_paths(), target / "occupation.csv")
    write_paths(town.region_paths(), target / "region.csv")
    write_plan(target, "hospital-strict.yaml")
    return write_plan(target, "hospital.yaml")


# -- files ---------------------------------------------------------------------------------------


def write_paths(paths: Iterable[tuple[str, ...]], path: Path) -> None:
    """Write a hierarchy, one path per line, values first and the top last, separated by semicolons."""
    path.write_text("".join(";".join(p) + "\n" for p in paths), encoding="utf-8")


__getattr__, __dir__ = publish("examples", names=globals())
