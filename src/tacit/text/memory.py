"""The memory of a document: names that were accepted are looked for again, with short forms and misspellings."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import defaultdict

from rapidfuzz.distance import OSA

from tacit.data.corpus import Span
from tacit.text import marks as m
from tacit.text.board import NAMES
from tacit.text.detect.registry import Candidate, cut
from tacit.text.lexicon import Knowledge
from tacit.text.names import BARRED
from tacit.text.page import Page
from tacit.text.tokens import tokenise

#: Words of names that are remembered in one document.
MOST_PARTS = 400
#: Words that are compared with the names for misspellings.
MOST_WORDS = 5000


#: A name feeds back from this certainty on.
SURE = 0.84


def within(candidate: Candidate, taken: dict[int, int], spans: list[Span]) -> bool:
    """Return True when a candidate lies in a name that is accepted already: it does not support itself."""
    if taken.get(candidate.start, 0) >= candidate.end:
        return True
    k = bisect_right(spans, candidate.start, key=lambda s: s.start) - 1
    return k >= 0 and spans[k].kind in NAMES and spans[k].end >= candidate.end


class Memory:
    """Places of the words of a page, looked up by word."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.known: set[str] = set()
        self.places: dict[str, list[int]] = defaultdict(list)
        for i, info in enumerate(page.infos):
            if info.shape in "lCUM":
                self.places[info.low].append(i)
        #: Comparisons for misspellings that are left, so that a page of names stays linear.
        self.budget = 200_000
        self.strange: dict[str, list[str]] | None = None

    def recall(self, spans: list[Span]) -> list[Candidate]:
        """Return candidates for words of accepted names that were not known before."""
        fresh: dict[str, str] = {}
        for span in spans:
            if span.kind in NAMES and span.certainty >= SURE:
                for part in name_parts(self.page.text[span.start : span.end]):
                    if part not in self.known and self.is_telling(part):
                        fresh[part] = span.kind
        if len(self.known) > MOST_PARTS:
            return []
        self.known.update(fresh)
        found: list[Candidate] = []
        for part in fresh:
            found.extend(self.same_word(part))
            found.extend(self.short_forms(part))
            found.extend(self.misspellings(part))
        taken = {span.start: span.end for span in spans if span.kind in NAMES}
        return [c for c in found if not within(c, taken, spans)]

    def is_telling(self, part: str) -> bool:
        """Return True for a part that can be looked for: no initial, no word of two letters in small print."""
        return len(part) > 2 or self.page.lexicon(part).index >= 12

    def same_word(self, part: str) -> list[Candidate]:
        """Return the other places of a word, where it is written as a name."""
        page = self.page
        found = []
        for i in self.places.get(part, ()):
            info = page.infos[i]
            if page.capital(i):
                weak = page.starts_sentence(i) and info.common >= 12 and info.index < 5
                evidence = 0.5 if weak else 0.75 if info.marks & BARRED else 0.93
            elif info.shape == "U" or page.lower:
                evidence = 0.9 if info.index >= 4 or not info.common else 0.3
                if info.marks & BARRED:
                    evidence = 0.3
            else:
                evidence = (
                    0.85 if not info.common and not info.marks & (BARRED | m.MEDICAL) else 0.0
                )
            if evidence:
                found.append(cut(page, i, i + 1, "name", evidence, "prior occurrence"))
        return found

    def short_forms(self, part: str) -> list[Candidate]:
        """Return places of diminutives of a first name, and of the name of which it is one."""
        page = self.page
        found = []
        for form in related_forms(page.lexicon.knowledge, part):
            for i in self.places.get(form, ()):
                info = page.infos[i]
                if (
                    page.capital(i)
                    and not (page.starts_sentence(i) and info.common >= 13)
                    and not info.marks & m.STOP
                ):
                    found.append(cut(page, i, i + 1, "nickname", 0.8, "diminutive"))
                elif not page.capital(i) and page.plain_case(i) and info.index >= 6:
                    found.append(cut(page, i, i + 1, "nickname", 0.7, "diminutive"))
        return found

    def misspellings(self, part: str) -> list[Candidate]:
        """Return places of words within one letter of a name, two for long names."""
        if len(part) < 4:
            return []
        page = self.page
        found: list[Candidate] = []
        limit = 2 if len(part) >= 8 else 1
        words = self.strange_words().get(part[0], ())
        self.budget -= len(words)
        if self.budget < 0:
            return []
        for word in words:
            if abs(len(word) - len(part)) <= limit and word != part and word not in self.known:
                far = OSA.distance(word, part, score_cutoff=limit)
                if far <= limit:
                    found.extend(
                        cut(page, i, i + 1, "name", 0.75, "misspelling")
                        for i in self.places[word]
                        if page.capital(i) or page.plain_case(i)
                    )
        return found

    def strange_words(self) -> dict[str, list[str]]:
        """Return words that are no ordinary or medical words, by their first letter."""
        if self.strange is None:
            self.strange = defaultdict(list)
            infos = self.page.infos
            for count, (word, places) in enumerate(self.places.items()):
                info = infos[places[0]]
                if (
                    len(word) > 3
                    and not info.common
                    and not info.medical
                    and not info.marks & (BARRED | m.MEDICAL)
                ):
                    self.strange[word[0]].append(word)
                if count > MOST_WORDS:
                    break
        return self.strange


@functools.lru_cache(maxsize=4096)
def name_parts(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without initials and particles."""
    return tuple(w.lower() for w in tokenise(text).words if w[0].isalpha() and len(w) > 1)


def related_forms(knowledge: Knowledge, part: str) -> tuple[str, ...]:
    """Return short and full forms of a first name."""
    inverse = invert(knowledge)
    return (*inverse.get(part, ()), *knowledge.formal.get(part, ()))


_inverted: dict[int, dict[str, tuple[str, ...]]] = {}


def invert(knowledge: Knowledge) -> dict[str, tuple[str, ...]]:
    """Return the short forms by full name, worked out once."""
    found = _inverted.get(id(knowledge.formal))
    if found is None:
        found = {}
        for short, names in knowledge.formal.items():
            for name in names:
                found[name] = (*found.get(name, ()), short)
        _inverted[id(knowledge.formal)] = found
    return found
