"""Studies of papers: they lie beside the package in the source tree, not in it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from tacit.errors import InputError

FOLDER = Path(__file__).parents[3] / "examples" / "studies"


def load_study(name: str, folder: Path = FOLDER) -> ModuleType:
    """Return a study as a module, or say where it lies when this is no source tree."""
    file = folder / f"{name}.py"
    if not file.is_file():
        raise InputError(
            f"the study {name!r} is not part of the installed package: it lies in examples/studies/{name}.py "
            "of the source tree. Run this command from a checkout, installed with: pip install -e ."
        )
    spec = importlib.util.spec_from_file_location(f"studies.{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their own module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
