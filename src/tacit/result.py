"""Results: what a measure returns. They print, plot and explain themselves."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from tacit.errors import UnreadableFile
from tacit.numbers import as_json_number, format_number
from tacit.storage.values import names_of, pack, resolve, types_of, unpack

__all__ = ["Result", "Summary", "as_json_number", "format_number", "shown"]

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from tacit.plot.chart import Chart


class Summary(dict[str, Any]):
    """A few named numbers that print as an aligned text block."""

    def __str__(self) -> str:
        if not self:
            return "(nothing to summarise)"
        width = max(len(str(k)) for k in self)
        return "\n".join(f"{k:<{width}}  {format_number(v)}" for k, v in self.items())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(str(k))}</th><td>{html.escape(format_number(v))}</td></tr>"
            for k, v in self.items()
        )
        return f"<table>{rows}</table>"


def shown(label: str, **options: Any) -> Any:
    """Return a field of a Result that is one of its numbers, under a label in which ``{name}`` is another field.

    The numbers of a result are such fields in their order; one that is None does not apply.
    """
    return field(metadata={"label": label}, **options)


@dataclass(frozen=True, repr=False)
class Result:
    """What a measure found.

    Attributes
    ----------
    kind
        The measure's kind.
    title
        One line for headings.
    value
        The one number on which results are compared (on the R-U map, before and after).
    numbers
        The few named numbers of :meth:`summary`.
    frame
        The detail, one row each; an eager narwhals frame (``.to_pandas()``, ``.to_polars()``,
        ``.to_arrow()``, ``.rows(named=True)``). It may hold values of the data: keep it inside.
    explanation
        What the numbers mean, in a sentence or two, for the report.
    shortfall
        How the data miss the threshold that the measure was given, in a sentence; empty when they do not.
    labels
        Words for numbers whose names are letters of the literature, for people to read.
    alone
        True when the measure looked at nothing but the data it measured: no original, register or control records.
    """

    kind: str
    title: str
    value: float
    numbers: Mapping[str, Any] = field(default_factory=dict)
    frame: nw.DataFrame[Any] | None = None
    explanation: str = ""
    shortfall: str = field(default="", kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    alone: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.numbers:
            held = vars(self)
            labels = {f.name: f.metadata["label"] for f in fields(self) if "label" in f.metadata}
            numbers = {v.format(**held): held[k] for k, v in labels.items() if held[k] is not None}
            object.__setattr__(self, "numbers", numbers)

    def label(self, name: str) -> str:
        """Return the words for one of the numbers."""
        return self.labels.get(name, name)

    def labelled(self) -> Summary:
        """Return the numbers under names for people."""
        return Summary({self.label(k): v for k, v in self.summary().items()})

    def summary(self) -> Summary:
        """Return the few numbers that matter."""
        return Summary(self.numbers)

    def plot(self) -> Chart:
        """Return a chart of the result: ``.save("file.svg")``, or show it in a notebook."""
        from tacit.plot.families import bars

        items = [
            (self.label(k), float(v))
            for k, v in self.numbers.items()
            if isinstance(v, int | float) and not isinstance(v, bool)
        ]
        return bars(items, title=self.title, y="value")

    def charts(self) -> Iterable[Chart]:
        """Return the charts for a report; by default the one of :meth:`plot`."""
        return (self.plot(),)

    def named_charts(self) -> dict[str, Chart]:
        """Return every chart by name: the result's own, and those that packages add for its kind."""
        from tacit.plot.registry import named_charts

        return named_charts(self, self.charts())

    def chart(self, name: str) -> Chart:
        """Return the chart of that name; :meth:`named_charts` has them all."""
        from tacit.plot.registry import pick_chart

        return pick_chart(self.named_charts(), name)

    def to_dict(self) -> dict[str, Any]:
        """Return the result without its detail, as plain data."""
        return {
            "kind": self.kind,
            "value": as_json_number(self.value),
            "numbers": {k: as_json_number(v) for k, v in self.numbers.items()},
        }

    def stored(self) -> dict[str, Any]:
        """Return the whole result as plain data for JSON, detail included: keep it inside, as the ``frame``.

        :meth:`from_dict` makes the same result of it again.
        """
        return {"kind": self.kind, "result": pack(self, names_of(type(self)))}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the result of :meth:`stored`: of this class, or for ``Result`` that of the measure of its kind.

        Nothing is made but results of registered measures and what they declare to hold.
        """
        kind = stored.get("kind") if isinstance(stored, Mapping) else None
        if not isinstance(kind, str) or not isinstance(stored.get("result"), Mapping):
            raise UnreadableFile("this is no stored result")
        declared: Any = result_type(kind) if cls is Result else cls
        types = types_of(declared)
        try:
            found = unpack(stored["result"], types)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError):
            raise UnreadableFile(f"the stored result of {kind!r} is damaged") from None
        if not isinstance(found, cls) or found.kind != kind:
            raise UnreadableFile(f"the stored result is none of {kind!r}")
        return found

    def __repr__(self) -> str:
        return f"{self.title}\n{'-' * len(self.title)}\n{self.labelled()}" + (
            f"\n\n{self.explanation}" if self.explanation else ""
        )

    def _repr_html_(self) -> str:
        body = self.labelled()._repr_html_()
        return f"<h4>{html.escape(self.title)}</h4>{body}<p>{html.escape(self.explanation)}</p>"


def result_type(kind: str) -> type[Result]:
    """Return the Result that a measure of some kind declares to return."""
    from tacit.registry import lookup

    taken: Any = getattr(lookup(kind), "_measure", None)
    if taken is None:
        raise UnreadableFile(f"{kind!r} is no measure, and has no results")
    found: type[Result] = resolve(taken.__annotations__["return"], taken.__module__)
    return found
