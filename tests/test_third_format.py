"""A file format in one file: reading, writing, releases, the shell and errors come with it."""

import os
import subprocess
import sys
import textwrap

#: What a third party would write.
PACKAGE = '''
"""Lines of name=value pairs."""

import pyarrow as pa

from tacit.io import Loaded
from tacit.io.formats import FileFormat

FORMAT = FileFormat("records", reads=(".pairs",), writes=("pairs",))


def read(path, options, engine):
    rows = [dict(p.split("=") for p in line.split(";")) for line in path.read_text().splitlines()]
    table = pa.table({n: [r[n] for r in rows] for n in rows[0]})
    return Loaded(engine.number_rows(engine.from_arrow(table)))


def write(data, path, options):
    rows = data.to_arrow().to_pylist()
    path.write_text("\\n".join(";".join(f"{n}={v}" for n, v in row.items()) for row in rows))
'''
#: What users then do.
USE = """
import tacit
from tacit.io import write
from tacit.kinds import kind_named
from tacit.plan import schema

data = tacit.read("people.pairs", keys=["sex"])
assert data.column("job").to_pylist() == ["cook", "cook", "nurse"]
write(data, "again.pairs")
assert open("again.pairs").read() == open("people.pairs").read()
assert kind_named("records").formats[0] == "csv" and kind_named("records").formats[-1] == "pairs"
assert "pairs" in str(schema())
try:
    tacit.read("people.pears")
except tacit.SdcError as error:
    print(error)
"""


def test_a_format_of_a_third_party_is_one_module(tmp_path):
    (tmp_path / "pairs_format.py").write_text(PACKAGE)
    info = tmp_path / "pairs_format-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pairs-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tacit.formats]\npairs = pairs_format\n")
    (tmp_path / "people.pairs").write_text("sex=f;job=cook\nsex=m;job=cook\nsex=f;job=nurse")
    (tmp_path / "people.pears").write_text("sex=f")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    shown = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(USE)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert "Did you mean '.pairs'?" in shown.stdout
