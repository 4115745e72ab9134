"""What could be done: methods and settings that fit the roles and the types of the columns.

Each maker below proposes the settings of one method, mild to strong. The grids stand here and not in the
methods: they are where a search starts, and no property of a method.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow.compute as pc

from tacit.data.block import list_maskable_columns
from tacit.data.microdata import Microdata
from tacit.plan.grids import method_class
from tacit.spec import Measure, Method

#: Numbers change columns of numbers; the others act on the keys. In a combination they follow in this order.
Family = Literal["numbers", "perturb", "coarsen", "recode", "suppress"]

Place = tuple[int, ...]

#: Class sizes tried, beside those that the risk measure and the cap ask for.
CLASS_SIZES = (3, 5, 10, 20)
#: A cap asks for classes of 1 / cap records, up to this size.
LARGEST_CLASS = 100
#: Shares of records that Anonymise may suppress and Datafly may drop.
SUPPRESSION = (0.0, 0.02, 0.1)
#: Chances that PRAM leaves a value as it is, and shares of records whose keys are swapped.
STAY, SWAPPED = (0.95, 0.9, 0.8, 0.6), (0.05, 0.1, 0.2, 0.4)
#: Standard deviation of noise relative to the column's, and distance of swapped ranks in percent.
NOISE, RANKS = (0.05, 0.1, 0.2, 0.5), (2.0, 5.0, 10.0, 20.0)
#: Rules of local suppression.
RULES = ("each", "strict")
#: Levels tried for all keys alike, where there are more than a few combinations of levels.
LEVELS, FEW = (1, 2, 3), 30

#: A column of at most this many different numbers holds codes: noise on it would mean nothing.
CODES = 20
#: Records up to which methods are tried whose work grows with the square of their number, and KSimilar.
QUADRATIC, SMALL = 30_000, 1_000


@dataclass(frozen=True)
class Proposal:
    """One candidate: its steps, and the words that it is known by."""

    #: The curve of the map that it belongs to.
    method: str
    #: The setting in words.
    label: str
    #: The methods, in order.
    steps: tuple[Method, ...]
    #: What sort of change it makes; None for a combination.
    family: Family | None
    #: The columns that it changes.
    columns: frozenset[str]
    #: Its place in the grid of its method, along each parameter from mild to strong.
    place: Place = ()
    #: The two proposals of a combination.
    parts: tuple[Proposal, ...] = ()

    @property
    def name(self) -> str:
        """Return method and setting."""
        return f"{self.method} {self.label}".strip()


@dataclass(frozen=True)
class Ground:
    """What proposals are made from."""

    #: The data, without their identifiers.
    data: Microdata
    #: How many there are.
    records: int
    #: The measures of risk.
    risk: tuple[Any, ...]
    #: The largest risk allowed.
    cap: float
    #: Columns of numbers that may be masked.
    numbers: tuple[str, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the keys that are no numbers."""
        return tuple(c for c in self.data.keys if c not in self.numbers)

    @functools.cached_property
    def gaps(self) -> frozenset[str]:
        """Return the keys and columns of numbers with missing values."""
        looked_at = dict.fromkeys([*self.data.keys, *self.numbers])
        return frozenset(c for c in looked_at if self.data.column(c).null_count)

    def policy(self, columns: Sequence[str]) -> str:
        """Return what to do with missing values of some columns: keep them where there are any."""
        return "refuse" if self.gaps.isdisjoint(columns) else "keep"

    @property
    def masked(self) -> dict[str, Any]:
        """Return the parameters that name the columns of numbers, and say what to do with their missing values."""
        return {"columns": self.numbers, "missing": self.policy(self.numbers)}

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """Return the class sizes to try: the usual ones, and what risk and cap ask for."""
        asked = [k for g in self.risk if isinstance(k := getattr(g, "k", None), int) and k >= 2]
        if 1 / LARGEST_CLASS <= self.cap <= 0.5:
            asked.append(math.ceil(1 / self.cap))
        return tuple(k for k in sorted({*CLASS_SIZES, *asked}) if k <= max(self.records, 2))


Maker = Callable[[Ground], Iterator[Proposal]]
#: Returns why a method cannot be used; nothing where it can.
Rule = Callable[[Ground], str]


def propose(
    ground: Ground, methods: Sequence[str] | None = None
) -> tuple[list[Proposal], dict[str, str]]:
    """Return what can be tried on the data, and why the rest cannot, by method or setting."""
    found: list[Proposal] = []
    left_out: dict[str, str] = {}
    for method, (maker, why_not) in MAKERS.items():
        if methods is not None and method not in methods:
            continue
        reason = why_not(ground)
        if reason:
            left_out[method] = reason
            continue
        proposals = list(maker(ground))
        faults = {p.name: clauses[0] for p in proposals if (clauses := faults_of(p, ground.data))}
        found += [p for p in proposals if p.name not in faults]
        left_out |= {method: next(iter(faults.values()))} if len(faults) == len(proposals) else faults  # fmt: skip
    return found, left_out


