"""The report of texts: what was found by kind and certainty, the warning, and examples that nobody wrote.

Nothing of the corpus stands in a report, not even for the board: the examples are generated letters, scrubbed with the
same settings and a key of their own.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.data.corpus import Corpus
from tacit.plot.families import bars
from tacit.report import document as doc
from tacit.report import words
from tacit.report.view import View, view_class
from tacit.result import format_number

#: Characters of an example at most.
LONGEST = 900
#: Letters shown as examples: some in which there is something to see, the last of their families, so that a report on
#: the example of files, which takes the first, shows none of its own.
ENGLISH = (("discharge", 19), ("referral_us", 19))
GERMAN = (("de_arztbrief", 18), ("de_arztbrief", 19))

TERMS = {
    "De-identified": "Names and other identifiers were looked for and replaced. That is not anonymous.",
    "Certainty": "Between 0 and 1: how sure the evidence makes it that a place identifies somebody.",
    "Known record": "What the holder knows of the person a text is about; it is searched in the text.",
}
REPLACED = (
    "Places that identify people were looked for and replaced. How many were found, of which kind and how certainly, is told "
    "to the data holder alone: beside the texts it would tell which names are made up and which are not."
)
NARRATIVE = (
    "A narrative may identify without a name: dated events of a life, a public office, a role that few have. No search "
    "for names finds it; a person must read for it."
)


class TextsView(View):
    """The facts of a release of texts."""

    judged_on = "the texts as they were written"
    caution = "but de-identified is not anonymous"

    @functools.cached_property
    def steps(self) -> list[Any]:
        """Return the steps that scrubbed."""
        return [a for a in self.release.history if a.kind == "scrub"]

    @functools.cached_property
    def found(self) -> Mapping[str, Any]:
        """Return what the steps counted, added up."""
        return counted_by(self.steps)

    def cautions(self) -> list[str]:
        """Return the sentence that stands with every release of texts."""
        from tacit.text.scrub import NOT_ANONYMOUS

        return [NOT_ANONYMOUS]

    def remarks(self) -> list[str]:
        """Return what the board should ask about."""
        remarks = remarks_on(
            self.steps, "they wait for a decision in review.json beside the ledger"
        )
        if self.steps and not any(a.details.get("known_records") for a in self.steps):
            remarks.append(
                "Nothing was known of the people, and so no name of a record was searched in the texts."
            )
        return remarks

    # -- the first page --------------------------------------------------------------------------

    def tiles(self, *, public: bool) -> list[doc.Tile]:
        """Return the few numbers at the top; how much was replaced is not for the public."""
        data: Corpus = self.release.data
        shown = [
            doc.Tile(format_number(len(data)), "texts released", f"{data.characters:,} characters")
        ]
        if public:
            return shown
        total = sum(self.found["found"].values())
        shown.append(
            doc.Tile(format_number(total), "places replaced", f"{len(self.found['found'])} kinds")
        )
        kept = [r for r in self.release.after if r.kind == "text_utility"][:1]
        shown += [doc.Tile(words.percent(r.value), "of medical terms kept") for r in kept]
        risk = [r for r in self.release.after if r.kind == "text_risk"][:1]
        note = "by the certainties of what stayed"
        return shown + [
            doc.Tile(words.percent(r.value), "of texts may have something left", note) for r in risk
        ]

    def lost(self) -> list[str]:
        """Return what of the words and of the medicine is kept."""
        return [
            f"{label.removesuffix(', share').capitalize()}: {words.percent(value)}."
            for result in self.release.utility.after.values()
            for label, value in result.numbers.items()
            if label.endswith(", share")
        ]

    def limits(self) -> list[str]:
        """Return what the release does not promise."""
        from tacit.text.scrub import NAMES_NOT_PROMISED

        return [NAMES_NOT_PROMISED, NARRATIVE, *super().limits()]

    # -- the body --------------------------------------------------------------------------------

    def opening(self) -> Sequence[doc.Section | None]:
        """Return that places were replaced: how many would tell which of them are the writer's own."""
        found = doc.Section("What was found", (doc.Paragraph(REPLACED),), "found")
        return [found] if self.steps else []

    def public_blocks(self) -> Sequence[doc.Section | None]:
        """Return examples, and what was measured and stays inside."""
        return [self.examples_section(), *super().public_blocks()]

    def board_blocks(self) -> Sequence[doc.Section | None]:
        """Return every count, examples, risk and utility."""
        return [self.found_section(), self.examples_section(), *super().board_blocks()]

    def found_section(self) -> doc.Section | None:
        """Return counts by kind and by certainty."""
        told = self.found
        if not self.steps:
            return None
        kinds = sorted(told["found"], key=lambda k: -told["found"][k])
        by_kind = doc.DataTable.of(
            ["kind", *doc.numbers("replaced", "left, uncertain")],
            [
                (k, format_number(told["found"][k]), format_number(told["uncertain"].get(k, 0)))
                for k in kinds
            ],
            "What was replaced, by kind",
        )
        chart = bars(
            [(k, float(told["found"][k])) for k in kinds],
            title="Places replaced, by kind",
            y="places",
        )
        by_certainty = doc.DataTable.of(
            ["certainty", *doc.numbers("replaced")],
            [(k, format_number(n)) for k, n in sorted(told["certainty"].items())],
            "What was replaced, by certainty",
        )
        intro = (
            f"In {format_number(told['texts'])} texts, places that identify people were found and replaced. A certainty "
            "adds up the evidence for a place; what stays below the threshold is left, and listed for review."
        )
        return doc.section(
            "What was found",
            doc.Paragraph(intro),
            by_kind,
            doc.Figure(chart) if kinds else None,
            by_certainty,
            key="found",
        )

    def examples_section(self) -> doc.Section | None:
        """Return generated letters before and after, what was replaced marked."""
        made = generated_examples(self.release.plan)
        if not made:
            return None
        intro = (
            "What the settings do, shown on letters that a program wrote about people who do not exist. No text of the "
            "release, and none of its source, stands here."
        )
        heads = ["generated letter, places that are replaced marked", "the same letter, replaced"]
        table = doc.DataTable.of(heads, made, "Generated examples")
        return doc.Section("Examples", (doc.Paragraph(intro), table), "examples")

    def terms(self) -> tuple[tuple[str, doc.Words], ...]:
        """Return the terms that the report uses."""
        return tuple(TERMS.items())


