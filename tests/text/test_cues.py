"""The words that the modules of text look for: each name that code uses is in the file, and none is there in vain."""

import ast
import re
from pathlib import Path

import pytest

import tacit.text
from tacit.text.reading.words import cues, read_cues

ROOT = Path(tacit.text.__file__).parent
#: Read as a whole, kind by kind.
WHOLE = {"record"}
READ = re.compile(r'^(\w+) = cues\("(\w+)"\)$', re.MULTILINE)


def used_names():
    """Return table and name of each set that code asks for."""
    found = set()
    for file in ROOT.rglob("*.py"):
        code = file.read_text(encoding="utf-8")
        tables = dict(READ.findall(code))
        for node in ast.walk(ast.parse(code)):
            value = node.value if isinstance(node, ast.Attribute) else None
            if isinstance(value, ast.Name) and value.id in tables:
                found.add((tables[value.id], node.attr))
    return found


def test_each_name_is_used_and_held():
    held = {
        (table, name) for table, sets in read_cues().items() for name in sets if table not in WHOLE
    }
    assert used_names() == held


def test_a_name_that_is_not_held_is_refused():
    assert "lives" not in cues("place").strong
    with pytest.raises(AttributeError, match="no words 'stong'"):
        cues("place").stong  # noqa: B018
