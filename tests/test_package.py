"""The package as a whole: what importing costs, and what it promises."""

import subprocess
import sys

import tacit

HEAVY = {
    "duckdb",
    "pyspark",
    "numba",
    "scipy",
    "highspy",
    "vl_convert",
    "rich",
    "cyclopts",
    "pandas",
    "polars",
    "jinja2",
    "pyarrow",
    "numpy",
    "pydantic",
}


def test_import_pulls_in_nothing_heavy():
    code = "import sys, tacit; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert not loaded & HEAVY


def test_what_is_promised_exists():
    for name in tacit.__all__:
        assert getattr(tacit, name) is not None, name
    assert "Datafly" in dir(tacit)


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(tacit, "NoSuchMethod")
    assert not hasattr(tacit, "no_such_thing")
