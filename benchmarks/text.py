"""Free text: kilobytes a second of finding and replacing, against tokenising alone.

PYTHONPATH=examples python benchmarks/text.py [documents]

CPU seconds of one core. Generated letters are dense (a third of their letters identify someone); the same letters with
ten times as much medicine between them are closer to a ward's notes.
"""

import sys
import time

from letters import write_letters
from tacit.text import engine
from tacit.text.engine import Settings, find_spans, replace_spans
from tacit.text.reading.words import tokenise


def speed(texts, work):
    begun = time.process_time()
    for text in texts:
        work(text)
    return sum(len(t.encode()) for t in texts) / 1000 / (time.process_time() - begun)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    settings = Settings()
    begun = time.process_time()
    find_spans("warm", settings)
    print(f"lists and first text: {time.process_time() - begun:.2f} CPU s")
    dense = [d.text for d in write_letters(n, seed=7, split="train").documents]
    medicine = write_letters(n, seed=7, families=["eponyms"]).documents
    sparse = [
        a + "\n".join(d.text for d in medicine[k % n : k % n + 9]) for k, a in enumerate(dense)
    ]

    def scrub(text):
        replace_spans(text, find_spans(text, settings), settings, b"key")

    print(f"the first {min(n, 300)} letters of a process: {speed(dense[:300], scrub):.0f} kB/s")
    voter = engine.crf_voter
    for name, texts in (("dense letters", dense), ("letters within medicine", sparse)):
        base = speed(texts, tokenise)
        engine.crf_voter = lambda: None
        rules = speed(texts, scrub)
        engine.crf_voter = voter
        both = f"; with the trained voter {speed(texts, scrub):.0f} kB/s" if voter() else ""
        print(
            f"{name}: tokenise {base:.0f} kB/s; rules and replacing {rules:.0f} kB/s, ratio {base / rules:.0f}{both}"
        )


if __name__ == "__main__":
    main()
