"""ARGUS files: hierarchies (``.hrc``), global recodes (``.grc``) and code lists (``.cdl``)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.data.hierarchies.files import number_lines, read_text
from tacit.data.hierarchy import TOP, Hierarchy, ground_label, list_faults
from tacit.errors import HierarchyError, UnreadableFile
from tacit.reveal import reveal

# -- .hrc: codes in depth-first order ------------------------------------------------------------------


def read_hrc(
    path: str | Path,
    *,
    lead: str = "@",
    total: str = TOP,
    pad: bool = False,
    strip: bool = True,
    encoding: str = "utf-8",
) -> Hierarchy:
    """Read a tau-ARGUS hierarchy: one code per line, depth-first, depth shown by leading marks.

    Parameters
    ----------
    path
        The file. The total has no line.
    lead
        The leading string that is repeated once a level (``<HIERLEADSTRING>``).
    total
        Label of the total, the top.
    pad
        Bring codes without children at uneven depth to the same depth by repeating them; without it
        uneven depth is refused.
    strip
        Remove blanks around codes. Files for fixed columns justify codes with blanks: False keeps the
        leading ones.
    encoding
        How the text is encoded.

    Raises
    ------
    HierarchyError
        With every fault and its line: a depth that grows by more than one, an empty code, a code
        listed twice, uneven depth.
    """
    where = f"file {Path(path).name!r}"
    entries: list[tuple[int, int, str]] = []
    for number, line in number_lines(read_text(path, encoding)):
        depth, code = lead_depth(line, lead)
        entries.append((number, depth, code.strip() if strip else code.rstrip()))
    faults = hrc_faults(entries)
    if faults:
        raise HierarchyError(f"{where} is not a valid hierarchy", faults)
    paths, lines = leaf_paths(entries, total)
    return Hierarchy.from_paths(paths, pad=pad, where=where, lines=lines)


def lead_depth(line: str, lead: str) -> tuple[int, str]:
    """Return how often a line repeats the leading string, and what follows."""
    if not lead:
        raise HierarchyError("read_hrc: lead must not be empty")
    depth = 0
    while line.startswith(lead):
        depth, line = depth + 1, line[len(lead) :]
    return depth, line


def first_leaves(entries: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the lines without later ones of a code that has no children at any of its places.

    tau-ARGUS looks a record's code up among codes without children and takes the first, so that a
    later one stays empty.
    """
    depths = [depth for _, depth, _ in entries]
    parents = {e[2] for e, after in zip(entries, [*depths[1:], 0], strict=False) if after > e[1]}
    seen: set[str] = set()
    kept = []
    for entry in entries:
        code = entry[2]
        if code and code in seen and code not in parents:
            continue
        seen.add(code)
        kept.append(entry)
    return kept


