"""What a table does around the work of a method: pairs of dimensions that claims take as different variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tacit.data.base import Around

if TYPE_CHECKING:
    from tacit.data.table import Table  # noqa: F401 - in quotes below

#: Said of linked tables when nothing tells whether two of their dimensions are one variable.
APART = (
    "{pair} are taken as different variables, as no table has both; if one classifies the other, cells may follow "
    "from the tables together. Give data= or variables= when the tables are linked."
)


class AroundTable(Around["Table"]):
    """Doubts about linked tables."""

    def doubts(self) -> list[str]:
        """Return the pairs of dimensions that are taken as different variables, though nothing says so."""
        return [APART.format(pair=pair) for pair in self.data.extra.get("apart", ())]

    def assumptions(self) -> Iterable[str]:
        """Yield that these pairs are different variables."""
        for pair in self.data.extra.get("apart", ()):
            yield f"{pair} are different variables: none classifies the other"
