"""What users write is type-checked: results strictly, and every Python block of the documentation for names.

In the pages a misspelt name or attribute is a fault. They give lists where a Spec holds tuples, which pydantic takes, and
look into what may be missing (``result.frame``); that is not judged here.
One run of mypy over all pages: a minute with the cache of ``scripts/check``, several without.
"""

import re
import subprocess
import sys

import pytest

from docs.test_code_blocks import PAGES, ROOT, blocks

#: A measure gives its own Result, and wrong data or names are faults.
TYPED = """
from typing import assert_type

import tacit
from tacit.records.utility.information_loss import InformationLossResult
from tacit.tables.compare.cell_loss import CellLossResult


def look(people: tacit.Microdata, table: tacit.Table) -> float:
    found = tacit.InformationLoss().measure(people, original=people)
    assert_type(found, InformationLossResult)
    assert_type(tacit.CellLoss().measure(table), CellLossResult)
    tacit.CellLoss().measure(people)  # type: ignore[arg-type]
    found.il9  # type: ignore[attr-defined]
    tacit.Dataflyy(k=3)  # type: ignore[attr-defined]
    return found.il1
"""


def page_code(page):
    """The Python blocks of a page as one module, on the lines where they are."""
    code = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python" and not block.mark.startswith("no-run:"):
            code += "\n" * (block.line - code.count("\n")) + block.code
    return code


#: What pages may do: see above.
NOT_JUDGED = (
    "arg-type",
    "call-overload",
    "assignment",
    "dict-item",
    "index",
    "list-item",
    "misc",
    "union-attr",
    "var-annotated",
)
UNTYPED = ("no-untyped-call", "no-untyped-def")
#: A function may be given attributes, and a panel holds results of any measure.
DYNAMIC = re.compile(r'"(?:Callable\[.*\]|Result)" has no attribute "(?:better|label|k)"')
PYDANTIC = """
[tool.pydantic-mypy]
init_forbid_extra = true
init_typed = false
"""


def faults_of(folder, *options, plugin=""):
    """The faults that mypy finds in the modules of a folder, with the settings of the project."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = re.sub(r"(?m)^packages = .*$", plugin and 'plugins = ["pydantic.mypy"]', project)
    settings = settings.replace('mypy_path = "src"', 'mypy_path = "src:examples"')
    file = folder / "mypy.toml"
    file.write_text(settings + plugin, encoding="utf-8")
    # What was judged with the plugin is kept apart: mypy would take the one for the other.
    cache = ("--cache-dir", folder / "cache") if plugin else ()
    command = [sys.executable, "-m", "mypy", "--config-file", file, *cache, *options, folder]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return [f for f in run.stdout.splitlines() if ": error: " in f and f.startswith(str(folder))]


@pytest.mark.slow
def test_results_are_typed_strictly(tmp_path):
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    assert not faults_of(tmp_path)


@pytest.mark.slow
def test_names_in_the_pages_exist(tmp_path):
    for page in PAGES:
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
        (tmp_path / f"page_{name}.py").write_text(page_code(page), encoding="utf-8")
    (tmp_path / "planted.py").write_text("import tacit\n\ntacit.Mdavv(k=3)\n", encoding="utf-8")
    options = [f"--disable-error-code={code}" for code in (*NOT_JUDGED, *UNTYPED)]
    found = faults_of(tmp_path, *options, plugin=PYDANTIC)
    assert [f for f in found if "planted.py:3" in f], "a misspelt name is found"
    others = [f for f in found if "planted.py" not in f]
    assert not [print(f) for f in others if not DYNAMIC.search(f)]
