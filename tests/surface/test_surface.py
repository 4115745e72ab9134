"""What users can see is what the files beside this test say; a wanted difference is renewed and listed."""

import os
import subprocess
import sys

from surface.snapshot import RENEW, differences


def test_the_surface_is_as_recorded():
    """In a process of its own, where no other test has registered anything."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-m", "surface.snapshot"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert "facts, 0 lines differ" in done.stdout


def test_a_difference_is_shown_line_by_line():
    old = {"a.txt": "one\ntwo\n", "b.txt": "same\n"}
    new = {"a.txt": "one\nthree\n", "b.txt": "same\n", "c.txt": "new\n"}
    assert differences(old, new) == ["a.txt: -two", "a.txt: +three", "c.txt: +new"]
    assert differences(old, old) == []
    assert "--write" in RENEW
