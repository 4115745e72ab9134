"""How commands take their options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

#: Several texts after one option.
Many = Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())]

# Options that several commands have, with their sentences.
TableFile = Annotated[Path, Parameter(help="The table (.table, .jj, .tab).")]
Metadata = Annotated[Path | None, Parameter(help="The .rda file of a .tab table.")]
Force = Annotated[bool, Parameter(help="Replace a file that is already there.")]
SavePlot = Annotated[Path | None, Parameter(help="Save the chart: svg, png, pdf or html.")]
Separator = Annotated[
    str | None,
    Parameter(help="Separator of columns in text; guessed from the first line when not given."),
]
Workers = Annotated[int | None, Parameter(help="Number of processes; by default as many as pay.")]


def split(value: Any) -> Any:
    """Return a list with entries at commas taken apart; anything else as it is."""
    if not isinstance(value, list):
        return value
    return [part for text in value for part in str(text).split(",") if part]


def with_help(annotation: Any, text: str) -> Any:
    """Return the type of an option with its sentence."""
    return Annotated[annotation, Parameter(help=text)]


def shell_command(
    run: Callable[..., int], source: str, options: Mapping[str, tuple[Any, Any]], text: str | None
) -> Callable[..., int]:
    """Return a function of a file and options (type and default, by name) as the command line reads it."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    file = with_help(Path, source)
    parameters = [
        inspect.Parameter("source", inspect.Parameter.POSITIONAL_ONLY, annotation=file),
        *(inspect.Parameter(n, keyword, default=d, annotation=a) for n, (a, d) in options.items()),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__doc__ = text
    return run
