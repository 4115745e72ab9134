"""The generated reference is complete, and the pages link only to what exists."""

import importlib.util
import inspect
import re
import tomllib
from pathlib import Path

import pytest

import tacit
from tacit import errors
from tacit.cli.app import app
from tacit.cli.generated import COMMON
from tacit.io import Options
from tacit.plan import SECTIONS
from tacit.registry import specs

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def reference():
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts/reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pages()


@pytest.mark.parametrize("kind", list(specs()))
def test_every_spec_and_parameter(reference, kind):
    page = reference["methods.md"]
    entry = re.search(rf"^### {kind}\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL)[1]
    cls = specs()[kind]
    assert cls.title() in entry
    for name in cls.model_fields:
        assert name == "kind" or f"| `{name}` |" in entry


def test_every_command_and_option(reference):
    page = reference["command_line.md"]
    names = [name for name in app if not name.startswith("-")]
    assert {"run", "check", "verify", "methods", "apply", "measure"} <= set(names)
    for name in names:
        assert f"## tacit {name}\n" in page
    for option in COMMON:
        assert f"`--{option}`" in page


def test_every_section_and_reading_option(reference):
    page = reference["plan.md"]
    for name in SECTIONS:
        assert f"| `{name}` |" in page
    for name in Options.model_fields:
        row = re.search(rf"^\| `{name}` \| \S+ \| (.+) \|$", page, re.MULTILINE)
        assert row, f"the docstring of Options says nothing about {name}"


def test_every_error(reference):
    page = reference["errors.md"]
    tree = re.search(r"```text\n(.*?)```", page, re.DOTALL)[1]
    for name, cls in inspect.getmembers(errors, inspect.isclass):
        if cls.__module__ == errors.__name__:
            assert f"| `{name}` |" in page
            assert re.search(rf"\b{name}\b", tree), f"{name} is not in the tree of tacit.errors"


def test_every_extra(reference):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in project["optional-dependencies"]:
        assert f"tacit[{extra}]" in reference["extras.md"]


def test_every_public_name(reference):
    for name in tacit.__all__:
        assert f"## tacit.{name}\n" in reference["python.md"]


def pages_with_links():
    return sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


@pytest.mark.parametrize("page", pages_with_links(), ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_what_the_repository_holds(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).resolve().exists(), f"{target} does not exist"


def test_the_overview_names_every_generated_page(reference):
    overview = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    for text in reference.values():
        assert f"| {text.splitlines()[0].removeprefix('# ')} |" in overview


def test_the_install_page_names_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (DOCS / "start" / "install.md").read_text(encoding="utf-8")
    for extra in project["optional-dependencies"]:
        assert f"| `tacit[{extra}]` |" in page
