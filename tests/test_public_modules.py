"""Public modules are imported under their public names, and loaded once."""

import importlib
import subprocess
import sys

import pytest

import tacit


@pytest.mark.parametrize("name", tacit._MODULES)
def test_a_public_module_is_imported_by_its_public_name(name):
    module = importlib.import_module(f"tacit.{name}")
    assert module is getattr(tacit, name)
    assert module is importlib.import_module(tacit._MODULES[name])
    assert module.__spec__.name == module.__name__


def test_what_lies_below_a_public_name_is_loaded_once():
    code = (
        "import tacit.rumap.ru_map as public, tacit\n"
        "from tacit.alternatives.rumap import ru_map as real\n"
        "from tacit.linkage import metrics\n"
        "assert public is real and public.RUMap is tacit.RUMap\n"
        "assert metrics.__name__ == 'tacit.records.linkage.metrics'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