def faults_of(proposal: Proposal, data: Microdata) -> list[str]:
    """Return what is known to be wrong with a proposal before any work, as clauses."""
    texts = [" ".join(str(f).split()) for step in proposal.steps for f in step.faults(data)]
    return [text.split(". ")[0].rstrip(".") for text in texts]


# -- keys ------------------------------------------------------------------------------------------


def make_anonymise(ground: Ground) -> Iterator[Proposal]:
    """Propose the best generalisation for class sizes, and for the models that the risk itself names."""
    sizes = ground.class_sizes
    for (i, k), (j, share) in itertools.product(enumerate(sizes), enumerate(SUPPRESSION)):
        yield on_columns(
            "anonymise", "recode", f"k = {k}{suppressing(share)}", (i, j), ground.data.keys,
            models=[{"kind": "k_anonymity", "k": k}], suppression=share,
        )  # fmt: skip
    for i, model in enumerate(ground.risk):
        if not isinstance(model, Measure) or model.kind == "k_anonymity":
            continue
        for j, share in enumerate(SUPPRESSION):
            words = f"for {model.kind.replace('_', ' ')}{suppressing(share)}"
            proposal = on_columns(
                "anonymise", "recode", words, (len(sizes) + 2 * i + 1, j), ground.data.keys,
                models=[aim(model, ground.cap)], suppression=share,
            )  # fmt: skip
            # Not every measure is a model that a search can aim at.
            if not proposal.steps[0].faults(ground.data):
                yield proposal


def aim(model: Measure[Any], cap: float) -> Measure[Any]:
    """Return a measure with the cap as its bound, where it has a bound on the average and none is set."""
    if getattr(model, "average", 0) is not None:
        return model
    return type(model)(**{**model.to_dict(), "average": cap})


def suppressing(share: float) -> str:
    """Return words for a share of records that may be suppressed."""
    return f", up to {share:.0%} of records suppressed" if share else ""


def make_generalise(ground: Ground) -> Iterator[Proposal]:
    """Propose fixed levels below the top of each hierarchy: all of them, or where many the same for all keys."""
    heights = {c: h for c in ground.data.keys if (h := height_of(ground, c)) >= 2}
    places: Iterable[Place] = itertools.product(*(range(h) for h in heights.values()))
    if math.prod(heights.values()) > FEW:
        places = dict.fromkeys(tuple(min(n, h - 1) for h in heights.values()) for n in LEVELS)
    for place in places:
        levels = {c: n for c, n in zip(heights, place, strict=True) if n}
        if levels:
            words = ", ".join(f"{c} level {n}" for c, n in levels.items())
            yield on_columns("generalise", "coarsen", words, place, levels, level=levels)


def height_of(ground: Ground, column: str) -> int:
    """Return the height of a key's hierarchy; 0 where it has none."""
    hierarchies = ground.data.hierarchies
    return hierarchies[column].height if column in hierarchies else 0


def make_local_suppression(ground: Ground) -> Iterator[Proposal]:
    """Propose local suppression; strictly, it holds for those who take a missing value for a value."""
    kind, keys = "local_suppression", ground.data.keys
    for (i, k), (j, rule) in itertools.product(enumerate(ground.class_sizes), enumerate(RULES)):
        words = f"k = {k}{', strict' if rule == 'strict' else ''}"
        yield on_columns(kind, "suppress", words, (i, j), keys, k=k, rule=rule)


def mixed_parameters(ground: Ground, k: int) -> dict[str, Any]:
    """Return the parameters of microaggregation of all keys together, numbers and categories."""
    schema = ground.data.frame.collect_schema()
    codes = tuple(c for c in ground.codes if schema[c].is_numeric())
    return {"k": k, "nominal": codes, "missing": ground.policy(ground.data.keys)}


def sweep(
    kind: str,
    family: Family,
    words: str,
    given: Callable[[Ground, Any], dict[str, Any]],
    values: Sequence[float | str] = (),
) -> Maker:
    """Return what proposes a method with several values of one parameter; with the class sizes where none are given."""

    def make(ground: Ground) -> Iterator[Proposal]:
        for i, value in enumerate(values or ground.class_sizes):
            parameters = given(ground, value)
            changed = parameters.get("columns", ground.data.keys)
            yield on_columns(kind, family, words.format(value), (i,), changed, **parameters)

    return make


