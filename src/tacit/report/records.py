"""The report of records: class sizes, levels, changes by column, riskiest combinations of keys."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.data.microdata import Microdata
from tacit.plot.families import (
    class_sizes,
    class_sizes_before_after,
    column_changes,
    column_chart,
    levels,
)
from tacit.report import document as doc
from tacit.report import facts, record_words, words
from tacit.report.columns import Compared, compare_columns
from tacit.report.public_figures import columns_in_reach
from tacit.report.texts import remarks_on
from tacit.report.view import RISK_BOTH, View, view_class
from tacit.result import Result, format_number

#: The report lists this many combinations of keys.
MOST_COMBINATIONS = 20

#: What is counted where a file holds several synthetic copies.
COPIES = "The file holds several synthetic copies. Class sizes are those of the copy with most unique records."

#: Why the public report counts no change.
HOW_MANY = "How many were dropped, and how many values changed, is told to the data holder alone: it could undo protection."


class RecordsView(View):
    """The facts of a release of records."""

    @functools.cached_property
    def classes(self) -> list[facts.ClassSizes]:
        """Return the class sizes of each quasi-identifier."""
        return facts.class_sizes(self.release)

    @functools.cached_property
    def counted(self) -> Mapping[str, Any] | None:
        """Return what was changed, record by record."""
        return facts.count_changed(self.release)

    @functools.cached_property
    def changes(self) -> facts.Changes:
        """Return what became of records and values."""
        return facts.changes(self.release, self.counted)

    @functools.cached_property
    def columns(self) -> list[Compared]:
        """Return the columns before and after."""
        return compare_columns(self.release.original, self.release.data)

    def holds(self, claim: Any) -> bool:
        """Recompute a claim on the released records."""
        return bool(claim.holds(self.release.data.frame))

    def claim_name(self, claim: Any) -> str:
        """Return a claim as a short name, with its quasi-identifier where there are several."""
        return words.claim_name(claim, of_many=len(self.release.data.quasi) > 1)

    def cautions(self) -> list[str]:
        """Return where single records can still be told apart, and what de-identified texts are not."""
        from tacit.text.scrub import NOT_ANONYMOUS

        texts = [NOT_ANONYMOUS] if self.scrubbed else []
        return texts + [
            f"{words.percent(part.after.unique_share)} of {self.judged} are unique on "
            f"{words.join_column_names(part.columns)} together."
            for part in self.classes
            if part.after.unique_share > 0
        ]

    @property
    def caution(self) -> str:  # type: ignore[override]
        """Return what a heading says when there are cautions."""
        unique = any(part.after.unique_share > 0 for part in self.classes)
        return "but unique records remain" if unique else "but texts are not anonymous"

    @functools.cached_property
    def scrubbed(self) -> list[Any]:
        """Return the steps that scrubbed text columns."""
        steps = (a for a in self.release.history if a.kind == "scrub")
        return [a for a in steps if a.parameters.get("mode") != "list"]

    @property
    def judged(self) -> str:
        """Return whose classes are counted: all records, or those of one copy."""
        copies = self.release.data.copies
        return "the records of a synthetic copy" if copies else "the released records"

    def remarks(self) -> list[str]:
        """Return how the shares of risky values came out where people were dealt to channels, and what texts hold."""
        dealt = [
            record_words.dealt_sentence(entry.details)
            for entry in self.release.ledger.entries
            if entry.details.get("shares_dealt")
        ]
        texts = remarks_on(self.scrubbed, "tacit scrub --review lists them for a decision")
        return [*dealt, *texts, *([COPIES] if self.release.data.copies else [])]

    # -- the first page --------------------------------------------------------------------------

    def tiles(self, *, public: bool) -> list[doc.Tile]:
        """Return the few numbers at the top."""
        before, after = self.release.ledger.records, len(self.release.data)
        of = f"of {format_number(before)}" if before >= after and not public else ""
        of = "in several synthetic copies" if self.release.data.copies else of
        shown = [doc.Tile(format_number(after), "records released", of)]

        def was(text: str) -> str:
            return "" if public else f"before: {text}"

        if self.classes:
            worst = min(self.classes, key=lambda part: part.after.smallest)
            shown += [
                doc.Tile(
                    format_number(worst.after.smallest),
                    "records in the smallest class",
                    was(format_number(worst.before.smallest)),
                ),
                doc.Tile(
                    words.percent(worst.after.unique_share),
                    "of records are unique on the keys",
                    was(words.percent(worst.before.unique_share)),
                ),
            ]
        if public:
            return shown
        precise = [r.value for r in self.release.after if r.kind == "precision"][:1]
        note = "1 is unchanged, 0 is lost"
        return shown + [doc.Tile(f"{p:.2f}", "precision kept", note) for p in precise]

    def size(self) -> str:
        """Return what is released, in sentences."""
        data = self.release.data
        keys = f" Keys: {words.join_column_names(data.keys)}." if data.keys else ""
        sensitive = (
            f" Sensitive: {words.join_column_names(data.sensitive)}." if data.sensitive else ""
        )
        return (
            f"{len(data):,} records of {len(data.columns)} columns, from {self.release.ledger.records:,} "
            f"records.{keys}{sensitive}"
        )

    def lost(self) -> list[str]:
        """Return what was dropped, left out and changed, and the value of each utility measure."""
        found = self.changes
        told = [record_words.records_sentence(found)]
        if found.removed:
            told.append(f"Left out: {words.join_column_names(found.removed)}.")
        changed = [c for c, n in found.cells.items() if n]
        if changed:
            told.append(f"Changed: {words.join_column_names(changed)}.")
        return told + [
            f"{result.title}: {format_number(result.value)}."
            for result in self.release.utility.after.values()
        ]

    def limits(self) -> list[str]:
        """Return what the release does not promise."""
        return record_words.limits(self.release, [r.kind for r in self.release.after])

    # -- for the public --------------------------------------------------------------------------

    def public_blocks(self) -> Sequence[doc.Section | None]:
        """Return risk, levels, changes and utility."""
        return [
            self.risk_section(public=True),
            self.levels_section(public=True),
            self.columns_released_section(),
            self.utility_section(public=True),
            self.withheld_section(),
        ]

    def risk_section(self, *, public: bool) -> doc.Section | None:
        """Return the class sizes, and what was measured of risk."""
        title = "Risk" if public else RISK_BOTH
        found = self.results_section(title, "risk", public=public)
        classes = [class_section(i, part, public=public) for i, part in enumerate(self.classes)]
        return doc.section(title, *classes, *(found.blocks if found else ()), key="risk")

    def utility_section(self, *, public: bool) -> doc.Section | None:
        """Return what was measured of utility."""
        found = self.results_section("Utility", "utility", public=public)
        intro = doc.Paragraph("How much of what the data could tell is still there.")
        return doc.Section("Utility", (intro, *found.blocks), "utility") if found else None

    def told_already(self, result: Result) -> bool:
        """Return True for class sizes that the report tells anyway, by quasi-identifier."""
        return result.kind == "k_anonymity" and any(
            result.numbers.get("classes") == part.after.classes
            and result.numbers.get("smallest class (k)") == part.after.smallest
            for part in self.classes
        )

    def levels_section(self, *, public: bool) -> doc.Section | None:
        """Return the level that each column was raised to; how high a hierarchy is may follow from what was taken out."""
        reached = facts.levels(self.release)
        intro = (
            "Each column generalises along a hierarchy, from the value as collected to the same value for "
            "everybody. The steps raised them to these levels."
        )
        if public:
            rows = [(c, f"{int(lv)}", facts.name_level(self.release, c, int(lv)) or "-")
                    for c, lv, _, meaning in reached if meaning != facts.MIXED]  # fmt: skip
        else:
            rows = [(c, f"{lv:.2g} of {h}", meaning or "-") for c, lv, h, meaning in reached]
        if not rows:
            return None
        figure = [] if public else [doc.Figure(levels(reached))]
        table = doc.DataTable.of(["column", "level", "meaning"], rows, "Level reached, by column")
        return doc.Section("Levels of detail", (doc.Paragraph(intro), *figure, table), "levels")

    def columns_released_section(self) -> doc.Section:
        """Return the columns, their roles, and what became of them as far as the release shows it."""
        before, after = self.release.original.columns, self.release.data.columns
        told = f"{format_number(len(self.release.data))} records are released. {HOW_MANY}"
        table = doc.DataTable.of(
            ["column", "role", "values"],
            [
                (name, record_words.role(column), self.what_became_of(name))
                for name, column in {**before, **after}.items()
            ],
            "Columns, their roles, and whether a step may have changed their values",
        )
        return doc.Section("What was changed", (doc.Paragraph(told), table), "changes")

    def what_became_of(self, column: str) -> str:
        """Return what the steps did with a column, as whoever holds the release could tell."""
        if column not in self.release.data.columns:
            return "left out"
        if column not in self.release.original.columns:
            return "new"
        level = self.whole_levels.get(column)
        if level:
            meaning = facts.name_level(self.release, column, level)
            return f"raised to level {level}" + (f": {meaning}" if meaning else "")
        reach = columns_in_reach(self.release)
        return "protected" if level is None and column in reach else "as collected"

    @functools.cached_property
    def whole_levels(self) -> Mapping[str, int]:
        """Return the level of each column that was raised as a whole."""
        return facts.whole_levels(self.release)

    def check_blocks(self) -> list[doc.Block]:
        """Return how a recipient checks the release, with tacit and without."""
        rerun = (
            "This compares the files with the manifest and recomputes each claim on the data file. The data "
            "holder, who has the confidential ledger and the source, can also run the plan again and obtain "
            "the same data."
        )
        blocks = [*super().check_blocks(), doc.Paragraph(rerun)]
        for check in record_words.sql_check(self.release):
            told = (
                f"Without tacit: any SQL engine recomputes {check['name']}. The answer must be at least "
                f"{check['at_least']}."
            )
            blocks += [doc.Paragraph(told), doc.Code(check["query"])]
        return blocks

    def terms(self) -> tuple[tuple[str, doc.Words], ...]:
        """Return the terms that the report uses."""
        return record_words.glossary(self.release, [r.kind for r in self.release.after])

    # -- for the board ---------------------------------------------------------------------------

    def board_blocks(self) -> Sequence[doc.Section | None]:
        """Return what was suppressed and recoded, riskiest combinations, columns, and every measure."""
        return [
            self.suppressed_section(),
            self.levels_section(public=False),
            self.combinations_section(),
            self.columns_section(),
            self.risk_section(public=False),
            self.utility_section(public=False),
        ]

    def suppressed_section(self) -> doc.Section:
        """Return what was suppressed and what recoded, by column."""
        changed, found = None if self.counted is None else self.counted["cells"], self.changes
        uncounted = " A step cut the link between records: changes cannot be counted."
        cut = "" if found.linked else uncounted

        def row(c: Compared) -> tuple[Any, ...]:
            known = changed if c.fate == "released" else None
            times = None if known is None else known.get(c.name, 0)
            missing_before, missing_after, *distinct = c.counts()
            return (c.name, c.fate, missing_before, missing_after, times, *distinct)

        table = doc.DataTable.of(
            [
                *("column", "fate"),
                *doc.numbers("missing before", "missing after", "values changed"),
                *doc.numbers("distinct before", "distinct after"),
            ],
            [row(c) for c in self.columns],
            "Suppressed and recoded values, by column",
            f"A suppressed value is missing afterwards; a recoded column has fewer distinct values.{cut}",
        )
        sentence = record_words.records_sentence(found)
        chart = column_changes((c, n, found.records_after) for c, n in found.cells.items())
        charts = (doc.Figure(chart),) if any(found.cells.values()) else ()
        blocks = (doc.Paragraph(sentence), table, *charts)
        return doc.Section("Suppressed and recoded", blocks, "suppressed")

    def combinations_section(self) -> doc.Section | None:
        """Return the combinations of keys on which most records are unique."""
        found = facts.riskiest_combinations(self.release, MOST_COMBINATIONS)
        if not found:
            return None
        intro = (
            "Whoever knows these columns of a person may find the record. Combinations of up to three keys, "
            "those with most unique records after protection first."
        )
        table = doc.DataTable.of(
            [
                "columns known",
                *doc.numbers("unique before", "unique after", "below k before", "below k after"),
            ],
            [(", ".join(c.columns), *c.unique, *c.below) for c in found],
            f"Riskiest combinations of keys; k = {found[0].k}",
        )
        return doc.Section("Riskiest combinations", (doc.Paragraph(intro), table), "combinations")

    def columns_section(self) -> doc.Section:
        """Return each column before and after, as numbers and as a small chart."""
        kept = [c for c in self.columns if c.fate == "released"]
        table = doc.DataTable.of(
            [
                *("column", *doc.numbers("distance")),
                *(doc.Column("missing before", "percent"), doc.Column("after", "percent")),
                *doc.numbers("mean before", "after", "sd before", "after"),
            ],
            [c.row() for c in kept],
            "Columns before and after protection",
            "Distance between the two distributions, from 0 (the same) to 1: Kolmogorov's for numbers, half the "
            "sum of the differences of shares for categories. A recoded column has other categories: 1.",
        )
        charts = tuple(doc.Figure(column_chart(c.name, c.bins), small=True) for c in kept if c.bins)
        gallery = (doc.Gallery(charts),) if charts else ()
        return doc.Section("Columns before and after", (table, *gallery), "columns")


view_class.register(Microdata, lambda _: RecordsView)


def class_section(i: int, part: facts.ClassSizes, *, public: bool) -> doc.Section:
    """Return the class sizes of one quasi-identifier before and after; the first is explained at length."""
    columns = ", ".join(part.columns)
    told = f"A class is the group of records that are alike on {columns}."
    if i == 0:
        told += (
            " Whoever knows these values of a person can narrow the search to one class, and no further: "
            "the smaller the class, the greater the risk."
        )
    title = f"Records by class size: {part.name}"
    if public:
        sizes = {size: size * n for size, n in part.after.items()}
        chart = class_sizes(sizes, k=part.k, title=title, subtitle=columns)
        rows: list[Any] = [(what, now) for what, _, now in part.rows()]
        heads = ["measure", *doc.numbers("value")]
        table = doc.DataTable.of(heads, rows, "Classes of the released records")
    else:
        chart = class_sizes_before_after(
            part.before, part.after, k=part.k, title=title, subtitle=columns
        )
        table = doc.DataTable.of(
            ["measure", *doc.numbers("before", "after")], part.rows(), "Before and after protection"
        )
    return doc.Section(
        f"Class sizes on {part.name}", (doc.Paragraph(told), doc.Figure(chart), table)
    )
