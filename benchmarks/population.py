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
    """Return n persons as an Arrow table."""
    age = np.minimum(rng.gamma(3.2, 13, n), 99).astype(np.int16)
    adult = age >= 16
    region = np.minimum(rng.zipf(1.35, n), 100)
    marital = np.where(adult, rng.choice(5, n, p=[0.32, 0.48, 0.1, 0.06, 0.04]), 0)
    education = np.where(adult, np.minimum(rng.poisson(3.2, n), 7), 0)
    occupation = np.where(adult & (age < 67), np.minimum(rng.zipf(1.4, n) + education, 39), 0)
    nationality = np.minimum(rng.zipf(2.2, n), 20)
    size = np.minimum(1 + rng.poisson(np.where(marital == 1, 1.9, 0.9)), 7)
    disease = np.minimum(rng.zipf(1.6, n) + age // 20, 30)
    return pa.table(
        {
            "region": pa.array(names("R", 100)).take(pa.array(region - 1)),
            "sex": pa.array(["female", "male"]).take(pa.array(rng.integers(0, 2, n))),
            "age": pa.array(age, pa.int64()),
            "marital": pa.array(["single", "married", "divorced", "widowed", "partner"]).take(
                pa.array(marital)
            ),
            "education": pa.array(education, pa.int64()),
            "occupation": pa.array(names("occupation ", 40)).take(pa.array(occupation)),
            "nationality": pa.array(names("N", 20)).take(pa.array(nationality - 1)),
            "household_size": pa.array(size, pa.int64()),
            "disease": pa.array(names("D", 30)).take(pa.array(disease - 1)),
            "income": pa.array(np.round(rng.lognormal(10, 0.6, n), 2)),
            "weight": pa.array(np.round(rng.uniform(5, 50, n), 3)),
        }
    )


def names(prefix, count):
    return [f"{prefix}{i:02d}" for i in range(count)]


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
