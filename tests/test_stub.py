"""The stub of the package names what can be imported, and nothing else."""

import ast
from pathlib import Path

import tacit

ROOT = Path(__file__).parents[1]
STUB = ROOT / "src" / "tacit" / "__init__.pyi"


def test_it_names_what_the_package_has_and_no_more():
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    names = {alias.asname for node in imports for alias in node.names}
    assert names == set(dir(tacit))
    # A stub with __getattr__ would let every misspelt name pass.
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
