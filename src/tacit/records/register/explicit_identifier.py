"""Explicit identifiers: sets of columns that reach exactly one person by a direct way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.engine.names import aggregate
from tacit.engine.relational import N
from tacit.engine.subsets import all_subsets
from tacit.errors import ColumnNotFound
from tacit.fields import ColumnName, ColumnNames, PositiveFloat
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

PEOPLE = "__people__"


@register
class ExplicitIdentifier(Measure):
    r"""Which sets of columns are explicit identifiers, and which quasi-identifiers.

    For a set X of columns let m(x) be the number of people that the values x reach. X reaches people
    distinctly when the mean of m over its values lies in [1, 1 + epsilon] and its standard deviation
    is at most epsilon. It is an explicit identifier when, besides, it holds all that a direct way to
    contact people takes: an e-mail address, a name and a telephone, a name and a postal address. It is
    a quasi-identifier when some person is reached alone; the share of such people is given. A Social
    Security number is distinct but nobody answers to it, and a telephone is answered by a household:
    both, and both together, are quasi, not explicit.

    Values with a missing part reach nobody and are left out; the coverage says how many people have
    complete values.

    References
    ----------
    Sweeney (2000), Foundations of Privacy Protection from a Computer Science Perspective,
    definitions of quasi-identifier and explicit identifier.
    """

    kind: Literal["explicit_identifier"] = "explicit_identifier"
    sets: tuple[ColumnNames, ...] | None = Field(
        default=None,
        description="the sets of columns; by default identifiers and keys, alone and in pairs",
    )
    contact: tuple[ColumnNames, ...] | None = Field(
        default=None,
        description="direct ways to contact people, each with the columns it takes, e.g. name and phone; by default every set counts as one",
    )
    entity: ColumnName | None = Field(
        default=None,
        description="column that tells people apart; by default every record is a person",
    )
    epsilon: PositiveFloat = Field(
        default=0.01, description="how far mean and deviation may be from 1 and 0"
    )

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that is named."""
        names = [c for s in (*(self.sets or ()), *(self.contact or ())) for c in s]
        return tuple(dict.fromkeys([*names, *([self.entity] if self.entity else [])]))

    def _measure(
        self, data: Microdata, other: Companions, ctx: Context
    ) -> ExplicitIdentifierResult:
        source = other.register if other.has_register else data
        missing = [c for c in self.columns_named() if c not in source.columns]
        if missing:
            raise ColumnNotFound(missing, list(source.columns), "the register")
        usual = [
            c for c in (*data.identifiers, *data.keys) if c in source.columns and c != self.entity
        ]
        sets = list(self.sets) if self.sets is not None else all_subsets(usual, 2)
        people = count_people(source.frame, self.entity)
        rows = []
        for i, columns in enumerate(sets):
            ctx.tick(f"set {i + 1} of {len(sets)}", i / len(sets))
            reach = Reach.of(*people_per_value(source.frame, columns, self.entity), people)
            direct = self.contact is None or any(set(way) <= set(columns) for way in self.contact)
            rows.append(Identifier(columns, reach, reach.is_distinct(self.epsilon), direct))
        explicit = [r for r in rows if r.is_explicit]
        return ExplicitIdentifierResult(
            kind=self.kind,
            title=f"Explicit and quasi-identifiers among {len(rows)} sets of columns",
            value=float(len(explicit)),
            numbers={
                "people": people,
                "sets": len(rows),
                "explicit identifiers": len(explicit),
                "quasi-identifiers, not explicit": sum(
                    r.is_quasi and not r.is_explicit for r in rows
                ),
                "largest share reached alone": max((r.reach.share for r in rows), default=0.0),
            },
            frame=as_frame(
                {
                    "columns": pa.array([" x ".join(r.columns) for r in rows], pa.string()),
                    "mean": pa.array([r.reach.mean for r in rows], pa.float64()),
                    "deviation": pa.array([r.reach.deviation for r in rows], pa.float64()),
                    "share": pa.array([r.reach.share for r in rows], pa.float64()),
                    "coverage": pa.array([r.reach.coverage for r in rows], pa.float64()),
                    "explicit": pa.array([r.is_explicit for r in rows], pa.bool_()),
                    "quasi": pa.array([r.is_quasi for r in rows], pa.bool_()),
                }
            ),
            explanation=(
                "An explicit identifier reaches each person alone and by a direct way; a quasi-identifier "
                "reaches some person alone. Explicit identifiers must not be released."
            ),
            identifiers=tuple(rows),
        )


