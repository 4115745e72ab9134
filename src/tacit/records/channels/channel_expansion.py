"""Channel expansion: names are released, and what goes with them is told as a set of possibilities."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator, model_validator

from tacit.arrays import Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.hierarchy import ground_label
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions, unused_row_number
from tacit.engine.base import ROW
from tacit.errors import (
    Approximate,
    InputError,
    InvalidParameter,
    SdcError,
    near_match,
)
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, PositiveInt, Probability
from tacit.records.channels.answer import Answer
from tacit.records.channels.candidates import ALL_LIMIT, Predicate, make_all_channel_set
from tacit.records.channels.problem import Problem
from tacit.records.channels.query import MODEL, assumptions, claim_parameters
from tacit.records.channels.rounding import rounded
from tacit.records.channels.solve import solve
from tacit.records.channels.study import Given, StudyAnswer
from tacit.records.channels.table import (
    ChannelTable,
    channel_numbers,
    group,
    texts_of,
    value_numbers,
)
from tacit.records.channels.views import TOLERANCES, partial, points
from tacit.registry import register
from tacit.spec import Method

#: The columns that a release gains.
CHANNEL, MEMBERS = "output_channel", "input_channels"
NUMBER = "__number__"
#: Below this many subjects, rounding may cost something, and whole subjects are searched for.
SMALL = 10_000
#: A distance from the bound with which a rounded answer is taken without a search.
CLOSE = 0.02
#: How long that search may take where it cannot end with a proof.
SEARCH_SECONDS = 10.0

Source = Microdata | ChannelTable


@register
class ChannelExpansion(Method):
    """Release names without the confidential column, and related columns as sets of possibilities.

    An input channel is a combination of values of the related columns. Where it is public how often each
    confidential value occurs in each combination, the combination of a named person gives the value away
    with probability P(v|r) even though the confidential column is gone. Channel expansion tells of each
    person a set w of combinations, one of which is true, and chooses for every combination r how many of
    its m_r people get which set, x_rw, so that

        sum_r x_rw (P(v_k|r) - u_k) <= 0  for every risky value k, and
        sum_r x_rw (sum_k c_k P(v_k|r) - b) <= 0  for every set w,

    at the least total coarsening sum_w psi_w sum_r x_rw, psi_w = sum of m_r over r in w. Who of the m_r
    gets which set is drawn at random, whatever his confidential value. A query on the release returns
    everybody whom it would have returned on the data, and some spurious others.

    References
    ----------
    Garfinkel, Gopal, Thompson (2007), Releasing individually identifiable microdata with privacy
    protection against stochastic threat, Information Systems Research 18(1), 23-41.
    """

    kind: Literal["channel_expansion"] = "channel_expansion"
    related: ColumnNames = Field(
        description="the columns that are statistically related to the confidential ones; their combinations are the input channels"
    )
    confidential: ColumnName | ColumnNames = Field(
        description="the confidential column, or several whose values count as one value joined by |"
    )
    u: Mapping[str, float] = Field(
        description="the largest share that each risky value may have in an output channel; other values count as none"
    )
    b: PositiveFloat | None = Field(
        default=None,
        description="the largest weighted sum of those shares; by default no such rule",
    )
    c: Mapping[str, float] = Field(
        default_factory=dict, description="the weight of each value in that sum; by default 1"
    )
    candidates: Literal["exact", "all", "random"] | tuple[tuple[PositiveInt, ...], ...] = Field(
        default="exact",
        description="the sets considered: exact (the best of all, found without listing them), all (listed), random, or a list of sets of input channel numbers",
    )
    count: PositiveInt = Field(default=2048, description="how many random sets are drawn")
    max_size: PositiveInt = Field(default=8, description="most members of a random set")
    ordered: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="the order of a related column's values; a set may then not skip a value between two of its values",
    )
    integer: bool | None = Field(
        default=None,
        description="search for the best assignment of whole subjects; false: of fractions, rounded when people are dealt; by default the first for few channels, else whichever is better",
    )
    min_safe_share: Probability | None = Field(
        default=None,
        description="least share of subjects from safe input channels in an output channel; by default one such subject, and 0 asks for none",
    )
    na: Literal["refuse", "category"] = Field(
        default="refuse",
        description="whether missing related values are refused or a value of their own",
    )
    shuffle: bool = Field(
        default=True,
        description="put the records in random order, since the order of a file may tell the input channel",
    )
    time_limit: PositiveFloat = Field(default=60.0, description="seconds that the search may take")

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("channel expansion",)
    example: ClassVar[Mapping[str, Any]] = {
        "related": ["sex", "job"],
        "confidential": "disease",
        "u": {"gout": 0.2},
        "b": 1.0,
    }
    column_fields = ("related", "secret_columns")

    # -- parameters ------------------------------------------------------------------------------

    @field_validator("u", "c", mode="before")
    @classmethod
    def _values_as_text(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {ground_label(value): number for value, number in given.items()}

    @field_validator("ordered", mode="before")
    @classmethod
    def _order_as_text(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {column: [ground_label(v) for v in values] for column, values in given.items()}

    @model_validator(mode="after")
    def _consistent(self) -> ChannelExpansion:
        faults = [
            *limit_faults(self.u, self.c),
            *(
                f"ordered names {column!r}, which is not a related column"
                for column in self.ordered
                if column not in self.related
            ),
        ]
        if set(self.related) & set(self.secret_columns):
            faults.append("a column cannot be related and confidential at once")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def secret_columns(self) -> tuple[str, ...]:
        """Return the confidential columns."""
        one = self.confidential
        return (one,) if isinstance(one, str) else tuple(one)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns made into sets, and those withheld."""
        return (*self.related, *self.withheld(data))

    @property
    def cuts_links(self) -> bool:
        """Return True when the records are put in a drawn order."""
        return self.shuffle

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns of the data that have the names of the columns to come."""
        found = super().faults(data)
        found.extend(
            InputError(
                f"channel_expansion adds a column {name!r}, and the data have one already; rename it"
            )
            for name in (CHANNEL, MEMBERS)
            if name in data.columns
        )
        return found

    # -- studying --------------------------------------------------------------------------------

    def table(self, data: Source) -> ChannelTable:
        """Return the input channels with their counts (Table 2 of the paper)."""
        if isinstance(data, ChannelTable):
            if set(data.values) != set(self.u):
                raise InputError("u must name the values of the table of channels, each of them")
            return data
        self.check(data)
        return group(data, self.related, self.secret_columns, tuple(self.u), na=self.na)

    def problem(self, table: ChannelTable) -> Problem:
        """Return the problem that the limits set on a table of channels."""
        return table.problem(self.u, self.b, self.c, min_safe_share=self.min_safe_share or 0.0)

    def solve(
        self,
        data: Source,
        *,
        seed: int | None = 0,
        predicate: Predicate | None = None,
        tick: Callable[[str, float], None] | None = None,
    ) -> StudyAnswer:
        """Find the best assignment, without releasing anything.

        Parameters
        ----------
        data
            The microdata, or a table of channels that is already grouped.
        seed
            Seed of the random candidates.
        predicate
            Says of a set of input channels, numbered from 0, whether it may be an output channel; as
            ``ordered``, for rules of any other kind.
        tick
            Called with a message and a share.
        """
        table = self.table(data)
        problem = self.problem(table)
        rules = [rule for rule in (self.order_rule(table), predicate) if rule is not None]
        options: dict[str, Any] = {
            "candidates": self.sets(len(table)),
            "predicate": (lambda members: all(rule(members) for rule in rules)) if rules else None,
            "need_safe": self.min_safe_share is None,
            "count": self.count,
            "max_size": self.max_size,
            "seed": seed,
            "time_limit": self.time_limit,
            "tick": tick,
        }
        if self.integer is None:
            return StudyAnswer(table, whole_answer(problem, options))
        return StudyAnswer(table, solve(problem, integer=self.integer, **options))

    def evaluate(self, data: Source, given: Sequence[Given]) -> StudyAnswer:
        """Judge an assignment that somebody proposes: see :func:`tacit.records.channels.views.partial`."""
        table = self.table(data)
        return partial(table, self.problem(table), given, "Proposed assignment")

    def points(self, data: Source, *, factors: Sequence[float] = TOLERANCES) -> nw.DataFrame[Any]:
        """Return risk and utility with all limits multiplied by each factor, for an R-U map.

        See :func:`tacit.records.channels.views.points`; assignments are of fractions of subjects.
        """
        table = self.table(data)
        return points(table, self.problem(table), factors=factors)

    def sets(self, n_channels: int) -> Any:
        """Return the candidates in the solver's numbering, from 0."""
        if isinstance(self.candidates, str):
            return self.candidates
        wrong = [r for members in self.candidates for r in members if r > n_channels]
        if wrong:
            raise InvalidParameter(
                f"candidates name input channel {wrong[0]}; they are numbered 1 to {n_channels}"
            )
        return [tuple(sorted({r - 1 for r in members})) for members in self.candidates]

    def order_rule(self, table: ChannelTable) -> Predicate | None:
        """Return the rule that no ordered value may be skipped, or None without ordered columns."""
        if not self.ordered:
            return None
        ranks = [ranks_of(table, column, order) for column, order in self.ordered.items()]
        return lambda members: all(is_unbroken(rank[list(members)]) for rank in ranks)

    # -- releasing -------------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        ctx.tick("count input channels", 0.1)
        answer = self.solve(data, seed=int(ctx.rng.integers(2**31)), tick=ctx.tick)
        if not answer.answer.integer:
            allowed = allowed_sets(self.candidates, self.order_rule(answer.table), answer.problem)
            whole = rounded(answer.answer, allowed=allowed, time_limit=self.time_limit)
            answer = replace(answer, answer=whole)
        ctx.tick("deal subjects to output channels", 0.7)
        if not answer.proven:
            warnings.warn(
                f"channel_expansion: the assignment is within {answer.gap:.2%} of the best; that it is the best is not proven",
                Approximate,
                stacklevel=4,
            )
        released, given = self.released(data, answer, ctx.rng)
        over = self.realised_excess(data, answer, given)
        ctx.note(
            shares_dealt=over.size,
            shares_above_limit=int((over > 1e-12).sum()),
            largest_excess=float(max(over.max(initial=0.0), 0.0)),
            input_channels=len(answer.table),
            risky_input_channels=len(answer.risky),
            output_channels=len(answer.sets),
            cost=answer.cost,
            bound=answer.bound,
            proven=answer.proven,
            loss=answer.loss,
            share_in_all_channel_set=answer.answer.share_in_all,
            method=answer.answer.method,
            names_kept=list(data.identifiers),
            columns_withheld=self.withheld(data),
            **({"links_lost": True} if self.shuffle else {}),
        )
        return released

    def adds(self, data: Microdata) -> tuple[str, ...]:
        """Return the output channel of each record, and the input channels that it stands for."""
        del data
        return (CHANNEL, MEMBERS)

    def removes(self, data: Microdata) -> tuple[str, ...]:
        """Return the confidential columns."""
        return tuple(self.withheld(data))

    def withheld(self, data: Microdata) -> list[str]:
        """Return the columns that leave: the confidential ones, and others declared sensitive."""
        others = [c for c in data.sensitive if c not in self.related]
        return list(dict.fromkeys([*self.secret_columns, *others]))

    def released(
        self, data: Microdata, answer: StudyAnswer, rng: np.random.Generator
    ) -> tuple[ChannelRelease, Ints]:
        """Return the data with output channels in place of related values, and the channel of each record."""
        records = data.to_arrow(self.related, with_row=True)
        channels, _ = channel_numbers(records, self.related)
        given = deal_channels(channels, answer, rng) + 1
        number = rng.permutation(len(given)) + unused_row_number(data)
        dealt = pa.table(
            {ROW: records.column(ROW), CHANNEL: pa.array(given, pa.int64()), NUMBER: number}
        )
        gone = {*self.withheld(data), *self.related}
        kept = data.frame.select(*[c for c in data.columns if c not in gone], ROW)
        frame = kept.join(data.engine.from_arrow(dealt), on=ROW, how="inner")
        decoded = data.engine.from_arrow(decoding(answer))
        frame = frame.join(decoded, on=CHANNEL, how="left")
        order = [c for c in data.columns if c not in self.withheld(data)]
        row = (nw.col(NUMBER) if self.shuffle else nw.col(ROW)).alias(ROW)
        frame = data.engine.materialise(frame.select(*order, CHANNEL, MEMBERS, row))
        result = drop_stale_descriptions(data.with_frame(frame), self.related)
        released = ChannelRelease(
            **{
                **{name: getattr(result, name) for name in FIELDS},
                # Without the role of identifier: these names are released on purpose.
                "columns": {
                    name: replace(column, roles=column.roles - {"identifiers"})
                    for name, column in result.columns.items()
                },
                "hierarchies": {
                    c: h
                    for c, h in result.hierarchies.items()
                    if c in order and c not in self.related
                },
            },
            answer=answer,
        )
        return released, given

    def realised_excess(self, data: Microdata, answer: StudyAnswer, given: Ints) -> Floats:
        """Return how far shares among the people as dealt are above the limits; for the data holder alone."""
        records = data.to_arrow(list(self.secret_columns))
        values = answer.table.values
        which = value_numbers(data, records, self.secret_columns, values)
        counts = np.zeros((len(answer.sets) + 1, len(values) + 1), dtype=np.int64)
        np.add.at(counts, (given, which), 1)
        people = counts.sum(axis=1)
        shares = counts[people > 0, 1:] / people[people > 0, None]
        return np.asarray(shares - np.array([float(self.u[v]) for v in values]))

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        assert isinstance(result, ChannelRelease)
        assert result.answer is not None
        yield Claim(
            model=MODEL,
            parameters=claim_parameters(result.answer, self.u, self.b, self.c),
            quasi_identifier="output channels",
            columns=(CHANNEL,),
            assumptions=assumptions(data.identifiers, self.related),
            # Single people of the confidential cross-table must not stand beside their names.
            withheld=("inputs",),
        )
        yield Claim(
            model="absent-columns",
            parameters={},
            quasi_identifier="confidential columns",
            columns=tuple(self.withheld(data)),
        )


