"""What the check of the wheel finds: missing files, files too many, data."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "wheel_contents.py"
LICENCE = "tacit-1.dist-info/licenses/LICENSE"


def load_script():
    spec = importlib.util.spec_from_file_location("wheel_contents", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_whole_wheel_has_no_fault():
    check = load_script()
    sources = check.sources()
    assert {"tacit/py.typed", "tacit/__init__.pyi", "tacit/errors.py"} <= set(sources)
    assert check.faults([*sources, LICENCE], sources) == []


def test_each_fault_is_a_sentence():
    check = load_script()
    sources = ["tacit/__init__.py", "tacit/report/templates/report.html", "tacit/lake.csv"]
    names = ["tacit/__init__.py", "tacit/__init__.pyi", "tacit/lake.csv", "tests/test_plan.py"]
    assert check.faults(names, sources) == [
        "tacit/py.typed is missing from the wheel",
        "tacit/report/templates/report.html is missing from the wheel",
        "tests/test_plan.py is in the wheel and not in src/tacit",
        "tacit/lake.csv is neither code nor a template",
        "the licence is missing from the wheel",
    ]
