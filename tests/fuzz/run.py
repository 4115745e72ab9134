"""One case: draw, run, write, verify, and hand what was written to the judge.

``python -m fuzz records 17`` (with ``tests`` and ``src`` on the path) repeats one case and shows its plan;
``python -m fuzz tables 0 5000`` runs many and lists what was found.
"""

import json
import re
import time
import traceback
import warnings
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import tacit
from fuzz import draw, judge
from fuzz.parameters import Parameters
from tacit.errors import SdcError, SdcWarning
from tacit.registry import specs


@dataclass
class Outcome:
    """How a case ended: ``released``, ``refused`` (with the sentence), and every fault that was found."""

    what: str
    seed: int
    plan: list = field(default_factory=list)
    end: str = ""
    sentence: str = ""
    faults: list = field(default_factory=list)
    sentences: list = field(default_factory=list)
    judged: Counter = field(default_factory=Counter)

    def __str__(self):
        lines = [f"python -m fuzz {self.what} {self.seed}: {self.end} {self.sentence[:300]}"]
        return "\n".join(
            [*lines, *(f"  step: {json.dumps(s, default=str)}" for s in self.plan), *self.faults]
        )


def run_case(what, seed, *, papers=True):
    """Run one case of one of ``CASES``; it never raises."""
    out = Outcome(what, seed)
    with warnings.catch_warnings(record=True) as caught, TemporaryDirectory() as folder:
        warnings.simplefilter("always")
        try:
            CASES[what](np.random.default_rng([len(what), seed]), out, Path(folder), papers)
        except SdcError as error:
            out.end, out.sentence = "refused", str(error)
        except Exception:  # noqa: BLE001 - that is what is looked for
            out.end = "raised"
            out.faults.append("raw exception:\n" + traceback.format_exc(limit=-8))
    for w in caught:
        if not issubclass(w.category, SdcWarning):
            out.faults.append(
                f"raw warning: {w.category.__name__} {w.message} ({w.filename}:{w.lineno})"
            )
    tokens = getattr(out, "tokens", frozenset()) - getattr(out, "given", frozenset())
    for text in [out.sentence, *out.sentences, *(str(w.message) for w in caught)]:
        out.faults += message_faults(text, tokens)
    return out


def given_tokens(plan):
    """Values that the plan itself names: whoever wrote it knows them."""
    return frozenset(re.findall(r"[\w.,]+", json.dumps(plan, default=str)))


def message_faults(text, tokens):
    """What is wrong with a message."""
    words = set(re.findall(r"-?[\w][\w.,]*\w|\w", text))
    found = [f"a message holds a value of the data: {text[:400]}"] if words & tokens else []
    if text and not 10 < len(text) < 1500:
        found.append(f"a message of {len(text)} characters: {text[:200]}")
    if re.search(r"Traceback|<class|object at 0x|Binder Error|Parser Error|Conversion Error", text):
        found.append(f"a message with internals: {text[:400]}")
    return found


# -- records -----------------------------------------------------------------------------------------


def records_case(rng, out, folder, papers):
    release_records(rng, out, folder, papers, draw.draw_frame(rng))


def households_case(rng, out, folder, papers):
    release_records(rng, out, folder, papers, draw.draw_frame(rng, households=True))


def release_records(rng, out, folder, papers, frame):
    out.tokens = frame.tokens
    data = frame.read()
    out.plan = draw.draw_record_plan(rng, frame, data)
    release = run_plan(rng, out, data)
    out.faults += size_faults(release.ledger.to_dict(), len(frame))
    target = write(release, folder / "out", papers=papers)
    out.end = "released"
    columns = judge.read_csv(target / "data.csv")
    out.faults += claim_faults(target, columns, release, out)
    out.faults += column_faults(release.ledger.to_dict(), frame, columns)
    out.faults += leak_faults(target, frame)
    out.faults += verify_faults(target, data, papers=papers)


