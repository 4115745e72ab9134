"""A synthetic population: eight keys of mixed types with realistic dependence, written as Parquet."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = [
    "region",
    "sex",
    "age",
    "marital",
    "education",
    "occupation",
    "nationality",
    "household_size",
]
CHUNK = 1_000_000


def population(n, rng):
    """Return n persons with eight dependent keys as an Arrow table."""
    age = np.clip(rng.gamma(4.0, 10.5, n), 0, 99).astype(np.int16)
    adult = age >= 18
    works = adult & (age < 66)
    marital = np.where(adult, np.clip(rng.normal(age / 22, 0.6), 0, 4), 0).astype(np.int16)
    school = np.clip(rng.normal(3.5 - (age > 65), 1.2), 0, 7)
    education = np.where(adult, school, age // 7).astype(np.int16)
    job = np.clip(education * 5 + rng.normal(2, 3, n), 1, 39)
    foreign = rng.random(n) < 0.1
    household = np.clip(rng.poisson(np.where(works & (marital > 0), 1.5, 0.6)), 0, 6)
    return pa.table(
        {
            "region": labels("R", 100, rng.beta(1.2, 2.5, n) * 100),
            "sex": labels("s", 2, rng.random(n) < 0.51),
            "age": pa.array(age),
            "marital": labels("m", 5, marital),
            "education": pa.array(education),
            "occupation": labels("occ", 40, np.where(works, job, 0)),
            "nationality": labels(
                "N", 20, np.where(foreign, np.minimum(rng.geometric(0.25, n), 19), 0)
            ),
            "household_size": pa.array(household.astype(np.int16) + np.int16(1)),
            "disease": labels("D", 30, np.minimum(rng.zipf(1.6, n) + age // 20, 29)),
            "income": pa.array(np.round(rng.lognormal(10, 0.6, n), 2)),
            "weight": pa.array(rng.uniform(1, 30, n)),
        }
    )


def labels(prefix, size, codes):
    """Return codes as text."""
    names = pa.array([f"{prefix}{i:03d}" for i in range(size)])
    return names.take(pa.array(codes.astype(np.int16)))


def write_population(path: Path, n: int, seed: int = 1) -> None:
    """Write n persons, a chunk at a time."""
    rng = np.random.default_rng(seed)
    writer = None
    for start in range(0, n, CHUNK):
        table = population(min(CHUNK, n - start), rng)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=131_072)
    if writer:
        writer.close()