def counted_by(steps: Iterable[Any]) -> dict[str, Any]:
    """Return what steps that scrubbed counted, added up."""
    from tacit.text.work import add_tallies, tally

    names = tally(()).keys()
    return add_tallies({n: a.details[n] for n in names if n in a.details} for a in steps)


def remarks_on(steps: Sequence[Any], waiting: str) -> list[str]:
    """Return what the board should ask about steps that scrubbed; ``waiting`` says where words are decided on."""
    told, remarks = counted_by(steps), []
    if left := sum(told["uncertain"].values()):
        remarks.append(
            f"Words stayed that were not certain enough to be replaced ({format_number(left)}); {waiting}."
        )
    if told["narratives"]:
        remarks.append(
            f"Texts may identify by what they tell ({format_number(told['narratives'])}). {NARRATIVE}"
        )
    if told["caught"]:
        remarks.append(
            f"Places were taken out by the last look alone ({format_number(told['caught'])}): the detectors had "
            "missed them."
        )
    if any(a.details.get("trained_voter") is False for a in steps):
        remarks.append(
            "The trained voter was not asked: its library is not installed, or it knows nothing of the language. "
            "Names were found by rules and lists alone."
        )
    return remarks


def generated_examples(plan: Any) -> list[tuple[doc.Words, doc.Words]]:
    """Return generated letters with marks, and the same letters scrubbed with the plan's settings."""
    from tacit.examples.letters import all_families

    step = next((s for s in plan.steps if s.kind == "scrub"), None)
    if step is None:
        return []
    # Words of the site's own lists and decisions come from its texts: they stay out of the example.
    plain = step.model_copy(update={"lists": None, "review": None, "taggers": (), "columns": ()})
    known = all_families()
    shown = GERMAN if step.language == "de" else ENGLISH
    found = []
    with warnings.catch_warnings():
        # What the step had to say it has said.
        warnings.simplefilter("ignore")
        for family, number in shown:
            text = shorten(known[family].document(number).text)
            after = plain.replace(text, key=b"generated example")
            found.append((mark_words(text, plain.find(text)), after.strip()))
    return found


def shorten(text: str) -> str:
    """Return the first lines of a text."""
    if len(text) <= LONGEST:
        return text
    end = text.rfind("\n", 0, LONGEST)
    return text[: end if end > 0 else LONGEST]


def mark_words(text: str, spans: Sequence[Any]) -> doc.Words:
    """Return a text with its spans marked."""
    parts: list[str | doc.Mark] = []
    at = 0
    for span in sorted(spans):
        if span.start >= at:
            parts += [text[at : span.start], doc.Mark(text[span.start : span.end], "flag")]
            at = span.end
    return tuple(p for p in (*parts, text[at:].rstrip()) if p)


view_class.register(Corpus, lambda _: TextsView)
