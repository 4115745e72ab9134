"""What the documentation tells users to import has a public name, near the top of the package."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import tacit

ROOT = Path(__file__).parents[2]
#: Pages for users; those in docs/develop are about the inside.
PAGES = [
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "develop" not in p.parts),
    ROOT / "README.md",
]
IMPORT = re.compile(
    r"^\s*from (tacit[a-z_.]*) import (.+)$|^\s*import (tacit\.[a-z_.]+)", re.MULTILINE
)
#: Packages whose own name is two parts deep, with a short name in ``tacit``.
DEEP = {
    *tacit._MODULES.values(),
    *(f"tacit.private.{part}" for part in ("retrieval", "union", "regression")),
}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_no_page_imports_from_the_depths(page):
    for found in IMPORT.finditer(page.read_text()):
        module, names = found[1] or found[3], found[2] or ""
        assert module.count(".") <= 1 or module in DEEP, found[0]
        assert not any(n.strip().startswith("_") for n in names.split(",")), found[0]


@pytest.mark.parametrize("name", sorted({"tables", *tacit._MODULES}))
def test_every_public_name_is_there(name):
    module = getattr(tacit, name)
    for public in getattr(module, "__all__", ()):
        assert getattr(module, public) is not None
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        module.nothing_of_that_name  # noqa: B018


def test_names_are_the_objects_of_their_homes():
    for package in ("risk", "utility", "stats", "protect", "tables", "series", "estimate", "rumap"):
        module = getattr(tacit, package)
        for public, home in getattr(module, "_HOMES", {}).items():
            assert inspect.unwrap(getattr(module, public)) is getattr(
                importlib.import_module(home), public
            )
