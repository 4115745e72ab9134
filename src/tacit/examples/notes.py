"""The example of free text as files: letters, what is known of their patients, a table with notes, and plans."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tacit.data.corpus import Corpus, Document
from tacit.examples.letters import take_letters
from tacit.examples.plans import write_plan

#: Families of short notes, for the table.
SHORT = (
    "nursing",
    "phone_memo",
    "soap",
    "emergency",
    "pharmacy",
    "ward_round",
    "ward_notes",
    "surgical",
    "handover",
    "laboratory",
)


def write_notes(folder: str | Path, n: int = 60, seed: int = 1) -> Path:
    """Write the example as files and return the path of the plan for the letters.

    The folder, made where needed, receives ``letters/`` with one text file each, ``known.csv`` with the name of each
    patient, ``patients.csv`` with a column of notes, and the plans ``letters.yaml``, which is returned, and
    ``patients.yaml``.
    """
    # Both before anything is written: there may not be so many.
    letters = take_letters(n, seed, None, None, "en")
    notes = take_letters(n, seed + 1, SHORT, None, "en")
    target = Path(folder)
    (target / "letters").mkdir(parents=True, exist_ok=True)
    known = []
    for document in letters:
        file = target / "letters" / f"{document.name}.txt"
        file.write_text(document.text, encoding="utf-8", newline="")
        name = patient_name(document)
        if name:
            known.append((file.name, name))
    write_rows(target / "known.csv", ("document", "name"), known)
    header = ("patient_id", "name", "sex", "birth_year", "zip", "note")
    write_rows(target / "patients.csv", header, list(patients(notes, seed)))
    write_plan(target, "patients.yaml")
    return write_plan(target, "letters.yaml")


def patients(notes: Corpus, seed: int) -> Iterator[tuple[object, ...]]:
    """Yield records with a note each; nobody is described."""
    rng = np.random.default_rng(seed)
    for i, document in enumerate(notes):
        yield (
            f"P{100_000 + int(rng.integers(900_000))}",
            patient_name(document),
            "mf"[int(rng.integers(2))],
            1940 + int(rng.integers(4)) * 15,
            f"0213{int(rng.integers(3))}",
            document.text.strip() or f"Note {i}: nothing to report.",
        )


def patient_name(document: Document) -> str:
    """Return the patient's name as the letter writes it in full; empty where it names nobody."""
    names = [
        document.text[s.start : s.end]
        for s in document.gold or ()
        if s.kind == "name" and s.entity == "patient"
    ]
    return " ".join(max(names, key=len, default="").replace(",", " ").split())


def write_rows(file: Path, header: tuple[str, ...], rows: Sequence[Sequence[object]]) -> None:
    """Write a CSV file."""
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
