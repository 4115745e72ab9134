"""Chart: a Vega-Lite specification that saves itself without a browser or a network."""

from __future__ import annotations

import functools
import html
import json
import re
import textwrap
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import InputError, SdcWarning, near_match
from tacit.plot.drawing import NotDrawn, draw
from tacit.plot.theme import THEME
from tacit.storage.own_folders import write_whole

#: Characters that XML, and so a drawing, cannot hold (the renderer ends the whole process on them), and
#: those that turn the text after them around, by which one name can pass for another.
ILLEGAL = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]"
)

FORMATS = ("svg", "png", "pdf", "html", "json")


@dataclass(frozen=True)
class Chart:
    """A chart as data."""

    #: A Vega-Lite specification, data included.
    spec: dict[str, Any]
    #: What the chart shows, for people who cannot see it. Required.
    alt: str

    def full(self) -> dict[str, Any]:
        """Return the specification with the house theme and the alternative text."""
        spec: dict[str, Any] = make_drawable(
            {
                "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
                "description": self.alt,
                "config": THEME,
                **self.spec,
            }
        )
        return spec

    def svg(self) -> str:
        """Return the chart as SVG text."""
        return draw_svg(json.dumps(self.full()))

    def png(self, scale: float = 2.0) -> bytes:
        """Return the chart as PNG bytes."""
        return bytes(draw("vegalite_to_png", self.full(), scale=scale))

    def save(self, path: str | Path) -> Path:
        """Save as svg, png, pdf, html (self-contained) or json, by the file's extension."""
        target = Path(path)
        form = target.suffix.lstrip(".").lower()
        if form not in FORMATS:
            hint = near_match(form, FORMATS)
            raise InputError(
                f"a chart is saved as {', '.join(FORMATS)}, not {form!r}. {hint}".strip()
            )
        made: str | bytes
        match form:
            case "svg":
                made = self.svg()
            case "png":
                made = self.png()
            case "pdf":
                made = draw("vegalite_to_pdf", self.full())
            case "html":
                made = draw("vegalite_to_html", self.full(), bundle=True)
            case _:
                made = json.dumps(self.full(), indent=1)
        write_whole(target, made)
        return target

    def save_if_drawn(self, path: str | Path) -> None:
        """Save the chart beside other results; where it cannot be drawn, a warning says so and no file is left."""
        try:
            self.save(path)
        except NotDrawn as error:
            Path(path).unlink(missing_ok=True)
            warnings.warn(f"{Path(path).name!r} was not written: {error}", SdcWarning, stacklevel=2)

    def svg_or_note(self) -> str:
        """Return the chart as SVG, or a drawing of the sentence that says why there is none, with a warning."""
        try:
            return self.svg()
        except NotDrawn as error:
            warnings.warn(
                f"a report was made without its charts: {error}", SdcWarning, stacklevel=2
            )
            return note_in_place(str(error))

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        return {"image/svg+xml": self.svg(), "text/plain": self.alt}


@functools.lru_cache(maxsize=64)
def draw_svg(spec: str) -> str:
    """Return a specification as SVG; several reports show the same charts."""
    # As data, not as text: a value that is no number is then drawn as missing.
    return str(draw("vegalite_to_svg", json.loads(spec)))


def note_in_place(sentence: str) -> str:
    """Return a drawing of a sentence, for the place of a chart that could not be drawn."""
    lines = textwrap.wrap(sentence, 56)
    rows = "".join(
        f'<text x="8" y="{20 * (i + 1)}" fill="#1f2933">{html.escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    size = f'width="400" height="{20 * len(lines) + 12}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">{rows}</svg>'


def drawable_text(text: str) -> str:
    """Return text without characters that no drawing can hold or that disguise others."""
    return ILLEGAL.sub("", text)


def make_drawable(value: Any) -> Any:
    """Return a specification in which every text can be drawn."""
    if isinstance(value, str):
        return drawable_text(value)
    if isinstance(value, Mapping):
        return {make_drawable(k): make_drawable(v) for k, v in value.items()}
    return [make_drawable(v) for v in value] if isinstance(value, list | tuple) else value
