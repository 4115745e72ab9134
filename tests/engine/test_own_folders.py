"""Folders of work in progress: kept while their process lives, cleared by the next when it was killed."""

import os
import subprocess
import sys

import pytest

from tacit.release.folders import scratch
from tacit.storage.own_folders import clear_abandoned, make_own_folder

KILLED = """
import os, signal, sys
from pathlib import Path
from tacit.storage.own_folders import make_own_folder
folder, handle = make_own_folder("work-", Path(sys.argv[1]))
(folder / "records.parquet").write_text("confidential")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def abandoned(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.glob("work-*")
    assert (left / "records.parquet").exists()
    return left


def test_the_next_clears_what_a_killed_process_left(tmp_path, abandoned):
    folder, handle = make_own_folder("work-", tmp_path)
    assert not abandoned.exists()
    assert folder.stat().st_mode & 0o077 == 0
    os.close(handle)


def test_folders_in_use_and_folders_of_others_stay(tmp_path, abandoned):
    folder, handle = make_own_folder("other-", tmp_path)
    plain = tmp_path / "work-of-somebody"
    plain.mkdir()
    link = tmp_path / "work-link"
    link.symlink_to(folder)
    clear_abandoned("other-", tmp_path)
    clear_abandoned("work-", tmp_path)
    assert folder.exists()
    assert plain.exists()
    assert link.exists()
    assert not abandoned.exists()
    os.close(handle)
    clear_abandoned("other-", tmp_path)
    assert not folder.exists()


def test_a_release_clears_the_half_written_one_before_it(tmp_path, abandoned):
    abandoned.rename(tmp_path / ".release-halfmade")
    with scratch(tmp_path / "release") as work:
        assert not (tmp_path / ".release-halfmade").exists()
        assert work.parent == tmp_path
    assert not list(tmp_path.iterdir())