def run_plan(rng, out, data):
    """Run the plan; a step that is refused is left out, and the rest is run, as its author would do.

    Every sentence on the way is looked at like the last one.
    """
    seed = int(rng.integers(2**31))
    out.given = given_tokens(out.plan)
    while True:
        try:
            return tacit.Plan.from_dict({"steps": out.plan}).run(data, seed=seed)
        except SdcError as error:
            refused = {int(i) - 1 for i in re.findall(r"\bstep (\d+) \(", str(error))}
            left = [step for i, step in enumerate(out.plan) if i not in refused]
            if not left or len(left) == len(out.plan):
                raise
            out.sentences.append(str(error))
            out.plan = left


def write(release, target, *, papers):
    """Write the release; without ``papers`` the reports, which cost most, are left out."""
    with without_reports(papers=papers):
        return release.write(target)


@contextmanager
def without_reports(*, papers):
    """Leave the reports out, unless there are to be ``papers``."""
    with ExitStack() as stack:
        if not papers:
            for name in (
                "tacit.report.public",
                "tacit.report.board",
                "tacit.release.release.write_report",
            ):
                stack.enter_context(patch(name))
        yield


def claim_faults(target, view, release, out):
    """Claims that the judge finds broken on what was written; what the statement withholds comes from the holder."""
    told = json.loads((target / "statement.json").read_text())["claims"]
    kept = json.loads(json.dumps([c.to_dict() for c in release.claims], default=str))
    claims = [
        ours if claim.get("withheld") else claim for claim, ours in zip(told, kept, strict=True)
    ]
    out.judged.update(claim["model"] for claim in claims)
    return [
        f"refuted claim: {json.dumps(claim)[:600]}"
        for claim in claims
        if not judge.JUDGES[claim["model"]](view, claim)
    ]


def size_faults(ledger, n):
    """Whether every record is accounted for from step to step."""
    found = (
        [] if ledger["records"] == n else [f"{n} records drawn, {ledger['records']} in the ledger"]
    )
    for step in ledger["steps"]:
        change = step["changes"]
        before, after = change["records_before"], change["records_after"]
        if before != n:
            found.append(f"{step['kind']}: {before} records before, {n} after the step before it")
        if not change.get("links_lost") and before - change["dropped"] + change["added"] != after:
            found.append(
                f"{step['kind']}: dropped and added do not account for {before} -> {after}"
            )
        n = after
    return found


def column_faults(ledger, frame, columns):
    """Whether columns and values that no step says it changed are still there."""
    names, touched = list(frame.columns), set()
    n, moved = len(frame), False
    for step in ledger["steps"]:
        change = step["changes"]
        moved |= (
            change.get("links_lost", False) or change["records_before"] != change["records_after"]
        )
        moved |= bool(change.get("dropped") or change.get("added"))
        touched |= set(change.get("cells", ()))
        if not change.get("links_lost"):
            # Keys of records are as secret as the records: a release leaves them out.
            added = [] if step["kind"] == "record_keys" else change["columns_added"]
            names = [c for c in names if c not in change["columns_removed"]] + added
        n = change["records_after"]
    found = []
    sizes = {len(v) for v in columns.values()}
    if sizes - {n}:
        found.append(f"{n} records in the ledger, {sizes} in the file")
    lost = any(s["changes"].get("links_lost") for s in ledger["steps"])
    if not lost and sorted(names) != sorted(columns):
        found.append(f"columns {sorted(names)} in the ledger, {sorted(columns)} in the file")
    for c in () if moved else set(frame.columns) & set(columns) - touched:
        old = sorted(map(canonical, frame.columns[c]), key=repr)
        new = sorted((canonical(reading(v, frame.sorts[c])) for v in columns[c]), key=repr)
        if c == frame.roles.get("household"):
            # Households are numbered anew: what stays is how many members each has.
            old, new = (sorted(Counter(v).values()) for v in (old, new))
        if old != new:
            found.append(f"the values of {c!r} changed, and no step says so")
    return found


def reading(text, sort):
    if text is None:
        return None
    if sort in ("amount", "whole", "small", "weight"):
        return float(text)
    return text.lower() == "true" if sort == "flag" else text


