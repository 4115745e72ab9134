"""What users of a randomised file need: which columns, which categories, which matrices.

The bundle is public by design: without it a release can be read but not analysed. It is written as one
JSON file and read back, and it stands in the history of the data that were randomised. Matrices that were made from
the file's own frequencies give these away, exactly: a release leaves them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tacit.data.base import RANDOMISED
from tacit.errors import InvalidParameter, UnreadableFile, explain_target
from tacit.records.pram.matrices import from_plain
from tacit.records.pram.transition import Transition

FORMAT = 1
MatricesGiven = Annotated[
    str | Mapping[str, Any] | None,
    Field(
        description="file with the matrices, or its content; by default those in the history of the data"
    ),
]


@dataclass(frozen=True)
class Part:
    """The matrix of one stratum.

    Attributes
    ----------
    stratum
        Its values on the columns ``by``; empty when there are no strata.
    holds
        Which of the rules hold for its records.
    matrix
        Rows are original, columns released categories.
    """

    stratum: tuple[Any, ...]
    holds: tuple[bool, ...]
    matrix: Transition


@dataclass(frozen=True)
class Randomised:
    """One variable that was randomised: a column, or several crossed into one.

    Attributes
    ----------
    columns
        The columns.
    levels
        One tuple of category labels a column; together, place by place, the rows of the matrices.
    by, rules
        The columns, and the rules on columns, that tell which matrix a record got.
    parts
        The matrices. A single part with an empty stratum is for all records.
    own_frequencies
        True when the matrices were made from the frequencies of the confidential file, which follow from them.
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    parts: tuple[Part, ...]
    by: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    own_frequencies: bool = False

    @property
    def size(self) -> int:
        """Return the number of categories."""
        return len(self.levels[0])

    @property
    def name(self) -> str:
        """Return the variable's name."""
        return " x ".join(self.columns)

    @property
    def epsilon(self) -> float:
        """Return the local differential privacy of the weakest matrix."""
        return max(part.matrix.epsilon for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "columns": list(self.columns),
            "levels": [list(values) for values in self.levels],
            **({"by": list(self.by)} if self.by else {}),
            **({"rules": list(self.rules)} if self.rules else {}),
            **({"own_frequencies": True} if self.own_frequencies else {}),
            "matrices": [
                {
                    **({"stratum": list(p.stratum)} if self.by else {}),
                    **({"holds": list(p.holds)} if self.rules else {}),
                    **p.matrix.plain(),
                }
                for p in self.parts
            ],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Randomised:
        """Return it from plain data; refuse what does not fit together."""
        try:
            parts = tuple(
                Part(tuple(m.get("stratum", ())), tuple(m.get("holds", ())), from_plain(m))
                for m in given["matrices"]
            )
            found = cls(
                columns=tuple(given["columns"]),
                levels=tuple(tuple(values) for values in given["levels"]),
                parts=parts,
                by=tuple(given.get("by", ())),
                rules=tuple(given.get("rules", ())),
                own_frequencies=bool(given.get("own_frequencies", False)),
            )
        except (KeyError, TypeError, AttributeError):
            raise InvalidParameter(
                "a randomised variable needs columns, levels and matrices; see tacit.pram.write_matrices"
            ) from None
        sizes = {len(values) for values in found.levels} | {p.matrix.size for p in parts}
        if len(found.levels) != len(found.columns) or len(sizes) != 1 or not parts:
            raise InvalidParameter(
                "the levels and the matrices of a randomised variable must have the same number of categories"
            )
        return found


def simple(column: str, levels: Sequence[Any], matrix: Transition) -> Randomised:
    """Return a column that was randomised with one matrix."""
    return Randomised((column,), (tuple(levels),), (Part((), (), matrix),))


def write_matrices(path: str | Path, source: Any) -> Path:
    """Write the bundle of released data, or of some randomised variables, as a JSON file.

    Parameters
    ----------
    path
        The file; an existing one is replaced.
    source
        Released data (anything with a ``history``), or a sequence of :class:`Randomised`.
    """
    history = getattr(source, "history", None)
    variables = list(source) if history is None else from_history(history)
    document = {"tacit_pram": FORMAT, "variables": [v.to_dict() for v in variables]}
    target = Path(path)
    with explain_target(target):
        target.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return target


def read_matrices(source: str | Path | Mapping[str, Any]) -> list[Randomised]:
    """Return the randomised variables of a bundle: a JSON file, or its content."""
    if isinstance(source, Mapping):
        return variables_in(source)
    try:
        document = json.loads(Path(source).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise UnreadableFile(
            f"the matrices in {Path(source).name!r} cannot be read; give a file written by tacit.pram.write_matrices"
        ) from None
    if not isinstance(document, Mapping):
        raise UnreadableFile(f"the file {Path(source).name!r} does not hold PRAM matrices")
    return variables_in(document)


def variables_in(document: Mapping[str, Any]) -> list[Randomised]:
    """Return the variables of a bundle's content."""
    if document.get("tacit_pram", FORMAT) != FORMAT:
        raise InvalidParameter("these PRAM matrices were written by a later version")
    listed = document.get("variables")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise InvalidParameter("PRAM matrices need a list of variables")
    return [Randomised.from_dict(v) for v in listed]


def from_history(history: Iterable[Any]) -> list[Randomised]:
    """Return what the steps of a history randomised, in order."""
    return [
        Randomised.from_dict(v) for action in history for v in action.details.get(RANDOMISED, ())
    ]
