"""The review queue of text columns: a look at the original records, block by block.

Only words and what stands around them enter the queue. A record whose text may identify by what it tells is named by
a token that is drawn anew; which record that is stands in a file of its own.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple
from typing import Any

import pyarrow as pa

from tacit.context import Context
from tacit.data.corpus import Findings
from tacit.data.in_blocks import fold_records
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.text.review import Entry, Queue, add_words, rank_words, words_in
from tacit.text.scrub import Scrub
from tacit.text.work import Scrubber, items_of, look_batch, record_scrubbers


def queue_records(
    step: Scrub, data: Microdata, decided: Iterable[Entry] = (), ctx: Context | None = None
) -> tuple[Queue, dict[str, int]]:
    """Return the queue of the text columns of records as they were before a step, and the record behind each token.

    Decisions on the entries of an earlier queue (``decided``) stay in the new one.
    """
    ctx = Context.start(0) if ctx is None else ctx
    task, known = step.task(), step.known_columns(data)
    columns = tuple(dict.fromkeys((*step.columns, *known)))

    def work(look: Scrubber[list[Findings]]) -> Callable[[int, pa.Table], Mapping[str, Any]]:
        def look_at_block(_block: int, table: pa.Table) -> dict[str, Any]:
            """Return the uncertain words of some records, and the rows that may identify by what they tell."""
            words: dict[str, Entry] = {}
            narratives = []
            rows = table.column(ROW).to_pylist()
            for column in step.columns:
                there, items = items_of(table, column, known)
                found = (findings for part in look(items) for findings in part)
                for i, item, findings in zip(there, items, found, strict=True):
                    add_words(words, words_in(item.text, findings.uncertain))
                    narratives += [(rows[i], reason) for reason in findings.warnings]
            return {"words": [astuple(e) for e in words.values()], "narratives": narratives}

        return look_at_block

    with record_scrubbers(task, data, step.columns, look_batch, ctx) as look:
        told = fold_records(data, columns, work(look), ctx)
    words: dict[str, Entry] = {}
    tokens: dict[int, str] = {}
    narratives = []
    for part in told:
        add_words(words, (Entry(*entry) for entry in part["words"]))
        for row, reason in part["narratives"]:
            token = tokens.setdefault(row, secrets.token_hex(6))
            narratives.append({"document": f"record {token}", "reason": reason})
    return rank_words(words, decided, narratives), {t: row + 1 for row, t in tokens.items()}