def canonical(value):
    if isinstance(value, bool) or value is None:
        return value
    return float(value) if isinstance(value, int | float) else str(value)


def leak_faults(target, frame):
    """Identifiers in any file of the public folder."""
    ids = [v for c in frame.named("id") for v in frame.columns[c]]
    return [
        f"{file.name} holds an identifier"
        for file in target.iterdir()
        if any(i in file.read_text(encoding="utf-8") for i in ids)
    ]


def verify_faults(target, data, *, papers):
    with without_reports(papers=papers):
        found = tacit.verify(target, data)
    return [f"verify: {name}: {remark}" for name, ok, remark in found.checks if not ok]


# -- tables ------------------------------------------------------------------------------------------


def tables_case(rng, out, folder, papers):
    grid = draw.draw_grid(rng)
    out.tokens = frozenset()
    table = grid.read()
    out.faults += truth_faults(grid, table)
    out.plan = draw.draw_table_plan(rng, grid, table)
    release = run_plan(rng, out, table)
    target = write(release, folder / "out", papers=papers)
    out.end = "released"
    if out.faults:
        return
    view, faults = look(grid, release.data, judge.read_csv(target / "table.csv"))
    out.faults += faults
    if view is not None:
        out.faults += claim_faults(target, view, release, out)
        out.faults += exposure_faults(view, release.data)
    out.faults += verify_faults(target, table, papers=papers)


def truth_faults(grid, table):
    """Whether the table holds the sums that were drawn."""
    codes = table.columns_of_codes()
    cells = list(zip(*(codes[n] for n in grid.trees), strict=True))
    if sorted(cells) != sorted(grid.truth):
        return [f"{len(grid.truth)} cells were drawn, {len(cells)} tabulated"]
    expected = np.array([grid.truth[c] for c in cells])
    off = np.abs(table.value - expected) > 1e-9 * np.maximum(1, np.abs(expected))
    return [f"{off.sum()} cells have another sum than the records"] if off.any() else []


def look(grid, table, file):
    """What the judge sees of a released table, and what is odd about the file."""
    if any(name not in file for name in grid.trees):
        return None, ["the file lacks a dimension"]
    cells = list(zip(*(file[n] for n in grid.trees), strict=True))
    done = {a.kind for a in table.history}
    if "select_cells" in done and set(cells) <= set(grid.truth):
        # Cells that are left out are unknown to readers, as hidden ones are.
        left_out = [c for c in grid.truth if c not in set(cells)]
        cells += left_out
        file = {n: [*v, *[None] * len(left_out)] for n, v in file.items()}
    if sorted(cells) != sorted(grid.truth) or len(table) != len(cells):
        # Recoded tables, and parts of tables, have relations of their own, which are not judged here.
        odd = [f"{len(grid.truth)} cells drawn, {len(cells)} in the file"]
        return None, [] if done & {"recode_table", "select_cells"} else odd
    place = {c: i for i, c in enumerate(cells)}
    codes = table.columns_of_codes()
    own = list(zip(*(codes[n] for n in grid.trees), strict=True))
    order = [own.index(c) for c in cells]

    def numbers(name):
        return np.array(
            [np.nan if v is None else float(v) for v in file.get(name, [None] * len(cells))]
        )

    def located(rows):
        return [{place[c]: s for c, s in row.items()} for row in rows]

    view = judge.Published(
        value=np.array([grid.truth[c] for c in cells]),
        shown=numbers(table.response),
        low=numbers("low"),
        high=numbers("high"),
        unsafe=table.primary[order].copy(),
        down=table.lower_level[order],
        up=table.upper_level[order],
        slide=table.sliding_level[order],
        least=table.lower[order],
        most=table.upper[order],
        owner=table.owner[order],
        lone=table.singleton[order],
        counts=table.frequency,
        rows=located(grid.relations),
        subtables=[located(s) for s in grid.subtables()] if len(grid.parts) == 1 else None,
        extra={
            k: v[order] if isinstance(v, np.ndarray) and len(v) == len(order) else v
            for k, v in table.extra.items()
        },
        count=table.count[order],
        fixed=((table.status == 10) | (table.status >= 13))[order],
        status=table.status[order].copy(),
        held=None if table.holdings is None else table.holdings.count[order],
        cells=cells,
        names=list(grid.trees),
        changed=table.changed is not None,
    )
    return view, []


