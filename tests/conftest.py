"""Shared fixtures: engines, small data, published examples."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

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


#: Of the examples that a property draws, the ordinary suite takes this share; scripts/test-slow takes all.
SHARE = 1 if os.environ.get("TACIT_ALL_EXAMPLES") else 1 / 3
#: A property with so few examples keeps them.
FEW_EXAMPLES = 10


def pytest_itemcollected(item):
    """Have a property of the ordinary suite draw a share of its examples."""
    function = getattr(item, "obj", None)
    if not is_hypothesis_test(function) or item.get_closest_marker("slow") or SHARE == 1:
        return
    if not hasattr(function, "examples_taken"):
        given = getattr(function, "_hypothesis_internal_use_settings", None) or settings.default
        taken = max(min(FEW_EXAMPLES, given.max_examples), round(given.max_examples * SHARE))
        function._hypothesis_internal_use_settings = settings(given, max_examples=taken)
        function.examples_taken = taken


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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand the tests on Spark to one process, so that one session is started and warmed up.

    They are known by their ids: pytest 9.2 keeps ids where xdist 3.8 does not find them, and its groups go unheard.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class SparkTogether(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return "spark" if "spark" in nodeid else super()._split_scope(nodeid)

    return SparkTogether(config, log)


def pytest_collection_modifyitems(items):
    unnamed = [i.nodeid for i in items if i.get_closest_marker("spark") and "spark" not in i.nodeid]
    if unnamed:
        raise pytest.UsageError(f"a test on Spark has spark in its id: {', '.join(unnamed)}")
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