# -- parts -----------------------------------------------------------------------------------------


def needs(found: Callable[[Ground], object], why: str) -> Rule:
    """Return what leaves a method out, and says why, where something is not found."""
    return lambda ground: "" if found(ground) else why


def both(*rules: Rule) -> Rule:
    """Return the first reason of several rules."""
    return lambda ground: next((why for rule in rules if (why := rule(ground))), "")


def needs_hierarchies(ground: Ground) -> str:
    """Leave out what climbs hierarchies when a key has none."""
    bare = [c for c in ground.data.keys if c not in ground.data.hierarchies]
    if bare:
        return f"{', '.join(bare)} {'has' if len(bare) == 1 else 'have'} no hierarchy"
    return needs_keys(ground)


needs_keys = needs(lambda g: g.data.keys, "no keys are declared")
needs_levels = needs(
    lambda g: any(height_of(g, c) >= 2 for c in g.data.keys),
    "no key has a hierarchy with a level between its values and its top",
)
needs_few = both(
    needs(lambda g: g.records <= SMALL, f"it is for files of up to {SMALL:,} records"),
    needs_hierarchies,
)
needs_codes = needs(lambda g: g.codes, "no key holds categories")
needs_numbers = needs(lambda g: g.numbers, f"no column holds more than {CODES} different numbers")
needs_quadratic = needs(
    lambda g: g.records <= QUADRATIC,
    f"its work grows with the square of the records, and there are more than {QUADRATIC:,}",
)

#: By method: what proposes its settings, and what says why it cannot be used at all.
MAKERS: Mapping[str, tuple[Maker, Rule]] = {
    "anonymise": (make_anonymise, needs_hierarchies),
    "local suppression": (make_local_suppression, needs_keys),
    "datafly": (
        sweep("datafly", "recode", "k = {}", lambda _, k: {"k": k, "max_drop": 0.02}),
        needs_hierarchies,
    ),
    "generalise": (make_generalise, both(needs_keys, needs_levels)),
    "k-similar": (  # greedy, so that no clock decides
        sweep("k_similar", "recode", "k = {}", lambda _, k: {"k": k, "method": "greedy"}),
        needs_few,
    ),
    "microaggregate mixed": (
        sweep("microaggregate_mixed", "recode", "k = {}", mixed_parameters),
        both(needs_keys, needs_quadratic),
    ),
    "pram": (
        sweep("pram", "perturb", "stay {:g}", lambda g, v: {"columns": g.codes, "stay": v}, STAY),
        both(needs_keys, needs_codes),
    ),
    "swap": (
        sweep(
            "swap", "perturb", "share {:g}", lambda g, v: {"columns": g.codes, "share": v}, SWAPPED
        ),
        both(needs_keys, needs_codes),
    ),
    "mdav": (
        sweep("mdav", "numbers", "k = {}", lambda g, k: {**g.masked, "k": k}),
        both(needs_numbers, needs_quadratic),
    ),
    "individual ranking": (
        sweep("individual_ranking", "numbers", "k = {}", lambda g, k: {**g.masked, "k": k}),
        needs_numbers,
    ),
    "rank swap": (
        sweep(
            "rank_swap", "numbers", "within {:g} %", lambda g, v: {**g.masked, "percent": v}, RANKS
        ),
        needs_numbers,
    ),
    "add noise": (
        sweep(
            "add_noise",
            "numbers",
            "relative {:g}",
            lambda g, v: {"columns": g.numbers, "relative": v},
            NOISE,
        ),
        needs_numbers,
    ),
    "correlated noise": (
        sweep(
            "correlated_noise",
            "numbers",
            "relative {:g}",
            lambda g, v: {**g.masked, "lambda_squared": v**2},
            NOISE,
        ),
        needs_numbers,
    ),
    "shuffle": (sweep("shuffle", "numbers", "{}", lambda g, _: g.masked, ("",)), needs_numbers),
}


def on_columns(
    kind: str, family: Family, label: str, place: Place, changed: Iterable[str], **values: Any
) -> Proposal:
    """Return a proposal of one step."""
    name = kind.replace("_", " ") if kind != "k_similar" else "k-similar"
    step = method_class(kind)(**values)
    return Proposal(name, label, (step,), family, frozenset(changed), place)


def find_numbers(data: Microdata) -> tuple[str, ...]:
    """Return the columns of numbers that may be masked: measured, and in no role that forbids it."""
    maskable = list_maskable_columns(data)
    return tuple(c for c in maskable if len(pc.unique(pc.drop_null(data.column(c)))) > CODES)
