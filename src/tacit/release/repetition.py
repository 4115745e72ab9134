"""What a run of the same plan writes, compared with what lies in the folders of a release.

Seals and hashes bind the folders to each other, and whoever may write both can make them anew. A run of the plan cannot be
forged with them: it gives the released files again, and what the ledger says.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit.errors import SdcError
from tacit.release.folders import Manifest, file_hashes, read_json
from tacit.result import as_json_number
from tacit.storage.own_folders import make_own_folder

if TYPE_CHECKING:
    from tacit.release.release import Release

Check = tuple[str, bool, str]
DATA, PAPERS, LEDGER = (
    "re-run writes the released data",
    "re-run writes the papers beside the data",
    "re-run does what the ledger says",
)
#: What the ledger says of a step that is the same in every run; seconds are not, and notes may hold some.
OF_STEPS = ("kind", "parameters", "seed_path", "input", "output", "changes")
#: What it says of the run. Warnings and figures are compared as text and numbers are, to a few digits.
OF_RUN = ("seed", "source_kind", "source_fingerprint", "records", "data_fingerprint", "claims")
#: Figures of measures are printed, and drawn, to few digits; further ones may depend on the machine.
NEAR, SMALL = 1e-3, 1e-6
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?%?")
PART = re.compile(r"(part-\d+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LEFT_OUT = re.compile(r"[a-z_]+ was left out: ")
#: Pictures and what they are drawn from: their points have more digits than any figure.
DRAWN = re.compile(r"<svg\b.*?</svg>|<script\b.*?</script>", re.DOTALL)


#: Papers that are read again; PDF and Word hold what the page of the report does.
COMPARED = (".json", ".md", ".yaml", ".html")
PLOT_FILES, NOTHING = re.compile(r"plots\.json|plot-\d+\.(?:svg|json)"), re.compile(r"(?!)")


def repeated_checks(
    target: Path, manifest: Manifest, ledger: Mapping[str, Any], again: Release
) -> list[Check]:
    """Compare what the run gives with both folders, as far as the version that wrote them is this one."""
    same_version = (
        manifest.tacit == tacit.__version__ == as_dict(ledger.get("versions")).get("tacit")
    )
    written = time_written(ledger)
    if not written:
        return [(LEDGER, False, "written")]
    studied = ledger.get("studied") is True
    again = replace(again, studied=studied, omitted=left_out(ledger), written_at=written)
    home, in_use = make_own_folder("tacit-verify-", Path(tempfile.gettempdir()))
    work = home / "release"
    try:
        work.mkdir()
        again.write_data(work, again.plan.output.format or again.kind.formats[0])
        odd = differing(work, manifest)
        checks: list[Check] = [(DATA, not odd, ", ".join(odd))]
        if same_version:
            again.write_papers(work)
            odd = odd_papers(target, work, manifest, drawn=bool(again.plots))
            checks.append((PAPERS, not odd, ", ".join(odd)))
            odd = odd_facts(ledger, again.document(manifest), manifest)
            checks.append((LEDGER, not odd, ", ".join(odd)))
    except SdcError as error:
        return [(DATA, False, str(error))]
    finally:
        os.close(in_use)
        shutil.rmtree(home, ignore_errors=True)
    return checks


def time_written(ledger: Mapping[str, Any]) -> str:
    """Return when a release was written, whose day its reports name whenever they are made again; "" where none is said."""
    told = str(ledger.get("written", ""))
    try:
        dt.datetime.fromisoformat(told)
    except ValueError:
        return ""
    return told


def left_out(ledger: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which measures could not be taken: the plan in the ledger lists only those that could."""
    told = ledger.get("attention")
    listed = told if isinstance(told, list) else []
    return tuple(s for s in listed if isinstance(s, str) and LEFT_OUT.match(s))


