"""A site's own tagger: a function that takes a text and yields spans, checked before they count.

What it raises may quote the text, and so only the sort of the error is told.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from tacit.data.corpus import SPAN_KINDS, Span
from tacit.errors import InputError


@dataclass(frozen=True)
class CheckedTagger:
    """Calls a tagger, and lets through only spans that fit the text."""

    call: Callable[[str], Iterable[Span]]

    @property
    def __name__(self) -> str:
        return getattr(self.call, "__name__", "tagger")

    def __call__(self, text: str) -> list[Span]:
        """Return the spans that the tagger found."""
        try:
            found: list[Any] = list(self.call(text))
        except Exception as error:  # noqa: BLE001 - it is not ours, and may fail in any way
            raise InputError(
                f"scrub: the tagger {self.__name__!r} failed with {type(error).__name__}; mend it, or leave it out"
            ) from None
        return [self.checked(span, len(text)) for span in found]

    def checked(self, span: Any, length: int) -> Span:
        """Return a span whose places are numbers, or refuse it."""
        try:
            start, end = operator.index(span.start), operator.index(span.end)
            if 0 <= start < end <= length and span.kind in SPAN_KINDS and 0 <= span.certainty <= 1:
                return replace(span, start=start, end=end)
        except (AttributeError, TypeError):
            pass
        raise InputError(
            f"scrub: the tagger {self.__name__!r} gave something that is no span of the text. It must yield "
            f"tacit.Span(start, end, kind, certainty) with places within the text, a certainty between 0 and 1, and "
            f"one of the kinds {', '.join(SPAN_KINDS)}."
        )