def merge_only_children(entries: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the lines with an only child of its parent's code taken for the parent: one cell, one code."""
    kept = list(entries)
    for at in range(len(kept) - 2, -1, -1):
        _, depth, code = kept[at]
        if kept[at + 1][1:] != (depth + 1, code):
            continue
        end = next((i for i in range(at + 2, len(kept)) if kept[i][1] <= depth), len(kept))
        if all(d > depth + 1 for _, d, _ in kept[at + 2 : end]):
            kept[at + 1 : end] = [(n, d - 1, c) for n, d, c in kept[at + 2 : end]]
    return kept


def hrc_faults(entries: Sequence[tuple[int, int, str]]) -> list[str]:
    """Return the faults of the lines (number, depth, code)."""
    faults: list[str] = []
    seen: dict[str, int] = {}
    before = -1
    for number, depth, code in entries:
        if not code:
            faults.append(f"line {number}: the code is missing")
        elif code in seen:
            faults.append(f"line {number}: its code stands on line {seen[code]} already")
        if depth > before + 1:
            faults.append(
                f"line {number}: its depth is {depth} after {before}; depth may grow by one a line"
            )
        seen.setdefault(code, number)
        before = depth
    return list_faults(faults)


def leaf_paths(
    entries: Sequence[tuple[int, int, str]], total: str
) -> tuple[list[list[str]], list[int]]:
    """Return the path of each code without children, ground first, and its line."""
    paths, lines = [], []
    stack: list[str] = []
    following = [depth for _, depth, _ in entries[1:]] + [0]
    for (number, depth, code), after in zip(entries, following, strict=False):
        stack[depth:] = [code]
        if after <= depth:
            paths.append([*reversed(stack), total])
            lines.append(number)
    return paths, lines


# -- .cdl: labels of codes ------------------------------------------------------------------------------


def read_cdl(path: str | Path, *, encoding: str = "utf-8") -> dict[str, str]:
    """Read an ARGUS code list: ``code,label`` a line."""
    rows = csv.reader(line.strip() for line in read_text(path, encoding).split("\n"))
    return {row[0].strip(): row[1].strip() for row in rows if len(row) > 1 and row[0].strip()}


# -- .grc: global recodes ------------------------------------------------------------------------------


class Span(NamedTuple):
    """Old codes that one new code takes: from ``first`` to ``last``; an open end is None."""

    line: int
    new: str
    first: str | None
    last: str | None


@dataclass(frozen=True)
class Recode:
    """One global recode file, read."""

    path: str
    spans: tuple[Span, ...]
    missing: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Recodes:
    """Global recodes as a rule: each file makes one level above the ground, then the top."""

    files: tuple[Recode, ...]
    keep: bool = False
    labels: bool = False

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the codes."""
        texts = [ground_label(v) for v in values]
        columns = [self._column(i, texts) for i in range(len(self.files))]
        names = ("code", *(Path(recode.path).stem for recode in self.files), "suppressed")
        where = "the hierarchy of " + ", ".join(repr(Path(r.path).name) for r in self.files)
        return Hierarchy.from_columns([texts, *columns], names=names, where=where)

    def _column(self, number: int, texts: Sequence[str]) -> list[str]:
        recode = self.files[number]
        chosen = assign(recode, texts)
        stays = np.array([self.keep or t in recode.missing for t in texts], dtype=bool)
        uncovered = [texts[int(i)] for i in np.flatnonzero((chosen < 0) & ~stays)]
        if uncovered:
            name = Path(recode.path).name
            raise HierarchyError(
                f"{name!r} does not cover {len(uncovered)} of the {len(texts)} different values in "
                "the data. Add their codes to the file, or say keep=True to leave them as they are. "
                + reveal(f"Values that {name!r} lacks", uncovered)
            )
        new = self._labels(number)
        return [new[i] if i >= 0 else t for i, t in zip(chosen, texts, strict=True)]

    def _labels(self, number: int) -> list[str]:
        """Return the label of each span: its code, with the file's name where the code is used twice."""
        recode = self.files[number]
        codes = [span.new for span in recode.spans]
        if self.labels:
            return [recode.labels.get(code, code) for code in codes]
        below = {span.new for other in self.files[:number] for span in other.spans}
        if below.intersection(codes) or has_other_meaning(recode, codes, self.keep):
            return [f"{Path(recode.path).stem} {code}" for code in codes]
        return codes

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""
        paths = [recode.path for recode in self.files]
        options = {"keep": self.keep, "labels": self.labels}
        path = paths[0] if len(paths) == 1 else paths
        return {"kind": "grc", "path": path, **{k: v for k, v in options.items() if v}}


def read_grc(
    path: str | Path | Sequence[str | Path],
    *,
    keep: bool = False,
    labels: bool = False,
    encoding: str = "utf-8",
) -> Recodes:
    """Read mu-ARGUS global recodes as a rule: ``new: old-old, old`` a line.

    Parameters
    ----------
    path
        One file, or several: each makes a level, the finest first. Every file recodes the codes of
        the data, as mu-ARGUS does; a file whose classes do not join those of the file before is
        refused when the hierarchy is built.
        Where a new code is also a code of the data, or of an earlier file, with another meaning, the
        file's name stands before its new codes (``Age 3``): a released value must have one meaning.
    keep
        Leave codes that the file does not name as they are, instead of refusing them. The file's own
        ``<MISSING>`` codes always stay.
    labels
        Use the labels of the file's ``<CODELIST>`` instead of the new codes.
    encoding
        How the text is encoded.
    """
    paths = [path] if isinstance(path, str | Path) else list(path)
    if not paths:
        raise HierarchyError("read_grc: no file is given")
    return Recodes(tuple(read_recode(Path(p), labels, encoding) for p in paths), keep, labels)


QUOTED = re.compile(r'"[^"]*"|[^",:]+|[,:]')


def read_recode(path: Path, labels: bool, encoding: str) -> Recode:
    """Read one file."""
    spans: list[Span] = []
    missing: tuple[str, ...] = ()
    codelist = ""
    faults: list[str] = []
    for number, raw in number_lines(read_text(path, encoding)):
        line = raw.strip()
        if line.startswith("//"):
            continue
        keyword, _, rest = line.partition(">") if line.startswith("<") else ("", "", line)
        keyword = keyword.upper()
        if keyword == "<MISSING":
            missing = tuple(t.strip('"') for t in re.split(r"[,\s]+", rest) if t)
        elif keyword == "<CODELIST":
            codelist = rest.strip().strip('"')
        elif keyword == "<TREERECODE":
            faults.append(
                f"line {number}: a tree recode closes branches of a .hrc file; it makes no level by itself"
            )
            break
        elif keyword:
            faults.append(f"line {number}: unknown keyword; a recode knows <MISSING>, <CODELIST>")
        else:
            found = spans_of(line, number)
            spans += found
            if not found:
                faults.append(f"line {number}: not of the form 'new: old-old, old'")
    if not spans and not faults:
        faults.append("it recodes nothing")
    if faults:
        raise HierarchyError(f"file {path.name!r} is not a valid recode", list_faults(faults))
    return Recode(
        str(path), tuple(spans), missing, code_labels(path, codelist, encoding) if labels else {}
    )


def code_labels(path: Path, codelist: str, encoding: str) -> dict[str, str]:
    """Return the labels of the new codes."""
    if not codelist:
        raise UnreadableFile(f"{path.name!r} names no <CODELIST>, so it has no labels")
    return read_cdl(path.parent / codelist, encoding=encoding)


def spans_of(line: str, number: int) -> list[Span]:
    """Return the spans of one line ``new: old-old, old``; none if it has not that form."""
    tokens = QUOTED.findall(line)
    if ":" not in tokens:
        return []
    colon = tokens.index(":")
    new = unquote("".join(tokens[:colon]))
    items = split_list(tokens[colon + 1 :])
    spans = [span_of(item, new, number) for item in items]
    return spans if new and all(spans) else []  # type: ignore[return-value]


def split_list(tokens: Iterable[str]) -> list[str]:
    """Return the items between commas."""
    items = [""]
    for part in tokens:
        if part == ",":
            items.append("")
        else:
            items[-1] += part
    return [item.strip() for item in items]


def span_of(item: str, new: str, number: int) -> Span | None:
    """Return the span of one item: a code, ``a-b``, ``-b`` or ``a-``."""
    if item.startswith('"') and item.endswith('"') and item.count('"') == 2:
        return Span(number, new, item[1:-1], item[1:-1])
    first, hyphen, last = (unquote(part) for part in item.partition("-"))
    if not hyphen:
        return Span(number, new, first, first) if first else None
    return Span(number, new, first or None, last or None) if first or last else None


def unquote(text: str) -> str:
    """Return text without blanks or quotes around it."""
    return text.strip().strip('"').strip()


def assign(recode: Recode, texts: Sequence[str]) -> Ints:
    """Return for each code the number of the span that takes it, or -1; refuse overlaps."""
    keys, bounds = make_comparable(texts, recode.spans)
    chosen = np.full(len(texts), -1, dtype=np.int64)
    faults = []
    for i, (span, (first, last)) in enumerate(zip(recode.spans, bounds, strict=True)):
        inside = np.ones(len(texts), dtype=bool)
        if first is not None:
            inside &= keys >= first
        if last is not None:
            inside &= keys <= last
        clash = np.unique(chosen[inside & (chosen >= 0)])
        others = [recode.spans[j] for j in clash if recode.spans[j].new != span.new]
        faults += [f"lines {o.line} and {span.line}: both take some codes" for o in others]
        chosen[inside] = i
    if faults:
        raise HierarchyError(
            f"file {Path(recode.path).name!r} gives some codes two new codes", list_faults(faults)
        )
    return chosen


def has_other_meaning(recode: Recode, codes: Sequence[str], keep: bool) -> bool:
    """Tell whether some new code, taken as an old one, would be recoded to another or left alone."""
    chosen = assign(recode, codes)
    return any(
        keep if i < 0 else recode.spans[i].new != code
        for i, code in zip(chosen, codes, strict=True)
    )


def make_comparable(
    texts: Sequence[str], spans: Sequence[Span]
) -> tuple[npt.NDArray[Any], list[tuple[Any, Any]]]:
    """Return codes and bounds in a form in which ranges can be compared.

    Where all bounds are numbers, codes are compared as numbers, and a code that is none lies in no
    range. Otherwise codes are compared as right-justified text, as ARGUS does.
    """
    ends = [end for span in spans for end in (span.first, span.last) if end is not None]
    if all(as_float(end) is not None for end in ends):
        keys = np.array([as_float(t) for t in texts], dtype=np.float64)
        return keys, [(as_float(s.first), as_float(s.last)) for s in spans]
    width = max(len(t) for t in [*texts, *ends])
    just = np.array([t.rjust(width) for t in texts], dtype=f"<U{width}")
    return just, [(s.first and s.first.rjust(width), s.last and s.last.rjust(width)) for s in spans]


def as_float(text: str | None) -> float | None:
    """Return a code as a number, or None when it is an open end or no number."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
