"""Write src/tacit/__init__.pyi: the public names of the package for type checkers and editors.

Names of ``tacit`` are imported when first used, which no type checker can follow; the stub says where each
one lives. It is made from the registry and the names that the package promises, and a test compares it.
"""

from __future__ import annotations

from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "tacit" / "__init__.pyi"
HEAD = "# Made by scripts/stubs.py from the registry and the public names: do not edit.\n"


def stub() -> str:
    """Return the text of the stub."""
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


if __name__ == "__main__":
    TARGET.write_text(stub(), encoding="utf-8")
