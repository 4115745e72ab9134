"""What a check needs of a table: the truth, what outsiders know, and what is published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints


class Contributions(Protocol):
    """The largest contributions to each cell."""

    @property
    def top(self) -> Floats:
        """Return cells x t, descending."""

    @property
    def weight(self) -> Floats | None:
        """Return their sampling weights, if the table is weighted."""

    @property
    def count(self) -> Ints:
        """Return how many contribute to each cell."""


class CellView(Protocol):
    """Cells with levels and respondents, bound by relations: all that an attacker needs."""

    @property
    def value(self) -> Floats:
        """Return the true values."""

    @property
    def lower_level(self) -> Floats:
        """Return how far an attacker's interval must reach below the value."""

    @property
    def upper_level(self) -> Floats:
        """Return how far an attacker's interval must reach above the value."""

    @property
    def sliding_level(self) -> Floats:
        """Return how wide an attacker's interval must be."""

    @property
    def equations(self) -> Any:
        """Return the sparse matrix M with M value = 0."""

    @property
    def frequency(self) -> bool:
        """Return True for a table of counts."""

    @property
    def primary(self) -> Flags:
        """Return which cells are unsafe by themselves."""

    @property
    def singleton(self) -> Flags:
        """Return which cells have exactly one contributor."""

    @property
    def owner(self) -> Ints:
        """Return the only contributor of each singleton, -1 elsewhere."""


class TableView(CellView, Protocol):
    """A confidential table together with the part of it that is published.

    Checks know tables by these names alone; :class:`tacit.Table` has all of them.
    """

    @property
    def count(self) -> Ints:
        """Return the contributors of each cell, -1 where unknown."""

    @property
    def status(self) -> npt.NDArray[np.int8]:
        """Return the status of each cell."""

    @property
    def lower(self) -> Floats:
        """Return the least that outsiders think possible."""

    @property
    def upper(self) -> Floats:
        """Return the most that outsiders think possible."""

    @property
    def changed(self) -> Floats | None:
        """Return what is published in place of the true values, if anything is."""

    @property
    def interval(self) -> Floats | None:
        """Return the published intervals, cells x 2."""

    @property
    def published(self) -> Floats:
        """Return what is published, NaN where a cell is hidden."""

    @property
    def hidden(self) -> Flags:
        """Return which cells are not published."""

    @property
    def contributors(self) -> Contributions | None:
        """Return the largest contributions by respondent."""

    @property
    def holdings(self) -> Contributions | None:
        """Return the largest contributions by holding."""

    @property
    def extra(self) -> Mapping[str, Any]:
        """Return further facts."""

    @property
    def dimensions(self) -> tuple[Any, ...]:
        """Return the spanning variables."""

    @property
    def places(self) -> npt.NDArray[Any]:
        """Return cells x dimensions: the place of each cell's code."""

    def subtables(self) -> Any:
        """Yield the unstructured subtables of a product table."""

    @property
    def history(self) -> tuple[Any, ...]:
        """Return what has been done to the table."""
