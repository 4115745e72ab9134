"""A full disk is named in a sentence, and nothing half-written stays."""

import errno

import pytest

from limits.shell import names_in, require_sentence, run
from tacit.cli.app import main
from tacit.errors import InputError, is_out_of_disk, is_out_of_memory
from tacit.storage.own_folders import write_whole

ROWS = "a,b,c\n" + "".join(f"{i % 7},{i % 5},{i}\n" for i in range(20_000))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_errors_of_a_full_disk_are_known(code):
    """Full, over quota, or beyond the size that a file may have."""
    assert is_out_of_disk(OSError(code, "x"))
    assert is_out_of_memory(OSError(errno.ENOMEM, "x"))


def test_a_file_is_written_wholly_or_not_at_all(tmp_path):
    """What was there stays when the new one finds no room."""
    target = tmp_path / "a.txt"
    write_whole(target, "old")
    with pytest.raises(InputError, match="cannot write"):
        write_whole(target, "\ud800")
    assert target.read_text() == "old"
    assert names_in(tmp_path) == {"a.txt"}


@pytest.mark.parametrize(
    "command",
    [
        ["apply", "pram", "a.csv", "--columns", "a", "--out", "b.csv"],
        ["schema", "--out", "schema.json"],
        ["example", "hospital"],
    ],
)
def test_a_command_that_finds_no_room_leaves_nothing(tmp_path, command):
    """Files may have 4 kB, as on a disk that is nearly full."""
    (tmp_path / "a.csv").write_text(ROWS)
    ended = run(command, tmp_path, file_size=4096)
    require_sentence(ended)
    assert ended.returncode in (1, 2)
    assert not {n for n in names_in(tmp_path) if n not in ("a.csv", "scratch", "hospital")}


def test_the_shell_names_a_full_disk(monkeypatch, capsys):
    """Wherever it is found."""

    def full(*_args, **_named):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tacit.plan.Plan.load", full)
    assert main(["check", "a.yaml"]) == 1
    assert "no space on the disk" in capsys.readouterr().err
