"""Where machine code is kept, and when it is worth having."""

import os
import subprocess
import sys

import pytest

from tacit.numerics import kernels
from tacit.numerics.kernels import COMPILE, IMPORT, LOAD, TURN, Kernels, run_kernels


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kernels.cache_home.cache_clear()
    yield
    kernels.cache_home.cache_clear()


def unwritable(tmp_path, monkeypatch):
    """A package whose cache directory cannot be made: its name is taken by a file."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__pycache__").write_text("")
    monkeypatch.setattr(kernels, "__file__", str(package / "kernels.py"))


def test_a_package_that_cannot_be_written_uses_the_users_cache(tmp_path, monkeypatch):
    unwritable(tmp_path, monkeypatch)
    monkeypatch.setattr(kernels, "user_cache", lambda: tmp_path / "user")
    assert kernels.cache_home() == tmp_path / "user" / "kernels"


def test_without_any_place_kernels_still_run(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    unwritable(tmp_path, monkeypatch)
    monkeypatch.setattr(kernels, "user_cache", lambda: tmp_path / "package" / "__pycache__")
    assert kernels.cache_home() is None
    group = Kernels(globals(), doubled)
    assert not group.is_kept
    assert group.compiled()["doubled"](4) == 8


def test_a_named_directory_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert kernels.cache_home() == tmp_path / "kernels"


def doubled(x):
    return 2 * x


def test_kept_code_is_found_by_another_process(tmp_path):
    pytest.importorskip("numba")
    code = (
        "import numpy as np; from tacit.numerics.kernels import run_kernels\n"
        "from tacit.records.swapping.rank_swap import KERNELS, rank_partners\n"
        "print(KERNELS.is_kept)\n"
        "with run_kernels('compiled'): rank_partners(50, 5, np.random.default_rng(1))"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = [
        subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in found] == ["False", "True"]


def test_compiled_code_is_used_once_the_work_has_paid_for_it(monkeypatch):
    pytest.importorskip("numba")
    group = Kernels(globals(), doubled)
    for kept, cost in ((True, LOAD), (False, COMPILE * group.size)):
        group.is_kept, group._turns = kept, 0.0
        monkeypatch.setitem(sys.modules, "numba", None)
        monkeypatch.delitem(sys.modules, "numba")
        enough = (IMPORT + cost) / TURN
        assert not group.pays(0.6 * enough)
        assert group.pays(0.6 * enough)
    with run_kernels("plain"):
        assert not group.pays(1e30)
