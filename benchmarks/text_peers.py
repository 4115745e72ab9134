"""Scrub on letters of families that it never saw, against the peers that are installed, in one run.

    PYTHONPATH=examples python benchmarks/text_peers.py [documents]

Presidio (presidio-analyzer; without a model its rules only) and philter-lite are run when they can be imported; nothing
is downloaded. For each: recall with its interval, precision, share of the expressions that must stay but did not, and
speed in CPU seconds, also as a ratio to that of Scrub.
"""

import logging
import sys
import time
from pathlib import Path

from letters import write_letters
from tacit.data.corpus import Span
from tacit.text.engine import Settings, find_spans
from tacit.text.evaluate import evaluate_texts
from tacit.text.reading.words import TOKEN


def scrub(**settings):
    chosen = Settings(**settings)
    return lambda text: find_spans(text, chosen).spans


def presidio():
    """Presidio's pattern recognisers with an empty model of the language: it looks nothing up on the network."""
    # It asks the network for a list of suffixes and goes on without.
    logging.disable(logging.CRITICAL)
    try:
        import spacy
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
    except ImportError:
        return None

    class Blank(SpacyNlpEngine):
        def __init__(self):
            super().__init__(models=[{"lang_code": "en", "model_name": "blank"}])
            self.nlp = {"en": spacy.blank("en")}

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    engine = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])

    def find(text):
        return merge(
            Span(r.start, r.end, "other", r.score) for r in engine.analyze(text, language="en")
        )

    return find


def philter():
    """philter-lite with its own filters: what none of its lists and patterns knows to be harmless goes.

    Its tagger of parts of speech needs data that no package carries; without them every word counts as a noun.
    """
    try:
        import nltk
        import philter_lite
    except ImportError:
        return None
    filters = philter_lite.load_filters(
        Path(philter_lite.__file__).parent / "configs" / "philter_delta.toml"
    )
    try:
        nltk.pos_tag(["word"])
    except LookupError:
        nltk.pos_tag = lambda words: [(w, "NN") for w in words]

    def find(text):
        harmless, _, _ = philter_lite.detect_phi(text, filters)
        kept = bytearray(len(text))
        for start, stop in harmless.filecoords():
            kept[start:stop] = b"\x01" * (stop - start)
        return [
            Span(*m.span(), "other")
            for m in TOKEN.finditer(text)
            if m.group()[0].isalnum() and not all(kept[m.start() : m.end()])
        ]

    return find


def merge(spans):
    """Return spans without overlaps."""
    result = []
    for span in sorted(spans):
        if result and span.start < result[-1].end:
            last = result.pop()
            span = Span(last.start, max(last.end, span.end), "other")
        result.append(span)
    return result


def main(n):
    documents = write_letters(n, seed=11, split="test").documents
    size = sum(len(d.text) for d in documents) / 1e3
    tools = {
        "Scrub, threshold 0.8": scrub(threshold=0.8),
        "Scrub, 0.7 with reduction": scrub(threshold=0.7, reduction=True),
        "Scrub, strict": scrub(strict=True),
        "Presidio, rules": presidio(),
        "philter-lite": philter(),
    }
    base = None
    print(f"{n:,} letters of unseen families, {size:,.0f} kB\n")
    print(
        f"{'':28}{'recall':>8}{'95 %':>16}{'precision':>11}{'kept lost':>11}{'kB/s':>8}{'ratio':>7}"
    )
    for name, find in tools.items():
        if find is None:
            print(f"{name:28}not installed")
            continue
        find(documents[0].text)
        begun = time.process_time()
        found = [find(d.text) for d in documents]
        seconds = time.process_time() - begun
        base = base or seconds
        r = evaluate_texts(documents, found).numbers
        interval = f"{r['recall_low']:.3f}-{r['recall_high']:.3f}"
        print(
            f"{name:28}{r['recall']:8.3f}{interval:>16}{r['precision']:11.3f}{r['share_keep_violated']:11.3f}"
            f"{size / seconds:8.0f}{seconds / base:7.2f}"
        )


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 700)
