"""The catalogue of kinds is what the registry holds, and reading it imports no Spec."""

import importlib
import subprocess
import sys

from tacit.catalogue import entries


def test_an_entry_says_where_its_class_is():
    found = entries()["datafly"]
    assert (found.name, found.family, found.verb, found.runs_on) == (
        "Datafly",
        "protect",
        "apply",
        "cells",
    )
    module = importlib.import_module(found.module)
    assert module.Datafly.model_fields["kind"].default == "datafly"


def test_reading_it_imports_no_spec():
    code = "import sys, tacit.catalogue as c; c.entries(); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = shown.stdout.split()
    assert "tacit.spec" not in loaded
    assert "pydantic" not in loaded


def test_no_spec_hides_behind_a_file_of_the_same_name():
    """Whatever registers a Spec is found by its kind, also where another file carries its name."""
    from tacit import registry

    for kind, cls in registry.specs().items():
        if cls.__module__.startswith("tacit."):
            assert registry.modules()[kind] == cls.__module__