def exposure_faults(view, table):
    """Unsafe cells that are published as they are, and safe ones that vanish or change without a claim."""
    if table.changed is not None:
        return []
    found = []
    if (view.unsafe & ~view.hidden & ~(view.high > view.low)).any():
        found.append("an unsafe cell is published as it is")
    shown = ~view.hidden
    off = np.abs(view.shown - view.value)[shown] > 1e-9 * np.maximum(1, np.abs(view.value[shown]))
    if off.any():
        found.append("a published value is not the true one, and nothing says that it was changed")
    return found


# -- measures ----------------------------------------------------------------------------------------


def measures_case(rng, out, folder, papers):
    del folder, papers
    MEASURED[int(rng.random() < 0.2)](rng, out)


def measure_records(rng, out):
    from tacit.spec import Measure

    frame = draw.draw_frame(rng)
    out.tokens = frame.tokens
    kind = str(rng.choice(draw.kinds(tacit.Microdata, Measure)))
    before = frame.read()
    masked = {c: masked_column(rng, frame, c) for c in frame.columns}
    after = frame.read(columns=masked)
    draws = Parameters(rng, frame=frame)
    out.plan = [draw.sound(draws, kind, after)]
    spec = specs()[kind](**{k: v for k, v in out.plan[0].items() if k != "kind"})
    first = spec.measure(after, original=before, register=before, seed=1)
    again = spec.measure(after, original=before, register=before, seed=1)
    out.end = "released"
    out.faults += result_faults(first, again)
    if getattr(spec, "random", False):
        return
    order = rng.permutation(len(frame))
    turned = spec.measure(
        frame.read(order, masked), original=frame.read(order), register=frame.read(order), seed=1
    )
    # A sample is drawn by place, and a tie that goes to the first depends on which is first.
    by_place = getattr(spec, "records", None) is not None or getattr(spec, "ties", "") == "first"
    by_place |= getattr(spec, "by", "") == "order"  # successive differences of a systematic sample
    # Where a fit separates records its iterations are capped, and the result says so.
    near = 1e-3 if first.numbers.get("separated") else 1e-6
    if not by_place and not same(first.value, turned.value, near):
        out.faults.append(f"the order of rows changes the result: {first.value} {turned.value}")


def masked_column(rng, frame, c):
    """A column as some method might leave it."""
    values = list(frame.columns[c])
    if frame.sorts[c] in ("amount", "whole") and rng.random() < 0.5:
        noise = rng.normal(0, 2000, len(values)).round(1)
        whole = frame.sorts[c] == "whole"
        values = [
            None if v is None else (int(v + e) if whole else v + float(e))
            for v, e in zip(values, noise, strict=True)
        ]
    elif frame.sorts[c] == "text" and rng.random() < 0.3:
        values = [None if rng.random() < 0.2 else v for v in values]
    return values


def measure_table(rng, out):
    from tacit.spec import Measure

    grid = draw.draw_grid(rng)
    before = grid.read()
    kind = str(rng.choice(draw.kinds(tacit.Table, Measure)))
    table = tacit.MinimumFrequency(n=3).apply(before)
    if rng.random() < 0.6:
        table = tacit.SuppressLinear().apply(table)
    out.plan = [draw.sound(Parameters(rng, grid=grid), kind, table)]
    spec = specs()[kind](**{k: v for k, v in out.plan[0].items() if k != "kind"})
    first = spec.measure(table, original=before, seed=1)
    again = spec.measure(table, original=before, seed=1)
    out.end = "released"
    out.faults += result_faults(first, again)


#: Measures of risk whose value is a share or a probability; those of others are counts and sizes.
SHARES = frozenset(
    {"distance_linkage", "probabilistic_linkage", "conditional_linkage", "reidentification"}
    | {"series_linkage", "interval_disclosure", "global_risk", "noise_ellipsoid", "t_closeness"}
)
MEASURED = (measure_records, measure_table)


