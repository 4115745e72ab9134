"""Twin files: two sources that differ only in what protection takes out, and so give the same released data.

The judge knows nothing of the rule that it judges. It writes both releases with the same draws and compares all
public files byte for byte: whatever differs, tells the twins apart.
"""

import contextlib
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from tests.common.cases import build, measure_kinds, people

import tacit
from tacit.errors import SdcError

#: The data files of a release; twins agree on them, or they are no twins.
DATA = ("data.csv", "table.csv")


@contextlib.contextmanager
def same_draws():
    """Draw the same numbers whatever the source is: twins then differ by nothing that chance did."""
    with (
        mock.patch("tacit.plan.run.fresh_seed", return_value=20_261_118),
        mock.patch("tacit.plan.run.stream_key", lambda spec, _: spec.kind.encode()),
        # The confidential folder is not looked at here.
        mock.patch("tacit.release.release.Release.write_private", return_value=None),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


def written(plan, data, folder):
    """The public files of a release by name; None where the plan is refused."""
    with same_draws():
        try:
            target = plan.run(data).write(folder)
        except SdcError:
            return None
    return {str(f.relative_to(target)): f.read_bytes() for f in sorted(Path(target).rglob("*")) if f.is_file()}  # fmt: skip


def differences(plan, one, other, folder):
    """The public files that tell two twins apart; None where they are no twins."""
    first, second = written(plan, one, folder / "one"), written(plan, other, folder / "other")
    if first is None or second is None:
        return None
    # The order of the records is drawn; the manifest holds the fingerprint of the file in that order.
    if any(sorted_lines(first.get(name)) != sorted_lines(second.get(name)) for name in DATA):
        return None
    names = {*first, *second} - {"manifest.json", *DATA}
    return sorted(n for n in names if first.get(n) != second.get(n))


def sorted_lines(content):
    """The lines of a file, whatever their order."""
    return sorted((content or b"").splitlines())


def some_people(n=60, seed=3):
    """Columns as every Spec of records knows them, with one person who stands out in everything."""
    rng = np.random.default_rng(seed)
    columns = {
        "id": [f"p{i:03d}" for i in range(n)],
        "sex": rng.choice(["f", "m"], n).tolist(),
        "age": rng.choice([31, 32, 45, 46], n).tolist(),
        "zip": rng.choice(["02138", "02139", "02141"], n).tolist(),
        "job": rng.choice(["née", "a", "b"], n).tolist(),
        "income": np.round(rng.lognormal(3.5, 0.4, n), 1).tolist(),
        "disease": rng.choice(["flu", "cold", "gout"], n).tolist(),
    }
    last = {"id": "p999", "sex": "m", "age": 97, "zip": "99501", "job": "née", "income": 3980.7}
    return {c: [*values, {**last, "disease": "flu"}[c]] for c, values in columns.items()}


def with_cells(columns, row, **changed):
    """The columns with some cells of one row changed."""
    return {
        c: [changed.get(c, v) if i == row % len(values) else v for i, v in enumerate(values)]
        for c, values in columns.items()
    }


def without_row(columns, row):
    """The columns without one row."""
    gone = row % len(columns["id"])
    return {c: [v for i, v in enumerate(values) if i != gone] for c, values in columns.items()}


def usable_measures(steps, *sources):
    """Every registered measure that can be taken of these sources and of what the steps make of them."""
    pairs = []
    with same_draws():
        for columns in sources:
            release = tacit.Plan(list(steps)).run(people(columns))
            pairs.append((release.original, release.data))

    def works(measure):
        with same_draws():
            try:
                for original, data in pairs:
                    if measure.faults(data):
                        return False
                    for of in (original, data):
                        measure.measure(of, original=original, seed=1)
            except (SdcError, AssertionError):
                return False
        return True

    made = [build(k) for k in measure_kinds()]
    return [m for m in made if not m.publishes and works(m)]
