"""Write everything that is made from the code and kept in the repository: the files of ``GENERATED``.

Run it after adding, renaming or moving a Spec, a chart, a file format or a public name; with ``--check`` it changes
nothing, names what is stale and fails. The reference pages are made with the site and kept nowhere.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = "# Made by scripts/generate from the registry and the public names: do not edit.\n"


# -- src/tacit/catalogue.json --------------------------------------------------------------------------


def render_catalogue() -> str:
    """Return what every Spec is: one line per kind, so that a change is one line of a diff."""
    from tacit.catalogue import describe_spec
    from tacit.registry import specs

    found = {k: c for k, c in specs().items() if c.__module__.startswith("tacit.")}
    rows = [json.dumps(describe_spec(k, c)._asdict(), ensure_ascii=False) for k, c in found.items()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


# -- src/tacit/io/formats.json -------------------------------------------------------------------------


def render_formats() -> str:
    """Return the file formats of the package: one line for each, in the order of lists."""
    import tacit.io
    from tacit.io.formats import FileFormat

    found = [
        {**asdict(declared), "module": info.name}
        for info in pkgutil.walk_packages(tacit.io.__path__, "tacit.io.")
        if isinstance(
            declared := vars(importlib.import_module(info.name)).get("FORMAT"), FileFormat
        )
    ]
    found.sort(key=lambda entry: (entry["rank"], entry["module"]))
    rows = [json.dumps(entry) for entry in found]
    return "[\n" + ",\n".join(rows) + "\n]\n"


# -- src/tacit/__init__.pyi ----------------------------------------------------------------------------


def render_stub() -> str:
    """Return the public names for type checkers and editors, which cannot follow names imported when first used."""
    import tacit

    lines = {
        *(import_line(home, name) for name, home in tacit._HOMES.items()),
        *(import_module_line(home, name) for name, home in tacit._MODULES.items()),
        *(import_line(home, name) for name, home in spec_homes().items()),
    }
    promised = "".join(f'    "{name}",\n' for name in tacit.__all__)
    return f"{HEAD}\n{''.join(sorted(lines))}\n__version__: str\n\n__all__ = [\n{promised}]\n"


def spec_homes() -> dict[str, str]:
    """Return the module of every Spec of the package by class name; those of third parties are not ours."""
    from tacit.registry import specs

    found = {s.__name__: s.__module__ for s in specs().values()}
    return {name: home for name, home in found.items() if home.startswith("tacit.")}


def import_line(home: str, name: str) -> str:
    """Return the line that makes a name of a module public."""
    return f"from {home} import {name} as {name}\n"


def import_module_line(home: str, name: str) -> str:
    """Return the line that makes a module public, under its own name or another."""
    parent, _, own = home.rpartition(".")
    return f"from {parent} import {own} as {name}\n"


# -- docs/explain/engines.md ---------------------------------------------------------------------------


def render_engines() -> str:
    """Return the page on engines with its table of what runs where, as the Specs for records declare it."""
    page = (ROOT / "docs/explain/engines.md").read_text(encoding="utf-8")
    rows = "\n".join(["| runs on | kinds | which |", "|---|---|---|", *places()])
    return re.sub(
        r"^\| runs on \|.*?(?=\n\n)", lambda _: rows, page, flags=re.MULTILINE | re.DOTALL
    )


def places() -> list[str]:
    """Return a row for each place where work is done."""
    from tacit import Microdata
    from tacit.registry import specs

    found = {k: s.runs_on for k, s in specs().items() if Microdata in s.data_types()}
    rows = []
    for where in ("engine", "cells", "records"):
        names = sorted(k for k, place in found.items() if place == where)
        rows.append(f"| {where} | {len(names)} | {', '.join(f'`{n}`' for n in names)} |")
    return rows


#: Each file, from the root of the repository, and what makes its text.
GENERATED: Mapping[str, Callable[[], str]] = {
    "src/tacit/catalogue.json": render_catalogue,
    "src/tacit/io/formats.json": render_formats,
    "src/tacit/__init__.pyi": render_stub,
    "docs/explain/engines.md": render_engines,
}


def stale() -> dict[str, str]:
    """Return the files that are not what the code says, with what they should hold."""
    made = {name: render() for name, render in GENERATED.items()}
    return {n: text for n, text in made.items() if held_in(ROOT / n) != text}


def held_in(file: Path) -> str:
    """Return what a file holds; nothing where it is not there yet."""
    return file.read_text(encoding="utf-8") if file.exists() else ""


def main() -> int:
    """Write what is stale, or say so."""
    found = stale()
    if "--check" in sys.argv[1:]:
        for name in found:
            print(f"generate: {name} is stale; run scripts/generate")
        return 1 if found else 0
    for name, text in found.items():
        (ROOT / name).write_text(text, encoding="utf-8")
        print(f"generate: wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