def as_dict(value: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, and nothing for what is none."""
    return value if isinstance(value, Mapping) else {}


def differing(work: Path, manifest: Manifest) -> list[str]:
    """Return which files of the data are others than those released."""
    made = {plain_name(n): h for n, h in file_hashes(work)}
    released = {plain_name(n): h for n, h in manifest.files.items()}
    names = {*manifest.names.values()}
    return sorted(n for n in made if released.get(n) != made[n]) + sorted(
        n for n in released if n.split("/")[0] in names and n not in made
    )


def plain_name(name: str) -> str:
    """Return the name of a file without the random part that Spark gives to every part of a file."""
    return PART.sub(r"\1", name)


def odd_papers(target: Path, work: Path, manifest: Manifest, *, drawn: bool) -> list[str]:
    """Return which papers say something else or are strange; plots have their own records, and their noise is not drawn again."""
    made = dict(file_hashes(work))
    plots = PLOT_FILES if drawn else NOTHING
    there_too = {plain_name(n) for n in made}
    odd = [n for n in manifest.files if plain_name(n) not in there_too and not plots.fullmatch(n)]
    for name in made:
        if Path(name).suffix not in COMPARED or name in manifest.names.values():
            continue
        files = work / name, target / name
        try:
            pair = [f.read_text(encoding="utf-8") for f in files]
        except (OSError, ValueError):
            odd.append(name)
            continue
        if name == "statement.json":
            told = [read_json(f) for f in files]
            for facts in told if drawn else ():
                facts.pop("plots", None)
                facts.pop("attention", None)
            same = close(*told)
        elif name in ("statement.md", "report.html"):
            same = drawn or same_words(*pair)
        else:
            same = pair[0] == pair[1]
        odd += [] if same else [name]
    return odd


def odd_facts(ledger: Mapping[str, Any], again: Mapping[str, Any], manifest: Manifest) -> list[str]:
    """Return which facts of the ledger are others than those of the run."""
    # As a ledger on disk holds them.
    text = json.dumps(as_json_number(dict(again)), ensure_ascii=False, default=str)
    found: dict[str, Any] = json.loads(text)
    odd = [n for n in OF_RUN if ledger.get(n) != found[n]]
    odd += [] if ledger.get("files") == dict(manifest.files) else ["files"]
    steps = ledger.get("steps")
    told = [of_step(s) for s in steps] if isinstance(steps, list) else None
    odd += [] if told == [of_step(s) for s in found["steps"]] else ["steps"]
    odd += [] if close(ledger.get("attention"), found["attention"]) else ["attention"]
    odd += [n for n in ("before", "after") if not close(figures(ledger.get(n)), figures(found[n]))]
    return odd


def of_step(step: Any) -> dict[str, Any]:
    """Return what is compared of a step; files by their names, as the plan of the ledger has their whole paths."""
    return {k: with_names(as_dict(step).get(k)) for k in OF_STEPS}


def with_names(value: Any) -> Any:
    """Return nested data with names of files in place of paths."""
    if isinstance(value, Mapping):
        return {k: with_names(v) for k, v in value.items()}
    if isinstance(value, list):
        return [with_names(v) for v in value]
    return value.rpartition("/")[2] if isinstance(value, str) and "/" in value else value


def figures(results: Any) -> Any:
    """Return kinds and numbers of results; what they hold besides may be long, and is drawn from these."""
    if not isinstance(results, list):
        return None
    return [{k: as_dict(r).get(k) for k in ("kind", "numbers")} for r in results]


def close(one: Any, other: Any) -> bool:
    """Return True for nested data that are equal but for the last digits of their numbers."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return same_words(one, other)
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (one, other))
    return near(float(one), float(other)) if numbers else one == other and type(one) is type(other)


def same_words(one: str, other: str) -> bool:
    """Return True for texts that are equal but for pictures and the last digits of their numbers."""
    one, other = DRAWN.sub("", one), DRAWN.sub("", other)
    if one == other:
        return True
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    return all(
        map(near, map(as_number, NUMBER.findall(one)), map(as_number, NUMBER.findall(other)))
    )


def as_number(text: str) -> float:
    """Return a printed number."""
    return float(text.rstrip("%").replace(",", ""))


def near(one: float, other: float) -> bool:
    """Return True for numbers that are equal but for their last digits."""
    return math.isclose(one, other, rel_tol=NEAR, abs_tol=SMALL) or one == other
