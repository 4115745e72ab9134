"""Data and parameters with which every registered Spec is run."""

import functools

import tacit
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


def build(kind):
    """A Spec of that kind with its example parameters."""
    return specs()[kind](**specs()[kind].example)


@functools.cache
def method_kinds():
    return [k for k, s in specs().items() if issubclass(s, Method)]


@functools.cache
def measure_kinds():
    return [k for k, s in specs().items() if issubclass(s, Measure)]
