"""The bundle that users of a randomised file get."""

import json

import numpy as np
import pytest

from tacit.errors import InvalidParameter, UnreadableFile
from tacit.records.pram import Part, Randomised, equal, parse, read_matrices, simple, write_matrices


def test_goes_through_a_file(tmp_path):
    variables = [
        simple("region", ["a", "b", "c"], parse("3F(0.7)", [4, 5, 6])),
        Randomised(
            ("sex", "job"),
            (("f", "f", "m"), (1, 2, 1)),
            (Part(("x",), (True,), equal(3, 0.8)), Part((None,), (False,), equal(3, 0.6))),
            by=("town",),
            rules=("age < 16",),
        ),
        simple("many", list(range(300)), equal(300, 0.9)),
        simple("band", list(range(300)), parse("300B(0.7;2)")),
    ]
    path = write_matrices(tmp_path / "matrices.json", variables)
    again = read_matrices(path)
    assert [v.columns for v in again] == [v.columns for v in variables]
    assert [v.levels for v in again] == [v.levels for v in variables]
    assert again[1].by == ("town",)
    assert again[1].rules == ("age < 16",)
    assert [p.stratum for p in again[1].parts] == [("x",), (None,)]
    for one, other in zip(again, variables, strict=True):
        for a, b in zip(one.parts, other.parts, strict=True):
            assert a.matrix.dense() == pytest.approx(b.matrix.dense())
    assert path.stat().st_size < 60_000  # no 300 x 300 rows
    assert read_matrices(json.loads(path.read_text()))[0].size == 3


@pytest.mark.parametrize(
    ("content", "error", "sentence"),
    [
        ("no json", UnreadableFile, "cannot be read"),
        ("[1]", UnreadableFile, "does not hold"),
        ('{"tacit_pram": 9, "variables": []}', InvalidParameter, "later version"),
        ('{"variables": 3}', InvalidParameter, "list of variables"),
        ('{"variables": [{}]}', InvalidParameter, "columns, levels and matrices"),
        (
            '{"variables": [{"columns": ["a"], "levels": [[1, 2]], "matrices": [{"rows": [[1]]}]}]}',
            InvalidParameter,
            "same number of categories",
        ),
        (
            '{"variables": [{"columns": ["a"], "levels": [[1]], "matrices": [{"rows": [[0.5]]}]}]}',
            InvalidParameter,
            "sum to 1",
        ),
    ],
)
def test_bad_files_are_refused(tmp_path, content, error, sentence):
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(error, match=sentence):
        read_matrices(path)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_matrices(tmp_path / "absent.json")


def test_epsilon_of_the_weakest_matrix_counts():
    both = Randomised(
        ("a",), ((1, 2),), (Part((0,), (), equal(2, 0.6)), Part((1,), (), equal(2, 0.9))), by=("s",)
    )
    assert both.epsilon == pytest.approx(np.log(9))