def limit_faults(u: Mapping[str, float], c: Mapping[str, float]) -> list[str]:
    """Return what is wrong with thresholds and weights, a clause each."""
    faults = [] if u else ["u must name at least one risky value"]
    faults += [
        f"u must lie in (0, 1]: entry {k} is {value:g}"
        for k, value in enumerate(u.values(), 1)
        if not 0 < value <= 1
    ]
    faults += [
        f"c must not be negative: entry {k} is {value:g}"
        for k, value in enumerate(c.values(), 1)
        if not 0 <= value < float("inf")
    ]
    faults += [
        f"c entry {k} names a value that u does not, and only values of u may weigh. {near_match(name, u)}".strip()
        for k, name in enumerate(c, 1)
        if name not in u
    ]
    return faults


def whole_answer(problem: Problem, options: Mapping[str, Any]) -> Answer:
    """Return an answer in whole subjects: the best where few channels allow proof, else a near one.

    A fractional answer is rounded. Where subjects are so few that rounding costs something, a search
    for whole subjects is tried as well, and the cheaper answer taken.
    """
    if problem.n_channels <= ALL_LIMIT and problem.subjects < SMALL:
        return solve(problem, integer=True, **options)
    allowed = allowed_sets(options["candidates"], options["predicate"], problem)
    near = rounded(solve(problem, **options), allowed=allowed, time_limit=options["time_limit"])
    if near.proven or near.gap <= CLOSE or problem.subjects >= SMALL:
        return near
    limit = min(SEARCH_SECONDS, options["time_limit"])
    searched = solve(problem, integer=True, **{**options, "time_limit": limit})
    return min(searched, near, key=lambda answer: answer.cost)


