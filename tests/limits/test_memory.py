"""Under limits on memory every command ends in success or in a sentence, and leaves nothing unfinished behind."""

import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest

import tacit
from limits.shell import GB, names_in, require_sentence, run
from tacit import limits
from tacit.cli import supervised
from tacit.engine.duckdb import in_memory_within, settings_within
from tacit.plot import drawing
from tacit.plot.chart import Chart
from tacit.storage import own_folders

CHART = Chart(
    {
        "data": {"values": [{"a": 1, "b": float("nan")}, {"a": 3, "b": 2}]},
        "mark": "bar",
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
    },
    "two bars",
)


def test_threads_follow_the_limit(monkeypatch):
    """A thread for each gigabyte of address space, one at least; without a limit nothing is set."""
    monkeypatch.setattr(limits, "address_limit", lambda: 2 * GB)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert limits.thread_count() == 2
    assert settings_within(3 * GB) == {"memory_limit": f"{GB}B", "threads": 2}
    assert in_memory_within(GB) == GB // 8
    monkeypatch.setattr(limits, "address_limit", lambda: GB // 2)
    assert limits.thread_count() == 1
    monkeypatch.setattr(limits, "address_limit", lambda: None)
    assert settings_within(None) == {}


def test_the_limit_of_a_control_group_is_found(tmp_path, monkeypatch):
    """One below the memory of the machine counts; 'max' and what is beyond the machine do not."""
    file = tmp_path / "memory.max"
    monkeypatch.setattr(limits, "GROUPS", (tmp_path / "none", file))
    for text, found in (("1073741824\n", GB), ("max\n", None), (str(1 << 62), None)):
        file.write_text(text)
        assert limits.group_limit() == found


def test_the_process_that_draws_gives_the_same_bytes():
    """As the library in this process does."""
    import vl_convert

    assert CHART.svg() == vl_convert.vegalite_to_svg(CHART.full())
    assert CHART.png() == vl_convert.vegalite_to_png(CHART.full(), scale=2.0)


def test_a_process_that_draws_and_was_killed_is_replaced():
    """One process draws all charts; when it is killed, another is started."""
    CHART.png()
    first = drawing.find_pencil()
    assert drawing.find_pencil() is first
    first.kill()
    assert len(CHART.png()) > 100
    assert drawing.find_pencil() is not first


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_draws_and_was_ended_while_idle_is_let_go(monkeypatch, times):
    """As the system does where memory is short; no file is left open, which would be said in whatever runs next."""
    CHART.png()
    for _ in range(2):
        first = drawing.find_pencil()
        first.kill()
        first.wait()
        pipes = (first.stdin, first.stdout)
        del first
        assert len(CHART.png()) > 100
        assert all(pipe.closed for pipe in pipes)
    # Again while it is asked.
    found, left = drawing.find_pencil, [times]

    def killed():
        process = found()
        if left[0]:
            left[0] -= 1
            process.kill()
            process.wait()
        return process

    monkeypatch.setattr(drawing, "find_pencil", killed)
    assert len(CHART.png()) > 100


def test_a_process_that_was_forked_draws_for_itself():
    """And the one before it goes on with its own."""
    CHART.png()
    first = drawing.find_pencil()
    with warnings.catch_warnings():
        # Newer versions of Python warn of threads, which are not needed here.
        warnings.simplefilter("ignore", DeprecationWarning)
        program = os.fork()
    if not program:
        try:
            CHART.png()
            done = drawing.find_pencil() is not first and first.stdin.closed
            drawing.put_down()
            os._exit(0 if done else 1)
        finally:
            os._exit(2)
    assert os.waitpid(program, 0)[1] == 0
    assert len(CHART.png()) > 100
    assert drawing.find_pencil() is first


def test_a_process_that_draws_and_dies_at_once_is_a_sentence(tmp_path, monkeypatch):
    """As it does where memory is short."""
    pencil = tmp_path / "pencil.py"
    pencil.write_text("import os; os.abort()")
    drawing.put_down()
    monkeypatch.setattr(drawing, "__file__", str(tmp_path / "drawing.py"))
    with pytest.raises(drawing.NotDrawn, match="want of memory"):
        CHART.png()


def test_reports_are_made_without_charts_that_cannot_be_drawn(tmp_path, monkeypatch):
    """The page, the PDF and the Word file say so in the chart's place."""
    from tacit.plot.chart import draw_svg
    from tacit.report.document import Document, Figure

    draw_svg.cache_clear()
    monkeypatch.setattr(drawing, "address_limit", lambda: GB)
    document = Document(title="t", subtitle="s", blocks=(Figure(CHART, live=CHART),))
    with pytest.warns(tacit.errors.SdcWarning, match="without its charts"):
        page = document.to_html()
    assert "the chart was not drawn" in page
    assert "ulimit -v" in page
    with pytest.warns(tacit.errors.SdcWarning, match="without its charts"):
        assert document.to_pdf().startswith(b"%PDF")
    document.to_word(tmp_path / "a.docx")
    assert "the chart was not drawn" in tacit.read_texts(tmp_path / "a.docx").documents[0].text


@pytest.mark.parametrize("end", ["kill", "abort", "exit 127", "segfault", "done then abort"])
def test_however_the_work_ends_there_is_a_sentence_and_nothing_left(tmp_path, end):
    """What was begun is removed; a breakdown after the end of the work changes nothing."""
    program = f"""
import os, sys
from pathlib import Path
from tacit.cli import supervised
from tacit.storage import own_folders
def work():
    room = Path({str(tmp_path)!r}) / "begun"
    room.mkdir(); own_folders.note_begun(room); (room / "x").write_text("half")
    file = Path({str(tmp_path)!r}) / "file"; own_folders.note_begun(file); file.write_text("half")
    os.write(2, b"noise of a library")
    end = {end!r}
    if end == "kill": os.kill(os.getpid(), 9)
    if end == "abort": os.abort()
    if end == "exit 127": os._exit(127)
    if end == "segfault": os.kill(os.getpid(), 11)
    import atexit; atexit.register(os.abort)
    (room / "x").unlink(); room.rmdir(); file.unlink()
    return 3
sys.exit(supervised.run_supervised(work))
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    done = end.startswith("done")
    assert ended.returncode == (3 if done else 1)
    assert ended.stderr.count("error: not enough memory") == (not done)
    assert "noise" not in ended.stderr
    assert not names_in(tmp_path)


def test_loading_that_finds_no_memory_is_a_sentence(tmp_path):
    """Where not even the libraries can be loaded."""
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    ended = run(["profile", "a.csv"], tmp_path, address=0.2 * GB)
    require_sentence(ended)
    assert ended.returncode == 1
    assert "within the limit of 204 MB" in ended.stderr
    assert names_in(tmp_path) == {"a.csv", "scratch"}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The hospital, firms and letters examples, made without limits."""
    folder = tmp_path_factory.mktemp("examples")
    for name in ("hospital", "firms", "notes"):
        assert run(["example", name], folder).returncode == 0
    return folder


#: Commands that read, judge, protect and write, and where they write.
COMMANDS = {
    "profile": (["profile", "hospital/hospital.csv"], None),
    "check": (["check", "hospital/hospital.yaml"], None),
    "run": (["run", "hospital/hospital.yaml", "--out", "made"], "made"),
    "reports": (
        ["run", "hospital/hospital.yaml", "--out", "made", "--reports", "pdf", "docx"],
        "made",
    ),
    "firms": (["run", "firms/firms.yaml", "--out", "made"], "made"),
    "scrub": (["run", "notes/letters.yaml", "--out", "made"], "made"),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.4, 0.6, 0.8, 1.2, 2, 4])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_under_every_limit(example, tmp_path, command, size):
    """Success or one sentence; a release that is written verifies, and no other file is left."""
    shutil.copytree(example, tmp_path, dirs_exist_ok=True)
    before = names_in(tmp_path) | {"scratch"}
    arguments, made = COMMANDS[command]
    ended = run(arguments, tmp_path, address=size * GB)
    require_sentence(ended)
    after = names_in(tmp_path) - before
    if made is None or ended.returncode not in (0, 3):
        assert not after
        return
    assert all(name.startswith("made") for name in after)
    assert json.loads((tmp_path / made / "manifest.json").read_text())
    require_sentence(run(["verify", made], tmp_path, address=size * GB))
    checked = run(["verify", made], tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_begun_files_are_noted_only_when_supervised(tmp_path, monkeypatch):
    """Without a supervisor nothing is written anywhere."""
    assert own_folders.report_to is None
    own_folders.note_begun(tmp_path)
    diary = os.memfd_create("test")
    monkeypatch.setattr(own_folders, "report_to", diary)
    own_folders.note_begun(tmp_path / "a\nb")
    assert supervised.read_diary(diary) == (None, [tmp_path / "a\nb"])
