"""Texts in a plan and a release: read from a folder, scrubbed, and written in a drawn order under neutral names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tacit.claims import Claim
from tacit.data.base import Action, claims_of
from tacit.data.corpus import Corpus, Document
from tacit.errors import DisclosureRefused
from tacit.io.corpora import COLUMNS, read_texts
from tacit.io.corpora.writing import FOLDER, read_written, write_texts
from tacit.io.formats import by_ending, writable
from tacit.kinds.base import Kind

#: What a later verification needs: released texts, known records and claims.
FULL = "texts.json"
#: Which released text came from which file.
NAMES = "names.json"
QUEUE = "review.json"
#: Endings that records are never read from.
OWN = tuple(e for e in by_ending("corpus") if e != ".txt")


class Texts(Kind[Corpus]):
    """Documents: their names stay inside, their order is drawn."""

    name: ClassVar[str] = "corpus"
    noun: ClassVar[str] = "documents"
    formats: ClassVar[tuple[str, ...]] = writable("corpus")

    # -- coming in -----------------------------------------------------------------------------

    def holds_source(self, plan: Any) -> bool:
        """Return True for a folder or file of texts, a named text column, or a plan that begins with a step on texts."""
        if plan.source.text is not None:
            return True
        path = Path(plan.resolve(plan.source.path))
        if "://" in plan.source.path or path.suffix.lower() in COLUMNS:
            return False
        if path.is_dir():
            return not any(path.glob("**/*.parquet"))
        begins = bool(plan.steps) and plan.steps[0].acts_on() is Corpus
        return path.suffix.lower() in OWN or begins

    def read(self, plan: Any) -> Corpus:
        """Read the texts with what is known and what people have marked."""
        source = plan.source
        given = {
            name: plan.resolve(value)
            if isinstance(value, str) and name in ("gold", "record")
            else value
            for name, value in source.text_options().items()
        }
        if isinstance(source.record, str) and source.text is not None:
            given["record"] = source.record
        return read_texts(plan.resolve(source.path), **given, **source.options())

    # -- looking -------------------------------------------------------------------------------

    def fingerprint(self, data: Corpus) -> str:
        """Return the SHA-256 of names, texts and known records."""
        return data.fingerprint()

    def compare(self, before: Corpus, after: Corpus) -> dict[str, Any]:
        """Return how many documents changed, were dropped or added, and how many characters there are."""
        old = {d.name: d.text for d in before}
        new = {d.name: d.text for d in after}
        return {
            "documents changed": sum(new[n] != text for n, text in old.items() if n in new),
            "dropped": len(old.keys() - new.keys()),
            "added": len(new.keys() - old.keys()),
            "characters before": before.characters,
            "characters after": after.characters,
        }

    def describe(self, data: Corpus) -> dict[str, Any]:
        """Return documents and characters, and what de-identified means."""
        from tacit.text.scrub import NOT_ANONYMOUS

        return {
            "documents": len(data),
            "characters": data.characters,
            "columns": [],
            "warning": NOT_ANONYMOUS,
        }

    def outline(self, before: int, data: Corpus) -> dict[str, str]:
        """Return documents and characters."""
        return {"documents": f"{before:,} -> {len(data):,}", "characters": f"{data.characters:,}"}

    def default_measures(self, data: Corpus) -> list[str]:
        """Return what is left at risk, and what of the text is kept."""
        del data
        return ["text_risk", "text_utility"]

    # -- going out -----------------------------------------------------------------------------

    def check(self, data: Corpus) -> list[str]:
        """Refuse texts that nothing has scrubbed: they name people."""
        scrubbed = any(
            a.kind == "scrub"
            and a.parameters.get("mode") != "list"
            and a.parameters.get("search", "full") == "full"
            for a in data.history
        )
        if scrubbed or claims_of(data):
            return []
        return [
            "the texts were not scrubbed, and so they may name people; add a step scrub before release"
        ]

    def order_warning(self, data: Corpus) -> str:
        """Say that kept order tells the names of files."""
        del data
        return (
            "the texts keep the order of the source: whoever knows that order, or has another release in it, can tell "
            "which text came from which file"
        )

    def shuffle(self, data: Corpus, rng: np.random.Generator) -> Corpus:
        """Return the documents in a drawn order: that of their names would tell whose they are."""
        return data.with_documents(data.documents[i] for i in rng.permutation(len(data)))

    def write_public(self, data: Corpus, folder: Path, form: str) -> dict[str, str]:
        """Write the texts under numbers."""
        target = folder / (FOLDER if form in ("txt", "brat") else f"{self.stem}.{form}")
        write_texts(with_neutral_names(data), target, form)
        return {self.stem: target.name, "form": form}

    def read_back(self, data: Corpus | None, folder: Path, names: Mapping[str, str]) -> Corpus:
        """Return the texts of the files, with what is known of each where that is at hand."""
        written = dict(read_written(folder / names[self.stem], names["form"]))
        if data is None:
            return Corpus(tuple(Document(n, text) for n, text in written.items()))
        numbered = neutral_names(data)
        if list(written) != numbered:
            raise DisclosureRefused(
                "the released texts are not those of the release; nothing was released"
            )
        return data.with_documents(
            replace(d, text=written[n]) for n, d in zip(numbered, data, strict=True)
        )

    def reload(self, plan: Any, folder: Path, names: Mapping[str, str]) -> Corpus:
        """Read the released texts."""
        del plan
        return self.read_back(None, folder, names)

    def write_private(self, data: Corpus, folder: Path) -> None:
        """Keep which text came from which file, what was known, the claims, and the queue for review."""
        from tacit.text.review import queue_of, write_queue

        names = dict(zip(neutral_names(data), (d.name for d in data), strict=True))
        (folder / NAMES).write_text(
            json.dumps(names, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        full = {
            "documents": [
                {"name": d.name, "text": d.text, "record": {k: str(v) for k, v in d.record.items()}}
                for d in data
            ],
            "steps": [
                {
                    "kind": a.kind,
                    "parameters": dict(a.parameters),
                    "claims": [c.to_dict() for c in a.claims],
                }
                for a in data.history
            ],
        }
        (folder / FULL).write_text(json.dumps(full, ensure_ascii=False), encoding="utf-8")
        queue = queue_of(data)
        if queue.entries or queue.narratives:
            write_queue(folder / QUEUE, queue)

    def read_private(self, folder: Path) -> Corpus | None:
        """Return the texts as they were released, with known records and claims."""
        file = folder / FULL
        if not file.exists():
            return None
        full = json.loads(file.read_text(encoding="utf-8"))
        return Corpus(
            tuple(Document(d["name"], d["text"], record=d["record"]) for d in full["documents"]),
            history=tuple(
                Action(a["kind"], a["parameters"], claims=tuple(map(Claim.from_dict, a["claims"])))
                for a in full["steps"]
            ),
        )


def with_neutral_names(data: Corpus) -> Corpus:
    """Return texts under numbers, without what is known of them."""
    pairs = zip(neutral_names(data), data, strict=True)
    return Corpus(tuple(Document(n, d.text, found=d.found, marks=d.marks) for n, d in pairs))


def neutral_names(data: Corpus) -> list[str]:
    """Return a number for each document: names of files often name people."""
    width = max(4, len(str(len(data))))
    return [f"text-{i:0{width}d}" for i in range(1, len(data) + 1)]


KIND = Texts()
