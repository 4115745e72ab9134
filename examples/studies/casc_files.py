"""The reference files of the CASC project, as studies use them: they lie among the test data of the source tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError

FOLDER = Path(__file__).parents[2] / "tests" / "fixtures" / "casc"


def read_numbers(name: str) -> Floats:
    """Return the records of Census, Tarragona or EIA; of EIA the ten columns of revenues and sales."""
    file = FOLDER / f"{name}.csv"
    if not file.is_file():
        raise InputError(f"this study needs {file.name} of the CASC project in tests/fixtures/casc")
    table = np.genfromtxt(file, delimiter=",", skip_header=1)
    return np.asarray(table[:, -10:] if name == "eia" else table, dtype=np.float64)


def standardise(x: Floats) -> Floats:
    """Return columns with mean 0 and spread 1."""
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0), dtype=np.float64)
