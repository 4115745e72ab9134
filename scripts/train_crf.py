"""Train the trained voter of Scrub on generated letters and notes written by hand, and calibrate it on other letters.

    PYTHONPATH=examples python scripts/train_crf.py [--documents 7000] [--folder src/tacit/text]

The model goes to ``models/en.crfsuite.xz``, the calibration to ``calibration.json``. Equal seeds and versions of the
library give equal files, byte for byte. Test families are not touched.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pycrfsuite

from letters import write_letters
from letters.medicine import TERMS
from letters.names import LISTS, NICKNAMES, vocabulary
from letters.page import same_length
from tacit.data.corpus import Document, Span
from tacit.data.word_lists import read_list
from tacit.text.model import crf
from tacit.text.model.crf import load_describer
from tacit.text.reading.page import Page, load_lexicon

SEED = 20_260
#: Penalties: the absolute one keeps the model small, the squared one keeps it modest.
ABSOLUTE, SQUARED = 6.0, 0.02
#: Features seen less often in training are left out.
RARELY = 8
ROUNDS = 80
#: Share of the words around a token that training hides, so that no single turn of phrase is relied upon.
HIDDEN = 0.3
#: Steps of the calibration that are kept, and spans below which a kind is not calibrated by itself.
KNOTS, ENOUGH = 24, 200
CLINICAL = Path(__file__).with_name("clinical")
#: Notes written by hand, and how often each stands among the letters, with other names each time.
NOTES, VARIED = Path(__file__).with_name("notes"), 6
MARKED = re.compile(r"⟦(\w+):([^⟦⟧⟪⟫]*)⟧|⟪([^⟦⟧⟪⟫]*)⟫")
#: A word of a name that may become another.
NAME_WORD = re.compile(r"[^\W\d_]{3,}")
GIVEN = {
    w.lower()
    for names in (
        *(LISTS[k] for k in ("women", "men", "women of words", "men of words", "pet names")),
        *NICKNAMES.values(),
    )
    for w in names
}


def label_tokens(document, tokens):
    """Return the label of each token."""
    labels = [crf.OUTSIDE] * len(tokens.words)
    spans = iter(document.gold)
    span = next(spans, None)
    for i, (start, end) in enumerate(zip(tokens.starts, tokens.ends, strict=True)):
        while span is not None and span.end <= start:
            span = next(spans, None)
        if span is not None and span.start < end and span.kind in crf.LABELS:
            labels[i] = crf.LABELS[span.kind]
    return labels


def training_letters(n, notes):
    """Return documents of the training families, a third of them fragments in which anything stands beside anything,
    and the notes written by hand, each several times with other names.

    Every sixth is repeated in small letters and every ninth in capitals, where names must be told without them.
    """
    more = write_letters(n // 3, SEED + 1, families=["fragments"]).documents
    letters = (*write_letters(n - len(more), SEED, split="train").documents, *more)
    rng = random.Random(SEED)
    letters = [vary(d, rng) if i % 2 else d for i, d in enumerate(letters)]
    letters += [vary(d, rng) for d in notes for _ in range(VARIED)]
    small = [in_case(d, str.lower) for d in letters[::6]]
    large = [in_case(d, str.upper) for d in letters[1::9]]
    return (*letters, *small, *large)


def written_notes():
    """Return the notes of scripts/notes: written by hand about people who do not exist, with marks in brackets."""
    found = []
    for file in sorted(NOTES.glob("*.txt")):
        for part in file.read_text(encoding="utf-8").split("\n=== ")[0:]:
            name, _, marked = part.removeprefix("=== ").partition("\n")
            found.append(unmark(name, marked))
    return found


def unmark(name, marked):
    """Return the document of a text in which ⟦kind:words⟧ must go and ⟪words⟫ must stay."""
    parts, gold, keep, at, length = [], [], [], 0, 0
    for m in MARKED.finditer(marked):
        kind, words = (m[1], m[2]) if m[1] else ("other", m[3])
        before = marked[at : m.start()]
        parts += [before, words]
        start = length + len(before)
        length = start + len(words)
        (gold if m[1] else keep).append(Span(start, length, kind))
        at = m.end()
    return Document(name, "".join([*parts, marked[at:]]), tuple(gold), tuple(keep))


def vary(document, rng):
    """Return a document with other names, of all that the lists hold, and other medical expressions.

    What the generator knows are some hundred of each; what the lists say of a word is learnt from many more.
    """
    drawn = {}
    parts, gold, keep, at, length = [], [], [], 0, 0
    marked = [(s, gold) for s in document.gold] + [(s, keep) for s in document.keep]
    for span, kind in sorted(marked, key=lambda pair: pair[0]):
        text = document.text[span.start : span.end]
        if kind is keep:
            text = other_term(text, rng)
        elif span.kind in ("name", "nickname"):
            text = NAME_WORD.sub(lambda m: other_name(m.group(), drawn, rng), text)
        before = document.text[at : span.start]
        parts += [before, text]
        start = length + len(before)
        length = start + len(text)
        kind.append(replace(span, start=start, end=length))
        at = span.end
    text = "".join([*parts, document.text[at:]])
    return replace(document, text=text, gold=tuple(gold), keep=tuple(keep))


def other_term(text, rng):
    """Return another medical expression of the same sort, in the same letters, or the same one."""
    pool = term_pools().get(text.lower())
    if not pool or rng.random() < 0.3:
        return text
    found = rng.choice(pool)
    return (
        found.upper()
        if text.isupper() and len(text) > 6
        else found.lower()
        if text.islower() and len(text) > 6
        else found
    )


def read_terms(name):
    """Return medical expressions of scripts/clinical, as clinicians write them."""
    return (CLINICAL / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@cache
def term_pools():
    """Return by expression of the generator those that may stand in its place."""
    eponyms, things, short = (
        [t for t in read_terms(name) if vocabulary(t) == "train"]
        for name in ("eponyms", "things", "abbreviations")
    )
    named = (*TERMS["eponym"], *TERMS["sign"], *TERMS["tool"])
    pools = dict.fromkeys(map(str.lower, named), eponyms)
    pools |= dict.fromkeys(map(str.lower, TERMS["acronym"]), short)
    return pools | dict.fromkeys(map(str.lower, TERMS["drug"]), things)


def other_name(word, drawn, rng):
    """Return another name in the same letters, small or large, and the same one for the same word."""
    given, family = name_pools()
    low = word.lower()
    if low not in drawn:
        pool = given if low in GIVEN else family
        drawn[low] = rng.choice(pool[rng.random() < 0.5]) if rng.random() < 0.85 else low
    found = drawn[low]
    return found.upper() if word.isupper() else found if word.islower() else found.capitalize()


@cache
def name_pools():
    """Return first names and surnames, all and the usual ones, without those of the other splits."""
    pools = []
    for name in ("first_names", "last_names"):
        listed = {
            w: int(score.lstrip("fmu"))
            for w, score in read_list(name).items()
            if len(w) > 2 and vocabulary(w.capitalize()) == "train"
        }
        pools.append((sorted(listed), sorted(w for w, score in listed.items() if score >= 12)))
    return pools


def in_case(document, change):
    """Return a document in another case, with its marks where they were."""
    return replace(document, text=same_length(document.text, change(document.text), change))


def hide(features, rng):
    """Leave out some of the features at random."""
    return [f for f in features if rng.random() >= HIDDEN]


def train(path, documents, rounds=ROUNDS, language="en"):
    """Write a model."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params(
        {"c1": ABSOLUTE, "c2": SQUARED, "max_iterations": rounds, "feature.minfreq": RARELY}
    )
    describer = load_describer(language)
    rng = random.Random(SEED)
    for document in documents:
        page = Page(document.text, describer.lexicon)
        if page.size:
            features = [hide(f, rng) for f in describer.describe(page.tokens, page.known)]
            trainer.append(features, label_tokens(document, page.tokens))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "model"
        trainer.train(str(plain))
        path.write_bytes(lzma.compress(plain.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    crf.read_model.cache_clear()


def collect(documents, language="en"):
    """Return by kind the probabilities of the model's spans, and whether each lies within what should be found."""
    found = {}
    for document in documents:
        page = Page(document.text, load_lexicon(language))
        for start, end, kind, p in crf.raw_votes(page.tokens, language, page.known):
            right = sum(max(0, min(end, g.end) - max(start, g.start)) for g in document.gold)
            found.setdefault(kind, []).append((p, right >= 0.8 * (end - start)))
    return found


def fit_steps(pairs):
    """Return knots of the isotonic regression of right on probability, by pooling adjacent violators."""
    pairs = sorted(pairs)
    blocks = []
    for p, right in pairs:
        blocks.append([p, p, float(right), 1.0])
        while len(blocks) > 1 and blocks[-2][2] / blocks[-2][3] >= blocks[-1][2] / blocks[-1][3]:
            _, high, hits, weight = blocks.pop()
            blocks[-1][1] = high
            blocks[-1][2] += hits
            blocks[-1][3] += weight
    # A share of one half of a success is never certain: (hits + 1/2) / (n + 1).
    xs = np.array([(low + high) / 2 for low, high, _, _ in blocks])
    ys = np.array([(hits + 0.5) / (weight + 1) for _, _, hits, weight in blocks])
    ys = np.maximum.accumulate(ys)
    if len(xs) > KNOTS:
        chosen = np.unique(np.linspace(0, len(xs) - 1, KNOTS).round().astype(int))
        xs, ys = xs[chosen], ys[chosen]
    return [[round(float(x), 4), round(float(y), 4)] for x, y in zip(xs, ys, strict=True)]


def strictly_rising(knots):
    """Return knots without two at one place."""
    kept = []
    for x, y in knots:
        if kept and x <= kept[-1][0]:
            kept[-1][1] = y
        else:
            kept.append([x, y])
    return kept


def calibrate(documents, path, language="en"):
    """Write the table of calibration."""
    found = collect(documents, language)
    everything = [pair for pairs in found.values() for pair in pairs]
    tables = {
        f"crf {kind}": strictly_rising(fit_steps(pairs if len(pairs) >= ENOUGH else everything))
        for kind, pairs in sorted(found.items())
    }
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    voters = {k: v for k, v in known.get("voters", {}).items() if not k.startswith("crf")} | tables
    rows = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(voters.items())]
    path.write_text('{"voters": {\n' + ",\n".join(rows) + "\n}}\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=7000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=crf.MODELS.parent)
    options = parser.parse_args()
    model = crf.model_path("en", options.folder / "models")
    train(model, training_letters(options.documents, written_notes()), options.rounds)
    if options.folder == crf.MODELS.parent:
        calibrate(
            write_letters(3000, SEED, split="calibrate").documents,
            options.folder / "calibration.json",
        )
    print(f"{model}: {model.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
