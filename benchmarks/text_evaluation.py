"""The tables of docs/explain/text_evaluation.md: Scrub, its parts and its baselines on families that none of them saw.

PYTHONPATH=examples python benchmarks/text_evaluation.py [documents]
"""

import sys
import time

from letters import write_letters
from tacit.data.corpus import Span
from tacit.text import engine
from tacit.text.engine import Settings, find_spans
from tacit.text.evaluate import evaluate_texts
from tacit.text.model import crf
from tacit.text.reading.page import Page, load_lexicon
from tacit.text.work import search_with_cues, straight_search

VOTER = engine.crf_voter


def scrub(**settings):
    chosen = Settings(**settings)
    return lambda document: find_spans(document.text, chosen).spans


def rules_only(document):
    engine.crf_voter = lambda: None
    try:
        return find_spans(document.text, Settings()).spans
    finally:
        engine.crf_voter = VOTER


def voter_only(document):
    page = Page(document.text, load_lexicon("en"))
    return [Span(*v) for v in crf.vote(page.tokens, "en", page.known) or () if v[3] >= 0.5]


TOOLS = {
    "straight search": lambda d: straight_search(d.text, d.record),
    "search with cues": lambda d: search_with_cues(d.text, d.record),
    "rules only, 0.8": rules_only,
    "trained voter only, 0.5": voter_only,
    "threshold 0.8": scrub(),
    "0.7 with reduction": scrub(threshold=0.7, reduction=True),
    "strict": scrub(strict=True),
}
SHOWN = ("threshold 0.8", "0.7 with reduction", "strict")


def main(n):
    documents = write_letters(n, seed=44, split="test").documents
    size = sum(len(d.text) for d in documents) / 1e3
    results = {}
    print(
        "| | recall | 95 % | precision | must stay, changed | documents without a miss | kB/s |\n|---|---|---|---|---|---|---|"
    )
    for name, find in TOOLS.items():
        find(documents[0])
        begun = time.process_time()
        found = [find(d) for d in documents]
        seconds = time.process_time() - begun
        r = results[name] = evaluate_texts(documents, found)
        x = r.numbers
        print(
            f"| {name} | {x['recall']:.3f} | {x['recall_low']:.3f}-{x['recall_high']:.3f} | {x['precision']:.3f} | "
            f"{100 * x['share_keep_violated']:.1f} % | {x['share_without_miss']:.2f} | {size / seconds:.0f} |"
        )
    for by in ("kind", "role", "family", "style"):
        print(f"\n| {by} | spans | " + " | ".join(SHOWN) + " |\n|---|---|" + "---|" * len(SHOWN))
        tables = [
            {r["group"]: r for r in results[s].frame.rows(named=True) if r["by"] == by}
            for s in SHOWN
        ]
        for group, row in tables[0].items():
            cells = " | ".join(
                f"{t[group]['recall']:.3f} ({t[group]['low']:.3f}-{t[group]['high']:.3f})"
                for t in tables
            )
            print(f"| {group} | {row['spans']:,} | {cells} |")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1050)
