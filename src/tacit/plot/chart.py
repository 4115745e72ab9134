"""Chart: a Vega-Lite specification that saves itself without a browser or a network."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import InputError, explain_target, near_match
from tacit.plot.theme import THEME

#: Characters that XML, and so a drawing, cannot hold (the renderer ends the whole process on them), and
#: those that turn the text after them around, by which one name can pass for another.
ILLEGAL = re.compile(
    "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]"
)

FORMATS = ("svg", "png", "pdf", "html", "json")


@dataclass(frozen=True)
class Chart:
    """A chart as data.

    Attributes
    ----------
    spec
        A Vega-Lite specification, data included.
    alt
        What the chart shows, for people who cannot see it. Required.
    """

    spec: dict[str, Any]
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
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(self.full(), scale=scale))

    def save(self, path: str | Path) -> Path:
        """Save as svg, png, pdf, html (self-contained) or json, by the file's extension."""
        import vl_convert

        target = Path(path)
        form = target.suffix.lstrip(".").lower()
        if form not in FORMATS:
            hint = near_match(form, FORMATS)
            raise InputError(
                f"a chart is saved as {', '.join(FORMATS)}, not {form!r}. {hint}".strip()
            )
        with explain_target(target):
            match form:
                case "svg":
                    target.write_text(self.svg(), encoding="utf-8")
                case "png":
                    target.write_bytes(self.png())
                case "pdf":
                    target.write_bytes(vl_convert.vegalite_to_pdf(self.full()))
                case "html":
                    target.write_text(
                        vl_convert.vegalite_to_html(self.full(), bundle=True), encoding="utf-8"
                    )
                case _:
                    target.write_text(json.dumps(self.full(), indent=1), encoding="utf-8")
        return target

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, Any]:
        return {"image/svg+xml": self.svg(), "text/plain": self.alt}


@functools.lru_cache(maxsize=64)
def draw_svg(spec: str) -> str:
    """Return a specification as SVG; several reports show the same charts."""
    import vl_convert

    # As data, not as text: a value that is no number is then drawn as missing.
    return str(vl_convert.vegalite_to_svg(json.loads(spec)))


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
