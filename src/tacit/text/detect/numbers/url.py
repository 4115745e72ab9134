"""Addresses of the web, and numbers of machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tacit.text.detect.registry import Candidate, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

FULL = re.compile(r"(?:https?|ftp)://[^\s<>\"']{1,2000}|www\.[^\s<>\"']{1,2000}", re.IGNORECASE)
DOMAIN = re.compile(
    r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:com|org|net|edu|gov|uk|de|info|io|health|eu|at|ch|au|nz|ie|ca|za|biz|app|scot|wales|clinic|online|site|example)(?:/[^\s<>\"']{0,500})?(?![\w])",
    re.IGNORECASE,
)
MACHINE = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.]\d)")
URL = m.mark("url")


@detector("web address", URL)
def find_urls(page: Page, i: int) -> Iterator[Candidate]:
    """Text that begins with http:// or www., or ends in a common domain."""
    start = page.starts[i]
    found = FULL.match(page.text, start)
    if found:
        yield Candidate(start, start + len(found[0].rstrip(".,;:!?)")), "url", 0.99, "web address")
        return
    k = start
    while k > 0 and start - k < 100 and (page.text[k - 1].isalnum() or page.text[k - 1] in ".-"):
        k -= 1
    found = DOMAIN.match(page.text, k)
    if (
        found
        and found.end() >= page.ends[i]
        and found.start() < start
        and page.text[k - 1 : k] != "@"
    ):
        yield Candidate(
            k,
            start + len(page.text[start : found.end()].rstrip(".,;:!?)")),
            "url",
            0.9,
            "web address",
        )


@detector("machine address", m.FEW)
def find_machines(page: Page, i: int) -> Iterable[Candidate]:
    """Four numbers with full stops."""
    if page.low(i + 1) != "." or page.low(i + 3) != "." or page.low(i - 1) == ".":
        return ()
    found = MACHINE.match(page.text, page.starts[i])
    if not found or any(int(p) > 255 for p in found[0].split(".")):
        return ()
    return (Candidate(found.start(), found.end(), "url", 0.85, "machine address"),)
