"""PostgreSQL, read over a real connection to a server started on loopback."""

import datetime as dt
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

import tacit
from tacit.errors import UnreadableFile

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))

pytestmark = pytest.mark.skipif(
    not BINARIES, reason="no PostgreSQL server; scripts/test installs one"
)


def as_server_user(command):
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def server():
    home = Path("/tmp") / f"tacit-postgres-{os.getpid()}"
    home.mkdir()
    if os.geteuid() == 0:
        shutil.chown(home, "postgres")
    tools, port = BINARIES[-1], free_port()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(
        as_server_user(
            [str(tools / "initdb"), "-D", str(home / "data"), "-U", "reader", "-A", "trust"]
        ),
        cwd="/",
        check=True,
        **quiet,
    )
    process = subprocess.Popen(
        as_server_user([str(tools / "postgres"), "-D", str(home / "data"), "-p", str(port), "-h", "127.0.0.1", "-k", str(home)]),
        cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"postgresql://reader:pass-word@127.0.0.1:{port}/postgres"
    sql = (
        "create table survey (id int, sex text, age bigint, income numeric(10,2), weight double precision, born date);"
        "insert into survey values (1,'f',31,1200.50,1.5,'1990-02-03'),(2,'m',null,900,2.5,null),(3,null,40,null,1,'1985-12-31');"
    )
    for _ in range(100):
        done = subprocess.run(
            [str(tools / "psql"), url, "-q", "-c", sql], cwd="/", capture_output=True, check=False
        )
        if done.returncode == 0:
            break
        time.sleep(0.1)
    yield url
    process.terminate()
    process.wait()
    shutil.rmtree(home, ignore_errors=True)


def test_a_query_keeps_types_and_nulls(server):
    data = tacit.read(
        server,
        query="select sex, age, income, weight, born from survey order by id",
        keys=["sex"],
        weight="weight",
    )
    assert data.to_arrow().to_pydict() == {
        "sex": ["f", "m", None],
        "age": [31, None, 40],
        "income": [1200.5, 900.0, None],
        "weight": [1.5, 2.5, 1.0],
        "born": [dt.date(1990, 2, 3), None, dt.date(1985, 12, 31)],
    }
    assert "pass-word" not in data.source


def test_a_table_by_name_and_the_only_table(server):
    assert len(tacit.read(server, table="survey")) == 3
    assert len(tacit.read(server)) == 3


@pytest.mark.parametrize(
    "query",
    ["delete from survey", "select nothing from survey", "select * from surveys", "selec 1"],
)
def test_faults_are_one_sentence_without_password_or_values(server, query):
    with pytest.raises(UnreadableFile) as caught:
        tacit.read(server, query=query)
    assert "pass-word" not in str(caught.value)
    assert "1200" not in str(caught.value)
    assert len(tacit.read(server)) == 3


def test_no_server_is_said(server):
    with pytest.raises(UnreadableFile, match="connection"):
        tacit.read(
            f"postgresql://reader:pass-word@127.0.0.1:{free_port()}/postgres", table="survey"
        )


@pytest.mark.parametrize(
    "query",
    [
        "copy survey to program 'touch {made}'",
        "select 1; copy survey to program 'touch {made}'",
        "select 1) as q; copy survey to program 'touch {made}'; select * from (select 1",
        "rollback; copy survey to program 'touch {made}'",
        "with gone as (delete from survey returning *) select * from gone",
        "select * into made from survey",
    ],
)
def test_a_query_is_one_select_in_a_transaction_that_may_not_write(server, query):
    made = Path(f"/tmp/tacit-made-{os.getpid()}")
    with pytest.raises(UnreadableFile, match="only read"):
        tacit.read(server, query=query.format(made=made))
    assert not made.exists()
    assert len(tacit.read(server, table="survey")) == 3
