"""The registry of detectors: each a small function, called at every token that carries one of its marks.

A detector looks at the page around token ``i``, never further than a bounded number of tokens, and yields candidates. Third parties name
a module with detectors of their own in the entry-point group ``tacit.detectors``.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import NamedTuple

from tacit.data.corpus import SPAN_KINDS
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page


class Candidate(NamedTuple):
    """Characters that may identify someone, and how much that detector believes it."""

    start: int
    end: int
    kind: str
    evidence: float
    source: str
    #: The evidence names a person (a title, a relation, a signature): medical words do not weaken it.
    person: bool = False


Find = Callable[[Page, int], Iterable[Candidate]]


@dataclass(frozen=True)
class Detector:
    """One registered detector."""

    name: str
    on: int
    find: Find
    languages: tuple[str, ...]


_detectors: dict[str, Detector] = {}
_calls: dict[str, dict[int, tuple[Find, ...]]] = {}


def detector(name: str, on: int, languages: tuple[str, ...] = ()) -> Callable[[Find], Find]:
    """Register a detector under a name for people; it is called at tokens with one of the marks ``on``."""

    def add(find: Find) -> Find:
        known = _detectors.get(name)
        if known is not None and known.find.__module__ != find.__module__:
            raise TypeError(f"the detector {name!r} is already in {known.find.__module__}")
        if not (find.__doc__ or "").strip():
            raise TypeError(f"the detector {name!r} needs a docstring")
        _detectors[name] = Detector(name, on, find, languages)
        _calls.clear()
        return find

    return add


def detectors() -> dict[str, Detector]:
    """Return every detector by name, those of third parties included."""
    discover()
    return dict(sorted(_detectors.items()))


def run_detectors(page: Page, candidates: list[Candidate]) -> None:
    """Call each detector at the tokens that carry its marks; what they find is added to the list."""
    discover()
    calls = _calls.setdefault(page.pack.language, {})
    lines, line = page.lines, -1
    extend = candidates.extend
    for i, info in enumerate(page.infos):
        marks = info.marks
        if lines[i] != line:
            line = lines[i]
            marks |= m.LINE
        if not marks:
            continue
        finds = calls.get(marks)
        if finds is None:
            known = [d for _, d in sorted(_detectors.items()) if d.on & marks]
            here = (d.find for d in known if not d.languages or page.pack.language in d.languages)
            finds = calls[marks] = tuple(here)
        for find in finds:
            extend(find(page, i))


def cut(
    page: Page, i: int, j: int, kind: str, evidence: float, source: str, *, person: bool = False
) -> Candidate:
    """Return the candidate of tokens i up to, without, j."""
    assert kind in SPAN_KINDS
    return Candidate(page.starts[i], page.ends[j - 1], kind, evidence, source, person)


@functools.cache
def discover() -> None:
    """Import every detector, once."""
    package = importlib.import_module("tacit.text.detect")
    for info in pkgutil.walk_packages(package.__path__, "tacit.text.detect."):
        importlib.import_module(info.name)
    for entry in entry_points(group="tacit.detectors"):
        entry.load()
