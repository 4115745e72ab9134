"""All that the snapshot asks of modules inside the package: a move changes a line here, and nothing in the files."""

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from unittest.mock import patch

import tacit
from tacit import plot
from tacit.claims import models
from tacit.cli import app as cli
from tacit.data.hierarchies import load
from tacit.io import corpora
from tacit.io.formats import by_ending, writable
from tacit.kinds import all_kinds
from tacit.plan import schema as plan_schema
from tacit.plot import chart
from tacit.registry import specs
from tacit.spec import Spec

__all__ = [
    "SPEC",
    "all_specs",
    "command_pages",
    "fact_names",
    "is_model",
    "plan_schema",
    "registries",
]

SPEC = Spec


def all_specs():
    """Every Spec of the package by kind; tests may have registered some of their own."""
    return {k: s for k, s in specs().items() if s.__module__.startswith("tacit.")}


def fact_names(base):
    """Class attributes in which a Spec states facts about itself."""
    own = (Spec, base)
    named = {n for c in own for n, a in c.__annotations__.items() if "ClassVar" in str(a)}
    return sorted(n for n in named if not n.startswith("_") and n != "model_config")


def is_model(cls):
    """True for a pydantic model."""
    return hasattr(cls, "model_fields")


def command_pages():
    """The Markdown of the whole command line, once for each group that is made when it is asked for."""
    pages = {}
    # The usage line repeats how this process was started.
    with patch.object(sys, "argv", ["tacit"]), patch.object(sys, "orig_argv", ["tacit"]):
        for group in sorted(cli.GROUPS):
            cli.add_groups([group])
            pages[group] = [cli.app.generate_docs(heading_level=1)]
    cli.add_groups([])
    return pages


def registries():
    """Names that plans, files and other packages use: claim models, formats, hierarchies, kinds, engines, charts."""
    for model in models():
        yield f"claim model: {model}"
    for ending in by_ending("records"):
        write = ", written" if ending.lstrip(".") in writable("records") else ""
        yield f"format of records: {ending}: read{write}"
    yield from (f"format of tables: {ending}: read" for ending in (*by_ending("table"), "cells"))
    yield from (
        f"format of texts: {ending}: read" for ending in (*by_ending("corpus"), *corpora.COLUMNS)
    )
    yield from (f"format of texts: {name}: written" for name in writable("corpus"))
    yield from (f"format of charts: {name}" for name in chart.FORMATS)
    for name, kind in all_kinds().items():
        yield f"kind of data: {name}, counted in {kind.noun}, stem {kind.stem}"
        yield from (f"format of a release: {name}: {form}" for form in kind.formats)
    for name, rule in load.KINDS.items():
        shown = ", ".join(n for n in inspect.signature(rule).parameters if n not in load.HIDDEN)
        yield f"kind of hierarchy: {name}({shown})"
    for file in Path(tacit.__file__).parent.rglob("*.py"):
        for name in re.findall(r'entry_points\(group="([^"]+)"', file.read_text(encoding="utf-8")):
            yield f"entry-point group: {name}"
    yield from charts()


def charts():
    """Every function that makes a chart, by name; its module may move."""
    for info in pkgutil.walk_packages(plot.__path__, f"{plot.__name__}."):
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            made_here = inspect.isfunction(thing) and thing.__module__ == module.__name__
            if (
                made_here
                and not name.startswith("_")
                and "Chart" in str(thing.__annotations__.get("return"))
            ):
                yield f"chart: {name}({', '.join(inspect.signature(thing).parameters)})"
