"""Shared fixtures: engines, small data, published examples."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import tacit

FIXTURES = Path(__file__).parent / "fixtures"
FOUNDATIONS = FIXTURES / "foundations-of-privacy"

os.environ.setdefault("TACIT_SPARK_URL", "local[2]")
os.environ.setdefault("TACIT_SPARK_MEMORY", "2g")
os.environ.setdefault("SPARK_CONF_DIR", str(FIXTURES / "spark"))
# Budgets of protected plots: never those of the person who runs the tests.
os.environ["TACIT_BUDGET"] = str(Path(tempfile.mkdtemp(prefix="tacit-budget-")) / "budget.json")
# Trusted keys likewise: none, until a test trusts one.
os.environ["TACIT_KEYS"] = str(Path(tempfile.mkdtemp(prefix="tacit-keys-")) / "keys")

# Continuous integration judges a change and not the luck of a draw; everywhere else examples vary.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_addoption(parser):
    parser.addoption("--engines", default="duckdb,spark", help="engines to run the engine tests on")


def pytest_generate_tests(metafunc):
    names = metafunc.config.getoption("--engines").split(",")
    if "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", [engine_param(n) for n in names], indirect=True)
    if "other_engine" in metafunc.fixturenames:
        others = [engine_param(n) for n in names if n != "duckdb"]
        metafunc.parametrize("other_engine", others, indirect=True)


#: Where the most expensive tests are: they are handed out first, so that no process works alone at the end.
EXPENSIVE = ("/docs/", "/fuzz/", "/property/", "/tables/")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("spark") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group("spark"))
    items.sort(key=turn)  # stable: the drawn order is kept within each part


def turn(item):
    """Spark first, which is one long piece of work; then the folders with expensive tests."""
    if item.get_closest_marker("spark"):
        return 0
    return 1 if any(part in str(item.path) for part in EXPENSIVE) else 2


def engine_param(name):
    """An engine as a parameter; all that runs on Spark shares one session, in one process."""
    return pytest.param(name, marks=[pytest.mark.spark] if name == "spark" else [])


@pytest.fixture
def engine(request):
    """Each engine in turn; a test that takes it must give the same answer on all."""
    return tacit.get_engine(request.param)


@pytest.fixture
def other_engine(request):
    """Each engine beside DuckDB, for tests that compare with it."""
    return tacit.get_engine(request.param)


@pytest.fixture
def published():
    """Read a worked example of Sweeney's report by file name."""
    return lambda name: json.loads((FOUNDATIONS / f"{name}.json").read_text())


def filled(*positions):
    """Accept rows whose key columns each hold a value: a key without any is refused on reading."""
    return lambda rows: all(not rows or any(r[i] is not None for r in rows) for i in positions)


def fig28_hierarchies():
    return {
        "Birth": tacit.hierarchy.dates("%m/%d/%y"),
        "ZIP": tacit.hierarchy.digits(5, mask=[1, 2]),
        "Ethnicity": tacit.hierarchy.flat(),
        "Sex": tacit.hierarchy.flat(),
    }


@pytest.fixture
def fig28():
    """The twelve tuples of Figure 28 with the hierarchies that reproduce the printed figures."""
    return tacit.read(
        FOUNDATIONS / "fig28_data.csv",
        identifiers=["SSN"],
        keys=["Ethnicity", "Birth", "Sex", "ZIP"],
        hierarchies=fig28_hierarchies(),
    )


@pytest.fixture
def rows():
    """Return chosen columns of microdata as a list of lists, for comparison with printed tables."""
    return lambda data, columns: [list(r.values()) for r in data.to_arrow(columns).to_pylist()]