def allowed_sets(candidates: Any, predicate: Predicate | None, problem: Problem) -> Predicate:
    """Return which sets may be used beyond those in an answer: as the candidates say.

    Nobody rejects the all-channel set but a list of candidates that lacks it.
    """
    if not isinstance(candidates, str):
        return lambda members: members in set(candidates)
    whole = make_all_channel_set(problem)
    if candidates == "random":
        return lambda members: members == whole
    return lambda members: members == whole or predicate is None or predicate(members)


# -- the order rule ------------------------------------------------------------------------------


def ranks_of(table: ChannelTable, column: str, order: Sequence[str]) -> Ints:
    """Return each channel's place in the order of a column's values; -1 for a missing value."""
    place = {value: k for k, value in enumerate(order)}
    column_values = table.combinations.column(column)
    texts = texts_of(column_values)
    known = [v is not None for v in column_values.to_pylist()]
    if any(text not in place for text, there in zip(texts, known, strict=True) if there):
        raise InputError(f"ordered does not list every value of column {column!r}; complete it")
    ranks = [place[t] if there else -1 for t, there in zip(texts, known, strict=True)]
    return np.array(ranks, dtype=np.int64)


def is_unbroken(ranks: Ints) -> bool:
    """Return True when no place between two of the ranks is left out; -1 does not count."""
    places = np.unique(ranks[ranks >= 0])
    return len(places) == 0 or int(places[-1] - places[0]) == len(places) - 1