def result_faults(first, again):
    """Whether a result is a number, or says that there is none, and is the same again."""
    found = []
    if not same(first.value, again.value, 0.0) or first.to_dict() != again.to_dict():
        found.append(f"a rerun gives another result: {first.value} {again.value}")
    if np.isinf(first.value) and "infinite" not in first.explanation:
        found.append(f"the value is {first.value}, and nothing is said about it")
    if np.isnan(first.value) and not first.explanation:
        found.append("the value is not a number, and nothing is said about it")
    if specs()[first.kind].family == "risk":
        shares = {k: v for k, v in first.numbers.items() if k.lower().startswith("share")}
        shares |= {"the value": first.value} if first.kind in SHARES else {}
        found += [
            f"{name} is {v}"
            for name, v in shares.items()
            if isinstance(v, float) and not (np.isnan(v) or -1e-9 <= v <= 1 + 1e-9)
        ]
    repr(first)
    return found


def same(a, b, near):
    return (np.isnan(a) and np.isnan(b)) or abs(a - b) <= near * max(1.0, abs(a)) or a == b


# -- texts and fits ----------------------------------------------------------------------------------


def texts_case(rng, out, folder, papers):
    """Letters that name people, scrubbed in some way; the judge reads the files under their new names."""
    letters = draw.draw_letters(rng)
    out.tokens = frozenset(w for letter in letters.values() for w in letter.secrets)
    corpus = tacit.Corpus(
        tuple(
            tacit.Document(name, letter.text, record=letter.record)
            for name, letter in letters.items()
        )
    )
    out.plan = draw.draw_text_plan(rng)
    release = run_plan(rng, out, corpus)
    target = write(release, folder / "out", papers=papers)
    out.end = "released"
    names = [d.name for d in release.data]
    files = sorted((target / "texts").iterdir())
    if len(files) != len(letters) or sorted(names) != sorted(letters):
        out.faults.append(f"{len(letters)} letters drawn, {len(files)} in the release")
        return
    view = judge.Written(
        [
            judge.Letter(name, file.read_bytes().decode(), letters[name].record)
            for name, file in zip(names, files, strict=True)
        ]
    )
    out.faults += claim_faults(target, view, release, out)
    told = "".join(f.name + f.read_text("utf-8") for f in target.iterdir() if f.is_file())
    out.faults += [f"a paper of the release names {n}" for n in letters if n in told]
    out.faults += verify_faults(target, corpus, papers=papers)


def fits_case(rng, out, folder, papers):
    """Coefficients with a covariance that is one, or is not, of many or few records."""
    fit = draw.draw_fit(rng)
    out.plan = [draw.sound(Parameters(rng), "check_fit", fit)]
    release = run_plan(rng, out, fit)
    target = write(release, folder / "out", papers=papers)
    out.end = "released"
    out.faults += claim_faults(target, json.loads((target / "fit.json").read_text()), release, out)
    out.faults += verify_faults(target, fit, papers=papers)


CASES = {
    "records": records_case,
    "households": households_case,
    "tables": tables_case,
    "texts": texts_case,
    "fits": fits_case,
    "measures": measures_case,
}


def main(arguments):
    """Run cases and list what was found."""
    what, first = arguments[0], int(arguments[1])
    last = int(arguments[2]) if len(arguments) > 2 else first + 1
    ends, judged, refusals = Counter(), Counter(), Counter()
    for seed in range(first, last):
        begun = time.perf_counter()
        out = run_case(what, seed, papers=last - first < 3 or seed % 20 == 0)
        took = time.perf_counter() - begun
        ends[out.end] += 1
        ends["of them, as drawn"] += out.end == "released" and not out.sentences
        judged += out.judged
        refusals[out.sentence[:120]] += out.end == "refused"
        if out.faults or last - first == 1 or took > 10:
            print(f"{out}\n  ({took:.1f} s)", flush=True)
    print(dict(ends), dict(judged), *refusals.most_common(8), sep="\n")
