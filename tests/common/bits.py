"""Runs Specs and prints the fingerprint of what each gives; started in processes of their own by test_same_bits."""

import functools
import json
import sys
import warnings

import numpy as np

import tacit
from common.cases import build, fitting, people, table_method_kinds
from tacit.data.fingerprint import fingerprint, table_fingerprint
from tacit.errors import SdcError
from tacit.registry import specs
from tacit.spec import Method

#: Besides every example: what the methods do with several columns that depend on each other.
NUMBERS = ["a", "b", "c"]
FURTHER = {
    "correlated_noise": [
        {"columns": NUMBERS, "lambda_squared": 0.1, **more}
        for more in ({}, {"exact": True}, {"distribution": "uniform"})
    ],
    "romm": [{"columns": NUMBERS}],
    "shuffle": [{"columns": ["a", "b"]}],
    "ipso": [{"columns": ["a", "b"]}],
    "latin_hypercube": [{"columns": NUMBERS}],
    "add_noise": [{"columns": NUMBERS, "relative": 0.1}],
    "multiplicative_noise": [
        {"columns": ["d"], "sd": 0.1},
        {"columns": ["d"], "sd": 0.1, "distribution": "truncated"},
    ],
    "noise_before_tabulation": [{"columns": NUMBERS, "company": "e", "shape": "normal"}],
    "restoring_noise": [{"columns": NUMBERS}],
    "outlier_noise": [
        {"columns": NUMBERS, "detector": d} for d in ("mahalanobis", "influence", "univariate")
    ],
    "sort_by_component": [{"columns": NUMBERS, "k": 3}],
    "sort_by_robust_component": [{"columns": NUMBERS, "k": 3}],
    "sort_by_projection_pursuit": [{"columns": NUMBERS, "k": 3}],
    "robust_distance_groups": [{"columns": NUMBERS, "k": 3}],
    "influence_groups": [{"columns": NUMBERS, "k": 3}],
    "mdav": [{"columns": NUMBERS, "k": 3}],
    "synthesise": [
        *({"columns": NUMBERS, "method": m} for m in ("linear", "spline", "copula", "cart")),
        {"columns": ["e", "f"], "methods": {"e": "multinomial", "f": "count"}},
    ],
    "simulate_bounded": [{"columns": NUMBERS, "draw": d} for d in ("clip", "truncated")],
}


def numbers(engine="duckdb"):
    """Columns that depend on each other."""
    rng = np.random.default_rng(5)
    z = rng.standard_normal((300, 4))
    columns = {
        "a": 100 * z[:, 0] + 1000,
        "b": 30 * z[:, 0] + 5 * z[:, 1] + 0.1,
        "c": 3 * z[:, 1] - 2 * z[:, 2] + 0.3 * z[:, 3],
        "d": (z[:, 3] ** 2 + 1) * 1000 / 3,
        "e": np.array(["x", "y", "z"])[np.digitize(z[:, 1], [-0.5, 0.7])],
        "f": np.rint(np.abs(z[:, 2]) * 9).astype(int),
    }
    return tacit.read({n: v.tolist() for n, v in columns.items()}, engine=engine)


def outcomes(kinds, engine="duckdb"):
    """The fingerprint of each result, or the class of the error."""
    told = {}
    for kind in kinds:
        if kind in table_method_kinds():
            told[kind] = attempt(build(kind), functools.partial(fitting, kind), table_fingerprint)
            continue
        told[kind] = attempt(build(kind), lambda: people(engine=engine), fingerprint)
        for i, given in enumerate(FURTHER.get(kind, ())):
            spec = specs()[kind](**given)
            told[f"{kind} {i}"] = attempt(spec, lambda: numbers(engine), fingerprint)
    return told


def attempt(spec, data, printed):
    """The fingerprint of what a Spec gives; a refusal has to be the same everywhere as well."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return printed(spec.apply(data(), seed=3))
    except SdcError as error:
        return type(error).__name__


def all_kinds():
    """Every method of records or tables."""
    return [
        k
        for k, s in specs().items()
        if issubclass(s, Method) and {tacit.Microdata, tacit.Table} & set(s.data_types())
    ]


if __name__ == "__main__":
    engine, *asked = sys.argv[1:]
    print(json.dumps(outcomes(asked or all_kinds(), engine)))