# -- dealing -------------------------------------------------------------------------------------


def deal_channels(channels: Ints, answer: StudyAnswer, rng: np.random.Generator) -> Ints:
    """Return an output channel, from 0, for each record.

    The records of an input channel are put in random order and dealt x_rw to each output channel w; the
    confidential value plays no part.
    """
    x = answer.x.tocsr()
    x.sort_indices()
    amounts = np.rint(x.data).astype(np.int64)
    if np.any(np.abs(x.data - amounts) > 1e-6):
        raise InputError("people cannot be dealt in fractions; round the assignment first")
    order = np.lexsort((rng.random(len(channels)), channels))
    result = np.empty(len(channels), dtype=np.int64)
    result[order] = np.repeat(x.indices, amounts)
    return result


def decoding(answer: StudyAnswer) -> pa.Table:
    """Return what each output channel says: the values of each related column, and the members."""
    table = answer.table
    columns: dict[str, pa.Array] = {
        CHANNEL: pa.array(np.arange(1, len(answer.sets) + 1), pa.int64())
    }
    for place, name in enumerate(table.related):
        sets = [
            " or ".join(sorted({table.texts[r][place] for r in members})) for members in answer.sets
        ]
        columns[name] = pa.array(sets, pa.string())
    whole = range(len(table))
    columns[MEMBERS] = pa.array(
        [
            "any" if len(members) == len(whole) > 1 else " or ".join(map(table.label, members))
            for members in answer.sets
        ],
        pa.string(),
    )
    return pa.table(columns)


@dataclass(frozen=True, repr=False)
class ChannelRelease(Microdata):
    """Released data that know the assignment behind them; the answer stays with the data holder."""

    answer: StudyAnswer | None = None


FIELDS = tuple(f.name for f in fields(Microdata))