@dataclass(frozen=True)
class Reach:
    """How many people the values of a set of columns reach."""

    #: Of the number of people per value.
    mean: float
    deviation: float
    #: Share of all people who are reached alone.
    share: float
    #: Share of all people whose values are complete.
    coverage: float

    @classmethod
    def of(cls, people: Ints, values: Ints, n: int) -> Reach:
        """Summarise: ``values[i]`` values reach ``people[i]`` people each, of n people in all."""
        total = int(values.sum())
        if not total or not n:
            return cls(0.0, 0.0, 0.0, 0.0)
        mean = float(people @ values) / total
        variance = float(((people - mean) ** 2) @ values) / total
        return cls(
            mean, variance**0.5, int(values[people == 1].sum()) / n, float(people @ values) / n
        )

    def is_distinct(self, epsilon: float) -> bool:
        """Return True when values reach one person each, nearly always."""
        return 1 <= self.mean <= 1 + epsilon and self.deviation <= epsilon


@dataclass(frozen=True)
class Identifier:
    """One set of columns and what it is."""

    columns: Sequence[str]
    reach: Reach
    is_distinct: bool
    is_direct: bool

    @property
    def is_explicit(self) -> bool:
        """Return True when the set reaches each person alone, by a direct way."""
        return self.is_distinct and self.is_direct

    @property
    def is_quasi(self) -> bool:
        """Return True when the set reaches some person alone."""
        return self.reach.share > 0


@dataclass(frozen=True, repr=False)
class ExplicitIdentifierResult(Result):
    """What each set of columns is."""

    identifiers: tuple[Identifier, ...] = ()

    @property
    def explicit(self) -> tuple[tuple[str, ...], ...]:
        """Return the explicit identifiers."""
        return tuple(tuple(i.columns) for i in self.identifiers if i.is_explicit)

    @property
    def quasi(self) -> tuple[tuple[str, ...], ...]:
        """Return the quasi-identifiers that are not explicit."""
        return tuple(tuple(i.columns) for i in self.identifiers if i.is_quasi and not i.is_explicit)

    def plot(self) -> Chart:
        """Return the share of people reached alone by each set."""
        items = [(" x ".join(i.columns), i.reach.share) for i in self.identifiers]
        return bars(items, title="People reached alone", y="share of people")


def count_people(frame: nw.LazyFrame[Any], entity: str | None) -> int:
    """Return the number of people: distinct entities, or records."""
    if entity is not None:
        frame = aggregate(frame.drop_nulls([entity]), [entity], nw.len().alias(N))
    return int(frame.select(nw.len().alias(N)).collect("pyarrow").item(0, N))


def people_per_value(
    frame: nw.LazyFrame[Any], columns: Sequence[str], entity: str | None
) -> tuple[Ints, Ints]:
    """Return (people, values): this many values reach this many people each; counted on the engine."""
    keys = list(dict.fromkeys(columns))
    frame = frame.drop_nulls(keys)
    if entity is not None:
        pair = list(dict.fromkeys([*keys, entity]))
        frame = aggregate(frame.drop_nulls([entity]), pair, nw.len().alias(N)).select(*pair)
    people = aggregate(frame, keys, nw.len().cast(nw.Int64).alias(PEOPLE))
    sizes = people.group_by(PEOPLE).agg(nw.len().cast(nw.Int64).alias(N))
    table = sizes.collect("pyarrow")
    return table.get_column(PEOPLE).to_numpy(), table.get_column(N).to_numpy()
