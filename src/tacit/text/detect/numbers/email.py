"""Addresses of e-mail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

BEFORE = re.compile(r"[\w.+%'-]{1,64}$")
AFTER = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}")


@detector("e-mail", m.AT)
def find_emails(page: Page, i: int) -> Iterator[Candidate]:
    """Letters and digits on both sides of an at sign."""
    at = page.starts[i]
    before = BEFORE.search(page.text[max(0, at - 64) : at])
    after = AFTER.match(page.text, at + 1)
    if not before or not after:
        return
    start = at - len(before[0].lstrip(".'-"))
    if start < at:
        yield Candidate(
            start, after.end(), "email", 0.99 if "." in after[0] else 0.85, "e-mail", person=True
        )
